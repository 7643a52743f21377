"""The verdict: trust, caution or do-not-use for each metric on these data, with measured reasons.

The checklist of 003 (appendix A) and its Table 3 say where metrics fail; here each entry is tried on the data at hand.
The metric is computed again on the data's `Counterpart`, one step after another: without factors that others determine,
then with independent ones, then with as many codes as factors, then with enough rows. A score that stays within .10 is
trusted; one that moves by more than .20 of the metric's range is not to be used. Steps of a property that the audit
found satisfied by a metric do not count (but for the rows: P4 is about noise alone); where no counterpart can be made,
what the audit found decides alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from unweave.card.choices import Choice, card_of
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.score import Score
from unweave.trust.audit_table import advice, audited_name, fails, satisfies
from unweave.trust.counterpart.counterpart import ENOUGH_ROWS, Counterpart, with_factors
from unweave.trust.diagnosis.diagnosis import Diagnosis
from unweave.trust.floor_in_verdict import with_floor
from unweave.trust.nulls.noise_floor import NoiseFloor
from unweave.trust.repeated_scoring import raw_values, score_or_none
from unweave.trust.verdict_record import SECTIONS, Level, Property, Reason, Verdict

__all__ = ["Reason", "Verdict", "verdicts"]

CAUTION = 0.10
DO_NOT_USE = 0.20
WORTH_SAYING = 0.05
N_DRAWS = 5
FEWEST_ROWS = 50
FEWEST_GROUPS = 5
ROUNDING = 0.005
MOST_CODES = 2000
CORRELATED = 0.3
CROWDED = 0.1
SIZE = "size"  # what a metric measures that counts codes and factors


def verdicts(
    metrics: Mapping[str, Choice],
    scores: Mapping[str, Score],
    evidence: Evidence,
    diagnosis: Diagnosis,
    floors: Mapping[str, NoiseFloor] | None = None,
    *,
    untried: Collection[str] = (),
    seed: int = 0,
) -> dict[str, Verdict]:
    """A verdict for every score.

    Parameters
    ----------
    metrics, scores : mapping of label to metric, and to its score on the evidence
        Metrics without a score are left out.
    evidence, diagnosis : Evidence, Diagnosis
        The data, and what `diagnose` found of them.
    floors : mapping of label to NoiseFloor, optional
        What noise scores.
    untried : collection of labels
        Metrics that are not computed on the counterpart, for want of time: what the audit found decides.
    seed : int
        Of the counterpart.

    Examples
    --------
    >>> from unweave.metrics import mcc, r2
    >>> from unweave.synthetic.encoders import Mixed
    >>> from unweave.synthetic.worlds import Correlated
    >>> from unweave.trust.diagnosis.diagnosis import diagnose
    >>> z = Correlated(5, rho=0.97).sample(500, rng=0)
    >>> evidence = Evidence(z, Mixed().encode(z, rng=1))
    >>> chosen = {"mcc": mcc, "r2": r2}
    >>> found = verdicts(chosen, {name: f(evidence) for name, f in chosen.items()}, evidence, diagnose(evidence))
    >>> found["mcc"].level, found["r2"].level
    ('caution', 'trust')
    """
    pairing = {
        label: metric
        for label, metric in metrics.items()
        if label in scores and label not in untried and _pairs_points(card_of(metric).needs)
    }
    steps = _steps(evidence, diagnosis, seed) if pairing and _possible(evidence) else []
    found = {}
    for label, score in scores.items():
        metric, floor = metrics[label], (floors or {}).get(label)
        without = _without_meaning(metric, score)
        if without is not None:
            found[label] = without
        elif label in pairing and steps:
            found[label] = _tried(metric, score, steps, diagnosis, floor)
        else:
            found[label] = _looked_up(metric, score, diagnosis, floor)
        if without is None and label in untried and _pairs_points(card_of(metric).needs):
            not_tried = Reason(Finding("trial_not_in_budget"), "", math.nan)
            found[label] = replace(found[label], reasons=(*found[label].reasons, not_tried))
    return _advised(found, {label: audited_name(metric) for label, metric in metrics.items()})


def _advised(found: Mapping[str, Verdict], names: Mapping[str, str]) -> dict[str, Verdict]:
    """The same with advice that names no metric which is itself not to be trusted here."""
    flagged = {names[label] for label, verdict in found.items() if verdict.level != "trust"}
    concerns = {section: name for name, section in SECTIONS.items()}

    def advised(reason: Reason) -> Reason:
        return (
            replace(reason, advice=advice(concerns[reason.section], flagged)) if reason.section in concerns else reason
        )

    return {
        label: replace(verdict, reasons=tuple(advised(reason) for reason in verdict.reasons))
        for label, verdict in found.items()
    }


@dataclass(frozen=True, eq=False)
class _Step:
    """A property, and the evidence on which it can no longer matter."""

    concerns: Property
    evidences: tuple[Evidence, ...]


def _steps(evidence: Evidence, diagnosis: Diagnosis, seed: int) -> list[_Step]:
    """Free factors alone; then independent ones; then as many codes as factors; then enough rows as well."""
    free = with_factors(evidence, [name for name in evidence.factor_names if name not in diagnosis.redundant_factors])
    counterpart = Counterpart.of(free, without_factors=bool(diagnosis.redundant_factors), seed=seed)
    draw = functools.partial(_drawn, counterpart, seed)
    few = evidence.n_rows < ENOUGH_ROWS
    return [
        *([_Step("P2", (free,))] if diagnosis.redundant_factors else []),
        _Step("P1", draw(1, same_codes=True, same_rows=True)),
        _Step("P3", draw(1 if few else N_DRAWS, same_codes=False, same_rows=True)),
        *([_Step("P4", draw(N_DRAWS, same_codes=False, same_rows=False))] if few else []),
    ]


def _drawn(counterpart: Counterpart, seed: int, n: int, *, same_codes: bool, same_rows: bool) -> tuple[Evidence, ...]:
    return tuple(
        counterpart.sample(np.random.default_rng([seed, k]), same_codes=same_codes, same_rows=same_rows)
        for k in range(n)
    )


def _tried(metric: Choice, score: Score, steps: list[_Step], diagnosis: Diagnosis, floor: NoiseFloor | None) -> Verdict:
    """The verdict from how far the score moves, in steps that the audit did not find harmless for this metric."""
    value, elsewhere, reasons = score.value, score.value, []
    for step in steps:
        after = _mean_value(metric, step.evidences)
        if step.concerns == "P4" or not satisfies(audited_name(metric), step.concerns):
            elsewhere += after - value
            moved = abs(after - value) / _range(score)
            if moved >= WORTH_SAYING:
                change = _Change(value, after, further=abs(value - score.value) >= ROUNDING)
                reasons.append((moved, _reason(step.concerns, change, diagnosis)))
        value = after
    if math.isnan(elsewhere):
        return _looked_up(metric, score, diagnosis, floor)
    elsewhere = float(np.clip(elsewhere, *score.bounds))
    gap = abs(elsewhere - score.value) / _range(score)
    level: Level = "do not use" if gap > DO_NOT_USE else "caution" if gap > CAUTION else "trust"
    ordered = tuple(reason for _, reason in sorted(reasons, key=lambda entry: -entry[0]))
    if level == "trust":
        ordered = (Reason(Finding("score_stable", elsewhere=elsewhere), "score elsewhere", elsewhere),)
    return with_floor(Verdict(level, ordered, elsewhere), score, floor)


@dataclass(frozen=True)
class _Change:
    """The score before and after a step; ``further`` where earlier steps had changed it already."""

    before: float
    after: float
    further: bool


def _reason(concerns: Property, change: _Change, diagnosis: Diagnosis) -> Reason:
    """What moved the score; the advice comes when all verdicts are known."""
    before, after, further = change.before, change.after, change.further
    section = SECTIONS[concerns]
    if concerns == "P2":
        names = diagnosis.redundant_factors
        found = Finding("depends_on_redundant_factors", before=before, after=after, further=further, factors=names)
        return Reason(found, "effective dimension", diagnosis.effective_dimension, section)
    if concerns == "P1":
        largest = diagnosis.max_free_correlation
        found = Finding("depends_on_correlation", before=before, after=after, further=further, correlation=largest)
        return Reason(found, "largest correlation of factors", largest, section)
    if concerns == "P3":
        # nobody counts the free ones of very many factors
        n_free = diagnosis.n_factors if math.isnan(diagnosis.effective_dimension) else diagnosis.effective_dimension
        found = Finding(
            "depends_on_number_of_codes",
            before=before,
            after=after,
            further=further,
            n_codes=diagnosis.n_codes,
            n_free=n_free,
        )
        return Reason(found, "codes per free factor", diagnosis.n_codes / n_free, section)
    ratio = diagnosis.rows_per_code
    found = Finding("depends_on_number_of_rows", before=before, after=after, further=further, rows_per_code=ratio)
    return Reason(found, "rows per code", ratio, section)


def _without_meaning(metric: Choice, score: Score) -> Verdict | None:
    """No verdict, for metrics of which none has a meaning; None for all others."""
    card = card_of(metric)
    if math.isnan(score.raw):
        reason = Reason(Finding("undefined_here"), "score", math.nan, "", Finding("read_its_caveats"))
    elif "factors" not in card.needs:
        reason = Reason(Finding("uses_no_factors"), "", math.nan, "", Finding("read_beside_factor_metrics"))
    elif card.measures == SIZE:
        reason = Reason(Finding("size_of_codes"), "", math.nan, "", Finding("read_as_size"))
    elif _range(score) == 0:
        reason = Reason(Finding("without_range"), "", math.nan, "", Finding("compare_with_floor"))
    else:
        return None
    return Verdict("no verdict", (reason,))


def _looked_up(metric: Choice, score: Score, diagnosis: Diagnosis, floor: NoiseFloor | None) -> Verdict:
    """The verdict from what the data are and what the audit found, where nothing could be tried."""
    name, reasons = audited_name(metric), []
    if diagnosis.max_correlation > CORRELATED and fails(name, "P1"):
        found = Finding("correlated_by_audit", correlation=diagnosis.max_correlation)
        reasons.append(Reason(found, "largest correlation of factors", diagnosis.max_correlation, SECTIONS["P1"]))
    if diagnosis.constraints and fails(name, "P2"):
        found = Finding("redundant_by_audit", factors=diagnosis.redundant_factors)
        reasons.append(Reason(found, "effective dimension", diagnosis.effective_dimension, SECTIONS["P2"]))
    if diagnosis.codes_per_factor > 1 and fails(name, "P3"):
        found = Finding("many_codes_by_audit", codes_per_factor=diagnosis.codes_per_factor)
        reasons.append(Reason(found, "codes per factor", diagnosis.codes_per_factor, SECTIONS["P3"]))
    if diagnosis.codes_per_row > CROWDED and fails(name, "P4"):
        found = Finding("crowded_by_audit", codes_per_row=diagnosis.codes_per_row)
        reasons.append(Reason(found, "codes per row", diagnosis.codes_per_row, SECTIONS["P4"]))
    if diagnosis.n_rows < FEWEST_ROWS:
        found = Finding("too_few_rows_to_test", n_rows=diagnosis.n_rows)
        reasons.append(Reason(found, "rows", diagnosis.n_rows, "003, appendix A", Finding("take_more_samples")))
    return with_floor(Verdict("caution" if reasons else "trust", tuple(reasons)), score, floor)


def _mean_value(metric: Choice, evidences: tuple[Evidence, ...]) -> float:
    """Mean over draws before clipping, which would lift the mean of scores that scatter about their lower bound."""
    found = [score_or_none(metric, evidence) for evidence in evidences]
    bounds = found[0].bounds if found[0] is not None else (-math.inf, math.inf)
    return float(np.clip(np.mean(raw_values(found)), *bounds))


def _range(score: Score) -> float:
    """How far the metric can move; 0 where it has no bounds or no best."""
    width = score.bounds[1] - score.bounds[0]
    return width if math.isfinite(width) and not math.isnan(score.best) else 0.0


def _possible(evidence: Evidence) -> bool:
    varied = not evidence.constant_factors and evidence.n_factors > 0 and not evidence.factor_tables
    if evidence.row_groups is not None and np.unique(evidence.row_groups).size < FEWEST_GROUPS:
        return False
    return varied and evidence.n_rows >= FEWEST_ROWS and 0 < evidence.n_codes <= MOST_CODES


def _pairs_points(needs: tuple[str, ...]) -> bool:
    """Whether factors and codes are all that a metric looks at."""
    return set(needs) == {"factors", "codes"}
