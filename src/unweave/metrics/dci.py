"""DCI and DCI-ES: disentanglement, completeness, informativeness, explicitness and size from probes."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
from scipy.special import entr

from unweave.arrays import FloatArray
from unweave.card import Seed, Several, Share, metric, seed_from
from unweave.estimators.linear_probes import LinearThenTrees
from unweave.estimators.probes import BoostedTrees, Probe
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import (
    IMPORTANCE,
    importance,
    live_units,
    most_probed_rows,
    target_columns,
    varying,
)
from unweave.options import HeldOut
from unweave.randomness import random_stream
from unweave.score import Score


@metric(
    measures="size",
    equivalence="any",
    min_rows=2,
    chance=lambda n_rows, n_codes, n_factors: min(n_factors / n_codes, 1.0),
    cost="none",
    fails_when="it is read alone: it only counts columns, so random codes of the right number score 1",
    reference="Eastwood et al. (2023), 'DCI-ES: an extended disentanglement framework'",
    raw_range="above 1 if there are fewer codes than factors",
    takes_code_groups=True,
    moves_at_200_rows=(0.0, 0.0, 0.0),
)
def dci_size(evidence: Evidence) -> Score:
    """Number of factors per code, counting only those that vary.

    1 means that there are as many codes as factors, or fewer. With fewer codes ``raw`` is above 1, and information must
    be lost unless the factors depend on each other. One half means that there are twice as many codes as factors. The
    score does not depend on the values of the codes: random codes score d / m as well.

    Notes
    -----
    DCI-ES size: how many codes are used for how many factors?

        S = d / m

    with d the number of factors that vary and m the number of codes that vary (Eastwood et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> float(dci_size(factors, np.column_stack([factors, factors])))
    0.5
    """
    n_factors, n_codes = int(varying(evidence).sum()), int(live_units(evidence).sum())
    if not n_codes:
        return Score(float("nan"), caveats=(Finding("no_code_varies"),))
    fewer = Finding("fewer_codes_than_factors", n_codes=n_codes, n_factors=n_factors)
    return Score(raw=n_factors / n_codes, caveats=(fewer,) if n_codes < n_factors else ())


Floor = Literal["zero", "best"]
NOTHING_READ = 0.05


def area_above_curve(capacities: FloatArray, losses: FloatArray, floor: Floor) -> float:
    """Normalised area above one curve of losses, which are relative to the loss without codes.

    With ``floor='best'`` the area is measured from the lowest loss, and is nan if no probe reduces the loss by 5 %.

    >>> area_above_curve(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.5, 0.0]), "zero")
    0.625
    """
    lowest = np.minimum.accumulate(np.minimum(losses, 1.0))
    span = float(capacities[-1] - capacities[0])
    if floor == "zero":
        return float(1 - np.trapezoid(lowest, capacities) / span)
    if lowest[-1] > 1 - NOTHING_READ:
        return float("nan")
    return float(1 - np.trapezoid(lowest - lowest[-1], capacities) / (span / 2))


@memoised(on="both")
def losses_by_capacity(
    evidence: Evidence, ladder: LinearThenTrees, test_share: float, max_rows: int, seed: int
) -> FloatArray:
    """Held-out loss of every probe relative to that of the training mean (probes x d); nan for constant factors."""
    train, test = evidence.folds(max(2, round(min(1 / test_share, evidence.n_rows))), seed)[0]
    if evidence.n_rows > max_rows:
        rng, share = random_stream(seed, "probed rows"), max_rows / evidence.n_rows
        train, test = (rng.choice(part, round(share * len(part)), replace=False) for part in (train, test))
    losses = np.full((len(ladder.n_trees), evidence.n_factors), np.nan)
    used = np.flatnonzero(varying(evidence))
    columns = [target_columns(evidence, j) for j in used.tolist()]
    targets, starts = np.column_stack(columns), np.cumsum([0] + [block.shape[1] for block in columns[:-1]])
    wrong = ladder.losses(evidence.codes[train], targets[train], evidence.codes[test], targets[test], seed)
    without_codes = np.square(targets[test] - targets[train].mean(axis=0)).sum(axis=0)
    losses[:, used] = np.add.reduceat(wrong, starts, axis=1) / np.add.reduceat(without_codes, starts)
    return losses


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=50,
    chance=0.0,
    cost="one linear probe, and 64 trees per factor (per level of a categorical one), on at most 20,000 rows",
    fails_when=(
        "entanglement is the question, because mixed codes are explicit too, or the codes will be used by other models "
        "than the probes of the ladder"
    ),
    reference="Eastwood et al. (2023), 'DCI-ES: an extended disentanglement framework'",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    takes_code_groups=True,
    version=3,
    moves_at_200_rows=(0.9, 0.63, 0.01),
)
def dci_explicitness(
    evidence: Evidence,
    *,
    ladder: LinearThenTrees = LinearThenTrees(),  # noqa: B008 - a frozen value
    floor: Floor = "zero",
    test_share: HeldOut = 0.2,
    max_rows: Several = 20_000,
    rng: Seed = 0,
) -> Score:
    """Area above the curve of a probe's loss against its capacity: how well simple probes predict the factors; mean.

    1 means that the first probe, which is linear, predicts every factor without loss. Random codes score 0. A score of
    one half means, for example, that the linear probe explains half of each factor and larger probes explain no more,
    or that the loss falls to 0 halfway along the capacity axis.

    Parameters
    ----------
    ladder : LinearThenTrees
        Probes of increasing capacity, at equal distances on the capacity axis.
    floor : {'zero', 'best'}
        Loss from which the area is measured: zero, or the lowest loss of any probe, as published. The published
        definition measures how little capacity the probes need to reach their own lowest loss. For a factor that no
        probe predicts it is nan here, while the published value is 1.
    test_share : float
        Share of held-out rows.
    max_rows : int
        If there are more rows than this, a random subset of this size is used, with a caveat.
    rng : int or Generator
        Seed of the split, of that subset and of the probes.

    Notes
    -----
    DCI-ES explicitness: how little capacity does a probe need to predict the factors?

        E = 1/d sum_j (1 - A_j),   A_j = area under l_j(k) / (l0_j (k_max - k_min))

    with l_j(k) the smallest held-out loss of factor j's probes up to capacity k, and l0_j the loss of predicting the
    mean. Eastwood et al. (2023) use the area between the curve and its lowest value, l_j(k) - l_j(k_max), and divide it
    by the triangle l0_j (k_max - k_min) / 2. A constant curve then has an area of 0, so that random codes would score
    1.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> linear = float(dci_explicitness(factors, factors @ [[1.0, 1.0], [1.0, -1.0]]))
    >>> bent = float(dci_explicitness(factors, factors ** 3))
    >>> round(linear, 2), bent < 0.95
    (1.0, True)
    """
    losses = losses_by_capacity(evidence, ladder, test_share, max_rows, seed_from(rng))
    per_factor = np.array([area_above_curve(np.arange(float(len(loss))), loss, floor) for loss in losses.T])
    sampled = Finding("rows_sampled", n_rows=max_rows, of=evidence.n_rows)
    caveats = [sampled] if evidence.n_rows > max_rows else []
    unread = [evidence.factor_names[j] for j in np.flatnonzero(varying(evidence) & np.isnan(per_factor))]
    if unread:
        caveats.append(Finding("factors_not_predicted", factors=unread))
    return Score(
        raw=float(np.nanmean(per_factor)) if np.isfinite(per_factor).any() else float("nan"),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"loss_by_capacity": losses},
        caveats=tuple(caveats),
    )


Normalise = Literal["factor", "skill", "none"]
Weights = Literal["importance", "uniform"]
DeadCodes = Literal["left out", "counted"]
DEFAULT_PROBE = BoostedTrees()
NOTHING_USED = Finding("probe_used_no_code")

# fields of the card that the three metrics of DCI have in common
dci_metric = functools.partial(
    metric,
    equivalence="elementwise",
    min_rows=50,
    chance="by permutation",
    reference=(
        "Eastwood and Williams (2018), 'A framework for the quantitative evaluation of disentangled representations'"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.02,
    takes_sparse_codes=True,
    takes_code_groups=True,
    version=6,
)


def sampled_rows(evidence: Evidence, probe: Probe) -> tuple[Finding, ...]:
    """A caveat if the probe used a sample of the rows."""
    most = most_probed_rows(probe)
    return (
        () if most is None or evidence.n_rows <= most else (Finding("rows_sampled", n_rows=most, of=evidence.n_rows),)
    )


def relative_importance(
    evidence: Evidence, probe: Probe, normalise: Normalise, test_share: float, seed: int
) -> FloatArray:
    """The normalised importance matrix R (units x factors that vary)."""
    found = importance(evidence, probe, test_share, seed)
    matrix, skill = found.matrix[:, varying(evidence)], found.skill[varying(evidence)]
    if normalise == "none":
        return matrix
    totals = matrix.sum(axis=0)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    return shares if normalise == "factor" else shares * np.clip(np.nan_to_num(skill), 0.0, 1.0)


def concentration(rows: FloatArray) -> FloatArray:
    """1 - H(row / sum) / log(length) of every row: 1 for a single non-zero entry, 0 for equal entries, nan for zeros.

    >>> concentration(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [1.0, 0.0]
    """
    totals = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, totals, out=np.full_like(rows, np.nan), where=totals > 0)
    return np.asarray(1 - entr(shares).sum(axis=1) / np.log(rows.shape[1]))


def weighted_mean(scores: FloatArray, totals: FloatArray, weights: Weights) -> float:
    """Mean of the scores with positive total importance, weighted by it or uniformly; nan if there are none."""
    used = totals > 0
    if not used.any():
        return float("nan")
    return float(np.average(scores[used], weights=totals[used] if weights == "importance" else None))


@dci_metric(
    measures="compactness",
    cost="one probe per factor, shared with dci_disentanglement",
    fails_when=(
        "several codes carry the same factor, because importance is shared between them, or there are few rows for "
        "the probe"
    ),
    factor_by_factor=True,
    undefined_with=("one code",),
    version=7,
    moves_at_200_rows=(0.15, 0.3, 0.01),
)
def dci_completeness(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    normalise: Normalise = "factor",
    weights: Weights = "importance",
    dead_codes: DeadCodes = "left out",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How concentrated the importances of a factor are on one code; mean over factors, weighted by importance.

    1 means that the probe uses one code for each factor. Random codes score a few hundredths, more with few rows. The
    score decreases when a code is duplicated, because the factor's importance is then divided between the copies.
    Constant codes do not change it. With ``normalise='factor'`` all factors have the same weight.

    Parameters
    ----------
    dead_codes : {'left out', 'counted'}
        Whether constant codes count in m. The published definition counts them, which raises a score below 1.
    probe, normalise, weights, test_share, rng
        As for `dci_disentanglement`.

    Notes
    -----
    DCI completeness: is each factor predicted from one code only?

        C = sum_j w_j C_j,   C_j = 1 - H_m(R_.j / sum_i R_ij),   w_j = sum_i R_ij / sum_ij R_ij

    with R_ij the importance of code i for factor j and H_m the entropy with logarithms to base m, the number of codes
    that vary (Eastwood and Williams 2018 count all).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_completeness(factors, factors ** 3)) > 0.95
    True
    """
    matrix = relative_importance(evidence, probe, normalise, test_share, seed_from(rng))
    live = live_units(evidence)
    counted = np.ones_like(live) if dead_codes == "counted" or not live.any() else live
    if counted.sum() == 1:
        return Score(float("nan"), caveats=(Finding("one_code_for_all"),))
    totals = matrix.sum(axis=0)
    per_factor = np.full(evidence.n_factors, np.nan)
    per_factor[varying(evidence)] = concentration(matrix[counted].T)
    caveats, more = [] if totals.any() else [NOTHING_USED], {}
    if totals.any() and not counted.all():
        more["published"] = concentration(matrix.T)
        published = weighted_mean(more["published"], totals, weights)
        caveats.append(Finding("dead_codes_not_counted", n_codes=live.size, published=published))
    return Score(
        raw=weighted_mean(per_factor[varying(evidence)], totals, weights),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"importance_matrix": matrix, **more},
        matrices=(IMPORTANCE,),
        caveats=(*caveats, *sampled_rows(evidence, probe)),
    )


