"""`evaluate` and `compare`."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Unpack, cast

import joblib
import numpy as np
from scipy import stats

from unweave.arrays import Rows, student_reach
from unweave.card import Card
from unweave.card.card import CardDescription
from unweave.card.decorator import metric_of, stated_options
from unweave.errors import InputError, OptionError, UnweaveError
from unweave.estimators.geometry import StandardNormal
from unweave.estimators.independence import corrected
from unweave.evaluation.choose import (
    PANEL_VERSION,
    MetricChoice,
    Scored,
    expected_seconds,
    fitting_metrics,
)
from unweave.evaluation.environments import environments
from unweave.evaluation.results import (
    Carriers,
    DecoderDescription,
    Evaluation,
    EvaluationData,
    MatchedPair,
    Row,
    ScreenedCode,
    Screening,
    Traversal,
)
from unweave.evidence import Evidence, EvidenceOptions, StandardisedOutputs
from unweave.evidence.inputs import with_option_signature
from unweave.findings import Finding
from unweave.identifiability import Ladder, ladder
from unweave.identifiability.responses import jackknife_error
from unweave.memo import hand_over
from unweave.metrics import identification, manifold_entropy, r2
from unweave.metrics.manifolds import Sampling, drawn_latents, geometry, image_shape_of, standardised, traversals
from unweave.metrics.matrices import unit_readouts
from unweave.metrics.screening import ScreenedCodes, screened
from unweave.names import explains_options
from unweave.options import check_option_values
from unweave.progress import Progress, progress_bar
from unweave.randomness import seed_range
from unweave.responses.constraints import factor_constraints
from unweave.score import Score
from unweave.sentences import printable
from unweave.threads import thread_controller
from unweave.trust.budget import draw_plan, seconds_of_diagnosis, work_of
from unweave.trust.comparison import Comparison, Difference, comparison_of_parts, letters_of, sets_of_ties
from unweave.trust.diagnosis import diagnose
from unweave.trust.floors import may_use_some_rows, noise_floors
from unweave.trust.intervals import PartScores, check_level, interval_of_parts, part_scores
from unweave.trust.scoring import result_or_reason, score_or_reason, takes_seed
from unweave.trust.verdict import check_steps, verdicts


def with_checks(
    rows: Sequence[Row],
    evidences: Mapping[str, Evidence],
    chosen: Mapping[str, Any],
    *,
    of_ladder: Mapping[str, Evidence],
    budget: float,
    level: float,
    n_jobs: int,
    progress: Progress,
) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows with noise floors, intervals and verdicts, and a record of the diagnosis and the comparison.

    Only the row of every metric's first seed is completed.
    """
    check_level(level)
    known: dict[str, Any] = {"diagnosis": {}}
    beside: dict[tuple[str, str], dict[str, Any]] = {}
    of_parts: dict[str, dict[str, PartScores | Finding]] = {}
    scored = {name: _first_scores(rows, name, chosen) for name in evidences}
    # representations are compared on the same parts of the samples, so these follow from all of them
    widest = max(evidence.n_codes for evidence in evidences.values())
    # all have the same factors
    hand_over(factor_constraints, *(evidence for evidence in evidences.values() if evidence.sparse_codes is None))
    of_some_rows = {name: may_use_some_rows(evidence) for name, evidence in evidences.items()}
    for name, evidence in evidences.items():
        known_scores = scored[name].scored_metrics
        scores, metrics = scored[name].scores, scored[name].metrics
        about = f" of {name}" if len(evidences) > 1 else ""
        progress.step(f"diagnosis{about}", seconds_of_diagnosis(evidence))
        dense = evidence.sparse_codes is None
        diagnosis = diagnose(evidence if dense else evidence.factors_alone())
        known["diagnosis"][name] = diagnosis
        steps = check_steps(evidence, diagnosis) if dense and budget else None
        plan = draw_plan(
            {label: work_of(metric) for label, metric in metrics.items()},
            evidence,
            budget,
            tried=steps.evidences if steps else (),
            some_rows=of_some_rows[name],
            parts_of_some_rows=all(of_some_rows.values()),
            compared=len(evidences) > 1,
            n_codes=widest,
            of_ladder=of_ladder[name],
        )
        watch = progress.counted_step(f"intervals{about}", plan.seconds["parts"])
        of_parts[name] = part_scores(known_scores, evidence, plan=plan, n_jobs=n_jobs, watch=watch)
        watch = progress.counted_step(f"noise floors{about}", plan.seconds["draws"])
        floors = noise_floors(known_scores, evidence, plan=plan, n_jobs=n_jobs, watch=watch)
        progress.step(f"verdicts{about}", plan.seconds["trials"])
        untried = plan.untried if dense else tuple(metrics)
        judged = verdicts(metrics, scores, evidence, diagnosis, floors, untried=untried, steps=steps)
        for label, found in of_parts[name].items():
            beside[name, label] = {
                "noise_floor": floors[label],
                "interval": interval_of_parts(scores[label].metric, found, level),
                "verdict": judged[label],
            }
    if len(evidences) > 1:
        progress.step("comparisons")
        known["comparison"] = _comparisons(of_parts, chosen, level)
    firsts = {id(row) for name in evidences for row in _first_rows(rows, name).values()}
    completed = [
        dataclasses.replace(row, **beside.get((row.representation, row.label), {})) if id(row) in firsts else row
        for row in rows
    ]
    return completed, known


