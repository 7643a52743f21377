"""Thresholds, intervals and verdicts, for artificial scores."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from unweave.auditing import Grid
from unweave.auditing.adversary import _perturbed_encoder
from unweave.auditing.measurement import PROPERTIES
from unweave.auditing.properties import PropertyFinding, PropertyRow, finding_of, mean_interval, promise_of
from unweave.metrics import mcc, representations_invariance
from unweave.synthetic.encoders import Mixed, Noise, Noisy, PartlyMixed, Reshaped, WithCopies, WithNoiseCodes

GRID = Grid(
    n_factors=(5,), rhos=(0.0, 0.9), dropped=(1, 2), ratios=(2.0,), splits=(2,), mixed_shares=(), null_ratios=(0.1,)
)
POINTS = GRID.points()


def scores(value, spread=0.0):
    """Scores of every point at three seeds, from a function of the point."""
    return {point: {seed: value(point) + spread * (seed - 1) for seed in range(3)} for point in POINTS}


def verdict(name, value, **options):
    return finding_of(name, POINTS, scores(value, **options)).verdict


def test_interval_is_the_t_interval():
    values = np.array([0.2, 0.5, 0.4, 0.9])
    mean, interval = mean_interval(values)
    assert mean == pytest.approx(0.5)
    assert interval == pytest.approx(stats.t.interval(0.95, 3, values.mean(), stats.sem(values)))


@pytest.mark.parametrize(("change", "expected"), [(0.04, "satisfied"), (-0.1, "partly"), (0.2, "violated")])
@pytest.mark.parametrize("series", ["E1", "E2", "E3"])
def test_p1_is_the_largest_change_of_any_encoder(series, change, expected):
    assert verdict("P1", lambda p: 0.5 + change * p.x / 0.9 * (p.series == series)) == expected


def test_p1_leaves_e4_apart():
    found = finding_of("P1", POINTS, scores(lambda p: 0.5 + 0.4 * p.x * (p.series == "E4")))
    assert found.verdict == "satisfied"
    assert [row.number for row in found.rows if not row.counts] == pytest.approx([0.36])


@pytest.mark.parametrize(
    ("price", "cost_of_one", "cost_of_two", "expected"),
    [
        (1.0, 0.0, 0.0, "satisfied"),
        (0.55, 0.04, 0.0, "satisfied"),
        (1.0, 0.1, 0.0, "partly"),
        (1.0, 0.0, 0.3, "partly"),
        (1.0, 0.1, 0.1, "violated"),
        (0.45, 0.0, 0.0, "violated"),
        (0.45, 0.1, 0.1, "violated"),
    ],
)
def test_p2_needs_free_factors_to_cost_and_redundant_ones_not_to(price, cost_of_one, cost_of_two, expected):
    def value(point):
        free = point.case.world.effective_dimension if point.name == "P2" else 1
        cost = {"D_f": cost_of_one, "D_F": cost_of_two}.get(point.series, 0.0) * (point.x >= 0)
        return 1 - cost - price * max(point.x, 0) / free

    assert verdict("P2", value) == expected


def test_p2_does_not_let_the_redundant_factor_pay_for_free_ones():
    def value(point):
        return 1 - 0.3 * (point.x >= 0)  # dropping the redundant factor costs a lot, and dropping free ones nothing

    found = finding_of("P2", POINTS, scores(value))
    assert found.verdict == "violated"
    assert found.worst.kind == "lossy"
    assert found.worst.number == pytest.approx(0.0)


@pytest.mark.parametrize(("distance", "expected"), [(-0.05, "satisfied"), (0.15, "partly"), (-0.2, "violated")])
def test_p3_is_the_distance_from_the_matched_code(distance, expected):
    assert verdict("P3", lambda p: 0.6 + distance * (p.x > 1) * (p.series == "E6")) == expected


@pytest.mark.parametrize(("level", "expected"), [(0.05, "satisfied"), (0.1, "partly"), (0.5, "violated")])
def test_p4_is_the_mean_score_of_nulls(level, expected):
    assert verdict("P4", lambda p: level * (p.series == "n = 100")) == expected


def test_an_interval_that_straddles_is_undecided():
    found = finding_of("P4", POINTS, scores(lambda p: 0.05, spread=0.01))
    assert found.verdict == "undecided"
    assert found.possible == ("satisfied", "partly")


@pytest.mark.parametrize("name", PROPERTIES)
def test_what_is_missing_leaves_the_verdict_open(name):
    perfect = scores(lambda p: 1 - max(p.x, 0) / 4 if p.name == "P2" else 0.0)
    complete = finding_of(name, POINTS, perfect)
    assert (complete.verdict, complete.missing) == ("satisfied", ())
    dropped = next(point for point in POINTS if point.name == name and point.series != "E4")
    fewer = finding_of(name, POINTS, {point: row for point, row in perfect.items() if point != dropped})
    assert fewer.verdict == "undecided"
    assert len(fewer.missing) == 1
    assert finding_of(name, POINTS, {}).possible == ("satisfied", "partly", "violated")


def test_what_is_missing_does_not_excuse_a_violation():
    kept = {point: row for point, row in scores(lambda p: 0.5).items() if point.series == "n = 100"}
    assert finding_of("P4", POINTS, kept).verdict == "violated"


def test_differences_are_taken_within_a_seed():
    """If scores differ between seeds but not within a seed, the interval has zero width."""
    found = finding_of("P1", POINTS, scores(lambda p: 0.5 + 0.1 * (p.x > 0), spread=0.2))
    assert all(row.interval == pytest.approx((0.1, 0.1)) for row in found.rows)


@pytest.mark.parametrize(
    ("level", "expected"), [(0.049, "satisfied"), (0.055, "partly"), (0.145, "partly"), (0.155, "violated")]
)
@pytest.mark.parametrize("name", ["P1", "P3", "P4"])
def test_where_the_thresholds_lie(name, level, expected):
    """All other points of a curve are higher by this level."""
    low = {"P1": lambda p: p.x == 0, "P3": lambda p: p.x == 1, "P4": lambda p: False}[name]
    assert verdict(name, lambda p: level * (not low(p))) == expected


def test_the_worst_lossy_case_is_the_one_that_costs_least():
    """The relative cost of two dropped free factors is .4, and that of one is .2; the smaller one is reported."""

    def value(point):
        free = point.case.world.effective_dimension if point.name == "P2" else 1
        return 1 - {1: 0.2, 2: 0.4}.get(int(point.x), 0.0) * max(point.x, 0) / free

    found = finding_of("P2", POINTS, scores(value))
    assert found.worst.kind == "lossy"
    assert found.worst.number == pytest.approx(0.2)
    assert found.worst.lower_x == 1


def row(kind="change", number=0.1, interval=(0.0, 0.2), n_seeds=5, spread=0.0, series="E1", counts=True):
    point = replace(POINTS[0], series=series)
    return PropertyRow(kind, number, interval, n_seeds, point, point, counts, spread)


@pytest.mark.parametrize(
    ("kind", "interval", "levels"),
    [
        ("change", (0.0, 0.05), {0}),
        ("change", (0.0, 0.06), {0, 1}),
        ("change", (0.05, 0.15), {0, 1}),
        ("change", (0.06, 0.15), {1}),
        ("change", (0.15, 0.16), {1, 2}),
        ("change", (0.16, 0.5), {2}),
        ("change", (0.0, 0.5), {0, 1, 2}),
        # rounding does not count: 1e-9 beside a limit is the limit
        ("change", (0.0, 0.05 + 0.9e-9), {0}),
        ("change", (0.0, 0.05 + 1.1e-9), {0, 1}),
        ("change", (0.05 + 0.9e-9, 0.1), {0, 1}),
        ("change", (0.05 + 1.1e-9, 0.1), {1}),
        ("lossy", (0.5, 0.9), {0}),
        ("lossy", (0.4, 0.9), {0, 2}),
        ("lossy", (0.1, 0.4), {2}),
        ("lossy", (0.5 - 0.9e-9, 0.9), {0}),
        ("lossy", (0.5 - 1.1e-9, 0.9), {0, 2}),
        ("lossy", (0.1, 0.5 - 0.9e-9), {0, 2}),
        ("lossy", (0.1, 0.5 - 1.1e-9), {2}),
    ],
)
def test_verdicts_that_an_interval_allows(kind, interval, levels):
    assert row(kind, interval=interval).levels == levels


@pytest.mark.parametrize(
    ("n_seeds", "spread", "expected"),
    [
        (2, 0.3, 0.3 / np.sqrt(stats.chi2.ppf(0.975, 1))),
        (5, 0.3, 0.3 * np.sqrt(4 / stats.chi2.ppf(0.975, 4))),
        (1, 0.3, 0.0),
        (5, 0.0, 0.0),
        (5, np.nan, 0.0),
    ],
)
def test_the_least_spread_is_the_end_of_the_interval_of_a_standard_deviation(n_seeds, spread, expected):
    assert row(n_seeds=n_seeds, spread=spread).least_spread == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kind", "series", "levels"),
    [("change", "E1", {2}), ("distance", "E5", {2}), ("distance", "E7", {0}), ("level", "n = 100", {0})],
)
def test_a_score_that_scatters_is_not_stable(kind, series, levels):
    assert row(kind, interval=(0.0, 0.01), spread=0.5, series=series).levels == levels


def test_the_decisive_row_is_a_free_factor_that_costs_too_little_or_the_worst_of_the_others():
    little, enough = row("lossy", 0.49, (0.4, 0.55)), row("lossy", 0.5, (0.5, 0.6))
    large, worse = row(number=0.12, interval=(0.0, 0.3)), row(number=0.11, interval=(0.08, 0.12))
    apart = row(number=0.9, interval=(0.8, 1.0), counts=False)

    def worst(*rows):
        return PropertyFinding("P2", "partly", ("partly",), rows, ()).worst

    assert worst(large, little, enough) is little
    assert worst(large, enough, worse, apart) is worse
    assert worst(enough) is enough
    assert worst(apart) is None
    assert worst(large, row(number=0.13, interval=(0.04, 0.3))).number == 0.13


def test_one_seed_is_no_measurement_and_two_are():
    for n_seeds, missing in ((1, True), (2, False)):
        one = {point: dict.fromkeys(range(n_seeds), 0.0) for point in POINTS}
        assert bool(finding_of("P4", POINTS, one).missing) is missing
    assert mean_interval(np.array([0.5])) == (0.5, (-np.inf, np.inf))


def test_the_cost_of_a_redundant_factor_needs_both_points():
    kept = {point: row for point, row in scores(lambda p: 0.5).items() if point.name == "P2" and point.x != -1}
    assert {row.kind for row in finding_of("P2", POINTS, kept).rows} == {"lossy"}
    kept = {point: row for point, row in scores(lambda p: 0.5).items() if point.name == "P2" and point.x != 0}
    assert finding_of("P2", POINTS, kept).rows == ()


START = (
    Mixed(2.0, 2.0),
    PartlyMixed(0.4),
    Noise(10),
    Noisy(PartlyMixed(0.25), 0.3),
    WithCopies(PartlyMixed(0.25), 4),
    WithNoiseCodes(PartlyMixed(0.25), 10),
    Reshaped(PartlyMixed(0.25)),
)


class Drawing:
    """Gives the same normal number and the same whole number each time."""

    def __init__(self, number, whole):
        self.number, self.whole = number, whole

    def normal(self):
        return self.number

    def integers(self, low, high):
        assert (low, high) == (-1, 2)
        return self.whole


@pytest.mark.parametrize(
    ("number", "whole", "expected"),
    [
        (
            1.0,  # e^.5 = 1.6487, e^.3 = 1.3499, e^.4 = 1.4918
            1,
            (
                Mixed(3.297, 2.7),
                PartlyMixed(0.5),
                Noise(15),
                Noisy(PartlyMixed(0.35), 0.4),
                WithCopies(PartlyMixed(0.35), 5),
                WithNoiseCodes(PartlyMixed(0.35), 15),
                Reshaped(PartlyMixed(0.35)),
            ),
        ),
        (
            -20.0,
            -3,
            (
                Mixed(1.0, 1.0),
                PartlyMixed(0.0),
                Noise(2),
                Noisy(PartlyMixed(0.0), 0.0),
                WithCopies(PartlyMixed(0.0), 1),
                WithNoiseCodes(PartlyMixed(0.0), 1),
                Reshaped(PartlyMixed(0.0)),
            ),
        ),
    ],
)
def test_parameters_change_by_their_steps_and_stay_within_their_ends(number, whole, expected):
    assert tuple(_perturbed_encoder(encoder, Drawing(number, whole)) for encoder in START) == expected


def test_large_parameters_end_too():
    up = Drawing(20.0, 3)
    assert _perturbed_encoder(Mixed(2.0, 2.0), up).ratio == 15.0
    assert _perturbed_encoder(PartlyMixed(0.4), up) == PartlyMixed(1.0)
    assert _perturbed_encoder(Noise(10), up) == Noise(300)
    assert _perturbed_encoder(Noisy(PartlyMixed(0.4), 0.3), up) == Noisy(PartlyMixed(1.0), 0.95)
    assert _perturbed_encoder(WithCopies(PartlyMixed(0.4), 4), up) == WithCopies(PartlyMixed(1.0), 6)


def card(equivalence):
    return dataclasses.replace(mcc.card, equivalence=equivalence)


@pytest.mark.parametrize(
    ("equivalence", "promised"),
    [
        ("permutation and scale", {"E1"}),
        ("elementwise", {"E1", "E2"}),
        ("affine", {"E1", "E3"}),
        ("bijection", {"E1", "E2", "E3"}),
        ("any", {"E1", "E2", "E3", "E9"}),
    ],
)
def test_who_is_promised_full_marks(equivalence, promised):
    assert {name for name in ("E1", "E2", "E3", "E9") if promise_of(card(equivalence), name, 1.0).promised} == promised


def test_a_promise_is_broken_by_less_than_full_marks():
    assert not promise_of(card("affine"), "E3", 0.98).kept
    assert promise_of(card("affine"), "E3", 0.991).kept


def test_marks_beyond_the_promise_are_no_fault_unless_noise_gets_them():
    assert promise_of(card("permutation and scale"), "E3", 1.0).kept
    assert not promise_of(card("permutation and scale"), "E9", 1.0).kept


def test_a_card_may_say_that_noise_gets_full_marks():
    assert promise_of(representations_invariance.card, "E9", 1.0).kept
