"""RMIG and JEMMIG: gaps of information of a whole posterior (001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.card import metric
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.posteriors import FactorDraws, PosteriorInformation
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import (
    FACTORS_NOT_CORRELATED,
    JOINT_ENTROPY,
    MUTUAL_INFORMATION,
    posterior_of,
    quantised_codes,
    varying,
)
from unweave.metrics.sampled_information import ObservedPosterior, rows_caveat, stratum_caveats
from unweave.score import Score

GRID = QuantisedPosterior()
SAMPLING = MixtureSampling()
REFERENCE = "Do and Tran (2020), 'Theory and Evaluation Metrics for Learning Disentangled Representations' (001)"
MOST_OUTSIDE = 0.01
SMALLEST_ENTROPY = 1e-9
NOTHING_TOLD = Finding("no_code_tells_samples")


def alive(evidence: Evidence) -> NDArray[np.bool_]:
    """True for codes whose posterior depends on the sample; all other codes are left out of means over codes."""
    return ~np.isin(evidence.code_names, evidence.dead_codes)


def log_sizes(evidence: Evidence, grid: QuantisedPosterior) -> FloatArray:
    """Largest possible entropy of every code in nats: log of the number of bins, or of categories."""
    posterior = posterior_of(evidence, grid)
    sizes = [grid.bins] * posterior.n_gaussian + [table.shape[1] for table in posterior.categories.values()]
    return np.log(sizes)


def grid_entropies(evidence: Evidence, grid: QuantisedPosterior) -> FloatArray:
    """H(z_i) of every code on the grid, the divisor of normalised scores; nan for a code that lies in one bin."""
    entropies = quantised_codes(evidence, grid).entropies
    return np.where(entropies > SMALLEST_ENTROPY, entropies, np.nan)


def outside_caveat(evidence: Evidence, grid: QuantisedPosterior | None) -> tuple[Finding, ...]:
    """A caveat if more than 1 % of a code's probability mass lies outside the grid; none without a grid."""
    if grid is None:
        return ()
    outside = quantised_codes(evidence, grid).outside * alive(evidence)
    missed = np.flatnonzero(outside > MOST_OUTSIDE)
    if not missed.size:
        return ()
    worst = int(outside.argmax())
    posterior = posterior_of(evidence, grid)
    low, high = grid.ranges_of(posterior.mean, posterior.std)[:, worst]
    return (
        Finding(
            "mass_outside_grid",
            share=outside[worst],
            n_others=missed.size - 1,
            threshold=MOST_OUTSIDE,
            low=low,
            high=high,
            codes=[evidence.code_names[worst]],
        ),
    )


def numbers_by_name(names: tuple[str, ...], numbers: FloatArray) -> dict[str, float]:
    """Dictionary from names to numbers."""
    return dict(zip(names, np.asarray(numbers, dtype=np.float64).tolist(), strict=True))


@dataclass(frozen=True)
class FactorGaps:
    """I(z_i, y_j) and H(z_i, y_j) (m x d), H(y_j), the most informative code of every factor and its gap to the second.

    ``errors`` are standard errors of the gaps, and ``joint_errors`` those of H(z_best, y) minus the gap. Both are None
    for an estimator without sampling, such as a grid.
    """

    information: FloatArray
    joint_entropies: FloatArray
    factor_entropies: FloatArray
    best: NDArray[np.intp]
    gaps: FloatArray
    errors: FloatArray | None
    joint_errors: FloatArray | None
    caveats: tuple[Finding, ...]


@memoised(on="both")
def factor_gaps(evidence: Evidence, estimator: PosteriorInformation) -> FactorGaps:
    """Gaps in mutual information of all factors, estimated on a grid or by sampling, in nats."""
    found = estimator.factor_information(ObservedPosterior(evidence))
    padded = np.vstack([found.information, np.zeros(evidence.n_factors)])  # with one code, the gap is to 0
    ranked = np.argsort(-padded, axis=0, kind="stable")
    factors = np.arange(evidence.n_factors)
    errors, joint_errors = _errors(found.draws, ranked[0], ranked[1])
    return FactorGaps(
        information=found.information,
        joint_entropies=found.joint_entropies,
        factor_entropies=found.factor_entropies,
        best=np.minimum(ranked[0], evidence.n_codes - 1),
        gaps=padded[ranked[0], factors] - padded[ranked[1], factors],
        errors=errors,
        joint_errors=joint_errors,
        caveats=(
            *stratum_caveats(evidence, found.within),
            *rows_caveat(evidence, estimator),
            *outside_caveat(evidence, estimator.grid),
            *((Finding("one_code"),) if evidence.n_codes == 1 else ()),
        ),
    )


