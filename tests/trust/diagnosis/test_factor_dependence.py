"""Dependence of two factors: p-values stay probabilities after corrections."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators.correlation import curvature
from unweave.responses.factor_bases import factor_view
from unweave.trust.data_health import _kind, _Measured, _measured_dependence


def test_p_values_of_two_curvatures_are_at_most_one():
    """Twice the smaller p-value of two exceeds 1 for a quarter of independent pairs."""
    factors = np.random.default_rng(0).normal(size=(60, 7))
    views = [factor_view(Evidence(factors), j) for j in range(7)]
    found = np.array(
        [_measured_dependence(left, right).p_values for k, left in enumerate(views) for right in views[:k]]
    )
    assert found.shape == (21, 3)
    assert ((found >= 0) & (found <= 1)).all()
    assert 1 <= (found[:, 2] == 1).sum() <= 12


@pytest.mark.parametrize(
    ("numbers", "p_values", "kind"),
    [
        # correlation, strength, added share; p-values of any, of linear and of curved dependence
        ((0.5, 0.5, 0.0), (0.01, 0.01, 1.0), "linear"),
        ((0.5, 0.5, 0.0), (0.011, 0.01, 1.0), "independent"),
        ((0.049, 0.049, 0.0), (0.0, 0.0, 1.0), "independent"),
        ((-0.05, 0.0, 0.0), (0.0, 0.0, 1.0), "linear"),
        ((0.0, 0.05, 0.0), (0.0, 0.0, 1.0), "linear"),
        ((np.nan, 0.05, np.nan), (0.0, np.nan, np.nan), "associated"),
        ((np.nan, 0.04, np.nan), (0.0, np.nan, np.nan), "independent"),
        ((0.5, 0.5, 0.03), (0.0, 0.0, 0.01), "nonlinear"),
        ((0.5, 0.5, 0.029), (0.0, 0.0, 0.01), "linear"),
        ((0.5, 0.5, 0.03), (0.0, 0.0, 0.011), "linear"),
        ((0.5, 0.5, 0.0), (0.0, 0.011, 1.0), "nonlinear"),
    ],
)
def test_the_kind_of_a_dependence_follows_from_its_size_and_its_p_values(numbers, p_values, kind):
    assert _kind(_Measured(*numbers, p_values), *p_values) == kind


@pytest.mark.parametrize(("n_left", "n_right"), [(3, 40), (40, 3), (3, 3)])
def test_the_factor_with_fewer_values_predicts_the_other(n_left, n_right):
    """The first factor bends the second: only functions of it explain more than a line does."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, n_left, 200).astype(float)
    y = np.clip(np.abs(x - x.mean()) * n_right / n_left + rng.integers(0, 2, 200), 0, n_right - 1).round()
    left, right = (factor_view(Evidence(np.column_stack([x, y]), kinds="ordinal"), j) for j in range(2))
    found = _measured_dependence(left, right)
    there, back = curvature(left.scores, left.basis, right.scores), curvature(right.scores, right.basis, left.scores)
    used = [
        each
        for each, applies in ((there, left.n_values <= right.n_values), (back, right.n_values <= left.n_values))
        if applies
    ]
    assert found.added == pytest.approx(max(share for share, _ in used))
    assert found.p_values[2] == pytest.approx(min(1.0, len(used) * min(p for _, p in used)))
