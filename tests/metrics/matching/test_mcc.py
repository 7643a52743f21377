import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import RandomDependence
from unweave.estimators.correlation import matched_correlation_by_chance
from unweave.findings import Finding
from unweave.metrics import mcc


def correlated_pair(rho, n_rows, rng):
    """Three standard normal factors, of which the last two have correlation rho."""
    z = rng.normal(size=(n_rows, 3))
    z[:, 2] = rho * z[:, 1] + np.sqrt(1 - rho**2) * z[:, 2]
    return z


def symmetric_mixing(epsilon):
    return np.array([[1, 0, 0], [0, 1, epsilon], [0, epsilon, 1]], dtype=float)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("rho", [-0.9, -0.5, 0.0, 0.5, 0.9])
def test_closed_form_under_correlation(epsilon, rho):
    """003, eq 39: MCC of a symmetric mixing of two factors with correlation rho; eq 45 and 51 are cases of it."""
    z = correlated_pair(rho, 100_000, np.random.default_rng(0))
    expected = (1 + 2 * (1 + epsilon * rho) / np.sqrt(1 + epsilon**2 + 2 * epsilon * rho)) / 3
    assert mcc(z, z @ symmetric_mixing(epsilon)).raw == pytest.approx(expected, abs=0.01)


def mean_null_rdc(n_rows):
    rng = np.random.default_rng(3)
    return np.mean([mcc(*rng.normal(size=(2, n_rows, 5)), correlation="rdc").raw for _ in range(8)])


def test_rdc_of_unrelated_codes_falls_like_one_over_root_n():
    at_500, at_2000, at_8000 = (mean_null_rdc(n) for n in (500, 2000, 8000))
    assert mean_null_rdc(1000) < 0.2
    assert at_500 / at_2000 == pytest.approx(2, abs=0.3)
    assert at_2000 / at_8000 == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("monotone", [np.exp, np.cbrt, lambda x: -(x**5), np.arctan])
def test_rdc_and_spearman_of_monotone_codes_are_one(monotone):
    z = np.random.default_rng(4).normal(size=(1000, 5))
    assert mcc(z, monotone(z), correlation="rdc").raw == pytest.approx(1.0, abs=0.001)
    assert mcc(z, monotone(z), correlation="spearman").raw == pytest.approx(1.0, abs=1e-12)


def test_rdc_sees_an_even_function_that_pearson_does_not():
    z = np.random.default_rng(5).normal(size=(2000, 3))
    assert mcc(z, z**2, correlation="rdc").raw > 0.95
    assert mcc(z, z**2).raw < 0.15


def test_dropped_factors_are_free_when_matched_and_cost_under_coverage():
    z = np.random.default_rng(6).normal(size=(500, 5))
    matched, coverage = mcc(z, z[:, :3]), mcc(z, z[:, :3], normalise="coverage")
    assert matched.raw == pytest.approx(1.0)
    assert coverage.raw == pytest.approx(3 / 5)
    assert Finding("factors_without_code", n_missing=2, n_factors=5) in matched.caveats
    assert coverage.per_factor["factor 4"] == 0.0


def test_matching_is_exact_and_not_greedy():
    """A greedy matching would take the largest correlation first and leave a pair with correlation 0."""
    rng = np.random.default_rng(7)
    z = rng.normal(size=(20_000, 2))
    codes = np.column_stack([z @ [1.0, 0.95], z @ [1.0, 0.0] + 0.3 * rng.normal(size=20_000)])
    expected = (0.95 / np.hypot(1, 0.95) + 1 / np.hypot(1, 0.3)) / 2
    assert mcc(z, codes).raw == pytest.approx(expected, abs=0.01)


def test_noise_gets_the_chance_level_and_nothing_when_cross_fitted():
    rng = np.random.default_rng(8)
    draws = [Evidence(rng.normal(size=(200, 5)), rng.normal(size=(200, 50))) for _ in range(60)]
    plain = np.mean([mcc(evidence).raw for evidence in draws])
    assert plain == pytest.approx(matched_correlation_by_chance(200, 50, 5), abs=0.01)
    fitted = [mcc(evidence, cross_fit=True).raw for evidence in draws]
    assert abs(np.mean(fitted)) < 3 * np.std(fitted) / np.sqrt(60)


