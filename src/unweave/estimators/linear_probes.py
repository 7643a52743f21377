"""Linear probes, classifiers on a single code, and probes of increasing capacity."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from unweave.arrays import FloatArray
from unweave.errors import InputError
from unweave.estimators.boosting import BinnedCodes, Boosting
from unweave.estimators.correlation import column_norms
from unweave.estimators.probes import ByIndicators, ByScikitLearn
from unweave.estimators.sparse import SparseTable
from unweave.options import Count, Positive, Rate, Whole, checks_options
from unweave.randomness import random_seed

PENALTIES = np.logspace(-9, 3, 37)
ROWS_PER_CODE = 5  # with fewer rows per code, directions of small variance cannot be distinguished from noise
LARGEST_SPARSE_FIT = 4096
ROUNDING = 1e-13  # eigenvalues below this share of the largest are rounding errors due to linearly dependent codes


@dataclass(frozen=True)
class FittedLinear:
    """Centres and scales of the codes, and coefficients of the standardised codes (codes x targets)."""

    centre: FloatArray
    scale: FloatArray
    coefficients: FloatArray
    intercept: FloatArray

    @property
    def importance(self) -> FloatArray:
        """Norm over targets of the coefficients of each standardised code."""
        return np.asarray(np.sqrt(np.square(self.coefficients).sum(axis=1)))

    def predict(self, codes: FloatArray) -> FloatArray:
        """Predicted targets."""
        return np.asarray(_standardised(codes, self.centre, self.scale) @ self.coefficients + self.intercept)


@dataclass(frozen=True)
class LinearDesign:
    """Centres and scales of codes, and the eigendecomposition of their smaller Gram matrix: the costly part of a fit.

    All permutations of the targets share it. ``energies`` are the eigenvalues, and ``burdens`` the weight of the ridge
    penalty for each of them: 1 for a ridge on the codes.
    """

    centre: FloatArray
    scale: FloatArray
    energies: FloatArray
    vectors: FloatArray
    burdens: FloatArray

    def whitened(self, n_rows: int) -> LinearDesign:
        """Penalise all directions of the codes equally, so that an invertible linear map of the codes has no effect.

        >>> codes = np.random.default_rng(0).normal(size=(50, 2))
        >>> mixed = codes @ [[1.0, 1.0], [0.0, 0.001]]
        >>> targets = codes + np.random.default_rng(1).normal(size=(50, 2))
        >>> one, other = (Linear().design(c).whitened(50).fit(c, targets).predict(c) for c in (codes, mixed))
        >>> bool(np.allclose(one, other))
        True
        """
        kept = self.energies > ROUNDING * self.energies.max()
        energies = self.energies[kept]
        return replace(self, energies=energies, vectors=self.vectors[:, kept], burdens=energies / n_rows)

    def prepared(self, n_rows: int) -> LinearDesign:
        """The design of a probe: whitened with at least five rows per code."""
        return self.whitened(n_rows) if n_rows >= ROWS_PER_CODE * len(self.scale) else self

    def fit(self, codes: FloatArray, targets: FloatArray, seed: int = 0) -> FittedLinear:
        """Fit all targets with the codes of this design; ``seed`` is not used."""
        intercept = targets.mean(axis=0)
        standardised = _standardised(codes, self.centre, self.scale)
        coefficients = _ridge_by_cross_validation(self, standardised, targets - intercept)
        return FittedLinear(self.centre, self.scale, coefficients, intercept)


@dataclass(frozen=True)
class Linear(ByIndicators):
    """Least squares on standardised codes with an intercept, all targets in one factorisation.

    The ridge penalty of every target is the one of 37 (1e-9 to 1e3 per row) with the smallest generalised
    cross-validation error. It is negligible for few codes without noise, and prevents overfitting if there are more
    codes than rows.

    >>> codes = np.random.default_rng(0).normal(size=(100, 3))
    >>> fitted = Linear().regress(codes, codes[:, :1] + codes[:, 1:2], seed=0)
    >>> bool(np.allclose(fitted.predict(codes)[:, 0], codes[:, 0] + codes[:, 1]))
    True
    """

    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedLinear:
        """Fit all targets; ``seed`` is not used."""
        return self.design(codes).fit(codes, targets)

    def prepared(self, codes: FloatArray) -> LinearDesign:
        """A design; with at least five rows per code, its predictions do not depend on the basis of the codes."""
        return self.design(codes).prepared(len(codes))

    def largest_sparse_fit(self) -> int:
        """Largest min(rows, codes) of a `SparseTable` that the probe fits: the size of its Gram matrix."""
        return LARGEST_SPARSE_FIT

    def design(self, codes: FloatArray | SparseTable) -> LinearDesign:
        """The part of a fit that depends on the codes alone."""
        tall = codes.shape[1] <= codes.shape[0]
        if isinstance(codes, SparseTable):
            centre, scale = codes.centre_and_scale()
            gram = codes.standardised(centre, scale).gram(by_rows=not tall)
        else:
            centre, scale = codes.mean(axis=0), _safe_scale(codes)
            standardised = (codes - centre) / scale
            gram = standardised.T @ standardised if tall else standardised @ standardised.T
        energies, vectors = np.linalg.eigh(gram)
        return LinearDesign(centre, scale, np.maximum(energies, 0.0), vectors, np.ones_like(energies))


CONSTANT = 1e-9  # below this share of the mean, a spread may be rounding errors
ROWS_IN_CACHE = 2_048


class HeldOutFit(NamedTuple):
    """Centred targets (targets x rows of a fold), their predictions by a fit to all other rows, and their fit there.

    ``deviations`` are the squared deviations of the targets from their training means, and ``left`` is the variance of
    the training targets that the fit leaves.
    """

    targets: FloatArray
    predicted: FloatArray
    deviations: FloatArray
    left: FloatArray


DEPENDENT = 1e-8  # below this share of the largest, moments do not determine an eigenvalue well enough


@dataclass(frozen=True)
class LinearFolds:
    """Out-of-fold fits of `Linear` from moments: rows of one fold after another, and the design for all other rows.

    All permutations of the targets share it. Sums over the training rows are those over all rows without those over the
    fold, so that no fold needs a pass over the other ones. ``centred`` are the codes in this order without ``centre``;
    float32 are read again instead of doubled. A design is the mean of the training codes and the Cholesky factor of
    their Gram matrix, both in units of ``scale``.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    codes: FloatArray
    centre: FloatArray
    centred: FloatArray | None
    scale: FloatArray
    designs: tuple[tuple[FloatArray, FloatArray], ...]

    @classmethod
    def of(cls, codes: FloatArray, folds: Sequence[NDArray[np.intp]]) -> LinearFolds | None:
        """Designs for codes and the rows of every fold; None with few rows, or if codes are nearly dependent."""
        rows, starts = np.concatenate(folds), np.cumsum([0, *map(len, folds)])
        n_rows, most_codes = rows.size, (rows.size - max(map(len, folds))) // ROWS_PER_CODE
        first = np.ascontiguousarray(codes[:ROWS_IN_CACHE])  # the order of sums must not depend on the layout in memory
        centre, precise = first.mean(axis=0, dtype=np.float64), np.array(False)
        if codes.shape[1] <= most_codes:
            centred, grams, sums = _moments(codes, centre, rows, starts)
            squares = grams.sum(axis=0).diagonal()
            with np.errstate(over="ignore", invalid="ignore"):
                spread = np.sqrt(squares / n_rows - np.square(sums.sum(axis=0) / n_rows))
                precise = (n_rows * np.square(spread) > 0.1 * squares) & (spread > CONSTANT * np.abs(centre))
                precise &= squares < np.inf
        if not precise.all():  # the first rows have another mean, or a code is constant
            centre, norms = column_norms(codes)
            live = norms > CONSTANT * np.abs(centre) * np.sqrt(n_rows)
            live[~live] = codes[:, ~live].max(axis=0) > codes[:, ~live].min(axis=0)
            if not 0 < live.sum() <= most_codes:
                return None
            codes, centre, spread = codes if live.all() else codes[:, live], centre[live], norms[live] / np.sqrt(n_rows)
            spread = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
            centred, grams, sums = _moments(codes, centre, rows, starts)
        grams, sums, designs = grams / np.outer(spread, spread), sums / spread, []
        for n_test, gram, total in zip(np.diff(starts).tolist(), grams, sums, strict=True):
            n_train = n_rows - n_test
            middle = (sums.sum(axis=0) - total) / n_train
            factor = _factor(grams.sum(axis=0) - gram - n_train * np.outer(middle, middle))
            if factor is None:
                return None
            designs.append((middle, factor))
        return cls(rows, starts, codes, centre, centred, spread, tuple(designs))

    def fitted(self, targets: FloatArray) -> Iterator[HeldOutFit]:
        """The fit to all other rows for every fold, with the centred targets of the fold."""
        middle = targets.mean(axis=0)
        centred = np.take(targets.T, self.rows, axis=1)
        centred -= middle[:, None]
        parts = [slice(*ends) for ends in itertools.pairwise(self.starts.tolist())]
        own = [centred[:, part] for part in parts]
        cross = np.array([self._codes(part).T @ here.T for part, here in zip(parts, own, strict=True)])
        cross /= self.scale[:, None]
        sums = np.array([here.sum(axis=1) for here in own])
        squares = np.array([np.einsum("ij,ij->i", here, here) for here in own])
        n_test = np.diff(self.starts)[:, None]
        n_train, centres = len(targets) - n_test, np.array([centre for centre, _ in self.designs])
        mean = (sums.sum(axis=0) - sums) / n_train
        total = squares.sum(axis=0) - squares - n_train * np.square(mean)
        products = cross.sum(axis=0) - cross - n_train[:, :, None] * centres[:, :, None] * mean[:, None]
        slopes = np.array([dpotrs(factor, b)[0] for (_, factor), b in zip(self.designs, products, strict=True)])
        # a ridge that penalises all directions equally divides the coefficients of least squares
        explained, penalties = (slopes * products).sum(axis=1), PENALTIES[:, None, None]
        residual = np.maximum(total - explained * (1 + 2 * penalties) / np.square(1 + penalties), 0.0)
        best = _best_penalties(residual, n_train - 1 - len(self.scale) / (1 + penalties), total, n_train)
        slopes /= (1 + PENALTIES[best])[:, None]
        left = np.take_along_axis(residual, best[None], axis=0)[0] / n_train
        deviations = squares - 2 * mean * sums + n_test * np.square(mean)
        starts = mean - (centres[:, None] @ slopes)[:, 0]
        slopes /= self.scale[:, None]
        for k, part in enumerate(parts):
            predicted = slopes[k].T @ self._codes(part).T
            predicted += starts[k][:, None]
            yield HeldOutFit(own[k], predicted, deviations[k], left[k])

    def _codes(self, part: slice) -> FloatArray:
        """Codes of some of the rows, without their centre."""
        return self.codes[self.rows[part]] - self.centre if self.centred is None else self.centred[part]


