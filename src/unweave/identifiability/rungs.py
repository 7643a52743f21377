"""`ladder`: how far each factor is identified, from one code of its own to absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray, student_reach
from unweave.card import seed_from
from unweave.codec import SavedRecord
from unweave.errors import InputError
from unweave.evidence import Evidence, EvidenceOptions
from unweave.evidence.columns import data_frame
from unweave.evidence.inputs import with_option_signature
from unweave.findings import Finding
from unweave.identifiability.analysis import (
    PRESENT,
    QuickPart,
    any_dependence,
    joint_responses,
    nonlinear_readouts,
    own_codes_in_exchange,
    quick_part,
)
from unweave.identifiability.dependence import family_p_values
from unweave.identifiability.interactions import JointShare
from unweave.identifiability.readouts import OWN
from unweave.identifiability.responses import LEVEL, Readout, jackknife_error, no_readout
from unweave.memo import memoised
from unweave.sentences import counted
from unweave.threads import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rung = Literal["one code", "own codes", "own direction", "readable", "joint", "folded", "absent", "implied"]

RECOVERED: tuple[Rung, ...] = ("one code", "own codes", "own direction", "readable")

OF_DIRECTION, OF_READABLE = 0.85, 0.75  # shares that a rung has to reach of the rungs above it

MOST_LEAKAGE = 0.1  # of the signal of an own direction

FOLDED = 0.25  # smallest share, times unmixed share, of a code that follows a factor which cannot be read from it

MIXED_IN = 0.1  # smallest share of a code for which another factor is named

LEAST_FLOOR = 0.005

FEW_CODES, CARRIED, MOST_CODES_SEARCHED = 3, 0.95, 512  # codes that carry this share of a direction are named

NORMAL = float(stats.norm.ppf((1 + LEVEL) / 2))

MOST_LUCK, MOST_CHANCE = 0.95, 0.25  # so that own codes beyond luck are between -1 and 1


class Directions(dict[str, FloatArray]):
    """Weights of the linear readout of every factor, an array of codes x columns by its name; print it for a table.

    Weights are for the codes on their own scales. ``columns`` are the names of each array's columns: one for a number,
    cosine and sine of an angle, or the classes; of two classes, the table shows the second.

    >>> import numpy as np
    >>> found = Directions({"size": np.array([[0.5], [2.0]])}, {"size": ("",)}, ("emb_0", "emb_1"))
    >>> found
    Directions(1 factor, 2 codes): weights of the codes on their own scales
    code   size
    emb_0   0.5
    emb_1     2
    >>> found["size"][:, 0].tolist()
    [0.5, 2.0]
    """

    def __init__(
        self, weights: Mapping[str, FloatArray], columns: Mapping[str, tuple[str, ...]], code_names: tuple[str, ...]
    ) -> None:
        super().__init__(weights)
        self.columns, self.code_names = dict(columns), code_names

    @classmethod
    def of(
        cls,
        weights: Mapping[str, FloatArray],
        factors: Mapping[str, tuple[str, tuple[str, ...] | None]],
        code_names: tuple[str, ...],
    ) -> Self:
        """Directions whose columns are named by the kind and the levels of each factor, as far as these are known."""

        def columns(name: str, n_columns: int) -> tuple[str, ...]:
            kind, levels = factors.get(name, ("", ()))
            if n_columns == 1:
                return ("",)
            if levels and len(levels) == n_columns:
                return levels
            return ("cosine", "sine") if kind == "circular" else tuple(f"column {k}" for k in range(n_columns))

        return cls(weights, {name: columns(name, each.shape[1]) for name, each in weights.items()}, code_names)

    def to_frame(self, backend: str | None = None) -> Any:
        """Data frame with a row for each column of each factor, and a column for each code."""
        lines = [(name, column, self[name][:, k]) for name in self for k, column in enumerate(self.columns[name])]
        data: dict[str, list[Any]] = {"factor": [line[0] for line in lines], "column": [line[1] for line in lines]}
        return data_frame(data | {code: [w[i] for *_, w in lines] for i, code in enumerate(self.code_names)}, backend)

    def __repr__(self) -> str:
        columns = [("code", *self.code_names[: 3 * MOST_PRINTED])]
        for name, weights in self.items():
            of_classes = weights.shape[1] == 2 and self.columns[name] != ("cosine", "sine")
            for column, each in list(zip(self.columns[name], weights.T, strict=True))[of_classes:]:
                shown = (f"{weight:.3g}" for weight in each[: 3 * MOST_PRINTED])
                head = f"{name} ({column})" if column and not column.startswith("column ") else name
                columns.append((head, *shown))
        hidden = len(columns) - 1 - MOST_PRINTED, len(self.code_names) - 3 * MOST_PRINTED
        columns = columns[: MOST_PRINTED + 1]
        widths = [max(map(len, cells)) for cells in columns]
        lines = [
            "  ".join((line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])))
            for line in zip(*columns, strict=True)
        ]
        more = [f"{n} more {what}" for n, what in zip(hidden, ("columns", "codes"), strict=True) if n > 0]
        lines += [f"({' and '.join(more)}: see to_frame)"] if more else []
        sizes = f"{counted(len(self), 'factor')}, {counted(len(self.code_names), 'code')}"
        return "\n".join((f"Directions({sizes}): weights of the codes on their own scales", *lines))


MOST_PRINTED = 8


@dataclass(frozen=True)
class LadderRow:
    """How far one factor is identified.

    The four recoveries are shares of the factor's variance, between 0 and 1, for rows that were not used to fit, if all
    factors were drawn independently of each other.

    Attributes
    ----------
    factor : str
        Name of the factor, or of a block of factors, which is one factor here and below.
    rung : str
        "one code", "own codes", "own direction" or "readable": the first that nearly reaches the recovery of the later
        ones. "joint": codes depend on the factor only together with others. "folded": a code follows the factor, but
        the factor cannot be read from it. "absent": nothing depends on it. "implied": other factors determine it. If
        the codes are in blocks, a code is a block here and below, and is read from all its columns.
    one_code, own_codes : float
        Recovery from the best code, and from a block of codes, times the share of their response that is this factor's.
    direction : float
        Recovery by a linear readout of all codes. A rotation of the codes does not change it.
    readable : float
        Recovery by the best readout: linear, own codes, kernel or trees.
    leakage : float
        Share of the direction's variance that other factors and products of factors cause; of three and more factors,
        only smooth functions and only unless ``quick``, so that it is at least this much.
    leaks_into : str
        The factor with most of the leakage; "" if there is none, or if several together have more.
    intervals : dict of name to (low, high)
        95 % intervals of the recoveries and of ``leakage``.
    floors : dict of name to float
        The recovery that random pairing of codes and factors reaches in 1 of 20 cases.
    noise : float
        Share of the direction's variance that no factor explains.
    code, codes : str, tuple of str
        Best code, and the block of own codes.
    carried_by : tuple of str
        The codes that make up an own direction, if at most three of up to 512 do: .95 of its variance, strongest first.
    shape : str
        Map between best code and factor: "linear", "monotone" or "folded"; "linear" or "curved" for a block.
    code_noise : float
        Share of the best code's variance that no factor explains.
    mixed_with : tuple of str
        Other factors that cause at least a tenth of the best code's variance, largest first.
    joint_with : tuple of str
        Factors together with which codes respond to this one, if the rung is "joint".
    implied_by : tuple of str
        Factors that determine this one, if the rung is "implied".
    probe : str
        The readout behind ``readable``: "linear", "own codes", "kernel" or "trees".
    linear : float
        Largest of ``direction``, ``own_codes``, and the recovery by a linear readout of the normal scores of all codes,
        which monotone maps of codes do not change; the mean of it is `Ladder.direction`.
    sample_r2 : float
        Held-out R2 on the rows as they are, of a linear readout or a kernel, which `Ladder.noise` is compared with.
    p_value : float
        Of the test that the factor can be read at all, by permutations of units. All factors have one error rate: if
        none can be read, the probability that any p-value is .02 is .02.
    dependence_p_value : float
        Of the test of any dependence, for factors that cannot be read, which have one error rate as well; nan if it was
        not needed.
    gain, gain_interval : float, (float, float)
        Direction minus that of the baseline; nan without a baseline.
    replicates : dict of name to tuple
        ``own_codes``, ``linear`` and ``readable`` without each block of units, for the jackknife.
    members : tuple of str
        The factors of a block of factors; empty for a single factor.
    """

    factor: str
    rung: Rung
    one_code: float = math.nan
    own_codes: float = math.nan
    direction: float = math.nan
    readable: float = math.nan
    leakage: float = math.nan
    leaks_into: str = ""
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    floors: dict[str, float] = field(default_factory=dict)
    noise: float = math.nan
    code: str = ""
    codes: tuple[str, ...] = ()
    carried_by: tuple[str, ...] = ()
    shape: str = ""
    code_noise: float = math.nan
    mixed_with: tuple[str, ...] = ()
    joint_with: tuple[str, ...] = ()
    implied_by: tuple[str, ...] = ()
    probe: str = ""
    linear: float = math.nan
    sample_r2: float = math.nan
    p_value: float = math.nan
    dependence_p_value: float = math.nan
    gain: float = math.nan
    gain_interval: tuple[float, float] = (math.nan, math.nan)
    replicates: dict[str, tuple[float, ...]] = field(default_factory=dict)
    members: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Ladder(SavedRecord):
    """The rows of all factors that vary, and what they say about the representation as a whole.

    Attributes
    ----------
    rows : tuple of LadderRow
        One for each factor, in the given order.
    value : float
        readable / 4 + direction / 4 + own_codes / 2, a number to rank representations by: 0 for noise, about 1/2 for a
        lossless random mixing, 1 for codes of their own.
    own_codes : float
        Recovery from own codes beyond luck, the score of `identification`: 0 for noise and on average for random
        mixings, negative for worse mixings.
    direction, readable : float
        Means over the free factors, which are a smallest set that determines all others.
    axes_p_value : float
        Are these axes the factors? Compared with random mixtures of the factors that have the same noise and scales.
    basis_p_value : float
        Is the basis of the codes special? Compared with random rotations of the codes; nan if ``quick``, for blocks, or
        for more than 512 codes.
    luck : float
        The share of recovery from own codes that random mixings have on average.
    chance : float
        What random mixings would score on average if it were not taken off: the scale has another slope below luck.
    noise : float
        The largest ``sample_r2`` of any factor in 49 permutations of units. If no factor can be read, one of them is
        above it with a probability of at most .02.
    directions : dict of name to array, codes x columns
        Weights of the linear readout of every factor on the codes as given: one column for a number, two for the
        cosine and sine of a circular factor, one for each class, and those of all factors of a block.
    leakage_matrix : array, d x d
        Share of the direction's variance of the factor in the row that the factor in the column causes; nan where
        factors are implied.
    quick : bool
        Whether kernels, trees, products of factors and the test of dependence were left out. ``readable`` and ``value``
        are then lower bounds, "absent" means only that no linear readout and no own code was found, and a factor with
        ``linear`` below .75 may be "readable" only.
    n_rows : int
        Number of rows that were used.
    units : str
        What splits keep together: "rows", "row groups", "repeats" or "crossed repeats" of the same factors.
    caveats : tuple of Finding
        Whether rows with missing labels were dropped, or rows were sampled.
    code_names : tuple of str
        Names of the rows of ``directions``.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> found = ladder(factors, factors @ [[0.8, 0.6], [-0.6, 0.8]], quick=True)
    >>> [row.rung for row in found.rows], round(found.direction, 2)
    (['own direction', 'own direction'], 1.0)
    """

    rows: tuple[LadderRow, ...]
    value: float
    own_codes: float
    direction: float
    readable: float
    axes_p_value: float
    basis_p_value: float
    luck: float
    chance: float
    noise: float
    directions: dict[str, FloatArray]
    leakage_matrix: FloatArray
    quick: bool
    n_rows: int
    units: str
    code_names: tuple[str, ...] = ()
    caveats: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.directions, Directions):  # as read from a file
            object.__setattr__(self, "directions", Directions.of(self.directions, {}, self.code_names))

    @property
    def replicates(self) -> dict[str, FloatArray]:
        """``value`` and its parts without each block of units, with ``luck`` and ``chance`` as they are."""
        own, linear, readable = (
            np.mean([np.multiply(row.replicates[name], is_found(row)) for row in self.rows if row.replicates], axis=0)
            for name in ("own_codes", "linear", "readable")
        )
        beyond = np.array(
            [own_codes_beyond_luck(*pair, self.luck, self.chance) for pair in zip(own, linear, strict=True)]
        )
        value = readable / 4 + linear / 4 + beyond / 2
        return {"value": value, "own_codes": beyond, "direction": linear, "readable": readable}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """95 % jackknife intervals of ``value``, ``own_codes``, ``direction`` and ``readable``."""
        found = {}
        for name, each in self.replicates.items():
            reach = float(stats.t.ppf((1 + LEVEL) / 2, max(len(each) - 1, 1)) * jackknife_error(each))
            value, lowest = getattr(self, name), {"value": -0.5, "own_codes": -1.0}.get(name, 0.0)
            found[name] = (max(lowest, value - reach), min(1.0, value + reach))
        return found

    def __getitem__(self, factor: str) -> LadderRow:
        for row in self.rows:
            if row.factor == factor:
                return row
        raise KeyError(f"{factor!r} is not among the factors {', '.join(repr(row.factor) for row in self.rows)}.")

    def __repr__(self) -> str:
        rungs = ", ".join(f"{row.factor}: {row.rung}" for row in self.rows[:8])
        return f"Ladder({self.value:.3f}; {rungs}{', ...' if len(self.rows) > 8 else ''})"

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for each factor, with the ends of intervals and the floors as columns (see `Evaluation.to_frame`)."""
        lines = [_flat(row) for row in self.rows]
        return data_frame({name: [line[name] for line in lines] for name in lines[0]}, backend)

    def plot(self) -> Figure:
        """The four recoveries of every factor with intervals and floors, as a matplotlib figure."""
        from unweave.report.figures.scores import Dot, scores_figure  # late: report is above

        dots = [
            Dot(f"{row.factor}: {name.replace('_', ' ')}", getattr(row, name), row.floors[name], row.intervals[name])
            for row in self.rows
            for name in row.intervals
            if name in RECOVERIES
        ]
        return scores_figure(dots, "held-out recovery")


