"""The BetaVAE score, the FactorVAE score and its relevance variant: which factor was held fixed?"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import Batches, Count, Seed, Several, metric, seed_from
from unweave.errors import InputError
from unweave.estimators.correlation import ranks
from unweave.estimators.counts import Binning, binned, levels
from unweave.estimators.logistic import Classifier, Logistic
from unweave.evidence import Evidence
from unweave.evidence.columns import copied
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import FACTORS_HELD_ALONE, VOTES, live_points, varying
from unweave.randomness import random_stream
from unweave.score import Score

Scale = Literal["ranks", "values"]
FREE_DRAWS = 10_000


def intervenes(evidence: Evidence) -> bool:
    """Whether the evidence has a sampler, from which batches are then drawn."""
    return evidence.sampler is not None


def drawn_codes(evidence: Evidence, fixed: dict[str, float], n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Non-constant codes of new samples in which these factors are held fixed (n_rows x live codes)."""
    assert evidence.sampler is not None
    codes = np.asarray(evidence.sampler(fixed, n_rows, rng)[1], dtype=np.float64)
    if codes.shape != (n_rows, evidence.n_codes):
        raise InputError(
            f"The sampler returned codes of shape {codes.shape} for {n_rows} rows and {evidence.n_codes} codes: "
            "let it return factors and codes with the requested number of rows."
        )
    if not np.isfinite(codes).all():
        raise InputError("The sampler returned codes that are nan or infinite: let it return finite values.")
    return np.ascontiguousarray(codes[:, live_points(evidence)])


def comparable_codes(evidence: Evidence, scale: Scale) -> FloatArray:
    """Non-constant codes with no factor held fixed, as values or ranks: those of the rows, or drawn by the sampler."""
    return _drawn_freely(evidence, scale) if intervenes(evidence) else _of_rows(evidence, scale)


def codes_on_scale(evidence: Evidence, codes: FloatArray, scale: Scale) -> FloatArray:
    """Non-constant codes on the scale: their values, or their ranks (0 to 1) among codes with no factor held fixed."""
    return codes if scale == "values" else _ranked(codes, _ascending(evidence))


@memoised(on="both")
def _ascending(evidence: Evidence) -> FloatArray:
    """Sorted values of every non-constant code, with no factor held fixed."""
    return np.asarray(np.sort(comparable_codes(evidence, "values"), axis=0).T, order="C")


@memoised(on="codes")
def _of_rows(evidence: Evidence, scale: Scale) -> FloatArray:
    codes, live = evidence.stored_codes, live_points(evidence)
    return _on_scale(codes if live.all() else codes[:, live], scale)


@memoised(on="both")
def _drawn_freely(evidence: Evidence, scale: Scale) -> FloatArray:
    return _on_scale(_free_draw(evidence), scale)


@memoised(on="both")
def _free_draw(evidence: Evidence) -> FloatArray:
    """Codes drawn with no factor held fixed; both scales share the draw, because a sampler may be slow."""
    return drawn_codes(evidence, {}, FREE_DRAWS, random_stream(0, "samples with no factor fixed"))


def _on_scale(codes: FloatArray, scale: Scale) -> FloatArray:
    """Codes on the scale, row by row, because batches are drawn as rows."""
    if scale == "ranks":
        places = np.empty(codes.shape[::-1])
        for i, column in enumerate(codes.T):
            places[i] = (2 * ranks(column) - 1) / (2 * column.size)  # as in `_ranked`
        codes = places.T
    return codes if codes.flags.c_contiguous and codes.dtype == np.float64 else copied(codes, "C")


def _ranked(codes: FloatArray, ascending: FloatArray) -> FloatArray:
    """Ranks of codes (rows x codes) among sorted values (codes x values), from 0 to 1; ties share the mean rank."""
    places = np.empty(codes.shape)
    for i, values in enumerate(ascending):
        below, upto = np.searchsorted(values, codes[:, i], "left"), np.searchsorted(values, codes[:, i], "right")
        places[:, i] = (below + upto) / (2 * values.size)
    return places


FEWEST_ROWS = 4
FEW_ROWS = 20
MOST_VALUES = 100

MOST_LABELS = 2**16  # of combinations of held factors, for which counts are kept


