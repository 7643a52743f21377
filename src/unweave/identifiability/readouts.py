"""Held-out readouts of factors from codes: linear directions, blocks of own codes, kernels and trees.

Every readout is a path of predictions, one for each penalty (or width), each made by a fit without the fold of the row.
The penalty for a fold is the one with the smallest error on all other folds, so that no inner loop is needed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from unweave.arrays import FloatArray, Rows
from unweave.estimators.correlation import normal_scores
from unweave.estimators.probes import unchecked
from unweave.estimators.regression import natural_spline
from unweave.identifiability.responses import (
    TINY,
    CodeResponses,
    CodeTable,
    Fits,
    Readout,
    ResponseModel,
    Sample,
    clipped_values,
)
from unweave.randomness import random_seed, random_stream

PENALTIES = 10.0 ** np.array([-6, -4, -3, -2, -1, 0, 1, 2, 4])  # times the mean eigenvalue

SMALL = 32  # columns of a table whose solutions for all penalties take less time together than a call for each

WIDE_PENALTIES = PENALTIES[::2]  # for more codes than rows, where each solution is expensive

FEW_PENALTIES = 10.0 ** np.array([-6, -4, -2, 0])


@dataclass(frozen=True, eq=False)
class Path:
    """Held-out predictions along a path of penalties.

    Attributes
    ----------
    errors : array, penalties x folds x c
        Sum of squared errors of every target column in every fold.
    predictions : array, penalties x n x k
        Predictions of the first k target columns.
    """

    errors: FloatArray
    predictions: FloatArray

    def choice(self, columns: slice) -> Rows:
        """For each fold, the penalty with the smallest error of these columns on the other folds."""
        errors = self.errors[:, :, columns].sum(axis=2)
        return np.asarray((errors.sum(axis=1, keepdims=True) - errors).argmin(axis=0))

    def error(self, columns: slice) -> float:
        """Sum of squared errors of these columns with the chosen penalties."""
        chosen = self.choice(columns)
        return float(self.errors[chosen, np.arange(chosen.size), columns].sum())

    def readout(self, columns: slice, fold: Rows) -> FloatArray:
        """Predictions of these columns with the chosen penalties."""
        return np.asarray(self.predictions[self.choice(columns)[fold], np.arange(fold.size), columns])

    def joined(self, other: Path) -> Path:
        """One path of both, from which the better penalty of either is chosen."""
        predictions = np.concatenate([self.predictions, other.predictions])
        return Path(np.concatenate([self.errors, other.errors]), predictions)


class _PathBuilder:
    """Collects predictions of one path, fold after fold."""

    def __init__(self, n_steps: int, targets: FloatArray, fold: Rows, n_kept: int) -> None:
        self.errors = np.zeros((n_steps, int(fold.max()) + 1, targets.shape[1]))
        self.predictions = np.zeros((n_steps, len(targets), n_kept))
        self.n_kept = n_kept
        self.rows = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
        self.targets = [targets[rows] for rows in self.rows]

    def add(self, step: int, fold: int, predicted: FloatArray) -> None:
        """Predictions of the first columns, or of all, for the rows of this fold."""
        n_columns = predicted.shape[1]
        self.errors[step, fold, :n_columns] = np.square(self.targets[fold][:, :n_columns] - predicted).sum(axis=0)
        if self.n_kept:
            self.predictions[step, self.rows[fold]] = predicted[:, : self.n_kept]

    def path(self) -> Path:
        """The path."""
        return Path(self.errors, self.predictions)


def held_out_r2(path: Path, columns: slice, targets: FloatArray) -> float:
    """Share of the variance of these target columns that held-out predictions explain; negative for noise."""
    own = targets[:, columns]
    return 1 - path.error(columns) / max(float(np.square(own - own.mean(axis=0)).sum()), TINY)


def held_out_r2s(path: Path, columns: slice, width: int, targets: FloatArray) -> FloatArray:
    """`held_out_r2` of several targets, each of so many of these columns."""
    errors = path.errors[:, :, columns]
    errors = errors.reshape(*errors.shape[:2], -1, width).sum(axis=3)
    chosen = (errors.sum(axis=1, keepdims=True) - errors).argmin(axis=0)
    found = np.take_along_axis(errors, chosen[None], axis=0)[0].sum(axis=0)
    total = (targets[:, columns].var(axis=0) * len(targets)).reshape(-1, width).sum(axis=1)
    return np.asarray(1 - found / np.maximum(total, TINY))


def ridge_path(
    inputs: FloatArray,
    targets: FloatArray,
    fold: Rows,
    penalties: FloatArray,
    n_kept: int | None = None,
    *,
    per_row: bool = False,
    scale: FloatArray | None = None,
) -> Path:
    """Ridge regression on dense columns, at most as many as rows; for each penalty times the mean eigenvalue.

    With ``per_row`` it is the mean eigenvalue of the inner products of rows, as in `kernel_path`. With a ``scale`` of
    every column, the path without it is joined with that of scaled columns, which have the same sums over folds.
    """
    n_kept = targets.shape[1] if n_kept is None else n_kept
    scales = [np.ones(inputs.shape[1])] if scale is None else [scale, np.ones(inputs.shape[1])]
    builder = _PathBuilder(len(scales) * len(penalties), targets, fold, n_kept)
    of_fold = [inputs[rows] for rows in builder.rows]
    products = np.stack([rows.T @ goal for rows, goal in zip(of_fold, builder.targets, strict=True)])
    target_sums = np.stack([goal.sum(axis=0) for goal in builder.targets])
    squares = np.stack([np.square(goal[:, n_kept:]).sum(axis=0) for goal in builder.targets])
    for k, found in enumerate(_folds_of_ridge(of_fold, products, target_sums, squares, n_kept)):
        scaled = penalties * (inputs.shape[1] / found.n) if per_row else penalties
        for step, (weights, errors) in enumerate(each for s in scales for each in found.solved(s, scaled)):
            builder.add(step, k, (of_fold[k] - found.mean) @ weights[:, :n_kept] + found.target_mean[:n_kept])
            builder.errors[step, k, n_kept:] = errors
    return builder.path()


@dataclass(frozen=True, eq=False)
class _FoldOfRidge:
    """What ridge regressions without one fold need: sums over the other rows, centred, and those over its own rows.

    Errors of the targets after the first ``n_kept`` follow from these, without a pass over rows.
    """

    n: int
    mean: FloatArray
    target_mean: FloatArray
    gram: FloatArray
    products: FloatArray
    own_gram: FloatArray
    own_products: FloatArray
    own_squares: FloatArray
    n_kept: int

    def solved(self, scale: FloatArray, penalties: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Weights on the columns as they are, and errors, for columns times this scale and each penalty."""
        gram = self.gram * np.outer(scale, scale)
        for weights in _ridge_weights(gram, self.products * scale[:, None], penalties):
            weights = weights * scale[:, None]
            left = weights[:, self.n_kept :]
            explained = (left * (2 * self.own_products - self.own_gram @ left)).sum(axis=0)
            yield weights, np.maximum(self.own_squares - explained, 0.0)


