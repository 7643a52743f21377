"""Checks of a metric's contract, as stated on its card, for metrics of the catalogue and of your own."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from unweave.card import Metric, MetricUndefined
from unweave.evidence import Evidence, Posterior
from unweave.score import Score

N_ROWS, N_FACTORS = 2000, 4
N_ROWS_OF_POSTERIORS = 1200  # fewer, because each draw from a posterior needs the density of every row
N_ROWS_OF_CALLS = 400  # enough for checks that only compare two calls
N_LEVELS, POSTERIOR_STD = 4, 0.05
CHANCE_TOLERANCE, N_STANDARD_ERRORS = 0.05, 3
N_DRAWS = (3, 12, 48)  # more draws are made only if the scores of random codes vary too much to decide
MOST_REMEMBERED = 64
Check = Callable[[Metric], None]
_SEEN: dict[str, Evidence] = {}


def check_metric(metric: Metric) -> None:
    """Run all checks of the contract, and raise an AssertionError that lists those that fail.

    The checks are: the score stays within its bounds; it is the best one for the identity and for rescaled, permuted
    factors; it is the declared chance level for random codes; it is undefined with one factor or one code where the
    card says so; it does not depend on the order of rows and codes; inputs are not changed; the same seed gives the
    same score; the metric can be pickled and its score written as JSON; constant columns hardly change the score; and
    evidence that lacks what the card needs is refused. A metric that needs a posterior is tested with a standard
    deviation of .05 and factors with four levels. If it does not use factors, the random codes are a posterior that is
    almost the same for every sample. A metric of decoders must have the best score for orthogonal columns, and must not
    depend on the order of samples and latents or on rotations of the data.

    >>> from unweave.metrics import r2
    >>> check_metric(r2)
    """
    broken = []
    for check in checks_of(metric):
        try:
            check(metric)
        except AssertionError as error:
            broken.append(f"{check.__name__}: {error}")
    assert not broken, f"{metric.card.name} breaks its contract:\n" + "\n".join(broken)


def bounds_hold(metric: Metric) -> None:
    """Scores are within the card's bounds for the factors themselves, mixed codes and random codes."""
    low, high = metric.card.bounds
    factors = _factors(metric, 0)
    mixing = np.random.default_rng(1).normal(size=(N_FACTORS, 3))
    for codes in (factors, factors @ mixing, _factors(metric, 2)):
        value = float(_score(metric, factors, codes))
        assert low <= value <= high, f"the score {value} is outside the bounds {low} to {high}"


def identity_is_best(metric: Metric) -> None:
    """The identity and permuted, rescaled factors have the best score, within the card's tolerances."""
    factors, card = _factors(metric, 0), metric.card
    for name, codes in {"identity": factors, "rescaled": factors[:, ::-1] * [2.0, -0.5, 3.0, -1.0] + 1.0}.items():
        distance = abs(float(_score(metric, factors, codes)) - card.best)
        allowed = card.identity_tolerance + card.order_tolerance
        assert distance <= allowed, (
            f"the {name} is {distance:.4f} from the best score, and the card's identity_tolerance and order_tolerance "
            f"allow {allowed:g}"
        )


def noise_is_chance(metric: Metric) -> None:
    """The mean score of random codes is the chance level of the card."""
    found: list[float] = []
    expected: list[float] = []
    for n_draws in N_DRAWS:
        for k in range(len(found), n_draws):
            found.append(float(_score(metric, _factors(metric, k), _noise(metric, k))))
            expected.append(_chance_level(metric, k))
        distance = abs(float(np.mean(found) - np.mean(expected)))
        if distance <= CHANCE_TOLERANCE:
            return
    # with 48 draws, the standard error is known well enough to allow for it
    error = math.sqrt((np.var(found, ddof=1) + np.var(expected, ddof=1)) / len(found))
    allowed = CHANCE_TOLERANCE + N_STANDARD_ERRORS * error
    assert distance <= allowed, f"noise scores {np.mean(found):.3f}, and the chance level is {np.mean(expected):.3f}"


