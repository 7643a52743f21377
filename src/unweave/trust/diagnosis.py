"""`diagnose`: what in the data can mislead a metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

import numpy as np

from unweave.arrays import Rows
from unweave.codec import plain_data, read_record
from unweave.estimators.counts import entropy_of_counts
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.options import checks_options
from unweave.responses.constraints import (
    FEWEST_ROWS,
    MOST_FACTORS,
    MOST_ROWS,
    ROWS_TO_SCREEN,
    FunctionalConstraint,
    SeparateRows,
    factor_constraints,
)
from unweave.responses.factor_bases import FactorView, collapsed_codes
from unweave.trust import data_health as code_health
from unweave.trust.data_health import PairDependence, PairKind, pairwise_dependence
from unweave.trust.row_order import diagnosed_order

MOST_GROUPS = 4

MANY_CODES_PER_ROW = 0.1

RARE_CLASS = 0.02

NUISANCE_WORTH_SAYING = 0.1


def _sizes(found: Diagnosis) -> list[Finding]:
    n, d, m = found.n_rows, found.n_factors, found.n_codes
    said = [Finding("data_sizes", n_rows=n, n_factors=d, n_codes=m)]
    if m and n and found.codes_per_row > MANY_CODES_PER_ROW:
        chance = found.chance_correlation
        said.append(Finding("codes_crowd_rows", n_codes=m, codes_per_row=found.codes_per_row, correlation=chance))
    if m and d and m != d:
        said.append(Finding("codes_and_factors_differ", codes_per_factor=found.codes_per_factor))
    return said


def _factors(found: Diagnosis) -> list[Finding]:
    said = []
    if found.constant_factors:
        said.append(Finding("factors_never_vary", factors=found.constant_factors))
    if math.isnan(found.effective_dimension):
        return said
    n_free = int(found.effective_dimension)
    n_varying = n_free + len(found.constraints)
    said += [_constraint(constraint) for constraint in found.constraints]
    if found.constraints:
        said.append(Finding("free_factors", n_free=n_free, n_varying=n_varying, factors=found.redundant_factors))
    if found.dependent_pairs:
        said += _pairs(found)
    elif n_varying > 1 and not found.constraints:
        said.append(Finding("factors_independent", correlation=found.max_correlation))
    return said


def _constraint(constraint: FunctionalConstraint) -> Finding:
    share, names = constraint.open_share, [constraint.determined]
    if constraint.is_single:
        invertible = constraint.invertible
        return Finding(
            "factor_function_of_one", other=constraint.by[0], open_share=share, invertible=invertible, factors=names
        )
    return Finding("factor_function_of_several", others=" and ".join(constraint.by), open_share=share, factors=names)


def _pairs(found: Diagnosis) -> list[Finding]:
    """One finding for each kind of dependence, with its strongest pair; pairs with a constraint are left out."""
    told = [{constraint.determined, *constraint.by} for constraint in found.constraints if constraint.is_single]
    by_kind: dict[PairKind, list[PairDependence]] = {}
    for pair in found.dependent_pairs:
        if set(pair.factors) not in told:
            by_kind.setdefault(pair.kind, []).append(pair)
    said = []
    if linear := by_kind.get(PairKind.LINEAR):
        first = max(linear, key=lambda pair: abs(pair.correlation))
        found_here = Finding(
            "pairs_correlated", n_pairs=len(linear), correlation=first.correlation, factors=first.factors
        )
        said.append(found_here)
    if associated := by_kind.get(PairKind.ASSOCIATED):
        first = associated[0]
        said.append(
            Finding("pairs_associated", n_pairs=len(associated), strength=first.strength, factors=first.factors)
        )
    if nonlinear := by_kind.get(PairKind.NONLINEAR):
        first = nonlinear[0]
        said.append(
            Finding(
                "pairs_nonlinear",
                n_pairs=len(nonlinear),
                correlation=first.correlation,
                strength=first.strength,
                factors=first.factors,
            )
        )
    return said


def _classes(found: Diagnosis) -> list[Finding]:
    rare = [name for name, balance in found.class_balance.items() if balance.smallest_share < RARE_CLASS]
    if not rare:
        return []
    worst = min(rare, key=lambda name: found.class_balance[name].smallest_share)
    return [Finding("classes_rare", share=found.class_balance[worst].smallest_share, rarest=worst, factors=rare)]


def _codes(found: Diagnosis) -> list[Finding]:
    said = []
    if found.dead_codes:
        said.append(Finding("codes_never_vary", codes=found.dead_codes))
    if found.duplicated_codes:
        more = len(found.duplicated_codes) - MOST_GROUPS
        groups = [" = ".join(group) for group in found.duplicated_codes[:MOST_GROUPS]]
        shown = ", ".join([*groups, *([f"{more} more"] if more > 0 else [])])
        share, n_distinct = found.duplicated_share, found.n_distinct_codes
        said.append(Finding("codes_duplicated", share=share, n_distinct=n_distinct, groups=shown))
    if found.heavy_tailed_codes:
        tails = found.heavy_tailed_codes
        worst = max(tails, key=lambda name: tails[name])
        said.append(Finding("codes_heavy_tailed", kurtosis=tails[worst], worst=worst, codes=tails))
    if found.nuisance_share > NUISANCE_WORTH_SAYING:
        noise = [name for name, share in found.nuisance_per_code.items() if share > 1 - NUISANCE_WORTH_SAYING]
        said.append(Finding("codes_unexplained", share=found.nuisance_share, codes=noise))
    return said


class DependenceClass(StrEnum):
    """The strongest kind of dependence among the factors, listed from weak to strong."""

    UNKNOWN = "unknown"
    INDEPENDENT = "independent"
    CORRELATED = "correlated"
    NONLINEAR = "nonlinear dependence"
    SINGLE_FACTOR = "single-factor constraint"
    MULTI_FACTOR = "multi-factor constraint"


@dataclass(frozen=True)
class ClassBalance:
    """Balance of the classes of a discrete factor; ``evenness`` is its entropy divided by that of equal classes."""

    n_classes: int
    smallest_share: float
    largest_share: float
    evenness: float


@dataclass(frozen=True)
class Diagnosis:
    """Properties of the data; a quantity that could not be measured is nan, and ``notes`` say why.

    >>> import numpy as np
    >>> from unweave import Evidence, diagnose
    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> found = diagnose(Evidence(z, np.column_stack([z, np.ones(500)])))
    >>> found.effective_dimension, found.dead_codes
    (2.0, ('code 2',))

    Attributes
    ----------
    n_rows, n_factors, n_codes : int
        Sizes n, d and m.
    rows_looked_at : int
        Number of rows that were used for measurements: at most 4,000, and at most one of each row group.
    constant_factors : tuple of str
        Factors that never vary. They count in d, but not in the effective dimension.
    class_balance : dict of name to ClassBalance
        Balance of every ordinal or categorical factor that varies.
    dependence_class : DependenceClass
        Independent, correlated (linear dependence of normal scores, or dependence of categorical or circular factors),
        nonlinear dependence, or a constraint: a factor is a function of one other factor, or of several.
    dependent_pairs : tuple of PairDependence
        Pairs that are not independent, the strongest first.
    max_correlation : float
        Largest absolute correlation of normal scores of two factors, significant or not.
    max_free_correlation : float
        Largest absolute correlation of normal scores of two factors that vary freely.
    max_dependence : float
        Largest correlation between smooth functions of two factors, corrected for chance.
    max_nonlinearity : float
        Largest share of a factor's variance that nonlinear functions of another factor explain in addition to a linear
        function.
    constraints : tuple of FunctionalConstraint
        Factors that others determine, in the order in which they were found.
    effective_dimension : float
        Number of factors that vary freely: those that vary, minus the constraints.
    dead_codes : tuple of str
        Codes that never vary, and codes that have collapsed, which means that their posterior carries less than .02
        nats. All other codes are called live.
    duplicated_codes : tuple of tuples of str
        Groups of live codes that are monotone functions of each other.
    heavy_tailed_codes : dict of name to float
        Kurtosis of the live codes whose kurtosis is above 10 (3 for a normal code).
    nuisance_per_code : dict of name to float
        Share of the variance of a live code's ranks that no factor explains on held-out rows; for at most 256 codes.
    nuisance_of_variance : float
        These shares in the mean weighted by the codes' variances; `nuisance_share` counts every code alike.
    notes : tuple of Finding
        What the diagnosis left out, and why.
    """

    n_rows: int
    n_factors: int
    n_codes: int
    rows_looked_at: int
    constant_factors: tuple[str, ...] = ()
    class_balance: dict[str, ClassBalance] = field(default_factory=dict)
    dependence_class: DependenceClass = DependenceClass.UNKNOWN
    dependent_pairs: tuple[PairDependence, ...] = ()
    max_correlation: float = math.nan
    max_free_correlation: float = math.nan
    max_dependence: float = math.nan
    max_nonlinearity: float = math.nan
    constraints: tuple[FunctionalConstraint, ...] = ()
    effective_dimension: float = math.nan
    dead_codes: tuple[str, ...] = ()
    duplicated_codes: tuple[tuple[str, ...], ...] = ()
    heavy_tailed_codes: dict[str, float] = field(default_factory=dict)
    nuisance_per_code: dict[str, float] = field(default_factory=dict)
    nuisance_of_variance: float = math.nan
    notes: tuple[Finding, ...] = ()

    @property
    def codes_per_row(self) -> float:
        """Number of live codes for each row, m / n."""
        return self.n_live_codes / self.n_rows if self.n_live_codes and self.n_rows else math.nan

    @property
    def codes_per_factor(self) -> float:
        """Number of live codes for each factor, m / d."""
        return self.n_live_codes / self.n_factors if self.n_live_codes and self.n_factors else math.nan

    @property
    def rows_per_code(self) -> float:
        """Number of rows for each live code, n / m."""
        return self.n_rows / self.n_live_codes if self.n_live_codes and self.n_rows else math.nan

    @property
    def chance_correlation(self) -> float:
        """sqrt(2 log m / n), at most 1: roughly the correlation of the best of m unrelated codes (003, F.3)."""
        if not (self.n_codes and self.n_rows):
            return math.nan
        return min(math.sqrt(2 * math.log(self.n_codes) / self.n_rows), 1.0)

    @property
    def redundant_factors(self) -> tuple[str, ...]:
        """Factors that others determine."""
        return tuple(constraint.determined for constraint in self.constraints)

    @property
    def free_pairs(self) -> tuple[PairDependence, ...]:
        """Pairs of factors that vary freely and are not independent, the strongest first."""
        redundant = set(self.redundant_factors)
        pairs = [pair for pair in self.dependent_pairs if not redundant & set(pair.factors)]
        return tuple(sorted(pairs, key=lambda pair: -pair.association))

    @property
    def n_live_codes(self) -> int:
        """Number of codes that are not dead; the number of all codes if every code is dead."""
        return self.n_codes - len(self.dead_codes) or self.n_codes

    @property
    def n_distinct_codes(self) -> int:
        """Number of live codes, with copies counted once."""
        return self.n_codes - len(self.dead_codes) - sum(len(group) - 1 for group in self.duplicated_codes)

    @property
    def duplicated_share(self) -> float:
        """Share of the live codes that are copies of another live code."""
        living = self.n_codes - len(self.dead_codes)
        return 1 - self.n_distinct_codes / living if living else math.nan

    @property
    def nuisance_share(self) -> float:
        """Mean over live codes of the share of variance that no factor explains."""
        return float(np.mean(list(self.nuisance_per_code.values()))) if self.nuisance_per_code else math.nan

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings about the data, as records."""
        return (*_sizes(self), *_factors(self), *_classes(self), *_codes(self), *self.notes)

    def sentences(self) -> list[str]:
        """The findings as sentences, with the section of 003 that they concern."""
        return list(map(str, self.findings))

    def _repr_html_(self) -> str:
        from unweave.report.notebook import diagnosis_view  # late: report is above trust

        return diagnosis_view(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the derived numbers and the sentences; nan becomes null."""
        derived = (
            "codes_per_row", "codes_per_factor", "rows_per_code", "chance_correlation", "redundant_factors",
            "n_distinct_codes", "duplicated_share", "nuisance_share", "findings",
        )  # fmt: skip
        return {
            **plain_data(self),
            **{name: plain_data(getattr(self, name)) for name in derived},
            "sentences": self.sentences(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Diagnosis from the output of `to_dict`; derived quantities are computed again."""
        return read_record(cls, data)


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


@checks_options
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
        if some.kinds[j].is_continuous and np.unique(some.factors[:, j]).size < REPEATED * some.n_rows
    ]
    if repeated:
        notes.append(Finding("values_repeated", factors=repeated))
    if len(varying) > MOST_FACTORS:
        notes.append(Finding("factors_not_examined", n_varying=len(varying), n_examined=MOST_FACTORS))
    return notes


