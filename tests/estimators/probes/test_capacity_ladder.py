"""Probes of increasing capacity on codes outside the training range."""

import numpy as np
import pytest

from unweave.estimators import LinearThenTrees


def test_a_code_beyond_the_training_range_is_read_as_the_end_of_it():
    """Without clipping, one outlier of a million would dominate the loss."""
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(200, 1)), rng.normal(size=(50, 1))
    far, end = test.copy(), test.copy()
    far[0], end[0] = 1e6, train.max()
    ladder = LinearThenTrees(n_trees=(0, 1, 4))
    found, expected = (ladder.losses(train, train**3, codes, test**3, seed=0) for codes in (far, end))
    assert found == pytest.approx(expected)
