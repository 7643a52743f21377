"""Functions of factors that are used in models of codes."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.code_models import JOINT_MODELS, Places, _steps, factor_design

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


@pytest.mark.parametrize(("n_rows", "n_steps"), [(59, 0), (60, 4), (74, 4), (75, 5), (299, 19), (300, 20), (400, 20)])
def test_steps_have_equally_many_rows(n_rows, n_steps):
    found = _steps(RNG.permutation(n_rows).astype(float), n_rows)
    assert found.shape == (n_rows, max(n_steps - 1, 0))
    sizes = [*found.sum(axis=0), n_rows - found.sum()] if n_steps else [0]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("n_values", "in_steps"), [(20, True), (21, False)])
def test_few_values_are_steps(n_values, in_steps):
    evidence = Evidence({"x": np.arange(100.0) % n_values}, kinds="continuous")
    design = factor_design(evidence, 0)
    assert design.in_steps is in_steps
    if in_steps:
        assert design.plain.ravel().tolist() == evidence.factors.ravel().tolist()
        assert design.smooth.shape == (100, 19)


@pytest.mark.parametrize(("n_rows", "n_knots"), [(80, 3), (159, 3), (160, 4), (319, 7), (320, 8), (400, 8)])
def test_smooth_functions_have_a_knot_for_forty_rows_and_three_to_eight(n_rows, n_knots):
    design = factor_design(Evidence({"x": X[:n_rows]}), 0)
    assert design.flexible.shape[1] == 3 + n_knots + _steps(X[:n_rows], n_rows).shape[1]
    assert design.smooth.shape[1] == 3 + (n_knots + 1) // 2


@pytest.mark.parametrize("model", JOINT_MODELS)
def test_the_columns_of_a_model_are_functions_of_the_factors_that_it_says(model):
    """A column changes if and only if a factor that it belongs to takes other values."""
    belongs = model.factors_of_columns(DESIGNS)
    before = model.columns(DESIGNS)
    for j in range(3):
        moved = [
            design.at(Places.at_rows(np.arange(N)[::-1])) if k == j else design for k, design in enumerate(DESIGNS)
        ]
        assert ((model.columns(moved) != before).any(axis=0) == belongs[:, j]).all()
