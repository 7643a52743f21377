"""Comparison of representations, and ties between them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from unweave.arrays import FloatArray, Rows
from unweave.card.decorator import Choice, card_of
from unweave.errors import InputError, OptionError
from unweave.estimators.independence import corrected
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.options import checks_options
from unweave.trust.budget import N_PARTS
from unweave.trust.intervals import PartScores, check_level, part_scores

Truths = NDArray[np.bool_]


def sets_of_ties(order: list[str], told_apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Maximal sets of representations that do not differ significantly; together they contain every tied pair.

    The sets, and the representations in each set, are in the given order.

    >>> sets_of_ties(["a", "b", "c", "d"], {frozenset("ac"), frozenset("ad")})
    (('a', 'b'), ('b', 'c', 'd'))
    """
    place = {name: k for k, name in enumerate(order)}
    alike = np.ones((len(order), len(order)), dtype=np.bool_)
    for first, second in map(tuple, told_apart):
        alike[place[first], place[second]] = alike[place[second], place[first]] = False
    return tuple(tuple(order[k] for k in tied) for tied in sorted(_needed_cliques(_cover(alike), alike)))


def tied_letters(order: list[str], told_apart: set[frozenset[str]]) -> dict[str, str]:
    """Letters from best to worst; representations that share a letter do not differ significantly.

    >>> tied_letters(["a", "b", "c"], {frozenset("ac")})
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    return letters_of(order, sets_of_ties(order, told_apart))


def tied_with_best(ties: Iterable[tuple[str, ...]], doubted: Collection[str] = ()) -> tuple[str, ...]:
    """Names that do not differ significantly from the first one, if any name does; without doubted names.

    >>> tied_with_best([("a", "b"), ("b", "c")]), tied_with_best([("a", "b")])
    (('a', 'b'), ())
    """
    sets = list(ties)
    first = next((name for names in sets for name in names), None)
    tied = dict.fromkeys(name for names in sets if first in names for name in names)
    everyone = {name for names in sets for name in names}
    return tuple(name for name in tied if name not in doubted) if len(tied) < len(everyone) else ()


def letters_of(order: list[str], ties: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """The letters of the sets that contain each representation.

    >>> letters_of(["a", "b"], (("a",), ("b",)))
    {'a': 'a', 'b': 'b'}
    """
    held: dict[str, list[str]] = {name: [] for name in order}
    for k, tied in enumerate(ties):
        for name in tied:
            held[name].append(chr(ord("a") + k % 26) + (str(k // 26) if k >= 26 else ""))  # a to z, a1, b1, ...
    return {name: "".join(letters) for name, letters in held.items()}


def _cover(alike: Truths) -> list[list[int]]:
    """Maximal cliques that cover every tied pair; a representation without ties is a clique of its own."""
    missing = alike.copy()  # the diagonal ensures that representations without ties are covered
    found = []
    for start in range(len(alike)):
        while missing[start].any():
            first = int(np.flatnonzero(missing[start])[0])
            clique = _maximal_clique(sorted({start, first}), alike, missing)
            missing[np.ix_(clique, clique)] = False
            found.append(clique)
    return found


def _maximal_clique(clique: list[int], alike: Truths, missing: Truths) -> list[int]:
    """The clique extended until it is maximal, first by the members that cover the most uncovered pairs."""
    candidates = np.logical_and.reduce(alike[clique])
    candidates[clique] = False
    brought = missing[clique].sum(axis=0)
    while candidates.any():
        best = int(np.argmax(np.where(candidates, brought, -1)))
        clique = [*clique, best]
        candidates &= alike[best]
        candidates[best] = False
        brought = brought + missing[best]
    return sorted(clique)


def _needed_cliques(cliques: list[list[int]], alike: Truths) -> list[list[int]]:
    """The cliques without those whose pairs are all covered by other cliques."""
    times: Rows = np.zeros(alike.shape, dtype=np.intp)
    for clique in cliques:
        times[np.ix_(clique, clique)] += 1
    kept = []
    for clique in cliques:
        block = np.ix_(clique, clique)
        if (times[block] > 1).all():
            times[block] -= 1
        else:
            kept.append(clique)
    return kept


@dataclass(frozen=True)
class Difference:
    """Difference of the scores of two representations, as they are shown: first minus second.

    ``lower`` and ``upper`` are its interval at the level of the comparison, for this pair alone; ``p_value`` is
    corrected by Holm for the number of pairs.
    """

    first: str
    second: str
    difference: float
    standard_error: float
    lower: float
    upper: float
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """Representations from best to worst, and which of them differ significantly.

    Attributes
    ----------
    metric : str
        Name of the metric.
    level : float
        Confidence level: the probability that no two equal representations are found to differ.
    n_units : int
        Number of rows, or of row groups.
    scores : dict of name to float
        Scores as they are shown, clipped to the bounds of the metric, best first.
    differences : tuple of `Difference`
        Every pair, the better one first.
    ties : tuple of tuples of str
        Maximal sets of representations that do not differ significantly, best first. A representation may be in several
        sets, and every pair that does not differ significantly is in at least one.
    letters : dict of name to str
        The ties as letters: representations that share a letter do not differ significantly.
    notes, reason
        Caveats; and why there is no comparison, or None if there is one.
    """

    metric: str
    level: float
    n_units: int = 0
    scores: dict[str, float] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    ties: tuple[tuple[str, ...], ...] = ()
    letters: dict[str, str] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()
    reason: Finding | None = None

    def _repr_html_(self) -> str:
        from unweave.report.notebook import comparison_view  # late: report is above trust

        return comparison_view(self)

    @property
    def apart(self) -> tuple[Difference, ...]:
        """The significant differences; of each, ``first`` is the better one."""
        return tuple(each for each in self.differences if each.p_value <= 1 - self.level)

    @checks_options
    def between(self, first: str, second: str) -> Difference:
        """The difference of these two representations, given in any order; the better one comes first in the result."""
        for found in self.differences:
            if {found.first, found.second} == {first, second}:
                return found
        names = ", ".join(self.scores)
        raise OptionError(f"{first!r} and {second!r} were not compared: choose two of {names}.")


def never_below(comparison: Comparison | None, doubted: Collection[str] = ()) -> tuple[str, ...]:
    """Names that are not significantly below any other, if some differ; without doubted names.

    >>> pairs = [Difference("a", "b", 0.1, 0.1, -0.1, 0.3, 0.5), Difference("b", "c", 0.3, 0.1, 0.1, 0.5, 0.01)]
    >>> never_below(Comparison("mcc", 0.95, scores={"a": 0.9, "b": 0.8, "c": 0.5}, differences=tuple(pairs)))
    ('a', 'b')
    """
    if comparison is None or not comparison.apart:
        return ()
    below = {each.second for each in comparison.apart}
    return tuple(name for name in comparison.scores if name not in below and name not in doubted)


@checks_options
def compared(
    metric: Choice,
    evidences: Mapping[str, Evidence],
    *,
    level: float = 0.95,
    n_parts: int = N_PARTS,
    seed: int = 0,
    n_jobs: int = 1,
) -> Comparison:
    """Compare representations of the same samples by one metric.

    Parameters
    ----------
    metric : metric or ``functools.partial`` of one
        The metric to compare by.
    evidences : mapping of name to Evidence
        The same samples in the same order, with the same row groups.
    level, n_parts, seed, n_jobs
        As for `intervals`.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> rng = np.random.default_rng(1)
    >>> factors, noise, other = rng.normal(size=(3, 300, 2))
    >>> codes = {"noisy": factors + noise, "clean": factors + 0.2 * noise, "alike": factors + 0.2 * other}
    >>> compared(mcc, {name: Evidence(factors, code) for name, code in codes.items()}).letters
    {'alike': 'a', 'clean': 'a', 'noisy': 'b'}
    """
    check_level(level)
    if len(evidences) < 2:
        raise InputError("A comparison needs at least two representations: pass a mapping from names to evidence.")
    _refuse_other_samples(evidences)
    label = card_of(metric).name
    found = {
        name: part_scores({label: metric}, evidence, n_parts=n_parts, seed=seed, n_jobs=n_jobs)[label]
        for name, evidence in evidences.items()
    }
    return comparison_of_parts(label, found, level)


def comparison_of_parts(metric: str, found: Mapping[str, PartScores | Finding], level: float) -> Comparison:
    """Comparison by the metric of this name, from its scores of the same parts of every representation.

    Parameters
    ----------
    metric : str
        Name of the metric.
    found : mapping of name to PartScores, or to the reason why there are none
        Result of `part_scores` for each representation, with the same seed and the same samples.
    level : float
        As for `compared`.
    """
    scored = {name: parts for name, parts in found.items() if isinstance(parts, PartScores)}
    reason = next((parts for parts in found.values() if isinstance(parts, Finding)), None)
    if reason:
        return Comparison(metric, level, reason=reason)
    undefined = [name for name, parts in scored.items() if np.isnan([parts.score.raw, *parts.raw]).any()]
    if undefined:
        reason = Finding("comparison_undefined", metric=metric, representation=undefined[0])
        return Comparison(metric, level, reason=reason)
    fewest = min(scored.values(), key=lambda parts: len(parts.raw))
    order = sorted(scored, key=lambda name: scored[name].score.value, reverse=not fewest.score.lower_is_better)
    differences = _differences(order, scored, fewest, level)
    told_apart = {frozenset((pair.first, pair.second)) for pair in differences if pair.p_value <= 1 - level}
    ties = sets_of_ties(order, told_apart)
    return Comparison(
        metric=metric,
        level=level,
        n_units=fewest.plan.n_units,
        scores={name: scored[name].score.value for name in order},
        differences=differences,
        ties=ties,
        letters=letters_of(order, ties),
        notes=fewest.notes,
    )


def _refuse_other_samples(evidences: Mapping[str, Evidence]) -> None:
    first = next(iter(evidences.values()))
    for name, evidence in evidences.items():
        pairs = [
            (evidence.factors, first.factors),
            (evidence.kept_rows, first.kept_rows),
            (_unit_of_row(evidence), _unit_of_row(first)),
        ]
        if not all(np.array_equal(here, there) for here, there in pairs):
            raise InputError(
                f"{name!r} and {next(iter(evidences))!r} do not have the same samples: pass the same factors and row "
                "groups in the same order."
            )


def _unit_of_row(evidence: Evidence) -> Rows:
    return np.arange(evidence.n_rows) if evidence.row_groups is None else evidence.row_groups


def _differences(
    order: list[str], scored: Mapping[str, PartScores], fewest: PartScores, level: float
) -> tuple[Difference, ...]:
    """The differences of every pair, on the parts on which all representations were scored."""
    plan, n_done = fewest.plan, len(fewest.raw)
    pairs = list(itertools.combinations(order, 2))
    first, second = np.triu_indices(len(order), 1)
    scores = np.array([scored[name].score.value for name in order])
    of_parts = np.array([np.clip(scored[name].raw[:n_done], *scored[name].score.bounds) for name in order])
    gaps = scores[first] - scores[second]
    errors = np.sqrt(plan.factor * np.var(of_parts[first] - of_parts[second], axis=1, ddof=1))
    freedom = min(n_done, plan.n_units) - 1
    p_values = corrected(_two_sided(gaps, errors, freedom), "holm")
    reach = plan.quantile(level, n_done)
    return tuple(
        Difference(*pair, gap, error, gap - reach * error, gap + reach * error, p_value)
        for pair, gap, error, p_value in zip(pairs, gaps.tolist(), errors.tolist(), p_values.tolist(), strict=True)
    )


def _two_sided(gaps: FloatArray, errors: FloatArray, freedom: int) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):  # differences with a standard error of 0 are handled below
        p_values = 2 * student.sf(np.abs(gaps) / errors, freedom)
    p_values[errors == 0] = 0.0
    p_values[np.abs(gaps) <= 1e-12 * np.maximum(1.0, errors)] = 1.0
    return p_values
