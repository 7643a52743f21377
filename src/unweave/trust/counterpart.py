"""Counterpart of an evidence: the same encoder with independent factors, no redundant codes and enough rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import betaincinv

from unweave.arrays import FloatArray, Rows
from unweave.estimators.correlation import best_matching
from unweave.estimators.regression import GaussianKernel, unexplained_variance
from unweave.evidence import Evidence, Posterior
from unweave.evidence.splits import clusters
from unweave.randomness import random_stream
from unweave.trust.code_models import (
    MOST_STEPS,
    ROWS_PER_COLUMN,
    TINY,
    CodeModels,
    Places,
    code_models,
    coordinates,
    from_scores,
    shared_models,
    with_shared_values,
)

NEARBY = 0.1  # share of the rows, nearest in the factor, that residuals come from; the noise may vary along the factor

MOSTLY_NOISE = 0.5  # share of the residual variance that neighbouring rows must show too, or the fit is inadequate


def fresh_code(
    found: CodeModels, code: int, places: Places, generator: np.random.Generator, rows: Rows | None = None
) -> FloatArray:
    """A code that belongs to one factor, at these places of the factor; of these rows only, where they are given.

    For a discrete factor, the code takes values observed in the same class. For other factors, it follows the fit, with
    residuals of nearby rows. Where neighbouring rows differ by less than the residuals of the fit, the fit is
    inadequate, and the code is interpolated between neighbours instead.
    """
    factor = int(found.owner[code])
    if found.designs[factor].in_steps:
        return _of_its_class(found.codes[:, code], found.factors[:, factor], places, generator)
    rows = np.arange(len(found.factors)) if rows is None else rows
    order = rows[np.argsort(found.factors[rows, factor], kind="stable")]
    noise = _variance_between_neighbours(found.code_scores[order, code])
    left = float(np.square(found.left[rows, code]).mean())
    if noise < MOSTLY_NOISE * left:
        return places.of(found.codes[:, code])
    rank = np.empty(len(found.factors), dtype=np.intp)
    rank[order] = np.arange(order.size)
    reach = max(int(NEARBY * order.size), 1)
    steps = generator.integers(-reach, reach + 1, size=places.low.size)
    nearby = order[np.clip(rank[places.low] + steps, 0, order.size - 1)]
    # a little extra noise ensures that no residual occurs twice
    spread = np.sqrt(noise) * generator.normal(scale=order.size**-0.2, size=nearby.size)
    # held-out residuals contain the error of the fit as well, so they are scaled to the variance of the noise
    own = found.left[nearby, code] * np.sqrt(min(noise / left, 1.0))
    residuals = (own + spread) / np.sqrt(1 + order.size**-0.4)
    return from_scores(places.of(found.fitted[:, code]) + residuals, found, code)


def _variance_between_neighbours(values: FloatArray) -> float:
    """Noise variance of values along a smooth curve, from each value minus the mean of its two neighbours.

    >>> curve = np.sin(np.linspace(0, 6, 1000))
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=1000)
    >>> round(_variance_between_neighbours(curve + noise), 3), _variance_between_neighbours(curve) < 1e-9
    (0.009, True)
    """
    bends = values[1:-1] - (values[:-2] + values[2:]) / 2
    return float(np.square(bends).mean() / 1.5)


def _of_its_class(codes: FloatArray, classes: FloatArray, places: Places, generator: np.random.Generator) -> FloatArray:
    """Values of rows of the same class, with added noise so that none occurs twice; their variance is kept.

    >>> sides = np.repeat([0.0, 1.0], 500)
    >>> codes = sides + np.random.default_rng(0).normal(size=1000)
    >>> places = Places.at_rows(np.arange(500, 1000))
    >>> drawn = _of_its_class(codes, sides, places, np.random.default_rng(1))
    >>> bool(abs(drawn.mean() - codes[500:].mean()) < 0.1), bool(abs(drawn.std() - codes[500:].std()) < 0.1)
    (True, True)
    """
    here = codes[places.low]
    if np.unique(codes).size <= MOST_STEPS:
        return here
    _, labels = np.unique(classes, return_inverse=True)
    sizes = np.bincount(labels)
    middle = np.bincount(labels, codes) / sizes
    spread = np.sqrt(np.bincount(labels, np.square(codes - middle[labels])) / sizes)
    own = labels[places.low]
    width = (sizes**-0.2)[own]
    noise = width * spread[own] * generator.normal(size=own.size)
    return np.asarray(middle[own] + (here - middle[own] + noise) / np.sqrt(1 + width**2))


COPIES = 0.995

TOLD = 0.9  # R2 of a factor predicted from its own codes, above which mixed codes are not needed

WHOLE = 0.97  # R2 that kernel regression reaches with codes that determine a factor

OWN_FACTOR = 0.5  # share of a code's variance that its factor must explain if the code is to represent the factor

MOST_CODES_READ = 20

ROWS_READ = 300

KERNELS = (GaussianKernel(0.3, 1e-3), GaussianKernel(0.7, 1e-3), GaussianKernel(1.5, 1e-3))

TOGETHER = 0.05  # gain in R2 over the best single code at which several codes of a factor count as split


@dataclass(frozen=True)
class Teller:
    """The codes that predict a factor, and the R2 of the prediction; no codes are named if only many codes predict it.

    One code is enough for a numeric factor. An angle needs two codes, and k classes need k - 1 indicators.
    """

    codes: tuple[int, ...]
    share: float = 1.0


def each_told(tellers: Mapping[int, Teller], n_factors: int) -> bool:
    """Whether the codes that belong to a factor predict it almost completely, for every factor.

    >>> each_told({0: Teller((0,), 0.99)}, 1), each_told({0: Teller((0,), 0.99)}, 2)
    (True, False)
    """
    return all(j in tellers and tellers[j].share >= TOLD for j in range(n_factors))


def stands_for_its_factor(found: CodeModels) -> NDArray[np.bool_]:
    """Which codes belong to a factor that explains at least half of their variance (m booleans)."""
    spread = np.maximum(np.square(found.code_scores).mean(axis=0), TINY)
    explained = 1 - np.square(found.left).mean(axis=0) / spread
    return np.asarray((found.owner >= 0) & ~found.silent & ~found.collapsed & (explained >= OWN_FACTOR))


def tellers_of(found: CodeModels, seed: int) -> dict[int, Teller]:
    """The codes that predict each factor that codes belong to."""
    some = random_stream(seed, "rows of tellers").permutation(len(found.codes))[:ROWS_READ]
    stands = stands_for_its_factor(found)
    return {int(j): _teller(found, int(j), some, stands) for j in np.unique(found.owner[stands])}


def _teller(found: CodeModels, factor: int, rows: Rows, stands: NDArray[np.bool_]) -> Teller:
    own = distinct_codes(found.code_scores, np.flatnonzero(stands & (found.owner == factor)))[:MOST_CODES_READ]
    codes, target = found.code_scores[np.ix_(rows, own)], found.factor_scores[rows, factor]
    alone = np.array([_read_share(codes[:, [place]], target) for place in range(own.size)])
    if own.size == 1:
        return Teller((int(own[0]),), float(alone[0]))
    together = _read_share(codes, target)
    n_needed = found.designs[factor].plain.shape[1]
    if together > alone.max() + TOGETHER:
        share = 1.0 if together >= WHOLE else together
        return Teller(tuple(own[np.argsort(-alone)[:n_needed]].tolist()) if n_needed > 1 else (), share)
    # of equally good codes, the one with the largest linear correlation with the factor
    lines = np.abs([np.corrcoef(found.codes[:, i], found.factors[:, factor])[0, 1] for i in own])
    best = int(np.where(alone >= alone.max() - TOGETHER, lines, -1.0).argmax())
    return Teller((int(own[best]),), float(alone[best]))


def _read_share(codes: FloatArray, target: FloatArray) -> float:
    """Share of the target's variance that kernel regression predicts from the codes, leave-one-out."""
    target = target[:, None]
    left = min(unexplained_variance(target, kernel.leave_one_out(codes, target)) for kernel in KERNELS)
    return float(np.clip(1 - left, 0.0, 1.0))


