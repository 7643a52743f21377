"""R2, SAP and explicitness: how well probes predict the factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Seed, Several, Share, metric, seed_from
from unweave.estimators.correlation import Pearson
from unweave.estimators.counts import levels
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import Linear, LinearFolds, LineClassifier, Neighbourhood
from unweave.estimators.logistic import Classifier, Logistic, area_under_curve
from unweave.estimators.probes import PreparedProbe, Probe
from unweave.estimators.protocols import own_or_default
from unweave.estimators.totals import N_FOLDS, held_out_r2_from
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import (
    FACTORS_NOT_CORRELATED,
    PREDICTABILITY,
    factor_labels,
    probed_codes,
    unit_correlation_matrix,
    unit_targets,
    varying,
    varying_units,
)
from unweave.randomness import random_stream
from unweave.score import Score


@memoised(on="both")
def class_areas(
    evidence: Evidence, probe: Classifier, bins: int, test_share: float, max_rows: int, seed: int
) -> tuple[FloatArray, ...]:
    """Held-out area under the ROC curve of every value of every factor; nan for values missing in training or test."""
    rows = np.arange(evidence.n_rows)
    train, test = evidence.folds(max(2, round(1 / test_share)), seed)[0] if test_share else (rows, rows)
    if evidence.n_rows > max_rows:
        rng = random_stream(seed, "probed rows")
        shares = (round(max_rows * len(part) / (len(train) + len(test))) for part in (train, test))
        train, test = (rng.choice(part, size, replace=False) for part, size in zip((train, test), shares, strict=True))
    areas = []
    for labels, varies in zip(factor_labels(evidence, Histogram(bins)), varying(evidence), strict=True):
        area = np.full(int(labels.max()) + 1, np.nan)
        if varies and np.unique(labels[train]).size > 1:
            fitted = probe.fit(evidence.codes[train], labels[train].astype(np.intp))
            scores = fitted.log_probabilities(evidence.codes[test])
            for label, score in zip(fitted.labels.tolist(), scores, strict=True):
                positive = labels[test] == label
                if 0 < positive.sum() < positive.size:
                    area[label] = area_under_curve(score, positive)
        areas.append(area)
    return tuple(areas)


MAX_ROWS = 20_000


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=50,
    chance=0.0,
    cost="one softmax regression per factor, on at most 20,000 rows",
    fails_when=(
        "entanglement is the question, because every invertible linear mixing scores 1, or some values of a "
        "factor are rare"
    ),
    reference="Ridgeway and Mozer (2018), 'Learning deep disentangled embeddings with the F-statistic loss'",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    raw_range="down to -1, if held-out rows are ranked worse than by chance",
    takes_code_groups=True,
    factor_by_factor=True,
    version=2,
    moves_at_200_rows=(0.17, 0.17, 0.0),
)
def explicitness(
    evidence: Evidence,
    *,
    probe: Classifier = Logistic(),  # noqa: B008 - a frozen value
    bins: Several = 10,
    test_share: Share = 0.2,
    max_rows: Several = MAX_ROWS,
    rng: Seed = 0,
) -> Score:
    """Held-out AUC of a logistic probe for each value of each factor against its other values, rescaled; mean.

    1 means that the probe ranks every held-out row with a value above all other rows. Random codes score 0, slightly
    above or below before clipping. All values have the same weight, however rare they are. A value that is missing in
    the training rows or in the held-out rows is left out.

    Parameters
    ----------
    probe : Logistic
        The default whitens the codes and has a weak penalty. ``Logistic(strength=1, whiten=False)`` is scikit-learn's
        default.
    bins : int
        Number of bins of equal mass for continuous and circular factors. Discrete factors keep their levels.
    test_share : float
        Share of held-out rows. With 0 the training rows are scored, as in several libraries.
    max_rows : int
        If there are more rows than this, a random subset of this size is used, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Notes
    -----
    Explicitness score: how well a classifier distinguishes every value of a factor from its other values.

        E = 1/d sum_j 1/K_j sum_k (2 AUC_jk - 1)

    with AUC_jk the area under the ROC curve, on held-out rows, of a logistic probe's score for value k of factor j
    against all its other values (Ridgeway and Mozer 2018). The authors fit one linear model per value, which cannot
    separate the middle values of an ordered factor. The probe here is therefore one softmax regression over all values.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> float(explicitness(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])) > 0.98
    True
    """
    areas = class_areas(evidence, probe, bins, test_share, max_rows, seed_from(rng))
    per_factor = [2 * np.nanmean(area) - 1 if np.isfinite(area).any() else np.nan for area in areas]
    caveats = [
        Finding("rare_values", n_values=int(np.isnan(area).sum()), factors=[name])
        for name, area, varies in zip(evidence.factor_names, areas, varying(evidence), strict=True)
        if varies and np.isnan(area).any()
    ]
    if evidence.n_rows > max_rows:
        caveats.append(Finding("rows_sampled", n_rows=max_rows, of=evidence.n_rows))
    if not test_share:
        caveats.append(Finding("scored_on_training_rows"))
    return Score(
        raw=float(np.nanmean(per_factor)) if np.isfinite(per_factor).any() else float("nan"),
        per_factor=dict(zip(evidence.factor_names, map(float, per_factor), strict=True)),
        caveats=tuple(caveats),
    )


LARGEST_KEPT = 25_000_000  # numbers in the linear designs of all folds: 200 MB
MARGIN = 0.5  # how far a prediction may lie outside the range of the training targets, in units of this range
TRUSTED = 0.01  # with a smaller unexplained share of the training variance, predictions may lie further outside
ABSURD = 10.0  # predictions further outside, in units of the range, are replaced by the training mean


@memoised(on="both")
def held_out_r2(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> FloatArray:
    """R2 of every factor unit on unseen rows: 1 - squared errors / squared deviations from the training mean.

    Predictions are clipped near the range of the training targets, unless the training targets are predicted almost
    exactly. Otherwise one code with a heavy tail could dominate the score. The codes themselves are not clipped,
    because the score would then depend on their basis. Constant factors are nan. If the rows are read in blocks, the
    folds are contiguous parts of every block and do not depend on the seed.
    """
    if evidence.row_summary is not None and probe == Linear() and n_folds == N_FOLDS and not evidence.factor_groups:
        found = held_out_r2_from(evidence.row_summary.plan, evidence.row_summary.totals)
        if found is not None:
            return found
    columns = unit_targets(evidence)
    errors, deviations = held_out_squares(
        evidence, probe, np.concatenate([block.T for block in columns]).T, n_folds, seed
    )
    stops = np.cumsum([block.shape[1] for block in columns])
    r2 = np.full(len(evidence.factor_units), np.nan)
    starts = np.r_[0, stops[:-1]]
    r2[varying_units(evidence)] = 1 - np.add.reduceat(errors, starts) / np.add.reduceat(deviations, starts)
    return r2


def held_out_squares(evidence: Evidence, probe: Probe, targets: FloatArray, n_folds: int, seed: int) -> FloatArray:
    """Squared errors of held-out predictions from the codes, and of training means, for every column of targets."""
    if probe == Linear() and evidence.sparse_codes is None:
        found = _squares_from_moments(evidence, targets, n_folds, seed)
        if found is not None:
            return found
    return _squares(evidence, probe, targets, n_folds, seed)


@memoised(on="codes")
def _linear_folds(evidence: Evidence, n_folds: int, seed: int) -> LinearFolds | None:
    return LinearFolds.of(evidence.stored_codes, [test for _, test in evidence.folds(n_folds, seed)])


def _squares_from_moments(evidence: Evidence, targets: FloatArray, n_folds: int, seed: int) -> FloatArray | None:
    """Squared errors of held-out predictions and of training means, by moments; None if a prediction is clipped."""
    if _own_folds(evidence):
        linear = LinearFolds.of(evidence.stored_codes, [test for _, test in evidence.folds(n_folds, seed)])
    else:
        linear = _linear_folds(evidence, n_folds, seed)
    if linear is None:
        return None
    folds, tiny = list(linear.fitted(targets)), np.finfo(np.float64).tiny
    lowest, highest = (np.array([end(fold.targets, axis=1) for fold in folds]) for end in (np.min, np.max))
    variance = np.maximum(sum(np.einsum("ij,ij->i", fold.targets, fold.targets) for fold in folds) / len(targets), tiny)
    found = np.zeros((2, targets.shape[1]))
    for k, fold in enumerate(folds):
        others = np.arange(len(folds)) != k
        low, high = lowest[others].min(axis=0), highest[others].max(axis=0)
        beyond = np.maximum(low - fold.predicted.min(axis=1), fold.predicted.max(axis=1) - high)
        trusted = np.maximum(1.0, TRUSTED / np.maximum(fold.left / variance, tiny))
        if (beyond / np.maximum(high - low, tiny) > 0.9 * MARGIN * trusted).any():
            return None
        wrong = np.subtract(fold.predicted, fold.targets, out=fold.predicted)
        found += np.einsum("ij,ij->i", wrong, wrong), fold.deviations
    return found


def _squares(evidence: Evidence, probe: Probe, targets: FloatArray, n_folds: int, seed: int) -> FloatArray:
    """Squared errors of held-out predictions and of training means, by a fit to the training rows of every fold."""
    found = np.zeros((2, targets.shape[1]))
    folds = evidence.folds(n_folds, seed)
    codes = probed_codes(evidence, probe)
    is_kept = n_folds * min(codes.shape) ** 2 <= LARGEST_KEPT and not _own_folds(evidence)
    kept = _prepared_folds(evidence, probe, n_folds, seed) if is_kept else (None,) * len(folds)
    for (train, test), prepared in zip(folds, kept, strict=True):
        seen, wanted, left_out = codes[train], targets[train], targets[test]
        fitted = (prepared or own_or_default(Probe.prepared, probe)(seen)).fit(seen, wanted, seed)
        predicted = near_training_targets(wanted, fitted.predict(codes[test]), partial(fitted.predict, seen))
        found += np.square(left_out - predicted).sum(axis=0), np.square(left_out - wanted.mean(axis=0)).sum(axis=0)
    return found


def _own_folds(evidence: Evidence) -> bool:
    """Whether folds differ from those of the original of a permutation, because they keep the shares of classes."""
    return evidence.permuted_from is not None and bool(evidence.class_columns)


@memoised(on="codes")
def _prepared_folds(evidence: Evidence, probe: Probe, n_folds: int, seed: int) -> tuple[PreparedProbe, ...]:
    """Quantities that the probe computes from the training codes of every fold alone."""
    prepared = own_or_default(Probe.prepared, probe)
    codes = probed_codes(evidence, probe)
    return tuple(prepared(codes[train]) for train, _ in evidence.folds(n_folds, seed))


def _beyond(targets: FloatArray, predicted: FloatArray) -> FloatArray:
    """Distance of predictions from the range of the training targets, in units of the range; negative inside it."""
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    width = np.maximum(highest - lowest, np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(lowest - predicted, predicted - highest) / width)


def near_training_targets(
    targets: FloatArray, predicted: FloatArray, on_training: Callable[[], FloatArray]
) -> FloatArray:
    """Clip predictions near the range of the training targets; those far outside become the training mean.

    The better the training rows are predicted, the further outside a prediction may lie. A heavy-tailed target has a
    few held-out values far outside the range of the training targets, and a probe that is nearly exact on the training
    rows may predict them correctly.
    """
    if not (_beyond(targets, predicted) > 0).any():
        return predicted
    variance = np.maximum(targets.var(axis=0), np.finfo(np.float64).tiny)
    left = np.square(targets - on_training()).mean(axis=0) / variance
    trusted = np.maximum(1.0, TRUSTED / np.maximum(left, np.finfo(np.float64).tiny))
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    reach = MARGIN * (highest - lowest) * trusted
    absurd = _beyond(targets, predicted) > ABSURD * trusted
    return np.where(absurd, targets.mean(axis=0), np.clip(predicted, lowest - reach, highest + reach))


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=10,
    chance=0.0,
    cost="n m^2 per fold (n^2 m if there are more codes than rows)",
    fails_when=(
        "entanglement is the question, because any invertible linear mixing scores 1, or tails are heavy, because a "
        "few rows then decide it and its interval is too narrow (95 % intervals covered 80 % for Student's t with 2 "
        "degrees of freedom)"
    ),
    reference="Joshi et al., 'Who Guards the Guardians?' (003), table 2",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    takes_sparse_codes=True,
    takes_code_groups=True,
    takes_factor_groups=True,
    version=3,
    raw_range="below 0 without a limit, if held-out predictions are worse than the mean",
    factor_by_factor=True,
    moves_at_200_rows=(0.03, 0.07, 0.0),
)
def r2(
    evidence: Evidence,
    *,
    probe: Probe = Linear(),  # noqa: B008 - a frozen value
    n_folds: Several = 5,
    rng: Seed = 0,
) -> Score:
    """Share of the factors' variance that a probe predicts from all codes together on held-out rows; mean over factors.

    1 means that every factor is a linear function of the codes (for the default probe). Random codes score 0, slightly
    below 0 before clipping. The score does not measure entanglement: codes that mix all factors linearly also score 1.

    Parameters
    ----------
    probe : Probe
        Linear by default, with an intercept and a ridge penalty chosen on the training rows. With at least five
        training rows per code, the penalty is the same for all directions of the codes, so that invertible linear maps
        of the codes do not change the score. With fewer rows, it applies to the standardised codes.
    n_folds : int
        Number of folds. Every row is predicted once, by a probe fitted on the other folds.
    rng : int or Generator
        Seed of the folds.

    Notes
    -----
    Share of the factors' variance that a probe explains from all codes.

        R2 = 1/d sum_j (1 - sum_t (z_tj - zhat_tj)^2 / sum_t (z_tj - mean_j)^2)

    with z the factors, zhat their out-of-fold predictions and mean_j the training mean (003, table 2; its appendix F.3
    calls the probe nonlinear, but its code uses a linear one without intercept). The errors and deviations of a block
    of factors are added up over an orthonormal basis of its columns, so that affine maps of the block do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(r2(factors + 5, factors @ [[1.0, 1.0], [1.0, -1.0]])), 2)
    1.0
    """
    per_factor = held_out_r2(evidence, probe, n_folds, seed_from(rng))
    return Score(
        raw=float(np.nanmean(per_factor)), per_factor=dict(zip(evidence.factor_units, per_factor.tolist(), strict=True))
    )


@metric(
    measures="compactness",
    equivalence="permutation and scale",
    min_rows=10,
    chance=0.0,
    cost="one n x m x d matrix product; a classifier per code for categories",
    fails_when=(
        "factors are correlated, several codes carry the same factor, or a code is a nonlinear function of its factor"
    ),
    reference="Kumar et al. (2018), 'Variational inference of disentangled latent concepts'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.01,
    order_tolerance=0.01,
    takes_sparse_codes=True,
    takes_code_groups=True,
    factor_by_factor=True,
    version=3,
    moves_at_200_rows=(0.0, 0.0, 0.0),
)
def sap(
    evidence: Evidence,
    *,
    classify: Literal["categorical", "discrete", "none"] = "categorical",
    classifier: LineClassifier = Neighbourhood(),  # noqa: B008 - a frozen value
    rescale: bool = True,
    n_folds: Several = 5,
    rng: Seed = 0,
) -> Score:
    """Difference between the prediction scores of the two single codes that predict a factor best; mean over factors.

    1 means that one code predicts each factor perfectly and no other code predicts it at all. Random codes score about
    0 (some thousandths at 200 rows). A circular factor is compared through its cosine and sine.

    Parameters
    ----------
    classify : {'categorical', 'discrete', 'none'}
        Which factors are scored by classification on held-out rows: categorical ones, categorical and ordinal ones, or
        none. With 'none', a categorical factor is scored by the share of a code's variance between its categories.
    classifier : Neighbourhood or LinearSvm
        Classifier of single codes; blocks of codes are classified by softmax regression. The published support vector
        machine (`LinearSvm`) has one threshold per category, so that even perfect codes score near 0.
    rescale : bool
        Whether to rescale the accuracy so that guessing a category scores 0. False gives the published accuracy, with
        which a perfect code scores 1 - 1/K.
    n_folds : int
        Number of folds. Every row is classified once, by a classifier fitted on the other folds.
    rng : int or Generator
        Seed of the folds. Without classification nothing is random.

    Notes
    -----
    Separated attribute predictability.

        SAP = 1/d sum_j (S_i1,j - S_i2,j)

    with S_ij the prediction score of code i alone for factor j, and i1 and i2 the codes with the largest and second
    largest score. For numeric factors S_ij is the squared correlation, or R2 of a linear fit for a block of codes. For
    categorical factors it is the balanced accuracy of a classifier (Kumar et al. 2018), here rescaled so that guessing
    scores 0: (accuracy - 1/K) / (1 - 1/K) for K categories.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2000, 2))
    >>> round(float(sap(factors, factors)), 2)
    1.0
    """
    by_classification = {
        "categorical": [kind.is_categorical for kind in evidence.kinds],
        "discrete": [kind.has_classes for kind in evidence.kinds],
        "none": [False] * evidence.n_factors,
    }.get(classify)
    if by_classification is None:
        raise ValueError(f"classify={classify!r} is not known: use 'categorical', 'discrete' or 'none'.")
    matrix = np.square(unit_correlation_matrix(evidence, Pearson()))
    for j in np.flatnonzero(varying(evidence)).tolist():
        if by_classification[j]:
            matrix[:, j] = _balanced_accuracies(evidence, j, classifier, rescale, n_folds, seed_from(rng))
    nothing = np.zeros(evidence.n_factors)
    ranked = np.sort(np.vstack([nothing, matrix]) if len(matrix) == 1 else matrix, axis=0)
    per_factor = ranked[-1] - ranked[-2]
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"predictability_matrix": matrix},
        matrices=(PREDICTABILITY,),
        caveats=(Finding("one_code"),) if len(matrix) == 1 else (),
    )


@memoised(on="both")
def _balanced_accuracies(
    evidence: Evidence, j: int, classifier: LineClassifier, rescale: bool, n_folds: int, seed: int
) -> FloatArray:
    """Held-out balanced accuracy of each unit alone for factor j: the recall of a label, averaged over labels (m)."""
    labels = levels(evidence.factors[:, j]).astype(np.intp)
    counts, own = np.bincount(labels), list(evidence.code_units.values())
    recalls = np.zeros((counts.size, len(own)))
    for train, test in evidence.folds(n_folds, seed):
        predicted = np.empty((test.size, len(own)), dtype=np.intp)
        alone = [i for i, members in enumerate(own) if members.size == 1]
        if alone:
            codes = evidence.codes[:, np.concatenate([own[i] for i in alone])]
            predicted[:, alone] = classifier.predictions(codes[train], labels[train], codes[test], seed)
        for i, members in enumerate(own):
            if members.size > 1:  # a classifier of single codes cannot read a block
                fitted = Logistic().fit(evidence.codes[np.ix_(train, members)], labels[train])
                scores = np.asarray(fitted.log_probabilities(evidence.codes[np.ix_(test, members)]))
                predicted[:, i] = np.asarray(fitted.labels)[scores.argmax(axis=0)]
        np.add.at(recalls, labels[test], predicted == labels[test][:, None])
    accuracy = (recalls / counts[:, None]).mean(axis=0)
    return (accuracy - 1 / counts.size) / (1 - 1 / counts.size) if rescale else accuracy
