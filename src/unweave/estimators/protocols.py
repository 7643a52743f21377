"""Default methods of protocols, for estimators that have the required methods but are not derived from the protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def own_or_default(default: Callable[Concatenate[Any, P], R], estimator: object) -> Callable[P, R]:
    """The estimator's own method of this name, or the protocol's default applied to the estimator.

    Some methods of a protocol are required and others have a default. A class that is derived from the protocol
    inherits the defaults; this function provides them for a class that only has the required methods.

    >>> class Greeting:
    ...     def words(self) -> str:
    ...         return "default"
    >>> class Unrelated:
    ...     pass
    >>> own_or_default(Greeting.words, Unrelated())()
    'default'
    """
    own = getattr(estimator, default.__name__, None)
    return cast(Callable[P, R], own) if own is not None else functools.partial(default, estimator)
