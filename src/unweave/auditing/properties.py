"""The four properties, the card and soundness, judged from measured cells."""

from __future__ import annotations

import itertools
import json
import math
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import chdtri

from unweave.arrays import FloatArray, student_reach
from unweave.auditing.adversary import RedTeam
from unweave.auditing.measurement import (
    FURTHER,
    NOISE,
    PERFECT,
    PROPERTIES,
    Case,
    Grid,
    Point,
    Question,
    Subject,
    as_expression,
    further_points,
)
from unweave.card import Card
from unweave.codec import SavedRecord, plain_data
from unweave.evaluation.results import LIBRARIES
from unweave.findings import Finding
from unweave.sweeps.sweep import Measurement
from unweave.synthetic.encoders import Elementwise, Encoder, Mixed, Noise, PermutedAndScaled
from unweave.synthetic.worlds import Independent

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

# the equivalence classes that contain each encoder
COVERED_BY: dict[str, tuple[str, ...]] = {
    "E1": ("permutation and scale", "elementwise", "affine", "bijection", "any"),
    "E2": ("elementwise", "bijection", "any"),
    "E3": ("affine", "bijection", "any"),
    "E9": ("any",),
}

MARGIN = 0.01
N_FACTORS, N_ROWS = 5, 2000  # the number of rows for which a card states its tolerance


@dataclass(frozen=True)
class Promise:
    """The mean score of one encoder, compared with the card.

    ``promised`` is True if the card states the best score for this encoder, and ``full_marks`` is True if the mean
    score is the best score within the tolerance. ``kept`` is False if a promised best score is not reached, or if
    random codes reach the best score and the card does not state this. Other encoders may reach the best score without
    a promise.
    """

    encoder: str
    promised: bool
    score: float
    full_marks: bool

    @property
    def kept(self) -> bool:
        """Whether the score agrees with the card."""
        return self.full_marks if self.promised else not (self.full_marks and self.encoder == "E9")


def card_cases() -> dict[str, Case]:
    """Cases with encoders of different equivalence classes, on independent factors."""
    encoders: dict[str, Encoder] = {
        "E1": PermutedAndScaled(),
        "E2": Elementwise(),
        "E3": Mixed(),
        "E9": Noise(N_FACTORS),
    }
    return {name: Case(Independent(N_FACTORS), encoder, N_ROWS) for name, encoder in encoders.items()}


def promise_of(card: Card, encoder: str, mean_score: float) -> Promise:
    """Compare a mean score with the card; it counts as the best score, 1, within the card's tolerance plus .01.

    >>> from unweave.metrics import mcc
    >>> promise_of(mcc.card, "E2", 0.91)
    Promise(encoder='E2', promised=False, score=0.91, full_marks=False)
    """
    full = mean_score >= 1 - card.identity_tolerance - MARGIN
    admitted = encoder == "E9" and card.chance == card.best  # the card states the best score for noise
    return Promise(encoder, admitted or card.equivalence in COVERED_BY[encoder], mean_score, full)


PropertyVerdict = Literal["satisfied", "partly", "violated", "undecided"]
DECIDED: tuple[PropertyVerdict, ...] = ("satisfied", "partly", "violated")
SATISFIED, PARTLY, LOSSY_SHARE = 0.05, 0.15, 0.5
LEVEL = 0.95
ROUNDING = 1e-9
OTHER_MAP = "E7"  # its mixing is not the draw of E3, so differences within a seed include the difference of the maps
APART = "E4"  # shown for P1 but not part of its verdict, because the paper does not test it
Scores = Mapping[Point, Mapping[int, float]]
Outcomes = Mapping[Case, Sequence[Measurement]]


