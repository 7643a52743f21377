"""Time series and repeated rows are recognised, and their floors, p-values and intervals are correct."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import spearmanr

from unweave import Evidence, evaluate
from unweave.metrics import mcc, r2
from unweave.trust import diagnose, interval, noise_floor, verdicts
from unweave.trust import row_order as module
from unweave.trust.row_order import (
    RowOrder,
    _factor_columns,
    _goes_on,
    _has_the_order_of_a_design,
    _lags,
    _reach,
    _rows_before,
    block_length,
    null_order,
    row_order,
)


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


def test_designed_rows_are_no_series():
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
    assert any("rows of a sample together" in str(note) for note in floor.notes)
    assert any("500 rows come from only 100 samples" in each for each in diagnose(evidence).sentences())


@pytest.mark.parametrize(
    ("lag", "rows"), [(0.2, 1), (0.21, 2), (0.2**0.5, 2), (0.5, 3), (0.9, 16), (-1.0, 1), (1.0, 16094), (0.9999, 16094)]
)
def test_the_reach_is_where_the_autocorrelation_has_fallen_to_a_fifth(lag, rows):
    assert _reach(lag) == rows


def test_lags_are_rank_correlations_with_the_row_before():
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=40).cumsum(), np.ones(40), 0.01 * rng.normal(size=40)])
    before = np.array([0, 3, 4, 10, 11, 12, 30, 38])
    ranked = columns.argsort(axis=0).argsort(axis=0)
    expected = [np.corrcoef(ranked[before, j], ranked[before + 1, j])[0, 1] for j in (0, 2)]
    assert _lags(columns, before) == pytest.approx(expected)
    assert _lags(columns[:, [0]], np.arange(39))[0] == pytest.approx(
        spearmanr(columns[:-1, 0], columns[1:, 0])[0], abs=0.02
    )
    assert _lags(columns[:, [1]], before).tolist() == [0.0]
    steps = np.array([0.0, 0.0, 0.0, 5.0])[:, None]
    assert _lags(steps, np.array([0, 1])).tolist() == [0.0]  # the rows before do not vary


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([[0, 0.2, 0.2, 0.9]], True),
        ([[0.9, 0.2, 0.2, 0]], True),
        ([[0, 0.2, 0.1, 0.9]], False),
        ([[0, 0.9, 0.2, 0.1]], False),
        ([[1, 1, 1, 1]], False),
        ([[0, 0.2, 0.1, 0.9], [0, 1, 2, 3]], True),
        ([[1, 1, 1, 1], [0, 2, 1, 3]], False),
    ],
)
def test_a_factor_that_rises_or_falls_over_all_rows_is_designed(columns, expected):
    assert _has_the_order_of_a_design(np.array(columns, dtype=float).T) is expected


def test_angles_are_compared_on_the_circle_and_few_columns_are():
    angle = np.array([0.0, 90.0, 200.0])
    turns = Evidence({"x": [1.0, 5.0, 2.0], "angle": angle}, kinds={"x": "continuous", "angle": "circular:360"})
    radians = np.radians(angle)
    assert _factor_columns(turns) == pytest.approx(np.column_stack([[1, 5, 2], np.cos(radians), np.sin(radians)]))
    many = np.random.default_rng(0).normal(size=(5, 70))
    assert _factor_columns(Evidence(many)).shape == (5, 64)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (None, 59),
        (np.arange(60) // 2, 29),
        (np.arange(58) // 2, None),  # 29 groups are too few
        (np.arange(60) % 30, None),  # groups that are not contiguous
        (np.arange(90) // 3, 29),
    ],
)
def test_row_groups_are_compared_with_the_next_group(groups, expected):
    n_rows = 60 if groups is None else len(groups)
    column = np.random.default_rng(0).normal(size=n_rows)
    found = _rows_before(Evidence(column, column, row_groups=groups))
    assert (None if found is None else found.size) == expected
    if groups is not None and expected:
        assert (np.diff(groups)[found] == 1).all()


@pytest.mark.parametrize(
    ("inside", "across", "other", "goes_on"),
    [
        (0.5, 0.26, 0.4, True),
        (0.5, 0.25, 0.4, False),
        (0.1, 0.1, 0.4, False),
        (0.11, 0.06, 0.4, True),
        (0.5, 0.26, 0.1, False),
    ],
)
def test_groups_go_on_if_both_sides_resemble_the_next_group_half_as_much(inside, across, other, goes_on, monkeypatch):
    """Means over two columns of each side, of the rows within groups and of the ends of groups."""
    evidence = Evidence(np.arange(62.0), np.arange(62.0), row_groups=np.repeat(np.arange(31), 2))
    factors, codes = np.zeros((62, 2)), np.ones((62, 2))

    def lags(columns, rows):
        middle = across if rows is ends else inside
        return np.array([middle, middle]) if columns is factors else np.array([other - 0.05, other + 0.05])

    ends = np.arange(30)
    monkeypatch.setattr(module, "_lags", lags)
    assert _goes_on(evidence, (factors, codes), ends) is goes_on
    assert not _goes_on(Evidence(np.arange(62.0), np.arange(62.0)), (factors, codes), ends)


@pytest.mark.parametrize(("n_rows", "is_series"), [(58, False), (60, True)])
def test_few_pairs_of_rows_within_groups_say_nothing(n_rows, is_series, monkeypatch):
    monkeypatch.setattr(module, "_lags", lambda columns, rows: np.array([0.5]))
    groups = np.repeat(np.arange(n_rows // 2), 2)
    evidence = Evidence(np.arange(float(n_rows)), np.arange(float(n_rows)), row_groups=groups)
    columns = evidence.factors
    assert _goes_on(evidence, (columns, columns), np.arange(20)) is is_series


@pytest.fixture
def lagged(monkeypatch):
    """The order of rows whose factors and codes have these autocorrelations."""

    def of(lag_of_factors, lag_of_codes, n_rows=400, n_factors=2, n_codes=3):
        rng = np.random.default_rng(0)
        factors, codes = rng.normal(size=(n_rows, n_factors)), rng.normal(size=(n_rows, n_codes))
        lags = {n_factors: lag_of_factors, n_codes: lag_of_codes}
        monkeypatch.setattr(module, "_largest_lag", lambda columns, before: lags[columns.shape[1]])
        return row_order(Evidence(factors, codes)), block_length(Evidence(factors, codes))

    return of


def test_the_numbers_of_a_series_follow_from_its_autocorrelations(lagged):
    found, block = lagged(0.5, 0.8)
    assert found.n_effective == pytest.approx(400 * 0.6 / 1.4)
    assert (found.kind, found.lag_of_factors, found.lag_of_codes) == ("series", 0.5, 0.8)
    assert found.reach == _reach(math.sqrt(0.4)) == 4
    assert block == 2 * 3
    found, block = lagged(0.99, 0.99, n_rows=60)
    assert (found.reach, block) == (15, 6)
    found, _ = lagged(1.0, 1.0)
    assert found.n_effective == pytest.approx(400 * (1 / 400) / (2 - 1 / 400))
    assert lagged(0.9, 0.9, n_rows=35)[1] == 3


@pytest.mark.parametrize(
    ("lags", "n_rows", "kind"),
    [
        ((0.1, 0.9), 4000, "exchangeable"),
        ((0.101, 0.9), 4000, "series"),
        ((0.9, 0.1), 4000, "exchangeable"),
        ((0.18, 0.9), 400, "exchangeable"),  # 3.719 / sqrt(399) is .1862
        ((0.1865, 0.9), 400, "series"),
        ((0.9, 0.9), 30, "series"),
        ((0.9, 0.9), 29, "exchangeable"),
    ],
)
def test_a_series_has_autocorrelations_above_a_tenth_and_above_chance(lags, n_rows, kind, lagged):
    """With five columns, chance is the normal quantile of .0001, 3.719 standard errors."""
    assert lagged(*lags, n_rows=n_rows)[0].kind == kind


@pytest.mark.parametrize(
    ("lag", "n_rows", "block"),
    [(0.1, 4000, 1), (0.101, 4000, 2), (0.17, 400, 1), (0.175, 400, 2), (0.9, 30, 3), (0.9, 29, 1)],
)
def test_blocks_are_of_series_of_factors(lag, n_rows, block, lagged):
    """With two columns, chance is the normal quantile of .00025, 3.481 standard errors: .1740 for 400 rows."""
    assert lagged(lag, 0.9, n_rows=n_rows)[1] == block


@pytest.mark.parametrize(
    ("kind", "n_effective", "too_short"),
    [("series", 19.9, True), ("series", 20.0, False), ("exchangeable", 5.0, False), ("repeated", 5.0, False)],
)
def test_a_series_of_fewer_than_twenty_independent_rows_is_too_short(kind, n_effective, too_short):
    assert RowOrder(kind, n_effective=n_effective).untestable is too_short


def test_shifts_reach_from_the_reach_to_what_is_left(monkeypatch):
    monkeypatch.setattr(module, "row_order", lambda evidence: RowOrder("series", reach=3))
    evidence = Evidence(np.arange(10.0), np.arange(10.0))
    shifts = {int(10 - null_order(evidence, np.random.default_rng(k))[0]) for k in range(100)}
    assert shifts == {3, 4, 5, 6, 7}


def test_codes_alone_and_sparse_codes_have_no_order():
    walk = np.random.default_rng(0).normal(size=(100, 2)).cumsum(axis=0)
    assert row_order(Evidence(walk, walk)).kind == "series"
    assert row_order(Evidence(codes=walk)).kind == "exchangeable"
    assert row_order(Evidence(walk)).kind == "exchangeable"
    assert block_length(Evidence(codes=walk)) == 1
    assert block_length(Evidence(walk, row_groups=np.arange(100))) == 1
    assert block_length(Evidence(walk)) > 1


@pytest.mark.parametrize("seed", range(5))
def test_a_factor_that_repeats_exactly_is_a_design_and_rows_are_permuted(seed):
    """Recordings of 19 pitches, level by level: every 19th shift would put the pitch back."""
    rng = np.random.default_rng(seed)
    pitch, level = np.tile(np.arange(19.0), 16), np.repeat(rng.permutation(16), 19).astype(float)
    for factors in (pitch[:, None], np.column_stack([level, pitch])):
        codes = np.column_stack([pitch + rng.normal(size=304), np.cos(pitch / 6), rng.normal(size=304)])
        evidence = Evidence(factors, codes, kinds="continuous")
        assert row_order(evidence).kind == "exchangeable"
        assert noise_floor(mcc, evidence, n_draws=29).p_value == 1 / 30
    cut = Evidence(pitch[:-7, None], codes[:-7], kinds="continuous")
    assert row_order(cut).kind == "exchangeable"


@pytest.mark.parametrize("period", [8, 24, 60])
def test_a_factor_that_nearly_repeats_has_no_test_but_by_groups(period):
    rng = np.random.default_rng(period)
    cycle = np.sin(2 * np.pi * np.arange(960) / period) + 0.2 * rng.normal(size=960)
    codes = cycle + 0.3 * rng.normal(size=960)
    known = row_order(Evidence(cycle, codes))
    assert (known.kind, known.untestable) == ("series", True)
    assert known.period % period in (0, 1, period - 1)
    found = evaluate(cycle, codes, metrics="mcc", progress=False).rows[0]
    assert (found.level, found.verdict.reasons[0].finding.kind) == ("caution", "series_periodic")
    assert math.isnan(found.noise_floor.p_value)
    in_groups = Evidence(cycle, codes, row_groups=rng.permutation(40)[np.arange(960) // 24])
    assert row_order(in_groups).kind == "exchangeable"


def test_a_series_that_does_not_repeat_is_shifted():
    known = [row_order(unrelated(1000, 0.9, seed)) for seed in range(20)]
    assert {(each.kind, each.period) for each in known} == {("series", 0)}


def test_rows_sorted_by_environments_are_no_series():
    """They were "periodic", and every score got a caution."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["observational", "cause", "effect"], 300)
    cause = np.where(labels == "cause", 1.5, 0.0) + rng.normal(size=900)
    effect = np.where(labels == "effect", -1.0, 0.9 * cause) + 0.5 * rng.normal(size=900)
    table = np.column_stack([cause, effect, np.full(900, 0.1)])
    assert row_order(Evidence(table, table, environments=labels)).kind == "exchangeable"
    walk = table + 0.5 * rng.normal(size=(900, 3)).cumsum(axis=0)
    assert row_order(Evidence(walk, walk, environments=labels)).kind == "series"
