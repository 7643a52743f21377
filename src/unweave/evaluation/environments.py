"""`environments`: which codes shift under which intervention, and the graph between the codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unweave.arrays import FloatArray, Rows
from unweave.codec import plain_data
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import Spearman, best_matching
from unweave.estimators.energy import SortedColumns, sliced
from unweave.estimators.independence import Regressors, standardised
from unweave.evidence import Evidence
from unweave.evidence.columns import data_frame_of, quoted
from unweave.evidence.splits import renumbered
from unweave.metrics.matrices import unit_correlation_matrix
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.threads import one_thread
from unweave.trust.intervals import check_level

OBSERVATIONAL = "observational"

FEWEST_ROWS = 10

N_DRAWS = 499  # at least; 100 for each environment, so that the corrected p-value can be .01

N_BLOCKS = 20  # of the jackknife

N_HALVES = 20  # random halves of the rows, for the interval of the graph's distance

MOST_ROWS = 5000  # of an environment in a test

ROWS_PER_COLUMN = 10  # for the regression on other codes; four times as many allow squares and cubes

NO_RESIDUAL = 1e-6

Edge = tuple[str, str]


@dataclass(frozen=True)
class Shift:
    """How the distribution of one code, or block of codes, changes in one environment.

    Attributes
    ----------
    environment, code : str
        The environment, and the code or block.
    shift : float
        Energy distance from the observational rows as a share of its largest value (2 E|X - Y|), unbiased: 0 for equal
        distributions, 1 for two different constants. It sees changes of location, spread and shape.
    lower, upper : float
        Interval of ``shift`` by the jackknife over blocks of rows or row groups.
    p_value : float
        Of the permutation test that the distribution is the same, corrected for all codes and environments together.
    p_direct : float
        The same for a shift that the other codes do not explain: the larger of ``p_value`` and the p-value for the
        residuals of the code given all other codes. An intervention shifts its target and all effects of the target;
        given all other codes, the target and its causes shift. Only the target does both.
    """

    environment: str
    code: str
    shift: float
    lower: float
    upper: float
    p_value: float
    p_direct: float


@dataclass(frozen=True)
class Environments:
    """Which codes shift in which environment; print it for a table.

    ``targets`` are the factors intervened on in each environment, ``matched`` is the code of each target, ``edges`` is
    the graph between the targets as their codes have it, and ``distance`` its structural Hamming distance to the given
    graph, with the range of random halves of the rows; nan if no graph was given.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(["observational", "a", "b"], 200)
    >>> factors = rng.normal(size=(600, 2)) + 2.0 * np.column_stack([labels == "a", labels == "b"])
    >>> found = environments(factors, labels)
    >>> found.direct("a"), found.verdict("a"), found["b", "code 1"].shift > 0.3
    (('code 0',), 'exact', True)
    """

    reference: str
    names: tuple[str, ...]
    targets: dict[str, tuple[str, ...]]
    codes: tuple[str, ...]
    n_rows: dict[str, int]
    level: float
    shifts: tuple[Shift, ...] = field(repr=False)
    matched: dict[str, str] = field(default_factory=dict)
    by_factors: bool = False
    edges: tuple[Edge, ...] = ()
    distance: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: tuple[str, str]) -> Shift:
        """The shift of a code in an environment."""
        found = [row for row in self.shifts if (row.environment, row.code) == key]
        if not found:
            raise KeyError(f"{key} was not tested; environments: {self.names}, codes: {self.codes}")
        return found[0]

    @checks_options
    def matrix(self, of: str = "shift") -> FloatArray:
        """One attribute of the shifts, environments x codes."""
        if of not in ("shift", "lower", "upper", "p_value", "p_direct"):
            raise OptionError(f"{of!r} is not stated of a shift: use shift, lower, upper, p_value or p_direct.")
        return np.array([getattr(row, of) for row in self.shifts]).reshape(len(self.names), len(self.codes))

    def shifted(self, environment: str) -> tuple[str, ...]:
        """Codes whose distribution shifts significantly in an environment."""
        return self._significant(environment, "p_value")

    def direct(self, environment: str) -> tuple[str, ...]:
        """Codes that shift significantly, and more than the other codes explain: those that the intervention sets."""
        return self._significant(environment, "p_direct")

    def _significant(self, environment: str, of: str) -> tuple[str, ...]:
        if not isinstance(environment, str) or environment not in self.names:
            raise OptionError(f"{quoted(environment)} is not an environment: there are {', '.join(self.names)}.")
        rows = (row for row in self.shifts if row.environment == environment)
        return tuple(row.code for row in rows if getattr(row, of) <= 1 - self.level)

    def verdict(self, environment: str) -> str:
        """Whether as many codes shift directly as factors were intervened on.

        'exact'; 'too many' or 'too few'; 'another code' if a code shifts that belongs to another factor; 'shared' if
        codes shift and each is explained by the others; 'none'.
        """
        direct, n_targets = self.direct(environment), len(self.targets[environment])
        if not direct:
            return "shared" if self.shifted(environment) else "none"
        if len(direct) != n_targets:
            return "too many" if len(direct) > n_targets else "too few"
        own = {self.matched[name] for name in self.targets[environment] if name in self.matched}
        return "another code" if self.by_factors and not own <= set(direct) else "exact"

    @property
    def headline(self) -> str:
        """One sentence about all environments."""
        exact = [name for name in self.names if self.verdict(name) == "exact"]
        owners = [self.direct(name) for name in exact if len(self.targets[name]) == 1]
        if len(exact) == len(self.names) and len(set(owners)) == len(owners):
            return "Every intervention sets the codes of its targets alone, and each another code."
        if len(exact) == len(self.names):
            return "Every intervention sets one code, but different interventions set the same code."
        return f"{len(exact)} of {len(self.names)} interventions set exactly the codes of their targets."

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame with one row for each environment and code."""
        return data_frame_of(self.shifts, Shift, backend)

    def plot(self) -> Any:
        """A matplotlib figure of the shifts, environments x codes."""
        from unweave.report.figures.codes import matrix_figure  # late: report is above evaluation

        shown = np.clip(np.nan_to_num(self.matrix()), 0.0, 1.0)
        return matrix_figure(shown.T, self.codes, self.names, "Shift of every code in every environment")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; nan becomes null."""
        verdicts = {name: self.verdict(name) for name in self.names}
        return {"schema": "unweave.environments/1", **plain_data(self), "verdicts": verdicts, "headline": self.headline}

    def __str__(self) -> str:
        from unweave.report.tables import environments_table, plain_text  # late: report is above evaluation

        return plain_text(*environments_table(self))


@checks_options
def environments(
    codes: object,
    environments: object = None,
    *,
    factors: object = None,
    graph: object = None,
    observational: str = OBSERVATIONAL,
    level: float = 0.95,
    rng: int = 0,
    **options: Any,
) -> Environments:
    """Test which codes shift under which intervention, and whether it is exactly one.

    Parameters
    ----------
    codes : table, n x m, or blocks
        The learned representation, as for `Evidence`, or an `Evidence` with environments.
    environments : sequence of n labels
        What was intervened on in each row: the name or number of a factor, a list of names, or "observational".
    factors : table, n x d, optional
        The true factors: codes are then matched to targets by correlation on observational rows, instead of by shift.
    graph : matrix, pairs of (cause, effect) or a networkx graph, optional
        The true graph between the targets; entry [i, j] of a matrix is not 0 if i is a cause of j, in the order of the
        factors, or of the targets in sorted order if there are no factors.
    observational : str
        Label of the rows without an intervention.
    level : float
        Confidence level of the intervals; 1 - level is the family-wise error of all tests together.
    rng : int
        Seed of permutations and halves.
    **options
        Options of `Evidence`: with ``row_groups``, permutations keep the rows of a subject or video together.

    Returns
    -------
    Environments
        Print it for a table; `Environments.plot` draws environments x codes.

    Notes
    -----
    The graph has an edge from i to j if an intervention on i shifts the code of j (so i is an ancestor of j), and if
    the code of j depends on that of i given the codes of its other ancestors, by an F-test with polynomials of degree 3
    on observational rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(["observational", "cause", "effect"], 300)
    >>> cause = rng.normal(size=900) + 2.0 * (labels == "cause")
    >>> effect = np.where(labels == "effect", -2.0, cause) + rng.normal(size=900)
    >>> found = environments(np.column_stack([cause, effect]), labels, graph=[("cause", "effect")])
    >>> found.shifted("cause"), found.direct("cause"), found.edges, found.distance
    (('code 0', 'code 1'), ('code 0',), (('cause', 'effect'),), 0.0)
    """
    check_level(level)
    if isinstance(codes, Evidence):
        if environments is not None or factors is not None or options:
            raise InputError("An Evidence already contains factors, environments and options: pass it alone.")
        evidence = codes
    else:
        evidence = Evidence(factors, codes, environments=environments, **options)
    with one_thread():
        return _tested_environments(evidence, graph, observational, level, rng)


def _tested_environments(evidence: Evidence, graph: object, reference: str, level: float, seed: int) -> Environments:
    data = _Data.of(evidence, reference, seed)
    graph = None if graph is None else _edges_of(graph, evidence.factor_names or data.nodes)
    n_draws = max(N_DRAWS, 100 * len(data.names) - 1)
    p_values, conditional = (data.p_values(n_draws, seed, given) for given in (False, True))
    p_direct = np.fmax(p_values, np.where(np.isnan(conditional), 0.0, conditional))
    shifts = []
    for e, name in enumerate(data.names):
        for u, (code, _) in enumerate(data.units):
            value, error = data.shift(e, u)
            reach = float(stats.t.ppf(0.5 + level / 2, N_BLOCKS - 1)) * error
            ends = (value - reach, min(value + reach, 1.0))
            shifts.append(Shift(name, code, value, *ends, float(p_values[e, u]), float(p_direct[e, u])))
    share = np.nan_to_num([row.shift for row in shifts]).reshape(p_values.shape)
    owner = data.owners(evidence, np.where(p_direct <= 1 - level, share + 1, share))
    edges = data.edges(owner, p_values, 1 - level)
    range_of_distance, notes = ((math.nan,) * 3, []) if graph is None else data.compared(graph, owner, edges, level)
    if np.isnan(conditional).any():
        notes.append("There are too few rows to condition on the other codes: effects of a target count as direct.")
    if any(len(rows) > MOST_ROWS for rows in data.rows_of):
        notes.append(f"Tests use {MOST_ROWS:,} random rows of each environment.")
    codes, targets = tuple(name for name, _ in data.units), dict(zip(data.names, data.targets, strict=True))
    sizes = dict(zip((reference, *data.names), (rows.size for rows in data.rows_of), strict=True))
    matched = {name: codes[u] for name, u in owner.items()}
    about = (matched, bool(evidence.n_factors), tuple(sorted(edges)), *range_of_distance, tuple(notes))
    return Environments(reference, data.names, targets, codes, sizes, level, tuple(shifts), *about)


@dataclass(frozen=True)
class _Data:
    """Tables of the units, and the rows of the observational environment (first) and of all others."""

    units: tuple[tuple[str, FloatArray], ...]
    names: tuple[str, ...]
    targets: tuple[tuple[str, ...], ...]
    rows_of: tuple[Rows, ...]
    groups: Rows | None
    seed: int

    @classmethod
    def of(cls, evidence: Evidence, reference: str, seed: int) -> _Data:
        """Check the evidence and divide its rows."""
        if evidence.environments is None:
            raise InputError("There are no environments: pass the label of every row, such as environments=labels.")
        if not evidence.n_codes:
            raise InputError("There are no codes to test: pass the codes of all environments.")
        labels = evidence.environment_names
        if reference not in labels:
            shown = ", ".join(map(repr, labels[:5])) + ", ..." * (len(labels) > 5)
            raise InputError(
                f"No row is labelled {reference!r} (the labels are {shown}): name the label without an intervention "
                "with observational=."
            )
        names = tuple(name for name in labels if name != reference)
        if not names:
            raise InputError(f"All rows are {reference!r}: pass rows of at least one intervention.")
        rows_of = tuple(np.flatnonzero(evidence.environments == labels.index(name)) for name in (reference, *names))
        few = next((k for k, rows in enumerate(rows_of) if rows.size < FEWEST_ROWS), None)
        if few is not None:
            raise InputError(
                f"Environment {(reference, *names)[few]!r} has {rows_of[few].size} rows: each needs {FEWEST_ROWS}."
            )
        tables = tuple((name, evidence.codes[:, members]) for name, members in evidence.code_units.items())
        targets = tuple(_targets(name, evidence.factor_names) for name in names)
        return cls(tables, names, targets, rows_of, evidence.row_groups, seed)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Targets of environments with one target, sorted: the nodes of the graph."""
        return tuple(sorted({targets[0] for targets in self.targets if len(targets) == 1}))

    def halves(self) -> Iterable[_Data]:
        """The data on random halves of every environment, or of its row groups."""
        for k in range(N_HALVES):
            rng = random_stream(self.seed, "halves of environments", k)
            parts = []
            for rows in self.rows_of:
                of_unit = np.arange(rows.size) if self.groups is None else renumbered(self.groups[rows])
                parts.append(rows[rng.permutation(int(of_unit.max()) + 1)[of_unit] % 2 == 0])
            yield _Data(self.units, self.names, self.targets, tuple(parts), self.groups, self.seed)

    def pair(self, e: int, most: int | None = None) -> tuple[Rows, NDArray[np.bool_]]:
        """Rows of the observational environment and of environment e, and which of them are the latter."""
        parts = [self.rows_of[0], self.rows_of[e + 1]]
        if most is not None:
            rng = random_stream(self.seed, "rows of environments", e)
            parts = [rows if rows.size <= most else rng.permutation(rows)[:most] for rows in parts]
        return np.concatenate(parts), np.repeat([False, True], [part.size for part in parts])

    def shift(self, e: int, u: int) -> tuple[float, float]:
        """Shift of unit u in environment e, and its standard error by the jackknife over blocks of rows or groups."""
        rows, inside = self.pair(e)
        place = np.where(inside, np.cumsum(inside), np.cumsum(~inside)) if self.groups is None else self.groups[rows]
        kept = np.vstack([np.ones(rows.size, dtype=bool), place % N_BLOCKS != np.arange(N_BLOCKS)[:, None]])
        found = SortedColumns.of(sliced(self.units[u][1][rows])).shares(kept & inside, kept & ~inside)
        without = found[1:][~np.isnan(found[1:])]
        return float(found[0]), math.sqrt((without.size - 1) * float(np.var(without))) if without.size else math.nan

    def p_values(self, n_draws: int, seed: int, given_others: bool = False) -> FloatArray:
        """p-values (environments x units) corrected by the largest statistic of all units, and for all environments."""
        found = np.ones((len(self.names), len(self.units)))
        for e in range(len(self.names)):
            rows, inside = self.pair(e, MOST_ROWS)
            groups = None if self.groups is None else renumbered(self.groups[rows])
            rng = random_stream(seed, "divisions of environments", e)
            divisions = np.vstack([inside, _random_divisions(inside, groups, n_draws, rng)])
            tables = [table[rows] for _, table in self.units]
            tested = self._residuals(tables) if given_others else tables
            if tested is None:
                found[e] = np.nan
                continue
            known = [u for u, table in enumerate(tested) if table is not None]
            found[e, [u for u, table in enumerate(tested) if table is None]] = 0.0  # left to the test without others
            if not known:
                continue
            draws = np.array([_distances(sliced(tested[u]), divisions) for u in known])
            largest = draws[:, 1:].max(axis=0)
            as_large = (largest >= draws[:, :1] * (1 - 1e-12)).sum(axis=1)
            found[e, known] = np.minimum((1 + as_large) / (1 + n_draws) * len(self.names), 1.0)
        return found

    @staticmethod
    def _residuals(tables: Sequence[FloatArray]) -> list[Any] | None:
        """Residuals of every unit given the others, by one regression for both samples.

        None for a unit that the others determine, and None for all if there are too few rows.
        """
        if len(tables) == 1:
            return list(tables)
        n, width = len(tables[0]), sum(table.shape[1] for table in tables)
        if n < ROWS_PER_COLUMN * width:
            return None
        found: list[Any] = []
        for u, table in enumerate(tables):
            others = standardised(np.hstack([other for k, other in enumerate(tables) if k != u]))
            if n >= 4 * ROWS_PER_COLUMN * width:
                others = np.hstack([others, others**2, others**3])
            fitted = Regressors.of(others[:, others.std(axis=0) > 0])
            own = standardised(table)
            left = fitted.residuals(own) / np.sqrt(np.maximum(1 - fitted.leverages, 0.1))[:, None]
            found.append(None if left.std(axis=0).max() < NO_RESIDUAL else left)
        return found

    def owners(self, evidence: Evidence, shift: FloatArray) -> dict[str, int]:
        """The unit of each factor or target: by correlation with the factors, or else by its shift."""
        if evidence.n_factors:
            names, observed = evidence.factor_names, evidence.rows(self.rows_of[0])
            strength = np.nan_to_num(unit_correlation_matrix(observed, Spearman())).T
        else:
            names = self.nodes
            single = [self.targets.index((name,)) for name in names]
            strength = shift[single]
        if not len(names):
            return {}
        rows, columns = best_matching(strength)
        return {names[i]: int(u) for i, u in zip(rows.tolist(), columns.tolist(), strict=True)}

    def edges(self, owner: dict[str, int], p_values: FloatArray, size: float) -> set[Edge]:
        """Edges between the targets that have a code."""
        nodes = [name for name in self.nodes if name in owner]
        environment = {targets[0]: e for e, targets in enumerate(self.targets) if len(targets) == 1}
        # ancestors: an intervention on i shifts j
        causes = {j: [i for i in nodes if i != j and p_values[environment[i], owner[j]] <= size] for j in nodes}
        rows, tests = self.rows_of[0], {}
        for j, ancestors in causes.items():
            for i in ancestors:
                given = [self.units[owner[k]][1][rows] for k in ancestors if k != i]
                tests[i, j] = _dependence(self.units[owner[j]][1][rows], self.units[owner[i]][1][rows], given)
        return {edge for edge, p_value in tests.items() if p_value * len(tests) <= size}

    def compared(
        self, graph: set[Edge], owner: dict[str, int], edges: set[Edge], level: float
    ) -> tuple[tuple[float, float, float], list[str]]:
        """Distance of the edges from a graph, its range over random halves of the rows, and notes."""
        tested = set(self.nodes) & owner.keys()
        left = sorted({name for edge in graph for name in edge} - tested)
        notes = [f"Edges of {', '.join(left)} are not compared: no environment is an intervention on it alone."]
        graph, n_draws = {edge for edge in graph if set(edge) <= tested}, max(99, 40 * len(self.names) - 1)
        halves = (half.edges(owner, half.p_values(n_draws, self.seed), 1 - level) for half in self.halves())
        found, distance = [_hamming(half, graph) for half in halves], float(_hamming(edges, graph))
        lower, upper = map(float, np.quantile(found, [0.5 - level / 2, 0.5 + level / 2], method="inverted_cdf"))
        return (distance, min(lower, distance), max(upper, distance)), notes if left else []


