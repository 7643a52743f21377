import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import BoostedTrees, Linear
from unweave.estimators.linear_probes import LinearFolds
from unweave.metrics import r2
from unweave.metrics.prediction import _squares, _squares_from_moments, near_training_targets


@pytest.mark.parametrize("kept", [1, 5, 9])
def test_share_of_kept_factors(kept):
    """003, claim 43: keeping m of d independent factors gives m / d."""
    z = np.random.default_rng(0).normal(size=(2000, 10))
    assert r2(z, z[:, :kept]).raw == pytest.approx(kept / 10, abs=0.01)


def test_population_value_of_noisy_codes():
    """Codes z + e with Var e = s^2 give R2 = 1 / (1 + s^2)."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(50_000, 3))
    assert r2(z, z + 0.5 * rng.normal(size=z.shape)).raw == pytest.approx(1 / 1.25, abs=0.01)


def test_one_heavy_tailed_code_changes_nothing_for_the_others():
    z = np.random.default_rng(2).normal(size=(1000, 5))
    clean, wild = r2(z, z), r2(z, np.column_stack([z, np.sinh(2 * z[:, 0] ** 3)]))
    for name, value in clean.per_factor.items():
        assert wild.per_factor[name] == pytest.approx(value, abs=0.02)


def test_a_heavy_tailed_code_in_the_place_of_its_factor_spares_the_others():
    z = np.random.default_rng(3).normal(size=(1000, 5))
    wild = r2(z, np.column_stack([np.sinh(2 * z[:, 0] ** 3), z[:, 1:]]))
    assert min(list(wild.per_factor.values())[1:]) > 0.98


def test_one_absurd_value_costs_no_more_than_its_row():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1000, 4))
    codes = np.column_stack([z, rng.normal(size=1000)])
    codes[5, 4] = 1e40
    assert r2(z, codes).raw > 0.99


def mixing(rng, size, condition):
    """A random invertible map with singular values between 1 and 1 / condition."""
    left, right = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    return (left * np.geomspace(1, 1 / condition, size)) @ right


@pytest.mark.parametrize("condition", [1, 100, 1e4])
@pytest.mark.parametrize("n_rows", [60, 1000])
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_lossless_linear_maps_get_full_marks(rho, n_rows, condition):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        shared, own = rng.normal(size=(n_rows, 1)), rng.normal(size=(n_rows, 4))
        z = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
        mixed = r2(z, z @ mixing(rng, 4, condition)).raw
        assert mixed > 0.99
        assert mixed == pytest.approx(r2(z, z).raw, abs=1e-6)


@pytest.mark.parametrize(("n_rows", "n_codes"), [(60, 4), (200, 20)])
@pytest.mark.parametrize("condition", [1, 100, 1e4])
def test_linear_maps_of_noisy_codes_change_nothing(n_rows, n_codes, condition):
    rng = np.random.default_rng(10)
    z = rng.normal(size=(n_rows, 3))
    codes = z @ rng.normal(size=(3, n_codes)) + 2 * rng.normal(size=(n_rows, n_codes))
    mixed = codes @ mixing(rng, n_codes, condition)
    assert r2(z, mixed).raw == pytest.approx(r2(z, codes).raw, abs=1e-6)
    assert r2(z, np.hstack([codes, codes[:, :1]])).raw == pytest.approx(r2(z, codes).raw, abs=1e-6)


@pytest.mark.parametrize("shift", [5.0, -1e4])
def test_shift_and_scale_of_either_side_do_not_matter(shift):
    rng = np.random.default_rng(4)
    z = rng.normal(size=(500, 3))
    codes = z @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=z.shape)
    assert r2(z * 7 + shift, codes).raw == pytest.approx(r2(z, codes).raw, abs=1e-6)
    assert r2(z, codes * 7 + shift).raw == pytest.approx(r2(z, codes).raw, abs=1e-6)


def test_more_codes_than_rows():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(200, 3))
    hidden = np.hstack([z, rng.normal(size=(200, 20))]) @ rng.normal(size=(23, 1000))
    assert r2(z, hidden).raw > 0.8
    assert -0.1 < r2(z, rng.normal(size=(200, 1000))).raw < 0.05


def test_noise_is_a_little_below_zero_before_clipping():
    rng = np.random.default_rng(6)
    score = r2(rng.normal(size=(1000, 3)), rng.normal(size=(1000, 20)))
    assert -0.05 < score.raw < 0.005
    assert score.value == max(score.raw, 0.0)


def test_a_flexible_probe_reads_what_a_linear_one_cannot():
    z = np.random.default_rng(7).normal(size=(1000, 2))
    assert r2(z**2, z).raw < 0.05
    assert r2(z**2, z, probe=BoostedTrees()).raw > 0.9


def test_circular_and_categorical_factors():
    rng = np.random.default_rng(8)
    angle, label = rng.uniform(0, 2 * np.pi, 1000), rng.integers(0, 4, 1000)
    codes = np.column_stack([np.cos(angle), np.sin(angle), *(label == k for k in range(4))])
    score = r2({"angle": angle, "label": label}, codes, kinds={"angle": "circular", "label": "categorical"})
    assert score.raw == pytest.approx(1.0, abs=0.001)


def test_rows_of_one_group_do_not_leak_into_the_test_part():
    """A code that identifies the subject predicts its factor only if the subject is in the training rows."""
    rng = np.random.default_rng(9)
    subject = np.repeat(np.arange(60), 20)
    factor = rng.normal(size=60)[subject]
    codes = (subject[:, None] == np.arange(60)).astype(float)
    assert r2(factor, codes).raw > 0.95
    assert r2(factor, codes, row_groups=subject).raw < 0.05


def test_permutations_share_the_work_on_the_codes(monkeypatch):
    rng = np.random.default_rng(0)
    factors, codes = rng.normal(size=(100, 2)), rng.normal(size=(100, 4))
    evidence, calls = Evidence(factors, codes), []
    made = LinearFolds.of
    monkeypatch.setattr(LinearFolds, "of", lambda codes, folds: calls.append(codes.shape) or made(codes, folds))
    r2(evidence)
    assert len(calls) == 1
    permuted = evidence.permuted(0)
    shared = r2(permuted).raw
    assert len(calls) == 1
    assert shared == r2(Evidence(permuted.factors, codes)).raw


@pytest.mark.parametrize(
    "heavy", [lambda rng: rng.lognormal(sigma=2, size=(500, 3)), lambda rng: rng.standard_t(3, size=(500, 3))]
)
def test_exact_codes_of_heavy_tailed_factors_get_full_marks(heavy):
    """The largest value may be far larger than all others, and is still predicted exactly."""
    for seed in range(10):
        factors = heavy(np.random.default_rng(seed))
        assert float(r2(factors, factors)) >= 0.99


@pytest.mark.parametrize(
    ("error", "predicted", "kept"),
    [
        (0.2, [0.5, 1.9, 2.1, -2.1, 21.0, 21.1], [0.5, 1.9, 2.0, -2.0, 2.0, 0.0]),  # 4 % of the variance is left
        (0.1, [1.9, 2.1, 21.1], [1.9, 2.0, 0.0]),  # 1 %: the limit
        (0.05, [4.9, -5.1, 80.9, 81.1], [4.9, -5.0, 5.0, 0.0]),  # a quarter of that: four times as far
        (0.0, [1e9], [1e9]),
    ],
)
def test_predictions_outside_the_training_range_are_kept_as_far_as_the_fit_is_exact(error, predicted, kept):
    """Training targets from -1 to 1 with variance 1: half of their range beyond it, and the mean beyond ten ranges."""
    targets = np.array([[-1.0], [1.0]])
    found = near_training_targets(targets, np.array(predicted)[:, None], lambda: targets * (1 - error))
    assert found[:, 0] == pytest.approx(kept)


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize(("n_rows", "n_codes"), [(200, 1), (300, 12), (2000, 30)])
def test_moments_of_folds_give_what_a_fit_to_the_training_rows_gives(n_rows, n_codes, offset):
    rng = np.random.default_rng(n_codes)
    factors = rng.normal(size=(n_rows, 3))
    codes = factors @ rng.normal(size=(3, n_codes)) + rng.normal(size=(n_rows, n_codes)) + offset
    evidence = Evidence(factors, np.column_stack([codes, np.ones(n_rows)]))
    fast = _squares_from_moments(evidence, factors, 5, 0)
    assert fast is not None
    assert fast == pytest.approx(_squares(evidence, Linear(), factors, 5, 0), rel=1e-10)


@pytest.mark.parametrize("first", [0.0, 60.0])
def test_moments_of_float32_and_of_rows_unlike_the_first(first):
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(30_000, 3))
    codes = np.column_stack([factors, factors @ rng.normal(size=(3, 2))]) + rng.normal(size=(30_000, 5))
    codes[:2100] += first
    codes = codes.astype(np.float32)
    found = [
        _squares_from_moments(Evidence.for_one_call(factors, given, {}), factors, 5, 0)
        for given in (codes, codes.astype(np.float64))
    ]
    expected = _squares(Evidence(factors, codes), Linear(), factors, 5, 0)
    assert found[0] is not None
    assert found[0] == pytest.approx(expected, rel=1e-8)
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_moments_are_not_used_where_they_do_not_determine_the_fit():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(300, 2))
    dependent = np.column_stack([factors, factors.sum(axis=1)])
    assert _squares_from_moments(Evidence(factors, dependent), factors, 5, 0) is None
    assert _squares_from_moments(Evidence(factors[:50], rng.normal(size=(50, 20))), factors[:50], 5, 0) is None
    tailed = factors + 0.3 * rng.normal(size=(300, 2))
    tailed[0] *= 1000
    assert _squares_from_moments(Evidence(factors, tailed), factors, 5, 0) is None  # some predictions are clipped
