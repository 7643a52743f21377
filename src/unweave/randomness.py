"""Random numbers of the package: every purpose has a stream of its own, which no seed of a user's generator gives.

A split that draws from ``np.random.default_rng(0)`` undoes the shuffle of data that were shuffled by
``np.random.default_rng(0)``, and noise drawn in this way equals the factors. Streams here depend on the seed and on the
name of their purpose.
"""

from __future__ import annotations

import random
from importlib import import_module
from numbers import Integral
from zlib import crc32

import numpy as np

from unweave.errors import OptionError

MOST_SEEDS = 10_000


def seed_range(n_seeds: int, seed: int = 0, at_least: int = 1) -> range:
    """The seeds of a computation that is repeated: ``seed`` and the ``n_seeds - 1`` whole numbers after it.

    >>> list(seed_range(3, 5))
    [5, 6, 7]
    """
    for name, given, least in (("n_seeds", n_seeds, at_least), ("seed", seed, 0)):
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
            raise OptionError(f"{name}={given!r} is not allowed: use a whole number from {least}.")
    if n_seeds > MOST_SEEDS:
        raise OptionError(f"n_seeds={n_seeds} is too many: use at most {MOST_SEEDS}.")
    return range(int(seed), int(seed) + int(n_seeds))


def random_stream(rng: int | np.random.Generator | None, purpose: str, *numbers: int) -> np.random.Generator:
    """The generator for a purpose, from a seed and further numbers; a given Generator is returned as it is.

    None gives a generator with a random seed. No numbers and the single number 0 give the same stream.

    >>> first, second = random_stream(0, "folds"), random_stream(0, "null draws")
    >>> bool(first.random() == second.random())
    False
    >>> rng = np.random.default_rng(0)
    >>> random_stream(rng, "folds") is rng
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, Integral) or rng < 0):
        raise OptionError(f"The seed {rng!r} is not allowed: use a whole number from 0, or a numpy Generator.")
    return np.random.default_rng(None if rng is None else _entropy(rng, purpose, *numbers))


def random_seed(seed: int, purpose: str, *numbers: int) -> int:
    """The seed for a purpose of libraries that take whole numbers, such as scikit-learn and torch.

    >>> random_seed(0, "trees") == random_seed(1, "trees")
    False
    """
    return int(np.random.SeedSequence(_entropy(seed, purpose, *numbers)).generate_state(1)[0])


def _entropy(seed: int, purpose: str, *numbers: int) -> list[int]:
    """Words that differ from those of a user's seed, which numpy fills up with zeros: the second is never 0.

    For the same reason 1 is added to all numbers after the first: (2,) and (2, 0) give different streams.
    """
    return [seed, crc32(purpose.encode()), *numbers[:1], *(number + 1 for number in numbers[1:])]


def import_without_drawing(module: str) -> None:
    """Import a module that draws from Python's global generator, as rich does, and restore the generator's state."""
    state = random.getstate()
    import_module(module)
    random.setstate(state)
