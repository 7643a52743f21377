"""Functions of the factors from which the codes are predicted: of one factor, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.factor_functions import harmonics, normal_scores
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.splits import Rows

FloatArray = NDArray[np.float64]
Part = Literal["plain", "powers", "ranks", "smooth"]

ROWS_PER_STEP = 15
MOST_STEPS = 20
ROWS_PER_KNOT = 40
MOST_KNOTS = 8
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class FactorDesign:
    """Functions of one factor, row by row: as it is, its powers, its ranks, smooth ones, and smooth ones with steps."""

    plain: FloatArray
    powers: FloatArray
    ranks: FloatArray
    smooth: FloatArray
    flexible: FloatArray

    def rows(self, index: Rows) -> FactorDesign:
        """The same functions for these rows."""
        parts = (self.plain, self.powers, self.ranks, self.smooth, self.flexible)
        return FactorDesign(*(columns[index] for columns in parts))

    def part(self, name: Part) -> FloatArray:
        """Columns by name."""
        return {"plain": self.plain, "powers": self.powers, "ranks": self.ranks, "smooth": self.smooth}[name]


@dataclass(frozen=True)
class JointModel:
    """A sum of functions of every factor, and of products of functions of two where asked for.

    ``of_code`` is whether it predicts a code itself, or its normal scores.
    """

    of_code: bool
    sums: Part
    products: Part | None = None

    def width(self, designs: Sequence[FactorDesign]) -> int:
        """Number of columns, known without making them."""
        widths = [design.part(self.products).shape[1] for design in designs] if self.products else []
        return sum(design.part(self.sums).shape[1] for design in designs) + sum(
            first * second for first, second in combinations(widths, 2)
        )

    def columns(self, designs: Sequence[FactorDesign]) -> FloatArray:
        """The functions of all rows."""
        factors = [design.part(self.products) for design in designs] if self.products else []
        products = [
            (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
            for first, second in combinations(factors, 2)
        ]
        return np.column_stack([*(design.part(self.sums) for design in designs), *products])


# the simplest first
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
        return FactorDesign(plain, classes, plain, classes, classes)
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
    """Indicators of bins of equal mass, none where rows are few."""
    n_steps = min(n_rows // ROWS_PER_STEP, MOST_STEPS)
    if n_steps < 4:
        return np.empty((n_rows, 0))
    edges = np.quantile(column, np.linspace(0, 1, n_steps + 1)[1:-1])
    return (np.searchsorted(edges, column)[:, None] == np.arange(1, n_steps)).astype(np.float64)
