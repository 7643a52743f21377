"""Tails of the hypergeometric distribution against scipy."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from unweave.estimators.independence import lower_tail, upper_tail


@pytest.mark.parametrize("n_rows", [50, 1000, 100_000])
def test_tails_are_those_of_scipy(n_rows):
    rng = np.random.default_rng(0)
    present = rng.integers(0, n_rows + 1, size=200)
    active = rng.integers(0, min(n_rows, 2000) + 1, size=200)
    lowest, highest = np.maximum(0, present + active - n_rows), np.minimum(present, active)
    near = np.round(present * active / n_rows + 3 * rng.normal(size=200) * np.sqrt(present * active / n_rows + 1))
    anywhere = lowest + np.floor(rng.random(200) * (highest - lowest + 1))
    for hits in (np.clip(near, lowest, highest), anywhere):
        above, below = hypergeom.sf(hits - 1, n_rows, present, active), hypergeom.cdf(hits, n_rows, present, active)
        np.testing.assert_allclose(upper_tail(hits, n_rows, present, active), above, rtol=1e-8, atol=1e-300)
        np.testing.assert_allclose(lower_tail(hits, n_rows, present, active), below, rtol=1e-8, atol=1e-300)
