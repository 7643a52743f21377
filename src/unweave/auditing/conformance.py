"""Checks of a metric's contract, as stated on its card, for metrics of the catalogue and of your own.

Metrics with the same needs are tried on the same evidence, so that they share cached results, and a score that several
checks need is computed once.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from unweave.card import Metric, MetricUndefined
from unweave.card.decorator import card_of
from unweave.evidence import Evidence, Posterior
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.score import Score

CHANCE_TOLERANCE, N_STANDARD_ERRORS = 0.05, 3
N_DRAWS = (3, 12, 48)  # more draws are made only if the scores of random codes vary too much to decide
N_ROWS, N_FACTORS = 2000, 4  # the tolerances of cards hold for this many rows
N_ROWS_OF_POSTERIORS = 1200  # fewer, because each draw from a posterior needs the density of every row
FEW_ROWS = 400  # enough for checks that compare scores with each other
ROWS_OF_CALLS = 200  # enough for checks of single calls
N_LEVELS, POSTERIOR_STD = 4, 0.05
MOST_REMEMBERED = 128
_SEEN: dict[tuple[str, int], Evidence] = {}
_LAST_CALL: dict[Metric, tuple[tuple[np.ndarray, ...], Score]] = {}
Check = Callable[[Metric], None]


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
    factors, few = factors_for(metric, 0), factors_for(metric, 0, FEW_ROWS)
    mixing = random_stream(0, "mixing of a trial").normal(size=(N_FACTORS, 3))
    for pair in ((factors, factors), (factors, noise_for(metric, 0)), (few, few @ mixing)):
        value = float(score_of(metric, *pair))
        assert low <= value <= high, f"the score {value} is outside the bounds {low} to {high}"


def identity_is_best(metric: Metric) -> None:
    """The identity and permuted, rescaled factors have the best score, within the card's tolerances."""
    factors, card = factors_for(metric, 0), metric.card
    scales = 2.0 if card.equivalence == "orthogonal" else np.array([2.0, -0.5, 3.0, -1.0])
    for name, codes in {"identity": factors, "rescaled": factors[:, ::-1] * scales + 1.0}.items():
        distance = abs(float(score_of(metric, factors, codes)) - card.best)
        allowed = card.identity_tolerance + card.order_tolerance
        assert distance <= allowed, (
            f"the {name} is {distance:.4f} from the best score, and the card's identity_tolerance and order_tolerance "
            f"allow {allowed:g}"
        )


def noise_is_chance(metric: Metric) -> None:
    """The mean score of random codes is the chance level of the card."""
    scores: list[float] = []
    expected: list[float] = []
    for n_draws in N_DRAWS:
        for k in range(len(scores), n_draws):
            scores.append(float(score_of(metric, factors_for(metric, k), noise_for(metric, k))))
            expected.append(chance_level(metric, k))
        distance = abs(float(np.mean(scores) - np.mean(expected)))
        if distance <= CHANCE_TOLERANCE:
            return
    # with 48 draws, the standard error is known well enough to allow for it
    error = math.sqrt((np.var(scores, ddof=1) + np.var(expected, ddof=1)) / len(scores))
    allowed = CHANCE_TOLERANCE + N_STANDARD_ERRORS * error
    assert distance <= allowed, f"noise scores {np.mean(scores):.3f}, and the chance level is {np.mean(expected):.3f}"


def undefined_where_the_card_says(metric: Metric) -> None:
    """With one factor, or with one code, the score is nan exactly if the card says so."""
    factors = factors_for(metric, 0, FEW_ROWS)
    codes = (factors + 0.1 * factors_for(metric, 1, FEW_ROWS))[:, :2]
    for case, raw in {
        "one factor": score_of(metric, factors[:, :1], codes).raw,
        "one code": score_of(metric, factors, codes[:, :1]).raw,
    }.items():
        declared = case in metric.card.undefined_with
        assert math.isnan(raw) == declared, (
            f"with {case} the score is {raw:g}, and the card {'has' if declared else 'lacks'} "
            f"undefined_with=({case!r},)"
        )


