"""The chance level of matched correlations, compared with simulated data."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import Pearson, correlation
from unweave.estimators.correlation import best_matching, matched_correlation_by_chance
from unweave.metrics.matrices import correlation_matrix
from unweave.randomness import random_stream


@pytest.mark.parametrize(("n_rows", "n_codes", "n_factors"), [(4, 20, 20), (6, 30, 10), (40, 10, 10)])
def test_chance_is_what_unrelated_gaussian_columns_get(n_rows, n_codes, n_factors):
    rng, drawn = np.random.default_rng(0), []
    for _ in range(60):
        columns = rng.normal(size=(n_rows, n_codes + n_factors))
        between = np.abs(np.corrcoef(columns, rowvar=False)[:n_codes, n_codes:])
        drawn.append(between[best_matching(between)].mean())
    # the correlations of few rows depend on each other, which the simulation ignores: .925 for .904 with four rows
    error = 4 * np.std(drawn) * np.sqrt(1 / 60 + 1 / 32) + 0.1 / n_rows
    assert matched_correlation_by_chance(n_rows, n_codes, n_factors) == pytest.approx(np.mean(drawn), abs=error)


@pytest.mark.parametrize(("n_rows", "freedom"), [(2, 0.5), (3, 0.5), (4, 1.0), (9, 3.5)])
def test_chance_of_one_pair_is_the_mean_of_draws_from_the_null_distribution(n_rows, freedom):
    rng = random_stream(0, "matched correlations by chance")
    exact = np.mean([np.sqrt(rng.beta(0.5, freedom)) for _ in range(32)])
    assert matched_correlation_by_chance(n_rows, 1, 1) == pytest.approx(exact)


@pytest.mark.parametrize(("n_codes", "n_draws"), [(1, 32), (3, 32), (4, 25), (10, 10), (100, 2)])
def test_fewer_draws_are_made_of_large_matrices(monkeypatch, n_codes, n_draws):
    drawn = []
    monkeypatch.setattr(correlation, "ENTRIES_DRAWN", 1000)
    monkeypatch.setattr(
        correlation, "best_matching", lambda matrix: drawn.append(matrix.shape) or best_matching(matrix)
    )
    matched_correlation_by_chance.__wrapped__(30, n_codes, 10)
    assert drawn == [(n_codes, 10)] * n_draws


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.9, 3.1, 1e3, 1e8])
@pytest.mark.parametrize("constant", [False, True])
def test_correlations_from_products_are_those_of_numpy(shift, constant):
    rng = np.random.default_rng(int(shift))
    factors = rng.normal(size=(500, 3)) * [1.0, 1e-3, 1e5]
    codes = factors @ rng.normal(size=(3, 4)) + rng.normal(size=(500, 4))
    factors += shift * factors.std(axis=0)
    codes[:, 0] *= not constant
    found = correlation_matrix(Evidence(factors, codes), Pearson())
    with np.errstate(invalid="ignore"):
        expected = np.abs(np.corrcoef(factors, codes, rowvar=False)[3:, :3])
    assert found == pytest.approx(np.nan_to_num(expected), abs=1e-13 * max(1.0, shift))
