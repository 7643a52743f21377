"""The experiments of 004: on toy data, and Figures 5, 6, 10, 11, 15 and 16 on trained encoders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from unweave.papers.dependent_factors.comparisons import (
    ACCURACY,
    IRS,
    compare_accuracy,
    compare_robustness,
    compare_settings,
    draw,
    write,
)
from unweave.papers.dependent_factors.measured_encoders import bins_against, metrics_against, samples_against
from unweave.papers.dependent_factors.rank_correlations import Correlations, correlations
from unweave.papers.dependent_factors.seed_studies import SEED_STUDIES
from unweave.papers.dependent_factors.toy_experiments import TOYS
from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper


def compute_metrics(target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Compute correlations of all metrics with a target."""
    return correlations(metrics_against(*target, options))


def compute_bins(name: str, target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Compute correlations of one metric with a target, by the metric's number of bins."""
    return correlations(bins_against(name, *target, options))


def compute_samples(name: str, target: tuple[Callable[..., float], str], options: Options) -> Correlations:
    """Compute correlations of one metric with a target, by the metric's number of samples."""
    return correlations(samples_against(name, *target, options))


def _experiment(
    name: str,
    title: str,
    compute: Callable[[Options], Correlations],
    compare: Callable[[Correlations, Options], Iterator[ClaimCheck]],
    target: str,
) -> Experiment:
    return Experiment(
        name,
        title,
        compute=compute,
        compare=compare,
        write=partial(write, name),
        draw=partial(draw, name, target),
        options=("seed", "n_rows", "weights", "codes"),
        needs=("torch", "weights"),
        cost="10 minutes on one core for all of 004",
    )


PAPER = Paper(
    "004",
    "Rethinking Disentanglement under Dependent Factors of Variation",
    (
        *TOYS,
        _experiment(
            "fig5",
            "Metrics against the accuracy of a forest on one code",
            partial(compute_metrics, ACCURACY),
            compare_accuracy,
            "accuracy",
        ),
        _experiment(
            "fig6",
            "Metrics against interventional robustness",
            partial(compute_metrics, IRS),
            compare_robustness,
            "IRS",
        ),
        _experiment(
            "fig10",
            "Sufficiency by its number of bins, against accuracy",
            partial(compute_bins, "sufficiency", ACCURACY),
            partial(compare_settings, 130),
            "accuracy",
        ),
        _experiment(
            "fig11",
            "Minimality by its number of bins, against IRS",
            partial(compute_bins, "minimality", IRS),
            partial(compare_settings, 130),
            "IRS",
        ),
        _experiment(
            "fig15",
            "Sufficiency by its number of samples, against accuracy",
            partial(compute_samples, "sufficiency", ACCURACY),
            partial(compare_settings, 131),
            "accuracy",
        ),
        _experiment(
            "fig16",
            "Minimality by its number of samples, against IRS",
            partial(compute_samples, "minimality", IRS),
            partial(compare_settings, 131),
            "IRS",
        ),
        *SEED_STUDIES,
    ),
)