def _folds_of_ridge(
    of_fold: list[FloatArray], products: FloatArray, target_sums: FloatArray, squares: FloatArray, n_kept: int
) -> Iterator[_FoldOfRidge]:
    """Every fold, from its inputs, and its sums of inputs times targets (folds x m x c), targets and their squares."""
    grams, sums = np.stack([rows.T @ rows for rows in of_fold]), np.stack([rows.sum(axis=0) for rows in of_fold])
    gram, product, total, target_total = (each.sum(axis=0) for each in (grams, products, sums, target_sums))
    n_rows = sum(map(len, of_fold))
    for k, held_out in enumerate(of_fold):
        n_out = len(held_out)
        n = n_rows - n_out
        mean, target_mean = (total - sums[k]) / n, (target_total - target_sums[k]) / n
        shift = sums[k] - n_out * mean
        outer = products[k] - np.outer(mean, target_sums[k]) - np.outer(shift, target_mean)
        yield _FoldOfRidge(
            n=n,
            mean=mean,
            target_mean=target_mean,
            gram=gram - grams[k] - n * np.outer(mean, mean),
            products=product - products[k] - n * np.outer(mean, target_mean),
            own_gram=grams[k] - np.outer(mean, sums[k]) - np.outer(shift, mean),
            own_products=outer[:, n_kept:],
            own_squares=squares[k] - (target_mean * (2 * target_sums[k] - n_out * target_mean))[n_kept:],
            n_kept=n_kept,
        )


def _ridge_weights(gram: FloatArray, products: FloatArray, penalties: FloatArray) -> Iterator[FloatArray]:
    """Solutions (m x c) of ridge regressions, one for each penalty times the mean eigenvalue of the Gram matrix."""
    size = max(float(np.trace(gram)) / len(gram), 1e-300)
    if len(gram) <= SMALL and products.shape[1] <= SMALL:
        yield from np.linalg.solve(gram + (penalties * size)[:, None, None] * np.eye(len(gram)), products)
        return
    for penalty in penalties:
        shifted = gram.copy()
        shifted.flat[:: len(gram) + 1] += penalty * size
        # without the estimate of the condition number that scipy's solve adds, which takes as long as the solution
        _, weights, failed = lapack.dposv(shifted.T, products, overwrite_a=1)
        if failed:
            raise linalg.LinAlgError("A Gram matrix is not positive definite.")
        yield weights


def kernel_path(kernel: FloatArray, targets: FloatArray, fold: Rows, penalties: FloatArray, n_kept: int) -> Path:
    """Ridge regression from a kernel (n x n), which is centred on the training rows of each fold."""
    builder = _PathBuilder(len(penalties), targets, fold, n_kept)
    for k in range(int(fold.max()) + 1):
        _add_kernel_fold(builder, k, kernel, targets, fold, penalties)
    return builder.path()


def _add_kernel_fold(
    builder: _PathBuilder, k: int, kernel: FloatArray, targets: FloatArray, fold: Rows, penalties: FloatArray
) -> None:
    test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
    own, cross = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
    mean = own.mean(axis=0)
    centred = own - mean - mean[:, None] + mean.mean()
    cross = cross - cross.mean(axis=1, keepdims=True) - mean + mean.mean()
    target_mean = targets[train].mean(axis=0)
    goal, by_rows = targets[train] - target_mean, test.size < targets.shape[1]
    # with more targets than held-out rows, the weights of the training rows for each held-out row are cheaper
    for step, weights in enumerate(_ridge_weights(centred, cross.T if by_rows else goal, penalties)):
        builder.add(step, k, (weights.T @ goal if by_rows else cross @ weights) + target_mean)


