"""Concepts of sparse autoencoders: single codes, sparse probes, splitting, usage and matching of dictionaries."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.card import Count, Metric, Seed, metric, seed_from
from unweave.errors import InputError, OptionError
from unweave.estimators.correlation import best_matching
from unweave.estimators.independence import upper_tail
from unweave.estimators.sparse import SparseColumns, sparse_ranks
from unweave.evidence import Evidence, FactorKind
from unweave.evidence.splits import shuffled_rows, train_and_test_rows
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.screening import ScreenedCodes, concepts_and_codes, screened_codes
from unweave.randomness import random_stream
from unweave.score import Score

DENSE = 0.5


@dataclass(frozen=True)
class CodeUsage:
    """Share of samples on which each code is active (not zero), and indices of codes that are dead, dense or always on.

    ``active_per_row`` is the mean number of active codes per sample, known as L0.
    """

    density: FloatArray
    active_per_row: float
    dead: NDArray[np.intp]
    dense: NDArray[np.intp]
    always_on: NDArray[np.intp]


def code_usage(codes: object) -> CodeUsage:
    """Density of every code, and the codes that are dead, dense (active on more than half of the samples) or always on.

    Examples
    --------
    >>> found = code_usage([[0.0, 1.0, 0.0], [0.0, 2.0, 3.0]])
    >>> found.dead.tolist(), found.always_on.tolist(), found.active_per_row
    ([0], [1], 1.5)
    """
    evidence = codes if isinstance(codes, Evidence) else Evidence(None, codes)
    sparse = evidence.sparse_codes
    counts = (evidence.codes != 0).sum(axis=0) if sparse is None else sparse.n_entries
    density = counts / evidence.n_rows
    return CodeUsage(
        density=density,
        active_per_row=float(counts.sum() / evidence.n_rows),
        dead=np.flatnonzero(counts == 0),
        dense=np.flatnonzero(density > DENSE),
        always_on=np.flatnonzero(counts == evidence.n_rows),
    )


COLUMNS_IN_BLOCK = 2048


@dataclass(frozen=True)
class DictionaryMatching:
    """Pairs of columns and their cosines; ``chance`` is the largest cosine expected between random directions."""

    mean_cosine: float
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    cosines: FloatArray
    chance: float


def dictionary_matching(
    first: object, second: object, *, matching: Literal["exact", "fast"] = "exact", signed: bool = True
) -> DictionaryMatching:
    """Mean cosine of the matched columns of two decoders (dimensions x columns).

    Parameters
    ----------
    first, second : arrays, D x k and D x l
        The decoders: one column for each code.
    matching : {'exact', 'fast'}
        'exact' computes the optimal assignment. 'fast' matches greedily in rounds: every unmatched column proposes to
        its nearest unmatched partner, and each partner accepts the nearest proposal. The fast matching only holds
        blocks of the matrix of cosines in memory, and its mean cosine never exceeds the exact one.
    signed : bool
        Whether opposite directions count as different (cosine -1) or equal (cosine 1).

    Examples
    --------
    >>> directions = np.random.default_rng(0).normal(size=(64, 8))
    >>> found = dictionary_matching(directions, directions[:, ::-1] * 2)
    >>> round(found.mean_cosine, 6), found.second.tolist()
    (1.0, [7, 6, 5, 4, 3, 2, 1, 0])
    """
    a, b = (_unit_columns(given, what) for given, what in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise InputError(
            f"The dictionaries have {len(a)} and {len(b)} dimensions: pass decoders of the same space, one column for "
            "each code."
        )
    if matching == "exact":
        cosines = a.T @ b if signed else np.abs(a.T @ b)
        pairs = best_matching(cosines)
        taken = cosines[pairs]
    elif matching == "fast":
        pairs, taken = _in_rounds(a, b, signed)
    else:
        raise OptionError(f"matching={matching!r} is not known: use 'exact' or 'fast'.")
    order = np.argsort(pairs[0])
    chance = np.sqrt(2 * np.log(max(b.shape[1], 2)) / len(a))
    return DictionaryMatching(
        float(taken.mean()), pairs[0][order], pairs[1][order], taken[order], float(min(chance, 1.0))
    )


def _unit_columns(given: object, what: str) -> FloatArray:
    try:
        raw = np.asarray(given)
        array = raw.astype(np.float64, casting="same_kind" if raw.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise InputError(f"The {what} dictionary is not a table of numbers: pass dimensions x columns.") from None
    if array.ndim != 2 or not array.size:
        raise InputError(f"The {what} dictionary has shape {array.shape}: pass dimensions x columns.")
    norms = np.linalg.norm(array, axis=0)
    if not np.isfinite(norms).all() or (norms == 0).any():
        bad = int(np.flatnonzero(~np.isfinite(norms) | (norms == 0))[0])
        raise InputError(f"Column {bad} of the {what} dictionary is zero or not finite: leave it out.")
    return np.asarray(array / norms)


def _in_rounds(
    a: FloatArray, b: FloatArray, signed: bool
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], FloatArray]:
    """Greedy matching in rounds, as described for ``matching='fast'``: the pairs and their cosines."""
    free_a, free_b = np.arange(a.shape[1]), np.arange(b.shape[1])
    pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    cosines: list[FloatArray] = []
    while free_a.size and free_b.size:
        best, value = np.empty(free_a.size, dtype=np.intp), np.empty(free_a.size)
        for start in range(0, free_a.size, COLUMNS_IN_BLOCK):
            block = slice(start, start + COLUMNS_IN_BLOCK)
            products = a[:, free_a[block]].T @ b[:, free_b]
            products = products if signed else np.abs(products)
            best[block] = products.argmax(axis=1)
            value[block] = products.max(axis=1)
        order = np.argsort(-value, kind="stable")
        _, winners = np.unique(best[order], return_index=True)  # the nearest proposal to every partner
        winners = order[winners]
        pairs.append((free_a[winners], free_b[best[winners]]))
        cosines.append(value[winners])
        free_b = np.delete(free_b, best[winners])
        free_a = np.delete(free_a, winners)
    found = (np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs]))
    return found, np.concatenate(cosines)


CELLS_IN_BLOCK = 1 << 22


@dataclass(frozen=True)
class SingleCodes:
    """The best code of every concept by each measure, and its score; ``prevalence`` is the AP of random codes.

    A code may also detect a concept by its absence: the sign of a measure is then -1, and the score is that of the
    negated code. Codes with equal scores are ordered by the other two measures, and ``f1_ties`` is the number of codes
    that share the largest F1. A single random code has an expected AUROC of 1/2, and the best of many random codes has
    a higher one: ``auroc_of_chance`` approximates the expected maximum over m independent codes with both signs.
    """

    concepts: tuple[str, ...]
    auroc: FloatArray
    auroc_code: NDArray[np.intp]
    average_precision: FloatArray
    average_precision_code: NDArray[np.intp]
    f1: FloatArray
    f1_code: NDArray[np.intp]
    prevalence: FloatArray
    auroc_of_chance: FloatArray
    auroc_sign: NDArray[np.intp]
    average_precision_sign: NDArray[np.intp]
    f1_sign: NDArray[np.intp]
    f1_ties: NDArray[np.intp]


def single_codes(concepts: object, codes: object = None) -> SingleCodes:
    """AUROC, average precision and F1 of the code that detects each concept best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(200) < 0.2
    >>> found = single_codes({"red": red.astype(int)}, np.column_stack([rng.normal(size=200), 3.0 * red]))
    >>> found.auroc.tolist(), found.auroc_code.tolist(), found.f1.tolist()
    ([1.0], [1], [1.0])
    """
    present, names, columns = concepts_and_codes(concepts, codes)
    n, n_present = len(present), present.sum(axis=0)
    areas = auroc_matrix(present, columns)
    negated = replace(columns, values=-columns.values)
    matrices = np.stack(  # measures x codes, then negated codes x concepts
        [
            np.concatenate([areas, 1 - areas]),
            *map(np.concatenate, zip(*(_precision_and_f1(present, part) for part in (columns, negated)), strict=True)),
        ]
    )
    places, n_codes = np.arange(len(names)), columns.shape[1]
    best = [
        np.lexsort((-matrices[k - 1].round(12), -matrices[k - 2].round(12), -matrices[k].round(12)), axis=0)[0]
        for k in range(3)
    ]
    (areas, precision, f1), signs = matrices, [np.where(codes < n_codes, 1, -1) for codes in best]
    most = np.maximum(f1[:n_codes], f1[n_codes:])
    # the AUROC of an independent code is asymptotically normal with mean .5; the maximum over m codes and two signs is
    # about sqrt(2 log 2 m) standard deviations above the mean
    spread = np.sqrt((n + 1) / (12 * n_present * (n - n_present)))
    chance = 0.5 + spread * np.sqrt(2 * np.log(2 * n_codes))
    return SingleCodes(
        concepts=names,
        auroc=areas[best[0], places],
        auroc_code=best[0] % n_codes,
        average_precision=precision[best[1], places],
        average_precision_code=best[1] % n_codes,
        f1=f1[best[2], places],
        f1_code=best[2] % n_codes,
        prevalence=n_present / n,
        auroc_of_chance=np.minimum(chance, 1.0),
        auroc_sign=signs[0],
        average_precision_sign=signs[1],
        f1_sign=signs[2],
        f1_ties=(most >= most.max(axis=0) - 1e-12).sum(axis=0),
    )


def auroc_matrix(present: FloatArray, columns: SparseColumns) -> FloatArray:
    """AUROC of every code (rows) for every concept (columns); ties count one half."""
    n, n_present = len(present), present.sum(axis=0)
    found = np.empty((columns.shape[1], present.shape[1]))
    for block in columns.blocks():
        ranks = sparse_ranks(columns.columns(block))
        sums = ranks.above_zeros.products(present) + ranks.of_zeros[:, None] * n_present
        found[block] = (sums - n_present * (n_present + 1) / 2) / (n_present * (n - n_present))
    return found


def _precision_and_f1(present: FloatArray, columns: SparseColumns) -> tuple[FloatArray, FloatArray]:
    """Average precision and largest F1 of every code for every concept."""
    precision, f1 = np.empty((2, columns.shape[1], present.shape[1]))
    for block in columns.blocks(max(CELLS_IN_BLOCK // present.shape[1], 1)):
        precision[block], f1[block] = _of_block(present, columns.columns(block))
    return precision, f1


def _of_block(present: FloatArray, part: SparseColumns) -> tuple[FloatArray, FloatArray]:
    n_columns, n_present = part.shape[1], present.sum(axis=0)
    # all zeros of a column are one additional entry, with a size and a number of present samples
    column = np.r_[part.column_of_entry, np.arange(n_columns)]
    value = np.r_[part.values, np.zeros(n_columns)]
    size = np.r_[np.ones(part.values.size), part.n_zeros]
    hits = np.concatenate([present[part.rows], np.zeros((n_columns, present.shape[1]))])
    hits[part.values.size :] = n_present - part.products_with_ones(present)
    order = np.lexsort((-value, column))
    column, value, size, hits = column[order], value[order], size[order], hits[order]
    starts = part.starts[:-1] + np.arange(n_columns)  # every column has one additional entry, for its zeros
    reached = np.cumsum(size) - np.repeat((np.cumsum(size) - size)[starts], np.diff(np.r_[starts, size.size]))
    found = np.cumsum(hits, axis=0)
    found -= np.repeat((found - hits)[starts], np.diff(np.r_[starts, size.size]), axis=0)
    last = np.r_[(value[1:] != value[:-1]) | (column[1:] != column[:-1]), True]  # last of equal values
    found, reached, column = found[last], reached[last], column[last]
    first = np.r_[True, column[1:] != column[:-1]]
    gained = found - np.where(first[:, None], 0.0, np.vstack([np.zeros(found.shape[1]), found[:-1]]))
    share = np.divide(found, reached[:, None], out=np.zeros_like(found), where=reached[:, None] > 0)
    begins = np.flatnonzero(first)
    precision = np.add.reduceat(gained * share, begins, axis=0) / n_present
    f1 = np.maximum.reduceat(2 * found / (reached[:, None] + n_present), begins, axis=0)
    return precision, f1


@dataclass(frozen=True)
class SparseProbes:
    """Held-out AUROC for every number k of codes and every concept (len(k) x d), and the codes used (d x max k).

    The codes of a concept are sorted from the most to the least different between present and absent samples.
    """

    concepts: tuple[str, ...]
    k: tuple[int, ...]
    auroc: FloatArray
    codes: NDArray[np.intp]


def k_sparse_probing(
    concepts: object, codes: object = None, *, k: Sequence[int] = (1, 2, 5, 16), test_share: float = 0.3, seed: int = 0
) -> SparseProbes:
    """Held-out AUROC of logistic probes on the best 1, 2, 5 and 16 codes of every concept; random codes score 1/2.

    Row groups of an `Evidence` are held out as a whole.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(400) < 0.3
    >>> codes = np.column_stack([2.0 * red, rng.normal(size=(400, 3))])
    >>> k_sparse_probing({"red": red.astype(int)}, codes, k=(1, 2)).auroc.round(2).tolist()
    [[1.0], [1.0]]
    """
    from sklearn.linear_model import LogisticRegression

    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    present, names, columns = concepts_and_codes(evidence)
    if not k or not all(isinstance(size, Integral) and size >= 1 for size in k):
        raise OptionError(f"k={tuple(k)} are not numbers of codes: use whole numbers from 1.")
    train, test = train_and_test_rows(len(present), evidence.row_groups, test_share, seed, list(present.T))
    train, test = np.sort(train), np.sort(test)
    most = min(max(k), columns.shape[1])
    chosen = _most_different(present[train], columns.some_rows(train), most)
    areas = np.full((len(k), len(names)), np.nan)
    for j in range(len(names)):
        dense = columns.chosen(chosen[j]).dense(slice(0, most))
        labels = present[:, j]
        if np.ptp(labels[train]) == 0 or np.ptp(labels[test]) == 0:
            continue  # a rare concept may be absent from the training or the test rows
        scale = dense[train].std(axis=0)
        scaled = dense / np.where(scale > 0, scale, 1.0)
        for i, size in enumerate(k):
            probe = LogisticRegression(max_iter=300).fit(scaled[train, :size], labels[train])
            areas[i, j] = _auroc(labels[test], probe.decision_function(scaled[test, :size]))
    return SparseProbes(names, tuple(k), areas, chosen)


def _most_different(present: FloatArray, columns: SparseColumns, most: int) -> NDArray[np.intp]:
    """Codes with the largest standardised mean difference between present and absent samples, sorted (d x most)."""
    n, n_present = len(present), np.maximum(present.sum(axis=0), 1)
    totals, squares = columns.sums(columns.values), columns.sums(np.square(columns.values))
    with_concept = columns.products(present)
    difference = with_concept / n_present - (totals[:, None] - with_concept) / np.maximum(n - n_present, 1)
    spread = np.sqrt(np.maximum(squares / n - np.square(totals / n), 0.0))
    size = np.divide(np.abs(difference), spread[:, None], out=np.zeros_like(difference), where=spread[:, None] > 0)
    return np.argsort(-size, axis=0, kind="stable")[:most].T


def _auroc(labels: FloatArray, scores: FloatArray) -> float:
    rows: Rows = np.arange(labels.size)
    column = SparseColumns(labels.size, scores, rows, np.array([0, labels.size]))
    return float(auroc_matrix(labels[:, None], column)[0, 0])


BY_LUCK = 0.05

N_GROUP_ORDERS = 39  # permutations of whole row groups: one of 40 equally likely orders is the luckiest

PRECISE = 0.9

COVERING = 0.9

MAIN = 2 / 3


@dataclass(frozen=True)
class SplitConcepts:
    """For every concept, the number of specific codes, whether it is split, and how many codes absorb part of it.

    ``specific`` is the number of codes that are active almost only on the concept, more often than the luckiest of as
    many unrelated codes (Fisher's test, corrected for their number, at 5 %; with row groups also than the luckiest code
    in 39 permutations of whole groups). ``main`` is the one of them that covers most of it (-1 if there is none),
    ``coverage`` is the share of the concept's samples that it covers, and ``together`` is the share that all specific
    codes cover. ``absorbing`` is the number of absorbing codes.
    """

    concepts: tuple[str, ...]
    specific: NDArray[np.intp]
    main: NDArray[np.intp]
    coverage: NDArray[np.float64]
    together: NDArray[np.float64]
    absorbing: NDArray[np.intp]

    @property
    def split(self) -> NDArray[np.bool_]:
        """True for concepts that are split over several specific codes.

        The main code covers less than two thirds of the concept's samples, and all specific codes together cover more
        than the main code does.
        """
        return (self.specific > 1) & (self.coverage < MAIN) & (self.together > self.coverage)

    @property
    def absorbed(self) -> NDArray[np.bool_]:
        """True for concepts whose main code covers two thirds or more, while other specific codes cover the rest."""
        return self.absorbing > 0

    @property
    def n_split(self) -> int:
        """Number of concepts that are split."""
        return int(self.split.sum())

    @property
    def n_absorbed(self) -> int:
        """Number of concepts that are absorbed."""
        return int(self.absorbed.sum())


def split_concepts(concepts: object, codes: object = None, *, fewest: int = 5) -> SplitConcepts:
    """Find the concepts that are split over several codes, and those that other codes absorb in part.

    Parameters
    ----------
    concepts, codes : tables of the same samples
        Concepts have two values. A code is active on a sample if its value is not zero.
    fewest : int
        Smallest number of active samples for which a code can be specific or absorbing.

    Examples
    --------
    >>> animal = np.repeat([1, 0], 100)
    >>> halves = np.zeros((200, 2))
    >>> halves[:50, 0], halves[50:100, 1] = 1.0, 1.0
    >>> found = split_concepts({"animal": animal}, halves)
    >>> found.n_split, found.n_absorbed, found.specific.tolist()
    (1, 0, [2])
    """
    evidence = concepts if isinstance(concepts, Evidence) else Evidence(concepts, codes)
    present, names, columns = concepts_and_codes(evidence)
    hits, n_present = columns.products_with_ones(present), present.sum(axis=0)
    by_luck = _by_luck(present, columns, hits, fewest)
    specific = by_luck <= BY_LUCK / columns.shape[1]
    if evidence.row_groups is not None and specific.any():
        # rows of a group are not independent, so that the tail of Fisher's test is too small
        for k in range(N_GROUP_ORDERS):
            rng = random_stream(0, "orders of groups of concepts", k)
            null = present[shuffled_rows(len(present), evidence.row_groups, rng)]
            luckiest = _by_luck(null, columns, columns.products_with_ones(null), fewest).min(axis=0)
            specific &= by_luck < luckiest
    counts, main, absorbing = (np.zeros(len(names), dtype=np.intp) for _ in range(3))
    coverage, together = np.zeros(len(names)), np.zeros(len(names))
    for j in range(len(names)):
        own = np.flatnonzero(specific[:, j])
        counts[j], main[j] = own.size, -1
        if not own.size:
            continue
        best = own[hits[own, j].argmax()]
        main[j], coverage[j] = best, hits[best, j] / n_present[j]
        covered = np.unique(columns.chosen(own).rows)
        together[j] = present[covered, j].sum() / n_present[j]
        if MAIN <= coverage[j] < 1:
            absorbing[j] = _n_absorbing(columns, own, int(best), present[:, j] > 0, fewest)
    return SplitConcepts(names, counts, main, coverage, together, absorbing)


def _by_luck(present: FloatArray, columns: SparseColumns, hits: FloatArray, fewest: int) -> FloatArray:
    """p-value of Fisher's test of every code that is precise enough to be specific to a concept; 1 for all others."""
    size, n_present = columns.n_entries, present.sum(axis=0)
    precision, base = hits / np.maximum(size, 1)[:, None], n_present / len(present)
    pairs = np.nonzero((precision >= np.maximum(PRECISE, (1 + base) / 2)) & (size >= fewest)[:, None])
    found = np.ones_like(precision)
    found[pairs] = upper_tail(hits[pairs], len(present), n_present[pairs[1]], size[pairs[0]])
    return found


