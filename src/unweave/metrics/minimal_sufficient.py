"""Minimality, sufficiency and the invariances behind them, under dependent factors (004)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import Count, Seed, metric, seed_from
from unweave.estimators.information import Histogram, Information, JointInformation
from unweave.estimators.nearest_neighbour import UsableInformation
from unweave.evidence import Evidence
from unweave.evidence.kinds import inferred_kind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.infomec import held_out_shares, labels_from_training, split
from unweave.metrics.matrices import (
    MINIMALITY,
    SUFFICIENCY,
    code_information,
    code_labels,
    factor_entropies,
    factor_labels,
    mutual_information_matrix,
    target_columns,
    varying,
)
from unweave.randomness import random_stream
from unweave.score import Score

USABLE = UsableInformation()
FEW_LEVELS = 10
Target = tuple[Labels, FloatArray]
NO_NUISANCES = Finding("no_nuisances_given")

# fields of the card that the six metrics of 004 have in common
metric_of_004 = functools.partial(
    metric,
    min_rows=50,
    takes_code_groups=True,
    reference="Rethinking disentanglement under dependent factors of variation (004)",
    version=2,
)


@memoised(on="both")
def unit_information_matrix(
    evidence: Evidence, estimator: Information, joint: JointInformation, seed: int
) -> FloatArray:
    """I(Z_j; Y_i) of every unit (rows) and factor (columns) in nats; columns of constant factors are nan."""
    if evidence.has_blocks:
        train, test, _ = split(evidence, joint, seed)
        labels = factor_labels(evidence, estimator)
        matrix = np.zeros((len(evidence.code_units), evidence.n_factors))
        for i, members in enumerate(evidence.code_units.values()):
            for j in np.flatnonzero(varying(evidence)).tolist():
                matrix[i, j] = joint.joint_information(evidence.codes[:, members], labels[j], train, test)
    else:
        matrix = mutual_information_matrix(evidence, estimator).copy()
    matrix[:, ~varying(evidence)] = np.nan
    return matrix


@memoised(on="both")
def held_information(evidence: Evidence, estimator: Information, joint: JointInformation, seed: int) -> FloatArray:
    """I(Z_j; X) of every unit in nats: H(Z_j) of a code, or a group's information about all factors and nuisances."""
    if not evidence.has_blocks:
        return code_information(evidence, estimator)
    told = np.nanmax(unit_information_matrix(evidence, estimator, joint, seed), axis=1)
    train, test, _ = split(evidence, joint, seed)
    targets = [*factor_targets(evidence, estimator), *nuisance_targets(evidence, estimator)]
    nothing = np.empty((evidence.n_rows, 0))
    held = [
        chained_information(evidence.codes[:, members], nothing, targets, joint, train, test)
        for members in evidence.code_units.values()
    ]
    return np.maximum(held, told)  # I(Z_j; X) is at least I(Z_j; Y_i) for every i


def chained_information(
    columns: FloatArray, given: FloatArray, targets: Sequence[Target], joint: JointInformation, train: Rows, test: Rows
) -> float:
    """I(columns; targets | given) by the chain rule: sum_k I(columns, given, t_<k; t_k) - I(given, t_<k; t_k)."""
    total = 0.0
    for labels, features in targets:
        without = joint.joint_information(given, labels, train, test) if given.shape[1] else 0.0
        total += max(joint.joint_information(np.hstack([columns, given]), labels, train, test) - without, 0.0)
        given = np.hstack([given, features])
    return total


def factor_targets(evidence: Evidence, estimator: Information, without: int | None = None) -> list[Target]:
    """Labels and numeric columns of every factor that varies, except factor ``without``."""
    labels = factor_labels(evidence, estimator)
    used = [j for j in np.flatnonzero(varying(evidence)).tolist() if j != without]
    return [(labels[j], target_columns(evidence, j)) for j in used]


def nuisance_targets(evidence: Evidence, estimator: Information) -> list[Target]:
    """Labels and numeric columns of every nuisance that varies; one with few levels is encoded by their indicators."""
    targets = []
    for column in evidence.nuisances.T:
        values = np.unique(column)
        if values.size < 2:
            continue
        discrete = inferred_kind(column, is_text=False).has_classes
        few = values.size <= FEW_LEVELS
        features = (column[:, None] == values).astype(np.float64) if few else column[:, None]
        targets.append((estimator.factor_labels(column, discrete), features))
    return targets


