"""Information about several targets by the chain rule, with stub estimators whose values a test prescribes."""

from dataclasses import dataclass

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import Histogram
from unweave.metrics import factors_invariance
from unweave.metrics.infomec import split
from unweave.metrics.minimal_sufficient import chained_information, nuisance_targets

ROWS = np.arange(4)


@dataclass(frozen=True)
class ByWidth:
    """Stub estimator whose information depends only on the number of columns."""

    told: tuple[float, ...]

    def joint_information(self, columns, labels, train, test):
        return self.told[columns.shape[1]]


def chained(*told, n_targets):
    column = np.zeros((4, 1))
    targets = [(np.zeros(4, dtype=np.intp), column)] * n_targets
    return chained_information(column, np.empty((4, 0)), targets, ByWidth(told), ROWS, ROWS)


def test_every_target_adds_what_it_tells_beyond_those_before():
    assert chained(0.0, 0.3, 0.5, n_targets=1) == pytest.approx(0.3)
    assert chained(0.0, 0.3, 0.5, n_targets=2) == pytest.approx(0.3 + (0.5 - 0.3))


def test_an_estimate_that_falls_with_more_columns_takes_nothing_away():
    """Held-out estimates may decrease with more columns, although mutual information cannot."""
    assert chained(0.0, 0.3, 0.1, n_targets=2) == pytest.approx(0.3)
    assert chained(0.0, -0.2, 0.1, n_targets=1) == 0.0


@pytest.mark.parametrize(
    ("test_share", "most_rows", "n_train", "n_test", "is_sampled"),
    [
        (0.25, 100, 75, 25, False),
        (0.25, 99, 74, 25, True),
        (0.25, 40, 30, 10, True),
        (0.9, 100, 50, 50, False),  # at least two folds
        (0.0, None, 100, 0, False),
        (0.0, 60, 60, 0, True),
    ],
)
def test_rows_are_split_and_sampled_as_the_estimator_plans(test_share, most_rows, n_train, n_test, is_sampled):
    evidence = Evidence(np.arange(100.0), np.arange(100.0)[:, None])
    train, test, caveats = split(evidence, Planned(test_share, most_rows), seed=0)
    assert (train.size, test.size) == (n_train, n_test)
    assert not set(train) & set(test)
    assert [(caveat.kind, caveat.quantities["n_rows"], caveat.quantities["of"]) for caveat in caveats] == (
        [("classifiers_sampled_rows", most_rows, 100)] if is_sampled else []
    )
    assert (np.diff(train) > 0).all() or not is_sampled


@dataclass(frozen=True)
class Planned:
    """Stub estimator that states which rows it uses."""

    test_share: float
    most_rows: int | None

    def row_plan(self):
        return self.test_share, self.most_rows


def test_nuisances_with_ten_levels_have_indicators_and_those_with_more_are_numbers():
    rows = np.arange(110)
    nuisances = np.column_stack([rows % 10, rows % 11, np.full(110, 3), rows % 2])
    evidence = Evidence(rows / 7, rows[:, None] / 7, nuisances=nuisances)
    (ten, tens), (_, eleven), (_, two) = nuisance_targets(evidence, Histogram(5))
    assert (tens.shape, eleven.shape, two.shape) == ((110, 10), (110, 1), (110, 2))
    assert np.unique(ten).size == 10  # levels are no bins
    np.testing.assert_array_equal(tens.argmax(axis=1), rows % 10)
    np.testing.assert_array_equal(eleven[:, 0], rows % 11)


@pytest.mark.parametrize("most_units", [1, 2, 3])
def test_as_many_codes_as_asked_for_are_scored(most_units):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(60, 2))
    codes = np.column_stack([factors, np.ones(60), factors.sum(axis=1)])  # three codes vary
    score = factors_invariance(factors, codes, most_units=most_units)
    assert np.isfinite(list(score.per_code.values())).sum() == most_units
    assert [caveat.quantities for caveat in score.caveats if caveat.kind == "codes_sampled"] == (
        [{"n_codes": most_units, "of": 4}] if most_units < 3 else []
    )
