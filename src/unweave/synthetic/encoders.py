"""Encoders: maps from factors to codes with known mixing, loss and noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unweave.arrays import FloatArray
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import best_matching
from unweave.options import Count, Finite, Whole, Width, checks_options
from unweave.randomness import random_stream

Rng = int | np.random.Generator
Recovery = Literal["permutation and scale", "elementwise", "affine", "none"]


class Encoder(Protocol):
    """A map from factors to codes whose degree of mixing is known.

    >>> from unweave.synthetic.encoders import Dropped
    >>> encoder: Encoder = Dropped((1, 3))
    >>> encoder.n_codes(4), encoder.encode(np.eye(4)).shape
    (2, (4, 2))
    """

    @property
    def equivalence(self) -> Recovery:
        """The smallest class of maps up to which the codes recover the factors that the encoder keeps."""

    @property
    def applies(self) -> str:
        """A description of the map that the encoder applies to the factors."""

    @property
    def loses(self) -> str:
        """A description of the information that the codes lose."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, m."""

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes, n x m; the same ``rng`` gives the same map for all factors."""

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Share of each code's variance that each factor alone explains, m x d, for independent factors of variance 1.

        Monotone maps that an encoder applies to its codes are ignored.
        """


class OneFactorPerCode:
    """Base class of encoders in which each code depends on one factor."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors."""
        return n_factors

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """The factor of each code: every factor once, in random order."""
        return generator.permutation(n_factors)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the factor of each code, and 0 otherwise."""
        return np.eye(n_factors)[self.sources(n_factors, random_stream(rng, "encoder"))]


class LinearMap(ABC):
    """Base class of linear encoders, whose codes are A z."""

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors."""
        return n_factors

    @abstractmethod
    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """The matrix A (m x d)."""

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes A z."""
        return factors @ self.matrix(factors.shape[1], rng).T

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A_ij^2 divided by its sum over factors j: the share of the variance of code i that is due to factor j."""
        squares = self.matrix(n_factors, rng) ** 2
        totals = squares.sum(axis=1, keepdims=True)
        return np.divide(squares, totals, out=np.full_like(squares, np.nan), where=totals > 0)


@checks_options
def mixing_share(encoder: Encoder, n_factors: Width, rng: Rng = 0) -> float:
    """1 minus the mean purity of the best matching of codes and factors; 0 for codes of one factor each, 1 for noise.

    The matching has min(m, d) pairs, so factors that are lost do not count.

    >>> from unweave.synthetic.encoders import Noise, PermutedAndScaled
    >>> mixing_share(PermutedAndScaled(), 5), mixing_share(Noise(5), 5)
    (0.0, 1.0)
    """
    purity = encoder.purity(n_factors, rng)
    return float(1 - purity[best_matching(purity)].mean())


def size_of(ratio: float, n_factors: int) -> int:
    """m = ratio x d, to the nearest whole number (halves up).

    >>> size_of(1.5, 5)
    8
    """
    return int(np.floor(ratio * n_factors + 0.5))


class MoreCodesThanFactors:
    """Base class of encoders that have ``ratio`` codes for each factor."""

    ratio: float

    def __post_init__(self) -> None:
        if self.ratio < 1:
            raise OptionError(f"ratio={self.ratio} gives fewer codes than factors: use a ratio of 1 or more.")

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``ratio`` times the number of factors."""
        return size_of(self.ratio, n_factors)


def random_scales(n_codes: int, generator: np.random.Generator) -> FloatArray:
    """Random scales with absolute values between 0.5 and 2, and random signs."""
    return generator.uniform(0.5, 2.0, n_codes) * generator.choice([-1.0, 1.0], n_codes)


class IgnoredFactors:
    """Base class of encoders whose codes do not depend on the factors."""

    codes: int

    equivalence: ClassVar[Recovery] = "none"
    applies = "nothing: the codes do not depend on the factors"
    loses = "everything"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is ``codes``."""
        return self.codes

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Zeros, because no factor changes a code."""
        return np.zeros((self.codes, n_factors))


@checks_options
@dataclass(frozen=True)
class Noise(IgnoredFactors):
    """E9 of 003: random codes that do not depend on the factors, uniform between 0 and 1 as in the text, or Gaussian.

    >>> Noise(4).encode(np.eye(3), rng=0).shape
    (3, 4)
    """

    codes: Count
    distribution: Literal["uniform", "gaussian"] = "uniform"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Random numbers that do not depend on the factors."""
        generator, shape = random_stream(rng, "encoder"), (factors.shape[0], self.codes)
        return generator.uniform(size=shape) if self.distribution == "uniform" else generator.normal(size=shape)


