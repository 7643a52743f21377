"""Scores of trained encoders and bounds on the parts of their information (002, figures 3a and 3b).

The densities behind UniBound are mixtures over the rows that were encoded. With few rows, all other codes together
tell every row apart and so seem to tell every factor, which pulls UniBound down: it is computed on growing numbers of
rows, as many as fit into a budget of computing time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from unweave.encoding import Encoded
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
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.trained_encoders import codes_of, evidence_of_levels, models_among
from unweave.progress import progress_bar
from unweave.score import Score

PAPERS_MODELS = ("beta-VAE", "FactorVAE", "beta-TCVAE", "JointVAE")
DRAWS = MixtureSampling(300)  # few, because the bias by the number of rows is far larger than the error of drawing
ROWS = (2500, 5000, 10_000, 20_000, 50_000, 100_000)
BUDGET = 600.0  # CPU seconds for the decompositions of all models
BOUNDS = {
    "unique": (unibound, unique_upper_bound),
    "redundant": (redundancy_lower_bound, redundancy_upper_bound),
    "synergistic": (synergy_lower_bound, synergy_upper_bound),
}


@dataclass(frozen=True)
class Decomposed:
    """One encoder: its scores, UniBound by the number of rows, and lower and upper bounds of the three parts."""

    scores: dict[str, float]
    unibound_by_rows: dict[int, float]
    bounds: dict[str, tuple[float, float]]
    n_rows: int
    by_choice: bool  # whether the number of rows was given, rather than what the budget allows


def decomposed_encoders(options: Options) -> dict[str, Decomposed]:
    """The models of the paper, or those of a folder of codes."""
    n_first = min(ROWS[0], options.n_rows or ROWS[0])
    names = tuple(models_among(codes_of(options, n_first, PAPERS_MODELS), PAPERS_MODELS))
    n_rows = options.n_rows or _affordable_rows(options, names)
    codes = models_among(codes_of(options, n_rows, PAPERS_MODELS), PAPERS_MODELS)
    found = {}
    with progress_bar(len(codes), options.progress) as bar:
        for name, encoded in codes.items():
            bar.step(f"002: {name}, {n_rows} rows")
            found[name] = _decomposed(name, encoded, n_rows, options)
    return found


def _decomposed(name: str, encoded: Encoded, n_rows: int, options: Options) -> Decomposed:
    by_rows = {}
    for n in (*(n for n in ROWS if n < n_rows), n_rows):
        compute = partial(_unibound, encoded.rows(slice(0, n)))
        by_rows[n] = _kept(name, n, options).number("unique, lower", compute)
    kept, evidence = _kept(name, n_rows, options), evidence_of_levels(encoded)
    scores = {
        "BetaVAE": kept.number("BetaVAE", lambda: beta_vae_score(evidence).raw),
        "FactorVAE": kept.number("FactorVAE", lambda: factor_vae_score(evidence).raw),
        "MIG": kept.number("MIG", lambda: rmig(evidence, estimator=DRAWS).raw),
        "UniBound": by_rows[n_rows],
    }
    bounds = {}
    for part, (lower, upper) in BOUNDS.items():
        low, high = (
            kept.number(f"{part}, {side}", partial(_raw, bound, evidence))
            for side, bound in (("lower", lower), ("upper", upper))
        )
        bounds[part] = (low, high)
    return Decomposed(scores, by_rows, bounds, n_rows, options.n_rows is not None)


def _unibound(encoded: Encoded) -> float:
    return unibound(evidence_of_levels(encoded), estimator=DRAWS).raw


def _raw(bound: Callable[..., Score], evidence: Evidence) -> float:
    return bound(evidence, estimator=DRAWS).raw


def _kept(name: str, n_rows: int, options: Options) -> KeptNumbers:
    source = "given" if options.codes else "published"
    return KeptNumbers(options.folder / "002" / f"{source} {name} {n_rows} {options.seed or 0}.json")


def _affordable_rows(options: Options, names: tuple[str, ...]) -> int:
    """The most rows whose decompositions fit into the budget, by timing the fewest; their cost grows with the rows."""
    settled = options.folder / "002" / f"rows {len(names)} {options.seed or 0}.json"

    def settle() -> float:
        part = codes_of(options, ROWS[0], names)[names[0]]
        start = time.process_time()
        unibound(evidence_of_levels(part), estimator=DRAWS)
        per_row = (time.process_time() - start) / part.n_rows
        # all smaller numbers of rows are computed too, and the parts that are memoised cost nothing more
        fitting = [n for k, n in enumerate(ROWS) if per_row * sum(ROWS[: k + 1]) * len(names) <= BUDGET]
        return float(max(fitting, default=ROWS[0]))

    return int(KeptNumbers(settled).number("rows", settle))
