"""Intervals from subsamples of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from scipy.stats import t as student

from unweave.arrays import Rows
from unweave.card import Card
from unweave.card.decorator import Choice, card_of
from unweave.errors import OptionError
from unweave.estimators.correlation import tail_index
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import drawn_together, hand_over, memoised
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.responses.constraints import factor_constraints
from unweave.score import Score
from unweave.trust.budget import FEWEST_PARTS, N_PARTS, DrawPlan
from unweave.trust.floors import some_rows
from unweave.trust.row_order import block_length
from unweave.trust.scoring import (
    ScoredMetric,
    Watch,
    no_progress,
    observed,
    raw_values,
    scores_of_variants,
)

SHARE_LEFT_OUT = 0.5

# metrics that monotone maps of factors or of codes do not change, so that no tail decides their intervals
BY_RANKS = {"mig", "mig_sup", "dcimig", "modularity", "infomec_modularity", "infomec_compactness", "sufficiency"}
BY_RANKS |= {"dci_size", "t_mex", "beta_vae_score", "factor_vae_score", "relevance_factor_vae_score"}
BY_RANKS |= {"oracle_impurity", "niche_impurity", "interconcept_leakage"}
FACTORS_BY_RANKS = BY_RANKS | {"explicitness", "irs", "infomec_explicitness", "explicitness_ratio"}
CODES_BY_RANKS = BY_RANKS | {"dci_disentanglement", "dci_completeness", "identification"}

# of row groups: with half of 20 groups, a score of histograms varies less than their number says, and 95 % intervals of
# mig cover 88 %; with a fifth left out they cover 95 %
SHARE_OF_GROUPS_LEFT_OUT = 0.2

SMALLEST_SHARE = 0.1

SMALL_PART = 0.49  # share of the rows; smaller parts are reported in a note

FEWEST_UNITS = 5

MOST_CELLS = 2**22  # entries of factors and codes, of which eight halves are held in memory at once

HEAVY_TAIL_INDEX = 3.0  # Hill index below which correlations and R2 have no finite variance, or hardly one


@dataclass(frozen=True)
class Parts:
    """How parts of the samples are drawn: number of units (rows, row groups or blocks), and how many are left out."""

    evidence: Evidence
    n_units: int
    n_out: int
    seed: int

    @property
    def factor(self) -> float:
        """Factor (n - k) / k by which the variance over parts is multiplied."""
        return (self.n_units - self.n_out) / self.n_out

    def part(self, index: int) -> Evidence:
        """The evidence without the units that this part leaves out; the same seed and index give the same part."""
        return self.evidence.leaving_out(self.left_out(index))

    def left_out(self, index: int) -> Rows:
        """Rows that are left out."""
        leaving = random_stream(self.seed, "left out rows", index).permutation(self.n_units)[: self.n_out]
        return np.flatnonzero(np.isin(_unit_of_rows(self.evidence), leaving))

    def standard_error(self, values: Sequence[float]) -> float:
        """Standard error of the score of all samples, from the scores of parts.

        >>> parts = Parts(Evidence([1, 2, 3, 4], [1, 2, 3, 4]), n_units=4, n_out=2, seed=0)
        >>> round(parts.standard_error([1.0, 3.0, 2.0]), 3)
        1.0
        """
        return math.sqrt(self.factor * float(np.var(values, ddof=1)))

    def quantile(self, level: float, n_parts: int) -> float:
        """Half-width of an interval of this level in standard errors: a quantile of Student's t."""
        return float(student.ppf((1 + level) / 2, min(n_parts, self.n_units) - 1))


def _unit_of_rows(evidence: Evidence) -> Rows:
    """The unit of each row, which is left out as a whole: its row group, its block of a series, or the row itself."""
    if evidence.row_groups is not None:
        return evidence.row_groups
    return np.arange(evidence.n_rows) // block_length(evidence)


def parts_of(evidence: Evidence, card: Card, seed: int, most_rows: int | None = None) -> Parts | Finding:
    """Plan of the parts for this metric, or the reason why there are none; a part has at most ``most_rows`` rows."""
    if "decoder" in card.needs:
        return Finding("decoder_without_samples", metric=card.name)
    groups = evidence.row_groups
    n_units = int(_unit_of_rows(evidence).max(initial=-1)) + 1
    units = "rows" if groups is None else "row groups"
    if n_units < FEWEST_UNITS:
        return Finding("too_few_units", n_units=n_units, needed=FEWEST_UNITS, units=units)
    if card.min_rows > (1 - SMALLEST_SHARE) * evidence.n_rows:
        needed = math.ceil(card.min_rows / (1 - SMALLEST_SHARE))
        return Finding(
            "too_few_rows_for_parts", metric=card.name, min_rows=card.min_rows, n_rows=evidence.n_rows, needed=needed
        )
    most = SHARE_LEFT_OUT if groups is None else SHARE_OF_GROUPS_LEFT_OUT
    share = min(most, 1 - card.min_rows / evidence.n_rows)
    if most_rows is not None:
        share = max(share, 1 - most_rows / evidence.n_rows)
    return Parts(evidence, n_units, max(1, math.floor(share * n_units)), seed)


