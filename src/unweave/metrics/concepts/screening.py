"""Which of many codes depend on any factor beyond chance, with the rate of false discoveries stated.

A code is tested against every factor. Two tests are made, and twice the smaller p-value counts. The first is of its
ranks (Spearman, n R^2 against chi-squared), where enough samples are active and present for the normal limit to hold.
The second is Fisher's exact test of whether it is active, for factors of two values; it holds for codes that are active
on a few samples too. The smallest p-value of the d factors is multiplied by d, and the rule of Benjamini and Hochberg
is applied to the codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, hypergeom

from unweave.arrays import FloatArray
from unweave.estimators.dependence.correlation import Spearman
from unweave.estimators.dependence.multiple_testing import corrected
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.estimators.sparse.sparse_correlation import sparse_correlation_matrix
from unweave.evidence import Evidence, EvidenceError
from unweave.metrics.concepts.concept_inputs import sparse_or_dense_columns
from unweave.metrics.matrices import factor_bases

EXPECTED = 10  # active samples of the rarer kind that the normal limit needs
WORTH_COUNTING = 2.0  # standard deviations from the expected count below which an exact p-value would not matter


@dataclass(frozen=True)
class ScreenedCodes:
    """The codes that any factor depends on, strongest first: their numbers, names, factors, p-values and q-values.

    ``q_value`` is the rate of false discoveries at which a code is just kept; ``n_codes`` is how many were tested.
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]
    factors: tuple[str, ...]
    p_value: FloatArray
    q_value: FloatArray
    n_codes: int
    rate: float

    @property
    def n_left_out(self) -> int:
        """Codes that are not in the list."""
        return self.n_codes - self.codes.size

    def __str__(self) -> str:
        said = f"{self.codes.size} of {self.n_codes} codes depend on a factor (false-discovery rate {self.rate:g})"
        rows = [
            f"{name}: {factor}, q = {q:.2g}"
            for name, factor, q in zip(self.names[:10], self.factors, self.q_value, strict=False)
        ]
        hidden = self.n_codes - len(rows)
        return "\n".join([said, *rows, f"{hidden} codes are not shown."] if hidden else [said, *rows])


def screened_codes(factors: object, codes: object, *, rate: float = 0.05, kinds: str | None = None) -> ScreenedCodes:
    """The codes that any factor depends on beyond chance, so that they can be scored alone.

    Of the codes in the list a share of ``rate`` is there by chance, on average. A dependence that leaves ranks
    uncorrelated, such as that of z on z**2, is not seen. The codes were chosen on these rows: score them on others, or
    expect scores that are a little too high.

    Parameters
    ----------
    factors, codes : tables of the same samples
        Any kind of factor; codes dense or sparse.
    rate : float
        Rate of false discoveries.
    kinds : str, optional
        As in `Evidence`.

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
    if not 0 < rate < 1:
        raise EvidenceError(f"rate={rate!r} is not a rate of false discoveries: use a number between 0 and 1.")
    evidence = Evidence(factors, codes, kinds=kinds)
    columns = sparse_or_dense_columns(evidence)
    bases = factor_bases(evidence, Spearman())
    present = np.column_stack([_presence(evidence.factors[:, j]) for j in range(evidence.n_factors)])
    smallest, best = np.ones(columns.shape[1]), np.zeros(columns.shape[1], dtype=np.intp)
    for block in columns.blocks():
        p_values = _p_values(columns.columns(block), bases, present)
        best[block] = p_values.argmin(axis=1)
        smallest[block] = np.minimum(p_values.min(axis=1) * evidence.n_factors, 1.0)
    q_values = corrected(smallest, "benjamini-hochberg")
    kept = np.flatnonzero(q_values <= rate)
    kept = kept[np.argsort(smallest[kept], kind="stable")]
    return ScreenedCodes(
        codes=kept,
        names=tuple(evidence.code_names[i] for i in kept),
        factors=tuple(evidence.factor_names[best[i]] for i in kept),
        p_value=smallest[kept],
        q_value=q_values[kept],
        n_codes=columns.shape[1],
        rate=rate,
    )


def _presence(column: FloatArray) -> FloatArray:
    """Whether a factor of two values has the larger one; nan for other factors."""
    values = np.unique(column)
    return (column == values[1]).astype(np.float64) if values.size == 2 else np.full(column.size, np.nan)


def _p_values(part: SparseColumns, bases: tuple[FloatArray, ...], present: FloatArray) -> FloatArray:
    """p-value of every code (rows) with every factor (columns); 1 where no test is possible."""
    n, active = part.n_rows, part.n_entries[:, None]
    is_binary = ~np.isnan(present[0])
    n_present = np.where(is_binary, np.nansum(present, axis=0), n / 2)
    rarer = np.minimum(active, n - active) * np.minimum(n_present, n - n_present) / n
    ties_fit = (rarer >= EXPECTED) | (active == n)
    width = np.array([max(basis.shape[1], 1) for basis in bases])
    ranked = chi2.sf(n * np.square(sparse_correlation_matrix(bases, part, ranked=True)), width)
    found = np.where(ties_fit, ranked, 1.0)
    hits = part.products_with_ones(np.nan_to_num(present))
    expected = active * n_present / n
    spread = np.sqrt(np.maximum(expected * (1 - n_present / n) * (n - active) / max(n - 1, 1), 1e-300))
    counted = is_binary & (np.abs(hits - expected) > WORTH_COUNTING * spread) & (active > 0) & (active < n)
    i, j = np.nonzero(counted)
    size, total = active[i, 0], n_present[j]
    upper, lower = hypergeom.sf(hits[i, j] - 1, n, total, size), hypergeom.cdf(hits[i, j], n, total, size)
    exact = np.ones_like(found)
    exact[i, j] = np.minimum(2 * np.minimum(upper, lower), 1.0)
    return np.asarray(np.minimum(2 * np.minimum(found, exact), 1.0))
