"""The findings of a diagnosis that are reported, with numbers and names, in the order in which they are shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unweave.findings import Finding
from unweave.trust.diagnosis.factor_dependence import PairDependence, PairKind

if TYPE_CHECKING:
    from unweave.responses.constraints import FunctionalConstraint
    from unweave.trust.diagnosis.record import Diagnosis

MOST_GROUPS = 4
MANY_CODES_PER_ROW = 0.1
RARE_CLASS = 0.02
NUISANCE_WORTH_SAYING = 0.1


def findings_of(found: Diagnosis) -> tuple[Finding, ...]:
    """Findings about sizes, factors, classes and codes, and notes on what was left out, in this order."""
    return (*_sizes(found), *_factors(found), *_classes(found), *_codes(found), *found.notes)


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
