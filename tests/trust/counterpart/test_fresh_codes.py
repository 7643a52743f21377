"""Codes at new factor values follow the curve of the code, with the local amount of noise."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.counterpart.code_models import code_models
from unweave.trust.counterpart.factor_designs import Places
from unweave.trust.counterpart.fresh_codes import fresh_code

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
