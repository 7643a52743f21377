"""Types of arrays, Student's interval, and arithmetic of scores on single numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

FloatArray = NDArray[np.float64]
Labels = NDArray[np.uint16]  # level or bin of every row in one column
Rows = NDArray[np.intp]  # indices of rows
Errors = TypeVar("Errors", float, FloatArray)


def student_reach(error: Errors, n_free: int, level: float = 0.95) -> Errors:
    """Half the width of Student's t interval for a standard error with so many degrees of freedom.

    >>> round(student_reach(0.1, 4), 3)
    0.278
    """
    return float(stdtrit(n_free, 0.5 + level / 2)) * error


def _in_both_orders(operation: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """The methods for ``self + other`` and ``other + self``, and likewise for other operations."""
    return lambda self, other: operation(float(self), other), lambda self, other: operation(other, float(self))


class RealNumber(Real):
    """Arithmetic and comparison with ``float(self)``; results are plain floats.

    >>> class Half(RealNumber):
    ...     def __float__(self):
    ...         return 0.5
    >>> Half() + 1, 2 * Half(), Half() < 1, sum([Half(), Half()])
    (1.5, 1.0, True, 1.0)
    """

    def __float__(self) -> float:
        raise NotImplementedError

    def __format__(self, style: str) -> str:
        return format(float(self), style) if style else str(self)

    __add__, __radd__ = _in_both_orders(operator.add)
    __mul__, __rmul__ = _in_both_orders(operator.mul)
    __truediv__, __rtruediv__ = _in_both_orders(operator.truediv)
    __floordiv__, __rfloordiv__ = _in_both_orders(operator.floordiv)
    __mod__, __rmod__ = _in_both_orders(operator.mod)
    __pow__, __rpow__ = _in_both_orders(operator.pow)

    def __lt__(self, other: Any) -> bool:
        return bool(float(self) < other)

    def __le__(self, other: Any) -> bool:
        return bool(float(self) <= other)

    def __gt__(self, other: Any) -> bool:
        return bool(float(self) > other)

    def __ge__(self, other: Any) -> bool:
        return bool(float(self) >= other)

    def __neg__(self) -> float:
        return -float(self)

    def __pos__(self) -> float:
        return float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(self), digits)

    def __trunc__(self) -> int:
        return math.trunc(float(self))

    def __floor__(self) -> int:
        return math.floor(float(self))

    def __ceil__(self) -> int:
        return math.ceil(float(self))

    def __eq__(self, other: object) -> bool:
        return float(self) == other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(float(self))
