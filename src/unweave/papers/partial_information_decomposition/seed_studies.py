"""Figure 3c of 002: variation of scores over training seeds and over evaluation seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.evidence import Evidence
from unweave.metrics import beta_vae_score, factor_vae_score, rmig, unibound
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.small_models import measured, total_correlation_vaes, trained

N_EVALUATIONS, DRAWS = 6, 300


@dataclass(frozen=True)
class Repeated:
    """Scores of beta-TCVAEs, trainings x evaluations, by metric."""

    scores: dict[str, FloatArray]

    def spreads(self, metric: str) -> tuple[float, float]:
        """Standard deviation over trainings of the mean score, and mean standard deviation over evaluations."""
        table = self.scores[metric]
        return float(table.mean(axis=1).std(ddof=1)), float(table.std(axis=1, ddof=1).mean())

    def ratio(self, metric: str) -> tuple[float, float]:
        """95 % interval of the ratio of training variance to evaluation variance, by one-way analysis of variance."""
        table = self.scores[metric]
        n_trainings, n_evaluations = table.shape
        within = float(table.var(axis=1, ddof=1).mean())
        if within == 0:
            return float("inf"), float("inf")
        observed = n_evaluations * float(table.mean(axis=1).var(ddof=1)) / within
        degrees = n_trainings - 1, n_trainings * (n_evaluations - 1)
        low, high = (observed / float(stats.f.ppf(q, *degrees)) for q in (0.975, 0.025))
        return max(low - 1, 0) / n_evaluations, max(high - 1, 0) / n_evaluations


def numbers(evaluation: int, evidence: Evidence) -> dict[str, float]:
    """Return the four scores of 002 with the draws of one evaluation seed."""
    draws = MixtureSampling(DRAWS, seed=evaluation)
    return {
        "BetaVAE": beta_vae_score(evidence, rng=evaluation).raw,
        "FactorVAE": factor_vae_score(evidence, rng=evaluation).raw,
        "MIG": rmig(evidence, estimator=draws).raw,
        "UniBound": unibound(evidence, estimator=draws).raw,
    }


def compute(options: Options) -> Repeated:
    """Evaluate every trained model six times."""
    models = trained(options, total_correlation_vaes([64]))
    tables = []
    for evaluation in range(N_EVALUATIONS):
        [setting] = measured(models, f"002, evaluation {evaluation}", partial(numbers, evaluation), options)
        tables.append(setting)
    return Repeated({name: np.array([setting.values(name) for setting in tables]).T for name in tables[0].seeds[0]})


def compare(found: Repeated, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3c: scores vary with the training seed, not with the evaluation seed."""
    for name, table in found.scores.items():
        means = " ".join(f"{value:.3f}" for value in table.mean(axis=1))
        yield ClaimCheck(f"{name}: mean of {table.shape[1]} evaluations, by training", "figure only", means)
        if len(table) > 1:
            training, evaluation = found.spreads(name)
            low, high = found.ratio(name)
            yield ClaimCheck(
                f"{name}: scores vary more over trainings than over evaluations",
                "yes",
                f"standard deviation {training:.4f} over trainings, {evaluation:.4f} over evaluations, "
                f"ratio of variances [{low:.2g}, {high:.2g}]",
                True if low > 1 else False if high < 1 else None,
                120,
                undecided=True,
                value=training / evaluation if evaluation else float("inf"),
            )


def draw(found: Repeated, options: Options) -> Iterator[Path]:
    """Draw means over evaluations with their range, one group of bars per training."""
    from unweave.report.figures.curves import bars_figure, save

    n_trainings = len(next(iter(found.scores.values())))
    bars, ranges = {}, {}
    for training in range(n_trainings):
        of_training = {name: table[training] for name, table in found.scores.items()}
        bars[f"seed {training}"] = {name: float(row.mean()) for name, row in of_training.items()}
        ranges[f"seed {training}"] = {name: (float(row.min()), float(row.max())) for name, row in of_training.items()}
    yield save(bars_figure(bars, "score", ranges=ranges), options.folder / "002-fig3c.png")


SEED_STUDIES = (
    Experiment(
        "fig3c",
        "beta-TCVAE: variation of scores over trainings and over evaluations (small models, several seeds)",
        compute=compute,
        compare=compare,
        draw=draw,
        options=("seed", "n_seeds", "n_steps"),
        needs=("torch",),
        cost="3 minutes on one core",
    ),
)
