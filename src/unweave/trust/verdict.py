"""Verdicts: whether a score can be trusted on these data."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from unweave.card.decorator import Choice, card_of, metric_of
from unweave.errors import OptionError
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.options import checks_options
from unweave.score import Score
from unweave.trust.diagnosis import Diagnosis
from unweave.trust.effects import Change, Effects, Steps, steps_of
from unweave.trust.floors import NoiseFloor
from unweave.trust.reasons import reason_of_change, with_floor
from unweave.trust.verdict_record import SECTIONS, Level, Property, Reason, Verdict

# only these general metrics are advised, because other metrics may satisfy a property trivially
GENERAL = ("identification", "r2", "mcc", "dci_disentanglement", "sufficiency", "mig")

MOST_NAMED = 3

AUDITED_ROOM = "unweave.metrics."


@functools.cache
def table() -> dict[str, Any]:
    """Result of the audit by metric and property; empty where the audit was never run."""
    source = files("unweave.trust").joinpath("audited.json")
    return dict(json.loads(source.read_text(encoding="utf-8"))["metrics"]) if source.is_file() else {}


def audited_name(metric: Choice) -> str:
    """The name of this metric in the table; empty for a metric that is not part of unweave.

    A metric of the same name that was declared elsewhere is a different metric and was not audited.

    >>> from unweave.metrics import mcc
    >>> audited_name(mcc)
    'mcc'
    """
    entry = metric_of(metric)
    return entry.card.name if entry.__module__.startswith(AUDITED_ROOM) else ""


def fails(metric: str, concerns: str) -> bool:
    """Whether the audit found the property violated; a metric that was not audited counts as failing."""
    return _verdict(metric, concerns) not in ("satisfied", "partly")


def satisfies(metric: str, concerns: str) -> bool:
    """Whether the audit found that the metric has the property."""
    return _verdict(metric, concerns) == "satisfied"


def advice(concerns: str, but: Collection[str] = ()) -> Finding:
    """Advice where a property matters: metrics that satisfy it, without the excluded ones, and how to change the data.

    >>> "rows" in str(advice("P4"))
    True
    """
    named = [name for name in GENERAL if satisfies(name, concerns) and name not in but][:MOST_NAMED]
    return Finding("advice", concerns=concerns, metrics=" or ".join(named))


def _verdict(metric: str, concerns: str) -> str:
    return str(table().get(metric, {}).get(concerns, {}).get("verdict", "unknown"))


__all__ = ["Reason", "Verdict", "verdicts"]

CAUTION = 0.10

DO_NOT_USE = 0.20

WORTH_SAYING = 0.05

NOT_CANCELLED = 0.25  # share of the models' error that does not cancel between the scores before and after a step

FEWEST_ROWS = 50

FEWEST_GROUPS = 5

MOST_CODES = 2000

CORRELATED = 0.3

MANY_CLASSES, FEW_PER_CLASS = 50, 10

CROWDED = 0.1

SIZE = "size"  # `Card.measures` of metrics that count codes and factors


@checks_options
def verdicts(
    metrics: Mapping[str, Choice],
    scores: Mapping[str, Score],
    evidence: Evidence,
    diagnosis: Diagnosis,
    floors: Mapping[str, NoiseFloor] | None = None,
    *,
    untried: Collection[str] = (),
    steps: Steps | None = None,
    seed: int = 0,
) -> dict[str, Verdict]:
    """A verdict for every score.

    Parameters
    ----------
    metrics, scores : mapping of label to metric, and to its score on the evidence
        Metrics without a score are left out.
    evidence, diagnosis : Evidence, Diagnosis
        The data, and their diagnosis from `diagnose`.
    floors : mapping of label to NoiseFloor, optional
        Noise floors of the metrics.
    untried : collection of labels
        Metrics that are not computed on the counterpart, to save time. They are "not checked", or judged by the audit
        alone if the codes are sparse.
    steps : Steps, optional
        Result of `check_steps`; computed if it is missing.
    seed : int
        Seed of the counterpart.

    Examples
    --------
    >>> from unweave.metrics import mcc, r2
    >>> from unweave.synthetic.encoders import Mixed
    >>> from unweave.synthetic.worlds import Correlated
    >>> from unweave.trust.diagnosis import diagnose
    >>> z = Correlated(5, rho=0.97).sample(200, rng=0)
    >>> evidence = Evidence(z, Mixed().encode(z, rng=1))
    >>> chosen = {"mcc": mcc, "r2": r2}
    >>> found = verdicts(chosen, {name: f(evidence) for name, f in chosen.items()}, evidence, diagnose(evidence))
    >>> found["mcc"].level, found["r2"].level
    ('caution', 'trust')
    """
    _check_scores(metrics, scores, untried)
    pairing = {
        label: metric
        for label, metric in metrics.items()
        if label in scores and label not in untried and _pairs_points(card_of(metric).needs)
    }
    if pairing and steps is None:
        steps = check_steps(evidence, diagnosis, seed=seed)
    found = {}
    for label, score in scores.items():
        metric, floor = metrics[label], (floors or {}).get(label)
        without = _without_meaning(metric, score)
        left_out = label in untried and _pairs_points(card_of(metric).needs)
        if without is not None:
            found[label] = without
        elif left_out and evidence.sparse_codes is None:
            found[label] = Verdict(Level.NOT_CHECKED, (Reason(Finding("trial_not_in_budget"), "", math.nan),))
        elif label in pairing and steps is not None:
            found[label] = _verdict_by_trials(metric, score, steps, diagnosis, floor)
        else:
            found[label] = _looked_up(metric, score, diagnosis, floor)
            if left_out:
                not_tried = Reason(Finding("trial_of_sparse_codes"), "", math.nan)
                found[label] = replace(found[label], reasons=(*found[label].reasons, not_tried))
    in_doubt = _with_crowded_classes(found, metrics, evidence)
    return _with_fitting_advice(in_doubt, {label: audited_name(metric) for label, metric in metrics.items()})


def _crowded_classes(evidence: Evidence) -> Reason | None:
    """A reason for caution where categorical factors have very many classes for these rows; None if none has."""
    places = [j for j, kind in enumerate(evidence.kinds) if kind.is_categorical]
    n_classes = {evidence.factor_names[j]: np.unique(evidence.factors[:, j]).size for j in places}
    crowded = [name for name, n in n_classes.items() if n > MANY_CLASSES and evidence.n_rows < FEW_PER_CLASS * n]
    if not crowded:
        return None
    most = max(crowded, key=lambda name: n_classes[name])
    per_class = evidence.n_rows / n_classes[most]
    said = Finding("classes_crowded", factors=crowded, most=most, n_classes=n_classes[most], per_class=per_class)
    how = f"evidence.n_rows / np.unique(evidence.factors[:, evidence.factor_names.index({most!r})]).size"
    return Reason(said, "rows per class", per_class, "", Finding("make_classes_numbers", factors=crowded), how)


def _with_crowded_classes(
    found: Mapping[str, Verdict], metrics: Mapping[str, Choice], evidence: Evidence
) -> Mapping[str, Verdict]:
    """The verdicts, at best with caution for metrics of factors if a factor has very many classes for these rows."""
    crowded = _crowded_classes(evidence)
    if crowded is None:
        return found
    judged = {}
    for label, verdict in found.items():
        below = verdict.level not in (Level.TRUST, Level.CAUTION)
        reasons = (*verdict.reasons, crowded) if below else (crowded, *verdict.reasons)
        level = verdict.level if below else Level.CAUTION
        is_about = "factors" in card_of(metrics[label]).needs
        judged[label] = replace(verdict, level=level, reasons=reasons) if is_about else verdict
    return judged


def _check_scores(metrics: Mapping[str, Choice], scores: Mapping[str, Score], untried: Collection[str]) -> None:
    if isinstance(untried, str) or not isinstance(untried, Collection):
        raise OptionError("untried is no collection: give the labels of metrics in a list or a set.")
    for label, score in scores.items():
        if label not in metrics or not isinstance(score, Score):
            raise OptionError(f"scores[{label!r}] has no metric, or is no Score: give both for every label.")


def check_steps(evidence: Evidence, diagnosis: Diagnosis, *, seed: int = 0) -> Steps | None:
    """The data sets on which metrics are computed again, or None if these data do not allow it."""
    return steps_of(evidence, diagnosis, seed=seed) if _possible(evidence) else None


def _with_fitting_advice(found: Mapping[str, Verdict], names: Mapping[str, str]) -> dict[str, Verdict]:
    """The verdicts with advice that names no metric whose verdict on these data is worse than trust."""
    flagged = {names[label] for label, verdict in found.items() if verdict.level is not Level.TRUST}
    concerns = {section: name for name, section in SECTIONS.items()}

    def advised(reason: Reason) -> Reason:
        return (
            replace(reason, advice=advice(concerns[reason.section], flagged)) if reason.section in concerns else reason
        )

    return {
        label: replace(verdict, reasons=tuple(advised(reason) for reason in verdict.reasons))
        for label, verdict in found.items()
    }


def _verdict_by_trials(
    metric: Choice, score: Score, steps: Steps, diagnosis: Diagnosis, floor: NoiseFloor | None
) -> Verdict:
    """The verdict from the change of the score over all steps together."""
    found = steps.on(metric, score)
    if any(math.isnan(change.moved) for change in found.changes) or math.isnan(found.misfit):
        return _looked_up(metric, score, diagnosis, floor)
    width = _range(score)
    elsewhere = found.elsewhere(score)
    spare = NOT_CANCELLED * abs(found.misfit) if any(change.modelled for change in found.believed) else 0.0
    gap = abs(elsewhere - score.value) / width - spare
    level = Level.DO_NOT_USE if gap > DO_NOT_USE else Level.CAUTION if gap > CAUTION else Level.TRUST
    moving = [change for change in found.believed if abs(change.moved) / width >= WORTH_SAYING]
    gravest = sorted(moving, key=lambda change: -abs(change.moved))
    reasons = [reason_of_change(change, score, diagnosis, steps) for change in gravest]
    doubted = [change for change in found.changes if found.doubted(change)]
    if level is not Level.TRUST:
        verdict = Verdict(level, tuple(reasons), elsewhere)
    elif doubted:
        verdict = Verdict(Level.NO_VERDICT, (_misfit(doubted, found, score, width),))
    else:
        verdict = Verdict(level, (_stable(found, score, elsewhere),), elsewhere)
    return with_floor(_with_collapsed(verdict, steps.of_live_codes(metric, score), score, diagnosis), score, floor)


def _with_collapsed(verdict: Verdict, live: float, score: Score, diagnosis: Diagnosis) -> Verdict:
    """The verdict with a remark where the score includes collapsed codes."""
    if math.isnan(live) or abs(live - score.value) < WORTH_SAYING * _range(score):
        return verdict
    names = diagnosis.dead_codes
    found = Finding("collapsed_codes_count", value=score.value, live=live, codes=names)
    how = f"float(metric(unweave.trust.without_codes(evidence, {list(names)}))), float(metric(evidence))"
    reason = Reason(found, "score of live codes", live, SECTIONS["P3"], Finding("leave_out_collapsed"), how)
    return replace(verdict, reasons=(*verdict.reasons, reason))


def _stable(found: Effects, score: Score, elsewhere: float) -> Reason:
    """The reason for a score that no step changes, with the steps that were tested."""
    tried = [change.effect for change in found.changes]
    if not tried:
        return Reason(Finding("nothing_moves_score"), "", math.nan, "", None, "unweave.diagnose(evidence).sentences()")
    names, width = ", ".join(tried), _range(score)
    said = Finding("score_stable", elsewhere=elsewhere, tried=names)
    how = "unweave.trust.score_elsewhere(metric, evidence)"
    if abs(elsewhere - score.value) / width > CAUTION:
        modelled = score.value + found.misfit * width
        said = Finding("within_model_error", value=score.value, elsewhere=elsewhere, modelled=modelled, tried=names)
        how += ", unweave.trust.modelled_score(metric, evidence), float(metric(evidence))"
    return Reason(said, "score elsewhere", elsewhere, "", None, how)


def _misfit(doubted: list[Change], found: Effects, score: Score, width: float) -> Reason:
    """The reason where the models of the codes do not reproduce the score on the observed factors."""
    effects, modelled = " and ".join(change.effect for change in doubted), score.value + found.misfit * width
    said = Finding("control_failed", value=score.value, modelled=modelled, effects=effects)
    how = "unweave.trust.modelled_score(metric, evidence), float(metric(evidence))"
    return Reason(said, "score of the response model", modelled, "", Finding("check_by_interventions"), how)


def _without_meaning(metric: Choice, score: Score) -> Verdict | None:
    """ "No verdict" for metrics to which verdicts do not apply; None for all others."""
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
    return Verdict(Level.NO_VERDICT, (reason,))


def _looked_up(metric: Choice, score: Score, diagnosis: Diagnosis, floor: NoiseFloor | None) -> Verdict:
    """The verdict from the diagnosis and the audit, where nothing could be tested."""
    name, reasons = audited_name(metric), []
    strongest = max((pair.association for pair in diagnosis.dependent_pairs), default=0.0)
    if strongest > CORRELATED and fails(name, "P1"):
        found = Finding("correlated_by_audit", correlation=strongest)
        how = "max(pair.association for pair in unweave.diagnose(evidence).dependent_pairs)"
        reasons.append(Reason(found, "largest correlation of factors", strongest, SECTIONS["P1"], None, how))
    if diagnosis.constraints and fails(name, "P2"):
        found = Finding("redundant_by_audit", factors=diagnosis.redundant_factors)
        reasons.append(_reason_of_diagnosis(found, "effective dimension", diagnosis, "effective_dimension", "P2"))
    if diagnosis.codes_per_factor > 1 and fails(name, "P3"):
        found = Finding("many_codes_by_audit", codes_per_factor=diagnosis.codes_per_factor)
        reasons.append(_reason_of_diagnosis(found, "codes per factor", diagnosis, "codes_per_factor", "P3"))
    if diagnosis.codes_per_row > CROWDED and fails(name, "P4"):
        found = Finding("crowded_by_audit", codes_per_row=diagnosis.codes_per_row)
        reasons.append(_reason_of_diagnosis(found, "codes per row", diagnosis, "codes_per_row", "P4"))
    if diagnosis.n_rows < FEWEST_ROWS:
        found = Finding("too_few_rows_to_test", n_rows=diagnosis.n_rows)
        more = Finding("take_more_samples")
        reasons.append(Reason(found, "rows", diagnosis.n_rows, "003, appendix A", more, "evidence.n_rows"))
    return with_floor(Verdict(Level.CAUTION if reasons else Level.TRUST, tuple(reasons)), score, floor)


def _reason_of_diagnosis(
    found: Finding, quantity: str, diagnosis: Diagnosis, attribute: str, concerns: Property
) -> Reason:
    """A reason whose number is an attribute of the diagnosis."""
    how = f"unweave.diagnose(evidence).{attribute}"
    return Reason(found, quantity, getattr(diagnosis, attribute), SECTIONS[concerns], None, how)


def _range(score: Score) -> float:
    """Width of the metric's range; 0 if it has no finite bounds or no best value."""
    width = score.bounds[1] - score.bounds[0]
    return width if math.isfinite(width) and not math.isnan(score.best) else 0.0


def _possible(evidence: Evidence) -> bool:
    varied = not evidence.constant_factors and evidence.n_factors > 0 and not evidence.factor_tables
    if evidence.row_groups is not None and np.unique(evidence.row_groups).size < FEWEST_GROUPS:
        return False
    return varied and evidence.n_rows >= FEWEST_ROWS and 0 < evidence.n_codes <= MOST_CODES


def _pairs_points(needs: tuple[str, ...]) -> bool:
    """Whether a metric needs factors and codes, and nothing else."""
    return set(needs) == {"factors", "codes"}
