"""`audit`: the four properties of a metric, measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

import joblib
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.auditing.adversary import RedTeam, red_team
from unweave.auditing.measurement import (
    MAP_SEED,
    PROPERTIES,
    Auditable,
    Bench,
    Case,
    Grid,
    Measured,
    Point,
    Property,
    Scale,
    Subject,
    further_points,
    scored,
    subject_of,
    subjects_of,
)
from unweave.auditing.properties import (
    LOSSY_SHARE,
    NOT_APPLICABLE,
    PARTLY,
    SATISFIED,
    Audit,
    Result,
    audit_of_outcomes,
    card_cases,
    finding_of,
    scores_of,
)
from unweave.findings import Finding
from unweave.names import explains_options
from unweave.options import checks_options
from unweave.progress import progress_bar
from unweave.randomness import seed_range
from unweave.sentences import texts
from unweave.store import Results
from unweave.sweeps.execution import check_n_processes
from unweave.sweeps.sweep import Measurement
from unweave.synthetic import encoders, worlds
from unweave.synthetic.encoders import *  # noqa: F403 - for the expressions that an audit prints
from unweave.synthetic.worlds import *  # noqa: F403

BUDGET = 300.0

# shares of the budget; the remainder is for the adversary
POINTS_SHARE, CARD_SHARE, FURTHER_SHARE = 0.65, 0.1, 0.1
CARD_SEEDS = 2


@explains_options
@checks_options
def audit(
    metric: Auditable,
    *,
    scale: Scale | None = None,
    n_seeds: int = 5,
    budget: float | None = BUDGET,
    n_jobs: int = 1,
    grid: Grid | None = None,
    adversary: bool = True,
    further: bool = True,
    progress: bool = True,
) -> Audit:
    """Test whether a metric has the four properties of paper 003, and whether its scores agree with its card.

    P1: does the score stay the same when factors correlate? P2: does it distinguish redundant from free factors? P3:
    does it stay the same when codes are added? P4: is it about zero for random codes? Each property is measured on
    synthetic factors and encoders whose mixing and losses are known, as a number with an interval over seeds.

    Parameters
    ----------
    metric : str, metric, partial of a metric, or function ``(factors, codes) -> float``
        A name may carry options: ``"mcc:correlation=spearman"``.
    scale : (worst, best), optional
        The scores that are rescaled to 0 and 1. By default they come from the metric's card: the lower bound and the
        best score, or the upper and the lower bound if lower is better. For a function without a card: 0 and 1.
    n_seeds : int
        Number of draws of every world and map, 2 or more. If the intervals do not decide a verdict, up to eight times
        as many are drawn.
    budget : float or None
        CPU seconds. The most informative cells are computed first. The result names the cells that did not fit, and
        verdicts that they could change are undecided. A tenth of the budget is for the card, a tenth for further
        questions, and about a seventh for the adversary. None computes everything.
    n_jobs : int
        Number of processes; -1 for one per core. The scores do not depend on it.
    grid : Grid, optional
        Sizes and steps. The thresholds were chosen for the default grid.
    adversary : bool
        Whether to search for the encoder with the largest product of score and mixing share.
    further : bool
        Whether to test more than the four properties: 2 and 3 factors, factors with levels, redundant factors that are
        many-to-one functions, 300 to 3,000 rows, and rows in another order.
    progress : bool
        Show a bar with the time left, on terminals and in notebooks, after two seconds.

    Returns
    -------
    Audit
        Print it for a table; ``audit["P1"].verdict`` and ``audit.ticks`` for use in programs.

    Examples
    --------
    >>> small = Grid(n_factors=(5,), n_rows=200, rhos=(0, 0.9), ratios=(2,), splits=(2,), null_ratios=(0.1,))
    >>> found = audit(lambda factors, codes: 0.5, grid=small, adversary=False)
    >>> found.ticks, str(found.remarks[0])[:27]
    ('✓✗✓✗', 'This metric is constant: ev')
    """
    subject = subject_of(metric, scale)
    return audit_all(
        [subject],
        n_seeds=n_seeds,
        budget=budget,
        n_jobs=n_jobs,
        grid=grid,
        adversary=adversary,
        further=further,
        progress=progress,
    )[0]


def audit_all(
    metrics: Iterable[Auditable | Subject],
    *,
    n_seeds: int = 5,
    budget: float | None = BUDGET,
    n_jobs: int = 1,
    grid: Grid | None = None,
    adversary: bool = True,
    further: bool = True,
    progress: bool = True,
    store: str | Path | None = None,
) -> list[Audit]:
    """Audit several metrics on the same data, so that they share computations; ``budget`` is for all metrics together.

    Every finished cell is written to the file ``store``, from which a run that was stopped can continue. The other
    options are those of `audit`.
    """
    check_n_processes(n_jobs)
    seeds = seed_range(n_seeds, at_least=2)  # one seed gives no interval
    subjects, grid = subjects_of(metrics), grid or Grid()
    refused = {each.label: Audit(each.label, each.version, refusal=each.refusal) for each in subjects if each.refusal}
    fit = [subject for subject in subjects if not subject.refusal]
    if not fit:
        return list(refused.values())
    promised = list(card_cases().values()) if any(subject.card for subject in fit) else []
    beyond = list(dict.fromkeys(point.case for point in further_points())) if further else []
    n_cases = len(dict.fromkeys([*promised, *beyond, *(point.case for point in grid.points())]))
    with progress_bar(n_cases, progress, what="cases") as bar:
        bench = Bench(fit, Results(store), int(joblib.effective_n_jobs(n_jobs)), after_each=bar.advance)
        bench.budget = None if budget is None else POINTS_SHARE * budget
        measurements = _measured_points(bench, grid.points(), seeds)
        per_subject = _outcomes_with_more_seeds(bench, grid.points(), measurements, n_seeds)
        bench.budget = None if budget is None else (POINTS_SHARE + CARD_SHARE) * budget
        of_cards = bench.measure(promised, range(CARD_SEEDS))
        bench.budget = None if budget is None else (POINTS_SHARE + CARD_SHARE + FURTHER_SHARE) * budget
        of_further = bench.measure(beyond, seeds)
        bench.budget, bench.after_each = budget, lambda: None
        worst_encoders: list[RedTeam | None] = red_team(bench) if adversary else [None] * len(fit)
        bench.close()
    audits = dict(refused)
    for place, subject in enumerate(fit):
        own = _of_subject(of_cards, place) | _of_subject(of_further, place) | per_subject[place]
        audits[subject.label] = audit_of_outcomes(subject, grid, own, seeds, worst_encoders[place], further)
    return [audits[subject.label] for subject in subjects]


def _outcomes_with_more_seeds(
    bench: Bench, points: list[Point], measured: Measured, n_seeds: int
) -> list[dict[Case, list[Measurement]]]:
    """Outcomes of every subject, with up to eight times the seeds for cases that leave a verdict undecided."""
    settled = [_of_subject(measured, place) for place in range(len(bench.subjects))]
    for more in (2 * n_seeds, 4 * n_seeds, 8 * n_seeds):
        undecided = [_undecided_cases(points, own) for own in settled]
        if not any(undecided):
            break
        further = bench.measure(list(dict.fromkeys(case for cases in undecided for case in cases)), range(more))
        for place, cases in enumerate(undecided):
            # other subjects do not use these seeds, so that results do not depend on the choice of subjects
            settled[place] |= {case: [row[place] for row in further[case]] for case in cases if case in further}
    return settled


def _undecided_cases(points: list[Point], own: dict[Case, list[Measurement]]) -> list[Case]:
    """Cases of one subject that could decide a verdict if more seeds were drawn."""
    scores = scores_of(points, own)
    cases: dict[Case, None] = {}
    for name in PROPERTIES:
        finding = finding_of(name, points, scores)
        if finding.verdict == "undecided" and not finding.missing:
            straddling = [row for row in finding.rows if row.counts and len(row.levels) > 1]
            ends = [point for row in straddling for point in (row.higher, row.lower) if point is not None]
            cases |= {point.case: None for point in ends}
    return list(cases)


def _of_subject(measured: Measured, place: int) -> dict[Case, list[Measurement]]:
    return {case: [row[place] for row in rows] for case, rows in measured.items()}


def _measured_points(bench: Bench, points: list[Point], seeds: range) -> Measured:
    """Measure all points in the order of their turns; points that can no longer change a verdict are measured last."""
    measured: Measured = {}
    waiting = points
    while waiting:
        settled = {name for name in PROPERTIES if _violated_by_all(name, bench, points, measured)}
        open_points = [point for point in waiting if point.name not in settled] or waiting
        now = [point for point in open_points if point.turn == open_points[0].turn]
        measured |= bench.measure([point.case for point in now if point.case not in measured], seeds)
        waiting = [point for point in waiting if point not in now]
    return measured


def _violated_by_all(name: Property, bench: Bench, points: list[Point], measured: Measured) -> bool:
    """Whether every subject is already known to violate the property."""
    return all(
        finding_of(name, points, scores_of(points, _of_subject(measured, place))).verdict == "violated"
        for place in range(len(bench.subjects))
    )


STYLES = {"satisfied": "green", "partly": "yellow", "violated": "red", "undecided": "dim"}
WIDTH = 140
SHOWN = 3  # number of missing points that are named


def rich_audit(audit: Audit) -> Group:
    """Remarks, verdicts with the worst number of every kind, notes, and worst cases."""
    title = f"Audit of {audit.metric}" + (f" version {audit.version}" if audit.version else "")
    if audit.refusal:
        return Group(Text(title, style="bold"), Text(f"Not applicable: {audit.refusal}"))
    title += f": {' '.join(audit.ticks)}   ({audit.n_seeds} seeds, {audit.seconds:.0f} s)"
    results = (*audit.results, *audit.further)
    cases = [(result.name, result.worst_case) for result in results if result.worst_case]
    worst = [f"{name} {_short(case.number, 3)} = {case.expression}" for name, case in cases]
    if audit.red_team is not None:
        worst.append(f"adversary {_short(audit.red_team.product, 3)} = {audit.red_team.expression}")
    return Group(
        Text(title, style="bold"),
        *(Text(str(remark), style="bold red") for remark in audit.remarks),
        _verdicts(results),
        *(Text(str(note)) for note in _notes(audit)),
        Text("\nWorst cases, after: from unweave.auditing.run import *", style="bold"),
        *map(Text, worst),
    )


def text_of(audit: Audit) -> str:
    """The audit as plain text without colours."""
    return _text(rich_audit(audit))


def text_table(audits: Sequence[Audit]) -> str:
    """Table 3 of 003 for these metrics as plain text: marks, each with its decisive number and interval."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("metric", *PROPERTIES, "adversary", "card"):
        table.add_column(heading, no_wrap=True)
    for audit in audits:
        if audit.refusal:
            table.add_row(Text(audit.metric), *NOT_APPLICABLE * len(PROPERTIES), "", "not applicable")
            continue
        cells = [f"{result.tick} {number_of(result.number, result.interval)}" for result in audit.results]
        product = "" if audit.red_team is None else f"{audit.red_team.product:.2f}"
        broken = [f"{promise.encoder} scores {_short(promise.score)}" for promise in audit.promises if not promise.kept]
        unmeasured = "not measured" if audit.equivalence else "no card"
        card = "kept" if audit.promises else unmeasured
        table.add_row(Text(audit.metric), *cells, product, f"broken: {', '.join(broken)}" if broken else card)
    return _text(table)


