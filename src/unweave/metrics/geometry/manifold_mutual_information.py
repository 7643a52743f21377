"""Manifold mutual information: how far two latents, or two sets of latents, change the data in common directions.

    I(q_S, q_T) = E_z [ log |J_S| + log |J_T| - log |J_ST| ],    I_ij = E_z [ -1/2 log(1 - cos^2(J_i, J_j)) ]

with J_S the columns of the decoder's Jacobian for the latents in S (000, eq. 10 and A.27; for single latents B.30). It
is 0 exactly when the directions of the two sets are orthogonal everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Count, Seed
from unweave.estimators.geometry.gram import index_sets, mean_of
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Evidence, EvidenceError
from unweave.findings import Finding
from unweave.metrics.geometry.manifolds import (
    Sampling,
    check_sets,
    geometry,
    geometry_metric,
    latent_names,
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
        "three or more latents depend on each other although no two of them do, which only the total correlation shows"
    ),
)
def manifold_mutual_information(
    evidence: Evidence,
    *,
    sets: Sequence[int | Sequence[int]] | None = None,
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: Seed = 0,
) -> Score:
    """Information, in nats, that two latents, or two sets of latents, share in the data; mean over pairs of latents.

    Lower is better: 0 means that the two latents move the data in orthogonal directions everywhere. ``parts["matrix"]``
    has the value of every pair (its diagonal is undefined: nan), and ``per_code`` the mean of each latent over its
    partners.

    Parameters
    ----------
    sets : two ints or sequences of int, optional
        Two disjoint sets S and T of latents: the score is then I(q_S, q_T).
    prior : StandardNormal, GaussianMixture or IndependentPrior
        Distribution of the latents. Not used when Jacobians are given as an array.
    n_samples : int
        Number of latents drawn.
    rng : int, Generator or None
        Seed of the latents.

    Returns
    -------
    Score
        With ``parts`` ``matrix`` and ``standard_errors`` (both d x d, symmetric), ``per_dimension`` (the score divided
        by the number of latents in a pair or in both sets) and ``standard_error`` (of the score).

    Examples
    --------
    >>> tilted = [[1.0, 0.6, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]]
    >>> manifold_mutual_information(tilted).parts["matrix"].round(4)[0]
    array([   nan, 0.2231, 0.    ])
    >>> round(float(manifold_mutual_information(tilted, sets=[[0, 2], 1])), 4)
    0.2231
    """
    sampling = Sampling(prior, n_samples, int(rng))  # type: ignore[arg-type]
    found = geometry(evidence, sampling)
    matrix, errors = found.information.value + 0.0, found.information.standard_error.copy()  # B.30
    np.fill_diagonal(matrix, np.nan)
    np.fill_diagonal(errors, np.nan)
    n_partners = max(found.n_latents - 1, 1)
    per_latent = np.where(np.eye(found.n_latents, dtype=bool), 0.0, matrix).sum(axis=1) / n_partners
    if sets is None:
        shared, size = mean_of(found.mean_information[found.resolved]), 2
    else:
        both = index_sets(sets)
        if len(both) != 2 or set(both[0]) & set(both[1]):
            raise EvidenceError(f"sets={sets} are not two disjoint sets of latents: name each latent at most once.")
        check_sets((both[0] + both[1],), found.n_latents, found.n_outputs)
        directions = shared_directions(evidence, sampling, (*both, both[0] + both[1]))
        shared = mean_of(directions[:, 0] + directions[:, 1] - directions[:, 2])  # A.27
        size = len(both[0] + both[1])
    raw = float(shared.value) if found.n_latents > 1 else math.nan
    return Score(
        raw=raw,
        per_code=dict(zip(latent_names(evidence), per_latent.tolist(), strict=True)),
        parts={
            "matrix": matrix,
            "standard_errors": errors,
            "per_dimension": np.array([raw / size]),
            "standard_error": np.atleast_1d(shared.standard_error),
        },
        caveats=(
            *saturation(evidence, found, directions=True),
            *((Finding("one_latent"),) if found.n_latents == 1 else ()),
            *_parallel_pairs(latent_names(evidence), matrix),
        ),
    )


def _parallel_pairs(names: Sequence[str], matrix: FloatArray) -> tuple[Finding, ...]:
    """A caveat where two latents move the output in the same direction."""
    pairs = np.argwhere(np.triu(np.isposinf(matrix)))
    if not len(pairs):
        return ()
    return (Finding("latents_parallel", n_others=len(pairs) - 1, codes=[names[i] for i in pairs[0]]),)
