"""Functions of the factors from which the codes are predicted: of one factor, and of all factors jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.regression.factor_functions import harmonics, normal_scores
from unweave.evidence import Evidence, FactorKind

Part = Literal["plain", "powers", "ranks", "smooth"]

ROWS_PER_STEP = 15
MOST_STEPS = 20
ROWS_PER_KNOT = 40
MOST_KNOTS = 8
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """Functions of one factor for every row: the factor, powers, ranks, smooth functions, and step functions."""

    plain: FloatArray
    powers: FloatArray
    ranks: FloatArray
    smooth: FloatArray
    flexible: FloatArray
    in_steps: bool = False  # whether the factor is categorical or has few values

    def at(self, places: Places) -> FactorDesign:
        """The same functions at these places."""
        return FactorDesign(
            plain=places.of(self.plain),
            powers=places.of(self.powers),
            ranks=places.of(self.ranks),
            smooth=places.of(self.smooth),
            flexible=places.of(self.flexible),
            in_steps=self.in_steps,
        )

    def part(self, name: Part) -> FloatArray:
        """The columns of this name."""
        return {"plain": self.plain, "powers": self.powers, "ranks": self.ranks, "smooth": self.smooth}[name]


@dataclass(frozen=True, eq=False)
class Places:
    """Where values of one factor are taken: at rows, or interpolated between two rows with adjacent values."""

    low: Rows
    high: Rows
    weight: FloatArray

    @classmethod
    def at_rows(cls, rows: Rows) -> Places:
        """Places at these rows, without interpolation."""
        return cls(rows, rows, np.zeros(rows.size))

    @classmethod
    def between_rows(cls, column: FloatArray, n_places: int, generator: np.random.Generator) -> Places:
        """Random places between the smallest and the largest value, distributed like the rows, without repetition.

        >>> places = Places.between_rows(np.array([3.0, 1.0, 2.0]), 100, np.random.default_rng(0))
        >>> drawn = places.of(np.array([3.0, 1.0, 2.0]))
        >>> bool(drawn.min() >= 1), bool(drawn.max() <= 3), np.unique(drawn).size
        (True, True, 100)
        """
        order = np.argsort(column, kind="stable")
        position = generator.uniform(0, column.size - 1, n_places)
        below = position.astype(np.intp)
        return cls(order[below], order[below + 1], position - below)

    def of(self, columns: FloatArray) -> FloatArray:
        """Values of one column or of several columns at the places, interpolated linearly between two rows."""
        if not self.weight.any():
            return columns[self.low]
        weight = self.weight if columns.ndim == 1 else self.weight[:, None]
        return np.asarray((1 - weight) * columns[self.low] + weight * columns[self.high])


@dataclass(frozen=True)
class JointModel:
    """A linear model in functions of every factor and, optionally, in products of functions of two factors.

    ``of_code`` is True if it predicts a code itself, and False if it predicts the code's normal scores.
    """

    of_code: bool
    sums: Part
    products: Part | None = None

    def width(self, designs: Sequence[FactorDesign]) -> int:
        """Number of columns, computed without creating them."""
        widths = [design.part(self.products).shape[1] for design in designs] if self.products else []
        return sum(design.part(self.sums).shape[1] for design in designs) + sum(
            first * second for first, second in combinations(widths, 2)
        )

    def factors_of_columns(self, designs: Sequence[FactorDesign]) -> NDArray[np.bool_]:
        """Which factors each column is a function of (columns x d)."""
        own = np.eye(len(designs), dtype=bool)
        sums = [own[[j] * design.part(self.sums).shape[1]] for j, design in enumerate(designs)]
        widths = [design.part(self.products).shape[1] for design in designs] if self.products else []
        pairs = combinations(range(len(widths)), 2)
        return np.vstack([*sums, *((own[[j]] | own[[k]]).repeat(widths[j] * widths[k], 0) for j, k in pairs)])

    def columns(self, designs: Sequence[FactorDesign]) -> FloatArray:
        """The design matrix (n x columns)."""
        factors = [design.part(self.products) for design in designs] if self.products else []
        products = [
            (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
            for first, second in combinations(factors, 2)
        ]
        return np.column_stack([*(design.part(self.sums) for design in designs), *products])


# from the simplest to the most flexible
JOINT_MODELS = (
    JointModel(True, "plain"),
    JointModel(True, "powers"),
    JointModel(True, "powers", "plain"),
    JointModel(False, "ranks"),
    JointModel(False, "smooth"),
    JointModel(False, "smooth", "ranks"),
)


def factor_design(evidence: Evidence, j: int) -> FactorDesign:
    """Functions of factor j.

    >>> factor_design(Evidence({"side": [0.0, 1.0, 0.0, 1.0]}), 0).smooth.ravel().tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    column, declared, n = evidence.factors[:, j], evidence.declared_kinds[j], evidence.n_rows
    if declared.kind is FactorKind.CIRCULAR:
        waves = harmonics(2 * np.pi * column / declared.period, 3).values
        circle = waves[:, :2]
        return FactorDesign(circle, waves, circle, waves, np.column_stack([waves, _steps(column, n)]))
    levels = np.unique(column)
    if declared.kind is FactorKind.CATEGORICAL or levels.size <= MOST_STEPS:
        classes = (column[:, None] == levels[1:]).astype(np.float64)
        plain = classes if declared.kind is FactorKind.CATEGORICAL else column[:, None]
        return FactorDesign(plain, classes, plain, classes, classes, in_steps=True)
    number = (column - column.mean()) / max(column.std(), TINY)
    ranks = normal_scores(column)
    n_knots = int(np.clip(n // ROWS_PER_KNOT, 3, MOST_KNOTS))
    knots = np.quantile(ranks, np.linspace(0, 1, n_knots + 2)[1:-1])
    bends = [np.maximum(ranks - knot, 0) ** 3 for knot in knots]
    return FactorDesign(
        plain=number[:, None],
        powers=_powers(number),
        ranks=ranks[:, None],
        smooth=np.column_stack([_powers(ranks), *bends[::2]]),
        flexible=np.column_stack([_powers(ranks), *bends, _steps(column, n)]),
    )


def _powers(column: FloatArray) -> FloatArray:
    return np.column_stack([column, column**2, column**3])


def _steps(column: FloatArray, n_rows: int) -> FloatArray:
    """Indicators of bins with equal numbers of rows; no columns if there are few rows."""
    n_steps = min(n_rows // ROWS_PER_STEP, MOST_STEPS)
    if n_steps < 4:
        return np.empty((n_rows, 0))
    edges = np.quantile(column, np.linspace(0, 1, n_steps + 1)[1:-1])
    return (np.searchsorted(edges, column)[:, None] == np.arange(1, n_steps)).astype(np.float64)
