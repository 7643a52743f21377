"""Screening: which of many codes depend on any factor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2, norm

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import Spearman, orthonormal_basis
from unweave.estimators.independence import corrected, lower_tail, upper_tail
from unweave.estimators.sparse import ENTRIES_IN_BLOCK, SparseColumns, sparse_correlation_matrix, sparse_ranks
from unweave.evidence import Evidence
from unweave.evidence.columns import quoted
from unweave.metrics.matrices import factor_bases


def concepts_and_codes(concepts: object, codes: object = None) -> tuple[FloatArray, tuple[str, ...], SparseColumns]:
    """Concepts as 0 and 1 (n x d), their names, and the codes by columns; ``concepts`` may be an `Evidence` with both.

    A concept with more than two classes becomes one concept per class, as in 'shape = 2'. Constant concepts are left
    out if another one varies.

    >>> concepts_and_codes({"red": [0, 1, 1]}, [[0.0], [2.0], [0.0]])[0].tolist()
    [[0.0], [1.0], [1.0]]
    """
    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    if not (evidence.n_factors and evidence.n_codes):
        raise InputError("There are no concepts or no codes: pass both, as tables of the same samples.")
    columns, names = [], []
    for j, name in enumerate(evidence.factor_names):
        values = np.unique(evidence.factors[:, j])
        if values.size == 1 and len(evidence.constant_factors) < evidence.n_factors:
            continue
        if values.size < 2 or (values.size > 2 and not evidence.kinds[j].has_classes):
            raise InputError(
                f"Concept {quoted(name)} has {values.size} {'value' if values.size == 1 else 'values'}: a concept has "
                "two, such as 0 for absent and 1 for present, or a few classes."
            )
        for value in values[1:] if values.size == 2 else values:
            columns.append((evidence.factors[:, j] == value).astype(np.float64))
            names.append(name if values.size == 2 else f"{name} = {value:g}")
    return np.column_stack(columns), tuple(names), sparse_or_dense_columns(evidence)


def sparse_or_dense_columns(evidence: Evidence) -> SparseColumns:
    """The codes stored by columns, whether they were given dense or sparse."""
    if evidence.sparse_codes is not None:
        return evidence.sparse_codes
    return columns_of_dense(evidence.codes)


def columns_of_dense(dense: FloatArray) -> SparseColumns:
    """The non-zero entries of a table (n x m), stored column by column."""
    if np.count_nonzero(dense) == dense.size:
        rows = np.tile(np.arange(len(dense)), dense.shape[1])
        return SparseColumns(len(dense), dense.T.ravel(), rows, np.arange(dense.shape[1] + 1) * len(dense))
    rows, places = np.nonzero(dense.T)[::-1]
    starts = np.r_[0, np.cumsum(np.bincount(places, minlength=dense.shape[1]))]
    return SparseColumns(len(dense), dense[rows, places], rows, starts)


EXPECTED = 10  # smallest expected count in the 2 x 2 table for which the chi-squared limit is used
NEAR = 0.7  # Fisher's test is computed if a count deviates by more than this share of the normal critical value


@dataclass(frozen=True)
class ScreenedCodes:
    """Codes that depend on any factor, by increasing p-value: their indices, names, factors, p-values and q-values.

    ``correlation`` is the multiple correlation of the code's ranks with the factor's ranks and their squares, or with
    the levels of a categorical factor. ``q_value``
    is the smallest false discovery rate at which a code is kept, and ``n_codes`` is the number of codes tested.
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]
    factors: tuple[str, ...]
    correlation: FloatArray
    p_value: FloatArray
    q_value: FloatArray
    n_codes: int
    rate: float

    @property
    def n_left_out(self) -> int:
        """Number of codes that were not selected."""
        return self.n_codes - self.codes.size

    def rows(self) -> list[dict[str, Any]]:
        """The selected codes as a table, with one dictionary for each code."""
        columns = self.names, self.factors, self.correlation.tolist(), self.p_value.tolist(), self.q_value.tolist()
        names = ("code", "factor", "correlation", "p_value", "q_value")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        said = f"{self.codes.size} of {self.n_codes} codes depend on a factor (false-discovery rate {self.rate:g})"
        rows = [
            f"{name}: {factor}, q = {q:.2g}"
            for name, factor, q in zip(self.names[:10], self.factors, self.q_value, strict=False)
        ]
        hidden = self.n_codes - len(rows)
        return "\n".join([said, *rows, f"{hidden} codes are not shown."] if hidden else [said, *rows])


