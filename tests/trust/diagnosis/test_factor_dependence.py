"""Dependence of two factors: p-values stay probabilities after corrections."""

import numpy as np

from unweave import Evidence
from unweave.responses.factor_views import factor_view
from unweave.trust.diagnosis.factor_dependence import _measured


def test_p_values_of_two_curvatures_are_at_most_one():
    """Twice the smaller p-value of two exceeds 1 for a quarter of independent pairs."""
    factors = np.random.default_rng(0).normal(size=(60, 7))
    views = [factor_view(Evidence(factors), j) for j in range(7)]
    found = np.array([_measured(left, right).p_values for k, left in enumerate(views) for right in views[:k]])
    assert found.shape == (21, 3)
    assert ((found >= 0) & (found <= 1)).all()
    assert 1 <= (found[:, 2] == 1).sum() <= 12
