"""Classifiers that use one code, by votes of neighbours."""

import numpy as np

from unweave.estimators import Neighbourhood


def test_a_class_of_one_row_outweighs_part_of_a_large_one():
    """Fourteen of fifteen neighbours belong to a class of twenty and together weigh 14/20; the other one weighs 1."""
    code, labels = np.arange(21.0)[:, None], np.zeros(21, dtype=int)
    labels[10] = 1
    assert Neighbourhood().predictions(code, labels, code[10:11], 0).tolist() == [[1]]
    assert Neighbourhood(k=5).predictions(code, labels, code[:1], 0).tolist() == [[0]]


def test_a_label_that_only_others_have_takes_no_vote():
    code, labels = np.arange(6.0)[:, None], np.array([0, 0, 0, 2, 2, 2])
    assert Neighbourhood(k=3).predictions(code, labels, code, 0)[:, 0].tolist() == [0, 0, 0, 2, 2, 2]
