"""Dependent factors from independent data: rows of a data set drawn with weights (004, section 6; 003, section 2.1).

004 evaluates encoders on rows in which factors depend on each other, although the data sets are complete grids. The
values of each factor are scaled to 0..1 with equal spacing. The weight of a row is the product of the weights of all
dependences.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unweave.arrays import FloatArray
from unweave.datasets.interface import DataSet, GridDataSet, Images, Indices, Rng
from unweave.errors import OptionError
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS


@checks_options
@dataclass(frozen=True)
class CorrelatedPair:
    """Two positively correlated factors: weight exp(-(a - b)^2 / (2 sigma^2)).

    004 has sigma .4, .1 and .04, from weak to strong.
    """

    first: str
    second: str
    sigma: float

    def weights(self, dataset: GridDataSet) -> FloatArray:
        """Weight of every combination of values, with one axis per factor."""
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise OptionError(f"sigma is {self.sigma:g}: it is a distance between factors scaled to 0..1, such as 0.1.")
        apart = _levels_from_0_to_1(dataset, self.first) - _levels_from_0_to_1(dataset, self.second)
        return np.exp(-(apart**2) / (2 * self.sigma**2))


@checks_options
@dataclass(frozen=True)
class Confounder:
    """One factor with which all others correlate: weights are products over its pairs; 004 has sigma .2."""

    factor: str
    sigma: float

    def weights(self, dataset: GridDataSet) -> FloatArray:
        """Weight of every combination of values, with one axis per factor."""
        weights = np.ones(dataset.n_values)
        for other in dataset.factor_names:
            if other != self.factor:
                weights = weights * CorrelatedPair(self.factor, other, self.sigma).weights(dataset)
        return weights


@checks_options
@dataclass(frozen=True)
class DeterminedFactor:
    """A factor that one or two others determine, as in 003: only combinations that obey the function are drawn.

    The sources are scaled to -1..1, the function's range is scaled to the values of the factor, and the nearest value
    is used. Functions of one factor are cube, tanh, sign, square and absolute. Functions of two factors are product,
    sum, sum_of_squares, tanh_product and signed_root.
    """

    factor: str
    sources: tuple[str, ...]
    function: str

    def weights(self, dataset: GridDataSet) -> FloatArray:
        """Weight of every combination of values, with one axis per factor: 1 or 0."""
        functions = {1: ONE_FACTOR, 2: TWO_FACTORS}.get(len(self.sources), {})
        if self.function not in functions:
            raise OptionError(
                f"There is no function {self.function!r} of {len(self.sources)} factors: of one there are "
                f"{', '.join(ONE_FACTOR)}; of two {', '.join(TWO_FACTORS)}."
            )
        if self.factor in self.sources or len(set(self.sources)) < len(self.sources):
            raise OptionError(
                f"{self.factor} cannot be a function of {' and '.join(self.sources)}: name every factor only once."
            )
        result = functions[self.function](*(2 * _levels_from_0_to_1(dataset, source) - 1 for source in self.sources))
        lowest, highest = result.min(), result.max()
        share = (result - lowest) / (highest - lowest) if highest > lowest else np.ones_like(result)
        target = _levels_from_0_to_1(dataset, self.factor)
        wanted = np.rint(share * (target.size - 1))
        return (np.rint(target * (target.size - 1)) == wanted).astype(np.float64)


Dependence = CorrelatedPair | Confounder | DeterminedFactor


@checks_options
class DependentSample(DataSet):
    """A data set whose random samples have dependent factors; images and their order are those of ``dataset``.

    Examples
    --------
    >>> from unweave.datasets import small_sprites
    >>> sprites = DependentSample(small_sprites(), [CorrelatedPair("x", "y", sigma=0.1)])
    >>> factors = sprites.sample(2000, rng=0).factors
    >>> bool(np.corrcoef(factors[:, 2], factors[:, 3])[0, 1] > 0.9)
    True
    """

    def __init__(self, dataset: DataSet, dependences: Sequence[Dependence]) -> None:
        if not isinstance(dataset, GridDataSet):
            raise OptionError(
                f"{dataset.name} does not have all combinations of its factors, so their dependence cannot be chosen: "
                "take a data set that does, such as dsprites."
            )
        self.name = dataset.name
        self.described_factors, self.image_shape = dataset.described_factors, dataset.image_shape
        self.dataset, self.dependences = dataset, tuple(dependences)
        weights = np.ones(dataset.n_values)
        for dependence in self.dependences:
            weights = weights * dependence.weights(dataset)
        # the total is never 0: if every factor has its last value, every dependence has weight 1
        self._reached = np.cumsum(weights.ravel())

    def __len__(self) -> int:
        return len(self.dataset)

    def sample_indices(self, n: int, rng: Rng = None) -> Indices:
        """Indices of this many images, drawn with replacement in proportion to their weights."""
        levels = random_stream(rng, "images").uniform(0, self._reached[-1], size=n)
        return np.searchsorted(self._reached, levels, side="right").astype(np.int64)

    def weights_of(self, indices: ArrayLike) -> FloatArray:
        """Probabilities with which these images are drawn; those of all images sum to 1."""
        return np.diff(self._reached, prepend=0.0)[self._checked(indices)] / self._reached[-1]

    @property
    def fingerprint(self) -> str:
        """Digest that identifies the data set and its dependences."""
        text = self.dataset.fingerprint + repr(self.dependences)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _factors(self, indices: Indices) -> FloatArray:
        return self.dataset._factors(indices)

    def _images(self, indices: Indices) -> Images:
        return self.dataset._images(indices)


def dependences_from_text(text: str) -> list[Dependence]:
    """Parse dependences in the notation of the command line, separated by commas.

    ``x~y:0.1`` is a correlated pair with sigma .1, ``shape~*:0.2`` a confounder, ``y=cube(x)`` and
    ``y=product(x;scale)`` are factors that others determine.

    >>> dependences_from_text("x~y:0.1, y=cube(x)")[0]
    CorrelatedPair(first='x', second='y', sigma=0.1)
    """
    dependences: list[Dependence] = []
    for part in (part.strip() for part in text.split(",")):
        near = re.fullmatch(r"(.+?)\s*~\s*(.+?)\s*:\s*([0-9.eE+-]+)", part)
        determined = re.fullmatch(r"(.+?)\s*=\s*(\w+)\((.+)\)", part)
        if near:
            try:
                first, second, sigma = near[1], near[2], float(near[3])
            except ValueError:
                raise OptionError(f"{near[3]!r} in {part!r} is not a number: give sigma as in x~y:0.1.") from None
            dependences.append(Confounder(first, sigma) if second == "*" else CorrelatedPair(first, second, sigma))
        elif determined:
            sources = tuple(source.strip() for source in determined[3].split(";"))
            dependences.append(DeterminedFactor(determined[1], sources, determined[2]))
        else:
            raise OptionError(
                f"{part!r} is not a dependence: write x~y:0.1 for a correlated pair with its sigma, shape~*:0.2 for a "
                "confounder, or y=cube(x) for a factor that another one determines."
            )
    return dependences


def _levels_from_0_to_1(dataset: GridDataSet, name: str) -> FloatArray:
    """Values of a factor, equally spaced from 0 to 1, as an array that varies along the axis of this factor."""
    if name not in dataset.factor_names:
        raise OptionError(f"{dataset.name} has no factor {name!r}: its factors are {', '.join(dataset.factor_names)}.")
    j = dataset.factor_names.index(name)
    shape = [1] * dataset.n_factors
    shape[j] = dataset.n_values[j]
    return np.linspace(0, 1, dataset.n_values[j]).reshape(shape)
