"""How many factors can vary freely, and which are functions of others (003, definition 2 and appendix D.1).

A factor is determined by others if kernel regression on them, every row held out, leaves almost nothing of it open, and
leaves less the more rows there are: noise, however small, does not shrink with the rows. Candidates are looked for
among single factors, then pairs, then all others together; the factor that is determined best, by as few others as
possible, is taken away, and the search goes on among those that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from unweave.estimators.factor_functions import products
from unweave.estimators.kernel_regression import FloatArray, GaussianKernel
from unweave.evidence.splits import Rows
from unweave.trust.factor_views import FactorView

ROWS_TO_SCREEN = 300
ROWS_TO_DECIDE = 1000
OPEN = 0.02
OPEN_CLASSES = 0.35
NEXT_TO_NOTHING = 0.002
SHRUNK = 0.6
WORTH_A_LOOK = 4.0
PAIRS_PER_TARGET = 3
MOST_PAIRS = 2000
SOURCES_OF_MANY = 8


@dataclass(frozen=True)
class Constraint:
    """A factor that others determine; ``open_share`` of its variance (of its entropy, for classes) is left.

    ``invertible`` is whether one other factor is determined by this one in turn: nothing is lost (D_fA of 003), or the
    map is many-to-one (D_fB). It is False for several others.
    """

    determined: str
    by: tuple[str, ...]
    open_share: float
    invertible: bool = False

    @property
    def is_single(self) -> bool:
        """Whether one other factor is enough."""
        return len(self.by) == 1


def constraints_among(views: Sequence[FactorView]) -> list[Constraint]:
    """Constraints in the order found: so many factors fewer vary freely.

    Parameters
    ----------
    views : sequence of FactorView
        The factors that vary, on the same rows, in random order of the rows.
    """
    search = _Search(views)
    kept, found = list(range(len(views))), []
    while len(kept) > 1 and (best := search.best_determined(kept)) is not None:
        target, sources = best
        invertible = len(sources) == 1 and search.is_determined(sources[0], (target,))
        names = tuple(views[j].name for j in sources)
        found.append(Constraint(views[target].name, names, search.open_share(target, sources), invertible))
        kept.remove(target)
    return found


def _kernels(n_sources: int) -> tuple[GaussianKernel, ...]:
    """Short, medium and long kernels: kinks need the first, noise-free smooth maps the last."""
    if n_sources == 1:
        return (GaussianKernel(0.2, 1e-3), GaussianKernel(0.6, 1e-3), GaussianKernel(2.0, 1e-3))
    if n_sources == 2:
        return (GaussianKernel(0.5, 1e-3), GaussianKernel(1.0, 1e-4), GaussianKernel(2.5, 1e-4))
    width = np.sqrt(n_sources)
    return (GaussianKernel(width, 1e-3), GaussianKernel(3 * width, 1e-4))


@dataclass
class _Search:
    """What is known of the factors so far; every fit is made once."""

    views: Sequence[FactorView]
    _fits: dict[tuple[tuple[int, ...], str], FloatArray] = field(default_factory=dict)
    _screened: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.views[0].targets)

    def rows(self, stage: str) -> list[Rows]:
        """Rows to screen with, to decide with, or the latter in quarters."""
        if stage == "screen":
            return [np.arange(min(self.n_rows, ROWS_TO_SCREEN))]
        all_rows = np.arange(min(self.n_rows, ROWS_TO_DECIDE))
        return [all_rows] if stage == "decide" else [all_rows[k::4] for k in range(4)]

    def open_shares(self, sources: tuple[int, ...], stage: str) -> FloatArray:
        """What these sources leave open of every factor, by the best kernel."""
        key = (tuple(sorted(sources)), stage)
        if key not in self._fits:
            inputs = np.column_stack([self.views[j].inputs for j in key[0]])
            targets = np.column_stack([view.targets for view in self.views])
            stops = np.cumsum([view.targets.shape[1] for view in self.views])[:-1]
            per_kernel = []
            for kernel in _kernels(len(sources)):
                shares = []
                for rows in self.rows(stage):
                    predictions = np.split(kernel.leave_one_out(inputs[rows], targets[rows]), stops, axis=1)
                    pairs = zip(self.views, predictions, strict=True)
                    shares.append([view.unexplained(rows, predicted) for view, predicted in pairs])
                per_kernel.append(np.mean(shares, axis=0))
            self._fits[key] = np.min(per_kernel, axis=0)
        return self._fits[key]

    def open_share(self, target: int, sources: tuple[int, ...]) -> float:
        """What the sources leave open of the target on the rows that decide."""
        return float(self.open_shares(sources, "decide")[target])

    def limit(self, target: int) -> float:
        return OPEN if self.views[target].labels is None else OPEN_CLASSES

    def is_determined(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether next to nothing is open, or little that shrinks with the rows."""
        if self.open_shares(sources, "screen")[target] > WORTH_A_LOOK * self.limit(target):
            return False
        left = self.open_share(target, sources)
        if left <= NEXT_TO_NOTHING or left > self.limit(target):
            return left <= NEXT_TO_NOTHING
        return bool(left <= SHRUNK * self.open_shares(sources, "quarters")[target])

    def best_determined(self, kept: list[int]) -> tuple[int, tuple[int, ...]] | None:
        """The factor determined best by the fewest others, and these."""
        for candidates in (self._singles, self._pairs, self._all_others):
            found = [(target, sources) for target, sources in candidates(kept) if self.is_determined(target, sources)]
            if found:
                # of two that determine each other the later column goes
                return min(found, key=lambda item: (round(self.open_share(*item), 3), -item[0]))
        return None

    def _singles(self, kept: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        return [(target, (source,)) for source in kept for target in kept if source != target]

    def _pairs(self, kept: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        pairs = list(combinations(kept, 2))
        for pair in pairs:
            if pair not in self._screened:
                self._screened[pair] = self._open_to_polynomials(pair)
        candidates: list[tuple[int, tuple[int, ...]]] = []
        for target in kept:
            able = [pair for pair in pairs if target not in pair]
            able.sort(key=lambda pair: self._screened[pair][target])
            candidates += [(target, pair) for pair in able[:PAIRS_PER_TARGET]]
        return candidates

    def _open_to_polynomials(self, pair: tuple[int, int]) -> FloatArray:
        """What functions of low degree of two factors leave open of every factor: quick, and near enough to choose."""
        left, right = (self.views[j].basis for j in pair)
        functions = np.column_stack([left, right, products(left, right) * np.sqrt(len(left))])
        functions -= functions.mean(axis=0)
        gram = functions.T @ functions + 1e-6 * np.eye(functions.shape[1])
        shares = []
        for view in self.views:
            centred = view.targets - view.targets.mean(axis=0)
            onto = functions.T @ centred
            shares.append(1 - (onto * np.linalg.solve(gram, onto)).sum() / np.square(centred).sum())
        return np.array(shares)

    def _all_others(self, kept: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        if len(kept) < 4:
            return []
        candidates = []
        for target in kept:
            sources = tuple(j for j in kept if j != target)
            if self.is_determined(target, sources):
                candidates.append((target, self._fewest(target, sources)))
        return candidates

    def _fewest(self, target: int, sources: tuple[int, ...]) -> tuple[int, ...]:
        """The sources without those that are not needed."""
        for source in sources:
            fewer = tuple(j for j in sources if j != source)
            if len(fewer) > 2 and self.is_determined(target, fewer):
                sources = fewer
        return sources
