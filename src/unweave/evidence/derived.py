"""Evidence derived from other evidence: splits, permutations, other codes, or some of the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence.kinds import DeclaredKind, FactorKind
from unweave.evidence.large.all_rows import NeedsRows, RowSummary
from unweave.evidence.partial_labels import rows_of_part
from unweave.evidence.posterior import Posterior
from unweave.evidence.reading.columns import EvidenceError
from unweave.evidence.samplers import Sampler, Unpaired
from unweave.evidence.splits import fold_of_each_row, places, renumbered, shuffled_rows, train_and_test_rows
from unweave.randomness import random_stream


class Derivable:
    """Base class of `Evidence` with its attributes and the methods that derive other evidence from it."""

    n_rows: int
    n_dropped: int
    kept_rows: Rows
    factors: FloatArray
    declared_kinds: tuple[DeclaredKind, ...]
    factor_tables: dict[str, FloatArray]
    codes: FloatArray
    sparse_codes: SparseColumns | None
    posterior: Posterior | None
    nuisances: FloatArray
    row_groups: Rows | None
    code_names: tuple[str, ...]
    code_groups: dict[str, Any]
    sampler: Sampler | None
    labelled_parts: tuple[Self, ...]
    all_rows: RowSummary | None
    is_summary: bool
    _permuted_from: tuple[Self, Rows] | None
    _splits_of: tuple[Self, Rows] | None
    _memo: dict[Any, Any]

    def _seal(self) -> None:
        """Make the arrays read-only, so that cached results stay valid."""
        for name in ("factors", "codes", "nuisances", "kept_rows", "row_groups"):
            array = self.__dict__.get(name)
            if array is not None:
                array.flags.writeable = False

    def __getattr__(self, name: str) -> Any:
        if name in ("factors", "codes") and self.__dict__.get("is_summary"):
            raise NeedsRows
        if name == "codes" and self.__dict__.get("sparse_codes") is not None:
            raise EvidenceError(
                "This needs dense codes and the codes are sparse: use evaluate(..., screen=True), or pass "
                "codes.toarray() if it fits in memory."
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __setattr__(self, name: str, value: object) -> None:
        if "_memo" in self.__dict__:
            raise AttributeError(f"Evidence cannot be changed: build another Evidence instead of setting {name}.")
        object.__setattr__(self, name, value)

    def summary(self) -> Self:
        """Evidence with the totals of all rows but without rows; access to its factors or codes raises `NeedsRows`."""
        if "summary" not in self._memo:
            assert self.all_rows is not None
            other = self._with(all_rows=self.all_rows, is_summary=True, n_rows=self.all_rows.n_rows)
            for name in ("factors", "codes"):
                del other.__dict__[name]
            self._memo["summary"] = other
        kept: Self = self._memo["summary"]
        return kept

    def _refuse_summary(self) -> None:
        """Raise `NeedsRows` for a summary, which has no rows to split, permute or choose from."""
        if self.is_summary:
            raise NeedsRows

    @property
    def permuted_from(self) -> tuple[Self, Rows] | None:
        """The evidence of which this is a permutation, and the order of its factor rows; None if it is not permuted."""
        return self._permuted_from

    def folds(self, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold; row groups are not split, and classes have equal shares in all folds.

        >>> from unweave import Evidence
        >>> train, test = Evidence([1, 2, 3, 4], [1, 2, 3, 4]).folds(2, seed=0)[0]
        >>> sorted([*train.tolist(), *test.tolist()])
        [0, 1, 2, 3]
        """
        self._refuse_summary()
        if self._splits_of is not None:
            original, kept = self._splits_of
            folds = [(places(train, kept), places(test, kept)) for train, test in original.folds(n_folds, seed)]
            if all(train.size and test.size for train, test in folds):  # few row groups may leave a fold empty
                return folds
        key = ("fold of each row", n_folds, seed)
        if key not in self._memo:
            self._memo[key] = fold_of_each_row(self.n_rows, self.row_groups, n_folds, seed, self.class_columns)
        fold: Rows = self._memo[key]
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    @property
    def class_columns(self) -> tuple[FloatArray, ...]:
        """Columns of the factors that have classes, which splits keep in equal shares."""
        classes = (FactorKind.CATEGORICAL, FactorKind.ORDINAL)
        kinds = self.declared_kinds
        return tuple(self.factors[:, j] for j, declared in enumerate(kinds) if declared.kind in classes)

    def split(self, test_share: float, seed: int) -> tuple[Rows, Rows]:
        """Training and test rows, where ``test_share`` is the share of the test rows; row groups are not split."""
        self._refuse_summary()
        if self._splits_of is not None:
            original, kept = self._splits_of
            train, test = (places(side, kept) for side in original.split(test_share, seed))
            if train.size and test.size:
                return train, test
        return train_and_test_rows(self.n_rows, self.row_groups, test_share, seed, self.class_columns)

    def permuted(self, rng: int | np.random.Generator, order: Rows | None = None) -> Self:
        """The same columns, with each row of codes assigned to another row of factors; results per column are shared.

        Factors and nuisances are permuted together, and a sampler's codes no longer depend on its fixed factors.
        ``order`` is a permutation to use instead of a random one.

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
            sparse_codes=None,
            sampler=sampler,
            labelled_parts=(),
            _permuted_from=None,
        )

    def rows(self, index: Rows) -> Self:
        """The evidence of these rows alone, given by their numbers or a mask."""
        self._refuse_summary()
        index = np.arange(self.n_rows)[index]
        sparse = self.sparse_codes
        codes = {"codes": self.codes[index]} if sparse is None else {"sparse_codes": sparse.some_rows(index)}
        kept_rows = self.kept_rows[index]
        parts = [part.rows(rows_of_part(part, self.kept_rows, kept_rows)) for part in self.labelled_parts]  # type: ignore[arg-type]
        return self._with(
            n_rows=index.size,
            kept_rows=kept_rows,
            labelled_parts=tuple(parts),
            factors=self.factors[index],
            factor_tables={name: table[index] for name, table in self.factor_tables.items()},
            **codes,
            nuisances=self.nuisances[index],
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
        self._refuse_summary()
        if self.posterior is not None or self.code_groups:
            raise EvidenceError(
                "Codes of a posterior or in groups cannot be chosen: choose columns before building the Evidence."
            )
        sparse = self.sparse_codes
        codes = self.codes[:, index] if sparse is None else sparse.chosen(index).dense(slice(0, len(index)))
        return self._with(
            codes=codes,
            sparse_codes=None,
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
        self._refuse_summary()
        nothing = np.empty((self.n_rows, 0))
        return self._with(
            codes=nothing, sparse_codes=None, code_names=(), code_groups={}, posterior=None, labelled_parts=()
        )

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
        remembered = ("constant_factors", "dead_codes", "same_rows", "fingerprint")
        kept = {name: item for name, item in self.__dict__.items() if name not in remembered}
        changed = {"all_rows": None, "is_summary": False} | changed  # totals are valid for the original rows only
        tables = {
            name: np.asfortranarray(changed[name]) for name in ("factors", "codes", "nuisances") if name in changed
        }
        other.__setstate__(kept | changed | tables)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memo": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memo={})
        self._seal()
