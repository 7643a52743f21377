"""Pictures of an environment that declares what varies between its episodes, as Gymnasium spaces."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSet, Factor, Images, Indices, scaled
from unweave.errors import InputError, OptionError
from unweave.names import suggestion
from unweave.options import Count, Within, checks_options
from unweave.randomness import random_stream

MOST_TRIES = 1000


@checks_options
class EnvironmentImages(DataSet):
    """Images of an environment, each with the values of the factors that its space of variation declares.

    Values are drawn independently of each other over their whole ranges. An image is rendered when it is asked for: the
    environment is reset to the values of its episode and follows as many random actions as the number of its step.

    Parameters
    ----------
    environment : gymnasium.Env
        Has a `variation_space` (a Dict space of Box, Discrete, MultiDiscrete, MultiBinary and Dict spaces, as in
        stable-worldmodel), `reset(seed=, options={"variation_values": {name: value}})` and `render()`, which returns
        height x width x channels from 0 to 255.
    n_episodes : int
        Number of episodes.
    vary : sequence of str, optional
        Names of what varies, such as "agent.color" or "block" for all of the block; everything else keeps the value
        that a reset gives it. By default everything varies.
    steps : int
        Number of images of an episode: its first and those after each random action. Rows of one episode are not
        independent: `row_groups` numbers the episodes, and `unweave.encode` passes it on.
    circular : mapping of name to period, optional
        Factors that are angles, such as {"block.angle": 2 * np.pi}.
    state : callable, optional
        Function of the environment that returns further factors after each step, by name, such as its positions now.
    size : int, optional
        Height and width of the images, a divisor of the rendered size; pixels are averaged.
    seed : int
        Seed of values and actions.

    Examples
    --------
    >>> images = EnvironmentImages(Room(), 20, vary=["agent"])  # doctest: +SKIP
    >>> images.factor_names, images.kinds  # doctest: +SKIP
    (('agent.x', 'agent.y', 'agent.shape'), ('continuous', 'continuous', 'categorical'))
    """

    def __init__(
        self,
        environment: Any,
        n_episodes: Annotated[int, Within(0, 1e8)],
        vary: Sequence[str] | None = None,
        *,
        steps: int = 1,
        circular: Mapping[str, float] | None = None,
        state: Callable[[Any], Mapping[str, float]] | None = None,
        size: Count | None = None,
        seed: int = 0,
    ) -> None:
        for name, number in (("n_episodes", n_episodes), ("steps", steps)):
            if number < 1:
                raise OptionError(f"{name}={number} gives no images: use a whole number from 1.")
        space = getattr(getattr(environment, "unwrapped", environment), "variation_space", None)
        if not hasattr(space, "spaces"):
            raise InputError(
                f"{type(environment).__name__} has no variation_space: give it a gymnasium Dict space of what varies "
                "between episodes."
            )
        self.name = type(getattr(environment, "unwrapped", environment)).__name__
        self._environment, self._space, self._steps, self._state = environment, space, int(steps), state
        self._leaves = _chosen_leaves(dict(_leaves(space)), vary)
        rng = random_stream(seed, "environment")
        self._episodes = self._drawn(n_episodes, {}, rng)
        self._action_seeds = rng.integers(2**31, size=n_episodes)
        self._first_picture, _ = next(self._rendered(0, 1))
        further = [] if state is None else list(state(environment))
        kinds = self._kinds() | dict.fromkeys(further, "continuous")
        for name, period in (circular or {}).items():
            if name not in kinds:
                raise OptionError(f"There is no factor {name!r} to be circular: {suggestion(name, list(kinds))}")
            kinds[name] = f"circular:{period:.17g}"
        self.described_factors = tuple(Factor(name, kind) for name, kind in kinds.items())
        height, width, channels = self._first_picture.shape
        self._shrunk = 1 if size is None else height // size
        if size is not None and (height != width or height % size):
            raise OptionError(f"size={size} does not divide pictures of {height} x {width}: use a divisor of both.")
        self.image_shape = (channels, height // self._shrunk, width // self._shrunk)

    def _kinds(self) -> dict[str, str]:
        """Kinds of the columns of everything that varies, by name."""
        return {
            name if _width(leaf) == 1 else f"{name} {k}": "continuous" if hasattr(leaf, "low") else "categorical"
            for name, leaf in self._leaves.items()
            for k in range(_width(leaf))
        }

    def _drawn(self, n: int, fixed: Mapping[str, float], rng: np.random.Generator) -> FloatArray:
        """Values of everything that varies, n x columns; what the whole space does not contain is drawn again."""
        names = list(self._kinds())
        unknown = [name for name in fixed if name not in names]
        if unknown:
            raise InputError(f"{self.name} cannot hold {unknown[0]!r}: it can hold {', '.join(names)}.")
        if not names:
            raise InputError(f"Nothing varies in {self.name}: name at least one factor, or leave vary out.")
        rows, wrong = np.empty((n, len(names))), np.arange(n)
        for _ in range(MOST_TRIES):
            drawn = np.concatenate([_values(leaf, wrong.size, rng) for leaf in self._leaves.values()], axis=1)
            drawn[:, [names.index(name) for name in fixed]] = list(fixed.values())
            rows[wrong] = drawn
            wrong = wrong[[not self._contains(row) for row in drawn]]
            if not wrong.size:
                return rows
        raise InputError(
            f"{self.name} allows hardly any of the values of {', '.join(self._leaves)}: vary fewer of them."
        )

    def _contains(self, row: FloatArray) -> bool:
        allowed = getattr(self._space, "constrain_fn", None)  # of stable-worldmodel; plain spaces contain all values
        return allowed is None or bool(allowed(_nested_settings(self._settings(row), self._space)))

    def _settings(self, row: FloatArray) -> dict[str, Any]:
        """The values of a row in the types of their spaces, by name."""
        settings, at = {}, 0
        for name, leaf in self._leaves.items():
            width = _width(leaf)
            settings[name] = _leaf_value(leaf, row[at : at + width])
            at += width
        return settings

    def _rendered(self, episode: int, n_steps: int, row: FloatArray | None = None) -> Iterator[tuple[Any, list[float]]]:
        """Picture and further factors at every step of an episode."""
        environment, values = self._environment, self._episodes[episode] if row is None else row
        environment.reset(
            seed=int(self._action_seeds[episode]), options={"variation": (), "variation_values": self._settings(values)}
        )
        environment.action_space.seed(int(self._action_seeds[episode]))
        for step in range(n_steps):
            if step:
                environment.step(environment.action_space.sample())
            picture = np.asarray(environment.render())
            if picture.ndim != 3:
                raise InputError(
                    f"{self.name} renders an array of shape {picture.shape}: make it with render_mode='rgb_array'."
                )
            yield picture, self._further(environment)

    def _further(self, environment: Any) -> list[float]:
        """Values of the factors that the user's own function reads."""
        try:
            return [] if self._state is None else [float(x) for x in self._state(environment).values()]
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"state={self._state!r} gives no numbers by name ({error}): return a dict of them."
            ) from error

    def __len__(self) -> int:
        return len(self._episodes) * self._steps

    @property
    def row_groups(self) -> NDArray[np.int64]:
        """The episode of every image."""
        return np.repeat(np.arange(len(self._episodes)), self._steps)

    @property
    def fingerprint(self) -> str:
        """Digest of the drawn values, actions and first picture."""
        told = repr((self.name, self._steps, self.image_shape, self.described_factors)).encode()
        digest = hashlib.blake2b(told, digest_size=16)
        for array in (self._episodes, self._action_seeds, self._first_picture):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def _by_episode(self, indices: Indices) -> Iterator[tuple[int, Any, list[float]]]:
        """Position in ``indices``, picture and further factors; each episode is played once."""
        for episode in np.unique(indices // self._steps):
            wanted = np.flatnonzero(indices // self._steps == episode)
            played = list(self._rendered(int(episode), int(indices[wanted].max()) % self._steps + 1))
            for at in wanted:
                yield (int(at), *played[int(indices[at]) % self._steps])

    def _factors(self, indices: Indices) -> FloatArray:
        values = self._episodes[indices // self._steps]
        if self._state is None:
            return values
        further = np.empty((indices.size, self.n_factors - values.shape[1]))
        for at, _, state in self._by_episode(indices):
            further[at] = state
        return np.concatenate([values, further], axis=1)

    def _images(self, indices: Indices) -> Images:
        images = np.empty((indices.size, *self.image_shape), dtype=np.float32)
        for at, picture, _ in self._by_episode(indices):
            images[at] = self._image(picture)
        return images

    def _image(self, picture: NDArray[Any]) -> Images:
        pixels = scaled(picture).transpose(2, 0, 1)
        k, (channels, height, width) = self._shrunk, self.image_shape
        return pixels.reshape(channels, height, k, width, k).mean(axis=(2, 4)) if k > 1 else pixels

    def images_of(self, values: ArrayLike) -> Images:
        """Images of first steps with these values of what varies, n x columns."""
        rows = np.asarray(values, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._episodes.shape[1]:
            raise InputError(f"The values have shape {rows.shape}: pass n x {self._episodes.shape[1]}.")
        return np.stack([self._image(next(self._rendered(0, 1, row))[0]) for row in rows])

    def sampler(self, encode: Callable[[Images], Any]) -> Callable[..., tuple[FloatArray, Any]]:
        """Sampler for `Evidence`: first images with some factors held fixed, and their codes by an encoder."""

        def sample(fixed: Mapping[str, float], n_rows: int, rng: np.random.Generator) -> tuple[FloatArray, Any]:
            rows = self._drawn(n_rows, fixed, rng)
            return rows, encode(self.images_of(rows))

        return sample


def _leaves(space: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in space.spaces.items():
        name = f"{prefix}{key}"
        if hasattr(inner, "spaces"):
            yield from _leaves(inner, f"{name}.")
        elif any(hasattr(inner, attribute) for attribute in ("low", "n", "nvec")):
            yield name, inner
        else:
            raise InputError(
                f"{name} of the variation space is a {type(inner).__name__}, which has no range: use Box, Discrete, "
                "MultiDiscrete or MultiBinary."
            )


def _chosen_leaves(leaves: dict[str, Any], vary: Sequence[str] | None) -> dict[str, Any]:
    """What varies: spaces with these names, or below them; all spaces for None."""
    if vary is None:
        return leaves
    chosen = {wanted: [name for name in leaves if f"{name}.".startswith(f"{wanted}.")] for wanted in vary}
    for wanted, names in chosen.items():
        if not names:
            raise OptionError(f"Nothing that varies is called {wanted!r}: {suggestion(wanted, list(leaves))}")
    return {name: leaf for name, leaf in leaves.items() if any(name in names for names in chosen.values())}


def _width(leaf: Any) -> int:
    return int(np.prod(leaf.shape)) if getattr(leaf, "shape", None) else 1


def _values(leaf: Any, n: int, rng: np.random.Generator) -> FloatArray:
    """Values of a space, n x its width, uniform over its range."""
    width = _width(leaf)
    if hasattr(leaf, "low"):
        low, high = (np.broadcast_to(np.ravel(end).astype(np.float64), (width,)) for end in (leaf.low, leaf.high))
        if not np.isfinite([low, high]).all():
            raise InputError(f"A {type(leaf).__name__} of the variation space has no finite ends: state low and high.")
        if np.issubdtype(leaf.dtype, np.integer):
            return rng.integers(low.astype(np.int64), high.astype(np.int64) + 1, (n, width)).astype(np.float64)
        return rng.uniform(low, high, (n, width))
    levels = getattr(leaf, "nvec", None)
    levels = 2 if levels is None and type(leaf).__name__ == "MultiBinary" else leaf.n if levels is None else levels
    start = np.asarray(getattr(leaf, "start", 0), dtype=np.int64).ravel()
    return (rng.integers(0, np.ravel(levels), (n, width)) + start).astype(np.float64)


def _leaf_value(leaf: Any, values: FloatArray) -> Any:
    dtype = getattr(leaf, "dtype", None) or np.int64
    if getattr(leaf, "shape", None):
        return values.reshape(leaf.shape).astype(dtype)
    return np.asarray(values[0]).astype(dtype)[()]


def _nested_settings(settings: Mapping[str, Any], space: Any) -> dict[str, Any]:
    """Settings as the nested mapping of a Dict space; what does not vary has its initial value."""
    nested: dict[str, Any] = {}
    for name, leaf in _leaves(space):
        *path, last = name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = settings.get(name, getattr(leaf, "init_value", None))
    return nested
