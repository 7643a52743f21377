"""T-MEX: counts for encoders with known dependences, inputs of other implementations, and edge cases."""

from pathlib import Path

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import LinearCovariance
from unweave.findings import Finding
from unweave.metrics import t_mex
from unweave.randomness import random_stream
from unweave.synthetic.worlds import Circuit

GOLDEN = Path(__file__).parents[2] / "reference" / "golden"
TESTS = ["linear", "nonlinear"]


def gaussians(rng, n_rows, n_factors, rho):
    shared = rng.normal(size=(n_rows, 1))
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.normal(size=(n_rows, n_factors))


# a few data sets in the fast tests, and the number that the claim states in the slow ones
RUNS = [(0.0, 5), pytest.param(0.0, 50, marks=pytest.mark.slow), pytest.param(0.7, 50, marks=pytest.mark.slow)]


def mean_mismatches(test, encoder, rho, n_seeds):
    counts = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        factors = gaussians(rng, 1000, 5, rho)
        counts.append(float(t_mex(factors, encoder(rng, factors) + 0.1 * rng.normal(size=factors.shape), test=test)))
    return np.mean(counts)


def permuted_and_scaled(rng, factors):
    return factors[:, rng.permutation(5)] * rng.uniform(0.5, 2.0, 5) * rng.choice([-1, 1], 5)


def mixed(rng, factors):
    return factors @ rng.normal(size=(5, 5))


@pytest.mark.parametrize(("rho", "n_seeds"), RUNS)
@pytest.mark.parametrize("test", TESTS)
def test_permuted_and_scaled_factors_have_no_mismatch(test, rho, n_seeds):
    assert mean_mismatches(test, permuted_and_scaled, rho, n_seeds) <= 0.1


@pytest.mark.parametrize(("rho", "n_seeds"), RUNS)
@pytest.mark.parametrize("test", TESTS)
def test_a_dense_mixing_has_all_mismatches(test, rho, n_seeds):
    assert 19.4 <= mean_mismatches(test, mixed, rho, min(n_seeds, 20)) <= 20.0


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("case", "mismatches", "unpermuted"), [("c01", 0, 8), ("c02", 20, 20), ("c04", 0, 8)])
def test_inputs_of_peers(case, mismatches, unpermuted, test):
    # other implementations use the identity as the hypothesis: 8, 20 and 8; the alignment of 003's code is 1 for all
    with np.load(GOLDEN / f"{case}.npz") as data:
        evidence = Evidence(data["factors"], data["codes"])
    assert float(t_mex(evidence, test=test)) == mismatches
    assert float(t_mex(evidence, test=test, adjacency=np.eye(5))) == unpermuted
    blind = t_mex(evidence, test=test, score="alignment")
    assert float(blind) == 1
    assert any("entanglement" in str(caveat) for caveat in blind.caveats)


def test_order_of_rows_and_codes_changes_nothing():
    rng = np.random.default_rng(0)
    factors = gaussians(rng, 400, 4, 0.3)
    codes = factors @ (rng.uniform(size=(4, 6)) < 0.4) + rng.normal(size=(400, 6))
    rows, columns = rng.permutation(400), rng.permutation(6)
    whole, moved = t_mex(factors, codes), t_mex(factors[rows], codes[rows][:, columns])
    assert whole.raw == moved.raw
    assert np.allclose(whole.parts["p_value_matrix"][columns], moved.parts["p_value_matrix"], atol=1e-7)
    assert (whole.parts["adjacency_matrix"][columns] == moved.parts["adjacency_matrix"]).all()


def test_what_counts_as_a_mismatch():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(1000, 3))
    a, b, c = factors.T
    noise = 0.1 * rng.normal(size=(1000, 6))
    spare = t_mex(factors, np.column_stack([a, b, c, 0 * a]) + noise[:, :4])
    assert float(spare) == 0
    copy = t_mex(factors, np.column_stack([a, b, c, -a]) + noise[:, :4])
    assert float(copy) == 1
    expected = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert float(t_mex(factors, np.column_stack([a, b, c, -a]) + noise[:, :4], adjacency=expected)) == 0
    lost = t_mex(factors, np.column_stack([a, b]) + noise[:, :2])
    assert float(lost) == 1
    assert lost.per_factor == {"factor 0": 0, "factor 1": 0, "factor 2": 1}
    assert any("without a code" in str(caveat) for caveat in lost.caveats)
    one_too_many = t_mex(factors, np.column_stack([a + b, b, c]) + noise[:, :3])
    assert float(one_too_many) == 1
    assert list(one_too_many.per_code.values()) == [1, 0, 0]
    assert one_too_many.parts["hypothesis_matrix"].tolist() == np.eye(3).tolist()
    assert float(t_mex(factors, rng.normal(size=(1000, 3)))) == 3


def test_even_codes_need_the_nonlinear_test():
    rng = np.random.default_rng(0)
    factors = gaussians(rng, 1000, 4, 0.7)
    codes = np.square(factors) + 0.1 * rng.normal(size=factors.shape)
    assert float(t_mex(factors, codes)) == 0
    assert float(t_mex(factors, codes, test="linear")) >= 3


