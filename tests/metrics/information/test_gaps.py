"""MIG-sup, DCIMIG and modularity: closed forms on exact designs, identities, edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.estimators import Histogram
from unweave.findings import Finding
from unweave.metrics import dcimig, mig, mig_sup, modularity

ALL = (mig_sup, dcimig, modularity)


def grid(*levels, repeats=6):
    """Every combination of levels equally often, so that the plug-in estimate of information is exact."""
    return np.repeat(
        np.stack(np.meshgrid(*map(np.arange, levels), indexing="ij"), -1).reshape(-1, len(levels)), repeats, axis=0
    ).astype(float)


def test_closed_forms_for_one_code_that_tells_two_factors():
    factors = grid(2, 4)
    codes = np.column_stack([factors[:, 0] + 2 * factors[:, 1], factors[:, 1]])  # one code mixes both factors
    h1, h2 = np.log(2), np.log(4)
    assert mig_sup(factors, codes).per_code == pytest.approx({"code 0": 0.0, "code 1": 1.0})
    assert mig_sup(factors, codes, normalise="code_entropy").raw == pytest.approx(((h2 - h1) / np.log(8) + 1) / 2)
    assert dcimig(factors, codes).raw == pytest.approx(h2 / (h1 + h2))
    assert modularity(factors, codes).raw == pytest.approx((1 - (h1 / h2) ** 2 + 1) / 2)


@pytest.mark.parametrize("metric", ALL)
def test_an_exact_design_gets_full_marks_under_any_monotone_map(metric):
    factors = grid(3, 4, 2)
    codes = np.exp(factors[:, ::-1]) * [1, 5, 0.1]
    assert metric(factors, codes).raw == pytest.approx(1.0)


@pytest.mark.parametrize("metric", ALL)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n_codes=st.integers(1, 5), n_factors=st.integers(2, 4))
def test_bounds_and_invariance_to_order_and_monotone_maps(metric, seed, n_codes, n_factors):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(200, n_factors))
    codes = factors @ rng.normal(size=(n_factors, n_codes)) + rng.normal(size=(200, n_codes))
    raw = metric(factors, codes).raw
    assert 0 <= raw <= 1 + 1e-12
    rows, order = rng.permutation(200), rng.permutation(n_codes)
    assert metric(factors[rows], (codes**3)[rows][:, order]).raw == pytest.approx(raw, abs=1e-9)


def test_with_one_code_and_one_factor_the_gaps_agree():
    factors = np.random.default_rng(0).normal(size=(500, 1))
    codes = factors + np.random.default_rng(1).normal(size=(500, 1))
    assert mig_sup(factors, codes).raw == pytest.approx(mig(factors, codes).raw)
    assert dcimig(factors, codes).raw == pytest.approx(mig(factors, codes).raw)
    assert Finding("one_factor") in mig_sup(factors, codes).caveats


def test_copies_and_unused_codes_cost_dcimig_nothing():
    factors = grid(3, 4, 2)
    codes = np.column_stack([factors, factors, np.tile([0.0, 1.0], len(factors) // 2)])
    assert dcimig(factors, codes).raw == pytest.approx(1.0)
    assert mig(factors, codes).raw == pytest.approx(0.0, abs=1e-12)
    assert mig_sup(factors, codes).raw == pytest.approx(6 / 7)


def test_a_nan_is_refused_and_a_code_entropy_needs_bins():
    factors = np.random.default_rng(0).normal(size=(100, 2))
    codes = factors.copy()
    codes[3, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        modularity(factors, codes)
    from unweave.estimators import NearestNeighbour

    with pytest.raises(ValueError, match="Histogram"):
        mig_sup(factors, factors, estimator=NearestNeighbour(), normalise="code_entropy")
    with pytest.raises(ValueError, match="not known"):
        mig_sup(factors, factors, normalise="entropy")


def test_all_kinds_of_factors():
    rng = np.random.default_rng(0)
    angle, level, name = rng.uniform(0, 360, 2000), rng.integers(0, 4, 2000), rng.choice(["a", "b", "c"], 2000)
    factors = {"angle": angle, "level": level, "name": name, "size": rng.normal(size=2000)}
    codes = np.column_stack([angle, -level, [ord(c) for c in name], np.exp(factors["size"])])
    for metric in ALL:
        score = metric(factors, codes, kinds={"angle": "circular:360"}, estimator=Histogram(10))
        assert score.raw > 0.9, metric.card.name
