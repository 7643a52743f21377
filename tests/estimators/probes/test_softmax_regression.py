"""The solver of both logistic probes, compared with finite differences and scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from unweave.estimators import Logistic
from unweave.estimators import logistic as softmax_regression
from unweave.estimators.logistic import SoftmaxLoss, by_gradients, by_newton


def noisy_classes(n_rows=2000, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_labels, n_rows)
    return labels[:, None] * [1.0, 0.0, -0.5] + rng.normal(size=(n_rows, 3)), labels


def loss_of(columns, labels, penalty):
    design = np.vstack([np.ones(len(columns)), columns.T])
    return SoftmaxLoss(design, labels, penalty * np.array([0.0, 1.0, 1.0, 1.0]))


def test_slope_and_newton_step_are_derivatives():
    loss = loss_of(*noisy_classes(50), 0.1)
    weights = np.random.default_rng(1).normal(size=(4, 4))

    def slope_at(point):
        return loss.slope(point.reshape(4, 4), loss.at(point.reshape(4, 4))[1]).ravel()

    slope = slope_at(weights.ravel())
    assert slope == pytest.approx(approx_fprime(weights.ravel(), lambda p: loss.at(p.reshape(4, 4))[0]), abs=1e-6)
    step = loss.newton_step(slope.reshape(4, 4), loss.at(weights)[1])
    assert approx_fprime(weights.ravel(), slope_at) @ step.ravel() == pytest.approx(slope, abs=1e-5)


def test_both_methods_find_the_optimum_that_scikit_learn_finds(monkeypatch):
    columns, labels = noisy_classes()
    loss = loss_of(columns, labels, 1e-4)
    theirs = LogisticRegression(C=1 / (1e-4 * len(labels)), tol=1e-8, max_iter=2000).fit(columns, labels)
    least = loss.at(np.column_stack([theirs.intercept_, theirs.coef_]))[0]
    start = np.zeros((4, 4))
    assert loss.at(by_newton(loss, start))[0] == pytest.approx(least, abs=1e-3)
    assert loss.at(by_gradients(loss, start, 1e-7, 2000))[0] == pytest.approx(least, abs=1e-9)
    monkeypatch.setattr(softmax_regression, "GOOD_ENOUGH", 1e-12)
    assert loss.at(by_newton(loss, start))[0] == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_probe_without_whitening_is_that_of_scikit_learn(n_labels):
    columns, labels = noisy_classes(n_labels=n_labels)
    ours = Logistic(strength=1.0, whiten=False).fit(columns, labels).log_probabilities(columns)
    theirs = LogisticRegression().fit(columns, labels).predict_log_proba(columns)
    assert (
        pytest.approx(theirs, abs=1e-6 if n_labels > 2 else 2e-3) == ours.T
    )  # for two labels scikit-learn fits one set of weights


def test_probe_keeps_the_names_of_labels_and_bears_dead_codes():
    columns, labels = noisy_classes(n_labels=2)
    fitted = Logistic().fit(np.column_stack([columns, np.ones(2000)]), 3 + 4 * labels)
    assert set(fitted.predict(np.column_stack([columns, np.ones(2000)]))) == {3, 7}
    nothing = Logistic().fit(np.ones((2000, 2)), labels).log_probabilities(np.ones((1, 2)))
    assert np.exp(nothing[:, 0]) == pytest.approx(np.bincount(labels) / 2000, abs=1e-3)
