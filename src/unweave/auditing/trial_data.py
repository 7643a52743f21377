"""Data on which the contract of a metric is checked, and the scores of the metric on them.

Metrics with the same needs are tried on the same evidence, so that they share cached results, and a score that several
checks need is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.card import Metric
from unweave.evidence import Evidence, Posterior
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.score import Score

N_ROWS, N_FACTORS = 2000, 4  # the tolerances of cards hold for this many rows

N_ROWS_OF_POSTERIORS = 1200  # fewer, because each draw from a posterior needs the density of every row

FEW_ROWS = 400  # enough for checks that compare scores with each other

ROWS_OF_CALLS = 200  # enough for checks of single calls

N_LEVELS, POSTERIOR_STD = 4, 0.05

MOST_REMEMBERED = 128

_SEEN: dict[tuple[str, int], Evidence] = {}


@dataclass(frozen=True)
class Call:
    """Arrays with which a metric was called, and its score."""

    inputs: tuple[np.ndarray, ...]
    score: Score


_LAST_CALL: dict[Metric, Call] = {}


def factors_for(metric: Metric, seed: int, n_rows: int = N_ROWS) -> np.ndarray:
    """Continuous factors, or factors with levels for metrics of posteriors, which need repeated factor values."""
    is_posterior = "posterior" in metric.card.needs
    n_rows = max(min(n_rows, N_ROWS_OF_POSTERIORS) if is_posterior else n_rows, metric.card.min_rows)
    rng, shape = random_stream(seed, "factors of a trial"), (n_rows, N_FACTORS)
    if is_posterior:
        return rng.integers(0, N_LEVELS, size=shape) - (N_LEVELS - 1) / 2
    return rng.normal(size=shape)


def noise_for(metric: Metric, seed: int) -> Any:
    """Codes that are independent of the factors, or of the samples if the metric does not use factors."""
    codes = factors_for(metric, 100 + seed)
    if "factors" in metric.card.needs:
        return codes
    mean = 0.5 + 0.001 * random_stream(seed, "noise of a trial").normal(size=codes.shape)
    return Posterior(mean, np.ones_like(mean))


def chance_level(metric: Metric, seed: int) -> float:
    """The score that the card declares for random codes, or the score of a permutation if it says 'by permutation'."""
    chance, factors = metric.card.chance, factors_for(metric, 0)
    if chance == "by permutation":
        return float(_scored(_remembered(evidence_for(metric, factors, factors).permuted(seed)), metric))
    return float(chance(len(factors), N_FACTORS, N_FACTORS) if callable(chance) else chance)


def evidence_for(metric: Metric, factors: np.ndarray | None, codes: Any, copy: int = 0) -> Evidence:
    """Evidence of these factors and codes; every ``copy`` has a cache of its own."""
    n_rows = len(codes.mean if isinstance(codes, Posterior) else codes)
    return _remembered(Evidence(factors, _as_codes(metric, codes), **_besides(metric, n_rows)), copy)


def score_of(metric: Metric, factors: np.ndarray, codes: Any) -> Score:
    """Score of the metric, computed once for the same factors and codes."""
    return _scored(evidence_for(metric, factors, codes), metric)


def inputs_for(metric: Metric) -> tuple[np.ndarray, ...]:
    """Arrays with which the metric can be called."""
    if "decoder" in metric.card.needs:
        return with_reference(metric, columns_of(0))
    factors = factors_for(metric, 0, ROWS_OF_CALLS)
    return factors, factors + factors_for(metric, 1, ROWS_OF_CALLS)


def called(metric: Metric, *inputs: np.ndarray, **options: Any) -> Score:
    """Score of a call with arrays."""
    if "decoder" not in metric.card.needs:
        inputs = (inputs[0], _as_codes(metric, inputs[1]))
    any_options: Callable[..., Score] = metric
    return any_options(*inputs, **_besides(metric, len(inputs[0])), **options)


def called_once(metric: Metric) -> Call:
    """A call with arrays and default options, which several checks look at."""
    if metric not in _LAST_CALL:
        inputs = inputs_for(metric)
        score = called(metric, *inputs)
        _LAST_CALL.clear()
        _LAST_CALL[metric] = Call(inputs, score)
    return _LAST_CALL[metric]


def repeated(metric: Metric, copy: int, **options: Any) -> Score:
    """Score of another call with the same numbers, on a copy of the evidence with a cache of its own."""
    inputs = inputs_for(metric)
    if "decoder" in metric.card.needs:
        return called(metric, *inputs, **options)
    any_options: Callable[..., Score] = metric
    return any_options(evidence_for(metric, inputs[0], inputs[1], copy), **options)


def with_reference(metric: Metric, columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Jacobians of a decoder, and those of a reference if the metric needs one."""
    return (columns, columns_of(1)) if "reference" in metric.card.needs else (columns,)


def columns_of(seed: int) -> np.ndarray:
    """Random Jacobians of 50 samples, with 6 outputs and `N_FACTORS` latents."""
    return random_stream(seed, "columns of a trial").normal(size=(50, 6, N_FACTORS))


def orthogonal_columns() -> np.ndarray:
    """Jacobians whose columns are orthogonal and differ in length."""
    return np.linalg.qr(columns_of(0))[0] * np.linspace(0.1, 3.0, N_FACTORS)


@memoised(on="both")
def _scored(evidence: Evidence, metric: Metric) -> Score:
    return metric(evidence)


def _as_codes(metric: Metric, codes: Any) -> Any:
    if "posterior" in metric.card.needs and not isinstance(codes, Posterior):
        return Posterior(codes, np.full_like(codes, POSTERIOR_STD))
    return codes


def _besides(metric: Metric, n_rows: int) -> dict[str, Any]:
    """Nuisances that are independent of factors and codes, if the card needs nuisances."""
    if "nuisances" not in metric.card.needs:
        return {}
    return {"nuisances": random_stream(0, "nuisances of a trial").normal(size=(n_rows, 2))}


def _remembered(fresh: Evidence, copy: int = 0) -> Evidence:
    """The first evidence with the same content, so that metrics share cached results."""
    if len(_SEEN) >= MOST_REMEMBERED:
        _SEEN.clear()
    return _SEEN.setdefault((fresh.fingerprint, copy), fresh)
