"""`Evidence`: what a metric may look at, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence.code_groups import checked_groups
from unweave.evidence.derived import Derivable
from unweave.evidence.fingerprints import fingerprint_of
from unweave.evidence.jacobians import decoder_of
from unweave.evidence.kinds import DeclaredKind, FactorKind, KindsGiven, resolved_kinds
from unweave.evidence.posterior import Posterior
from unweave.evidence.reading.columns import EvidenceError, Levels, constant_names
from unweave.evidence.reading.extremes import refuse_extremes, within_reach
from unweave.evidence.reading.missing import rows_without_missing
from unweave.evidence.reading.probabilities import split_off_tables
from unweave.evidence.reading.tables import Table, common_length, read_numbers, read_table
from unweave.evidence.samplers import Sampler
from unweave.evidence.splits import group_table, renumbered


class Evidence(Derivable):
    """Factors, codes and whatever else is known of the same samples: read, checked, and immutable.

    Parameters
    ----------
    factors : table, n x d
        The truth. Numpy, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or lists. In a mapping, a
        factor may be a table of probabilities p(y | x), n x k, of its k values.
    codes : table, n x m, or `Posterior`
        What was learned. For a posterior, metrics of points use its means. Codes beyond 1e150 or below 1e-75 are
        held in another unit.
    kinds : str, sequence or mapping, optional
        continuous, ordinal, categorical, circular (radians) or circular:PERIOD, for all factors, for each, or by name.
        What is not given is inferred: text is categorical; at most 50 distinct values seen five times on average is
        ordinal; other numbers are continuous.
    missing : {"refuse", "drop"}
        Whether rows with missing values are an error or are left out (`n_dropped` says how many, `kept_rows` which
        are left).
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
        ``sampler(fixed, n_rows, rng) -> (factors, codes)`` draws so many samples with the factors named in the mapping
        ``fixed`` held at its values (text levels by their number) and all others free; ``rng`` is a Generator.

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
        sampler: Sampler | None = None,
    ) -> None:
        posterior = codes if isinstance(codes, Posterior) else None
        factors, factor_tables = split_off_tables(factors)
        if posterior is not None and code_names is not None:
            posterior = posterior.renamed(code_names)
        given = {
            "factors": None if factors is None else read_table(factors, "factor", factor_names),
            "codes": _code_table(codes, code_names) if posterior is None else posterior.table,
            "posterior's spread": None if posterior is None else posterior.spread,
            "nuisances": None if nuisances is None else read_table(nuisances, "nuisance"),
            "row_groups": None if row_groups is None else group_table(row_groups),
        }
        tables = {what: table for what, table in given.items() if table is not None}
        if not tables.keys() - {"row_groups"} and decoder is None and sampler is None:
            raise EvidenceError("There is nothing to look at: pass factors, codes, or both.")
        n_given = common_length(tables)
        kept = rows_without_missing(tables, missing)
        kept_tables = tables if kept is None else {what: table.rows(kept) for what, table in tables.items()}
        factor_table, code_table, nuisance_table, group_numbers = map(
            kept_tables.get, ("factors", "codes", "nuisances", "row_groups")
        )

        # unlike codes alone, the means of a posterior share their unit with its spreads and the grids of metrics
        refuse_extremes(factor_table, None if posterior is None else code_table)
        self.kept_rows = np.arange(n_given) if kept is None else kept
        self.n_rows = self.kept_rows.size
        self.n_dropped = n_given - self.n_rows
        self.factors = _values(factor_table, self.n_rows)
        self.factor_names: tuple[str, ...] = factor_table.names if factor_table else ()
        self.factor_levels: tuple[Levels | None, ...] = factor_table.levels if factor_table else ()
        # from all rows given, so that the kind of a factor does not depend on where codes are missing
        self.declared_kinds: tuple[DeclaredKind, ...] = _declared_kinds(tables.get("factors"), kinds, factor_tables)
        self.factor_tables = {name: table if kept is None else table[kept] for name, table in factor_tables.items()}
        points = _values(code_table, self.n_rows)
        self.codes = within_reach(points) if posterior is None else points
        self.code_names: tuple[str, ...] = code_table.names if code_table else ()
        self.posterior = posterior if posterior is None or kept is None else posterior.rows(kept)
        self.nuisances = _values(nuisance_table, self.n_rows)
        self.nuisance_names: tuple[str, ...] = nuisance_table.names if nuisance_table else ()
        self.row_groups = renumbered(group_numbers.values[:, 0]) if group_numbers else None
        self.code_groups = checked_groups(code_groups, self.code_names)
        self.decoder, self.reference = decoder_of(decoder), decoder_of(reference)
        self.sampler = sampler
        self._permuted_from = self._splits_of = None
        self._memo = {}
        self._seal()

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

    @cached_property
    def constant_factors(self) -> tuple[str, ...]:
        """Names of factors that never vary; nothing can be said about them."""
        constant = set(constant_names(self.factors, self.factor_names)) - set(self.factor_tables)
        constant |= {name for name, table in self.factor_tables.items() if (table == table[0]).all()}
        return tuple(name for name in self.factor_names if name in constant)

    @cached_property
    def dead_codes(self) -> tuple[str, ...]:
        """Names of codes that never vary; they carry nothing."""
        return constant_names(self.codes, self.code_names) if self.posterior is None else self.posterior.collapsed

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all that a score can depend on; two equal ones mean the same data."""
        return fingerprint_of(self)

    def __repr__(self) -> str:
        return f"Evidence({self.n_rows} rows, {self.n_factors} factors, {self.n_codes} codes)"


def _code_table(codes: object, names: Sequence[str] | None) -> Table | None:
    return None if codes is None else read_numbers(codes, "code", names)


def _declared_kinds(
    factors: Table | None, given: KindsGiven, tables: Mapping[str, FloatArray]
) -> tuple[DeclaredKind, ...]:
    return resolved_kinds(factors.values, factors.names, factors.is_text, given, tables) if factors else ()


def _values(table: Table | None, n_rows: int) -> FloatArray:
    return np.empty((n_rows, 0), order="F") if table is None else table.values