def inner_products(codes: CodeTable, *, standard: bool) -> FloatArray:
    """Inner products (n x n) of the rows of codes, summed over blocks of codes."""
    n = codes.rows.size
    total = np.zeros((n, n))
    for block in codes.blocks():
        columns = codes.standard(block) if standard else codes.columns(block) - codes.mean[block]
        total += columns @ columns.T
    return total


def linear_path(codes: CodeTable, targets: FloatArray, fold: Rows, n_kept: int) -> Path:
    """Ridge regression on all codes, as they are and standardised: one suits rotated codes, the other rescaled ones."""
    if codes.n_codes <= codes.rows.size:
        # the mean eigenvalue sets the penalty, so that the common scale of the codes does not matter
        return ridge_path(codes.standard(slice(None)), targets, fold, PENALTIES, n_kept, scale=_relative_spread(codes))
    paths = [
        kernel_path(inner_products(codes, standard=standard), targets, fold, WIDE_PENALTIES, n_kept)
        for standard in (False, True)
    ]
    return paths[0].joined(paths[1])


def _relative_spread(codes: CodeTable) -> FloatArray:
    return np.asarray(codes.spread / codes.spread.max())


def permuted_r2s(codes: CodeTable, scales: Sequence[FloatArray], fold: Rows, orders: Sequence[Rows]) -> FloatArray:
    """`held_out_r2` of `linear_path` for each of these targets in each order of its rows (targets x orders).

    Sums over folds suffice, so that no permuted table is made. With more codes than rows, kernels need one.
    """
    width = [scale.shape[1] for scale in scales]
    if codes.n_codes > codes.rows.size:
        permuted = np.hstack([scale[order] for scale in scales for order in orders])
        null, stops = linear_path(codes, permuted, fold, 0), np.cumsum(width) * len(orders)
        places = [slice(stop - w * len(orders), stop) for w, stop in zip(width, stops.tolist(), strict=True)]
        return np.stack([held_out_r2s(null, at, w, permuted) for w, at in zip(width, places, strict=True)])
    standard, targets = codes.standard(slice(None)), np.hstack(scales)
    own_rows = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
    of_fold, c = [standard[rows] for rows in own_rows], targets.shape[1]
    products = np.empty((len(of_fold), codes.n_codes, len(orders) * c))
    sums, squares = np.empty((2, len(of_fold), len(orders) * c))
    for start, order in zip(range(0, len(orders) * c, c), orders, strict=True):
        for k, rows in enumerate(own_rows):
            goal, at = targets[order[rows]], slice(start, start + c)
            products[k, :, at], sums[k, at], squares[k, at] = (
                of_fold[k].T @ goal,
                goal.sum(axis=0),
                (goal * goal).sum(0),
            )
    errors = np.stack(
        [
            [
                error
                for s in (_relative_spread(codes), np.ones(codes.n_codes))
                for _, error in found.solved(s, PENALTIES)
            ]
            for found in _folds_of_ridge(of_fold, products, sums, squares, 0)
        ],
        axis=1,
    )  # steps x folds x columns
    starts = np.cumsum([0, *width[:-1]])
    total = squares.sum(axis=0) - np.square(sums.sum(axis=0)) / len(targets)
    of_scales = np.add.reduceat(errors.reshape(*errors.shape[:2], len(orders), c), starts, axis=3)
    totals = np.add.reduceat(total.reshape(len(orders), c), starts, axis=1)
    chosen = (of_scales.sum(axis=1, keepdims=True) - of_scales).argmin(axis=0)
    found = np.take_along_axis(of_scales, chosen[None], axis=0)[0].sum(axis=0)
    return np.asarray(1 - found / np.maximum(totals, TINY)).T


def wide_ridge_weights(codes: CodeTable, target: FloatArray, step: int) -> FloatArray:
    """Weights (m x q) on the codes as given of the ridge regression on all rows, for a step of `linear_path`."""
    standard, penalty = step >= len(WIDE_PENALTIES), WIDE_PENALTIES[step % len(WIDE_PENALTIES)]
    inner = inner_products(codes, standard=standard)
    shifted = inner + penalty * max(float(np.trace(inner)) / len(inner), 1e-300) * np.eye(len(inner))
    alpha = linalg.solve(shifted, target, assume_a="pos")
    parts = [(codes.columns(block) - codes.mean[block]).T @ alpha for block in codes.blocks()]
    scale = codes.spread[:, None] if standard else np.ones((codes.n_codes, 1))
    return np.asarray(np.vstack(parts) / np.square(scale))


DIRECTION_PENALTIES = 10.0 ** np.array([-6, -4, -2, -1, 0, 1])

MOST_REFITTED = 512  # codes; for more, standard errors hold the fitted direction fixed


@dataclass(frozen=True, eq=False)
class Weights:
    """Linear readouts of standardised codes: weights (m x q) and what is added to them (q)."""

    weights: FloatArray
    offset: FloatArray


