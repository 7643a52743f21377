"""Compute every metric on every representation and seed; the row of a metric that fails states why."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Unpack

import joblib
import numpy as np

from unweave.card import Card, MetricUndefined
from unweave.card.choices import metric_of, stated_options
from unweave.card.description import CardDescription
from unweave.evaluation.judging import assured
from unweave.evaluation.matched_pairs import matched_pairs
from unweave.evaluation.metric_choice import MetricChoice, fitting_metrics
from unweave.evaluation.questions import PANEL_VERSION
from unweave.evaluation.results import Evaluation, Row, described_data
from unweave.evaluation.screened_first import screened_first
from unweave.evaluation.time_plan import expected_seconds
from unweave.evidence import Evidence, EvidenceError, EvidenceOptions
from unweave.evidence.options import with_option_signature
from unweave.findings import Finding
from unweave.metrics import identification
from unweave.progress import progress_bar
from unweave.threads import thread_controller
from unweave.trust.budget.draw_plan import PLANNED_SHARE

BUDGET = 30.0
MOST_SEEDS = 10_000


@dataclass(frozen=True)
class _Assurance:
    """Options of noise floors, intervals and verdicts; ``quick`` leaves them out."""

    quick: bool
    budget: float
    level: float


@with_option_signature
def evaluate(
    factors: object = None,
    codes: object = None,
    *,
    metrics: MetricChoice | Iterable[MetricChoice] | None = None,
    seeds: int | Iterable[int] = 0,
    quick: bool = False,
    budget: float = BUDGET,
    level: float = 0.95,
    screen: bool | None = None,
    n_jobs: int = 1,
    progress: bool = True,
    **evidence_options: Unpack[EvidenceOptions],
) -> Evaluation:
    """Score one representation with many metrics.

    Parameters
    ----------
    factors, codes : tables, or an `Evidence` alone
        The true factors (n x d) and the learned codes (n x m).
    metrics : names, metrics or ``functools.partial`` of metrics, optional
        The metrics to compute, by default the panel: the few metrics that show which factors were found, and how well
        (docs/panel.md). ``"all"`` stands for the whole catalogue, and the name of a family, such as ``"information"``,
        for its metrics. Metrics of a group that need more than was given are left out; those of posteriors, for
        example, need ``codes=Posterior(mean, std)``. A name may have options: ``"mcc:correlation=spearman"``.
    seeds : int or iterable of int
        Random seeds. Metrics with a random part are computed once for each seed.
    quick : bool
        Whether to compute scores only, without noise floors, intervals and verdicts.
    budget : float
        Approximate CPU seconds for scores, noise floors, intervals and verdicts together. The scores are always
        computed. The remaining budget, but at least half of the budget, is allotted according to expected and not to
        measured times, so that the same call gives the same numbers on a busy machine. For slow metrics, noise floors
        use fewer permutations and intervals use fewer parts of the samples, or they are left out; a note names them.
    level : float
        Confidence level of the intervals.
    screen : bool, optional
        Whether to screen the codes first. Screening uses one half of the rows to find the codes that depend on a
        factor, with a false-discovery rate of 5 %. Only these codes are scored, on the other half of the rows. By
        default the codes are screened for the panel if there are more than 1,000 codes, or more than 64 sparse codes.
        Metrics that are given by name are computed on all codes.
    n_jobs : int
        Number of threads for metrics that fit one probe per factor. The results do not depend on it. BLAS and OpenMP
        use one thread each.
    progress : bool
        Show what is being computed and how long it will take, on terminals and in notebooks, after two seconds.
    **evidence_options
        ``kinds``, ``missing``, ``row_groups`` and the other options of `Evidence`.

    Returns
    -------
    Evaluation
        Print it for a table; ``evaluation["mcc"]`` is a `Score`.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> evaluation = evaluate(factors, factors * [2, -1], metrics=["mcc", "r2"])
    >>> round(float(evaluation["mcc"]), 3)
    1.0
    """
    if isinstance(factors, Evidence):
        if codes is not None or evidence_options:
            raise EvidenceError("An Evidence already contains the codes and their options: pass it alone.")
        evidence = factors
    else:
        evidence = Evidence(factors, codes, **evidence_options)
    return _run({"codes": evidence}, metrics, seeds, n_jobs, progress, _Assurance(quick, budget, level), screen)


@with_option_signature
def compare(
    factors: object,
    representations: Mapping[str, object],
    *,
    metrics: MetricChoice | Iterable[MetricChoice] | None = None,
    seeds: int | Iterable[int] = 0,
    quick: bool = False,
    budget: float = BUDGET,
    level: float = 0.95,
    screen: bool | None = None,
    n_jobs: int = 1,
    progress: bool = True,
    **evidence_options: Unpack[EvidenceOptions],
) -> Evaluation:
    """Score several representations of the same samples side by side; the options are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(200, 2))
    >>> both = compare(factors, {"kept": factors, "noise": rng.normal(size=(200, 2))}, metrics=["mcc"])
    >>> both.score("mcc", "kept").value > both.score("mcc", "noise").value
    True
    """
    if not (isinstance(representations, Mapping) and representations):
        raise EvidenceError("There is nothing to compare: pass a mapping from names to codes.")
    evidences = {
        str(name): _evidence_of(str(name), factors, codes, evidence_options) for name, codes in representations.items()
    }
    if len(evidences) < len(representations):
        raise EvidenceError("Two representations have the same name: give each a name of its own.")
    return _run(_on_common_rows(evidences), metrics, seeds, n_jobs, progress, _Assurance(quick, budget, level), screen)


def _evidence_of(name: str, factors: object, codes: object, options: EvidenceOptions) -> Evidence:
    try:
        return Evidence(factors, codes, **options)
    except EvidenceError as error:
        raise EvidenceError(f"In {name!r}: {error}") from error


def _on_common_rows(evidences: dict[str, Evidence]) -> dict[str, Evidence]:
    """Restrict every representation to the rows that none of them had to drop, so that all have the same samples."""
    common = functools.reduce(np.intersect1d, (evidence.kept_rows for evidence in evidences.values()))
    if not common.size:
        raise EvidenceError("Every row is missing in one of the representations: fill values in or compare fewer.")
    return {
        name: evidence if evidence.n_rows == common.size else evidence.keeping(common)
        for name, evidence in evidences.items()
    }


def _run(
    evidences: Mapping[str, Evidence],
    metrics: MetricChoice | Iterable[MetricChoice] | None,
    seeds: int | Iterable[int],
    n_jobs: int,
    progress: bool,
    assurance: _Assurance,
    screen: bool | None,
) -> Evaluation:
    _check_settings(n_jobs, assurance)
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        metrics = list(metrics)  # every representation reads them again, which an iterator does not allow
    is_panel = metrics in (None, "panel")
    evidences, screening = screened_first(evidences, screen, is_panel)
    fitting = {name: fitting_metrics(metrics, evidence) for name, evidence in evidences.items()}
    chosen = {label: entry for of_one in fitting.values() for label, entry in of_one.items()}
    seed_list = _seed_list(seeds)
    jobs = [
        (name, evidence, label, entry, seed)
        for name, evidence in evidences.items()
        for label, entry in fitting[name].items()
        for seed in (seed_list if _takes_seed(entry) else [None])
    ]
    if not jobs:
        raise EvidenceError(_what_is_missing(next(iter(evidences.values()))))
    rows: list[Row] = []
    known: dict[str, Any] = {}
    expected = [
        seconds
        for evidence in evidences.values()
        for seconds in expected_seconds([label for _, here, label, _, _ in jobs if here is evidence], evidence)
    ]
    in_all = max(sum(expected) + (0.0 if assurance.quick else assurance.budget * PLANNED_SHARE), sum(expected) * 1.01)
    with (
        thread_controller().limit(
            limits=1
        ),  # otherwise BLAS and OpenMP start a thread per core in each of our n_jobs threads
        joblib.parallel_config("threading", n_jobs=n_jobs),
        progress_bar(in_all, progress, in_seconds=True) as shown,
    ):
        for (name, evidence, label, entry, seed), seconds in zip(jobs, expected, strict=True):
            shown.step(f"{label} of {name}" if len(evidences) > 1 else label, seconds)
            rows.append(_row(name, evidence, label, entry, seed))
        if not assurance.quick:
            rows, known = assured(
                rows, evidences, chosen, budget=assurance.budget, level=assurance.level, n_jobs=n_jobs, progress=shown
            )
    known |= {"panel": PANEL_VERSION} if is_panel else {}
    return Evaluation(tuple(rows), described_data(evidences) | known | screening | _pictured(rows, evidences))


def _check_settings(n_jobs: int, assurance: _Assurance) -> None:
    if not isinstance(n_jobs, int) or n_jobs == 0:
        raise EvidenceError(f"n_jobs={n_jobs!r} is not a number of threads: use 1 or more, or -1 for all.")
    if not (isinstance(assurance.budget, Real) and assurance.budget >= 0):  # also refuses nan
        raise EvidenceError(f"budget={assurance.budget!r} is not a time: use a number of seconds from 0.")
    if not (isinstance(assurance.level, Real) and 0 < assurance.level < 1):
        raise EvidenceError(f"level={assurance.level!r} is not a level: use a number between 0 and 1, such as 0.95.")


def _pictured(rows: Iterable[Row], evidences: Mapping[str, Evidence]) -> dict[str, Any]:
    """Data for small plots of factors against their matched codes, if `identification` was computed."""
    pairs = {
        row.representation: matched_pairs(evidences[row.representation], row.score)
        for row in reversed(list(rows))
        if row.label == identification.card.name and row.score is not None and "chosen_matrix" in row.score.parts
    }
    return {"matched_pairs": pairs} if pairs else {}


def _what_is_missing(evidence: Evidence) -> str:
    """The message for input that no metric of the catalogue can be computed from, with what to add."""
    sides = {"factors": evidence.n_factors, "codes": evidence.n_codes, "nuisances": evidence.nuisances.shape[1]}
    given = [name for name, size in sides.items() if size] + ["a sampler"] * (evidence.sampler is not None)
    missing = " and ".join(name for name in ("factors", "codes") if not sides[name])
    return (
        f"No metric can be computed from {' and '.join(given) or 'nothing'} alone: pass {missing} too. "
        "Without factors a posterior (codes=Posterior(mean, std)) or a decoder (decoder=) can be measured."
    )


def _seed_list(seeds: int | Iterable[int]) -> list[int]:
    several = seeds if isinstance(seeds, Iterable) else [seeds]
    try:
        listed = [operator.index(seed) for seed in itertools.islice(several, MOST_SEEDS + 1)]
    except TypeError:
        listed = [-1]
    if len(listed) > MOST_SEEDS:
        raise EvidenceError(f"There are more than {MOST_SEEDS} seeds: pass fewer.")
    if not listed or min(listed) < 0 or len(set(listed)) < len(listed):
        raise EvidenceError(f"seeds={seeds!r} are not seeds: pass a whole number from 0, or several different ones.")
    return listed


def _takes_seed(entry: Any) -> bool:
    """Whether the metric has a random part whose seed was not fixed with its options."""
    return "rng" in metric_of(entry).options and "rng" not in stated_options(entry)


def _row(name: str, evidence: Evidence, label: str, entry: Any, seed: int | None) -> Row:
    card, start = metric_of(entry).card, time.process_time()
    score, chance, problem = None, None, None
    try:
        score = entry(evidence) if seed is None else entry(evidence, rng=seed)
        chance = _chance(card, evidence) if label == card.name else None  # options change the chance level
    except (MetricUndefined, EvidenceError) as error:
        problem = Finding("refused", text=str(error))
    except Exception as error:  # one failing metric must not stop the others
        text = " ".join(str(error).split())
        problem = Finding("failed", metric=card.name, error=type(error).__name__, text=text)
    return Row(
        representation=name,
        label=label,
        card=CardDescription.of(card, _options_in_force(entry)),
        seed=seed,
        score=score,
        problem=problem,
        chance=chance,
        seconds=time.process_time() - start,
    )


def _options_in_force(entry: Any) -> dict[str, Any]:
    defaults = {name: option.default for name, option in metric_of(entry).options.items()}
    return defaults | dict(stated_options(entry))


def _chance(card: Card, evidence: Evidence) -> float | None:
    """Chance level on evidence of this size; None if the card does not state it."""
    if isinstance(card.chance, str):
        return None
    sizes = (evidence.n_rows, evidence.n_codes, evidence.n_factors)
    chance = float(card.chance(*sizes) if callable(card.chance) else card.chance)
    return None if math.isnan(chance) else chance