def _first_scores(rows: Sequence[Row], representation: str, chosen: Mapping[str, Any]) -> Scored:
    """The metrics of a representation that have a score, each with its first seed."""
    first = {
        label: row
        for label, row in _first_rows(rows, representation).items()
        if row.score is not None and not row.problem
    }
    seeded = {label: row.seed for label, row in first.items() if row.seed is not None}
    of_seeds = {label: functools.partial(chosen[label], rng=seed) for label, seed in seeded.items()}
    return Scored(first, {label: of_seeds.get(label, chosen[label]) for label in first})


def _first_rows(rows: Sequence[Row], representation: str) -> dict[str, Row]:
    """Rows of a representation by label; where there are several seeds, the row of the first."""
    return {row.label: row for row in reversed(rows) if row.representation == representation}


def _comparisons(
    of_parts: Mapping[str, Mapping[str, PartScores | Finding]], chosen: Mapping[str, Any], level: float
) -> dict[str, Comparison]:
    """Which representations differ significantly, for every metric with factors that has a score for all of them.

    The comparison uses the same parts of the samples as the intervals.
    """
    comparisons = {}
    for label, entry in chosen.items():
        card, found = metric_of(entry).card, {name: parts[label] for name, parts in of_parts.items() if label in parts}
        if len(found) == len(of_parts) and "factors" in card.needs:
            comparisons[label] = comparison_of_parts(card.name, found, level)
    return comparisons


ROWS_OF_PICTURE = 150
MOST_FACTORS = 24
MOST_DRAWN = 64
SHARES = (0.01, 0.99)  # codes beyond these quantiles are drawn at the edge


def matched_pairs(evidence: Evidence, score: Score) -> tuple[MatchedPair, ...]:
    """The code that `identification` matched to each factor, and the values of both on some rows, scaled to 0..1.

    A factor without a matched code is paired with the code that depends on it most; of a block of codes, its held-out
    readout of the factor is drawn. Constant factors, blocks of factors and all after the first 24
    are left out.

    >>> from unweave.metrics import identification
    >>> z = np.random.default_rng(0).normal(size=(200, 2))
    >>> evidence = Evidence(z, z[:, ::-1])
    >>> [(pair.factor, pair.code) for pair in matched_pairs(evidence, identification(evidence))]
    [('factor 0', 'code 1'), ('factor 1', 'code 0')]
    """
    chosen, purity = score.parts["chosen_matrix"], score.parts["purity_matrix"]
    rows, units, pairs = _drawn_rows(evidence), list(evidence.code_units), []
    columns, of_block = unit_readouts(evidence) if evidence.has_blocks else (evidence.codes, ())
    for j, (name, members) in enumerate(list(evidence.factor_units.items())[:MOST_FACTORS]):
        if members.size > 1 or name in evidence.constant_factors or not np.isfinite(purity[:, j]).all():
            continue
        used = np.flatnonzero(chosen[:, j])
        i = int(used[purity[used, j].argmax()] if used.size else purity[:, j].argmax())
        start, wide = of_block[i] if of_block else (i, False)
        y = _positions(columns[:, start + wide * int(members[0])], rows, SHARES)
        pairs.append(MatchedPair(name, units[i], _positions(evidence.factors[:, members[0]], rows, (0.0, 1.0)), y))
    return tuple(pairs)


ROWS_OF_CARRIERS, MOST_CARRIERS, WHOLE, WORTH_NAMING = 1000, 3, 0.95, 0.05


