"""`Evaluation`: scores with floors, intervals and verdicts, and groups of them."""

from __future__ import annotations

import itertools
import json
import math
import platform
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from scipy import stats

from unweave.card.card import CardDescription
from unweave.codec import CodecError, plain_data, read_json, read_record, restored
from unweave.errors import FileError, InputError, OptionError, UnweaveError
from unweave.estimators.independence import corrected
from unweave.evaluation.environments import Environments
from unweave.evidence import Evidence
from unweave.evidence.columns import data_frame, quoted
from unweave.findings import Finding, sentence_of_several
from unweave.identifiability import Ladder
from unweave.identifiability.rungs import RECOVERED, Directions
from unweave.options import checks_options
from unweave.score import Score
from unweave.trust.comparison import Comparison, Difference, tied_letters, tied_with_best
from unweave.trust.diagnosis import Diagnosis
from unweave.trust.floors import NoiseFloor
from unweave.trust.intervals import Interval, check_level
from unweave.trust.reasons import UNTESTABLE
from unweave.trust.verdict_record import Level, Verdict
from unweave.whole_files import write_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, ConsoleOptions, RenderableType

    from unweave.report.latex import PaperTable


@dataclass(frozen=True)
class GroupedScore:
    """Score of one setting by one metric: mean and standard deviation over its seeds, and an interval of the mean.

    Settings that share a letter do not differ significantly. With one seed, the standard deviation and the interval are
    nan, and there are no letters.
    """

    group: str
    values: tuple[float, ...]
    mean: float
    std: float
    lower: float
    upper: float
    letters: str = ""
    level: Level | None = None  # the worst verdict of its seeds


@dataclass(frozen=True)
class GroupedScores:
    """Scores of every setting by every metric; print it for a table, or write it for a paper.

    "ladder" is the value of the ladder, if it was computed. ``columns`` are the metrics that were named, which a table
    has unless it names others; all, if none was. ``level`` is the confidence level of intervals and tests,
    and ``lower_is_better`` says so for every metric. ``differences`` are those of the best setting's mean minus each
    other mean, with intervals and p-values of Welch's t-test; p-values are corrected by Holm for all pairs.

    >>> score = GroupedScore("beta 1", (0.5, 0.7), 0.6, 0.14, 0.0, 1.0)
    >>> found = GroupedScores({"mcc": (score,)})
    >>> found.ranked("mcc")
    ['beta 1']
    >>> print(found.to_markdown().splitlines()[2])
    | beta 1 | 0.600 ± 0.140 |
    """

    scores: Mapping[str, tuple[GroupedScore, ...]]
    level: float = 0.95
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the settings, sorted by the first metric: best first."""
        return tuple(score.group for score in next(iter(self.scores.values()), ()))

    def ranked(self, label: str) -> list[str]:
        """Names of the settings, sorted by this metric: best first, settings without a score last."""
        return [score.group for score in self.scores[label]]

    def score(self, label: str, group: str) -> GroupedScore:
        """The score of one setting by one metric."""
        return next(score for score in self.scores[label] if score.group == group)

    def best(self, label: str) -> tuple[str, ...]:
        """The best of the settings with several seeds, and those that do not differ from it; none if all are alike.

        Settings that are at noise level or should not be used by this metric are never best.
        """
        sets = {score.group: re.findall(r"[a-z]\d*", score.letters) for score in self.scores[label]}  # after z comes a1
        letters = sorted({letter for each in sets.values() for letter in each}, key=lambda name: (name[1:], name))
        doubted = {each.group for each in self.scores[label] if each.level in (Level.DO_NOT_USE, Level.NOISE)}
        return tied_with_best([tuple(g for g, each in sets.items() if letter in each) for letter in letters], doubted)

    def __str__(self) -> str:
        from unweave.report.tables import grouped_text  # late: report is above evaluation

        return grouped_text(self)

    def __repr__(self) -> str:
        return f"GroupedScores({len(self.groups)} settings, {', '.join(self.scores)})"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        rows: str = "models",
        intervals: bool = False,
        bold: bool = True,
        marks: bool = True,
        digits: int = 3,
        names: Mapping[str, str] | None = None,
        models: Sequence[str] | None = None,
    ) -> str:
        """The table for a paper: booktabs and siunitx, with a legend below; also written to ``path`` if given.

        Parameters
        ----------
        path : path, optional
            File to write.
        metrics : names, optional
            Metrics of the table, in this order; by default all.
        rows : {"models", "metrics"}
            What the rows are; the columns are the others.
        intervals : bool
            The interval of the mean over seeds in brackets, instead of the standard deviation after a plus-minus.
        bold : bool
            Bold print of the best setting by each metric, and of those that do not differ from it significantly.
            Nothing is bold where no setting is significantly worse; settings at noise level are never bold.
        marks : bool
            Marks of verdicts: caution, noise level, do not use.
        digits : int
            Number of decimals.
        names : mapping of name to text, optional
            Texts for metrics and models in place of their names, such as ``{"dci_disentanglement": "DCI-D"}``.
        models : names, optional
            Models of the table, in this order; by default all, best by the first metric first.
        """
        return _written(self._table(metrics, rows, intervals, bold, marks, digits, names, models).latex(), path)

    def to_markdown(self, path: str | Path | None = None, **options: Any) -> str:
        """The table of `to_latex` in Markdown, with the same options."""
        return _written(self._table(**options).markdown(), path)

    def to_html(self, path: str | Path | None = None, **options: Any) -> str:
        """The table of `to_latex` as an HTML table, with the same options."""
        return _written(self._table(**options).html(), path)

    def _table(self, *options: Any, **named: Any) -> PaperTable:
        from unweave.report.latex import paper_table

        return paper_table(self, *options, **named)

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame with one row for each metric and setting: of ``backend``, or of the first that is installed."""
        lines = [(label, score) for label, scores in self.scores.items() for score in scores]
        columns: dict[str, list[Any]] = {"metric": [label for label, _ in lines]}
        copied = ("group", "mean", "std", "lower", "upper", "letters")
        columns |= {name: [getattr(score, name) for _, score in lines] for name in copied}
        columns["seeds"] = [len(score.values) for _, score in lines]
        columns["verdict"] = [None if score.level is None else score.level.value for _, score in lines]
        apart = {(label, each.second): each for label, of in self.differences.items() for each in of}
        tests = [apart.get((label, score.group), NO_TEST) for label, score in lines]
        columns["best"] = [each.first or None for each in tests]
        for name in ("difference", "lower", "upper"):
            columns[f"best_minus_this_{name}".removesuffix("_difference")] = [getattr(each, name) for each in tests]
        columns["p_value"] = [each.p_value for each in tests]
        return data_frame(columns, backend)