@dci_metric(
    measures="modularity",
    cost="one probe per factor",
    fails_when=(
        "one factor is a copy or a function of another, because a perfect encoder then scores below 1, or there are "
        "few rows for the probe"
    ),
    undefined_with=("one factor",),
    moves_at_200_rows=(0.17, 0.33, 0.01),
)
def dci_disentanglement(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    normalise: Normalise = "factor",
    weights: Weights = "importance",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How concentrated the importances of a code are on one factor; mean over codes, weighted by importance.

    1 means that every code that the probe uses is important for one factor only. Random codes score a few hundredths,
    more with few rows and many codes. In two cases disentangled codes score below 1 with the defaults: codes of only m
    of d independent factors score (m/d) log m / log d, and a factor that is a copy of another one lowers the score to
    1 - (2/d) log 2 / log d.

    Parameters
    ----------
    probe : Probe
        Boosted trees by default, on at most 25,000 random rows. `Lasso`, `RandomForest` and `GradientBoosting`
        reproduce published numbers.
    normalise : {'factor', 'skill', 'none'}
        Whether each factor's importances are scaled to sum to 1, scaled to sum to its held-out skill, or not scaled.
    weights : {'importance', 'uniform'}
        How codes are averaged. Codes without importance are left out.
    test_share : float
        Share of held-out rows. With 0 the probe is fitted on all rows.
    rng : int or Generator
        Seed of the split and of the probe.

    Notes
    -----
    DCI disentanglement: is each code important for one factor only?

        D = sum_i w_i D_i,   D_i = 1 - H_d(R_i. / sum_j R_ij),   w_i = sum_j R_ij / sum_ij R_ij

    with R_ij the importance of code i for factor j and H_d the entropy with logarithms to base d, the number of factors
    (Eastwood and Williams 2018; 003, appendix F.2). Beside the codes of a block, the probe sees the block's linear
    readouts of all factors, fitted to other rows: trees approximate a direction of the block only by many splits, and
    then use other codes by chance. The importance of a block is the sum over its codes and readouts.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_disentanglement(factors, factors ** 3)) > 0.95
    True
    """
    matrix = relative_importance(evidence, probe, normalise, test_share, seed_from(rng))
    if matrix.shape[1] == 1:
        return Score(float("nan"), caveats=(Finding("one_factor_varies"),))
    per_code, totals = concentration(matrix), matrix.sum(axis=1)
    return Score(
        raw=weighted_mean(per_code, totals, weights),
        per_code=dict(zip(evidence.code_units, per_code.tolist(), strict=True)),
        parts={"importance_matrix": matrix},
        matrices=(IMPORTANCE,),
        caveats=(*_caveats(int((totals > 0).sum()), normalise), *sampled_rows(evidence, probe)),
    )


def _caveats(n_used: int, normalise: Normalise) -> tuple[Finding, ...]:
    if n_used == 0:
        return (NOTHING_USED,)
    return (Finding("probe_used_one_code"),) if n_used == 1 and normalise == "factor" else ()


@dci_metric(
    measures="explicitness",
    chance=0.0,
    cost="one probe per factor, shared with dci_disentanglement",
    fails_when=(
        "there are few rows for the probe; codes mix factors, because trees score below 1 even if no information is "
        "lost (.86 for five factors); or entanglement is the question, because a mixing scores far above random codes"
    ),
    raw_range="below 0 without a limit, if held-out predictions are worse than the mean",
    factor_by_factor=True,
    moves_at_200_rows=(0.74, 0.76, 0.04),
)
def dci_informativeness(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    measure: Literal["skill", "accuracy"] = "skill",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How well a probe of each factor predicts it from all codes, on held-out rows, averaged over factors.

    1 means perfect prediction. Random codes score 0 (below 0 before clipping). Trees split one code at a time, so codes
    that mix factors score below 1 even if no information is lost: on average .96 for 2 factors, .86 for 5 and .82 for
    10 (the audit's E3, 2,000 rows), and hardly more with more rows. `r2` scores 1 for a linear mixing.

    Parameters
    ----------
    probe : Probe
        Boosted trees by default, on at most 25,000 random rows, shared with `dci_disentanglement` and
        `dci_completeness`.
    measure : {'skill', 'accuracy'}
        How categorical factors are scored: by accuracy relative to always predicting the most frequent category, or by
        plain accuracy as disentanglement_lib reports it.
    test_share : float
        Share of held-out rows. With 0 the training rows are scored.
    rng : int or Generator
        Seed of the split and of the probe.

    Notes
    -----
    DCI informativeness: can the factors be predicted from the codes?

        I = 1/d sum_j skill_j

    with skill_j the held-out skill of factor j's probe: R2 for numeric factors and (accuracy - a0) / (1 - a0) for
    categorical ones, where a0 is the accuracy of always predicting the most frequent category (after Eastwood and
    Williams 2018, who report the error).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_informativeness(factors, factors ** 3)) > 0.95
    True
    """
    found = importance(evidence, probe, test_share, seed_from(rng))
    per_factor = found.skill if measure == "skill" else found.accuracy
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=(*(() if test_share else (Finding("scored_on_training_rows"),)), *sampled_rows(evidence, probe)),
    )