def carriers(evidence: Evidence, directions: Mapping[str, np.ndarray]) -> dict[str, Carriers]:
    """The few codes whose part of each direction is most of it; none of sparse codes and of blocks.

    At most three are named, each if it adds a twentieth of the direction's variance, until .95 of it is reached.

    >>> z = np.random.default_rng(0).normal(size=(200, 3))
    >>> carriers(Evidence(z[:, 0], z), {"factor 0": np.array([[0.5], [2.0], [0.1]])})["factor 0"].codes
    ('code 1', 'code 0')
    """
    if evidence.sparse_codes is not None or evidence.has_blocks:
        return {}
    rows = np.unique(np.linspace(0, evidence.n_rows - 1, min(ROWS_OF_CARRIERS, evidence.n_rows)).astype(np.intp))
    codes = evidence.codes[rows] - evidence.codes[rows].mean(axis=0)
    sizes, found = np.square(codes).sum(axis=0), {}
    for factor, weights in directions.items():
        rest = codes @ weights
        whole, share = float(np.square(rest).sum()), 0.0
        named: list[int] = []
        while whole > 0 and len(named) < MOST_CARRIERS and share < WHOLE:
            gains = 2 * ((codes.T @ rest) * weights).sum(axis=1) - sizes * np.square(weights).sum(axis=1)
            gains[named] = -np.inf
            i = int(gains.argmax())
            if gains[i] < WORTH_NAMING * whole:
                break
            named, rest = [*named, i], rest - np.outer(codes[:, i], weights[i])
            share = 1 - float(np.square(rest).sum()) / whole
        found[factor] = Carriers(tuple(evidence.code_names[i] for i in named), share)
    return found


def _drawn_rows(evidence: Evidence) -> np.ndarray:
    return np.unique(np.linspace(0, evidence.n_rows - 1, min(ROWS_OF_PICTURE, evidence.n_rows)).astype(np.intp))


def drawn_codes(evidence: Evidence) -> dict[str, tuple[float, ...]]:
    """The codes on the rows of `matched_pairs`, so that a page can draw any pair; none if there are more than 64."""
    codes = enumerate(evidence.code_names) if evidence.n_codes <= MOST_DRAWN else ()
    return {name: _positions(evidence.codes[:, i], _drawn_rows(evidence), SHARES) for i, name in codes}


def _positions(column: np.ndarray, rows: np.ndarray, shares: tuple[float, float]) -> tuple[float, ...]:
    """Values of these rows, scaled to 0..1 between two quantiles of the column and rounded to three digits."""
    low, high = np.quantile(column, shares)
    width = high - low if high > low else 1.0
    return tuple(np.round(np.clip((column[rows] - low) / width, 0.0, 1.0), 3).tolist())


MANY_CODES = 1000  # with more dense codes than this, codes are screened
FEW_CODES = 64  # with more sparse codes than this, codes are screened
MOST_SCORED = 256
MOST_IN_LADDER = 4096  # of more codes, the ladder is that of the screened ones
RATE = 0.05
FEWEST_ROWS = 200
LARGEST_DENSE = 40_000_000  # largest dense table, in numbers: 320 MB
MOST_LISTED = 1000


def screened_first(
    evidences: Mapping[str, Evidence], wanted: bool | None, is_panel: bool
) -> tuple[Mapping[str, Evidence], dict[str, Screening]]:
    """Return the evidences to score, and for every screened representation which codes were selected.

    With ``wanted=None``, only many codes are screened, and only for the panel. If any representation is screened, all
    of them are scored on the same half of the rows.
    """
    if wanted is None and not is_panel:
        return evidences, {}
    many = {name for name, one in evidences.items() if _can_be_screened(one) and _shall_be_screened(one, wanted)}
    if not many:
        return evidences if wanted is False else {name: _dense(entry) for name, entry in evidences.items()}, {}
    scored, known = {}, {}
    for name, evidence in evidences.items():
        first, second = (np.sort(rows) for rows in evidence.split(0.5, seed=0))
        rest = evidence.rows(second)
        if name in many:
            found = screened(evidence.rows(first), RATE, fewest=evidence.n_factors)
            chosen = _codes_to_score(found, evidence.n_factors)
            rest = rest.choosing_codes(chosen)
            n_found = int((found.q_value <= found.rate).sum())
            codes = tuple(ScreenedCode(**row) for row in found.rows()[: min(n_found, MOST_LISTED)])
            known[name] = Screening(found.n_codes, n_found, chosen.size, first.size, found.rate, codes)
        scored[name] = _dense(rest)
    return scored, known


def _can_be_screened(evidence: Evidence) -> bool:
    points = evidence.posterior is None and not evidence.code_groups and evidence.all_rows is None
    return bool(points and evidence.n_factors and evidence.n_codes > 1 and evidence.n_rows >= FEWEST_ROWS)


