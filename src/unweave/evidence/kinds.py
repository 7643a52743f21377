"""The kind of a factor, which the user states or a rule infers."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError, OptionError
from unweave.estimators.totals import Role
from unweave.evidence.columns import Levels, Table, all_of, quoted
from unweave.sentences import printable

MOST_ORDINAL_LEVELS = 50

FIRST_ROWS = 200
FEWEST_ROWS_PER_LEVEL = 5


class FactorKind(StrEnum):
    """The four kinds of factor; the kind decides how every metric treats the column.

    Its properties answer what other modules ask about a kind, so that a new kind is added in this module alone.

    >>> FactorKind("ordinal")
    <FactorKind.ORDINAL: 'ordinal'>
    >>> FactorKind.ORDINAL.is_numeric, FactorKind.ORDINAL.has_classes
    (True, True)
    """

    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    CIRCULAR = "circular"

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers on a line, which can be ranked and averaged: continuous and ordinal."""
        return self in (FactorKind.CONTINUOUS, FactorKind.ORDINAL)

    @property
    def has_classes(self) -> bool:
        """Whether values repeat and are counted as they are, without bins: ordinal and categorical."""
        return self in (FactorKind.ORDINAL, FactorKind.CATEGORICAL)

    @property
    def is_continuous(self) -> bool:
        """Whether values are numbers on a line that hardly ever repeat."""
        return self is FactorKind.CONTINUOUS

    @property
    def is_categorical(self) -> bool:
        """Whether values are classes without an order."""
        return self is FactorKind.CATEGORICAL

    @property
    def is_circular(self) -> bool:
        """Whether values are angles, so that the largest is next to the smallest."""
        return self is FactorKind.CIRCULAR

    @property
    def role(self) -> Role:
        """How a pass over blocks of rows counts and sums the column."""
        roles: dict[FactorKind, Role] = {
            FactorKind.CONTINUOUS: "number",
            FactorKind.ORDINAL: "levels",
            FactorKind.CATEGORICAL: "categories",
            FactorKind.CIRCULAR: "circle",
        }
        return roles[self]


@dataclass(frozen=True)
class DeclaredKind:
    """A kind and, for circular factors, their period.

    >>> quarter_turns = DeclaredKind(FactorKind.CIRCULAR, 360.0)
    >>> quarter_turns.text, quarter_turns.target_columns(np.array([0.0, 90.0])).round(6).tolist()
    ('circular:360.0', [[1.0, 0.0], [0.0, 1.0]])
    """

    kind: FactorKind
    period: float = math.nan

    @property
    def text(self) -> str:
        """The kind as the string that `Evidence` accepts."""
        return f"{self.kind.value}:{self.period}" if self.kind.is_circular else self.kind.value

    def angle(self, column: FloatArray) -> FloatArray:
        """Values of a circular factor in radians."""
        return 2 * np.pi * column / self.period

    def share_of_circle(self, column: FloatArray) -> FloatArray:
        """Values of a circular factor as shares of the full circle, from 0 to 1."""
        return column / self.period % 1.0

    def target_columns(self, column: FloatArray) -> FloatArray:
        """Numeric columns (n x b) that a probe predicts: the values, cosine and sine, or indicators of the classes."""
        if self.kind.is_circular:
            angle = self.angle(column)
            return np.column_stack([np.cos(angle), np.sin(angle)])
        if self.kind.is_categorical:
            return (column[:, None] == np.unique(column)).astype(np.float64)
        return column[:, None]

    def from_target_columns(self, predicted: FloatArray, column: FloatArray) -> FloatArray:
        """Value that predicted target columns (n x b) of this column stand for: a number, an angle, or a class number.

        >>> DeclaredKind(FactorKind.CATEGORICAL).from_target_columns(np.array([[0.2, 0.7]]), np.array([5.0])).tolist()
        [1.0]
        """
        if self.kind.is_circular:  # angles start where those of the column do, so that bins of both can agree
            start = self.angle(column).min()
            return np.asarray(start + (np.arctan2(predicted[:, 1], predicted[:, 0]) - start) % (2 * np.pi))
        return predicted.argmax(axis=1).astype(np.float64) if self.kind.is_categorical else predicted[:, 0]


KindsGiven = str | FactorKind | Sequence[str] | Mapping[str, str] | None


def inferred_kind(column: FloatArray, is_text: bool) -> FactorKind:
    """Kind of a column, inferred from its values; the circular kind is never inferred.

    Text is categorical. A number is ordinal if it has at most 50 distinct values, which occur five times or more on
    average; every other number is continuous.

    >>> inferred_kind(np.repeat([0.0, 1.0, 2.0], 10), is_text=False)
    <FactorKind.ORDINAL: 'ordinal'>
    >>> inferred_kind(np.linspace(0, 1, 30), is_text=False)
    <FactorKind.CONTINUOUS: 'continuous'>
    """
    if is_text:
        return FactorKind.CATEGORICAL
    if _many_levels_first(column[:, None])[0]:
        return FactorKind.CONTINUOUS
    n_levels = np.unique(column).size
    few = n_levels <= MOST_ORDINAL_LEVELS and n_levels * FEWEST_ROWS_PER_LEVEL <= column.size
    return FactorKind.ORDINAL if few else FactorKind.CONTINUOUS


