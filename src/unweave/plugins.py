"""What other installed packages add to unweave: metrics, data sets, objectives and commands, declared as entry points.

A package declares in its ``pyproject.toml``, for example

    [project.entry-points."unweave.metrics"]
    my_metric = "my_package:my_metric"

and its metric then appears in `unweave metrics`, in ``--metrics`` and on the page, like those of this package. The
groups are ``unweave.metrics``, ``unweave.datasets``, ``unweave.objectives`` and ``unweave.commands``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def plugins(group: str, taken: Iterable[str] = ()) -> dict[str, EntryPoint]:
    """Entry points of a group by name, not yet imported; names that are taken already are left out with a warning.

    >>> plugins("unweave.nothing")
    {}
    """
    own, entries = set(taken), {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        if entry.name in own or entry.name in entries:
            warnings.warn(
                f"{entry.name!r} of {entry.value} is left out, because {group} has this name already: rename it.",
                stacklevel=3,
            )
        else:
            entries[entry.name] = entry
    return entries


def load_plugin(entry: EntryPoint, is_right: Callable[[Any], bool] = callable, advice: str = "name a function") -> Any:
    """Import what an entry point names; None with a warning if that fails, or if it is nothing of the right kind."""
    try:
        plugin = entry.load()
    except Exception as error:  # another package's import may raise anything
        reason = f"cannot be imported ({type(error).__name__}: {error}): mend or uninstall that package"
    else:
        if is_right(plugin):
            return plugin
        reason = f"is nothing that {entry.group} can use: {advice}"
    warnings.warn(f"{entry.name!r} of {entry.value} is left out, because it {reason}.", stacklevel=3)
    return None


class WithPlugins(Mapping[str, Any]):
    """Entries of this package, and after them those of others, which are imported when the mapping is first read.

    A package may import this one before it defines its plug-in: what is still being imported waits for the next read.

    >>> list(WithPlugins("unweave.nothing", {"mine": 1}, lambda name, plugin: callable(plugin), "name a function"))
    ['mine']
    """

    def __init__(self, group: str, own: Mapping[str, Any], is_right: Callable[[str, Any], bool], advice: str) -> None:
        self.group, self._own, self._is_right, self._advice = group, own, is_right, advice
        self._all: dict[str, Any] = dict(own)
        self._waiting: dict[str, EntryPoint] | None = None

    def _read(self) -> dict[str, Any]:
        if self._waiting is None:
            self._waiting = plugins(self.group, self._own)
        for name, entry in list(self._waiting.items()):
            if getattr(getattr(sys.modules.get(entry.module), "__spec__", None), "_initializing", False):
                continue
            del self._waiting[name]
            if (
                plugin := load_plugin(entry, partial(self._is_right, name), self._advice.format(name=name))
            ) is not None:
                self._all[name] = plugin
        return self._all

    def __getitem__(self, name: str) -> Any:
        return self._own[name] if name in self._own else self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())
