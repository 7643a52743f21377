"""`Evidence`: the data that a metric may use, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import Unpack

import numpy as np

from unweave.arrays import Rows
from unweave.estimators.sparse.sparse_columns import SparseColumns
from unweave.evidence.derived import Derivable
from unweave.evidence.fingerprints import fingerprint_of
from unweave.evidence.jacobians import decoder_of
from unweave.evidence.kinds import DeclaredKind, FactorKind, KindsGiven, resolved_kinds
from unweave.evidence.large.all_rows import RowSummary, large_source, read_large
from unweave.evidence.options import OPTION_NAMES, EvidenceOptions, refuse_unknown_options, with_option_signature
from unweave.evidence.partial_labels import parts_by_labels
from unweave.evidence.reading.code_groups import checked_groups
from unweave.evidence.reading.columns import Levels, constant_names
from unweave.evidence.reading.extremes import refuse_extremes, within_reach
from unweave.evidence.reading.inputs import Inputs, names_of, read_inputs, values_of
from unweave.evidence.reading.missing import rows_without_missing
from unweave.evidence.reading.sparse_codes import code_names_of, constant_columns, is_sparse, sparse_columns
from unweave.evidence.repeated_rows import same_rows
from unweave.evidence.splits import renumbered


class Evidence(Derivable):
    """Factors, codes and other data about the same samples: read, checked, and immutable.

    Parameters
    ----------
    factors : table, n x d, or `RowBlocks`
        The true factors: a numpy array, a tensor, a pandas, polars or pyarrow table, a mapping of columns, or lists. In
        a mapping, a factor may be a table of probabilities p(y | x), n x k, of its k values. If factors and codes are
        large memory-mapped arrays or arrays of HDF5, Zarr or dask, they are read in blocks, as `RowBlocks` are. Metrics
        that can be computed from counts and products then use all rows, and other metrics a random sample.
    codes : table, n x m, sparse matrix, or `Posterior`
        The learned representation. Metrics that do not use posteriors use the means of a posterior. Codes above 1e150
        or below 1e-75 are rescaled. A matrix or array of scipy.sparse, or a sparse tensor of torch, stays sparse: some
        metrics support sparse codes, and the other metrics raise an error.
    kinds : str, sequence or mapping, optional
        continuous, ordinal, categorical, circular (radians) or circular:PERIOD, for all factors, for each, or by name.
        Kinds not given are inferred: text is categorical; a number with at most 50 distinct values that occur five
        times on average is ordinal; other numbers are continuous. Ordered categories of pandas become level numbers.
    missing : {"refuse", "drop"}
        Whether rows with missing values raise an error or are dropped (`n_dropped` is their number, and `kept_rows`
        has the rest). Metrics that work factor by factor then use, for each factor, all rows in which it is labelled.
    nuisances : table, optional
        Variables of the data that the codes should not depend on.
    row_groups : sequence of n labels, optional
        Label of the subject or video of each row; splits and permutations do not separate rows with the same label.
    code_groups : mapping of name to code names or numbers, optional
        Codes that form one sub-representation.
    factor_names, code_names : sequence of str, optional
        Names for tables without column names, or other names.
    decoder : array of Jacobians (n x D x d), torch module, or `Decoder`, optional
        The map from latents to data, for geometric metrics.
    reference : as ``decoder``, optional
        Another decoder with which ``decoder`` is compared, such as the true one.
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
        refuse_unknown_options(options, OPTION_NAMES, "Evidence")
        self.all_rows: RowSummary | None = None
        self.is_summary = False
        source, kinds = large_source(factors, codes, options), options.get("kinds")
        if source is not None:
            self.all_rows, sample, factors = read_large(source, options)
            options = {**options, "factor_names": source.factor_names, "code_names": source.code_names}
            codes = sample.codes
        sparse = sparse_columns(codes) if is_sparse(codes) else None
        given = read_inputs(factors, codes if sparse is None else None, options, sparse)
        n_given = given.n_rows
        kept = rows_without_missing(given.tables, options.get("missing", "refuse"))
        self.kept_rows = np.arange(n_given) if kept is None else kept
        self.n_rows = self.kept_rows.size
        self.n_dropped = n_given - self.n_rows if self.all_rows is None else self.all_rows.totals.n_dropped
        # inferred from all given rows, so that the kind of a factor does not depend on where codes are missing
        self.declared_kinds: tuple[DeclaredKind, ...] = (
            _declared_kinds(given, kinds) if source is None else sample.kinds
        )
        self.sparse_codes: SparseColumns | None = None
        self._hold(given.rows(kept))
        if sparse is not None:
            self._hold_sparse(sparse if kept is None else sparse.some_rows(kept), options.get("code_names"))
        self.code_groups = checked_groups(options.get("code_groups"), self.code_names)
        self.decoder = decoder_of(options.get("decoder"))
        self.reference = decoder_of(options.get("reference"))
        self.sampler = options.get("sampler")
        self._permuted_from = self._splits_of = None
        self.labelled_parts: tuple[Evidence, ...] = ()
        self._memo = {}
        self._seal()
        if self.n_dropped:
            self.__dict__["labelled_parts"] = parts_by_labels(self, given)

    def _hold(self, inputs: Inputs) -> None:
        """Store the columns of these inputs, which have no missing values."""
        # the means of a posterior cannot be rescaled, because its spreads and the grids of metrics have the same unit
        refuse_extremes(inputs.factors, None if inputs.posterior is None else inputs.codes)
        self.factors = values_of(inputs.factors, self.n_rows)
        self.factor_names: tuple[str, ...] = names_of(inputs.factors)
        self.factor_levels: tuple[Levels | None, ...] = inputs.factors.levels if inputs.factors else ()
        self.factor_tables = dict(inputs.probabilities)
        points = values_of(inputs.codes, self.n_rows)
        self.codes = within_reach(points) if inputs.posterior is None else points
        self.code_names: tuple[str, ...] = names_of(inputs.codes)
        self.posterior = inputs.posterior
        self.nuisances = values_of(inputs.nuisances, self.n_rows)
        self.nuisance_names: tuple[str, ...] = names_of(inputs.nuisances)
        self.row_groups = renumbered(inputs.row_groups.values[:, 0]) if inputs.row_groups else None

    def _hold_sparse(self, codes: SparseColumns, names: Sequence[str] | None) -> None:
        """Store sparse codes instead of dense ones; access to ``codes`` then raises an error."""
        del self.codes
        self.sparse_codes, self.code_names = codes, code_names_of(codes.shape[1], names)

    @property
    def n_factors(self) -> int:
        """Number of factors, d."""
        return len(self.factor_names) if self.is_summary else self.factors.shape[1]

    @property
    def n_codes(self) -> int:
        """Number of codes, m."""
        if self.is_summary:
            return len(self.code_names)
        return self.codes.shape[1] if self.sparse_codes is None else self.sparse_codes.shape[1]

    @property
    def kinds(self) -> tuple[FactorKind, ...]:
        """Kind of every factor."""
        return tuple(declared.kind for declared in self.declared_kinds)

    @cached_property
    def constant_factors(self) -> tuple[str, ...]:
        """Names of constant factors, which metrics leave out."""
        if self.is_summary and self.all_rows is not None:
            return tuple(compress(self.factor_names, self.all_rows.constant[0]))
        constant = set(constant_names(self.factors, self.factor_names)) - set(self.factor_tables)
        constant |= {name for name, table in self.factor_tables.items() if (table == table[0]).all()}
        return tuple(name for name in self.factor_names if name in constant)

    @cached_property
    def dead_codes(self) -> tuple[str, ...]:
        """Names of constant codes, which carry no information."""
        if self.is_summary and self.all_rows is not None:
            return tuple(compress(self.code_names, self.all_rows.constant[1]))
        if self.sparse_codes is not None:
            return tuple(self.code_names[i] for i in np.flatnonzero(constant_columns(self.sparse_codes)))
        return constant_names(self.codes, self.code_names) if self.posterior is None else self.posterior.collapsed

    @cached_property
    def same_rows(self) -> Rows | None:
        """Number of the distinct row that each row equals, if many rows are repeated; None otherwise."""
        if self.row_groups is not None or self.sparse_codes is not None or self._permuted_from is not None:
            return None
        if self.all_rows is not None:
            return None
        return same_rows(self.factors, self.codes)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all data that a score can depend on; equal digests mean equal data."""
        return fingerprint_of(self)

    def __repr__(self) -> str:
        return f"Evidence({self.n_rows} rows, {self.n_factors} factors, {self.n_codes} codes)"


def _declared_kinds(given: Inputs, kinds: KindsGiven) -> tuple[DeclaredKind, ...]:
    factors = given.factors
    if factors is None:
        return ()
    return resolved_kinds(factors.values, factors.names, factors.is_text, kinds, given.probabilities)
