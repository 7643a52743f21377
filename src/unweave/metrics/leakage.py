"""Leakage of concept models: impurity of concepts (OIS, NIS), and information about other concepts and the task.

A concept model has a code, or a block of codes (an embedding), for every concept, and predicts a target from them. The
concepts are the factors. A unit (a code or a block) belongs to the concept of its name; where names differ, units and
concepts are matched one to one by rank correlation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unweave.arrays import FloatArray, Rows
from unweave.card import Seed, Several, metric, seed_from
from unweave.estimators.correlation import Spearman, best_matching
from unweave.estimators.counts import label_entropies
from unweave.estimators.information import Histogram, Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import (
    code_labels,
    factor_correlation_matrix,
    factor_entropies,
    factor_labels,
    live_units,
    unit_correlation_matrix,
    unit_information,
    unit_readouts,
    varying,
)
from unweave.randomness import random_stream
from unweave.score import Score

ZARLENGA = "Espinosa Zarlenga et al. (2023), 'Towards robust metrics for concept representation evaluation'"

PARISINI = "Parisini et al. (2025), 'Leakage and interpretability in concept-based models'"

N_FOLDS = 5

N_PURE = 10

# fields of the card that the metrics of leakage have in common
leakage_metric = functools.partial(metric, measures="modularity", best=0.0, takes_code_groups=True)


@memoised(on="both")
def own_units(evidence: Evidence) -> NDArray[np.intp]:
    """The unit of every concept, by name or by the best matching; -1 for constant concepts and those without a unit."""
    names, found = list(evidence.code_units), np.full(evidence.n_factors, -1)
    if set(evidence.factor_names) <= set(names):
        found[:] = [names.index(name) for name in evidence.factor_names]
    else:
        live = np.flatnonzero(live_units(evidence))
        strength = np.nan_to_num(unit_correlation_matrix(evidence, Spearman()))[live]
        for unit, concept in zip(*best_matching(strength), strict=True):
            found[concept] = live[unit]
    return np.where(varying(evidence), found, -1)


def log_odds(bins: Rows, classes: Rows, folds: Sequence[tuple[Rows, Rows]]) -> FloatArray:
    """Out-of-fold log odds of every class (rows x classes) by its share among training rows in the same bin.

    Shares are smoothed by one row with the shares of all training rows. Of two classes, only the second is needed.

    >>> bins = np.array([0, 0, 0, 1, 1, 1])
    >>> log_odds(bins, bins, [(np.arange(6), np.arange(6))]).round(2)[:, 0].tolist()
    [-1.95, -1.95, -1.95, 1.95, 1.95, 1.95]
    """
    n_bins, n_classes = int(bins.max()) + 1, int(classes.max()) + 1
    found = np.empty((bins.size, n_classes))
    for train, test in folds:
        counts = np.bincount(bins[train] * n_classes + classes[train], minlength=n_bins * n_classes)
        table = counts.reshape(n_bins, n_classes).astype(np.float64)
        table += table.sum(axis=0) / train.size
        shares = np.clip(table / table.sum(axis=1, keepdims=True), 1e-12, 1 - 1e-12)
        found[test] = np.log(shares / (1 - shares))[bins[test]]
    return found[:, 1:] if n_classes == 2 else found


def mean_area(scores: FloatArray, classes: Rows, folds: Sequence[tuple[Rows, Rows]]) -> float:
    """Area under the ROC curve of every class against the others, mean over folds and classes; nan if none is defined.

    >>> mean_area(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), [(np.arange(3), np.arange(3))])
    1.0
    """
    offset = int(classes.max()) + 1 - scores.shape[1]
    areas = []
    for _, test in folds:
        positive = classes[test, None] == np.arange(offset, offset + scores.shape[1])
        n_positive = positive.sum(axis=0)
        above = (rankdata(scores[test], axis=0) * positive).sum(axis=0) - n_positive * (n_positive + 1) / 2
        n_pairs = n_positive * (test.size - n_positive)
        areas += (above[n_pairs > 0] / n_pairs[n_pairs > 0]).tolist()
    return float(np.mean(areas)) if areas else math.nan


class _Concepts:
    """Bins of all units for every concept, classes of the concepts, and folds."""

    def __init__(self, evidence: Evidence, bins: int, seed: int) -> None:
        self.classes = [labels.astype(np.intp) for labels in factor_labels(evidence, Histogram(bins))]
        columns, self.of_block = unit_readouts(evidence)
        self.bins = [labels.astype(np.intp) for labels in code_labels(evidence.recoded(columns), Histogram(bins))]
        self.owner, self.free = own_units(evidence), np.flatnonzero(varying(evidence)).tolist()
        self.scored = [j for j in self.free if self.owner[j] >= 0]
        self.folds = evidence.folds(N_FOLDS, seed)

    def odds(self, unit: int, concept: int) -> FloatArray:
        """Log odds of a concept's classes given a unit."""
        start, wide = self.of_block[unit]
        return log_odds(self.bins[start + concept * wide], self.classes[concept], self.folds)

    def true_odds(self, given: int, concept: int) -> FloatArray:
        """Log odds of a concept's classes given another concept."""
        return log_odds(self.classes[given], self.classes[concept], self.folds)

    def area(self, odds: FloatArray, concept: int) -> float:
        """AUC of the classes of a concept."""
        return mean_area(odds, self.classes[concept], self.folds)