RECOVERIES = ("one_code", "own_codes", "direction", "readable")


def is_provisional(row: LadderRow) -> bool:
    """Whether a better readout, as a quick ladder does not try, could make this factor "readable" only."""
    return row.rung in RECOVERED[:3] and row.linear < OF_READABLE


def _flat(row: LadderRow) -> dict[str, Any]:
    flat: dict[str, Any] = {"factor": row.factor, "rung": row.rung}
    for name in (*RECOVERIES, "leakage"):
        low, high = row.intervals.get(name, (math.nan, math.nan))
        flat |= {name: getattr(row, name), f"{name}_low": low, f"{name}_high": high}
        if name != "leakage":
            flat[f"{name}_floor"] = row.floors.get(name, math.nan)
    others = "leaks_into", "noise", "code", "shape", "code_noise", "probe", "p_value", "dependence_p_value", "gain"
    flat |= {name: getattr(row, name) for name in others}
    for name in ("codes", "carried_by", "mixed_with", "joint_with", "implied_by"):
        flat[name] = ", ".join(getattr(row, name))
    return flat


@with_option_signature
def ladder(
    factors: object,
    codes: object = None,
    *,
    baseline: object = None,
    quick: bool = False,
    rng: int | np.random.Generator | None = 0,
    **options: Unpack[EvidenceOptions],
) -> Ladder:
    """How far every factor is identified: by one code, own codes, an own direction, any readout, or not at all.

    Factors that depend on each other in the data are judged as if they were drawn independently: a readout that only
    follows a correlated factor recovers nothing, and a direction that responds to another factor leaks.

    Parameters
    ----------
    factors : table or Evidence
        The true factors (n x d), as `Evidence` takes them, or an Evidence with factors and codes.
    codes : table, sparse matrix or Posterior
        The representation (n x m). The means of a posterior are used.
    baseline : table, optional
        Codes of an untrained twin for the same rows, as many as ``codes``; rows then have the gain over it.
    quick : bool
        Leave out kernels, trees, products of factors, the test of any dependence and the rotations of codes.
    rng : int, Generator or None
        Seed of splits, permutations and rotations.
    **options
        Options of `Evidence`, such as ``kinds`` and ``row_groups``.

    Returns
    -------
    Ladder

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> size, hue, age = rng.normal(size=(3, 500))
    >>> codes = np.column_stack([size**3, hue + size, rng.normal(size=500)])
    >>> found = ladder({"size": size, "hue": hue, "age": age}, codes)
    >>> [(row.factor, row.rung) for row in found.rows]
    [('size', 'one code'), ('hue', 'readable'), ('age', 'absent')]
    """
    if isinstance(factors, Evidence):
        if codes is not None or options:
            raise InputError("An Evidence has its codes and options already: pass it alone.")
        evidence = factors
    else:
        evidence = Evidence(factors, codes, **options)
    seed = seed_from(rng)
    found = quick_ladder(evidence, seed) if quick else complete_ladder(evidence, seed)
    return found if baseline is None else _with_gains(evidence, found, baseline, seed)


