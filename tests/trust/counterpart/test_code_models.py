"""Models of codes: which are fitted to few rows, which is chosen, and what columns that never vary do."""

from dataclasses import replace

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.code_models import _Errors, _owners, code_models, out_of_fold

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


def test_the_first_joint_model_within_a_standard_error_of_the_best_is_chosen():
    """One model of a single factor and three joint models of two rows; the columns are codes.

    More squared error than the best of (0, 1), (0, 2) or (0, 3) has a mean that is its standard deviation, which is
    sqrt(2) standard errors; more error of (1, 3) has a mean of 2 and a standard deviation of 1, and (-1, 2) has a mean
    of .5 and a standard deviation of 1.5.
    """
    best, half, far = [1.0, 1.0], [0.0, 3.0], [2.0, 4.0]
    codes = [
        (best, far, half, best),  # the second is within a standard error of the best, which is no joint model
        (far, far, far, best),
        (far, best, best, best),
        (best, [2.0, 3.0], far, far),  # no joint model is as good, and the first has the least error
        (best, far, [2.0, 3.0], far),
    ]
    errors = _Errors(np.ones((2, 5)), np.array(codes).transpose(1, 2, 0), 1)
    assert errors.simplest_joint().tolist() == [1, 2, 0, 0, 1]
    assert errors.best.tolist() == [[1.0] * 5] * 2


def test_predictions_are_those_of_ridge_regressions_without_the_fold():
    columns, targets = RNG.normal(size=(30, 4)) * [1.0, 5.0, 0.1, 1.0] + 2.0, RNG.normal(size=(30, 3))
    used, of = np.array([True, False, True, True]), np.array([True, False, True])
    found, weights = out_of_fold(columns, targets, FOLDS, 0.1, used=used, of=of)
    chosen, wanted = columns[:, used], targets[:, of]
    standard = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    middle = wanted.mean(axis=0)
    for test in FOLDS:
        train = np.setdiff1d(np.arange(30), test)
        slopes = np.linalg.solve(
            standard[train].T @ standard[train] + 3.0 * np.eye(3), standard[train].T @ (wanted - middle)[train]
        )
        assert found[test] == pytest.approx(standard[test] @ slopes + middle)
    slopes = np.linalg.solve(standard.T @ standard + 3.0 * np.eye(3), standard.T @ (wanted - middle))
    assert np.column_stack([np.ones(30), columns]) @ weights == pytest.approx(standard @ slopes + middle)
    assert weights[2].tolist() == [0.0, 0.0]


def test_each_of_several_factors_that_determine_each_other_gets_the_code_that_is_straight_in_it():
    x = RNG.normal(size=40)
    evidence = Evidence({"x": x, "cube": x**3, "other": RNG.normal(size=40)}, np.column_stack([-(x**3), x, x]))
    belongs = np.array([[True, True, False], [True, True, False], [True, True, False]])
    explained = np.array([[0.9, 0.9, 0.0], [0.9, 0.9, 0.0], [0.99, 0.9, 1.0]])
    assert _owners(evidence, belongs, explained).tolist() == [1, 0, 0]
    belongs[1] = False
    assert _owners(evidence, belongs, explained).tolist() == [1, -1, 0]


def test_a_factor_is_followed_if_a_live_code_is_its_own_or_needs_it_beside_others():
    """Codes of x, of 10 y + z, and of y + 10 z: of the second, z has 1 % of the variance."""
    x, y, z = np.linalg.qr(RNG.normal(size=(300, 3)) - 0.01)[0].T * 20
    found = code_models(Evidence({"x": x, "y": y, "z": z}, np.column_stack([x, 10 * y + z, y + 10 * z])))
    owner, no_one = np.array([0, -1, -1]), np.zeros(3, dtype=bool)
    found = replace(found, owner=owner, silent=no_one, model=np.zeros(3, dtype=int), of_codes=~no_one)
    for dead, followed in [((), [True, True, True]), ((0,), [False, True, True]), ((1,), [True, False, True])]:
        gone = np.isin(np.arange(3), dead)
        for models in (replace(found, silent=gone), replace(found, collapsed=gone)):
            assert [models.followed(j) for j in range(3)] == followed