def pure_codes(evidence: Evidence, estimator: Information, seed: int) -> Iterator[FloatArray]:
    """Codes that know their concept and nothing else: the rows of every unit shuffled within classes of its concept."""
    owner, classes, members = (
        own_units(evidence),
        factor_labels(evidence, estimator),
        list(evidence.code_units.values()),
    )
    for k in range(N_PURE):
        codes, rng = evidence.codes.copy(), random_stream(seed, "pure codes", k)
        for j in np.flatnonzero(owner >= 0).tolist():
            place = np.argsort(classes[j], kind="stable")
            own = members[owner[j]]
            codes[np.ix_(place, own)] = evidence.codes[np.ix_(np.lexsort((rng.random(place.size), classes[j])), own)]
        yield codes


def _per_factor(evidence: Evidence, values: dict[int, float]) -> dict[str, float]:
    return {name: values.get(j, math.nan) for j, name in enumerate(evidence.factor_names)}


def _no_unit(evidence: Evidence) -> Score | None:
    """The undefined score of codes that never vary, or None."""
    if (own_units(evidence) >= 0).any() and live_units(evidence).any():
        return None
    return Score(math.nan, caveats=(Finding("no_code_varies"),))


@leakage_metric(
    equivalence="elementwise",
    min_rows=50,
    chance="by permutation",
    cost="n counts for every pair of concepts and fold",
    fails_when=(
        "a concept is hard to predict from its own code, because that counts as much as leakage, or leakage needs "
        "several codes together, which `niche_impurity` sees"
    ),
    reference=ZARLENGA,
    identity_tolerance=0.02,
    order_tolerance=0.05,
    moves_at_200_rows=(0.03, 0.05, 0.02),
)
def oracle_impurity(evidence: Evidence, *, bins: Several = 10, rng: Seed = 0) -> Score:
    """Distance of the AUCs with which codes predict all concepts from those of the true concepts (OIS).

    0 means that the code of every concept predicts each concept exactly as well as the concept itself does: dependence
    between concepts is allowed, and leakage beyond it is not. 1 is the largest distance. Random codes score about
    1 / sqrt(d), because they do not predict their own concept.

    Parameters
    ----------
    bins : int
        Number of bins of equal mass for codes, and for continuous and circular concepts. Each is predicted by the
        shares of its classes in the bin of a code; of a block, in the bin of its held-out linear readout.
    rng : int or Generator
        Seed of the five folds.

    Notes
    -----
    Oracle impurity score.

        OIS = 2/k |P(c^, c) - P(c, c)|_F

    with P(a, c)_ij the held-out area under the ROC curve of concept c_j predicted from a_i (mean over its classes), c^
    the codes of the concepts and k their number. The authors predict with a small neural network, which differs from
    fit to fit; shares in bins are its limit for one code. Constant concepts and concepts without a code are left out.

    Examples
    --------
    >>> concepts = np.random.default_rng(0).integers(0, 2, size=(400, 3))
    >>> float(oracle_impurity(concepts, 2.0 * concepts, kinds="categorical"))
    0.0
    """
    if (undefined := _no_unit(evidence)) is not None:
        return undefined
    data = _Concepts(evidence, bins, seed_from(rng))
    matrix = np.full((evidence.n_factors,) * 2, np.nan)
    for i in data.scored:
        for j in data.free:
            matrix[i, j] = data.area(data.odds(int(data.owner[i]), j), j) - data.area(data.true_odds(i, j), j)
    squares = np.square(matrix[data.scored][:, data.free])
    return Score(
        raw=2 * math.sqrt(float(np.nanmean(squares))),
        per_factor=_per_factor(evidence, dict(zip(data.scored, 2 * np.sqrt(np.nanmean(squares, axis=1)), strict=True))),
        parts={"impurity_matrix": matrix},
    )


