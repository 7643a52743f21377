"""Responses of codes and readouts to factors that are drawn independently of each other.

A column y (a code, or a readout) is fitted by a function of the factors z, and the fit is evaluated under z*, the
factors drawn independently from their marginals:

    y = f(z) + e,  f = sum_k g_k(z_k) + sum_(k < l) g_kl(z_k, z_l)
    Var* y = sum_k Var g_k + sum_(k < l) Var g_kl + Var e

All functions have mean 0 and are orthonormal within a factor, so that under z* every term is a sum of squared
coefficients. All fits of all columns follow from Gram matrices of 20 blocks of rows, and so does their jackknife.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from scipy.linalg import lapack

from unweave.arrays import FloatArray, Rows, student_reach
from unweave.estimators.correlation import normal_scores, orthonormal_basis
from unweave.estimators.regression import natural_spline
from unweave.evidence import Evidence
from unweave.evidence.kinds import DeclaredKind
from unweave.evidence.splits import fold_of_each_row
from unweave.randomness import random_stream

BLOCKS = 20  # of the jackknife

LEVEL = 0.95

FOLDS = 5  # each of several blocks

FEW_LEVELS = 12

MOST_FUNCTIONS = 7  # of a factor in the additive model

MOST_DEGREE = 3  # of the polynomials of a block of factors

ROWS_PER_FUNCTION = 8

ROWS_PER_TERM = 5

MOST_STANDARD_DEVIATIONS = 6.0

RIDGE, RIDGE_OF_PAIRS = 1e-6, 1e-3  # what a factor and a product explain equally well is given to the factor

TINY = 1e-12

LARGE = 64  # functions of a model, from which single factorisations are faster than a stack of inverses


@dataclass(frozen=True, eq=False)
class Sample:
    """How rows are split.

    Attributes
    ----------
    units : array of n
        Number of the unit of every row: a row group, rows with the same repeated factors, or the row itself.
    kind : str
        "rows", "row groups", "repeats", or "crossed repeats" for a design that crosses the levels of factors.
    block, fold : array of n
        Block of the jackknife and fold of every row; units are not split.
    """

    units: Rows
    kind: str
    block: Rows
    fold: Rows

    @property
    def n_rows(self) -> int:
        """Number of rows, n."""
        return self.units.size

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.units.max()) + 1

    @property
    def n_blocks(self) -> int:
        """Number of blocks of the jackknife."""
        return int(self.block.max()) + 1

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @property
    def n_effective(self) -> int:
        """Number of rows that limits the size of models: all rows unless factors repeat in bursts."""
        return self.n_rows if self.kind in ("rows", "crossed repeats") else self.n_units

    def rows(self, index: Rows) -> Sample:
        """The same split of some of the rows."""
        block = np.unique(self.block[index], return_inverse=True)[1]
        fold = np.unique(self.fold[index], return_inverse=True)[1]
        return Sample(np.unique(self.units[index], return_inverse=True)[1], self.kind, block, fold)

    def permutations(self, times: int, rng: np.random.Generator) -> list[Rows]:
        """Orders of rows in which each row takes its factor from a random row of another unit."""
        if self.n_units == self.n_rows:
            return [rng.permutation(self.n_rows) for _ in range(times)]
        place = np.argsort(self.units, kind="stable")
        size = np.bincount(self.units)
        start = np.cumsum(size) - size
        orders = []
        for _ in range(times):
            other = rng.permutation(self.n_units)[self.units]  # the unit from which each row takes its factor
            orders.append(place[start[other] + rng.integers(0, size[other])])
        return orders


def sample_of(factors: FloatArray, classes: NDArray[np.bool_], row_groups: Rows | None, seed: int) -> Sample:
    """Units of the rows, and their split into blocks and folds; ``classes`` says which factors are no numbers.

    Without row groups, rows that repeat the same factors are one unit, if there are 15 units or more: codes may tell
    such rows apart without knowing the factor. A factor that crosses all others makes no units, so that unrelated
    factors change nothing: units are the combinations of the others, if these occur in fewer combinations than they
    could, and no class in fewer than 5 units, because a class can be held out only where it is seen elsewhere, too. If
    all factors are crossed, 60 combinations or more are units. The split knows nothing else of the factors. Folds with
    equal shares of all classes repeat a chance correlation of two factors in every fold, where it predicts one of them
    from codes that depend on both together.
    """
    n_rows = len(factors)
    units, kind = np.arange(n_rows), "rows"
    if row_groups is not None:
        units, kind = row_groups, "row groups"
    else:
        levels = [np.unique(column, return_inverse=True)[1].ravel() for column in factors.T]
        repeated = [j for j, level in enumerate(levels) if level.max() + 1 <= n_rows / 5]
        tied = [j for j in repeated if len(repeated) == 1 or not _crosses(levels, repeated, j, seed)]
        crossed = len(tied) < len(repeated)
        for names, name, fewest in ((tied, "repeats", 15), (repeated if crossed else [], "crossed repeats", 60)):
            same = _combinations([levels[j] for j in names])
            seldom = any(_fewest_units(levels[j], same) < FOLDS for j in names if classes[j])
            if kind == "rows" and fewest <= same.max() + 1 <= n_rows / 2 and not seldom:
                units, kind = same, name
    n_units = int(units.max()) + 1
    block = fold_of_each_row(n_rows, None if kind == "rows" else units, min(BLOCKS, n_units), seed)
    return Sample(units, kind, block, block % min(FOLDS, n_units))


def _combinations(levels: Sequence[Rows]) -> Rows:
    """Number of the combination of levels that each row has.

    >>> _combinations([np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])]).tolist()
    [0, 1, 2, 2]
    """
    found = np.zeros(len(levels[0]) if levels else 1, dtype=np.intp)
    for level in levels:
        found = np.unique(found * (int(level.max()) + 1) + level, return_inverse=True)[1].ravel()
    return found


def _crosses(levels: Sequence[Rows], repeated: Sequence[int], j: int, seed: int) -> bool:
    """Whether a factor adds to the combinations of the others more than half of what it adds in random order."""
    others = _combinations([levels[k] for k in repeated if k != j])
    order = random_stream(seed, "do repeated factors cross").permutation(len(others))
    seen, shuffled = (int(_combinations([others, level]).max()) for level in (levels[j], levels[j][order]))
    return 2 * (seen - int(others.max())) > shuffled - int(others.max())


def _fewest_units(level: Rows, units: Rows) -> int:
    """The fewest units in which any level occurs."""
    first_rows = np.unique(_combinations([units, level]), return_index=True)[1]
    return int(np.bincount(level[first_rows]).min())


@dataclass(frozen=True, eq=False)
class FactorTerms:
    """One factor as columns.

    Attributes
    ----------
    target : array, n x q
        Columns that are predicted: the number (its values or the normal scores of its ranks), cosine and sine, or
        indicators of the classes; with mean 0.
    functions : array, n x p
        Orthonormal functions with mean 0 and variance 1; the first ``n_linear`` span the target.
    factors_of_pairs : array, n x r
        A few orthonormal functions for products with other factors.
    to_given : array, q x p, or None
        Map from the target of a block of factors, which is an orthonormal basis, to the columns of its factors.
    """

    name: str
    target: FloatArray
    functions: FloatArray
    n_linear: int
    factors_of_pairs: FloatArray
    to_given: FloatArray | None = None

    def permuted(self, order: Rows) -> FactorTerms:
        """The same columns with their rows in another order."""
        target, functions, pairs = (each[order] for each in (self.target, self.functions, self.factors_of_pairs))
        return replace(self, target=target, functions=functions, factors_of_pairs=pairs)

    def rows(self, index: Rows) -> FactorTerms:
        """The factor on some of the rows, with functions that are orthonormal on them."""
        target = self.target[index] - self.target[index].mean(axis=0)
        functions, pairs = (ordered_basis(each[index]) for each in (self.functions, self.factors_of_pairs))
        n_linear = min(self.n_linear, functions.shape[1])  # some classes may be missing
        return replace(self, target=target, functions=functions, n_linear=n_linear, factors_of_pairs=pairs)


def ordered_basis(columns: FloatArray) -> FloatArray:
    """Orthonormal columns with mean 0 and variance 1; the first k span the first k given columns that add something.

    >>> ordered_basis(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]])).shape
    (3, 1)
    """
    basis = np.empty((len(columns), 0))
    for column in (columns - columns.mean(axis=0)).T:
        size, rest = np.linalg.norm(column), column
        for _ in range(2):  # twice, because one pass loses orthogonality by rounding
            rest = rest - basis @ (basis.T @ rest)
        norm = np.linalg.norm(rest)
        if norm > 1e-6 * size and size > 0:
            basis = np.column_stack([basis, rest / norm])
    return np.asarray(basis * np.sqrt(len(columns)))


def has_scale(column: FloatArray, declared: DeclaredKind) -> bool:
    """Whether values have an order or a distance, so that those between known values can be predicted."""
    return declared.kind.is_circular or (declared.kind.is_numeric and np.unique(column).size > 2)


def scales_of(column: FloatArray, declared: DeclaredKind, ranks_alone: bool = False) -> tuple[FloatArray, ...]:
    """Alternative targets of a factor: ranks and values of a number; one for a circle or for classes."""
    if declared.kind.is_numeric and np.unique(column).size > 2:
        scores, values = normal_scores(column[:, None]), clipped_values(column[:, None])
        return (scores,) if ranks_alone else (scores, values - values.mean(axis=0))
    if declared.kind.is_circular:
        waves = declared.target_columns(column)
        return (waves - waves.mean(axis=0),)
    indicators = (column[:, None] == np.unique(column)).astype(np.float64)
    return (indicators - indicators.mean(axis=0),)


def factor_of(
    name: str, column: FloatArray, declared: DeclaredKind, target: FloatArray, n_functions: int, n_classes: int
) -> FactorTerms:
    """Functions of a factor: at most ``n_functions`` of a number, and indicators of at most ``n_classes`` classes."""
    if declared.kind.is_numeric and np.unique(column).size > 2:
        scores = normal_scores(column[:, None])
        levels = np.unique(column)
        if levels.size <= FEW_LEVELS and n_functions >= levels.size - 1:
            more = (column[:, None] == levels).astype(np.float64)
        else:
            more = natural_spline(scores[:, 0], n_functions) if n_functions > 1 else target
        functions = ordered_basis(np.column_stack([target, more]))
        products = np.column_stack([scores, np.tanh(2.5 * scores)]) if n_functions >= 3 else scores
        return FactorTerms(name, target, functions, 1, ordered_basis(products))
    if declared.kind.is_circular:
        turns = declared.angle(column)[:, None] * np.arange(1, max(1, min(3, n_functions // 2)) + 1)
        waves = np.stack([np.cos(turns), np.sin(turns)], axis=2).reshape(len(column), -1)
        return FactorTerms(name, target, ordered_basis(waves), 2, ordered_basis(target))
    frequent = np.argsort(-np.square(target).sum(axis=0), kind="stable")[: max(1, n_classes)]
    functions = ordered_basis(target[:, frequent])
    return FactorTerms(name, target, functions, functions.shape[1], functions[:, :3])


def own_axes(white_columns: FloatArray) -> FloatArray:
    """Rotation of uncorrelated columns to the axes of their fourth moments (FOBI, Cardoso 1989), in any basis.

    >>> table = np.random.default_rng(0).normal(size=(100, 2))
    >>> one, other = white(table), white(table @ [[1.0, 2.0], [3.0, -1.0]])
    >>> bool(np.allclose(one, other))
    True
    """
    weights = np.square(white_columns).sum(axis=1, keepdims=True)
    axes = np.linalg.eigh((weights * white_columns).T @ white_columns)[1]
    return np.asarray(axes * np.where(((white_columns @ axes) ** 3).sum(axis=0) < 0, -1.0, 1.0))


def white(columns: FloatArray) -> FloatArray:
    """Uncorrelated columns with mean 0 and variance 1 that do not depend on the basis of the given ones."""
    basis = orthonormal_basis(columns) * np.sqrt(len(columns))
    return np.asarray(basis @ own_axes(basis))


def block_of(name: str, given: FloatArray, target: FloatArray, most: int) -> FactorTerms:
    """Functions of a block of factors: polynomials of its columns, of the largest degree with at most ``most`` terms.

    Their span does not depend on the basis of the block.
    """
    width, terms = target.shape[1], [target]
    for degree in range(2, MOST_DEGREE + 1):
        chosen = list(itertools.combinations_with_replacement(range(width), degree))
        if sum(each.shape[1] for each in terms) + len(chosen) > most:
            break
        terms.append(np.stack([target[:, list(places)].prod(axis=1) for places in chosen], axis=1))
    functions = ordered_basis(np.hstack(terms))
    return FactorTerms(name, target, functions, width, target, to_given=target.T @ given / len(given))


@dataclass(frozen=True, eq=False)
class Fits:
    """Fits of c columns: one for each left-out block, and the last one for all rows.

    Attributes
    ----------
    model : array of c
        Index of the model of each column.
    coefficients : array, (blocks + 1) x p x c
        Coefficients of all functions; 0 for functions outside a column's model.
    noise : array, (blocks + 1) x c
        Residual variances.
    """

    model: NDArray[np.intp]
    coefficients: FloatArray
    noise: FloatArray


@dataclass(frozen=True)
class Readout:
    """How well a readout follows its factor when all factors are drawn independently.

    Attributes
    ----------
    r2, r2_error, r2_interval : float, float, (float, float)
        Squared correlation with the factor under z*, 0 if negatively correlated; its jackknife standard error; and the
        95 % interval of the correlation, squared.
    leakage, leakage_interval : float, (float, float)
        Share of the readout's variance under z* that other factors and products cause, and its 95 % interval.
    noise : float
        Share that no factor explains.
    by_factor : array of d
        Share of every factor.
    replicates : array of blocks
        ``r2`` without each block.
    """

    r2: float
    r2_error: float
    r2_interval: tuple[float, float]
    leakage: float
    leakage_interval: tuple[float, float]
    noise: float
    by_factor: FloatArray
    replicates: FloatArray


def no_readout(d: int, n_blocks: int) -> Readout:
    """A readout that does not vary."""
    return Readout(0.0, 0.0, (0.0, 0.0), 0.0, (0.0, 0.0), 1.0, np.zeros(d), np.zeros(n_blocks))


def jackknife_error(replicates: FloatArray) -> FloatArray:
    """Standard error from the values without each block (along the first axis)."""
    k = len(replicates)
    return np.asarray(np.sqrt((k - 1) / k * np.square(replicates - replicates.mean(axis=0)).sum(axis=0)))


def jackknife_bias(replicates: FloatArray) -> FloatArray:
    """Bias of the last value (along the first axis), estimated from the values without each block before it."""
    return np.asarray((len(replicates) - 2) * (replicates[:-1].mean(axis=0) - replicates[-1]))


class ResponseModel:
    """Nested models of columns as functions of factors: each factor alone, linear, additive, additive with products.

    For each column the smallest model is used whose out-of-block loss is within one standard error of the smallest
    loss; models of one factor come first. Without this choice, noisy private codes of correlated factors would look
    mixed.
    """

    def __init__(self, factors: Sequence[FactorTerms], sample: Sample) -> None:
        self.factors, self.sample = tuple(factors), sample
        n, d = sample.n_rows, len(factors)
        groups = [factor.functions for factor in factors]
        self.pairs: list[tuple[int, int]] = []
        room = max(0.0, sample.n_effective / ROWS_PER_TERM - sum(group.shape[1] for group in groups))
        few = [factor.factors_of_pairs for factor in factors]
        width = np.array([columns.shape[1] for columns in few])
        if (width.sum() ** 2 - np.square(width).sum()) / 2 > room:
            few = [columns[:, :1] for columns in few]
        if d * (d - 1) / 2 <= room:
            self.pairs = [(a, b) for a in range(d) for b in range(a + 1, d)]
        for a, b in self.pairs:
            groups.append((few[a][:, :, None] * few[b][:, None, :]).reshape(n, -1))
        self.pair_functions = few
        sizes = [group.shape[1] for group in groups]
        self.starts = 1 + np.r_[0, np.cumsum(sizes)[:-1]].astype(np.intp)
        self.stops = self.starts + np.array(sizes, dtype=np.intp)
        self.design = np.column_stack([np.ones(n), *groups])
        p = self.design.shape[1]
        of_pairs = np.arange(p) >= (self.starts[d] if self.pairs else p)
        self.penalty = np.where(of_pairs, RIDGE_OF_PAIRS, RIDGE) * np.maximum(np.square(self.design).sum(axis=0), TINY)
        self.penalty[0] = 1e-9 * n
        self.models, self.factor_of_model = self._index_sets(of_pairs)
        self.rows_of_blocks = [np.flatnonzero(sample.block == b) for b in range(sample.n_blocks)]
        self.design_of_blocks = [self.design[at] for at in self.rows_of_blocks]
        self.grams = np.stack([design.T @ design for design in self.design_of_blocks])
        self.counts = np.array([at.size for at in self.rows_of_blocks])
        self.inverses, self.grams_of_models = [], []
        for model in self.models:
            grams = self.grams if model.size == p else self.grams[:, model[:, None], model]
            self.inverses.append(self._inverses(grams, self.penalty[model]))
            self.grams_of_models.append(grams.sum(axis=0) + np.diag(self.penalty[model]))
        self.covariances = list(map(self._covariance, self.starts[:d], self.stops[:d]))

    def _covariance(self, start: int, stop: int) -> FloatArray:
        """Of these functions of a factor, without each block: z* is drawn from the rows that are left."""
        sums = self._leaving_out(self.grams[:, 0, start:stop])
        n_left = self._leaving_out(self.grams[:, 0, 0])[:, None]
        moments, mean = self._leaving_out(self.grams[:, start:stop, start:stop]) / n_left[:, None], sums / n_left
        return np.asarray(moments - mean[:, :, None] * mean[:, None])

    def _index_sets(self, of_pairs: NDArray[np.bool_]) -> tuple[list[Rows], NDArray[np.intp]]:
        d, everything = len(self.factors), np.arange(self.design.shape[1])
        models, of = [], []
        if d > 1:
            for j in range(d):
                models.append(np.r_[0, self.starts[j] : self.stops[j]])
                of.append(j)
        linear = [np.arange(s, s + f.n_linear) for s, f in zip(self.starts, self.factors, strict=False)]
        models += [np.concatenate([[0], *linear]), everything[~of_pairs]]
        of += [-1, -1]
        if self.pairs:
            models.append(everything)
            of.append(-1)
        return [np.asarray(model, dtype=np.intp) for model in models], np.array(of)

    @staticmethod
    def _leaving_out(totals: FloatArray) -> FloatArray:
        """Sums over all blocks but one, for every block, and the sum over all blocks at the end."""
        left = np.empty((len(totals) + 1, *totals.shape[1:]))
        left[-1] = totals.sum(axis=0)
        np.subtract(left[-1], totals, out=left[:-1])
        return left

    def _inverses(self, grams: FloatArray, penalty: FloatArray) -> FloatArray:
        """Inverses of the sums of Gram matrices over all blocks but one, and over all, each with the penalty."""
        part, p = self._leaving_out(grams), penalty.size
        part.reshape(len(part), -1)[:, :: p + 1] += penalty
        if p < LARGE:
            return np.asarray(np.linalg.inv(part))
        for i, matrix in enumerate(part):  # by Cholesky's factors, in half the time
            upper, failed = lapack.dpotrf(matrix.T, overwrite_a=1)
            upper, failed = lapack.dpotri(upper, overwrite_c=1) if not failed else (upper, failed)
            if failed:
                raise np.linalg.LinAlgError("A Gram matrix is not positive definite.")
            part[i] = np.triu(upper) + np.triu(upper, 1).T
        return part

    def products(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums over each block of functions times columns (blocks x p x c), and of squared columns (blocks x c)."""
        of_blocks = [columns[rows] for rows in self.rows_of_blocks]
        pairs = zip(self.design_of_blocks, of_blocks, strict=True)
        with_functions = np.stack([design.T @ here for design, here in pairs])
        return with_functions, np.stack([np.square(here).sum(axis=0) for here in of_blocks])

    def fit(self, columns: FloatArray, *, together: bool = False) -> Fits:
        """Fit all columns; with ``together``, they are one readout and have the same model."""
        return self.fit_products(*self.products(columns), together=together)

    def fit_products(
        self,
        products: FloatArray,
        squares: FloatArray,
        *,
        together: bool = False,
        several: bool = False,
        n_readouts: int = 1,
    ) -> Fits:
        """Fit columns of which only the products with the functions, and their squares, are known.

        With ``several``, models of one factor are left out. With ``together``, the columns are this many readouts of
        equal width, one after another.
        """
        left = self._leaving_out(products)
        first = len(self.factors) if several and len(self.factors) > 1 else 0
        fits, losses = {}, []
        for i in range(first, len(self.models)):
            model = self.models[i]
            fits[i] = self.inverses[i] @ left[:, model]
            held_out = fits[i][:-1]
            # with the Gram matrix of a block, as (total + penalty - block) @ held_out = left: one matrix for all blocks
            of_block = self.grams_of_models[i] @ held_out - left[:-1, model]
            explained = (held_out * (2 * products[:, model] - of_block)).sum(axis=1)
            losses.append(squares - explained)
        loss = np.stack(losses)  # models x blocks x columns
        if together:
            of_readouts = loss.reshape(*loss.shape[:2], n_readouts, -1).sum(axis=3)
            loss = np.repeat(of_readouts, loss.shape[2] // n_readouts, axis=2)
        which = first + self._smallest_sufficient(loss, first)
        n_columns = squares.shape[1]
        coefficients = np.zeros((len(left), self.design.shape[1], n_columns))
        n_left = np.r_[self.sample.n_rows - self.counts, self.sample.n_rows].astype(np.float64)
        noise = np.zeros((len(left), n_columns))
        total = self._leaving_out(squares)
        for i in np.unique(which):
            at, model = np.flatnonzero(which == i), self.models[i]
            own = fits[i][:, :, at]
            coefficients[:, model[:, None], at] = own
            rest = total[:, at] - (own * left[:, model[:, None], at]).sum(axis=1)
            noise[:, at] = np.maximum(rest, 0.0) / np.maximum(n_left - model.size, 1.0)[:, None]
        return Fits(which, coefficients, noise)

    def _smallest_sufficient(self, loss: FloatArray, first: int) -> NDArray[np.intp]:
        total = loss.sum(axis=1)
        n_blocks = loss.shape[1]
        best = total.argmin(axis=0)
        excess = loss - np.take_along_axis(loss, best[None, None], axis=0)
        error = np.sqrt(n_blocks * excess.var(axis=1, ddof=1))
        allowed = excess.sum(axis=1) <= error + 1e-9 * total.max(axis=0)
        size = np.array([model.size for model in self.models[first:]])
        relative = total / np.maximum(total.max(axis=0), 1e-300)
        order = np.where(self.factor_of_model[first:, None] >= 0, relative, 10.0 + size[:, None])
        return np.asarray(np.where(allowed, order, np.inf).argmin(axis=0), dtype=np.intp)

    def variances(self, fits: Fits) -> FloatArray:
        """Variances under z*, (blocks + 1) x c x (factors, pairs, noise)."""
        squares = np.add.reduceat(np.square(fits.coefficients), self.starts, axis=1)
        for k, covariance in enumerate(self.covariances):
            own = fits.coefficients[:, self.starts[k] : self.stops[k]]
            squares[:, k] = (own * (covariance @ own)).sum(axis=1)
        return np.concatenate([squares.transpose(0, 2, 1), fits.noise[:, :, None]], axis=2)

    def readout(self, j: int, columns: FloatArray) -> Readout:
        """Response of a readout (n x q) of factor j."""
        if not np.isfinite(columns).all() or columns.var(axis=0).sum() < TINY:
            n_blocks = self.sample.n_blocks
            return no_readout(len(self.factors), n_blocks)
        return self.readout_of(j, self.fit(columns, together=True))

    def with_target(self, j: int) -> FloatArray:
        """Covariances (p x q) of the functions of factor j with its target."""
        return np.asarray(self.factors[j].functions.T @ self.factors[j].target / self.sample.n_rows)

    @property
    def target_columns(self) -> list[slice]:
        """Places of the targets of each factor in a table of all targets."""
        stops = np.cumsum([factor.target.shape[1] for factor in self.factors]).tolist()
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def _variances_and_correlations(self, j: int, fits: Fits, n_readouts: int) -> tuple[FloatArray, FloatArray]:
        """Of readouts of factor j: variances, (blocks + 1) x readouts x parts, and correlations with the target."""
        target = self.with_target(j)
        shape = (len(fits.noise), n_readouts, target.shape[1])
        variances = self.variances(fits).reshape(*shape, -1).sum(axis=2)
        own = fits.coefficients[:, self.starts[j] : self.stops[j]].reshape(shape[0], -1, *shape[1:])
        with_target = self.covariances[j] @ target
        covariance = (own * with_target[:, :, None]).sum(axis=(1, 3))
        of_target = (target * with_target).sum(axis=(1, 2))[:, None]
        # squared coefficients are too large by their sampling variance; the jackknife estimates by how much
        variances = variances - jackknife_bias(variances)
        covariance = covariance - jackknife_bias(covariance)
        variances[..., -1] = np.maximum(variances[..., -1], 0.0)
        # a class may occur in one block alone: without it nothing varies, and nothing is recovered
        scale = np.sqrt(np.maximum(variances.sum(axis=2), TINY) * np.maximum(of_target, TINY))
        return variances, np.where(of_target > TINY, covariance / scale, 0.0)

    def r2s_of(self, j: int, fits: Fits, n_readouts: int) -> FloatArray:
        """``Readout.r2`` of several readouts of factor j, whose columns were fitted one readout after another."""
        correlation = self._variances_and_correlations(j, fits, n_readouts)[1][-1]
        return np.minimum(np.square(np.maximum(correlation, 0.0)), 1.0)

    def readout_of(self, j: int, fits: Fits) -> Readout:
        """Response of a readout of factor j from the fits of its columns."""
        of_readouts, correlations = self._variances_and_correlations(j, fits, 1)
        variances, correlation = of_readouts[:, 0], correlations[:, 0]
        total = np.maximum(variances.sum(axis=1), TINY)
        r2 = np.square(np.maximum(correlation, 0.0))
        reach = student_reach(jackknife_error(correlation[:-1]), max(len(r2) - 2, 1), LEVEL)
        low, high = np.square(np.clip([correlation[-1] - reach, correlation[-1] + reach], 0.0, 1.0)).tolist()
        others = np.delete(variances[:, :-1], j, axis=1).sum(axis=1)
        leakage = np.maximum(others, 0.0) / total
        return Readout(
            r2=float(min(r2[-1], 1.0)),
            r2_error=float(jackknife_error(r2[:-1])),
            r2_interval=(low, high),
            leakage=float(min(leakage[-1], 1.0)),
            leakage_interval=self._leakage_interval(j, fits, leakage, float(total[-1])),
            noise=float(variances[-1, -1] / total[-1]),
            by_factor=np.maximum(variances[-1, : len(self.factors)], 0.0) / total[-1],
            replicates=r2[:-1],
        )

    def _leakage_interval(self, j: int, fits: Fits, leakage: FloatArray, total: float) -> tuple[float, float]:
        """Interval of a sum of squared coefficients b, which is far from normal where the sum is small.

        The sum is treated as s times a noncentral chi-squared variable of k degrees of freedom and noncentrality L / s,
        with L the leakage, s k = tr Cov(b), and s the scale with which its variance, 2 s (tr Cov(b) + 2 L), is
        2 |Cov(b)|^2 plus the jackknife variance of the leakage.
        """
        others = np.ones(self.design.shape[1], dtype=bool)
        others[0] = others[self.starts[j] : self.stops[j]] = False
        own = fits.coefficients[:-1, others].reshape(len(leakage) - 1, -1)
        n_free = len(own) - 1
        deviation = (own - own.mean(axis=0)) * np.sqrt(n_free / len(own) / total)
        inner = deviation @ deviation.T
        trace = float(np.trace(inner))
        square = max(float(np.square(inner).sum()) - trace**2 / n_free, trace**2 / max(own.shape[1], 1))
        first_order = float(jackknife_error(leakage[:-1])) ** 2
        found = float(leakage[-1])
        scale = (2 * square + first_order) / max(2 * trace + 4 * found, TINY)
        if scale < TINY:
            return found, found
        tail = float(special.ndtr(-student_reach(1.0, n_free, LEVEL)))
        degrees = max(trace / scale, 1e-3)
        observed = found / scale + degrees
        low, high = (scale * float(special.chndtrinc(observed, degrees, p)) for p in (1 - tail, tail))
        return min(low, found), min(max(high, found), 1.0)


@dataclass(frozen=True, eq=False)
class CodeTable:
    """The codes that vary, read in blocks of columns so that sparse codes are never dense as a whole.

    Attributes
    ----------
    alive : array of m
        Indices of these codes among all codes.
    rows : array of n
        The rows that are used.
    mean, spread : array of m
        Mean and standard deviation of each code.
    ranked : bool
        Whether codes are replaced by normal scores.
    units : dict of name to array, or None
        Indices of the codes of every unit that varies, if the evidence has blocks.
    """

    evidence: Evidence
    alive: Rows
    rows: Rows
    mean: FloatArray
    spread: FloatArray
    ranked: bool = False
    units: dict[str, Rows] | None = None

    def as_scores(self) -> CodeTable:
        """The codes replaced by normal scores of their ranks."""
        m = self.n_codes
        return replace(self, mean=np.zeros(m), spread=np.ones(m), ranked=True)

    def as_given(self) -> CodeTable:
        """The codes as given."""
        return code_table(self.evidence, self.alive, self.rows) if self.ranked else self

    @property
    def n_codes(self) -> int:
        """Number of codes that vary."""
        return self.alive.size

    def columns(self, index: Rows | slice) -> FloatArray:
        """Dense columns of some of the codes."""
        chosen = self.evidence.code_columns.chosen(self.alive[index])
        chosen = chosen if self.rows.size == len(chosen) else chosen[self.rows]
        return normal_scores(chosen) if self.ranked else chosen

    def standard(self, index: Rows | slice) -> FloatArray:
        """Some of the codes with mean 0 and variance 1."""
        return np.asarray((self.columns(index) - self.mean[index]) / self.spread[index])

    def views(self, index: slice) -> list[FloatArray]:
        """`views` of some of the codes; those of few codes are kept, because permutations of a sample share them."""
        if self.n_codes * self.rows.size > MOST_KEPT or index != slice(0, self.n_codes):
            return views(self.columns(index))
        return self._all_views

    @functools.cached_property
    def _all_views(self) -> list[FloatArray]:
        return views(self.columns(slice(None)))

    @property
    def unit_names(self) -> list[str]:
        """Names of the blocks, or of the codes if there are no blocks."""
        return [self.evidence.code_names[i] for i in self.alive] if self.units is None else list(self.units)

    @functools.cached_property
    def widths(self) -> FloatArray:
        """Number of codes of every unit."""
        return self.of_units(np.ones(self.n_codes))

    def of_units(self, values: FloatArray, axis: int = 0) -> FloatArray:
        """Values of codes, along this axis, added up for every unit."""
        if self.units is None:
            return values
        return np.stack([values.take(members, axis).sum(axis) for members in self.units.values()], axis)

    def columns_of(self, units: Rows) -> FloatArray:
        """Dense columns of all codes of these units."""
        if self.units is None:
            return self.columns(units)
        members = list(self.units.values())
        return self.columns(np.concatenate([members[i] for i in units]))

    def blocks(self, width: int = 256) -> list[slice]:
        """Slices of adjacent codes; one of all codes if units have several codes."""
        width = width if self.units is None else max(self.n_codes, 1)
        return [slice(start, min(start + width, self.n_codes)) for start in range(0, self.n_codes, width)]


def code_table(evidence: Evidence, alive: Rows, rows: Rows) -> CodeTable:
    """The given codes without those that are constant on these rows."""
    table = CodeTable(evidence, alive, rows, np.empty(0), np.empty(0))
    mean, spread, size = np.empty((3, alive.size))
    for block in table.blocks():
        columns = table.columns(block)
        size[block] = np.maximum(np.abs(columns).max(axis=0), np.finfo(np.float64).tiny)
        relative = columns / size[block]  # squares of very large codes overflow
        mean[block], spread[block] = relative.mean(axis=0) * size[block], relative.std(axis=0) * size[block]
    kept = spread > 1e-12 * size
    units = None
    if evidence.has_blocks:
        places = {name: np.flatnonzero(np.isin(alive[kept], own)) for name, own in evidence.code_units.items()}
        units = {name: members for name, members in places.items() if members.size}
    return CodeTable(evidence, alive[kept], rows, mean[kept], spread[kept], units=units)


VIEWS = 3

MOST_KEPT = 1_000_000  # largest table of codes, in numbers, of which three views are kept

LUCK = 0.01  # probability that any code of pure noise counts as informative

LEAST_SHARE = 0.005


def views(codes: FloatArray) -> list[FloatArray]:
    """Three views of codes: normal scores, distance of the scores from their median, and values without ranks."""
    scores = normal_scores(codes)
    return [scores, normal_scores(np.abs(scores - np.median(scores, axis=0))), clipped_values(codes)]


def clipped_values(columns: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1, and at most 6 standard deviations from their means."""
    relative = columns / np.maximum(np.abs(columns).max(axis=0), np.finfo(np.float64).tiny)
    values = (relative - relative.mean(axis=0)) / np.maximum(relative.std(axis=0), np.finfo(np.float64).tiny)
    return np.clip(values, -MOST_STANDARD_DEVIATIONS, MOST_STANDARD_DEVIATIONS)


@dataclass(frozen=True, eq=False)
class CodeResponses:
    """Response of every code to the factors, in the view that shows each factor best; or of every block of codes.

    The codes of a block are uncorrelated, so that sums over them do not depend on its basis.

    Attributes
    ----------
    share : array, m x d
        Share of the code's variance under z* that the factor causes; for a block, the number of dimensions, at most 1.
    unmixed : array, m x d
        The same as a share of what all factors cause, so that noise does not count; 0 for uninformative codes.
    informative : array, m
        Whether the factors explain a code significantly.
    noise : array, m
        Share of the code's variance that no factor explains.
    """

    share: FloatArray
    unmixed: FloatArray
    informative: NDArray[np.bool_]
    noise: FloatArray

    @property
    def worth(self) -> FloatArray:
        """Share times unmixed share (m x d), by which codes are ranked."""
        return self.share * self.unmixed


def code_responses(model: ResponseModel, codes: CodeTable) -> CodeResponses:
    """Responses of all codes; one view out of three is used for each code and factor."""
    d, m = len(model.factors), codes.widths.size
    share, unmixed, noise = np.zeros((m, d)), np.zeros((m, d)), np.ones(m)
    informative = np.zeros(m, dtype=bool)
    bar = stats.t.isf(LUCK / max(VIEWS * m, 1), model.sample.n_blocks - 1)
    for block in codes.blocks():
        width = codes.widths[block][:, None]
        best = np.zeros((len(width), d))
        for columns in codes.views(block):
            variances = codes.of_units(model.variances(model.fit(columns)), axis=1)
            n_blocks = len(variances) - 1
            corrected = n_blocks * variances[-1] - (n_blocks - 1) * variances[:-1].mean(axis=0)
            explained = variances[:, :, :-1].sum(axis=2) / np.maximum(variances.sum(axis=2), TINY)
            explained = explained - (n_blocks - 1) * (explained[:-1].mean(axis=0) - explained[-1])
            error = jackknife_error(explained[:-1])
            known = (explained[-1] > bar * error) & (explained[-1] > LEAST_SHARE)
            # signed components are added up before clipping; otherwise noise in many small ones would count as mixing
            signal = np.maximum(corrected[:, :-1].sum(axis=1), corrected[:, :d].max(axis=1))
            own = np.maximum(corrected[:, :d], 0.0)
            left = np.maximum(corrected[:, -1], 0.0)
            of_code = own / np.maximum(signal + left, TINY)[:, None]
            of_code = of_code if codes.units is None else np.minimum(width * of_code, 1.0)
            of_signal = np.where(known[:, None], own / np.maximum(signal, TINY)[:, None], 0.0)
            better = of_code * of_signal > best
            best = np.where(better, of_code * of_signal, best)
            share[block] = np.where(better, of_code, share[block])
            unmixed[block] = np.where(better, np.minimum(of_signal, 1.0), unmixed[block])
            informative[block] |= known
            of_noise = left / np.maximum(signal + left, TINY)
            of_noise = np.maximum(1 - width[:, 0] * (1 - of_noise), 0.0) if codes.units is not None else of_noise
            noise[block] = np.minimum(noise[block], np.where(known, of_noise, 1.0))
    return CodeResponses(share, unmixed, informative, noise)