def _moments(
    codes: FloatArray, centre: FloatArray, rows: NDArray[np.intp], starts: NDArray[np.intp]
) -> tuple[FloatArray | None, FloatArray, FloatArray]:
    """Codes in this order of rows without their centre, if float64, and their Gram matrix and sums in every fold."""
    centred = np.empty(codes.shape) if codes.dtype == np.float64 else None
    grams, sums = np.zeros((starts.size - 1, centre.size, centre.size)), np.zeros((starts.size - 1, centre.size))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, (start, stop) in enumerate(itertools.pairwise(starts.tolist())):
            for first in range(start, stop, ROWS_IN_CACHE):
                chosen = slice(first, min(first + ROWS_IN_CACHE, stop))
                out = None if centred is None else centred[chosen]
                block = np.subtract(np.take(codes, rows[chosen], axis=0), centre, out=out)
                grams[k] += block.T @ block
                sums[k] += np.ones(len(block)) @ block
    return centred, grams, sums


def _factor(gram: FloatArray) -> FloatArray | None:
    """Cholesky factor of a Gram matrix; None if its smallest eigenvalue is nearly 0."""
    factor, failed = dpotrf(gram)
    if failed:
        return None
    inverse = np.triu(dpotri(factor)[0])
    # the product of these norms is never below the ratio of the largest and the smallest eigenvalue
    if 2 * DEPENDENT * np.trace(gram) * np.linalg.norm(inverse) >= 1:
        energies = np.linalg.eigvalsh(gram)
        if energies[0] < DEPENDENT * energies[-1]:
            return None
    return np.asarray(factor)


