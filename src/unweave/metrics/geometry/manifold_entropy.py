"""Manifold entropy: how strongly each latent, or set of latents, changes the data.

    H(q_S) = |S|/2 (1 + log 2 pi) + E_z log |J_S(z)|

with J_S the columns of the decoder's Jacobian for the latents in S (000, eq. 8 and A.23). For one latent |J_i| is the
length of the column, and exp(H(q_i) - (1 + log 2 pi)/2) its geometric mean, in units of the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unweave.card import Count, Seed
from unweave.estimators.geometry.gram import HALF_LOG_2PI_E, index_sets, mean_of
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Evidence
from unweave.metrics.geometry.manifolds import (
    Sampling,
    entropies,
    geometry,
    geometry_metric,
    latent_names,
    log_volumes,
    saturation,
)
from unweave.score import Score


@geometry_metric(
    measures="importance of latents",
    equivalence="any",
    bounds=(-math.inf, math.inf),
    best=math.nan,
    cost="n Jacobians and n d D",
    fails_when=(
        "latents change the data in the same directions (see the total correlation), or the features of the data have "
        "different units"
    ),
)
def manifold_entropy(
    evidence: Evidence,
    *,
    dimensions: int | Sequence[int] | None = None,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: Seed = 0,
) -> Score:
    """Entropy, in nats, of the data that each latent alone generates, which measures its importance; mean over latents.

    The score is the mean over latents, and ``per_code`` has the entropy of each one. Sorting by it ranks latents as PCA
    ranks components. The score has no best value. A decoder whose sorted entropies fall steeply, so that few latents
    span the data, is called aligned.

    Parameters
    ----------
    dimensions : int or sequence of int, optional
        One set S of latents. The score is then H(q_S), the entropy of the data that they generate together, and
        ``parts["per_dimension"]`` is this entropy divided by the number of latents.
    prior : StandardNormal, GaussianMixture or IndependentPrior
        Distribution of the latents. Not used when Jacobians are given as an array.
    n_samples : int
        Number of latents drawn.
    rng : int, Generator or None
        Seed of the latents.

    Returns
    -------
    Score
        With ``parts`` ``per_dimension``, ``standard_error`` (of the score) and ``standard_errors`` (of every latent).

    Examples
    --------
    >>> score = manifold_entropy(np.diag([1.0, np.e]))  # a linear decoder that stretches latent 1
    >>> {name: round(value, 3) for name, value in score.per_code.items()}
    {'latent 0': 1.419, 'latent 1': 2.419}
    >>> round(float(manifold_entropy(np.diag([1.0, np.e]), dimensions=[0, 1])), 3)
    3.838
    """
    sampling = Sampling(prior, n_samples, int(rng))  # type: ignore[arg-type]
    found = geometry(evidence, sampling)
    single = entropies(found)  # eq. 8
    if dimensions is None:
        entropy, size = mean_of(found.log_lengths.mean(axis=1)), 1
    else:
        chosen = index_sets([dimensions])
        entropy, size = mean_of(log_volumes(evidence, sampling, chosen)[:, 0]), len(chosen[0])
    raw = size * HALF_LOG_2PI_E + float(entropy.value)  # A.23
    return Score(
        raw=raw,
        per_code=dict(zip(latent_names(evidence), single.value.tolist(), strict=True)),
        parts={
            "per_dimension": np.array([raw / size]),
            "standard_error": np.atleast_1d(entropy.standard_error),
            "standard_errors": single.standard_error,
        },
        caveats=saturation(evidence, found, directions=dimensions is not None),
    )