@dataclass(frozen=True)
class Plan:
    """Number and size of the batches, number of bins of the factors, and scale of the codes.

    ``merge`` also bins the levels of ordinal factors, which is needed if many factors are held fixed at once.
    """

    n_batches: int
    batch_size: int
    bins: int
    scale: Scale
    merge: bool = False


def cells(
    evidence: Evidence,
    held: tuple[int, ...],
    rows: Rows,
    bins: int,
    merge: bool = False,
    binning: Binning = "equal_mass",
    fewest: int = FEWEST_ROWS,
) -> list[Rows]:
    """Cells of rows that share the values or bins of the held factors; cells below ``fewest`` rows are left out."""
    columns = [_labels(evidence, j, bins, binning, merge)[0][rows] for j in held]
    label: NDArray[Any] = columns[0] if len(columns) == 1 else np.zeros(rows.size, dtype=np.intp)
    for labels in columns if len(columns) > 1 else ():
        label = label * (int(labels.max()) + 1) + labels
        if label.max() < MOST_LABELS:
            label = (np.cumsum(np.bincount(label) > 0) - 1)[label]
        else:
            label = np.unique(label, return_inverse=True)[1]
    # few labels are sorted by their digits, which takes a tenth of the time
    order = np.argsort(label.astype(np.min_scalar_type(int(label.max(initial=0)))), kind="stable")
    members = np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)
    return [cell for cell in members if cell.size >= fewest]


@memoised(on="factors", by_row=True)
def _labels(evidence: Evidence, j: int, bins: int, binning: Binning, merge: bool) -> tuple[Labels, ...]:
    kind, column = evidence.kinds[j], evidence.factors[:, j]
    is_counted = kind.is_categorical if merge else kind.has_classes
    return (levels(column) if is_counted else binned(column, bins, binning),)


@memoised(on="both")
def half_cells(evidence: Evidence, held: tuple[int, ...], half: int, bins: int, merge: bool, seed: int) -> list[Rows]:
    """The cells of one half of the rows; groups of rows are not split."""
    return cells(evidence, held, _halves(evidence, seed)[half], bins, merge)


@memoised(on="both")
def _halves(evidence: Evidence, seed: int) -> tuple[Rows, ...]:
    return tuple(test for _, test in evidence.folds(2, seed))


def batches(evidence: Evidence, held: tuple[int, ...], plan: Plan, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """Yield a half, 0 or 1, and non-constant codes (batches x rows x codes) for each value of the held factors.

    The number of batches of a value is proportional to its frequency. The two halves share no row, no group of rows and
    no draw.
    """
    if intervenes(evidence):
        rng = random_stream(seed, "fixed values", *held)
        for codes, n_here in sampled(evidence, held, plan.n_batches, 2 * plan.batch_size, plan.scale, rng):
            yield from enumerate(codes.reshape(2, n_here, plan.batch_size, codes.shape[1]))
        return
    codes = comparable_codes(evidence, plan.scale)
    for half in (0, 1):
        rng = random_stream(seed, "batches", half, *held)
        members = half_cells(evidence, held, half, plan.bins, plan.merge, seed)
        for cell, n_here in zip(members, _shared_out(plan.n_batches, [cell.size for cell in members]), strict=True):
            if n_here:
                dealt = codes[_dealt(cell, n_here * plan.batch_size, plan.batch_size, rng)]
                yield half, dealt.reshape(n_here, plan.batch_size, codes.shape[1])


def sampled(
    evidence: Evidence, held: tuple[int, ...], n_batches: int, batch_size: int, scale: Scale, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, int]]:
    """Yield codes drawn with the factors held fixed, and the number of batches, for every value of `held_values`.

    The sampler is called once for every value.
    """
    for fixed, n_here in held_values(evidence, held, n_batches, rng):
        yield codes_on_scale(evidence, drawn_codes(evidence, fixed, n_here * batch_size, rng), scale), n_here