class DirectionFits:
    """Linear readouts of all factors from sums over blocks of rows, without further passes over the codes.

    "given" and "standard" are ridge regressions on the codes as given and standardised. "independent" is the one that
    ridge regression would find if the factors were drawn independently of each other. On rows with dependent factors,
    ridge regression uses the code of one factor as evidence of another, and then responds to both. "several" is the
    same with models of all factors for every code, for intervals. Under z* the covariance of the codes is that of their
    fitted responses plus that of the residuals:

        S* = sum_k B_k' B_k + E'E / n,   direction_j = (S* + penalty)^-1 B_j' Cov(functions_j, target_j)
    """

    def __init__(self, model: ResponseModel, codes: CodeTable) -> None:
        self.model, self.codes, self.spread = model, codes, codes.spread / codes.spread.max()
        inputs, targets = codes.standard(slice(None)), np.hstack([factor.target for factor in model.factors])
        at = [model.sample.block == b for b in range(model.sample.n_blocks)]
        self.with_functions, squares = model.products(inputs)
        self.with_codes = np.stack([inputs[rows].T @ inputs[rows] for rows in at])
        self.with_targets = np.stack([inputs[rows].T @ targets[rows] for rows in at])
        # a code that seems to follow one factor may follow others a little: intervals allow for it
        self.models_of_codes = [
            model.fit_products(self.with_functions, squares, several=s).model for s in (False, True)
        ]
        self.goals, self.columns = np.zeros((model.design.shape[1], targets.shape[1])), model.target_columns
        for j, own in enumerate(self.columns):
            self.goals[model.starts[j] : model.stops[j], own] = model.with_target(j)
        self.fold_of_block = np.arange(model.sample.n_blocks) % model.sample.n_folds
        self.refitted = codes.n_codes <= MOST_REFITTED

    def weights(self, kind: str, penalties: FloatArray, used: NDArray[np.bool_]) -> list[Weights]:
        """Readouts fitted to these blocks, one for each penalty."""
        n = float(self.model.counts[used].sum())
        with_functions, inner = self.with_functions[used].sum(axis=0), self.with_codes[used].sum(axis=0)
        scale = np.ones(len(inner))
        if kind in ("independent", "several"):
            gram = self.model.grams[used].sum(axis=0)
            models = self.models_of_codes[kind == "several"]
            found = self._responses(models, gram, with_functions, n / self.model.sample.n_rows)
            cross = found.T @ with_functions
            inner = found[1:].T @ found[1:] + (inner - cross - cross.T + found.T @ gram @ found) / n
            goal, mean = found[1:].T @ self.goals[1:], found[0]
        else:
            scale = self.spread if kind == "given" else scale
            mean = with_functions[0] / n
            inner = (inner - n * np.outer(mean, mean)) * np.outer(scale, scale)
            goal = scale[:, None] * self.with_targets[used].sum(axis=0)
            goal = goal - scale[:, None] * np.outer(mean, self.with_functions_of_targets(used))
        scaled = (scale[:, None] * weights for weights in _ridge_weights(inner, goal, penalties))
        return [Weights(weights, -mean @ weights) for weights in scaled]

    def with_functions_of_targets(self, used: NDArray[np.bool_]) -> FloatArray:
        """Sums of the targets over these blocks."""
        rows = used[self.model.sample.block]
        return np.concatenate([factor.target[rows].sum(axis=0) for factor in self.model.factors])

    def _responses(self, models: Rows, gram: FloatArray, products: FloatArray, share: float) -> FloatArray:
        """Coefficients (p x m) of the responses of codes, each with its own model."""
        found = np.zeros(products.shape)
        for i in np.unique(models):
            at, model = np.flatnonzero(models == i), self.model.models[i]
            shifted = gram[model[:, None], model] + share * np.diag(self.model.penalty[model])
            found[model[:, None], at] = linalg.solve(shifted, products[model[:, None], at], assume_a="pos")
        return found

    def held_out(self, kind: str, penalties: FloatArray, left_out: int | None = None) -> list[list[Weights]]:
        """For each fold, the readouts fitted without the fold and without the block ``left_out``."""
        used = np.ones(self.fold_of_block.size, dtype=bool)
        if left_out is not None:
            used[left_out] = False
        folds = range(int(self.fold_of_block.max()) + 1)
        return [self.weights(kind, penalties, used & (self.fold_of_block != k)) for k in folds]

    def products(self, of_fold: list[Weights], columns: slice) -> tuple[FloatArray, FloatArray]:
        """Sums over every block of functions times held-out readouts, and of their squares."""
        with_functions, squares = [], []
        for b, k in enumerate(self.fold_of_block):
            weights, offset = of_fold[k].weights[:, columns], of_fold[k].offset[columns]
            linear = self.with_functions[b] @ weights
            with_functions.append(linear + self.model.grams[b][:, :1] * offset)
            square = (weights * (self.with_codes[b] @ weights)).sum(axis=0)
            squares.append(square + 2 * offset * linear[0] + self.model.counts[b] * np.square(offset))
        return np.stack(with_functions), np.stack(squares)

    def predicted(self, j: int, of_fold: list[Weights], rows: Rows) -> FloatArray:
        """Held-out readouts of factor j on some rows."""
        own, fold = self.columns[j], self.model.sample.fold[rows]
        inputs, found = self.codes.standard(slice(None))[rows], np.zeros((rows.size, own.stop - own.start))
        for k, each in enumerate(of_fold):
            found[fold == k] = inputs[fold == k] @ each.weights[:, own] + each.offset[own]
        return found

    def readout(self, j: int, of_fold: list[Weights], *, several: bool = False) -> Readout:
        """Response of the held-out readout of factor j; with ``several``, not in a model of one factor."""
        products, squares = self.products(of_fold, self.columns[j])
        return self.model.readout_of(j, self.model.fit_products(products, squares, together=True, several=several))

    def r2s(self, j: int, steps: Sequence[list[Weights]], *, several: bool = False) -> list[float]:
        """``r2`` of several held-out readouts of factor j, fitted together: the model is then read only once."""
        own = self.columns[j]
        of_fold = [
            Weights(np.hstack([w.weights[:, own] for w in each]), np.hstack([w.offset[own] for w in each]))
            for each in zip(*steps, strict=True)
        ]
        fits = self.model.fit_products(
            *self.products(of_fold, slice(None)), together=True, several=several, n_readouts=len(steps)
        )
        found: list[float] = self.model.r2s_of(j, fits, len(steps)).tolist()
        return found

    def intervals(self, j: int, kind: str, penalty_of_fold: FloatArray, refits: Refits) -> Readout:
        """The readout of factor j with standard errors from refits without each block, in a model of all factors.

        A model of one factor has no leakage by definition, so that its standard error says nothing.
        """
        kind, own = "several" if kind == "independent" else kind, self.columns[j]
        of_fold = [refits(kind, float(p), None)[k] for k, p in enumerate(penalty_of_fold)]
        full = self.model.fit_products(*self.products(of_fold, own), together=True, several=True)
        if not self.refitted:
            return self.model.readout_of(j, full)
        model = self.model.models[int(full.model[0])]
        inverse = self.model.inverses[int(full.model[0])]
        coefficients, noise = full.coefficients.copy(), full.noise.copy()
        for c in range(self.fold_of_block.size):
            of_fold = [refits(kind, float(p), c)[k] for k, p in enumerate(penalty_of_fold)]
            products, squares = self.products(of_fold, own)
            total, square = products.sum(axis=0) - products[c], squares.sum(axis=0) - squares[c]
            found = inverse[c] @ total[model]
            coefficients[c], n = 0.0, self.model.sample.n_rows - self.model.counts[c]
            coefficients[c][model] = found
            noise[c] = np.maximum(square - (found * total[model]).sum(axis=0), 0.0) / max(n - model.size, 1)
        return self.model.readout_of(j, Fits(full.model, coefficients, noise))


