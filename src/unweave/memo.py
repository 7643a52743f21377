"""Compute once per Evidence, and once for all permutations of it where the pairing does not matter."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import numpy as np

from unweave.evidence import Evidence

P = ParamSpec("P")
R = TypeVar("R")


def memoised(
    *, on: Literal["factors", "codes", "both"], by_row: bool = False
) -> Callable[[Callable[Concatenate[Evidence, P], R]], Callable[Concatenate[Evidence, P], R]]:
    """Remember a function of evidence and hashable arguments on the evidence itself.

    Parameters
    ----------
    on : {"factors", "codes", "both"}
        What the function looks at. One that looks at one side only is computed on the original and shared with every
        `Evidence.permuted`, which moves the rows of the factors and leaves the codes where they are.
    by_row : bool
        For ``on="factors"``: the result is a tuple of arrays whose first axis is the rows, so permuted evidence
        reorders them.

    Arrays that are remembered become read-only: a score shows them, and nobody may change what the next metric reads.
    """

    def decorate(function: Callable[Concatenate[Evidence, P], R]) -> Callable[Concatenate[Evidence, P], R]:
        @functools.wraps(function)
        def remembered(evidence: Evidence, *args: P.args, **kwargs: P.kwargs) -> R:
            key = (function, args, tuple(sorted(kwargs.items())))
            memo: dict[Any, R] = evidence._memo
            if key not in memo:
                memo[key] = _read_only(_shared(evidence, *args, **kwargs))
            return memo[key]

        def _shared(evidence: Evidence, *args: P.args, **kwargs: P.kwargs) -> R:
            if on == "both" or evidence.permuted_from is None:
                return function(evidence, *args, **kwargs)
            original, order = evidence.permuted_from
            result = remembered(original, *args, **kwargs)
            return tuple(array[order] for array in result) if by_row else result  # type: ignore[attr-defined, return-value]

        return remembered  # type: ignore[return-value]

    return decorate


def _read_only(result: R) -> R:
    """The result, with its arrays sealed: itself, or those in a tuple or a record."""
    parts = result if isinstance(result, tuple) else getattr(result, "__dict__", {}).values()
    for array in (result, *parts):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return result
