"""How much a score changes on the counterpart, step by step."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from unweave.card.decorator import Choice, card_of
from unweave.evidence import Evidence
from unweave.evidence.splits import clusters
from unweave.memo import hand_over
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.responses.factor_bases import varying_places
from unweave.responses.responses import distinct_factors
from unweave.score import Score
from unweave.trust.budget import SOME_ROWS
from unweave.trust.counterpart import ENOUGH_ROWS, Counterpart, Where, independent_draws, with_factors
from unweave.trust.diagnosis import Diagnosis, diagnose
from unweave.trust.floors import may_use_some_rows, some_rows
from unweave.trust.scoring import raw_values, score_or_reason
from unweave.trust.verdict_record import Property

Effect = Literal["redundant factors", "dependence", "number of codes", "number of rows"]

EFFECTS: dict[Effect, Property] = {
    "redundant factors": "P2",
    "dependence": "P1",
    "number of codes": "P3",
    "number of rows": "P4",
}

MISFIT = 0.10  # tolerated error of the score of modelled codes for the observed factors, relative to the range

EXPLICITNESS = "explicitness"

MEAN = 1e-6

PRECISE = 0.005  # standard error of a mean over draws, as a share of the metric's range, at which no more are drawn

Draws = tuple[Evidence, ...]


@dataclass(frozen=True, eq=False)
class CheckStep:
    """One property that could change a score: evidence with it (``before``) and without it (``after``).

    ``modelled`` is True if models generate the codes.
    """

    effect: Effect
    before: Draws
    after: Draws
    modelled: bool = False


@dataclass(frozen=True)
class Change:
    """A score before and after a step, and the number of rows that it ends at if it is about rows."""

    effect: Effect
    before: float
    after: float
    modelled: bool = False
    n_rows: int = ENOUGH_ROWS

    @property
    def moved(self) -> float:
        """The score after the step minus the score before."""
        return self.after - self.before


@dataclass(frozen=True)
class Effects:
    """How a score changes with each step, in order.

    ``misfit`` is the error of the score of modelled codes for the observed factors, relative to the metric's range.
    """

    changes: tuple[Change, ...]
    misfit: float = 0.0

    @property
    def believed(self) -> tuple[Change, ...]:
        """Changes on real codes, and changes on modelled codes that are not `doubted`."""
        return tuple(change for change in self.changes if not self.doubted(change))

    def elsewhere(self, score: Score) -> float:
        """The score plus all believed changes, clipped to the metric's bounds."""
        return float(np.clip(score.value + sum(change.moved for change in self.believed), *score.bounds))

    def doubted(self, change: Change) -> bool:
        """Whether a change relies on models that do not reproduce the score, and is no larger than their error."""
        return change.modelled and abs(self.misfit) > MISFIT and abs(change.moved) <= abs(self.misfit)