@leakage_metric(
    equivalence="elementwise",
    min_rows=50,
    chance=0.0,
    cost="n log n for every pair of concepts and fold",
    fails_when=(
        "codes are poor and concepts depend on each other, because the true concepts then predict each other better "
        "than the codes do, or leakage is in a product of codes only"
    ),
    reference=ZARLENGA,
    identity_tolerance=0.02,
    order_tolerance=0.05,
    moves_at_200_rows=(0.08, 0.1, 0.08),
    raw_range="below 0, if the codes of other concepts predict a concept worse than these concepts do",
    undefined_with=("one factor",),
)
def niche_impurity(
    evidence: Evidence,
    *,
    niche: Literal["concepts", "codes"] = "concepts",
    oracle: bool = True,
    bins: Several = 10,
    rng: Seed = 0,
) -> Score:
    """How well codes outside the niche of a concept together predict it, beyond the true concepts (NIS).

    0 means that the codes of other concepts predict a concept no better than these concepts do. 1 means that they
    determine concepts that do not depend on each other. Random codes score 0.

    Parameters
    ----------
    niche : {'concepts', 'codes'}
        Whether the niche of a concept has the codes of the concepts that correlate with it, or, as the authors have it,
        the codes that do: a code that leaks a concept is then in its niche, and strong leakage is not seen.
    oracle : bool
        Whether the AUC from the true concepts is subtracted. Without it, concepts that depend on each other count as
        leakage, and the score is 2 NIS - 1 for the authors' NIS.
    bins : int
        Number of bins, as for `oracle_impurity`.
    rng : int or Generator
        Seed of the five folds.

    Notes
    -----
    Niche impurity score.

        NIS = integral over b from 0 to 1 of 1/k sum_j 2 (A_j(b) - A*_j(b))

    with A_j(b) the held-out area under the ROC curve of concept j predicted by naive Bayes from the codes outside its
    niche, and A*_j(b) that from the true concepts of these codes. The niche has the codes of the concepts whose rank
    correlation with concept j is above b, and always its own code: the authors lose it where b is above its
    correlation, so that imperfect codes count as leakage.

    Examples
    --------
    >>> concepts = np.random.default_rng(0).integers(0, 2, size=(400, 3))
    >>> float(niche_impurity(concepts, 2.0 * concepts, kinds="categorical"))
    0.0
    """
    if (undefined := _no_unit(evidence)) is not None:
        return undefined
    data = _Concepts(evidence, bins, seed_from(rng))
    if len(data.free) < 2:
        return Score(math.nan, caveats=(Finding("one_factor_varies"),))
    own = data.owner[data.scored]
    strength = np.full((evidence.n_factors,) * 2, np.nan)  # of the unit of a concept, or of the concept, and another
    strength[data.scored] = unit_correlation_matrix(evidence, Spearman())[own]
    if niche == "concepts":
        strength = factor_correlation_matrix(evidence, Spearman())
    found = {}
    for j in data.scored:
        others = sorted((i for i in data.scored if i != j), key=lambda i: float(strength[i, j]))
        ends = [*(min(float(strength[i, j]), 1.0) for i in others), 1.0]
        codes, truth, found[j] = np.zeros(1), np.zeros(1), 0.0
        for place, i in enumerate(others):
            codes, truth = codes + data.odds(int(data.owner[i]), j), truth + data.true_odds(i, j)
            if (width := ends[place + 1] - ends[place]) > 0:
                found[j] += 2 * width * (data.area(codes, j) - (data.area(truth, j) if oracle else 0.5))
    return Score(raw=float(np.mean(list(found.values()))), per_factor=_per_factor(evidence, found))


