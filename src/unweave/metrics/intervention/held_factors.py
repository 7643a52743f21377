"""Which factors are held fixed in turn, and whether there are enough rows for it."""

from __future__ import annotations

import functools

import numpy as np

from unweave.card import metric
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_HELD_ALONE
from unweave.metrics.intervention.comparable_codes import intervenes
from unweave.metrics.intervention.fixed_factors import FEW_ROWS, Plan, half_cells
from unweave.metrics.matrices import varying

Held = dict[int, tuple[int, ...]]

# fields of the card that the scores with fixed factors have in common
held_factor_metric = functools.partial(
    metric,
    measures="modularity",
    equivalence="elementwise",
    min_rows=100,
    chance=0.0,
    assumes=(FACTORS_HELD_ALONE,),
    order_tolerance=0.05,
    undefined_with=("one factor",),
)


def holdable(evidence: Evidence, held_of: Held, plan: Plan, seeds: range) -> tuple[Held, tuple[Finding, ...]]:
    """The factors for which batches can be made, and caveats about all other factors and about cells with few rows."""
    if intervenes(evidence):
        return held_of, ()
    sizes = {
        j: [
            [cell.size for cell in half_cells(evidence, held, half, plan.bins, plan.merge, seed)]
            for seed in seeds
            for half in (0, 1)
        ]
        for j, held in held_of.items()
    }
    good = {j: held for j, held in held_of.items() if all(sizes[j])}
    caveats = []
    if len(good) < len(held_of):
        names = [evidence.factor_names[j] for j in held_of if j not in good]
        caveats.append(Finding("factors_not_held", factors=names))
    typical = [np.median(np.concatenate(sizes[j])) for j in good]
    if typical and min(typical) < FEW_ROWS:
        caveats.append(Finding("few_rows_per_value", n_rows=min(typical), effect="batches alike"))
    return good, tuple(caveats)


def one_held(evidence: Evidence) -> Held:
    """For every factor that varies, the factors to hold fixed: this one alone."""
    return {j: (j,) for j in np.flatnonzero(varying(evidence)).tolist()}


def all_others_held(evidence: Evidence) -> Held:
    """For every factor that varies, the factors to hold fixed: all others that vary."""
    used = np.flatnonzero(varying(evidence)).tolist()
    return {j: tuple(k for k in used if k != j) for j in used}
