"""How scores change over the steps, the error of modelled codes, and the changes that it makes doubtful."""

import math

import numpy as np
import pytest
from made_up_metrics import made_up

from unweave import Evidence
from unweave.metrics import mcc
from unweave.score import Score
from unweave.trust.effects import MISFIT, Change, CheckStep, Effects, Steps, _mean_over

Z, NOISE = np.random.default_rng(0).normal(size=(2, 200, 2))
EXACT, MADE = (Evidence(Z, Z),), (Evidence(Z, Z + NOISE),)
UNDEFINED = 99.0


@made_up(bounds=(0.0, 2.0), measures="explicitness")
def first_code(evidence):
    """The first code of the first row, so that data can have any score."""
    value = float(evidence.codes[0, 0])
    return Score(math.nan if value == UNDEFINED else value)


@made_up(bounds=(0.0, 2.0))
def other_first_code(evidence):
    """The same of a metric that does not measure explicitness."""
    return Score(float(evidence.codes[0, 0]))


def scoring(*values, n_rows=4, names=("a", "b")):
    """Data with these scores."""
    factors = np.random.default_rng(1).normal(size=(n_rows, len(names)))
    codes = [np.column_stack([np.r_[value, np.arange(1.0, n_rows)], np.arange(n_rows) % 3]) for value in values]
    return tuple(Evidence(factors, code, factor_names=names) for code in codes)


def score(value, **options):
    return Score(value, bounds=(0.0, 2.0), best=2.0, **options)


@pytest.mark.parametrize(
    ("modelled", "compared"), [((True, True), True), ((True, False), True), ((False, True), True), ((False,), False)]
)
def test_models_of_codes_are_compared_with_the_codes_if_any_step_uses_them(modelled, compared):
    steps = tuple(CheckStep("dependence", EXACT, MADE, each) for each in modelled)
    found = Steps(steps, real=EXACT, control=MADE).on(mcc, mcc(EXACT[0]))
    exact = mcc(MADE[0]).value - 1
    assert exact < -0.1
    assert found.misfit == pytest.approx(exact if compared else 0.0)
    assert [change.moved for change in found.changes] == pytest.approx([exact] * len(modelled))
    # a change is doubted if it relies on the models and is no larger than their error
    assert [found.doubted(change) for change in found.changes] == list(modelled)


@pytest.mark.parametrize(
    ("misfit", "moved", "modelled", "doubted"),
    [
        (MISFIT, 0.05, True, False),
        (0.125, 0.05, True, True),
        (-0.125, 0.125, True, True),
        (0.125, -0.125, True, True),
        (0.125, 0.25, True, False),
        (0.125, 0.05, False, False),
    ],
)
def test_a_change_up_to_the_error_of_the_models_is_doubted(misfit, moved, modelled, doubted):
    change = Change("dependence", 0.0, moved, modelled)
    found = Effects((change,), misfit)
    assert found.doubted(change) is doubted
    assert found.believed == (() if doubted else (change,))
    assert found.elsewhere(score(1.0)) == (1.0 if doubted else 1.0 + moved)


@pytest.mark.parametrize(("value", "elsewhere"), [(0.5, 1.0), (1.75, 2.0)])
def test_changes_add_up_within_the_bounds(value, elsewhere):
    changes = (Change("dependence", 0.25, 1.0), Change("number of codes", 1.0, 0.75))
    assert Effects(changes).elsewhere(score(value)) == elsewhere


def test_the_error_of_the_models_is_relative_to_the_range():
    """Scores between 0 and 2 that differ by .5: a mean of 1.25 of two draws, and 1.75 in reality."""
    (observed,), (real,) = scoring(0.5), scoring(1.75)
    steps = Steps(
        (CheckStep("dependence", (observed,), scoring(1.0, 1.5), modelled=True),),
        real=(real,),
        control=scoring(1.0, 1.5),
        observed=observed,
    )
    found = steps.on(first_code, score(0.75))
    # the score of the observed data is known, and is not computed again
    assert found == Effects((Change("dependence", 0.75, 1.25, True),), misfit=-0.25)


def test_means_of_draws_are_clipped_after_averaging():
    steps = Steps((CheckStep("dependence", scoring(-1.0, 2.0), scoring(3.0, 2.5)),))
    assert steps.on(first_code, score(1.0)).changes == (Change("dependence", 0.5, 2.0),)


@pytest.mark.parametrize(
    ("after", "before", "of_mean"),
    [
        (1.75, 1.25, 1.25),  # a rise counts
        (1.0, 1.0, 1.25),  # a fall down to the mean of the other factors does not
        (0.5, 0.75, 1.25),  # and a fall beyond does
    ],
)
def test_redundant_factors_may_raise_a_mean_over_factors(after, before, of_mean):
    """The score is 1.25, and .75 without the redundant factor."""
    (here,) = scoring(1.25)
    step = CheckStep("redundant factors", (here,), scoring(after, names=("b",)))
    mean = score(1.25, per_factor={"a": 1.75, "b": 0.75})
    assert Steps((step,), observed=here).on(first_code, mean).changes == (Change("redundant factors", before, after),)
    no_mean = score(1.25)
    assert Steps((step,), observed=here).on(first_code, no_mean).changes == (
        Change("redundant factors", of_mean, after),
    )


