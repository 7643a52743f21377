"""Resolve names that users write: import objects by 'module:name', and suggest the nearest name for an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from unweave.evidence import EvidenceError
from unweave.own_modules import own_modules


def suggestion(word: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown name: the nearest known name, or a list of all.

    >>> suggestion("mccc", ["mcc", "r2"])
    "did you mean 'mcc'?"
    >>> suggestion("x", ["mcc", "r2"])
    'there are mcc, r2.'
    """
    names = list(known)
    near = difflib.get_close_matches(word, names, cutoff=0.4)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}."


def imported(text: str, what: str) -> Any:
    """Import the object that 'module:name' refers to, such as a metric of your own.

    This runs the code of the module, which must be importable. The command line also searches the current folder.

    Parameters
    ----------
    text : str
        A module and a name in it, which may have dots: ``"mymodule:MyWorld"``.
    what : str
        What the object should be, for the error message.

    Examples
    --------
    >>> imported("unweave.metrics:mcc", "metric").card.name
    'mcc'
    """
    module_name, colon, name = text.partition(":")
    if not (module_name and colon and name):
        raise EvidenceError(f"The {what} {text!r} is not an importable path: write module:name.")
    try:
        own = own_modules()
        found = import_module(module_name) if own is None else own.load(module_name)
    except Exception as error:  # importing runs the code of the module, which can raise any exception
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