def order_does_not_matter(metric: Metric) -> None:
    """Reordered rows and reordered codes give the same raw score, within the card's tolerance."""
    rng = random_stream(0, "order of a trial")
    factors = factors_for(metric, 0, N_ROWS if metric.card.order_tolerance else FEW_ROWS)
    codes = factors @ rng.normal(size=(N_FACTORS, N_FACTORS)) + 0.1 * rng.normal(size=factors.shape)
    rows, columns = rng.permutation(len(factors)), rng.permutation(N_FACTORS)
    raw = score_of(metric, factors, codes).raw
    reordered = score_of(metric, factors[rows], codes[rows]).raw, score_of(metric, factors, codes[:, columns]).raw
    moved = max(abs(each - raw) for each in reordered)
    allowed = metric.card.order_tolerance + 1e-9
    assert moved <= allowed, f"reordering changes the score by {moved:.2g}, and order_tolerance allows {allowed:.2g}"


def inputs_are_unchanged(metric: Metric) -> None:
    """The metric does not modify its input arrays."""
    for given, before in zip(called_once(metric)[0], inputs_for(metric), strict=True):
        assert (given == before).all(), "an input array was modified"


def same_seed_same_number(metric: Metric) -> None:
    """Two calls give exactly the same score, with the default seed and with a given seed."""

    def repeated(copy: int, **options: Any) -> Score:
        if "decoder" in metric.card.needs:
            return score_of_arrays(metric, *inputs_for(metric), **options)
        factors, codes = inputs_for(metric)
        return cast(Callable[..., Score], metric)(evidence_for(metric, factors, codes, copy), **options)

    pairs = [(called_once(metric)[1], repeated(0))]
    if "rng" in metric.options:
        pairs.append((repeated(0, rng=5), repeated(1, rng=5)))
    for first, second in pairs:
        assert first == second, f"a second call gives {second.raw!r} in place of {first.raw!r}"


def can_be_sent_and_stored(metric: Metric) -> None:
    """The metric can be pickled, and its score has a name, a version and settings and can be written as JSON."""
    assert pickle.loads(pickle.dumps(metric)) is metric, "the metric is not the same after pickling"
    score = called_once(metric)[1]
    assert Score.from_json(score.to_json()) == score, "the score is not the same after writing and reading JSON"
    named = (score.metric, score.version) == (metric.card.name, metric.card.version)
    assert named, "name and version of the score are not those of the card"
    assert set(score.settings) == set(metric.options), "the settings do not name every option"


def constant_columns_are_survived(metric: Metric) -> None:
    """A constant code hardly changes the score; a constant factor is left out and named in a caveat."""
    factors = factors_for(metric, 0, FEW_ROWS)
    plain = score_of(metric, factors, factors)
    dead = score_of(metric, factors, np.column_stack([np.full(len(factors), 7.0), factors]))
    allowed = metric.card.identity_tolerance + metric.card.order_tolerance + 1e-6
    assert abs(dead.raw - plain.raw) <= allowed, f"a constant code changes the score by {abs(dead.raw - plain.raw):.3g}"
    constant = score_of(metric, np.column_stack([factors, np.full(len(factors), 7.0)]), factors)
    assert abs(constant.raw - plain.raw) <= allowed, f"a constant factor changes the score to {constant.raw:.3g}"
    named = any(caveat.kind == "constant_factors" for caveat in constant.caveats)
    assert named or "factors" not in metric.card.needs, "no caveat names the constant factor"


def lacking_evidence_is_refused(metric: Metric) -> None:
    """Evidence that lacks what the card needs, or has too few rows, raises `MetricUndefined` with the metric's name."""
    factors = factors_for(metric, 0, FEW_ROWS)
    few = slice(max(metric.card.min_rows - 1, 1))
    lacking = [evidence_for(metric, factors[few], factors[few])]
    if {"codes", "posterior"} & set(metric.card.needs):
        lacking.append(Evidence(factors))
    if {"posterior", "nuisances", "target"} & set(metric.card.needs):
        lacking.append(Evidence(factors, factors))
    if "factors" in metric.card.needs:
        lacking.append(evidence_for(metric, None, factors))
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
    for columns in (orthogonal_columns(), orthogonal_columns() + 10.0, columns_of(0)):
        value = float(score_of_arrays(metric, *with_reference(metric, columns)))
        assert low <= value <= high, f"the score {value} is outside the bounds {low} to {high}"


