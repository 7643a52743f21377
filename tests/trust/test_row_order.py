"""Time series and repeated rows are recognised, and their floors, p-values and intervals are correct."""

import numpy as np
import pytest
from scipy.signal import lfilter

from unweave import Evidence
from unweave.metrics import mcc, r2
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.nulls.noise_floor import noise_floor
from unweave.trust.row_order import block_length, null_order, row_order
from unweave.trust.sampling.intervals import interval
from unweave.trust.verdict import verdicts


def series(n_rows, n_columns, rho, rng):
    """Independent stationary autoregressive series of order one, n x columns."""
    steps = np.sqrt(1 - rho**2) * rng.normal(size=(n_rows + 1000, n_columns))
    return lfilter([1.0], [1.0, -rho], steps, axis=0)[1000:]


def unrelated(n_rows, rho, seed):
    rng = np.random.default_rng([seed, int(100 * rho)])
    return Evidence(series(n_rows, 3, rho, rng), series(n_rows, 4, rho, rng))


@pytest.mark.parametrize(("rho", "kind"), [(0.0, "exchangeable"), (0.5, "series"), (0.9, "series")])
def test_a_series_is_noticed(rho, kind):
    found = row_order(unrelated(1000, rho, 0))
    assert found.kind == kind
    if rho:
        assert found.lag_of_codes == pytest.approx(rho, abs=0.08)
        # the variance of a correlation of two independent autoregressions (Bartlett)
        assert found.n_effective == pytest.approx(1000 * (1 - rho**2) / (1 + rho**2), rel=0.25)


def test_one_side_in_any_order_is_enough_for_permutations():
    rng = np.random.default_rng(0)
    assert row_order(Evidence(series(500, 2, 0.9, rng), rng.normal(size=(500, 3)))).kind == "exchangeable"


def test_sorted_rows_are_no_series():
    grid = np.array([[x, y] for x in range(20) for y in range(20)], dtype=float)
    evidence = Evidence(grid, grid @ [[1.0, 1.0], [1.0, -1.0]])
    assert row_order(evidence).kind == "exchangeable"
    assert block_length(evidence) == 1


def test_a_series_is_shifted_by_more_than_its_reach():
    evidence = unrelated(1000, 0.9, 0)
    orders = [null_order(evidence, np.random.default_rng(k)) for k in range(50)]
    assert all((np.diff(order) % 1000 == 1).all() for order in orders)
    assert min(min(order[0], 1000 - order[0]) for order in orders) >= row_order(evidence).reach
    assert any("circular shifts" in str(note) for note in noise_floor(mcc, evidence, n_draws=9).notes)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_p_values_of_unrelated_series_are_uniform(rho):
    """With 60 draws, .05 within three standard errors; a slow test has 300 draws."""
    small = np.mean([noise_floor(mcc, unrelated(1000, rho, seed), n_draws=19).p_value <= 0.05 for seed in range(60)])
    assert small <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "pieces", "n_series"),
    [(mcc, 0, 300), (r2, 0, 300), (mcc, 50, 300), (r2, 50, 1000)],
    ids=["mcc", "r2", "mcc, in pieces", "r2, in pieces"],
)
@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_p_values_of_many_unrelated_series(rho, metric, pieces, n_series):
    """Also for row groups that are pieces of one series."""
    values = []
    for seed in range(n_series):
        evidence = unrelated(1000, rho, seed)
        if pieces:
            evidence = Evidence(evidence.factors, evidence.codes, row_groups=np.arange(1000) * pieces // 1000)
        values.append(noise_floor(metric, evidence, n_draws=39).p_value)
    share = np.mean(np.array(values) <= 0.05)
    print(rho, pieces, share)
    assert 0.02 <= share <= 0.08


def test_a_series_that_is_too_short_says_so():
    evidence = unrelated(300, 0.99, 0)
    floor = noise_floor(mcc, evidence, n_draws=19)
    assert np.isnan(floor.p_value)
    assert any("too few for a p-value" in str(note) for note in floor.notes)
    found = verdicts({"mcc": mcc}, {"mcc": mcc(evidence)}, evidence, diagnose(evidence), {"mcc": floor})["mcc"]
    assert found.level != "trust"
    assert found.reasons[0].finding.kind == "series_too_short"


def test_the_diagnosis_says_so():
    assert any("Rows are autocorrelated" in each for each in diagnose(unrelated(500, 0.9, 0)).sentences())
    assert not any("row before" in each for each in diagnose(unrelated(500, 0.0, 0)).sentences())


def test_intervals_of_a_series_leave_out_blocks():
    evidence = unrelated(1000, 0.9, 0)
    assert block_length(evidence) > 20
    blocks, rows = (
        interval(mcc, each, n_parts=12)
        for each in (evidence, Evidence(evidence.factors, evidence.codes, row_groups=np.arange(1000)))
    )
    assert any("blocks of" in str(note) for note in blocks.notes)
    assert blocks.standard_error > 1.5 * rows.standard_error


def test_equal_rows_of_few_levels_are_chance():
    levels = np.random.default_rng(0).integers(0, 4, size=(500, 2)).astype(float)
    assert row_order(Evidence(levels, levels)).kind == "exchangeable"


def test_repeated_rows_stay_together():
    """100 rows, each repeated five times: nearest neighbours and splits contain the same row again."""
    rng = np.random.default_rng(0)
    factors, codes = rng.normal(size=(100, 2)), rng.normal(size=(100, 10))
    evidence = Evidence(np.tile(factors, (5, 1)), np.tile(codes, (5, 1)))
    known = row_order(evidence)
    assert known.kind == "repeated"
    order = null_order(evidence, np.random.default_rng(1))
    assert sorted(order) == list(range(500))
    for row in range(100):
        assert np.ptp(evidence.factors[order][known.same_as == row], axis=0).max() == 0
    floor = noise_floor(r2, evidence, n_draws=39)
    assert floor.p_value > 0.05
    assert any("equal rows together" in str(note) for note in floor.notes)
    assert any("100 of 500 rows differ" in each for each in diagnose(evidence).sentences())