def _n_absorbing(
    columns: SparseColumns, own: NDArray[np.intp], main: int, present: NDArray[np.bool_], fewest: int
) -> int:
    """Number of specific codes that are active mostly where the main code is inactive and the concept is present."""
    silent = present.copy()
    silent[columns.rows[columns.starts[main] : columns.starts[main + 1]]] = False
    n_absorbing = 0
    for code in own[own != main].tolist():
        rows = columns.rows[columns.starts[code] : columns.starts[code + 1]]
        n_absorbing += int(silent[rows].sum() >= max(fewest, COVERING * rows.size))
    return n_absorbing


@memoised(on="both")
def _single(evidence: Evidence) -> SingleCodes:
    return single_codes(evidence)


@memoised(on="both")
def _split(evidence: Evidence) -> SplitConcepts:
    return split_concepts(evidence)


def _mean_of(concepts: tuple[str, ...], values: NDArray[Any]) -> Score:
    """The mean over the concepts, and the score of each; nan where no concept has a score."""
    known = values[~np.isnan(values)]
    raw = float(known.mean()) if known.size else float("nan")
    caveats = () if known.size else (Finding("concepts_too_rare"),)
    return Score(raw=raw, per_factor=dict(zip(concepts, values.tolist(), strict=True)), caveats=caveats)


