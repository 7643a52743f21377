"""Sentences are data: fill in the templates of `sentences.toml`, and format numbers and names the same way everywhere.

The head of that file describes the fields. A kind of finding is the key of its template in the section ``[findings]``;
``say`` states the other sentences, in the section ``[answers]``.
"""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "=": operator.eq, "-": operator.sub}


def printable(name: object) -> str:
    """A name as one line of text without characters that control a terminal or the direction of writing.

    >>> printable("a\\nb"), printable("size")
    ('a b', 'size')
    """
    text = str(name)
    if text.isprintable():
        return text
    return CONTROL.sub(lambda found: " " if found[0] in "\n\r\t\f" else "\ufffd", text)


def fixed(value: float | None, digits: int = 3) -> str:
    """A number with this many decimals; a dash for None.

    >>> fixed(0.12345), fixed(-1.5, 1), fixed(-0.0001), fixed(float("-inf")), fixed(None)
    ('0.123', '−1.5', '0.000', '−inf', '–')
    """
    if value is None:
        return NOTHING
    value = float(value)  # plain data have infinite numbers as text
    text = f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    is_zero = value == 0 or (abs(value) < 1 and not any(digit in text for digit in "123456789"))
    return text.replace("-", "" if is_zero else MINUS)


def between(low: float | None, high: float | None, digits: int = 2) -> str:
    """An interval; one that has no width after rounding is not written as 0.00 to 0.00.

    >>> between(0.1, 0.2), between(0.0, 0.001), between(0.996, 1.0), between(-0.001, 0.0001, 3)
    ('0.10 to 0.20', '< 0.005', '> 0.995', '−0.001 to 0.000')
    """
    low_text, high_text = fixed(low, digits), fixed(high, digits)
    half = 0.5 * 10**-digits
    if low_text == high_text in (fixed(0, digits), fixed(1, digits)):
        return f"< {half:g}" if high_text == fixed(0, digits) else f"> {1 - half:g}"
    return f"{low_text} to {high_text}"


def brief(value: float) -> str:
    """A number with about three significant digits.

    >>> brief(3.0), brief(0.6234), brief(-1234.5), brief(0.00012)
    ('3', '0.623', '−1,234', '0.00012')
    """
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", MINUS)
    return (f"{value:.2g}" if abs(value) < 0.0005 else f"{value:.3g}").replace("-", MINUS)


def counted(n: int, noun: str) -> str:
    """A number with a noun in singular or plural.

    >>> counted(1, "code"), counted(12000, "row")
    ('1 code', '12,000 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def p_value(value: float | None, resolution: float | None) -> str:
    """A p-value; the smallest possible one, ``resolution``, is written as an upper bound.

    >>> p_value(0.005, 0.005), p_value(0.2, 0.005)
    ('≤ 0.005', '0.200')
    """
    at_bound = value is not None and resolution is not None and value <= resolution * (1 + 1e-9)
    return f"≤ {fixed(value)}" if at_bound else fixed(value)


def listed(names: Sequence[str], at_most: int = 6) -> str:
    """A list of names with commas and 'and'; names after the first ``at_most`` are counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], at_most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(names) > at_most:
        return f"{', '.join(names[:at_most])} and {len(names) - at_most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def number(value: float) -> str:
    """A number with two decimals and no trailing zeros; below 0.1 with two significant digits.

    >>> number(1.25), number(1200.0), number(0.0123)
    ('1.25', '1,200', '0.012')
    """
    return f"{value:.2g}" if value < 0.1 else f"{value:,.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share in per cent, with two significant digits.

    >>> percent(0.123), percent(0.00001)
    ('12 %', 'less than .01 %')
    """
    return "less than .01 %" if share < 1e-4 else f"{100 * share:.2g} %"


@cache
def templates() -> dict[str, dict[str, Any]]:
    """The sections of `sentences.toml`; the file is read at first use."""
    return tomllib.loads(files("unweave").joinpath("sentences.toml").read_text(encoding="utf-8"))


def texts(table: str) -> Mapping[str, str]:
    """A table of texts by key, such as 'asks': what each property of an audit asks of a metric.

    >>> texts("asks")["P3"]
    'does not change with the number of codes'
    """
    return templates()["tables"][table]


def say(name: str, /, **values: object) -> str:
    """The sentence of this name in the section ``[answers]``.

    >>> say("note_of", reason="absent"), say("all_absent", n=2)
    ('no probe reads it', 'Both factors are absent from the codes.')
    """
    return filled(templates()["answers"][name], values)


def filled(template: str, values: Mapping[str, Any]) -> str:
    """A template with its fields filled in.

    >>> filled("{n:count row} {n:was|were} dropped{names:? from {names:list}}.", {"n": 2, "names": ["a", "b"]})
    '2 rows were dropped from a and b.'
    """
    parts = []
    for text, field, form, conversion in Formatter().parse(template):
        parts.append(text)
        if field is not None:
            value = _value(field, values)
            parts.append(repr(value) if conversion == "r" else _formatted(value, form or "", values))
    return "".join(parts)


def _value(field: str, values: Mapping[str, Any]) -> Any:
    operation = re.fullmatch(r"(\w+)([<=-])(\w+)", field)
    if operation is None:
        return values[field]
    first, second = (int(name) if name.isdigit() else values[name] for name in operation.group(1, 3))
    return _OPERATIONS[operation[2]](first, second)


def _formatted(value: Any, form: str, values: Mapping[str, Any]) -> str:
    n = len(value) if isinstance(value, list | tuple) else value
    word, _, rest = form.partition(" ")
    if form.startswith("?"):
        return filled(_alternatives(form[1:])[0 if value else 1], values)
    if word == "count":
        return counted(n, rest)
    if word == "list":
        return listed(value, int(rest or 6))
    if word == "of":
        return filled(texts(rest)[value], values) if value in texts(rest) else str(value)
    if word == "each":
        return listed([texts(rest)[key] for key in value.split(", ")])
    if word == "percent":
        return f"{100 * value:{rest}} %" if rest else percent(value)
    if word == "fixed":
        return fixed(value, int(rest))
    if word == "number":
        return filled(_alternatives(rest)[0 if number(value) == "1" else 1], values) if rest else number(value)
    one, many = _alternatives(form)
    return filled(one if n == 1 else many, values) if many else format(value, form)


def _alternatives(text: str) -> tuple[str, str]:
    """The parts before and after the first '|' outside of braces."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "|" and not depth:
            return text[:k], text[k + 1 :]
    return text, ""


def reported_score(
    metric: str,
    value: float,
    low: float | None,
    high: float | None,
    confidence: float | None,
    noise: float | None,
    part: str = "",
) -> str:
    """A score as a paper states it.

    >>> reported_score("r2", 0.5, 0.4, 0.6, 0.95, 0.01)
    'r2 is 0.50 (95 % interval 0.40 to 0.60; random codes score 0.01)'
    """
    beside = [part] if part else []
    if low is not None and high is not None:
        beside.append(say("reported_interval", confidence=confidence, low=low, high=high))
    if noise is not None:
        beside.append(say("reported_noise", noise=noise))
    return say("reported_score", metric=metric, value=value, beside="; ".join(beside))