class Refits:
    """Held-out readouts by kind, penalty and left-out block, each computed once for all factors."""

    def __init__(self, fits: DirectionFits) -> None:
        self.fits = fits
        self.known: dict[tuple[str, float, int | None], list[Weights]] = {}

    def __call__(self, kind: str, penalty: float, left_out: int | None) -> list[Weights]:
        """One readout for each fold."""
        key = (kind, penalty, left_out)
        if key not in self.known:
            self.known[key] = [each[0] for each in self.fits.held_out(kind, np.array([penalty]), left_out)]
        return self.known[key]


class WideDirections:
    """The "independent" readouts of `DirectionFits` for more codes than rows.

    S* = Z'Z with Z the coefficients above the residuals, so that only inner products of the rows of Z are needed.
    """

    def __init__(self, model: ResponseModel, codes: CodeTable) -> None:
        self.model, self.codes = model, codes
        fits = [model.fit(codes.standard(block)).model for block in codes.blocks()]
        self.model_of_code = np.concatenate(fits)
        n_targets = model.target_columns[-1].stop
        self.goals = np.zeros((model.design.shape[1], n_targets))
        for j, own in enumerate(model.target_columns):
            self.goals[model.starts[j] : model.stops[j], own] = model.with_target(j)

    def _stacked(self, train: Rows) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """ZZ', the right-hand sides, and Z in blocks of codes."""
        n_terms, stacked = self.goals.shape[0] - 1, []
        inner = np.zeros((n_terms + train.size, n_terms + train.size))
        design, share = self.model.design[train], train.size / self.model.sample.n_rows
        gram = design.T @ design
        for block in self.codes.blocks():
            standard, of_code = self.codes.standard(block)[train], self.model_of_code[block]
            products, found = design.T @ standard, np.zeros((design.shape[1], standard.shape[1]))
            for i in np.unique(of_code):
                at, model = np.flatnonzero(of_code == i), self.model.models[i]
                shifted = gram[model[:, None], model] + share * np.diag(self.model.penalty[model])
                found[model[:, None], at] = linalg.solve(shifted, products[model[:, None], at], assume_a="pos")
            stacked.append(np.vstack([found[1:], (standard - design @ found) / np.sqrt(train.size)]))
            inner += stacked[-1] @ stacked[-1].T
        return inner, np.vstack([self.goals[1:], np.zeros((train.size, self.goals.shape[1]))]), stacked

    def held_out(self) -> FloatArray:
        """Predictions (penalties x n x q) of all targets, each by the fit without the fold of the row."""
        fold = self.model.sample.fold
        predictions = np.zeros((len(DIRECTION_PENALTIES), fold.size, self.goals.shape[1]))
        for k in range(int(fold.max()) + 1):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            inner, goal, stacked = self._stacked(train)
            cross = np.zeros((test.size, len(inner)))
            for block, columns in zip(self.codes.blocks(), stacked, strict=True):
                cross += self.codes.standard(block)[test] @ columns.T
            for step, penalty in enumerate(DIRECTION_PENALTIES):
                predictions[step, test] = cross @ self._solved(inner, goal, penalty)
        return predictions

    @staticmethod
    def _solved(inner: FloatArray, goal: FloatArray, penalty: float) -> FloatArray:
        size = max(float(np.trace(inner)) / len(inner), 1e-300)
        return np.asarray(linalg.solve(inner + penalty * size * np.eye(len(inner)), goal, assume_a="pos"))

    def weights(self, penalty: float) -> FloatArray:
        """Weights (m x q) on the codes as given, from all rows."""
        inner, goal, stacked = self._stacked(np.arange(self.codes.rows.size))
        solved = self._solved(inner, goal, penalty)
        return np.vstack([columns.T @ solved for columns in stacked]) / self.codes.spread[:, None]


