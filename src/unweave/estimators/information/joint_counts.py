"""Joint counts of the labels of many codes and many factors, in few passes over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import Labels

JOINT_INDICES_IN_CACHE = 65_536
MOST_PAIRED_CELLS = 40_000
ROWS_PER_PAIRED_CELL = 10

Tables = NDArray[np.intp]


def joint_tables(code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> Iterator[tuple[slice, int, Tables]]:
    """Yield a slice of codes, a factor, and their tables (codes x factor labels x code labels), until all are counted.

    >>> code, factor = np.array([0, 1, 1], dtype=np.uint16), np.array([0, 0, 1], dtype=np.uint16)
    >>> [tables.tolist() for _, _, tables in joint_tables([code], [factor])]
    [[[[1, 1], [0, 1]]]]
    """
    few_rows = 2 * code_labels[0].size <= JOINT_INDICES_IN_CACHE
    return (_side_by_side if few_rows else _two_by_two)(code_labels, factor_labels)


def _side_by_side(
    code_labels: Sequence[Labels], factor_labels: Sequence[Labels]
) -> Iterator[tuple[slice, int, Tables]]:
    """Count many codes in one pass, each in its own range of cells; for few rows."""
    n_rows = code_labels[0].size
    n_together = JOINT_INDICES_IN_CACHE // n_rows
    n_code = _n_labels(*code_labels)
    sizes = [_n_labels(labels) for labels in factor_labels]
    n_cells = max(sizes) * n_code
    strided = [labels.astype(np.intp) * n_code for labels in factor_labels]
    joint = np.empty((n_together, n_rows), dtype=np.intp)
    for start in range(0, len(code_labels), n_together):
        block = np.stack(code_labels[start : start + n_together]).astype(np.intp)
        block += np.arange(0, len(block) * n_cells, n_cells)[:, None]
        for j, factor in enumerate(strided):
            index = np.add(block, factor, out=joint[: len(block)])
            counts = np.bincount(index.ravel(), minlength=len(block) * n_cells).reshape(len(block), -1, n_code)
            yield slice(start, start + len(block)), j, counts[:, : sizes[j]]


def _two_by_two(code_labels: Sequence[Labels], factor_labels: Sequence[Labels]) -> Iterator[tuple[slice, int, Tables]]:
    """Count two codes in one pass and then marginalise, which halves the passes; for many rows and few cells."""
    n_per_factor = [_n_labels(labels) for labels in factor_labels]
    for start in range(0, len(code_labels), 2):
        block = code_labels[start : start + 2]
        n_code = _n_labels(*block)
        pairable = len(block) == 2 and n_code**2 <= MOST_PAIRED_CELLS
        pair = block[0] * np.uint16(n_code) + block[1] if pairable else block[0]
        for j, (factor, n_factor) in enumerate(zip(factor_labels, n_per_factor, strict=True)):
            n_cells = n_factor * n_code**2
            if pairable and n_cells <= min(MOST_PAIRED_CELLS, factor.size // ROWS_PER_PAIRED_CELL):
                cube = _counted(factor, pair, n_code**2, n_cells).reshape(n_factor, n_code, n_code)
                tables = np.stack([cube.sum(axis=2), cube.sum(axis=1)])
            else:
                counts = [_counted(factor, labels, n_code, n_factor * n_code) for labels in block]
                tables = np.stack(counts).reshape(len(block), n_factor, n_code)
            yield slice(start, start + len(block)), j, tables


def _counted(factor: Labels, labels: Labels, stride: int, n_cells: int) -> NDArray[np.intp]:
    """Counts of the joint index factor * stride + labels, a block of rows at a time."""
    counts = np.zeros(n_cells, dtype=np.intp)
    narrow = n_cells <= 2**16
    for start in range(0, factor.size, JOINT_INDICES_IN_CACHE):
        rows = slice(start, start + JOINT_INDICES_IN_CACHE)
        scaled = factor[rows] * np.uint16(stride) if narrow else factor[rows].astype(np.intp) * stride
        counts += np.bincount(scaled + labels[rows], minlength=n_cells)
    return counts


def _n_labels(*columns: Labels) -> int:
    return max(int(labels.max()) for labels in columns) + 1
