"""The experiments of 001: Table 1, experiments on published encoders, and studies of several seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper
from unweave.papers.learning_disentangled_representations import comparisons, drawings
from unweave.papers.learning_disentangled_representations import measured_models as measured
from unweave.papers.learning_disentangled_representations.measured_models import Numbers, by_model
from unweave.papers.learning_disentangled_representations.metric_properties import TABLE
from unweave.papers.learning_disentangled_representations.seed_studies import SEED_STUDIES


def _experiment(
    name: str,
    title: str,
    measure: Callable[..., Any],
    compare: Callable[[Numbers, Options], Iterator[ClaimCheck]],
    draw: Callable[[str, Numbers, Options], Iterator[Path]],
    cost: str = "1 minute on one core, after 2 for the codes",
) -> Experiment:
    return Experiment(
        name,
        title,
        compute=partial(by_model, measure.__name__.replace("_", " "), measure),
        compare=compare,
        draw=partial(draw, name),
        options=("seed", "n_rows", "weights", "codes"),
        needs=("torch", "weights"),
        cost=cost,
    )


PAPER = Paper(
    "001",
    "Theory and Evaluation Metrics for Learning Disentangled Representations",
    (
        TABLE,
        _experiment(
            "tab8", "RMIG of every factor", measured.rmig_per_factor, comparisons.compare_rmig, drawings.draw_rmig
        ),
        _experiment(
            "tab9",
            "JEMMIG of every factor",
            measured.jemmig_per_factor,
            comparisons.compare_jemmig,
            drawings.draw_jemmig,
        ),
        _experiment(
            "fig8",
            "Modularity of means and of posteriors",
            measured.modularities,
            comparisons.compare_modularity,
            drawings.draw_bars,
        ),
        _experiment(
            "fig9",
            "Informativeness of every code, all models (the paper uses faces, which are not available here)",
            measured.informativeness_per_code,
            comparisons.compare_informativeness,
            drawings.draw_sorted,
        ),
        _experiment(
            "fig14",
            "Informativeness of every code, FactorVAE and beta-VAE",
            measured.informativeness_per_code,
            comparisons.compare_informative_codes,
            drawings.draw_sorted,
        ),
        _experiment(
            "fig17",
            "RMIG, JEMMIG and joint entropy by the number of bins",
            measured.scores_by_bins,
            comparisons.compare_bins,
            drawings.draw_bins,
        ),
        _experiment(
            "fig18",
            "JEMMIG and WSEPIN by the number of draws",
            measured.scores_by_draws,
            comparisons.compare_draws,
            drawings.draw_draws,
            cost="8 minutes on one core",
        ),
        _experiment(
            "fig20",
            "Correlations between codes, by means and by draws",
            measured.correlations,
            comparisons.compare_correlations,
            drawings.draw_matrices,
        ),
        _experiment(
            "eq2",
            "Three-way information I(x, z_i, z_j) of every pair of codes",
            measured.shared_by_two_codes,
            comparisons.compare_shared,
            drawings.draw_shared,
        ),
        _experiment(
            "fig23",
            "Mutual information estimated from posteriors and from means, and importances",
            measured.matrices,
            comparisons.compare_matrices,
            drawings.draw_matrices,
        ),
        _experiment(
            "fig24",
            "Drawn against quantised JEMMIG and RMIG",
            measured.sampled_and_quantised,
            comparisons.compare_estimates,
            drawings.draw_estimates,
            cost="3 minutes on one core",
        ),
        _experiment(
            "fig25",
            "RMIG against two other implementations of MIG",
            measured.three_gaps,
            comparisons.compare_gaps,
            drawings.draw_gaps,
            cost="3 minutes on one core",
        ),
        *SEED_STUDIES,
    ),
)
