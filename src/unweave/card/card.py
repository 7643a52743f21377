"""`Card`: what a metric measures, needs and assumes, checked when it is declared."""

from __future__ import annotations

import dataclasses
import difflib
import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NotRequired, TypedDict, get_args

from unweave.errors import UnweaveError
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.columns import quoted
from unweave.findings import Finding
from unweave.sentences import printable

Need = Literal["factors", "codes", "dense codes", "posterior", "decoder", "reference", "sampler", "nuisances", "target"]
Equivalence = Literal["orthogonal", "permutation and scale", "elementwise", "affine", "bijection", "any"]

PROPERTIES = (  # properties that metrics of the catalogue measure; a user's metric may state another one
    "one-to-one recovery",
    "linear identifiability",
    "explicitness",
    "modularity",
    "modularity and explicitness",
    "compactness",
    "compactness and explicitness",
    "informativeness",
    "independence",
    "invariance to nuisances",
    "size",
    "agreement of two decoders",
    "importance of latents",
    "orthogonality of latents",
    "entropy of the generated data",
)

Case = Literal["one factor", "one code"]
NamedChance = Literal["by permutation", "no pairing"]
Chance = float | NamedChance | Callable[[int, int, int], float]
ANY_KIND = frozenset(FactorKind)
UNBOUNDED = (-math.inf, math.inf)


@dataclass(frozen=True)
class Assumption:
    """An assumption of a score: a test whether the evidence satisfies it, and the caveat if it does not.

    The caveat is a `Finding` or a sentence.

    >>> enough = Assumption("There are fewer than 100 rows.", lambda evidence: evidence.n_rows >= 100)
    >>> enough.holds(Evidence([1.0, 2.0]))
    False
    """

    caveat: Finding | str
    holds: Callable[[Evidence], bool]


@dataclass(frozen=True)
class Variant:
    """The range, best score and chance level of a metric if an option has the given value.

    >>> Variant("normalise", False, bounds=(0.0, math.inf), best=math.inf, chance=0.0).option
    'normalise'
    """

    option: str
    value: object
    bounds: tuple[float, float]
    best: float
    chance: Chance


class MetricError(TypeError):
    """Raised for a metric that is declared incorrectly; the message states what is wrong and what to write instead.

    >>> import unweave
    >>> unweave.metric(bounds="hello")
    Traceback (most recent call last):
    unweave.card.card.MetricError: A card has bounds='hello': write two numbers, the lower one first.
    """


def check_card(card: Card) -> None:
    """Raise a `MetricError` for the first invalid field of the card."""
    check_fields(f"The card of {printable(card.name) if isinstance(card.name, str) else '?'}", vars(card))
    low, high = card.bounds
    if not (math.isnan(card.best) or low <= card.best <= high):
        raise MetricError(
            f"The card of {card.name} has best={card.best:g} outside its bounds, {low:g} to {high:g}: "
            "write a score within them, or math.nan if no score is better than another."
        )


def check_fields(whose: str, fields: dict[str, Any]) -> None:
    """Raise a `MetricError` for the first of these fields with an invalid value; each field is checked by itself."""
    for name, value in fields.items():
        makes_sense, expected = RULES[name]
        if not makes_sense(value):
            raise MetricError(f"{whose} has {name}={reprlib.repr(value)}: write {expected}.")
    measures = fields.get("measures")
    near = difflib.get_close_matches(measures, PROPERTIES, cutoff=0.9) if measures else []
    if near and measures not in PROPERTIES:
        raise MetricError(f"{whose} has measures={measures!r}: did you mean {near[0]!r}?")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole_from(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _are_moves(value: object) -> bool:
    return isinstance(value, tuple) and len(value) in (0, 3) and all(_is_number(each) and each >= 0 for each in value)


def _are_bounds(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value)) and value[0] < value[1]


def _is_chance(value: object) -> bool:
    return callable(value) or _is_number(value) or (isinstance(value, str) and value in get_args(NamedChance))


def _are_some_of(vocabulary: object) -> Callable[[object], bool]:
    return lambda value: isinstance(value, tuple) and set(value) <= set(get_args(vocabulary))


def _are(collection: type, kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, collection) and all(isinstance(entry, kind) for entry in value)  # type: ignore[attr-defined]


def _quoted_values(vocabulary: object) -> str:
    return ", ".join(map(repr, get_args(vocabulary)))


Rule = tuple[Callable[[Any], bool], str]
_TEXT: Rule = (_is_text, "a text that is not empty")
_TOLERANCE: Rule = (lambda value: _is_number(value) and value >= 0, "a number from 0")

