"""Manifold cross mutual information: whether latents of two decoders change the data in the same directions.

    I(q_i^a, q_j^b) = E [ log |J_i^a| + log |J_j^b| - log |J_ij^ab| ] = E [ -1/2 log(1 - cos^2(J_i^a, J_j^b)) ]

with J_i the columns of the decoders' Jacobians, both taken at the same data (000, eq. 11 and A.33). An entry tends to
infinity when the two latents move the data in the same direction everywhere, and is 0 when the directions are
orthogonal everywhere.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.card import Count, Seed
from unweave.estimators.geometry.priors import Prior, StandardNormal
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.geometry.manifolds import Sampling, cross_information, geometry_metric, latent_names
from unweave.score import Score


@geometry_metric(
    measures="agreement of two decoders",
    equivalence="permutation and scale",
    needs=("decoder", "reference"),
    bounds=(0.0, math.inf),
    best=math.inf,
    cost="2 n Jacobians and n d^2 D",
    fails_when=(
        "the two decoders generate different data, or latents have equal entropies, because a rotation of these "
        "latents then fits the data equally well"
    ),
)
def manifold_cross_mutual_information(
    evidence: Evidence,
    *,
    match: Literal["data", "latents"] = "data",
    prior: Prior = StandardNormal(),  # noqa: B008 - a frozen value
    n_samples: Count = 1000,
    rng: Seed = 0,
) -> Score:
    """Information, in nats, that each latent shares with its partner in another decoder, by the best one-to-one match.

    Higher is better. Infinity is the best value: every latent of the decoder then moves the data exactly as one latent
    of the reference does. ``parts["matrix"]`` (latents of the decoder x latents of the reference) has the value of
    every pair, and ``parts["partner"]`` the partner of every latent.

    Parameters
    ----------
    match : {'data', 'latents'}
        Where the columns are compared. 'data': latents are drawn for the reference, decoded, and encoded by the
        decoder, which needs ``encode``. 'latents': both decoders are evaluated at the same latents, exactly as in the
        formula. Jacobians given as arrays are paired row by row.
    prior : StandardNormal, GaussianMixture or IndependentPrior
        Distribution of the reference's latents. Not used when Jacobians are given as arrays.
    n_samples : int
        Number of latents drawn.
    rng : int, Generator or None
        Seed of the latents.

    Returns
    -------
    Score
        With ``parts`` ``matrix``, ``standard_errors`` and ``partner``; ``per_code`` is each latent's best match.

    Examples
    --------
    >>> decoder, reference = np.eye(2), np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> score = manifold_cross_mutual_information(decoder, reference)
    >>> score.parts["matrix"].round(4).tolist(), score.parts["partner"].tolist()
    ([[0.2231, 0.5108], [0.5108, 0.2231]], [1.0, 0.0])
    """
    found = cross_information(evidence, Sampling(prior, n_samples, int(rng)), match)  # type: ignore[arg-type]
    matrix = found.value + 0.0  # eq. 11
    similarity = np.nan_to_num(-np.expm1(-2 * matrix), nan=0.0)  # infinite entries become 1
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    partner = np.full(matrix.shape[0], np.nan)
    partner[rows] = columns
    per_latent = np.full(matrix.shape[0], np.nan)
    per_latent[rows] = matrix[rows, columns]
    alone = int(np.isnan(partner).sum())
    caveats = [Finding("latents_without_partner", n_latents=alone)] if alone else []
    if np.isnan(matrix).any():
        caveats.append(Finding("latent_without_effect"))
    return Score(
        raw=float(per_latent[rows].mean()),
        per_code=dict(zip(latent_names(evidence), per_latent.tolist(), strict=True)),
        parts={"matrix": matrix, "standard_errors": found.standard_error, "partner": partner},
        caveats=tuple(caveats),
    )
