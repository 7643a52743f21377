"""Reasons of a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unweave.card.decorator import Choice, card_of
from unweave.errors import InputError
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.options import checks_options
from unweave.score import Score
from unweave.trust.diagnosis import Diagnosis, diagnose
from unweave.trust.effects import EFFECTS, Change, Effects, Steps, steps_of
from unweave.trust.floors import NoiseFloor
from unweave.trust.verdict_record import SECTIONS, Level, Reason, Verdict

ROUNDING = 0.005


def reason_of_change(change: Change, score: Score, diagnosis: Diagnosis, steps: Steps) -> Reason:
    """The reason that describes a change; the advice is added when all verdicts are known."""
    before, after = change.before, change.after
    further = abs(before - score.value) >= ROUNDING
    section = SECTIONS[EFFECTS[change.effect]]
    how = f"unweave.trust.score_changes(metric, evidence)[{change.effect!r}], unweave.diagnose(evidence)"
    if change.effect == "redundant factors":
        found = Finding(
            "depends_on_redundant_factors", before=before, after=after, further=further, factors=steps.left_out
        )
        return Reason(
            found, "effective dimension", diagnosis.effective_dimension, section, None, f"{how}.effective_dimension"
        )
    if change.effect == "dependence" and steps.set_free:
        found = Finding("depends_on_constraint", before=before, after=after, further=further, factors=steps.set_free)
        return Reason(
            found, "effective dimension", diagnosis.effective_dimension, section, None, f"{how}.effective_dimension"
        )
    if change.effect == "dependence" and not diagnosis.free_pairs:
        n_samples = diagnosis.rows_looked_at
        found = Finding("depends_on_samples", before=before, after=after, further=further, n_samples=n_samples)
        return Reason(found, "samples", n_samples, section, None, f"{how}.rows_looked_at")
    if change.effect == "dependence":
        pair = diagnosis.free_pairs[0]
        n_rows = diagnosis.rows_looked_at if diagnosis.rows_looked_at < diagnosis.n_rows else 0
        found = Finding(
            "depends_on_dependence",
            before=before,
            after=after,
            further=further,
            strength=pair.association,
            n_rows=n_rows,
            factors=pair.factors,
        )
        how += ".free_pairs[0].association" + (", unweave.diagnose(evidence).rows_looked_at" if n_rows else "")
        return Reason(found, "largest correlation of factors", pair.association, section, None, how)
    if change.effect == "number of codes":
        # the effective dimension is nan if there are very many factors
        counted = "n_factors" if math.isnan(diagnosis.effective_dimension) else "effective_dimension"
        n_codes, n_free = diagnosis.n_codes, getattr(diagnosis, counted)
        how += f".{counted}, evidence.n_codes"
        found = Finding(
            "depends_on_redundant_codes", before=before, after=after, further=further, n_codes=n_codes, n_free=n_free
        )
        return Reason(found, "codes per free factor", n_codes / n_free, section, None, how)
    found = Finding(
        "depends_on_number_of_rows",
        before=before,
        after=after,
        further=further,
        rows_per_code=diagnosis.rows_per_code,
        enough=change.n_rows,
    )
    return Reason(found, "rows per code", diagnosis.rows_per_code, section, None, f"{how}.rows_per_code")


NEXT_TO_NOTHING = 0.10  # share of the metric's range, as `MOSTLY_NOISE`

MOSTLY_NOISE = 0.50

ABOVE_NOISE = 0.05  # p-value

HARDLY = 0.10  # calibrated score

NO_FLOOR = "no_nulls_in_budget"

# notes of a floor without a usable p-value, with the quantity that a reason states
UNTESTABLE = {
    "series_too_short": ("independent rows", "n_effective"),
    "series_periodic": ("period", "period"),
    "few_orders": ("row groups", "n_groups"),
}

CLEARLY = 4.0  # standard deviations of the null scores; an estimate from 19 draws may be a third too small


def with_floor(verdict: Verdict, score: Score, floor: NoiseFloor | None) -> Verdict:
    """The verdict after taking the noise floor into account: at least as severe, with the floor's reason first.

    A score whose floor did not fit into the budget, or not enough of its draws, is not checked.

    >>> from unweave.score import Score
    >>> floor = NoiseFloor("modularity", "permutation", 0.68, floor=0.69, p_value=0.77, calibrated=-0.03)
    >>> found = with_floor(Verdict(Level.TRUST), Score(0.68, bounds=(0.0, 1.0), best=1.0), floor)
    >>> found.level, found.reasons[0].sentence
    ('do not use', 'This score is not above noise: it is 0.68, and random codes score 0.69 on average (p = 0.77).')
    """
    if floor is None or math.isnan(score.raw) or verdict.level is Level.NO_VERDICT:
        return verdict
    cut_short = [note for note in (*floor.notes, floor.reason) if note and note.kind in ("fewer_nulls", NO_FLOOR)]
    if cut_short:
        reason = Reason(Finding("floor_not_in_budget"), "noise floor", math.nan, SECTIONS["P4"])
        return Verdict(Level.NOT_CHECKED, (reason,), verdict.elsewhere)
    if not floor.defined:
        return verdict
    untestable = [note for note in floor.notes if note.kind in UNTESTABLE]
    judged = (Level.CAUTION, _untestable(untestable[0], floor)) if untestable else _judged(score, floor)
    if judged is None:
        return verdict
    level, reason = judged
    gravest = max(level, verdict.level, key=lambda level: level.gravity)
    against = verdict.reasons if verdict.level is not Level.TRUST or level is Level.TRUST else ()
    return Verdict(gravest, (reason, *against), verdict.elsewhere)


def _judged(score: Score, floor: NoiseFloor) -> tuple[Level, Reason] | None:
    """The level and the reason that follow from the noise floor alone; None if the floor gives no reason."""
    share = _share_of_noise(score, floor.floor)
    if abs(score.best - floor.floor) < HARDLY * NEXT_TO_NOTHING:
        leaks = score.lower_is_better and score.raw > max(floor.draws, default=math.inf)  # more than all random codes
        return None if leaks else (Level.DO_NOT_USE, _reason(Finding("noise_scores_high", floor=floor.floor), floor))
    if math.isnan(share):
        return None
    value, noise, calibrated, p_value = score.value, floor.floor, floor.calibrated, floor.p_value
    if p_value > max(ABOVE_NOISE, floor.resolution):  # with very few draws, even the best score has a p-value above .05
        if max(share, _share_of_noise(score, value)) <= NEXT_TO_NOTHING:
            return Level.TRUST, _reason(Finding("scores_like_noise", value=value, floor=noise, p_value=p_value), floor)
        if -calibrated > HARDLY:
            # below 0 is a statement of a metric whose random codes score 0, such as a mixing far from the axes
            level = Level.TRUST if score.bounds[0] < 0 <= score.best else Level.DO_NOT_USE
            return level, _reason(Finding("below_noise", value=value, floor=noise, calibrated=calibrated), floor)
        return Level.DO_NOT_USE, _reason(Finding("not_above_noise", value=value, floor=noise, p_value=p_value), floor)
    if share <= NEXT_TO_NOTHING:
        return None
    if calibrated <= HARDLY:
        found = Finding("hardly_above_noise", value=value, floor=noise, calibrated=calibrated)
        return Level.CAUTION, _reason(found, floor)
    if abs(value - noise) < CLEARLY * floor.spread:
        found = Finding("noise_varies_widely", value=value, floor=noise, spread=floor.spread, n_spreads=CLEARLY)
        return Level.CAUTION, _reason(found, floor)
    found = Finding("floor_far_from_zero", value=value, floor=noise, calibrated=calibrated)
    return Level.CAUTION if share > MOSTLY_NOISE else Level.TRUST, _reason(found, floor)


def _share_of_noise(score: Score, value: float) -> float:
    """Distance of a value from the worst score, as a share of the metric's range; nan if the range is infinite.

    For a metric that can be below 0, such as identification, it is the distance from 0, the score of random codes.
    """
    low, high = max(score.bounds[0], 0.0) if math.isfinite(score.bounds[0]) else score.bounds[0], score.bounds[1]
    worst = high if score.lower_is_better else low
    return abs(value - worst) / (high - low) if math.isfinite(high - low) else math.nan


def _reason(found: Finding, floor: NoiseFloor) -> Reason:
    seen = f"n_draws={max(len(floor.draws), 1)}" + ("" if floor.n_rows is None else f", n_rows={floor.n_rows}")
    how = f"float(metric(evidence)), unweave.trust.noise_floor(metric, evidence, {seen})"
    return Reason(found, "noise floor", floor.floor, SECTIONS["P4"], _advice(found), how)


def _untestable(found: Finding, floor: NoiseFloor) -> Reason:
    """The reason where no test can show that a score is above noise, whatever the score."""
    how = f"unweave.trust.noise_floor(metric, evidence, n_draws={max(len(floor.draws), 1)}).notes"
    quantity, name = UNTESTABLE[found.kind]
    return Reason(found, quantity, float(found.quantities[name]), SECTIONS["P4"], Finding("take_more_samples"), how)


def _advice(found: Finding) -> Finding:
    if found.kind == "scores_like_noise":
        return Finding("codes_know_nothing")
    if found.kind in ("hardly_above_noise", "floor_far_from_zero"):
        return Finding("read_calibrated_score")
    return Finding("read_a_lower_floor")


@checks_options
def score_changes(metric: Choice, evidence: Evidence, *, seed: int = 0) -> Mapping[str, Change]:
    """How a score changes with each effect that applies to these data, as in the reasons of a verdict.

    Effects are "redundant factors", "dependence" (of the factors on each other), "number of codes" and "number of
    rows". Effects that do not apply to these data are missing.

    Parameters
    ----------
    metric : metric or partial of one
        The metric whose score is examined.
    evidence : Evidence
        The data.
    seed : int
        Seed of the random draws.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mig
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> found = score_changes(mig, Evidence(factors, np.hstack([factors, -factors])))
    >>> list(found), round(found["number of codes"].before, 1), round(found["number of codes"].after, 1)
    (['number of codes'], 0.0, 0.9)
    """
    return {change.effect: change for change in _effects(metric, evidence, seed)[1].changes}


@checks_options
def score_elsewhere(metric: Choice, evidence: Evidence, *, seed: int = 0) -> float:
    """The estimated score without the effects of `score_changes`, as far as their estimates are reliable.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mig
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> round(score_elsewhere(mig, Evidence(factors, np.hstack([factors, -factors]))), 1)
    0.9
    """
    score, found = _effects(metric, evidence, seed)
    return found.elsewhere(score)


@checks_options
def modelled_score(metric: Choice, evidence: Evidence, *, seed: int = 0) -> float:
    """The score of modelled codes for the observed factors.

    The models are reliable if it is close to the observed score. Both scores are equal if no step needs a model.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mcc
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2)) @ [[1.0, 0.9], [0.0, 0.5]]
    >>> round(modelled_score(mcc, Evidence(factors, factors)), 2)
    1.0
    """
    score, found = _effects(metric, evidence, seed)
    return score.value + found.misfit * (score.bounds[1] - score.bounds[0])


def _effects(metric: Choice, evidence: Evidence, seed: int) -> tuple[Score, Effects]:
    card = card_of(metric)  # refuses what is no metric
    score = metric(evidence)
    if not math.isfinite(score.bounds[1] - score.bounds[0]):
        raise InputError(
            f"{card.name} has no finite bounds, so its changes cannot be judged: use a metric with bounds."
        )
    return score, steps_of(evidence, diagnose(evidence), seed=seed).on(metric, score)
