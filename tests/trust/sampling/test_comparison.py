"""Paired comparisons, ties and planning, against closed forms."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from made_up_metrics import made_up
from scipy import stats

from unweave import Evidence, InputError, OptionError
from unweave.metrics import mcc
from unweave.score import Score
from unweave.trust import Comparison, compared, samples_needed
from unweave.trust.comparison import Difference, _two_sided, comparison_of_parts, letters_of, sets_of_ties
from unweave.trust.intervals import Parts, PartScores
from unweave.trust.planning import _notes

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(300, 2))
SHARED, OWN = RNG.normal(size=(2, 300))


@made_up()
def mean_code(evidence):
    """Mean of the first code."""
    return Score(float(evidence.codes[:, 0].mean()))


@made_up(bounds=(-math.inf, math.inf), best=-math.inf)
def low_mean_code(evidence):
    """Mean of the first code: lower is better."""
    return Score(float(evidence.codes[:, 0].mean()))


def on_codes(**codes):
    return {name: Evidence(FACTORS, code) for name, code in codes.items()}


def test_a_difference_of_means_has_the_paired_standard_error():
    # the common part is ten times larger than the difference, and cancels
    both = compared(mean_code, on_codes(a=10 * SHARED + OWN, b=10 * SHARED), n_parts=400)
    textbook = OWN.std(ddof=1) / math.sqrt(300)
    pair = both.between("b", "a")
    assert pair.standard_error == pytest.approx(textbook, rel=0.1)
    assert abs(pair.difference) == pytest.approx(abs(OWN.mean()))
    assert pair.difference > 0  # the better one comes first


def test_letters_and_order():
    steps = on_codes(low=SHARED, middle=SHARED + 0.05 * OWN, high=SHARED + 1)
    found = compared(mean_code, steps)
    assert found.letters["high"] == "a"
    assert found.letters["low"] == found.letters["middle"] == "b"
    assert found.ties[0] == ("high",)
    assert next(iter(found.scores)) == "high"
    assert next(iter(compared(low_mean_code, steps).scores)) != "high"


def test_ties_overlap_where_neighbours_are_alike():
    apart = {frozenset(("a", "c")), frozenset(("a", "d")), frozenset(("b", "d"))}
    assert sets_of_ties(list("abcd"), apart) == (("a", "b"), ("b", "c"), ("c", "d"))
    assert sets_of_ties(list("abc"), set()) == (("a", "b", "c"),)


def test_p_values_are_corrected_for_the_number_of_pairs():
    """Holm's correction: the smallest of six p-values is multiplied by six, the next by five; their order is kept."""
    codes = {"a": SHARED, "b": SHARED + OWN + 0.15, "c": SHARED + OWN[::-1] - 0.1, "d": SHARED - OWN}
    two = compared(mean_code, on_codes(a=codes["a"], b=codes["b"]))
    four = compared(mean_code, on_codes(**codes))
    pairs = sorted(four.differences, key=lambda pair: -abs(pair.difference) / pair.standard_error)
    alone = [2 * stats.t.sf(abs(pair.difference) / pair.standard_error, 23) for pair in pairs]
    expected = np.minimum(np.maximum.accumulate(np.array(alone) * [6, 5, 4, 3, 2, 1]), 1.0)
    assert [pair.p_value for pair in pairs] == pytest.approx(expected)
    assert expected[0] < 0.05 < expected[3] < expected[-1]
    assert four.between("a", "b").standard_error == two.between("a", "b").standard_error


def test_copies_are_not_told_apart():
    found = compared(mcc, on_codes(a=FACTORS, b=FACTORS.copy()))
    assert found.differences[0].p_value == 1.0
    assert found.ties == (("a", "b"),)


