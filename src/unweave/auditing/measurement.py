"""Cells of an audit: worlds, encoders and sizes, and their scores."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, cast

from unweave.card import Card
from unweave.card.decorator import metric_of, stated_options
from unweave.errors import OptionError
from unweave.evaluation.choose import MetricChoice, chosen_by_text, chosen_metrics
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics import CATALOGUE
from unweave.store import Results
from unweave.sweeps.execution import computed_tasks
from unweave.sweeps.sweep import Cell, Measurement, row_keys
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Dropped,
    Elementwise,
    Encoder,
    Mixed,
    Noise,
    PartlyMixed,
    PermutedAndScaled,
    WithCopies,
    WithMixedExtras,
    WithNoiseCodes,
    size_of,
)
from unweave.synthetic.worlds import (
    Correlated,
    Independent,
    Levelled,
    OneFactorConstraint,
    Reordered,
    TwoFactorConstraint,
    World,
)
from unweave.threads import one_thread
from unweave.trust.scoring import takes_seed

Auditable = MetricChoice | Callable[..., Any]
Scale = tuple[float, float]


@dataclass(frozen=True)
class Subject:
    """A metric with its name, the text that names it in an expression, and the scores that are rescaled to 0 and 1.

    ``worst`` and ``best`` come from the card; they are 0 and 1 for a function without a card.
    """

    label: str
    text: str
    entry: Callable[..., Any]
    worst: float
    best: float
    card: Card | None
    rescaled: bool = False

    def score(self, evidence: Evidence, seed: int) -> float:
        """The score, rescaled linearly so that ``worst`` becomes 0 and ``best`` becomes 1; nan if it is undefined."""
        if self.card is None:
            score = float(self.entry(evidence.factors, evidence.codes))
        else:
            score = float(self.entry(evidence, rng=seed) if takes_seed(self.entry) else self.entry(evidence))
        return score if (self.worst, self.best) == (0.0, 1.0) else (score - self.worst) / (self.best - self.worst)

    def measured(self, evidence: Evidence, seed: int) -> Measurement:
        """The score with its CPU time, or nan and the reason."""
        start, value, problem = time.process_time(), math.nan, None
        try:
            value = self.score(evidence, seed)
            problem = "undefined (nan)" if math.isnan(value) else None
        except Exception as error:  # any error of a user's metric is a result of the audit
            problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Measurement(self.label, value, value, problem, time.process_time() - start)

    @property
    def content(self) -> dict[str, Any]:
        """What identifies the subject in the keys of a sweep."""
        return {"metric": self.label, "version": self.version, "scale": [self.worst, self.best]}

    @property
    def version(self) -> int:
        """The version of the metric; 0 without a card."""
        return 0 if self.card is None else self.card.version

    @property
    def treatment(self) -> Finding | None:
        """How its scores are rescaled; None if they are not."""
        if self.refusal or (self.worst, self.best) == (0.0, 1.0):
            return None
        return Finding("scores_rescaled", worst=self.worst, best=self.best)

    @property
    def refusal(self) -> Finding | None:
        """Why the metric cannot be audited; None if it can."""
        needs = () if self.card is None else tuple(n for n in self.card.needs if n not in ("factors", "codes"))
        if needs:
            return Finding("needs_more_than_tables", metric=self.label, need=needs[0])
        if not math.isfinite(self.worst) or not math.isfinite(self.best):
            return Finding("no_scale_to_audit", metric=self.label)
        return None


def subject_of(metric: Auditable, scale: Scale | None = None) -> Subject:
    """The subject for a name with options, a metric, a partial of one, or a function (factors, codes) -> float.

    >>> subject_of("mcc:correlation=spearman").label
    'mcc (correlation=spearman)'
    >>> subject_of(lambda factors, codes: 0.5).label
    '<lambda>'
    """
    if scale is not None and (len(scale) != 2 or scale[0] == scale[1]):
        raise OptionError(f"scale={scale!r} is not a worst and a best score: pass two different numbers.")
    entry = chosen_by_text(metric) if isinstance(metric, str) else metric
    if not callable(entry):
        raise OptionError(
            f"An object of type {type(entry).__name__} cannot be audited: pass a metric's name, a metric, "
            "or a function (factors, codes) -> float."
        )
    inner = entry.func if isinstance(entry, functools.partial) else entry
    if not hasattr(inner, "card"):
        worst, best = scale or (0.0, 1.0)
        label = getattr(inner, "__name__", type(inner).__name__)
        return Subject(label, "metric", entry, worst, best, None, bool(scale))
    card: Card = inner.card.under(stated_options(entry))
    low, high = card.bounds
    if -math.inf < low < 0 == card.chance:
        low = 0.0  # of identification, 0 is the score of noise, and only mixings worse than luck are below it
    worst, best = scale or ((high, low) if card.lower_is_better else (low, card.best))
    label = next(iter(chosen_metrics([cast(MetricChoice, entry)])))
    return Subject(label, _text(entry, card), entry, float(worst), float(best), card, bool(scale))


def subjects_of(metrics: Iterable[Auditable | Subject]) -> list[Subject]:
    """Subjects for several metrics, which must have different names."""
    subjects = [entry if isinstance(entry, Subject) else subject_of(entry) for entry in metrics]
    if not subjects or len({subject.label for subject in subjects}) < len(subjects):
        raise OptionError("An audit needs at least one metric, and metrics with different names: add or rename one.")
    return subjects


def _text(entry: Any, card: Card) -> str:
    """Text for the metric in an expression: its catalogue name with options, otherwise `metric`."""
    options = stated_options(entry)
    simple = all(isinstance(value, (bool, int, float, str)) for value in options.values())
    if CATALOGUE.get(card.name) is not metric_of(entry) or not simple:
        return "metric"
    return repr(":".join([card.name, *(f"{name}={value}" for name, value in options.items())]))


# with the same seed, world and map would use the same random numbers, and noise codes would depend on the factors
MAP_SEED = 1000


@dataclass(frozen=True)
class Case:
    """A number of rows of a world, and the encoder that computes their codes."""

    world: World
    encoder: Encoder
    n_rows: int = 1000

    def evidence(self, seed: int) -> Evidence:
        """The data for a seed; cases with the same seed use the same random numbers for the world and the encoder."""
        factors = self.world.sample(self.n_rows, seed)
        kinds = getattr(self.world, "kinds", "continuous")
        return Evidence(factors, self.encoder.encode(factors, MAP_SEED + seed), kinds=kinds)

    def cell(self, seed: int, subjects: Iterable[Subject]) -> Cell:
        """The cell of a sweep that measures these subjects."""
        by_label = {subject.label: subject for subject in subjects}
        return Cell(self.world, self.encoder, self.n_rows, seed, by_label, AuditProtocol())

    @property
    def size(self) -> int:
        """Rows times codes times factors; a metric's computing time is assumed to be proportional to it."""
        d = self.world.n_factors
        return self.n_rows * self.encoder.n_codes(d) * d

    def expression(self, subject: Subject, seed: int) -> str:
        """A Python expression for the subject's score, after ``from unweave.auditing.run import *``."""
        rows = "" if self.n_rows == 1000 else f", n_rows={self.n_rows}"
        scale = f", scale=({subject.worst:g}, {subject.best:g})" if subject.rescaled else ""
        world, encoder = as_expression(self.world), as_expression(self.encoder)
        return f"scored({subject.text}, {world}, {encoder}{rows}, seed={seed}{scale})"


