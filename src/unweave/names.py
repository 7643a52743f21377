"""Suggest the nearest known name for one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown name: the nearest known name, or a list of all.

    >>> suggestion("mccc", ["mcc", "r2"])
    "did you mean 'mcc'?"
    >>> suggestion("x", ["mcc", "r2"])
    'there are mcc, r2.'
    """
    names = list(known)
    near = difflib.get_close_matches(word, names)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}."