def undefined_where_the_card_says(metric: Metric) -> None:
    """With one factor, or with one code, the score is nan exactly if the card says so."""
    factors, codes = _factors(metric, 0), _factors(metric, 0) + 0.1 * _factors(metric, 1)
    for case, raw in {
        "one factor": _score(metric, factors[:, :1], codes).raw,
        "one code": _score(metric, factors, codes[:, :1]).raw,
    }.items():
        declared = case in metric.card.undefined_with
        assert math.isnan(raw) == declared, (
            f"with {case} the score is {raw:g}, and the card {'has' if declared else 'lacks'} "
            f"undefined_with=({case!r},)"
        )


def order_does_not_matter(metric: Metric) -> None:
    """Reordered rows and codes give the same raw score, within the card's tolerance."""
    rng = np.random.default_rng(3)
    factors = _factors(metric, 0)
    codes = factors @ rng.normal(size=(N_FACTORS, N_FACTORS)) + 0.1 * rng.normal(size=factors.shape)
    rows, columns = rng.permutation(len(factors)), rng.permutation(N_FACTORS)
    raw = _score(metric, factors, codes).raw
    other_rows = _score(metric, factors[rows], codes[rows]).raw
    moved = max(abs(other_rows - raw), abs(_score(metric, factors, codes[:, columns]).raw - raw))
    allowed = metric.card.order_tolerance + 1e-9
    assert moved <= allowed, f"reordering changes the score by {moved:.2g}, and order_tolerance allows {allowed:.2g}"


def inputs_are_unchanged(metric: Metric) -> None:
    """The metric does not modify its input arrays."""
    inputs = _inputs(metric)
    before = [array.copy() for array in inputs]
    _called(metric, *inputs)
    for given, kept in zip(inputs, before, strict=True):
        assert (given == kept).all(), "an input array was modified"


def same_seed_same_number(metric: Metric) -> None:
    """Two calls give exactly the same score, with the default seed and with a given seed."""
    for options in ({}, {"rng": 5}) if "rng" in metric.options else ({},):
        first, second = (_called(metric, *_inputs(metric), **options) for _ in range(2))
        assert first == second, f"a second call gives {second.raw!r} in place of {first.raw!r}"


def can_be_sent_and_stored(metric: Metric) -> None:
    """The metric can be pickled, and its score has a name, a version and settings and can be written as JSON."""
    assert pickle.loads(pickle.dumps(metric)) is metric, "the metric is not the same after pickling"
    inputs = _inputs(metric)
    score = metric(*inputs) if "decoder" in metric.card.needs else _score(metric, *inputs)
    assert Score.from_json(score.to_json()) == score, "the score is not the same after writing and reading JSON"
    named = (score.metric, score.version) == (metric.card.name, metric.card.version)
    assert named, "name and version of the score are not those of the card"
    assert set(score.settings) == set(metric.options), "the settings do not name every option"


def constant_columns_are_survived(metric: Metric) -> None:
    """A constant code hardly changes the score; a constant factor is left out and named in a caveat."""
    factors = _factors(metric, 0)
    plain = _score(metric, factors, factors)
    dead = _score(metric, factors, np.column_stack([np.full(len(factors), 7.0), factors]))
    allowed = metric.card.identity_tolerance + metric.card.order_tolerance + 1e-6
    assert abs(dead.raw - plain.raw) <= allowed, f"a constant code changes the score by {abs(dead.raw - plain.raw):.3g}"
    constant = _score(metric, np.column_stack([factors, np.full(len(factors), 7.0)]), factors)
    assert abs(constant.raw - plain.raw) <= allowed, f"a constant factor changes the score to {constant.raw:.3g}"
    named = any(caveat.kind == "constant_factors" for caveat in constant.caveats)
    assert named or "factors" not in metric.card.needs, "no caveat names the constant factor"