def orthogonal_is_best(metric: Metric) -> None:
    """Orthogonal columns of any length have the best score; a reference, if needed, has them rescaled and reordered."""
    card, columns = metric.card, orthogonal_columns()
    inputs = (columns, columns[:, :, ::-1] * -2.0) if "reference" in card.needs else (columns,)
    value = float(score_of_arrays(metric, *inputs))
    if not math.isnan(card.best):
        near = value == card.best or abs(value - card.best) <= card.identity_tolerance
        assert near, f"orthogonal columns score {value}, and the best score is {card.best}"


def decoder_order_does_not_matter(metric: Metric) -> None:
    """Reordered samples and latents, and rotated data, give the same raw score."""
    rng = random_stream(0, "order of a trial")
    inputs = with_reference(metric, columns_of(0))
    samples, latents = rng.permutation(len(inputs[0])), rng.permutation(inputs[0].shape[2])
    rotation = np.linalg.qr(rng.normal(size=(inputs[0].shape[1],) * 2))[0]
    raw = score_of_arrays(metric, *inputs).raw
    for name, change in {
        "reordering": lambda array: array[samples][:, :, latents],
        "rotating the data": lambda array: rotation @ array,
    }.items():
        moved = abs(score_of_arrays(metric, *map(change, inputs)).raw - raw)
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
    return (*(DECODER_CHECKS if "decoder" in card_of(metric).needs else TABLE_CHECKS), *ANY_CHECKS)


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
        return float(_scored(_same_evidence(evidence_for(metric, factors, factors).permuted(seed)), metric))
    return float(chance(len(factors), N_FACTORS, N_FACTORS) if callable(chance) else chance)


def evidence_for(metric: Metric, factors: np.ndarray | None, codes: Any, copy: int = 0) -> Evidence:
    """Evidence of these factors and codes; every ``copy`` has a cache of its own."""
    n_rows = len(codes.mean if isinstance(codes, Posterior) else codes)
    return _same_evidence(Evidence(factors, _as_codes(metric, codes), **_besides(metric, n_rows)), copy)


def score_of(metric: Metric, factors: np.ndarray, codes: Any) -> Score:
    """Score of the metric, computed once for the same factors and codes."""
    return _scored(evidence_for(metric, factors, codes), metric)


def inputs_for(metric: Metric) -> tuple[np.ndarray, ...]:
    """Arrays with which the metric can be called."""
    if "decoder" in metric.card.needs:
        return with_reference(metric, columns_of(0))
    factors = factors_for(metric, 0, ROWS_OF_CALLS)
    return factors, factors + factors_for(metric, 1, ROWS_OF_CALLS)


def score_of_arrays(metric: Metric, *inputs: np.ndarray, **options: Any) -> Score:
    """Score of a call with arrays."""
    if "decoder" not in metric.card.needs:
        inputs = (inputs[0], _as_codes(metric, inputs[1]))
    return cast(Callable[..., Score], metric)(*inputs, **_besides(metric, len(inputs[0])), **options)


def called_once(metric: Metric) -> tuple[tuple[np.ndarray, ...], Score]:
    """Arrays with which the metric was called with default options, and its score, which several checks look at."""
    if metric not in _LAST_CALL:
        inputs = inputs_for(metric)
        score = score_of_arrays(metric, *inputs)
        _LAST_CALL.clear()
        _LAST_CALL[metric] = inputs, score
    return _LAST_CALL[metric]


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
    """Nuisances and a target that are independent of factors and codes, if the card needs them."""
    random = random_stream(0, "nuisances of a trial").normal(size=(n_rows, 2))
    given = {"nuisances": random, "target": random[:, 0]}
    return {name: column for name, column in given.items() if name in metric.card.needs}


def _same_evidence(fresh: Evidence, copy: int = 0) -> Evidence:
    """The first evidence with the same content, so that metrics share cached results."""
    if len(_SEEN) >= MOST_REMEMBERED:
        _SEEN.clear()
    return _SEEN.setdefault((fresh.fingerprint, copy), fresh)
