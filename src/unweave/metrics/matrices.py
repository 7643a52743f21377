"""Code-by-factor matrices that metrics share, how they are shown, and common assumptions."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import Assumption, MetricUndefined
from unweave.estimators import correlation as correlations
from unweave.estimators.correlation import Correlation, Pearson, SparseCorrelation, Spearman
from unweave.estimators.counts import label_entropies
from unweave.estimators.information import FactorLabels, Information
from unweave.estimators.linear_probes import Linear
from unweave.estimators.probes import Probe
from unweave.estimators.protocols import own_or_default
from unweave.estimators.quantised_posterior import Quantised, QuantisedPosterior
from unweave.estimators.sparse import SparseTable
from unweave.estimators.totals import (
    CORRELATED,
    COUNTED,
    RowTotals,
    correlations_from,
    entropies_from,
    information_from,
)
from unweave.evidence import Evidence, Posterior
from unweave.findings import Finding
from unweave.memo import for_all_drawn, memoised
from unweave.randomness import random_stream
from unweave.responses.factor_bases import factor_view, varying_places
from unweave.score import Score, ShownMatrix

Body = TypeVar("Body", bound=Callable[..., Score])

CORRELATION = ShownMatrix("correlation_matrix", "Absolute correlation of every code with every factor")
IMPORTANCE = ShownMatrix("importance_matrix", "Importance of every code for the probe of every factor")

MUTUAL_INFORMATION = ShownMatrix(
    "mutual_information_matrix", "Mutual information of every code with every factor, in nats"
)

NORMALISED_INFORMATION = ShownMatrix(
    "normalised_information_matrix", "Mutual information relative to the factor's entropy; negative estimates are 0"
)

RELATIVE_INFORMATION = ShownMatrix("relative_information_matrix", "Mutual information relative to the factor's entropy")
PREDICTABILITY = ShownMatrix("predictability_matrix", "How well every code alone predicts every factor")
ROBUSTNESS = ShownMatrix("robustness_matrix", "How little every code changes while a factor is held fixed")
VOTES = ShownMatrix("vote_matrix", "How often a code won the vote for the batches of a factor")
MINIMALITY = ShownMatrix("minimality_matrix", "Share of a code's information that is about one factor")
SUFFICIENCY = ShownMatrix("sufficiency_matrix", "Share of a factor's entropy that one code carries")
BOUND = ShownMatrix("bound_matrix", "The bound for every code and factor")
PURITY = ShownMatrix("purity_matrix", "Share of a code's variance that is due to one factor alone")
CHOSEN = ShownMatrix("chosen_matrix", "Codes from which a factor is predicted")
JOINT_ENTROPY = ShownMatrix("joint_entropy_matrix", "Joint entropy of every code and factor, in nats", framed=False)

P_VALUE = ShownMatrix(
    "p_value_matrix", "p-value of the test that a code does not depend on a factor given the others", framed=False
)

ADJACENCY = ShownMatrix("adjacency_matrix", "Which codes depend on which factors, by the test", framed=False)
HYPOTHESIS = ShownMatrix("hypothesis_matrix", "Which codes should depend on which factors", framed=False)

THREE_WAY = ShownMatrix(
    "three_way_matrix", "Information about the samples that two codes both carry", columns="codes", framed=False
)

MISJED = ShownMatrix(
    "misjed_matrix", "Entropies of two codes minus the joint entropy of their means", columns="codes", framed=False
)


def probed_codes(evidence: Evidence, probe: Probe) -> Any:
    """The codes for this probe; MetricUndefined if it does not support sparse codes, or not so many of them."""
    if evidence.sparse_codes is None:
        return evidence.codes
    largest = own_or_default(Probe.largest_sparse_fit, probe)()
    if not largest:
        raise MetricUndefined(
            f"{type(probe).__name__} needs dense codes, and the codes are sparse: use evaluate(..., screen=True) "
            "(--screen), or probe=Linear(), or pass codes.toarray() if it fits in memory."
        )
    if min(evidence.sparse_codes.shape) > largest:
        n_rows, n_codes = evidence.sparse_codes.shape
        raise MetricUndefined(
            f"{type(probe).__name__} with {n_codes} sparse codes and {n_rows} rows takes too long: use evaluate(..., "
            "screen=True) (--screen), which scores the codes that depend on a factor, or mcc, sap and mig, which have "
            "no such limit."
        )
    return _sparse_table(evidence)


@memoised(on="codes")
def _sparse_table(evidence: Evidence) -> SparseTable:
    assert evidence.sparse_codes is not None
    return SparseTable.of(evidence.sparse_codes)


@memoised(on="factors")
def varying(evidence: Evidence) -> NDArray[np.bool_]:
    """Return True for every factor that is not constant (shape d)."""
    constant = evidence.constant_factors
    return np.array([name not in constant for name in evidence.factor_names])


@memoised(on="codes")
def live_points(evidence: Evidence) -> NDArray[np.bool_]:
    """Return True for every code whose values, or posterior means, are not constant (shape m)."""
    return ~evidence.code_columns.constant


def live_units(evidence: Evidence) -> NDArray[np.bool_]:
    """Return True for every unit with a code that is not constant."""
    if not evidence.has_blocks:
        return live_points(evidence)
    return np.array([live_points(evidence)[members].any() for members in evidence.code_units.values()])


def target_columns(evidence: Evidence, j: int) -> FloatArray:
    """Encode factor j as numeric columns (n x b): its values, its cosine and sine, or indicators of its levels."""
    return evidence.declared_kinds[j].target_columns(evidence.factors[:, j])


def factor_features(evidence: Evidence, j: int, correlation: Correlation) -> FloatArray:
    """Columns of factor j with which codes are correlated; a numeric factor is transformed as the correlation requires.

    Spearman, for example, replaces the values by their ranks.
    """
    columns = target_columns(evidence, j)
    return correlations.features(correlation, columns[:, 0]) if evidence.kinds[j].is_numeric else columns


@memoised(on="factors", by_row=True)
def factor_bases(evidence: Evidence, correlation: Correlation) -> tuple[FloatArray, ...]:
    """Orthonormal basis of every factor's centred features; it has no columns for a constant factor."""
    return tuple(
        correlations.orthonormal_basis(factor_features(evidence, j, correlation)) for j in range(evidence.n_factors)
    )


