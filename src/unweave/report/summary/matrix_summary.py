"""Code-by-factor matrices for a page.

A matrix that several metrics share occurs once. A matrix with too many cells is aggregated to blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.evaluation import Evaluation
from unweave.report.summary.page_limits import Detail
from unweave.report.summary.trust_fields import code_names_of
from unweave.score import ShownMatrix
from unweave.words.phrases import counted


def matrix_summaries(evaluation: Evaluation, representation: str, detail: Detail) -> tuple[list[dict[str, Any]], int]:
    """Return the matrices of the scores of one representation, and the number of matrices that were left out."""
    factors = [factor["name"] for factor in evaluation.data["factors"]]
    codes = code_names_of(evaluation, representation)
    varying = _varying_factors(evaluation, representation, factors)
    met: list[tuple[ShownMatrix, FloatArray, list[str]]] = []
    for row in evaluation.rows:
        # if there are several seeds, the matrix of the first seed is shown
        if row.representation != representation or row.seed != _first_seed(evaluation, row.label) or not row.score:
            continue
        for shown in row.score.matrices:
            n_columns = len(codes) if shown.columns == "codes" else len(factors)
            matrix = _widened(np.asarray(row.score.parts[shown.part]), len(codes), n_columns, varying)
            if matrix is None:
                continue
            same = [entry for entry in met if entry[0] == shown and np.array_equal(entry[1], matrix, equal_nan=True)]
            if same:
                same[0][2].append(row.label)
            else:
                met.append((shown, matrix, [row.label]))
    summaries = [
        {
            "representation": representation,
            "metrics": labels,
            **summarised_matrix(shown, matrix, codes, codes if shown.columns == "codes" else factors, detail),
        }
        for shown, matrix, labels in met[: detail.matrices]
    ]
    return summaries, len(met) - len(summaries)


def summarised_matrix(
    shown: ShownMatrix, matrix: FloatArray, rows: Sequence[str], columns: Sequence[str], detail: Detail
) -> dict[str, Any]:
    """Return a small matrix as it is, and a large matrix as the maxima of its blocks with its strongest pairs."""
    is_table = matrix.size <= detail.table_cells and len(columns) <= detail.table_columns
    size, finite = np.abs(matrix), matrix[np.isfinite(matrix)]
    signed = bool(finite.size and finite.min() < 0)
    largest = float(np.abs(finite).max()) if finite.size else 1.0
    summary: dict[str, Any] = {
        "name": shown.part,
        "title": shown.part.removesuffix("_matrix").replace("_", " "),
        "meaning": shown.meaning,
        "n_rows": len(rows),
        "n_columns": len(columns),
        "signed": signed,
        "scale": [0.0, 1.0],  # all matrices share this scale, and larger values have the last colour
        "largest": largest,
        "as_table": is_table,
        "framed": shown.framed,
        "sentence": "",
        "strongest": [],
    }
    if is_table:
        return summary | {"row_names": list(rows), "column_names": list(columns), "values": matrix.tolist()}
    own = np.where(np.isfinite(size), size, -np.inf)
    order = np.lexsort((-own.max(axis=1), own.argmax(axis=1)))
    high, wide = -(-len(rows) // detail.picture_rows), -(-len(columns) // detail.picture_columns)
    return summary | {
        "values": _largest_of_blocks(size[order], high, wide).tolist(),
        "rows_per_block": high,
        "columns_per_block": wide,
        "sentence": _how_aggregated(len(rows), len(columns), high, wide, shown.columns, signed),
        "strongest": [
            {"row": rows[i], "column": columns[j], "value": float(matrix[i, j])}
            for i, j in _strongest(own, detail.links)
        ],
    }


def _how_aggregated(n_rows: int, n_columns: int, high: int, wide: int, kind: str, signed: bool) -> str:
    ordered = f"{n_rows:,} codes by {n_columns:,} {kind}, sorted by the {kind[:-1]} that they depend on most."
    if high * wide == 1:
        return ordered
    block = f"{counted(high, 'code')} by {counted(wide, kind[:-1])}"
    return f"{ordered} Each cell shows the largest {'absolute ' * signed}value of a block of {block}."


def _largest_of_blocks(matrix: FloatArray, high: int, wide: int) -> FloatArray:
    """Return the largest finite value of each block of ``high`` x ``wide`` cells, or nan if a block has none."""
    lowest = np.where(np.isfinite(matrix), matrix, -np.inf)
    starts = np.arange(0, matrix.shape[0], high), np.arange(0, matrix.shape[1], wide)
    blocks = np.maximum.reduceat(np.maximum.reduceat(lowest, starts[0], axis=0), starts[1], axis=1)
    return np.where(np.isfinite(blocks), blocks, np.nan)


def _strongest(size: FloatArray, n_pairs: int) -> list[tuple[int, int]]:
    flat = np.argsort(-size, axis=None, kind="stable")[:n_pairs]
    return [(int(k) // size.shape[1], int(k) % size.shape[1]) for k in flat if np.isfinite(size.flat[k])]


def _varying_factors(evaluation: Evaluation, representation: str, factors: list[str]) -> list[int]:
    """Return the indices of factors for which some score is defined, or of all factors if there are none."""
    scores = [row.score for row in evaluation.rows if row.representation == representation and row.score]
    per_factor = [score.per_factor for score in scores if score.per_factor]
    known = [j for j, name in enumerate(factors) if any(np.isfinite(part.get(name, np.nan)) for part in per_factor)]
    return known or list(range(len(factors)))


def _widened(matrix: FloatArray, n_codes: int, n_columns: int, varying: list[int]) -> FloatArray | None:
    """Return the matrix with ``n_columns`` columns, where columns of factors that the metric left out are nan.

    The result is None if the array is not a matrix of codes by factors or codes.
    """
    if not matrix.size or matrix.ndim != 2 or len(matrix) != n_codes:
        return None
    if matrix.shape[1] == n_columns:
        return matrix
    if matrix.shape[1] != len(varying):
        return None
    whole = np.full((n_codes, n_columns), np.nan)
    whole[:, varying] = matrix
    return whole


def _first_seed(evaluation: Evaluation, label: str) -> int | None:
    return next(row.seed for row in evaluation.rows if row.label == label)
