"""Weak MCC, R2 from factors to codes, Procrustes distance and orthogonality error: closed forms and other libraries."""

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.stats import ortho_group
from sklearn.cross_decomposition import CCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

from unweave import InputError, MetricUndefined
from unweave.metrics import mcc, orthogonality_error, procrustes_distance, r2, reverse_r2, weak_mcc

RNG = np.random.default_rng(0)


def mixtures(n_cases, n=400):
    for seed in range(n_cases):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 6))
        factors = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * rng.uniform(0.1, 10, d) + rng.normal(size=d)
        yield rng, factors, d


def test_each_class_of_maps_gets_its_best_score_and_larger_classes_do_not():
    for rng, factors, d in mixtures(30):
        affine = factors @ rng.normal(size=(d, d)) + 5
        turned = 3 * factors @ ortho_group.rvs(d, random_state=rng) - 1
        for codes in (affine, turned):
            assert weak_mcc(factors, codes).value == pytest.approx(1, abs=1e-6)
            assert r2(factors, codes).value == pytest.approx(1, abs=1e-6)
            assert reverse_r2(factors, codes).value == pytest.approx(1, abs=1e-6)
        plain = rng.normal(size=(400, d))
        sheared = plain @ np.triu(np.ones((d, d)))
        assert mcc(plain, sheared).value < 0.99
        for metric in (procrustes_distance, orthogonality_error):
            assert metric(factors, turned).value == pytest.approx(0, abs=1e-9)
            assert metric(plain, sheared).value > 0.01


def test_noise_has_the_closed_form_of_each():
    """Codes z + e with var(e) = s^2 of independent factors: every number follows from rho^2 = 1 / (1 + s^2)."""
    n, d, s = 200_000, 3, 0.7
    factors = RNG.normal(size=(n, d))
    codes = (factors + s * RNG.normal(size=(n, d))) @ ortho_group.rvs(d, random_state=1)
    share = 1 / (1 + s**2)
    assert weak_mcc(factors, codes).value == pytest.approx(np.sqrt(share), abs=0.005)
    assert r2(factors, codes).value == pytest.approx(share, abs=0.005)
    assert reverse_r2(factors, codes).value == pytest.approx(share, abs=0.005)
    assert procrustes_distance(factors, codes).value == pytest.approx(1 - share, abs=0.005)
    assert orthogonality_error(factors, codes).value == pytest.approx(1 - share, abs=0.01)


def test_lost_and_bent_factors_are_told_apart():
    factors = RNG.normal(size=(4000, 4))
    lost = factors[:, :2] @ [[1.0, 1.0], [1.0, -1.0]]
    assert reverse_r2(factors, lost).value == pytest.approx(1, abs=1e-6)  # nothing is added
    assert r2(factors, lost).value == pytest.approx(0.5, abs=0.01)
    assert weak_mcc(factors, lost).value == pytest.approx(0.5, abs=0.01)
    bent = np.column_stack([factors, factors[:, 0] ** 2])
    assert r2(factors, bent).value == pytest.approx(1, abs=1e-6)
    assert reverse_r2(factors, bent).per_code["code 4"] == pytest.approx(0, abs=0.02)


def test_stretching_has_the_closed_form_of_the_orthogonality_error():
    """Independent columns of variance 1 scaled by s: |diag(s^2 / mean s^2) - 1| / sqrt(d)."""
    table = RNG.normal(size=(500, 3))
    factors = np.linalg.qr(table - table.mean(axis=0))[0]
    scales = np.array([1.0, 2.0, 0.5])
    relative = scales**2 / np.mean(scales**2)
    expected = np.linalg.norm(relative - 1) / np.sqrt(3)
    score = orthogonality_error(factors, factors * scales)
    assert score.raw == pytest.approx(expected, abs=1e-10)
    np.testing.assert_allclose(score.parts["squared_singular_values"], np.sort(relative)[::-1], atol=1e-10)
    copies = orthogonality_error(factors, factors[:, [0, 0, 0]])
    assert copies.raw == pytest.approx(np.sqrt(3 - 1), abs=1e-10)
    # nuclear norm of diag(s): 1 - (sum s)^2 / (3 sum s^2)
    assert procrustes_distance(factors, factors * scales).raw == pytest.approx(
        1 - scales.sum() ** 2 / (3 * np.sum(scales**2)), abs=1e-10
    )