@memoised(on="factors")
def factor_correlation_matrix(evidence: Evidence, correlation: Correlation) -> FloatArray:
    """Largest canonical correlation of every pair of factors (d x d)."""
    return correlations.canonical_correlation_matrix(factor_bases(evidence, correlation))


@memoised(on="factors")
def varying_units(evidence: Evidence) -> NDArray[np.bool_]:
    """Return True for every block of factors, or factor in no block, that is not constant."""
    if not evidence.has_factor_blocks:
        return varying(evidence)
    return np.array([varying(evidence)[members].any() for members in evidence.factor_units.values()])


@memoised(on="factors", by_row=True)
def _unit_bases(evidence: Evidence, correlation: Correlation) -> tuple[FloatArray, ...]:
    """Orthonormal basis of the features of all factors of every unit."""
    own = factor_bases(evidence, correlation)
    return tuple(
        correlations.orthonormal_basis(np.hstack([own[j] for j in members])) if members.size > 1 else own[members[0]]
        for members in evidence.factor_units.values()
    )


def unit_targets(evidence: Evidence) -> list[FloatArray]:
    """Columns that are predicted of every factor unit that varies: of a block, an orthonormal basis of its columns.

    Sums of squared errors over the columns of a block then do not change under affine maps of the block.
    """
    targets = []
    for members in compress(evidence.factor_units.values(), varying_units(evidence)):
        own = [target_columns(evidence, j) for j in members[varying(evidence)[members]].tolist()]
        targets.append(own[0] if members.size == 1 else correlations.orthonormal_basis(np.hstack(own)))
    return targets