OWN = 0.55  # codes after the first need this unmixed share; at one half, a turn by 45 degrees would give two own codes

LENGTHS = (1, 2, 4, 8, 16, 32, 64)

LINEAR_LOSS = 0.02  # a line may lose this much of R2 against a curve

KERNEL_ROWS = 500

KERNEL_LENGTHS = (1, 2, 4, 8)

LEAST_JUMP = 0.05  # smallest loss of splines, against the response of the code, for which kernels are tried


@dataclass(frozen=True)
class OwnCodes:
    """Recovery of one factor from one code, and from several codes that depend on it alone; or from blocks.

    Attributes
    ----------
    one_code, one_code_error : float
        R2 under z* of the readout of the best code, times the unmixed share of the code.
    code : int
        The best code, an index among the codes that vary; -1 if no code responds to the factor.
    find_shape : function
        Returns ``shape``, the map from the code to the factor: "linear", "monotone", "folded", or "curved" of a block;
        "" without a code. Most scores need no shape.
    own_codes, own_codes_error : float
        The same for the best block of codes.
    block : tuple of int
        Codes of the block.
    replicates : array of blocks
        ``own_codes`` without each block.
    """

    one_code: float = 0.0
    one_code_error: float = 0.0
    code: int = -1
    find_shape: Callable[[], str] = str
    own_codes: float = 0.0
    own_codes_error: float = 0.0
    block: tuple[int, ...] = ()
    replicates: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def shape(self) -> str:
        """Map from the code to the factor."""
        return self.find_shape()


def code_functions(codes: FloatArray, n_functions: int) -> FloatArray:
    """Values of codes and splines of their normal scores, each with mean 0 and variance 1."""
    scores = normal_scores(codes)
    columns = [clipped_values(codes)]
    columns += [natural_spline(score, n_functions) if n_functions > 1 else score[:, None] for score in scores.T]
    functions = np.hstack(columns)
    functions = functions - functions.mean(axis=0)
    spread = functions.std(axis=0)
    return np.asarray(functions[:, spread > 1e-9] / spread[spread > 1e-9])


def n_functions_of(n_codes: int) -> int:
    """Number of functions for each of this many codes."""
    return 8 if n_codes <= 2 else 6 if n_codes <= 8 else 4 if n_codes <= 32 else 1


def own_codes(model: ResponseModel, j: int, codes: CodeTable, found: CodeResponses, few: FewRows) -> OwnCodes:
    """Recovery of factor j from its own codes; kernels use few rows."""
    worth, unmixed = found.worth[:, j], found.unmixed[:, j]
    order = np.argsort(-worth, kind="stable")
    order = order[worth[order] > 1e-6]
    if not order.size:
        return OwnCodes()
    pool = order[unmixed[order] >= OWN][: LENGTHS[-1]]
    pool = pool if pool.size else order[:1]
    fold, target = model.sample.fold, model.factors[j].target
    every = slice(0, target.shape[1])
    columns, widths = codes.columns_of(pool), np.cumsum(codes.widths[pool]).astype(np.intp)
    best = OwnCodes()
    for length in [*(k for k in LENGTHS if k < pool.size), pool.size]:
        lowest = float(unmixed[pool[:length]].min())
        if lowest <= best.own_codes:  # no R2 is above 1, and longer blocks have no larger share
            break
        width = widths[length - 1]
        functions = code_functions(columns[:, :width], n_functions_of(width))
        path = ridge_path(functions, target, fold, FEW_PENALTIES)
        readout = model.readout(j, path.readout(every, fold))
        value, error = readout.r2 * lowest, readout.r2_error * lowest
        if length == 1:
            shape = functools.cache(functools.partial(_shape, columns[:, :width], path, target, fold))
            block = (int(pool[0]),)
            best = OwnCodes(value, error, block[0], shape, value, error, block, readout.replicates * lowest)
        elif value > best.own_codes:
            best = _with_block(best, readout, lowest, pool[:length])
    # joint functions of own codes, such as sine and cosine; and maps from one code with jumps
    jumps = best.one_code < worth[pool[0]] - LEAST_JUMP
    if jumps or (pool.size > 1 and best.own_codes < 0.9):
        lengths = [k for k in KERNEL_LENGTHS if k <= pool.size and (k > 1 or jumps)]
        blocks = [(pool[:length], columns[few.rows][:, : widths[length - 1]]) for length in lengths]
        best = _by_kernels(best, blocks, unmixed, functools.partial(few.readout, j))
    return best


def _by_kernels(
    best: OwnCodes,
    blocks: list[tuple[Rows, FloatArray]],
    unmixed: FloatArray,
    readout_of: Callable[[FloatArray, int], Readout],
) -> OwnCodes:
    """The best recovery so far, or by kernels on these blocks and their columns; others are not fitted."""
    for block, used in blocks:
        lowest, single = float(unmixed[block].min()), block.size == 1
        if lowest <= (best.one_code if single else best.own_codes):
            continue
        readout = readout_of(normal_scores(used) if used.shape[1] > 1 else clipped_values(used), used.shape[1])
        value, error = readout.r2 * lowest, readout.r2_error * lowest
        if single and value > best.one_code:
            best = replace(best, one_code=value, one_code_error=error, find_shape="folded".lower)
        if value > best.own_codes:
            best = _with_block(best, readout, lowest, block)
    return best


