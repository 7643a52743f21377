"""The scale and the origin of codes do not change the scores, and sharp codes are not reported as dependent."""

import math

import numpy as np
import pytest

from unweave import Posterior
from unweave.estimators import MixtureSampling, QuantisedPosterior
from unweave.metrics import informativeness, jemmig, misjed, rmig, separability, sepin_at_k, wsepin

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(600, 2))
STD = np.full((600, 2), 0.1)
MOVES = [(0.01, 0.0), (1000.0, 5.0), (np.array([1e-4, 1e4]), np.array([-3.0, 1e5]))]


@pytest.mark.parametrize(("scale", "origin"), MOVES, ids=["narrow", "wide", "each its own"])
def test_scores_follow_no_scale_and_no_origin(scale, origin):
    """With a fixed grid, rmig of codes multiplied by .01 falls from .60 to .19."""
    here, moved = Posterior(FACTORS, STD), Posterior(FACTORS * scale + origin, STD * scale)
    for metric in (informativeness, rmig, jemmig, misjed):
        assert metric(FACTORS, moved).raw == pytest.approx(metric(FACTORS, here).raw, abs=2e-5)
    for metric in (sepin_at_k, wsepin):  # the draws depend on the codes
        first, second = (metric(FACTORS, codes, estimator=MixtureSampling(300)) for codes in (here, moved))
        assert second.raw == pytest.approx(first.raw, abs=4 * first.parts["standard_error"])


def test_the_fixed_grid_of_001_is_an_argument():
    fixed = QuantisedPosterior(limits=(-4.0, 4.0))
    assert rmig(FACTORS, Posterior(FACTORS, STD), estimator=fixed).raw > 0.55
    assert rmig(FACTORS, Posterior(FACTORS * 0.01, STD * 0.01), estimator=fixed).raw < 0.3


def test_independent_sharp_codes_are_undefined_and_not_worst():
    """Three codes that each identify every sample are independent, but the estimates are bounded by log N."""
    mean = RNG.normal(size=(200, 3))
    score = separability(None, Posterior(mean, np.full_like(mean, 1e-3)))
    assert math.isnan(score.raw)
    assert "identify every sample" in str(score.caveats[0])
    assert f"log N = {math.log(200):.2f} nats" in str(score.caveats[0])
    wide = separability(None, Posterior(mean, np.full_like(mean, 1.0)))
    assert 0 <= wide.raw < 0.15
