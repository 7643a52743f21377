"""`Card`: what a metric declares about itself; `metric`: the decorator that holds a function to it."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from unweave.evidence import Evidence, EvidenceError, FactorKind
from unweave.score import Score

Need = Literal["factors", "codes", "posterior", "decoder", "reference", "sampler", "nuisances"]
Equivalence = Literal["permutation and scale", "elementwise", "affine", "bijection", "any"]
Chance = float | Literal["by permutation", "no pairing"] | Callable[[int, int, int], float]

ANY_KIND = frozenset(FactorKind)
UNBOUNDED = (-math.inf, math.inf)
EVIDENCE_OPTIONS = frozenset(inspect.signature(Evidence.__init__).parameters) - {"self", "factors", "codes"}
HOW_TO_GIVE: dict[str, str] = {
    "factors": "pass the true factors",
    "codes": "pass the codes",
    "posterior": "pass codes=Posterior(mean, std)",
    "decoder": "pass decoder=",
    "reference": "pass reference=, another decoder",
    "sampler": "pass sampler=",
    "nuisances": "pass nuisances=",
}


class MetricUndefined(ValueError):
    """Good evidence that this metric is not made for; the message says why and what to do."""


@dataclass(frozen=True)
class Assumption:
    """A sentence that has to hold for the score to mean what it says, and a test of it on the evidence."""

    sentence: str
    holds: Callable[[Evidence], bool]


@dataclass(frozen=True)
class Variant:
    """What a card says instead where an option has this value: another range, another best score, another chance."""

    option: str
    value: object
    bounds: tuple[float, float]
    best: float
    chance: Chance


@dataclass(frozen=True)
class Card:
    """What a metric measures, what it needs, what it gives, and where it fails.

    ``equivalence`` is the largest class of maps that must still get full marks. ``chance`` is what noise gets: a
    value, a function of n, m and d, 'by permutation' where it has to be measured, or 'no pairing' where the metric
    pairs nothing that could be permuted. A ``best`` of nan says that no value is better. ``identity_tolerance`` is how
    far below ``best`` the identity may score at 2,000 rows. ``order_tolerance`` is how far reordering rows or codes
    may move the score (0 for metrics without a split or trees). ``takes_factor_tables`` says whether a factor may be a
    table of probabilities p(y | x); others need labels. ``variants`` list option values with which bounds, best and
    chance are others; `under` gives the card that holds for the options at hand.
    """

    name: str
    summary: str
    measures: str
    equivalence: Equivalence
    factor_kinds: frozenset[FactorKind]
    needs: tuple[Need, ...]
    min_rows: int
    bounds: tuple[float, float]
    best: float
    chance: Chance
    cost: str
    fails_when: str
    reference: str
    assumes: tuple[Assumption, ...] = ()
    identity_tolerance: float = 1e-6
    order_tolerance: float = 0.0
    takes_factor_tables: bool = False
    variants: tuple[Variant, ...] = ()
    version: int = 1

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the smallest one."""
        return self.best == self.bounds[0]

    def under(self, options: Mapping[str, object]) -> Card:
        """The card as it holds with these options.

        >>> from unweave.metrics import jemmig, t_mex
        >>> t_mex.card.lower_is_better, t_mex.card.under({"score": "alignment"}).lower_is_better
        (True, False)
        >>> nats = jemmig.card.under({"normalise": False})
        >>> nats.bounds, nats.best, nats.lower_is_better
        ((-inf, inf), -inf, True)
        """
        if options.get("normalise") is False:  # in nats, which have a direction and no end
            best = math.nan if math.isnan(self.best) else -math.inf if self.lower_is_better else math.inf
            return dataclasses.replace(self, bounds=UNBOUNDED, best=best)
        for variant in self.variants:
            if options.get(variant.option) == variant.value:
                return dataclasses.replace(self, bounds=variant.bounds, best=variant.best, chance=variant.chance)
        return self

    def lacking(self, evidence: Evidence) -> Need | None:
        """The first thing this metric needs that was not given, such as nuisances or a posterior."""
        return next((need for need in self.needs if not _has(evidence, need)), None)

    def refusal(self, evidence: Evidence) -> str | None:
        """One sentence when the evidence lacks what this metric needs, else None."""
        need = self.lacking(evidence)
        if need is not None:
            return f"{self.name} needs {need}, and the evidence has none: {HOW_TO_GIVE[need]}."
        if evidence.n_rows < self.min_rows:
            return f"{self.name} needs at least {self.min_rows} rows and has {evidence.n_rows}: pass more samples."
        for name, kind in zip(evidence.factor_names, evidence.kinds, strict=True):
            if kind not in self.factor_kinds:
                taken = ", ".join(sorted(kind.value for kind in self.factor_kinds))
                return (
                    f"{self.name} takes {taken} factors, and {name!r} is {kind.value}: leave it out or state its kind."
                )
        if "factors" in self.needs and evidence.factor_tables and not self.takes_factor_tables:
            first = next(iter(evidence.factor_tables))
            return (
                f"{self.name} needs a label for every sample, and factor {first!r} is a table of probabilities: "
                "pass its most probable values, or use rmig or jemmig."
            )
        if "factors" in self.needs and len(evidence.constant_factors) == evidence.n_factors:
            return f"{self.name} needs a factor that varies, and all are constant: pass samples in which they vary."
        return None