@dataclass(frozen=True)
class ConditionalInformation:
    """For every unit: its main factor, its information about other variables given that factor, and I(Z_j; X)."""

    factor: NDArray[np.intp]
    information: FloatArray
    held: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def conditional_information(
    evidence: Evidence,
    what: Literal["factors", "nuisances"],
    estimator: Information,
    joint: JointInformation,
    most_units: int,
    seed: int,
) -> ConditionalInformation:
    """Conditional information given the main factor, for all units or for a random subset of ``most_units``."""
    held = held_information(evidence, estimator, joint, seed)
    own = np.nanargmax(unit_information_matrix(evidence, estimator, joint, seed), axis=1)
    train, test, caveats = split(evidence, joint, seed)
    used = np.flatnonzero(held > 0)
    if used.size > most_units:
        used = np.sort(random_stream(seed, "chosen codes").permutation(used)[:most_units])
        caveats = (*caveats, Finding("codes_sampled", n_codes=most_units, of=held.size))
    information = np.full(held.size, np.nan)
    for i in used.tolist():
        given = target_columns(evidence, int(own[i]))
        if what == "factors":
            targets = factor_targets(evidence, estimator, without=int(own[i]))
        else:
            targets = nuisance_targets(evidence, estimator)
        if evidence.has_blocks:
            columns = evidence.codes[:, list(evidence.code_units.values())[i]]
            information[i] = chained_information(columns, given, targets, joint, train, test)
        else:  # the labels of a single code are the target, so all other variables can be predictors together
            labels = code_labels(evidence, estimator)[i]
            all_columns = _widened(given, targets)
            whole = joint.joint_information(all_columns, labels, train, test) if targets else 0.0
            information[i] = max(whole - joint.joint_information(given, labels, train, test), 0.0) if targets else 0.0
    return ConditionalInformation(own, information, held, caveats)


def invariance(evidence: Evidence, found: ConditionalInformation) -> Score:
    """Score with 1 - I(Z_j; others | Y_i) / I(Z_j; X) of every unit, and their mean."""
    per_unit = 1 - np.divide(found.information, found.held, out=np.full_like(found.held, np.nan), where=found.held > 0)
    defined = ~np.isnan(per_unit)
    return Score(
        raw=float(per_unit[defined].mean()) if defined.any() else np.nan,
        per_code=dict(zip(evidence.code_units, per_unit.tolist(), strict=True)),
        parts={"information_beyond": found.information, "own_factor": found.factor.astype(np.float64)},
        caveats=found.caveats if defined.any() else (*found.caveats, Finding("all_codes_empty")),
    )


def _widened(given: FloatArray, targets: list[Target]) -> FloatArray:
    return np.hstack([given, *(features for _, features in targets)])


@dataclass(frozen=True)
class SingleAndJoint:
    """For every factor: I(Y_i; Z_j) of its best unit j, I(Y_i; Z) of all codes, and H(Y_i); nan if it is constant."""

    alone: FloatArray
    together: FloatArray
    entropies: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def single_and_joint_information(
    evidence: Evidence, estimator: Information, joint: JointInformation, seed: int
) -> SingleAndJoint:
    """Information about every factor in its best unit and in all codes, by one estimator, so that biases are similar.

    All codes together carry at least as much information as one unit. Where a classifier on all codes with few rows is
    worse than a classifier on the single unit, the estimate of the latter is used for both.
    """
    train, test, caveats = split(evidence, joint, seed)
    best = np.argmax(unit_information_matrix(evidence, estimator, joint, seed), axis=0)
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    alone = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        codes, labels = (
            evidence.codes[:, list(evidence.code_units.values())[best[j]]],
            labels_from_training(evidence, j, estimator, train),
        )
        alone[j] = joint.joint_information(codes, labels, train, test)
    shares, _ = held_out_shares(evidence, joint, estimator, seed)
    of_all_codes = np.maximum(shares, 0.0) * factor_entropies(evidence, estimator)
    return SingleAndJoint(alone, np.maximum(of_all_codes, alone), entropies, caveats)