def _with_block(best: OwnCodes, readout: Readout, lowest: float, block: Rows) -> OwnCodes:
    value, error = readout.r2 * lowest, readout.r2_error * lowest
    without = readout.replicates * lowest
    return replace(best, own_codes=value, own_codes_error=error, block=tuple(block.tolist()), replicates=without)


class FewRows:
    """Some rows of a sample, with a response model of all factors for readouts on these rows."""

    def __init__(self, model: ResponseModel, rows: Rows) -> None:
        self.of_all, self.rows = model, rows

    @functools.cached_property
    def model(self) -> ResponseModel:
        """The response model on these rows."""
        return ResponseModel([f.rows(self.rows) for f in self.of_all.factors], self.of_all.sample.rows(self.rows))

    def readout(self, j: int, inputs: FloatArray, n_codes: int) -> Readout:
        """Response of kernel ridge regression of factor j on these codes."""
        target, fold = self.model.factors[j].target, self.model.sample.fold
        path = radial_path(inputs, target, fold, target.shape[1], widths=(0.3, 1.0) if n_codes > 1 else (0.01, 0.1))
        return self.model.readout(j, path.readout(slice(0, target.shape[1]), fold))


def _shape(code: FloatArray, curve: Path, target: FloatArray, fold: Rows) -> str:
    """Whether a line, or a monotone map, predicts the factor from a code or block about as well as any curve."""
    every = slice(0, target.shape[1])
    best = held_out_r2(curve, every, target)
    inputs = [normal_scores(code), clipped_values(code)]
    if (
        max(held_out_r2(ridge_path(x, target, fold, FEW_PENALTIES), every, target) for x in inputs)
        >= best - LINEAR_LOSS
    ):
        return "linear"
    if code.shape[1] > 1:
        return "curved"
    code = code[:, 0]
    one_number = target.shape[1] == 1 or (target.shape[1] == 2 and np.allclose(target.sum(axis=1), 0))
    if one_number:
        from sklearn.isotonic import IsotonicRegression  # late: it takes half a second to import

        predicted = np.empty(len(code))
        for k in range(int(fold.max()) + 1):
            train = fold != k
            rises = bool(inputs[0][train, 0] @ target[train, 0] >= 0)
            fitted = IsotonicRegression(increasing=rises, out_of_bounds="clip").fit(code[train], target[train, 0])
            predicted[~train] = fitted.predict(code[~train])
        if 1 - np.square(target[:, 0] - predicted).sum() / np.square(target[:, 0]).sum() >= best - LINEAR_LOSS:
            return "monotone"
    return "folded"


MOST_COMPONENTS = 30

WIDTHS = (0.5, 2.0)

MOST_SMOOTH = 2  # codes whose kernels have few functions

KERNEL_PENALTIES = 10.0 ** np.array([-4, -2.5, -1])


def components(codes: CodeTable, n: int, rows: Rows) -> FloatArray:
    """Principal components of the standardised codes on some rows, largest first."""
    if codes.n_codes <= rows.size:
        standard = codes.standard(slice(None))[rows]
        standard = standard - standard.mean(axis=0)
        low = max(0, codes.n_codes - n)
        values, turns = linalg.eigh(standard.T @ standard, subset_by_index=[low, codes.n_codes - 1])
        scores = standard @ turns
    else:
        fewer = replace(codes, rows=codes.rows[rows])
        inner = inner_products(fewer, standard=True)
        mean = inner.mean(axis=0)
        inner = inner - mean - mean[:, None] + mean.mean()
        values, turns = linalg.eigh(inner, subset_by_index=[max(0, rows.size - n), rows.size - 1])
        scores = turns * np.sqrt(np.maximum(values, 0.0))
    kept = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray(scores[:, kept][:, ::-1])


def radial_path(
    inputs: FloatArray, targets: FloatArray, fold: Rows, n_kept: int, widths: tuple[float, ...] = WIDTHS
) -> Path:
    """Kernel ridge regression with Gaussian kernels, whose widths are multiples of the median squared distance."""
    path: Path | None = None
    for kernel in radial_kernels(inputs, widths):
        functions = _square_root(kernel) if inputs.shape[1] <= MOST_SMOOTH else None
        if functions is None:
            own = kernel_path(kernel, targets, fold, KERNEL_PENALTIES, n_kept)
        else:
            own = ridge_path(functions, targets, fold, KERNEL_PENALTIES, n_kept, per_row=True)
        path = own if path is None else path.joined(own)
    assert path is not None
    return path


def radial_kernels(inputs: FloatArray, widths: tuple[float, ...]) -> Iterator[FloatArray]:
    """Gaussian kernels (n x n), whose widths are these multiples of the median squared distance."""
    squares = np.square(inputs).sum(axis=1)
    distance = np.maximum(squares[:, None] + squares - 2 * inputs @ inputs.T, 0.0)
    middle = float(np.median(distance[:200]))
    middle = middle if middle > 1e-9 else max(float(distance[:200].mean()), 1e-9)
    for width in widths:
        yield np.exp(-distance / (width * middle))


def _square_root(kernel: FloatArray) -> FloatArray | None:
    """Columns (n x r) whose inner products are the kernel, up to 1e-12; None if half of the rows are not enough.

    Kernels of one or two codes have few functions, so that ridge regression on these is several times faster.
    """
    lower, order, rank, _ = lapack.dpstrf(kernel, tol=1e-12, lower=1)
    if rank > len(kernel) / 2:
        return None
    functions = np.empty((len(kernel), rank))
    functions[order - 1] = np.tril(lower)[:, :rank]
    return functions


