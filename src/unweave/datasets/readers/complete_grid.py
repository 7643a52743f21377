"""Check that a table of factors is a complete grid in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSetError


def refuse_incomplete(path: Path, places: NDArray[Any], values: NDArray[Any]) -> list[FloatArray]:
    """Values of each factor; raises an error unless all combinations occur in order, with the last factor fastest."""
    if not np.isfinite(values).all():
        raise DataSetError(f"The factors of {path} have values that are not numbers: it is another file, or damaged.")
    counts = [int(column.max()) + 1 for column in places.T]
    whole = int(np.prod(counts)) == len(places)
    if not whole or not np.array_equal(np.ravel_multi_index(tuple(places.T), counts), np.arange(len(places))):
        raise DataSetError(
            f"The {len(places)} images of {path} are not all combinations of {' x '.join(map(str, counts))} values in "
            "order: the file is not the whole data set, or was shuffled."
        )
    strides = np.append(np.cumprod(counts[::-1])[::-1][1:], 1)
    return [
        values[np.arange(count) * stride, j].astype(np.float64)
        for j, (count, stride) in enumerate(zip(counts, strides, strict=True))
    ]
