"""A diagnosis in plain words: short sentences with numbers, and the section of 003 that each matters for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.trust.diagnosis.factor_dependence import PairKind

if TYPE_CHECKING:
    from unweave.responses.constraints import FunctionalConstraint
    from unweave.trust.diagnosis.record import Diagnosis

MOST_NAMES = 4
MANY_CODES_PER_ROW = 0.1
RARE_CLASS = 0.02
NUISANCE_WORTH_SAYING = 0.1


def diagnosis_in_words(found: Diagnosis) -> list[str]:
    """Sizes first, then factors, then codes, then what was left out."""
    parts = (_sizes(found), _factors(found), _classes(found), _codes(found), list(found.notes))
    return [sentence for part in parts for sentence in part]


def _sizes(found: Diagnosis) -> list[str]:
    n, d, m = found.n_rows, found.n_factors, found.n_codes
    said = [f"{_counted(n, 'row')}, {_counted(d, 'factor')}, {_counted(m, 'code')}."]
    if m and n and found.codes_per_row > MANY_CODES_PER_ROW:
        best = "an unrelated code" if m == 1 else f"the best of {m:,} unrelated codes"
        per_row = _number(found.codes_per_row)
        there_are = "There is 1 code" if per_row == "1" else f"There are {per_row} codes"
        said.append(
            f"{there_are} per row: {best} correlates "
            f"{found.chance_correlation:.2f} or more with a factor by chance (003, 3.4)."
        )
    if m and d and m != d:
        which = "more codes than factors (003, 3.3)" if m > d else "fewer codes than factors (003, 3.2)"
        said.append(f"m/d is {_number(found.codes_per_factor)}: {which}.")
    return said


def _factors(found: Diagnosis) -> list[str]:
    said = []
    if found.constant_factors:
        said.append(f"{_listed(found.constant_factors)} never {_verb(found.constant_factors, 'varies', 'vary')}.")
    if math.isnan(found.effective_dimension):
        return said
    n_varying = int(found.effective_dimension) + len(found.constraints)
    for constraint in found.constraints:
        said.append(_constraint(constraint))
    if found.constraints:
        vary = "varies" if found.effective_dimension == 1 else "vary"
        said.append(
            f"{int(found.effective_dimension)} of {_counted(n_varying, 'factor')} {vary} freely: codes that leave out "
            f"{_listed(found.redundant_factors)} lose nothing, though most metrics say so (003, 3.2)."
        )
    if found.dependent_pairs:
        said += _pairs(found)
    elif n_varying > 1 and not found.constraints:
        how = "" if math.isnan(found.max_correlation) else f": no correlation is above {found.max_correlation:.2f}"
        said.append(f"The factors look independent{how}.")
    return said


def _constraint(constraint: FunctionalConstraint) -> str:
    how = "and the other way round" if constraint.invertible else "which it does not give back"
    by = f"{constraint.by[0]}, {how}" if constraint.is_single else f"{_listed(constraint.by)} together"
    section = "" if constraint.is_single else "; no measure of pairs sees that"
    return (
        f"{constraint.determined} is a function of {by}: {_percent(constraint.open_share)} of it is left open"
        f"{section} (003, 3.2)."
    )


def _pairs(found: Diagnosis) -> list[str]:
    said = []
    told = [{constraint.determined, *constraint.by} for constraint in found.constraints if constraint.is_single]
    others = [pair for pair in found.dependent_pairs if set(pair.factors) not in told]
    for kind, words in (
        (PairKind.LINEAR, "are correlated"),
        (PairKind.ASSOCIATED, "are associated"),
        (PairKind.NONLINEAR, "depend on each other beyond any line"),
    ):
        pairs = [pair for pair in others if pair.kind is kind]
        if not pairs:
            continue
        first = pairs[0]
        if kind is PairKind.LINEAR:
            first = max(pairs, key=lambda pair: abs(pair.correlation))
            strength = f"{first.correlation:.2f}"
        elif kind is PairKind.NONLINEAR:
            strength = f"correlation {first.correlation:.2f}, of the best functions {first.strength:.2f}"
        else:
            strength = f"{first.strength:.2f}"
        count = _counted(len(pairs), "pair")
        what = f"{count} of factors {words}" if len(pairs) > 1 else f"One pair of factors {_one(words)}"
        lead = "most" if len(pairs) > 1 else "namely"
        said.append(f"{what}, {lead} {' and '.join(first.factors)} ({strength}) (003, 3.1).")
    return said


def _classes(found: Diagnosis) -> list[str]:
    rare = [name for name, balance in found.class_balance.items() if balance.smallest_share < RARE_CLASS]
    if not rare:
        return []
    worst = min(rare, key=lambda name: found.class_balance[name].smallest_share)
    share = found.class_balance[worst].smallest_share
    return [f"{_listed(rare)}: some values are rare, down to {100 * share:.2g} % of the rows ({worst})."]


def _codes(found: Diagnosis) -> list[str]:
    said = []
    if found.dead_codes:
        verb = _verb(found.dead_codes, "varies", "vary")
        said.append(f"{_counted(len(found.dead_codes), 'code')} never {verb}: {_listed(found.dead_codes)}.")
    if found.duplicated_codes:
        groups = _listed([" = ".join(_cut(group)) for group in found.duplicated_codes])
        said.append(
            f"{100 * found.duplicated_share:.3g} % of the living codes repeat another one up to a monotone map, which "
            f"leaves {found.n_distinct_codes}: {groups} (003, 3.3)."
        )
    if found.heavy_tailed_codes:
        worst = max(found.heavy_tailed_codes, key=lambda name: found.heavy_tailed_codes[name])
        said.append(
            f"{_counted(len(found.heavy_tailed_codes), 'code')} with heavy tails, the heaviest {worst} (kurtosis "
            f"{found.heavy_tailed_codes[worst]:.0f}; a normal one has 3): prefer ranks to linear correlation."
        )
    if found.nuisance_share > NUISANCE_WORTH_SAYING:
        noise = [name for name, share in found.nuisance_per_code.items() if share > 1 - NUISANCE_WORTH_SAYING]
        some = f"; {_counted(len(noise), 'code')} almost wholly: {_listed(noise)}" if noise else ""
        said.append(f"{100 * found.nuisance_share:.0f} % of the codes' variance is explained by no factor{some}.")
    return said


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _number(number: float) -> str:
    """Two decimals without idle zeros; two digits of what is small."""
    return f"{number:.2g}" if number < 0.1 else f"{number:,.2f}".rstrip("0").rstrip(".")


def _percent(share: float) -> str:
    return "less than .01 %" if share < 1e-4 else f"{100 * share:.2g} %"


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def _one(words: str) -> str:
    return words.replace("are ", "is ", 1).replace("depend ", "depends ", 1)


def _cut(names: Sequence[str]) -> list[str]:
    more = len(names) - MOST_NAMES
    return list(names) if more <= 0 else [*names[:MOST_NAMES], f"{more} more"]


def _listed(names: Sequence[str]) -> str:
    """Names with commas and an 'and', the first few of many."""
    shown = _cut(names)
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
