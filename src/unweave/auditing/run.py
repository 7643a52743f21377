"""`audit` and `audit_all`: the four properties, the check of the card and the adversary, for one or several metrics."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unweave.auditing.findings.adversary import RedTeam, red_team
from unweave.auditing.findings.assembly import assembled, scores_of
from unweave.auditing.findings.card_check import card_cases
from unweave.auditing.findings.properties import finding_of
from unweave.auditing.measurement.cases import Case, Outcome
from unweave.auditing.measurement.further_grid import further_points
from unweave.auditing.measurement.grid import PROPERTIES, Grid, Point, Property
from unweave.auditing.measurement.measuring import Bench
from unweave.auditing.measurement.store import CellStore
from unweave.auditing.measurement.subjects import Auditable, Scale, Subject, subject_of, subjects_of
from unweave.auditing.scorecard import Audit
from unweave.evidence import EvidenceError
from unweave.progress import progress_bar

BUDGET = 300.0
# shares of the budget; the remainder is for the adversary
POINTS_SHARE, CARD_SHARE, FURTHER_SHARE = 0.65, 0.1, 0.1
CARD_SEEDS = 2


def audit(
    metric: Auditable,
    *,
    scale: Scale | None = None,
    seeds: int = 5,
    budget: float | None = BUDGET,
    n_jobs: int = 1,
    grid: Grid | None = None,
    adversary: bool = True,
    further: bool = True,
    progress: bool = False,
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
    seeds : int
        Number of draws of every world and map, 2 or more. If the intervals do not decide a verdict, up to eight times
        as many are drawn.
    budget : float or None
        CPU seconds. The most informative cells are computed first. The result names the cells that did not fit, and
        verdicts that they could change are undecided. A tenth of the budget is for the card, a tenth for further
        questions, and about a seventh for the adversary. None computes everything.
    n_jobs : int
        Number of processes; the scores do not depend on it.
    grid : Grid, optional
        Sizes and steps. The thresholds were chosen for the default grid.
    adversary : bool
        Whether to search for the encoder with the largest product of score and mixing share.
    further : bool
        Whether to test more than the four properties: 2 and 3 factors, factors with levels, redundant factors that are
        many-to-one functions, 300 to 3,000 rows, and rows in another order.
    progress : bool
        Show a progress bar on the terminal.

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
        seeds=seeds,
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
    seeds: int = 5,
    budget: float | None = BUDGET,
    n_jobs: int = 1,
    grid: Grid | None = None,
    adversary: bool = True,
    further: bool = True,
    progress: bool = False,
    store: str | Path | None = None,
) -> list[Audit]:
    """Audit several metrics on the same data, so that they share computations; ``budget`` is for all metrics together.

    Every finished cell is written to the file ``store``, from which a run that was stopped can continue. The other
    options are those of `audit`.
    """
    if seeds < 2:
        raise EvidenceError(f"seeds={seeds} gives no interval: use a whole number from 2.")
    subjects, grid = subjects_of(metrics), grid or Grid()
    fit = [subject for subject in subjects if not subject.refusal]
    audits = {
        subject.label: Audit(subject.label, subject.version, refusal=subject.refusal)
        for subject in subjects
        if subject.refusal
    }
    if fit:
        promised = list(card_cases().values()) if any(subject.card for subject in fit) else []
        beyond = list(dict.fromkeys(point.case for point in further_points())) if further else []
        n_cases = len(dict.fromkeys([*promised, *beyond, *(point.case for point in grid.points())]))
        with progress_bar(n_cases, progress, what="cases") as bar:
            bench = Bench(fit, CellStore(store), n_jobs, after_each=bar.advance)
            bench.budget = None if budget is None else POINTS_SHARE * budget
            found = _measured(bench, grid.points(), range(seeds))
            per_subject = _settled(bench, grid.points(), found, seeds)
            bench.budget = None if budget is None else (POINTS_SHARE + CARD_SHARE) * budget
            of_cards = bench.measure(promised, range(CARD_SEEDS))
            bench.budget = None if budget is None else (POINTS_SHARE + CARD_SHARE + FURTHER_SHARE) * budget
            of_further = bench.measure(beyond, range(seeds))
            bench.budget, bench.after_each = budget, lambda: None
            deceived: list[RedTeam | None] = red_team(bench) if adversary else [None] * len(fit)
        for place, subject in enumerate(fit):
            own = _of_subject(of_cards, place) | _of_subject(of_further, place) | per_subject[place]
            audits[subject.label] = assembled(subject, grid, own, range(seeds), deceived[place], further)
    return [audits[subject.label] for subject in subjects]


def _settled(
    bench: Bench, points: list[Point], found: dict[Case, list[list[Outcome]]], seeds: int
) -> list[dict[Case, list[Outcome]]]:
    """Outcomes of every subject, with up to eight times the seeds for cases that leave a verdict undecided."""
    settled = [_of_subject(found, place) for place in range(len(bench.subjects))]
    for more in (2 * seeds, 4 * seeds, 8 * seeds):
        undecided = [_undecided(points, own) for own in settled]
        if not any(undecided):
            break
        further = bench.measure(list(dict.fromkeys(case for cases in undecided for case in cases)), range(more))
        for place, cases in enumerate(undecided):
            # other subjects do not use these seeds, so that results do not depend on the choice of subjects
            settled[place] |= {case: [row[place] for row in further[case]] for case in cases if case in further}
    return settled


def _undecided(points: list[Point], own: dict[Case, list[Outcome]]) -> list[Case]:
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


def _of_subject(found: dict[Case, list[list[Outcome]]], place: int) -> dict[Case, list[Outcome]]:
    return {case: [row[place] for row in rows] for case, rows in found.items()}


def _measured(bench: Bench, points: list[Point], seeds: range) -> dict[Case, list[list[Outcome]]]:
    """Measure all points in the order of their turns; points that can no longer change a verdict are measured last."""
    found: dict[Case, list[list[Outcome]]] = {}
    waiting = points
    while waiting:
        settled = {name for name in PROPERTIES if _violated_by_all(name, bench, points, found)}
        open_points = [point for point in waiting if point.name not in settled] or waiting
        now = [point for point in open_points if point.turn == open_points[0].turn]
        found |= bench.measure([point.case for point in now if point.case not in found], seeds)
        waiting = [point for point in waiting if point not in now]
    return found


def _violated_by_all(name: Property, bench: Bench, points: list[Point], found: dict[Case, list[list[Outcome]]]) -> bool:
    """Whether every subject is already known to violate the property."""
    for place in range(len(bench.subjects)):
        if finding_of(name, points, scores_of(points, _of_subject(found, place))).verdict != "violated":
            return False
    return True