def distinct_codes(scores: FloatArray, codes: Rows, signals: FloatArray | None = None) -> Rows:
    """These codes without copies of each other, which are copies in the ``signals`` as well, where these are given."""
    if codes.size < 2:
        return codes
    with np.errstate(invalid="ignore", divide="ignore"):  # a signal may be constant
        alike = [
            np.abs(np.corrcoef(each[:, codes], rowvar=False)) > COPIES for each in (scores, signals) if each is not None
        ]
    return codes[~np.triu(np.logical_and.reduce(alike), 1).any(axis=0)]


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
        samples: Rows | None = None,
        one_each: Rows | None = None,
    ) -> None:
        self.responses, self.tellers, self.places, self.generator = responses, tellers, places, generator
        self.modelled, self.n_removed, self.samples, self.one_each = modelled, n_removed, samples, one_each
        self.predicted = responses.predicted(places)
        self.n_rows = places[0].low.size
        self.anew = one_each is not None or self.n_rows > len(responses.codes)

    def of(self, code: int) -> FloatArray:
        """Values of one code for all drawn rows."""
        found = self.responses
        if not self.modelled:
            return found.given[:, code]
        if code in self._of_blocks:
            return self._of_blocks[code]
        # odd values stay in their rows, so that those of all codes occur together and as often as observed
        rows = np.arange(self.n_rows) % len(found.codes)
        return np.where(found.odd[rows, code], found.given[rows, code], self._of_model(code))

    def _of_model(self, code: int) -> FloatArray:
        """Values of one code without odd ones."""
        found = self.responses
        if found.owner[code] >= 0:
            places = self.places[found.owner[code]]
            if self.anew:
                return fresh_code(found, code, places, self.generator, self.one_each)
            return found.codes[places.low, code]
        at_random = self.generator.integers(len(found.codes), size=self.n_rows)
        if found.silent[code]:
            return found.codes[self._of_whole_samples(at_random), code]
        if found.near[code]:
            first, second = found.codes[self._neighbours(found.near[code]), code]
            # between the values of two rows, because values that repeat would tell the factors of more rows
            weight = self.generator.uniform(0, 0.5, size=self.n_rows) if self.n_rows > len(found.codes) else 0.0
            return with_shared_values(first + weight * (second - first), found, code)
        drawn = self.predicted[found.model[code]][:, code] + found.residuals[self._similar_rows, code]
        return with_shared_values(drawn, found, code) if found.of_codes[code] else from_scores(drawn, found, code)

    @cached_property
    def _of_blocks(self) -> dict[int, FloatArray]:
        """Codes of blocks: an additive fit, and residuals of all codes of one row, whose noise is one.

        Where a factor is a linear function of a block, it is the same function of the drawn block.
        """
        found: CodeModels = self.responses
        drawn: dict[int, FloatArray] = {}
        if not found.blocks:
            return {}
        both = [np.column_stack([design.plain, design.smooth]) for design in found.designs]
        wide = sum(part.shape[1] for part in both) * ROWS_PER_COLUMN > len(found.codes)
        parts = [design.plain if wide else each for design, each in zip(found.designs, both, strict=True)]
        fitted = np.column_stack([np.ones(len(found.codes)), *parts])
        there = np.column_stack(
            [np.ones(self.n_rows), *(at.of(part) for at, part in zip(self.places, parts, strict=True))]
        )
        rows = self._similar_rows
        others, width = self.generator.permutation(rows), len(fitted) ** -0.2 if self.n_rows > len(fitted) else 0.0
        free = np.sqrt(len(fitted) / max(len(fitted) - fitted.shape[1], 1) / (1 + width**2))
        for members in found.blocks:
            block = found.codes[:, members]
            weights = np.linalg.lstsq(fitted, block, rcond=1e-8)[0]
            left = block - fitted @ weights
            values = there @ weights + free * (left[rows] + width * left[others])  # so that no residual occurs twice
            drawn |= dict(zip(members.tolist(), values.T, strict=True))
        return drawn

    @cached_property
    def _similar_rows(self) -> Rows:
        """For every drawn row, the observed row with the most similar factors out of 20 other random rows."""
        n, scaled = len(self.responses.codes), coordinates(self.responses.designs)
        observed = np.hstack(scaled)
        wanted = np.hstack([where.of(columns) for where, columns in zip(self.places, scaled, strict=True)])
        others = (np.arange(self.n_rows) + self.generator.integers(1, n, size=(CANDIDATES, self.n_rows))) % n
        others = self._of_whole_samples(others)
        distances = np.stack([np.square(observed[rows] - wanted).sum(axis=1) for rows in others])
        return np.asarray(others[distances.argmin(axis=0), np.arange(self.n_rows)])

    @functools.cache  # noqa: B019 - draws live as long as one sample
    def _neighbours(self, factors: tuple[int, ...]) -> Rows:
        """For every drawn row, the two nearest other rows in these factors (2 x rows)."""
        scaled = coordinates(self.responses.designs)
        observed = np.hstack([scaled[j] for j in factors])
        wanted = np.hstack([self.places[j].of(scaled[j]) for j in factors])
        nearest = KDTree(observed).query(wanted, 3)[1].T
        own = nearest[0] == np.arange(self.n_rows)
        return np.where(own, nearest[1:], nearest[:2])

    def _of_whole_samples(self, rows: Rows) -> Rows:
        """Random rows, where those of one subject are exchanged for rows of one other subject, whose noise they share.

        The last axis of ``rows`` is that of the drawn rows.
        """
        if self.samples is None:
            return rows
        first, counts = np.unique(self.samples, return_index=True, return_counts=True)[1:]
        chosen = self.samples[rows[..., first]][..., self.samples]
        within = (self.generator.uniform(size=chosen.shape) * counts[chosen]).astype(np.intp)
        return np.asarray(np.argsort(self.samples, kind="stable")[(np.cumsum(counts) - counts)[chosen] + within])

    def without_redundant(self) -> list[FloatArray]:
        """The codes without those that are copies, parts of one factor, functions of other codes, or noise.

        Of the codes that belong to one factor, as many are kept as are needed to predict it. Silent codes are kept only
        to bring the number of codes up to the number of factors. Collapsed codes are always kept.
        """
        found = self.responses
        factors = range(len(self.places))
        columns = [column for j in self.tellers for column in self._for_factor(j)]
        stands = stands_for_its_factor(found)
        mixed = np.flatnonzero(~stands & ~found.silent & ~found.collapsed)
        # codes that are equal here may differ where factors that go together here do not
        signals = np.column_stack([self.predicted[k][:, i] for i, k in enumerate(found.model)])
        mixed = distinct_codes(found.code_scores, mixed, signals if self.modelled else None)
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
        samples = clusters(found.factors) if where != "as it is" else None
        # what is particular to a subject is noise elsewhere, where no two rows have the same subject
        one_each = None if samples is None or where == "here" else np.unique(samples, return_index=True)[1]
        places = [self._places(j, n_rows, where, one_each, generator) for j in range(len(found.designs))]
        codes = DrawnCodes(
            found,
            self.tellers,
            places,
            generator,
            modelled=where != "as it is",
            n_removed=self.n_removed,
            samples=samples if where == "here" else None,
            one_each=one_each,
        )
        blocks = self.evidence.has_blocks  # codes of a block are no redundant codes
        if same_codes or blocks:
            columns = [codes.of(i) for i in range(found.codes.shape[1])]
        else:
            columns = codes.without_redundant()
        factors = np.column_stack([where_drawn.of(found.factors[:, j]) for j, where_drawn in enumerate(places)])
        return Evidence(
            factors,
            np.column_stack(columns),
            kinds=self._kinds(places),
            factor_names=self.evidence.factor_names,
            code_names=self.evidence.code_names if blocks else None,
            code_groups=self.evidence.code_groups if blocks else None,
            factor_groups=self.evidence.factor_groups,
        )

    def _places(
        self, factor: int, n_rows: int, where: Where, one_each: Rows | None, generator: np.random.Generator
    ) -> Places:
        """Where the drawn rows take the values of this factor from."""
        n, in_steps = self.evidence.n_rows, self.responses.designs[factor].in_steps
        if n_rows == n and (one_each is None or in_steps):
            return Places.at_rows(np.arange(n) if where != "elsewhere" else generator.permutation(n))
        if in_steps:
            return Places.at_rows(generator.integers(n, size=n_rows))
        return Places.between_rows(self.responses.factors[:, factor], n_rows, generator, one_each)

    def _kinds(self, places: Sequence[Places]) -> dict[str, str]:
        """Kinds of the factors, but for those whose values lie between those of rows: they are no classes any more."""
        declared = zip(self.evidence.factor_names, self.evidence.declared_kinds, places, strict=True)
        return {name: of.text for name, of, at in declared if not (of.kind.has_classes and at.weight.any())}

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
        kinds=[evidence.declared_kinds[j].text for j in places],
        factor_names=list(names),
        code_names=evidence.code_names,
        code_groups=evidence.code_groups,
        factor_groups=_groups_among(evidence, names),
        row_groups=None if evidence.row_groups is None else evidence.row_groups.tolist(),
    )


