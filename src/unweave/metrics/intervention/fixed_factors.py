"""Batches of codes whose rows share the values of some factors: drawn by the sampler, or picked among the rows.

A sampler intervenes: it holds factors at a value and lets the others vary freely. Without one, rows are picked whose
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

FEWEST_ROWS = 4
FEW_ROWS = 20
MOST_VALUES = 100


@dataclass(frozen=True)
class Plan:
    """How many batches of how many rows, on which scale codes are compared, and how finely factors are held.

    ``merge`` also bins the levels of ordinal factors, for when many factors are held at once.
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
    """Cells of rows that share the values or bins of the held factors; cells with too few rows are left out."""
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
    """The cells of one half of the rows; groups of rows stay whole."""
    return cells(evidence, held, evidence.folds(2, seed)[half][1], bins, merge)


def batches(evidence: Evidence, held: tuple[int, ...], plan: Plan, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """Yield a half, 0 or 1, and live codes (batches x rows x codes) for each value of the held factors.

    Common values come more often. The two halves never share a row, a group of rows, or a draw.
    """
    if intervenes(evidence):
        rng = np.random.default_rng((seed, *held))
        for codes, n_here in sampled(evidence, held, plan.n_batches, 2 * plan.batch_size, plan.scale, rng):
            yield from enumerate(codes.reshape(2, n_here, plan.batch_size, codes.shape[1]))
        return
    codes = comparable_codes(evidence, plan.scale)
    for half in (0, 1):
        rng = np.random.default_rng((seed, half, *held))
        members = half_cells(evidence, held, half, plan.bins, plan.merge, seed)
        for cell, n_here in zip(members, _shared_out(plan.n_batches, [cell.size for cell in members]), strict=True):
            if n_here:
                dealt = codes[_dealt(cell, n_here * plan.batch_size, plan.batch_size, rng)]
                yield half, dealt.reshape(n_here, plan.batch_size, codes.shape[1])


def sampled(
    evidence: Evidence, held: tuple[int, ...], n_batches: int, batch_size: int, scale: Scale, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, int]]:
    """Yield live codes drawn with the factors held, and how many batches they make, for every value of `held_values`.

    The sampler is asked once for every value.
    """
    for fixed, n_here in held_values(evidence, held, n_batches, rng):
        yield placed(evidence, drawn_codes(evidence, fixed, n_here * batch_size, rng), scale), n_here


def held_values(
    evidence: Evidence, held: tuple[int, ...], n_batches: int, rng: np.random.Generator
) -> list[tuple[dict[str, float], int]]:
    """Up to 100 values of the held factors, and how many batches each gets.

    One factor is held at values spread evenly over its rows; several are held at the values of random rows.
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
    """How often the sampler is asked for these batches, and for how many samples; empty without a sampler.

    ``free`` says whether samples in which no factor is held are drawn as well, which is one call.
    """
    if not intervenes(evidence):
        return ()
    calls = [len(held_values(evidence, held, plan.n_batches, np.random.default_rng((seed, *held)))) for held in held_of]
    n_samples = free * FREE_DRAWS + 2 * plan.n_batches * plan.batch_size * len(calls)
    return (Finding("sampler_asked", n_calls=free + sum(calls), n_samples=n_samples),)


def _shared_out(total: int, sizes: list[int]) -> list[int]:
    """Whole shares of the total in proportion to sizes."""
    ends = np.round(total * np.cumsum(sizes) / max(sum(sizes), 1))
    return [int(share) for share in np.diff(ends, prepend=0)]


def _dealt(cell: Rows, n_rows: int, batch_size: int, rng: np.random.Generator) -> Rows:
    """This many rows of the cell, from successive shuffles, so that no row repeats before all were used once."""
    usable = cell.size - cell.size % batch_size if cell.size >= batch_size else cell.size  # packs hold whole batches
    packs = rng.permuted(np.tile(cell, (-(-n_rows // usable), 1)), axis=1)[:, :usable]
    return packs.ravel()[:n_rows]