@memoised(on="both")
def quick_ladder(evidence: Evidence, seed: int = 0) -> Ladder:
    """The ladder from linear readouts, own codes and responses alone; `complete_ladder` re-uses its computations."""
    return _ladder_of(quick_part(evidence, seed), evidence, quick=True)


@memoised(on="both")
def scored_ladder(evidence: Evidence, seed: int = 0) -> Ladder:
    """The quick ladder without intervals, directions, shapes and leakage into factors, which a score does not need."""
    return _ladder_of(quick_part(evidence, seed), evidence, quick=True, scores_only=True)


@memoised(on="both")
def complete_ladder(evidence: Evidence, seed: int = 0) -> Ladder:
    """The whole ladder."""
    return _ladder_of(quick_part(evidence, seed), evidence, quick=False)


def _interval(value: float, error: float, n_blocks: int, centre: float = math.nan) -> tuple[float, float]:
    """Interval around the centre, or around the value without one, that contains the value."""
    centre = value if math.isnan(centre) else centre
    reach = student_reach(error, max(n_blocks - 1, 1), LEVEL)
    return max(0.0, min(centre - reach, value)), min(1.0, max(centre + reach, value))


@dataclass(frozen=True)
class _Best:
    """The best readout of all codes for one factor, with the test that it reads anything."""

    readout: Readout
    probe: str
    floor: float
    test: _Read


