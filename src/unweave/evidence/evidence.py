"""`Evidence`, the input of a metric, and the evidences that are derived from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import Any, Self, Unpack

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.errors import InputError, note
from unweave.estimators.sparse import SparseColumns
from unweave.evidence.blocks import RowSummary, large_source, read_large
from unweave.evidence.columns import (
    Columns,
    DenseColumns,
    Levels,
    SparseEntries,
    all_of,
    checked_groups,
    refuse_extremes,
    rows_without_missing,
    units_of,
    within_reach,
)
from unweave.evidence.decoders import Sampler, Unpaired, decoder_of, digest_of
from unweave.evidence.inputs import (
    OPTION_NAMES,
    EvidenceOptions,
    Inputs,
    names_of,
    parts_by_labels,
    question_about_images,
    read_inputs,
    rows_of_part,
    split_blocks,
    values_of,
    with_option_signature,
)
from unweave.evidence.kinds import DeclaredKind, FactorKind, KindsGiven, resolved_kinds
from unweave.evidence.posterior import Posterior
from unweave.evidence.sparse import code_names_of, is_sparse, sparse_columns
from unweave.evidence.splits import fold_of_each_row, places, renumbered, same_rows, shuffled_rows, train_and_test_rows
from unweave.findings import Finding
from unweave.names import refuse_unknown_options
from unweave.randomness import random_stream


class Derivable:
    """Base class of `Evidence` with its attributes and the methods that derive other evidence from it."""

    n_rows: int
    n_dropped: int
    kept_rows: Rows
    factor_columns: Columns
    declared_kinds: tuple[DeclaredKind, ...]
    factor_tables: dict[str, FloatArray]
    code_columns: Columns
    posterior: Posterior | None
    nuisances: FloatArray
    target: FloatArray | None
    environments: Rows | None
    row_groups: Rows | None
    code_names: tuple[str, ...]
    code_groups: dict[str, Any]
    factor_groups: dict[str, Any]
    sampler: Sampler | None
    notes: tuple[Finding, ...]
    labelled_parts: tuple[Self, ...]
    all_rows: RowSummary | None
    row_summary: RowSummary | None
    _permuted_from: tuple[Self, Rows] | None
    _splits_of: tuple[Self, Rows] | None
    _memo: dict[Any, Any]

    def _seal(self) -> None:
        """Make the arrays read-only, so that cached results stay valid."""
        for array in (self.nuisances, self.kept_rows, self.row_groups, self.target, self.environments):
            if array is not None:
                array.flags.writeable = False

    @property
    def factors(self) -> FloatArray:
        """The factors (n x d); raises `NeedsRows` in a summary."""
        return self.factor_columns.table

    @property
    def codes(self) -> FloatArray:
        """The codes (n x m); raises an error if they are sparse, and `NeedsRows` in a summary."""
        return self.code_columns.table

    @property
    def stored_factors(self) -> FloatArray:
        """The factors with rows or columns first, as they were given, for computations that take either."""
        return self.factor_columns.stored

    @property
    def stored_codes(self) -> FloatArray:
        """The codes with rows or columns first, as they were given, for computations that take either."""
        return self.code_columns.stored

    @property
    def sparse_codes(self) -> SparseColumns | None:
        """The nonzero entries of sparse codes; None for other codes."""
        return self.code_columns.entries if isinstance(self.code_columns, SparseEntries) else None

    def __setattr__(self, name: str, value: object) -> None:
        if "_memo" in self.__dict__:
            raise AttributeError(f"Evidence cannot be changed: build another Evidence instead of setting {name}.")
        object.__setattr__(self, name, value)

    def summary(self) -> Self:
        """Evidence with the totals of all rows but without rows; access to its factors or codes raises `NeedsRows`."""
        if "summary" not in self._memo:
            assert self.all_rows is not None
            factors, codes = self.all_rows.columns
            self._memo["summary"] = self._with(
                all_rows=self.all_rows,
                row_summary=self.all_rows,
                n_rows=self.all_rows.n_rows,
                factor_columns=factors,
                code_columns=codes,
            )
        summary: Self = self._memo["summary"]
        return summary

    @property
    def permuted_from(self) -> tuple[Self, Rows] | None:
        """The evidence of which this is a permutation, and the order of its factor rows; None if it is not permuted."""
        return self._permuted_from

    @property
    def whole(self) -> Self | None:
        """The evidence of which this leaves some rows out, and whose splits it shares; None if it leaves out none."""
        return self._splits_of[0] if self._splits_of is not None else None

    @property
    def places_in_whole(self) -> Rows | None:
        """Numbers of these rows in `whole`."""
        return self._splits_of[1] if self._splits_of is not None else None

    def folds(self, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold; row groups are not split, and classes have equal shares in all folds.

        >>> from unweave import Evidence
        >>> train, test = Evidence([1, 2, 3, 4], [1, 2, 3, 4]).folds(2, seed=0)[0]
        >>> sorted([*train.tolist(), *test.tolist()])
        [0, 1, 2, 3]
        """
        if self._splits_of is not None:
            original, own_rows = self._splits_of
            folds = [(places(train, own_rows), places(test, own_rows)) for train, test in original.folds(n_folds, seed)]
            if all(train.size and test.size for train, test in folds):  # few row groups may leave a fold empty
                return folds
        key = ("fold of each row", n_folds, seed)
        if key not in self._memo:
            self._memo[key] = fold_of_each_row(self.n_rows, self._units, n_folds, seed, self.class_columns)
        fold: Rows = self._memo[key]
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    @cached_property
    def same_rows(self) -> Rows | None:
        """Number of the sample that each row belongs to, if many rows are of the same sample; None otherwise."""
        if self.row_groups is not None or self._permuted_from is not None:
            return None
        if self.all_rows is not None or self.sparse_codes is not None:
            return None
        return same_rows(self.stored_factors, self.stored_codes)

    @property
    def _units(self) -> Rows | None:
        """Rows that splits keep together: row groups, or rows of the same sample; None if rows are split one by one."""
        original = self if self._permuted_from is None else self._permuted_from[0]
        return original.same_rows if self.row_groups is None else self.row_groups

    @property
    def class_columns(self) -> tuple[FloatArray, ...]:
        """Columns of the factors that have classes, which splits keep in equal shares."""
        factors, kinds = self.factors, enumerate(self.declared_kinds)  # a summary cannot be split, whatever the kinds
        return tuple(factors[:, j] for j, declared in kinds if declared.kind.has_classes)

    def split(self, test_share: float, seed: int) -> tuple[Rows, Rows]:
        """Training and test rows, where ``test_share`` is the share of the test rows; row groups are not split."""
        if self._splits_of is not None:
            original, own_rows = self._splits_of
            train, test = (places(side, own_rows) for side in original.split(test_share, seed))
            if train.size and test.size:
                return train, test
        return train_and_test_rows(self.n_rows, self._units, test_share, seed, self.class_columns)

    def permuted(self, rng: int | np.random.Generator, order: Rows | None = None) -> Self:
        """The same columns, with each row of codes assigned to another row of factors; results per column are shared.

        Factors, nuisances and target are permuted together, and a sampler's codes no longer depend on its fixed
        factors. ``order`` is a permutation to use instead of a random one.

        >>> from unweave import Evidence
        >>> evidence = Evidence([1, 2, 3], [4, 5, 6])
        >>> sorted(evidence.permuted(0).factors[:, 0].tolist())
        [1.0, 2.0, 3.0]
        """
        generator = random_stream(rng, "permuted rows")
        if order is None:
            order = shuffled_rows(self.n_rows, self.row_groups, generator)
        return self._with(
            factors=self.factors[order],
            factor_tables={name: table[order] for name, table in self.factor_tables.items()},
            nuisances=self.nuisances[order],
            target=None if self.target is None else self.target[order],
            sampler=self.sampler and Unpaired(self.sampler, int(generator.integers(2**31))),
            labelled_parts=tuple(part.permuted(generator) for part in self.labelled_parts),
            _permuted_from=(self, order),
        )

    def recoded(self, codes: FloatArray | Posterior, sampler: Sampler | None = None) -> Self:
        """The same samples with other codes of the same names, and with a sampler that draws such codes.

        >>> from unweave import Evidence
        >>> Evidence([1, 2, 3], [4, 5, 6]).recoded(np.zeros((3, 1))).dead_codes
        ('code 0',)
        """
        posterior = codes if isinstance(codes, Posterior) else None
        points = codes.table.values if isinstance(codes, Posterior) else codes
        return self._with(
            codes=points,
            posterior=posterior,
            sampler=sampler,
            labelled_parts=(),
            _permuted_from=None,
        )

    def rows(self, index: Rows) -> Self:
        """The evidence of these rows alone, given by their numbers or a mask."""
        index = np.arange(self.n_rows)[index]
        factors, codes = self.factor_columns.rows(index), self.code_columns.rows(index)
        kept_rows = self.kept_rows[index]
        parts = [part.rows(rows_of_part(part, self.kept_rows, kept_rows)) for part in self.labelled_parts]  # type: ignore[arg-type]
        return self._with(
            n_rows=index.size,
            kept_rows=kept_rows,
            labelled_parts=tuple(parts),
            factor_columns=factors,
            factor_tables={name: table[index] for name, table in self.factor_tables.items()},
            code_columns=codes,
            nuisances=self.nuisances[index],
            target=None if self.target is None else self.target[index],
            environments=None if self.environments is None else self.environments[index],
            posterior=None if self.posterior is None else self.posterior.rows(index),
            row_groups=None if self.row_groups is None else renumbered(self.row_groups[index]),
            _permuted_from=None,
            _splits_of=None,
        )

    def choosing_codes(self, index: Rows) -> Self:
        """The evidence of these codes alone, in this order; sparse codes become dense.

        >>> from unweave import Evidence
        >>> Evidence([1, 2, 3], np.eye(3)).choosing_codes(np.array([2, 0])).code_names
        ('code 2', 'code 0')
        """
        if self.posterior is not None or self.code_groups:
            raise InputError(
                "Codes of a posterior or in groups cannot be chosen: choose columns before building the Evidence."
            )
        return self._with(
            codes=self.code_columns.chosen(index),
            code_names=tuple(self.code_names[i] for i in index),
            labelled_parts=tuple(part.choosing_codes(index) for part in self.labelled_parts),
            sampler=None,
            _permuted_from=None,
        )

    def leaving_out(self, index: Rows) -> Self:
        """The evidence without these rows; splits and folds assign every remaining row as in the whole evidence.

        >>> from unweave import Evidence
        >>> whole = Evidence([1, 2, 3, 4], [1, 2, 3, 4])
        >>> fewer = whole.leaving_out(whole.split(0.5, seed=0)[1][:1])
        >>> fewer.kept_rows[fewer.split(0.5, seed=0)[0]].tolist() == whole.split(0.5, seed=0)[0].tolist()
        True
        """
        kept = np.setdiff1d(np.arange(self.n_rows), index)
        return self.rows(kept)._with(_splits_of=(self, kept))

    def factors_alone(self) -> Self:
        """The same factors without the codes, which use most of the memory."""
        nothing = np.empty((self.factors.shape[0], 0))
        return self._with(codes=nothing, code_names=(), code_groups={}, posterior=None, labelled_parts=())

    def keeping(self, given_rows: Rows) -> Self:
        """The evidence restricted to these rows, by their original numbers; the other rows count as dropped.

        >>> from unweave import Evidence
        >>> Evidence([1, 2, 3], [4, 5, 6]).keeping(np.array([0, 2])).n_dropped
        1
        """
        fewer = self.rows(np.flatnonzero(np.isin(self.kept_rows, given_rows)))
        return fewer._with(n_dropped=self.n_dropped + self.n_rows - fewer.n_rows)

    def _with(self, **changed: Any) -> Self:
        """A copy with these attributes changed, and without cached results."""
        other = object.__new__(type(self))
        remembered = ("constant_factors", "dead_codes", "same_rows", "fingerprint", "code_units", "factor_units")
        unchanged = {name: item for name, item in self.__dict__.items() if name not in remembered}
        changed = {"all_rows": None, "row_summary": None} | changed  # totals are valid for the original rows only
        for name, columns in {"factors": "factor_columns", "codes": "code_columns"}.items():
            if name in changed:
                changed[columns] = DenseColumns(np.asfortranarray(changed.pop(name)))
        if "nuisances" in changed:
            changed["nuisances"] = np.asfortranarray(changed["nuisances"])
        other.__setstate__(unchanged | changed)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memo": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memo={})
        self._seal()


