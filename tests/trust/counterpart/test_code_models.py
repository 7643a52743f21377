"""Models of codes: which are fitted to few rows, and what they do with columns that never vary."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.counterpart.code_models import _Errors, code_models, out_of_fold

RNG = np.random.default_rng(0)
FOLDS = [np.arange(k, 30, 3) for k in range(3)]


@pytest.mark.parametrize("value", [0.0, 5.0, -5.0, -1e9])
def test_a_column_that_never_varies_changes_nothing(value):
    column, targets = RNG.normal(size=(30, 1)), RNG.normal(size=(30, 2))
    alone, weights = out_of_fold(column, targets, FOLDS, 1e-3)
    found, others = out_of_fold(np.column_stack([column, np.full(30, value)]), targets, FOLDS, 1e-3)
    assert found == pytest.approx(alone)
    assert others[:2] == pytest.approx(weights)
    assert others[2] == pytest.approx(np.zeros(2), abs=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "fitted"),
    [(35, {0, 1, 3}), (36, {0, 1, 2, 3}), (44, {0, 1, 2, 3}), (45, {0, 1, 2, 3, 4}), (54, {0, 1, 2, 3, 4, 5})],
)
def test_a_joint_model_needs_three_rows_for_a_column(n_rows, fitted):
    """With three numeric factors the models have 3, 9, 12, 3, 15 and 18 columns."""
    factors = RNG.normal(size=(n_rows, 3))
    assert set(code_models(Evidence(factors, factors + RNG.normal(size=factors.shape))).weights) == fitted


def test_explained_shares_are_relative_to_the_variance_of_the_scores():
    """Two models, three rows and four codes; the mean squares of the scores are 1, 4, 1 and 0."""
    scores = np.array([[1.0, 2.0, 1.0, 0.0], [-1.0, -2.0, 1.0, 0.0], [1.0, 2.0, -1.0, 0.0]])
    squares = np.stack([np.full((3, 4), [0.25, 1.0, 2.0, 0.0]), np.array([[0.0] * 4, [0.0] * 4, [3.0] * 3 + [0.0]])])
    found = _Errors(scores, squares, 1).explained()
    assert found.tolist() == [[0.75, 0.75, -1.0, 1.0], [0.0, 0.75, 0.0, 1.0]]
