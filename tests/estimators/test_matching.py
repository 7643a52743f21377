"""The chance level of matched correlations, compared with simulated data."""

import numpy as np
import pytest

from unweave.estimators.matching import best_matching, matched_correlation_by_chance


@pytest.mark.parametrize(("n_rows", "n_codes", "n_factors"), [(4, 20, 20), (6, 30, 10), (40, 10, 10)])
def test_chance_is_what_unrelated_gaussian_columns_get(n_rows, n_codes, n_factors):
    rng, drawn = np.random.default_rng(0), []
    for _ in range(60):
        columns = rng.normal(size=(n_rows, n_codes + n_factors))
        between = np.abs(np.corrcoef(columns, rowvar=False)[:n_codes, n_codes:])
        drawn.append(between[best_matching(between)].mean())
    error = 4 * np.std(drawn) * np.sqrt(1 / 60 + 1 / 32)
    assert matched_correlation_by_chance(n_rows, n_codes, n_factors) == pytest.approx(np.mean(drawn), abs=error)
