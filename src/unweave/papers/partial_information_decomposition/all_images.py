"""RMIG, JEMMIG and UniBound of one published encoder on all 737,280 images of dSprites, and their cost.

RMIG and JEMMIG (001) need one pass over the rows. UniBound (002) sums over all rows for every draw. It is computed on
grids of increasing size, up to all of dSprites, as long as they fit into a time budget. Results for random rows show
the bias of few rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unweave.encoding import Encoded
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.metrics import jemmig, rmig, unibound
from unweave.papers.complete_grids import GRIDS, codes_of_grid, rows_of_grid
from unweave.papers.computing_cost import peak_memory
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import evidence_of_levels
from unweave.progress import progress_bar

MODEL, EVERYTHING = "beta-TCVAE", max(GRIDS)
GRID = QuantisedPosterior(bins=100, limits=(-4.0, 4.0))  # as in 001's published code
DRAWS = MixtureSampling(500, most_rows=EVERYTHING)
RANDOM_ROWS = (2500, 10_000, 40_000)
BUDGET = 480.0  # CPU seconds for UniBound
MOST_MINUTES, MOST_MEMORY = 15, 3.0


@dataclass(frozen=True)
class ScoreWithCost:
    """A score, its standard error (0 for a score without draws), CPU seconds, and peak memory of the process in GB."""

    value: float
    error: float
    seconds: float
    memory: float


@dataclass(frozen=True)
class AllImages:
    """Scores of one encoder on all images, and UniBound by the number of images."""

    n_images: int
    scores: dict[str, ScoreWithCost]
    by_grid: dict[int, ScoreWithCost]
    by_rows: dict[int, ScoreWithCost]


def compute(options: Options) -> AllImages:
    """Encode all images or read their codes, compute the scores, and store every number."""
    encoded = codes_of_grid(options, EVERYTHING, [MODEL])[MODEL]
    kept = KeptNumbers(options.folder / "002" / f"all images {MODEL} {DRAWS.samples} {options.seed or 0}.json")
    order = np.random.default_rng(options.seed or 0).permutation(encoded.n_rows)
    scores: dict[str, ScoreWithCost] = {}
    by_grid: dict[int, ScoreWithCost] = {}
    by_rows: dict[int, ScoreWithCost] = {}
    with progress_bar(2 + len(GRIDS) + len(RANDOM_ROWS), options.progress) as bar:
        for name, metric in {"RMIG": rmig, "JEMMIG": jemmig}.items():
            bar.step(f"{name} of all images")
            scores[name] = _kept(kept, name, partial(metric, estimator=GRID), encoded)
        draw = partial(unibound, estimator=DRAWS)
        for n_rows in RANDOM_ROWS:
            bar.step(f"UniBound of {n_rows} random rows")
            by_rows[n_rows] = _kept(kept, f"random rows {n_rows}", draw, encoded.rows(order[:n_rows]))
        for n_images in sorted(GRIDS):
            bar.step(f"UniBound of {n_images} images")
            if _fits(n_images, by_grid):
                rows = encoded if n_images == EVERYTHING else rows_of_grid(encoded, n_images)
                by_grid[n_images] = _kept(kept, f"grid {n_images}", draw, rows)
    scores["UniBound"] = by_grid[max(by_grid)]
    return AllImages(encoded.n_rows, scores, by_grid, by_rows)


def compare(found: AllImages, options: Options) -> Iterator[ClaimCheck]:
    """Report scores with their costs, and the bias of UniBound."""
    largest = max(found.by_grid)
    for name, score in found.scores.items():
        n_images = largest if name == "UniBound" else found.n_images
        here = f"{_shown(score)}, {score.seconds:.0f} CPU seconds, at most {score.memory:.2f} GB"
        yield ClaimCheck(f"{MODEL}: {name} of {n_images:,} images", "not in the paper", here)
    worst = max(found.scores.values(), key=lambda score: score.memory)
    dearest = max(found.scores.values(), key=lambda score: score.seconds)
    yield ClaimCheck.number("CPU minutes of the slowest score", "below 15", dearest.seconds / 60, below=MOST_MINUTES)
    yield ClaimCheck.number("peak memory in GB", "below 3", worst.memory, below=MOST_MEMORY)
    for label, numbers in (("all combinations of fewer values", found.by_grid), ("random rows", found.by_rows)):
        here = ", ".join(f"{n:,}: {_shown(score)}" for n, score in numbers.items())
        yield ClaimCheck(f"{MODEL}: UniBound on {label}", "all 737,280 images", here)
    if largest < found.n_images:
        here = f"{largest:,} of {found.n_images:,}, because of the budget of {BUDGET:.0f} CPU seconds"
        yield ClaimCheck("number of images for UniBound", "all 737,280 images", here)


def draw(found: AllImages, options: Options) -> Iterator[Path]:
    """Draw UniBound against the number of images, for grids and for random rows."""
    from unweave.report.figures.curves import curves_figure, save

    ticks = sorted({*found.by_grid, *found.by_rows})
    curves = {
        label: [numbers[n].value if n in numbers else np.nan for n in ticks]
        for label, numbers in (("all combinations", found.by_grid), ("random rows", found.by_rows))
    }
    yield save(curves_figure(curves, ticks, "UniBound", across="images"), options.folder / "002-all-images.png")


def _fits(n_images: int, before: dict[int, ScoreWithCost]) -> bool:
    """Whether UniBound of ``n_images`` fits into the budget, if the cost is proportional to the number of images."""
    if not before:
        return True
    largest = max(before)
    spent = sum(score.seconds for score in before.values())
    return spent + before[largest].seconds * n_images / largest <= BUDGET


def _kept(kept: KeptNumbers, name: str, metric: Callable[..., Any], encoded: Encoded) -> ScoreWithCost:
    def measure() -> list[float]:
        evidence, start = evidence_of_levels(encoded), time.process_time()
        found = metric(evidence)
        seconds = time.process_time() - start
        return [found.raw, float(found.parts.get("standard_error", 0.0)), seconds, peak_memory()]

    return ScoreWithCost(*kept.value(name, measure))


def _shown(score: ScoreWithCost) -> str:
    return f"{score.value:.4f} ± {1.96 * score.error:.4f}" if score.error else f"{score.value:.4f}"


ALL_IMAGES = Experiment(
    "all-images",
    "RMIG, JEMMIG and UniBound of one encoder on all 737,280 images, and UniBound by the number of images",
    compute=compute,
    compare=compare,
    draw=draw,
    options=("seed", "weights"),
    needs=("torch", "weights"),
    cost="12 minutes on one core",
)
