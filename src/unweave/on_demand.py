"""Public names that are imported when they are first used, so that importing a package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package whose public names live in these modules.

    ``homes`` maps every name to the module that has it; a name that is a module itself maps to its own path. A name is
    resolved once and then kept in the package. A module that needs a package which is not installed counts as absent,
    so that `dir`, `help` and completion work, and the error says what to install.

    >>> find, names = on_demand("unweave", {"Score": "unweave.score"})
    >>> find("Score").__name__, names()
    ('Score', ['Score'])
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            home = import_module(homes[name])
        except ImportError as error:
            raise AttributeError(f"{package}.{name} cannot be imported. {error}") from error
        found = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted(homes)

    return find, names
