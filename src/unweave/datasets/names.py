"""Data sets by name, for the command line and for files that name one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from unweave.datasets.dsprites import DSprites, small_sprites
from unweave.datasets.interface import DataSet, DataSetError

DATA_SETS: Mapping[str, Callable[..., DataSet]] = {
    "dsprites": DSprites,
    "dsprites32": partial(DSprites, 32),
    "small_sprites": small_sprites,
}


def load(name: str, **options: Any) -> DataSet:
    """Data set of a name, with the options of what makes it.

    >>> load("small_sprites").n_images
    4608
    >>> load("dsprits")
    Traceback (most recent call last):
        ...
    unweave.datasets.interface.DataSetError: There is no data set 'dsprits': did you mean 'dsprites'?
    """
    if name not in DATA_SETS:
        near = get_close_matches(name, DATA_SETS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(DATA_SETS)}."
        raise DataSetError(f"There is no data set {name!r}: {hint}")
    return DATA_SETS[name](**options)