def test_procrustes_is_the_disparity_of_scipy():
    for rng, factors, d in mixtures(50):
        codes = factors @ rng.normal(size=(d, d)) + rng.normal(size=(400, d))
        assert procrustes_distance(factors, codes).raw == pytest.approx(procrustes(factors, codes)[2], abs=1e-10)


def test_canonical_correlations_are_those_of_scikit_learn():
    for rng, factors, d in mixtures(10):
        codes = factors / factors.std(axis=0) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(400, d))
        ours, theirs = CCA(d, max_iter=20_000, tol=1e-12).fit_transform(factors, codes)
        expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(ours.T, theirs.T, strict=True)]
        found = weak_mcc(factors, codes, cross_fit=False)
        np.testing.assert_allclose(found.parts["canonical_correlations"], expected, atol=1e-4)
        assert found.raw == pytest.approx(np.mean(expected), abs=1e-4)


def test_reverse_r2_is_the_regression_of_scikit_learn():
    """Folds and penalties differ, so that they agree within the error of the folds."""
    for rng, factors, d in mixtures(5, n=2000):
        codes = factors / factors.std(axis=0) @ rng.normal(size=(d, 3)) + rng.normal(size=(2000, 3))
        predicted = cross_val_predict(LinearRegression(), factors, codes, cv=5)
        expected = 1 - ((codes - predicted) ** 2).mean(axis=0) / codes.var(axis=0)
        np.testing.assert_allclose(list(reverse_r2(factors, codes).per_code.values()), expected, atol=0.01)


def test_weak_mcc_of_random_codes_is_zero_only_on_held_out_rows():
    held_out, fitted = [], []
    for _ in range(30):
        factors, codes = RNG.normal(size=(200, 3)), RNG.normal(size=(200, 20))
        held_out.append(weak_mcc(factors, codes).raw)
        fitted.append(weak_mcc(factors, codes, cross_fit=False).raw)
    assert abs(np.mean(held_out)) < 3 * np.std(held_out) / np.sqrt(30) + 0.01
    assert np.mean(fitted) > 0.25


def test_constant_and_categorical_columns():
    factors = np.column_stack([RNG.normal(size=(200, 2)), np.ones(200)])
    codes = np.column_stack([factors[:, :2] @ [[1.0, 2.0], [2.0, -1.0]], np.zeros(200)])
    for metric, best in ((weak_mcc, 1), (reverse_r2, 1), (procrustes_distance, 0), (orthogonality_error, 0)):
        assert metric(factors, codes).value == pytest.approx(best, abs=1e-6)
        dead = metric(factors, 0 * codes)
        assert np.isnan(dead.value)
        assert any("undefined" in str(caveat) for caveat in dead.caveats)
    label = RNG.integers(3, size=200)
    dummies = (label[:, None] == np.arange(3)).astype(float)
    assert reverse_r2(label, dummies, kinds="categorical").value == pytest.approx(1, abs=1e-6)
    for metric in (weak_mcc, procrustes_distance, orthogonality_error):
        with pytest.raises(MetricUndefined, match="takes continuous, ordinal factors"):
            metric(label, dummies, kinds="categorical")
        with pytest.raises(InputError):
            metric(factors, codes[1:])


def test_linearly_dependent_factors_have_no_single_map():
    """Codes that are the factors had an error of .58, because the map of least norm is a projection."""
    factors = np.random.default_rng(0).normal(size=(300, 2))
    factors = np.column_stack([factors, factors.sum(axis=1)])
    score = orthogonality_error(factors, factors)
    assert np.isnan(score.raw)
    assert "linearly dependent" in str(score.caveats[0])
