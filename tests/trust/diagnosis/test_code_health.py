"""Models of codes: every kernel has a diagonal of 1, so that ridge penalties are comparable."""

import numpy as np
import pytest

from unweave.trust.data_health import _leaders, _models, _squared_distances, copies, kurtosis


@pytest.mark.parametrize("n_factors", [1, 2, 5])
def test_kernels_have_a_diagonal_of_one(n_factors):
    rng = np.random.default_rng(0)
    linear, *others = (kernel for kernel, _ in _models([rng.normal(size=(60, 1)) for _ in range(n_factors)]))
    assert linear.diagonal().mean() == pytest.approx(1, abs=0.5)
    for kernel in others:
        np.testing.assert_allclose(kernel.diagonal(), 1, atol=1e-6)
        assert np.linalg.eigvalsh(kernel).min() > -1e-6


def test_copies_follow_the_first_code_and_constants_follow_none():
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    assert _leaders(np.column_stack([x, np.ones(50), y, -x, np.zeros(50), y**3])).tolist() == [0, 1, 2, 0, 4, 2]


def test_groups_of_two_codes_are_copies_and_two_codes_may_be():
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    assert copies(np.column_stack([x, x + 1e-4 * y])) == ((0, 1),)
    assert copies(np.column_stack([x, y])) == ()
    assert copies(np.column_stack([x, y, y**3, x + 1e-4 * y, -y])) == ((0, 3), (1, 2, 4))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e200])
def test_kurtosis_does_not_depend_on_the_scale(scale):
    codes = scale * np.array([[3.0, -1.0, 5.0], [-1.0, -1.0, 5.0], [-1.0, -9.0, 5.0], [-1.0, -1.0, 5.0]])
    assert kurtosis(codes) == pytest.approx([7 / 3, 7 / 3, np.nan], nan_ok=True)
    assert kurtosis(np.zeros((4, 1))) == pytest.approx([np.nan], nan_ok=True)


def test_distances_are_those_between_rows():
    places = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    assert _squared_distances(places) == pytest.approx(np.array([[0, 25, 1], [25, 0, 20], [1, 20, 0]]))