@dataclass(frozen=True)
class _Read:
    """Whether a factor can be read: held-out R2, the same of permuted factors, and the p-value among all factors."""

    r2: float
    null_r2: FloatArray
    p_value: float


def _tests_of_reading(part: QuickPart, evidence: Evidence, *, quick: bool) -> list[_Read]:
    """For every free factor; by a linear readout or, unless quick, by a kernel."""
    r2 = np.array([each.plain_r2 for each in part.directions])
    null = np.stack([each.null_r2 for each in part.directions])
    if not quick:
        others = nonlinear_readouts(evidence, part.seed)
        r2 = np.maximum(r2, [each.kernel_r2 for each in others])
        null = np.maximum(null, [each.null_r2 for each in others])
    p_values = family_p_values(r2, null)
    return [_Read(*each) for each in zip(r2.tolist(), null, p_values.tolist(), strict=True)]


def _best_readout(
    part: QuickPart, evidence: Evidence, k: int, direction: Readout, test: _Read, *, quick: bool
) -> _Best:
    best, probe = direction, "linear"
    floor = max(0.0, float(np.quantile(test.null_r2, LEVEL)))
    if not quick:
        other = nonlinear_readouts(evidence, part.seed)[k]
        if other.plain_r2 > max(part.directions[k].plain_r2, floor) and other.readout.r2 > best.r2:
            best, probe = other.readout, other.probe
    return _Best(best, probe, floor, test)


