"""Which factors are functions of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.regression import (
    EXACT,
    GaussianKernel,
    along_one_column,
    monomial_exponents,
    open_to_least_squares,
    polynomial_sources,
    products,
    second_degree,
    unexplained_variances,
)
from unweave.evidence import Evidence
from unweave.evidence.splits import clusters, equal_rows
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.responses.factor_bases import FactorView, factor_view

ROWS_TO_SCREEN = 300
ROWS_TO_DECIDE = 1000

# largest unexplained shares: without a condition, and if they decrease with the number of rows
OPEN = (0.0005, 0.02)
OPEN_CLASSES = (0.05, 0.35)
TIED = 0.1
SHRUNK = 0.75

# unexplained share on few rows: accepted up to the first number, rejected above the second, and in between accepted if
# it is at most the third number times the share on quarters of these rows
AT_FIRST = (0.003, 0.05, 0.5)
CLASSES_AT_FIRST = (0.05, 0.6, 0.8)
PAIRS_PER_TARGET = 3
NO_PAIR = 0.85  # largest share that low-degree functions of two factors may leave unexplained if they determine a third
MOST_FACTORS_IN_ALL_PAIRS = 50
SOURCES_OF_MANY = 8
MOST_DECISIONS = 6
MOST_LISTED = 20  # levels of a factor, for each of which rows may state the value of another one
ROWS_PER_FUNCTION = 3
NEARLY_BEST = 1.3
Candidate = tuple[int, tuple[int, ...]]


def _kernels(n_sources: int) -> tuple[GaussianKernel, ...]:
    """Kernels of small, medium and large width: small ones suit kinks, and large ones smooth maps without noise."""
    if n_sources == 1:
        return (GaussianKernel(0.2, 1e-3), GaussianKernel(0.6, 1e-3), GaussianKernel(2.0, 1e-3))
    if n_sources == 2:
        return (GaussianKernel(0.5, 1e-3), GaussianKernel(1.0, 1e-4), GaussianKernel(2.5, 1e-4))
    width = np.sqrt(n_sources)
    return (GaussianKernel(width, 1e-3), GaussianKernel(2 * width, 1e-4), GaussianKernel(4 * width, 1e-4))


@dataclass
class ConstraintSearch:
    """The results of the search so far; every fit is computed once."""

    views: Sequence[FactorView]
    _screened: dict[tuple[Candidate, int], FloatArray] = field(default_factory=dict)
    _decided: dict[Candidate, tuple[bool, float]] = field(default_factory=dict)
    _near: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    _of_pair: dict[Candidate, float] = field(default_factory=dict)
    _followed: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows that kernels use."""
        return min(len(self.views[0].targets), ROWS_TO_DECIDE)

    def is_determined(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether the sources determine the target."""
        return self.decision(target, sources)[0]

    def screened(self, target: int, sources: tuple[int, ...], n_parts: int = 1) -> FloatArray:
        """Share of the target that each kernel on these sources leaves unexplained, on 300 rows or on parts of them."""
        key = ((target, sources), n_parts)
        if key not in self._screened:
            parts = _parts(np.arange(min(self.n_rows, ROWS_TO_SCREEN)), n_parts)
            # for a single source, one kernel gives the shares of all targets at once
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
        """Share of the targets (columns) that these kernels (rows) do not explain, averaged over the parts."""
        inputs = np.column_stack([self.views[j].inputs for j in sources])
        values = np.column_stack([self.views[j].targets for j in targets])
        shares = np.zeros((len(kernels), len(targets)))
        for k, kernel in enumerate(_kernels(len(sources))[i] for i in kernels):
            for rows in parts:
                shares[k] += self._left_by(kernel.leave_one_out(inputs[rows], values[rows]), targets, rows)
        return shares / len(parts)

    def _left_by(self, predictions: FloatArray, targets: Sequence[int], rows: Rows) -> FloatArray:
        """Share of each target that these predictions, of the columns of all targets, do not explain."""
        if predictions.shape[1] == len(targets):
            values = np.column_stack([self.views[j].targets[rows] for j in targets])
            return unexplained_variances(values, predictions)  # numeric factors can be computed at once
        stops = np.cumsum([self.views[j].targets.shape[1] for j in targets])[:-1]
        each = zip(targets, np.split(predictions, stops, axis=1), strict=True)
        return np.array([self.views[j].unexplained(rows, predicted) for j, predicted in each])

    def followed(self, source: int) -> tuple[FloatArray, FloatArray]:
        """Share of every factor that interpolation along ``source`` does not explain, on all rows and on quarters."""
        if source not in self._followed:
            targets = range(len(self.views))
            values = np.column_stack([view.targets for view in self.views])
            place = self.views[source].place
            shares = []
            for n_parts in (1, 4):
                left = np.full(len(self.views), 1.0 if place is None else 0.0)
                for rows in _parts(_of_own_levels(place), n_parts) if place is not None else ():
                    assert place is not None
                    order = np.argsort(place[rows], kind="stable")
                    predicted = along_one_column(order, place[rows][order], values[rows])
                    left += self._left_by(predicted, targets, rows) / n_parts
                shares.append(left)
            self._followed[source] = shares[0], shares[1]
        return self._followed[source]

    def _is_followed(self, target: int, sources: tuple[int, ...]) -> bool:
        if len(sources) > 1:
            return False
        whole, quarters = self.followed(sources[0])
        return self._is_little(target, float(whole[target]), lambda: float(quarters[target]))

    def _is_little(self, target: int, left: float, of_quarters: Callable[[], float]) -> bool:
        """Whether the unexplained share ``left`` is almost 0, or is small and falls with the number of rows."""
        nothing, little = OPEN if self.views[target].labels is None else OPEN_CLASSES
        return left <= nothing or (left <= little and left <= SHRUNK * of_quarters())

    def may_be_determined(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether so little is unexplained on few rows that a test on more rows is worthwhile."""
        if self._is_followed(target, sources) or self.open_to_pair(target, sources) <= EXACT:
            return True
        left = self.screened(target, sources).min()
        little, much, shrunk = AT_FIRST if self.views[target].labels is None else CLASSES_AT_FIRST
        if left <= little or left > much:
            return bool(left <= little)
        return bool(left <= shrunk * self.screened(target, sources, 4).min())

    def decision(self, target: int, sources: tuple[int, ...]) -> tuple[bool, float]:
        """Whether the sources determine the target, and the unexplained share; nan if few rows already ruled it out."""
        key = (target, sources)
        if key not in self._decided:
            self._decided[key] = self._decide(target, sources)
        return self._decided[key]

    def _decide(self, target: int, sources: tuple[int, ...]) -> tuple[bool, float]:
        if self._is_followed(target, sources):
            return True, float(self.followed(sources[0])[0][target])
        if not self.may_be_determined(target, sources):
            return (True, 0.0) if self._is_exact(target, sources) else (False, np.nan)
        rows, at_first = np.arange(self.n_rows), self.screened(target, sources)
        # for classes, few rows are not enough to choose a kernel
        hopeful = (at_first <= NEARLY_BEST * at_first.min()) | (self.views[target].labels is not None)
        kernels = np.flatnonzero(hopeful)
        left = float(self._open_shares(sources, [target], [rows], kernels).min())
        if self._is_little(
            target, left, lambda: float(self._open_shares(sources, [target], _parts(rows, 4), kernels).min())
        ):
            return True, left
        # only if the ranks do not decide, because ranks do not depend on the scale of a factor
        return (True, 0.0) if self._is_exact(target, sources) else (False, left)

    def gives_back(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether sources determine a target with which they are already related by a constraint.

        They determine it unless the constraint is many-to-one. A larger unexplained share than in the search is
        therefore allowed.
        """
        if self.is_determined(target, sources):
            return True
        rows = np.arange(self.n_rows)
        left = self._open_shares(sources, [target], [rows]).min()
        most = TIED if self.views[target].labels is None else OPEN_CLASSES[1]
        return bool(left <= most and left <= SHRUNK * self._open_shares(sources, [target], _parts(rows, 4)).min())

    def best_determined(self, kept: list[int]) -> Candidate | None:
        """The factor that is determined best by the fewest others, and these others; None if there is none."""
        for candidates in (self._singles, self._pairs, self._all_others):
            hopeful = [candidate for candidate in candidates(kept) if self.may_be_determined(*candidate)]
            # of two factors that determine each other, the later column is removed
            hopeful.sort(key=lambda candidate: (round(self._at_first(candidate), 3), -candidate[0]))
            for candidate in hopeful[:MOST_DECISIONS]:
                if self.is_determined(*candidate):
                    return candidate[0], self._fewest(*candidate)
            if candidates == self._singles and (exact := self._exact_candidates(kept)):
                return exact[0]
        return None

    def _at_first(self, candidate: Candidate) -> float:
        target, sources = candidate
        left = min(float(self.screened(target, sources).min()), self.open_to_pair(target, sources))
        return min(left, float(self.followed(sources[0])[0][target])) if len(sources) == 1 else left

    def _numbers(self, factors: Sequence[int], *, standard: bool) -> FloatArray:
        """Values of these factors on few rows, but with three rows for each term of a second-degree polynomial."""
        n_functions = len(factors) * (len(factors) + 3) // 2 + 1
        n_rows = min(self.n_rows, max(ROWS_TO_SCREEN, ROWS_PER_FUNCTION * n_functions))
        columns = [self.views[j].numbers if standard else self.views[j].column for j in factors]
        return np.column_stack([np.asarray(column)[:n_rows] for column in columns])

    def _exact_candidates(self, kept: list[int]) -> list[Candidate]:
        """Factors that are polynomials or products of powers of others, the simplest relation first."""
        known = [j for j in kept if self.views[j].numbers is not None]
        found: list[tuple[tuple[int, int, int], Candidate]] = []
        if len(known) < 3:
            return []
        standard, given = (self._numbers(known, standard=choice) for choice in (True, False))
        for place, target in enumerate(known):
            others = [j for j in known if j != target]
            named = tuple(others[k] for k in polynomial_sources(np.delete(standard, place, axis=1), standard[:, place]))
            powers = {} if named else monomial_exponents(np.delete(given, place, axis=1), given[:, place])
            # relations without negative exponents come first: if a = b c, a is removed, and not b = a / c
            order = sum(power < 0 for power in powers.values())
            named = named or tuple(others[k] for k in powers)
            if named:
                found.append(((order, len(named), -target), (target, named)))
        return [candidate for _, candidate in sorted(found)]

    def _is_exact(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether the target is a polynomial of second degree of the sources, or a product of their powers."""
        involved = (target, *sources)
        if len(sources) < 2 or any(self.views[j].numbers is None for j in involved):
            return False
        standard, given = (self._numbers(involved, standard=choice) for choice in (True, False))
        return bool(polynomial_sources(standard[:, 1:], standard[:, 0])) or bool(
            monomial_exponents(given[:, 1:], given[:, 0])
        )

    def open_to_pair(self, target: int, sources: tuple[int, ...]) -> float:
        """Share of the target that a second-degree polynomial of two sources does not explain; 1 if not applicable."""
        if len(sources) != 2 or any(self.views[j].numbers is None for j in (target, *sources)):
            return 1.0
        if (target, sources) not in self._of_pair:
            numbers = self._numbers((target, *sources), standard=True)
            self._of_pair[target, sources] = open_to_least_squares(second_degree(numbers[:, 1:]), numbers[:, 0])
        return self._of_pair[target, sources]

    def _singles(self, kept: list[int]) -> list[Candidate]:
        return [(target, (source,)) for source in kept for target in kept if source != target]

    def _pairs(self, kept: list[int]) -> list[Candidate]:
        candidates: list[Candidate] = []
        for target in kept:
            sources = self._likely_sources(target, kept)
            left = {pair: self._open_to_polynomials(pair)[target] for pair in combinations(sources, 2)}
            pairs = sorted((pair for pair in left if left[pair] <= NO_PAIR), key=lambda pair: left[pair])
            candidates += [(target, pair) for pair in pairs[:PAIRS_PER_TARGET]]
        return candidates

    def _likely_sources(self, target: int, kept: list[int]) -> list[int]:
        """All other factors; if there are very many, those with the strongest dependence on the target."""
        others = [j for j in kept if j != target]
        if len(self.views) <= MOST_FACTORS_IN_ALL_PAIRS:
            return others
        basis = self.views[target].basis
        others.sort(key=lambda j: -float(np.square(basis.T @ self.views[j].basis).sum()))
        return sorted(others[:SOURCES_OF_MANY])

    def _open_to_polynomials(self, pair: tuple[int, int]) -> FloatArray:
        """Share of every factor that low-degree functions of two factors do not explain: a fast approximation."""
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
        """Targets of all factors as columns of one array, and the first column of each."""
        values = np.column_stack([view.targets[: self.n_rows] for view in self.views])
        widths = [view.targets.shape[1] for view in self.views]
        return values, np.cumsum([0, *widths[:-1]])

    def _all_others(self, kept: list[int]) -> list[Candidate]:
        if len(kept) < 4:
            return []
        return [(target, tuple(j for j in kept if j != target)) for target in kept]

    def _fewest(self, target: int, sources: tuple[int, ...]) -> tuple[int, ...]:
        """The sources without those that are not needed to determine the target; three or fewer are not reduced."""
        for source in sources if len(sources) > 2 else ():
            fewer = tuple(j for j in sources if j != source)
            if len(fewer) > 2 and self.is_determined(target, fewer):
                sources = fewer
        return sources


def _of_own_levels(place: FloatArray) -> Rows:
    """All rows, or one row for each level if many levels repeat: rows of one level would show any list as a function.

    >>> _of_own_levels(np.array([1.0, 1.0, 2.0])).size, _of_own_levels(np.repeat(np.arange(30.0), 2)).size
    (3, 30)
    """
    levels, first = np.unique(place, return_index=True)
    return np.sort(first) if MOST_LISTED < levels.size <= len(place) / 2 else np.arange(len(place))


def _parts(rows: Rows, n_parts: int) -> list[Rows]:
    return [rows[k::n_parts] for k in range(n_parts)]


MOST_ROWS = 4000
FEWEST_ROWS = 50
MOST_FACTORS = 64
BETTER = 0.01  # smallest gain in worth for which a factor replaces another


@dataclass(frozen=True)
class FunctionalConstraint:
    """A factor that other factors determine; ``open_share`` is the share of its variance that they do not explain.

    For classes, ``open_share`` is the share of the entropy. ``invertible`` is True if one other factor determines this
    one and is determined by it (D_fA of 003), and False if the map is many-to-one (D_fB) or has several arguments.
    """

    determined: str
    by: tuple[str, ...]
    open_share: float
    invertible: bool = False

    @property
    def is_single(self) -> bool:
        """Whether one other factor determines this one."""
        return len(self.by) == 1


@dataclass(frozen=True, eq=False)
class SeparateRows:
    """Rows of an evidence that the search for constraints uses, in random order.

    ``n_separate`` is the number of row groups, or of rows if there are no groups. ``n_repeated`` is the number of
    drawn rows that were left out because another row has the same factors.
    """

    rows: Rows
    n_separate: int
    n_repeated: int


@dataclass(frozen=True, eq=False)
class FactorConstraints:
    """Which factors of one evidence determine which others."""

    separate: SeparateRows  # the rows that were used
    views: tuple[FactorView, ...]  # all factors that vary on these rows; empty if there are too few rows
    # factors that others determine, with these others, as positions in ``views`` and in the order of the search
    found: tuple[tuple[int, tuple[int, ...]], ...]
    constraints: tuple[FunctionalConstraint, ...]  # the same with names and unexplained shares
    search: ConstraintSearch  # which can test further relations

    @property
    def determined(self) -> tuple[str, ...]:
        """Names of factors that others determine, including those that are the inverse of a constraint."""
        back = {constraint.by[0] for constraint in self.constraints if constraint.invertible}
        named = back | {constraint.determined for constraint in self.constraints}
        return tuple(view.name for view in self.views if view.name in named)

    def alike(self, names: Sequence[str]) -> NDArray[np.intp]:
        """For each factor, the position of the first factor in ``names`` that is equivalent to it.

        Two factors are equivalent if each determines the other. A factor without an earlier equivalent has its own
        position.
        """
        place_of = {view.name: place for place, view in enumerate(self.views[:MOST_FACTORS])}
        first = list(range(len(names)))
        for k, name in enumerate(names):
            for earlier in range(k) if name in place_of else ():
                if first[earlier] == earlier and names[earlier] in place_of:
                    left, right = place_of[names[earlier]], place_of[name]
                    if self.search.is_determined(left, (right,)) and self.search.is_determined(right, (left,)):
                        first[k] = earlier
                        break
        return np.array(first, dtype=np.intp)

    def free(self, names: Sequence[str], worth: FloatArray | None = None) -> list[int]:
        """Positions among these names of a smallest set of factors that determines all others.

        All such sets have the same size, the effective dimension: for a circuit, current and voltage, or temperature
        and current. With ``worth``, factors of the set are exchanged one by one for more valuable ones.
        """
        place_of = {name: place for place, name in enumerate(names)}
        sources = {
            place_of[self.views[target].name]: {place_of[self.views[j].name] for j in by} for target, by in self.found
        }
        of_name = {view.name: place for place, view in enumerate(self.views)}
        kept = set(range(len(names))) - set(sources)
        order = sorted(sources, key=lambda j: -worth[j]) if worth is not None else []
        for better in order:
            assert worth is not None
            needed = _determining_factors(sources, better)
            for worse in sorted(needed, key=lambda j: worth[j]):
                others = (needed - {worse}) | {better}
                if worth[better] < worth[worse] + BETTER:
                    break
                if self._gives_back(of_name[names[worse]], tuple(sorted(of_name[names[j]] for j in others))):
                    del sources[better]
                    sources[worse] = others
                    kept = (kept - {worse}) | {better}
                    break
        return sorted(kept)

    def _gives_back(self, target: int, sources: tuple[int, ...]) -> bool:
        """Whether the sources determine the target, or a factor that determines it."""
        through = [j for j, by in self.found if target in by and len(by) == 1 and j not in sources]
        through += [j for k, by in self.found if k == target and len(by) == 1 for j in by if j not in sources]
        return self.search.gives_back(target, sources) or any(
            self.search.is_determined(target, (j,)) and self.search.gives_back(j, sources) for j in through
        )


def _determining_factors(sources: dict[int, set[int]], target: int) -> set[int]:
    """The kept factors that determine a target, directly or through factors that were removed."""
    needed = set(sources[target])
    while through := needed & set(sources):
        for j in through:
            needed = (needed - {j}) | sources[j]
    return needed


@memoised(on="factors")
def factor_constraints(evidence: Evidence, seed: int = 0) -> FactorConstraints:
    """Search the factors of an evidence for functions of others; ``seed`` determines the random rows.

    The search uses at most 4,000 random rows, one row for each row group or cluster of equal factors, and the first 64
    factors that vary. If a factor is continuous, rows with equal factors are used once, unless they are so common that
    a factor does not apply to them, such as the size of an absent object. With fewer than 50 such rows there is no
    search.

    >>> x, y = np.random.default_rng(0).normal(size=(2, 500))
    >>> found = factor_constraints(Evidence({"x": x, "y": y, "size": np.abs(x)}))
    >>> found.constraints[0].determined, found.constraints[0].by, found.constraints[0].invertible
    ('size', ('x',), False)
    """
    separate = _separate_rows(evidence, seed)
    some = evidence.rows(separate.rows)
    varying = [j for j in range(some.n_factors) if np.ptp(some.factors[:, j]) > 0] if separate.rows.size else []
    views = tuple(factor_view(some, j) for j in varying) if separate.rows.size >= FEWEST_ROWS else ()
    search = ConstraintSearch(views[:MOST_FACTORS])
    kept = list(range(min(len(views), MOST_FACTORS)))
    found: list[tuple[int, tuple[int, ...]]] = []
    while len(kept) > 1 and (best := search.best_determined(kept)) is not None:
        found.append(best)
        kept.remove(best[0])
    named = [_named_constraint(search, target, by) for target, by in found]
    return FactorConstraints(separate, views, tuple(found), tuple(named), search)


def _named_constraint(search: ConstraintSearch, target: int, by: tuple[int, ...]) -> FunctionalConstraint:
    invertible = len(by) == 1 and search.is_determined(by[0], (target,))
    names = tuple(search.views[j].name for j in by)
    return FunctionalConstraint(search.views[target].name, names, search.decision(target, by)[1], invertible)


def _separate_rows(evidence: Evidence, seed: int) -> SeparateRows:
    order = random_stream(seed, "rows for constraints").permutation(evidence.n_rows)
    if evidence.row_groups is not None:
        order = order[np.sort(np.unique(evidence.row_groups[order], return_index=True)[1])]
    n_separate = order.size
    order = order[:MOST_ROWS]
    n_drawn = order.size
    some = evidence.factors[order]
    same = clusters(some)  # of one subject or video, which may have few enough values to pass for levels
    if same is None and any(kind.is_continuous for kind in evidence.kinds):
        same = equal_rows(some)
    if same is not None:
        order = order[np.sort(np.unique(same, return_index=True)[1])]
    return SeparateRows(order, n_separate, n_drawn - order.size)