def _errors(
    draws: FactorDraws | None, best: NDArray[np.intp], second: NDArray[np.intp]
) -> tuple[FloatArray | None, FloatArray | None]:
    if draws is None:
        return None, None
    errors = np.zeros((2, len(draws)))
    for j, found in enumerate(draws):
        if found is None:
            continue
        of_factor, within = found
        n_codes = within.ratios.shape[1]
        ratios = np.column_stack([of_factor.ratios, np.zeros(len(of_factor.ratios))])
        gap = ratios[:, best[j]] - ratios[:, second[j]]
        errors[0, j] = of_factor.standard_error(gap)
        errors[1, j] = of_factor.standard_error(within.ratios[:, min(best[j], n_codes - 1)] - gap)
    return errors[0], errors[1]


def error_parts(evidence: Evidence, errors: FloatArray | None, divisors: FloatArray) -> dict[str, FloatArray]:
    """Standard errors of the mean over factors and of every factor, for a score's parts; empty without sampling."""
    if errors is None:
        return {}
    used = varying(evidence)
    per_factor = np.divide(errors, divisors, out=np.full(evidence.n_factors, np.nan), where=used)
    of_mean = np.sqrt(np.nansum(np.square(per_factor))) / used.sum()
    return {"standard_error": of_mean, "standard_error_per_factor": per_factor}


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

    Notes
    -----
    JEMMIG: joint entropy minus mutual information gap.

        JEMMIG(y_k) = H(z_i1, y_k) - I(z_i1, y_k) + I(z_i2, y_k)

    with i1 and i2 the codes that have the largest and second largest mutual information with y_k (001, section 3.3). It
    is divided by its upper bound H(y_k) + log #bins (001, Eq 15), and averaged over factors.

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
        per_factor=numbers_by_name(evidence.factor_names, per_factor),
        parts={**matrices, **error_parts(evidence, found.joint_errors, divisors)},
        matrices=(MUTUAL_INFORMATION, JOINT_ENTROPY),
        caveats=found.caveats,
    )


def _log_widths(evidence: Evidence, grid: QuantisedPosterior) -> np.ndarray:
    posterior = posterior_of(evidence, grid)
    low, high = grid.ranges_of(posterior.mean, posterior.std) if posterior.n_gaussian else np.empty((2, 0))
    return np.concatenate([np.log((high - low) / grid.bins), np.zeros(len(posterior.categories))])


@metric(
    measures="compactness",
    equivalence="permutation and scale",
    needs=("factors", "posterior"),
    min_rows=40,
    chance=0.0,
    cost="n x m x bins probabilities, or samples x n densities for each code and factor",
    fails_when=(
        "factors are correlated, several codes carry the same factor, or posteriors are much narrower than a bin"
    ),
    reference=REFERENCE,
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.02,
    order_tolerance=1e-6,
    takes_factor_tables=True,
    version=3,
    factor_by_factor=True,
)
def rmig(evidence: Evidence, *, estimator: PosteriorInformation = GRID, normalise: bool = True) -> Score:
    """Gap in mutual information between the two codes whose posteriors carry most about a factor, normalised; mean.

    1 means that samples from one code's posterior determine each factor, and that no other code carries information
    about it. A wide posterior lowers the score, so that `mig` of the posterior means is higher for the same model.
    Random codes score about 0.

    Parameters
    ----------
    estimator : QuantisedPosterior or MixtureSampling
        100 bins over the range of every code by default. ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives
        the numbers of the published code.
    normalise : bool
        Whether to divide by the entropy of each factor. If False, the score is in nats.

    Notes
    -----
    Robust mutual information gap.

        RMIG(y_k) = I(z_i1, y_k) - I(z_i2, y_k)

    with i1 and i2 the codes that have the largest and second largest mutual information with y_k. The mutual
    information is that of the whole posterior and p(y | x), not of points (001, Eq 10). It is divided by H(y_k) and
    averaged over factors.

    Examples
    --------
    >>> from unweave import Posterior
    >>> factors = np.random.default_rng(0).integers(0, 4, size=(5000, 2))
    >>> round(float(rmig(factors, Posterior(factors - 1.5, 0.01 + 0 * factors))), 2)
    1.0
    """
    found = factor_gaps(evidence, estimator)
    divisors = found.factor_entropies if normalise else np.ones(evidence.n_factors)
    per_factor = np.divide(found.gaps, divisors, out=np.full(evidence.n_factors, np.nan), where=varying(evidence))
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=numbers_by_name(evidence.factor_names, per_factor),
        parts={"mutual_information_matrix": found.information, **error_parts(evidence, found.errors, divisors)},
        matrices=(MUTUAL_INFORMATION,),
        caveats=found.caveats,
    )