def as_expression(value: object) -> str:
    """A frozen value as a Python expression that creates it, without fields that have their default values.

    >>> from unweave.synthetic.encoders import Mixed, WithCopies
    >>> as_expression(WithCopies(Mixed(ratio=3.0)))
    'WithCopies(encoder=Mixed(ratio=3.0))'
    """
    if not dataclasses.is_dataclass(value):
        return repr(value)
    entries = [(entry, getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    stated = [f"{entry.name}={as_expression(item)}" for entry, item in entries if item != entry.default]
    return f"{type(value).__name__}({', '.join(stated)})"


def scored(
    metric: Auditable, world: World, encoder: Encoder, *, n_rows: int = 1000, seed: int = 0, scale: Scale | None = None
) -> float:
    """The score of a metric for an encoder and rows of a world, on the audit's scale (1 is best).

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Independent
    >>> round(scored("mcc", Independent(5), PermutedAndScaled(), seed=3), 6)
    1.0
    """
    with one_thread():
        return subject_of(metric, scale).score(Case(world, encoder, n_rows).evidence(seed), seed)


@dataclass(frozen=True)
class AuditProtocol:
    """Cells of an audit: scores are rescaled, and any error of a metric is a result."""

    def scores(
        self, world: World, encoder: Encoder, n_rows: int, seed: int, metrics: Mapping[str, Subject]
    ) -> list[Measurement]:
        """One measurement for each subject on the same evidence, so that subjects share computations."""
        evidence = Case(world, encoder, n_rows).evidence(seed)
        return [subject.measured(evidence, seed) for subject in metrics.values()]


Property = Literal["P1", "P2", "P3", "P4"]
Further = Literal["few factors", "levels", "many to one", "rows", "order"]
Question = Literal[Property, Further]
PROPERTIES: tuple[Property, ...] = ("P1", "P2", "P3", "P4")
P1_TURNS = {"E3": 0, "E1": 1, "E2": 2, "E4": 4}
P3_TURNS = {"E5": 0, "E8": 1}  # all other encoders later
LAST = 1000  # turn of the largest sizes, which take longer than all others together
MOST_BOUND = 3  # number of factors in the constraint of D_F


@dataclass(frozen=True)
class Point:
    """One case on the curve ``series`` of a property at ``x``; a lower ``turn`` is measured earlier."""

    name: Question
    series: str
    n_factors: int
    x: float
    case: Case
    turn: int

    @property
    def curve(self) -> tuple[Question, str, int]:
        """The curve that contains the point."""
        return self.name, self.series, self.n_factors


@dataclass(frozen=True)
class Grid:
    """Sizes and steps of the audit; the thresholds were chosen for the default values.

    >>> len(Grid().points()) > len(Grid(n_factors=(5,)).points())
    True
    """

    n_factors: tuple[int, ...] = (5, 10)
    n_rows: int = 1000
    few_rows: int = 100
    rhos: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9, 0.97)
    dropped: tuple[int, ...] = (1, 2, 3)
    ratios: tuple[float, ...] = (1.5, 2.0, 3.0, 5.0, 10.0)
    splits: tuple[int, ...] = (2, 3, 5, 10)
    mixed_shares: tuple[float, ...] = (0.15, 0.25)
    times: tuple[int, ...] = (2, 5)
    null_ratios: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0)

    def points(self) -> list[Point]:
        """All points, the most informative first: ends of the curves before their middles, small sizes before large."""
        parts = (self._correlation, self._dropping, self._adding, self._nulls)
        sizes = enumerate(self.n_factors)
        points = [point for place, d in sizes for part in parts for point in part(d, 10 * place)]
        return sorted(points, key=lambda point: (point.turn, point.name))

    def _correlation(self, d: int, later: int) -> Iterator[Point]:
        encoders: dict[str, Encoder] = {
            "E3": Mixed(),
            "E1": PermutedAndScaled(),
            "E2": Elementwise(),
            "E4": Dropped((d - 1,)),
        }
        for series, encoder in encoders.items():
            for rho in self.rhos:
                world: World = Correlated(d, rho) if rho else Independent(d)
                turn = P1_TURNS[series] + (0 if rho in (self.rhos[0], self.rhos[-1]) else 4)
                yield Point("P1", series, d, rho, Case(world, encoder, self.n_rows), later + turn)

    def _dropping(self, d: int, later: int) -> Iterator[Point]:
        """Drop nothing, then the redundant factor if there is one, and then free factors from the last to the first.

        ``x`` is the number of free factors that are lost; -1 means that the redundant factor is still in the codes.
        """
        worlds: dict[str, World] = {"D_f": OneFactorConstraint(d)}
        if d >= MOST_BOUND:
            worlds["D_F"] = TwoFactorConstraint(d)
        worlds["independent"] = Independent(d)
        for series, world in worlds.items():
            redundant = tuple(constraint.determined for constraint in world.constraints)
            free = tuple(j for j in range(d) if j not in redundant)
            first = later + bool(redundant)
            if redundant:
                yield Point("P2", series, d, -1, Case(world, PermutedAndScaled(), self.n_rows), first)
            # the redundant factor counts among the dropped ones, so that at least two of five factors remain
            for lost in (0, *(k for k in self.dropped if k + len(redundant) <= max(self.dropped))):
                dropped = (*redundant, *free[len(free) - lost :])
                encoder: Encoder = Dropped(dropped) if dropped else PermutedAndScaled()
                yield Point("P2", series, d, lost, Case(world, encoder, self.n_rows), first + lost)

    def _adding(self, d: int, later: int) -> Iterator[Point]:
        plain, within = Independent(d), Independent(d, marginal="truncated")
        families: dict[str, tuple[World, Encoder, list[tuple[float, Encoder]]]] = {
            "E5": (plain, PermutedAndScaled(), [(ratio, Copied(ratio)) for ratio in self.ratios]),
            "E6": (plain, Elementwise(), [(ratio, WithMixedExtras(ratio)) for ratio in self.ratios]),
            "E7": (plain, Mixed(), [(ratio, Mixed(ratio=ratio)) for ratio in self.ratios]),
            "E8": (within, PermutedAndScaled(), [(k, Distributed(k)) for k in self.splits]),
        }
        for share in self.mixed_shares:
            partly = PartlyMixed(share)
            copies: list[tuple[float, Encoder]] = [(k, WithCopies(partly, k)) for k in self.times]
            noise: list[tuple[float, Encoder]] = [(k, WithNoiseCodes(partly, (k - 1) * d)) for k in self.times]
            families[f"{share:g} mixed + copies"] = (plain, partly, copies)
            families[f"{share:g} mixed + noise"] = (plain, partly, noise)
        for series, (world, matched, larger) in families.items():
            first = later + P3_TURNS.get(series, 2)
            yield Point("P3", series, d, 1, Case(world, matched, self.n_rows), first)
            # twice as many codes are cheap and most informative; then the largest number of codes, then the rest
            ordered = sorted(larger, key=lambda entry: (entry[0] != 2, -entry[0]))
            for place, (ratio, encoder) in enumerate(ordered):
                yield Point("P3", series, d, ratio, Case(world, encoder, self.n_rows), first + place)

    def _nulls(self, d: int, later: int) -> Iterator[Point]:
        for n_rows in (self.few_rows, self.n_rows):
            for place, ratio in enumerate(self.null_ratios):
                n_codes = size_of(ratio, n_rows)
                # few rows are cheap, so the largest number of codes comes first; with many rows it comes last
                turn = len(self.null_ratios) - 1 - place if n_rows == self.few_rows else place
                heavy = LAST * (n_codes > 200)
                case = Case(Independent(d), Noise(n_codes), n_rows)
                yield Point("P4", f"n = {n_rows}", d, ratio, case, later + turn + heavy)


