"""Cache results on the Evidence; results from factors alone or codes alone are shared with all its permutations."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import numpy as np

from unweave.evidence import Evidence

P = ParamSpec("P")
R = TypeVar("R")


def memoised(
    *, on: Literal["factors", "codes", "both"], by_row: bool = False
) -> Callable[[Callable[Concatenate[Evidence, P], R]], Callable[Concatenate[Evidence, P], R]]:
    """Decorator that caches results of a function of evidence and hashable arguments on the evidence itself.

    ``on`` says which data the function uses. If it uses the factors or the codes only, it is computed on the original
    and shared with every `Evidence.permuted`, which permutes the rows of the factors and leaves the codes in place.
    With ``by_row`` (for factors) the result is a tuple of arrays whose first axis is the rows, which are permuted as
    well. Cached arrays become read-only, because scores share them with other metrics.
    """

    def decorate(function: Callable[Concatenate[Evidence, P], R]) -> Callable[Concatenate[Evidence, P], R]:
        @functools.wraps(function)
        def remembered(evidence: Evidence, *args: P.args, **kwargs: P.kwargs) -> R:
            key = _key(function, args, kwargs)
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


@functools.cache
def _named(function: Callable[..., Any]) -> dict[str, Any]:
    """Names of the arguments after the evidence, with their defaults."""
    each = list(inspect.signature(function).parameters.values())[1:]
    return {one.name: one.default for one in each if one.kind is one.POSITIONAL_OR_KEYWORD}


def _key(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Key of a call, which is the same whether a default is given or not, and by position or by name."""
    named = _named(function)
    given = named | dict(zip(named, args, strict=False)) | kwargs
    return function, args[len(named) :], tuple(sorted(given.items()))


def hand_over(function: Callable[[Evidence], R], *evidences: Evidence) -> None:
    """Take the result of a memoised function for all of these from the first, instead of computing it for each."""
    for receiver in evidences[1:]:
        receiver._memo[_key(function.__wrapped__, (), {})] = function(evidences[0])  # type: ignore[attr-defined]


DRAWN_TOGETHER = 10
_COMPANIONS = "evidences that were drawn together, and their lock"


def drawn_together(
    draw: Callable[[int], Evidence], n_draws: int, at_once: int = DRAWN_TOGETHER
) -> Callable[[int], Evidence]:
    """Draws 0 to ``n_draws - 1``, made ten at a time, so that functions `for_all_drawn` compute their results together.

    >>> draw = drawn_together(lambda index: Evidence([[1.0], [2.0]], [[index], [3.0]]), 20)
    >>> draw(4).codes[0].tolist(), draw(4) is draw(4)
    ([4.0], True)
    """

    @functools.lru_cache(maxsize=2)
    def drawn(first: int) -> tuple[Evidence, ...]:
        evidences = tuple(map(draw, range(first, min(first + at_once, n_draws))))
        lock = threading.Lock()
        for evidence in evidences:
            evidence._memo[_COMPANIONS] = evidences, lock
        return evidences

    making = threading.Lock()

    def one(index: int) -> Evidence:
        with making:
            return drawn(index - index % at_once)[index % at_once]

    return one


def for_all_drawn(
    function: Callable[Concatenate[Sequence[Evidence], P], Sequence[R]],
) -> Callable[Concatenate[Evidence, P], R]:
    """Decorator like `memoised`, for a function of several evidences: it is called once for all drawn together."""

    @functools.wraps(function)
    def remembered(evidence: Evidence, *args: P.args, **kwargs: P.kwargs) -> R:
        key, memo = (function, args, tuple(sorted(kwargs.items()))), evidence._memo
        companions, lock = memo.get(_COMPANIONS, ((evidence,), threading.Lock()))
        with lock:
            if key not in memo:
                for companion, result in zip(companions, function(companions, *args, **kwargs), strict=True):
                    companion._memo[key] = _read_only(result)
        return cast(R, memo[key])

    return remembered  # type: ignore[return-value]


def _read_only(result: R) -> R:
    """The result with its arrays made read-only: the result itself, or the arrays in a tuple or a record."""
    parts = result if isinstance(result, tuple) else getattr(result, "__dict__", {}).values()
    for array in (result, *parts):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return result
