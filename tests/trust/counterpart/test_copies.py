"""One of several codes that are copies of each other is kept, in any order of columns."""

import numpy as np
import pytest

from unweave.trust.counterpart import distinct_codes

A, B, C = np.random.default_rng(0).normal(size=(3, 300))


@pytest.mark.parametrize(
    ("columns", "left"),
    [([A, A, B], [0, 2]), ([A, B, A], [0, 1]), ([A, -A, A], [0]), ([A, B, C], [0, 1, 2]), ([A, A + 0.3 * B], [0, 1])],
)
def test_the_first_of_copies_is_left(columns, left):
    assert distinct_codes(np.column_stack(columns), np.arange(len(columns))).tolist() == left


def test_codes_that_differ_for_other_factors_are_no_copies():
    """Signals are the codes where the factors do not go together; a constant signal is no copy of anything."""
    observed, elsewhere = np.column_stack([A, A, A, A]), np.column_stack([A, B, -A, np.ones(300)])
    assert distinct_codes(observed, np.arange(4), elsewhere).tolist() == [0, 1, 3]