FURTHER: tuple[Further, ...] = ("few factors", "levels", "many to one", "rows")
FEW = Grid(
    n_factors=(2, 3),
    rhos=(0.0, 0.9),
    dropped=(1,),
    ratios=(2.0,),
    splits=(2,),
    mixed_shares=(0.25,),
    times=(2,),
    null_ratios=(0.05, 0.2),
)
N_FACTORS, N_ROWS = 5, (300, 1000, 3000)
MANY_TO_ONE = ("square", "absolute", "rectified", "sine")
PERFECT, NOISE = "E1", "noise"
ENCODERS: dict[str, Encoder] = {
    PERFECT: PermutedAndScaled(),
    "E3": Mixed(),
    "0.25 mixed": PartlyMixed(0.25),
    NOISE: Noise(N_FACTORS),
}


def further_points() -> list[Point]:
    """All points of the further questions, starting with the cheapest one."""
    independent, points = Independent(N_FACTORS), []
    # the same data in two orders of the rows
    orders: tuple[World, ...] = (independent, Reordered(independent))
    for place, world in enumerate(orders):
        points.append(Point("order", "0.25 mixed", N_FACTORS, place, Case(world, PartlyMixed(0.25)), 0))
    # a redundant factor that is a many-to-one function of others, kept (x = -1) and dropped (x = 0)
    bound: list[World] = [OneFactorConstraint(N_FACTORS, (name,)) for name in MANY_TO_ONE]
    for world in (*bound, TwoFactorConstraint(N_FACTORS, ("sum_of_squares",))):
        dropped = Dropped(tuple(constraint.determined for constraint in world.constraints))
        series, whole = world.constraints[0].sentence, PermutedAndScaled()
        points.append(Point("many to one", series, N_FACTORS, -1, Case(world, whole), 0))
        points.append(Point("many to one", series, N_FACTORS, 0, Case(world, dropped), 0))
    # the same encoder for continuous factors (x = 0), discrete factors (x = 1), and both kinds (x = 2)
    for d, series in itertools.product((N_FACTORS, 3), (PERFECT, "E3", NOISE)):
        kinds: tuple[World, ...] = (Independent(d), Levelled(d), Levelled(d, n_continuous=d // 2))
        for place, world in enumerate(kinds):
            points.append(Point("levels", series, d, place, Case(world, ENCODERS[series]), 0))
    for (series, encoder), n_rows in itertools.product(ENCODERS.items(), N_ROWS):
        points.append(Point("rows", series, N_FACTORS, n_rows, Case(independent, encoder, n_rows), 0))
    # the four properties with two and three factors; the name of the curve includes the property
    few = [point for point in FEW.points() if point.series != "E4"]
    return points + [replace(point, name="few factors", series=f"{point.name} {point.series}") for point in few]


Measured = dict[Case, list[list[Measurement]]]


@dataclass
class Bench:
    """Measures several metrics together; ``budget`` is the number of CPU seconds for all of them.

    Results that are already in the store do not count against the budget, so that every further run adds results.
    """

    subjects: Sequence[Subject]
    store: Results = field(default_factory=Results)
    n_jobs: int = 1
    budget: float | None = None
    after_each: Callable[[], None] = lambda: None
    spent: float = 0.0
    _seconds_by_size: dict[int, float] = field(default_factory=dict)
    _known_keys: dict[tuple[Case, int], list[str]] = field(default_factory=dict)
    _idle: list[Any] = field(default_factory=list)

    def measure(self, cases: Iterable[Case], seeds: Sequence[int]) -> Measured:
        """Measurements by case, then by seed, then by subject; cases that do not fit in the budget are left out."""
        measurements: Measured = {}
        batch: list[Case] = []
        for case in dict.fromkeys(cases):
            if self._fits([*batch, case], seeds):
                batch.append(case)
                if len(batch) * len(seeds) >= 4 * self.n_jobs or self.n_jobs == 1:
                    measurements |= self._run(batch, seeds)
                    batch = []
            self.after_each()
        return measurements | self._run(batch, seeds)

    def _run(self, cases: Sequence[Case], seeds: Sequence[int]) -> Measured:
        cells = [(case, seed) for case in cases for seed in seeds]
        new = [cell for cell in cells if not self._known(*cell)]
        tasks = [case.cell(seed, self.subjects) for case, seed in new]
        # a single cell is computed in this process, so that functions that cannot be pickled work
        for _, results in computed_tasks(tasks, min(self.n_jobs, len(tasks)), idle=self._idle):
            plain = {key: astuple(entry)[:-1] for key, entry in results.items()}
            self.store.add({key: entry for key, entry in plain.items() if results[key].final})
            self.store.by_key |= plain
        measurements: Measured = {case: [] for case in cases}
        for case, seed in cells:
            row = [Measurement(*self.store.by_key[key]) for key in self._keys(case, seed)]
            seconds = math.fsum(entry.seconds for entry in row if not math.isnan(entry.seconds))
            self.spent += seconds if (case, seed) in new else 0.0
            self._seconds_by_size[case.size] = max(seconds, self._seconds_by_size.get(case.size, 0.0))
            measurements[case].append(row)
        return measurements

    def _fits(self, cases: Sequence[Case], seeds: Sequence[int]) -> bool:
        """Whether the new cells are expected to fit into the budget, given the times of smaller cases."""
        new = [(case, seed) for case in cases for seed in seeds if not self._known(case, seed)]
        if self.budget is None or not new:
            return True
        expected = sum(self._expected_seconds(case.size) for case, _ in new)
        return self.spent < self.budget and self.spent + expected <= self.budget

    def _keys(self, case: Case, seed: int) -> list[str]:
        if (case, seed) not in self._known_keys:
            self._known_keys[case, seed] = list(row_keys(case.cell(seed, self.subjects)).values())
        return self._known_keys[case, seed]

    def _known(self, case: Case, seed: int) -> bool:
        return all(key in self.store.by_key for key in self._keys(case, seed))

    def _expected_seconds(self, size: int) -> float:
        smaller = [known for known in self._seconds_by_size if known <= size]
        nearest = max(smaller, default=0)
        return self._seconds_by_size[nearest] * size / nearest if nearest else 0.0

    def close(self) -> None:
        """End the processes."""
        while self._idle:
            self._idle.pop().shutdown(wait=True, kill_workers=True)
