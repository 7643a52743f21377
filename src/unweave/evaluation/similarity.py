"""`similarity`: how alike two or more representations of the same samples are, without factors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from unweave.arrays import FloatArray, Rows
from unweave.codec import plain_data
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import best_matching
from unweave.estimators.similarity import (
    neighbour_weights,
    procrustes,
    projection_weighted,
    squared_canonical_correlations,
    squared_distances,
    unbiased_hsic,
    whitener,
)
from unweave.evidence import Evidence
from unweave.evidence.columns import data_frame_of, quoted
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.threads import thread_controller
from unweave.trust.intervals import check_level

Measure = Literal["cka", "cca", "svcca", "pwcca", "procrustes", "matched", "neighbours"]

MEASURES: tuple[Measure, ...] = ("cka", "cca", "svcca", "pwcca", "procrustes", "matched", "neighbours")

N_NEIGHBOURS = 10

MOST_ROWS_OF_NEIGHBOURS = 1000

LARGEST_EXPONENT = 200  # of two, and 1023 is the largest

FEWEST_ROWS = 20

NO_INTERVAL = "No interval: without a block of rows there are too few of them for the number of codes."

N_BLOCKS = 20  # of the jackknife; half of it for large tables

SMALLEST_SHARE = 1e-12  # of a code's variance

LARGE = 1e9  # n x p x q

MOST_ORDERS = 99  # random orders of rows

DRAWN = 1e10  # products n x p x q of all permutations together: large tables get fewer permutations, but at least 19


@dataclass(frozen=True)
class SimilarityRow:
    """One measure of one pair of representations.

    Attributes
    ----------
    first, second : str
        Names of the two representations.
    measure : str
        "cka" (debiased linear CKA), "cca" (mean squared canonical correlation), "svcca", "pwcca", "procrustes",
        "matched" (mean absolute correlation of the best one-to-one matching of codes) or "neighbours" (share of the ten
        nearest rows that both agree on; where rows are equally far, all of these have a part).
    value : float
        The similarity, 1 for equal representations; nan if it is undefined, and ``note`` has the reason.
    floor : float
        Mean for unrelated rows: the rows of the second representation in random order.
    calibrated : float
        (value - floor) / (1 - floor): 0 for unrelated representations of any size, 1 for equal ones.
    lower, upper : float
        Interval of ``value`` over samples, by the jackknife over blocks of rows.
    p_value : float
        Share of random orders, this one included, that are at least as similar: .01 with 99 orders is the smallest.
    """

    first: str
    second: str
    measure: Measure
    value: float
    floor: float = math.nan
    calibrated: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    p_value: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class Similarity:
    """Measures of every pair of representations; print it for a table.

    For two representations ``found["cka"]`` is the row of a measure, and `matrix` has all pairs for several.

    >>> codes = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = similarity(codes, -2 * codes[:, ::-1])
    >>> round(found["procrustes"].value, 3), round(found["cca"].calibrated, 3)
    (1.0, 1.0)
    """

    names: tuple[str, ...]
    n_rows: int
    rows: tuple[SimilarityRow, ...] = field(repr=False)

    def __getitem__(self, measure: str) -> SimilarityRow:
        found = [row for row in self.rows if row.measure == measure]
        if not found:
            raise KeyError(f"{measure!r} was not measured; there are {', '.join(MEASURES)}")
        if len(found) > 1:
            raise InputError(f"There are {len(found)} pairs: use matrix({measure!r}), or the rows.")
        return found[0]

    @checks_options
    def matrix(self, measure: str = "cka", *, calibrated: bool = True) -> FloatArray:
        """Similarities of all pairs by one measure, in the order of ``names``; 1 on the diagonal.

        The matrix is symmetric but for "pwcca", which weights by the first of two representations: its two entries are
        the same here.
        """
        measured = dict.fromkeys(row.measure for row in self.rows)
        if measure not in measured:
            raise OptionError(f"{measure!r} was not measured: choose among {', '.join(measured)}.")
        result = np.eye(len(self.names))
        for row in self.rows:
            if row.measure == measure:
                i, j = self.names.index(row.first), self.names.index(row.second)
                result[i, j] = result[j, i] = row.calibrated if calibrated else row.value
        return result

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for each pair and measure (see `Evaluation.to_frame`)."""
        return data_frame_of(self.rows, SimilarityRow, backend)

    @checks_options
    def plot(self, measure: str = "cka", *, calibrated: bool = True) -> Any:
        """A matplotlib figure of all pairs by one measure; the most similar other one has a frame."""
        from unweave.report.figures.codes import matrix_figure  # late: report is above evaluation

        shown = np.clip(self.matrix(measure, calibrated=calibrated), 0.0, 1.0)
        np.fill_diagonal(shown, math.nan)
        return matrix_figure(shown, self.names, self.names, f"{'Calibrated ' if calibrated else ''}{measure}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        return {"schema": "unweave.similarity/1", **plain_data(self)}

    def __str__(self) -> str:
        from unweave.report.tables import similarity_text  # late: report is above evaluation

        return similarity_text(self)


@checks_options
def similarity(
    first: object,
    second: object = None,
    *,
    measures: tuple[Measure, ...] = MEASURES,
    level: float = 0.95,
    rng: int = 0,
) -> Similarity:
    """Compare representations of the same samples without factors, calibrated against unrelated rows.

    Parameters
    ----------
    first, second : codes (n x p) and codes (n x q), or one mapping of names to codes
        Representations of the same samples in the same order: layers, seeds, checkpoints.
    measures : tuple of str
        Which measures to compute, by default all (see `SimilarityRow`).
    level : float
        Confidence level of the intervals.
    rng : int
        Seed of the permutations and of the rows for neighbours.

    Returns
    -------
    Similarity
        Print it for a table. A high similarity says that two representations contain the same, not what it is.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=(300, 4))
    >>> runs = {f"seed {k}": signal @ rng.normal(size=(4, 6)) for k in range(2)}
    >>> runs["noise"] = rng.normal(size=(300, 6))
    >>> np.round(similarity(runs, measures=("cca",)).matrix("cca"), 1)[0].tolist()
    [1.0, 1.0, 0.0]
    """
    check_level(level)
    if not isinstance(first, Mapping):
        first = {"first": first, "second": second}
    elif second is not None:
        raise InputError("Representations are given twice: pass two arrays, or one mapping of names to arrays.")
    names = [str(name) for name in first]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"Two representations are called {quoted(repeated[0])}: give each a name of its own.")
    if not measures:
        raise OptionError(f"measures has no entry: choose among {', '.join(MEASURES)}.")
    codes = {str(name): Evidence(None, table).codes for name, table in first.items() if table is not None}
    if len(codes) < 2:
        raise InputError("There is only one representation: pass two arrays, or a mapping with several.")
    sizes = {name: len(table) for name, table in codes.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"The representations have {sizes} rows: encode the same samples, in the same order.")
    n_rows = next(iter(sizes.values()))
    if n_rows < FEWEST_ROWS:
        raise InputError(f"There are {n_rows} rows: similarities need at least {FEWEST_ROWS} samples.")
    with thread_controller().limit(limits=1):
        moderate = {name: _without_overflow(table) for name, table in codes.items()}
        centred = {name: table - table.mean(axis=0) for name, table in moderate.items()}
        rows = [
            row
            for one, other in combinations(centred, 2)
            for row in _rows_of_pair((one, centred[one]), (other, centred[other]), measures, level, rng)
        ]
    return Similarity(tuple(codes), n_rows, tuple(rows))


