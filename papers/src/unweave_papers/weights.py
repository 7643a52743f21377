"""Weights of published models as the arrays that ``--weights`` takes: ``python -m unweave_papers.weights FOLDER OUT``.

Download YannDubs/disentangling-vae or Schlumberger/joint-vae, or both. Every ``model.pt`` below FOLDER becomes
``OUT/NAME.npz``: NAME is the name of the folder of ``model.pt`` (``btcvae_dsprites``), after ``joint_`` for a JointVAE.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from unweave.errors import FileError
from unweave.store import write_result

OF_JOINT_VAES = "img_to_features.0.weight"


def converted(folder: Path, out: Path) -> Iterator[Path]:
    """Write the arrays of every model below a folder, and yield the paths.

    >>> list(converted(Path("nowhere"), Path("weights")))
    Traceback (most recent call last):
    unweave.FileError: There is no model.pt below nowhere: pass the folder of the downloaded repository.
    """
    paths = sorted(folder.rglob("model.pt"))
    if not paths:
        raise FileError(f"There is no model.pt below {folder}: pass the folder of the downloaded repository.")
    from unweave.neural.published_vaes import saved_tensors

    for path in paths:
        arrays = saved_tensors(path)
        if not isinstance(arrays, dict):
            raise FileError(f"{path} has one tensor, and not those of a model by name.")
        joint = OF_JOINT_VAES in arrays
        target = out / f"{'joint_' if joint else ''}{path.parent.name}.npz"
        write_result(target, partial(np.savez, **arrays))  # type: ignore[arg-type]
        yield target


if __name__ == "__main__":
    for written in converted(*map(Path, sys.argv[1:3])):
        sys.stdout.write(f"wrote {written}\n")
