"""`Evidence`: what a metric may look at, checked once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from unweave.evidence.decoders import decoder_of, digest_of
from unweave.evidence.kinds import DeclaredKind, FactorKind, KindsGiven, resolved_kinds
from unweave.evidence.posterior import Posterior
from unweave.evidence.splits import Rows, fold_of_each_row, shuffled_rows
from unweave.evidence.tables import EvidenceError, FloatArray, Table, plain, read_table


class Evidence:
    """Factors, codes and whatever else is known of the same samples: read, checked, and immutable.

    Parameters
    ----------
    factors : table, n x d
        The truth. Numpy, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or lists.
    codes : table, n x m, or `Posterior`
        What was learned. For a posterior, metrics of points use its means.
    kinds : str, sequence or mapping, optional
        continuous, ordinal, categorical, circular (radians) or circular:PERIOD, for all factors, for each, or by name.
        What is not given is inferred: text is categorical; at most 50 distinct values seen five times on average is
        ordinal; other numbers are continuous.
    missing : {"refuse", "drop"}
        Whether rows with missing values are an error or are left out (`n_dropped` says how many).
    nuisances : table, optional
        What varies in the data and should not reach the codes.
    row_groups : sequence of n labels, optional
        Rows of one subject or video; splits and permutations keep them whole.
    code_groups : mapping of name to code names, optional
        Codes that form one sub-representation.
    factor_names, code_names : sequence of str, optional
        Names where the tables carry none.
    decoder : array of Jacobians (n x D x d), torch module, or `Decoder`, optional
        The map from latents to data, for metrics of geometry.
    reference : the same, optional
        Another decoder to compare it with, such as the true one.
    sampler : callable, optional
        Draws data under interventions on the factors.

    Examples
    --------
    >>> evidence = Evidence({"size": [1.0, 2.0, 3.0]}, [[0.1], [0.2], [0.3]])
    >>> evidence.factor_names, evidence.code_names, evidence.n_rows
    (('size',), ('code 0',), 3)
    """

    def __init__(
        self,
        factors: object = None,
        codes: object = None,
        *,
        kinds: KindsGiven = None,
        missing: Literal["refuse", "drop"] = "refuse",
        nuisances: object = None,
        row_groups: Sequence[object] | None = None,
        code_groups: Mapping[str, Sequence[str]] | None = None,
        factor_names: Sequence[str] | None = None,
        code_names: Sequence[str] | None = None,
        decoder: object = None,
        reference: object = None,
        sampler: Callable[..., Any] | None = None,
    ) -> None:
        posterior = codes if isinstance(codes, Posterior) else None
        tables = {
            "factor": None if factors is None else read_table(factors, "factor", factor_names),
            "code": _code_table(codes, code_names),
            "nuisance": None if nuisances is None else read_table(nuisances, "nuisance"),
        }
        groups = None if row_groups is None else _group_numbers(row_groups)
        lengths = {f"{what}s": table.values.shape[0] for what, table in tables.items() if table is not None}
        if groups is not None:
            lengths["row_groups"] = groups.size
        if lengths or (decoder is None and reference is None):
            _check_alignment(lengths, tables)
        kept = _rows_without_missing(tables, missing)
        factor_table, code_table, nuisance_table = (_rows_of(table, kept) for table in tables.values())

        self.n_rows: int = next(iter(lengths.values()), 0) if kept is None else int(kept.size)
        self.n_dropped: int = 0 if kept is None else next(iter(lengths.values())) - self.n_rows
        self.factors: FloatArray = _values(factor_table, self.n_rows)
        self.factor_names: tuple[str, ...] = factor_table.names if factor_table else ()
        self.factor_levels = factor_table.levels if factor_table else ()
        self.declared_kinds: tuple[DeclaredKind, ...] = (
            resolved_kinds(factor_table.values, factor_table.names, factor_table.is_text, kinds) if factor_table else ()
        )
        self.codes: FloatArray = _values(code_table, self.n_rows)
        self.code_names: tuple[str, ...] = code_table.names if code_table else ()
        self.posterior = posterior if posterior is None or kept is None else posterior.rows(kept)
        self.nuisances: FloatArray = _values(nuisance_table, self.n_rows)
        self.nuisance_names: tuple[str, ...] = nuisance_table.names if nuisance_table else ()
        self.row_groups: Rows | None = groups if groups is None or kept is None else _group_numbers(groups[kept])
        self.code_groups = _checked_groups(code_groups, self.code_names)
        self.decoder, self.reference = decoder_of(decoder), decoder_of(reference)
        self.sampler = sampler
        self._permuted_from: tuple[Evidence, Rows] | None = None
        self._memo: dict[Any, Any] = {}
        for array in (self.factors, self.codes, self.nuisances):
            array.flags.writeable = False

    @property
    def n_factors(self) -> int:
        """Number of factors, d."""
        return self.factors.shape[1]

    @property
    def n_codes(self) -> int:
        """Number of codes, m."""
        return self.codes.shape[1]

    @property
    def kinds(self) -> tuple[FactorKind, ...]:
        """Kind of every factor."""
        return tuple(declared.kind for declared in self.declared_kinds)

    @property
    def permuted_from(self) -> tuple[Evidence, Rows] | None:
        """The evidence this one was permuted from, and the order of its factor rows."""
        return self._permuted_from

    @cached_property
    def constant_factors(self) -> tuple[str, ...]:
        """Names of factors that never vary; nothing can be said about them."""
        return _constant_names(self.factors, self.factor_names)

    @cached_property
    def dead_codes(self) -> tuple[str, ...]:
        """Names of codes that never vary; they carry nothing."""
        return _constant_names(self.codes, self.code_names)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all that a score can depend on; two equal ones mean the same data."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.factors, self.codes, self.nuisances):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array.T).data)
        if self.posterior is not None:
            digest.update(np.ascontiguousarray(self.posterior.std.T).data)
        if self.row_groups is not None:
            digest.update(self.row_groups.tobytes())
        digest.update(digest_of(self.decoder) + digest_of(self.reference))
        digest.update(repr((self.declared_kinds, self.factor_names, self.code_names, self.code_groups)).encode())
        return digest.hexdigest()

    def folds(self, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold; row groups stay whole.

        >>> train, test = Evidence([1, 2, 3, 4], [1, 2, 3, 4]).folds(2, seed=0)[0]
        >>> sorted([*train.tolist(), *test.tolist()])
        [0, 1, 2, 3]
        """
        fold = fold_of_each_row(self.n_rows, self.row_groups, n_folds, seed)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    def permuted(self, rng: int | np.random.Generator) -> Self:
        """The same columns with the pairing of factors and codes broken; per-column results are shared.

        >>> evidence = Evidence([1, 2, 3], [4, 5, 6])
        >>> sorted(evidence.permuted(0).factors[:, 0].tolist())
        [1.0, 2.0, 3.0]
        """
        order = shuffled_rows(self.n_rows, self.row_groups, np.random.default_rng(rng))
        return self._with(factors=self.factors[order], _permuted_from=(self, order))

    def rows(self, index: Rows) -> Self:
        """The evidence of these rows alone.

        >>> Evidence([1, 2, 3], [4, 5, 6]).rows(np.array([0, 2])).factors[:, 0].tolist()
        [1.0, 3.0]
        """
        return self._with(
            n_rows=int(index.size),
            factors=self.factors[index],
            codes=self.codes[index],
            nuisances=self.nuisances[index],
            posterior=None if self.posterior is None else self.posterior.rows(index),
            row_groups=None if self.row_groups is None else _group_numbers(self.row_groups[index]),
            _permuted_from=None,
        )

    def _with(self, **changed: Any) -> Self:
        """A copy with these attributes, and nothing remembered of the old ones."""
        other = object.__new__(type(self))
        remembered = ("constant_factors", "dead_codes", "fingerprint")
        other.__dict__.update({name: item for name, item in self.__dict__.items() if name not in remembered})
        for name, item in changed.items():
            if name in ("factors", "codes", "nuisances"):
                item = np.asfortranarray(item)
                item.flags.writeable = False
            setattr(other, name, item)
        other._memo = {}
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memo": {}}

    def __repr__(self) -> str:
        return f"Evidence({self.n_rows} rows, {self.n_factors} factors, {self.n_codes} codes)"