def _row(part: QuickPart, evidence: Evidence, k: int, test: _Read, *, quick: bool, scores_only: bool) -> LadderRow:
    """The row of the free factor k, 'absent' if it cannot be read and is not folded."""
    own, n_blocks, names = part.own[k], part.sample.n_blocks, [part.names[j] for j in part.free]
    linear_floor = max(0.0, float(np.quantile(part.directions[k].null_r2, LEVEL)))
    readout = no_readout(part.free.size, n_blocks)
    # a random draw needs no readout of a factor that neither the test nor an own code can show
    is_needed = not scores_only or test.p_value <= PRESENT or max(own.own_codes, own.one_code) >= PRESENT
    if part.directions[k].plain_r2 > linear_floor and is_needed:
        readout = part.directions[k].readout
    best = _best_readout(part, evidence, k, readout, test, quick=quick)
    shares = JointShare() if quick or readout.r2 == 0 else joint_responses(evidence, part.seed)[k]
    values = {
        "one_code": (own.one_code, own.one_code_error),
        "own_codes": max((own.own_codes, own.own_codes_error), (own.one_code, own.one_code_error)),
        "direction": (readout.r2, readout.r2_error),
    }
    by_codes = values["own_codes"][0] > best.readout.r2
    values["readable"] = values["own_codes"] if by_codes else (best.readout.r2, best.readout.r2_error)
    recovered = {name: value for name, (value, _) in values.items()}
    intervals = {name: _interval(value, error, n_blocks) for name, (value, error) in values.items()}
    if not scores_only or (test.p_value <= PRESENT and readout.r2 > 0 and intervals["readable"][0] <= 0):
        intervals |= _intervals_of_refits(readout, part, k, shares)
    more = _products_beyond(readout, k, shares.share)
    readout = replace(readout, leakage=readout.leakage + more, noise=readout.noise - more)
    is_present = _is_present(recovered, intervals, best, part)
    rung = _rung(recovered, readout) if is_present else _rung_of_unread(part, k)
    row = LadderRow(
        factor=names[k],
        rung=rung,
        one_code=recovered["one_code"],
        own_codes=recovered["own_codes"],
        direction=recovered["direction"],
        readable=recovered["readable"],
        leakage=readout.leakage,
        leaks_into=_leaks_into(readout, k, names, is_present=is_present),
        intervals={} if scores_only else intervals,
        floors={"one_code": LEAST_FLOOR, "own_codes": LEAST_FLOOR, "direction": linear_floor, "readable": best.floor},
        noise=readout.noise,
        probe="own codes" if by_codes else best.probe,
        linear=max(part.directions[k].rank_r2 if readout.r2 > 0 else 0.0, recovered["own_codes"]),
        sample_r2=test.r2,
        p_value=test.p_value,
    )
    if not scores_only:
        row = replace(row, replicates=_replicates(row, part, k, best.readout), carried_by=_carried_by(part, k, rung))
    return _with_codes(row, part, k, scores_only=scores_only)