class Metric(Protocol):
    """A function declared with `metric`: call it with two tables, or with evidence."""

    card: Card
    options: Mapping[str, inspect.Parameter]
    __name__: str

    def __call__(self, factors: object, codes: object = None, /, **options: Any) -> Score:
        """Score of these factors and codes, or of an Evidence."""


def metric(**fields: Any) -> Callable[[Callable[..., Score]], Metric]:
    """Declare a function ``(evidence, *, options) -> Score`` as a metric, with the fields of its `Card`.

    The result takes two tables or an `Evidence`; refuses evidence that lacks what the card needs; turns ``rng`` into
    one seed; and completes the score with name, version, bounds, best, settings and the caveats of every metric.
    """

    def declare(function: Callable[..., Score]) -> Metric:
        summary = (inspect.getdoc(function) or "").split("\n")[0]
        card = Card(name=function.__name__, summary=summary, **fields)
        signature = inspect.signature(function)
        options = {name: entry for name, entry in signature.parameters.items() if name != "evidence"}

        @functools.wraps(function)
        def scored(factors: object, codes: object = None, /, **given: Any) -> Score:
            evidence = _evidence_of(card, factors, codes, given)
            unknown = [name for name in given if name not in options]
            if unknown:
                raise TypeError(f"{card.name} has no option {unknown[0]!r}; it has {', '.join(options) or 'none'}.")
            refusal = card.refusal(evidence)
            if refusal:
                raise MetricUndefined(refusal)
            if "rng" in options:
                given["rng"] = seed_from(given.get("rng", options["rng"].default))
            in_force = {name: given.get(name, entry.default) for name, entry in options.items()}
            score, holding = function(evidence, **given), card.under(in_force)
            return dataclasses.replace(
                score,
                metric=card.name,
                version=card.version,
                bounds=holding.bounds,
                best=holding.best,
                settings={name: _described(option) for name, option in in_force.items()},
                caveats=(*score.caveats, *_shared_caveats(card, evidence)),
            )

        scored.card = card  # type: ignore[attr-defined]
        scored.options = options  # type: ignore[attr-defined]
        scored.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[
                inspect.Parameter("factors", inspect.Parameter.POSITIONAL_ONLY),
                inspect.Parameter("codes", inspect.Parameter.POSITIONAL_ONLY, default=None),
                *options.values(),
            ]
        )
        return scored  # type: ignore[return-value]

    return declare


def seed_from(rng: int | np.random.Generator | None) -> int:
    """One integer seed: an int is itself, a Generator is drawn from, None takes fresh entropy.

    >>> seed_from(7)
    7
    """
    if isinstance(rng, (int, np.integer)):
        return int(rng)
    return int(np.random.default_rng(rng).integers(2**31))


def _evidence_of(card: Card, factors: object, codes: object, given: dict[str, Any]) -> Evidence:
    evidence_options = {name: given.pop(name) for name in list(given) if name in EVIDENCE_OPTIONS}
    if not isinstance(factors, Evidence):
        if "decoder" in card.needs and "factors" not in card.needs and factors is not None:
            return Evidence(decoder=factors, reference=codes, **evidence_options)
        return Evidence(factors, codes, **evidence_options)
    if codes is not None or evidence_options:
        raise EvidenceError("An Evidence already holds the codes and all that belongs to them: pass it alone.")
    return factors


def _has(evidence: Evidence, need: Need) -> bool:
    """Whether the evidence has what a card asks for."""
    if need in ("factors", "codes", "nuisances"):
        return bool(getattr(evidence, need).shape[1])
    return getattr(evidence, need) is not None


def _shared_caveats(card: Card, evidence: Evidence) -> list[str]:
    caveats = []
    if "factors" in card.needs and evidence.constant_factors:
        names = _listed(evidence.constant_factors)
        caveats.append(f"Constant in these samples, so left out of the score: {names}.")
    if "codes" in card.needs and evidence.dead_codes:
        caveats.append(f"Dead codes, which carry nothing: {_listed(evidence.dead_codes)}.")
    if evidence.n_dropped:
        caveats.append(f"{evidence.n_dropped} rows with missing values were dropped.")
    caveats += [assumption.sentence for assumption in card.assumes if not assumption.holds(evidence)]
    return caveats


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _described(option: Any) -> Any:
    """An option as plain data; a frozen estimator becomes its name, fields and library."""
    if dataclasses.is_dataclass(option) and not isinstance(option, type):
        described = {"name": type(option).__name__}
        described |= {entry.name: _described(getattr(option, entry.name)) for entry in dataclasses.fields(option)}
        library = getattr(option, "library", None)
        return described | ({"library": library} if library else {})
    return list(option) if isinstance(option, tuple) else option
