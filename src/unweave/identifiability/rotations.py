"""Do the axes mean anything? Random rotations of the factors' side and of the codes' side.

The loadings of the codes are their coefficients on orthonormal functions of the factors. A factor's statistic is the
largest S_ij u_ij over codes, with S the share of a code's variance that the factor causes and u the same as a share of
what all factors cause. The tests take its mean over factors. That of the factors' side also takes the largest u_ij of
any factor, because the mean is blind to one factor that has a code of its own beside others that are mixed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from unweave.arrays import FloatArray
from unweave.identifiability.readouts import OWN
from unweave.identifiability.responses import TINY, CodeTable, ResponseModel
from unweave.randomness import random_stream

ROTATIONS, MOST_ROTATIONS = 99, 16_000  # divided by rank^3: luck varies more between rotations of few factors

MOST_FOR_P_VALUE, MOST_NUMBERS, AS_CLOSE = 9_999, 10_000_000, 10  # numbers: loadings of all rotations

AT_ONCE = 1 << 20  # numbers of the loadings that are turned together

MOST_CODES = 512  # of the rotations of codes, whose cost grows with the cube

FLIPS = 5

ABOVE_NOISE = 1.1

LUCK = 0.01

LEAST_SIGNAL = 0.02


@dataclass(frozen=True)
class Axes:
    """Tests of axes.

    Attributes
    ----------
    luck : array, rotations x d
        The largest u^2 of an informative code, or what own blocks recover, for each of these rotations.
    statistics : function
        Both statistics of the axes as they are (first) and of so many further rotations; None if nothing can be turned.
    most : int
        Largest number of rotations.
    """

    luck: FloatArray
    statistics: Callable[[int], tuple[FloatArray, FloatArray]] | None = None
    most: int = ROTATIONS

    @functools.cached_property
    def p_value(self) -> float:
        """Of the factors' side: how often a random mixture of the factors, with the same noise, scales and copies, lies
        as close to the axes. Rotations are drawn until ten are as close, so that small values are decided, too."""
        times, found = min(ROTATIONS, self.most), 1.0
        while self.statistics is not None:
            found = _smallest_p_value(*self.statistics(times))
            if times >= self.most or found * (times + 1) > AS_CLOSE:
                break
            times = min(10 * times + 9, self.most)
        return found


class Loadings:
    """Coefficients of all standardised codes on functions of factors, without products."""

    def __init__(self, model: ResponseModel, codes: CodeTable, seed: int) -> None:
        self.seed, self.codes = seed, codes
        d = len(model.factors)
        self.dimensions = np.array([1 if f.to_given is None else f.target.shape[1] for f in model.factors])
        blocks = [codes.standard(block) for block in codes.blocks()]
        products = [model.products(columns) for columns in blocks]
        with_functions, squares = (np.concatenate(each, axis=-1) for each in zip(*products, strict=True))
        first = 0 if d == 1 else d
        place = first if self._is_sufficient(model, with_functions, squares, first) else first + 1
        used, inverse = model.models[place], model.inverses[place][-1]
        coefficients = inverse @ with_functions.sum(axis=0)[used]
        self.matrix = coefficients[1:]
        factor_of = np.searchsorted(model.starts[1:d], used[1:], side="right")
        self.starts = np.searchsorted(factor_of, np.arange(d))
        design = model.design[:, used]
        n = model.sample.n_rows
        rng = random_stream(seed, "signs of residuals")
        signs = rng.choice([-1.0, 1.0], size=(FLIPS, n))
        flipped = np.zeros((FLIPS, used.size, codes.n_codes))
        self.noise = np.zeros(codes.n_codes)
        self.residuals = []
        for block, columns in zip(codes.blocks(), blocks, strict=True):
            residual = columns - design @ coefficients[:, block]
            self.noise[block] = np.square(residual).sum(axis=0) / max(n - used.size, 1)
            for k in range(FLIPS):
                flipped[k][:, block] = inverse @ (design.T @ (residual * signs[k][:, None]))
            self.residuals.append(residual)
        self.n_free = max(n - used.size, 1)
        self.n_rows = n
        self.noise_level = max(float(linalg.svdvals(each[1:])[0]) for each in flipped)

    @staticmethod
    def _is_sufficient(model: ResponseModel, products: FloatArray, squares: FloatArray, first: int) -> bool:
        """Whether linear responses predict all codes together, held out, within a standard error of additive ones."""
        loss = []
        for place in (first, first + 1):
            used = model.models[place]
            held_out = model.inverses[place][:-1] @ (products.sum(axis=0) - products)[:, used]
            gram = model.grams[:, used[:, None], used]
            explained = (held_out * (2 * products[:, used] - gram @ held_out)).sum(axis=1)
            loss.append((squares - explained).sum(axis=1))
        excess = loss[0] - loss[1]
        return bool(excess.sum() <= math.sqrt(excess.size * excess.var(ddof=1)))

    def shares(self, matrix: FloatArray) -> FloatArray:
        """Variance of every code that each factor causes, d x m; also for a stack of matrices."""
        return np.asarray(np.add.reduceat(np.square(matrix), self.starts, axis=-2))

    def factor_side(self) -> Axes:
        """Rotate the functions of factors that codes carry: each code keeps its noise, scale, and copies."""
        d, m, codes = self.starts.size, self.codes.n_codes, self.codes
        left, singular, right = np.linalg.svd(self.matrix, full_matrices=False)
        least = ABOVE_NOISE * max(self.noise_level, 1e-6 * singular[0]) if singular.size else 0.0
        rank = int((singular > least).sum())
        each = [slice(a, b) for a, b in zip(self.starts, [*self.starts[1:], len(self.matrix)], strict=True)]
        carried = sum(bool(linalg.svdvals(self.matrix[own])[0] > least) for own in each)
        if rank < 2 or carried < 2:  # every mixture of one factor is a function of this factor alone
            return Axes(np.full((1, d), 0.5))
        left, inner = left[:, :rank], singular[:rank, None] * right[:rank]
        signal = codes.of_units(np.square(inner).sum(axis=0))
        total = signal + codes.of_units(self.noise)
        units = [] if codes.units is None else codes.units.values()
        ranks = [int((linalg.svdvals(inner[:, members]) > least).sum()) for members in units]
        widths = np.maximum(ranks, 1.0) if ranks else np.ones(m)  # dimensions of a block that carry factors
        informative = signal / total > max(2 * math.log(6 * m * d / LUCK) / self.n_rows, LEAST_SIGNAL)

        def largest(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
            shares = codes.of_units(self.shares(matrices), axis=-1)
            unmixed = shares / np.maximum(shares.sum(axis=-2, keepdims=True), TINY)
            of_unit = shares * unmixed / total
            of_unit = of_unit if codes.units is None else np.minimum(of_unit * codes.widths, unmixed)
            return of_unit.max(axis=-1), self._recovered(np.where(informative, unmixed, 0.0), widths)

        observed, unmixed = largest(left @ inner)
        together = max(1, AT_ONCE // self.matrix.size)

        def drawn(times: int) -> Iterator[tuple[FloatArray, FloatArray]]:
            rng = random_stream(self.seed, "rotations of factors")
            for start in range(0, times, together):
                yield largest(left @ (haar(rank, rng, min(together, times - start)) @ inner))

        def statistics(times: int) -> tuple[FloatArray, FloatArray]:
            found = [(null.mean(axis=1), luck.max(axis=1)) for null, luck in drawn(times)]
            by_mean, by_code = zip(*found, strict=True)
            return np.concatenate([[observed.mean()], *by_mean]), np.concatenate([[unmixed.max()], *by_code])

        times = max(ROTATIONS, MOST_ROTATIONS // rank**3)
        most = min(MOST_FOR_P_VALUE, max(ROTATIONS, MOST_NUMBERS // self.matrix.size))
        return Axes(np.concatenate([luck for _, luck in drawn(times)]), statistics, most)

    def _recovered(self, unmixed: FloatArray, widths: FloatArray) -> FloatArray:
        """What own codes recover of every factor (... x d), from their unmixed shares (... x d x codes).

        It is the best code's share times what is read from the code: of a single code, the share again. A block has
        more of a factor by its dimensions, and own codes of a factor with several dimensions count together, times
        their smallest share.
        """
        if self.codes.units is None and (self.dimensions == 1).all():
            return np.asarray(np.square(unmixed).max(axis=-1))
        found = np.empty(unmixed.shape[:-1])
        for j, wide in enumerate(self.dimensions.tolist()):
            order = np.argsort(-unmixed[..., j, :], axis=-1)
            shares = np.take_along_axis(unmixed[..., j, :], order, axis=-1)
            carried = np.minimum(widths[order] * shares, wide)
            recovered = shares * np.minimum(np.cumsum(carried, axis=-1) / wide, 1.0)
            recovered[..., 1:][(shares[..., 1:] < OWN) | (wide == 1)] = 0.0
            found[..., j] = recovered.max(axis=-1)
        return found

    def code_side(self) -> float:
        """p-value of rotations of the codes as they are given; nan for more than 512 codes, and for blocks."""
        m = self.codes.n_codes
        if m > MOST_CODES or m < 2 or not self.matrix.size or self.codes.units is not None:
            return math.nan
        spread = self.codes.spread / self.codes.spread.max()
        given = self.matrix * spread
        residual = np.hstack(self.residuals) * spread
        covariance = residual.T @ residual / self.n_free + given.T @ given

        def statistic(matrix: FloatArray, variance: FloatArray) -> float:
            shares = self.shares(matrix / np.sqrt(np.maximum(variance, 1e-300)))
            return float((np.square(shares) / np.maximum(shares.sum(axis=0), TINY)).max(axis=1).mean())

        observed = statistic(given, np.diag(covariance))
        rng = random_stream(self.seed, "rotations of codes")
        times = ROTATIONS if m <= 64 else 49
        above = 0
        for _ in range(times):
            turn = haar(m, rng)[0]
            above += statistic(given @ turn, np.einsum("ij,ij->j", turn, covariance @ turn)) >= observed
        return (1 + above) / (times + 1)


def _smallest_p_value(*statistics: FloatArray) -> float:
    """p-value of the first draw by whichever statistic is more extreme.

    The smallest of the p-values of every draw is ranked among those of all draws (Westfall and Young 1993), so that the
    size is exact where the first is drawn like the others.
    """
    at_least = [each.size - np.searchsorted(np.sort(each), each) for each in statistics]
    counts = np.min(at_least, axis=0)
    return float((counts <= counts[0]).mean())


def haar(n: int, rng: np.random.Generator, times: int = 1) -> FloatArray:
    """Random orthogonal matrices (times x n x n) with the uniform distribution."""
    q, r = np.linalg.qr(rng.normal(size=(times, n, n)))
    return np.asarray(q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :])