NO_TEST = Difference("", "", *[math.nan] * 5)
SEED = re.compile(r"[\s,;_/:.(-]*(?<![a-z])(?:seed|run|trial)[\s_=:.-]*\d+\)?", re.IGNORECASE)


def setting_of(name: str) -> str:
    """The name of a representation without its seed, run or trial.

    >>> setting_of("beta 4 seed 2"), setting_of("seed0_epoch080"), setting_of("seed 1")
    ('beta 4', 'epoch080', 'seed 1')
    """
    return SEED.sub("", name).lstrip(" ,;_/:.)-") or name


def grouped_scores(
    evaluation: Evaluation, groups: Mapping[str, str] | Callable[[str], str] | None, level: float
) -> GroupedScores:
    """Scores of representations by group; `Evaluation.grouped` describes the parameters."""
    check_level(level)
    if groups is None and not evaluation.has_seeds:
        raise InputError("No two names differ by a seed alone, such as 'VAE seed 0' and 'VAE seed 1': pass the groups.")
    groups = groups or setting_of
    groups = {name: groups(name) for name in evaluation.representations} if callable(groups) else groups
    missing = [name for name in evaluation.representations if name not in groups]
    if missing:
        raise InputError(f"{missing[0]!r} is in no group: name the group of every representation.")
    members: dict[str, list[str]] = {}
    for name in evaluation.representations:
        members.setdefault(str(groups[name]), []).append(name)
    scores, lower_is_better, differences = {}, {}, {}
    of_ladder = ("ladder",) * (set(evaluation.representations) <= set(evaluation.data.ladders))
    for label in (*of_ladder, *evaluation.labels):
        values = {group: _values(evaluation, label, names) for group, names in members.items()}
        down = lower_is_better[label] = next(
            (r.card.lower_is_better for r in evaluation.rows if r.label == label), False
        )
        scores[label] = tuple(
            replace(score, level=_worst_level(evaluation, label, members[score.group]))
            for score in ranked_settings(values, down, level)
        )
        tests = differences_of_settings(values, down, level)
        differences[label] = tuple(each for each in tests if each.first == tests[0].first)
    named = evaluation.labels if evaluation.data.panel is None else ()  # nobody asked for the ladder beside these
    return GroupedScores(scores, level, lower_is_better, differences, named)


def _values(evaluation: Evaluation, label: str, names: Iterable[str]) -> list[float]:
    if label == "ladder":
        return [evaluation.data.ladders[name].value for name in names]
    return [mean for name in names if not math.isnan(mean := evaluation.mean_and_spread(label, name)[0])]


def _worst_level(evaluation: Evaluation, label: str, names: Iterable[str]) -> Level | None:
    """What a table marks a group of runs with: a doubt about any run before the lack of a check, unlike `gravity`.

    A score at noise level is worse than one with caution, because it is never printed in bold. The ladder has no
    verdict, and is at noise level if no factor can be read in any run.
    """
    if label == "ladder":
        found = (row.rung in RECOVERED for name in names for row in evaluation.data.ladders[name].rows)
        return None if any(found) else Level.NOISE
    levels = {row.level for name in names if (row := evaluation.row(label, name)) and row.score is not None}
    worst_first = (Level.DO_NOT_USE, Level.NOISE, Level.CAUTION, Level.NO_VERDICT, Level.NOT_CHECKED, Level.TRUST)
    return next((level for level in worst_first if level in levels), None)


