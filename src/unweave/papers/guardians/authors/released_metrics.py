"""MCC and R2 as 003's released code computes them; they exist only to reproduce its numbers.

They differ from `mcc` and `r2`: two rows are enough for a correlation, a constant factor counts as 0, and R2 uses one
split, unscaled codes and a regression without intercept.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.card import metric, seed_from
from unweave.estimators.matching import best_matching
from unweave.evidence import Evidence
from unweave.metrics.matching.mcc import BY_NAME
from unweave.metrics.matrices import correlation_matrix
from unweave.score import Score

REFERENCE = "The released code of 'Who Guards the Guardians?' (003)"


def released_split(n_rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows into four fifths and one fifth as the released code does, with numpy's legacy generator.

    >>> [rows.size for rows in released_split(11, seed=42)]
    [8, 3]
    """
    order = np.random.RandomState(seed).permutation(n_rows)  # the random stream of the released code
    n_train = int(0.8 * n_rows)
    return order[:n_train], order[n_train:]


@metric(
    measures="one-to-one recovery",
    equivalence="permutation and scale",
    min_rows=2,
    chance="by permutation",
    cost="one n x m x d matrix product and an exact assignment",
    fails_when="there are few rows: with two rows it is 1",
    reference=REFERENCE,
)
def released_mcc(evidence: Evidence, *, correlation: Literal["pearson", "spearman"] = "pearson") -> Score:
    """Mean correlation of the best matching, for two or more rows; constant columns count as 0.

    Examples
    --------
    >>> round(float(released_mcc([[0.0, 1.0], [1.0, 0.0]], [[3.0], [5.0]])), 3)
    1.0
    """
    matrix = np.nan_to_num(correlation_matrix(evidence, BY_NAME[correlation]))
    return Score(raw=float(matrix[best_matching(matrix)].mean()))


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=5,  # the authors' tables have no R2 for fewer rows
    bounds=(-np.inf, 1.0),
    chance=0.0,
    cost="one least squares fit",
    fails_when="columns have a nonzero mean, or codes differ by many orders of magnitude (small codes are ignored)",
    reference=REFERENCE,
)
def released_r2(
    evidence: Evidence,
    *,
    in_sample: bool = False,
    clip: bool = True,
    rng: int | np.random.Generator | None = 0,
) -> Score:
    """Variance of a held-out fifth of the rows explained by least squares without intercept on the other four fifths.

    Parameters
    ----------
    in_sample : bool
        Fit and evaluate on all rows, as the fifth experiment does.
    clip : bool
        Clip every factor's value to [0, 1] before averaging; the oldest runs did not.
    rng : int or Generator
        Seed of the split.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(float(released_r2(factors, factors @ [[1.0, 2.0], [0.0, 1.0]])), 3)
    1.0
    """
    everything = np.arange(evidence.n_rows)
    train, test = (everything, everything) if in_sample else released_split(evidence.n_rows, seed_from(rng))
    weights = np.linalg.lstsq(evidence.codes[train], evidence.factors[train], rcond=None)[0]
    truth = evidence.factors[test]
    errors = np.square(truth - evidence.codes[test] @ weights).mean(axis=0)
    spread = truth.var(axis=0)
    explained = np.where(spread > 0, 1 - errors / np.where(spread > 0, spread, 1.0), 0.0)
    explained = np.clip(explained, 0.0, 1.0) if clip else explained
    return Score(
        raw=float(explained.mean()), per_factor=dict(zip(evidence.factor_names, explained.tolist(), strict=True))
    )