def _many_levels_first(columns: FloatArray) -> NDArray[np.bool_]:
    """Whether the first rows alone have more levels than an ordinal factor, which most continuous columns do."""
    first = np.sort(columns[:FIRST_ROWS], axis=0)
    return np.count_nonzero(first[1:] != first[:-1], axis=0) >= MOST_ORDINAL_LEVELS


def resolved_kinds(
    values: FloatArray,
    names: tuple[str, ...],
    is_text: tuple[bool, ...],
    given: KindsGiven,
    tables: Container[str] = (),
    complete: bool = False,
) -> tuple[DeclaredKind, ...]:
    """One kind per factor: the one that the user stated, or else the inferred one; missing values are ignored.

    Tables of probabilities are categorical. ``complete`` says that no value is missing.
    """
    stated = _given_by_name(names, given)
    many = _many_levels_first(values) if complete else np.zeros(len(names), dtype=bool)

    def kind_of(j: int, name: str) -> DeclaredKind:
        if name in tables:
            return DeclaredKind(FactorKind.CATEGORICAL)
        if many[j] and not is_text[j] and name not in stated:
            return DeclaredKind(FactorKind.CONTINUOUS)
        column = values[:, j]
        if not complete and (missing := np.isnan(column)).any():
            column = column[~missing]
        declared = stated.get(name) or DeclaredKind(inferred_kind(column, is_text[j]))
        if is_text[j] and not declared.kind.is_categorical:
            raise InputError(
                f"Factor {quoted(name)} contains text, so it cannot be {declared.kind.value}: "
                "turn it into numbers in the order you mean, or declare it categorical."
            )
        if declared.kind.is_circular:
            _check_period(name, column, declared.period)
        if declared.kind.is_categorical:
            _refuse_identifier(name, column, is_text[j])
        return declared

    return tuple(all_of(*(partial(kind_of, j, name) for j, name in enumerate(names))))


def _given_by_name(names: tuple[str, ...], given: KindsGiven) -> dict[str, DeclaredKind]:
    return {name: _parsed(text) for name, text in _texts_by_name(names, given).items()}


def _texts_by_name(names: tuple[str, ...], given: KindsGiven) -> Mapping[str, object]:
    if given is None:
        return {}
    given = given.item() if isinstance(given, np.ndarray) and not given.ndim else given
    if isinstance(given, str) or not isinstance(given, Iterable):
        return dict.fromkeys(names, given)
    if isinstance(given, Mapping):
        stated = {printable(name): text for name, text in given.items()}
        unknown = [name for name in stated if name not in names]
        if unknown:
            known = ", ".join(map(quoted, names[:8])) + (" and others" if len(names) > 8 else "")
            raise OptionError(f"kinds names {quoted(unknown[0])}, but the factors are {known}: use these names.")
        return stated
    given = list(given)
    if len(given) != len(names):
        raise InputError(
            f"kinds is a list of {len(given)} for {len(names)} factors: write kinds="
            f"{quoted((*map(str, given), 'continuous')[0])} for all of them, a list of {len(names)}, or a mapping from "
            "factor names."
        )
    return dict(zip(names, given, strict=True))


def _parsed(text: object) -> DeclaredKind:
    """Kind from text such as 'ordinal', 'ordinal:low<mid<high', 'circular' (radians) or 'circular:360' (the period)."""
    word, _, period = str(text).partition(":")
    try:
        kind = FactorKind(word.strip().lower())
        if kind is FactorKind.ORDINAL and len(_order_in(text)) > 1:
            return DeclaredKind(kind)
        if period and not kind.is_circular:
            raise ValueError
        length = float(period) if period else 2 * math.pi
        if not (math.isfinite(length) and length > 0):
            raise ValueError
    except ValueError:
        raise InputError(
            f"{quoted(text)} is not a kind of factor: use continuous, ordinal, categorical, circular (radians), "
            "circular:PERIOD, such as circular:360, or for text with an order, ordinal:low<mid<high."
        ) from None
    return DeclaredKind(kind, length) if kind.is_circular else DeclaredKind(kind)


def _check_period(name: str, column: FloatArray, period: float) -> None:
    span = float(column.max() - column.min()) if column.size else 0.0
    if span > period * (1 + 1e-9):
        raise InputError(
            f"Factor {quoted(name)} is circular with period {period:.6g}, but its values span {span:.6g}: "
            "state the period in its own units, such as circular:360 for degrees."
        )