@memoised(on="codes")
def _code_columns(evidence: Evidence, correlation: Correlation) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Codes transformed for the correlation (n x m), with their means and norms; None if a code has several columns."""
    given = [evidence.codes[:, i] for i in range(evidence.n_codes)]
    taken = []
    for column in given:
        taken.append(correlation.column(column))
        if taken[-1].ndim > 1:
            return None
    unchanged = all(new is old for new, old in zip(taken, given, strict=True))
    codes = evidence.codes if unchanged else np.asfortranarray(np.column_stack(taken))
    return codes, *correlations.column_norms(codes)


@memoised(on="both")
def correlation_matrix(evidence: Evidence, correlation: Correlation) -> FloatArray:
    """Absolute correlation of every code with every factor (m x d); nan for constant factors, 0 for constant codes.

    For a circular factor it is the multiple correlation with its cosine and sine, and for a categorical factor with the
    indicators of its levels. If the correlation uses several functions of a column, it is the largest canonical
    correlation.
    """
    if evidence.row_summary is not None and correlation == CORRELATED:
        matrix = correlations_from(evidence.row_summary.plan, evidence.row_summary.totals)
        matrix[:, ~varying(evidence)] = np.nan
        return matrix
    plain = correlation == Pearson() and evidence.sparse_codes is None and evidence.permuted_from is None
    if plain and all(kind.is_numeric for kind in evidence.kinds):
        from_products = correlations.product_correlation_matrix(evidence.stored_factors, evidence.stored_codes)
        if from_products is not None:
            return from_products
    bases = factor_bases(evidence, correlation)
    if evidence.sparse_codes is not None:
        sparse = own_or_default(SparseCorrelation.of_sparse_codes, correlation)(bases, evidence.sparse_codes)
        if sparse is not None:
            sparse[:, ~varying(evidence)] = np.nan
            return sparse
    codes = _code_columns(evidence, correlation)
    if codes is not None:
        matrix = correlations.multiple_correlation_matrix(bases, *codes)
    else:  # one code at a time, because the bases of all codes may not fit into memory
        matrix = np.zeros((evidence.n_codes, evidence.n_factors))
        for i in range(evidence.n_codes):
            basis = correlations.orthonormal_basis(correlations.features(correlation, evidence.codes[:, i]))
            matrix[i] = correlations.largest_correlations(basis, bases)
    matrix[:, ~varying(evidence)] = np.nan
    return matrix


@memoised(on="both")
def unit_correlation_matrix(evidence: Evidence, correlation: Correlation) -> FloatArray:
    """`correlation_matrix` of the units: for a block, the largest canonical correlation of its codes with a factor.

    For a block of factors it is the sum of all canonical correlations, divided by the number of its dimensions.
    """
    if not (evidence.has_blocks or evidence.has_factor_blocks):
        return correlation_matrix(evidence, correlation)
    bases = _unit_bases(evidence, correlation)
    own = [
        correlations.orthonormal_basis(unit_features(evidence, members, correlation))
        for members in evidence.code_units.values()
    ]
    matrix = np.stack([correlations.largest_correlations(basis, bases) for basis in own])
    for j, members in enumerate(evidence.factor_units.values()):
        if members.size > 1:
            all_of_it = [np.linalg.svd(basis.T @ bases[j], compute_uv=False).sum() for basis in own]
            matrix[:, j] = np.array(all_of_it) / max(bases[j].shape[1], 1)
    matrix[:, ~varying_units(evidence)] = np.nan
    return matrix


def unit_features(evidence: Evidence, members: Rows, correlation: Correlation) -> FloatArray:
    """Columns of a unit with which factors are correlated; those of a block have spreads of the same order."""
    columns = [correlations.features(correlation, evidence.codes[:, k]) for k in members.tolist()]
    if len(columns) == 1:
        return columns[0]
    return np.hstack([column / (np.abs(column - column.mean(axis=0)).max() or 1.0) for column in columns])


N_READOUT_FOLDS = 5


@memoised(on="both")
def unit_information(evidence: Evidence, estimator: Information) -> FloatArray:
    """Mutual information of every unit with every factor in nats; that of a block is the information in its readout.

    The readout of a factor is its out-of-fold prediction from the block by a linear probe: a number, an angle or a
    class. The estimator then sees one column, as for a single code. A function of the block cannot carry more than the
    block, so that this is a lower bound, which is reached where the factor is a linear function of the block.
    """
    if not evidence.has_blocks:
        return mutual_information_matrix(evidence, estimator)
    columns, of_block = unit_readouts(evidence)
    found = mutual_information_matrix(evidence.recoded(columns), estimator)
    places = np.arange(evidence.n_factors)
    return np.stack([found[start + places, places] if wide else found[start] for start, wide in of_block])


@memoised(on="both")
def unit_readouts(evidence: Evidence) -> tuple[FloatArray, tuple[tuple[int, bool], ...]]:
    """A column of each single code and one for each factor of a block; the first column of every unit, and its case."""
    folds = evidence.folds(N_READOUT_FOLDS, 0)
    columns: list[FloatArray] = []
    of_block = []
    for members in evidence.code_units.values():
        of_block.append((len(columns), members.size > 1))
        columns += [evidence.codes[:, members]] if members.size == 1 else _readouts(evidence, members, folds)
    return np.hstack(columns), tuple(of_block)


def _readouts(evidence: Evidence, members: Rows, folds: Sequence[tuple[Rows, Rows]]) -> list[FloatArray]:
    """Held-out prediction of every factor from these codes, one column each; 0 for constant factors."""
    codes, free = evidence.codes[:, members], np.flatnonzero(varying(evidence)).tolist()
    targets = [target_columns(evidence, j) for j in free]
    stops = np.cumsum([0, *(columns.shape[1] for columns in targets)])
    table = np.hstack(targets)
    predicted = np.empty_like(table)
    for train, test in folds:
        predicted[test] = Linear().regress(codes[train], table[train], 0).predict(codes[test])
    readouts = [np.zeros((evidence.n_rows, 1)) for _ in range(evidence.n_factors)]
    for j, start, stop in zip(free, stops[:-1], stops[1:], strict=True):
        kind, column = evidence.declared_kinds[j], evidence.factors[:, j]
        readouts[j] = kind.from_target_columns(predicted[:, start:stop], column)[:, None]
    return readouts


def _with_readouts(evidence: Evidence, train: Rows, test: Rows) -> tuple[FloatArray, Rows]:
    """The codes and, for every block, its readouts of all factors; and the unit of every column.

    Readouts of test rows are fitted to the training rows, and those of training rows to other training rows.
    """
    folds = [(train[fit], train[rest]) for fit, rest in evidence.rows(train).folds(N_READOUT_FOLDS, 0)]
    if not np.array_equal(train, test):
        folds.append((train, test))
    columns: list[FloatArray] = []
    unit_of: list[int] = []
    for i, members in enumerate(evidence.code_units.values()):
        columns.append(evidence.codes[:, members])
        if members.size > 1:
            columns += _readouts(evidence, members, folds)
        unit_of += [i] * (sum(each.shape[1] for each in columns) - len(unit_of))
    return np.hstack(columns), np.array(unit_of)


@memoised(on="factors", by_row=True)
def factor_labels(evidence: Evidence, estimator: FactorLabels) -> tuple[Labels, ...]:
    """Integer labels of every factor: its levels, or the estimator's bins if it is continuous or circular."""
    return tuple(
        estimator.factor_labels(evidence.factors[:, j], kind.has_classes) for j, kind in enumerate(evidence.kinds)
    )