def _row_of_implied(part: QuickPart, j: int, *, scores_only: bool) -> LadderRow:
    """The row of a factor that others determine, with its own codes as if it took the place of one of these."""
    by, r2 = part.implied[j]
    row = LadderRow(part.names[j], "implied", readable=r2, implied_by=by, probe="linear")
    if scores_only:
        return row
    own, noise = own_codes_in_exchange(part, j)
    if own.code < 0 or own.one_code < PRESENT:
        return row
    best = max((own.own_codes, own.own_codes_error), (own.one_code, own.one_code_error))
    values = {"one_code": (own.one_code, own.one_code_error), "own_codes": best}
    if best[0] >= r2:
        values["readable"] = best
    codes = [own.code] if own.one_code >= OF_DIRECTION * best[0] else own.block
    return replace(
        row,
        one_code=own.one_code,
        own_codes=best[0],
        readable=max(r2, best[0]),
        intervals={name: _interval(*value, part.sample.n_blocks) for name, value in values.items()},
        code=part.codes.unit_names[own.code],
        codes=tuple(part.codes.unit_names[i] for i in codes),
        shape=own.shape,
        code_noise=float(noise[own.code]),
    )


def _is_present(
    recovered: dict[str, float], intervals: dict[str, tuple[float, float]], best: _Best, part: QuickPart
) -> bool:
    """Whether the factor can be read: a significant readout, or own codes, and a recovery above the floor."""
    significant = best.test.p_value <= PRESENT and max(intervals["direction"][0], intervals["readable"][0]) > 0
    least = 0.0 if part.sample.kind in ("rows", "crossed repeats") else PRESENT
    by_own_codes = recovered["own_codes"] >= PRESENT and intervals["own_codes"][0] > least
    return (significant or by_own_codes) and recovered["readable"] > best.floor


def _products_beyond(readout: Readout, k: int, share: float) -> float:
    """How much larger leakage is than modelled if factors cause together this share of all that is not additive."""
    products = max(0.0, readout.leakage - float(np.delete(readout.by_factor, k).sum()))
    return max(0.0, share * (products + readout.noise) - products)


def _intervals_of_refits(
    readout: Readout, part: QuickPart, k: int, shares: JointShare
) -> dict[str, tuple[float, float]]:
    """Intervals of a direction and its leakage from fits without each block; they contain the values.

    Where nothing is read, refits have no direction in common. The interval then has all recoveries r^2 that a held-out
    R2 as low as this one does not rule out: its noise is that of permuted factors and an error of 2 r / sqrt(n).
    """
    if readout.r2 == 0:
        direction, slope = part.directions[k], 2 * NORMAL / math.sqrt(part.sample.n_units)
        above = max(0.0, direction.plain_r2 - float(np.quantile(direction.null_r2, (1 - LEVEL) / 2)))
        return {"direction": (0.0, min(1.0, (slope + math.sqrt(slope**2 + 4 * above)) ** 2 / 4)), "leakage": (0.0, 1.0)}
    refits = part.directions[k].interval
    (low, high), (least, most) = refits.r2_interval, refits.leakage_interval
    return {
        "direction": (min(low, readout.r2), max(high, readout.r2)),
        "leakage": (
            min(1.0, min(least, readout.leakage) + _products_beyond(readout, k, shares.low)),
            min(1.0, max(most, readout.leakage) + _products_beyond(readout, k, shares.high)),
        ),
    }


def _replicates(row: LadderRow, part: QuickPart, k: int, best: Readout) -> dict[str, tuple[float, ...]]:
    """Recoveries without each block, moved to the row's values: refits have a bias, and ranks move as directions do."""
    n_blocks, own = part.sample.n_blocks, part.own[k].replicates
    of_direction = part.directions[k].interval.replicates if row.direction > 0 else np.zeros(n_blocks)
    of_codes = own if own.size == n_blocks else np.zeros(n_blocks)
    of_best = {"own codes": of_codes, "linear": of_direction}.get(row.probe, best.replicates)
    moving = {
        "own_codes": of_codes,
        "linear": of_direction if row.linear > row.own_codes else of_codes,
        "readable": of_best if of_best.size == n_blocks else of_direction,
    }
    return {name: tuple((getattr(row, name) + each - each.mean()).tolist()) for name, each in moving.items()}


def _carried_by(part: QuickPart, k: int, rung: Rung) -> tuple[str, ...]:
    """The few codes whose part of an own direction is nearly the whole direction."""
    if rung != "own direction" or part.codes.n_codes > MOST_CODES_SEARCHED or part.whitening is not None:
        return ()
    codes, weights = part.codes.as_given(), part.directions[k].weights
    columns = codes.columns(slice(None)) - codes.mean
    whole = columns @ weights
    strongest = np.argsort(-np.linalg.norm(codes.spread[:, None] * weights, axis=1), kind="stable")
    for n in range(1, min(FEW_CODES, codes.n_codes - 1) + 1):
        few = strongest[:n]
        if np.square(whole - columns[:, few] @ weights[few]).sum() <= (1 - CARRIED) * np.square(whole).sum():
            return tuple(codes.unit_names[i] for i in few)
    return ()