@dataclass(frozen=True)
class PropertyRow:
    """One number of a property, with its interval over seeds and the points that it compares.

    ``kind`` is change, lossless, lossy, distance, level, levels or rows. The number is the score at ``higher`` minus
    that at ``lower``, for lossy rows relative to the share of free factors that are lost. If ``kind`` is level,
    ``lower`` is None and the number is the score itself. ``counts`` is True if the number is part of the verdict.
    ``spread`` is the standard deviation over seeds.
    """

    kind: str
    number: float
    interval: tuple[float, float]
    n_seeds: int
    higher: Point
    lower: Point | None
    counts: bool = True
    spread: float = math.nan

    @property
    def label(self) -> str:
        """A description of the setting in which the number was measured."""
        series, x = self.higher.series, self.higher.x
        match self.kind:
            case "change":
                place = f"{series}, rho {self.lower_x:g} to {x:g}"
            case "lossless" if self.higher.name == "many to one":
                place = f"{series} dropped"
            case "lossless":
                place = f"{series}, redundant factor dropped"
            case "lossy":
                place = f"{series}, {self.lower_x:g} free dropped"
            case "levels":
                kinds = {x, self.lower_x} - {0}
                place = f"{series}, {'factors with levels' if kinds == {1} else 'factors of both kinds'}"
            case "rows":
                place = f"{series}, n {self.lower_x:g} to {x:g}"
            case "distance":
                place = f"{series}, m/d {max(x, self.lower_x):g}"
            case _:
                place = f"nulls, {series}, m/n {x:g}"
        return f"{place}, d = {self.higher.n_factors}"

    @property
    def lower_x(self) -> float:
        """The position of ``lower`` on its curve; nan if there is none."""
        return math.nan if self.lower is None else self.lower.x

    @property
    def levels(self) -> set[int]:
        """Verdicts that the interval allows: 0 satisfied, 1 partly, 2 violated (for lossy rows 0 or 2)."""
        low, high = self.interval
        if self.kind == "lossy":
            return ({0} if high >= LOSSY_SHARE - ROUNDING else set()) | ({2} if low < LOSSY_SHARE - ROUNDING else set())
        if self.kind in ("change", "distance") and OTHER_MAP not in self.higher.series and self.least_spread > PARTLY:
            return {2}
        limits = ((-math.inf, SATISFIED), (SATISFIED, PARTLY), (PARTLY, math.inf))
        return {k for k, (above, upto) in enumerate(limits) if low <= upto + ROUNDING and high > above + ROUNDING}

    @property
    def least_spread(self) -> float:
        """Lower end of the 95 % interval of the standard deviation, assuming a normal distribution."""
        if self.n_seeds < 2 or not self.spread > 0:
            return 0.0
        return self.spread * math.sqrt((self.n_seeds - 1) / float(chdtri(self.n_seeds - 1, (1 - LEVEL) / 2)))


@dataclass(frozen=True)
class PropertyFinding:
    """Result for one property: the verdict, all numbers, and the points that were not measured."""

    name: Question
    verdict: PropertyVerdict
    possible: tuple[PropertyVerdict, ...]
    rows: tuple[PropertyRow, ...]
    missing: tuple[str, ...]
    n_undefined: int = 0

    @property
    def worst(self) -> PropertyRow | None:
        """The decisive row of the property.

        It is the lossy row with the smallest number if this number is below the threshold. Otherwise it is the row of
        another kind with the worst verdict, and among these the one with the largest number.
        """
        counting = [row for row in self.rows if row.counts]
        others = [row for row in counting if row.kind != "lossy"]
        least = min((row for row in counting if row.kind == "lossy"), key=lambda row: row.number, default=None)
        if least is not None and least.number < LOSSY_SHARE:
            return least
        return max(others, key=lambda row: (min(row.levels, default=0), row.number), default=least)


def finding_of(name: Question, points: Sequence[Point], scores: Scores) -> PropertyFinding:
    """The verdict, numbers and missing points of one property, from scores by point and seed."""
    curves: dict[tuple[Question, str, int], list[Point]] = defaultdict(list)
    for point in points:
        if point.name == name:
            curves[point.curve].append(point)
    rows: list[PropertyRow] = []
    missing: list[str] = []
    n_undefined = 0
    for curve in curves.values():
        ordered = sorted(curve, key=lambda point: point.x)
        measured = [point for point in ordered if len(scores.get(point, {})) > 1]
        if name != "P1" or ordered[0].series != APART:
            without = [point for point in ordered if point not in measured]
            undefined = [point for point in without if point in scores] if name not in PROPERTIES else []
            missing += [_name_of_point(point) for point in without if point not in undefined]
            n_undefined += len(undefined)
        rows += ROWS[name](measured, scores)
    possible = tuple(DECIDED[k] for k in sorted(_possible(name, rows, bool(missing))))
    verdict = possible[0] if len(possible) == 1 else "undecided"
    return PropertyFinding(name, verdict, possible, tuple(rows), tuple(missing), n_undefined)