# fields of the card that all measures of concepts have in common
concept_metric = functools.partial(
    metric,
    measures="compactness and explicitness",
    equivalence="permutation and scale",
    min_rows=10,
    factor_kinds=frozenset({FactorKind.CATEGORICAL, FactorKind.ORDINAL}),
    chance="by permutation",
    takes_sparse_codes=True,
    moves_at_200_rows=(0.0, 0.0, 0.0),
)

SAE_BENCH = "Karvonen et al. (2025), 'SAEBench: a comprehensive benchmark for sparse autoencoders'"

LUCKY = "there are many codes for the number of positive samples, because the best of many random codes scores high"


@concept_metric(
    cost="one sort of every code",
    fails_when=f"{LUCKY}, or concepts are common, because predicting them always then scores high",
    reference=SAE_BENCH,
)
def concept_f1(evidence: Evidence) -> Score:
    """Largest F1 of any single code and threshold for each concept, by presence or by absence; mean over concepts.

    1 means that every concept is detected without error by one code, which is high (or low) where the concept is
    present. Predicting the concept for every sample scores 2 p / (1 + p), with p its prevalence, and the best of many
    random codes scores more: read the noise floor. A factor with more than two classes is one concept for each class.

    Notes
    -----
    F1 of the best single code.

        F1 = mean over concepts of max over codes i, signs s and thresholds t of 2 P R / (P + R)

    with P and R the precision and the recall of s c_i >= t.

    Examples
    --------
    >>> red = np.arange(100) < 30
    >>> float(concept_f1({"red": red.astype(int)}, np.column_stack([np.ones(100), -2.0 * red]), kinds="categorical"))
    1.0
    """
    found = _single(evidence)
    return _mean_of(found.concepts, found.f1)