def held_values(
    evidence: Evidence, held: tuple[int, ...], n_batches: int, rng: np.random.Generator
) -> list[tuple[dict[str, float], int]]:
    """Up to 100 values of the held factors, and the number of batches of each.

    The values of a single factor are evenly spaced quantiles of its rows. The values of several factors are those of
    random rows.
    """
    n_values = min(n_batches, MOST_VALUES)
    order = (
        np.argsort(evidence.factors[:, held[0]], kind="stable") if len(held) == 1 else rng.permutation(evidence.n_rows)
    )
    rows = order[((np.arange(n_values) + 0.5) * evidence.n_rows / n_values).astype(np.intp)]
    values, which = np.unique(evidence.factors[rows][:, held], axis=0, return_inverse=True)
    shares = np.bincount(which.ravel(), weights=_shared_out(n_batches, [1] * n_values)).astype(int)
    names = [evidence.factor_names[j] for j in held]
    return [
        (dict(zip(names, value, strict=True)), n_here)
        for value, n_here in zip(values.tolist(), shares.tolist(), strict=True)
    ]


def sampler_calls(
    evidence: Evidence, held_of: Iterable[tuple[int, ...]], plan: Plan, seed: int, free: bool = True
) -> tuple[Finding, ...]:
    """A finding with the number of calls of the sampler for these batches, and of samples; empty without a sampler.

    ``free`` tells whether samples with no factor held fixed are drawn as well, which is one call.
    """
    if not intervenes(evidence):
        return ()
    calls = [
        len(held_values(evidence, held, plan.n_batches, random_stream(seed, "fixed values", *held))) for held in held_of
    ]
    n_samples = free * FREE_DRAWS + 2 * plan.n_batches * plan.batch_size * len(calls)
    return (Finding("sampler_asked", n_calls=free + sum(calls), n_samples=n_samples),)


def _shared_out(total: int, sizes: list[int]) -> list[int]:
    """Divide the total into integers that are proportional to the sizes."""
    ends = np.round(total * np.cumsum(sizes) / max(sum(sizes), 1))
    return [int(share) for share in np.diff(ends, prepend=0)]


