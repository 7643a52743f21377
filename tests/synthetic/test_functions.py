"""Values of all named functions, computed again with the functions of `math`."""

import math

import numpy as np
import pytest

from unweave.synthetic.encoders import MONOTONE, ONE_FACTOR, RELEASED, TWO_FACTORS, in_turn

POINTS = (-1.3, -0.4, 0.2, 1.7)


def signed(size, x):
    return math.copysign(size, x)


@pytest.mark.parametrize("x", POINTS)
def test_functions_of_one_factor(x):
    expected = {"cube": x * x * x, "tanh": math.tanh(2 * x * x * x - 0.1), "sign": signed(1, x), "square": x * x}
    expected |= {"absolute": abs(x), "rectified": max(x, 0.0), "sine": math.sin(x + x + x)}
    assert {name: function(np.array(x)) for name, function in ONE_FACTOR.items()} == pytest.approx(expected)


@pytest.mark.parametrize("y", POINTS)
@pytest.mark.parametrize("x", POINTS)
def test_functions_of_two_factors(x, y):
    expected = {"product": x * y, "sum": x + y, "sum_of_squares": x * x + y * y}
    expected |= {"tanh_product": math.tanh(x) * math.tanh(y), "signed_root": signed(math.sqrt(abs(x * y)), x * y)}
    assert {name: function(np.array(x), np.array(y)) for name, function in TWO_FACTORS.items()} == pytest.approx(
        expected
    )


@pytest.mark.parametrize("x", POINTS)
def test_increasing_functions(x):
    expected = {"cube": x * x * x, "signed_root": signed(math.sqrt(abs(x)), x), "exp": math.exp(x)}
    expected |= {"asinh": math.asinh(x)}
    assert {name: function(np.array(x)) for name, function in MONOTONE.items()} == pytest.approx(expected)


@pytest.mark.parametrize("x", POINTS)
def test_functions_of_the_released_code(x):
    cube = x * x * x
    expected = [math.tanh(2 * cube - 0.1), math.sinh(2 * cube + 0.1), signed(math.sqrt(abs(x)), x), cube]
    expected += [cube * x * x, math.exp(x), signed(math.log(1 + abs(3 * x + 1)), x)]
    assert in_turn(RELEASED, np.full((1, 9), x))[0].tolist() == pytest.approx(expected + expected[:2])