@leakage_metric(
    equivalence="elementwise",
    min_rows=50,
    chance=0.0,
    cost="n counts for every pair of concepts",
    fails_when="a block carries a concept in a form that is not linear, or rows are grouped, because they are shuffled",
    raw_range="slightly below 0, if shuffled codes carry more information by chance",
    reference=PARISINI,
    identity_tolerance=0.02,
    order_tolerance=0.05,
    moves_at_200_rows=(0.01, 0.14, 0.01),
    undefined_with=("one factor",),
)
def interconcept_leakage(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    rng: Seed = 0,
) -> Score:
    """Information of a concept's code about other concepts, beyond that of the concept, relative to their entropy.

    0 means that the code of a concept carries no more information about any other concept than the concept itself. 1
    means that every code determines all concepts, and these are independent. Random codes score 0.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. Of a block, the held-out linear readout of a concept is used.
    rng : int or Generator
        Seed of the orders.

    Notes
    -----
    Interconcept leakage.

        ICL = mean over i != j of (I(c^_i; c_j) - I(c~_i; c_j)) / H(c_j)

    with c the concepts, c^_i the code of concept i, and c~_i the same code in random order within the classes of its
    concept (mean over ten orders): it knows its concept and nothing else. If codes determine their concepts,
    I(c~_i; c_j) is I(c_i; c_j). The authors subtract that instead, so that the bias of the estimate counts as leakage
    and codes that do not determine their concept hide it; and they compare codes with codes, relative to the entropies
    of both, which continuous codes do not have.

    Examples
    --------
    >>> concepts = np.random.default_rng(0).integers(0, 2, size=(400, 2))
    >>> leaking = np.column_stack([concepts[:, 0] + 2 * concepts[:, 1], concepts[:, 1]])
    >>> round(float(interconcept_leakage(concepts, leaking, kinds="categorical")), 2)  # one of two pairs
    0.5
    """
    if (undefined := _no_unit(evidence)) is not None:
        return undefined
    owner, free = own_units(evidence), varying(evidence)
    if free.sum() < 2:
        return Score(math.nan, caveats=(Finding("one_factor_varies"),))
    matrix = np.full((evidence.n_factors,) * 2, np.nan)
    scored = np.flatnonzero(owner >= 0)
    entropies = np.where(free, factor_entropies(evidence, estimator), np.nan)
    pure = [
        unit_information(evidence.recoded(codes), estimator)
        for codes in pure_codes(evidence, estimator, seed_from(rng))
    ]
    beyond = unit_information(evidence, estimator) - np.mean(pure, axis=0)
    matrix[scored] = beyond[owner[scored]] / entropies
    np.fill_diagonal(matrix, np.nan)
    per_factor = {j: float(np.nanmean(matrix[j])) for j in scored.tolist()}
    return Score(
        raw=float(np.mean(list(per_factor.values()))),
        per_factor=_per_factor(evidence, per_factor),
        parts={"leakage_matrix": matrix},
    )


@leakage_metric(
    equivalence="elementwise",
    needs=("factors", "codes", "target"),
    min_rows=50,
    chance=0.0,
    cost="n counts for every concept",
    fails_when="codes leak together and not alone, or rows are grouped, because they are shuffled one by one",
    raw_range="slightly below 0, if shuffled codes carry more information by chance",
    reference=PARISINI,
    identity_tolerance=0.02,
    order_tolerance=0.05,
)
def concept_task_leakage(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    rng: Seed = 0,
) -> Score:
    """Information of a concept's code about the target, beyond that of the concept, relative to the target's entropy.

    0 means that the code of a concept says no more about the target of the model than the concept itself. 1 means that
    every code determines a target of which the concepts say nothing. Random codes score 0. Pass ``target=``.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default, also for a continuous target. Of a block, the held-out linear readout of the
        target is used.
    rng : int or Generator
        Seed of the orders.

    Notes
    -----
    Concepts-task leakage.

        CTL = 1/k sum_i (I(c^_i; y) - I(c~_i; y)) / H(y)

    with y the target, c^_i the code of concept i and c~_i the same code in random order within the classes of its
    concept, as for `interconcept_leakage`. The authors subtract I(c_i; y), which is the same if codes determine their
    concepts.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> concept, target = rng.integers(0, 2, size=(2, 400))
    >>> float(concept_task_leakage(concept, concept + 2 * target, target=target, kinds="categorical")) > 0.9
    True
    """
    if (undefined := _no_unit(evidence)) is not None:
        return undefined
    task = _task(evidence)
    if task.constant_factors:
        return Score(math.nan, caveats=(Finding("target_constant"),))
    labels, owner = factor_labels(task, estimator), own_units(evidence)
    scored = np.flatnonzero(owner >= 0)
    pure = [
        unit_information(task.recoded(codes), estimator) for codes in pure_codes(evidence, estimator, seed_from(rng))
    ]
    found = (unit_information(task, estimator) - np.mean(pure, axis=0))[owner[scored], 0]
    shares = found / label_entropies(labels)[0]
    return Score(
        raw=float(shares.mean()),
        per_factor=_per_factor(evidence, dict(zip(scored.tolist(), shares.tolist(), strict=True))),
    )


@memoised(on="both")
def _task(evidence: Evidence) -> Evidence:
    """The same codes, with the target as the only factor."""
    return Evidence(
        {"target": evidence.target},
        evidence.codes,
        kinds="categorical" if evidence.target_is_text else None,
        code_names=evidence.code_names,
        code_groups=evidence.code_groups or None,
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )
