"""The encoder that only 003's second experiment has: one and the same function for every code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.synthetic.encoders import Elementwise

FUNCTIONS = {"tanh": np.tanh, "sinh": np.sinh}


@dataclass(frozen=True)
class ElementwiseByOne(Elementwise):
    """`Elementwise` with the same increasing function for all codes, tanh or sinh.

    >>> ElementwiseByOne(alpha=1.0, function="tanh").encode(np.array([[0.5, 0.5]]), rng=0).round(3).tolist()
    [[0.462, 0.462]]
    """

    function: str = "tanh"

    def bent(self, columns: FloatArray) -> FloatArray:
        """The function of each column."""
        return np.asarray(FUNCTIONS[self.function](columns))
