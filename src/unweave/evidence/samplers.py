"""Samplers for interventions, and a null sampler whose codes are unrelated to the factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.randomness import random_stream

Sampler = Callable[..., Any]


@dataclass(frozen=True)
class Unpaired:
    """Draws factors by a sampler, and pairs them with the codes of other samples, in which no factor is fixed.

    >>> def sampler(fixed, n_rows, rng):
    ...     factors = np.full(n_rows, fixed.get("size", 0.0))
    ...     return factors, factors[:, None]
    >>> factors, codes = Unpaired(sampler, seed=0)({"size": 3.0}, 2, np.random.default_rng(0))
    >>> factors.tolist(), codes.tolist()
    ([3.0, 3.0], [[0.0], [0.0]])
    """

    sampler: Sampler
    seed: int

    def __call__(self, fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw ``n_rows`` rows of factors, and as many codes that do not belong to them."""
        factors, _ = self.sampler(fixed, n_rows, rng)
        free = random_stream(self.seed, "codes of other samples", int(rng.integers(2**31)))
        return factors, self.sampler({}, n_rows, free)[1]
