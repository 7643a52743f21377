"""Data sets by name, for the command line and for files that name one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path
from typing import Any

from unweave.datasets.coloured_shapes import ColouredShapes
from unweave.datasets.digits import emnist, fashion_mnist, mnist
from unweave.datasets.dsprites import DSprites, small_sprites
from unweave.datasets.interface import DataSet
from unweave.datasets.readers import MPI3D, Cars3D, CelebA, DSpritesFile, Shapes3D, SmallNORB
from unweave.errors import OptionError
from unweave.names import suggestion
from unweave.options import checks_options
from unweave.plugins import load_plugin, plugins

DATA_SETS: dict[str, Callable[..., DataSet]] = {
    "dsprites": DSprites,
    "dsprites32": partial(DSprites, 32),
    "small_sprites": small_sprites,
    "coloured_shapes": ColouredShapes,
    "mnist": mnist,
    "fashion_mnist": fashion_mnist,
    "emnist": emnist,
    "dsprites_file": DSpritesFile,
    "shapes3d": Shapes3D,
    "mpi3d": MPI3D,
    "small_norb": SmallNORB,
    "cars3d": Cars3D,
    "celeba": CelebA,
}

RENDERED = ("dsprites", "dsprites32", "small_sprites", "coloured_shapes")  # the others are read from files


def _of_another_package(entry: EntryPoint, *path: str | Path, **options: Any) -> DataSet:
    """Import a data set of another package when it is loaded, because that package may import this one."""
    data_set = load_plugin(entry)
    if data_set is None:
        raise OptionError(f"The data set {entry.name!r} cannot be imported from {entry.value}: mend that package.")
    return data_set(*path, **options)


OWN = frozenset(DATA_SETS)
DATA_SETS |= {name: partial(_of_another_package, entry) for name, entry in plugins("unweave.datasets", OWN).items()}


@checks_options
def load(name: str, path: str | Path | None = None, **options: Any) -> DataSet:
    """Load a data set by name; ``path`` is for data sets that are read from files, and ``options`` go to the class.

    >>> load("small_sprites").n_images
    4608
    >>> load("dsprits")
    Traceback (most recent call last):
        ...
    unweave.OptionError: There is no data set 'dsprits': did you mean 'dsprites'?
    """
    if name not in DATA_SETS and Path(name).exists():
        raise OptionError(
            f"{name} is a {'folder' if Path(name).is_dir() else 'file'} and no data set with a name: read your images "
            "into an array, and call unweave.encode(model, images, factors, out='codes.npz') or "
            "unweave.models.train(images, ...) in Python (docs/guides/questions.md)."
        )
    if ":" in name:
        raise OptionError(f"{name} is no data set: the model comes first, as in unweave encode module:name mnist.")
    if name not in DATA_SETS:
        raise OptionError(f"There is no data set {name!r}: {suggestion(name, DATA_SETS)}")
    if name in OWN and (name in RENDERED) != (path is None):
        what = "is read from files: give their path" if path is None else "is rendered and has no files: give no path"
        raise OptionError(f"{name} {what}.")
    try:
        return DATA_SETS[name](*(() if path is None else (path,)), **options)
    except OptionError:  # of the data set, which is a TypeError as well
        raise
    except TypeError:
        given = ", ".join(options)
        if set(options) <= set(signature(DATA_SETS[name]).parameters):
            raise
        raise OptionError(f"{name} does not take {given}: leave it out.") from None