def _class_balance(some: Evidence, constant: tuple[str, ...]) -> dict[str, ClassBalance]:
    balances = {}
    for j, name in enumerate(some.factor_names):
        if not some.kinds[j].has_classes or name in constant:
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
    of_variance = math.nan
    if views:
        explained = np.arange(living.size)
        if living.size > code_health.MOST_CODES_EXPLAINED:
            explained = np.linspace(0, living.size - 1, code_health.MOST_CODES_EXPLAINED).astype(np.intp)
            notes.append(Finding("codes_examined", n_codes=explained.size, of=living.size))
        explained = explained[np.ptp(codes[: code_health.ROWS_FOR_SINGLE_FACTORS, explained], axis=0) > 0]
        shares = code_health.unexplained_shares(views, codes[:, explained])
        nuisance = {names[i]: float(share) for i, share in zip(explained, shares, strict=True)}
        variances = codes[:, explained].var(axis=0)
        of_variance = float(shares @ variances / variances.sum()) if variances.sum() > 0 else math.nan
    return {
        "duplicated_codes": tuple(tuple(names[i] for i in group) for group in groups),
        "heavy_tailed_codes": {names[i]: float(tails[i]) for i in np.flatnonzero(tails > code_health.HEAVY_KURTOSIS)},
        "nuisance_per_code": nuisance,
        "nuisance_of_variance": of_variance,
    }


def _largest(numbers: Sequence[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return max(known, default=math.nan)
