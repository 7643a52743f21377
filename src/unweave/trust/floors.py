"""Noise floors: scores of codes that carry no information about the factors."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unweave.arrays import FloatArray, Rows
from unweave.card import Card
from unweave.card.decorator import Choice, card_of, stated_options
from unweave.errors import OptionError
from unweave.evidence import Evidence, Posterior
from unweave.evidence.decoders import Sampler, Unpaired
from unweave.evidence.splits import shuffled_rows
from unweave.findings import Finding
from unweave.memo import drawn_together
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.score import Score
from unweave.trust.budget import FEWEST_DRAWS, N_DRAWS, DrawPlan
from unweave.trust.row_order import n_null_orders, notes_on_order, null_order, row_order
from unweave.trust.scoring import (
    ScoredMetric,
    Watch,
    no_progress,
    observed,
    raw_values,
    score_or_reason,
    scores_of_variants,
)

Kind = Literal["permutation", "matched", "constant"]


def why_no_floor(card: Card) -> Finding | None:
    """The reason why there is no random encoder for this metric, or None."""
    learned, truth = {"codes", "posterior"} & {*card.needs}, {"factors", "nuisances"} & {*card.needs}
    if card.chance != "no pairing" and learned and truth:
        return None
    looked_at = "a decoder" if "decoder" in card.needs else "codes"
    return Finding("no_pairing", metric=card.name, looks_at=looked_at)


def null_evidence(evidence: Evidence, kind: Kind, seed: int, index: int) -> Evidence:
    """Evidence of a random encoder; the same seed and index give the same evidence.

    >>> evidence = Evidence([1, 2, 3, 4], [5, 6, 7, 8])
    >>> sorted(null_evidence(evidence, "matched", seed=0, index=0).codes[:, 0].tolist())
    [5.0, 6.0, 7.0, 8.0]
    """
    rng = random_stream(seed, "null draws", index)
    if kind == "permutation":
        return evidence.permuted(rng, null_order(evidence, rng, index))
    if kind == "matched":
        orders = [shuffled_rows(evidence.n_rows, evidence.row_groups, rng) for _ in range(evidence.n_codes)]
        apart = evidence.sampler and ShuffledColumns(Unpaired(evidence.sampler, int(rng.integers(2**31))))
        return evidence.recoded(_shuffled_codes(evidence, orders), apart)
    if kind == "constant":
        codes = np.broadcast_to(evidence.codes.mean(axis=0), evidence.codes.shape)
        still = evidence.sampler and ConstantCodes(evidence.sampler, tuple(codes[0].tolist()))
        return evidence.recoded(codes if evidence.posterior is None else _prior(evidence.posterior), still)
    raise ValueError(f"kind={kind!r} is not known: use 'permutation', 'matched' or 'constant'.")


def _shuffled_codes(evidence: Evidence, orders: list[Rows]) -> FloatArray | Posterior:
    posterior = evidence.posterior
    if posterior is None:
        return np.column_stack([evidence.codes[order, i] for i, order in enumerate(orders)])
    n = posterior.n_gaussian
    return Posterior(
        np.column_stack([posterior.mean[order, i] for i, order in enumerate(orders[:n])]) if n else None,
        np.column_stack([posterior.std[order, i] for i, order in enumerate(orders[:n])]) if n else None,
        categories={
            name: table[order] for (name, table), order in zip(posterior.categories.items(), orders[n:], strict=True)
        },
        names=posterior.names[:n] if n else None,
    )


def _prior(posterior: Posterior) -> Posterior:
    """The same posterior for every sample, with the mean and standard deviation of the aggregated posterior."""
    n = posterior.n_gaussian
    spread = np.sqrt(np.square(posterior.std).mean(axis=0) + posterior.mean.var(axis=0)) if n else None
    return Posterior(
        np.broadcast_to(posterior.mean.mean(axis=0), posterior.mean.shape) if n else None,
        np.broadcast_to(spread, posterior.mean.shape) if spread is not None else None,
        categories={
            name: np.broadcast_to(table.mean(axis=0), table.shape) for name, table in posterior.categories.items()
        },
        names=posterior.names[:n] if n else None,
    )


@dataclass(frozen=True)
class ShuffledColumns:
    """A sampler that shuffles every column of the codes of another sampler separately."""

    sampler: Sampler

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return factors and codes of ``n_rows`` rows."""
        factors, codes = self.sampler(fixed, n_rows, rng)
        return factors, rng.permuted(np.asarray(codes), axis=0)