@metric_of_004(
    measures="explicitness",
    equivalence="affine",
    chance=0.0,
    cost="two logistic fits per factor, shared with representations_invariance",
    fails_when=(
        "there are few rows for the number of codes, or codes carry a factor in a form that the classifier cannot learn"
    ),
    identity_tolerance=0.05,
    order_tolerance=0.03,
    factor_by_factor=True,
    moves_at_200_rows=(0.32, 0.24, 0.01),
)
def explicitness_ratio(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """Information that all codes together carry about a factor, relative to its entropy; mean over factors.

    1 means that all codes together determine every factor, whether they mix factors or not. Random codes score 0.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Estimator whose labels (bins or levels) represent the factors.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that all codes together carry about a factor: by default a linear classifier on
        held-out rows. ``boosted_trees`` also find factors that depend on several codes jointly. Nearest-neighbour
        estimates are too low with more than three or four codes.
    rng : int or Generator
        Seed of the split.

    Notes
    -----
    Explicitness of 004, as a ratio.

        e = 1/d sum_i e_i,    e_i = 1 - I(Y_i; X | Z) / I(Y_i; X) = I(Y_i; Z) / H(Y_i)    (004, eq. 4)

    with Z all codes together, Y_i the factors and X the data. With the sufficiency s_ij (eq. 7) and the
    representations-invariance r_ij, s_ij = r_ij + e_i - 1, which is the quantitative form of theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> float(explicitness_ratio(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])) > 0.95
    True
    """
    found = single_and_joint_information(evidence, estimator, joint, seed_from(rng))
    per_factor = found.together / found.entropies
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=found.caveats,
    )


CODE_SCALE = Histogram(20, "equal_width")


@metric_of_004(
    measures="modularity",
    equivalence="permutation and scale",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with sufficiency for the same estimator",
    fails_when=(
        "codes have a finer resolution than the factors, or the bins are much finer or coarser than the differences of "
        "interest, because the score describes the binned codes"
    ),
    takes_sparse_codes=True,
    moves_at_200_rows=(0.0, 0.0, 0.02),
)
def minimality(
    evidence: Evidence, *, estimator: Information = CODE_SCALE, joint: JointInformation = USABLE, rng: Seed = 0
) -> Score:
    """Mutual information of a code and its best factor, relative to the code's entropy; mean over codes.

    1 means that every code is a function of one factor alone, not of another factor or of a nuisance. Random
    codes score about 0, more with few rows. The entropy of a code depends on how it is binned. The default is bins of
    equal width on the code's own scale, so that a little noise on a discrete code costs little. Bins of equal mass
    depend on ranks alone, and with them any amount of noise on K equal classes costs the same, 1 - log K / log bins.
    `sufficiency` uses bins of equal mass, and has a caveat where this changes its score.

    Parameters
    ----------
    estimator : Histogram
        ``Histogram(15, 'equal_width')`` gives the numbers of 004's code, and 20 bins those of its text.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information of a code group, by the chain rule over all factors and nuisances. Not used without
        code groups.
    rng : int or Generator
        Seed of the split if code groups are scored by usable information.

    Notes
    -----
    Minimality.

        minimality = 1/m sum_j max_i m_ij,    m_ij = I(Z_j; Y_i) / I(Z_j; X)    (004, eq. 5 and 6)

    with Z_j the m codes, Y_i the factors and X the data. Codes are binned, so I(Z_j; X) = H(Z_j) (section 4.4).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> round(float(minimality(factors, factors * [2, -1])), 6)
    1.0
    """
    seed = seed_from(rng)
    information = unit_information_matrix(evidence, estimator, joint, seed)
    held = held_information(evidence, estimator, joint, seed)[:, None]
    matrix = np.divide(information, held, out=np.full_like(information, np.nan), where=held > 0)  # eq. 5
    full = np.flatnonzero(held[:, 0] > 0)
    per_unit = np.full(len(matrix), np.nan)
    per_unit[full] = np.nanmax(matrix[full], axis=1)
    caveats = split(evidence, joint, seed)[2] if evidence.has_blocks else ()
    if evidence.has_blocks and not evidence.nuisances.shape[1]:
        caveats = (*caveats, NO_NUISANCES)
    if not full.size:
        caveats = (*caveats, Finding("all_codes_empty"))
    elif full.size < len(matrix):
        caveats = (*caveats, Finding("empty_codes_left_out", n_codes=len(matrix) - full.size))
    return Score(
        raw=float(per_unit[full].mean()) if full.size else np.nan,  # eq. 6
        per_code=dict(zip(evidence.code_units, per_unit.tolist(), strict=True)),
        parts={"minimality_matrix": matrix},
        matrices=(MINIMALITY,),
        caveats=caveats,
    )


NO_OTHERS = Finding("no_other_factors")