@dataclass(frozen=True)
class Function:
    """A function of one or two columns with its formula; ``invertible`` is True if it has an inverse."""

    formula: str
    compute: Callable[..., Any]
    invertible: bool = False

    def __call__(self, *columns: Any) -> Any:
        """Value of the function, elementwise."""
        return self.compute(*columns)


def in_turn(functions: Sequence[Function], columns: FloatArray) -> FloatArray:
    """Columns transformed by one function each; the functions are used in turn.

    >>> in_turn([ONE_FACTOR["square"], ONE_FACTOR["cube"]], np.array([[2.0, 2.0, 3.0]])).tolist()
    [[4.0, 8.0, 9.0]]
    """
    with np.errstate(over="ignore"):
        return np.column_stack([functions[j % len(functions)](column) for j, column in enumerate(columns.T)])


ONE_FACTOR = {
    "cube": Function("z1^3", lambda x: x**3, invertible=True),
    "tanh": Function("tanh(2 z1^3 - .1)", lambda x: np.tanh(2 * x**3 - 0.1), invertible=True),
    "sign": Function("sign(z1)", np.sign),
    "square": Function("z1^2", np.square),
    "absolute": Function("|z1|", np.abs),
    "rectified": Function("max(z1, 0)", lambda x: np.maximum(x, 0.0)),
    "sine": Function("sin(3 z1)", lambda x: np.sin(3 * x)),
}

TWO_FACTORS = {
    "product": Function("z1 z2", lambda x, y: x * y),
    "sum": Function("z1 + z2", lambda x, y: x + y),
    "sum_of_squares": Function("z1^2 + z2^2", lambda x, y: x**2 + y**2),
    "tanh_product": Function("tanh(z1) tanh(z2)", lambda x, y: np.tanh(x) * np.tanh(y)),
    "signed_root": Function("sign(z1 z2) sqrt|z1 z2|", lambda x, y: np.sign(x * y) * np.sqrt(np.abs(x * y))),
}

# nonlinear functions of two factors that neither of them determines alone
MIXTURES: tuple[Callable[..., Any], ...] = (
    lambda x, y: x * y,
    lambda x, y: np.tanh(x + y),
    lambda x, y: np.sin(x) * y,
    lambda x, y: np.abs(x - y),
)

# strictly increasing, finite for any sample, and strongly nonlinear
MONOTONE = {
    "cube": Function("x^3", lambda x: x**3, invertible=True),
    "signed_root": Function("sign(x) sqrt|x|", lambda x: np.sign(x) * np.sqrt(np.abs(x)), invertible=True),
    "exp": Function("exp(x)", np.exp, invertible=True),
    "asinh": Function("asinh(x)", np.arcsinh, invertible=True),
}

# the functions of the released code of 003: sinh exceeds 1e20 on standard normal samples, tanh saturates to +-1 beyond
# 2.1 in float64, and the last one is discontinuous at 0 and not one-to-one
RELEASED = (
    Function("tanh(2x^3 - .1)", lambda x: np.tanh(2 * x**3 - 0.1), invertible=True),
    Function("sinh(2x^3 + .1)", lambda x: np.sinh(2 * x**3 + 0.1), invertible=True),
    Function("sign(x) sqrt|x|", lambda x: np.sign(x) * np.sqrt(np.abs(x)), invertible=True),
    Function("x^3", lambda x: x**3, invertible=True),
    Function("x^5", lambda x: x**5, invertible=True),
    Function("exp(x)", np.exp, invertible=True),
    Function("sign(x) log(1 + |3x + 1|)", lambda x: np.sign(x) * np.log1p(np.abs(3 * x + 1))),
)


