"""Import objects by 'module:name', on the command line also from modules of the current folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unweave.errors import OptionError
from unweave.names import suggestion


@dataclass
class OwnModules:
    """Modules of the current folder that were named as 'module:name'.

    The folder is on the import path only while one of them is imported, because other libraries look for optional
    packages, and would run a file of the same name there. Unpickling this in another process imports the modules there.
    """

    folder: str = field(default_factory=os.getcwd)
    names: list[str] = field(default_factory=list)

    def load(self, name: str) -> Any:
        """Import a module; the folder is searched last, and only if the module is not installed."""
        package = name.partition(".")[0]
        spec = find_spec(package)
        is_installed = spec is not None and spec.origin is not None  # a folder without __init__.py has no origin
        is_own = not is_installed or package in {known.partition(".")[0] for known in self.names}
        if not is_own or self.folder in sys.path:
            return import_module(name)
        sys.path.append(self.folder)
        try:
            module = import_module(name)
        finally:
            with suppress(ValueError):
                sys.path.remove(self.folder)
        self.names.append(name)
        return module

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded_again, (self.folder, self.names)


_OWN: ContextVar[OwnModules | None] = ContextVar("own_modules", default=None)


@contextmanager
def own_modules_allowed() -> Iterator[None]:
    """Let 'module:name' refer to modules of the current folder."""
    token = _OWN.set(OwnModules())
    try:
        yield
    finally:
        _OWN.reset(token)


def own_modules() -> OwnModules | None:
    """Modules of the current folder that were imported so far; pass them to a process before objects of their classes.

    >>> own_modules() is None
    True
    """
    return _OWN.get()


def _loaded_again(folder: str, names: Iterable[str]) -> OwnModules:
    modules = OwnModules(folder)
    for name in names:
        modules.load(name)
    return modules


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
        raise OptionError(f"The {what} {text!r} is not an importable path: write module:name.")
    try:
        own = own_modules()
        value = import_module(module_name) if own is None else own.load(module_name)
    except Exception as error:  # importing runs the code of the module, which can raise any exception
        reason = f"{type(error).__name__}: {error}"
        raise OptionError(f"The {what} {text!r} cannot be imported ({reason}): check the module.") from None
    for part in name.split("."):
        if not hasattr(value, part):
            public = [entry for entry in dir(value) if not entry.startswith("_")]
            raise OptionError(
                f"The {what} {text!r} was not found: {module_name} has no {part!r}, {suggestion(part, public)}"
            )
        value = getattr(value, part)
    return value