def _refuse_identifier(name: str, column: FloatArray, is_text: bool) -> None:
    """Raise an error for categorical factors whose values hardly ever repeat, such as file names."""
    n_levels = np.unique(column).size
    if n_levels > MOST_ORDINAL_LEVELS and 2 * n_levels > column.size:
        raise InputError(
            f"Factor {quoted(name)} is categorical with {n_levels} values in {column.size} rows: leave it out if it "
            f"is an identifier, or {'make it numbers' if is_text else 'declare it continuous'} if it is a number."
        )


def _order_in(text: object) -> Levels:
    """Levels from the lowest to the highest in a kind such as 'ordinal:low<mid<high'; empty if it states none."""
    _, _, order = str(text).partition(":")
    return tuple(level.strip() for level in order.split("<")) if "<" in order else ()


def in_stated_order(factors: Table, given: KindsGiven) -> Table:
    """The factors, with texts as numbers from 0 in the order that their kind states, such as 'ordinal:low<mid<high'.

    >>> from unweave.evidence.columns import read_table
    >>> light = read_table({"light": ["mid", "low", "high"]}, "factor")
    >>> in_stated_order(light, {"light": "ordinal:low<mid<high"}).values[:, 0].tolist()
    [1.0, 0.0, 2.0]
    """
    if given is None or not (any(factors.is_text) or "<" in str(given)):
        return factors
    values, all_levels = factors.values.copy(order="F"), list(factors.levels)
    for name, text in _texts_by_name(factors.names, given).items():
        j = factors.names.index(name)
        levels, order = factors.levels[j], _order_in(text)
        if _parsed(text).kind is not FactorKind.ORDINAL or not (levels or order):
            continue
        if not levels:
            raise InputError(
                f"Factor {quoted(name)} has numbers, whose order is that of their values: write 'ordinal'."
            )
        if not order:
            example = "<".join(looks_ordered(levels) or levels[:6])
            raise InputError(
                f"Factor {quoted(name)} contains text, so ordinal needs the order of its levels: write "
                f"kinds={{{name!r}: {'ordinal:' + example!r}}} (--kinds {f'{name}=ordinal:{example}'!r}) in the order "
                "you mean, or declare it categorical."
            )
        left_out = [level for level in levels if level not in order]
        if left_out or len({*order}) < len(order):
            problem = f"leaves out {quoted(left_out[0])}" if left_out else "names a level twice"
            raise InputError(f"The order of factor {quoted(name)} {problem}: name each of its levels once.")
        places = np.array([order.index(level) for level in levels], dtype=np.float64)
        labelled = ~np.isnan(values[:, j])
        values[labelled, j] = places[values[labelled, j].astype(np.intp)]
        all_levels[j] = None
    return replace(factors, values=values, levels=tuple(all_levels))


SCALES = (  # from low to high; several words for one place are separated by bars
    "none|no|absent, very low, low, mid|middle|medium|moderate|normal|average, high, very high",
    "tiny|very small, small, mid|middle|medium|normal|average, large|big, very large|huge",
    "xxs, xs, s, m, l, xl, xxl, xxxl",
    "never, rarely|seldom, sometimes|occasionally, often|frequently, usually|mostly, always",
    "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth",
    "one, two, three, four, five, six, seven, eight, nine, ten",
    "none|no|absent, mild|weak|slight, moderate|medium, severe|strong",
    "strongly disagree, disagree, neutral|undecided, agree, strongly agree",
    "very bad|very poor, bad|poor, fair|ok|average, good, very good, excellent",
    "cold, cool, warm, hot",
    "slow, medium|normal, fast",
    "short, medium|normal, long|tall",
    "thin, medium|normal, thick",
    "dark, dim|medium|normal, bright",
    "easy, medium|normal, hard|difficult",
    "early, mid|middle, late",
    "young, middle aged|adult, old",
)
NUMBERED = re.compile(r"(grade|stage|level|step|phase|hour|day|week|year)s? ?(\d+)$")


def looks_ordered(levels: Levels) -> Levels:
    """Three or more levels in the order that their words have; empty if these are no words of one scale.

    >>> looks_ordered(("High", "Low", "mid")), looks_ordered(("day 10", "day 2", "day 7"))
    (('Low', 'mid', 'High'), ('day 2', 'day 7', 'day 10'))
    >>> looks_ordered(("metal", "plastic", "wood"))
    ()
    """
    words = {" ".join(re.split(r"[\s_-]+", level.strip().casefold())): level for level in levels}
    if not 3 <= len(words) == len(levels) <= MOST_ORDINAL_LEVELS:
        return ()
    numbered = [match for word in words if (match := NUMBERED.match(word))]
    if len(numbered) == len(words) and len({match[1] for match in numbered}) == 1:
        return tuple(words[match[0]] for match in sorted(numbered, key=lambda match: int(match[2])))
    for scale in SCALES:
        place = {word: k for k, step in enumerate(scale.split(", ")) for word in step.split("|")}
        if len({place.get(word) for word in words} - {None}) == len(words):
            return tuple(words[word] for word in sorted(words, key=place.__getitem__))
    return ()
