"""Functions of factors that are used in models of codes."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.counterpart.factor_designs import JOINT_MODELS, factor_design

N = 400
RNG = np.random.default_rng(0)
ANGLE, X, LABEL = RNG.uniform(0, 360, N), RNG.normal(size=N), RNG.integers(0, 4, N)
EVIDENCE = Evidence(
    {"angle": ANGLE, "x": X, "label": LABEL},
    X,
    kinds={"angle": "circular:360", "x": "continuous", "label": "categorical"},
)
DESIGNS = [factor_design(EVIDENCE, j) for j in range(3)]


def test_a_turn_is_a_period():
    angle = np.radians(ANGLE)
    np.testing.assert_allclose(DESIGNS[0].plain, np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-12)
    in_turns = Evidence({"angle": ANGLE / 360}, X, kinds={"angle": "circular:1"})
    np.testing.assert_allclose(factor_design(in_turns, 0).smooth, DESIGNS[0].smooth, atol=1e-9)


@pytest.mark.parametrize("model", JOINT_MODELS)
def test_a_model_is_as_wide_as_it_says(model):
    assert model.columns(DESIGNS).shape == (N, model.width(DESIGNS))


def test_products_of_every_two_factors_are_in_the_models_that_have_products():
    product = X * (LABEL == 2)
    for model in JOINT_MODELS:
        design = np.column_stack([np.ones(N), model.columns(DESIGNS)])
        left = product - design @ np.linalg.lstsq(design, product, rcond=None)[0]
        assert (np.square(left).mean() < 0.05 * product.var()) == (model.products is not None)