def _standardised(codes: FloatArray | SparseTable, centre: FloatArray, scale: FloatArray) -> Any:
    """The standardised codes, as an array or as a table that supports matrix products."""
    return codes.standardised(centre, scale) if isinstance(codes, SparseTable) else (codes - centre) / scale


def _ridge_by_cross_validation(design: LinearDesign, codes: Any, targets: FloatArray) -> FloatArray:
    """Ridge coefficients (codes x targets) of standardised codes and centred targets."""
    n_rows, n_codes = codes.shape
    total = np.square(targets).sum(axis=0)
    if n_codes <= n_rows:
        return ridge_coefficients(design, codes.T @ targets, total, n_rows)
    loads = design.vectors.T @ targets
    # without a penalty, more codes than rows fit any targets exactly
    added = n_rows * PENALTIES[PENALTIES >= 1e-6][:, None] * design.burdens
    shrunk = design.energies + added
    residual = (np.square(loads)[None] * np.square(added / shrunk)[:, :, None]).sum(axis=1)
    chosen = _chosen(design, shrunk, residual, total, n_rows)
    return np.asarray(codes.T @ (design.vectors @ (loads / chosen)))


def ridge_coefficients(design: LinearDesign, products: FloatArray, total: FloatArray, n_rows: int) -> FloatArray:
    """Ridge coefficients (codes x targets) from products of the codes with the centred targets, if n_codes <= n_rows.

    ``total`` is the sum of squares of every target.

    >>> codes = np.random.default_rng(0).normal(size=(50, 2))
    >>> codes = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    >>> targets = codes @ [[1.0], [2.0]]
    >>> ridge_coefficients(Linear().design(codes), codes.T @ targets, np.square(targets).sum(axis=0), 50).round(6)
    array([[1.],
           [2.]])
    """
    loads = design.vectors.T @ products
    added = n_rows * PENALTIES[:, None] * design.burdens
    shrunk = design.energies + added
    explained = (np.square(loads)[None] * ((design.energies + 2 * added) / shrunk**2)[:, :, None]).sum(axis=1)
    chosen = _chosen(design, shrunk, np.maximum(total - explained, 0.0), total, n_rows)
    return np.asarray(design.vectors @ (loads / chosen))