def ranked_settings(values: Mapping[str, Sequence[float]], down: bool, level: float) -> tuple[GroupedScore, ...]:
    """Settings by their values, best first, with letters by Welch's t-test; ``down`` tells whether lower is better."""
    means = {group: float(np.mean(scores)) for group, scores in values.items() if scores}
    known = sorted(means, key=means.__getitem__, reverse=not down)
    several = [group for group in known if len(values[group]) > 1]
    tests = differences_of_settings(values, down, level)
    letters = tied_letters(
        several, {frozenset((each.first, each.second)) for each in tests if each.p_value <= 1 - level}
    )
    unknown = [group for group, found in values.items() if not found]
    return tuple(_spread(group, values[group], letters.get(group, ""), level) for group in [*known, *unknown])


def differences_of_settings(values: Mapping[str, Sequence[float]], down: bool, level: float) -> tuple[Difference, ...]:
    """Differences of the means of every pair of settings with several seeds, the better first, best pairs first.

    By Welch's t-test; the interval is for the pair alone, and p-values are corrected by Holm.

    >>> (found,) = differences_of_settings({"a": [1.0, 1.0], "b": [2.0, 2.0]}, False, 0.95)
    >>> found.first, found.difference, found.p_value
    ('b', 1.0, 0.0)
    """
    several = [group for group, scores in values.items() if len(scores) > 1]
    several.sort(key=lambda group: float(np.mean(values[group])), reverse=not down)
    found = [_welch(a, b, values[a], values[b], level) for a, b in itertools.combinations(several, 2)]
    p_values = corrected(np.array([each.p_value for each in found]), "holm")
    return tuple(replace(each, p_value=float(p)) for each, p in zip(found, p_values, strict=True))


def _welch(first: str, second: str, one: Sequence[float], other: Sequence[float], level: float) -> Difference:
    gap = float(np.mean(one) - np.mean(other))
    shares = np.array([np.var(one, ddof=1) / len(one), np.var(other, ddof=1) / len(other)])
    error = math.sqrt(shares.sum())
    negligible = 1e-12 * max(1.0, *map(abs, one), *map(abs, other))
    if error <= negligible:  # equal seeds
        return Difference(first, second, gap, 0.0, gap, gap, float(abs(gap) <= negligible))
    freedom = float(shares.sum() ** 2 / (shares**2 / (len(one) - 1, len(other) - 1)).sum())
    reach = float(stats.t.ppf(0.5 + level / 2, freedom)) * error
    p_value = 2 * float(stats.t.sf(abs(gap) / error, freedom))
    return Difference(first, second, gap, error, gap - reach, gap + reach, p_value)


def _spread(group: str, values: Sequence[float], letters: str, level: float) -> GroupedScore:
    mean = float(np.mean(values)) if values else math.nan
    if len(values) < 2:
        return GroupedScore(group, tuple(values), mean, math.nan, math.nan, math.nan)
    std = float(np.std(values, ddof=1))
    reach = float(stats.t.ppf(0.5 + level / 2, len(values) - 1)) * std / math.sqrt(len(values))
    return GroupedScore(group, tuple(values), mean, std, mean - reach, mean + reach, letters)


SIGNIFICANT = 0.05
NOT_IN_BUDGET = ("no_nulls_in_budget", "no_parts_in_budget")
UNDECIDED = ("fewer_nulls", *UNTESTABLE)  # notes of a floor whose p-value decides nothing
Said = tuple[str, "Row"]


def notes_of(rows: Sequence[Row], n_representations: int) -> dict[str, tuple[str, ...]]:
    """Sentences with the metrics they belong to: caveats and failures, numbers of draws, and which seed was checked."""
    caveats = [(str(finding), row) for row in rows for finding in _caveats(row)]
    labels: dict[str, dict[str, None]] = {}
    about: dict[str, dict[str, None]] = {}
    for sentence, row in [*caveats, *_of_draws(rows), *_of_first_seeds(rows)]:
        labels.setdefault(sentence, {})[row.label] = None
        about.setdefault(sentence, {})[row.representation] = None
    return {
        sentence if len(about[sentence]) == n_representations else f"{', '.join(about[sentence])}: {sentence}": (
            *marks,
        )
        for sentence, marks in labels.items()
    }


def _caveats(row: Row) -> Sequence[Finding]:
    return row.score.caveats if row.score else (row.problem,) if row.problem else ()


def _of_draws(rows: Iterable[Row]) -> list[Said]:
    """Notes of noise floors and intervals; notes that differ only in their numbers become one note with ranges.

    The number of draws depends on the metric, so otherwise there would be a note for each metric.
    """
    noted = [
        (note, row)
        for row in rows
        for beside in (row.noise_floor, row.interval)
        if beside
        for note in (*beside.notes, beside.reason)
        # reasons for no floor or interval are shown beside their row, but for a budget that is too small
        if note is not None and (note is not beside.reason or note.kind in NOT_IN_BUDGET)
    ]
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for note, _ in noted:
        alike.setdefault(_but_for_numbers(note), []).append(note)
    return [(sentence_of_several(alike[_but_for_numbers(note)]), row) for note, row in noted]


def _but_for_numbers(finding: Finding) -> tuple[object, ...]:
    texts = tuple((name, item) for name, item in finding.quantities.items() if isinstance(item, str))
    return finding.kind, texts, finding.factors, finding.codes


