"""The record of a diagnosis: plain numbers and names, and quantities derived from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any, Self

import numpy as np

from unweave.codec import plain_data, restored
from unweave.findings import Finding
from unweave.responses.constraints import FunctionalConstraint
from unweave.trust.diagnosis.factor_dependence import PairDependence
from unweave.trust.diagnosis.worth_saying import findings_of


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
        return findings_of(self)

    def sentences(self) -> list[str]:
        """The findings as sentences, with the section of 003 that they concern."""
        return list(map(str, self.findings))

    def _repr_html_(self) -> str:
        return str(import_module("unweave.report.page.notebook_parts").diagnosis_view(self))

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
        return restored(cls, data)
