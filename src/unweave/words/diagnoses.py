"""Sentences that describe the data: sizes, dependence of the factors, state of the codes, and what was not examined."""

from __future__ import annotations

from unweave.words.phrases import counted, listed, number, percent, verb

NAMES = 4  # largest number of names in a list


def data_sizes(n_rows: int, n_factors: int, n_codes: int) -> str:
    """Numbers of rows, factors and codes."""
    return f"{counted(n_rows, 'row')}, {counted(n_factors, 'factor')}, {counted(n_codes, 'code')}."


def codes_crowd_rows(n_codes: int, codes_per_row: float, correlation: float) -> str:
    """So many codes per row that some code correlates with a factor by chance."""
    best = "an unrelated code" if n_codes == 1 else f"the best of {n_codes:,} unrelated codes"
    per_row = number(codes_per_row)
    there_are = "There is 1 code" if per_row == "1" else f"There are {per_row} codes"
    return f"{there_are} per row: {best} correlates {correlation:.2f} or more with a factor by chance (003, 3.4)."


def codes_and_factors_differ(codes_per_factor: float) -> str:
    """More or fewer codes than factors."""
    which = "more codes than factors (003, 3.3)" if codes_per_factor > 1 else "fewer codes than factors (003, 3.2)"
    return f"m/d is {number(codes_per_factor)}: {which}."


def factors_never_vary(factors: tuple[str, ...]) -> str:
    """Constant factors."""
    return f"{_few(factors)} never {verb(factors, 'varies', 'vary')}."


def factor_function_of_one(other: str, open_share: float, invertible: bool, factors: tuple[str, ...]) -> str:
    """A factor that is a function of one other factor."""
    how = "and vice versa" if invertible else "but not vice versa"
    return (
        f"{factors[0]} is a function of {other}, {how}: {percent(open_share)} of its variance is unexplained "
        "(003, 3.2)."
    )


def factor_function_of_several(others: str, open_share: float, factors: tuple[str, ...]) -> str:
    """A factor that is a function of several other factors."""
    return (
        f"{factors[0]} is a function of {others} together: {percent(open_share)} of its variance is unexplained; no "
        "measure of pairs shows this (003, 3.2)."
    )


def free_factors(n_free: int, n_varying: int, factors: tuple[str, ...]) -> str:
    """How many factors are not determined by others."""
    vary = "varies" if n_free == 1 else "vary"
    return (
        f"{n_free} of {counted(n_varying, 'factor')} {vary} freely: codes without {_few(factors)} lose no information, "
        "although most metrics score them lower (003, 3.2)."
    )


def factors_independent(correlation: float) -> str:
    """No dependence between factors was found; ``correlation`` is the largest one, or nan if none was measured."""
    how = "" if correlation != correlation else f": no correlation is above {correlation:.2f}"  # true for nan only
    return f"The factors look independent{how}."


def pairs_correlated(n_pairs: int, correlation: float, factors: tuple[str, ...]) -> str:
    """Number of pairs of factors that are correlated, with the pair of largest correlation."""
    return _pairs(n_pairs, ("is correlated", "are correlated"), factors, f"{correlation:.2f}")


def pairs_associated(n_pairs: int, strength: float, factors: tuple[str, ...]) -> str:
    """Number of pairs of factors that are associated, at least one of each pair being categorical."""
    return _pairs(n_pairs, ("is associated", "are associated"), factors, f"{strength:.2f}")


def pairs_nonlinear(n_pairs: int, correlation: float, strength: float, factors: tuple[str, ...]) -> str:
    """Number of pairs of factors with a nonlinear dependence."""
    measured = f"correlation {correlation:.2f}, of the best functions {strength:.2f}"
    forms = "depends on each other nonlinearly", "depend on each other nonlinearly"
    return _pairs(n_pairs, forms, factors, measured)


def classes_rare(share: float, rarest: str, factors: tuple[str, ...]) -> str:
    """Factors with values that occur in few rows."""
    return f"Some values of {_few(factors)} are rare, down to {100 * share:.2g} % of the rows ({rarest})."


def codes_never_vary(codes: tuple[str, ...]) -> str:
    """Codes that are constant or have collapsed."""
    return f"{counted(len(codes), 'code')} {verb(codes, 'is', 'are')} constant or collapsed: {_few(codes)}."


def codes_duplicated(share: float, n_distinct: int, groups: str) -> str:
    """Share of the codes that are monotone functions of another code."""
    return (
        f"{100 * share:.3g} % of the codes that vary are monotone functions of another one, which leaves "
        f"{n_distinct} distinct codes: {groups} (003, 3.3)."
    )


