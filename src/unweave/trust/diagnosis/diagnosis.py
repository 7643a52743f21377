"""Diagnosis of the data: sizes, dependence among factors, effective dimension, and the state of the codes.

The diagnosis does not judge a metric; it measures the quantities that a verdict needs (003, appendix A). Factors and
codes are compared by their ranks, so that strictly monotone maps do not change the result. There are two exceptions.
With few rows, sums and products of factors can only be found in their values. The tails of codes, and the variance that
classes explain, are measured on the codes themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.arrays import Rows
from unweave.estimators.information.entropy import entropy_of_counts
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.responses.collapsed_codes import collapsed_codes
from unweave.responses.constraint_search import ROWS_TO_SCREEN
from unweave.responses.constraints import (
    FEWEST_ROWS,
    MOST_FACTORS,
    MOST_ROWS,
    FunctionalConstraint,
    SeparateRows,
    factor_constraints,
)
from unweave.responses.factor_views import FactorView
from unweave.trust.diagnosis import code_health
from unweave.trust.diagnosis.factor_dependence import PairDependence, PairKind, pairwise_dependence
from unweave.trust.diagnosis.record import ClassBalance, DependenceClass, Diagnosis
from unweave.trust.row_order import diagnosed_order

__all__ = [
    "ClassBalance",
    "DependenceClass",
    "Diagnosis",
    "FunctionalConstraint",
    "PairDependence",
    "PairKind",
    "diagnose",
]

REPEATED = 0.5


def diagnose(evidence: Evidence, *, seed: int = 0) -> Diagnosis:
    """Measure the properties of the data that decide whether a metric can be trusted.

    At most 4,000 random rows are used, one row for each row group. If a factor is continuous, rows with equal factors
    are used once. Constraints between several factors are searched for on at most 1,000 of these rows. A quantity that
    needs more rows is nan, and a note says so.

    Parameters
    ----------
    evidence : Evidence
        Factors, codes, or both.
    seed : int
        Seed of the random rows.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 500))
    >>> found = diagnose(Evidence({"x": x, "y": y, "area": x * y}, np.column_stack([x, y, -x])))
    >>> found.dependence_class.value, found.effective_dimension, found.redundant_factors
    ('multi-factor constraint', 2.0, ('area',))
    >>> found.duplicated_codes
    (('code 0', 'code 2'),)
    """
    known = factor_constraints(evidence, seed)
    rows, views, constraints = known.separate.rows, known.views, known.constraints
    notes = [*diagnosed_order(evidence), *_notes_on_rows(evidence, known.separate)]
    some = evidence.rows(rows)
    constant = _constant_factors(evidence, some)
    if rows.size >= FEWEST_ROWS:
        notes += _notes_on_factors(some, constant)
    elif evidence.n_factors:
        notes.append(Finding("too_few_rows_to_diagnose", n_rows=rows.size, needed=FEWEST_ROWS))
    pairs = pairwise_dependence(views[:MOST_FACTORS])
    redundant = {constraint.determined for constraint in constraints}
    if views and rows.size < ROWS_TO_SCREEN:
        notes.append(Finding("constraints_may_be_missed", n_rows=rows.size))
    dead = collapsed_codes(evidence)
    living = np.flatnonzero(~np.isin(evidence.code_names, dead)) if evidence.n_codes else np.empty(0, dtype=np.intp)
    return Diagnosis(
        n_rows=evidence.n_rows,
        n_factors=evidence.n_factors,
        n_codes=evidence.n_codes,
        rows_looked_at=rows.size,
        constant_factors=constant,
        class_balance=_class_balance(some, constant),
        dependence_class=_dependence_class(views, pairs, constraints),
        dependent_pairs=tuple(
            sorted((pair for pair in pairs if pair.kind is not PairKind.INDEPENDENT), key=lambda pair: -pair.strength)
        ),
        max_correlation=_largest([abs(pair.correlation) for pair in pairs]),
        max_free_correlation=_largest([abs(pair.correlation) for pair in pairs if not redundant & set(pair.factors)]),
        max_dependence=_largest([pair.strength for pair in pairs]),
        max_nonlinearity=_largest([pair.added for pair in pairs]),
        constraints=constraints,
        effective_dimension=float(len(views) - len(constraints)) if 0 < len(views) <= MOST_FACTORS else math.nan,
        dead_codes=dead,
        **_of_living_codes(some, living, views, notes),
        notes=tuple(notes),
    )


def _notes_on_rows(evidence: Evidence, separate: SeparateRows) -> list[Finding]:
    """Notes on rows that the diagnosis does not use."""
    notes, n_separate = [], separate.n_separate
    if evidence.row_groups is not None:
        notes.append(Finding("one_row_per_group", n_groups=n_separate))
    if n_separate > MOST_ROWS:
        notes.append(Finding("rows_examined", n_rows=MOST_ROWS, of=n_separate))
    if separate.n_repeated:
        notes.append(Finding("repeated_rows", n_rows=separate.n_repeated))
    return notes


def _constant_factors(evidence: Evidence, some: Evidence) -> tuple[str, ...]:
    """Factors that do not vary. Only factors that are constant on the selected rows are checked on all rows."""
    if some.n_rows == 0:
        return ()
    constant = np.isin(evidence.factor_names, some.constant_factors)
    return tuple(
        name for j, name in enumerate(evidence.factor_names) if constant[j] and np.ptp(evidence.factors[:, j]) == 0
    )


def _notes_on_factors(some: Evidence, constant: tuple[str, ...]) -> list[Finding]:
    """Notes on factors that were left out, and on repeated values, which can look like functional constraints."""
    notes = []
    varying = [j for j in range(some.n_factors) if np.ptp(some.factors[:, j]) > 0]
    rare = [name for j, name in enumerate(some.factor_names) if j not in varying and name not in constant]
    if rare:
        notes.append(Finding("factors_constant_in_part", factors=rare))
    repeated = [
        some.factor_names[j]
        for j in varying
        if some.kinds[j] is FactorKind.CONTINUOUS and np.unique(some.factors[:, j]).size < REPEATED * some.n_rows
    ]
    if repeated:
        notes.append(Finding("values_repeated", factors=repeated))
    if len(varying) > MOST_FACTORS:
        notes.append(Finding("factors_not_examined", n_varying=len(varying), n_examined=MOST_FACTORS))
    return notes


def _class_balance(some: Evidence, constant: tuple[str, ...]) -> dict[str, ClassBalance]:
    balances = {}
    for j, name in enumerate(some.factor_names):
        if some.kinds[j] not in (FactorKind.ORDINAL, FactorKind.CATEGORICAL) or name in constant:
            continue
        counts = np.unique(some.factors[:, j], return_counts=True)[1]
        evenness = float(entropy_of_counts(counts) / np.log(counts.size)) if counts.size > 1 else math.nan
        shares = counts / counts.sum()
        balances[name] = ClassBalance(counts.size, float(shares.min()), float(shares.max()), evenness)
    return balances


def _dependence_class(
    views: Sequence[FactorView], pairs: Sequence[PairDependence], constraints: Sequence[FunctionalConstraint]
) -> DependenceClass:
    if not views:
        return DependenceClass.UNKNOWN
    if constraints:
        single = all(constraint.is_single for constraint in constraints)
        return DependenceClass.SINGLE_FACTOR if single else DependenceClass.MULTI_FACTOR
    kinds = {pair.kind for pair in pairs}
    if PairKind.NONLINEAR in kinds:
        return DependenceClass.NONLINEAR
    return DependenceClass.CORRELATED if kinds - {PairKind.INDEPENDENT} else DependenceClass.INDEPENDENT


def _of_living_codes(some: Evidence, living: Rows, views: Sequence[FactorView], notes: list[Finding]) -> dict[str, Any]:
    """Copies, tails and nuisance shares of the live codes, as fields of `Diagnosis`."""
    living = living[np.ptp(some.codes[:, living], axis=0) > 0] if some.n_rows > 2 else living[:0]
    if not living.size:
        return {}
    codes = some.codes[:, living]
    names = [some.code_names[i] for i in living]
    tails = code_health.kurtosis(codes)
    groups = code_health.copies(codes)
    nuisance: dict[str, float] = {}
    if views:
        explained = np.arange(living.size)
        if living.size > code_health.MOST_CODES_EXPLAINED:
            explained = np.linspace(0, living.size - 1, code_health.MOST_CODES_EXPLAINED).astype(np.intp)
            notes.append(Finding("codes_examined", n_codes=explained.size, of=living.size))
        explained = explained[np.ptp(codes[: code_health.ROWS_FOR_SINGLE_FACTORS, explained], axis=0) > 0]
        shares = code_health.unexplained_shares(views, codes[:, explained])
        nuisance = {names[i]: float(share) for i, share in zip(explained, shares, strict=True)}
    return {
        "duplicated_codes": tuple(tuple(names[i] for i in group) for group in groups),
        "heavy_tailed_codes": {names[i]: float(tails[i]) for i in np.flatnonzero(tails > code_health.HEAVY)},
        "nuisance_per_code": nuisance,
    }


def _largest(numbers: Sequence[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return max(known, default=math.nan)