@dataclass(frozen=True, eq=False)
class Steps:
    """All steps that apply to the data, and the data sets that check them.

    Attributes
    ----------
    steps : tuple of CheckStep
        The steps, in order.
    real, control : tuple of Evidence
        The observed codes, and modelled codes for the same factors; their scores are compared.
    without_collapsed : tuple of Evidence
        The observed data without collapsed codes; empty if there are none.
    halves : tuple of Evidence
        Random halves of the rows, where there are few rows.
    each_told : bool
        Whether every factor is almost completely determined by the codes that belong to it.
    observed : Evidence, optional
        The data that the score was computed on.
    set_free : tuple of str
        Redundant factors that some code responds to.
    scores : dict
        Scores that were already computed.
    """

    steps: tuple[CheckStep, ...]
    real: Draws = ()
    control: Draws = ()
    without_collapsed: Draws = ()
    halves: Draws = ()
    each_told: bool = False
    observed: Evidence | None = None
    set_free: tuple[str, ...] = ()
    scores: dict[tuple[object, ...], float] = field(default_factory=dict)

    @functools.cached_property
    def settling(self) -> Draws:
        """Random halves of 1,000 to 3,000 rows, where only metrics that need many rows, such as trees, still change."""
        seen = self.observed
        return _halves(seen, 0)[:FEW_DRAWS] if seen and ENOUGH_ROWS <= seen.n_rows < SETTLED_ROWS else ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Redundant factors that the first step removes."""
        return tuple(
            name
            for step in self.steps[:1]
            if step.effect == "redundant factors"
            for name in step.before[0].factor_names
            if name not in step.after[0].factor_names
        )

    @property
    def evidences(self) -> tuple[Evidence, ...]:
        """The data sets on which a metric has to be computed."""
        draws = [self.control, self.without_collapsed, self.halves, self.settling, *(step.after for step in self.steps)]
        draws += [step.before for step in self.steps if step.effect != "redundant factors"]
        draws += [self.real] if any(step.modelled for step in self.steps) else []
        different = {id(evidence): evidence for drawn in draws for evidence in drawn}
        return tuple(evidence for evidence in different.values() if not self._is_observed(evidence))

    def on(self, metric: Choice, score: Score) -> Effects:
        """The changes of the metric's score over all steps."""
        width = score.bounds[1] - score.bounds[0]
        changes = []
        for step in self.steps:
            before, after = (self._mean(metric, draws, score) for draws in (step.before, step.after))
            if step.effect == "redundant factors":
                # a redundant factor that is predicted well raises a mean over factors; a decrease of the score down
                # to the mean over the other factors is not counted as a change
                lowest = min(score.value, _mean_over(score, step.after[0].factor_names))
                before = float(np.clip(after, lowest, score.value))
            if step.effect == "number of codes" and card_of(metric).measures == EXPLICITNESS and not self.each_told:
                after = max(before, after)  # all codes together may be needed to predict the factors
            change = Change(step.effect, before, after, step.modelled)
            if step.effect == "number of rows":
                change = self._of_more_rows(metric, score, change)
            changes.append(change)
        if self.settling and math.isfinite(width):
            change = self._of_more_rows(metric, score, Change("number of rows", score.value, score.value))
            changes += [change] if abs(change.moved) >= GOES_ON * width else []
        misfit = 0.0
        if any(step.modelled for step in self.steps):
            misfit = (self._mean(metric, self.control, score) - self._mean(metric, self.real, score)) / width
        return Effects(tuple(changes), misfit)

    def _of_more_rows(self, metric: Choice, score: Score, change: Change) -> Change:
        """The change of modelled codes with more rows, or the change extrapolated from half of the rows, if larger.

        The extrapolation uses the observed codes, and assumes that the metric converges as one over the square root of
        the number of rows, as most metrics do. It ends at three times the rows, from 1,000 to 3,000.
        """
        n_rows, of_half = (
            (self.observed or self.real[0]).n_rows,
            self._mean(metric, self.halves or self.settling, score),
        )
        enough = int(np.clip(3 * n_rows, ENOUGH_ROWS, SETTLED_ROWS))
        reach = (n_rows**-0.5 - enough**-0.5) / ((n_rows / 2) ** -0.5 - n_rows**-0.5)
        goes_on = float(np.clip(score.value + reach * (score.value - of_half), *score.bounds))
        if math.isnan(of_half) or abs(goes_on - score.value) <= abs(change.moved):
            return change
        return Change(change.effect, score.value, goes_on, n_rows=enough)

    def of_live_codes(self, metric: Choice, score: Score) -> float:
        """The score without collapsed codes; nan if no code has collapsed."""
        return self._mean(metric, self.without_collapsed, score) if self.without_collapsed else math.nan

    def _mean(self, metric: Choice, draws: Draws, score: Score) -> float:
        """Mean of the raw scores, clipped after averaging, because clipping first would raise a mean near the bound.

        Draws stop after an even number of them, as two models may take turns, once the mean is precise.
        """
        if len(draws) == 1 and self._is_observed(draws[0]):
            return score.value
        key, width = (id(metric), *map(id, draws)), score.bounds[1] - score.bounds[0]
        if key not in self.scores:
            values: list[float] = []
            for evidence in draws:
                values += raw_values([score_or_reason(metric, evidence)])
                limit = PRECISE * width * math.sqrt(len(values)) if math.isfinite(width) else -1.0
                if len(values) % 2 == 0 and np.std(values, ddof=1) <= limit:
                    break
            self.scores[key] = float(np.clip(np.mean(values), *score.bounds))
        return self.scores[key]

    def _is_observed(self, drawn: Evidence) -> bool:
        """Whether these are the observed factors and codes, whose score is known."""
        seen = self.observed
        if seen is None or drawn.factor_names != seen.factor_names or drawn.code_names != seen.code_names:
            return False
        return np.array_equal(drawn.codes, seen.codes) and np.array_equal(drawn.factors, seen.factors)


