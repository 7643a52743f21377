"""`Card`: the description of a metric, and the check whether an Evidence has what the metric needs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from unweave.card.card_checks import check_card
from unweave.card.vocabulary import ANY_KIND, UNBOUNDED, Assumption, Case, Chance, Equivalence, Need, Variant
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.reading.columns import quoted

HOW_TO_GIVE: dict[str, str] = {
    "factors": "pass the true factors",
    "codes": "pass the codes",
    "dense codes": (
        "use evaluate(..., screen=True) (--screen), which scores the codes that depend on a factor, pass "
        "codes.toarray() if it fits in memory, or use mcc, sap, mig or another metric that takes sparse codes"
    ),
    "posterior": "pass codes=Posterior(mean, std)",
    "decoder": "pass decoder=",
    "reference": "pass reference=, another decoder",
    "sampler": "pass sampler=",
    "nuisances": "pass nuisances=",
}


class MetricUndefined(ValueError):
    """Raised if the evidence is valid but the metric is not defined for it; the message states why and what to do."""


class CardFields(TypedDict):
    """The fields of a `Card` that `metric` accepts; name and summary are those of the function.

    >>> sorted({entry.name for entry in dataclasses.fields(Card)} - set(CardFields.__annotations__))
    ['name', 'summary']
    """

    measures: str
    equivalence: Equivalence
    min_rows: int
    chance: Chance
    cost: str
    fails_when: str
    reference: str
    factor_kinds: NotRequired[frozenset[FactorKind]]
    needs: NotRequired[tuple[Need, ...]]
    bounds: NotRequired[tuple[float, float]]
    best: NotRequired[float]
    assumes: NotRequired[tuple[Assumption, ...]]
    identity_tolerance: NotRequired[float]
    order_tolerance: NotRequired[float]
    takes_factor_tables: NotRequired[bool]
    takes_sparse_codes: NotRequired[bool]
    takes_code_groups: NotRequired[bool]
    factor_by_factor: NotRequired[bool]
    undefined_with: NotRequired[tuple[Case, ...]]
    variants: NotRequired[tuple[Variant, ...]]
    raw_range: NotRequired[str]
    version: NotRequired[int]


@dataclass(frozen=True)
class Card:
    """Description of a metric: what it measures, what it needs, its range, and where it fails.

    ``equivalence`` is the largest class of maps of the factors for which the score must be the best score. ``chance``
    is the score of random codes: a value, a function of n, m and d, 'by permutation' if it has to be measured, or 'no
    pairing' if the metric does not relate codes to factors. A ``best`` of nan means that no value is better than
    another. ``identity_tolerance`` is the largest allowed difference between ``best`` and the score of codes that equal
    the factors, at 2,000 rows. ``order_tolerance`` is the largest allowed change of the score when rows or codes are
    reordered (0 for metrics without a split or trees). ``takes_factor_tables`` tells whether a factor may be a table of
    probabilities p(y | x); other metrics need labels. ``takes_sparse_codes`` tells whether codes may be a sparse
    matrix, and ``takes_code_groups`` whether each group of codes is one unit. ``factor_by_factor`` tells whether the
    score is the mean over factors of scores that each depend on one factor only, so that factors may be labelled on
    different rows. ``undefined_with`` names the cases, 'one factor' and 'one code', in which the score is nan.
    ``variants`` list option values that change the bounds, the best score or the chance level; `under` returns the card
    for given options. ``raw_range`` describes how far and why the raw score may lie outside the bounds, and is empty
    otherwise.
    """

    name: str
    summary: str
    measures: str
    equivalence: Equivalence
    min_rows: int
    chance: Chance
    cost: str
    fails_when: str
    reference: str
    factor_kinds: frozenset[FactorKind] = ANY_KIND
    needs: tuple[Need, ...] = ("factors", "codes")
    bounds: tuple[float, float] = (0.0, 1.0)
    best: float = 1.0
    assumes: tuple[Assumption, ...] = ()
    identity_tolerance: float = 1e-6
    order_tolerance: float = 0.0
    takes_factor_tables: bool = False
    takes_sparse_codes: bool = False
    takes_code_groups: bool = False
    factor_by_factor: bool = False
    undefined_with: tuple[Case, ...] = ()
    variants: tuple[Variant, ...] = ()
    raw_range: str = ""
    version: int = 1

    def __post_init__(self) -> None:
        check_card(self)

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the smallest one."""
        return self.best == self.bounds[0]

    def under(self, options: Mapping[str, object]) -> Card:
        """The card with the bounds, the best score and the chance level that apply to these options.

        >>> from unweave.metrics import jemmig, t_mex
        >>> t_mex.card.lower_is_better, t_mex.card.under({"score": "alignment"}).lower_is_better
        (True, False)
        >>> nats = jemmig.card.under({"normalise": False})
        >>> nats.bounds, nats.best, nats.lower_is_better
        ((-inf, inf), -inf, True)
        """
        if options.get("normalise") is False:  # the score is then in nats, which are unbounded
            best = math.nan if math.isnan(self.best) else -math.inf if self.lower_is_better else math.inf
            return dataclasses.replace(self, bounds=UNBOUNDED, best=best)
        for variant in self.variants:
            if options.get(variant.option) == variant.value:
                return dataclasses.replace(self, bounds=variant.bounds, best=variant.best, chance=variant.chance)
        return self

    def lacking(self, evidence: Evidence) -> Need | None:
        """The first input that this metric needs and the evidence lacks, such as nuisances; None if it lacks none."""
        lacking = next((need for need in self.needs if not _has(evidence, need)), None)
        sparse = lacking is None and evidence.sparse_codes is not None and "codes" in self.needs
        return "dense codes" if sparse and not self.takes_sparse_codes else lacking

    def refusal(self, evidence: Evidence) -> str | None:
        """A sentence that states why the metric cannot be computed on this evidence, or None if it can."""
        need = self.lacking(evidence)
        if need is not None:
            return f"{self.name} needs {need}, and the evidence has none: {HOW_TO_GIVE[need]}."
        if evidence.n_rows < self.min_rows:
            return f"{self.name} needs at least {self.min_rows} rows and has {evidence.n_rows}: pass more samples."
        for name, kind in zip(evidence.factor_names, evidence.kinds, strict=True):
            if kind not in self.factor_kinds:
                taken = ", ".join(sorted(kind.value for kind in self.factor_kinds))
                return (
                    f"{self.name} takes {taken} factors, and {quoted(name)} is {kind.value}: "
                    "leave it out or state its kind."
                )
        if "factors" in self.needs and evidence.factor_tables and not self.takes_factor_tables:
            first = next(iter(evidence.factor_tables))
            return (
                f"{self.name} needs a label for every sample, and factor {quoted(first)} is a table of probabilities: "
                "pass its most probable values, or use rmig or jemmig."
            )
        if "factors" in self.needs and len(evidence.constant_factors) == evidence.n_factors:
            return f"{self.name} needs a factor that varies, and all are constant: pass samples in which they vary."
        return None


def _has(evidence: Evidence, need: Need) -> bool:
    """Whether the evidence has this input."""
    if need == "codes" and evidence.sparse_codes is not None:
        return True
    if need in ("factors", "codes", "nuisances"):
        return bool(getattr(evidence, need).shape[1])
    return getattr(evidence, need) is not None