@memoised(on="codes")
def code_labels(evidence: Evidence, estimator: Information) -> tuple[Labels, ...]:
    """Integer labels of every code: its bins under the estimator."""
    return own_or_default(Information.code_labels, estimator)(evidence.codes)


@memoised(on="factors")
def factor_entropies(evidence: Evidence, estimator: FactorLabels) -> FloatArray:
    """Entropy of every factor's labels, in nats."""
    if (totals := _counted(evidence, estimator)) is not None:
        return entropies_from(totals)[0]
    return label_entropies(factor_labels(evidence, estimator))


@memoised(on="both")
def quantised_joint(evidence: Evidence, estimator: QuantisedPosterior) -> Quantised:
    """The posterior on a grid, together with every factor's labels or its table p(y | x)."""
    posterior = posterior_of(evidence, estimator)
    labels = factor_labels(evidence, estimator) if evidence.n_factors else ()
    factors = [
        evidence.factor_tables.get(name, column) for name, column in zip(evidence.factor_names, labels, strict=True)
    ]
    return estimator.quantised(posterior.mean, posterior.std, factors, tuple(posterior.categories.values()))


@memoised(on="codes")
def quantised_codes(evidence: Evidence, estimator: QuantisedPosterior) -> Quantised:
    """The same as `quantised_joint`, but memoised on the codes, so that permutations of the factors share it."""
    return quantised_joint(evidence, estimator)


def posterior_of(evidence: Evidence, estimator: object) -> Posterior:
    """Return the posterior of the evidence; raise MetricUndefined if the codes are points."""
    if evidence.posterior is None:
        raise MetricUndefined(
            f"{type(estimator).__name__} needs a posterior and the codes are points: pass codes=Posterior(mean, std)."
        )
    return evidence.posterior