def _without_overflow(table: FloatArray) -> FloatArray:
    """The table divided by a power of two if fourth powers of its entries would overflow or underflow."""
    exponent = int(np.frexp(max(table.max(), -table.min()))[1])
    return np.ldexp(table, -exponent) if abs(exponent) > LARGEST_EXPONENT else table


class _Products:
    """The cross-products of two centred tables with squared lengths of rows, and the measures that follow from them."""

    def __init__(self, gram_x: FloatArray, gram_y: FloatArray, squares_x: FloatArray, squares_y: FloatArray):
        self.gram_x, self.gram_y, self.squares_x, self.squares_y = gram_x, gram_y, squares_x, squares_y
        (self.white_x, self.main_x), (self.white_y, self.main_y) = whitener(gram_x), whitener(gram_y)
        self.with_white = gram_x @ self.white_x
        self.own = [unbiased_hsic(gram_x, squares_x, squares_x), unbiased_hsic(gram_y, squares_y, squares_y)]

    def measured(
        self, across: FloatArray, squares_y: FloatArray, measures: tuple[Measure, ...], *, rough: bool = False
    ) -> FloatArray:
        """The measures of X and Y, or of X and the rows of Y in another order, whose cross-products are given."""
        whitened = self.white_x.T @ across @ self.white_y
        of_measure: dict[str, Callable[[], float]] = {
            "cka": lambda: unbiased_hsic(across, self.squares_x, squares_y) / math.sqrt(self.own[0] * self.own[1]),
            "cca": lambda: squared_canonical_correlations(whitened),
            "svcca": lambda: squared_canonical_correlations(whitened[: self.main_x, : self.main_y]),
            "pwcca": lambda: projection_weighted(whitened, self.with_white, rough=rough),
            "procrustes": lambda: procrustes(across, np.trace(self.gram_x), np.trace(self.gram_y), rough=rough),
            "matched": lambda: self._matched(across),
        }
        return np.array([of_measure[name]() if name in of_measure else math.nan for name in measures])

    def _matched(self, across: FloatArray) -> float:
        scales = np.sqrt(np.outer(np.diag(self.gram_x), np.diag(self.gram_y)))
        correlations = np.abs(np.divide(across, scales, out=np.zeros_like(across), where=scales > 0))
        return float(correlations[best_matching(correlations)].mean())

    def undefined(self, measure: Measure) -> str:
        """Why a measure is undefined for these tables; empty if it is defined."""
        n, ranks = len(self.squares_x), (self.white_x.shape[1], self.white_y.shape[1])
        if not min(np.trace(self.gram_x), np.trace(self.gram_y)) > 0 or 0 in ranks:
            return "All codes of one representation are constant."
        if measure == "cka" and min(self.own) <= 0:
            return (
                "The unbiased estimate of one representation's norm is not positive: there are too few rows for the "
                "number of codes, or a few rows have nearly all of the variance."
            )
        if measure in ("cca", "pwcca") and max(ranks) >= n - 1:
            return f"As many independent codes ({max(ranks)}) as rows ({n}): every representation would be equal."
        if measure == "svcca" and max(self.main_x, self.main_y) >= n - 1:
            return f"As many principal components as rows ({n}): every representation would be equal."
        return ""


