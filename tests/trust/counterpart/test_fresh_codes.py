"""Codes at new factor values follow the curve of the code, with the local amount of noise."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.code_models import Places, code_models
from unweave.trust.counterpart import _of_its_class, fresh_code, from_scores

N = 2000
RNG = np.random.default_rng(0)
FACTOR = np.sort(RNG.uniform(-1, 1, N))
NOISE = RNG.normal(size=N)


def drawn_again(code, draws=20):
    """Several draws of the code at the observed factor values."""
    found = code_models(Evidence(np.column_stack([FACTOR, RNG.normal(size=N)]), code[:, None]))
    assert found.owner.tolist() == [0]
    rng = np.random.default_rng(1)
    return np.stack([fresh_code(found, 0, Places.at_rows(np.arange(N)), rng) for _ in range(draws)])


def test_noise_that_grows_along_the_factor_does_so_in_the_draws():
    spread = np.where(FACTOR < -0.7, 0.1, 1.0)
    drawn = drawn_again(3 * FACTOR + spread * NOISE) - 3 * FACTOR
    low, high = FACTOR < -0.9, FACTOR > 0
    assert drawn[:, high].std() == pytest.approx(1.0, abs=0.15)
    assert drawn[:, low].std() < 0.25


def test_draws_follow_the_curve_and_differ_from_each_other():
    drawn = drawn_again(np.sin(3 * FACTOR) + 0.2 * NOISE)
    assert np.abs(drawn.mean(axis=0) - np.sin(3 * FACTOR)).mean() < 0.1
    assert np.corrcoef(drawn[0] - np.sin(3 * FACTOR), drawn[1] - np.sin(3 * FACTOR))[0, 1] < 0.2


def test_a_curve_that_no_fit_follows_is_read_off():
    saw = (4 * FACTOR) % 1
    assert np.abs(drawn_again(saw, draws=1)[0] - saw).mean() < 0.01


def test_scores_beyond_the_range_go_on_in_a_straight_line():
    """Scores from -2 to 1 of codes from 10 to 40; the slope is the ratio of their standard deviations."""
    found = SimpleNamespace(code_scores=np.array([[1.0], [-2.0], [0.0]]), codes=np.array([[40.0], [10.0], [20.0]]))
    slope = np.std([10, 20, 40]) / np.std([-2, 0, 1])
    values = from_scores(np.array([-5.0, -2.0, -1.0, 0.5, 1.0, 3.0]), found, 0)
    assert values == pytest.approx([10 - 3 * slope, 10, 15, 30, 40, 40 + 2 * slope])


@pytest.mark.parametrize("n_values", [20, 21])
def test_few_values_of_a_code_stay_as_they_are(n_values):
    codes, rows = np.arange(60.0) % n_values, np.arange(0, 60, 2)
    drawn = _of_its_class(codes, np.zeros(60), Places.at_rows(rows), np.random.default_rng(0))
    assert (drawn.tolist() == codes[rows].tolist()) is (n_values <= 20)