def number_of(number: float, interval: tuple[float, float]) -> str:
    """A number and its interval as text, or "not measured" for nan.

    >>> number_of(0.25, (0.2, 0.3))
    '.25 [.20, .30]'
    """
    if math.isnan(number):
        return "not measured"
    low, high = interval
    return f"{_short(number)} [{_short(low)}, {_short(high)}]"


def _verdicts(results: Sequence[Result]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("where", no_wrap=True)
    table.add_column("measured")
    for heading in ("number", "95 % interval", "limits"):
        table.add_column(heading, justify="right", no_wrap=True)
    limits = f"<= {_short(SATISFIED)}, partly {_short(PARTLY)}"
    for result in results:
        undecided = f" ({' or '.join(result.possible)})" if result.verdict == "undecided" else ""
        head = Text(f"{result.tick} {result.name} {result.verdict}{undecided}", style=STYLES[result.verdict])
        table.add_row(head, Text(texts("asks")[result.name], style="italic"), "", "", "")
        for row in result.worst_of_each("lossy", "level").values():
            interval = f"[{_short(row.interval[0])}, {_short(row.interval[1])}]"
            says = texts("measured")[row.kind] + ("" if row.counts else " (not part of the verdict)")
            limit = f">= {_short(LOSSY_SHARE)}" if row.kind == "lossy" else limits
            table.add_row(Text(f"  {row.label}"), says, _short(row.number), interval, limit)
        table.add_row("", "", "", "", "")
    return table


def _notes(audit: Audit) -> list[Finding]:
    notes = [audit.treatment] if audit.treatment else []
    for result in (*audit.results, *audit.further):
        if result.n_undefined:
            notes.append(Finding("points_undefined", name=result.name, n_points=result.n_undefined))
        if result.missing:
            shown, n_more = "; ".join(result.missing[:SHOWN]), max(len(result.missing) - SHOWN, 0)
            notes.append(Finding("points_not_measured", name=result.name, shown=shown, n_more=n_more))
    notes += audit.problems
    if audit.promises:
        marks = ", ".join(
            f"{promise.encoder} {_short(promise.score)}{' promised' if promise.promised else ''}"
            f"{'' if promise.kept else ' BROKEN'}"
            for promise in audit.promises
        )
        notes.append(Finding("marks_of_card", equivalence=audit.equivalence, found=marks))
    if audit.red_team is not None:
        best = audit.red_team
        notes.append(
            Finding("encoder_of_adversary", product=best.product, score=best.score,
                    mixing_share=best.mixing_share, n_tried=best.n_tried)
        )  # fmt: skip
    return notes


def _short(number: float, digits: int = 2) -> str:
    """The number rounded to a few digits, without the zero before the point."""
    if not math.isfinite(number):
        return "∞" if number > 0 else "-∞" if number < 0 else "nan"
    text = f"{number:.{digits}f}"
    text = "0" if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _text(item: Group | Table) -> str:
    buffer = StringIO()
    width = Console(width=10_000).measure(item).maximum if isinstance(item, Table) else WIDTH
    Console(file=buffer, width=width, no_color=True, highlight=False, force_jupyter=False).print(item)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


__all__ = ["MAP_SEED", "scored"]  # what the expressions of an audit name
__all__ += encoders.__all__
__all__ += worlds.__all__
