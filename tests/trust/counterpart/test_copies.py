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
