"""Which factors are functions of others, and which sets of factors determine all others.

`factor_constraints` searches a random sample of independent rows, once for each evidence. The diagnosis,
`identification` and `t_mex` use the same result, so that they agree about the effective dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.evidence import Evidence, FactorKind
from unweave.memo import memoised
from unweave.randomness import random_stream
from unweave.responses.constraint_search import ConstraintSearch
from unweave.responses.factor_views import FactorView, factor_view

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
    """Which factors of one evidence determine which others.

    Attributes
    ----------
    separate : SeparateRows
        The rows that were used.
    views : tuple of FactorView
        All factors that vary on these rows; empty if there are too few rows.
    found : tuple of (int, tuple of int)
        Factors that others determine, with these others, as positions in ``views`` and in the order of the search.
    constraints : tuple of FunctionalConstraint
        The same with names and unexplained shares.
    search : ConstraintSearch
        The search, which can test further relations.
    """

    separate: SeparateRows
    views: tuple[FactorView, ...]
    found: tuple[tuple[int, tuple[int, ...]], ...]
    constraints: tuple[FunctionalConstraint, ...]
    search: ConstraintSearch

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
            needed = _resolved(sources, better)
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


def _resolved(sources: dict[int, set[int]], target: int) -> set[int]:
    """The kept factors that determine a target, directly or through factors that were removed."""
    needed = set(sources[target])
    while through := needed & set(sources):
        for j in through:
            needed = (needed - {j}) | sources[j]
    return needed


@memoised(on="factors")
def factor_constraints(evidence: Evidence, seed: int = 0) -> FactorConstraints:
    """Search the factors of an evidence for functions of others; ``seed`` determines the random rows.

    The search uses at most 4,000 random rows, one row for each row group, and the first 64 factors that vary. If a
    factor is continuous, rows with equal factors are used once. With fewer than 50 such rows there is no search.

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
    named = [_named(search, target, by) for target, by in found]
    return FactorConstraints(separate, views, tuple(found), tuple(named), search)


def _named(search: ConstraintSearch, target: int, by: tuple[int, ...]) -> FunctionalConstraint:
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
    if FactorKind.CONTINUOUS in evidence.kinds:
        order = order[np.sort(np.unique(evidence.factors[order], axis=0, return_index=True)[1])]
    return SeparateRows(order, n_separate, n_drawn - order.size)