def nonlinear_path(
    codes: CodeTable, rows: Rows, targets: FloatArray, fold: Rows, rivals: Sequence[FloatArray], *, may_stop: bool
) -> Path | None:
    """Kernel ridge regression on principal components, whitened and, if there are many, on their own scale.

    Predictions are kept of the first targets, of which ``rivals`` are held-out predictions, one table for each factor.
    With ``may_stop``, it is None if every kernel and penalty is clearly behind the rival of every factor after a fold.
    """
    scores = components(codes, MOST_COMPONENTS, rows)
    tables = [scores / np.maximum(scores.std(axis=0), 1e-300), *([scores] if scores.shape[1] > 6 else [])]
    kernels = [kernel for table in tables for kernel in radial_kernels(table, WIDTHS)]
    stops = np.cumsum([0, *(rival.shape[1] for rival in rivals)]).tolist()
    builders = [_PathBuilder(len(KERNEL_PENALTIES), targets, fold, stops[-1]) for _ in kernels]
    for k in range(int(fold.max()) + 1):
        for builder, kernel in zip(builders, kernels, strict=True):
            _add_kernel_fold(builder, k, kernel, targets, fold, KERNEL_PENALTIES)
        known = fold <= k
        if may_stop and all(
            _is_behind(targets[known, start:stop], predictions[known, start:stop], rival[known])
            for builder in builders
            for predictions in builder.predictions
            for start, stop, rival in zip(stops, stops[1:], rivals, strict=False)
        ):
            return None
    return functools.reduce(Path.joined, [builder.path() for builder in builders])


MOST_CODES_OF_TREES, COMPONENTS_OF_TREES = 48, 24


def tree_inputs(codes: CodeTable, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Standardised codes (or, of very many, none) and their principal components, for `tree_readout`."""
    columns = codes.standard(slice(None))[rows] if codes.n_codes <= 4096 else np.empty((rows.size, 0))
    return columns, components(codes, COMPONENTS_OF_TREES, rows)


N_TREES = 40

TREES_MAY_LAG = 0.05  # in R2; trees that are further behind are not fitted for the other folds

CLEARLY = 2.0  # standard errors by which trees may be behind


def tree_readout(
    inputs: tuple[FloatArray, FloatArray],
    target: FloatArray,
    rivals: Sequence[FloatArray],
    fold: Rows,
    seed: int,
    j: int,
) -> FloatArray | None:
    """Held-out predictions of extra trees on the codes that correlate most with the target, and on components.

    None if trees predict the first folds clearly less well than any of the ``rivals``, held-out predictions by a linear
    readout and a kernel.
    """
    from sklearn.tree import ExtraTreeRegressor  # late: it takes half a second to import

    columns, scores = inputs
    predicted = np.empty_like(target)
    middle = np.abs(columns - np.median(columns, axis=0))
    for k in range(int(fold.max()) + 1):
        train, test = fold != k, fold == k
        used = np.arange(columns.shape[1])
        if used.size > MOST_CODES_OF_TREES:
            likeness = sum(_correlations(each[train], target[train]).max(axis=1) for each in (columns, middle))
            used = np.argsort(-np.asarray(likeness), kind="stable")[:MOST_CODES_OF_TREES]
        table = np.hstack([columns[:, used], scores]) if columns.shape[1] != 1 else columns
        table = table.astype(np.float32)
        total = np.zeros((int(test.sum()), target.shape[1]))
        with unchecked():  # the trees of ExtraTreesRegressor, without the copies of settings that take half of its time
            for number in range(N_TREES):
                tree = ExtraTreeRegressor(
                    min_samples_leaf=3,
                    max_features=0.5,
                    random_state=random_seed(seed, "trees of the ladder", j, k, number),
                )
                tree.fit(table[train], target[train], check_input=False)
                total += tree.predict(table[test], check_input=False).reshape(total.shape)
        predicted[test] = total / N_TREES
        known = fold <= k
        if any(_is_behind(target[known], predicted[known], rival[known]) for rival in rivals):
            return None
    return predicted


def _is_behind(target: FloatArray, predicted: FloatArray, rival: FloatArray) -> bool:
    """Whether squared errors are larger than a rival's by two standard errors, or by .05 of the target's variance."""
    left, other = (np.square(target - each).sum(axis=1) for each in (predicted, rival))
    excess = left - other
    size = np.square(target).sum() * TREES_MAY_LAG
    return bool(excess.sum() > min(size, CLEARLY * math.sqrt(excess.size) * float(excess.std())))


def _correlations(columns: FloatArray, targets: FloatArray) -> FloatArray:
    columns, targets = columns - columns.mean(axis=0), targets - targets.mean(axis=0)
    norms = np.linalg.norm(columns, axis=0)[:, None] * np.linalg.norm(targets, axis=0)
    return np.abs(columns.T @ targets) / np.maximum(norms, TINY)


def some_rows(sample: Sample, most: int, seed: int, purpose: str) -> Rows:
    """At most this many rows, in whole units, in ascending order."""
    if sample.n_rows <= most:
        return np.arange(sample.n_rows)
    order = random_stream(seed, purpose).permutation(sample.n_units)
    size = np.bincount(sample.units)[order]
    kept = np.isin(sample.units, order[np.cumsum(size) <= most])
    return np.flatnonzero(kept) if kept.any() else np.arange(most)
