"""Everything that an `Evidence` is built from, read and aligned by rows, and its options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError, OptionError
from unweave.estimators.sparse import SparseColumns
from unweave.evidence.columns import (
    Levels,
    Table,
    all_of,
    common_length,
    numbers_as_text,
    odd_dates,
    plain,
    quoted,
    read_numbers,
    read_table,
    refuse_extremes,
    split_off_tables,
    within_reach,
)
from unweave.evidence.decoders import Sampler
from unweave.evidence.kinds import KindsGiven, in_stated_order, looks_ordered
from unweave.evidence.posterior import Posterior
from unweave.evidence.splits import environment_table, group_table, renumbered
from unweave.findings import Finding
from unweave.randomness import random_stream
from unweave.sentences import listed

if TYPE_CHECKING:
    from unweave.evidence.evidence import Evidence

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class EvidenceOptions(TypedDict, total=False):
    """The keyword arguments of `Evidence`, which `evaluate`, `compare` and every metric take as well.

    `Evidence` documents each of them.

    >>> from unweave.metrics import mcc
    >>> given: EvidenceOptions = {"kinds": "continuous", "missing": "drop"}
    >>> factor = [float(k) for k in range(20)]
    >>> round(mcc(factor, factor, **given).value, 6)
    1.0
    """

    kinds: KindsGiven
    missing: Literal["refuse", "drop"]
    nuisances: object
    target: object
    environments: object
    row_groups: Sequence[object] | None
    code_groups: Mapping[str, Sequence[str | int]] | None
    factor_groups: Mapping[str, Sequence[str | int]] | None
    factor_names: Sequence[str] | None
    code_names: Sequence[str] | None
    decoder: object
    reference: object
    output_names: Sequence[str] | None
    sampler: Sampler | None


OPTION_NAMES = frozenset(EvidenceOptions.__annotations__)

DEFAULTS: dict[str, object] = dict.fromkeys(EvidenceOptions.__annotations__) | {"missing": "refuse"}


def option_parameters() -> list[inspect.Parameter]:
    """The options as keyword-only parameters of a signature."""
    annotations = EvidenceOptions.__annotations__
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=DEFAULTS[name],
            annotation=getattr(annotations[name], "__forward_arg__", annotations[name]),  # as written in the class
        )
        for name in annotations
    ]


def with_option_signature(function: AnyFunction) -> AnyFunction:
    """Replace ``**`` in the function's signature by all options, so that `help` shows them."""
    signature = inspect.signature(function)
    own = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    stated = signature.replace(parameters=[*own, *option_parameters()])
    function.__signature__ = stated  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True)
class Inputs:
    """Tables of the same samples; None for tables that were not given.

    ``probabilities`` has the factors that were given as tables p(y | x), by name, and ``factors`` the most probable
    value of each.
    """

    factors: Table | None
    probabilities: Mapping[str, FloatArray]
    codes: Table | None
    posterior: Posterior | None
    nuisances: Table | None
    target: Table | None
    environments: Table | None
    row_groups: Table | None
    n_sparse_rows: int | None = None
    notes: tuple[Finding, ...] = ()  # on how they were read, and what is probably not meant so ("asked")

    @property
    def tables(self) -> dict[str, Table]:
        """Every given table, by its name in messages."""
        given = {
            "factors": self.factors,
            "codes": self.codes,
            "posterior's spread": None if self.posterior is None else self.posterior.spread,
            "nuisances": self.nuisances,
            "target": self.target,
            "environments": self.environments,
            "row_groups": self.row_groups,
        }
        return {what: table for what, table in given.items() if table is not None}

    @property
    def n_rows(self) -> int:
        """Common number of rows of all tables; raises an error if they differ."""
        n_rows = common_length(self.tables) if self.tables or self.n_sparse_rows is None else self.n_sparse_rows
        if self.n_sparse_rows not in (None, n_rows):
            first = next(iter(self.tables))
            raise InputError(
                f"The rows do not pair up: {first} have {n_rows} rows, sparse codes have {self.n_sparse_rows} rows; "
                "pass the same samples in the same order."
            )
        return n_rows

    def rows(self, kept: Rows | None) -> Inputs:
        """The inputs of these rows, or of all rows for None."""
        if kept is None:
            return self
        names = ("factors", "codes", "nuisances", "target", "environments", "row_groups")
        tables = {name: getattr(self, name) and getattr(self, name).rows(kept) for name in names}
        return replace(
            self,
            **tables,
            probabilities={name: table[kept] for name, table in self.probabilities.items()},
            posterior=None if self.posterior is None else self.posterior.rows(kept),
        )