def _with_codes(row: LadderRow, part: QuickPart, k: int, *, scores_only: bool) -> LadderRow:
    """The row with what is known of its best code and own codes."""
    own, names = part.own[k], part.codes.unit_names
    if own.code < 0:
        return row
    mixed = np.where(np.arange(part.free.size) != k, part.responses.share[own.code], 0.0)
    return replace(
        row,
        code=names[own.code],
        codes=tuple(names[i] for i in own.block),
        shape="" if scores_only else own.shape,
        code_noise=float(part.responses.noise[own.code]),
        mixed_with=tuple(part.names[part.free[j]] for j in np.argsort(-mixed, kind="stable") if mixed[j] >= MIXED_IN),
    )


def _rung_of_unread(part: QuickPart, k: int) -> Rung:
    alone = part.responses.unmixed[:, k] >= OWN
    return "folded" if float(part.responses.worth[alone, k].max(initial=0.0)) >= FOLDED else "absent"


def _leaks_into(readout: Readout, k: int, names: list[str], *, is_present: bool) -> str:
    """The other factor with most of the leakage, unless several together have more; of an absent one, always."""
    leaks = np.where(np.arange(len(names)) != k, readout.by_factor, 0.0)
    together = readout.leakage - float(leaks.sum()) if is_present else 0.0
    return names[int(leaks.argmax())] if leaks.max() > max(LEAST_FLOOR, together) else ""


def _with_dependence(part: QuickPart, evidence: Evidence, rows: list[LadderRow]) -> list[LadderRow]:
    """The rows, with 'joint' for absent factors on which codes depend in any way."""
    free = [part.names[j] for j in part.free]
    tests = {
        place: any_dependence(evidence, part.seed, free.index(row.factor))
        for place, row in enumerate(rows)
        if row.rung == "absent"
    }
    if not tests:
        return rows
    p_values = family_p_values(np.array([each.gain for each in tests.values()]), [each.null for each in tests.values()])
    tested = list(rows)
    for (place, test), p_value in zip(tests.items(), p_values.tolist(), strict=True):
        tested[place] = replace(rows[place], dependence_p_value=p_value)
        if p_value <= PRESENT:
            tested[place] = replace(tested[place], rung="joint", joint_with=(test.partner,) if test.partner else ())
    return tested


def _rung(recovered: dict[str, float], readout: Readout) -> Rung:
    linear = max(recovered["direction"], recovered["own_codes"])
    if linear >= OF_READABLE * recovered["readable"]:
        if recovered["one_code"] >= OF_DIRECTION * linear:
            return "one code"
        if recovered["own_codes"] >= OF_DIRECTION * linear:
            return "own codes"
        if readout.leakage <= MOST_LEAKAGE * (1 - readout.noise) + 1e-9:
            return "own direction"
    return "readable"


def _ladder_of(part: QuickPart, evidence: Evidence, *, quick: bool, scores_only: bool = False) -> Ladder:
    with one_thread():
        return _with_one_thread(part, evidence, quick=quick, scores_only=scores_only)


def _with_one_thread(part: QuickPart, evidence: Evidence, *, quick: bool, scores_only: bool) -> Ladder:
    free = {int(j): k for k, j in enumerate(part.free)}
    rows, tests = [], _tests_of_reading(part, evidence, quick=quick)
    for j in range(len(part.names)):
        if j in free:
            rows.append(_row(part, evidence, free[j], tests[free[j]], quick=quick, scores_only=scores_only))
        else:
            rows.append(_row_of_implied(part, j, scores_only=scores_only))
    for k, row in enumerate(rows):
        if len(members := evidence.factor_groups.get(row.factor, ())) > 1:
            rows[k] = replace(row, members=members)
    rows = rows if quick else _with_dependence(part, evidence, rows)
    own, linear, readable = _means(rows)
    luck, chance = _luck(part, rows)
    # kernels may find a factor more, but own codes are one number, the score of `identification`
    beyond = own_codes_beyond_luck(own, linear, luck, chance) if quick else scored_ladder(evidence, part.seed).own_codes
    matrix, weights = np.full((len(rows), len(rows)), np.nan), {}
    for j, k in () if scores_only else free.items():
        matrix[j, part.free] = part.directions[k].readout.by_factor
        matrix[j, j] = np.nan
        of_target, to_given = part.directions[k].weights, part.factors[j].to_given
        weights[part.names[j]] = _of_all_codes(part, of_target if to_given is None else of_target @ to_given)
    about = zip(evidence.factor_names, evidence.kinds, evidence.factor_levels, strict=True)
    known = {name: (kind.value, levels) for name, kind, levels in about}
    return Ladder(
        rows=tuple(rows),
        value=readable / 4 + linear / 4 + beyond / 2,
        own_codes=beyond,
        direction=linear,
        readable=readable,
        axes_p_value=math.nan if scores_only else part.axes.p_value,
        basis_p_value=math.nan if quick else part.loadings.code_side(),
        luck=luck,
        chance=chance,
        noise=max(0.0, *(float(test.null_r2.max()) for test in tests)),
        directions=Directions.of(weights, known, part.evidence.code_names),
        leakage_matrix=matrix,
        quick=quick,
        n_rows=part.sample.n_rows,
        units=part.sample.kind,
        code_names=part.evidence.code_names,
        caveats=rows_left_out(part, evidence),
    )


