"""MISJED: mutual information sums joint entropy difference.

    MISJED(z_i, z_j) = H(z_i) + H(z_j) - H(mean_i, mean_j)

with the entropies of the codes from their posteriors on a grid, and the joint entropy from the posterior means alone,
on the same grid (001, Eq 7). It is small only if two codes are both independent and informative. It is divided by
2 log #bins.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import metric
from unweave.estimators.information.entropy import entropy_of_counts
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import posterior_of, quantised_codes
from unweave.metrics.posterior.grid_settings import GRID, REFERENCE, alive, log_sizes, named, outside_caveat
from unweave.metrics.shown_matrices import MISJED
from unweave.score import Score


@metric(
    measures="independence",
    equivalence="permutation and scale",
    needs=("posterior",),
    min_rows=20,
    best=0.0,
    chance=0.857,
    cost="n x m x bins probabilities and n m^2 counts",
    fails_when=(
        "there are few rows for the squared number of bins, because the joint entropy cannot exceed log n, or unused "
        "codes are noise"
    ),
    reference=REFERENCE,
    identity_tolerance=0.3,
    order_tolerance=1e-6,
    version=3,
    undefined_with=("one code",),
)
def misjed(evidence: Evidence, *, estimator: QuantisedPosterior = GRID, normalise: bool = True) -> Score:
    """Entropies of two codes minus the joint entropy of their means, relative to its maximum; mean over pairs.

    0 means that codes are independent and their posteriors narrow. Lower is better: two informative codes score lower
    than an informative and a noisy one, and these score lower than two noisy ones. The score is not a mutual
    information, and it can be negative, by less than .01, where the means are spread evenly over the grid.

    Parameters
    ----------
    estimator : QuantisedPosterior
        By default 100 bins over the range of every code, which this metric raises to 101: with an even number of bins,
        an edge lies at the mean of every code and divides the means of a noisy code between two bins.
        ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives the numbers of the published code.
    normalise : bool
        Whether to divide by 2 log #bins. If False, the score is in nats.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> float(misjed(None, Posterior(mean, 0.01 + 0 * mean))) < 0.1
    True
    """
    if estimator.limits == "fitted":
        estimator = replace(estimator, bins=estimator.bins | 1)  # odd, so that no edge lies at the mean
    entropies = quantised_codes(evidence, estimator).entropies
    matrix = entropies[:, None] + entropies - mean_entropy_matrix(evidence, estimator)
    if normalise:
        sizes = log_sizes(evidence, estimator)
        matrix = matrix / (sizes[:, None] + sizes)
    np.fill_diagonal(matrix, np.nan)
    used = np.flatnonzero(alive(evidence))
    pairs = matrix[np.ix_(used, used)][np.triu_indices(used.size, k=1)]
    lone = (Finding("one_code_in_pairs"),) if used.size < 2 else ()
    per_code = np.array([np.nanmean(row) if used.size > 1 else np.nan for row in matrix[:, used]])
    return Score(
        raw=math.nan if lone else float(pairs.mean()),
        per_code=named(evidence.code_names, per_code),
        parts={"misjed_matrix": matrix},
        matrices=(MISJED,),
        caveats=(*outside_caveat(evidence, estimator), *lone),
    )


@memoised(on="codes")
def mean_entropy_matrix(evidence: Evidence, estimator: QuantisedPosterior) -> FloatArray:
    """H(mean_i, mean_j) on the grid (m x m) in nats; a categorical code is represented by its most probable value."""
    posterior = posterior_of(evidence, estimator)
    labels = evidence.codes.copy()
    gaussian = labels[:, : posterior.n_gaussian]
    low, high = estimator.ranges_of(posterior.mean, posterior.std) if posterior.n_gaussian else np.empty((2, 0))
    gaussian[:] = np.clip((gaussian - low) // ((high - low) / estimator.bins), 0, estimator.bins - 1)
    columns = [column.astype(np.intp) for column in labels.T]
    sizes = [int(column.max()) + 1 for column in columns]
    matrix = np.zeros((len(columns), len(columns)))
    for i, j in zip(*np.triu_indices(len(columns), k=1), strict=True):
        counts = np.bincount(columns[i] * sizes[j] + columns[j])
        matrix[i, j] = matrix[j, i] = float(entropy_of_counts(counts))
    return matrix