@checks_options
@dataclass(frozen=True)
class PermutedAndScaled(OneFactorPerCode):
    """E1 of 003: the factors, permuted and rescaled. No information is lost, and no factors are mixed.

    >>> codes = PermutedAndScaled().encode(np.eye(3), rng=0)
    >>> (codes != 0).sum(axis=0).tolist()
    [1, 1, 1]
    """

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "a permutation and scales of either sign"
    loses = "nothing"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes c_j = a_j z_pi(j), where a_j has a random sign and an absolute value between 0.5 and 2."""
        generator = random_stream(rng, "encoder")
        order = self.sources(factors.shape[1], generator)
        return factors[:, order] * random_scales(order.size, generator)


@checks_options
@dataclass(frozen=True)
class Elementwise(OneFactorPerCode):
    """E2 of 003: c_j = (1 - alpha) s_j z_pi(j) + alpha h_j(z_pi(j)), with strictly increasing h_j and s_j > 0.

    The h_j are x^3, sign(x) sqrt|x|, exp(x) and asinh(x) in turn. ``alpha=0`` is E1 with positive scales.

    >>> factors = np.random.default_rng(0).normal(size=(50, 2))
    >>> codes = Elementwise(alpha=1.0).encode(factors, rng=0)
    >>> order = Elementwise().purity(2, rng=0).argmax(axis=1)
    >>> bool((codes.argsort(axis=0) == factors[:, order].argsort(axis=0)).all())
    True
    """

    alpha: Finite = 1.0

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a permutation and a strictly increasing map of each factor"
    loses = "nothing"

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise OptionError(f"alpha={self.alpha} is not a degree of nonlinearity: use a number from 0 to 1.")

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes that each depend on one factor, n x d."""
        generator = random_stream(rng, "encoder")
        columns = factors[:, self.sources(factors.shape[1], generator)]
        scales = generator.uniform(0.5, 2.0, columns.shape[1])
        return (1 - self.alpha) * scales * columns + self.alpha * self.bent(columns)

    def bent(self, columns: FloatArray) -> FloatArray:
        """h_j applied to each column."""
        return in_turn(tuple(MONOTONE.values()), columns)


@checks_options
@dataclass(frozen=True)
class Mixed(LinearMap):
    """E3 of 003, and E7 if ``ratio`` > 1: c = A z with A = U diag(1 .. 1/kappa) V', U and V random orthogonal.

    A has rank d, so no information is lost. ``kappa=1`` gives a random rotation, which mixes the factors as well (003
    states that it reduces to E1). ``standardise`` first scales every factor to mean 0 and variance 1, which is useful
    if factors have different units.

    >>> matrix = Mixed(kappa=1.0).matrix(4, rng=0)
    >>> bool(np.allclose(matrix.T @ matrix, np.eye(4)))
    True
    """

    kappa: Finite = 10.0
    ratio: Finite = 1.0
    standardise: bool = False

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a dense linear map of full rank"
    loses = "nothing"

    def __post_init__(self) -> None:
        if self.kappa < 1 or self.ratio < 1:
            raise OptionError(f"kappa={self.kappa} and ratio={self.ratio} give no mixing: use numbers from 1.")

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``ratio`` times the number of factors."""
        return size_of(self.ratio, n_factors)

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """A, m x d, with singular values from 1 down to 1 / kappa."""
        generator = random_stream(rng, "encoder")
        left = haar_frame(self.n_codes(n_factors), n_factors, generator)
        right = haar_frame(n_factors, n_factors, generator)
        return left * np.linspace(1.0, 1.0 / self.kappa, n_factors) @ right.T

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes A z."""
        columns = (factors - factors.mean(axis=0)) / factors.std(axis=0) if self.standardise else factors
        return super().encode(columns, rng)


def haar_frame(n_rows: int, n_columns: int, generator: np.random.Generator) -> FloatArray:
    """A matrix with orthonormal columns, uniformly distributed (Haar measure).

    >>> frame = haar_frame(4, 2, np.random.default_rng(0))
    >>> bool(np.allclose(frame.T @ frame, np.eye(2)))
    True
    """
    basis, triangle = np.linalg.qr(generator.normal(size=(n_rows, n_columns)))
    return basis * np.sign(np.diag(triangle))  # without these signs, the distribution would not be uniform


