"""Reduced sets of dSprites with all combinations of fewer factor values, and codes of published encoders on them.

UniBound subtracts the information that all other codes carry about a factor. Among random rows, every combination of
the other factors occurs about once, so the other codes identify the row and UniBound is 0. With all combinations of
fewer values, rows that agree in the other factors exist, and the sums of 002's Eq 8 are exact for that set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unweave.datasets import DSprites
from unweave.encoding import Encoded, encode, read_encoded
from unweave.papers.experiment import Options
from unweave.papers.trained_encoders import MODELS

# number of images to the steps between kept orientations and between kept positions
GRIDS: Mapping[int, tuple[int, int]] = {3240: (8, 6), 11_520: (4, 4), 46_080: (4, 2), 184_320: (1, 2), 737_280: (1, 1)}

ORDINALS = {1: "", 2: "second ", 4: "fourth ", 6: "sixth ", 8: "eighth "}


def grid_of(n_images: int) -> DSprites:
    """Return all combinations of shape, scale and a part of the orientations and positions.

    >>> [len(grid_of(n)) == n for n in GRIDS]
    [True, True, True, True, True]
    """
    turns, places = (slice(None, None, every) for every in GRIDS[n_images])
    return DSprites(keep={"orientation": turns, "x": places, "y": places})


def in_words(n_images: int) -> str:
    """Describe which images of dSprites a grid of this size contains.

    >>> in_words(46_080), in_words(184_320)
    ('every fourth orientation and every second position', 'every orientation and every second position')
    """
    turns, places = GRIDS[n_images]
    if turns == places == 1:
        return "all images"
    kept = (f"every {ORDINALS[every]}{name}" for every, name in ((turns, "orientation"), (places, "position")))
    return " and ".join(kept)


def codes_of_grid(options: Options, n_images: int, models: Sequence[str]) -> dict[str, Encoded]:
    """Compute the codes of all images of a grid by published encoders, or read them from ``options.folder``."""
    folder = options.folder / "codes"
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in models:
        path = folder / f"{MODELS[name]}-grid-{n_images}.npz"
        if not path.exists():
            from unweave.neural.published_vaes import read_published

            assert options.weights is not None
            encode(read_published(MODELS[name], options.weights), grid_of(n_images), path, progress=options.progress)
        found[name] = read_encoded(path)
    return found


def rows_of_grid(encoded: Encoded, n_images: int) -> Encoded:
    """Return the rows of encoded images that belong to the grid of ``n_images``, which is coarser.

    The last orientation of dSprites is a full turn and equals the first one; a coarse grid contains it once.
    """
    coarse = grid_of(n_images)
    inside = np.ones(encoded.n_rows, dtype=bool)
    for column, values in zip(encoded.factors.T, coarse.values, strict=True):
        inside &= np.isin(column.round(9), values.round(9))
    rows = np.flatnonzero(inside)
    if all(len(np.unique(values.round(9))) == len(values) for values in coarse.values):
        first = np.unique(encoded.factors[rows].round(9), axis=0, return_index=True)[1]
        rows = rows[np.sort(first)]
    return encoded.rows(rows)