def test_codes_of_003_that_leave_the_linear_scale():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(1000, 5))
    a, b, c, d, e = factors.T
    codes = np.column_stack([np.tanh(2 * a**3 - 0.1), np.sinh(2 * b**3 + 0.1), np.cbrt(c), d**5, np.exp(e)])
    assert float(t_mex(factors, codes)) == 0


def test_all_kinds_of_factor():
    rng = np.random.default_rng(0)
    n_rows = 1500
    table = {
        "size": rng.normal(size=n_rows),
        "count": rng.integers(6, size=n_rows),
        "angle": rng.uniform(0, 360, n_rows),
        "shape": rng.choice(["disc", "square", "star"], n_rows),
    }
    angle = np.deg2rad(table["angle"])
    clean = np.column_stack([table["size"], table["count"], np.cos(angle), table["shape"] == "star"])
    evidence = Evidence(table, clean + 0.1 * rng.normal(size=clean.shape), kinds={"angle": "circular:360"})
    assert float(t_mex(evidence)) == 0
    assert float(t_mex(evidence, test="linear")) == 0
    mixing = clean + np.roll(clean, 1, axis=1) + 0.1 * rng.normal(size=clean.shape)
    assert float(t_mex(Evidence(table, mixing, kinds={"angle": "circular:360"}))) == 4


def test_factors_that_others_determine_are_named():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 1000))
    table = {"x": x, "cube": x**3, "y": y}
    codes = np.column_stack([x, x**3, y]) + 0.1 * rng.normal(size=(1000, 3))
    nonlinear, linear = t_mex(table, codes), t_mex(table, codes, test="linear")
    assert float(nonlinear) == 2
    assert nonlinear.caveats[0] == Finding("factors_without_residual", factors=["x", "cube"])
    assert Finding("factors_determined", factors=["x", "cube"]) in linear.caveats
    columns = Circuit().sample(1000, rng=0)
    circuit = dict(zip(Circuit.factor_names, columns.T, strict=True))
    score = t_mex(circuit, columns + 0.1 * columns.std(axis=0) * rng.normal(size=columns.shape))
    named = {name for caveat in score.caveats for name in caveat.factors}
    assert {"T", "R", "V"} <= named
    assert np.isfinite(score.parts["p_value_matrix"]).all()


def test_edges():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(200, 3))
    noisy = factors + 0.1 * rng.normal(size=(200, 3))
    assert float(t_mex(factors[:, :1], noisy[:, :1])) == 0
    assert float(t_mex(factors[:, 0] > 0, noisy[:, :1])) == 0
    assert float(t_mex(factors, noisy[:, :1])) == 2
    assert float(t_mex(factors, np.column_stack([noisy, np.full(200, 3.0)]))) == 0
    grouped = t_mex(Evidence(factors, noisy, row_groups=np.repeat(np.arange(20), 10)))
    assert any("group" in str(caveat) for caveat in grouped.caveats)
    many = t_mex(rng.normal(size=(60, 55)), rng.normal(size=(60, 2)), test=LinearCovariance())
    assert np.isnan(many.raw)
    assert many.caveats == (Finding("too_few_rows_for_tests"),)
    for options in ({"test": "cubic"}, {"score": "share"}, {"correction": "some"}, {"adjacency": np.eye(2)}):
        with pytest.raises(ValueError):
            t_mex(factors, noisy, **options)


def test_corrections_differ_in_what_noise_gets():
    rng = np.random.default_rng(0)
    found = {"holm": 0.0, "benjamini-hochberg": 0.0, "none": 0.0}
    for _ in range(10):
        evidence = Evidence(rng.normal(size=(150, 5)), rng.normal(size=(150, 20)))
        for correction in found:
            found[correction] += t_mex(evidence, correction=correction).parts["adjacency_matrix"].sum()
    assert found["holm"] <= found["benjamini-hochberg"] <= 5
    assert 30 <= found["none"] <= 70  # .05 of 1,000


def test_more_rows_than_fit_are_drawn_and_said():
    """With a million rows and five factors, a test of all rows needs 7.3 GB, and of 100,000 rows 1.2 GB."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(3000, 2))
    codes = factors @ [[1.0, 1.0], [0.0, 1.0]] + rng.normal(size=(3000, 2))
    whole, part = t_mex(factors, codes), t_mex(factors, codes, max_rows=1000, rng=3)
    assert (whole.raw, part.raw) == (1, 1)
    assert "1,000 of 3,000 rows" in str(part.caveats[-1])
    assert not any("of 3,000 rows" in str(caveat) for caveat in whole.caveats)
    drawn = np.sort(random_stream(3, "tested rows").choice(3000, 1000, replace=False))
    expected = t_mex(factors[drawn], codes[drawn]).parts["p_value_matrix"]
    np.testing.assert_array_equal(part.parts["p_value_matrix"], expected)
