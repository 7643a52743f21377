"""The steps that apply to a data set: evidence with an effect and without it.

Redundant factors and redundant codes are removed from the observed data. For independent factors, new codes are drawn:
by the sampler of the evidence where there is one, and otherwise from models of what the codes respond to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unweave.evidence import Evidence
from unweave.randomness import random_stream
from unweave.trust.counterpart.counterpart import ENOUGH_ROWS, Counterpart, Where, stated_kind, with_factors
from unweave.trust.counterpart.real_interventions import independent_draws
from unweave.trust.diagnosis.diagnosis import Diagnosis
from unweave.trust.effects import CheckStep, Draws, Steps

N_DRAWS = 5
FEW_DRAWS = 2


def steps_of(evidence: Evidence, diagnosis: Diagnosis, *, seed: int = 0) -> Steps:
    """The steps that apply to these data, which are those with something to remove.

    Redundant factors that no code responds to are removed. Redundant factors that some code responds to are varied
    freely in the step to independent factors.
    """
    free, set_free, counterpart = _free_factors(evidence, diagnosis, seed)
    steps = [CheckStep("redundant factors", (evidence,), (free,))] if free.n_factors < evidence.n_factors else []
    lighter = (without_codes(evidence, diagnosis.dead_codes),) if _some_collapsed(evidence, diagnosis) else ()
    dependent, few = bool(set_free or diagnosis.free_pairs), evidence.n_rows < ENOUGH_ROWS
    extra = counterpart.redundant_codes() > 0
    if not (dependent or extra or few):
        return Steps(tuple(steps), without_collapsed=lighter, observed=evidence)
    draws = _Draw(counterpart, seed)
    drawn = independent_draws(evidence, free.factor_names, FEW_DRAWS, seed) if dependent else ()
    where: Where = "elsewhere" if dependent and not drawn else "as it is"
    if dependent:
        steps.append(_dependence_step(free, drawn, draws, FEW_DRAWS if few or extra else N_DRAWS))
    if extra:
        steps.append(_codes_step(draws, where, FEW_DRAWS if few else N_DRAWS))
    if few:
        steps.append(CheckStep("number of rows", draws(N_DRAWS, same_rows=True), draws(N_DRAWS), modelled=True))
    real = draws(1, where="as it is", same_codes=True, same_rows=True)
    control = draws(FEW_DRAWS, where="here", same_codes=True) if any(step.modelled for step in steps) else ()
    halves = _halves(evidence, seed) if few else ()
    return Steps(tuple(steps), real, control, lighter, halves, counterpart.each_factor_told, evidence, set_free)


def _free_factors(evidence: Evidence, diagnosis: Diagnosis, seed: int) -> tuple[Evidence, tuple[str, ...], Counterpart]:
    """Evidence without redundant factors that no code responds to, the names of the others, and the counterpart."""
    redundant, collapsed = diagnosis.redundant_factors, diagnosis.dead_codes
    points = with_factors(evidence, evidence.factor_names)  # without a posterior, collapsed codes are kept
    whole = Counterpart.of(points, collapsed=collapsed, seed=seed)
    set_free = whole.followed(redundant)
    left_out = [name for name in redundant if name not in set_free]
    if not left_out:
        return points, set_free, whole
    free = with_factors(evidence, [name for name in evidence.factor_names if name not in left_out])
    return free, set_free, Counterpart.of(free, collapsed=collapsed, n_removed=len(left_out), seed=seed)


def _dependence_step(free: Evidence, drawn: Draws, draws: _Draw, n_draws: int) -> CheckStep:
    """The step from observed to independent factors, with draws of the sampler if there are any, else with models."""
    if drawn:
        return CheckStep("dependence", (free,), drawn)
    before = draws(FEW_DRAWS, where="here", same_codes=True)
    return CheckStep("dependence", before, draws(n_draws, same_codes=True, same_rows=True), modelled=True)


def _codes_step(draws: _Draw, where: Where, n_draws: int) -> CheckStep:
    """The step from all codes to those without redundant codes, on the observed data if no models are needed."""
    modelled = where == "elsewhere"
    before = draws(FEW_DRAWS if modelled else 1, where=where, same_codes=True, same_rows=True)
    after = draws(n_draws if modelled else FEW_DRAWS, where=where, same_rows=True)
    return CheckStep("number of codes", before, after, modelled)


def _some_collapsed(evidence: Evidence, diagnosis: Diagnosis) -> bool:
    """Whether some codes, but not all, are dead although they vary; metrics leave out constant codes by themselves."""
    varying = set(diagnosis.dead_codes) - set(evidence.dead_codes)
    return bool(varying) and len(diagnosis.dead_codes) < evidence.n_codes


def without_codes(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """The evidence without these codes; a posterior is replaced by its point codes.

    >>> without_codes(Evidence([1.0, 2.0], [[1.0, 0.0], [2.0, 0.0]]), ["code 1"]).code_names
    ('code 0',)
    """
    kept = np.flatnonzero(~np.isin(evidence.code_names, names))
    return Evidence(
        evidence.factors,
        evidence.codes[:, kept],
        kinds=[stated_kind(declared) for declared in evidence.declared_kinds],
        factor_names=evidence.factor_names,
        code_names=[evidence.code_names[i] for i in kept],
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )


def _halves(evidence: Evidence, seed: int) -> Draws:
    """Random halves of the rows, whole row groups where there are any."""
    groups = np.arange(evidence.n_rows) if evidence.row_groups is None else evidence.row_groups
    n_groups = int(groups.max()) + 1
    orders = [random_stream(seed, "halves", k).permutation(n_groups)[: n_groups // 2] for k in range(N_DRAWS)]
    return tuple(evidence.rows(np.flatnonzero(np.isin(groups, order))) for order in orders)


class _Draw:
    """Draws of a counterpart, each computed once.

    Where factors are nearly equivalent, every second draw is from the models in which these factors share their codes,
    and the number of draws is even.
    """

    def __init__(self, counterpart: Counterpart, seed: int) -> None:
        self.counterpart, self.seed = counterpart, seed
        self.known: dict[tuple[object, ...], Evidence] = {}

    def __call__(
        self, n: int, *, where: Where = "elsewhere", same_codes: bool = False, same_rows: bool = False
    ) -> Draws:
        drawn = []
        shared = self.counterpart.shared if where != "as it is" else None
        for k in range(n if shared is None else n + n % 2):
            key = k, where, same_codes, same_rows
            if key not in self.known:
                generator = random_stream(self.seed, "counterpart", k)
                options = {"same_codes": same_codes, "same_rows": same_rows}
                source = self.counterpart if shared is None or k % 2 == 0 else shared
                self.known[key] = source.sample(generator, where=where, **options)
            drawn.append(self.known[key])
        return tuple(drawn)