def _chosen(
    design: LinearDesign, shrunk: FloatArray, residual: FloatArray, total: FloatArray, n_rows: int
) -> FloatArray:
    """Energies plus the penalty with the smallest generalised cross-validation error (directions x targets)."""
    freedom = n_rows - 1 - (design.energies / shrunk).sum(axis=1)
    return np.asarray(shrunk[_best_penalties(residual, freedom[:, None], total, n_rows)].T)


def _best_penalties(residual: FloatArray, freedom: FloatArray, total: FloatArray, n_rows: Any) -> NDArray[np.intp]:
    """Number of the penalty with the smallest generalised cross-validation error for every target."""
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(freedom > 1e-3 * n_rows, residual / np.square(freedom), np.inf)
    # among penalties with residuals at rounding level, the smallest is chosen
    return np.maximum(errors, 1e-15 * total / n_rows**2).argmin(axis=0)


@checks_options
@dataclass(frozen=True)
class Lasso(ByScikitLearn, ByIndicators):
    """The lasso on standardised codes and targets; the importance of a code is the norm of its coefficients.

    ``penalty`` is scikit-learn's alpha, or None to choose it by five-fold cross-validation. Labels are fitted through
    their indicators.

    >>> codes = np.random.default_rng(0).normal(size=(100, 3))
    >>> bool(Lasso(penalty=0.1).regress(codes, codes[:, :1], seed=0).importance.argmax() == 0)
    True
    """

    penalty: Positive | None = None

    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedLinear:
        """Fit one lasso per target."""
        from sklearn.linear_model import Lasso as FixedLasso
        from sklearn.linear_model import LassoCV

        centre, scale = codes.mean(axis=0), _safe_scale(codes)
        middle, spread = targets.mean(axis=0), _safe_scale(targets)
        standardised = (codes - centre) / scale
        coefficients = np.zeros((codes.shape[1], targets.shape[1]))
        for t in range(targets.shape[1]):
            recipe = LassoCV(cv=5) if self.penalty is None else FixedLasso(alpha=self.penalty)
            coefficients[:, t] = recipe.fit(standardised, (targets[:, t] - middle[t]) / spread[t]).coef_
        return FittedLinear(centre, scale, coefficients * spread, middle)