def fingerprint_of(evidence: Evidence) -> str:
    """Hexadecimal digest of all data that a score can depend on."""
    digest = hashlib.blake2b(digest_size=16)
    spreads = () if evidence.posterior is None else evidence.posterior.spreads
    columns = (*evidence.factor_columns.arrays, *evidence.code_columns.arrays)
    tables = (*columns, evidence.nuisances, *spreads, *evidence.factor_tables.values())
    for array in tables:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array.T).data)
    for name in ("row_groups", "target", "environments"):
        if (column := getattr(evidence, name)) is not None:
            digest.update(name.replace("_", " ").encode())
            digest.update(column.data)
    if evidence.all_rows is not None:
        digest.update(evidence.all_rows.digest())
    digest.update(digest_of(evidence.decoder) + digest_of(evidence.reference))
    names = (
        evidence.factor_names,
        evidence.factor_levels,
        evidence.code_names,
        evidence.nuisance_names,
        evidence.code_groups,
        *((evidence.environment_names,) if evidence.environment_names else ()),
        *([evidence.factor_groups] if evidence.factor_groups else []),
    )
    digest.update(repr((evidence.declared_kinds, names)).encode())
    for part in evidence.labelled_parts:
        digest.update(part.fingerprint.encode())
    return digest.hexdigest()


