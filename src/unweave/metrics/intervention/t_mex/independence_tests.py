"""Conditional independence tests of every code and factor given all other factors, and caveats about these tests."""

from __future__ import annotations

import numpy as np

from unweave.estimators.dependence.conditional_independence import IndependenceTest
from unweave.estimators.dependence.generalised_covariance import PairTests
from unweave.estimators.regression.factor_functions import GradedColumns, indicators
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import varying
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints


@memoised(on="both")
def pair_tests(evidence: Evidence, test: IndependenceTest) -> PairTests:
    """Test every code against every factor that varies, given all other factors; computed once per Evidence."""
    return test.pairs(evidence.codes, [_columns(evidence, j, test) for j in np.flatnonzero(varying(evidence)).tolist()])


def rows_tested(evidence: Evidence, max_rows: int, seed: int) -> Evidence:
    """The evidence, or a random subset of ``max_rows`` rows, because memory grows with rows times functions."""
    return evidence if evidence.n_rows <= max_rows else _some_rows(evidence, max_rows, seed)


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
    if declared.kind is FactorKind.CATEGORICAL:
        return indicators(column)
    if declared.kind is FactorKind.CIRCULAR:
        return test.circular(2 * np.pi * column / declared.period)
    return test.numeric(column)