def _groups_among(evidence: Evidence, names: Sequence[str]) -> dict[str, list[str]]:
    """The groups of factors without those that are not among these names."""
    groups = {group: [m for m in members if m in names] for group, members in evidence.factor_groups.items()}
    return {group: members for group, members in groups.items() if members}


MOST_CALLS = 1000

INDEPENDENT = 4.0  # standard errors; factors with smaller correlations count as uncorrelated


def independent_draws(evidence: Evidence, factors: Sequence[str], n_draws: int, seed: int) -> tuple[Evidence, ...]:
    """Evidence in which these factors vary independently, with the observed number of rows; empty without a sampler.

    If the sampler draws uncorrelated factors when none is fixed, its samples are used. Otherwise the sampler is called
    once for each of at most 1,000 rows, with every factor fixed at its value in an independently chosen row. The result
    is empty if the sampler raises an error.

    >>> def sampler(fixed, n_rows, rng):
    ...     factors = rng.normal(size=(n_rows, 2))
    ...     return factors, factors
    >>> z = np.random.default_rng(0).normal(size=(100, 1)) @ [[1.0, 1.0]]
    >>> drawn = independent_draws(Evidence(z, z, sampler=sampler), ["factor 0", "factor 1"], 1, seed=0)[0]
    >>> bool(abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 0.4)
    True
    """
    if evidence.sampler is None:
        return ()
    places = [evidence.factor_names.index(name) for name in factors]
    drawn = []
    for k in range(n_draws):
        try:
            found = _drawn(evidence, places, random_stream(seed, "interventions", k))
        except Exception:  # a sampler is the user's code and may raise any error; models are used instead
            return ()
        drawn.append(found)
    return tuple(drawn)


