"""T-MEX: agreement of codes with a hypothesis about which factors they respond to."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.arrays import FloatArray
from unweave.card import Seed, Several, Share, Variant, metric, seed_from
from unweave.errors import InputError
from unweave.estimators.correlation import best_matching
from unweave.estimators.independence import (
    Correction,
    IndependenceTest,
    LinearCovariance,
    NonlinearCovariance,
    PairTests,
    corrected,
)
from unweave.estimators.regression import GradedColumns, indicators
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import ADJACENCY, HYPOTHESIS, P_VALUE, live_points, varying
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.score import Score


def one_code_each(found: FloatArray, p_values: FloatArray) -> FloatArray:
    """The one-to-one adjacency with the fewest mismatches; ties are decided by the smaller sum of p-values.

    >>> one_code_each(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    expected = np.zeros_like(found)
    expected[best_matching(found - p_values / (2 * len(found) * found.shape[1]))] = 1.0
    return expected


def as_given(adjacency: ArrayLike, evidence: Evidence) -> FloatArray:
    """Check the given adjacency and return it as an array of 0 and 1 (m x d)."""
    try:
        expected = np.asarray(adjacency, dtype=np.float64)
    except (TypeError, ValueError):
        expected = np.empty(0)
    if expected.shape != (evidence.n_codes, evidence.n_factors) or not np.isin(expected, (0.0, 1.0)).all():
        raise InputError(
            f"adjacency has shape {expected.shape}: pass 0 or 1 for each of {evidence.n_codes} codes (rows) "
            f"and {evidence.n_factors} factors (columns)."
        )
    return expected


@memoised(on="both")
def pair_tests(evidence: Evidence, test: IndependenceTest) -> PairTests:
    """Test every code against every factor that varies, given all other factors; computed once per Evidence."""
    return test.pairs(evidence.codes, [_columns(evidence, j, test) for j in np.flatnonzero(varying(evidence)).tolist()])


@memoised(on="both")
def _some_rows(evidence: Evidence, n_rows: int, seed: int) -> Evidence:
    return evidence.rows(np.sort(random_stream(seed, "tested rows").choice(evidence.n_rows, n_rows, replace=False)))


def limits_of(evidence: Evidence, tests: PairTests) -> tuple[Finding, ...]:
    """Caveats about factors and codes that could not be tested, and about violated assumptions of the tests."""
    caveats = []
    free_names = np.array(evidence.factor_names)[varying(evidence)]
    no_residual = free_names[tests.factor_is_explained].tolist()
    if no_residual:
        caveats.append(Finding("factors_without_residual", factors=no_residual))
    others = [name for name in factor_constraints(evidence).determined if name not in no_residual]
    if others:
        caveats.append(Finding("factors_determined", factors=others))
    n_explained = int(tests.code_is_explained.sum())
    if n_explained:
        caveats.append(Finding("codes_without_residual", n_pairs=n_explained, of=tests.code_is_explained.size))
    if evidence.row_groups is not None:
        caveats.append(Finding("groups_ignored_in_tests"))
    return tuple(caveats)


def _columns(evidence: Evidence, j: int, test: IndependenceTest) -> GradedColumns:
    column, declared = evidence.factors[:, j], evidence.declared_kinds[j]
    if declared.kind.is_categorical:
        return indicators(column)
    if declared.kind.is_circular:
        return test.circular(declared.angle(column))
    return test.numeric(column)


MAX_ROWS = 100_000
BY_NAME: dict[str, IndependenceTest] = {"linear": LinearCovariance(), "nonlinear": NonlinearCovariance()}


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    min_rows=50,
    bounds=(0.0, np.inf),
    best=0.0,
    variants=(Variant("score", "alignment", bounds=(0.0, 1.0), best=1.0, chance="by permutation"),),
    chance=lambda n_rows, n_codes, n_factors: float(n_factors),  # of codes that depend on no factor
    cost=(
        "n m d q^2 / 2 for q tested functions of a factor: 1 for the linear test, about d + 3 for the nonlinear one; "
        "at most 100,000 rows, which need about 1 GB for d = 5"
    ),
    version=4,
    fails_when=(
        "codes are noise, which gives d mismatches, fewer than the d (d - 1) of a mixing; there are so many rows that "
        "a small effect of another factor is significant and counts like a mixing; or one factor is a function of "
        "others"
    ),
    reference=(
        "Yao et al. (2025), 'The third pillar of causal analysis?', arXiv:2505.17708; Shah and Peters (2020), 'The "
        "hardness of conditional independence testing and the generalised covariance measure', arXiv:1804.07203"
    ),
    moves_at_200_rows=(0.0, 4.0, 0.0),
    no_blocks_because="it tests for every single code whether it depends on a factor given the others",
)
def t_mex(
    evidence: Evidence,
    *,
    test: Literal["linear", "nonlinear"] | IndependenceTest = "nonlinear",
    adjacency: ArrayLike | None = None,
    score: Literal["mismatches", "alignment"] = "mismatches",
    correction: Correction = "holm",
    level: Share = 0.95,
    max_rows: Several = MAX_ROWS,
    rng: Seed = 0,
) -> Score:
    """Number of mismatches between the factors that each code depends on and those it should depend on.

    0 is best: every factor has a code that depends on it alone, and all other codes depend on no factor. Each
    dependence that was not expected adds 1, and so does each factor without a code. A second code of a factor counts as
    unexpected, unless ``adjacency`` includes it. Random codes score d, and a dense mixing of d factors scores d (d -
    1). The count depends on the number of rows, because more rows make the tests more powerful.

    Parameters
    ----------
    test : {'nonlinear', 'linear'} or estimator
        Test of conditional independence. The published numbers use the linear test, which cannot detect even functions.
    adjacency : array of 0 and 1 (codes x factors), optional
        The hypothesised dependences, in the order of the given codes and factors. By default the hypothesis is one code
        for every factor, in any order.
    score : {'mismatches', 'alignment'}
        The number of mismatches, or the share of hypothesised dependences that are found (1 is best), as 003's code
        reports it. The choice also applies to the numbers per factor and per code.
    correction : {'holm', 'benjamini-hochberg', 'none'}
        How p-values are corrected for the number of pairs.
    level : float
        Confidence level: a pair counts as dependent if its corrected p-value is at most 1 - level.
    max_rows : int
        If there are more rows than this, a random subset of this size is tested, with a caveat.
    rng : int or Generator
        Seed of that subset. Nothing else is random.

    Notes
    -----
    T-MEX, the test-based measurement exclusivity score: does every code depend on the factors it should, and no others?

        T-MEX = sum_ij |A_ij - H_ij|,   A_ij = 1 where c_i is found dependent on z_j given all other factors z_-j

    with c the codes, z the factors and H the hypothesised adjacency (Yao, Huang, Cadei, Zhang and Locatello 2025, 'The
    third pillar of causal analysis? A measurement perspective on causal representations', arXiv:2505.17708). By default
    H is the one-to-one matching of codes and factors that minimises the sum.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors, noise = rng.normal(size=(2, 500, 2))
    >>> float(t_mex(factors, factors[:, ::-1] ** 3 + 0.1 * noise))
    0.0
    >>> float(t_mex(factors, factors @ [[1.0, 1.0], [1.0, -1.0]] + 0.1 * noise))
    2.0
    """
    chosen = BY_NAME.get(test) if isinstance(test, str) else test
    if chosen is None:
        raise ValueError(f"test={test!r} is not known: use {', '.join(map(repr, BY_NAME))}.")
    given = evidence
    if evidence.n_rows > max_rows:  # memory grows with rows times functions
        evidence = _some_rows(evidence, max_rows, seed_from(rng))
    tests, free = pair_tests(evidence, chosen), varying(evidence)
    p_values = tests.p_value_matrix
    if np.isnan(p_values).any():
        return Score(float("nan"), caveats=(Finding("too_few_rows_for_tests"),))
    live = live_points(evidence) if live_points(evidence).any() else np.ones(len(p_values), dtype=bool)
    found, expected = np.zeros((2, *p_values.shape))  # a constant code depends on nothing, and is not a test
    found[live] = corrected(p_values[live], correction) <= 1 - level
    expected[live] = one_code_each(found[live], p_values[live])
    if adjacency is not None:
        expected = as_given(adjacency, evidence)[:, free]
    lost = expected.sum(axis=0) == 0 if adjacency is None else np.zeros(expected.shape[1], dtype=bool)
    if score == "mismatches":
        wrong = np.abs(found - expected)
        raw, per_factor, per_code = wrong.sum() + lost.sum(), wrong.sum(axis=0) + lost, wrong.sum(axis=1)
    else:
        raw, per_factor, per_code = (_share_found(found, expected, axis) for axis in (None, 0, 1))
    of_all_factors = _over_all_factors(per_factor[None], free)[0]
    return Score(
        raw=float(raw),
        per_factor=dict(zip(evidence.factor_names, of_all_factors.tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={
            "p_value_matrix": _over_all_factors(p_values, free),
            "adjacency_matrix": _over_all_factors(found, free),
            "hypothesis_matrix": _over_all_factors(expected, free),
        },
        matrices=(P_VALUE, ADJACENCY, HYPOTHESIS),
        caveats=(
            *_caveats(score, int(lost.sum())),
            *limits_of(evidence, tests),
            *_finding_of_sampling(given, evidence),
        ),
    )


def _finding_of_sampling(given: Evidence, tested: Evidence) -> tuple[Finding, ...]:
    return () if given is tested else (Finding("rows_sampled", n_rows=tested.n_rows, of=given.n_rows),)


def _share_found(found: FloatArray, expected: FloatArray, axis: int | None) -> FloatArray:
    """Share of the hypothesised dependences that are found, or nan if none is hypothesised."""
    hypothesised = expected.sum(axis=axis)
    shares = np.full(hypothesised.shape, np.nan)
    return np.divide((found * expected).sum(axis=axis), hypothesised, out=shares, where=hypothesised > 0)


def _over_all_factors(matrix: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """Expand the matrix to all factors, with nan columns for constant ones."""
    whole = np.full((len(matrix), free.size), np.nan)
    whole[:, free] = matrix
    return whole


def _caveats(score: str, n_lost: int) -> list[Finding]:
    blind = [Finding("alignment_ignores_mixing")] if score == "alignment" else []
    return [*blind, *([Finding("more_factors_than_codes", n_more=n_lost)] if n_lost else [])]