def read_inputs(
    factors: object,
    codes: object,
    options: EvidenceOptions,
    sparse: SparseColumns | None = None,
    borrowed: bool = False,
) -> Inputs:
    """Tables of the factors, the codes, and the other data of the same samples in the options.

    If ``borrowed``, factors and codes are not copied where that is possible (`read_table`).

    >>> read_inputs({"size": [1.0, 2.0]}, [[3.0], [4.0]], {}).n_rows
    2
    """
    columns, probabilities = split_off_tables(factors)
    factor_table, (code_table, posterior) = all_of(
        lambda: (
            None
            if columns is None
            else in_stated_order(
                read_table(columns, "factor", options.get("factor_names"), borrowed), options.get("kinds")
            )
        ),
        lambda: _read_codes(codes, options.get("code_names"), borrowed, columns),
    )
    nuisances, row_groups = options.get("nuisances"), options.get("row_groups")
    target, environments = options.get("target"), options.get("environments")
    inputs = Inputs(
        factors=factor_table,
        probabilities=probabilities,
        codes=code_table,
        posterior=posterior,
        nuisances=None if nuisances is None else read_table(nuisances, "nuisance"),
        target=None if target is None else _one_column(read_table(target, "target")),
        environments=None if environments is None else environment_table(environments),
        row_groups=None if row_groups is None else group_table(row_groups),
        n_sparse_rows=None if sparse is None else sparse.n_rows,
    )
    groups = options.get("code_groups")
    blocks = len(groups) if isinstance(groups, dict | list | tuple) else 0
    if (
        factor_table
        and code_table
        and len(factor_table.values) == blocks * len(code_table.values) > len(code_table.values)
    ):
        raise InputError(
            f"The codes are read as {blocks} blocks of the same {len(code_table.values)} rows, and the factors have "
            f"{len(factor_table.values)} rows: if they are batches, pass np.concatenate(codes)."
        )
    nothing_else = options.get("decoder") is None and options.get("sampler") is None and sparse is None
    if not inputs.tables.keys() - {"row_groups", "target", "environments"} and nothing_else:
        raise InputError("There are no data: pass factors, codes, or both.")
    asked = (Finding("asked", text=text) for text in questions_about(inputs, options.get("kinds")))
    return replace(inputs, notes=(*(note for table in inputs.tables.values() for note in table.notes), *asked))


def _one_column(target: Table) -> Table:
    if len(target.names) > 1:
        raise InputError(f"The target has {len(target.names)} columns: pass one label or number of the task per row.")
    return target


FIRST = 1_000  # rows that are looked at before all of them

MANY_FACTORS = 8


def questions_about(inputs: Inputs, kinds: KindsGiven = None) -> list[str]:
    """What is probably not meant so: transposed, exchanged, one-hot, odd levels, angles, repeats, row indices.

    >>> print(read_inputs([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], None, {}).notes[0])
    There are 2 rows and 3 factors: pass factors.T and codes.T if the samples are in the columns.
    """
    questions: list[str] = []
    factors, codes = inputs.factors, inputs.codes
    n_rows, n_factors = (0, 0) if factors is None else factors.values.shape
    if n_rows < n_factors and (codes is None or codes.values.shape[1] == n_factors):
        questions.append(
            f"There are {n_rows} rows and {n_factors} factors: pass factors.T and codes.T if the samples are in the "
            "columns."
        )
    elif factors is not None and codes is not None and _look_exchanged(factors, codes):
        questions.append(
            f"The {factors.values.shape[1]} factors look like codes, and the {codes.values.shape[1]} codes like "
            "factors: the factors come first, so exchange the two if they are the wrong way round."
        )
    if factors is not None and not inputs.probabilities:
        questions += [
            f"The factors {', '.join(map(repr, names[:4]))}{', ...' * (len(names) > 4)} are 0 or 1 and one is 1 in "
            "every row: if they are one factor in one-hot columns, pass it as one column (argmax)."
            for names in _one_hot(factors)
        ]
        questions += filter(None, map(_odd_levels, factors.names, factors.levels))
        if kinds is None or isinstance(kinds, Mapping):
            questions += _about_kinds(factors, codes, kinds or {})
    if factors is not None and codes is not None:
        questions += [*_repeated(factors, codes, inputs.row_groups), *_labels_among(codes, factors)]
    for table in filter(None, (factors, codes)):
        questions += [
            f"{table.what.capitalize()} {name!r} {looks}: leave it out if it is their index."
            for name, looks in _counting(table)
        ]
    return questions