@checks_options
@dataclass(frozen=True)
class Copied(MoreCodesThanFactors, OneFactorPerCode):
    """E5 of 003: copies of the factors with different scales; every factor occurs at least once.

    >>> codes = Copied(ratio=2.0).encode(np.eye(3), rng=0)
    >>> codes.shape, int((codes != 0).sum())
    ((3, 6), 6)
    """

    ratio: Finite = 2.0

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "copies of factors, permuted, with scales of either sign"
    loses = "nothing"

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """The factor of each code: every factor once, further factors drawn with replacement, in random order."""
        extras = generator.integers(n_factors, size=self.n_codes(n_factors) - n_factors)
        return generator.permutation(np.concatenate([np.arange(n_factors), extras]))

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes that each depend on one factor, n x m."""
        generator = random_stream(rng, "encoder")
        sources = self.sources(factors.shape[1], generator)
        return factors[:, sources] * random_scales(sources.size, generator)


@checks_options
@dataclass(frozen=True)
class WithMixedExtras(MoreCodesThanFactors):
    """E6 of 003: d codes as in E2, and m - d further codes that mix two factors each and add no information.

    The further codes are z_a z_b, tanh(z_a + z_b), sin(z_a) z_b and |z_a - z_b| in turn, for random factors a != b.

    >>> WithMixedExtras(ratio=2.0).encode(np.random.default_rng(0).normal(size=(9, 3)), rng=0).shape
    (9, 6)
    """

    ratio: Finite = 2.0
    alpha: Finite = 1.0

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a strictly increasing map of each factor, and additional nonlinear mixtures of two factors"
    loses = "nothing"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The elementwise codes, followed by the mixed codes."""
        generator = random_stream(rng, "encoder")
        n_factors = factors.shape[1]
        if n_factors < 2:
            raise InputError("WithMixedExtras needs at least two factors, and there is one: use Copied.")
        own = Elementwise(self.alpha).encode(factors, generator)
        extras = []
        for k in range(self.n_codes(n_factors) - n_factors):
            first, second = factors[:, generator.choice(n_factors, 2, replace=False)].T
            extras.append(MIXTURES[k % len(MIXTURES)](first, second))
        return np.column_stack([own, *extras])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the factor of each of the first d codes, and 0 otherwise; mixed codes have purity 0."""
        extras = np.zeros((self.n_codes(n_factors) - n_factors, n_factors))
        return np.vstack([Elementwise(self.alpha).purity(n_factors, rng), extras])


@checks_options
@dataclass(frozen=True)
class Distributed(OneFactorPerCode):
    """E8 of 003: ``k`` codes for each factor, which determine it only jointly; no code depends on two factors.

    For ``k=2`` the codes are sin z and cos z, which determine z between -pi and pi (about 2 in 1000 standard normal
    values are outside). For ``k>2`` the real line is divided into k intervals of equal probability under the standard
    normal distribution; code i is z inside the i-th interval and 0 elsewhere.

    >>> codes = Distributed(k=3).encode(np.array([[-2.0], [0.1], [2.0]]), rng=0)
    >>> codes.tolist()
    [[-2.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 2.0]]
    """

    k: Count = 2

    equivalence: ClassVar[Recovery] = "elementwise"
    applies = "a split of each factor into several codes"
    loses = "nothing within -pi and pi"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise OptionError(f"k={self.k} does not split a factor: use 2 or more codes for each factor.")

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: k for every factor."""
        return self.k * n_factors

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """All codes of one factor, followed by those of the next; the factors are in random order."""
        generator = random_stream(rng, "encoder")
        shuffled = factors[:, generator.permutation(factors.shape[1])]
        if self.k == 2:
            parts = np.stack([np.sin(shuffled), np.cos(shuffled)], axis=2)
        else:
            inside = self.intervals(shuffled, generator)[:, :, None] == np.arange(self.k)
            parts = np.where(inside, shuffled[:, :, None], 0.0)
        return parts.reshape(factors.shape[0], -1)

    def intervals(self, columns: FloatArray, generator: np.random.Generator) -> NDArray[np.intp]:
        """Index of the interval that contains each value, for k > 2."""
        return np.searchsorted(self.cuts, columns)

    @property
    def cuts(self) -> FloatArray:
        """The k - 1 boundaries between the intervals, for k > 2."""
        return np.asarray(ndtri(np.arange(1, self.k) / self.k))

    def sources(self, n_factors: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Index of the factor of each code."""
        return np.repeat(generator.permutation(n_factors), self.k)


@checks_options
@dataclass(frozen=True)
class PartlyMixed(LinearMap):
    """c = ((1 - t) P + t Q) z with a permutation P and a random rotation Q; ``t`` from 0 (E1) to 1 (E3, kappa 1).

    >>> from unweave.synthetic.encoders import mixing_share
    >>> [round(mixing_share(PartlyMixed(t), 5), 2) for t in (0.0, 0.2, 0.4)]
    [0.0, 0.05, 0.33]
    """

    t: Finite

    equivalence: ClassVar[Recovery] = "affine"
    applies = "a weighted sum of a permutation and a rotation"
    loses = "nothing (except for isolated values of t at which the matrix is singular)"

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise OptionError(f"t={self.t} is not a share of mixing: use a number from 0 to 1.")

    def matrix(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """(1 - t) P + t Q, d x d; P and Q do not depend on t."""
        generator = random_stream(rng, "encoder")
        permutation = np.eye(n_factors)[generator.permutation(n_factors)]
        return (1 - self.t) * permutation + self.t * haar_frame(n_factors, n_factors, generator)


@dataclass(frozen=True)
class _BuiltOnAnother:
    """Base class of encoders that are built on another encoder: by default they have its equivalence and its losses."""

    encoder: Encoder

    adds: ClassVar[str]  # words that follow what the inner encoder applies

    @property
    def _depth(self) -> int:
        return 1 + (self.encoder._depth if isinstance(self.encoder, _BuiltOnAnother) else 0)

    def _second_stream(self, seed: int) -> np.random.Generator:
        """A random generator that is independent of those of the encoders inside, which have the same seed."""
        return random_stream(seed, "added to an encoder", self._depth)

    @property
    def equivalence(self) -> Recovery:
        return self.encoder.equivalence

    @property
    def applies(self) -> str:
        """What the inner encoder applies, and what is added to it."""
        return f"{self.encoder.applies}{self.adds}"

    @property
    def loses(self) -> str:
        return self.encoder.loses

    def n_codes(self, n_factors: int) -> int:
        return self.encoder.n_codes(n_factors)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        return self.encoder.purity(n_factors, _seed(rng))


@checks_options
@dataclass(frozen=True)
class Noisy(_BuiltOnAnother):
    """Another encoder with Gaussian noise added to each code; ``share`` is the noise's share of the total variance.

    >>> from unweave.synthetic.encoders import PermutedAndScaled, mixing_share
    >>> round(mixing_share(Noisy(PermutedAndScaled(), share=0.3), 5), 3)
    0.3
    """

    share: Finite = 0.1

    adds: ClassVar[str] = ", then noise"

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise OptionError(f"share={self.share} is not a share of noise: use a number from 0 to less than 1.")

    @property
    def loses(self) -> str:
        """What the inner encoder loses, and what is lost through the noise."""
        return f"{self.encoder.loses}, and what the noise hides"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Codes with noise; the variance of the noise is relative to that of the codes on these rows."""
        seed = _seed(rng)
        codes = self.encoder.encode(factors, seed)
        scales = codes.std(axis=0) * np.sqrt(self.share / (1 - self.share))
        return codes + scales * self._second_stream(seed).normal(size=codes.shape)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, multiplied by 1 - share."""
        return (1 - self.share) * self.encoder.purity(n_factors, _seed(rng))


@checks_options
@dataclass(frozen=True)
class Reshaped(_BuiltOnAnother):
    """Another encoder whose standardised codes are transformed by strictly increasing maps, which are used in turn.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> Reshaped(PermutedAndScaled()).equivalence
    'elementwise'
    """

    adds: ClassVar[str] = ", then a strictly increasing map of each code"

    @property
    def equivalence(self) -> Recovery:
        """Elementwise if each code of the inner encoder depends on one factor; none otherwise."""
        inner = self.encoder.equivalence
        return "elementwise" if inner in ("permutation and scale", "elementwise") else "none"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The transformed codes of the inner encoder."""
        codes = self.encoder.encode(factors, _seed(rng))
        standardised = (codes - codes.mean(axis=0)) / codes.std(axis=0)
        return in_turn(tuple(MONOTONE.values()), standardised)


@checks_options
@dataclass(frozen=True)
class WithCopies(_BuiltOnAnother):
    """Another encoder with ``times`` copies of each code, every copy on a different scale.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> WithCopies(PermutedAndScaled(), times=3).n_codes(2)
    6
    """

    times: Count = 2

    adds: ClassVar[str] = ", then copies of every code"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: ``times`` the number of codes of the inner encoder."""
        return self.times * self.encoder.n_codes(n_factors)

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The codes of the inner encoder, followed by their copies."""
        codes = self.encoder.encode(factors, _seed(rng))
        return np.column_stack([codes * (-1.0) ** k * (1 + k / 2) for k in range(self.times)])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, repeated for every copy."""
        return np.tile(self.encoder.purity(n_factors, _seed(rng)), (self.times, 1))


@checks_options
@dataclass(frozen=True)
class WithNoiseCodes(_BuiltOnAnother):
    """Another encoder with ``added`` standard normal codes that do not depend on the factors.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> WithNoiseCodes(PermutedAndScaled(), added=3).n_codes(2)
    5
    """

    added: Whole = 5

    adds: ClassVar[str] = ", and additional codes of noise"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes: that of the inner encoder plus ``added``."""
        return self.encoder.n_codes(n_factors) + self.added

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """The codes of the inner encoder, followed by the noise codes."""
        seed = _seed(rng)
        noise = self._second_stream(seed).normal(size=(factors.shape[0], self.added))
        return np.column_stack([self.encoder.encode(factors, seed), noise])

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """Purity of the inner encoder, and zeros for the noise codes, which no factor changes."""
        return np.vstack([self.encoder.purity(n_factors, _seed(rng)), np.zeros((self.added, n_factors))])


def _seed(rng: Rng) -> int:
    """An integer seed for the inner encoder, whose map then does not depend on what is added."""
    generator = random_stream(rng, "seed of an encoder")  # checks the seed
    return int(generator.integers(2**31)) if generator is rng or rng is None else int(rng)  # type: ignore[arg-type]


class _SomeFactors:
    """Base class of encoders of some of the factors, which are permuted and scaled."""

    equivalence: ClassVar[Recovery] = "permutation and scale"
    applies = "a permutation and scales of either sign, to the kept factors"

    def encode(self, factors: FloatArray, rng: Rng = 0) -> FloatArray:
        """Permuted and scaled codes of the kept factors."""
        return PermutedAndScaled().encode(factors[:, self._kept_of(factors.shape[1])], rng)

    def purity(self, n_factors: int, rng: Rng = 0) -> FloatArray:
        """1 for the kept factor of each code, and 0 otherwise."""
        kept = self._kept_of(n_factors)
        purity = np.zeros((len(kept), n_factors))
        purity[:, kept] = PermutedAndScaled().purity(len(kept), rng)
        return purity

    def _kept_of(self, n_factors: int) -> list[int]:
        raise NotImplementedError


@checks_options
@dataclass(frozen=True)
class Kept(_SomeFactors):
    """E4 of 003: only these factors, permuted and scaled. Factors that they do not determine are lost.

    >>> Kept((0, 2)).encode(np.eye(3), rng=0).shape
    (3, 2)
    """

    kept: tuple[Whole, ...]

    loses = "every factor that the kept ones do not determine"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of kept factors."""
        return len(self.kept)

    def _kept_of(self, n_factors: int) -> list[int]:
        _refuse_absent(self.kept, n_factors)
        return list(self.kept)


@checks_options
@dataclass(frozen=True)
class Dropped(_SomeFactors):
    """E4 of 003: all factors except these, permuted and scaled.

    >>> Dropped((1,)).encode(np.eye(3), rng=0).shape
    (3, 2)
    """

    dropped: tuple[Whole, ...]

    loses = "every dropped factor that the kept ones do not determine"

    def n_codes(self, n_factors: int) -> int:
        """Number of codes, which is the number of factors that are not dropped."""
        return n_factors - len(self.dropped)

    def _kept_of(self, n_factors: int) -> list[int]:
        _refuse_absent(self.dropped, n_factors)
        return [j for j in range(n_factors) if j not in self.dropped]


def _refuse_absent(columns: tuple[int, ...], n_factors: int) -> None:
    if len(set(columns)) < len(columns) or not all(0 <= j < n_factors for j in columns):
        raise InputError(
            f"{columns} are not different factors of {n_factors}: use different numbers from 0 to {n_factors - 1}."
        )


__all__ = [
    "Copied",
    "Distributed",
    "Dropped",
    "Elementwise",
    "Encoder",
    "Kept",
    "Mixed",
    "Noise",
    "Noisy",
    "PartlyMixed",
    "PermutedAndScaled",
    "Reshaped",
    "WithCopies",
    "WithMixedExtras",
    "WithNoiseCodes",
    "mixing_share",
]