def _safe_scale(columns: FloatArray) -> FloatArray:
    """Standard deviations, with 1 for columns that are constant up to rounding."""
    largest = np.abs(columns).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    spread = (columns / unit).std(axis=0) * unit
    return np.where(spread > 1e-12 * largest, spread, 1.0)


IntArray = NDArray[np.intp]


class LineClassifier(Protocol):
    """A frozen recipe for classifiers that predict labels from one code each.

    >>> classifier: LineClassifier = Neighbourhood(k=1)
    >>> train, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> classifier.predictions(train, labels, np.array([[0.1], [2.9]]), seed=0)[:, 0].tolist()
    [0, 1]
    """

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes)."""


@checks_options
@dataclass(frozen=True)
class Neighbourhood:
    """Weighted majority label among the ``k`` training rows whose code is nearest to that of the test row.

    With few rows ``k`` is at most half of the mean number of training rows of a label, because neighbours would
    otherwise reach into other labels even if a code separates them. It can separate any interval of the code, so that
    classes between others are as easy as those at the ends. Every training row has weight 1 / size of its class, so
    that rare labels are not outvoted.

    >>> code = np.repeat([0.0, 1.0, 2.0], 20)[:, None]
    >>> labels = np.repeat([0, 1, 0], 20)
    >>> bool((Neighbourhood().predictions(code, labels, code, 0)[:, 0] == labels).all())
    True
    """

    k: Count = 15

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes); ``seed`` is not used."""
        n_rows, n_labels = len(train), int(labels.max()) + 1
        k = max(1, min(self.k, n_rows // (2 * n_labels)))
        weight = 1 / np.maximum(np.bincount(labels, minlength=n_labels), 1)
        predicted = np.empty(test.shape, dtype=np.intp)
        for i in range(train.shape[1]):
            order = np.argsort(train[:, i], kind="stable")
            line, seen = train[order, i], labels[order]
            below = np.zeros((n_rows + 1, n_labels))
            below[np.arange(1, n_rows + 1), seen] = weight[seen]
            np.cumsum(below, axis=0, out=below)
            left, right = np.searchsorted(line, test[:, i], "left"), np.searchsorted(line, test[:, i], "right")
            starts = np.clip(left + np.arange(-k, 1)[:, None], 0, n_rows - k)
            reach = np.maximum(test[:, i] - line[starts], line[starts + k - 1] - test[:, i])
            start = starts[reach.argmin(axis=0), np.arange(len(test))]
            # all rows with the same value vote
            predicted[:, i] = (below[np.maximum(right, start + k)] - below[np.minimum(start, left)]).argmax(axis=1)
        return predicted


@checks_options
@dataclass(frozen=True)
class LinearSvm(ByScikitLearn):
    """One linear support vector machine per label against the rest, as in Kumar et al. (2018); slow.

    With one code it is a threshold, which cannot separate a label that lies between two others.

    >>> codes, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 25), np.array([0, 0, 1, 1] * 25)
    >>> LinearSvm(strength=1.0).predictions(codes, labels, np.array([[-1.5], [1.5]]), seed=0)[:, 0].tolist()
    [0, 1]
    """

    strength: Positive = 0.01

    def predictions(self, train: FloatArray, labels: IntArray, test: FloatArray, seed: int) -> IntArray:
        """Predicted label of every test row by each code alone (rows x codes)."""
        from sklearn.svm import LinearSVC

        columns = []
        for i in range(train.shape[1]):
            machine = LinearSVC(
                C=self.strength, class_weight="balanced", random_state=random_seed(seed, "line classifiers")
            )
            columns.append(machine.fit(train[:, [i]], labels).predict(test[:, [i]]))
        return np.column_stack(columns)


NOTHING_LEFT = 1e-9


@checks_options
@dataclass(frozen=True)
class LinearThenTrees:
    """A linear probe, and increasing numbers of boosted trees fitted to its residuals; each probe extends the previous.

    The first probe is linear, so that a factor that is a linear function of the codes needs no further capacity. The
    predictions of the trees are bounded, so that heavy tails do not dominate them.

    >>> codes = np.random.default_rng(0).normal(size=(400, 2))
    >>> waves = np.sin(2 * codes)
    >>> losses = LinearThenTrees().losses(codes[:300], waves[:300], codes[300:], waves[300:], 0)
    >>> bool((losses[-1] < losses[0]).all())
    True
    """

    n_trees: tuple[Whole, ...] = (0, 1, 4, 16, 64)
    depth: Count = 3
    learning_rate: Rate = 0.3
    min_leaf: Count = 5

    def __post_init__(self) -> None:
        if len(self.n_trees) < 2 or not all(few < more for few, more in pairwise(self.n_trees)):
            raise InputError(f"n_trees={self.n_trees} is no ladder: use two or more numbers of trees, in rising order.")

    def losses(
        self, train: FloatArray, targets: FloatArray, test: FloatArray, test_targets: FloatArray, seed: int
    ) -> FloatArray:
        """Squared errors summed over test rows (probes x targets); test codes are clipped to their training range."""
        unseen = np.clip(test, train.min(axis=0), train.max(axis=0))
        linear = Linear().regress(train, targets, seed)
        left, wrong = targets - linear.predict(train), test_targets - linear.predict(unseen)
        losses = np.repeat(np.square(wrong).sum(axis=0)[None], len(self.n_trees), axis=0)
        something = np.square(left).sum(axis=0) > NOTHING_LEFT * np.square(targets - targets.mean(axis=0)).sum(axis=0)
        if something.any() and max(self.n_trees):
            boosting = Boosting(max(self.n_trees), self.depth, self.learning_rate, self.min_leaf)
            boosted = boosting.fit(BinnedCodes.of(train), left[:, something])
            wrong, n_done = wrong[:, something], 0
            for place, n_trees in enumerate(self.n_trees):
                if n_trees:
                    wrong = wrong - boosted.predict(unseen, n_done, n_trees)
                    losses[place, something], n_done = np.square(wrong).sum(axis=0), n_trees
        return losses
