"""Named scalar functions, which constraints and elementwise encoders use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.arrays import FloatArray


@dataclass(frozen=True)
class Function:
    """A function of one or two columns with its formula; ``invertible`` is True if it has an inverse."""

    formula: str
    compute: Callable[..., Any]
    invertible: bool = False

    def __call__(self, *columns: Any) -> Any:
        """Value of the function, elementwise."""
        return self.compute(*columns)


def in_turn(functions: Sequence[Function], columns: FloatArray) -> FloatArray:
    """Columns transformed by one function each; the functions are used in turn.

    >>> in_turn([ONE_FACTOR["square"], ONE_FACTOR["cube"]], np.array([[2.0, 2.0, 3.0]])).tolist()
    [[4.0, 8.0, 9.0]]
    """
    with np.errstate(over="ignore"):
        return np.column_stack([functions[j % len(functions)](column) for j, column in enumerate(columns.T)])


ONE_FACTOR = {
    "cube": Function("z1^3", lambda x: x**3, invertible=True),
    "tanh": Function("tanh(2 z1^3 - .1)", lambda x: np.tanh(2 * x**3 - 0.1), invertible=True),
    "sign": Function("sign(z1)", np.sign),
    "square": Function("z1^2", np.square),
    "absolute": Function("|z1|", np.abs),
    "rectified": Function("max(z1, 0)", lambda x: np.maximum(x, 0.0)),
    "sine": Function("sin(3 z1)", lambda x: np.sin(3 * x)),
}

TWO_FACTORS = {
    "product": Function("z1 z2", lambda x, y: x * y),
    "sum": Function("z1 + z2", lambda x, y: x + y),
    "sum_of_squares": Function("z1^2 + z2^2", lambda x, y: x**2 + y**2),
    "tanh_product": Function("tanh(z1) tanh(z2)", lambda x, y: np.tanh(x) * np.tanh(y)),
    "signed_root": Function("sign(z1 z2) sqrt|z1 z2|", lambda x, y: np.sign(x * y) * np.sqrt(np.abs(x * y))),
}

# strictly increasing, finite for any sample, and strongly nonlinear
MONOTONE = {
    "cube": Function("x^3", lambda x: x**3, invertible=True),
    "signed_root": Function("sign(x) sqrt|x|", lambda x: np.sign(x) * np.sqrt(np.abs(x)), invertible=True),
    "exp": Function("exp(x)", np.exp, invertible=True),
    "asinh": Function("asinh(x)", np.arcsinh, invertible=True),
}

# the functions of the released code of 003: sinh exceeds 1e20 on standard normal samples, tanh saturates to +-1 beyond
# 2.1 in float64, and the last one is discontinuous at 0 and not one-to-one
RELEASED = (
    Function("tanh(2x^3 - .1)", lambda x: np.tanh(2 * x**3 - 0.1), invertible=True),
    Function("sinh(2x^3 + .1)", lambda x: np.sinh(2 * x**3 + 0.1), invertible=True),
    Function("sign(x) sqrt|x|", lambda x: np.sign(x) * np.sqrt(np.abs(x)), invertible=True),
    Function("x^3", lambda x: x**3, invertible=True),
    Function("x^5", lambda x: x**5, invertible=True),
    Function("exp(x)", np.exp, invertible=True),
    Function("sign(x) log(1 + |3x + 1|)", lambda x: np.sign(x) * np.log1p(np.abs(3 * x + 1))),
)
