"""Figures 5 and 6 of 004 on small models with several seeds, evaluated on images with dependent factors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from unweave.datasets import DependentSample, small_sprites
from unweave.evidence import Evidence
from unweave.papers.dependent_factors.comparisons import (
    ACCURACY,
    IRS,
    compare_accuracy,
    compare_robustness,
    draw,
    write,
)
from unweave.papers.dependent_factors.measured_encoders import LEVELS, METRICS, N_ROWS, Measured
from unweave.papers.dependent_factors.rank_correlations import Correlations, correlations
from unweave.papers.experiment import ClaimCheck, Experiment, Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.small_models import N_STEPS, annealed_vae, beta_vaes, factor_vaes, total_correlation_vaes, trained
from unweave.progress import progress_bar

N_SEEDS = 3  # with ten settings these are thirty encoders; the paper has 36
Compare = Callable[[Correlations, Options], Iterator[ClaimCheck]]


def compute(target: tuple[Callable[[Evidence], float], str], options: Options) -> Correlations:
    """Compute rank correlations over beta-VAEs, FactorVAEs, beta-TCVAEs and AnnealedVAEs of all seeds."""
    options = replace(options, n_seeds=options.n_seeds or N_SEEDS)
    objectives = [*beta_vaes(), *factor_vaes(), *total_correlation_vaes(), annealed_vae(options)]
    models = trained(options, objectives)
    sprites, n_rows = small_sprites(), options.n_rows or N_ROWS
    kinds = dict(zip(sprites.factor_names, sprites.kinds, strict=True))
    measure, label = target
    found: dict[str, list[list[float]]] = {name: [[] for _ in LEVELS] for name in (*METRICS, label)}
    with progress_bar(len(LEVELS), options.progress) as bar:
        for place, (level, dependences) in enumerate(LEVELS.items()):
            bar.step(f"004: {level}")
            images = DependentSample(sprites, dependences) if dependences else sprites
            batch = images.sample(n_rows, options.seed or 0)
            for model in models:
                steps = options.n_steps or N_STEPS
                file = options.folder / "004" / f"small {model.name} {steps} {level} {n_rows}.json"
                codes = model.encode(batch.images)
                evidence = Evidence(batch.factors, codes, factor_names=sprites.factor_names, kinds=kinds)
                kept = KeptNumbers(file)
                for name, metric in {**METRICS, label: measure}.items():
                    found[name][place].append(kept.number(name, partial(metric, evidence)))
    arrays = {name: np.array(rows) for name, rows in found.items()}
    names = tuple(model.name for model in models)
    return correlations(Measured(tuple(LEVELS), names, {name: arrays[name] for name in METRICS}, arrays[label]))


def _experiment(name: str, title: str, target: tuple[Callable[[Evidence], float], str], compare: Compare) -> Experiment:
    return Experiment(
        name,
        title,
        compute=partial(compute, target),
        compare=compare,
        write=partial(write, name),
        draw=partial(draw, name, target[1]),
        options=("seed", "n_seeds", "n_steps", "n_rows"),
        needs=("torch",),
        cost="14 minutes on one core for fig5-seeds or fig6-seeds, then 2 for the other",
    )


SEED_STUDIES = (
    _experiment(
        "fig5-seeds",
        "Metrics against the accuracy of a forest on one code (small models, several seeds)",
        ACCURACY,
        compare_accuracy,
    ),
    _experiment(
        "fig6-seeds",
        "Metrics against interventional robustness (small models, several seeds)",
        IRS,
        compare_robustness,
    ),
)
