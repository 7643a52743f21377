"""If the data do not show which of two nearly equivalent factors a code depends on, both are assumed in turn."""

import numpy as np

from unweave import Evidence
from unweave.metrics import mcc
from unweave.trust import diagnose
from unweave.trust.code_models import code_models, shared_models
from unweave.trust.counterpart import Counterpart
from unweave.trust.effects import steps_of


def near(apart, noise, seed=13):
    """Two factors that differ by ``apart`` standard deviations, and a code of their sum with noise."""
    x, difference, rest = np.random.default_rng(seed).normal(size=(3, 500))
    y = x + apart * difference
    return Evidence({"x": x, "y": y}, np.column_stack([x + y + noise * rest, rest]))


def followed(evidence):
    """Correlations of the first code with the factors."""
    return np.corrcoef(evidence.factors[:, 0], evidence.codes[:, 0])[0, 1], np.corrcoef(
        evidence.factors[:, 1], evidence.codes[:, 0]
    )[0, 1]


def test_a_code_that_could_be_of_either_is_shared():
    counterpart = Counterpart.of(near(0.03, 0.5))
    one, other = sorted(followed(counterpart.sample(0, same_codes=True)))
    assert one < 0.2 < 0.8 < other
    one, other = followed(counterpart.shared.sample(0, same_codes=True))
    # each has half of the code: 1 / sqrt(2) without noise
    assert 0.5 < one < 0.8
    assert 0.5 < other < 0.8


def test_nothing_is_shared_where_the_data_show_which_factor_it_is():
    x, difference = np.random.default_rng(0).normal(size=(2, 500))
    factors = np.column_stack([x, x + 0.1 * difference])
    for codes in (factors, factors**3, factors + 0.01 * np.random.default_rng(1).normal(size=factors.shape)):
        evidence = Evidence(factors, codes)
        assert shared_models(evidence, code_models(evidence)) is None


def test_nothing_is_shared_between_factors_that_differ():
    evidence = near(1.0, 0.5)
    assert shared_models(evidence, code_models(evidence)) is None


def test_every_second_draw_is_of_the_shared_models():
    evidence = near(0.03, 0.5)
    (step,) = [each for each in steps_of(evidence, diagnose(evidence)).steps if each.effect == "dependence"]
    assert len(step.after) % 2 == 0
    smaller = [min(followed(drawn)) for drawn in step.after]
    assert max(smaller[::2]) < 0.2 < 0.4 < min(smaller[1::2])
    # so the estimate is between those of the two assumptions
    scores = [mcc(drawn).value for drawn in step.after]
    assert max(scores[1::2]) < np.mean(scores) < min(scores[::2])


def test_residuals_come_from_rows_with_similar_factors():
    """Residuals that codes share stay shared, and residuals that depend on a factor still do."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000))
    common = rng.normal(size=1000) * np.where(c > 0, 1.0, 0.1)
    evidence = Evidence({"a": a, "b": b, "c": c}, np.column_stack([a + b + common, a - b + common]))
    drawn = Counterpart.of(evidence).sample(1, same_codes=True, same_rows=True)
    a, b, c = drawn.factors.T
    left = drawn.codes - np.column_stack([a + b, a - b])
    assert np.corrcoef(left, rowvar=False)[0, 1] > 0.9
    assert left[c > 0.5].std() > 2 * left[c < -0.5].std()  # 1 if rows were random
