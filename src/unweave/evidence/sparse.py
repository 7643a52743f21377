"""Sparse codes: matrices and arrays of scipy.sparse, and sparse tensors of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import InputError
from unweave.estimators.sparse import SparseColumns
from unweave.evidence.archives import refuse_bomb
from unweave.evidence.columns import LARGEST_SQUARED
from unweave.sentences import printable


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

    matrix = _checked(given) if issparse(given) else _of_tensor(given)
    if matrix.dtype.kind == "c":
        raise InputError("The sparse codes are complex numbers: pass real and imaginary parts as codes of their own.")
    if not min(matrix.shape):
        raise InputError(f"The sparse codes have shape {matrix.shape}: pass at least one row and one code.")
    columns = csc_array(matrix, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    bad = np.flatnonzero(~(np.abs(columns.data) <= LARGEST_SQUARED))
    if bad.size:
        code = int(np.searchsorted(columns.indptr, bad[0], side="right")) - 1
        raise InputError(
            f"Code {code} of the sparse codes is {columns.data[bad[0]]} in row {columns.indices[bad[0]]} "
            f"({bad.size} such entries in all): replace these entries or leave the rows out."
        )
    columns.eliminate_zeros()
    return SparseColumns(columns.shape[0], columns.data, columns.indices, columns.indptr.astype(np.int64))


def sparse_array(layout: str, shape: Any, data: Any, first: Any, second: Any) -> Any:
    """A sparse array from its parts; raises an error if they do not fit, because scipy would write outside of arrays.

    The parts are the rows and columns of the entries (layout 'coo'), or indices and starts ('csr' and 'csc').

    >>> sparse_array("csr", (1, 3), [5.0], [2], [0, 1]).toarray().tolist()
    [[0.0, 0.0, 5.0]]
    >>> sparse_array("csr", (1, 3), [5.0], [9], [0, 1])
    Traceback (most recent call last):
    unweave.InputError: The parts of the sparse codes do not fit together: build the \
matrix again.
    """
    import scipy.sparse

    shape, data, first, second = map(np.asarray, (shape, data, first, second))
    fits = all(part.dtype.kind in "iu" and part.ndim == 1 for part in (shape, first, second))
    fits = fits and shape.size == 2 and shape.min() >= 0 and data.ndim == 1 and data.dtype.kind in "biufc"
    n_rows, n_columns = shape.tolist() if fits else (0, 0)
    if fits and layout == "coo":
        fits = len(first) == len(second) == len(data) and _within(first, n_rows) and _within(second, n_columns)
    elif fits:
        n_lines, length = (n_rows, n_columns) if layout == "csr" else (n_columns, n_rows)
        fits = len(second) == n_lines + 1 and second[0] == 0 and bool((second[:-1] <= second[1:]).all())
        fits = fits and int(second[-1]) <= len(first) == len(data) and _within(first, length)
    if not fits:
        raise InputError("The parts of the sparse codes do not fit together: build the matrix again.")
    # a name of about 100 bytes is made for every code
    stored = data.nbytes + first.nbytes + second.nbytes
    refuse_bomb(f"A table of {n_rows} rows and {n_columns} sparse codes", 8 * n_rows + 100 * n_columns, stored)
    kind = getattr(scipy.sparse, f"{layout}_array")
    return kind((data, (first, second)) if layout == "coo" else (data, first, second), shape=(n_rows, n_columns))


def _within(places: NDArray[Any], n: int) -> bool:
    return not places.size or (int(places.min()) >= 0 and int(places.max()) < n)


def _checked(matrix: Any) -> Any:
    """A sparse matrix of scipy as a sparse array of which every index was checked."""
    if matrix.ndim != 2:
        raise InputError(f"The sparse codes have {matrix.ndim} axes: pass one row per sample and one column per code.")
    if matrix.format in ("csr", "csc"):
        return sparse_array(matrix.format, matrix.shape, matrix.data, matrix.indices, matrix.indptr)
    try:
        if matrix.format == "lil" and list(map(len, matrix.rows)) != list(map(len, matrix.data)):
            raise ValueError("as many values as places are needed")
        entries = matrix.tocoo()
    except Exception:  # parts that do not fit can cause any exception
        raise InputError("The parts of the sparse codes do not fit together: build the matrix again.") from None
    return sparse_array("coo", entries.shape, entries.data, *entries.coords)


def code_names_of(n_codes: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of sparse codes: the given ones, or numbered ones by default."""
    if names is None:
        return tuple(f"code {i}" for i in range(n_codes))
    if len(names) != n_codes:
        raise InputError(f"There are {len(names)} code names for {n_codes} codes: give one for each column.")
    return tuple(map(printable, names))


def _of_tensor(tensor: Any) -> Any:
    """A sparse tensor as a sparse array of scipy, by its parts, because torch converts them without a check."""
    tensor, layout = tensor.detach().cpu(), str(tensor.layout).removeprefix("torch.sparse_")
    if layout == "coo":
        values, places = tensor._values(), tuple(tensor._indices())
    elif layout == "csr":
        values, places = tensor.values(), (tensor.col_indices(), tensor.crow_indices())
    elif layout == "csc":
        values, places = tensor.values(), (tensor.row_indices(), tensor.ccol_indices())
    else:
        raise InputError(f"The sparse codes have the layout {layout}: pass codes.to_sparse_csr() instead.")
    if len(tensor.shape) != 2 or len(places) != 2 or values.ndim != 1:
        raise InputError("The sparse codes are not a matrix: pass one row per sample and one column per code.")
    first, second = (part.numpy() for part in places)
    return sparse_array(layout, tuple(tensor.shape), values.double().numpy(), first, second)