AMOUNT = re.compile(r"[+-]?\d+([.,]\d+)?\s*\D{0,3}$")

MANY_LEVELS = 10


def _odd_levels(name: str, levels: Levels | None) -> str | None:
    """A question about levels that differ in capitals or spaces only, or that read like numbers; None if neither."""
    alike: dict[str, str] = {}
    for level in levels or ():
        if (other := alike.setdefault(" ".join(level.split()).casefold(), level)) != level:
            return (
                f"Factor {quoted(name)} has the levels {quoted(other)} and {quoted(level)}, which differ in capitals "
                "or spaces only and count as two classes: write them alike in the table if they are one, such as with "
                f"table[{name!r}].str.strip().str.lower() in pandas."
            )
    if said := odd_dates(levels or ()):
        return f"Factor {quoted(name)} is text with {len(levels or ())} levels {said}."
    amounts = [level for level in levels or () if AMOUNT.match(level)]
    if len(amounts) < max(MANY_LEVELS, 0.8 * len(levels or ())):
        return None
    if (hint := numbers_as_text(levels or ())) and "," in hint:
        return f"Factor {quoted(name)} is text with {len(levels or ())} levels, {hint}."
    percent = f" (percentages: table[{name!r}].str.rstrip('%').astype(float))" * all(
        each.endswith("%") for each in amounts
    )
    return (
        f"Factor {quoted(name)} is text with {len(levels or ())} levels such as {quoted(amounts[0])}, which count as "
        f"classes without an order: pass numbers if they are amounts{percent}."
    )


def _about_kinds(factors: Table, codes: Table | None, stated: Mapping[str, object]) -> Iterator[str]:
    """Questions about kinds that are not stated and may be others than the inferred ones."""
    yield from _unordered(factors, stated)
    if codes is not None:
        yield from _classes(factors, codes, stated)
    yield from _angles(factors, stated)


def _unordered(factors: Table, stated: Mapping[str, object]) -> Iterator[str]:
    """A question about texts with an order, such as low, mid and high, unless their kind is stated."""
    for name, levels in zip(factors.names, factors.levels, strict=True):
        if levels and name not in stated and (order := looks_ordered(levels)):
            shown = f"{', '.join(map(quoted, order[:-1]))} and {quoted(order[-1])}"
            kind = f"ordinal:{'<'.join(order)}"
            yield (
                f"Factor {quoted(name)} has the levels {shown}, which count as classes without an order: if they are "
                f"ordered, declare kinds={{{name!r}: {kind!r}}} (--kinds {f'{name}={kind}'!r})."
            )


MOST_CLASSES = 10
ROWS_FITTED, CODES_FITTED = 2_000, 500
DEPENDS = 0.05  # share of a code's variance that classes have to explain, beside chance
CLEARLY_MORE = 1.5  # times the share that a line explains; codes that are powers of levels stay below it