def screened_codes(
    factors: object,
    codes: object,
    *,
    rate: float = 0.05,
    kinds: str | None = None,
    row_groups: Sequence[object] | None = None,
) -> ScreenedCodes:
    """Select the codes that depend significantly on any factor, so that metrics can be computed for them alone.

    On average at most a share ``rate`` of the selected codes is selected by chance. The ranks of a code are correlated
    with those of a numeric factor and with their squares, so that z, exp(z) and abs(z) are found and sin(9 z) may not
    be. The selection uses these rows: score the codes on other rows, as `evaluate` does, because scores on the same
    rows are slightly too high. Where rows belong to groups, p-values count a code and a factor that are alike within
    groups as fewer rows.

    Parameters
    ----------
    factors, codes : tables of the same samples
        Factors may be of any kind. Codes are dense or sparse.
    rate : float
        False discovery rate.
    kinds, row_groups : optional
        Kinds of the factors and the group of each row, as in `Evidence`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(500) < 0.2
    >>> codes = np.where(rng.random((500, 50)) < 0.1, 1.0, 0.0)
    >>> codes[:, 7] = red * rng.random(500)
    >>> found = screened_codes({"red": red.astype(int)}, codes)
    >>> found.names, found.n_left_out
    (('code 7',), 49)
    """
    return screened(Evidence(factors, codes, kinds=kinds, row_groups=row_groups), rate)


def screened(evidence: Evidence, rate: float = 0.05, fewest: int = 0) -> ScreenedCodes:
    """The same as `screened_codes` for an Evidence; at least ``fewest`` codes are selected, whatever their q-values."""
    if not isinstance(rate, Real) or not 0 < rate < 1:
        raise OptionError(f"rate={rate!r} is not a false discovery rate: use a number between 0 and 1.")
    if not evidence.n_factors or not evidence.n_codes:
        raise InputError("There are no factors or no codes: pass both, as tables of the same samples.")
    bases = tuple(_with_squares(basis) for basis in factor_bases(evidence, Spearman()))
    present = np.column_stack([_presence(evidence.factors[:, j]) for j in range(evidence.n_factors)])
    m, d = evidence.n_codes, evidence.n_factors
    smallest, strength, best = np.ones(m), np.zeros(m), np.zeros(m, dtype=np.intp)
    for block, part in _blocks(evidence):
        p_values, correlations = _p_values(part, bases, present, rate / d)
        if evidence.row_groups is not None:
            # the tail of chi-squared is exp(-statistic / 2) but for a slowly varying factor, and the statistic of rows
            # that are alike within groups is too large by their design effect
            p_values = p_values ** (1 / _design_effects(part, bases, evidence.row_groups))
        # among factors with equal p-values (such as 1), take the one with the largest correlation
        best[block] = np.lexsort((-correlations, p_values), axis=1)[:, 0]
        places = np.arange(len(p_values)), best[block]
        strength[block] = correlations[places]
        smallest[block] = np.minimum(p_values[places] * d, 1.0)
    q_values = corrected(smallest, "benjamini-hochberg")
    order = np.lexsort((-strength, smallest))
    kept = order[: max(int((q_values <= rate).sum()), min(fewest, m))]
    return ScreenedCodes(
        codes=kept,
        names=tuple(evidence.code_names[i] for i in kept),
        factors=tuple(evidence.factor_names[best[i]] for i in kept),
        correlation=strength[kept],
        p_value=smallest[kept],
        q_value=q_values[kept],
        n_codes=m,
        rate=rate,
    )


