"""What a person names by text: objects as 'module:name', and the nearest name where one is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from unweave.evidence import EvidenceError


def suggestion(word: str, known: Iterable[str]) -> str:
    """What to write instead of a name that is not known: the nearest one, or all.

    >>> suggestion("mccc", ["mcc", "r2"])
    "did you mean 'mcc'?"
    >>> suggestion("x", ["mcc", "r2"])
    'there are mcc, r2.'
    """
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}."


def imported(text: str, what: str) -> Any:
    """The object that 'module:name' stands for, such as a metric of your own.

    The module is found as Python finds it; the command line also looks in the folder it runs in.

    Parameters
    ----------
    text : str
        A module and a name in it, which may have dots: ``"mymodule:MyWorld"``.
    what : str
        What the object is to be, for the message where it cannot be found.

    Examples
    --------
    >>> imported("unweave.metrics:mcc", "metric").card.name
    'mcc'
    """
    module_name, colon, name = text.partition(":")
    if not (module_name and colon and name):
        raise EvidenceError(f"The {what} {text!r} is not an importable path: write module:name.")
    try:
        found = import_module(module_name)
    except Exception as error:  # the module's own code may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise EvidenceError(f"The {what} {text!r} cannot be imported ({reason}): check the module.") from None
    for part in name.split("."):
        if not hasattr(found, part):
            public = [entry for entry in dir(found) if not entry.startswith("_")]
            raise EvidenceError(
                f"The {what} {text!r} was not found: {module_name} has no {part!r}, {suggestion(part, public)}"
            )
        found = getattr(found, part)
    return found