@dataclass(frozen=True)
class ObservedColumns:
    """Codes and factors of an Evidence for the estimators (protocol `Observations`), with memoised results."""

    evidence: Evidence

    @property
    def codes(self) -> FloatArray:
        """The codes as points (n x m), without their posteriors."""
        return self.evidence.codes

    @property
    def continuous_factors(self) -> dict[int, FloatArray]:
        """Values of the factors that have no levels, by their places."""
        kinds, values = self.evidence.kinds, self.evidence.factors
        return {j: values[:, j] for j, kind in enumerate(kinds) if kind.is_numeric and not kind.has_classes}

    def factor_labels(self, estimator: FactorLabels) -> tuple[Labels, ...]:
        """The estimator's labels of every factor."""
        return factor_labels(self.evidence, estimator)

    def code_labels(self, estimator: Information) -> tuple[Labels, ...]:
        """The estimator's labels of every code."""
        return code_labels(self.evidence, estimator)

    def quantised(self, estimator: QuantisedPosterior) -> Quantised:
        """The posterior on a grid, together with every factor."""
        return quantised_joint(self.evidence, estimator)

    def quantised_codes(self, estimator: QuantisedPosterior) -> Quantised:
        """The posterior on a grid, for quantities that involve only the codes."""
        return quantised_codes(self.evidence, estimator)


def _counted(evidence: Evidence, estimator: object) -> RowTotals | None:
    """Totals over all rows if the evidence is a summary that counted this estimator's bins, and None otherwise."""
    return evidence.row_summary.totals if evidence.row_summary is not None and estimator == COUNTED else None


@memoised(on="codes")
def code_entropies(evidence: Evidence, estimator: Information) -> FloatArray:
    """Entropy of every code's labels or of its posterior on a grid, in nats; MetricUndefined without either."""
    if (totals := _counted(evidence, estimator)) is not None:
        return entropies_from(totals)[1]
    if evidence.sparse_codes is not None:
        return _sparse_information(evidence, estimator)[1]
    return own_or_default(Information.code_entropies, estimator)(ObservedColumns(evidence))


@memoised(on="both")
def _sparse_information(evidence: Evidence, estimator: Information) -> tuple[FloatArray, FloatArray]:
    """Mutual information (m x d) and entropies (m) of sparse codes in nats; their zeros are a bin like any other."""
    assert evidence.sparse_codes is not None
    labels = factor_labels(evidence, estimator)
    found = own_or_default(Information.sparse_information, estimator)(evidence.sparse_codes, labels)
    if found is None:
        raise MetricUndefined("Sparse codes are counted in bins: use Histogram(bins), or pass codes.toarray().")
    return found


@memoised(on="codes")
def code_information(evidence: Evidence, estimator: Information) -> FloatArray:
    """I(c_i; x) of every code i in nats: the information that it carries about the sample x."""
    if evidence.sparse_codes is not None or _counted(evidence, estimator) is not None:
        return code_entropies(evidence, estimator)
    return own_or_default(Information.held_information, estimator)(ObservedColumns(evidence))


@memoised(on="both")
def mutual_information_matrix(evidence: Evidence, estimator: Information) -> FloatArray:
    """Mutual information of every code with every factor (m x d), in nats."""
    if (totals := _counted(evidence, estimator)) is not None:
        return information_from(totals)
    if evidence.sparse_codes is not None:
        return _sparse_information(evidence, estimator)[0]
    return own_or_default(Information.information_matrix, estimator)(ObservedColumns(evidence))


@dataclass(frozen=True)
class Importance:
    """Importance of units for the probes (``matrix``, units x d), and held-out quality of the probes for every factor.

    ``skill`` is 1 for perfect prediction and 0 for constant prediction of the training mean or of the most frequent
    label. ``accuracy`` is the share of correct labels for categorical factors and the skill (R2) for all others.
    """

    matrix: FloatArray
    skill: FloatArray
    accuracy: FloatArray


ROWS_OF_PARTS = 2.5  # largest number of rows of a whole, relative to a part of it that is fitted on the same bins


def _fitted_together(
    evidences: Sequence[Evidence], test_share: float, seed: int
) -> Iterable[tuple[Evidence, list[Evidence]]]:
    """Groups of evidence that one call fits, each with the evidence whose split they share."""
    fits: dict[int, tuple[Evidence, list[Evidence]]] = {}
    for evidence in evidences:
        original = _fitted_with(evidence, test_share, seed)
        if evidence.has_blocks:
            original = evidence if evidence.permuted_from is None else evidence.permuted_from[0]
        key = evidence if evidence.has_blocks else original
        fits.setdefault(id(key), (original, []))[1].append(evidence)
    return fits.values()