class Evidence(Derivable):
    """Factors, codes and other data about the same samples: read, checked, and immutable.

    Parameters
    ----------
    factors : table, n x d, or `RowBlocks`
        The true factors: a numpy array, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or lists. In
        a mapping, a factor may be a table of probabilities p(y | x), n x k, of its k values. If factors and codes are
        large memory-mapped arrays or arrays of HDF5, Zarr or dask, they are read in blocks, as `RowBlocks` are. Metrics
        that can be computed from counts and products then use all rows, and other metrics a random sample.
    codes : table, n x m, sparse matrix, `Posterior`, or blocks
        The learned representation. Blocks of codes, such as slots or the latents of one variable, are an array n x
        blocks x dim, or a list or mapping of tables; ``code_names`` then names the blocks. Metrics that do not use
        posteriors use the means of a posterior. Codes above 1e150 or below 1e-75 are rescaled. A matrix or array of
        scipy.sparse, or a sparse tensor of torch, stays sparse: some metrics support sparse codes, and the other
        metrics raise an error.
    kinds : str, sequence or mapping, optional
        continuous, ordinal, categorical, circular (radians) or circular:PERIOD, for all factors, for each, or by name.
        Kinds not given are inferred: text is categorical; a number with at most 50 distinct values that occur five
        times on average is ordinal; other numbers are continuous. Text with an order is ordinal:low<mid<high, and
        ordered categories of pandas become level numbers.
    missing : {"refuse", "drop"}
        Whether rows with missing values raise an error or are dropped (`n_dropped` is their number, and `kept_rows`
        has the rest). Metrics that work factor by factor then use, for each factor, all rows in which it is labelled.
    nuisances : table, optional
        Variables of the data that the codes should not depend on.
    target : sequence of n labels or numbers, optional
        What a concept model predicts from its concepts, for metrics of leakage.
    environments : sequence of n labels, optional
        Which factor was intervened on in each row: its name or number, a list of names, or "observational" (also an
        empty list); see `unweave.environments`.
    row_groups : sequence of n labels, optional
        Label of the subject or video of each row; splits and permutations do not separate rows with the same label.
    code_groups : mapping of name to code names or numbers, optional
        Codes that form one block: metrics that score single codes score the block as one unit, or refuse.
    factor_groups : mapping of name to factor names or numbers, optional
        Factors that form one block, such as a colour of three channels: `mcc`, `r2` and `unweave.recovery` score its
        recovery up to an affine map, and other metrics refuse.
    factor_names, code_names : sequence of str, optional
        Names for tables without column names, or other names.
    decoder : array of Jacobians (n x D x d), torch module, or `Decoder`, optional
        The map from latents to data, for geometric metrics.
    reference : as ``decoder``, optional
        Another decoder with which ``decoder`` is compared, such as the true one.
    output_names : sequence of str, optional
        Names of the decoder's outputs, such as those of sensors.
    sampler : callable, optional
        ``sampler(fixed, n_rows, rng) -> (factors, codes)`` draws ``n_rows`` samples in which the factors named in the
        mapping ``fixed`` are held at its values (text levels by their number) and all other factors vary; ``rng`` is a
        Generator.

    Examples
    --------
    >>> evidence = Evidence({"size": [1.0, 2.0, 3.0]}, [[0.1], [0.2], [0.3]])
    >>> evidence.factor_names, evidence.code_names, evidence.n_rows
    (('size',), ('code 0',), 3)
    """

    @with_option_signature
    def __init__(self, factors: object = None, codes: object = None, **options: Unpack[EvidenceOptions]) -> None:
        if not options.keys() <= OPTION_NAMES:
            refuse_unknown_options(options, OPTION_NAMES, "Evidence")
        self._read(factors, codes, options, borrowed=False)

    @classmethod
    def for_one_call(cls, factors: object, codes: object, options: EvidenceOptions) -> Self:
        """Evidence that reads arrays where they are, for a call that ends before its caller can change them."""
        evidence = object.__new__(cls)
        evidence._read(factors, codes, options, borrowed=True)
        return evidence

    def _read(self, factors: object, codes: object, options: EvidenceOptions, borrowed: bool) -> None:
        self.all_rows: RowSummary | None = None
        self.row_summary: RowSummary | None = None
        images = question_about_images(codes, options)
        codes, options = split_blocks(codes, options)
        source, kinds = large_source(factors, codes, options), options.get("kinds")
        if source is not None:
            self.all_rows, sample, factors = read_large(source, options)
            options = {**options, "factor_names": source.factor_names, "code_names": source.code_names}
            codes = sample.codes
        sparse = sparse_columns(codes) if is_sparse(codes) else None
        given = read_inputs(factors, codes if sparse is None else None, options, sparse, borrowed)
        n_given, self.notes = given.n_rows, (*images, *given.notes)
        asked = [str(each) for each in self.notes if each.kind == "asked"]
        missing = options.get("missing", "refuse")
        if str(missing) == "drop" or all(np.isfinite(table.sum_of_squares) for table in given.tables.values()):
            for each in self.notes:  # otherwise an error states the questions
                note(str(each))
        # kinds are inferred from all given rows, so that they do not depend on where codes are missing
        kept, declared = all_of(
            lambda: rows_without_missing(given.tables, missing, asked),
            lambda: _declared_kinds(given, kinds) if source is None else sample.kinds,
        )
        self.kept_rows = np.arange(n_given) if kept is None else kept
        self.n_rows = self.kept_rows.size
        self.n_dropped = n_given - self.n_rows if self.all_rows is None else self.all_rows.totals.n_dropped
        self.declared_kinds: tuple[DeclaredKind, ...] = declared
        self._hold(given.rows(kept))
        if sparse is not None:
            self._hold_sparse(sparse if kept is None else sparse.some_rows(kept), options.get("code_names"))
        self.code_groups = checked_groups(options.get("code_groups"), self.code_names, "code")
        self.factor_groups = checked_groups(options.get("factor_groups"), self.factor_names, "factor")
        decoders = options.get("decoder"), options.get("reference")
        self.decoder, self.reference = (None if each is None else decoder_of(each) for each in decoders)
        self.output_names = tuple(map(str, options.get("output_names") or ()))
        self.sampler = options.get("sampler")
        self._permuted_from = self._splits_of = None
        self.labelled_parts: tuple[Evidence, ...] = ()
        self._memo = {}
        self._seal()
        if self.n_dropped and not self.factor_groups:
            self.__dict__["labelled_parts"] = parts_by_labels(self, given)

    def _hold(self, inputs: Inputs) -> None:
        """Store the columns of these inputs, which have no missing values."""
        # the means of a posterior cannot be rescaled, because its spreads and the grids of metrics have the same unit
        refuse_extremes(inputs.factors, None if inputs.posterior is None else inputs.codes)
        self.factor_columns: Columns = DenseColumns(values_of(inputs.factors, self.n_rows))
        self.factor_names: tuple[str, ...] = names_of(inputs.factors)
        self.factor_levels: tuple[Levels | None, ...] = inputs.factors.levels if inputs.factors else ()
        self.factor_tables = dict(inputs.probabilities)
        points = values_of(inputs.codes, self.n_rows)
        if inputs.posterior is None and inputs.codes is not None:
            points = within_reach(points, inputs.codes.sum_of_squares)
        self.code_columns: Columns = DenseColumns(points)
        self.code_names: tuple[str, ...] = names_of(inputs.codes)
        self.posterior = inputs.posterior
        self.nuisances = values_of(inputs.nuisances, self.n_rows)
        self.nuisance_names: tuple[str, ...] = names_of(inputs.nuisances)
        self.target = None if inputs.target is None else inputs.target.values[:, 0].copy()
        self.target_is_text = inputs.target is not None and inputs.target.is_text[0]
        labels = inputs.environments
        self.environments = None if labels is None else labels.values[:, 0].astype(np.intp)
        self.environment_names: tuple[str, ...] = () if labels is None else tuple(map(str, labels.levels[0] or ()))
        self.row_groups = renumbered(inputs.row_groups.values[:, 0]) if inputs.row_groups else None

    def _hold_sparse(self, codes: SparseColumns, names: Sequence[str] | None) -> None:
        """Store sparse codes instead of dense ones; access to ``codes`` then raises an error."""
        self.code_columns, self.code_names = SparseEntries(codes), code_names_of(codes.shape[1], names)

    @property
    def n_factors(self) -> int:
        """Number of factors, d."""
        return self.factor_columns.shape[1]

    @property
    def n_codes(self) -> int:
        """Number of codes, m."""
        return self.code_columns.shape[1]

    @property
    def kinds(self) -> tuple[FactorKind, ...]:
        """Kind of every factor."""
        return tuple(declared.kind for declared in self.declared_kinds)

    @cached_property
    def code_units(self) -> dict[str, Rows]:
        """Code indices of every unit by its name: each block of codes, and each code that is in no block."""
        return units_of(self.code_groups, self.code_names)

    @cached_property
    def factor_units(self) -> dict[str, Rows]:
        """Factor indices of every unit by its name: each block of factors, and each factor that is in no block."""
        return units_of(self.factor_groups, self.factor_names)

    @property
    def has_blocks(self) -> bool:
        """Whether a unit has more than one code; otherwise the units are the codes."""
        return any(len(members) > 1 for members in self.code_groups.values())

    @property
    def has_factor_blocks(self) -> bool:
        """Whether a unit has more than one factor; otherwise the units are the factors."""
        return any(len(members) > 1 for members in self.factor_groups.values())

    @cached_property
    def constant_factors(self) -> tuple[str, ...]:
        """Names of constant factors, which metrics leave out."""
        constant = set(compress(self.factor_names, self.factor_columns.constant)) - set(self.factor_tables)
        constant |= {name for name, table in self.factor_tables.items() if (table == table[0]).all()}
        return tuple(name for name in self.factor_names if name in constant)

    @cached_property
    def dead_codes(self) -> tuple[str, ...]:
        """Names of constant codes, which carry no information."""
        if self.posterior is not None:
            return self.posterior.collapsed
        return tuple(compress(self.code_names, self.code_columns.constant))

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all data that a score can depend on; equal digests mean equal data."""
        return fingerprint_of(self)

    def __repr__(self) -> str:
        if self.decoder is not None and not self.n_rows:
            return f"Evidence(a decoder of {self.decoder.latent_size} latents)"
        return f"Evidence({self.n_rows} rows, {self.n_factors} factors, {self.n_codes} codes)"


def _declared_kinds(given: Inputs, kinds: KindsGiven) -> tuple[DeclaredKind, ...]:
    factors = given.factors
    if factors is None:
        return ()
    complete = bool(np.isfinite(factors.sum_of_squares))
    return resolved_kinds(factors.values, factors.names, factors.is_text, kinds, given.probabilities, complete)
