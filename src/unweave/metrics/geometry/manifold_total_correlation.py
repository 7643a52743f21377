"""Manifold total correlation: how far the latents' directions in the data are from orthogonal.

    I_P = sum_{S in P} H(q_S) - H(q) = E_z [ sum_S log |J_S| - log |J| ]

with J the decoder's Jacobian and P a partition of the latents, by default into single latents (000, eq. 9 and A.31; the
global IMA contrast of Gresele et al. 2021). It is 0 exactly when columns of different sets are orthogonal everywhere
(inequalities of Hadamard and Fischer).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unweave.card import Count, Seed
from unweave.estimators.geometry.gram import index_sets, mean_of, random_total_correlation
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Evidence, EvidenceError
from unweave.metrics.geometry.manifolds import (
    Sampling,
    check_sets,
    geometry,
    geometry_metric,
    saturation,
    shared_directions,
)
from unweave.score import Score


@geometry_metric(
    measures="orthogonality of latents",
    equivalence="permutation and scale",
    bounds=(0.0, math.inf),
    best=0.0,
    cost="n Jacobians and n d^2 D",
    fails_when=(
        "the decoder has not learned the data, or latents have equal entropies, because a rotation of the true "
        "latents then has the same value"
    ),
)
def manifold_total_correlation(
    evidence: Evidence,
    *,
    partition: Sequence[int | Sequence[int]] | None = None,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: Seed = 0,
) -> Score:
    """Information, in nats, that latents share in the data: 0 if they move the data in orthogonal directions.

    Lower is better. ``parts["random_decoder"]`` is the score of a decoder whose columns have random directions. It
    decreases as the number of outputs grows relative to the number of latents, so compare decoders of the same size, or
    compare nats per latent (``parts["per_dimension"]``).

    Parameters
    ----------
    partition : sequence of int or of sequences of int, optional
        Disjoint sets of latents, by default every latent alone. Latents in no set are left out.
    prior : StandardNormal, GaussianMixture or IndependentPrior
        Distribution of the latents. Not used when Jacobians are given as an array.
    n_samples : int
        Number of latents drawn.
    rng : int, Generator or None
        Seed of the latents.

    Returns
    -------
    Score
        With ``parts`` ``per_dimension``, ``standard_error`` and ``random_decoder``.

    Examples
    --------
    >>> float(manifold_total_correlation(np.diag([1.0, 2.0])))
    0.0
    >>> tilted = [[1.0, 0.6], [0.0, 0.8]]  # two columns with a cosine of .6
    >>> round(float(manifold_total_correlation(tilted)), 4)  # -1/2 log(1 - .36)
    0.2231
    """
    sampling = Sampling(prior, n_samples, int(rng))  # type: ignore[arg-type]
    found = geometry(evidence, sampling)
    sets = index_sets(range(found.n_latents) if partition is None else partition)
    members = tuple(i for chosen in sets for i in chosen)
    if len(set(members)) < len(members):
        raise EvidenceError(f"The partition {sets} has a latent in two sets: put every latent in one.")
    check_sets((members,), found.n_latents, found.n_outputs)
    if partition is None:
        shared = mean_of(-found.log_directions[found.resolved])  # eq. 9
    else:
        directions = shared_directions(evidence, sampling, (*sets, members))
        shared = mean_of(directions[:, :-1].sum(axis=1) - directions[:, -1])  # A.31
    raw = float(shared.value)
    return Score(
        raw=raw,
        parts={
            "per_dimension": np.array([raw / len(members)]),
            "standard_error": np.atleast_1d(shared.standard_error),
            "random_decoder": np.array([random_total_correlation(found.n_outputs, len(members))]),
        },
        caveats=saturation(evidence, found, directions=True),
    )