def codes_heavy_tailed(kurtosis: float, worst: str, codes: tuple[str, ...]) -> str:
    """Codes with heavy tails."""
    return (
        f"{counted(len(codes), 'code')} {verb(codes, 'has', 'have')} heavy tails, most of all {worst} (kurtosis "
        f"{kurtosis:.0f}; a normal distribution has 3): prefer rank correlation to linear correlation."
    )


def codes_unexplained(share: float, codes: tuple[str, ...] = ()) -> str:
    """Variance of the codes that the factors do not explain."""
    some = f"; {counted(len(codes), 'code')} almost completely: {_few(codes)}" if codes else ""
    return f"{100 * share:.0f} % of the codes' variance is not explained by any factor{some}."


def too_few_rows_to_diagnose(n_rows: int, needed: int) -> str:
    """Too few rows to diagnose dependence, dimension and explained variance."""
    return (
        f"{counted(n_rows, 'separate row')} {'is' if n_rows == 1 else 'are'} too few to measure dependence, effective "
        f"dimension or the variance of the codes that the factors explain: {needed} are needed."
    )


def constraints_may_be_missed(n_rows: int) -> str:
    """Too few rows for a complete search for constraints between several factors."""
    return (
        f"With {counted(n_rows, 'row')}, constraints of several factors other than sums and products may not be found."
    )


def one_row_per_group(n_groups: int) -> str:
    """One row of every row group is examined, because rows of a group are not independent."""
    each = "the only row group" if n_groups == 1 else f"each of the {n_groups:,} row groups"
    return f"One row of {each} is examined, because rows of a group are not independent."


def rows_follow_each_other(lag_of_factors: float, lag_of_codes: float, n_rows: int, n_effective: float) -> str:
    """Rows that are autocorrelated, as in a time series."""
    return (
        f"Rows are autocorrelated (lag-1 correlation of factors {lag_of_factors:.2f}, of codes {lag_of_codes:.2f}): "
        f"{n_rows:,} rows are worth about {n_effective:,.0f} independent rows. Metrics that split rows at random have "
        "nearly the same rows in training and test: pass row_groups with the video or stretch of each row."
    )


def rows_come_again(n_rows: int, n_distinct: int) -> str:
    """Rows that occur several times."""
    return (
        f"Only {n_distinct:,} of {n_rows:,} rows differ in factors and codes. Scores of repeated rows are too high "
        "where rows are split at random: leave repeats out, or pass row_groups with one label for equal rows."
    )


def rows_examined(n_rows: int, of: int) -> str:
    """Only a random sample of the rows is examined."""
    return f"{n_rows:,} of {of:,} rows are examined, drawn at random."


def repeated_rows(n_rows: int) -> str:
    """Rows that are not examined, because another row has the same factors."""
    return (
        f"{counted(n_rows, 'row')} {'is' if n_rows == 1 else 'are'} not examined, because another row has the same "
        "factors."
    )


def factors_constant_in_part(factors: tuple[str, ...]) -> str:
    """Factors that vary, but are constant on the rows that are examined."""
    return (
        f"{_few(factors)} {verb(factors, 'is', 'are')} constant on the rows examined, and left out of dependence and "
        "dimension."
    )


def values_repeated(factors: tuple[str, ...]) -> str:
    """Factors whose values are repeated often, so that rows may belong to groups that were not stated."""
    return (
        f"Values of {_few(factors)} are repeated often: if rows of one subject or video share them, pass row_groups, "
        "because factors may otherwise seem to determine each other."
    )


def factors_not_examined(n_varying: int, n_examined: int) -> str:
    """So many factors that only the first ones are examined."""
    return f"{n_varying} factors vary, and dependence and dimension are measured for the first {n_examined} only."


def codes_examined(n_codes: int, of: int) -> str:
    """Unexplained variance is measured for some of the codes only."""
    return f"The unexplained share of variance is measured for {n_codes} of {of} codes, evenly spaced."


def _pairs(n_pairs: int, forms: tuple[str, str], first: tuple[str, ...], measured: str) -> str:
    what = f"{counted(n_pairs, 'pair')} of factors {forms[1]}" if n_pairs > 1 else f"One pair of factors {forms[0]}"
    return f"{what}, {'most' if n_pairs > 1 else 'namely'} {' and '.join(first)} ({measured}) (003, 3.1)."


def _few(names: tuple[str, ...]) -> str:
    return listed(names, at_most=NAMES)
