"""Format numbers and lists of names, the same way in all sentences."""

from __future__ import annotations

from collections.abc import Sequence

MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"


def fixed(value: float | None, digits: int = 3) -> str:
    """A number with this many decimals; a dash for None.

    >>> fixed(0.12345), fixed(-1.5, 1), fixed(None)
    ('0.123', '−1.5', '–')
    """
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    is_zero = not any(digit in text for digit in "123456789")
    return text.replace("-", "" if is_zero else MINUS)


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


def verb(names: Sequence[str], one: str, many: str) -> str:
    """The singular or plural form of a verb, by the number of names.

    >>> verb(["x"], "varies", "vary"), verb(["x", "y"], "varies", "vary")
    ('varies', 'vary')
    """
    return one if len(names) == 1 else many


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