@pytest.mark.parametrize(
    ("raw", "per_factor", "expected"),
    [
        (0.5, {"a": 0.25, "b": 0.75, "c": 0.5}, 0.625),
        (0.5, {}, math.inf),
        (0.5, {"a": 0.5, "b": math.nan, "c": 0.5}, math.inf),
        (0.75, {"a": 0.25, "b": 0.75, "c": 0.5}, math.inf),
        (-0.5, {"a": 0.25, "b": 0.75, "c": 0.5}, math.inf),
        (1e-6, {"a": 0.0, "b": 0.0, "c": 0.0}, 0.0),
        (1.1e-6, {"a": 0.0, "b": 0.0, "c": 0.0}, math.inf),
    ],
)
def test_only_a_score_that_is_a_mean_over_factors_has_a_mean_over_some(raw, per_factor, expected):
    assert _mean_over(Score(raw, per_factor=per_factor), ("b", "c")) == expected


@pytest.mark.parametrize(
    ("metric", "each_told", "after"),
    [(first_code, False, 1.0), (first_code, True, 0.5), (other_first_code, False, 0.5)],
)
def test_all_codes_may_be_needed_for_explicitness(metric, each_told, after):
    step = CheckStep("number of codes", scoring(1.0), scoring(0.5))
    found = Steps((step,), each_told=each_told).on(metric, score(1.0))
    assert found.changes == (Change("number of codes", 1.0, after),)
    more = CheckStep("number of codes", scoring(1.0), scoring(1.5))
    assert Steps((more,)).on(metric, score(1.0)).changes == (Change("number of codes", 1.0, 1.5),)
    other = CheckStep("dependence", scoring(1.0), scoring(0.5))
    assert Steps((other,), each_told=each_told).on(metric, score(1.0)).changes == (Change("dependence", 1.0, 0.5),)


@pytest.mark.parametrize(
    ("moved", "halves", "expected"),
    [
        (
            0.125,
            (0.75, 1.0),
            1 + 0.125 / (math.sqrt(8) - 2),
        ),
        (0.125, (1.25, 1.0), 1 - 0.125 / (math.sqrt(8) - 2)),
        (0.25, (0.0, 0.0), 2.0),
        (0.5, (0.75, 1.0), None),
        (-0.5, (0.75, 1.0), None),
        (0.0, (1.0, 1.0), None),
        (0.25, (UNDEFINED, 1.0), None),
    ],
)
def test_more_rows_go_on_as_the_second_half_did_unless_the_models_change_more(moved, halves, expected):
    """At 250 rows, a score of 1 whose error falls as one over the square root of the rows; 1,000 rows are enough.

    From 125 to 250 rows the error falls by sqrt(8) - 2, and from 250 to 1,000 rows by 1, in units of 1 / sqrt(1000).
    """
    step = CheckStep("number of rows", scoring(1.0), scoring(1.0 + moved), modelled=True)
    real = scoring(1.0, n_rows=250)
    steps = Steps((step,), real=real, control=real, halves=scoring(*halves))
    (change,) = steps.on(first_code, score(1.0)).changes
    if expected is None:
        assert change == Change("number of rows", 1.0, 1.0 + moved, True)
    else:
        assert (change.before, change.after, change.modelled) == (1.0, pytest.approx(expected), False)


def test_only_codes_that_collapsed_have_a_score_without_them():
    assert Steps((), without_collapsed=scoring(0.25)).of_live_codes(first_code, score(1.0)) == 0.25
    assert math.isnan(Steps(()).of_live_codes(first_code, score(1.0)))


@pytest.mark.parametrize("modelled", [False, True])
def test_data_that_a_metric_needs_are_listed_once_and_without_what_is_known(modelled):
    (observed,) = scoring(1.0)
    (same,), (other_codes,), (other_factors,), (fewer,) = (
        scoring(1.0), scoring(2.0), scoring(1.0, names=("a", "c")), scoring(1.0, names=("b",)),
    )  # fmt: skip
    before, after, control, halves, lighter, real = (scoring(value)[0] for value in (3.0, 4.0, 5.0, 6.0, 7.0, 8.0))
    steps = Steps(
        (
            CheckStep("redundant factors", (other_codes,), (fewer,)),
            CheckStep("dependence", (before, same), (after, after), modelled),
            CheckStep("number of codes", (before,), (other_factors,)),
        ),
        real=(real,),
        control=(control,),
        without_collapsed=(lighter,),
        halves=(halves,),
        observed=observed,
    )
    needed = [control, lighter, halves, fewer, after, other_factors, before, *([real] if modelled else [])]
    assert list(map(id, steps.evidences)) == list(map(id, needed))
    assert len(Steps(steps.steps[2:]).evidences) == 2  # without observed data, nothing is known


def test_rows_with_the_same_codes_and_other_factors_are_not_the_observed_ones():
    (observed,) = scoring(1.0)
    moved = Evidence(observed.factors + 1.0, observed.codes, factor_names=("a", "b"))
    renamed = Evidence(observed.factors, observed.codes, factor_names=("a", "b"), code_names=("x", "y"))
    steps = Steps((CheckStep("dependence", (moved,), (renamed,)),), observed=observed)
    assert steps.evidences == (renamed, moved)
    assert steps.on(first_code, score(0.5)).changes == (Change("dependence", 1.0, 1.0),)
