"""Columns whose first rows do not show what all rows show."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import InputError
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.columns import DenseColumns, within_reach
from unweave.evidence.kinds import inferred_kind
from unweave.evidence.splits import clusters


@pytest.mark.parametrize("n_first", [0, 1, 99, 100, 101, 250, 999])
def test_a_column_that_varies_after_its_first_rows_is_not_constant(n_first):
    column = np.zeros(1000)
    column[n_first:] = np.arange(1000 - n_first)
    assert DenseColumns(column[:, None]).constant.tolist() == [n_first == 999]


def test_columns_without_rows_are_not_constant():
    assert DenseColumns(np.empty((0, 3))).constant.tolist() == [False] * 3


@pytest.mark.parametrize("seed", range(10))
def test_kinds_follow_from_all_values(seed):
    rng = np.random.default_rng(seed)
    column = np.r_[np.zeros(200), rng.integers(int(rng.integers(1, 120)), size=int(rng.integers(0, 2000)))]
    column = column if seed % 2 else column[::-1]
    n_levels = np.unique(column).size
    ordinal = n_levels <= 50 and 5 * n_levels <= column.size
    assert inferred_kind(column, is_text=False) is (FactorKind.ORDINAL if ordinal else FactorKind.CONTINUOUS)


def test_codes_that_are_large_or_small_after_the_first_rows_are_scaled():
    codes = np.ones((500, 2))
    codes[400, 0] = 2.0**600
    assert np.abs(within_reach(codes)).max() <= 2.0**500
    codes = np.zeros((500, 2))
    codes[400:] = 2.0**-300
    assert np.abs(within_reach(codes)).max() >= 2.0**-250
    assert within_reach(np.ones((500, 2))).max() == 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_missing_in_the_last_row_is_refused(bad):
    codes = np.random.default_rng(0).normal(size=(300, 2))
    codes[-1, 1] = bad
    with pytest.raises(InputError, match=r"missing|infinite"):
        Evidence(np.arange(300.0), codes)


def test_subjects_are_found_in_any_order_of_rows():
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(40), 25)
    factors = rng.normal(size=(40, 3)).round(2)[subject]
    for order in (np.arange(1000), rng.permutation(1000)):
        found = clusters(factors[order])
        assert found is not None
        assert found.max() == 39