@dataclass(frozen=True)
class ConstantCodes:
    """A sampler with the factors of another sampler and the same codes in every row."""

    sampler: Sampler
    codes: tuple[float, ...]

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return factors and codes of ``n_rows`` rows."""
        factors, _ = self.sampler(fixed, n_rows, rng)
        return factors, np.tile(self.codes, (n_rows, 1))


def some_rows(evidence: Evidence, n_rows: int, seed: int) -> Evidence:
    """The evidence, or ``n_rows`` random rows of it if it has more.

    >>> some_rows(Evidence(np.random.default_rng(0).normal(size=(100, 1)), np.arange(100.0)), 30, seed=0).n_rows
    30
    """
    if n_rows >= evidence.n_rows:
        return evidence
    return evidence.rows(np.sort(random_stream(seed, "rows of null draws").permutation(evidence.n_rows)[:n_rows]))


def may_use_some_rows(evidence: Evidence) -> bool:
    """Whether random rows can replace all rows: not if there are row groups, a time series or a sampler.

    >>> may_use_some_rows(Evidence(list(range(4)), list(range(4)), row_groups=[0, 0, 1, 1]))
    False
    """
    if evidence.row_groups is not None or evidence.sampler is not None:
        return False
    return row_order(evidence).kind == "exchangeable"


FEWEST_FOR_FLOOR = 19

ENOUGH_ABOVE = 4  # null scores that reach the score, after which it is not above noise (Besag and Clifford 1991)

FIRST_DRAWS, FAR, FAR_SHARE = 6, 1e-5, 0.1  # draws, and the p-value and share of the range at which these are enough

PRECISION = 0.01  # largest standard error of a floor, as a share of the metric's range

SIGNIFICANT = 0.05

TOO_CLOSE = 0.01

UPPER = 0.95

ROUNDING = 1e-12


@dataclass(frozen=True)
class NoiseFloor:
    """Scores of random encoders, and how the observed score compares with them.

    >>> from unweave.metrics import mcc
    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = noise_floor(mcc, Evidence(z, z), n_draws=19)
    >>> found.defined, found.p_value, found.calibrated > 0.99
    (True, 0.05, True)

    Attributes
    ----------
    metric, kind : str
        Name of the metric, and kind of random encoder: permutation, matched or constant.
    raw : float
        The observed score, before clipping.
    draws : tuple of float
        Raw scores of the null draws; nan if a draw has no score.
    floor : float
        The mean of the null scores, each clipped to the metric's bounds. Tables, pages and JSON all show this number.
    spread : float
        Standard deviation of the raw null scores.
    upper : float
        The 95 % quantile of the raw null scores (5 % where lower is better).
    p_value, resolution : float
        p-value of the permutation test: the share of null scores that are as good as the score or better, where the
        score itself counts as one of them. The resolution is the smallest p-value that this number of draws allows.
        Both are nan for the constant encoder and for a time series that is too short. Where a plan ends the draws
        because the score is `far_from_noise`, the draws that are left out, up to 29, count as worse.
    calibrated : float
        (score - floor) / (best - floor), with score and floor clipped to the metric's bounds: 0 for random codes and 1
        for the best score. It is nan if the floor is within .01 of the best score, or if there is no best score.
    n_rows : int, optional
        Number of random rows that the draws use; None for all rows.
    by_formula : float
        The theoretical floor for independent columns if the metric's card states a formula; otherwise nan.
    per_factor_floor, per_factor_upper : dict of name to float
        Mean of the null scores of every factor, and their upper quantile (lower where lower is better) at 5 % divided
        by the number of factors, so that 5 % is the level of all together; if the metric has a score for each factor.
        Where there are too few draws for that quantile, it is that of Student's t.
    notes : tuple of Finding
        Caveats.
    reason : Finding, optional
        Why there is no floor; None where there is one.
    """

    metric: str
    kind: Kind
    raw: float = math.nan
    draws: tuple[float, ...] = ()
    floor: float = math.nan
    spread: float = math.nan
    upper: float = math.nan
    p_value: float = math.nan
    resolution: float = math.nan
    calibrated: float = math.nan
    n_rows: int | None = None
    by_formula: float = math.nan
    per_factor_floor: dict[str, float] = field(default_factory=dict)
    per_factor_upper: dict[str, float] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    reason: Finding | None = None

    @property
    def defined(self) -> bool:
        """Whether there is a floor."""
        return not math.isnan(self.floor)


@checks_options
def noise_floor(
    metric: Choice,
    evidence: Evidence,
    *,
    kind: Kind = "permutation",
    n_draws: int = 199,
    n_rows: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> NoiseFloor:
    """Noise floor of one metric; see `noise_floors` for the options.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> rng = np.random.default_rng(0)
    >>> found = noise_floor(mcc, Evidence(rng.normal(size=(100, 2)), rng.normal(size=(100, 20))), n_draws=99)
    >>> 0.2 < found.floor < 0.3, found.p_value > 0.05, found.resolution
    (True, True, 0.01)
    """
    label = card_of(metric).name
    return noise_floors({label: metric}, evidence, kind=kind, n_draws=n_draws, n_rows=n_rows, seed=seed, n_jobs=n_jobs)[
        label
    ]


def noise_floors(
    metrics: Mapping[str, Choice | ScoredMetric],
    evidence: Evidence,
    *,
    kind: Kind = "permutation",
    n_draws: int = 199,
    n_rows: int | None = None,
    plan: DrawPlan | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    watch: Watch = no_progress,
) -> dict[str, NoiseFloor]:
    """Noise floors of several metrics, which share their common computations.

    Parameters
    ----------
    metrics : mapping of label to metric, ``functools.partial`` of one, or `ScoredMetric`
        A partial also fixes the seed of metrics that have one: ``partial(r2, rng=3)``. The score of a `ScoredMetric`
        is not computed again.
    kind : {'permutation', 'matched', 'constant'}
        The null encoder. 'permutation' assigns the codes to other samples, 'matched' also makes codes independent of
        each other and keeps their marginal distributions, and 'constant' gives every sample the same code. Row groups
        stay whole.
    n_draws : int
        Number of null encoders. Where groups of rows can be ordered in fewer ways, each order is drawn once.
    n_rows : int, optional
        Use this many random rows, to save time. The p-value is then that of the score on these rows.
    plan : DrawPlan, optional
        Largest number of draws of each metric, in place of ``n_draws``. The draws stop before if `draws_suffice`. A
        metric without draws gets a reason instead of a floor.
    seed : int
        Random seed. For given data, draw k depends on the seed only, not on the plan, metrics or number of workers.
    n_jobs : int
        Number of threads.
    watch : callable
        Called before every draw with its number and the largest possible number of draws, for progress bars.
    """
    _check_options(kind, n_draws, n_rows, seed)
    floors: dict[str, NoiseFloor] = {}
    scored: dict[int, dict[str, tuple[Choice, Score]]] = {}  # by the number of rows that draws use
    for label, entry in observed(metrics, evidence).items():
        found = why_no_floor(card_of(entry.metric)) or entry.score
        if plan and not plan.n_draws[label] and isinstance(found, Score):
            found = Finding("no_nulls_in_budget", seconds=plan.budget)
        if isinstance(found, Score):
            used_rows = (plan.rows.get(label) if plan else n_rows) or evidence.n_rows
            scored.setdefault(used_rows, {})[label] = entry.metric, found
        else:
            floors[label] = NoiseFloor(card_of(entry.metric).name, kind, reason=found)
    for used_rows, alike in scored.items():
        floors |= _drawn(
            alike, evidence, some_rows(evidence, used_rows, seed), kind, n_draws, plan, seed, n_jobs, watch
        )
    return {label: floors[label] for label in metrics}


def _drawn(
    alike: Mapping[str, tuple[Choice, Score]],
    evidence: Evidence,
    used: Evidence,
    kind: Kind,
    n_draws: int,
    plan: DrawPlan | None,
    seed: int,
    n_jobs: int,
    watch: Watch,
) -> dict[str, NoiseFloor]:
    """Floors of these metrics and scores, from draws of the rows ``used``."""
    floors = {}
    at_most = 1 if kind == "constant" else N_DRAWS if plan else n_draws
    if kind == "permutation":
        at_most = int(min(at_most, n_null_orders(used) - 1))
    most = {label: min(at_most, plan.n_draws[label]) if plan else at_most for label in alike}
    raws = {  # the scores on the rows that the draws use, with which they are compared
        label: score.raw if used is evidence else raw_values([score_or_reason(metric, used)])[0]
        for label, (metric, score) in alike.items()
    }
    tested = kind != "constant" and not row_order(used).untestable
    enough = {
        label: functools.partial(draws_suffice, score, raws[label], tested) for label, (_, score) in alike.items()
    }
    null = functools.partial(null_evidence, used, kind, seed)
    drawn = scores_of_variants(
        {label: metric for label, (metric, _) in alike.items()},
        drawn_together(null, at_most, FIRST_DRAWS) if kind == "permutation" else null,
        most,
        decided=enough if plan else {},
        n_jobs=n_jobs,
        watch=watch,
    )
    for label, (metric, score) in alike.items():
        left_out = FEWEST_DRAWS if plan and far_from_noise(score, raws[label], drawn[label]) else 0
        n_counted = max(len(drawn[label]), min(left_out, at_most)) * tested
        floor = _floor_of_draws(metric, used, kind, score, raws[label], drawn[label], n_counted)
        notes = [*floor.notes]
        if plan and len(drawn[label]) < at_most and not enough[label](drawn[label]):
            notes.append(Finding("fewer_nulls", n_draws=most[label], of=at_most, seconds=plan.budget))
        floors[label] = replace(floor, notes=tuple(notes))
        if used is not evidence:
            notes.append(Finding("nulls_of_some_rows", n_rows=used.n_rows, of=evidence.n_rows))
            floors[label] = replace(floor, n_rows=used.n_rows, notes=tuple(notes))
    return floors


def draws_suffice(score: Score, raw: float, tested: bool, drawn: list[Score | None]) -> bool:
    """Whether these null draws are enough: the floor is precise, and more draws would hardly change the test.

    The standard error of the floor is at most `PRECISION` of the metric's range. The test at level .05 ends when 4 null
    scores reach the score, when none of the first 29 does, or after 99 draws; and after 10 to 29 if the score is
    `far_from_noise`. A score of random codes then counts as above noise with probability .048; docs/trust.md has the
    calculation.

    >>> null = [Score(0.3)] * 29
    >>> score = Score(0.9, bounds=(0.0, 1.0), best=1.0)
    >>> [draws_suffice(score, raw, True, null[:n]) for raw, n in ((0.9, 5), (0.9, 6), (0.1, 18), (0.1, 19))]
    [False, True, False, True]
    """
    values = np.array(raw_values(drawn))
    width = score.bounds[1] - score.bounds[0]
    known = values[~np.isnan(values)]
    if math.isfinite(width) and known.size > 1 and known.std(ddof=1) > PRECISION * width * math.sqrt(values.size):
        return False
    if tested and far_from_noise(score, raw, drawn):
        return True
    n_above = int((~_worse(score.lower_is_better, raw, values)).sum())
    enough = not tested or n_above >= ENOUGH_ABOVE or (n_above == 0 and values.size >= FEWEST_DRAWS)
    return enough and values.size >= FEWEST_FOR_FLOOR


def far_from_noise(score: Score, raw: float, drawn: list[Score | None]) -> bool:
    """Whether a score is so much better than 6 null scores or more that further ones cannot be expected to reach it.

    By Student's t, a further null score is as good with a probability of at most 1e-5; and the score is better than
    their mean by a tenth of the metric's range, because null scores that are mostly equal do not show how they vary.

    >>> drawn = [Score(draw) for draw in np.linspace(0.0, 0.03, 6)]
    >>> [far_from_noise(Score(0.0, bounds=(0.0, 1.0)), raw, drawn) for raw in (0.09, 0.3)]
    [False, True]
    """
    values, width, n = np.array(raw_values(drawn)), score.bounds[1] - score.bounds[0], len(drawn)
    if n < FIRST_DRAWS or np.isnan(values).any() or not math.isfinite(width):
        return False
    better = (float(values.mean()) - raw) * (1 if score.lower_is_better else -1)
    reach = float(stats.t.isf(FAR, n - 1) * values.std(ddof=1) * math.sqrt(1 + 1 / n))
    return better >= max(FAR_SHARE * width, reach)


def _check_options(kind: object, n_draws: object, n_rows: object, seed: object) -> None:
    if kind not in get_args(Kind):
        raise OptionError(f"kind={kind!r} is not known: use 'permutation', 'matched' or 'constant'.")
    if not _is_whole(n_draws, at_least=1):
        raise OptionError(f"n_draws={n_draws!r} gives no noise floor: use a whole number from 1, such as 199.")
    if n_rows is not None and not _is_whole(n_rows, at_least=2):
        raise OptionError(
            f"n_rows={n_rows!r} is not a valid number of rows: use a whole number from 2, or None for all."
        )
    if not _is_whole(seed, at_least=0):
        raise OptionError(f"seed={seed!r} is not a seed: use a whole number from 0.")


def _is_whole(number: object, at_least: int) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and bool(number >= at_least)


def _floor_of_draws(
    metric: Choice,
    evidence: Evidence,
    kind: Kind,
    score: Score,
    raw: float,
    drawn: list[Score | None],
    n_counted: int,
) -> NoiseFloor:
    """The floor from the scores of null draws; ``raw`` is the score on the rows that they use.

    ``n_counted`` draws count for the p-value, those that were left out as worse; without any there is no test.
    """
    card = card_of(metric)
    values = np.array(raw_values(drawn))
    defined, notes = values[~np.isnan(values)], _notes_on_draws(evidence, kind, drawn)
    if not defined.size:
        reason = Finding("nulls_undefined", metric=card.name, null=kind)
        return NoiseFloor(card.name, kind, score.raw, tuple(values.tolist()), notes=tuple(notes), reason=reason)
    shown = np.clip(defined, *score.bounds)
    # null scores are clipped so that a score of 0 with a floor of 0 is calibrated to 0, even if raw scores are below 0
    floor = float(shown.mean())
    best = score.best if math.isfinite(score.best) else math.nan  # a score in nats has no best value
    if abs(best - floor) < TOO_CLOSE:
        notes.append(Finding("floor_near_best"))
    p_value, resolution = math.nan, math.nan
    if n_counted:
        resolution = 1 / (1 + n_counted)
        reached = 1 + int((~_worse(score.lower_is_better, raw, values)).sum())
        p_value = math.nan if math.isnan(raw) else reached * resolution
        if np.ptp(defined) <= ROUNDING and abs(raw - defined[0]) <= ROUNDING:
            notes.append(Finding("nulls_equal_score"))
    best_end = float(not score.lower_is_better)
    of_factors = {
        name: [found.per_factor[name] for found in drawn if found is not None and name in found.per_factor]
        for name, here in score.per_factor.items()
        if not math.isnan(here)
    }
    of_factors = {name: found for name, found in of_factors.items() if not np.isnan(found).all()}
    share = (1 - UPPER) / max(1, len(of_factors))  # Bonferroni: one level for all factors together
    return NoiseFloor(
        metric=card.name,
        kind=kind,
        raw=score.raw,
        draws=tuple(values.tolist()),
        floor=floor,
        spread=float(defined.std(ddof=1)) if defined.size > 1 else math.nan,
        upper=float(np.quantile(defined, abs(best_end - (1 - UPPER)))),
        p_value=p_value,
        resolution=resolution,
        calibrated=(score.value - floor) / (best - floor) if abs(best - floor) >= TOO_CLOSE else math.nan,
        by_formula=_by_formula(metric, evidence),
        per_factor_floor={name: float(np.nanmean(found)) for name, found in of_factors.items()},
        per_factor_upper={name: _limit(np.array(found), share, best_end) for name, found in of_factors.items()},
        notes=tuple(notes),
    )


def _limit(drawn: FloatArray, share: float, best_end: float) -> float:
    """The value that a share of null scores exceeds (or falls below, if 0 is the best end).

    A share that is smaller than the draws can resolve comes from Student's t, and never lies within the draws.
    """
    drawn = drawn[~np.isnan(drawn)]
    limit = float(np.quantile(drawn, abs(best_end - share)))
    if drawn.size < 2 or share * (drawn.size + 1) >= 1:
        return limit
    reach = float(stats.t.isf(share, drawn.size - 1) * drawn.std(ddof=1) * math.sqrt(1 + 1 / drawn.size))
    mean = float(drawn.mean())
    return max(limit, mean + reach) if best_end else min(limit, mean - reach)


def _worse(downwards: bool, raw: float, values: FloatArray) -> NDArray[np.bool_]:
    """Which null scores are worse than the score; a null draw without a score counts as better."""
    margin = ROUNDING * max(1.0, abs(raw))
    return np.asarray(values > raw + margin if downwards else values < raw - margin)


def _by_formula(metric: Choice, evidence: Evidence) -> float:
    """The noise floor by the formula of the card, if its assumption of independent columns and rows holds."""
    chance = card_of(metric).chance
    numeric = all(kind.is_numeric for kind in evidence.kinds)
    stated = stated_options(metric).keys() - {"rng"}
    if (
        row_order(evidence).kind != "exchangeable"
        or not callable(chance)
        or stated
        or evidence.row_groups is not None
        or evidence.code_groups
        or not numeric
    ):
        return math.nan
    n_live, n_varying = evidence.n_codes - len(evidence.dead_codes), evidence.n_factors - len(evidence.constant_factors)
    if not (n_live and n_varying):
        return math.nan  # no live codes or no varying factors
    return float(chance(evidence.n_rows, n_live, n_varying))


def _notes_on_draws(evidence: Evidence, kind: Kind, drawn: list[Score | None]) -> list[Finding]:
    notes = notes_on_order(evidence) if kind == "permutation" else []
    n_undefined = int(np.isnan(raw_values(drawn)).sum())
    if n_undefined:
        notes.append(Finding("nulls_without_score", n_draws=n_undefined, of=len(drawn)))
    if evidence.row_groups is None or kind == "constant":
        return notes
    sizes, n_orders = np.bincount(evidence.row_groups), n_null_orders(evidence)
    if 1 / n_orders > SIGNIFICANT:
        notes.append(Finding("few_orders", n_groups=sizes.size, n_orders=n_orders, smallest=1 / n_orders))
    if np.ptp(sizes):
        notes.append(Finding("groups_of_unequal_size"))
    return notes