def rows_left_out(part: QuickPart, evidence: Evidence) -> tuple[Finding, ...]:
    """Whether rows without some label were dropped, since responses need all factors, or rows were sampled."""
    dropped, used = evidence.n_dropped, part.sample.n_rows
    found = [Finding("rows_dropped", n_rows=dropped)] if dropped else []
    return (
        (*found, Finding("rows_sampled", n_rows=used, of=evidence.n_rows)) if used < evidence.n_rows else tuple(found)
    )


def is_found(row: LadderRow) -> bool:
    """Whether the factor counts in the means: it can be read from the codes, and not just significantly above 0."""
    return row.rung in RECOVERED and row.readable > PRESENT


def _means(rows: list[LadderRow]) -> tuple[float, float, float]:
    """Means over free factors of recovery from own codes, from linear readouts, and of readability; 0 if not found."""
    own, linear, readable = [], [], []
    for row in rows:
        if row.rung != "implied":
            scale = float(is_found(row))
            own.append(scale * row.own_codes)
            linear.append(scale * row.linear)
            readable.append(scale * row.readable)
    return float(np.mean(own)), float(np.mean(linear)), float(np.mean(readable))


def _luck(part: QuickPart, rows: list[LadderRow]) -> tuple[float, float]:
    """The share of linear recovery that random mixings have from own codes, on average, and their mean score."""
    linear = np.array([row.linear * is_found(row) for row in rows if row.rung != "implied"])
    if linear.sum() <= 0:
        return 0.0, 0.0
    shares = part.axes.luck @ linear / linear.sum()
    luck = min(float(shares.mean()), MOST_LUCK)
    return luck, min(float(np.mean([own_codes_beyond_luck(share, 1.0, luck) for share in shares])), MOST_CHANCE)


def own_codes_beyond_luck(own: float, linear: float, luck: float, chance: float = 0.0) -> float:
    """Recovery from own codes beyond that of random mixings, which score 0 on average with their ``chance``.

    The slope is smaller below luck, where a small share decides nothing, so that no score is far below 0.

    >>> own_codes_beyond_luck(1.0, 1.0, 0.5), own_codes_beyond_luck(0.5, 1.0, 0.5), own_codes_beyond_luck(0.3, 0.3, 0.5)
    (1.0, 0.0, 0.3)
    """
    above = own - luck * linear
    score = above / (1 - luck) if above >= 0 else above / (2 * luck)
    return (score - chance * linear) / (1 - chance)


def _of_all_codes(part: QuickPart, weights: FloatArray) -> FloatArray:
    every = np.zeros((part.evidence.n_codes, weights.shape[1]))
    every[part.codes.alive] = weights
    return every if part.whitening is None else part.whitening @ every


def _with_gains(evidence: Evidence, found: Ladder, baseline: object, seed: int) -> Ladder:
    try:
        twin = Evidence(codes=baseline)
    except InputError as refused:
        raise InputError(f"In the baseline: {refused}") from refused
    if twin.n_rows != evidence.n_rows:
        raise InputError(
            f"The baseline has {twin.n_rows} rows and the codes have {evidence.n_rows}: "
            "encode the same samples with the untrained twin."
        )
    if twin.n_codes != evidence.n_codes:
        raise InputError(
            f"The baseline has {twin.n_codes} codes and the representation has {evidence.n_codes}: "
            "use a twin of the same width."
        )
    part, other = quick_part(evidence, seed), quick_part(evidence.recoded(twin.codes), seed)
    theirs = {other.names[j]: direction.readout for j, direction in zip(other.free, other.directions, strict=True)}
    ours = {part.names[j]: direction.readout for j, direction in zip(part.free, part.directions, strict=True)}
    rows = []
    for row in found.rows:
        if row.factor in ours and row.factor in theirs:
            gain = ours[row.factor].r2 - theirs[row.factor].r2
            error = float(jackknife_error(ours[row.factor].replicates - theirs[row.factor].replicates))
            reach = student_reach(error, part.sample.n_blocks - 1, LEVEL)
            row = replace(row, gain=gain, gain_interval=(gain - reach, gain + reach))
        rows.append(row)
    return replace(found, rows=tuple(rows))