def _among(places: Rows, rows: Rows | None) -> NDArray[np.bool_]:
    """Which of these rows of the whole a part has; all, if there is no part."""
    return np.ones(places.size, dtype=bool) if rows is None else np.isin(places, rows, assume_unique=True)


@for_all_drawn
def importance(evidences: Sequence[Evidence], probe: Probe, test_share: float, seed: int) -> list[Importance]:
    """Importance of every unit for every factor, from one probe per factor fitted on the training rows.

    Permutations of the same rows are fitted together, to the training rows of their original. So are large parts of the
    same rows, each to its own training rows. Blocks are fitted alone: their readouts differ between permutations.
    """
    found = {}
    for original, alike in _fitted_together(evidences, test_share, seed):
        train, test = _sampled(original.split(test_share, seed), original.n_rows, most_probed_rows(probe), seed)
        codes = probed_codes(original if alike[0].permuted_from is None else alike[0], probe)
        unit_of = np.arange(alike[0].n_codes)
        if alike[0].has_blocks:
            codes, unit_of = _with_readouts(alike[0], train, test)
        pairs = [(evidence, j) for evidence in alike for j in np.flatnonzero(varying(evidence)).tolist()]
        targets = [_targets(evidence, j) for evidence, j in pairs]
        own = [evidence.places_in_whole if evidence.whole is original else None for evidence, _ in pairs]
        whole = [_spread(target, rows, original.n_rows) for target, rows in zip(targets, own, strict=True)]
        options: dict[str, Any] = {}
        if any(rows is not None for rows in own):
            options["used"] = [_among(train, rows) for rows in own]
        fit = own_or_default(Probe.probe_each, probe)
        probed = fit(codes[train], [target[train] for target in whole], codes[test], seed, **options)
        for evidence in alike:
            matrix = np.full((unit_of.max() + 1, evidence.n_factors), np.nan)
            found[id(evidence)] = Importance(matrix, *np.full((2, evidence.n_factors), np.nan))
        for (evidence, j), target, rows, (weights, predicted) in zip(pairs, whole, own, probed, strict=True):
            of, tested = found[id(evidence)], _among(test, rows)
            of.matrix[:, j] = weights if unit_of.size == len(of.matrix) else np.bincount(unit_of, weights)
            of.skill[j], of.accuracy[j] = _held_out(predicted[tested], target, train[_among(train, rows)], test[tested])
    return [found[id(evidence)] for evidence in evidences]


def most_probed_rows(probe: Probe) -> int | None:
    """Number of rows that the probe uses of more, or None for all."""
    return own_or_default(Probe.most_rows, probe)()


def _sampled(split: tuple[Rows, Rows], n_rows: int, most: int | None, seed: int) -> tuple[Rows, Rows]:
    """The training and test rows that are among ``most`` random ones of all rows."""
    if most is None or n_rows <= most:
        return split
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[random_stream(seed, "rows of trees").choice(n_rows, most, replace=False, shuffle=False)] = True
    train, test = (part[chosen[part]] for part in split)
    return train, test


def _fitted_with(evidence: Evidence, test_share: float, seed: int) -> Evidence:
    """The evidence whose training rows and bins a fit shares: the original of a permutation, or the whole of a part."""
    if evidence.permuted_from is not None:
        return evidence.permuted_from[0]
    whole, rows = evidence.whole, evidence.places_in_whole
    if whole is None or rows is None or evidence.sparse_codes is not None or evidence.has_blocks:
        return evidence
    shared = whole.n_rows <= ROWS_OF_PARTS * evidence.n_rows
    # a part of row groups may have no test rows of the whole
    return whole if shared and all(np.isin(rows, side).any() for side in whole.split(test_share, seed)) else evidence


def _spread(target: NDArray[Any], rows: Rows | None, n_rows: int) -> NDArray[Any]:
    """The target of a part in an array of as many rows as the whole has."""
    if rows is None:
        return target
    spread = np.zeros((n_rows, *target.shape[1:]), dtype=target.dtype)
    spread[rows] = target
    return spread


def _held_out(predicted: NDArray[Any], target: NDArray[Any], train: Rows, test: Rows) -> tuple[float, float]:
    """Skill and accuracy of predictions of the test rows."""
    true = target[test]
    if target.ndim == 2:
        skill = float(1 - np.square(true - predicted).sum() / np.square(true - target[train].mean(axis=0)).sum())
        return skill, skill
    right, commonest = (predicted == true).mean(), (true == np.bincount(target[train]).argmax()).mean()
    return (right - commonest) / (1 - commonest) if commonest < 1 else np.nan, right