def _mean_over(score: Score, factors: tuple[str, ...]) -> float:
    """Mean of the scores of these factors if the score is a mean over factors; infinite otherwise."""
    known = list(score.per_factor.values())
    if not known or any(map(math.isnan, known)) or abs(float(np.mean(known)) - score.raw) > MEAN:
        return math.inf
    return float(np.mean([score.per_factor[name] for name in factors]))


N_DRAWS = 5

FEW_DRAWS = 2

SETTLED_ROWS = 3000  # rows from which the number of rows is not tried

GOES_ON = 0.05  # share of the range; a smaller change between 1,000 and 3,000 rows is not counted

ROWS_OF_ENVIRONMENT = 300  # fewer rows do not show weak dependence of factors, such as a correlation of .2

SPREAD_KEPT = 0.5  # a factor that an intervention nearly fixes scores low for its narrow range


def steps_of(evidence: Evidence, diagnosis: Diagnosis, *, seed: int = 0) -> Steps:
    """The steps that apply to these data, which are those with something to remove.

    Redundant factors that no code responds to are removed. Redundant factors that some code responds to are varied
    freely in the step to independent factors. More than 3,000 rows are represented by so many of them. Independent
    factors are those of a sampler, or of environments in which they do not depend on each other, or else modelled.
    """
    observed, evidence = evidence, _enough_rows(evidence, seed)
    free, set_free, counterpart = _free_factors(evidence, diagnosis, seed)
    steps = [CheckStep("redundant factors", (evidence,), (free,))] if free.n_factors < evidence.n_factors else []
    lighter = (without_codes(evidence, diagnosis.dead_codes),) if _some_collapsed(evidence, diagnosis) else ()
    # rows of one subject have the factors of the subject together, however independent those of subjects are
    dependent = bool(set_free or diagnosis.free_pairs) or clusters(evidence.factors) is not None
    few, extra = evidence.n_rows < ENOUGH_ROWS, counterpart.redundant_codes() > 0
    if not any((dependent, extra, few)):
        return Steps(tuple(steps), without_collapsed=lighter, observed=observed)
    draws = _Draw(counterpart, seed, observed, diagnosis)
    before: Draws = (free,)
    drawn = independent_draws(evidence, free.factor_names, FEW_DRAWS, seed) if dependent else ()
    if dependent and not drawn:
        before, drawn = _by_environments(observed, free.factor_names, seed)
    where: Where = "elsewhere" if dependent and not drawn else "as it is"
    if dependent:
        steps.append(_dependence_step(before, drawn, draws, FEW_DRAWS if few or extra else N_DRAWS))
    if extra:
        steps.append(_codes_step(draws, where, FEW_DRAWS if few else N_DRAWS))
    if few:
        steps.append(CheckStep("number of rows", draws(N_DRAWS, same_rows=True), draws(N_DRAWS), modelled=True))
    real = draws(1, where="as it is", same_codes=True, same_rows=True)
    control = draws(FEW_DRAWS, where="here", same_codes=True) if any(step.modelled for step in steps) else ()
    halves = _halves(evidence, seed) if few else ()
    return Steps(tuple(steps), real, control, lighter, halves, counterpart.each_factor_told, observed, set_free)


def _enough_rows(evidence: Evidence, seed: int) -> Evidence:
    """At most 3,000 rows where rows may be chosen: the change between two scores of as many rows needs no more."""
    return some_rows(evidence, SOME_ROWS, seed) if may_use_some_rows(evidence) else evidence


def _free_factors(evidence: Evidence, diagnosis: Diagnosis, seed: int) -> tuple[Evidence, tuple[str, ...], Counterpart]:
    """Evidence without redundant factors that no code responds to, the names of the others, and the counterpart."""
    collapsed = diagnosis.dead_codes
    points = with_factors(evidence, evidence.factor_names)  # without a posterior, collapsed codes are kept
    hand_over(factor_constraints, evidence, points)
    whole = Counterpart.of(points, collapsed=collapsed, seed=seed)
    redundant = _of_equivalents(points, whole, diagnosis.redundant_factors)
    set_free = whole.followed(redundant)
    left_out = [name for name in redundant if name not in set_free]
    if not left_out:
        return points, set_free, whole
    free = with_factors(evidence, [name for name in evidence.factor_names if name not in left_out])
    return free, set_free, Counterpart.of(free, collapsed=collapsed, n_removed=len(left_out), seed=seed)