@dataclass(frozen=True)
class PartScores:
    """Scores of one metric on all samples and on parts of them, as intervals and comparisons need them.

    ``raw`` and ``per_factor`` have one entry for each part, which is nan or empty if the part has no score. Matrices in
    the parts of a score are not kept. ``notes`` are caveats.
    """

    plan: Parts
    score: Score
    raw: tuple[float, ...]
    per_factor: tuple[Mapping[str, float], ...]
    notes: tuple[Finding, ...]


def part_scores(
    metrics: Mapping[str, Choice | ScoredMetric],
    evidence: Evidence,
    *,
    n_parts: int = N_PARTS,
    plan: DrawPlan | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    watch: Watch = no_progress,
) -> dict[str, PartScores | Finding]:
    """Scores of every metric on parts of the samples, or the reason why there are none.

    The options are those of `intervals`. A plan states the largest number of parts of each metric and of the rows of a
    part. ``watch`` is called with the number of every part before it is scored.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> factors = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = part_scores({"mcc": mcc}, Evidence(factors, -factors), n_parts=3)["mcc"]
    >>> [round(raw, 6) for raw in found.raw]
    [1.0, 1.0, 1.0]
    """
    if n_parts < 2:
        raise OptionError(f"n_parts={n_parts} gives no variance: use a whole number from 2, such as {N_PARTS}.")
    plan = plan or DrawPlan({}, dict.fromkeys(metrics, n_parts))
    found: dict[str, PartScores | Finding] = {}
    known = observed(metrics, evidence)
    able: dict[Parts, dict[str, Score]] = {}  # metrics with the same parts are scored on the same evidence
    used = {n: some_rows(evidence, n, seed) for n in {*plan.rows_scored.values(), evidence.n_rows}}
    if evidence.n_factors and len(used) > 1:  # some of the rows have the constraints between factors of all
        hand_over(factor_constraints, evidence, *used.values())
    for label, entry in known.items():
        # the error of a score that uses some of the rows is that of their number
        parts = parts_of(
            used[plan.rows_scored.get(label, evidence.n_rows)],
            card_of(entry.metric),
            seed,
            plan.rows_of_parts.get(label),
        )
        if isinstance(entry.score, Finding):
            found[label] = entry.score
        elif isinstance(parts, Finding):
            found[label] = parts
        elif plan.n_parts[label] < 2:
            found[label] = Finding("no_parts_in_budget", seconds=plan.budget)
        else:
            able.setdefault(parts, {})[label] = entry.score
    for parts, scores in able.items():
        drawn = scores_of_variants(
            {label: known[label].metric for label in scores},
            parts_together(parts, n_parts),
            {label: min(n_parts, plan.n_parts[label]) for label in scores},
            n_jobs=n_jobs,
            watch=watch,
        )
        for label, of_parts in drawn.items():
            n_done, notes = len(of_parts), _notes(parts, card_of(known[label].metric).name)
            wanted = plan.most_parts.get(label, n_parts)
            if n_done < wanted:
                notes.insert(0, Finding("fewer_parts", n_parts=n_done, of=wanted, seconds=plan.budget))
            per_factor = tuple({} if part is None else part.per_factor for part in of_parts)
            found[label] = PartScores(parts, scores[label], tuple(raw_values(of_parts)), per_factor, tuple(notes))
    return {label: found[label] for label in metrics}


def parts_together(parts: Parts, n_parts: int) -> Callable[[int], Evidence]:
    """The parts, eight of them at a time where they are small, so that trees of all of them grow together."""
    evidence = parts.evidence
    small = evidence.n_rows * (evidence.n_codes + evidence.n_factors) <= MOST_CELLS
    return drawn_together(parts.part, n_parts, FEWEST_PARTS if small else 1)


def _notes(plan: Parts, metric: str) -> list[Finding]:
    notes = []
    n_kept = plan.n_units - plan.n_out
    if plan.evidence.row_groups is None and n_kept < SMALL_PART * plan.n_units:
        notes.append(Finding("parts_of_some_rows", n_rows=n_kept, of=plan.evidence.n_rows))
    if plan.evidence.row_groups is not None and plan.n_units < 20:
        notes.append(Finding("few_groups", n_groups=plan.n_units))
    block = block_length(plan.evidence)
    if block > 1:
        notes.append(Finding("parts_of_blocks", n_rows=block))
    factors, codes = heavy_tails(plan.evidence)
    factors, codes = {} if metric in FACTORS_BY_RANKS else factors, {} if metric in CODES_BY_RANKS else codes
    if heavy := factors | codes:
        notes.append(Finding("heavy_tails", index=min(heavy.values()), factors=factors, codes=codes))
    if plan.evidence.sampler is not None:
        notes.append(Finding("sampler_draws_not_counted"))
    return notes