def lacking_evidence_is_refused(metric: Metric) -> None:
    """Evidence that lacks what the card needs, or has too few rows, raises `MetricUndefined` with the metric's name."""
    factors = _factors(metric, 0)
    few = slice(max(metric.card.min_rows - 1, 1))
    lacking = [_evidence(metric, factors[few], factors[few])]
    if {"codes", "posterior"} & set(metric.card.needs):
        lacking.append(Evidence(factors))
    if {"posterior", "nuisances"} & set(metric.card.needs):
        lacking.append(Evidence(factors, factors))
    if "factors" in metric.card.needs:
        lacking.append(_evidence(metric, None, factors))
    for evidence in lacking:
        try:
            metric(evidence)
        except MetricUndefined as error:
            assert metric.card.name in str(error), "the refusal does not name the metric"
        else:
            raise AssertionError(f"{evidence} was scored although the card says it cannot be")


def decoder_bounds_hold(metric: Metric) -> None:
    """Scores are within the card's bounds for decoders with orthogonal, nearly parallel and random columns."""
    low, high = metric.card.bounds
    for columns in (_orthogonal(0), _orthogonal(0) + 10.0, _columns(0)):
        value = float(_called(metric, *_with_reference(metric, columns)))
        assert low <= value <= high, f"the score {value} is outside the bounds {low} to {high}"


def orthogonal_is_best(metric: Metric) -> None:
    """Orthogonal columns of any length have the best score; a reference, if needed, has them rescaled and reordered."""
    card, columns = metric.card, _orthogonal(0)
    inputs = (columns, columns[:, :, ::-1] * -2.0) if "reference" in card.needs else (columns,)
    value = float(_called(metric, *inputs))
    if not math.isnan(card.best):
        near = value == card.best or abs(value - card.best) <= card.identity_tolerance
        assert near, f"orthogonal columns score {value}, and the best score is {card.best}"


def decoder_order_does_not_matter(metric: Metric) -> None:
    """Reordered samples and latents, and rotated data, give the same raw score."""
    rng = np.random.default_rng(3)
    inputs = _with_reference(metric, _columns(0))
    samples, latents = rng.permutation(len(inputs[0])), rng.permutation(inputs[0].shape[2])
    rotation = np.linalg.qr(rng.normal(size=(inputs[0].shape[1],) * 2))[0]
    raw = _called(metric, *inputs).raw
    for name, change in {
        "reordering": lambda array: array[samples][:, :, latents],
        "rotating the data": lambda array: rotation @ array,
    }.items():
        moved = abs(_called(metric, *map(change, inputs)).raw - raw)
        allowed = metric.card.order_tolerance + 1e-9
        assert moved <= allowed, f"{name} changes the score by {moved:.2g}, and order_tolerance allows {allowed:.2g}"


ANY_CHECKS: tuple[Check, ...] = (
    inputs_are_unchanged,
    same_seed_same_number,
    can_be_sent_and_stored,
    lacking_evidence_is_refused,
)
TABLE_CHECKS: tuple[Check, ...] = (
    bounds_hold,
    identity_is_best,
    noise_is_chance,
    undefined_where_the_card_says,
    order_does_not_matter,
    constant_columns_are_survived,
)
DECODER_CHECKS: tuple[Check, ...] = (decoder_bounds_hold, orthogonal_is_best, decoder_order_does_not_matter)


def checks_of(metric: Metric) -> tuple[Check, ...]:
    """The checks that apply to a metric, given what its card needs."""
    return (*(DECODER_CHECKS if "decoder" in metric.card.needs else TABLE_CHECKS), *ANY_CHECKS)


def _inputs(metric: Metric) -> tuple[np.ndarray, ...]:
    """Arrays with which the metric can be called."""
    if "decoder" in metric.card.needs:
        return _with_reference(metric, _columns(0))
    few = slice(max(N_ROWS_OF_CALLS, metric.card.min_rows))
    return _factors(metric, 0)[few], (_factors(metric, 0) + _factors(metric, 1))[few]


