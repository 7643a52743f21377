import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from unweave.estimators import Histogram, NearestNeighbour
from unweave.estimators.counts import entropy_of_counts


def labels_of(*shape, high, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype(np.uint16)


@pytest.mark.parametrize("n_rows", [50, 5000, 200_000], ids=["side by side", "blocks", "pairs"])
def test_counting_agrees_with_scikit_learn_at_every_size(n_rows):
    """The three ways of counting (many codes at once, one code in blocks of rows, two codes jointly) agree."""
    codes = [labels_of(n_rows, high=k, seed=k) for k in (2, 7, 20, 3, 11)]
    factors = [labels_of(n_rows, high=4, seed=99), (codes[1] // 2).astype(np.uint16)]
    found = Histogram().label_information(codes, factors)
    expected = [[mutual_info_score(code, factor) for factor in factors] for code in codes]
    assert found == pytest.approx(np.array(expected), abs=1e-9)


def test_wide_label_alphabets_do_not_overflow():
    code, factor = labels_of(3000, high=2000), labels_of(3000, high=1500, seed=1)
    found = Histogram().label_information([code], [factor])[0, 0]
    assert found == pytest.approx(mutual_info_score(code, factor), abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_fine_histogram_tends_to_the_gaussian_closed_form(rho):
    """I = -1/2 log(1 - rho^2); binning loses little of it, and the bias is corrected."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400_000)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=x.size)
    estimator = Histogram(bins=40, bias_correction="miller_madow")
    found = estimator.code_information(y[:, None], [estimator.factor_labels(x, discrete=False)])[0, 0]
    assert found == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.02)


def test_miller_madow_centres_the_null():
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(100):
        code, factor = rng.normal(size=(2, 500))
        estimator = Histogram(bins=8, bias_correction="miller_madow")
        draws.append(estimator.code_information(code[:, None], [estimator.factor_labels(factor, discrete=False)])[0, 0])
    assert abs(np.mean(draws)) < 3 * np.std(draws) / 10
    assert np.mean(draws) < 0.2 * 49 / 1000  # a fifth of the bias without correction


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("n_labels", [2, 5, 20])
def test_nearest_neighbours_agree_with_scikit_learn(k, n_labels):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, n_labels, 1500)
    codes = np.column_stack([labels + rng.normal(size=1500), rng.normal(size=1500)])
    found = NearestNeighbour(k=k).code_information(codes, [labels.astype(np.uint16)])[:, 0]
    expected = mutual_info_classif(codes, labels, n_neighbors=k, random_state=0)  # at least 0, with added noise
    assert np.maximum(found, 0) == pytest.approx(expected, abs=2e-3)


def test_nearest_neighbours_of_a_mixture_closed_form():
    """Two equally likely Gaussians at +-mu; the expected information is computed by numerical integration."""
    mu, n = 1.5, 40_000
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, n)
    x = np.linspace(-12, 12, 200_001)
    density = 0.5 * (np.exp(-((x - mu) ** 2) / 2) + np.exp(-((x + mu) ** 2) / 2)) / np.sqrt(2 * np.pi)
    entropy = -np.trapezoid(density * np.log(np.maximum(density, 1e-300)), x)
    expected = entropy - 0.5 * np.log(2 * np.pi * np.e)
    code = mu * (2 * labels - 1) + rng.normal(size=n)
    found = NearestNeighbour().code_information(code[:, None], [labels.astype(np.uint16)])[0, 0]
    assert found == pytest.approx(expected, abs=0.01)


def test_never_above_the_entropy():
    """The information is at most the entropy, also with rare classes (20 of 20,000), discrete codes and constants."""
    rng = np.random.default_rng(4)
    labels = np.r_[np.ones(20, dtype=np.uint16), np.zeros(19_980, dtype=np.uint16)]
    codes = np.column_stack([labels, labels + 0.01 * rng.normal(size=20_000), np.full(20_000, 5.0)])
    entropy = float(entropy_of_counts(np.bincount(labels)))
    for estimator in (Histogram(), NearestNeighbour()):
        found = estimator.code_information(codes, [labels])[:, 0]
        assert (found <= entropy + 1e-12).all()
        assert found[2] == 0.0
    assert NearestNeighbour().code_information(codes, [labels])[0, 0] == pytest.approx(entropy, rel=0.1)


def test_discrete_codes_get_the_plug_in_value_from_nearest_neighbours():
    labels = labels_of(20_000, high=4)
    code = np.where(np.random.default_rng(5).random(20_000) < 0.7, labels, labels_of(20_000, high=4, seed=6))
    found = NearestNeighbour().code_information(code[:, None].astype(float), [labels])[0, 0]
    assert found == pytest.approx(mutual_info_score(code, labels), abs=0.01)


def test_a_class_of_one_has_no_neighbour_and_is_left_out():
    labels = np.zeros(100, dtype=np.uint16)
    labels[0] = 1
    found = NearestNeighbour().code_information(np.random.default_rng(6).normal(size=(100, 1)), [labels])[0, 0]
    assert np.isfinite(found)
    assert digamma(1) < 0  # counting the class of one would add this term


def test_unknown_bias_correction_is_refused():
    with pytest.raises(ValueError, match="miller_madow"):
        Histogram(bias_correction="jackknife").label_information([labels_of(10, high=2)], [labels_of(10, high=2)])


def test_cells_and_labels_of_one_row_count_as_occupied():
    """Five cells of three and three labels: the correction is (5 - 3 - 3 + 1) / 12; without the last row, 1 / 10."""
    code, factor = (np.array(labels, dtype=np.uint16) for labels in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 0, 1, 2]))
    estimator = Histogram(bias_correction="miller_madow")
    for n_rows, expected in ((6, 0.0), (5, 0.1)):
        plain = mutual_info_score(code[:n_rows], factor[:n_rows])
        found = estimator.label_information([code[:n_rows]], [factor[:n_rows]])[0, 0]
        assert found == pytest.approx(plain - expected)
    once = np.array([0, 0, 0, 1], dtype=np.uint16)
    entropy = float(entropy_of_counts(np.array([3, 1])))
    assert Histogram().label_information([once], [once])[0, 0] == pytest.approx(entropy)