def _of_equivalents(evidence: Evidence, whole: Counterpart, redundant: Sequence[str]) -> tuple[str, ...]:
    """The redundant factors; of factors that determine each other, those that no code responds to."""
    names, alike = np.take(evidence.factor_names, varying_places(evidence)), distinct_factors(evidence).alike
    chosen = list(redundant)
    for name in whole.followed(redundant):
        others = [str(each) for each in names[alike == alike[names == name]] if each not in chosen]
        if others and not whole.followed(others):  # codes cannot show which of them they depend on
            chosen[chosen.index(name)] = others[0]
    return tuple(chosen)


def _by_environments(evidence: Evidence, factors: Sequence[str], seed: int) -> tuple[Draws, Draws]:
    """As many random rows as an environment has, and every environment in which no two of these factors depend.

    Both are empty if there is none. The numbers of rows are equal, so that the change is that of the factors alone.
    """
    if evidence.environments is None:
        return (), ()
    before, after, spread = [], [], evidence.factors.std(axis=0)
    places = [evidence.factor_names.index(name) for name in factors]
    for label in range(len(evidence.environment_names)):
        rows = np.flatnonzero(evidence.environments == label)
        if rows.size < ROWS_OF_ENVIRONMENT:
            continue
        if (evidence.factors[rows].std(axis=0) < SPREAD_KEPT * spread)[places].any():
            continue
        part = with_factors(_enough_rows(evidence.rows(rows), seed), factors)
        found = diagnose(part, seed=seed)
        if found.dependent_pairs or found.constraints:
            continue
        mixed = random_stream(seed, "rows of all environments", label).permutation(evidence.n_rows)[: part.n_rows]
        before.append(with_factors(evidence.rows(np.sort(mixed)), factors))
        after.append(part)
    return tuple(before), tuple(after)


def _dependence_step(real: Draws, drawn: Draws, draws: _Draw, n_draws: int) -> CheckStep:
    """The step from observed to independent factors, on real codes if there are any, else with models."""
    if drawn:
        return CheckStep("dependence", real, drawn)
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


@checks_options
def without_codes(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """The evidence without these codes; a posterior is replaced by its point codes.

    >>> without_codes(Evidence([1.0, 2.0], [[1.0, 0.0], [2.0, 0.0]]), ["code 1"]).code_names
    ('code 0',)
    """
    kept = np.flatnonzero(~np.isin(evidence.code_names, names))
    return Evidence(
        evidence.factors,
        evidence.codes[:, kept],
        kinds=[declared.text for declared in evidence.declared_kinds],
        factor_names=evidence.factor_names,
        code_names=[evidence.code_names[i] for i in kept],
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )


def _halves(evidence: Evidence, seed: int) -> Draws:
    """Random halves of the rows, whole row groups or samples with several rows where there are any."""
    known = evidence.same_rows if evidence.row_groups is None else evidence.row_groups
    groups = np.arange(evidence.n_rows) if known is None else known
    n_groups = int(groups.max()) + 1
    orders = [random_stream(seed, "halves", k).permutation(n_groups)[: n_groups // 2] for k in range(N_DRAWS)]
    halves = tuple(evidence.rows(np.flatnonzero(np.isin(groups, order))) for order in orders)
    hand_over(factor_constraints, evidence, *halves)
    return halves


class _Draw:
    """Draws of a counterpart, each computed once.

    Where factors are nearly equivalent, every second draw is from the models in which these factors share their codes,
    and the number of draws is even.
    """

    def __init__(self, counterpart: Counterpart, seed: int, observed: Evidence, diagnosis: Diagnosis) -> None:
        self.counterpart, self.seed = counterpart, seed
        # where no factor determines another, that holds for draws of the same factors, and of independent ones
        self.unconstrained = () if diagnosis.constraints else (observed,)
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
                for evidence in self.unconstrained:
                    hand_over(factor_constraints, evidence, self.known[key])
            drawn.append(self.known[key])
        return tuple(drawn)
