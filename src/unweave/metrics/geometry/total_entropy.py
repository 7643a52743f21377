"""Total entropy of the data that a decoder generates.

    H(q) = d/2 (1 + log 2 pi) + E_z log |J(z)|,    |J| = det(J'J)^(1/2)

with J the Jacobian (D outputs x d latents) of the decoder at z, drawn from its prior (000, eq. 7 and A.19; with fewer
latents than outputs the entropy is that of the density on the manifold).
"""

from __future__ import annotations

import math

import numpy as np

from unweave.card import Count, Seed
from unweave.estimators.geometry.gram import HALF_LOG_2PI_E, mean_of
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Evidence
from unweave.metrics.geometry.manifolds import Sampling, check_sets, geometry, geometry_metric, saturation
from unweave.score import Score


@geometry_metric(
    measures="entropy of the generated data",
    equivalence="any",
    bounds=(-math.inf, math.inf),
    best=math.nan,
    cost="n Jacobians and n d^2 D",
    fails_when=(
        "it is read as a measure of quality: it depends on the units of the data, and only differences have a meaning"
    ),
)
def total_entropy(
    evidence: Evidence,
    *,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: Seed = 0,
) -> Score:
    """Differential entropy, in nats, of the data that a decoder generates from its prior.

    It equals the sum of the manifold entropies of single latents minus the manifold total correlation. It has no best
    value, because it depends on the units of the data. Minus infinity means that some latent does not move the output,
    or that latents move it in linearly dependent directions.

    Parameters
    ----------
    prior : StandardNormal, GaussianMixture or IndependentPrior
        Distribution of the latents. Not used when Jacobians are given as an array.
    n_samples : int
        Number of latents drawn; ``parts["standard_error"]`` shows whether they are enough.
    rng : int, Generator or None
        Seed of the latents.

    Returns
    -------
    Score
        With ``parts`` ``per_dimension`` (nats per latent) and ``standard_error``.

    Examples
    --------
    >>> round(float(total_entropy(np.diag([1.0, 2.0]))), 4)  # a Gaussian with deviations 1 and 2
    3.531
    """
    found = geometry(evidence, Sampling(prior, n_samples, int(rng)))  # type: ignore[arg-type]
    check_sets((tuple(range(found.n_latents)),), found.n_latents, found.n_outputs)
    with np.errstate(invalid="ignore"):
        log_volumes = (found.log_lengths.sum(axis=1) + found.log_directions)[found.resolved]
    entropy = mean_of(np.where(np.isnan(log_volumes), -np.inf, log_volumes))
    raw = found.n_latents * HALF_LOG_2PI_E + float(entropy.value)  # eq. 7
    return Score(
        raw=raw,
        parts={
            "per_dimension": np.array([raw / found.n_latents]),
            "standard_error": np.atleast_1d(entropy.standard_error),
        },
        caveats=saturation(evidence, found, directions=True),
    )