def _of_first_seeds(rows: Sequence[Row]) -> list[Said]:
    """Notes for metrics with several seeds: scores are averaged, and only the first seed has checks."""
    seeds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        seeds.setdefault((row.representation, row.label), []).append(row)
    return [
        (str(Finding("checks_of_first_seed", n_seeds=len(same), seed=same[0].seed or 0)), same[0])
        for same in seeds.values()
        if len(same) > 1 and same[0].verdict is not None
    ]


SCHEMA = "unweave.evaluation/6"
Shown = TypeVar("Shown")
LIBRARIES = ("unweave", "numpy", "scipy", "scikit-learn")

FRAME_COLUMNS = (
    *("representation", "metric", "seed", "value", "raw", "chance", "floor", "p_value", "calibrated"),
    *("lower", "upper", "verdict", "seconds", "note"),
)


@dataclass(frozen=True)
class Row:
    """One metric on one representation with one seed: a score, or the reason why there is none.

    ``card`` describes the metric. Noise floor, interval and verdict are computed for a metric's first seed only, and
    not in a quick evaluation.
    """

    representation: str
    label: str
    card: CardDescription
    seed: int | None
    score: Score | None
    problem: Finding | None
    chance: float | None
    seconds: float = field(compare=False)
    noise_floor: NoiseFloor | None = None
    interval: Interval | None = None
    verdict: Verdict | None = None

    @property
    def metric(self) -> str:
        """Name of the metric, without options."""
        return self.card.name

    @property
    def measures(self) -> str:
        """What the metric measures, and whether lower scores are better."""
        return f"{self.card.measures} (lower is better)" if self.card.lower_is_better else self.card.measures

    @property
    def at_noise_level(self) -> bool:
        """Whether a test was possible and finished, and the score is not significantly better than that of noise.

        Where noise has the best score, as for leakage, a significantly worse score is not at noise level either. An
        identification whose interval holds 0 is at noise level: it is not beyond that of a random mixing.
        """
        floor = self.noise_floor
        if self.metric == "identification" and self.ends is not None and self.ends[0] <= 0 < self.ends[1]:
            return True
        if floor is None or not floor.defined or any(note.kind in UNDECIDED for note in floor.notes):
            return False
        if any(note.kind == "floor_near_best" for note in floor.notes):
            sign = -1 if self.card.lower_is_better else 1
            as_bad = sum(sign * draw <= sign * floor.raw for draw in floor.draws)
            if (1 + as_bad) / (1 + len(floor.draws)) <= max(SIGNIFICANT, floor.resolution):
                return False
        return floor.p_value > max(SIGNIFICANT, floor.resolution)

    @property
    def level(self) -> Level:
        """Level of the verdict, the same in every output.

        'noise level' if random codes score as well as this one, whatever else the verdict says. 'not checked' if there
        is no verdict, or if it rests on a check that did not fit into the budget.
        """
        if self.verdict is None:
            return Level.NOT_CHECKED
        if self.at_noise_level:
            return Level.NOISE
        level, kinds = self.verdict.level, [reason.finding.kind for reason in self.verdict.reasons]
        doubtful = level in (Level.TRUST, Level.CAUTION)
        of_floor = kinds if level is Level.TRUST else kinds[:1]
        missing = "trial_not_in_budget" in kinds or "floor_not_in_budget" in of_floor
        return Level.NOT_CHECKED if doubtful and missing else level

    @property
    def ends(self) -> tuple[float, float] | None:
        """Ends of the interval within the bounds of the metric, with the score between them; None if there is none."""
        if self.score is None or self.interval is None or not self.interval.defined or math.isnan(self.score.value):
            return None
        low, high = self.interval.clipped
        return min(low, self.score.value), max(high, self.score.value)

    @property
    def heavy_tails(self) -> tuple[str, ...]:
        """Factors and codes whose heavy tails make the interval too narrow."""
        notes = self.interval.notes if self.interval else ()
        return tuple(name for note in notes if note.kind == "heavy_tails" for name in (*note.factors, *note.codes))

    @property
    def noise(self) -> float | None:
        """Score of random codes: the noise floor, or the chance level of the card if no floor was asked for.

        It is None where a floor was asked for and could not be computed.
        """
        floor = self.noise_floor
        return self.chance if floor is None else floor.floor if floor.defined else None

    def __repr__(self) -> str:
        shown = "no score" if self.score is None else f"{self.score.value:.4g}"
        return f"Row({self.representation}: {self.label} = {shown}, {self.level.value})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        data: dict[str, Any] = plain_data(self)
        return {**data, "metric": self.metric, "score": None if self.score is None else self.score.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Row from `to_dict`."""
        return read_record(cls, data)


@dataclass(frozen=True)
class FactorDescription:
    """A factor, its kind, the levels of a text, and whether it is a number with two values, such as True and False."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    is_binary: bool = False

    @property
    def kind_in_words(self) -> str:
        """The kind as a person would say it: a number with two values is binary, and has no other order."""
        return "binary" if self.is_binary else self.kind


def _has_two_values(evidence: Evidence, j: int) -> bool:
    """Whether a factor with classes in an order has two of them; not known of rows that were read in blocks."""
    if evidence.row_summary is not None or not (evidence.kinds[j].has_classes and evidence.kinds[j].is_numeric):
        return False
    column = evidence.factor_columns.chosen(np.array([j]))[:, 0]
    low, high = column.min(), column.max()
    return bool(low < high and ((column == low) | (column == high)).all())


@dataclass(frozen=True)
class CodesDescription:
    """The codes of a representation; the fingerprint tells whether two evaluations had the same data."""

    n_codes: int
    code_names: tuple[str, ...]
    fingerprint: str
    is_posterior: bool = False
    trained_with: str = ""  # the objective, if `unweave.models` trained the encoder
    units: tuple[str, ...] = ()  # blocks, and codes in no block, if there are blocks

    @property
    def unit_names(self) -> tuple[str, ...]:
        """Names of the rows of matrices of codes and factors."""
        return self.units or self.code_names


@dataclass(frozen=True)
class ScreenedCode:
    """A code that depends on a factor: rank correlation, p-value, and smallest false-discovery rate that keeps it."""

    code: str
    factor: str
    correlation: float
    p_value: float
    q_value: float


@dataclass(frozen=True)
class Screening:
    """How many of the codes depend on a factor and were scored, found on ``n_rows`` other rows; the strongest codes."""

    n_codes: int
    n_found: int
    n_scored: int
    n_rows: int
    rate: float
    codes: tuple[ScreenedCode, ...]


@dataclass(frozen=True)
class MatchedPair:
    """A factor and its code on some rows, scaled to 0..1, for a small picture."""

    factor: str
    code: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Carriers:
    """The few codes that hold most of the direction of a factor, strongest first, and the share of its variance."""

    codes: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Traversal:
    """What a decoder returns for some values of one latent while all others are 0: small pictures from 0 to 1.

    ``pictures`` has one for each value. Outputs that are no square image are one line.
    """

    latent: str
    values: tuple[float, ...]
    pictures: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True)