RULES: dict[str, Rule] = {
    "name": _TEXT,
    "summary": (lambda value: isinstance(value, str), "a text"),  # empty if the function has no docstring
    "measures": (_is_text, "a property in a few words, such as 'compactness'"),
    "equivalence": (
        lambda value: isinstance(value, str) and value in get_args(Equivalence),
        f"one of {_quoted_values(Equivalence)}",
    ),
    "factor_kinds": (_are(frozenset, FactorKind), "a frozenset of FactorKind, such as ANY_KIND"),
    "needs": (_are_some_of(Need), f"a tuple of these: {_quoted_values(Need)}"),
    "min_rows": (_is_whole_from(0), "a whole number from 0"),
    "bounds": (_are_bounds, "two numbers, the lower one first"),
    "best": (_is_number, "a number, or math.nan if no score is better than another"),
    "chance": (_is_chance, f"a number, a function of n, m and d, or one of {_quoted_values(NamedChance)}"),
    "cost": _TEXT,
    "fails_when": _TEXT,
    "reference": _TEXT,
    "assumes": (_are(tuple, Assumption), "a tuple of Assumption"),
    "identity_tolerance": _TOLERANCE,
    "order_tolerance": _TOLERANCE,
    "moves_at_200_rows": (_are_moves, "three numbers from 0 for order, doubling and sign, or () if not measured"),
    "takes_factor_tables": (lambda value: isinstance(value, bool), "True or False"),
    "takes_sparse_codes": (lambda value: isinstance(value, bool), "True or False"),
    "factor_by_factor": (lambda value: isinstance(value, bool), "True or False"),
    "takes_code_groups": (lambda value: isinstance(value, bool), "True or False"),
    "no_blocks_because": _TEXT,
    "takes_factor_groups": (lambda value: isinstance(value, bool), "True or False"),
    "undefined_with": (_are_some_of(Case), f"a tuple of these: {_quoted_values(Case)}"),
    "variants": (_are(tuple, Variant), "a tuple of Variant"),
    "raw_range": (lambda value: isinstance(value, str), "a text, empty if raw scores lie within the bounds"),
    "version": (_is_whole_from(1), "a whole number from 1"),
}


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
    "nuisances": "pass nuisances= (--nuisances)",
    "target": "pass target=, the label of the task",
}


class MetricUndefined(UnweaveError):
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
    moves_at_200_rows: NotRequired[tuple[float, ...]]
    takes_factor_tables: NotRequired[bool]
    takes_sparse_codes: NotRequired[bool]
    takes_code_groups: NotRequired[bool]
    no_blocks_because: NotRequired[str]
    takes_factor_groups: NotRequired[bool]
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
    reordered (0 for metrics without a split or trees). ``moves_at_200_rows`` are the largest of 96 measured changes of
    the score of 200 rows: for rows in another order, for every row twice, and for codes with the opposite sign; it is
    empty if they were not measured. ``takes_factor_tables`` tells whether a factor may be a table of
    probabilities p(y | x); other metrics need labels. ``takes_sparse_codes`` tells whether codes may be a sparse
    matrix, and ``takes_code_groups`` and ``takes_factor_groups`` whether each group is one unit; ``no_blocks_because``
    says why groups of codes are refused where they are. ``factor_by_factor`` tells whether the score is the mean over
    factors of scores that each depend on one factor only, so that factors may be labelled on different rows.
    ``undefined_with`` names the cases, 'one factor' and 'one code', in which it is nan.
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
    moves_at_200_rows: tuple[float, ...] = ()
    takes_factor_tables: bool = False
    takes_sparse_codes: bool = False
    takes_code_groups: bool = False
    no_blocks_because: str = "it scores every code separately"
    takes_factor_groups: bool = False
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

    def _refused_block(self, evidence: Evidence) -> str:
        """A sentence if the metric scores codes or factors one by one and some are in blocks; otherwise empty."""
        of_codes = {"codes", "posterior"} & set(self.needs) and not self.takes_code_groups
        of_factors = "factors" in self.needs and not self.takes_factor_groups
        of_a_code = "code", evidence.code_groups, "mcc, r2, sap, mig or dci_disentanglement", self.no_blocks_because
        alone = "it is defined for factors of one number"
        of_a_factor = "factor", evidence.factor_groups, "mcc, r2, identification or unweave.recovery", alone
        for refused, (what, groups, use, reason) in ((of_codes, of_a_code), (of_factors, of_a_factor)):
            block = next((name for name, members in groups.items() if len(members) > 1), None) if refused else None
            if block is not None:
                return (
                    f"{self.name} takes no block of {what}s such as {quoted(block)}, because {reason}: "
                    f"use {use}, or pass the {what}s without blocks."
                )
        return ""

    def refusal(self, evidence: Evidence) -> str | None:
        """A sentence that states why the metric cannot be computed on this evidence, or None if it can."""
        need = self.lacking(evidence)
        if need is not None:
            return f"{self.name} needs {need}, and the evidence has none: {HOW_TO_GIVE[need]}."
        block = self._refused_block(evidence)
        if block:
            return block
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
            return "A score needs a factor that varies, and all are constant: pass samples in which they vary."
        return None


def _has(evidence: Evidence, need: Need) -> bool:
    """Whether the evidence has this input."""
    n_columns = {"factors": evidence.n_factors, "codes": evidence.n_codes, "nuisances": evidence.nuisances.shape[1]}
    if need in n_columns:
        return bool(n_columns[need])
    return getattr(evidence, need) is not None


@dataclass(frozen=True)
class CardDescription:
    """Description of a metric, with the bounds and the best score that apply to the options in use.

    Tables, pages and citations use it instead of the catalogue, so that a user's own metric is described by its own
    card, whatever its name.

    >>> from unweave.metrics import jemmig
    >>> CardDescription.of(jemmig.card, {}).lower_is_better
    True
    """

    name: str
    version: int
    summary: str
    measures: str
    reference: str
    fails_when: str
    needs: tuple[str, ...] = ()
    bounds: tuple[float, float] = (-math.inf, math.inf)
    best: float = math.nan

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the smallest one."""
        return self.best == self.bounds[0]

    @classmethod
    def of(cls, card: Card, options: Mapping[str, object]) -> CardDescription:
        """Description of the card for these options."""
        holding = card.under(options)
        return cls(
            name=card.name,
            version=card.version,
            summary=card.summary,
            measures=card.measures,
            reference=card.reference,
            fails_when=card.fails_when,
            needs=tuple(card.needs),
            bounds=(float(holding.bounds[0]), float(holding.bounds[1])),
            best=float(holding.best),
        )