def _dealt(cell: Rows, n_rows: int, batch_size: int, rng: np.random.Generator) -> Rows:
    """Draw ``n_rows`` rows of the cell from successive shuffles, so that rows repeat only after a whole shuffle."""
    usable = cell.size // batch_size * batch_size or cell.size  # whole batches only
    packs = rng.permuted(np.tile(cell, (-(-n_rows // usable), 1)), axis=1)[:, :usable]
    return packs.ravel()[:n_rows]


Held = dict[int, tuple[int, ...]]

# fields of the card that the scores with fixed factors have in common
held_factor_metric = functools.partial(
    metric,
    measures="modularity",
    equivalence="elementwise",
    min_rows=100,
    chance=0.0,
    assumes=(FACTORS_HELD_ALONE,),
    order_tolerance=0.05,
    undefined_with=("one factor",),
)


def holdable(evidence: Evidence, held_of: Held, plan: Plan, seeds: range) -> tuple[Held, tuple[Finding, ...]]:
    """The factors for which batches can be made, and caveats about all other factors and about cells with few rows."""
    if intervenes(evidence):
        return held_of, ()
    sizes = {
        j: [
            [cell.size for cell in half_cells(evidence, held, half, plan.bins, plan.merge, seed)]
            for seed in seeds
            for half in (0, 1)
        ]
        for j, held in held_of.items()
    }
    good = {j: held for j, held in held_of.items() if all(sizes[j])}
    caveats = []
    if len(good) < len(held_of):
        names = [evidence.factor_names[j] for j in held_of if j not in good]
        caveats.append(Finding("factors_not_held", factors=names))
    typical = [np.median(np.concatenate(sizes[j])) for j in good]
    if typical and min(typical) < FEW_ROWS:
        caveats.append(Finding("few_rows_per_value", n_rows=min(typical), effect="batches alike"))
    return good, tuple(caveats)


def one_held(evidence: Evidence) -> Held:
    """For every factor that varies, the factors to hold fixed: this one alone."""
    return {j: (j,) for j in np.flatnonzero(varying(evidence)).tolist()}


def all_others_held(evidence: Evidence) -> Held:
    """For every factor that varies, the factors to hold fixed: all others that vary."""
    used = np.flatnonzero(varying(evidence)).tolist()
    return {j: tuple(k for k in used if k != j) for j in used}


ONE_FACTOR = Finding("one_factor_to_tell")
NO_CODES = Finding("no_code_varies")


def vote_score(
    evidence: Evidence,
    held_of: Held,
    plan: Plan,
    winner: Literal["least", "most"],
    n_splits: int,
    rescale: bool,
    seed: int,
) -> Score:
    """Accuracy of the majority vote, learned on one half of the rows and tested on the other, over several splits."""
    n_splits = 1 if intervenes(evidence) else n_splits  # draws of a sampler are independent, so one split is enough
    held_of, caveats = holdable(evidence, held_of, plan, range(seed, seed + n_splits))
    if len(held_of) < 2 or not live_points(evidence).any():
        return Score(math.nan, caveats=(*caveats, ONE_FACTOR if len(held_of) < 2 else NO_CODES))
    if live_points(evidence).sum() == 1:
        caveats = (*caveats, Finding("one_code_wins"))
    overall = comparable_codes(evidence, plan.scale).var(axis=0) * plan.batch_size
    tables = np.stack([_votes(evidence, held_of, plan, winner, overall, seed + split) for split in range(n_splits)])
    right = np.mean([_majority_accuracy(*halves[::way]) for halves in tables for way in (1, -1)], axis=0)
    matrix = np.zeros((evidence.n_codes, evidence.n_factors))
    matrix[np.ix_(np.flatnonzero(live_points(evidence)), np.array(list(held_of)))] = tables.sum(axis=(0, 1))
    caveats = (*caveats, *sampler_calls(evidence, held_of.values(), plan, seed))
    return accuracy_score(evidence, held_of, right, rescale, caveats, {"vote_matrix": matrix})


def accuracy_score(
    evidence: Evidence,
    held_of: Held,
    right: FloatArray,
    rescale: bool,
    caveats: tuple[Finding, ...],
    parts: dict[str, FloatArray],
) -> Score:
    """Score from the accuracy for every factor in ``held_of``, rescaled so that guessing scores 0."""
    guessing = 1 / len(held_of)
    per_factor = np.full(evidence.n_factors, np.nan)
    per_factor[list(held_of)] = (right - guessing) / (1 - guessing) if rescale else right
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts=parts,
        matrices=(VOTES,) if VOTES.part in parts else (),
        caveats=caveats,
    )


def _votes(evidence: Evidence, held_of: Held, plan: Plan, winner: str, overall: FloatArray, seed: int) -> FloatArray:
    """How often every live code won in the batches of every factor (halves x live codes x factors).

    ``overall`` are the squared deviations of a batch that is no narrower than all rows.
    """
    votes = np.zeros((2, overall.size, len(held_of)))
    for column, held in enumerate(held_of.values()):
        for half, codes in batches(evidence, held, plan, seed):
            codes -= codes.mean(axis=1, keepdims=True)
            spread = np.einsum("blm,blm->bm", codes, codes) / overall
            winners = spread.argmin(axis=1) if winner == "least" else spread.argmax(axis=1)
            votes[half, :, column] += np.bincount(winners, minlength=overall.size)
    return votes


def _majority_accuracy(learned: FloatArray, tested: FloatArray) -> FloatArray:
    """Accuracy for every factor; the vote of a code that never won in training counts as wrong."""
    answer = np.where(learned.any(axis=1), learned.argmax(axis=1), -1)
    right = tested * (answer[:, None] == np.arange(tested.shape[1]))
    return np.asarray(right.sum(axis=0) / tested.sum(axis=0))


BatchOfHalf = tuple[FloatArray, NDArray[np.intp]]


@held_factor_metric(
    cost="10,000 batches of 64 pairs, ten linear classifiers",
    version=3,
    fails_when=(
        "entanglement is the question: most invertible mixings score nearly 1, and a rotation by 45 degrees scores "
        "about 0; without a sampler also when factors are correlated or there are few rows for each value"
    ),
    reference=(
        "Higgins et al. (2017), 'beta-VAE: learning basic visual concepts with a constrained variational framework'"
    ),
    identity_tolerance=0.01,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
    moves_at_200_rows=(0.18, 0.29, 0.0),
    no_blocks_because="its classifier sees the change of every single code, which depends on the basis of a block",
)
def beta_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    classifier: Classifier = Logistic(),  # noqa: B008 - a frozen value
    bins: Several = 10,
    batch_size: Batches = 64,
    n_batches: Batches = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """Accuracy of a linear classifier that predicts the factor that pairs of samples share from mean code differences.

    1 means that the classifier always predicts the shared factor from the code differences. Random codes score 0 on
    average, within a few hundredths at 200 rows. With a sampler in the evidence, the factor is held fixed by
    intervention. Without one, pairs of rows are chosen that share the factor's level or bin, and the classifier is
    trained and tested on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Differences of ranks, which are robust to heavy tails, or differences of the codes themselves (published).
    classifier : Logistic
        The linear classifier. ``Logistic(strength=1, whiten=False)`` is that of disentanglement_lib.
    batch_size : int
        Number of pairs in a batch.
    bins, n_batches, n_splits, rescale, rng
        See `factor_vae_score`.

    Notes
    -----
    BetaVAE score: does a linear classifier of code differences predict the factor that was held fixed?

        score = 1/B sum_b [f(1/L sum_l |c(x_l) - c(x'_l)|) = k_b]

    over batches b of L pairs (x_l, x'_l) that share factor k_b, with f a linear classifier learned from other batches
    (Higgins et al. 2017), rescaled so that guessing one of d factors scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(beta_vae_score(factors, np.exp(factors)))
    1.0
    """
    seed, held_of = seed_from(rng), one_held(evidence)
    per_factor = max(n_batches // len(held_of), 1)
    plan = Plan(per_factor * batch_size, 2, bins, scale)
    n_splits = 1 if intervenes(evidence) else n_splits  # draws of a sampler are independent, so one split is enough
    held_of, caveats = holdable(evidence, held_of, plan, range(seed, seed + n_splits))
    if len(held_of) < 2 or not live_points(evidence).any():
        return Score(math.nan, caveats=(*caveats, ONE_FACTOR if len(held_of) < 2 else NO_CODES))
    right = []
    for split in range(n_splits):
        halves = _differences(evidence, held_of, plan, batch_size, seed + split)
        right += [_accuracies(classifier, *halves[::way]) for way in (1, -1)]
    caveats = (*caveats, *sampler_calls(evidence, held_of.values(), plan, seed, free=scale == "ranks"))
    return accuracy_score(evidence, held_of, np.mean(right, axis=0), rescale, caveats, {})


def _differences(evidence: Evidence, held_of: Held, plan: Plan, batch_size: int, seed: int) -> list[BatchOfHalf]:
    """For each half, the mean absolute code difference of every batch (batches x live codes) and its shared factor."""
    rngs = [random_stream(seed, "order of pairs", half) for half in (0, 1)]
    means: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for held in held_of.values():
        found: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        for half, codes in batches(evidence, held, plan, seed):
            found[half].append(np.abs(codes[:, 0] - codes[:, 1]))
        for half, blocks in enumerate(found):
            pairs = np.concatenate(blocks)
            order = rngs[half].permutation(len(pairs))  # so that the pairs of a batch share different values
            means[half].append(pairs[order].reshape(-1, batch_size, pairs.shape[1]).mean(axis=1))
    return [(np.concatenate(side), np.repeat(np.arange(len(side)), [len(mean) for mean in side])) for side in means]


def _accuracies(classifier: Classifier, learned: BatchOfHalf, tested: BatchOfHalf) -> FloatArray:
    """Accuracy of the classifier for every factor."""
    right = classifier.fit(*learned).predict(tested[0]) == tested[1]
    return np.asarray(np.bincount(tested[1], weights=right) / np.bincount(tested[1]))


@held_factor_metric(
    cost="10,000 batches of 64 rows",
    version=3,
    fails_when=(
        "factors are mixed but every factor still has some code that varies least when it is fixed, which scores 1; "
        "without a sampler also when factors are correlated or there are few rows for each value"
    ),
    reference="Kim and Mnih (2018), 'Disentangling by factorising'",
    identity_tolerance=0.01,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
    moves_at_200_rows=(0.2, 0.29, 0.0),
    no_blocks_because="the single code that varies least gives the vote, and in a block it depends on the basis",
)
def factor_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    bins: Several = 10,
    batch_size: Batches = 64,
    n_batches: Batches = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """Accuracy of a majority vote that predicts the fixed factor from the code with the smallest normalised variance.

    1 means that each factor, while it is held fixed, minimises the variance of a code of its own. Random codes (noise)
    score 0 on average, within a few hundredths at 200 rows. With a sampler in the evidence, the factor is held fixed by
    intervention. Without one, rows are chosen that share the factor's level or bin, and the vote is learned and tested
    on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which are robust to heavy tails, or variances of the codes themselves (published).
    bins : int
        Number of bins of equal mass for continuous and circular factors. Discrete factors keep their levels.
    batch_size : int
        Number of rows in a batch.
    n_batches : int
        Number of batches from each half of the rows, for each split into halves.
    n_splits : int
        Number of random splits of the rows into halves. With a sampler there is one split, of new draws.
    rescale : bool
        Whether to rescale the accuracy so that guessing scores 0. False gives the published accuracy, for which
        guessing scores 1/d.
    rng : int or Generator
        Seed of the splits and the batches.

    Notes
    -----
    FactorVAE score: does the code with the smallest variance identify the factor that was held fixed?

        score = 1/B sum_b [v(argmin_i Var_b(c_i) / Var(c_i)) = k_b]

    over batches b in which factor k_b is held fixed, with c_i the codes and v the majority vote learned from other
    batches (Kim and Mnih 2018), rescaled so that guessing one of d factors scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(factor_vae_score(factors, np.exp(factors)))
    1.0
    """
    held_of = one_held(evidence)
    plan = Plan(max(n_batches // len(held_of), 1), batch_size, bins, scale)
    return vote_score(evidence, held_of, plan, "least", n_splits, rescale, seed_from(rng))


ROWS_PER_CELL = 16
MOST_BINS = 10


@held_factor_metric(
    cost="10,000 batches of 64 rows",
    version=3,
    fails_when=(
        "some codes are noise with as much variance as the informative ones; without a sampler also when there are "
        "many factors, because few rows then agree in all other factors, or when factors are correlated"
    ),
    reference="Kim et al. (2019), 'Relevance factor VAE: learning and identifying disentangled factors'",
    identity_tolerance=0.02,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
    moves_at_200_rows=(0.16, 0.32, 0.0),
    no_blocks_because="the single code that varies least gives the vote, and in a block it depends on the basis",
)
def relevance_factor_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    bins: Several | None = None,
    batch_size: Batches = 64,
    n_batches: Batches = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """Accuracy of a majority vote that predicts the only varying factor from the code with the largest variance.

    1 means that each factor, while all others are held fixed, maximises the variance of a code of its own. Random codes
    score 0 on average. Codes that depend on no factor always vary and lower the score. With a sampler in the evidence,
    factors are held fixed by intervention. Without one, rows are chosen that agree approximately in all other factors,
    and the vote is learned and tested on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which are robust to heavy tails, or variances of the codes themselves (published).
    bins : int, optional
        Number of bins of equal mass for all but categorical factors. By default it is chosen, between 2 and 10, such
        that cells have 16 rows.
    batch_size, n_batches, n_splits, rescale, rng
        See `factor_vae_score`.

    Notes
    -----
    Relevance-FactorVAE score: does the code with the largest variance identify the one factor that varies?

        score = 1/B sum_b [v(argmax_i Var_b(c_i) / Var(c_i)) = k_b]

    over batches b in which all factors but k_b are held fixed, with c_i the codes and v the majority vote learned from
    other batches (Kim, Wang, Sahu and Pavlovic 2019), rescaled so that guessing one of d factors scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1000, 3))
    >>> float(relevance_factor_vae_score(factors, np.exp(factors))) > 0.98
    True
    """
    held_of = all_others_held(evidence)
    if bins is None:
        finest = (evidence.n_rows / 2 / ROWS_PER_CELL) ** (1 / max(len(held_of) - 1, 1))
        bins = int(np.clip(finest, 2, MOST_BINS))
    plan = Plan(max(n_batches // len(held_of), 1), batch_size, bins, scale, merge=True)
    return vote_score(evidence, held_of, plan, "most", n_splits, rescale, seed_from(rng))