@concept_metric(
    cost="one sort of every code",
    fails_when=f"{LUCKY}, or concepts are rare, because a high AUROC then allows many false positives",
    reference=SAE_BENCH,
)
def concept_auroc(evidence: Evidence) -> Score:
    """Largest area under the ROC curve of any single code for each concept, by presence or absence; mean over concepts.

    1 means that one code is higher (or lower) on every sample with the concept than on every sample without it. One
    random code scores 1/2, and the best of many random codes more: read the noise floor.

    Notes
    -----
    AUROC of the best single code.

        AUROC = mean over concepts of max_i max(A_i, 1 - A_i)

    with A_i the probability that code i is higher on a sample with the concept than on one without; ties count 1/2.

    Examples
    --------
    >>> red = np.arange(100) < 30
    >>> float(concept_auroc({"red": red.astype(int)}, np.column_stack([np.ones(100), -2.0 * red]), kinds="categorical"))
    1.0
    """
    found = _single(evidence)
    return _mean_of(found.concepts, found.auroc)


@concept_metric(cost="one sort of every code", fails_when=LUCKY, reference=SAE_BENCH)
def concept_average_precision(evidence: Evidence) -> Score:
    """Largest average precision of any single code for each concept, by presence or by absence; mean over concepts.

    1 means that one code ranks every sample with the concept first (or last). One random code scores the prevalence of
    the concept, and the best of many random codes more: read the noise floor.

    Notes
    -----
    Average precision of the best single code.

        AP = mean over concepts of max over codes and signs of sum_k (R_k - R_k-1) P_k

    with P_k and R_k precision and recall at the k-th distinct value of the code, from the highest.

    Examples
    --------
    >>> red = (np.arange(100) < 30).astype(int)
    >>> float(concept_average_precision({"red": red}, np.column_stack([np.ones(100), red]), kinds="categorical"))
    1.0
    """
    found = _single(evidence)
    return _mean_of(found.concepts, found.average_precision)


