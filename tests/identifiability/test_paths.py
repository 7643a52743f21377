"""Two ways to the same held-out errors and kernels."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.evidence import Evidence
from unweave.identifiability.readouts import (
    KERNEL_PENALTIES,
    N_TREES,
    PENALTIES,
    held_out_r2,
    held_out_r2s,
    kernel_path,
    linear_path,
    nonlinear_path,
    permuted_r2s,
    radial_path,
    ridge_path,
    tree_readout,
)
from unweave.identifiability.responses import code_table
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


def as_table(codes):
    evidence = Evidence(codes=codes)
    return code_table(evidence, np.arange(evidence.n_codes), np.arange(evidence.n_rows))


@pytest.mark.parametrize("n_codes", [4, 80])
def test_permuted_targets_are_scored_from_sums_as_in_a_permuted_table(n_codes):
    rng = np.random.default_rng(n_codes)
    codes, targets = rng.normal(size=(60, n_codes)) * rng.uniform(0.1, 3, n_codes), rng.normal(size=(60, 3))
    table, fold = as_table(codes), np.arange(60) % 5
    scales, orders = [targets[:, :1], targets[:, 1:]], [rng.integers(60, size=60) for _ in range(4)]
    found = permuted_r2s(table, scales, fold, orders)
    for scale, r2s in zip(scales, found, strict=True):
        for order, r2 in zip(orders, r2s, strict=True):
            path = linear_path(table, scale[order], fold, scale.shape[1])
            assert r2 == pytest.approx(held_out_r2(path, slice(None), scale[order]), abs=1e-9)


def test_two_scales_of_the_same_columns_are_two_paths():
    rng = np.random.default_rng(3)
    inputs, targets, fold = rng.normal(size=(80, 5)), rng.normal(size=(80, 2)), np.arange(80) % 5
    scale = rng.uniform(0.01, 1, 5)
    both = ridge_path(inputs, targets, fold, PENALTIES, scale=scale)
    apart = ridge_path(inputs * scale, targets, fold, PENALTIES).joined(ridge_path(inputs, targets, fold, PENALTIES))
    np.testing.assert_allclose(both.errors, apart.errors, rtol=1e-9)
    np.testing.assert_allclose(both.predictions, apart.predictions, atol=1e-9)


def test_kernels_are_left_out_only_where_they_are_behind():
    rng = np.random.default_rng(4)
    codes, fold, rows = rng.normal(size=(300, 20)), np.arange(300) % 5, np.arange(300)
    linear, bent = codes[:, :1] - codes[:, :1].mean(), np.abs(codes[:, :1]) - np.abs(codes[:, :1]).mean()
    rival = linear + 0.05 * rng.normal(size=linear.shape)
    table = as_table(codes)
    assert nonlinear_path(table, rows, linear, fold, [rival], may_stop=True) is None
    assert nonlinear_path(table, rows, linear, fold, [rival], may_stop=False) is not None
    assert nonlinear_path(table, rows, bent, fold, [np.zeros_like(bent)], may_stop=True) is not None


def test_trees_predict_as_well_as_scikit_learns_forest():
    from sklearn.ensemble import ExtraTreesRegressor

    rng = np.random.default_rng(5)
    columns, fold = rng.normal(size=(300, 3)), np.arange(300) % 5
    target = np.sign(columns[:, :1]) * columns[:, 1:2]
    found = tree_readout((columns, columns[:, :2]), target, [np.zeros_like(target)], fold, seed=7, j=2)
    table, forest = np.hstack([columns, columns[:, :2]]), np.empty_like(target)
    for k in range(5):
        fitted = ExtraTreesRegressor(N_TREES, min_samples_leaf=3, max_features=0.5, random_state=k)
        forest[fold == k, 0] = fitted.fit(table[fold != k], target[fold != k, 0]).predict(table[fold == k])
    errors = [float(np.square(target - each).mean()) for each in (found, forest)]
    assert errors[0] == pytest.approx(errors[1], rel=0.15)
    assert np.corrcoef(found[:, 0], forest[:, 0])[0, 1] > 0.95  # two forests of 40 trees with other seeds have .96
