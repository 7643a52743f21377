"""Study: 95 % intervals of autocorrelated series hold the mean score of fresh series of the same length.

Factors and the noise of the codes are autoregressions with coefficients of .5 and .9 and 1,000 rows. The series is
given as it is, so that blocks of consecutive rows are left out, or in 50 consecutive pieces as row groups. The mean
score is that of 600 further series.
"""

import functools

import numpy as np
import pytest
from scipy.signal import lfilter

from unweave import Evidence
from unweave.metrics import mcc, mig, r2
from unweave.trust import interval

N_ROWS, N_DRAWS, N_FRESH = 1000, 200, 600
MIXING = np.array([[1.0, 0.4, 0.2], [-0.3, 0.8, 0.5]])


def series(rho, seed, pieces=0):
    """Two autoregressions, and three mixtures of them with autocorrelated noise."""
    rng = np.random.default_rng([seed, int(100 * rho)])
    steps = np.sqrt(1 - rho**2) * rng.normal(size=(N_ROWS + 200, 5))
    drawn = lfilter([1.0], [1.0, -rho], steps, axis=0)[200:]
    factors, noise = drawn[:, :2], drawn[:, 2:]
    groups = np.arange(N_ROWS) * pieces // N_ROWS if pieces else None
    return Evidence(factors, factors @ MIXING + 0.5 * noise, row_groups=groups)


@functools.cache
def mean_score(metric, rho):
    """Mean over fresh series, and the standard deviation."""
    scores = [metric(series(rho, 10_000 + k)).raw for k in range(N_FRESH)]
    return np.mean(scores), np.std(scores)


def coverage(metric, rho, pieces, n_draws):
    """Share of intervals that hold the mean score, and their mean standard error relative to the true one."""
    found = [interval(metric, series(rho, k, pieces), level=0.95) for k in range(n_draws)]
    mean, spread = mean_score(metric, rho)
    covered = np.mean([one.lower <= mean <= one.upper for one in found])
    return covered, np.sqrt(np.mean([one.standard_error**2 for one in found])) / spread


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [0, 50], ids=["blocks", "row groups"])
@pytest.mark.parametrize("rho", [0.5, 0.9])
@pytest.mark.parametrize("metric", [mcc, r2, mig], ids=lambda entry: entry.__name__)
def test_coverage_of_series(metric, rho, pieces):
    covered, ratio = coverage(metric, rho, pieces, N_DRAWS)
    print(f"{metric.card.name} {rho} {pieces}: covered {covered:.3f}, error / spread {ratio:.2f}")
    assert 0.9 <= covered <= 0.99