@concept_metric(
    cost="one logistic regression for each concept",
    fails_when="a concept is rare, because it may be missing from the training or test rows; it is then left out",
    reference="Gurnee et al. (2023), 'Finding neurons in a haystack: case studies with sparse probing'",
    chance=0.5,
    order_tolerance=0.05,
    moves_at_200_rows=(0.12, 0.1, 0.0),
)
def concept_probe(evidence: Evidence, *, k: Count = 1, rng: Seed = 0) -> Score:
    """Held-out AUROC of a logistic probe on the k codes that differ most with a concept; mean over concepts.

    1 means that k codes separate held-out samples with and without the concept. Random codes score 1/2. Row groups are
    held out as a whole.

    Parameters
    ----------
    k : int
        Number of codes, chosen on the training rows by the standardised difference of their means.
    rng : int or Generator
        Seed of the split.

    Notes
    -----
    k-sparse probing.

        score = mean over concepts of the AUROC of w . c_S on held-out rows, |S| = k

    with S and w from the training rows.

    Examples
    --------
    >>> red = (np.random.default_rng(0).random(400) < 0.3).astype(int)
    >>> codes = np.column_stack([np.random.default_rng(1).normal(size=(400, 3)), 2.0 * red])
    >>> float(concept_probe({"red": red}, codes, kinds="categorical"))
    1.0
    """
    found = k_sparse_probing(evidence, k=(k,), seed=seed_from(rng))
    return _mean_of(found.concepts, found.auroc[0])


