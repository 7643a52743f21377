"""Random numbers of many models, each from its own stream, which depends on seed, purpose and step only.

A model therefore draws the same batches and the same noise whether it is trained alone or with other models, and
training can continue after an interruption without the state of a generator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.randomness import random_stream

STEPS_AT_A_TIME = 64  # steps for which numbers are drawn at once, because creating a generator takes longer than a draw
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.generic]]


class Randomness:
    """Random numbers for all models of a stack at one step; the first axis of every tensor is the model.

    >>> alone, among_others = Randomness([7]), Randomness([3, 7])
    >>> bool((alone.at(70).normal("noise", (2, 3))[0] == among_others.at(70).normal("noise", (2, 3))[1]).all())
    True
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = tuple(seeds)
        self._step = 0
        self._blocks: dict[tuple[str, tuple[int, ...]], tuple[int, Tensor]] = {}

    def at(self, step: int) -> Randomness:
        """The same streams, at this step."""
        self._step = step
        return self

    def normal(self, purpose: str, shape: tuple[int, ...]) -> Tensor:
        """Standard normal random numbers, models x shape."""
        return self._drawn(purpose, shape, lambda rng, size: rng.standard_normal(size, dtype=np.float32))

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> Tensor:
        """Uniform random numbers from [0, 1), models x shape."""
        return self._drawn(purpose, shape, lambda rng, size: rng.random(size, dtype=np.float32))

    def whole_numbers(self, purpose: str, shape: tuple[int, ...], below: int) -> Tensor:
        """Random integers from 0 to ``below`` - 1, models x shape."""
        return self._drawn(f"{purpose} below {below}", shape, lambda rng, size: rng.integers(below, size=size))

    def orders(self, purpose: str, n_orders: int, length: int) -> Tensor:
        """Random orders of 0, 1, ..., length - 1, models x orders x length."""
        return self._drawn(
            purpose, (n_orders, length), lambda rng, size: rng.random(size, dtype=np.float32).argsort(axis=-1)
        )

    def _drawn(self, purpose: str, shape: tuple[int, ...], draw: Draw) -> Tensor:
        number, within = divmod(self._step, STEPS_AT_A_TIME)
        kept = self._blocks.get((purpose, shape))
        if kept is None or kept[0] != number:
            size = (STEPS_AT_A_TIME, *shape)
            drawn = [draw(random_stream(seed, purpose, number), size) for seed in self.seeds]
            kept = (number, torch.from_numpy(np.stack(drawn, axis=1)))
            self._blocks[purpose, shape] = kept
        return kept[1][within]
