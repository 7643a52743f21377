"""Random codes are not trusted: six kinds of noise, five sizes, and every metric of points with its default options.

A metric is trusted on noise if its floor is above a tenth of its range and its verdict is "trust" nevertheless. The
floor alone is almost always decisive. If one of 19 null scores is as good as the score, the p-value exceeds .05, which
gives "do not use" unless floor and score are both below a tenth of the range. Null scores are therefore drawn until one
is as good, at most 19, and the other steps of a verdict are computed only if there is none. `remembered` stores scores
between runs.
"""

import numpy as np
import pytest
from remembered import Remembered, remembered

from unweave import Evidence
from unweave.metrics import CATALOGUE
from unweave.trust import diagnose, noise_floor, verdicts

KINDS_OF_NOISE = ("normal", "many", "heavy", "levels", "copies", "mixed")
SIZES = (60, 100, 300, 1000, 3000)
ENOUGH_NULLS = 19
HIGH = 0.1  # share of the metric's range


def of_noise(kind, n_rows, seed):
    """Evidence with factors, and codes that are independent of them."""
    rng = np.random.default_rng([seed, n_rows])
    factors = rng.normal(size=(n_rows, 4))
    codes = {
        "normal": lambda: rng.normal(size=(n_rows, 4)),
        "many": lambda: rng.normal(size=(n_rows, 20)),
        "heavy": lambda: rng.standard_t(2, size=(n_rows, 6)),
        "levels": lambda: rng.integers(0, 5, size=(n_rows, 6)).astype(float),
        "copies": lambda: np.tile(rng.normal(size=(n_rows, 2)), 3),
        "mixed": lambda: rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, 10)),
    }[kind]()
    return Evidence(factors, codes)


def metrics_of_points(n_rows):
    """All metrics of factors and codes, except the invariances, which take minutes each."""
    return {
        name: metric
        for name, metric in CATALOGUE.items()
        if {*metric.card.needs} == {"factors", "codes"}
        and metric.card.min_rows <= n_rows
        and name not in ("factors_invariance", "representations_invariance")
    }


def floor_of(metric, evidence):
    """The floor from as few null scores as are needed: up to the first that is as good as the score, at most 19."""
    for n_draws in (1, 2, 4, 8, ENOUGH_NULLS):
        key = f"floor {metric.card.name} {metric.card.version} {evidence.fingerprint} {n_draws}"
        floor = remembered(key, lambda n=n_draws: noise_floor(metric, evidence, n_draws=n))
        if not floor.defined or floor.p_value > 1.5 / (1 + n_draws):
            return floor
    return floor


def trusted_noise(chosen, evidence):
    """Metrics that are trusted with a floor above a tenth of their range, and the number of all with such a floor."""
    floors = {name: floor_of(metric, evidence) for name, metric in chosen.items()}
    scores = {name: Remembered(chosen[name])(evidence) for name in chosen}
    high = [
        name
        for name, floor in floors.items()
        if floor.defined and np.isfinite(np.ptp(scores[name].bounds)) and _share(scores[name], floor.floor) > HIGH
    ]
    decided = [name for name in high if floors[name].p_value > 0.05]
    open_ones = {name: Remembered(chosen[name]) for name in high if name not in decided}
    found = verdicts(
        open_ones,
        {name: scores[name] for name in open_ones},
        evidence,
        diagnose(evidence),
        {name: floors[name] for name in open_ones},
    )
    wrong = {name: verdict for name, verdict in found.items() if verdict.level == "trust"}
    for name, verdict in wrong.items():
        floor = floors[name]
        print(name, scores[name].value, floor.floor, floor.p_value, floor.calibrated, verdict.reasons[0].sentence)
    return sorted(wrong), len(high)


def _share(score, value):
    low, high = score.bounds
    return abs(value - (high if score.lower_is_better else low)) / (high - low)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_NOISE)
def test_nulls_that_decide_are_enough(kind):
    """For fast metrics, the verdict with all 19 null scores is not "trust" either."""
    evidence = of_noise(kind, 60, 1)
    chosen = {name: CATALOGUE[name] for name in ("mcc", "mig", "modularity", "infomec_modularity", "minimality")}
    wrong, n_high = trusted_noise(chosen, evidence)
    assert not wrong
    assert n_high >= 3
    floors = {name: noise_floor(metric, evidence, n_draws=ENOUGH_NULLS) for name, metric in chosen.items()}
    scores = {name: metric(evidence) for name, metric in chosen.items()}
    found = verdicts(chosen, scores, evidence, diagnose(evidence), floors)
    high = [name for name in chosen if _share(scores[name], floors[name].floor) > HIGH]
    assert all(found[name].level != "trust" for name in high)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("kind", KINDS_OF_NOISE)
def test_noise_of_six_kinds_and_five_sizes(kind, n_rows):
    chosen = metrics_of_points(n_rows)
    wrong, n_high = trusted_noise(chosen, of_noise(kind, n_rows, 1))
    print(f"{kind} {n_rows}: {len(chosen)} metrics, {n_high} with a high floor, trusted: {wrong}")
    assert not wrong
