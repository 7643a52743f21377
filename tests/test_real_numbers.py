"""A score can be used as a number: in arithmetic on both sides, in comparisons, for rounding and as a key."""

import math
import operator

import pytest

from unweave.arrays import RealNumber

BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
UNARY = (operator.neg, operator.pos, abs, round, math.trunc, math.floor, math.ceil, float, hash, bool)


class Wrapped(RealNumber):
    def __init__(self, number):
        self.number = number

    def __float__(self):
        return self.number


@pytest.mark.parametrize("number", [-2.5, 0.0, 0.4, 3.0])
@pytest.mark.parametrize("other", [0.4, 3.0, -1.5])
@pytest.mark.parametrize("operation", BINARY, ids=lambda each: each.__name__)
def test_two_numbers(operation, number, other):
    if operation is operator.pow and number <= 0:
        pytest.skip("no real power")
    assert operation(Wrapped(number), other) == operation(number, other)
    assert operation(Wrapped(number), Wrapped(other)) == operation(number, other)
    if not (number == 0 and operation in (operator.truediv, operator.floordiv, operator.mod)) and other > 0:
        assert operation(other, Wrapped(number)) == operation(other, number)


@pytest.mark.parametrize("number", [-2.5, -0.4, 0.0, 2.5])
@pytest.mark.parametrize("operation", UNARY, ids=lambda each: each.__name__)
def test_one_number(operation, number):
    assert operation(Wrapped(number)) == operation(number)


def test_digits_of_rounding():
    assert round(Wrapped(0.12345), 3) == 0.123