def _targets(name: str, factors: Sequence[str]) -> tuple[str, ...]:
    """Names of the factors in the label of an environment; a number stands for the factor of this number."""
    found = []
    for part in (text.strip() for text in name.split(",")):
        number = int(part) if part.isdigit() else -1
        if factors and part not in factors and not 0 <= number < len(factors):
            raise InputError(f"Environment {name!r} names no factor: use {', '.join(factors[:5])}, or their numbers.")
        found.append(factors[number] if factors and part not in factors else part)
    return tuple(found)


def _random_divisions(
    inside: NDArray[np.bool_], groups: Rows | None, n_draws: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Random divisions of the rows in two samples (draws x rows): of whole groups, or in groups that have both."""
    if groups is None:
        return rng.permuted(np.tile(inside, (n_draws, 1)), axis=1)
    sizes, within = np.bincount(groups), np.bincount(groups, inside)
    if ((within == 0) | (within == sizes)).all():
        return rng.permuted(np.tile(within > 0, (n_draws, 1)), axis=1)[:, groups]
    place = np.argsort(groups, kind="stable")
    found = np.empty((n_draws, inside.size), dtype=bool)
    for draw in found:
        draw[place] = inside[np.lexsort((rng.random(inside.size), groups))]
    return found


def _distances(columns: FloatArray, divisions: NDArray[np.bool_]) -> FloatArray:
    """The larger of two energy distances for every division, each relative to its mean over random divisions.

    The second is that of the distances from the median: the energy distance alone has little power against spread.
    """
    found = np.zeros(len(divisions))
    for part in (columns, np.abs(columns - np.median(columns, axis=0))):
        draws = SortedColumns.of(part).distances(divisions)
        if (scale := draws[1:].mean()) > 0:
            found = np.maximum(found, draws / scale)
    return found


def _dependence(effect: FloatArray, cause: FloatArray, given: list[FloatArray]) -> float:
    """p-value of an F-test that powers of the cause improve the regression of the effect on powers of the others."""

    def powers(tables: list[FloatArray]) -> FloatArray:
        z = standardised(np.hstack(tables)) if tables else np.empty((len(effect), 0))
        return np.hstack([np.ones((len(effect), 1)), z, z**2, z**3])

    y = standardised(effect)
    fits = []
    for design in (powers(given), powers([*given, cause])):
        weights, _, n_used, _ = np.linalg.lstsq(design, y, rcond=1e-8)
        fits.append((np.square(y - design @ weights).sum(axis=0), int(n_used)))
    (without, rank_without), (with_cause, rank) = fits
    more, left = rank - rank_without, len(y) - rank
    if more < 1 or left < FEWEST_ROWS:
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (without - with_cause) / more / (with_cause / left)
    return min(float(np.nanmin(stats.f.sf(ratio, more, left), initial=1.0)) * y.shape[1], 1.0)


def _edges_of(graph: object, names: Sequence[str]) -> set[Edge]:
    """Edges of a matrix, of pairs, or of a graph with ``edges``."""
    given: Any = list(graph.edges) if hasattr(graph, "edges") else graph
    array = np.asarray(given) if not isinstance(given, np.ndarray) else given
    if array.shape == (len(names),) * 2 and array.dtype.kind in "biuf":
        return {(names[i], names[j]) for i, j in zip(*np.nonzero(array), strict=True) if i != j}
    if array.size and (array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind in "bf"):
        raise InputError(
            f"The graph has shape {array.shape}: pass a matrix {len(names)} x {len(names)}, or pairs (cause, effect)."
        )
    edges = {(str(cause), str(effect)) for cause, effect in given if str(cause) != str(effect)}
    unknown = next((name for edge in edges for name in edge if name not in names), None)
    if unknown is not None:
        raise InputError(f"The graph names {unknown!r}, which is not among {', '.join(names)}: use these names.")
    return edges


def _hamming(one: set[Edge], other: set[Edge]) -> int:
    """Number of pairs of nodes whose edges differ; a reversed edge counts once."""
    return len({frozenset(edge) for edge in one ^ other})
