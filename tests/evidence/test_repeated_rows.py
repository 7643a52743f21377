"""Rows that are repeated are recognised if they cannot be equal by chance, on both sides of every limit."""

import numpy as np
import pytest

from unweave.evidence.splits import same_rows


def repeated(n_distinct, n_rows, n_values=None):
    """Factors that differ between the distinct rows, and a code with so many values that are not integers."""
    row = np.arange(n_rows) % n_distinct
    code = row % (n_values or n_distinct) + 0.5
    return row[:, None].astype(float), np.column_stack([np.zeros(n_rows), code])


@pytest.mark.parametrize(
    ("n_distinct", "n_rows", "n_values", "found"),
    [
        (15, 30, None, True),
        (14, 29, None, False),  # fewer than 30 rows
        (10, 40, None, True),
        (9, 36, None, False),  # fewer than 10 values
        (90, 100, None, True),
        (91, 100, None, False),  # fewer than a tenth of the rows repeat another one
        (20, 60, 18, True),
        (20, 60, 17, False),  # the code has fewer than nine tenths as many values as there are rows
        (95, 100, 87, False),  # the code repeats its values, and the rows do not
    ],
)
def test_limits(n_distinct, n_rows, n_values, found):
    same = same_rows(*repeated(n_distinct, n_rows, n_values))
    if found:
        np.testing.assert_array_equal(same, np.arange(n_rows) % n_distinct)
    else:
        assert same is None


def test_codes_that_are_integers_may_be_equal_by_chance():
    factors, codes = repeated(20, 60)
    assert same_rows(factors, codes + 0.5) is None
    assert same_rows(factors, codes / 2 + 0.25) is not None  # every second value is an integer


def test_both_sides_are_needed():
    factors, codes = repeated(20, 60)
    assert same_rows(factors[:, :0], codes) is None
    assert same_rows(factors, codes[:, :0]) is None
