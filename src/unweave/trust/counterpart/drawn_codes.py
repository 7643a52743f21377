"""Codes of the counterpart for factors that take their values from given places, all of them or without redundant ones.

A code that belongs to one factor is copied from the rows chosen for that factor, including its noise. A code of several
factors is predicted by its model, with the residuals of a row with similar factors, because residuals of an encoder
without noise depend on the factors. A silent code is drawn at random. Where more rows are drawn than were observed
(`more_rows`), codes of one factor get fresh noise.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import betaincinv

from unweave.arrays import FloatArray, Rows
from unweave.estimators.matching import best_matching
from unweave.trust.counterpart.code_models import CodeModels
from unweave.trust.counterpart.factor_designs import TINY, Places
from unweave.trust.counterpart.fresh_codes import fresh_code, from_scores
from unweave.trust.counterpart.tellers import Teller, distinct_codes, each_told, stands_for_its_factor

OWN_INFORMATION = 0.05  # share of a mixed code's variance that other codes do not explain
MOSTLY = 0.9  # smallest squared correlation at which a mixed code represents a factor
CANDIDATES = 20  # rows whose factors are compared with the drawn ones, to take the residuals of the nearest
CHANCE = 0.01  # probability that random mixtures correlate so strongly with every factor


class DrawnCodes:
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
        columns = [self.of(i) for i in mixed]
        if mixed.size <= len(factors):
            return columns
        drawn = np.column_stack(columns)
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
    each = CHANCE ** (1 / n_wanted) / n_codes
    # the squared cosine of the angle between a random direction and an axis has a beta distribution
    return max(MOSTLY, float(betaincinv(0.5, (n_factors - 1) / 2, 1 - each)))
