"""Scores of trained encoders and bounds on unique, redundant and synergistic information (002, Figures 3a and 3b).

The densities of UniBound are mixtures over the encoded rows. If there are few random rows, all other codes together
identify every row and therefore every factor, which biases UniBound towards 0. It is therefore computed on all
combinations of fewer values (`unweave.papers.complete_grids`), on the finest grid that fits into a time budget. It is
also computed on random rows of that grid, which shows the bias.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unweave.datasets import DSprites
from unweave.encoding import Encoded, encode
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence
from unweave.metrics import (
    beta_vae_score,
    factor_vae_score,
    redundancy_lower_bound,
    redundancy_upper_bound,
    rmig,
    synergy_lower_bound,
    synergy_upper_bound,
    unibound,
    unique_upper_bound,
)
from unweave.papers.complete_grids import GRIDS, codes_of_grid, in_words, rows_of_grid
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import MODELS, codes_of, evidence_of_levels, models_among
from unweave.progress import progress_bar
from unweave.score import Score

PAPERS_MODELS = ("beta-VAE", "FactorVAE", "beta-TCVAE", "JointVAE")
DRAWS = MixtureSampling(500, most_rows=max(GRIDS))  # sums over all rows, as in Eq 8
ROWS = (2500, 5000, 10_000, 20_000, 50_000, 100_000)
COARSEST, TIMED_IMAGES = 11_520, 1000
BUDGET = 300.0  # CPU seconds for encoding and decomposing all models
BOUNDS = {
    "unique": (unibound, unique_upper_bound),
    "redundant": (redundancy_lower_bound, redundancy_upper_bound),
    "synergistic": (synergy_lower_bound, synergy_upper_bound),
}
Numbers = dict[int, float]


@dataclass(frozen=True)
class Decomposed:
    """Results of one encoder: scores, UniBound by the number of rows, and lower and upper bounds of the three parts.

    ``errors`` are standard errors of the sampled scores. ``by_grid`` has UniBound on all combinations of fewer values,
    and ``by_rows`` on random rows. ``rows_in_words`` describes the rows on which ``scores`` are computed.
    """

    scores: dict[str, float]
    by_rows: Numbers
    bounds: dict[str, tuple[float, float]]
    n_rows: int
    rows_in_words: str
    by_grid: Numbers
    errors: dict[str, float]


def decomposed_encoders(options: Options) -> dict[str, Decomposed]:
    """Decompose the paper's models on a complete grid, or on random rows with --rows or --codes."""
    if options.codes is None and options.n_rows is None:
        n_rows = _affordable_grid(options)
        codes, words = codes_of_grid(options, n_rows, PAPERS_MODELS), in_words(n_rows)
    else:
        names = tuple(models_among(codes_of(options, ROWS[0], PAPERS_MODELS), PAPERS_MODELS))
        n_rows = options.n_rows or _affordable_rows(options, names)
        codes = models_among(codes_of(options, n_rows, PAPERS_MODELS), PAPERS_MODELS)
        words = "random rows, by --rows" if options.n_rows else "as many random rows as the budget allows"
    found = {}
    with progress_bar(len(codes), options.progress) as bar:
        for name, encoded in codes.items():
            bar.step(f"002: {name}, {n_rows} rows")
            found[name] = _decomposed(name, encoded, words, options)
    return found


def _decomposed(name: str, encoded: Encoded, words: str, options: Options) -> Decomposed:
    n_rows, is_grid = encoded.n_rows, options.codes is None and options.n_rows is None
    kept, evidence = _kept(name, n_rows, is_grid, options), evidence_of_levels(encoded)
    order = np.random.default_rng(options.seed or 0).permutation(n_rows)
    by_rows = {
        n: kept.number(f"unique, lower, {n} random rows", partial(_unibound, encoded.rows(order[:n])))
        for n in ROWS
        if n < n_rows
    }
    by_grid = {
        n: kept.number(f"unique, lower, grid of {n}", partial(_unibound_of_grid, encoded, n))
        for n in (GRIDS if is_grid else ())
        if COARSEST <= n < n_rows
    }
    drawn = {
        "MIG": kept.value("MIG", partial(_drawn, rmig, evidence)),
        "UniBound": kept.value("unique, lower", partial(_drawn, unibound, evidence)),
    }
    scores = {
        "BetaVAE": kept.number("BetaVAE", lambda: beta_vae_score(evidence).raw),
        "FactorVAE": kept.number("FactorVAE", lambda: factor_vae_score(evidence).raw),
        **{score: value for score, (value, _) in drawn.items()},
    }
    (by_grid if is_grid else by_rows)[n_rows] = scores["UniBound"]
    bounds = {
        part: (
            float(kept.value(f"{part}, lower", partial(_drawn, lower, evidence))[0]),
            float(kept.value(f"{part}, upper", partial(_drawn, upper, evidence))[0]),
        )
        for part, (lower, upper) in BOUNDS.items()
    }
    errors = {score: error for score, (_, error) in drawn.items()}
    return Decomposed(scores, by_rows, bounds, n_rows, words, by_grid, errors)


def _unibound(encoded: Encoded) -> float:
    return unibound(evidence_of_levels(encoded), estimator=DRAWS).raw


def _unibound_of_grid(encoded: Encoded, n_images: int) -> float:
    return _unibound(rows_of_grid(encoded, n_images))


def _drawn(metric: Callable[..., Score], evidence: Evidence) -> tuple[float, float]:
    """Return a score and its standard error over draws."""
    found = metric(evidence, estimator=DRAWS)
    return found.raw, float(found.parts["standard_error"])


def _kept(name: str, n_rows: int, is_grid: bool, options: Options) -> KeptNumbers:
    source = "grid" if is_grid else "given" if options.codes else "published"
    file = f"{source} {name} {n_rows} {DRAWS.samples} all rows {options.seed or 0}.json"
    return KeptNumbers(options.folder / "002" / file)


def _affordable_grid(options: Options) -> int:
    """Return the size of the finest grid that fits into the budget, by timing a few images of one model."""
    from unweave.neural.published_vaes import read_published

    assert options.weights is not None
    model = read_published(MODELS[PAPERS_MODELS[0]], options.weights)

    def settle() -> float:
        start = time.process_time()
        part = encode(model, DSprites(), rows=TIMED_IMAGES)
        unibound(evidence_of_levels(part), estimator=DRAWS)
        per_image = (
            2 * len(PAPERS_MODELS) * (time.process_time() - start) / TIMED_IMAGES
        )  # twice, because smaller sets are computed too
        return float(max(n for n in GRIDS if n == COARSEST or n * per_image <= BUDGET))

    return int(_settled(options).number("images of the grid", settle))


def _affordable_rows(options: Options, names: tuple[str, ...]) -> int:
    """Return the largest number of random rows that fits into the budget, by timing the smallest."""

    def settle() -> float:
        part: Any = codes_of(options, ROWS[0], names)[names[0]]
        start = time.process_time()
        unibound(evidence_of_levels(part), estimator=DRAWS)
        per_row = (time.process_time() - start) / part.n_rows
        # all smaller numbers of rows are computed too; the other bounds are memoised and add no cost
        fitting = [n for k, n in enumerate(ROWS) if per_row * sum(ROWS[: k + 1]) * len(names) <= BUDGET]
        return float(max(fitting, default=ROWS[0]))

    return int(_settled(options).number(f"random rows of {len(names)} encoders", settle))


def _settled(options: Options) -> KeptNumbers:
    return KeptNumbers(options.folder / "002" / f"budget {options.seed or 0}.json")