def _rows_of_pair(
    one: tuple[str, FloatArray], other: tuple[str, FloatArray], measures: tuple[Measure, ...], level: float, rng: int
) -> list[SimilarityRow]:
    (first, x), (second, y) = one, other
    n, size = len(x), len(x) * x.shape[1] * y.shape[1]
    products = _Products(x.T @ x, y.T @ y, np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->i", y, y))
    reasons = {name: products.undefined(name) for name in measures}
    defined = tuple(name for name in measures if not reasons[name])
    linear = cast("tuple[Measure, ...]", tuple(name for name in defined if name != "neighbours"))
    across = x.T @ y
    n_blocks = N_BLOCKS if size < LARGE else N_BLOCKS // 2
    quantile = float(stats.t.ppf(0.5 + level / 2, n_blocks - 1))
    if linear:
        values = dict(zip(linear, products.measured(across, products.squares_y, linear).tolist(), strict=True))
        stream = random_stream(rng, "orders of similarity")
        orders = [stream.permutation(n) for _ in range(int(np.clip(DRAWN / size, 19, MOST_ORDERS)))]
        draws = _draws(products, x, y, orders, linear, rough=size >= LARGE)
        errors = dict(zip(linear, _jackknife_errors(products, x, y, across, linear, n_blocks).tolist(), strict=True))
    rows = []
    for name in measures:
        if reasons[name]:
            rows.append(SimilarityRow(first, second, name, math.nan, note=reasons[name]))
            continue
        if name == "neighbours":
            value, error, floor, p_value, note = _neighbours(x, y, n_blocks, rng)
        else:
            null = draws[:, linear.index(name)]
            value, error = values[name], errors[name]
            note = NO_INTERVAL if math.isnan(error) else ""
            floor = _known_floor(name, products) if name in ("cka", "cca", "svcca") else float(null.mean())
            p_value = _share_as_good(null, value)
        reach = quantile * error
        rows.append(
            SimilarityRow(
                *(first, second, name, value, floor, (value - floor) / (1 - floor)),
                *(value - reach, min(value + reach, 1.0), p_value, note),
            )
        )
    return rows


def _draws(
    products: _Products,
    x: FloatArray,
    y: FloatArray,
    orders: list[Rows],
    measures: tuple[Measure, ...],
    *,
    rough: bool,
) -> FloatArray:
    """The measures for rows of Y in other orders; rough ones in single precision, whose error is far below theirs."""
    squares, scale = products.squares_y, 1.0
    if rough:
        sizes = [float(np.abs(table).max()) for table in (x, y)]
        x, y, scale = (x / sizes[0]).astype(np.float32), (y / sizes[1]).astype(np.float32), sizes[0] * sizes[1]
    return np.array(
        [
            products.measured(scale * (x.T @ y[order]).astype(np.float64), squares[order], measures, rough=rough)
            for order in orders
        ]
    )


def _known_floor(measure: str, products: _Products) -> float:
    """Mean over all orders of rows: 0 for the debiased CKA, max(p, q) / (n - 1) for squared canonical correlations."""
    if measure == "cka":
        return 0.0
    ranks = (products.white_x.shape[1], products.white_y.shape[1])
    return max(ranks if measure == "cca" else (products.main_x, products.main_y)) / (len(products.squares_x) - 1)


def _jackknife_errors(
    products: _Products, x: FloatArray, y: FloatArray, across: FloatArray, measures: tuple[Measure, ...], n_blocks: int
) -> FloatArray:
    """Standard errors from leaving out blocks of rows; cross-products are updated and not computed again."""
    n, values = len(x), []
    blocks = np.array_split(np.arange(n), n_blocks)
    shifts = [np.array([-table[block].sum(0) / (n - block.size) for block in blocks]) for table in (x, y)]
    along_x, along_y = (table @ shift.T for table, shift in zip((x, y), shifts, strict=True))
    for block, shift_x, shift_y, of_x, of_y in zip(blocks, *shifts, along_x.T, along_y.T, strict=True):
        rest = n - block.size  # and the shifts are the means of the rows that are left
        ours, theirs = x[block], y[block]
        squares = [
            np.delete(of_rows - 2 * along + shift @ shift, block)
            for of_rows, along, shift in ((products.squares_x, of_x, shift_x), (products.squares_y, of_y, shift_y))
        ]
        grams = []
        left = across - ours.T @ theirs - rest * np.outer(shift_x, shift_y)
        for whole, gone, shift, of_code in (
            (products.gram_x, ours, shift_x, left),
            (products.gram_y, theirs, shift_y, left.T),
        ):
            gram = whole - gone.T @ gone - rest * np.outer(shift, shift)
            constant = np.diag(gram) <= SMALLEST_SHARE * np.diag(whole)  # only the block varied: the rest is rounding
            gram[constant], gram[:, constant], of_code[constant] = 0.0, 0.0, 0.0
            grams.append(gram)
        without = _Products(*grams, *squares)
        known = tuple(name for name in measures if not without.undefined(name))
        found = dict(zip(known, without.measured(left, squares[1], known, rough=n * left.size >= LARGE), strict=True))
        values.append([found.get(name, math.nan) for name in measures])
    return np.asarray(np.sqrt((n_blocks - 1) * np.var(values, axis=0)))


def _neighbours(x: FloatArray, y: FloatArray, n_blocks: int, rng: int) -> tuple[float, float, float, float, str]:
    """Agreement on neighbours with its standard error, floor, p-value, and a note if only some rows were used."""
    n, note = len(x), ""
    if n > MOST_ROWS_OF_NEIGHBOURS:
        rows = np.sort(random_stream(rng, "rows of neighbours").choice(n, MOST_ROWS_OF_NEIGHBOURS, replace=False))
        x, y, note = x[rows], y[rows], f"On {MOST_ROWS_OF_NEIGHBOURS:,} random rows."
    n, k = len(x), min(N_NEIGHBOURS, len(x) - 2)
    distances = squared_distances(x), squared_distances(y)
    ours, theirs = (neighbour_weights(each, k) for each in distances)
    value = min(float(np.vdot(ours, theirs)) / n, 1.0)
    floor = float(ours.sum(axis=1).mean() * theirs.sum(axis=1).mean()) / (n - 1)
    stream, sparse = random_stream(rng, "orders of neighbours"), (csr_array(ours), csr_array(theirs))
    orders = [stream.permutation(n) for _ in range(MOST_ORDERS)]
    null = [float(sparse[0].multiply(sparse[1][order][:, order]).sum()) / n for order in orders]
    without = []
    for block in np.array_split(np.arange(n), n_blocks):
        rest = np.delete(np.arange(n), block)
        left = [neighbour_weights(each[np.ix_(rest, rest)], min(k, rest.size - 1)) for each in distances]
        without.append(float(np.vdot(*left)) / rest.size)
    error = math.sqrt((n_blocks - 1) * float(np.var(without)))
    return value, error, floor, _share_as_good(np.array(null), value), note


def _share_as_good(null: FloatArray, value: float) -> float:
    """p-value: share of random orders, and the given one, that are at least as similar up to rounding errors."""
    return float((1 + (null >= value - 1e-12 * abs(value)).sum()) / (1 + len(null)))