def _targets(evidence: Evidence, j: int) -> NDArray[Any]:
    """Columns of a numeric factor (n x k), or labels of a categorical one (n)."""
    columns = target_columns(evidence, j)
    return columns.argmax(axis=1) if evidence.kinds[j].is_categorical else columns


CORRELATED_FACTORS = 0.3
ROWS_FIRST, ROWS_ENOUGH = 1_000, 20_000  # with the latter, the standard error of a correlation is below 0.01
CODES_PER_ROW = 0.05


@memoised(on="factors")
def _factors_not_correlated(evidence: Evidence) -> bool:
    if all(kind.is_numeric for kind in evidence.kinds):
        for n_rows in (ROWS_FIRST, 4 * ROWS_FIRST):
            limit = CORRELATED_FACTORS - 5 / np.sqrt(n_rows)  # five standard errors away
            if evidence.n_rows > 2 * n_rows and _largest_correlation(evidence, n_rows) < limit:
                return True
    largest = _largest_correlation(evidence, ROWS_ENOUGH)
    return not largest > CORRELATED_FACTORS + 2 / np.sqrt(min(evidence.n_rows, ROWS_ENOUGH))


def _largest_correlation(evidence: Evidence, most_rows: int) -> float:
    """Largest rank correlation of two factors that vary, on at most so many random rows; 0 for one factor.

    With classes or angles, it is the correlation of functions that `diagnose` measures, corrected for chance.
    """
    if evidence.n_rows > most_rows:
        chosen = _rows_drawn(evidence.n_rows, most_rows)
        if all(kind.is_numeric for kind in evidence.kinds):
            ranked = correlations.ranks_of_rows(evidence.stored_factors[chosen].T) - (most_rows + 1) / 2
            products = ranked @ ranked.T
            norms = np.sqrt(products.diagonal())
            scales = np.outer(norms, norms) * (1 - np.eye(len(norms)))
            return float(np.abs(np.divide(products, scales, out=np.zeros_like(products), where=scales > 0)).max())
        evidence = evidence.factors_alone().rows(chosen)
    between = np.triu(factor_correlation_matrix(evidence, Spearman()), k=1)
    numeric = [kind.is_numeric for kind in evidence.kinds]
    bases = {} if all(numeric) else {j: factor_view(evidence, j).basis for j in varying_places(evidence).tolist()}
    for i, j in itertools.combinations(bases, 2):
        if not (numeric[i] and numeric[j]):
            between[i, j] = correlations.canonical_correlation(bases[i], bases[j])
    return float(np.max(between, initial=0.0, where=~np.isnan(between)))


@functools.lru_cache(maxsize=8)
def _rows_drawn(n_rows: int, most_rows: int) -> Rows:
    stream = random_stream(0, "rows for correlations of factors")
    return stream.choice(n_rows, most_rows, replace=False, shuffle=False)


FACTORS_NOT_CORRELATED = Assumption(Finding("factors_correlated"), _factors_not_correlated)

FACTORS_HELD_ALONE = Assumption(
    Finding("factors_not_held_alone"),
    lambda evidence: evidence.sampler is not None or _factors_not_correlated(evidence),
)

FEW_CODES_PER_ROW = Assumption(
    Finding("many_codes_per_row"), lambda evidence: evidence.n_codes <= CODES_PER_ROW * evidence.n_rows
)


def described(options: str) -> Callable[[Body], Body]:
    """Decorator that adds options, which all metrics of a family have, to the Parameters of a docstring.

    >>> def f():
    ...     '''Summary.
    ...
    ...     Notes
    ...     -----
    ...     A formula.
    ...     '''
    >>> described("k : int")(f).__doc__.split()
    ['Summary.', 'Parameters', '----------', 'k', ':', 'int', 'Notes', '-----', 'A', 'formula.']
    """

    def decorate(function: Body) -> Body:
        text = inspect.cleandoc(function.__doc__ or "")
        before = next(name for name in ("\n\nReturns\n---", "\n\nNotes\n---") if name in text)
        head, rest = text.split(before, 1)
        section = "" if "\nParameters\n---" in head else "\n\nParameters\n----------"
        function.__doc__ = f"{head}{section}\n{inspect.cleandoc(options)}{before}{rest}"
        return function

    return decorate