def _classes(factors: Table, codes: Table, stated: Mapping[str, object]) -> Iterator[str]:
    """A question about few whole numbers that codes represent as classes: indicators explain clearly more than a line.

    Both are fitted to every code; only codes that depend on the factor count. Codes that follow an order, also a
    curved one, get no question.
    """
    step = max(1, len(codes.values) // ROWS_FITTED)
    table = codes.values[::step, :CODES_FITTED]
    for name, whole, text in zip(factors.names, factors.values.T, factors.is_text, strict=True):
        if text or name in stated or whole[0] % 1 > 0 or len(whole) != len(codes.values):  # most continuous ones
            continue
        first = whole[:FIRST][np.isfinite(whole[:FIRST])]
        if not first.size or not _has_few_values(first):
            continue
        kept = np.isfinite(whole[::step]) & np.isfinite(table).all(axis=1)
        column, levels = whole[::step][kept], np.unique(whole[np.isfinite(whole)])
        if not 3 <= levels.size <= MOST_CLASSES or column.size < 10 * levels.size or (levels % 1).any():
            continue
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # constant codes, and extreme ones
            scaled = np.asarray(table[kept], dtype=np.float64)
            scaled = (scaled - scaled.mean(axis=0)) / scaled.std(axis=0)
            line = ((column - column.mean()) / column.std()) @ scaled / column.size
            members = (column[:, None] == levels).astype(np.float64)
            by_class = (members.T @ scaled) ** 2 / np.maximum(members.sum(axis=0), 1)[:, None]
            by_classes = by_class.sum(axis=0) / column.size
        depends = by_classes > DEPENDS + levels.size / column.size
        if by_classes[depends].sum() > CLEARLY_MORE * (line[depends] ** 2).sum():
            yield (
                f"Factor {quoted(name)} has {levels.size} whole numbers as values, taken as ordered, but the codes "
                f"follow them like classes: if they are classes, declare kinds={{{name!r}: 'categorical'}} (--kinds "
                f"{f'{name}=categorical'!r})."
            )


def _look_exchanged(factors: Table, codes: Table) -> bool:
    """Whether there are many more continuous factors than codes, or all codes have few whole values and no factor."""
    if any(factors.is_text) or any(map(_has_few_values, factors.values[:FIRST].T)):
        return False
    if codes.values.shape[1] * 4 <= factors.values.shape[1] >= MANY_FACTORS:
        return True
    return factors.values.shape[0] >= 100 and all(map(_has_few_values, codes.values[:FIRST].T))


ANGLE = re.compile(r"(?<![a-z])(angle|azimuth|rotation|orientation|theta|hue|heading|yaw|bearing)s?(?![a-z])", re.I)

CIRCLES = {360.0: "circular:360", 2 * np.pi: "circular", 1.0: "circular:1"}


def _angles(factors: Table, stated: Mapping[str, object]) -> Iterator[str]:
    """A question about numbers that cover a circle evenly and have the name of an angle, or exactly its values."""
    found: dict[str, str] = {}
    for name, column, text in zip(factors.names, factors.values.T, factors.is_text, strict=True):
        low, high = column[:FIRST].min(), column[:FIRST].max()
        if text or name in stated or len(column) < 30 or not -181 < low < high < 361:
            continue
        low, high, named = column.min(), column.max(), ANGLE.search(name) is not None
        for period, kind in CIRCLES.items() if named or low == 0 else ():
            if (period > 1 or "hue" in name.lower()) and _covers(column, low, high, period, named and period > 1):
                found[name] = kind
    if found:
        cover, wrap = ("covers", "it wraps") if len(found) == 1 else ("cover", "they wrap")
        yield (
            f"{', '.join(map(quoted, found))} {cover} a full circle evenly: if {wrap} around as angles do, declare "
            f"kinds={found} (--kinds '{','.join('='.join(each) for each in found.items())}')."
        )


def _covers(column: FloatArray, low: float, high: float, period: float, named: bool) -> bool:
    """Whether values fill a circle about evenly; without the name of an angle, they have to be all its steps."""
    start = 0.0 if low > -period / 100 else -period / 2
    if low < start - period / 100 or not 0.8 * period < high - low <= period * 1.0001:
        return False
    values = np.unique(column)
    step = float(values[1] - values[0])
    is_grid = np.ptp(np.diff(values)) < 1e-6 * period and values.size <= 1_000
    whole = high in (359, 360) and values.size > 100 and not (values % 1).any()
    if not (named or whole or (is_grid and np.isclose([high, high + step], period, rtol=1e-6).any())):
        return False
    counts = np.histogram(np.minimum(column + 1e-9 * period, start + period), 8, (start, start + period))[0]
    return values.size >= 8 and bool(counts.max() < 2.5 * counts.mean() and counts.min() > 0.4 * counts.mean())


def _labels_among(codes: Table, factors: Table) -> Iterator[str]:
    """A question about codes that equal a factor in every row, unless no other code varies, as in a demonstration.

    The first rows decide almost always, so that whole columns are compared only if they are likely equal.
    """
    n_rows, first = len(codes.values), codes.values[:20]
    if not FEWEST_EQUAL <= n_rows == len(factors.values):
        return
    found: dict[str, str] = {}
    for name, column, text in zip(factors.names, factors.values.T, factors.is_text, strict=True):
        likely = () if text else np.flatnonzero((first == column[:20, None]).all(axis=0))
        if len(likely) and not (column == column[0]).all():
            found |= {codes.names[k]: name for k in likely if np.array_equal(codes.values[:, k], column)}
    others = [name for name in codes.names if name not in found]
    if not found or not others:
        return
    same, one = all(name == own for name, own in found.items()), len(found) == 1
    equals = "of the same name" if same else listed([*dict.fromkeys(map(quoted, found.values()))])
    leave = "it out if it is the label itself" if one else "them out if they are the labels themselves"
    yield (
        f"Code{'s' * (not one)} {listed([*map(quoted, found)])} equal{'s' * one} the factor{'s' * (not one)} {equals} "
        f"in every row: leave {leave} (codes=table[[{others[0]!r}{', ...' * (len(others) > 1)}]])."
    )


FEWEST_EQUAL = 20  # rows; fewer ones may be equal by chance


def _repeated(factors: Table, codes: Table, row_groups: Table | None) -> Iterator[str]:
    """A note on rows that repeat another one in all factors and codes; a note on the scores says it of very many."""
    n_rows = len(codes.values)
    varied = (column for column in codes.values.T[:FIRST] if np.unique(column[:FIRST]).size > 0.8 * min(n_rows, FIRST))
    column = next(varied, None)
    if column is None or len(factors.values) != n_rows or row_groups is not None:
        return
    ascending = np.sort(column)
    again = ascending[1:][np.diff(ascending) == 0]
    if 0 < again.size <= min(0.1 * n_rows, 2 * np.unique(again).size):  # not one value, such as 0, often
        alike = np.isin(column, again)
        rows = np.nan_to_num(np.column_stack([factors.values[alike], codes.values[alike]]), nan=np.finfo(float).max)
        n_repeats = len(rows) - len(np.unique(rows, axis=0))
        if n_repeats:
            yield (
                f"{n_repeats} of {n_rows} rows repeat{'s' * (n_repeats == 1)} another row in every factor and code: "
                "leave the repeats out, or pass row_groups (--row-groups) if they belong together."
            )


def _has_few_values(column: FloatArray) -> bool:
    if not column[0].is_integer():  # the usual case
        return False
    return bool((column == np.round(column)).all()) and 1 < np.unique(column).size <= min(20, column.size // 5)


def _one_hot(factors: Table) -> list[list[str]]:
    """Names of neighbouring numbers, three at least, of which exactly one is 1 in every row and the others are 0."""
    found: list[list[str]] = []
    names: list[str] = []
    total = np.zeros(())
    first = factors.values[:1].ravel()
    likely = (first == 0) | (first == 1)  # most columns are not binary in their first row already
    if likely.sum() < 3:
        return found
    for name, column, text, is_likely in zip(factors.names, factors.values.T, factors.is_text, likely, strict=True):
        parts = (column[:FIRST], column)
        binary = is_likely and not text and all(((part == 0) | (part == 1)).all() for part in parts)
        names, total = ([*names, name], total + column) if binary else ([], np.zeros(()))
        if names and total.max() > 1:
            names, total = [name], column.copy()
        if names and total.min() == 1:
            found += [names] if len(names) > 2 else []
            names, total = [], np.zeros(())
    return found


def _counting(table: Table) -> Iterator[tuple[str, str]]:
    """Columns of whole numbers that rise row by row, or have the name of an index, and which of the two."""
    if len(table.values) < 20:
        return
    with np.errstate(invalid="ignore"):  # infinite values are refused later, by a sentence
        rises = (np.diff(table.values[:20], axis=0) > 0).mean(axis=0) > 0.8
    named = np.array([INDEX.match(name) is not None for name in table.names])
    for j in np.flatnonzero((rises | named) & ~np.array(table.is_text)):
        column = table.values[np.isfinite(table.values[:, j]), j]
        if column.size < 20 or (column % 1).any() or np.unique(column).size < 0.9 * column.size:
            continue
        if (np.diff(column) > 0).mean() > 0.95 and np.ptp(column) < 1.5 * len(table.values):
            yield table.names[j], "counts the rows"
        elif named[j]:
            yield table.names[j], "is called like a number of the rows"


INDEX = re.compile(r"(unnamed: ?\d+|index|level_0|id|row|rows?[ _]?(id|index|number|no|nr)\.?|)$", re.I)


def _read_codes(
    codes: object, names: Sequence[str] | None, borrowed: bool, factors: object
) -> tuple[Table | None, Posterior | None]:
    if codes is None:
        return None, None
    if isinstance(codes, tuple) and len(codes) in (2, 3) and all(getattr(part, "ndim", 0) == 2 for part in codes):
        raise InputError(
            f"The codes are {len(codes)} tables, such as a mean and a log-variance: pass "
            "unweave.Posterior(mean, log_variance=log_variance) or unweave.Posterior(mean, std), or the mean alone."
        )
    if not isinstance(codes, Posterior):
        return read_numbers(codes, "code", names, borrowed, factors), None
    posterior = codes if names is None else codes.renamed(names)
    return posterior.table, posterior


def split_blocks(codes: object, options: EvidenceOptions) -> tuple[object, EvidenceOptions]:
    """Codes as one table and options with their blocks, if they are n x blocks x dim, or a list or mapping of tables.

    >>> table, options = split_blocks(np.zeros((5, 3, 2)), {})
    >>> table.shape, options["code_groups"]["block 2"]
    ((5, 6), ('block 2 [0]', 'block 2 [1]'))
    """
    tables = _blocks(codes)
    if tables is None:
        return codes, options
    if not tables:
        raise InputError("The codes have no blocks: pass an array n x blocks x dim with at least one block.")
    if options.get("code_groups") is not None:
        raise OptionError("The codes are blocks already: leave code_groups out.")
    own = codes if isinstance(codes, Mapping) else [f"block {k}" for k in range(len(tables))]
    names = list(map(str, options.get("code_names") or own))
    if len(names) != len(tables):
        raise OptionError(f"code_names has {len(names)} names for {len(tables)} blocks of codes: name every block.")
    columns = [
        [name] if table.shape[1] == 1 else [f"{name} [{k}]" for k in range(table.shape[1])]
        for name, table in zip(names, tables, strict=True)
    ]
    given: EvidenceOptions = {
        **options,
        "code_names": [name for block in columns for name in block],
        "code_groups": {name: tuple(block) for name, block in zip(names, columns, strict=True)},
    }
    return np.hstack(tables), given


def question_about_images(codes: object, options: EvidenceOptions) -> tuple[Finding, ...]:
    """A question about an array that is read as blocks without names and has the shape of images.

    >>> print(*question_about_images(np.zeros((5, 8, 8)), {}))
    Codes of shape (5, 8, 8) are read as 8 blocks of 8 codes: for 64 single codes pass codes.reshape(5, -1).
    """
    shape = getattr(codes, "shape", ())
    if len(shape) != 3 or options.get("code_names") is not None:
        return ()
    n_rows, height, width = map(int, shape)
    low, high = sorted((height, width))
    if not (low == high >= LEAST_SIDE or (low >= LEAST_OF_RECTANGLES and 3 * high <= 4 * low)):
        return ()
    text = (
        f"Codes of shape {(n_rows, height, width)} are read as {height} blocks of {width} codes: for {height * width} "
        f"single codes pass codes.reshape({n_rows}, -1)."
    )
    return (Finding("asked", text=text),)


LEAST_SIDE, LEAST_OF_RECTANGLES = 4, 24  # slots of an object-centric model are rarely square


def _blocks(codes: object) -> list[NDArray[Any]] | None:
    """Tables of the blocks (n x dim each); None if the codes are not blocks."""
    if not isinstance(codes, (list, Mapping)):
        is_stack = getattr(codes, "ndim", 0) == 3 and not getattr(codes, "is_sparse", False)
        return list(np.moveaxis(plain(codes), 1, 0)) if is_stack else None
    entries = list(codes.values()) if isinstance(codes, Mapping) else codes
    if not any(getattr(entry, "ndim", 0) == 2 for entry in entries):
        return None
    tables = [plain(entry) for entry in entries]
    tables = [table[:, None] if table.ndim == 1 else table for table in tables]
    if any(table.ndim != 2 for table in tables) or len({len(table) for table in tables}) > 1:
        shapes = ", ".join(str(table.shape) for table in tables[:4])
        raise InputError(f"The blocks of codes have shapes {shapes}: give each one row per sample and its columns.")
    return tables


def values_of(table: Table | None, n_rows: int) -> FloatArray:
    """Columns of a table (rows x columns); no columns for None."""
    return np.empty((n_rows, 0), order="F") if table is None else table.values


def names_of(table: Table | None) -> tuple[str, ...]:
    """Names of the columns of a table; empty for None."""
    return () if table is None else table.names


def parts_by_labels(whole: Evidence, given: Inputs) -> tuple[Evidence, ...]:
    """One Evidence for each set of factors that are labelled in the same rows; empty if all factors have the same rows.

    ``whole`` has the rows without missing values, and ``given`` all rows. The parts are ordered by their first factor.
    """
    if given.factors is None or whole.sparse_codes is not None or whole.factor_tables:
        return ()
    labelled = ~np.isnan(given.factors.values)
    others = [table.values for what, table in given.tables.items() if what != "factors"]
    complete = np.ones(len(labelled), dtype=bool)
    for values in others:
        complete &= ~np.isnan(values).any(axis=1)
    groups: dict[bytes, list[int]] = {}
    for j, mask in enumerate(labelled.T):
        groups.setdefault(mask.tobytes(), []).append(j)
    parts = [(columns, np.flatnonzero(complete & labelled[:, columns[0]])) for columns in groups.values()]
    if all(rows.size == whole.n_rows for _, rows in parts):
        return ()
    return tuple(_part(whole, given.rows(rows), rows, columns) for columns, rows in parts)


def _part(whole: Evidence, inputs: Inputs, rows: Rows, columns: list[int]) -> Evidence:
    refuse_extremes(inputs.factors, None if inputs.posterior is None else inputs.codes)
    points = values_of(inputs.codes, rows.size)
    return whole._with(
        n_rows=rows.size,
        kept_rows=rows,
        factors=values_of(inputs.factors, rows.size)[:, columns],
        factor_names=tuple(whole.factor_names[j] for j in columns),
        factor_levels=tuple(whole.factor_levels[j] for j in columns),
        declared_kinds=tuple(whole.declared_kinds[j] for j in columns),
        codes=within_reach(points) if inputs.posterior is None else points,
        posterior=inputs.posterior,
        nuisances=values_of(inputs.nuisances, rows.size),
        row_groups=None if inputs.row_groups is None else renumbered(inputs.row_groups.values[:, 0]),
        labelled_parts=(),
    )


def rows_of_part(part: Evidence, before: Rows, after: Rows) -> NDArray[np.intp]:
    """Rows of a part that are kept when the whole is reduced from the rows ``before`` to the rows ``after``.

    Both are original row numbers. Of the rows that only this part has, the same share is kept, chosen at random with a
    seed that depends on ``after``.
    """
    own = np.flatnonzero(~np.isin(part.kept_rows, before))
    n_kept = round(own.size * (after.size / max(before.size, 1)))
    chosen = random_stream(int(after.sum()), "rows of a part", after.size).permutation(own)[:n_kept]
    return np.sort(np.concatenate([np.flatnonzero(np.isin(part.kept_rows, after)), chosen]))