def _blocks(evidence: Evidence) -> Iterator[tuple[slice, SparseColumns]]:
    """Yield blocks of codes and their entries, so that one block fits into memory."""
    if evidence.sparse_codes is not None:
        for block in evidence.sparse_codes.blocks():
            yield block, evidence.sparse_codes.columns(block)
        return
    width = max(ENTRIES_IN_BLOCK // evidence.n_rows, 1)
    for start in range(0, evidence.n_codes, width):
        block = slice(start, start + width)
        yield block, columns_of_dense(evidence.codes[:, block])


def _with_squares(basis: FloatArray) -> FloatArray:
    """A numeric factor's centred ranks with their squares, so that codes such as abs(z) are found; others unchanged."""
    return orthonormal_basis(np.hstack([basis, basis**2])) if basis.shape[1] == 1 else basis


def _presence(column: FloatArray) -> FloatArray:
    """1 where a binary factor has its larger value, and 0 otherwise; 0 everywhere for factors that are not binary."""
    values = np.unique(column)
    return (column == values[1]).astype(np.float64) if values.size == 2 else np.zeros(column.size)


def _p_values(
    part: SparseColumns, bases: tuple[FloatArray, ...], present: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """p-value and rank correlation of every code (rows) with every factor (columns).

    The p-value is 1 where no test is possible, or where it is clearly above the level, so that the exact tails are
    computed only where they matter.
    """
    n, active = part.n_rows, part.n_entries[:, None]
    is_binary = present.any(axis=0)
    n_present = np.where(is_binary, present.sum(axis=0), n / 2)
    rarer = np.minimum(active, n - active) * np.minimum(n_present, n - n_present) / n
    ties_fit = (rarer >= EXPECTED) | (active == n)
    width = np.array([max(basis.shape[1], 1) for basis in bases])
    correlations = sparse_correlation_matrix(bases, part, ranked=True)
    statistic = n * np.square(correlations)
    found = np.ones_like(statistic)
    i, j = np.nonzero(ties_fit & (statistic >= chi2.isf(level / 2, width)))
    found[i, j] = _skewed_tail(statistic[i, j], width[j], _rank_skewness(part)[i] * _skewness(bases)[j] / np.sqrt(n))
    hits = part.products_with_ones(present)
    expected = active * n_present / n
    spread = np.sqrt(expected * (1 - n_present / n) * (n - active) / max(n - 1, 1))
    far = np.abs(hits - expected) > NEAR * norm.isf(level / 4) * spread
    i, j = np.nonzero(is_binary & far & (active < n))
    cells = hits[i, j], n, n_present[j], active[i, 0]
    exact = np.minimum(2 * np.minimum(upper_tail(*cells), lower_tail(*cells)), 1.0)
    found[i, j] = np.minimum(found[i, j], exact)
    return np.minimum(2 * found, 1.0), correlations


def _design_effects(part: SparseColumns, bases: tuple[FloatArray, ...], groups: Rows) -> FloatArray:
    """Factor by which groups increase the variance of every correlation of a code's ranks with a factor (m x d).

    It is 1 + (k - 1) r s, with k the mean size of the group of a row, and r and s the intraclass correlations of code
    and factor: of n rows, n divided by it count (Kish 1965).
    """
    n, sizes = part.n_rows, np.bincount(groups).astype(np.float64)
    k = float(np.square(sizes).sum() / n)
    if k <= 1:
        return np.ones((part.shape[1], len(bases)))
    ranks = sparse_ranks(part)
    zeros, squares = ranks.of_zeros - (n + 1) / 2, ranks.squares()
    cell, place = np.unique(part.column_of_entry * sizes.size + groups[part.rows], return_inverse=True)
    sums, column = np.bincount(place, ranks.above_zeros.values), cell // sizes.size
    # squared sums of the centred ranks over the rows of every group; entries are stored as ranks above the zeros
    totals = np.bincount(column, sums**2 + 2 * sums * (zeros[column] * sizes[cell % sizes.size]), part.shape[1])
    totals += zeros**2 * np.square(sizes).sum()
    of_codes = np.divide(totals, squares, out=np.ones_like(totals), where=squares > 0)
    order = np.argsort(groups, kind="stable")
    starts = np.r_[0, np.cumsum(sizes[:-1])].astype(np.intp)
    of_factors = np.array(
        [np.square(np.add.reduceat(basis[order], starts)).sum(axis=0).max(initial=1.0) for basis in bases]
    )
    inner = (np.clip((each - 1) / (k - 1), 0.0, 1.0) for each in (of_codes, of_factors))
    return np.asarray(1 + (k - 1) * np.outer(*inner))


def _skewed_tail(statistic: FloatArray, width: NDArray[np.intp], skewness: FloatArray) -> FloatArray:
    """Tail probability of chi-squared, multiplied by exp(z^3 skewness / 6), the first term of Cramer's expansion.

    With few active samples, the far tail of the rank sum is heavier than that of its normal limit, and the p-values of
    many codes lie in the far tail. Above z = 2 / skewness the expansion is not accurate, so z is limited to this value.
    """
    z = np.minimum(np.sqrt(statistic), 2 / np.maximum(skewness, 1e-12))
    # In logarithms, because the tail underflows and its factor overflows for the strongest codes. The bound
    # x^(w/2 - 1) exp(-x / 2) / (2^(w/2 - 1) Gamma(w/2)) is the leading term where the tail itself underflows.
    square, half = np.square(z), width / 2
    leading = (half - 1) * np.log(np.maximum(square, 1.0) / 2) - square / 2 - gammaln(half)
    log_tail = np.where(square < 1000, chi2.logsf(np.minimum(square, 1000), width), leading)
    return np.exp(np.minimum(log_tail + z**3 * skewness / 6, 0.0))


def _skewness(bases: tuple[FloatArray, ...]) -> FloatArray:
    """Largest absolute skewness of the columns of every basis, which have mean 0 and norm 1."""
    return np.array([np.sqrt(len(basis)) * np.abs((basis**3).sum(axis=0)).max(initial=0.0) for basis in bases])


def _rank_skewness(part: SparseColumns) -> FloatArray:
    """Absolute skewness of the ranks of every code, which is due to the ties at zero."""
    n, tied = float(part.n_rows), part.n_zeros.astype(np.float64)
    below = part.sums((part.values < 0).astype(np.float64))
    off_centre = below + (tied - n) / 2
    third = off_centre * (tied**3 - tied) / 4
    squares = np.maximum((n**3 - n - tied**3 + tied) / 12, 1e-12)
    return np.asarray(np.sqrt(n) * np.abs(third) / squares**1.5)
