"""Batches of codes whose rows share the values of some factors: drawn by the sampler, or selected from the rows.

A sampler intervenes: it holds factors fixed and lets all others vary freely. Without one, rows are selected whose
factors fall in the same level, or in the same bin of equal mass. This has three disadvantages: factors that correlate
with a held factor are restricted with it, a held factor still varies within its bin, and rows are used repeatedly.
Training and test batches are therefore drawn from disjoint halves of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.binning import Binning, binned, levels
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.intervention.comparable_codes import (
    FREE_DRAWS,
    Scale,
    comparable_codes,
    drawn_codes,
    intervenes,
    placed,
)
from unweave.randomness import random_stream

FEWEST_ROWS = 4
FEW_ROWS = 20
MOST_VALUES = 100


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
    label = np.zeros(rows.size, dtype=np.intp)
    for j in held:
        labels = _labels(evidence, j, bins, binning, merge)[rows]
        label = np.unique(label * (int(labels.max()) + 1) + labels, return_inverse=True)[1]
    order = np.argsort(label, kind="stable")
    members = np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)
    return [cell for cell in members if cell.size >= fewest]


def _labels(evidence: Evidence, j: int, bins: int, binning: Binning, merge: bool) -> Labels:
    kept = (FactorKind.CATEGORICAL,) if merge else (FactorKind.CATEGORICAL, FactorKind.ORDINAL)
    column = evidence.factors[:, j]
    return levels(column) if evidence.kinds[j] in kept else binned(column, bins, binning)


@memoised(on="both")
def half_cells(evidence: Evidence, held: tuple[int, ...], half: int, bins: int, merge: bool, seed: int) -> list[Rows]:
    """The cells of one half of the rows; groups of rows are not split."""
    return cells(evidence, held, evidence.folds(2, seed)[half][1], bins, merge)


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
        yield placed(evidence, drawn_codes(evidence, fixed, n_here * batch_size, rng), scale), n_here


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


def asked(
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