def _code_table(codes: object, names: Sequence[str] | None) -> Table | None:
    if codes is None:
        return None
    table = codes.table if isinstance(codes, Posterior) else read_table(codes, "code", names)
    text = [name for name, is_text in zip(table.names, table.is_text, strict=True) if is_text]
    if text:
        raise EvidenceError(f"Code {text[0]!r} holds text: codes are numbers, so leave this column out.")
    return table


def _check_alignment(lengths: dict[str, int], tables: Mapping[str, Table | None]) -> None:
    if not lengths:
        raise EvidenceError("There is nothing to look at: pass factors, codes, or both.")
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{what} have {n} rows" for what, n in lengths.items())
        raise EvidenceError(f"The rows do not pair up: {stated}; pass the same samples in the same order.")
    first, second = tables["factor"], tables["code"]
    indexed = first and second and hasattr(first.index, "equals") and hasattr(second.index, "equals")
    if first and second and indexed and not first.index.equals(second.index):
        raise EvidenceError(
            "The factors and codes have different row indexes: align them (codes.loc[factors.index]), "
            "or reset both indexes if the rows are already in the same order."
        )


def _rows_without_missing(tables: Mapping[str, Table | None], missing: str) -> Rows | None:
    """Rows to keep, or None for all; infinities and, unless dropped, missing values are refused by name."""
    if missing not in ("refuse", "drop"):
        raise EvidenceError(f"missing={missing!r} is not known: use 'refuse' or 'drop'.")
    n_rows = next((table.values.shape[0] for table in tables.values() if table is not None), 0)
    bad_rows = np.zeros(n_rows, dtype=bool)
    counts: list[str] = []
    for what, table in tables.items():
        if table is None:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(table.values.sum()):  # one pass and no mask for the usual case
                continue
        infinite = np.isinf(table.values).sum(axis=0)
        if infinite.any():
            j = int(np.flatnonzero(infinite)[0])
            raise EvidenceError(
                f"{what.capitalize()} {table.names[j]!r} is infinite in {infinite[j]} rows: "
                "clip these values or leave the rows out."
            )
        is_missing = np.isnan(table.values)
        per_column = is_missing.sum(axis=0)
        counts += [f"{what} {table.names[j]!r} ({per_column[j]})" for j in np.flatnonzero(per_column)]
        bad_rows |= is_missing.any(axis=1)
    if not bad_rows.any():
        return None
    if missing == "refuse":
        shown = ", ".join(counts[:5]) + (f" and {len(counts) - 5} more columns" if len(counts) > 5 else "")
        raise EvidenceError(
            f"Values are missing in {int(bad_rows.sum())} of {bad_rows.size} rows: {shown}; "
            "fill them in, or pass missing='drop' to leave these rows out."
        )
    if bad_rows.all():
        raise EvidenceError(
            "Every row has a missing value, so dropping leaves none: fill them in or leave columns out."
        )
    return np.flatnonzero(~bad_rows)


