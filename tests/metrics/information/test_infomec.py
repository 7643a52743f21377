"""InfoMEC: perfect codes, wide codes, noise, rare classes, constants."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.findings import Finding
from unweave.metrics import infomec_compactness, infomec_explicitness, infomec_modularity
from unweave.metrics.infomec import active_codes

ALL = (infomec_modularity, infomec_compactness, infomec_explicitness)


def drawn(kind, n_rows=5000, n_factors=5, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n_rows, n_factors))
    return {"gaussian": normal, "student": rng.standard_t(2, size=normal.shape), "cubed": normal**3}[kind]


@pytest.mark.parametrize("kind", ["gaussian", "student", "cubed"])
def test_a_perfect_code_is_modular_and_compact_whatever_the_tails(kind):
    factors = drawn(kind)
    evidence = Evidence(factors, factors * [2, -1, 0.5, 3, 1e-3])
    assert infomec_modularity(evidence).raw >= 0.98
    assert infomec_compactness(evidence).raw >= 0.98


@pytest.mark.parametrize(("kind", "least"), [("gaussian", 0.97), ("student", 0.97), ("cubed", 0.96)])
def test_a_perfect_code_is_explicit_on_rows_not_seen(kind, least):
    factors = drawn(kind, n_factors=3)
    assert infomec_explicitness(factors, factors * [2, -1, 1e-3]).raw >= least


def test_explicitness_does_not_care_for_a_linear_mixing():
    factors = drawn("gaussian", n_rows=3000, n_factors=3)
    mixed = factors @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert infomec_explicitness(factors, mixed).raw == pytest.approx(
        infomec_explicitness(factors, factors).raw, abs=0.02
    )


def test_many_codes_do_not_drown_the_good_ones():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(3000, 2))
    assert infomec_explicitness(factors, np.column_stack([factors, rng.normal(size=(3000, 60))])).raw > 0.85


def test_the_marginal_predictor_gets_zero_and_noise_no_more():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 3, 1000), rng.choice(5, 1000, p=[0.6, 0.1, 0.1, 0.1, 0.1])])
    assert infomec_explicitness(factors, np.full((1000, 2), 3.0)).raw == pytest.approx(0.0, abs=1e-3)
    assert abs(infomec_explicitness(factors, rng.normal(size=(1000, 2))).raw) < 0.02


def test_one_factor_or_one_code_is_undefined_where_it_has_to_be():
    factors = drawn("gaussian", n_rows=300, n_factors=2)
    assert np.isnan(infomec_modularity(factors[:, :1], factors).raw)
    assert np.isnan(infomec_compactness(factors, factors[:, :1]).raw)
    assert infomec_explicitness(factors[:, :1], factors[:, :1]).raw > 0.8
    with pytest.raises(ValueError, match="not known"):
        infomec_modularity(factors, factors, activity="width")


def test_a_class_that_only_the_test_rows_have_is_survived():
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 3, 500).astype(float)
    factor[rng.choice(500, 3, replace=False)] = [10, 11, 12]
    assert 0.7 < infomec_explicitness(factor, factor, kinds="categorical").raw < 1


def test_a_factor_that_hardly_varies_is_survived():
    factor = np.zeros(200)
    factor[7] = 1
    assert np.isfinite(infomec_explicitness(factor, factor, kinds="ordinal").raw)


def test_above_the_stated_rows_a_caveat_says_so():
    factors = drawn("gaussian", n_rows=12_000, n_factors=1)
    caveats = infomec_explicitness(np.sign(factors), factors).caveats
    assert Finding("classifiers_sampled_rows", n_rows=10000, of=12000) in caveats


def test_a_code_with_a_twentieth_of_the_largest_range_is_not_active():
    factors = np.linspace(0.0, 1.0, 101)[:, None]
    codes = np.hstack([factors * 20, factors, factors * 1.01])
    evidence = Evidence(factors, codes)
    assert active_codes(evidence, "range", np.ones((3, 1))).tolist() == [True, False, True]