@metric_of_004(
    measures="modularity",
    equivalence="permutation and scale",
    chance=1.0,
    cost="two logistic fits per code",
    fails_when=(
        "codes carry no information, because noise is invariant to every factor (read it together with minimality)"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
    moves_at_200_rows=(0.22, 0.42, 0.01),
)
def factors_invariance(
    evidence: Evidence,
    *,
    estimator: Information = CODE_SCALE,
    joint: JointInformation = USABLE,
    most_units: Count = 256,
    rng: Seed = 0,
) -> Score:
    """1 minus a code's information about other factors given its main factor, relative to its entropy; mean over codes.

    1 means that given its main factor, no code carries information about the other factors, whether the factors are
    dependent or not. Noise scores 1 too, because a code without information is invariant to everything.

    Parameters
    ----------
    estimator : Histogram
        Estimator that bins the codes and determines the main factor of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that all factors together carry about a code: by default a linear classifier on
        held-out rows.
    most_units : int
        If there are more codes than this, a random subset of this size is scored, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Notes
    -----
    Factors-invariance.

        f = 1/m sum_j f_ij,    f_ij = 1 - I(Z_j; Y_k, k != i | Y_i) / I(Z_j; X)    (004, eq. 1)

    with Y_i the factor about which code Z_j carries the most information. 004 only defines when the property is
    satisfied. The degree of violation is here divided by I(Z_j; X), as in minimality m_ij (eq. 5), so that m_ij <=
    f_ij, which is the quantitative form of theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> mixed = factors @ [[1.0, 1.0], [1.0, -1.0]]
    >>> float(factors_invariance(factors, factors)) > 0.97 > 0.5 > float(factors_invariance(factors, mixed))
    True
    """
    score = invariance(
        evidence, conditional_information(evidence, "factors", estimator, joint, most_units, seed_from(rng))
    )
    return score if varying(evidence).sum() > 1 else replace(score, caveats=(*score.caveats, NO_OTHERS))


@metric_of_004(
    measures="invariance to nuisances",
    equivalence="permutation and scale",
    needs=("factors", "codes", "nuisances"),
    chance=1.0,
    cost="two logistic fits per code",
    fails_when=(
        "codes carry no information, because noise is invariant to every nuisance, or relevant nuisances are not given"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
)
def nuisances_invariance(
    evidence: Evidence,
    *,
    estimator: Information = CODE_SCALE,
    joint: JointInformation = USABLE,
    most_units: Count = 256,
    rng: Seed = 0,
) -> Score:
    """1 minus a code's information about nuisances given its main factor, relative to its entropy; mean over codes.

    1 means that given its main factor, no code carries information about the nuisances. Noise scores 1 too.

    Parameters
    ----------
    estimator : Histogram
        Estimator that bins the codes and determines the main factor of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that a factor and the nuisances together carry about a code: by default a linear
        classifier on held-out rows.
    most_units : int
        If there are more codes than this, a random subset of this size is scored, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Notes
    -----
    Nuisances-invariance.

        n = 1/m sum_j n_ij,    n_ij = 1 - I(Z_j; N | Y_i) / I(Z_j; X)    (004, eq. 2)

    with N the nuisances and Y_i the factor about which code Z_j carries the most information. 004 only defines when the
    property is satisfied. The degree of violation is here divided by I(Z_j; X), as in minimality m_ij (eq. 5), so that
    m_ij <= n_ij, which is the quantitative form of theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors, light = rng.normal(size=(1_000, 2)), rng.normal(size=(1_000, 1))
    >>> clean = nuisances_invariance(factors, factors, nuisances=light)
    >>> lit = nuisances_invariance(factors, factors + light, nuisances=light)
    >>> float(clean) > 0.97 > 0.7 > float(lit)
    True
    """
    return invariance(
        evidence, conditional_information(evidence, "nuisances", estimator, joint, most_units, seed_from(rng))
    )


@metric_of_004(
    measures="compactness",
    equivalence="elementwise",
    chance=1.0,
    cost="two logistic fits per factor, shared with explicitness_ratio",
    fails_when=(
        "codes carry no information, because other codes then add none to the best one (read it together with "
        "explicitness_ratio)"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
    factor_by_factor=True,
    moves_at_200_rows=(0.25, 0.21, 0.01),
)
def representations_invariance(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """1 minus the information that other codes add to a factor's best code, relative to the factor's entropy; mean.

    1 means that one code alone carries all the information that the codes have about a factor. Noise scores 1 too,
    because the other codes then add no information to the best one.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Estimator that bins the factors and determines the most informative code of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that several codes together carry about a factor: by default a linear classifier on
        held-out rows.
    rng : int or Generator
        Seed of the split.

    Notes
    -----
    Representations-invariance.

        r = 1/d sum_i r_ij,    r_ij = 1 - I(Y_i; Z_k, k != j | Z_j) / I(Y_i; X)    (004, eq. 3)

    with Z_j the code that carries the most information about factor Y_i. 004 only defines when the property is
    satisfied. The degree of violation is here divided by I(Y_i; X), as in sufficiency s_ij (eq. 7), so that s_ij = r_ij
    + e_i - 1 with e_i the explicitness, which is the quantitative form of theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> mixed = factors @ [[1.0, 1.0], [1.0, -1.0]]
    >>> float(representations_invariance(factors, factors)) > 0.97 > 0.5 > float(
    ...     representations_invariance(factors, mixed)
    ... )
    True
    """
    found = single_and_joint_information(evidence, estimator, joint, seed_from(rng))
    per_factor = 1 - (found.together - found.alone) / found.entropies
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=found.caveats,
    )


RANKS = Histogram()
BINS_MATTER = 0.05


@metric_of_004(
    measures="compactness and explicitness",
    equivalence="elementwise",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with mig",
    fails_when=(
        "there are many codes and few rows, because the best of many codes is taken, or a factor needs several codes; "
        "equal-mass bins split codes of few values at arbitrary places, so the score may fall as factors become more "
        "dependent"
    ),
    takes_sparse_codes=True,
    factor_by_factor=True,
    moves_at_200_rows=(0.0, 0.0, 0.02),
)
def sufficiency(
    evidence: Evidence, *, estimator: Information = RANKS, joint: JointInformation = USABLE, rng: Seed = 0
) -> Score:
    """Mutual information of a factor and its best code, relative to the factor's entropy; mean over factors.

    1 means that every factor can be read from one code. The score does not depend on what else that code carries, which
    `minimality` measures. It does not depend on other codes either: where factors are dependent, several codes may
    rightly carry information about one factor. Random codes score about 0, more with few rows and many codes.

    Codes are cut into bins of equal mass here, and into bins of equal width by `minimality`. Bins of equal mass depend
    on ranks alone, so that the code exp(z) scores 1 like z itself; with bins of equal width it scores .38. 004 uses
    equal width for both metrics; sufficiency then never decreases as factors become more dependent. If the score with
    equal width differs by more than .05, a caveat states it.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(15, 'equal_width')`` gives the numbers of 004's code, and 20 bins
        those of its text.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that a code group carries about a factor. Not used without code groups.
    rng : int or Generator
        Seed of the split if code groups are scored by usable information.

    Notes
    -----
    Sufficiency.

        sufficiency = 1/d sum_i max_j s_ij,    s_ij = I(Y_i; Z_j) / I(Y_i; X)    (004, eq. 7 and 8)

    with Y_i the d factors, Z_j the codes and X the data. Factors are functions of X, so I(Y_i; X) = H(Y_i) (section
    4.4).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> round(float(sufficiency(factors, np.exp(factors))), 6)
    1.0
    """
    seed = seed_from(rng)
    information = unit_information_matrix(evidence, estimator, joint, seed)
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    matrix = information / entropies  # eq. 7
    per_factor = matrix.max(axis=0)
    return Score(
        raw=float(np.nanmean(per_factor)),  # eq. 8
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"sufficiency_matrix": matrix},
        matrices=(SUFFICIENCY,),
        caveats=split(evidence, joint, seed)[2] if evidence.has_blocks else _bins_caveat(evidence, estimator, matrix),
    )


def _bins_caveat(evidence: Evidence, estimator: Information, matrix: FloatArray) -> tuple[Finding, ...]:
    """A caveat that states the score with the bins of `minimality` if it differs by more than .05."""
    if estimator != RANKS:
        return ()
    told = mutual_information_matrix(evidence, CODE_SCALE)
    entropies = np.where(varying(evidence), factor_entropies(evidence, CODE_SCALE), np.nan)
    here, there = (float(np.nanmean(found.max(axis=0))) for found in (matrix, told / entropies))
    return (Finding("other_bins_than_minimality", here=here, there=there),) if abs(here - there) > BINS_MATTER else ()
