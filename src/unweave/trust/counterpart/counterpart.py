"""The counterpart of a data set: the same encoder with independent factors, no redundant codes and enough rows.

003 shows that scores change with the correlation of factors (P1), with factors that others determine (P2), with the
number of codes (P3) and with the number of rows (P4) although the encoder stays the same. Here a model of the encoder
is learned from the data (`code_models`), and codes are generated from it for data in which none of these effects is
present. The change of a metric between the two data sets measures how much these effects distort it.

Each factor takes its values from independently chosen rows, which makes the factors independent and keeps their
marginal distributions. A code that belongs to one factor is copied from the rows chosen for that factor, including its
noise. A code of several factors is predicted by its model, with the residuals of a row with similar factors, because
residuals of an encoder without noise depend on the factors. A silent code is drawn at random.

A control checks whether the models can be trusted: codes that they generate for the observed factors ("here") must
score like the real codes. Redundant codes can also be removed from the observed data ("as it is"), without a model.

Where more rows are drawn than were observed, no row may occur twice, because trees, bins and nearest neighbours would
take the noise of a repeated row for information. Factor values are then interpolated between rows, and their codes get
fresh noise (`more_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import betaincinv

from unweave.arrays import FloatArray, Rows
from unweave.estimators.matching import best_matching
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.kinds import DeclaredKind
from unweave.trust.counterpart.code_models import CodeModels, code_models
from unweave.trust.counterpart.factor_designs import TINY, Places
from unweave.trust.counterpart.fresh_codes import fresh_code, from_scores
from unweave.trust.counterpart.shared_models import shared_models
from unweave.trust.counterpart.tellers import Teller, distinct_codes, each_told, stands_for_its_factor, tellers_of

ENOUGH_ROWS = 1000
MOST_ROWS = 5000
MOST_CELLS = 5_000_000  # rows times codes; ten models of this size take half a gigabyte
OWN_INFORMATION = 0.05  # share of a mixed code's variance that other codes do not explain
MOSTLY = 0.9  # smallest squared correlation at which a mixed code represents a factor
CANDIDATES = 20  # rows whose factors are compared with the drawn ones, to take the residuals of the nearest
CHANCE = 0.01  # probability that random mixtures correlate so strongly with every factor
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
            rows = np.random.default_rng(seed).permutation(evidence.n_rows)[:most_rows]
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
        generator = np.random.default_rng(rng)
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
        codes = _Draw(
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


class _Draw:
    """Codes for factors that take their values from these places."""

    def __init__(
        self,
        responses: CodeModels,
        tellers: dict[int, Teller],
        places: list[Places],
        generator: np.random.Generator,
        *,
        modelled: bool,
        n_removed: int,
    ) -> None:
        self.responses, self.tellers, self.places, self.generator = responses, tellers, places, generator
        self.modelled, self.n_removed = modelled, n_removed
        self.predicted = responses.predicted(places)
        self.n_rows = places[0].low.size
        self.more_rows = self.n_rows > len(responses.codes)

    def of(self, code: int) -> FloatArray:
        """Values of one code for all drawn rows."""
        found = self.responses
        if not self.modelled:
            return found.codes[:, code]
        if found.owner[code] >= 0:
            places = self.places[found.owner[code]]
            return fresh_code(found, code, places, self.generator) if self.more_rows else found.codes[places.low, code]
        at_random = self.generator.integers(len(found.codes), size=self.n_rows)
        if found.silent[code]:
            return found.codes[at_random, code]
        drawn = self.predicted[found.model[code]][:, code] + found.residuals[self._similar_rows, code]
        return drawn if found.of_codes[code] else from_scores(drawn, found, code)

    @cached_property
    def _similar_rows(self) -> Rows:
        """For every drawn row, the observed row with the most similar factors out of 20 other random rows."""
        n = len(self.responses.codes)
        designs = [design.ranks - design.ranks.mean(axis=0) for design in self.responses.designs]
        scaled = [columns / max(np.sqrt(np.square(columns).sum() / n), TINY) for columns in designs]
        observed = np.hstack(scaled)
        wanted = np.hstack([where.of(columns) for where, columns in zip(self.places, scaled, strict=True)])
        others = (np.arange(self.n_rows) + self.generator.integers(1, n, size=(CANDIDATES, self.n_rows))) % n
        distances = np.stack([np.square(observed[rows] - wanted).sum(axis=1) for rows in others])
        return np.asarray(others[distances.argmin(axis=0), np.arange(self.n_rows)])

    def without_redundant(self) -> list[FloatArray]:
        """The codes without those that are copies, parts of one factor, functions of other codes, or noise.

        Of the codes that belong to one factor, as many are kept as are needed to predict it. Silent codes are kept only
        to bring the number of codes up to the number of factors. Collapsed codes are always kept.
        """
        found = self.responses
        factors = range(len(self.places))
        columns = [column for j in self.tellers for column in self._for_factor(j)]
        stands = stands_for_its_factor(found)
        mixed = distinct_codes(found.code_scores, np.flatnonzero(~stands & ~found.silent & ~found.collapsed))
        if not each_told(self.tellers, len(factors)):
            columns += self._of_mixed(mixed, [j for j in factors if j not in self.tellers], columns)
        silent = self.generator.permutation(np.flatnonzero(found.silent & ~found.collapsed))
        columns += [self.of(i) for i in silent[: max(len(factors) - len(columns), 0)]]
        return columns + [self.of(int(i)) for i in np.flatnonzero(found.collapsed)]

    def _of_mixed(self, mixed: Rows, factors: list[int], beside: list[FloatArray]) -> list[FloatArray]:
        """Mixed codes without those that are linear functions of others.

        If the mixed codes span no more than the factors that no code belongs to, one code is kept for each of these
        factors: a code that mainly depends on it, or a sum of codes. Otherwise, all codes are kept that are not linear
        functions of other codes.
        """
        drawn = np.column_stack([self.of(i) for i in mixed]) if mixed.size else np.empty((0, 0))
        if mixed.size <= len(factors):
            return list(drawn.T)
        own = _with_own_information(drawn, beside)
        # codes may also depend linearly on removed factors, which are functions of the remaining ones
        n_spanned = len(factors) + (self.n_removed if self._explained(mixed) else 0)
        if own.size > n_spanned:
            return list(drawn[:, np.sort(own)].T)
        if not factors:
            return []
        targets = np.column_stack([self.places[j].of(self.responses.factor_scores[:, j]) for j in factors])
        shares = np.corrcoef(drawn, targets, rowvar=False)[: mixed.size, mixed.size :] ** 2
        codes, places = best_matching(shares)
        # among many mixed codes, some correlate with one factor by chance, but hardly ever one with each factor
        if (shares[codes, places] >= _no_chance(mixed.size, len(factors), len(self.places))).all():
            return list(drawn[:, codes].T)
        return self._summed(drawn, targets, beside)

    def _explained(self, codes: Rows) -> bool:
        """Whether the models explain these codes almost completely."""
        found = self.responses
        known = np.where(found.of_codes, found.codes.var(axis=0), found.code_scores.var(axis=0))
        left = np.square(found.residuals).mean(axis=0) / np.maximum(known, TINY)
        return bool((left[codes] < OWN_INFORMATION).all())

    def _for_factor(self, factor: int) -> list[FloatArray]:
        """The codes that predict the factor best; one artificial code of the same R2 if only many codes predict it."""
        teller = self.tellers[factor]
        if teller.codes:
            return [self.of(i) for i in teller.codes]
        noise = self.generator.normal(size=self.n_rows)
        target = self.places[factor].of(self.responses.factor_scores[:, factor])
        return [np.sqrt(teller.share) * target + np.sqrt(1 - teller.share) * noise]

    def _summed(self, drawn: FloatArray, targets: FloatArray, beside: list[FloatArray]) -> list[FloatArray]:
        """Linear combinations of mixed codes, as many as targets, that predict them as well as all mixed codes."""
        known = np.column_stack([np.ones(len(drawn)), *beside])
        weights = np.linalg.lstsq(np.column_stack([known, drawn]), targets, rcond=1e-8)[0][known.shape[1] :]
        directions, _ = np.linalg.qr(weights)
        turn, _ = np.linalg.qr(self.generator.normal(size=(targets.shape[1], targets.shape[1])))
        return list((drawn @ directions @ turn.T).T)


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


def _with_own_information(codes: FloatArray, beside: list[FloatArray]) -> Rows:
    """Indices of codes that other codes do not explain completely, starting with the largest unexplained share.

    >>> x, y = np.random.default_rng(0).normal(size=(2, 100))
    >>> _with_own_information(np.column_stack([x, y, x + y]), []).size
    2
    """
    standard = (codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), TINY)
    left = standard
    if beside:
        known = np.column_stack([np.ones(len(codes)), *beside])
        left = standard - known @ np.linalg.lstsq(known, standard, rcond=1e-8)[0]
    found: list[int] = []
    n_used = 1 + len(beside)
    while len(found) < codes.shape[1]:
        shares = np.square(left).sum(axis=0) / max(len(codes) - n_used - len(found), 1)
        best = int(shares.argmax())
        if shares[best] < OWN_INFORMATION:
            break
        found.append(best)
        direction = left[:, best] / np.linalg.norm(left[:, best])
        left = left - np.outer(direction, direction @ left)
        left[:, best] = 0.0
    return np.array(found, dtype=np.intp)


def _no_chance(n_codes: int, n_wanted: int, n_factors: int) -> float:
    """Squared correlation that random mixtures reach with every wanted factor with a probability of only 1 %.

    >>> [round(_no_chance(4, 2, 2), 3), round(_no_chance(6, 3, 3), 3), _no_chance(25, 5, 5)]
    [0.998, 0.929, 0.9]
    """
    if n_factors == 1:
        return MOSTLY
    each = min(CHANCE ** (1 / n_wanted) / n_codes, 1.0)
    # the squared cosine of the angle between a random direction and an axis has a beta distribution
    return max(MOSTLY, float(betaincinv(0.5, (n_factors - 1) / 2, 1 - each)))


def stated_kind(declared: DeclaredKind) -> str:
    """A factor's kind as the string that `Evidence` accepts."""
    return f"circular:{declared.period}" if declared.kind is FactorKind.CIRCULAR else declared.kind.value
