"""Two ways to the same held-out errors and kernels."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.evidence import Evidence
from unweave.identifiability.readouts import (
    KERNEL_PENALTIES,
    PENALTIES,
    held_out_r2,
    held_out_r2s,
    kernel_path,
    radial_path,
    ridge_path,
)
from unweave.metrics import identification


@pytest.mark.parametrize("seed", range(6))
def test_errors_from_sums_over_folds_are_those_of_predictions(seed):
    rng = np.random.default_rng(seed)
    n, m, q = int(rng.integers(40, 200)), int(rng.integers(1, 12)), int(rng.integers(1, 6))
    inputs, targets = rng.normal(rng.normal(), 1, size=(n, m)), rng.normal(rng.normal(), 1, size=(n, q))
    targets[:, 0] += inputs[:, 0]
    fold = rng.permutation(n) % 5
    kept, summed = (ridge_path(inputs, targets, fold, PENALTIES, k) for k in (q, 0))
    np.testing.assert_allclose(summed.errors, kept.errors, rtol=1e-9)
    together = held_out_r2s(kept, slice(0, q), 1, targets)
    np.testing.assert_allclose(together, [held_out_r2(kept, slice(j, j + 1), targets) for j in range(q)], rtol=1e-9)


@pytest.mark.parametrize(("n_codes", "n_targets"), [(1, 1), (1, 150), (2, 3), (3, 2)])
def test_kernels_have_the_same_errors_however_they_are_solved(n_codes, n_targets):
    rng = np.random.default_rng(n_targets)
    inputs, fold = rng.normal(size=(200, n_codes)), np.arange(200) % 5
    targets = np.sin(3 * inputs[:, :1]) + rng.normal(size=(200, n_targets))
    distance = np.square(inputs[:, None] - inputs).sum(axis=2)
    kernel = np.exp(-distance / (0.5 * np.median(distance)))
    found = radial_path(inputs, targets, fold, n_targets, widths=(0.5,))
    for j in range(min(n_targets, 3)):  # one target at a time has no more targets than held-out rows
        alone = kernel_path(kernel, targets[:, j : j + 1], fold, KERNEL_PENALTIES, 1)
        np.testing.assert_allclose(found.errors[:, :, j], alone.errors[:, :, 0], rtol=1e-6)
        np.testing.assert_allclose(found.predictions[:, :, j], alone.predictions[:, :, 0], atol=1e-5)


def test_permutations_that_share_columns_score_as_samples_of_their_own():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.normal(size=(300, 2)), rng.integers(3, size=300)])
    codes = factors + 0.3 * rng.normal(size=factors.shape)
    evidence = Evidence(factors, codes, kinds=["continuous", "continuous", "categorical"])
    for seed in range(3):
        drawn = evidence.permuted(seed)
        alone = Evidence(drawn.factors, codes, kinds=["continuous", "continuous", "categorical"])
        # only the R2 of permuted factors, with which the linear readouts are compared, are others
        assert identification(drawn).raw == pytest.approx(identification(alone).raw, abs=0.02)
