"""Import public names when they are first used, so that importing a package is fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(
    package: str, homes: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose public names are defined in these modules.

    ``homes`` maps every name to the module that defines it; a name that is a module itself maps to its own path. A name
    is resolved once and then stored in the package. A module whose import fails counts as a missing attribute, so that
    `dir`, `help` and completion work. The error says what to install. ``instead`` says what to use for names that
    people expect here.

    >>> find, names = on_demand("unweave", {"Score": "unweave.score"})
    >>> find("Score").__name__, names()
    ('Score', ['Score'])
    """

    def find(name: str) -> Any:
        if name not in homes:
            from difflib import get_close_matches  # late, because importing a package has to be fast

            lower = {each.lower(): each for each in homes}
            close = get_close_matches(name.lower(), lower, 1, 0.75)
            use = instead[name] if instead and name in instead else f"{package}.{lower[close[0]]}" if close else ""
            hint = f": use {use}" if use else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        try:
            home = import_module(homes[name])
        except ImportError as error:
            raise AttributeError(f"{package}.{name} cannot be imported. {error}") from error
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted(homes)

    return find, names