def _shall_be_screened(evidence: Evidence, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    return evidence.n_codes > (MANY_CODES if evidence.sparse_codes is None else FEW_CODES)


def _codes_to_score(found: ScreenedCodes, n_factors: int) -> Rows:
    """Sorted indices of the codes to score: all that were found, or the strongest of each factor if there are many."""
    most = min(max(FEW_CODES, 2 * n_factors), MOST_SCORED)
    seen: Counter[str] = Counter()
    turns = []
    for factor in found.factors:
        turns.append(seen[factor])
        seen.update([factor])
    order = np.argsort(turns, kind="stable")[:most]
    return np.sort(found.codes[order])


def _dense(evidence: Evidence) -> Evidence:
    """Convert a few sparse codes to a dense table, which every metric accepts."""
    if evidence.sparse_codes is None or evidence.n_codes > MOST_SCORED:
        return evidence
    if evidence.n_rows * evidence.n_codes > LARGEST_DENSE:
        return evidence
    return evidence.choosing_codes(np.arange(evidence.n_codes))


SMALLEST_DIFFERENCE = 0.005  # of ladder values: smaller ones are not shown with two decimals
BUDGET = 30.0


@dataclass(frozen=True)
class _Checks:
    """Options of noise floors, intervals and verdicts; ``quick`` leaves them out."""

    quick: bool
    budget: float
    level: float

    def __post_init__(self) -> None:
        check_option_values("evaluate", {"quick": bool}, {"quick": self.quick})


@explains_options
@with_option_signature
def evaluate(
    factors: object = None,
    codes: object = None,
    *,
    metrics: MetricChoice | Iterable[MetricChoice] | None = None,
    n_seeds: int = 1,
    seed: int = 0,
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
    n_seeds : int
        Number of seeds. Metrics with a random part are computed once for each, and their scores are averaged.
    seed : int
        The first seed; the others follow it.
    quick : bool
        Whether to compute scores only, without noise floors, intervals and verdicts.
    budget : float
        Largest number of CPU seconds, approximately, for scores, noise floors, intervals and verdicts of one
        representation. Draws stop as soon as they are decided, so that a call mostly takes less. The budget is
        converted to numbers of draws by a table of costs and not by a clock, so that the same call gives the same
        numbers on a busy machine; a metric that is not in the table counts as a tenth of a second per 1,000 rows. What
        does not fit is "not checked", and a note says so. No verdict changes otherwise with the budget.
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
            raise InputError("An Evidence already contains the codes and their options: pass it alone.")
        evidence = factors
    else:
        evidence = Evidence(factors, codes, **evidence_options)
    seeds = seed_range(n_seeds, seed)
    name = "codes" if evidence.n_rows or evidence.decoder is None else "decoder"
    return _run({name: evidence}, metrics, seeds, n_jobs, progress, _Checks(quick, budget, level), screen)


@explains_options
@with_option_signature
def compare(
    factors: object,
    representations: Mapping[str, object] | Sequence[object],
    *,
    names: Sequence[str] | None = None,
    metrics: MetricChoice | Iterable[MetricChoice] | None = None,
    n_seeds: int = 1,
    seed: int = 0,
    quick: bool = False,
    budget: float = BUDGET,
    level: float = 0.95,
    screen: bool | None = None,
    n_jobs: int = 1,
    progress: bool = True,
    **evidence_options: Unpack[EvidenceOptions],
) -> Evaluation:
    """Score several representations of the same samples side by side; other options are those of `evaluate`.

    Parameters
    ----------
    representations : mapping of name to codes, or sequence
        A sequence contains pairs of name and codes, or codes alone.
    names : sequence of str, optional
        Names for a sequence of codes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(200, 2))
    >>> both = compare(factors, {"kept": factors, "noise": rng.normal(size=(200, 2))}, metrics=["mcc"])
    >>> both.score("mcc", "kept").value > both.score("mcc", "noise").value
    True
    """
    seeds = seed_range(n_seeds, seed)
    evidences = paired_evidences(factors, representations, evidence_options, names)
    return _run(evidences, metrics, seeds, n_jobs, progress, _Checks(quick, budget, level), screen)


def paired_evidences(
    factors: object, representations: object, evidence_options: EvidenceOptions, names: Sequence[str] | None = None
) -> dict[str, Evidence]:
    """Evidence of every representation, all with the same rows."""
    named = _named_codes(representations, names)
    evidences = {
        (shown := printable(name)): _evidence_of(shown, factors, codes, evidence_options) for name, codes in named
    }
    if len(evidences) < len(named):
        raise InputError("Two representations have the same name: give each a name of its own.")
    return _on_common_rows(evidences)


def _named_codes(representations: object, names: Sequence[str] | None) -> list[tuple[object, object]]:
    """Pairs of a name and codes."""
    if isinstance(representations, Mapping):
        if names is not None:
            raise OptionError("The representations have names already: pass a list of codes with names=, or a mapping.")
        pairs = list(representations.items())
    elif isinstance(representations, (list, tuple)):
        pairs = list(representations)
        if names is not None:
            if isinstance(names, str) or len(names) != len(pairs):
                raise OptionError(
                    f"names={names!r} does not name {len(pairs)} representations: pass one name for each."
                )
            pairs = list(zip(names, pairs, strict=True))
        elif not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
            pairs = [(f"codes {k}", codes) for k, codes in enumerate(pairs)]
    else:
        raise InputError("There is nothing to compare: pass a mapping from names to codes, or a list with names=.")
    if not pairs:
        raise InputError("There is nothing to compare: pass a mapping from names to codes.")
    return pairs


def _evidence_of(name: str, factors: object, codes: object, options: EvidenceOptions) -> Evidence:
    try:
        return Evidence(factors, codes, **options)
    except UnweaveError as error:
        raise InputError(f"In {name!r}: {error}") from error


def _on_common_rows(evidences: dict[str, Evidence]) -> dict[str, Evidence]:
    """Restrict every representation to the rows that none of them had to drop, so that all have the same samples."""
    common = functools.reduce(np.intersect1d, (evidence.kept_rows for evidence in evidences.values()))
    if not common.size:
        raise InputError("Every row is missing in one of the representations: fill values in or compare fewer.")
    return {
        name: evidence if evidence.n_rows == common.size else evidence.keeping(common)
        for name, evidence in evidences.items()
    }


def _run(
    evidences: Mapping[str, Evidence],
    metrics: MetricChoice | Iterable[MetricChoice] | None,
    seeds: Sequence[int],
    n_jobs: int,
    progress: bool,
    checks: _Checks,
    screen: bool | None,
) -> Evaluation:
    _check_settings(n_jobs, checks)
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        metrics = list(metrics)  # every representation reads them again, which an iterator does not allow
    is_panel = metrics in (None, "panel")
    given = evidences
    # first, because labels may be wrong
    by_environment = {name: environments(one) for name, one in given.items() if one.environments is not None}
    evidences, screening = screened_first(given, screen, is_panel)
    # all codes and rows, also if codes were screened: directions are held out; very many codes are the scored ones
    of_ladder = given if max(one.n_codes for one in given.values()) <= MOST_IN_LADDER else evidences
    fitting = {name: fitting_metrics(metrics, evidence) for name, evidence in evidences.items()}
    chosen = {label: entry for of_one in fitting.values() for label, entry in of_one.items()}
    jobs = _jobs(evidences, fitting, seeds)
    if not jobs:
        raise InputError(_what_is_missing(next(iter(evidences.values()))))
    rows: list[Row] = []
    known: dict[str, Any] = {}
    expected = [
        seconds
        for evidence in evidences.values()
        for seconds in expected_seconds([label for _, here, label, _, _ in jobs if here is evidence], evidence)
    ]
    of_draws = 0.0 if checks.quick else checks.budget * len(evidences)
    in_all = max(sum(expected) + of_draws, sum(expected) * 1.01)
    with (  # one thread: otherwise BLAS and OpenMP start a thread per core in each of our n_jobs threads
        thread_controller().limit(limits=1),
        joblib.parallel_config("threading", n_jobs=n_jobs),
        progress_bar(in_all, progress, in_seconds=True) as shown,
    ):
        for (name, evidence, label, entry, seed), seconds in zip(jobs, expected, strict=True):
            shown.step(f"{label} of {name}" if len(evidences) > 1 else label, seconds)
            rows.append(_row(name, evidence, label, entry, seed))
        _refuse_failed_decoders(rows, evidences)
        if not checks.quick:
            shown.results(_first_results(rows))
            rows, known = with_checks(
                rows,
                evidences,
                chosen,
                of_ladder=of_ladder,
                budget=checks.budget,
                level=checks.level,
                n_jobs=n_jobs,
                progress=shown,
            )
    known |= _pictures(rows, evidences)
    known["traversals"] = _traversals(rows, evidences)
    known["decoders"] = _decoders(jobs, rows)
    known |= _ladders(of_ladder, checks, is_panel, chosen)
    known |= {"environments": by_environment, "screening": screening, "nuisances": _nuisances(given)}
    data = EvaluationData.of(evidences, **known, panel=PANEL_VERSION * is_panel or None)
    return Evaluation(tuple(rows), data)


def _nuisances(evidences: Mapping[str, Evidence]) -> dict[str, dict[str, float]]:
    return {name: read for name, one in evidences.items() if (read := read_nuisances(one))}


MOST_LEVELS = 20


def read_nuisances(evidence: Evidence) -> dict[str, float]:
    """`r2` of every nuisance that varies; one with few whole numbers, such as those of texts, is read by its classes.

    >>> z, batch = np.random.default_rng(0).normal(size=(2, 300))
    >>> round(read_nuisances(Evidence(z, np.column_stack([z, batch + z]), nuisances={"batch": batch}))["batch"], 2)
    1.0
    """
    columns = dict(zip(evidence.nuisance_names, evidence.nuisances.T, strict=True))
    columns = {name: values for name, values in columns.items() if values.size and np.ptp(values) > 0}
    levels = {name: np.unique(values) for name, values in columns.items()}
    few = {name for name, each in levels.items() if each.size <= MOST_LEVELS and (each == np.round(each)).all()}
    if not columns or not evidence.n_codes:
        return {}
    codes = evidence.codes if evidence.sparse_codes is None else evidence.sparse_codes
    kinds = {name: "categorical" if name in few else "continuous" for name in columns}
    groups = None if evidence.row_groups is None else evidence.row_groups.tolist()
    found = score_or_reason(r2, Evidence(columns, codes, kinds=kinds, row_groups=groups), None)
    return dict(found.per_factor) if isinstance(found, Score) else {}


MOST_SHOWN = 12


def _first_results(rows: Sequence[Row]) -> str:
    """A line of scores for each of the first representations, which is shown while the rest is computed."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        if row.score is not None:
            lines.setdefault(row.representation, []).append(f"{row.label} {row.score.value:.2f}")
    shown = list(lines.items())[:MOST_SHOWN]
    return "\n".join((f"{name}: " if len(lines) > 1 else "") + ", ".join(scores) for name, scores in shown)


def _jobs(evidences: Mapping[str, Evidence], fitting: Mapping[str, Any], seeds: Sequence[int]) -> list[tuple[Any, ...]]:
    """What is scored: representation, evidence, label, metric, and a seed if the metric takes one."""
    return [
        (name, evidence, label, entry, seed)
        for name, evidence in evidences.items()
        for label, entry in fitting[name].items()
        for seed in (seeds if takes_seed(entry) else [None])
    ]


def _ladders(
    evidences: Mapping[str, Evidence], checks: _Checks, is_panel: bool, chosen: Mapping[str, Any]
) -> dict[str, Any]:
    """Ladders of the representations and their comparison, with the panel and with `identification` only."""
    if not (is_panel or identification.card.name in chosen):
        return {}
    ladders: dict[str, Ladder] = {}
    problems = {}
    for name, evidence in evidences.items():
        if evidence.n_factors and evidence.n_codes:
            one = result_or_reason(functools.partial(ladder, evidence, quick=checks.quick), "ladder")
            if isinstance(one, Ladder):
                ladders[name] = one
            else:
                problems[name] = str(one)
    found: dict[str, Any] = {"ladders": ladders, "ladder_problems": problems}
    found["carriers"] = {name: carriers(evidences[name], one.directions) for name, one in ladders.items()}
    if len(ladders) == len(evidences) and len(ladders) > 1 and not checks.quick:
        found["ladder_comparison"] = compared_ladders(ladders, checks.level)
    return found


def compared_ladders(ladders: Mapping[str, Ladder], level: float) -> Comparison:
    """Which representations differ significantly in `Ladder.value`, by paired t-tests with Holm's correction.

    Differences and intervals are those of the values as they are, with the jackknife over blocks of the same samples.
    The jackknife knows how a value changes with the samples, and not that another random mixing of the same factors has
    other own codes. So p is at least that of the best of three reasons, times their number, why a difference is no such
    luck: the axes of one or of the other are no random mixture (`Ladder.axes_p_value`), or the better one is better in
    directions and readability alone. Nothing about a pair depends on other representations but Holm's correction.
    Differences below `SMALLEST_DIFFERENCE` do not count.
    """
    order = sorted(ladders, key=lambda name: -ladders[name].value)
    pairs = list(itertools.combinations(order, 2))
    tested = [_ladder_difference(ladders[a], ladders[b]) for a, b in pairs]
    whole, read = (corrected(np.array([each[k] for each in tested]), "holm") for k in (3, 4))
    axes = [min(ladders[name].axes_p_value for name in pair) for pair in pairs]
    p_values = np.maximum(whole, np.minimum(3 * np.minimum(read, axes), 1.0))
    differences = tuple(
        Difference(a, b, gap, error, gap - reach, gap + reach, p)
        for (a, b), (gap, error, n_free, *_), p in zip(pairs, tested, p_values.tolist(), strict=True)
        for reach in [student_reach(error, n_free, level)]
    )
    apart = {frozenset((each.first, each.second)) for each in differences if each.p_value <= 1 - level}
    ties = sets_of_ties(order, apart)
    scores = {name: ladders[name].value for name in order}
    n_rows = min(one.n_rows for one in ladders.values())
    return Comparison("ladder", level, n_rows, scores, differences, ties, letters_of(order, ties))


def _ladder_difference(one: Ladder, two: Ladder) -> tuple[float, float, int, float, float]:
    """The difference of two values, its standard error with degrees of freedom, and p; and p without own codes."""
    here, there = one.replicates, two.replicates
    gap, blocks = one.value - two.value, here["value"] - there["value"]
    read = (one.direction - two.direction + one.readable - two.readable) / 4
    of_read = (here["direction"] - there["direction"] + here["readable"] - there["readable"]) / 4
    n_free = max(blocks.size - 1, 1)  # there are fewer blocks than usual if there are few groups of samples
    error, of_rest = (max(float(jackknife_error(each)), 1e-12) for each in (blocks, of_read))
    p_value, p_rest = (
        float(2 * stats.t.sf(max(each - SMALLEST_DIFFERENCE, 0.0) / size, n_free))
        for each, size in ((gap, error), (read, of_rest))
    )
    return gap, error, n_free, p_value, p_rest


def _check_settings(n_jobs: int, checks: _Checks) -> None:
    if not isinstance(n_jobs, int) or n_jobs == 0:
        raise OptionError(f"n_jobs={n_jobs!r} is not a number of threads: use 1 or more, or -1 for all.")
    if not (isinstance(checks.budget, Real) and checks.budget >= 0):  # also refuses nan
        raise OptionError(f"budget={checks.budget!r} is not a time: use a number of seconds from 0.")
    if not (isinstance(checks.level, Real) and 0 < checks.level < 1):
        raise OptionError(f"level={checks.level!r} is not a level: use a number between 0 and 1, such as 0.95.")


def _pictures(rows: Sequence[Row], evidences: Mapping[str, Evidence]) -> dict[str, Any]:
    """Points of factors, of their matched codes by the first seed of `identification`, and of all codes."""
    pairs = {
        row.representation: matched_pairs(evidences[row.representation], row.score)
        for row in reversed(rows)
        if row.label == identification.card.name and row.score is not None and "chosen_matrix" in row.score.parts
    }
    return {"matched_pairs": pairs, "drawn_codes": {name: drawn_codes(evidences[name]) for name in pairs}}


MOST_TRAVERSED, TRAVERSED, LARGEST_SIDE = 8, (-2.0, -1.0, 0.0, 1.0, 2.0), 32


def _traversals(rows: Sequence[Row], evidences: Mapping[str, Evidence]) -> dict[str, tuple[Traversal, ...]]:
    """Traversals of decoders that can decode, where there are no factors."""
    found = {
        row.representation: result_or_reason(
            functools.partial(_latent_traversals, evidences[row.representation], row.score), row.label
        )  # a decoder that fails on these latents must not lose the scores
        for row in reversed(rows)
        if row.metric == manifold_entropy.card.name
        and row.score is not None
        and not evidences[row.representation].n_factors
        and hasattr(evidences[row.representation].decoder, "decode")
    }
    return {name: pictures for name, pictures in found.items() if not isinstance(pictures, Finding)}


def _latent_traversals(evidence: Evidence, entropy: Score) -> tuple[Traversal, ...]:
    """Traversals of the latents with the largest entropies."""
    names, entropies = list(entropy.per_code), np.array(list(entropy.per_code.values()))
    order = np.argsort(-entropies, kind="stable")[:MOST_TRAVERSED]
    decoded = traversals(evidence, order.tolist(), TRAVERSED)
    n_outputs = decoded.shape[-1]
    shape = image_shape_of(n_outputs) or (1, 1, n_outputs)
    if shape[1] == 1:
        decoded -= decoded[:, TRAVERSED.index(0.0), None]  # beside the outputs at 0, small changes could not be seen
    step = -(-shape[2] // LARGEST_SIDE)
    pictures = decoded.reshape(*decoded.shape[:2], *shape).mean(axis=2)[..., ::step, ::step]
    low, high = pictures.min(axis=(1, 2, 3), keepdims=True), pictures.max(axis=(1, 2, 3), keepdims=True)
    shown = np.round((pictures - low) / np.where(high > low, high - low, 1.0), 2)
    return tuple(
        Traversal(names[i], TRAVERSED, tuple(tuple(map(tuple, each)) for each in of_one.tolist()))
        for i, of_one in zip(order.tolist(), shown, strict=True)
    )


def _refuse_failed_decoders(rows: Sequence[Row], evidences: Mapping[str, Evidence]) -> None:
    """Raise an error if no metric of a decoder alone could be computed: there is nothing else to show."""
    alone = all(each.decoder is not None and not each.n_rows for each in evidences.values())
    if alone and all(row.score is None for row in rows):
        raise InputError(str(rows[0].problem))


OF_SETS = ("dimensions", "sets", "partition")  # options for which a score is not about single latents


def _decoders(jobs: Sequence[tuple[Any, ...]], rows: Sequence[Row]) -> dict[str, DecoderDescription]:
    """Descriptions of decoders without factors whose entropies were computed."""
    scored: dict[str, dict[str, tuple[Any, ...]]] = {}
    for (name, evidence, _, entry, seed), row in zip(jobs, rows, strict=True):
        of_single = row.score is not None and not any(stated_options(entry).get(option) for option in OF_SETS)
        if evidence.decoder is not None and not evidence.n_factors and of_single:
            scored.setdefault(name, {}).setdefault(row.metric, (evidence, entry, seed))
    return {name: _described(chosen) for name, chosen in scored.items() if manifold_entropy.card.name in chosen}


def _described(chosen: Mapping[str, tuple[Any, ...]]) -> DecoderDescription:
    """The description of one decoder, with scores of the same metrics for outputs of unit variance."""
    evidence, entry, seed = chosen[manifold_entropy.card.name]
    options = stated_options(entry)
    prior, n_samples = options.get("prior", StandardNormal()), options.get("n_samples", 1000)
    found = geometry(evidence, Sampling(prior, n_samples, seed or 0))
    known = DecoderDescription(
        n_outputs=found.n_outputs,
        is_standardised=isinstance(evidence.decoder, StandardisedOutputs),
        n_samples=len(found.used),
        prior="" if drawn_latents(evidence.decoder, Sampling(prior, 1, 0)) is None else type(prior).__name__,
    )
    if evidence.output_names and len(evidence.output_names) != found.n_outputs:
        raise InputError(
            f"There are {len(evidence.output_names)} output_names for {found.n_outputs} outputs: pass one for each."
        )
    if found.squares is not None:
        known = dataclasses.replace(
            known,
            outputs=evidence.output_names or tuple(f"output {k}" for k in range(found.n_outputs)),
            mean_effects=tuple(map(tuple, found.tangents.T.tolist())),
            effects=tuple(map(tuple, np.sqrt(found.squares).T.tolist())),
        )
    if known.is_standardised or image_shape_of(found.n_outputs):
        return known
    scaled = result_or_reason(lambda: standardised(evidence, prior=prior, rng=seed or 0), "standardised")
    if isinstance(scaled, Finding):
        return dataclasses.replace(known, problem=scaled)
    beside = evidence._with(decoder=scaled)
    scores = {name: score_or_reason(each, beside, its_seed) for name, (_, each, its_seed) in chosen.items()}
    return dataclasses.replace(
        known,
        deviations=tuple(scaled.deviations.tolist()),
        standardised={name: score for name, score in scores.items() if isinstance(score, Score)},
    )


def _what_is_missing(evidence: Evidence) -> str:
    """The message for input that no metric of the catalogue can be computed from, with what to add."""
    sides = {"factors": evidence.n_factors, "codes": evidence.n_codes, "nuisances": evidence.nuisances.shape[1]}
    given = [name for name, size in sides.items() if size] + ["a sampler"] * (evidence.sampler is not None)
    missing = " and ".join(name for name in ("factors", "codes") if not sides[name])
    return (
        f"No metric can be computed from {' and '.join(given) or 'nothing'} alone: pass {missing} too. "
        "Without factors a posterior (codes=Posterior(mean, std)) or a decoder (decoder=) can be measured."
    )


def _row(name: str, evidence: Evidence, label: str, entry: Any, seed: int | None) -> Row:
    card, start = metric_of(entry).card, time.process_time()
    score = score_or_reason(entry, evidence, seed)
    # options change the chance level
    chance = result_or_reason(lambda: _chance(card, evidence), card.name) if label == card.name else None
    problem = next((found for found in (score, chance) if isinstance(found, Finding)), None)
    defaults = {name: option.default for name, option in metric_of(entry).options.items()}
    return Row(
        representation=name,
        label=label,
        card=CardDescription.of(card, defaults | dict(stated_options(entry))),
        seed=seed,
        score=score if isinstance(score, Score) else None,
        problem=problem,
        chance=None if problem else cast(float | None, chance),
        seconds=time.process_time() - start,
    )


def _chance(card: Card, evidence: Evidence) -> float | None:
    """Chance level on evidence of this size; None if the card does not state it."""
    if isinstance(card.chance, str) or (callable(card.chance) and evidence.code_groups):
        return None  # formulas hold for single codes
    sizes = (evidence.n_rows, evidence.n_codes, evidence.n_factors)
    chance = float(card.chance(*sizes) if callable(card.chance) else card.chance)
    return None if math.isnan(chance) else chance
