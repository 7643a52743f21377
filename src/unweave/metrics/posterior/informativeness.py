"""Informativeness: how much information do codes carry about the samples?

    I(x, z_i) = H(z_i) - H(z_i | x) = E log q(z_i | x) / q(z_i)

with x the sample, z_i a code and q(z_i) = 1/N sum_n q(z_i | x_n) (001, Eq 1). On a grid it is divided by log #bins.
I(x, z) of all codes together is divided by log N, which no estimate from N samples can exceed.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from unweave.card import metric
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.posterior_protocols import PosteriorInformation
from unweave.evidence import Evidence
from unweave.metrics.posterior.grid_settings import (
    GRID,
    NOTHING_TOLD,
    REFERENCE,
    SAMPLING,
    alive,
    log_sizes,
    named,
    outside_caveat,
)
from unweave.metrics.sampled_information import ObservedPosterior, limit_caveat, rows_caveat, sample_ratios
from unweave.score import Score


@metric(
    measures="informativeness",
    equivalence="permutation and scale",
    needs=("posterior",),
    min_rows=20,
    chance=0.0,
    cost="n x m x bins probabilities, or samples x n densities for each code",
    fails_when="the posterior of a code is much narrower than a bin, or a few samples are outliers",
    reference=REFERENCE,
    identity_tolerance=0.75,
    order_tolerance=1e-6,
    version=3,
)
def informativeness(
    evidence: Evidence,
    *,
    of: Literal["codes", "all"] = "codes",
    estimator: PosteriorInformation = GRID,
    normalise: bool = True,
    sampling: MixtureSampling = SAMPLING,
) -> Score:
    """Mutual information of a code and the samples, relative to the largest entropy of the grid; mean over codes.

    1 means that every posterior lies in one bin and that samples are spread evenly over the bins of every code. A code
    whose posterior is nearly the same for every sample scores 0, and a code whose posterior is exactly the same is left
    out. The score does not use factors: codes that mix all factors are informative too.

    Parameters
    ----------
    of : {'codes', 'all'}
        The mean of I(x, z_i) over codes, or I(x, z) of all codes together, which is estimated by sampling.
    estimator : QuantisedPosterior or MixtureSampling
        100 bins over the range of every code by default. ``QuantisedPosterior(limits=(-4, 4), rule='centre')`` gives
        the numbers of the published code.
    normalise : bool
        Whether to divide by log #bins, or by log N for all codes together. If False, the score is in nats.
    sampling : MixtureSampling
        Number of draws, and their seed, for ``of='all'``.

    Examples
    --------
    >>> from unweave import Posterior
    >>> mean = np.random.default_rng(0).normal(size=(2000, 1))
    >>> score = informativeness(None, Posterior(mean, 0.5 + 0 * mean), normalise=False)
    >>> round(float(score), 1), round(0.5 * math.log(5), 1)  # the closed form of Gaussians
    (0.8, 0.8)
    """
    if of == "all":
        return _of_all_codes(evidence, sampling, normalise)
    if of != "codes":
        raise ValueError(f"of={of!r} is not known: use 'codes' or 'all'.")
    used, divisors = alive(evidence), np.ones(evidence.n_codes)
    if normalise:
        divisors = log_sizes(evidence, estimator.grid or GRID)
    told = estimator.sample_information(ObservedPosterior(evidence))
    shares = told.shares(divisors)
    return Score(
        raw=float(shares[used].mean()) if used.any() else math.nan,
        per_code=named(evidence.code_names, shares),
        parts=told.standard_errors(divisors, used),
        caveats=(
            *outside_caveat(evidence, estimator.grid),
            *rows_caveat(evidence, estimator),
            *(() if used.any() else (NOTHING_TOLD,)),
        ),
    )


def _of_all_codes(evidence: Evidence, sampling: MixtureSampling, normalise: bool) -> Score:
    sampled = sample_ratios(evidence, sampling)
    information = float(sampled.mean(sampled.ratios[:, -1]))
    divisor = math.log(min(evidence.n_rows, sampling.most_rows)) if normalise else 1.0
    return Score(
        raw=information / divisor,
        parts={"standard_error": sampled.standard_error(sampled.ratios[:, -1]) / divisor},
        caveats=limit_caveat(information, evidence, sampling),
    )
