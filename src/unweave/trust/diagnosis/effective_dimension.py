"""How many factors can vary freely, and which are functions of others (003, definition 2 and appendix D.1).

A factor is determined by others if kernel regression on them, every row held out, leaves almost nothing of it open, and
leaves less the more rows there are: noise, however small, does not shrink with the rows. Sums, products and squares of
two factors are told by fewer rows: a polynomial of the numbers themselves leaves nothing. Candidates are looked for
among single factors, then pairs, then all others together; the factor that is determined best, by as few others as
possible, is taken away, and the search goes on among those that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.estimators.regression.factor_functions import products
from unweave.estimators.regression.kernel_regression import GaussianKernel, unexplained_variances
from unweave.trust.diagnosis.factor_views import FactorView

ROWS_TO_SCREEN = 300
ROWS_TO_DECIDE = 1000
# shares left open that are next to nothing, and those that are little if they shrink with the rows
OPEN = (0.004, 0.02)
OPEN_CLASSES = (0.05, 0.35)
EXACT = 1e-6
SHRUNK = 0.7
# what few rows may leave open without a second look, at most, and in proportion to what a quarter of them leaves
AT_FIRST = (0.003, 0.05, 0.5)
CLASSES_AT_FIRST = (0.05, 0.6, 0.8)
PAIRS_PER_TARGET = 3
MOST_FACTORS_IN_ALL_PAIRS = 50
SOURCES_OF_MANY = 8
MOST_DECISIONS = 6
ROWS_PER_FUNCTION = 3
NEARLY_BEST = 1.3

Candidate = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class FunctionalConstraint:
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


def constraints_among(views: Sequence[FactorView]) -> list[FunctionalConstraint]:
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
        invertible = len(sources) == 1 and search.decision(sources[0], (target,))[0]
        names = tuple(views[j].name for j in sources)
        found.append(FunctionalConstraint(views[target].name, names, search.decision(target, sources)[1], invertible))
        kept.remove(target)
    return found


def _kernels(n_sources: int) -> tuple[GaussianKernel, ...]:
    """Short, medium and long kernels: kinks need the first, noise-free smooth maps the last."""
    if n_sources == 1:
        return (GaussianKernel(0.2, 1e-3), GaussianKernel(0.6, 1e-3), GaussianKernel(2.0, 1e-3))
    if n_sources == 2:
        return (GaussianKernel(0.5, 1e-3), GaussianKernel(1.0, 1e-4), GaussianKernel(2.5, 1e-4))
    width = np.sqrt(n_sources)
    return (GaussianKernel(width, 1e-3), GaussianKernel(2 * width, 1e-4), GaussianKernel(4 * width, 1e-4))


@dataclass
class _Search:
    """What is known of the factors so far; every fit is made once."""

    views: Sequence[FactorView]
    _screened: dict[tuple[Candidate, int], FloatArray] = field(default_factory=dict)
    _decided: dict[Candidate, tuple[bool, float]] = field(default_factory=dict)
    _near: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    _algebraic: dict[Candidate, float] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return min(len(self.views[0].targets), ROWS_TO_DECIDE)

    def screened(self, target: int, sources: tuple[int, ...], n_parts: int = 1) -> FloatArray:
        """What every kernel on these sources leaves open of the target, on few rows, whole or in parts."""
        key = ((target, sources), n_parts)
        if key not in self._screened:
            parts = _parts(np.arange(min(self.n_rows, ROWS_TO_SCREEN)), n_parts)
            # a single source is asked about every factor, and one kernel serves them all
            targets = range(len(self.views)) if len(sources) == 1 and n_parts == 1 else (target,)
            shares = self._open_shares(sources, targets, parts)
            self._screened |= {((j, sources), n_parts): shares[:, k] for k, j in enumerate(targets)}
        return self._screened[key]

    def _open_shares(
        self,
        sources: tuple[int, ...],
        targets: Sequence[int],
        parts: list[Rows],
        kernels: Sequence[int] | Rows = (0, 1, 2),
    ) -> FloatArray:
        """What these kernels (rows) leave open of the targets (columns), a mean over the parts."""
        inputs = np.column_stack([self.views[j].inputs for j in sources])
        values = np.column_stack([self.views[j].targets for j in targets])
        stops = np.cumsum([self.views[j].targets.shape[1] for j in targets])[:-1]
        shares = np.zeros((len(kernels), len(targets)))
        for k, kernel in enumerate(_kernels(len(sources))[i] for i in kernels):
            for rows in parts:
                predictions = kernel.leave_one_out(inputs[rows], values[rows])
                if values.shape[1] == len(targets):  # numbers only: all at once
                    shares[k] += unexplained_variances(values[rows], predictions)
                    continue
                each = zip(targets, np.split(predictions, stops, axis=1), strict=True)
                shares[k] += [self.views[j].unexplained(rows, predicted) for j, predicted in each]
        return shares / len(parts)

    def may_be_determined(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether the few rows leave little enough open to look closer; noise shows that it does not shrink."""
        if self.open_to_algebra(target, sources) <= EXACT:
            return True
        left = self.screened(target, sources).min()
        little, much, shrunk = AT_FIRST if self.views[target].labels is None else CLASSES_AT_FIRST
        if left <= little or left > much:
            return bool(left <= little)
        return bool(left <= shrunk * self.screened(target, sources, 4).min())

    def decision(self, target: int, sources: tuple[int, ...]) -> tuple[bool, float]:
        """Whether the sources determine the target, and what they leave open: next to nothing, or little that shrinks.

        nan where the few rows settled it.
        """
        if not self.may_be_determined(target, sources):
            return False, np.nan
        key = (target, sources)
        if key not in self._decided:
            rows = np.arange(self.n_rows)
            at_first = self.screened(target, sources)
            kernels = np.flatnonzero(at_first <= NEARLY_BEST * at_first.min())
            left = float(self._open_shares(sources, [target], [rows], kernels).min())
            nothing, little = OPEN if self.views[target].labels is None else OPEN_CLASSES
            holds = left <= nothing
            if not holds and left <= little:
                holds = bool(left <= SHRUNK * self._open_shares(sources, [target], _parts(rows, 4)).min())
            # only where the ranks do not tell, for they do not change with the scale that a factor was recorded on
            algebra = self.open_to_algebra(target, sources)
            self._decided[key] = (True, algebra) if not holds and algebra <= EXACT else (holds, left)
        return self._decided[key]

    def best_determined(self, kept: list[int]) -> Candidate | None:
        """The factor determined best by the fewest others, and these."""
        for candidates in (self._singles, self._pairs, self._all_others):
            hopeful = [candidate for candidate in candidates(kept) if self.may_be_determined(*candidate)]
            # of two that determine each other the later column goes
            hopeful.sort(key=lambda candidate: (round(self._at_first(candidate), 3), -candidate[0]))
            for candidate in hopeful[:MOST_DECISIONS]:
                if self.decision(*candidate)[0]:
                    return candidate[0], self._fewest(*candidate)
        return None

    def _at_first(self, candidate: Candidate) -> float:
        target, sources = candidate
        return min(float(self.screened(target, sources).min()), self.open_to_algebra(target, sources))

    def open_to_algebra(self, target: int, sources: tuple[int, ...]) -> float:
        """What a polynomial of second degree in two numbers leaves open of a third; 1 where there are no such."""
        numbers = [self.views[j].numbers for j in (target, *sources)]
        if len(sources) != 2 or any(column is None for column in numbers):
            return 1.0
        if (target, sources) not in self._algebraic:
            y, a, b = (np.asarray(column)[: min(self.n_rows, ROWS_TO_SCREEN)] for column in numbers)
            self._algebraic[target, sources] = _held_out_share(np.column_stack([a, b, a * a, a * b, b * b]), y)
        return self._algebraic[target, sources]

    def _singles(self, kept: list[int]) -> list[Candidate]:
        return [(target, (source,)) for source in kept for target in kept if source != target]

    def _pairs(self, kept: list[int]) -> list[Candidate]:
        candidates: list[Candidate] = []
        for target in kept:
            sources = self._likely_sources(target, kept)
            pairs = sorted(combinations(sources, 2), key=lambda pair: self._open_to_polynomials(pair)[target])
            candidates += [(target, pair) for pair in pairs[:PAIRS_PER_TARGET]]
        return candidates

    def _likely_sources(self, target: int, kept: list[int]) -> list[int]:
        """All others, or of very many those that depend on the target most."""
        others = [j for j in kept if j != target]
        if len(self.views) <= MOST_FACTORS_IN_ALL_PAIRS:
            return others
        basis = self.views[target].basis
        others.sort(key=lambda j: -float(np.square(basis.T @ self.views[j].basis).sum()))
        return sorted(others[:SOURCES_OF_MANY])

    def _open_to_polynomials(self, pair: tuple[int, int]) -> FloatArray:
        """What functions of low degree of two factors leave open of every factor: quick, and near enough to choose."""
        if pair not in self._near:
            n_functions = np.prod([1 + self.views[j].basis.shape[1] for j in pair])
            n_rows = min(self.n_rows, max(ROWS_TO_SCREEN, ROWS_PER_FUNCTION * int(n_functions)))
            left, right = (self.views[j].basis[:n_rows] for j in pair)
            functions = np.column_stack([left, right, products(left, right) * np.sqrt(len(left))])
            functions -= functions.mean(axis=0)
            values, starts = self._all_targets
            values = values[:n_rows] - values[:n_rows].mean(axis=0)
            onto = functions.T @ values
            gram = functions.T @ functions + 1e-6 * np.eye(functions.shape[1])
            explained = (onto * np.linalg.solve(gram, onto)).sum(axis=0)
            self._near[pair] = 1 - np.add.reduceat(explained, starts) / np.add.reduceat(
                np.square(values).sum(axis=0), starts
            )
        return self._near[pair]

    @cached_property
    def _all_targets(self) -> tuple[FloatArray, Rows]:
        """Targets of all factors side by side, and where each begins."""
        values = np.column_stack([view.targets[: self.n_rows] for view in self.views])
        widths = [view.targets.shape[1] for view in self.views]
        return values, np.cumsum([0, *widths[:-1]])

    def _all_others(self, kept: list[int]) -> list[Candidate]:
        if len(kept) < 4:
            return []
        return [(target, tuple(j for j in kept if j != target)) for target in kept]

    def _fewest(self, target: int, sources: tuple[int, ...]) -> tuple[int, ...]:
        """The sources without those that are not needed."""
        for source in sources if len(sources) > 2 else ():
            fewer = tuple(j for j in sources if j != source)
            if len(fewer) > 2 and self.decision(target, fewer)[0]:
                sources = fewer
        return sources


def _held_out_share(columns: FloatArray, target: FloatArray) -> float:
    """Share of the target's variance that least squares leaves open, every row held out."""
    orthonormal, triangle = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))
    size = np.abs(np.diag(triangle))
    orthonormal = orthonormal[:, size > 1e-9 * size.max()]  # of two levels, the square is the number itself
    left = (target - orthonormal @ (orthonormal.T @ target)) / np.maximum(1 - np.square(orthonormal).sum(axis=1), 1e-9)
    return float(np.square(left).mean() / target.var()) if np.ptp(target) > 0 else 1.0


def _parts(rows: Rows, n_parts: int) -> list[Rows]:
    return [rows[k::n_parts] for k in range(n_parts)]