def _drawn(evidence: Evidence, places: list[int], rng: np.random.Generator) -> Evidence:
    values, codes = _arrays(evidence, *evidence.sampler({}, evidence.n_rows, rng))  # type: ignore[misc]
    if not _uncorrelated(values[:, places]):
        n_rows = min(evidence.n_rows, MOST_CALLS)
        values = evidence.factors[:n_rows].copy()
        for j in places:
            values[:, j] = evidence.factors[rng.permutation(evidence.n_rows)[:n_rows], j]
        held = [{evidence.factor_names[j]: float(row[j]) for j in places} for row in values]
        found = [_arrays(evidence, *evidence.sampler(fixed, 1, rng)) for fixed in held]  # type: ignore[misc]
        values, codes = (np.vstack([part[k] for part in found]) for k in range(2))
    return Evidence(
        values[:, places],
        codes,
        kinds=[evidence.declared_kinds[j].text for j in places],
        factor_names=[evidence.factor_names[j] for j in places],
        code_names=evidence.code_names,
        code_groups=evidence.code_groups,
        factor_groups=_groups_among(evidence, [evidence.factor_names[j] for j in places]),
    )


def _arrays(evidence: Evidence, factors: Any, codes: Any) -> tuple[FloatArray, FloatArray]:
    points = codes.table.values if isinstance(codes, Posterior) else codes
    values = np.asarray(factors, dtype=np.float64).reshape(-1, evidence.n_factors)
    return values, np.asarray(points, dtype=np.float64).reshape(-1, evidence.n_codes)


def _uncorrelated(factors: FloatArray) -> bool:
    if factors.shape[1] < 2:
        return True
    correlations = np.asarray(np.corrcoef(factors, rowvar=False))
    pairs = np.abs(correlations[np.triu_indices(factors.shape[1], 1)])
    return bool(np.nanmax(pairs) < INDEPENDENT / np.sqrt(len(factors)))
