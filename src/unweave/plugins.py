"""What other installed packages add to unweave: metrics, data sets, objectives and commands, declared as entry points.

A package declares in its ``pyproject.toml``, for example

    [project.entry-points."unweave.metrics"]
    my_metric = "my_package:my_metric"

and its metric then appears in `unweave metrics`, in ``--metrics`` and on the page, like those of this package. The
groups are ``unweave.metrics``, ``unweave.datasets``, ``unweave.objectives`` and ``unweave.commands``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
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
