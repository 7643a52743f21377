"""The counterpart of a data set: the same codes, had the factors been independent, the codes as many, the rows enough.

003 shows that scores move with the correlation of factors (P1), with factors that others determine (P2), with the
number of codes (P3) and with few rows (P4) although the encoder stays the same. Here the encoder is learned from the
data (`code_models`) and asked again where none of these apply; how far a metric moves between the two is what these
data do to it.

Each factor takes its values from rows of its own, which makes the factors independent and leaves their marginals. A
code that belongs to one factor goes with the rows of that factor, noise and all; a code of several follows its model,
with residuals of random rows; a silent code is drawn at random.

Where more rows are drawn than there are, no row may come twice: trees, bins and neighbours would take the noise of a
row for information. Factors are then drawn between rows, and their codes with fresh noise (`more_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from unweave.arrays import FloatArray, Rows
from unweave.estimators.matching import best_matching
from unweave.estimators.regression.kernel_regression import GaussianKernel, unexplained_variance
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.kinds import DeclaredKind
from unweave.trust.counterpart.code_models import CodeModels, code_models
from unweave.trust.counterpart.factor_designs import Places
from unweave.trust.counterpart.fresh_codes import fresh_code, from_scores

ENOUGH_ROWS = 1000
MOST_ROWS = 5000
MOST_CELLS = 5_000_000  # rows times codes: ten models of so many take half a gigabyte
COPIES = 0.995
MOSTLY = 0.9  # of a mixed code, at least: it stands for that factor
CHANCE = 0.01  # that random mixtures follow every factor so closely
MOST_CODES_READ = 20
ROWS_READ = 300
KERNELS = (GaussianKernel(0.3, 1e-3), GaussianKernel(0.7, 1e-3), GaussianKernel(1.5, 1e-3))
TOGETHER = 0.05  # R2 that several codes of a factor must add to its best one before they count as split


@dataclass(frozen=True)
class Teller:
    """What tells a factor: these codes, or, where no few do, many that tell this share of it together.

    One code is enough for a number; a circle takes two, and classes all but one of their indicators.
    """

    codes: tuple[int, ...]
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class Counterpart:
    """What the codes at hand would be elsewhere; `sample` draws it."""

    evidence: Evidence
    responses: CodeModels
    tellers: dict[int, Teller]
    without_factors: bool = False

    @classmethod
    def of(cls, evidence: Evidence, *, without_factors: bool = False, seed: int = 0) -> Counterpart:
        """Learn it from evidence; of at most 5,000 rows (fewer of many codes), which are drawn at random.

        ``without_factors`` is whether factors were taken away that others determine: their codes are then copies.

        >>> z = np.random.default_rng(0).normal(size=(300, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
        >>> drawn = Counterpart.of(Evidence(z, z)).sample(0)
        >>> bool(abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 0.1), drawn.n_rows
        (True, 1000)
        """
        most_rows = min(MOST_ROWS, max(ENOUGH_ROWS, MOST_CELLS // evidence.n_codes))
        if evidence.n_rows > most_rows:
            rows = np.random.default_rng(seed).permutation(evidence.n_rows)[:most_rows]
            evidence = evidence.rows(np.sort(rows))
        responses = code_models(evidence, seed=seed)
        return cls(evidence, responses, _tellers(responses, seed), without_factors)

    def sample(self, rng: int | np.random.Generator, *, same_codes: bool = False, same_rows: bool = False) -> Evidence:
        """Evidence of independent factors; with as many codes and rows as at hand where asked for."""
        generator = np.random.default_rng(rng)
        found, n = self.responses, self.evidence.n_rows
        n_rows = n if same_rows else max(n, ENOUGH_ROWS)
        places = [
            Places.at_rows(generator.permutation(n))
            if n_rows == n
            else Places.at_rows(generator.integers(n, size=n_rows))
            if design.in_steps
            else Places.between_rows(column, n_rows, generator)
            for design, column in zip(found.designs, found.factors.T, strict=True)
        ]
        codes = _Draw(self.responses, self.tellers, places, generator)
        n_codes, n_factors = found.codes.shape[1], self.evidence.n_factors
        as_they_are = same_codes or (n_codes <= n_factors and not self.without_factors)
        columns = [codes.of(i) for i in range(n_codes)] if as_they_are else codes.one_for_each_factor()
        factors = np.column_stack([where.of(found.factors[:, j]) for j, where in enumerate(places)])
        kinds = [_stated(declared) for declared in self.evidence.declared_kinds]
        return Evidence(factors, np.column_stack(columns), kinds=kinds, factor_names=self.evidence.factor_names)


class _Draw:
    """Codes for factors that take their values from these places."""

    def __init__(
        self,
        responses: CodeModels,
        tellers: dict[int, Teller],
        places: list[Places],
        generator: np.random.Generator,
    ) -> None:
        self.responses, self.tellers, self.places, self.generator = responses, tellers, places, generator
        self.predicted = responses.predicted(places)
        self.n_rows = places[0].low.size
        self.more_rows = self.n_rows > len(responses.codes)

    def of(self, code: int) -> FloatArray:
        """One code."""
        found = self.responses
        if found.owner[code] >= 0:
            places = self.places[found.owner[code]]
            return fresh_code(found, code, places, self.generator) if self.more_rows else found.codes[places.low, code]
        at_random = self.generator.integers(len(found.codes), size=self.n_rows)
        if found.silent[code]:
            return found.codes[at_random, code]
        drawn = self.predicted[found.model[code]][:, code] + found.residuals[at_random, code]
        return drawn if found.of_codes[code] else from_scores(drawn, found, code)

    def one_for_each_factor(self) -> list[FloatArray]:
        """As many codes as factors, or fewer where there are no more: each factor's own, mixed ones, silent ones."""
        found = self.responses
        factors = range(len(self.places))
        columns = [column for j in self.tellers for column in self._for_factor(j)]
        mixed = _distinct(found.code_scores, np.flatnonzero((found.owner < 0) & ~found.silent))
        columns += self._of_mixed(mixed, [j for j in factors if j not in self.tellers], columns)
        silent = self.generator.permutation(np.flatnonzero(found.silent))
        return columns + [self.of(i) for i in silent[: max(len(factors) - len(columns), 0)]]

    def _of_mixed(self, mixed: Rows, factors: list[int], beside: list[FloatArray]) -> list[FloatArray]:
        """Codes for these factors out of mixed ones: all, one that follows each factor mostly, or sums of them."""
        drawn = np.column_stack([self.of(i) for i in mixed]) if mixed.size else np.empty((0, 0))
        if mixed.size <= len(factors):
            return list(drawn.T)
        if not factors:
            return []
        targets = np.column_stack([self.places[j].of(self.responses.factor_scores[:, j]) for j in factors])
        shares = np.corrcoef(drawn, targets, rowvar=False)[: mixed.size, mixed.size :] ** 2
        codes, places = best_matching(shares)
        # of many mixed codes, some follow one factor by chance; a code for every factor is no chance
        if (shares[codes, places] >= _no_chance(mixed.size, len(factors), len(self.places))).all():
            return list(drawn[:, codes].T)
        return self._summed(drawn, targets, beside)

    def _for_factor(self, factor: int) -> list[FloatArray]:
        """The codes that tell the factor best; where only many together tell it, one that tells as much."""
        teller = self.tellers[factor]
        if teller.codes:
            return [self.of(i) for i in teller.codes]
        noise = self.generator.normal(size=self.n_rows)
        target = self.places[factor].of(self.responses.factor_scores[:, factor])
        return [np.sqrt(teller.share) * target + np.sqrt(1 - teller.share) * noise]

    def _summed(self, drawn: FloatArray, targets: FloatArray, beside: list[FloatArray]) -> list[FloatArray]:
        """As few as many mixed codes: sums that tell of the targets what all of them and the codes beside tell."""
        known = np.column_stack([np.ones(len(drawn)), *beside])
        weights = np.linalg.lstsq(np.column_stack([known, drawn]), targets, rcond=1e-8)[0][known.shape[1] :]
        directions, _ = np.linalg.qr(weights)
        turn, _ = np.linalg.qr(self.generator.normal(size=(targets.shape[1], targets.shape[1])))
        return list((drawn @ directions @ turn.T).T)


def with_factors(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """The same rows and codes with these factors alone.

    >>> with_factors(Evidence({"a": [1.0, 2.0], "b": [3.0, 5.0]}, [[1.0], [2.0]]), ["b"]).factors.tolist()
    [[3.0], [5.0]]
    """
    places = [evidence.factor_names.index(name) for name in names]
    return Evidence(
        evidence.factors[:, places],
        evidence.codes,
        kinds=[_stated(evidence.declared_kinds[j]) for j in places],
        factor_names=list(names),
        code_names=evidence.code_names,
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )


def _tellers(found: CodeModels, seed: int) -> dict[int, Teller]:
    """What tells each factor that codes belong to."""
    some = np.random.default_rng(seed).permutation(len(found.codes))[:ROWS_READ]
    return {int(j): _teller(found, int(j), some) for j in np.unique(found.owner[found.owner >= 0])}


def _teller(found: CodeModels, factor: int, rows: Rows) -> Teller:
    own = _distinct(found.code_scores, np.flatnonzero(found.owner == factor))[:MOST_CODES_READ]
    if own.size == 1:
        return Teller((int(own[0]),))
    codes, target = found.code_scores[np.ix_(rows, own)], found.factor_scores[rows, factor]
    alone = np.array([_read_share(codes[:, [place]], target) for place in range(own.size)])
    together = _read_share(codes, target)
    n_needed = found.designs[factor].plain.shape[1]
    if together > alone.max() + TOGETHER:
        return Teller(tuple(own[np.argsort(-alone)[:n_needed]].tolist()) if n_needed > 1 else (), together)
    # of those that tell as much, the one that follows the factor in a line
    lines = np.abs([np.corrcoef(found.codes[:, i], found.factors[:, factor])[0, 1] for i in own])
    return Teller((int(own[np.where(alone >= alone.max() - TOGETHER, lines, -1.0).argmax()]),))


def _read_share(codes: FloatArray, target: FloatArray) -> float:
    """Share of the target that kernels read from the codes, every row held out."""
    target = target[:, None]
    left = min(unexplained_variance(target, kernel.leave_one_out(codes, target)) for kernel in KERNELS)
    return float(np.clip(1 - left, 0.0, 1.0))


def _no_chance(n_codes: int, n_wanted: int, n_factors: int) -> float:
    """The squared correlation that the best of so many random mixtures seldom reach for each of the wanted factors.

    >>> [round(_no_chance(4, 2, 2), 3), round(_no_chance(6, 3, 3), 3), _no_chance(25, 5, 5)]
    [0.998, 0.929, 0.9]
    """
    if n_factors == 1:
        return MOSTLY
    each = min(CHANCE ** (1 / n_wanted) / n_codes, 1.0)
    # the squared cosine of a random direction with an axis
    return max(MOSTLY, float(betaincinv(0.5, (n_factors - 1) / 2, 1 - each)))


def _distinct(scores: FloatArray, codes: Rows) -> Rows:
    """These codes without copies of each other."""
    if codes.size < 2:
        return codes
    correlations = np.abs(np.corrcoef(scores[:, codes], rowvar=False))
    copies = np.triu(correlations > COPIES, 1).any(axis=0)
    return codes[~copies]


def _stated(declared: DeclaredKind) -> str:
    """A factor's kind as Evidence takes it."""
    return f"circular:{declared.period}" if declared.kind is FactorKind.CIRCULAR else declared.kind.value
