"""Entropic metrics of a decoder's manifolds (000)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from unweave.arrays import FloatArray
from unweave.card import Count, Seed
from unweave.errors import InputError, OptionError
from unweave.estimators.geometry import (
    HALF_LOG_2PI_E,
    Prior,
    StandardNormal,
    index_sets,
    mean_of,
    random_others,
    random_pair_information,
    random_total_correlation,
    random_total_correlation_interval,
)
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.manifolds import (
    Sampling,
    check_sets,
    cross_information,
    entropies,
    geometry,
    geometry_metric,
    information_with_others,
    latent_names,
    log_volumes,
    rotated_total_correlation,
    saturation,
    shared_directions,
)
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

    Notes
    -----
    Manifold cross mutual information: whether latents of two decoders change the data in the same directions.

        I(q_i^a, q_j^b) = E [ log |J_i^a| + log |J_j^b| - log |J_ij^ab| ] = E [ -1/2 log(1 - cos^2(J_i^a, J_j^b)) ]

    with J_i the columns of the decoders' Jacobians, both taken at the same data (000, eq. 11 and A.33). An entry tends
    to infinity when the two latents move the data in the same direction everywhere, and is 0 when the directions are
    orthogonal everywhere.

    Examples
    --------
    >>> decoder, reference = np.eye(2), np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> score = manifold_cross_mutual_information(decoder, reference)
    >>> score.parts["matrix"].round(4).tolist(), score.parts["partner"].tolist()
    ([[0.2231, 0.5108], [0.5108, 0.2231]], [1.0, 0.0])
    """
    found, n_outputs = cross_information(evidence, Sampling(prior, n_samples, int(rng)), match)  # type: ignore[arg-type]
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
    if n_outputs < max(matrix.shape):
        caveats.append(Finding("fewer_outputs_than_latents", n_outputs=n_outputs, n_latents=max(matrix.shape)))
    return Score(
        raw=float(per_latent[rows].mean()),
        per_code=dict(zip(latent_names(evidence), per_latent.tolist(), strict=True)),
        parts={"matrix": matrix, "standard_errors": found.standard_error, "partner": partner},
        caveats=tuple(caveats),
    )


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
    ranks components. The score has no best value: it depends on the units of the outputs. A decoder whose sorted
    entropies fall steeply, so that few latents span the data, is called aligned. It says nothing about true factors.

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

    Notes
    -----
    Manifold entropy: how strongly each latent, or set of latents, changes the data.

        H(q_S) = |S|/2 (1 + log 2 pi) + E_z log |J_S(z)|

    with J_S the columns of the decoder's Jacobian for the latents in S (000, eq. 8 and A.23). For one latent |J_i| is
    the length of the column, and exp(H(q_i) - (1 + log 2 pi)/2) its geometric mean, in units of the data.

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
    partners. A common unit of the outputs does not change the score, and different units of single outputs do.

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
        by the number of latents in a pair or in both sets), ``standard_error`` (of the score), ``random_pair``: what
        two random directions in as many outputs share on average, and what 5 % of such pairs exceed, ``all_others``:
        what each latent shares with all others together (nan if their directions are dependent), and
        ``random_others``: the same of random directions, as for pairs.

    Notes
    -----
    Manifold mutual information: how far two latents, or two sets of latents, change the data in common directions.

        I(q_S, q_T) = E_z [ log |J_S| + log |J_T| - log |J_ST| ],    I_ij = E_z [ -1/2 log(1 - cos^2(J_i, J_j)) ]

    with J_S the columns of the decoder's Jacobian for the latents in S (000, eq. 10 and A.27; for single latents B.30).
    It is 0 exactly when the directions of the two sets are orthogonal everywhere.

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
            raise OptionError(f"sets={sets} are not two disjoint sets of latents: name each latent at most once.")
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
            "random_pair": np.array(
                [random_total_correlation(found.n_outputs, 2), random_pair_information(found.n_outputs)]
            ),
            "all_others": information_with_others(evidence, sampling),
            "random_others": random_others(found.n_outputs, found.n_latents - 1),
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

    Lower is better. Compare it with two parts. ``rotated_latents``, the score after a random rotation of the latents:
    are the axes better than an arbitrary basis of the same map? ``random_decoder``, the score of columns with random
    directions (of any lengths): are the directions more orthogonal than by chance? The second is near 0 if there are
    many more outputs than latents, as for images. A common unit of the outputs does not change the score, and different
    units of single outputs do. It says nothing about true factors.

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
        With ``parts`` ``per_dimension``, ``standard_error``, ``random_decoder`` and, for single latents,
        ``rotated_latents``; ``random_decoder_interval`` and ``rotated_latents_interval`` have 95 % of random draws.

    Notes
    -----
    Manifold total correlation: how far the latents' directions in the data are from orthogonal.

        I_P = sum_{S in P} H(q_S) - H(q) = E_z [ sum_S log |J_S| - log |J| ]

    with J the decoder's Jacobian and P a partition of the latents, by default into single latents (000, eq. 9 and A.31;
    the global IMA contrast of Gresele et al. 2021). It is 0 exactly when columns of different sets are orthogonal
    everywhere (inequalities of Hadamard and Fischer).

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
        raise InputError(f"The partition {sets} has a latent in two sets: put every latent in one.")
    check_sets((members,), found.n_latents, found.n_outputs)
    if partition is None:
        shared = mean_of(-found.log_directions[found.resolved])  # eq. 9
    else:
        directions = shared_directions(evidence, sampling, (*sets, members))
        shared = mean_of(directions[:, :-1].sum(axis=1) - directions[:, -1])  # A.31
    raw, size, by_chance = float(shared.value), (found.n_outputs, len(members)), {}
    if partition is None:
        rotated = rotated_total_correlation(evidence, sampling)
        by_chance = {"rotated_latents": rotated[:1].copy(), "rotated_latents_interval": rotated[1:].copy()}
    return Score(
        raw=raw,
        parts=by_chance
        | {
            "per_dimension": np.array([raw / len(members)]),
            "standard_error": np.atleast_1d(shared.standard_error),
            "random_decoder": np.array([random_total_correlation(*size)]),
            "random_decoder_interval": random_total_correlation_interval(*size),
        },
        caveats=saturation(evidence, found, directions=True),
    )


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

    Notes
    -----
    Total entropy of the data that a decoder generates.

        H(q) = d/2 (1 + log 2 pi) + E_z log |J(z)|,    |J| = det(J'J)^(1/2)

    with J the Jacobian (D outputs x d latents) of the decoder at z, drawn from its prior (000, eq. 7 and A.19; with
    fewer latents than outputs the entropy is that of the density on the manifold).

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