class DecoderDescription:
    """A decoder without factors: its outputs, and its scores if every output is scaled to unit variance.

    ``deviations`` are those of the outputs under the prior; there are none, and no scores, for images, whose outputs
    have one unit, and where they cannot be measured. ``is_standardised`` is whether the decoder was given so scaled.
    ``prior`` names the class of the prior from which ``n_samples`` latents were drawn; Jacobians have none.
    Of at most 20 outputs, ``mean_effects`` and ``effects`` (latents x outputs) are the mean and the root mean square of
    the change of each output per unit of each latent.
    """

    n_outputs: int
    is_standardised: bool
    n_samples: int = 0
    prior: str = ""
    deviations: tuple[float, ...] = ()
    outputs: tuple[str, ...] = ()
    mean_effects: tuple[tuple[float, ...], ...] = ()
    effects: tuple[tuple[float, ...], ...] = ()
    standardised: dict[str, Score] = field(default_factory=dict)
    problem: Finding | None = None


@dataclass(frozen=True)
class EvaluationData:
    """The data of an evaluation and what was found about them, by representation; comparisons are by metric.

    ``panel`` is the version of the panel, and None if metrics were named. A quick evaluation has no diagnosis and no
    comparison. ``ladders`` are computed with the panel and with `identification`; ``ladder_problems`` say why there is
    none, and ``ladder_comparison`` compares representations by `Ladder.value`. ``drawn_codes`` are the codes on the
    rows of ``matched_pairs``, for scatter plots of any pair, and ``traversals`` those of a decoder without factors, the
    most important latents first; ``decoders`` describes such decoders. ``environments`` says which codes shift under
    which intervention, ``carriers`` which codes hold most of each direction, and ``nuisances`` the `r2` of every
    nuisance. ``notes`` say how the data were read and what is probably not meant so (kind "asked").
    """

    n_rows: int
    n_dropped: int
    factors: tuple[FactorDescription, ...]
    representations: dict[str, CodesDescription]
    versions: dict[str, str]
    diagnosis: dict[str, Diagnosis] = field(default_factory=dict)
    comparison: dict[str, Comparison] = field(default_factory=dict)
    screening: dict[str, Screening] = field(default_factory=dict)
    matched_pairs: dict[str, tuple[MatchedPair, ...]] = field(default_factory=dict)
    drawn_codes: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    panel: int | None = None
    ladders: dict[str, Ladder] = field(default_factory=dict)
    ladder_problems: dict[str, str] = field(default_factory=dict)
    ladder_comparison: Comparison | None = None
    traversals: dict[str, tuple[Traversal, ...]] = field(default_factory=dict)
    decoders: dict[str, DecoderDescription] = field(default_factory=dict)
    environments: dict[str, Environments] = field(default_factory=dict)
    carriers: dict[str, dict[str, Carriers]] = field(default_factory=dict)
    nuisances: dict[str, dict[str, float]] = field(default_factory=dict)
    n_groups: int = 0  # groups of rows, which splits keep whole
    notes: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, evidences: Mapping[str, Evidence], **found: Any) -> Self:
        """Description of these data and of the library versions, with what was found."""
        first = next(iter(evidences.values()))
        return cls(
            n_rows=first.n_rows if first.all_rows is None else first.all_rows.n_rows,
            n_dropped=first.n_dropped,
            n_groups=0 if first.row_groups is None else int(first.row_groups.max(initial=-1)) + 1,
            factors=tuple(
                FactorDescription(name, kind.value, levels or (), _has_two_values(first, j))
                for j, (name, kind, levels) in enumerate(
                    zip(first.factor_names, first.kinds, first.factor_levels, strict=True)
                )
            ),
            representations={
                name: CodesDescription(
                    evidence.n_codes,
                    tuple(evidence.code_names),
                    evidence.fingerprint,
                    evidence.posterior is not None,
                    "" if evidence.posterior is None else evidence.posterior.trained_with,
                    tuple(evidence.code_units) if evidence.has_blocks else (),
                )
                for name, evidence in evidences.items()
            },
            notes=tuple(dict.fromkeys(note for evidence in evidences.values() for note in evidence.notes)),
            versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
            **found,
        )

    def of_one(self, name: str) -> Self:
        """What is known of one representation, without the comparisons."""
        entries = ("representations", "diagnosis", "screening", "matched_pairs", "ladders", "ladder_problems")
        by_name = (*entries, "traversals", "decoders", "drawn_codes", "environments", "carriers", "nuisances")
        kept: dict[str, Any] = {
            entry: {key: item for key, item in getattr(self, entry).items() if key == name} for entry in by_name
        }
        return replace(self, **kept, comparison={}, ladder_comparison=None)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(factor.name for factor in self.factors)

    def __repr__(self) -> str:
        return f"EvaluationData({self.n_rows} rows, {len(self.factors)} factors, {', '.join(self.representations)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a diagnosis has its sentences and derived numbers as well."""
        return plain_data(self) | {"diagnosis": {name: found.to_dict() for name, found in self.diagnosis.items()}}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of one or several representations; print it for the answer and a table.

    With one representation, ``evaluation["mcc"]`` is the `Score` of a metric. With several, ``evaluation["layer 3"]``
    is the evaluation of one of them.

    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> evaluation = evaluate(z, z, metrics=["mcc", "r2"], quick=True)
    >>> evaluation.labels, round(evaluation["mcc"].value, 3)
    (('mcc', 'r2'), 1.0)
    """

    rows: tuple[Row, ...]
    data: EvaluationData

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        # nan is null in the stored data, and null equals null
        one, two = (
            stored | {"rows": [row | {"seconds": None} for row in stored["rows"]]}
            for stored in (self._stored(), other._stored())
        )
        return one == two

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = f"{self.data.n_rows} rows, {len(self.data.factors)} factors" if self.data.n_rows else "a decoder alone"
        if len(self.representations) > 1:
            return f"Evaluation({sizes}, {len(self.representations)} representations, {len(self.labels)} metrics)"
        scores = [f"{row.label} = {row.score.value:.3f}" for row in self.rows if row.score is not None]
        return f"Evaluation({sizes}: {', '.join(scores[:4])}{', ...' * (len(scores) > 4)})"

    @property
    def representations(self) -> tuple[str, ...]:
        """Names of the representations, in the order given."""
        return tuple(self.data.representations)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the metrics with their options, in the order computed."""
        return tuple(dict.fromkeys(row.label for row in self.rows))

    @property
    def factor_units(self) -> tuple[str, ...]:
        """Names of the factors in scores: of single ones and, with ``factor_groups``, of blocks."""
        scored = (tuple(row.score.per_factor) for row in self.rows if row.score and row.score.per_factor)
        return next(
            (names for names in scored if not set(names) <= set(self.data.factor_names)), self.data.factor_names
        )

    @checks_options
    def score(self, label: str, representation: str | None = None, seed: int | None = None) -> Score:
        """The score of a metric; the first one if several match."""
        for row in self.rows:
            named = label in (row.label, row.metric) and representation in (None, row.representation)
            if named and seed in (None, row.seed):
                if row.score is None:
                    raise InputError(str(row.problem or ""))
                return row.score
        raise OptionError(f"There is no score of {label!r}: there are {', '.join(self.labels)}.")

    def __getitem__(self, name: str) -> Any:
        """The score of a metric of the only representation, or the evaluation of one of several representations."""
        if len(self.representations) > 1:
            if name not in self.representations:
                of_metric = f"evaluation[representation][{name!r}]"
                unknown = f"one of these names, because {name!r} is none of them"
                self._refuse_several(of_metric if name in self.labels else unknown)
            rows = tuple(row for row in self.rows if row.representation == name)
            return Evaluation(rows, self.data.of_one(name))
        return self.score(name)

    def _refuse_several(self, instead: str) -> None:
        names = self.representations
        if len(names) > 1:
            shown = ", ".join(map(quoted, names[:4])) + ", ..." * (len(names) > 4)
            raise InputError(f"There are {len(names)} representations ({shown}): write {instead}.")

    @property
    def ladder(self) -> Ladder:
        """How far each factor is identified; of several representations, ``evaluation[representation].ladder``."""
        self._refuse_several("evaluation[representation].ladder")
        name = self.representations[0]
        if name not in self.data.ladders:
            problem = self.data.ladder_problems.get(name, "It is computed with the panel and with identification.")
            raise InputError(f"There is no ladder. {problem}")
        return self.data.ladders[name]

    @property
    def directions(self) -> Directions:
        """Weights of the linear readout of every factor on the codes, codes x columns (`Ladder.directions`)."""
        found, factors = self.ladder, {factor.name: factor for factor in self.data.factors}
        known = {name: (each.kind, each.levels) for name, each in factors.items()}
        return Directions.of(found.directions, known, found.code_names)

    @checks_options
    def row(self, label: str, representation: str) -> Row | None:
        """The row of a metric's first seed; None if it was not computed."""
        fitting = (row for row in self.rows if row.label == label and row.representation == representation)
        return next(fitting, None)

    @checks_options
    def values(self, label: str, representation: str) -> list[float]:
        """The value for every seed that has a score; an empty list if the metric failed for all seeds."""
        return [
            row.score.value
            for row in self.rows
            if row.label == label and row.representation == representation and row.score is not None
        ]

    def mean_and_spread(self, label: str, representation: str) -> tuple[float, float]:
        """Mean and standard deviation (0 for one seed) over seeds with a score; the mean is nan if there are none."""
        values = self.values(label, representation)
        if not values or any(map(math.isnan, values)):
            return math.nan, 0.0
        return fmean(values), stdev(values) if len(values) > 1 else 0.0

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """Every caveat, failure and reduced number of draws as a sentence, with the metrics it applies to."""
        return notes_of(self.rows, len(self.representations))

    def _shown_by(self, render: Callable[..., Shown], *options: object) -> Shown:
        """What a function of the report makes of this evaluation; an error is blamed on the file if there is one."""
        try:
            return render(self, *options)
        except UnweaveError:
            raise
        except Exception as error:
            if not vars(self).get("was_read"):
                raise
            raise InputError(
                f"This evaluation was damaged or edited, and cannot be shown ({type(error).__name__}: {error}): "
                "evaluate again, or pass what save wrote."
            ) from error

    # The report is above evaluation, so the methods that render import it late.

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from unweave.report.terminal import rich_table

        yield self._shown_by(rich_table, options.max_width)

    def __str__(self) -> str:
        from unweave.report.terminal import text_table

        return self._shown_by(text_table)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # for notebooks and IPython without HTML

    def _repr_html_(self) -> str:
        from unweave.report.notebook import notebook_view

        return self._shown_by(notebook_view)

    @property
    def answer(self) -> dict[str, Any]:
        """The short answer as plain data: factors, questions, what to report and what to do next (docs/report.md)."""
        from unweave.report.answer import plain_answer

        return self._shown_by(plain_answer)

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        rows: str = "metrics",
        intervals: bool = False,
        bold: bool = True,
        marks: bool = True,
        digits: int = 3,
        names: Mapping[str, str] | None = None,
        models: Sequence[str] | None = None,
    ) -> str:
        """A table in LaTeX (booktabs, siunitx) with a legend; also written to ``path`` if given.

        Rows are metrics, or models with ``rows="models"``. ``intervals=True`` adds the intervals over samples, ``bold``
        prints the best representation and those that do not differ from it significantly in bold, and ``marks`` shows
        verdicts. ``metrics``, ``digits``, ``names`` and ``models`` are as in `GroupedScores.to_latex`. For several
        seeds of every model, use ``evaluation.grouped(...).to_latex()``.
        """
        from unweave.report.latex import paper_table

        table = self._shown_by(paper_table, metrics, rows, intervals, bold, marks, digits, names, models)
        return _written(table.latex(), path)

    def to_summary(self) -> dict[str, Any]:
        """Plain data of the report page, with a versioned schema; `to_html` and `to_markdown` render it."""
        from unweave.report.summary import summarise

        return self._shown_by(summarise)

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one self-contained HTML page under 3 MB; also written to ``path`` if given."""
        from unweave.report.html import html_page

        return _written(self._shown_by(html_page), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The report as Markdown; also written to ``path`` if given."""
        from unweave.report.markdown import markdown_page

        return _written(self._shown_by(markdown_page), path)

    @property
    def has_seeds(self) -> bool:
        """Whether names of representations differ by a seed alone."""
        return len({setting_of(name) for name in self.representations}) < len(self.representations)

    @checks_options
    def grouped(
        self, groups: Mapping[str, str] | Callable[[str], str] | None = None, level: float = 0.95
    ) -> GroupedScores:
        """Scores by group, such as seeds by setting, with the spread in each group and which groups differ.

        Parameters
        ----------
        groups : mapping, or function, of representation to group, optional
            The group of every representation. By default, its name without the seed: "VAE seed 0" and "VAE seed 1" are
            the group "VAE".
        level : float
            Confidence level: 1 minus the probability of a false difference between any two groups (Welch's t-test with
            Holm's correction).
        """
        return grouped_scores(self, groups, level)

    @checks_options
    def plot(
        self,
        kind: str | None = None,
        *,
        metric: str | None = None,
        representation: str | None = None,
        rung: str = "direction",
        factors: object = None,
        codes: object = None,
    ) -> Figure:
        """A matplotlib figure; needs the extra ``unweave[report]``.

        Parameters
        ----------
        kind : {"scores", "matrix", "factors", "pairs", "verdicts", "comparison", "layers"}, optional
            "scores" shows the scores of one representation with intervals and noise floors, "matrix" the
            code-by-factor matrix of a metric, "factors" the score of every factor, "pairs" every factor against its
            matched code, "verdicts" the verdicts as a strip, "comparison" all representations by one metric, best
            first, and "layers" a curve for each factor over the representations in their order, such as layers or
            steps of training. The default is "scores" or "comparison", by the number of representations.
        metric, representation : str, optional
            What to plot; by default the first metric and representation for which this kind is defined.
        rung : {"one_code", "own_codes", "direction", "readable"}
            The recovery of the ladder that "layers" shows.
        factors, codes : tables
            The data for "pairs", because an evaluation does not store them.
        """
        try:
            from unweave.report.figures.scores import evaluation_plot
        except ModuleNotFoundError as error:
            raise OptionError(f"A figure needs the package {error.name}: install unweave[report].") from None
        return self._shown_by(evaluation_plot, kind, metric, representation, rung, factors, codes)

    def to_frame(self, backend: str | None = None) -> Any:
        """The rows as a data frame of pandas, polars or pyarrow: of ``backend``, or of the first that is installed."""
        return self._shown_by(lambda evaluation: data_frame(frame_columns(evaluation.rows), backend))

    @checks_options
    def code_frame(self, representation: str | None = None, backend: str | None = None) -> Any:
        """Data frame of the codes that depend on a factor, strongest first, if the codes were screened.

        Columns are the code, its factor, their rank correlation, the p-value, and the q-value: the smallest
        false-discovery rate at which the code is kept. There are at most 1,000 rows.
        """
        known = self.data.screening
        name = representation or next(iter(known), None)
        if name not in known:
            raise InputError("The codes were not screened: pass screen=True, or read score.per_code.")
        columns = {key.name: [getattr(code, key.name) for code in known[name].codes] for key in fields(ScreenedCode)}
        return data_frame(columns, backend)

    def to_json(self) -> str:
        """Strict JSON with a versioned schema; `from_json` gives the same evaluation back."""
        return json.dumps({"answer": self.answer, **self._stored()}, allow_nan=False)

    def _stored(self) -> dict[str, Any]:
        """The plain data that `from_json` reads."""
        return {"schema": SCHEMA, "data": self.data.to_dict(), "rows": [row.to_dict() for row in self.rows]}

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Evaluation from `to_json`."""
        try:
            content = read_json(text)
            schema = content["schema"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            reason = f" ({error})" if str(error).endswith("is there twice") else ""
            raise InputError(
                f"This is not an evaluation in JSON{reason}: pass what to_json or save wrote (score --json)."
            ) from None
        if str(schema).startswith("unweave.report/"):
            raise InputError("This is the summary of a report, as --summary writes it: pass what --json or save wrote.")
        if schema != SCHEMA:
            raise InputError(
                f"This evaluation has schema {reprlib.repr(schema)} and this version reads {SCHEMA!r}: "
                "evaluate again, or read it with the version that wrote it."
            )
        try:
            saved = restored(_Saved, content)
        except CodecError as error:
            raise InputError(
                f"This evaluation was damaged or edited, at {error}: evaluate again, or pass what save wrote."
            ) from None
        evaluation = cls(saved.rows, saved.data)
        object.__setattr__(evaluation, "was_read", True)  # so that a rendering error can be blamed on the file
        return evaluation

    def save(self, path: str | Path) -> None:
        """Write `to_json` to a file."""
        _written(self.to_json(), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            reason = error.strerror
        except UnicodeDecodeError:
            reason = "it is not text"
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        raise FileError(f"{path} cannot be read: {reason}; name a file that Evaluation.save wrote.")


@dataclass(frozen=True)
class _Saved:
    """The content of a file that `Evaluation.save` wrote."""

    rows: tuple[Row, ...]
    data: EvaluationData


def _frame_line(row: Row) -> dict[str, Any]:
    """A row as a row of a data frame, with nan for missing numbers."""
    score, floor = row.score, row.noise_floor
    line: dict[str, Any] = dict.fromkeys(FRAME_COLUMNS, math.nan)
    line |= {"representation": row.representation, "metric": row.label, "seed": row.seed, "seconds": row.seconds}
    line |= {"verdict": row.level.value if row.verdict or score else None}
    line |= {"note": " ".join(map(str, score.caveats if score else [row.problem]))}
    line |= {} if row.chance is None else {"chance": row.chance}
    line |= {} if score is None else {"value": score.value, "raw": score.raw}
    line |= {} if row.ends is None else {"lower": row.ends[0], "upper": row.ends[1]}
    line |= {} if floor is None else {name: getattr(floor, name) for name in ("floor", "p_value", "calibrated")}
    return line


def frame_columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Columns of the data frame of some rows."""
    lines = [_frame_line(row) for row in rows]
    return {name: [line[name] for line in lines] for name in FRAME_COLUMNS}


def _written(page: str, path: str | Path | None) -> str:
    if path is not None:
        write_output(path, page)
    return page
