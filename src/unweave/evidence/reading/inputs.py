"""All inputs about the same samples, read into tables with the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unweave.arrays import FloatArray, Rows
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence.options import EvidenceOptions
from unweave.evidence.posterior import Posterior
from unweave.evidence.reading.columns import EvidenceError
from unweave.evidence.reading.probabilities import split_off_tables
from unweave.evidence.reading.tables import Table, common_length, read_numbers, read_table
from unweave.evidence.splits import group_table


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
    row_groups: Table | None
    n_sparse_rows: int | None = None

    @property
    def tables(self) -> dict[str, Table]:
        """Every given table, by its name in messages."""
        given = {
            "factors": self.factors,
            "codes": self.codes,
            "posterior's spread": None if self.posterior is None else self.posterior.spread,
            "nuisances": self.nuisances,
            "row_groups": self.row_groups,
        }
        return {what: table for what, table in given.items() if table is not None}

    @property
    def n_rows(self) -> int:
        """Common number of rows of all tables; raises an error if they differ."""
        n_rows = common_length(self.tables) if self.tables or self.n_sparse_rows is None else self.n_sparse_rows
        if self.n_sparse_rows not in (None, n_rows):
            first = next(iter(self.tables))
            raise EvidenceError(
                f"The rows do not pair up: {first} have {n_rows} rows, sparse codes have {self.n_sparse_rows} rows; "
                "pass the same samples in the same order."
            )
        return n_rows

    def rows(self, kept: Rows | None) -> Inputs:
        """The inputs of these rows, or of all rows for None."""
        if kept is None:
            return self
        factors, codes, nuisances, row_groups = (
            None if table is None else table.rows(kept)
            for table in (self.factors, self.codes, self.nuisances, self.row_groups)
        )
        return replace(
            self,
            factors=factors,
            probabilities={name: table[kept] for name, table in self.probabilities.items()},
            codes=codes,
            posterior=None if self.posterior is None else self.posterior.rows(kept),
            nuisances=nuisances,
            row_groups=row_groups,
        )


def read_inputs(
    factors: object, codes: object, options: EvidenceOptions, sparse: SparseColumns | None = None
) -> Inputs:
    """Tables of the factors, the codes, and the other data of the same samples in the options.

    >>> read_inputs({"size": [1.0, 2.0]}, [[3.0], [4.0]], {}).n_rows
    2
    """
    columns, probabilities = split_off_tables(factors)
    factor_table = None if columns is None else read_table(columns, "factor", options.get("factor_names"))
    code_table, posterior = _read_codes(codes, options.get("code_names"))
    nuisances, row_groups = options.get("nuisances"), options.get("row_groups")
    inputs = Inputs(
        factors=factor_table,
        probabilities=probabilities,
        codes=code_table,
        posterior=posterior,
        nuisances=None if nuisances is None else read_table(nuisances, "nuisance"),
        row_groups=None if row_groups is None else group_table(row_groups),
        n_sparse_rows=None if sparse is None else sparse.n_rows,
    )
    nothing_else = options.get("decoder") is None and options.get("sampler") is None and sparse is None
    if not inputs.tables.keys() - {"row_groups"} and nothing_else:
        raise EvidenceError("There are no data: pass factors, codes, or both.")
    return inputs


def _read_codes(codes: object, names: Sequence[str] | None) -> tuple[Table | None, Posterior | None]:
    if codes is None:
        return None, None
    if not isinstance(codes, Posterior):
        return read_numbers(codes, "code", names), None
    posterior = codes if names is None else codes.renamed(names)
    return posterior.table, posterior


def values_of(table: Table | None, n_rows: int) -> FloatArray:
    """Columns of a table (rows x columns); no columns for None."""
    return np.empty((n_rows, 0), order="F") if table is None else table.values


def names_of(table: Table | None) -> tuple[str, ...]:
    """Names of the columns of a table; empty for None."""
    return () if table is None else table.names