def test_cross_fit_agrees_on_a_real_signal():
    rng = np.random.default_rng(9)
    z = rng.normal(size=(5000, 4))
    codes = z[:, ::-1] * [1, -2, 3, -4] + rng.normal(size=z.shape)
    assert mcc(z, codes, cross_fit=True).raw == pytest.approx(mcc(z, codes).raw, abs=0.01)


@pytest.mark.parametrize("correlation", ["pearson", "spearman", "rdc"])
def test_circular_factor_is_read_through_its_cosine_and_sine(correlation):
    rng = np.random.default_rng(10)
    degrees = rng.uniform(0, 360, 2000)
    code = np.sin(np.deg2rad(degrees) - 0.7)
    score = mcc(degrees, code, kinds="circular:360", correlation=correlation)
    assert score.raw > 0.97
    assert mcc(degrees, code, kinds="continuous").raw < 0.9


@pytest.mark.parametrize("correlation", ["pearson", "rdc"])
def test_categorical_factor_is_read_through_its_levels(correlation):
    """For labels without an order the multiple correlation is 1 although the linear correlation is 0."""
    labels = np.tile([0, 1, 2], 500)
    code = (labels == 1) * 1.0
    assert mcc(labels, code, kinds="categorical", correlation=correlation).raw == pytest.approx(1.0, abs=1e-6)
    assert mcc(labels, code, kinds="ordinal").raw < 1e-6


def test_codes_far_from_zero_are_not_rounded_away():
    z = np.random.default_rng(11).normal(size=(1000, 2))
    assert mcc(z, z + 1e9).raw == pytest.approx(1.0, abs=1e-6)


def test_huge_codes_do_not_overflow():
    z = np.random.default_rng(12).normal(size=(1000, 2))
    assert mcc(z, z * 1e200).raw == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("option", [{"correlation": "kendall"}, {"normalise": "all"}])
def test_unknown_options_are_refused_with_the_known_ones(option):
    z = np.random.default_rng(13).normal(size=(100, 2))
    with pytest.raises(ValueError, match="is not known: use"):
        mcc(z, z, **option)


def test_one_code_and_one_factor():
    z = np.random.default_rng(14).normal(size=(500, 5))
    assert mcc(z, z[:, 2]).raw == pytest.approx(1.0)
    assert mcc(z, z[:, 2], normalise="coverage").raw == pytest.approx(0.2)
    assert mcc(z[:, 2], z).raw == pytest.approx(1.0)


@pytest.mark.parametrize(("m", "d"), [(1, 2), (2, 3), (3, 3), (4, 2)])
@pytest.mark.parametrize("options", [{}, {"normalise": "coverage"}, {"cross_fit": True}, {"correlation": "spearman"}])
def test_a_constant_code_changes_nothing(m, d, options):
    rng = np.random.default_rng(m)
    z = rng.normal(size=(200, d))
    codes = z[:, np.arange(m) % d] + rng.normal(size=(200, m))
    alone = mcc(z, codes, **options)
    for place in range(m + 1):
        appended = mcc(z, np.insert(codes, place, 3.0, axis=1), **options)
        assert appended.raw == pytest.approx(alone.raw, abs=1e-12)
        assert appended.parts["matched_code_per_factor"].shape == (d,)


def test_the_seed_draws_the_random_functions_of_rdc():
    z = np.random.default_rng(0).normal(size=(300, 2))
    noisy = np.sin(2 * z) + 0.3 * np.random.default_rng(1).normal(size=z.shape)
    scores = [mcc(z, noisy, correlation="rdc", rng=seed).raw for seed in range(5)]
    assert len(set(scores)) == 5
    assert np.ptp(scores) < 0.2
    assert mcc(z, noisy, correlation="rdc", rng=0).raw == mcc(z, noisy, correlation=RandomDependence()).raw
