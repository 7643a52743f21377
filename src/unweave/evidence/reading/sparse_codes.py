"""Sparse codes: matrices and arrays of scipy.sparse, and sparse tensors of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence.reading.columns import EvidenceError
from unweave.evidence.reading.extremes import LARGEST_SQUARED


def is_sparse(given: object) -> bool:
    """Whether the object is a sparse matrix, array or tensor.

    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array(np.eye(2))), is_sparse(np.eye(2))
    (True, False)
    """
    from scipy.sparse import issparse

    return bool(issparse(given)) or str(getattr(given, "layout", "")).startswith("torch.sparse")


def sparse_columns(given: Any) -> SparseColumns:
    """Columns of a sparse matrix; duplicate entries are summed, and explicitly stored zeros are removed.

    >>> from scipy.sparse import coo_array
    >>> sparse_columns(coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))).values.tolist()
    [3.0]
    """
    from scipy.sparse import csc_array, issparse

    matrix = given if issparse(given) else _of_tensor(given)
    if matrix.ndim != 2:
        raise EvidenceError(
            f"The sparse codes have {matrix.ndim} axes: pass one row per sample and one column per code."
        )
    if matrix.dtype.kind == "c":
        raise EvidenceError(
            "The sparse codes are complex numbers: pass real and imaginary parts as codes of their own."
        )
    if not min(matrix.shape):
        raise EvidenceError(f"The sparse codes have shape {matrix.shape}: pass at least one row and one code.")
    columns = csc_array(matrix, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    bad = np.flatnonzero(~(np.abs(columns.data) <= LARGEST_SQUARED))
    if bad.size:
        code = int(np.searchsorted(columns.indptr, bad[0], side="right")) - 1
        raise EvidenceError(
            f"Code {code} of the sparse codes is {columns.data[bad[0]]} in row {columns.indices[bad[0]]} "
            f"({bad.size} such entries in all): replace these entries or leave the rows out."
        )
    columns.eliminate_zeros()
    return SparseColumns(columns.shape[0], columns.data, columns.indices, columns.indptr.astype(np.int64))


def code_names_of(n_codes: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of sparse codes: the given ones, or numbered ones by default."""
    if names is None:
        return tuple(f"code {i}" for i in range(n_codes))
    if len(names) != n_codes:
        raise EvidenceError(f"There are {len(names)} code names for {n_codes} codes: give one for each column.")
    return tuple(map(str, names))


def constant_columns(codes: SparseColumns) -> NDArray[np.bool_]:
    """Mask of the constant columns: those without nonzero entries, and those with one value in every row."""
    constant = codes.n_entries == 0
    for i in np.flatnonzero(codes.n_zeros == 0).tolist():
        constant[i] = np.ptp(codes.values[codes.starts[i] : codes.starts[i + 1]]) == 0
    return np.asarray(constant)


def _of_tensor(tensor: Any) -> Any:
    """A sparse tensor of any layout as a sparse array of scipy."""
    from scipy.sparse import coo_array

    entries = tensor.detach().cpu().to_sparse_coo().coalesce()
    places = entries.indices().numpy()
    if len(places) != 2 or entries.values().ndim != 1:
        raise EvidenceError("The sparse codes are not a matrix: pass one row per sample and one column per code.")
    return coo_array((entries.values().double().numpy(), (places[0], places[1])), shape=tuple(entries.shape))