@concept_metric(
    measures="compactness",
    best=0.0,
    cost="one sparse matrix product",
    fails_when="codes are dense, because only codes that are 0 without the concept are specific to it",
    reference="Bricken et al. (2023), 'Towards monosemanticity'",
)
def concept_splitting(evidence: Evidence) -> Score:
    """Share of the concepts that are split over several specific codes.

    0 means that no concept is split. Random codes score about 0, because a code counts as specific only if it is active
    on the concept more often than the luckiest of as many random codes (at 5 %; with row groups, of permuted groups).

    Notes
    -----
    Feature splitting.

        score = share of concepts with two or more specific codes, of which none covers two thirds of the concept

    A code is specific if at least 90 % of the samples on which it is active have the concept.

    Examples
    --------
    >>> halves = np.zeros((200, 2))
    >>> halves[:50, 0], halves[50:100, 1] = 1.0, 1.0
    >>> float(concept_splitting({"animal": np.repeat([1, 0], 100)}, halves, kinds="categorical"))
    1.0
    """
    found = _split(evidence)
    return _mean_of(found.concepts, found.split.astype(np.float64))


@concept_metric(
    measures="compactness",
    best=0.0,
    cost="one sparse matrix product",
    fails_when="codes are dense, because only codes that are 0 without the concept are specific to it",
    reference="Chanin et al. (2024), 'A is for absorption: studying feature splitting and absorption'",
)
def concept_absorption(evidence: Evidence) -> Score:
    """Share of the concepts whose main code is silent on samples that another specific code covers.

    0 means that no concept is absorbed in part. Random codes score about 0 (see `concept_splitting`).

    Notes
    -----
    Feature absorption.

        score = share of concepts whose main code covers at least two thirds of it, while another specific code is
        active, on 90 % of its samples, where the main code is silent

    Examples
    --------
    >>> codes = np.zeros((200, 2))
    >>> codes[:80, 0], codes[80:100, 1] = 1.0, 1.0
    >>> float(concept_absorption({"animal": np.repeat([1, 0], 100)}, codes, kinds="categorical"))
    1.0
    """
    found = _split(evidence)
    return _mean_of(found.concepts, found.absorbed.astype(np.float64))


CONCEPT_METRICS: dict[str, Metric] = {
    entry.card.name: entry
    for entry in (
        concept_f1, concept_auroc, concept_average_precision, concept_probe, concept_splitting, concept_absorption
    )
}  # fmt: skip

__all__ = [
    "CONCEPT_METRICS",
    "CodeUsage",
    "DictionaryMatching",
    "ScreenedCodes",
    "SingleCodes",
    "SparseProbes",
    "SplitConcepts",
    "code_usage",
    "concept_absorption",
    "concept_auroc",
    "concept_average_precision",
    "concept_f1",
    "concept_probe",
    "concept_splitting",
    "dictionary_matching",
    "k_sparse_probing",
    "screened_codes",
    "single_codes",
    "split_concepts",
]