def _called(metric: Metric, *inputs: np.ndarray, **options: Any) -> Score:
    if "decoder" not in metric.card.needs:
        inputs = (inputs[0], _as_codes(metric, inputs[1]))
    any_options: Callable[..., Score] = metric
    return any_options(*inputs, **_besides(metric, len(inputs[0])), **options)


def _with_reference(metric: Metric, columns: np.ndarray) -> tuple[np.ndarray, ...]:
    return (columns, _columns(1)) if "reference" in metric.card.needs else (columns,)


def _n_rows(metric: Metric) -> int:
    return N_ROWS_OF_POSTERIORS if "posterior" in metric.card.needs else N_ROWS


def _factors(metric: Metric, seed: int) -> np.ndarray:
    """Continuous factors, or factors with levels for metrics of posteriors, which need repeated factor values."""
    rng = np.random.default_rng(seed)
    if "posterior" in metric.card.needs:
        return rng.integers(0, N_LEVELS, size=(_n_rows(metric), N_FACTORS)) - (N_LEVELS - 1) / 2
    return rng.normal(size=(_n_rows(metric), N_FACTORS))


def _noise(metric: Metric, seed: int) -> Any:
    """Codes that are independent of the factors, or of the samples if the metric does not use factors."""
    if "factors" in metric.card.needs:
        return _factors(metric, 100 + seed)
    mean = 0.5 + 0.001 * np.random.default_rng(100 + seed).normal(size=(_n_rows(metric), N_FACTORS))
    return Posterior(mean, np.ones_like(mean))


def _chance_level(metric: Metric, seed: int) -> float:
    """The score that the card declares for random codes, or the score of a permutation if it says 'by permutation'."""
    chance = metric.card.chance
    if chance == "by permutation":
        evidence = _evidence(metric, _factors(metric, 0), _factors(metric, 0))
        return float(metric(_remembered(evidence.permuted(seed))))
    return float(chance(_n_rows(metric), N_FACTORS, N_FACTORS) if callable(chance) else chance)


def _as_codes(metric: Metric, codes: Any) -> Any:
    if "posterior" in metric.card.needs and not isinstance(codes, Posterior):
        return Posterior(codes, np.full_like(codes, POSTERIOR_STD))
    return codes


def _besides(metric: Metric, n_rows: int) -> dict[str, Any]:
    """Nuisances that are independent of factors and codes, if the card needs nuisances."""
    if "nuisances" not in metric.card.needs:
        return {}
    return {"nuisances": np.random.default_rng(1000).normal(size=(n_rows, 2))}


def _evidence(metric: Metric, factors: np.ndarray | None, codes: Any) -> Evidence:
    """Evidence of these factors and codes."""
    n_rows = len(codes.mean if isinstance(codes, Posterior) else codes)
    return _remembered(Evidence(factors, _as_codes(metric, codes), **_besides(metric, n_rows)))


def _remembered(fresh: Evidence) -> Evidence:
    """The first evidence with the same content, so that metrics share cached results."""
    if len(_SEEN) >= MOST_REMEMBERED:
        _SEEN.clear()
    return _SEEN.setdefault(fresh.fingerprint, fresh)


def _score(metric: Metric, factors: np.ndarray | None, codes: Any) -> Score:
    return metric(_evidence(metric, factors, codes))


def _columns(seed: int) -> np.ndarray:
    """Random Jacobians of 50 samples, with 6 outputs and `N_FACTORS` latents."""
    return np.random.default_rng(seed).normal(size=(50, 6, N_FACTORS))


def _orthogonal(seed: int) -> np.ndarray:
    return np.linalg.qr(_columns(seed))[0] * np.linspace(0.1, 3.0, N_FACTORS)
