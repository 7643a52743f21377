"""JEMMIG: joint entropy minus mutual information gap.

    JEMMIG(y_k) = H(z_i1, y_k) - I(z_i1, y_k) + I(z_i2, y_k)

with i1 and i2 the codes that have the largest and second largest mutual information with y_k (001, section 3.3). It is
divided by its upper bound H(y_k) + log #bins (001, Eq 15), and averaged over factors.
"""

from __future__ import annotations

import numpy as np

from unweave.card import metric
from unweave.estimators.posteriors.posterior_protocols import PosteriorInformation
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import posterior_of, varying
from unweave.metrics.posterior.factor_gaps import error_parts, factor_gaps
from unweave.metrics.posterior.grid_settings import GRID, REFERENCE, log_sizes, named
from unweave.metrics.shown_matrices import JOINT_ENTROPY, MUTUAL_INFORMATION
from unweave.score import Score


@metric(
    measures="compactness",
    equivalence="permutation and scale",
    needs=("factors", "posterior"),
    min_rows=40,
    best=0.0,
    chance="by permutation",
    cost="n x m x bins probabilities, or samples x n densities for each code and factor",
    fails_when="codes have a finer resolution than the factors, or scores with different bins are compared",
    reference=REFERENCE,
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.2,
    order_tolerance=1e-6,
    takes_factor_tables=True,
    version=3,
    factor_by_factor=True,
)
def jemmig(
    evidence: Evidence,
    *,
    estimator: PosteriorInformation = GRID,
    normalise: bool = True,
    grid: QuantisedPosterior = GRID,
) -> Score:
    """Joint entropy of a factor and its best code minus the factor's mutual information gap, normalised; mean.

    0 means that one code and a factor determine each other, and that no other code carries information about the
    factor. Unlike `rmig`, the score also penalises information in the best code that is not about the factor. Lower is
    better. The score of random codes depends on their entropy: it is .8 or more for codes that fill the grid. Scores
    with different bins or ranges cannot be compared.

    Parameters
    ----------
    estimator : QuantisedPosterior or MixtureSampling
        100 bins over the range of every code by default. ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives
        the numbers of the published code.
    normalise : bool
        Whether to divide by H(y) + log #bins. If False, the score is in nats; by sampling it is then a differential
        entropy, which may be negative.
    grid : QuantisedPosterior
        Grid whose bin width converts the differential entropies of sampling into entropies on a grid (001, appendix
        A.10). Used only if ``normalise`` is True.

    Examples
    --------
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(5000, 2))
    >>> round(float(jemmig(factors, Posterior(0.8 * factors - 1.24, 0.005 + 0 * factors))), 2)
    0.0
    """
    found = factor_gaps(evidence, estimator)
    columns, divisors = np.arange(evidence.n_factors), np.ones(evidence.n_factors)
    numerators = found.joint_entropies[found.best, columns] - found.gaps
    if normalise:
        divisors = found.factor_entropies + log_sizes(evidence, estimator.grid or grid)[found.best]
        if estimator.grid is None:
            numerators = numerators - _log_widths(evidence, grid)[found.best]  # H_q = H_s - log(bin width)
    per_factor = np.divide(numerators, divisors, out=np.full(evidence.n_factors, np.nan), where=varying(evidence))
    matrices = {"mutual_information_matrix": found.information, "joint_entropy_matrix": found.joint_entropies}
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=named(evidence.factor_names, per_factor),
        parts={**matrices, **error_parts(evidence, found.joint_errors, divisors)},
        matrices=(MUTUAL_INFORMATION, JOINT_ENTROPY),
        caveats=found.caveats,
    )


def _log_widths(evidence: Evidence, grid: QuantisedPosterior) -> np.ndarray:
    posterior = posterior_of(evidence, grid)
    low, high = grid.ranges_of(posterior.mean, posterior.std) if posterior.n_gaussian else np.empty((2, 0))
    return np.concatenate([np.log((high - low) / grid.bins), np.zeros(len(posterior.categories))])
