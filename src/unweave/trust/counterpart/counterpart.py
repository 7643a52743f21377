"""The counterpart of a data set: the same encoder with independent factors, no redundant codes and enough rows.

003 shows that scores change with the correlation of factors (P1), with factors that others determine (P2), with the
number of codes (P3) and with the number of rows (P4) although the encoder stays the same. Here a model of the encoder
is learned from the data (`code_models`), and codes are generated from it for data in which none of these effects is
present. The change of a metric between the two data sets measures how much these effects distort it.

Each factor takes its values from independently chosen rows, which makes the factors independent and keeps their
marginal distributions. `drawn_codes` generates the codes of these factors.

A control checks whether the models can be trusted: codes that they generate for the observed factors ("here") must
score like the real codes. Redundant codes can also be removed from the observed data ("as it is"), without a model.

Where more rows are drawn than were observed, no row may occur twice, because trees, bins and nearest neighbours would
take the noise of a repeated row for information. Factor values are then interpolated between rows, and their codes get
fresh noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from unweave.evidence import Evidence, FactorKind
from unweave.evidence.kinds import DeclaredKind
from unweave.randomness import random_stream
from unweave.trust.counterpart.code_models import CodeModels, code_models
from unweave.trust.counterpart.drawn_codes import DrawnCodes
from unweave.trust.counterpart.factor_designs import Places
from unweave.trust.counterpart.shared_models import shared_models
from unweave.trust.counterpart.tellers import Teller, each_told, tellers_of

ENOUGH_ROWS = 1000
MOST_ROWS = 5000
MOST_CELLS = 5_000_000  # rows times codes; ten models of this size take half a gigabyte
Where = Literal["elsewhere", "here", "as it is"]


@dataclass(frozen=True, eq=False)
class Counterpart:
    """A model of the codes for other factor values; `sample` draws evidence from it."""

    evidence: Evidence
    responses: CodeModels
    tellers: dict[int, Teller]
    n_removed: int = 0
    shared: Counterpart | None = None  # with codes shared between factors that are nearly equivalent

    @classmethod
    def of(cls, evidence: Evidence, *, collapsed: Sequence[str] = (), n_removed: int = 0, seed: int = 0) -> Counterpart:
        """Fit the model to evidence, using at most 5,000 random rows (fewer if there are many codes).

        Codes that are marked as ``collapsed`` belong to no factor, and are kept where redundant codes are removed.
        ``n_removed`` is the number of factors that were removed because others determine them; codes may still depend
        on these.

        >>> z = np.random.default_rng(0).normal(size=(300, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
        >>> drawn = Counterpart.of(Evidence(z, z)).sample(0)
        >>> bool(abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 0.1), drawn.n_rows
        (True, 1000)
        """
        most_rows = min(MOST_ROWS, max(ENOUGH_ROWS, MOST_CELLS // evidence.n_codes))
        if evidence.n_rows > most_rows:
            rows = random_stream(seed, "rows of a counterpart").permutation(evidence.n_rows)[:most_rows]
            evidence = evidence.rows(np.sort(rows))
        responses = replace(code_models(evidence, seed=seed), collapsed=np.isin(evidence.code_names, collapsed))
        both = shared_models(evidence, responses, seed=seed)
        shared = None if both is None else cls(evidence, both, tellers_of(both, seed), n_removed)
        return cls(evidence, responses, tellers_of(responses, seed), n_removed, shared)

    def sample(
        self,
        rng: int | np.random.Generator,
        *,
        where: Where = "elsewhere",
        same_codes: bool = False,
        same_rows: bool = False,
    ) -> Evidence:
        """Evidence with independent factors, without redundant codes and with at least 1,000 rows.

        ``same_codes`` keeps the redundant codes, and ``same_rows`` the observed number of rows. ``where="here"``
        generates codes from the models for the observed factors. ``"as it is"`` uses the observed codes as well. Both
        have the observed number of rows.
        """
        generator = random_stream(rng, "counterpart")
        found, n = self.responses, self.evidence.n_rows
        n_rows = n if same_rows or where != "elsewhere" else max(n, ENOUGH_ROWS)
        places = [
            Places.at_rows(np.arange(n) if where != "elsewhere" else generator.permutation(n))
            if n_rows == n
            else Places.at_rows(generator.integers(n, size=n_rows))
            if design.in_steps
            else Places.between_rows(column, n_rows, generator)
            for design, column in zip(found.designs, found.factors.T, strict=True)
        ]
        codes = DrawnCodes(
            self.responses, self.tellers, places, generator, modelled=where != "as it is", n_removed=self.n_removed
        )
        columns = [codes.of(i) for i in range(found.codes.shape[1])] if same_codes else codes.without_redundant()
        factors = np.column_stack([where_drawn.of(found.factors[:, j]) for j, where_drawn in enumerate(places)])
        kinds = [stated_kind(declared) for declared in self.evidence.declared_kinds]
        return Evidence(factors, np.column_stack(columns), kinds=kinds, factor_names=self.evidence.factor_names)

    @property
    def each_factor_told(self) -> bool:
        """Whether every factor is almost completely determined by the codes that belong to it."""
        return each_told(self.tellers, self.evidence.n_factors)

    def followed(self, factors: Sequence[str]) -> tuple[str, ...]:
        """Those of these factors that some code responds to, rather than to the factors that determine them."""
        places = [self.evidence.factor_names.index(name) for name in factors]
        return tuple(name for name, j in zip(factors, places, strict=True) if self.responses.followed(j))

    def redundant_codes(self, rng: int = 0) -> int:
        """Number of codes that are copies, parts of one factor, functions of other codes, or noise."""
        return self.evidence.n_codes - self.sample(rng, where="as it is").n_codes


def with_factors(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """The same rows and codes with these factors only.

    >>> with_factors(Evidence({"a": [1.0, 2.0], "b": [3.0, 5.0]}, [[1.0], [2.0]]), ["b"]).factors.tolist()
    [[3.0], [5.0]]
    """
    places = [evidence.factor_names.index(name) for name in names]
    return Evidence(
        evidence.factors[:, places],
        evidence.codes,
        kinds=[stated_kind(evidence.declared_kinds[j]) for j in places],
        factor_names=list(names),
        code_names=evidence.code_names,
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )


def stated_kind(declared: DeclaredKind) -> str:
    """A factor's kind as the string that `Evidence` accepts."""
    return f"circular:{declared.period}" if declared.kind is FactorKind.CIRCULAR else declared.kind.value