def _rows_of(table: Table | None, kept: Rows | None) -> Table | None:
    if table is None or kept is None:
        return table
    return Table(np.asfortranarray(table.values[kept]), table.names, table.levels)


def _values(table: Table | None, n_rows: int) -> FloatArray:
    return np.empty((n_rows, 0), order="F") if table is None else table.values


def _group_numbers(labels: object) -> Rows:
    array = plain(labels)
    if array.ndim != 1:
        raise EvidenceError(f"row_groups has shape {array.shape}: pass one label per row.")
    return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.intp)


def _checked_groups(
    code_groups: Mapping[str, Sequence[str]] | None, names: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    groups = {str(group): tuple(map(str, members)) for group, members in (code_groups or {}).items()}
    members = [member for group in groups.values() for member in group]
    strange = [member for member in members if member not in names]
    if strange:
        raise EvidenceError(f"code_groups names {strange[0]!r}, which is not a code: use the codes' names.")
    if len(set(members)) < len(members):
        twice = next(member for member in members if members.count(member) > 1)
        raise EvidenceError(f"Code {twice!r} is in two code groups: put every code in one.")
    return groups


def _constant_names(columns: FloatArray, names: tuple[str, ...]) -> tuple[str, ...]:
    if not columns.size:
        return ()
    return tuple(names[j] for j in np.flatnonzero(columns.max(axis=0) == columns.min(axis=0)))