def mean_interval(values: FloatArray) -> tuple[float, tuple[float, float]]:
    """Mean and 95 % t-interval of independent numbers.

    >>> mean_interval(np.array([0.4, 0.5, 0.6]))[0]
    0.5
    """
    mean = float(np.mean(values))
    if values.size < 2:
        return mean, (-math.inf, math.inf)
    half = student_reach(float(np.std(values, ddof=1)), values.size - 1, LEVEL) / math.sqrt(values.size)
    return mean, (mean - half, mean + half)


def _change(curve: list[Point], scores: Scores, kind: str = "change") -> list[PropertyRow]:
    """P1: the largest difference of mean scores between two correlations, or between two numbers of rows."""
    if len(curve) < 2:
        return []
    by_mean = sorted(curve, key=lambda point: _level(scores[point]))
    return [_row(kind, by_mean[-1], by_mean[0], scores, counts=curve[0].series != APART)]


def _dropping(curve: list[Point], scores: Scores) -> list[PropertyRow]:
    """P2: the cost of dropping the redundant factor, and then the cost of dropping free factors.

    The latter is relative to (free factors lost / free factors).
    """
    at = {int(point.x): point for point in curve}
    rows = [_row("lossless", at[-1], at[0], scores)] if -1 in at and 0 in at else []
    for lost in sorted(set(at) - {-1, 0}) if 0 in at else []:
        free = at[0].case.world.effective_dimension
        rows.append(_row("lossy", at[0], at[lost], scores, factor=free / lost))
    return rows


def _distances(curve: list[Point], scores: Scores, kind: str, base_x: float) -> list[PropertyRow]:
    """P3 and levels: the absolute differences from the mean score at ``base_x``."""
    base = next((point for point in curve if point.x == base_x), None)
    pairs = [(base, point) for point in curve if base is not None and point is not base]
    by_mean = [sorted(pair, key=lambda point: _level(scores[point])) for pair in pairs]
    return [_row(kind, higher, lower, scores) for lower, higher in by_mean]


ROWS: dict[str, Callable[[list[Point], Scores], list[PropertyRow]]] = {
    "P1": _change,
    "P2": _dropping,
    "P3": partial(_distances, kind="distance", base_x=1),
    "P4": lambda curve, scores: [_row("level", point, None, scores) for point in curve],
    # the name of a curve of few factors begins with the property
    "few factors": lambda curve, scores: ROWS[curve[0].series.split()[0]](curve, scores) if curve else [],
    "levels": partial(_distances, kind="levels", base_x=0),
    "many to one": _dropping,
    "rows": partial(_change, kind="rows"),
}


def _row(
    kind: str, higher: Point, lower: Point | None, scores: Scores, factor: float = 1.0, counts: bool = True
) -> PropertyRow:
    seeds, differences = seed_numbers(higher, lower, scores, factor)
    number, (low, high) = mean_interval(differences) if seeds else (math.nan, (-math.inf, math.inf))
    if kind in ("change", "distance", "levels", "rows"):
        low = max(low, 0.0)  # these are absolute differences, because the sign was chosen to give a positive mean
    spread = float(np.std(differences, ddof=1)) if len(seeds) > 1 else math.nan
    return PropertyRow(kind, number, (low, high), len(seeds), higher, lower, counts, spread)


def seed_numbers(
    higher: Point, lower: Point | None, scores: Scores, factor: float = 1.0
) -> tuple[list[int], FloatArray]:
    """The seeds with scores at both points, and the difference at each seed, times ``factor``."""
    above = scores[higher]
    below = dict.fromkeys(above, 0.0) if lower is None else scores[lower]
    seeds = sorted(set(above) & set(below))
    return seeds, factor * np.array([above[seed] - below[seed] for seed in seeds])


def _possible(name: Question, rows: Sequence[PropertyRow], incomplete: bool) -> set[int]:
    """Verdicts that intervals and missing points allow: 0 satisfied, 1 partly, 2 violated."""
    counting = [row for row in rows if row.counts]
    if name == "P2":
        return _possible_dropping(counting, incomplete)
    unknown = [{0, 1, 2}] if incomplete or not counting else []
    allowed = [row.levels for row in counting] + unknown
    least = max(min(levels) for levels in allowed)
    return {level for levels in allowed for level in levels if level >= least} | {least}


