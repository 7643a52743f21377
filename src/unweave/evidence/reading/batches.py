"""Batches of rows, collected into columns in memory or in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence.reading.columns import EvidenceError, plain

ROWS_AT_A_TIME = 65_536


def gathered(batches: Iterable[Any] | Callable[[], Iterable[Any]], on_disk: bool) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations (rows x codes, column-major) of all batches, with one batch in memory at a time.

    >>> mean, std = gathered([([[0.0]], [[1.0]]), ([[2.0]], [[1.0]])], on_disk=True)
    >>> mean[:, 0].tolist()
    [0.0, 2.0]
    """
    n_rows = n_codes = 0
    with tempfile.TemporaryFile() as means, tempfile.TemporaryFile() as stds:
        for mean, std in _checked(batches() if callable(batches) else batches):
            if n_rows and mean.shape[1] != n_codes:
                raise EvidenceError(
                    f"A batch has {mean.shape[1]} codes and earlier ones have {n_codes}: pass batches of one encoder."
                )
            n_codes, n_rows = mean.shape[1], n_rows + mean.shape[0]
            means.write(mean.tobytes())
            stds.write(std.tobytes())
        if not n_rows:
            raise EvidenceError("There are no batches: pass an iterable of (mean, std), or a function that gives one.")
        return _columns(means, n_rows, n_codes, on_disk), _columns(stds, n_rows, n_codes, on_disk)


def _checked(batches: Iterable[Any]) -> Iterator[tuple[FloatArray, FloatArray]]:
    for k, batch in enumerate(batches):
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise EvidenceError(f"Batch {k} is not a pair: every batch is (mean, std) of some rows.")
        mean, std = (np.asarray(plain(part), dtype=np.float64) for part in batch)
        if mean.ndim != 2 or mean.shape != std.shape:
            raise EvidenceError(
                f"Batch {k} has a mean of shape {mean.shape} and a std of shape {std.shape}: both must be rows x codes."
            )
        yield mean, std


def _columns(file: IO[bytes], n_rows: int, n_codes: int, on_disk: bool) -> FloatArray:
    """Contiguous columns from a file that is stored by rows, converted in blocks of rows."""
    file.flush()
    by_row = np.memmap(file, dtype=np.float64, mode="r", shape=(n_rows, n_codes))
    if on_disk:
        with tempfile.TemporaryFile() as kept:
            columns: FloatArray = np.memmap(kept, dtype=np.float64, mode="w+", shape=(n_codes, n_rows))
    else:
        columns = np.empty((n_codes, n_rows))
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        columns[:, rows] = by_row[rows].T
    values = columns.T
    values.flags.writeable = False
    return values
