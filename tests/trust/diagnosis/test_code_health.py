"""Models of codes: every kernel has a diagonal of 1, so that ridge penalties are comparable."""

import numpy as np
import pytest

from unweave.trust.diagnosis.code_health import _leaders, _models


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
