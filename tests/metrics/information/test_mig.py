import numpy as np
import pytest

from unweave.estimators import Histogram, NearestNeighbour
from unweave.findings import Finding
from unweave.metrics import mig, mig_sup


def test_closed_form_of_a_noisy_label():
    """A code that is one of K labels, and wrong with probability e: I = log K - H(e) - e log(K - 1)."""
    rng = np.random.default_rng(0)
    k, e, n = 5, 0.3, 200_000
    label = rng.integers(0, k, n)
    wrong = (label + rng.integers(1, k, n)) % k
    code = np.where(rng.random(n) < e, wrong, label)
    information = np.log(k) + (1 - e) * np.log(1 - e) + e * np.log(e / (k - 1))
    score = mig(label, np.column_stack([code, rng.integers(0, k, n)]))
    assert score.raw == pytest.approx(information / np.log(k), abs=0.005)


def test_perfect_code_tends_to_one():
    """Claim 6: the bias of the plug-in estimate makes it less than 1 at small n; with 20,000 rows it is above .99."""
    values = []
    for n in (500, 5000, 50_000):
        z = np.random.default_rng(1).normal(size=(n, 5))
        values.append(mig(z, z[:, ::-1]).raw)
    assert values[0] < values[1] < values[2]
    assert values[2] > 0.995


def test_bias_correction_removes_most_of_the_shortfall():
    """At 500 rows the best of four independent codes has an estimate of .4 nats; bias correction removes most of it."""
    z = np.random.default_rng(2).normal(size=(500, 5))
    plain, corrected = mig(z, z), mig(z, z, estimator=Histogram(bias_correction="miller_madow"))
    assert plain.raw < 0.9
    assert 1 - corrected.raw < 0.5 * (1 - plain.raw)


@pytest.mark.parametrize("estimator", [Histogram(), NearestNeighbour()])
def test_one_heavy_tailed_code_changes_nothing(estimator):
    z = np.random.default_rng(3).normal(size=(2000, 5))
    wild = np.column_stack([np.sinh(2 * z[:, 0] ** 3), z[:, 1:]])
    assert mig(z, wild, estimator=estimator).raw == pytest.approx(mig(z, z, estimator=estimator).raw, abs=0.02)


def test_equal_width_bins_are_destroyed_by_it():
    """This is the reason why bins of equal mass are the default."""
    z = np.random.default_rng(3).normal(size=(2000, 5))
    wild = np.column_stack([np.sinh(2 * z[:, 0] ** 3), z[:, 1:]])
    estimator = Histogram(binning="equal_width")
    assert mig(z, z, estimator=estimator).per_factor["factor 0"] > 0.9
    assert mig(z, wild, estimator=estimator).per_factor["factor 0"] < 0.1


def test_exactly_invariant_under_increasing_maps():
    rng = np.random.default_rng(4)
    z = rng.normal(size=(3000, 3))
    codes = z @ rng.normal(size=(3, 4))
    assert mig(np.exp(z), np.cbrt(codes)).raw == mig(z, codes).raw


def test_nearest_neighbours_agree_with_bins_on_a_clean_code():
    z = np.random.default_rng(6).normal(size=(5000, 3))
    noisy = z + 0.1 * np.random.default_rng(7).normal(size=z.shape)
    assert mig(z, noisy, estimator=NearestNeighbour()).raw == pytest.approx(mig(z, noisy).raw, abs=0.05)


def test_one_code_is_told_from_none_and_says_so():
    z = np.random.default_rng(8).normal(size=(1000, 2))
    score = mig(z, z[:, 0])
    assert score.per_factor["factor 0"] == pytest.approx(1.0)
    assert Finding("one_code") in score.caveats


def test_a_factor_that_is_mostly_one_value_keeps_its_entropy():
    """With 95 % zeros, bins of equal mass must still separate the other values."""
    rng = np.random.default_rng(9)
    factor = np.where(rng.random(4000) < 0.95, 0.0, rng.exponential(size=4000))
    score = mig(factor, np.column_stack([factor, rng.normal(size=4000)]), kinds="continuous")
    assert score.raw > 0.9


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_a_constant_code_has_no_share_of_its_entropy(constant):
    """Its entropy is 0, and 0 / 0 must not reach the score."""
    z = np.random.default_rng(0).normal(size=(500, 2))
    for metric in (mig, mig_sup):
        alone = metric(z, z, normalise="code_entropy").raw
        assert metric(z, np.column_stack([z, np.full(500, constant)]), normalise="code_entropy").raw == alone