def test_other_samples_are_refused():
    with pytest.raises(InputError, match="do not have the same samples"):
        compared(mcc, {"a": Evidence(FACTORS, FACTORS), "b": Evidence(FACTORS[::-1], FACTORS)})
    with pytest.raises(InputError, match="do not have the same samples"):
        compared(
            mcc, {"a": Evidence(FACTORS, FACTORS), "b": Evidence(FACTORS, FACTORS, row_groups=np.arange(300) // 2)}
        )
    with pytest.raises(InputError, match="at least two"):
        compared(mcc, {"a": Evidence(FACTORS, FACTORS)})
    with pytest.raises(OptionError, match="were not compared"):
        compared(mcc, on_codes(a=FACTORS, b=FACTORS)).between("a", "c")


def test_samples_needed_is_the_textbook_formula():
    both = compared(mean_code, on_codes(a=SHARED + OWN, b=SHARED), n_parts=400)
    plan = samples_needed(both, difference=0.1)
    # (1.96 + 0.8416)^2 sd^2 / difference^2 for a paired difference of means
    assert plan.n_needed == pytest.approx((2.8016 * OWN.std(ddof=1) / 0.1) ** 2, rel=0.2)
    assert plan.fewest == plan.most == plan.n_needed
    assert samples_needed(both, difference=0.1, power=0.95).n_needed > plan.n_needed
    assert samples_needed(both, difference=0.05).n_needed == pytest.approx(4 * plan.n_needed, rel=0.01)
    with pytest.raises(OptionError, match="power=80 is not a power"):
        samples_needed(both, power=80)


def test_planning_says_how_far_it_reaches():
    alike = compared(mean_code, on_codes(a=SHARED + OWN - OWN.mean() + 1e-4, b=SHARED))
    plan = samples_needed(alike)
    assert plan.most == math.inf
    assert plan.n_needed > 1e5
    assert len(plan.notes) == 2
    apart = samples_needed(compared(mean_code, on_codes(a=SHARED + OWN + 1, b=SHARED)))
    assert apart.fewest <= apart.n_needed <= apart.most < 300


def test_planning_power_holds_up():
    # simulation: with the planned number of samples, a difference of .3 sd is significant in 80 % of the data sets
    both = compared(mean_code, on_codes(a=SHARED + OWN, b=SHARED), n_parts=1600)
    n = int(samples_needed(both, difference=0.3 * OWN.std()).n_needed)
    draws = np.random.default_rng(1).normal(0.3, 1, size=(4000, n))
    told = np.abs(draws.mean(axis=1)) > 1.96 * draws.std(axis=1, ddof=1) / math.sqrt(n)
    assert told.mean() == pytest.approx(0.8, abs=0.06)


def test_an_undefined_score_leaves_no_comparison():
    @made_up()
    def never(evidence):
        """Undefined."""
        return Score(math.nan)

    found = compared(never, on_codes(a=SHARED, b=OWN))
    assert "undefined for 'a'" in str(found.reason)
    with pytest.raises(InputError, match="no comparison to plan from"):
        samples_needed(found)


def test_few_groups_have_few_degrees_of_freedom():
    """24 parts of 6 groups contain no more information about the variance between groups than 6 groups do."""
    groups = np.repeat(np.arange(6), 50)
    evidences = {
        name: Evidence(FACTORS, codes, row_groups=groups)
        for name, codes in (("a", 0.1 + SHARED), ("b", np.random.default_rng(3).normal(size=len(FACTORS))))
    }
    found = compared(mean_code, evidences)
    pair = found.between("a", "b")
    statistic = abs(pair.difference) / pair.standard_error
    assert found.n_units == 6
    assert pair.p_value == pytest.approx(2 * stats.t.sf(statistic, 5))
    reach = (pair.upper - pair.lower) / 2 / pair.standard_error
    assert reach == pytest.approx(stats.t.ppf(0.975, 5))


def planned(difference=0.2, error=0.1, reach=2.0, n_units=100, **options):
    """A plan from a comparison of three, of which two pairs are known."""
    pair = Difference("a", "b", difference, error, difference - reach * error, difference + reach * error, 0.5)
    other = Difference("b", "c", 0.5, 0.1, 0.3, 0.7, 0.01)
    scores = {"a": 0.9, "b": 0.7, "c": 0.2}
    return samples_needed(Comparison("it", 0.95, n_units, scores, (pair, other)), **options)


def test_the_numbers_of_a_plan_follow_from_the_difference_and_its_interval():
    found = planned(difference=0.25, reach=1.0)
    factor = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    assert (found.n_needed, found.fewest, found.most) == (
        math.ceil(100 * factor * 0.16),
        math.ceil(100 * factor * (0.1 / 0.35) ** 2),
        math.ceil(100 * factor * (0.1 / 0.15) ** 2),
    )
    assert (found.first, found.second, found.difference, found.n_now) == ("a", "b", 0.25, 100)
    negative = planned(difference=-0.25, reach=1.0)
    assert (negative.n_needed, negative.fewest, negative.most) == (found.n_needed, found.fewest, found.most)
    assert planned(first="b", second="c").difference == planned(first="c", second="b").difference == 0.5
    with pytest.raises(OptionError, match="were not compared"):
        planned(second="c")


@pytest.mark.parametrize(
    ("error", "difference", "needed"),
    [(0.0, 0.2, 2.0), (0.0, 0.0, math.inf), (0.1, 0.0, math.inf), (1e-6, 0.2, 2.0), (1.0, 1.0, 785.0)],
)
def test_two_samples_are_needed_at_least_and_no_number_is_enough_for_no_difference(error, difference, needed):
    assert planned(error=error, difference=difference).n_needed == needed


@pytest.mark.parametrize(("reach", "may_be_zero"), [(2.0, True), (1.9, False), (3.0, True)])
def test_a_difference_whose_interval_has_zero_may_be_zero(reach, may_be_zero):
    """A difference of 2 standard errors."""
    found = planned(reach=reach, difference=0.5, error=0.25)
    assert math.isinf(found.most) is may_be_zero
    assert ("difference_may_be_zero" in [note.kind for note in found.notes]) is may_be_zero


@pytest.mark.parametrize(("n_needed", "far"), [(400, False), (401, True), (25, False), (24, True), (100, False)])
def test_more_than_four_times_or_less_than_a_quarter_is_extrapolated(n_needed, far):
    for found in (True, False):
        notes = [note.kind for note in _notes(n_needed, math.inf, 100, found)]
        assert notes == ["difference_may_be_zero"] * found + ["sample_size_extrapolated"] * far
    assert "difference_may_be_zero" not in [note.kind for note in _notes(n_needed, 500.0, 100, True)]


@pytest.mark.parametrize("power", [0, 1, -0.1])
def test_powers_are_between_zero_and_one(power):
    with pytest.raises(OptionError, match="is not a power"):
        planned(power=power)


def test_p_values_of_differences_without_an_error_and_of_no_difference():
    gaps = np.array([0.5, -0.5, 0.0, 1e-12, 2e-12, 3.9e-12, 4.1e-12, 0.5])
    errors = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 4.0, 4.0, 0.25])
    found = _two_sided(gaps, errors, 7)
    assert found[:6] == pytest.approx([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    assert (found[3], found[5]) == (1.0, 1.0)
    assert found[4] < 1
    assert found[6] < 1
    assert found[7] == pytest.approx(2 * stats.t.sf(2.0, 7))


def test_pairs_are_judged_on_the_parts_that_all_have_and_told_apart_at_the_level():
    plan = Parts(Evidence(np.arange(40.0), np.arange(40.0)), n_units=40, n_out=10, seed=0)
    of_parts = {"a": (0.9, 1.1, 1.0, 9.0), "b": (0.5, 0.4, 0.6), "c": (0.4, 0.5, 0.45)}
    scores = {"c": 0.45, "a": 1.0, "b": 0.5}
    found = comparison_of_parts(
        "it", {name: PartScores(plan, Score(scores[name]), of_parts[name], (), ()) for name in scores}, 0.95
    )
    assert list(found.scores.items()) == [("a", 1.0), ("b", 0.5), ("c", 0.45)]
    pair = found.between("a", "b")
    error = math.sqrt(3 * np.var([0.4, 0.7, 0.4], ddof=1))
    reach = stats.t.ppf(0.975, 2)
    assert (pair.first, pair.second, pair.difference) == ("a", "b", 0.5)
    assert (pair.standard_error, pair.lower, pair.upper) == pytest.approx(
        (error, 0.5 - reach * error, 0.5 + reach * error)
    )
    assert found.n_units == 40


@pytest.mark.parametrize(("level", "ties"), [(0.0, (("a",), ("b",))), (0.01, (("a", "b"),))])
def test_a_p_value_of_exactly_one_minus_the_level_tells_apart(level, ties):
    plan = Parts(Evidence(np.arange(40.0), np.arange(40.0)), n_units=40, n_out=10, seed=0)
    equal = {name: PartScores(plan, Score(0.5), (0.4, 0.6), (), ()) for name in "ab"}
    found = comparison_of_parts("it", equal, level)
    assert found.differences[0].p_value == 1.0
    assert found.ties == ties


def test_what_is_undefined_for_one_is_named():
    plan = Parts(Evidence(np.arange(40.0), np.arange(40.0)), n_units=40, n_out=10, seed=0)
    parts = {
        "a": PartScores(plan, Score(0.5), (0.4, 0.6), (), ()),
        "b": PartScores(plan, Score(0.5), (0.4, math.nan), (), ()),
    }
    assert dict(comparison_of_parts("it", parts, 0.95).reason.quantities)["representation"] == "b"


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_scores_that_are_shown_as_equal_are_tied(lower_is_better):
    """Below the bound, raw scores differ clearly between parts; as they are shown, all are 0."""
    plan = Parts(Evidence(np.arange(20.0), np.arange(20.0)), n_units=20, n_out=10, seed=0)
    options = {"bounds": (0.0, 1.0), "best": 0.0 if lower_is_better else 1.0}
    found = {
        name: PartScores(plan, Score(raw, **options), tuple(raw + 1e-3 * k for k in range(8)), ({},) * 8, ())
        for name, raw in (("noise", -0.1), ("rotation", -0.5), ("good", 0.4))
    }
    compared = comparison_of_parts("it", found, 0.95)
    assert compared.scores == {"noise": 0.0, "rotation": 0.0, "good": 0.4}
    assert compared.letters["noise"] == compared.letters["rotation"] != compared.letters["good"]
    assert compared.between("noise", "rotation").difference == 0.0
    assert compared.between("noise", "rotation").p_value == 1.0


SECONDS = 10.0  # an enumeration of all maximal cliques of this size would not end


def random_pairs(rng: np.random.Generator, order: list[str], share: float) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in itertools.combinations(order, 2) if rng.random() < share}


def assert_right(order, apart, ties):
    """Every tied pair is in a set, no pair that differs is in a set, and all sets are maximal."""
    sets = [set(tied) for tied in ties]
    for pair in itertools.combinations(order, 2):
        assert any(set(pair) <= tied for tied in sets) == (frozenset(pair) not in apart)
    assert all(any(name in tied for tied in sets) for name in order)
    for tied in sets:
        others = [name for name in order if name not in tied]
        assert all(any(frozenset((name, member)) in apart for member in tied) for name in others)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_two_share_a_set_exactly_where_they_are_tied(share):
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        order = [f"model {k}" for k in range(n)]
        apart = random_pairs(rng, order, share)
        assert_right(order, apart, sets_of_ties(order, apart))


def test_ties_between_neighbours_give_every_largest_set():
    """Scores are tied if they differ by less than one: maximal sets are intervals of the order, and all are needed."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        scores = np.sort(rng.uniform(0, 5, size=9))[::-1]
        order = [str(k) for k in range(9)]
        apart = {
            frozenset((order[i], order[j])) for i, j in itertools.combinations(range(9), 2) if scores[i] - scores[j] > 1
        }
        reach = [max(j for j in range(9) if scores[i] - scores[j] <= 1) for i in range(9)]
        runs = [tuple(order[i : reach[i] + 1]) for i in range(9) if i == 0 or reach[i] > reach[i - 1]]
        assert sets_of_ties(order, apart) == tuple(runs)


@pytest.mark.parametrize("kind", ["pairs", "random"])
def test_two_hundred_take_seconds(kind):
    """100 disjoint pairs that differ, which have 2**100 maximal sets; and a random half of all pairs."""
    order = [f"model {k}" for k in range(200)]
    rng = np.random.default_rng(2)
    pairs = {frozenset(order[k : k + 2]) for k in range(0, 200, 2)}
    apart = pairs if kind == "pairs" else random_pairs(rng, order, 0.5)
    start = time.process_time()
    ties = sets_of_ties(order, apart)
    assert time.process_time() - start < SECONDS
    letters = letters_of(order, ties)
    assert set(letters) == set(order)
    assert all(letters.values())
    member = np.array([[name in set(tied) for tied in ties] for name in order], dtype=float)
    alike = np.array([[frozenset((a, b)) not in apart for b in order] for a in order])
    assert np.array_equal(member @ member.T > 0, alike)


def test_a_comparison_of_two_hundred_representations_ends():
    """Dense scores: neighbours share a letter, and the best and the worst do not."""
    rng = np.random.default_rng(3)
    plan = Parts(Evidence(np.arange(40.0), np.arange(40.0)), n_units=40, n_out=20, seed=0)
    scores = {f"model {k}": 1 - k / 200 for k in range(200)}
    found = {
        name: PartScores(plan, Score(score), tuple(score + rng.normal(0, 0.05, size=24)), (), ())
        for name, score in scores.items()
    }
    start = time.process_time()
    comparison = comparison_of_parts("mcc", found, 0.95)
    assert time.process_time() - start < SECONDS
    best, second, worst = (set(comparison.letters[f"model {k}"]) for k in (0, 1, 199))
    assert best & second
    assert not best & worst