def _possible_dropping(rows: Sequence[PropertyRow], incomplete: bool) -> set[int]:
    """P2: dropping free factors must cost enough, and dropping the redundant factor little in D_f and D_F.

    The property is partly satisfied if the latter holds in one of the two worlds.
    """

    def holds(chosen: list[PropertyRow]) -> set[bool]:
        if any(0 not in row.levels for row in chosen):
            return {False}
        open_still = incomplete or not chosen or any(row.levels != {0} for row in chosen)
        return {True, False} if open_still else {True}

    lossy = holds([row for row in rows if row.kind == "lossy"])
    one, two = (
        holds([row for row in rows if row.kind == "lossless" and row.higher.series == name]) for name in ("D_f", "D_F")
    )
    return {
        2 if not (seen and (first or second)) else 0 if first and second else 1
        for seen, first, second in itertools.product(lossy, one, two)
    }


def _mean(by_seed: Mapping[int, float]) -> float:
    return float(np.mean(list(by_seed.values())))


def _level(by_seed: Mapping[int, float]) -> int:
    # scores that differ by rounding are equal, so that points have the same order on every processor
    return round(_mean(by_seed) / ROUNDING)


AXES: dict[str, str] = {"P1": "rho", "P2": "free factors dropped", "P3": "m/d", "P4": "m/n", "rows": "n"}


def _name_of_point(point: Point) -> str:
    axis = AXES.get(point.name, "x")
    at = "all kept" if point.name == "P2" and point.x < 0 else f"{axis} {point.x:g}"
    return f"{point.series}, {at}, d = {point.n_factors}"


SCHEMA = "unweave.audit/2"
TICKS: dict[str, str] = {"satisfied": "✓", "partly": "~", "violated": "✗", "undecided": "?"}
NOT_APPLICABLE = "–"  # noqa: RUF001 - a dash for a cell without an answer
Ends = tuple[float, float]


@dataclass(frozen=True)
class PropertyNumber:
    """One number of a property with its interval and standard deviation (``spread``) over seeds.

    ``counts`` is True if the number is part of the verdict.
    """

    label: str
    kind: str
    number: float
    interval: Ends
    n_seeds: int
    counts: bool = True
    spread: float = float("nan")


@dataclass(frozen=True)
class WorstCase:
    """The score, or difference of scores, at the seed where the decisive number is worst, and an expression for it."""

    number: float
    expression: str


@dataclass(frozen=True)
class Result:
    """Result for one property: verdict, decisive number, all numbers, worst case, and missing points.

    ``possible`` are the verdicts that are possible given the intervals and missing points. ``n_undefined`` is the
    number of points of a further question at which the metric is undefined; these points are ignored.
    """

    name: Question
    verdict: PropertyVerdict
    possible: tuple[PropertyVerdict, ...]
    number: float
    interval: Ends
    where: str
    measured: tuple[PropertyNumber, ...]
    missing: tuple[str, ...] = ()
    worst_case: WorstCase | None = None
    n_undefined: int = 0

    @property
    def tick(self) -> str:
        """The symbol for the verdict, as in Table 3 of 003."""
        return TICKS[self.verdict]

    def worst_of_each(self, *whole: str) -> dict[str, PropertyNumber]:
        """The worst number of every kind and series, or of every kind alone for the kinds in ``whole``."""
        worst: dict[str, PropertyNumber] = {}
        for row in self.measured:
            group = row.kind if row.kind in whole else f"{row.kind} {row.label.split(',')[0]}"
            sign = -1 if row.kind == "lossy" else 1
            if group not in worst or sign * row.number > sign * worst[group].number:
                worst[group] = row
        return worst


@dataclass(frozen=True)
class CurvePoint:
    """Mean score at one point of a curve, and its difference from the start of the curve, with intervals over seeds."""

    name: Question
    series: str
    n_factors: int
    x: float
    mean: float
    interval: Ends
    change: float
    change_interval: Ends
    n_seeds: int