@memoised(on="both")
def heavy_tails(evidence: Evidence) -> tuple[dict[str, float], dict[str, float]]:
    """Numeric factors and dense codes with heavy tails, each with its tail index."""
    numeric = [kind.is_numeric for kind in evidence.kinds]
    factors = {name: evidence.factors[:, j] for j, name in enumerate(evidence.factor_names) if numeric[j]}
    dense = () if evidence.sparse_codes is not None else evidence.code_names
    codes = {name: evidence.codes[:, i] for i, name in enumerate(dense)}
    of_factors, of_codes = (
        {name: index for name, column in columns.items() if (index := tail_index(column)) < HEAVY_TAIL_INDEX}
        for columns in (factors, codes)
    )
    return of_factors, of_codes


@dataclass(frozen=True)
class Interval:
    """Confidence interval of the expected score of data sets of the same size.

    Attributes
    ----------
    metric : str
        Name of the metric.
    level : float
        Confidence level: the share of such intervals that cover the expected score.
    raw, lower, upper : float
        The score before clipping and the ends of its interval; nan where there is none.
    bounds : tuple of two floats
        The bounds of the metric, to which `clipped` clips the interval.
    standard_error : float
        Standard error of the score over data sets of the same size.
    n_parts : int
        Number of parts of the samples from which the standard error was estimated.
    per_factor : dict of name to (lower, upper)
        Interval of the score of every factor, if the metric has a score for each factor.
    notes : tuple of Finding
        Caveats.
    reason : Finding, optional
        Why there is no interval; None where there is one.
    """

    metric: str
    level: float
    raw: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    bounds: tuple[float, float] = (-math.inf, math.inf)
    standard_error: float = math.nan
    n_parts: int = 0
    per_factor: dict[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    reason: Finding | None = None

    @property
    def defined(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.lower)

    @property
    def clipped(self) -> tuple[float, float]:
        """Both ends of the interval, clipped to the bounds of the metric."""
        return (float(np.clip(self.lower, *self.bounds)), float(np.clip(self.upper, *self.bounds)))


@checks_options
def interval(
    metric: Choice,
    evidence: Evidence,
    *,
    level: float = 0.95,
    n_parts: int = N_PARTS,
    seed: int = 0,
    n_jobs: int = 1,
) -> Interval:
    """Interval of one metric; see `intervals` for the options.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(400, 2))
    >>> found = interval(mcc, Evidence(factors, factors + rng.normal(size=(400, 2))))
    >>> found.lower < 0.5**0.5 < found.upper < found.lower + 0.1
    True
    """
    label = card_of(metric).name
    found = intervals({label: metric}, evidence, level=level, n_parts=n_parts, seed=seed, n_jobs=n_jobs)
    return found[label]


def intervals(
    metrics: Mapping[str, Choice | ScoredMetric],
    evidence: Evidence,
    *,
    level: float = 0.95,
    n_parts: int = N_PARTS,
    seed: int = 0,
    n_jobs: int = 1,
) -> dict[str, Interval]:
    """Intervals of several metrics, which share their common computations.

    Parameters
    ----------
    metrics : mapping of label to metric, ``functools.partial`` of one, or `ScoredMetric`
        A partial also fixes the seed of metrics that have one. The score of a `ScoredMetric` is not computed again.
    level : float
        Confidence level: the share of such intervals that cover the expected score of data sets of the same size.
    n_parts : int
        Number of random parts of the samples on which each metric is computed. Row groups stay whole.
    seed : int
        Random seed. For given data, part k depends on the seed only, not on the metrics or the number of workers.
    n_jobs : int
        Number of threads.
    """
    check_level(level)
    found = part_scores(metrics, evidence, n_parts=n_parts, seed=seed, n_jobs=n_jobs)
    names = {
        label: card_of(entry.metric if isinstance(entry, ScoredMetric) else entry).name
        for label, entry in metrics.items()
    }
    return {label: interval_of_parts(names[label], found[label], level) for label in metrics}


def check_level(level: float) -> None:
    """Raise an error unless the level is between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise OptionError(f"level={level!r} is not a level: use a number between 0 and 1, such as 0.95.")


def interval_of_parts(name: str, found: PartScores | Finding, level: float) -> Interval:
    """Interval of the metric of this name from its scores of parts, or the reason why it has none."""
    if isinstance(found, Finding):
        return Interval(name, level, reason=found)
    score, values, plan = found.score, found.raw, found.plan
    if math.isnan(score.raw) or np.isnan(values).any():
        reason = (
            Finding("score_undefined", metric=name)
            if math.isnan(score.raw)
            else Finding("parts_undefined", metric=name, n_parts=np.isnan(values).sum(), of=len(values))
        )
        return Interval(name, level, score.raw, bounds=score.bounds, notes=found.notes, reason=reason)
    reach = plan.quantile(level, len(values))
    error = plan.standard_error(values)
    per_factor = {}
    for factor, here in score.per_factor.items():
        half = reach * plan.standard_error([part.get(factor, math.nan) for part in found.per_factor])
        if not math.isnan(here + half):
            per_factor[factor] = (here - half, here + half)
    return Interval(
        metric=name,
        level=level,
        raw=score.raw,
        lower=score.raw - reach * error,
        upper=score.raw + reach * error,
        bounds=score.bounds,
        standard_error=error,
        n_parts=len(values),
        per_factor=per_factor,
        notes=found.notes,
    )
