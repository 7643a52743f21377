"""Mean correlation coefficient (MCC)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.card import Seed, metric, seed_from
from unweave.estimators.correlation import (
    Correlation,
    Pearson,
    RandomDependence,
    Spearman,
    best_matching,
    held_out_correlation,
    matched_correlation_by_chance,
)
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.linear_identifiability import canonical_correlations
from unweave.metrics.matrices import (
    CORRELATION,
    FACTORS_NOT_CORRELATED,
    FEW_CODES_PER_ROW,
    factor_features,
    live_units,
    unit_correlation_matrix,
    unit_features,
    varying_units,
)
from unweave.score import Score

N_FOLDS = 5


def held_out_matches(evidence: Evidence, correlation: Correlation, seed: int) -> dict[int, float]:
    """For every factor, the signed correlation with its matched code on held-out rows, averaged over folds."""
    free, factors = np.flatnonzero(varying_units(evidence)).tolist(), list(evidence.factor_units.values())
    totals = dict.fromkeys(free, 0.0)
    for train, test in evidence.folds(N_FOLDS, seed):
        # a factor may be constant in the training rows; its correlations are then set to 0
        matrix = np.nan_to_num(unit_correlation_matrix(evidence.rows(train), correlation)[:, free])
        for i, column in zip(*best_matching(matrix), strict=True):
            members = factors[free[column]]
            factor = np.hstack([factor_features(evidence, j, correlation) for j in members.tolist()])
            code = unit_features(evidence, list(evidence.code_units.values())[i], correlation)
            if members.size > 1:  # a direction of the block of factors that has no code counts as 0
                found = canonical_correlations(factor[train], code[train], factor[test], code[test])
                on_test = float(found.sum()) / np.linalg.matrix_rank(factor - factor.mean(axis=0))
            else:
                on_test = held_out_correlation((factor[train], factor[test]), (code[train], code[test]))
            totals[free[column]] += on_test / N_FOLDS
    return totals


BY_NAME: dict[str, Correlation] = {"pearson": Pearson(), "spearman": Spearman(), "rdc": RandomDependence()}


@metric(
    measures="one-to-one recovery",
    equivalence="permutation and scale",
    min_rows=10,
    chance=matched_correlation_by_chance,
    cost="one n x m x d matrix product and an exact assignment",
    fails_when=(
        "factors are correlated, because mixed codes then score high; factors were dropped, because the default "
        "scheme matches only as many pairs as there are codes; there are many codes for the number of rows, because "
        "random codes then score high (use cross_fit); or tails are heavy, because a few rows then decide it and its "
        "interval is too narrow (95 % intervals covered 81 % for Student's t with 2 degrees of freedom; use ranks)"
    ),
    reference=(
        "Hyvarinen and Morioka (2016), 'Unsupervised feature extraction by time-contrastive learning and nonlinear "
        "ICA'; Khemakhem et al. (2020), 'Variational autoencoders and nonlinear ICA'"
    ),
    assumes=(FACTORS_NOT_CORRELATED, FEW_CODES_PER_ROW),
    takes_sparse_codes=True,
    takes_code_groups=True,
    takes_factor_groups=True,
    version=3,
    moves_at_200_rows=(0.0, 0.0, 0.0),
)
def mcc(
    evidence: Evidence,
    *,
    correlation: Literal["pearson", "spearman", "rdc"] | Correlation = "pearson",
    normalise: Literal["matched", "coverage"] = "matched",
    cross_fit: bool = False,
    rng: Seed = 0,
) -> Score:
    """Mean correlation of the best one-to-one matching of codes and factors.

    1 means that every matched factor is a rescaled code (a monotone function of a code for ``'spearman'``, any smooth
    function of a code for ``'rdc'``). Random codes score about sqrt(2 log m / n), which is above 0; with ``cross_fit``
    they score 0 on average.

    Parameters
    ----------
    correlation : {'pearson', 'spearman', 'rdc'} or estimator
        Linear correlation, rank correlation, or the randomised dependence coefficient. For a circular factor it is the
        multiple correlation with its cosine and sine, and for a categorical factor with the indicators of its levels.
        Any `Correlation` may be passed. For a block of codes it is the largest canonical correlation of the block with
        the factor, which invertible linear maps inside the block do not change (``'pearson'``). For a block of factors
        it is the mean of the canonical correlations over the dimensions of the block.
    normalise : {'matched', 'coverage'}
        Average over the matched pairs, so that factors without a code do not lower the score, or average over all
        factors.
    cross_fit : bool
        Whether to choose the matching and the signs on four fifths of the rows and to score them on the remaining
        fifth, for each fifth in turn.
    rng : int or Generator
        Seed of the folds of ``cross_fit`` and of the random functions of ``'rdc'``. Nothing else is random.

    Notes
    -----
    Mean correlation coefficient of matched codes and factors.

        MCC = 1/K sum_j |corr(z_j, c_pi(j))|

    with z the factors, c the codes, pi the one-to-one matching that maximises the sum, and K the number of matched
    pairs or, for coverage, of factors (Hyvarinen and Morioka 2016; 003, section 2.3 and appendix F.1).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(mcc(factors, factors[:, ::-1] * [3, -1])), 3)
    1.0
    """
    chosen = BY_NAME[correlation] if isinstance(correlation, str) else correlation
    if correlation == "rdc":
        chosen = RandomDependence(seed=seed_from(rng))
    matrix = unit_correlation_matrix(evidence, chosen)
    free, names = np.flatnonzero(varying_units(evidence)), list(evidence.factor_units)
    is_live = live_units(evidence)
    live = np.flatnonzero(is_live) if is_live.any() else np.arange(len(matrix))
    codes, columns = best_matching(matrix[live][:, free])  # a constant code is matched with no factor
    pair_of_factor = dict(zip(free[columns].tolist(), live[codes].tolist(), strict=True))
    matched = (
        held_out_matches(evidence, chosen, seed_from(rng))
        if cross_fit
        else {j: float(matrix[i, j]) for j, i in pair_of_factor.items()}
    )
    unmatched = np.nan if normalise == "matched" else 0.0
    per_factor = dict.fromkeys(names, np.nan) | {names[j]: matched.get(j, unmatched) for j in free.tolist()}
    pairs = np.full(len(names), np.nan)
    pairs[list(pair_of_factor)] = list(pair_of_factor.values())
    return Score(
        raw=sum(matched.values()) / (len(free) if normalise == "coverage" else len(codes)),
        per_factor=per_factor,
        parts={"correlation_matrix": matrix, "matched_code_per_factor": pairs},
        matrices=(CORRELATION,),
        caveats=()
        if live.size >= free.size or normalise == "coverage"
        else (Finding("factors_without_code", n_missing=free.size - live.size, n_factors=free.size),),
    )