@dataclass(frozen=True)
class Audit(SavedRecord):
    """A metric's scorecard for the four properties of 003; print it for a table.

    ``refusal`` is the reason why a metric could not be audited; then there are no results. ``treatment`` says how its
    scores were rescaled, and ``problems`` where and how often it raised an error or was nan. ``further`` has the
    results of questions other than the four properties. ``remarks`` say if a metric is constant, depends only on sizes
    or on the order of rows, or scores noise as high as a perfect encoder, so that its marks are meaningless.
    """

    metric: str
    version: int
    results: tuple[Result, ...] = ()
    curves: tuple[CurvePoint, ...] = ()
    promises: tuple[Promise, ...] = ()
    red_team: RedTeam | None = None
    problems: tuple[Finding, ...] = ()
    equivalence: str = ""
    treatment: Finding | None = None
    refusal: Finding | None = None
    n_seeds: int = 0
    further: tuple[Result, ...] = ()
    remarks: tuple[Finding, ...] = ()
    grid: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    @property
    def ticks(self) -> str:
        """One mark for each of P1 to P4: ✓ satisfied, ~ partly, ✗ violated, ? undecided, a dash for not applicable."""
        return "".join(result.tick for result in self.results) or NOT_APPLICABLE * len(PROPERTIES)

    def __getitem__(self, name: str) -> Result:
        """The result of P1, P2, P3 or P4, or of a further question: few factors, levels, many to one, rows."""
        return next(result for result in (*self.results, *self.further) if result.name == name)

    def __str__(self) -> str:
        from unweave.auditing.run import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from unweave.report.notebook import audit_view  # late: report is above auditing

        return audit_view(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Any:
        from unweave.auditing.run import rich_audit

        yield rich_audit(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null, infinities become text."""
        return {"schema": SCHEMA, "ticks": self.ticks, **plain_data(self)}

    def to_json(self) -> str:
        """JSON text of `to_dict`."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)


EQUAL = 1e-9
LEAST_GAP = 0.05  # smallest difference of the scores of a perfect encoder and of noise
MOST_MOVED = 0.05  # largest mean change of the score when the rows are reordered


def remarks_of(outcomes: Outcomes, points: Sequence[Point], scores: Scores) -> list[Finding]:
    """Remarks on a metric, from all its outcomes and its scores at the further points."""
    known = {case: values for case, row in outcomes.items() if (values := _defined_values(row))}
    if len(known) < 2:
        return []
    if _same_within(known, lambda case: 0):
        return [Finding("metric_constant", value=next(iter(known.values()))[0])]
    remarks = []
    if _same_within(known, lambda case: case.n_rows):
        remarks.append(Finding("metric_of_rows_alone"))
    elif _same_within(known, lambda case: (case.n_rows, case.size, case.world.n_factors)):
        remarks.append(Finding("metric_of_sizes_alone"))
    first, second = (scores.get(point, {}) for point in points if point.name == "order")
    changes = [abs(first[seed] - second[seed]) for seed in set(first) & set(second)]
    if changes and float(np.mean(changes)) > MOST_MOVED:
        remarks.append(Finding("metric_depends_on_order", moved=float(np.mean(changes))))
    by_rows = {(point.series, int(point.x)): scores.get(point, {}) for point in points if point.name == "rows"}
    gaps = [
        (_mean(perfect), _mean(noise), n_rows)
        for (series, n_rows), perfect in by_rows.items()
        if series == PERFECT and perfect and (noise := by_rows[NOISE, n_rows])
    ]
    gap = min(gaps, key=lambda gap: gap[0] - gap[1], default=None)
    if gap is not None and gap[0] - gap[1] < LEAST_GAP:
        remarks.append(Finding("metric_blind", perfect=gap[0], noise=gap[1], n_rows=gap[2]))
    return remarks


def _defined_values(row: Iterable[Measurement]) -> list[float]:
    return [measurement.value for measurement in row if not math.isnan(measurement.value)]


def _same_within(values: Mapping[Case, Sequence[float]], group: Callable[[Case], object]) -> bool:
    """Whether all scores within each group are equal; at least one group must have several cases."""
    groups: dict[object, list[Sequence[float]]] = defaultdict(list)
    for case, row in values.items():
        groups[group(case)].append(row)
    several = any(len(rows) > 1 for rows in groups.values())
    return several and all(float(np.ptp(np.concatenate(rows))) <= EQUAL for rows in groups.values())


def audit_of_outcomes(
    subject: Subject,
    grid: Grid,
    outcomes: Outcomes,
    seeds: Sequence[int],
    worst_encoder: RedTeam | None,
    further: bool = True,
) -> Audit:
    """The audit of one subject from its outcomes by case, in the order of the seeds."""
    points, beyond = grid.points(), further_points()
    scores, beyond_scores = scores_of(points, outcomes), scores_of(beyond, outcomes)
    findings = [finding_of(name, points, scores) for name in PROPERTIES]
    further_findings = [finding_of(name, beyond, beyond_scores) for name in FURTHER] if further else []
    return Audit(
        metric=subject.label,
        version=subject.version,
        results=tuple(_result(finding, subject, scores) for finding in findings),
        curves=_curves(points, scores),
        promises=_promises(subject, outcomes),
        red_team=worst_encoder,
        problems=_problems(outcomes),
        equivalence="" if subject.card is None else subject.card.equivalence,
        treatment=subject.treatment,
        n_seeds=len(seeds),
        further=tuple(_result(finding, subject, beyond_scores) for finding in further_findings),
        remarks=tuple(remarks_of(outcomes, beyond, beyond_scores)),
        grid={name: list(item) if isinstance(item, tuple) else item for name, item in vars(grid).items()},
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        seconds=sum(one.seconds for row in outcomes.values() for one in row),
    )


def scores_of(points: Sequence[Point], outcomes: Outcomes) -> Scores:
    """Scores by point and seed, without points that were not measured and without seeds that have no score."""
    return {
        point: {seed: one.value for seed, one in enumerate(outcomes[point.case]) if not math.isnan(one.value)}
        for point in points
        if point.case in outcomes
    }


def _result(finding: PropertyFinding, subject: Subject, scores: Scores) -> Result:
    worst = finding.worst
    names = [entry.name for entry in fields(PropertyNumber)]
    return Result(
        name=finding.name,
        verdict=finding.verdict,
        possible=finding.possible,
        number=math.nan if worst is None else worst.number,
        interval=(math.nan, math.nan) if worst is None else worst.interval,
        where="" if worst is None else worst.label,
        measured=tuple(PropertyNumber(*(getattr(row, name) for name in names)) for row in finding.rows),
        missing=finding.missing,
        worst_case=None if worst is None else _worst_case(worst, subject, scores),
        n_undefined=finding.n_undefined,
    )


def _worst_case(row: PropertyRow, subject: Subject, scores: Scores) -> WorstCase:
    """The row at its worst seed, and an expression that computes the number.

    The worst seed has the smallest cost if the row is the cost of dropping free factors (lossy), and the largest number
    otherwise. The cost is the difference of two scores, not relative to the share of lost factors.
    """
    seeds, numbers = seed_numbers(row.higher, row.lower, scores)
    place = int(np.argmin(numbers) if row.kind == "lossy" else np.argmax(numbers))
    ends = [row.higher] if row.lower is None else [row.higher, row.lower]
    expression = " - ".join(point.case.expression(subject, seeds[place]) for point in ends)
    return WorstCase(float(numbers[place]), expression)


def _curves(points: Sequence[Point], scores: Scores) -> tuple[CurvePoint, ...]:
    starts: dict[tuple[str, str, int], Point] = {}
    curves = []
    for point in sorted(points, key=lambda point: (*point.curve, point.x)):
        values = np.array(list(scores.get(point, {}).values()))
        if values.size:
            start = starts.setdefault(point.curve, point)
            mean, interval = mean_interval(values)
            seeds, changes = seed_numbers(point, start, scores)
            change, around = mean_interval(changes) if seeds else (math.nan, (math.nan, math.nan))
            curves.append(CurvePoint(*point.curve, point.x, mean, interval, change, around, values.size))
    return tuple(curves)


def _promises(subject: Subject, outcomes: Outcomes) -> tuple[Promise, ...]:
    if subject.card is None:
        return ()
    values = {name: _defined_values(outcomes.get(case, ())) for name, case in card_cases().items()}
    return tuple(promise_of(subject.card, name, float(np.mean(row))) for name, row in values.items() if row)


def _problems(outcomes: Outcomes) -> tuple[Finding, ...]:
    """Every problem once, with the number of cells in which it occurred and the first of these cells."""
    cases: dict[str, list[Case]] = defaultdict(list)
    for case, row in outcomes.items():
        for measurement in row:
            if measurement.problem:
                cases[measurement.problem].append(case)
    return tuple(
        Finding("cells_without_score", n_cells=len(where), problem=problem, first=as_expression(where[0]))
        for problem, where in sorted(cases.items(), key=lambda entry: -len(entry[1]))
    )
