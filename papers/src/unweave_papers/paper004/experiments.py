"""Experiments of 004."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.datasets import DependentSample, small_sprites
from unweave.datasets.dependence import Confounder, CorrelatedPair, Dependence
from unweave.datasets.interface import GridDataSet
from unweave.evidence import Evidence
from unweave.metrics import minimality, sufficiency
from unweave.score import Score
from unweave_papers.experiment import ClaimCheck, Experiment, Options, Paper, Pictures, Tables
from unweave_papers.figures import curves_figure, panels_figure
from unweave_papers.ledger import CERTAIN, claim_rows
from unweave_papers.paper004 import encoders as toy_curves
from unweave_papers.paper004.encoders import (
    LEVELS,
    METRICS,
    MINIMALITY,
    N_ROWS,
    SUFFICIENCY,
    TOY_BINS,
    TOY_METRICS,
    Correlations,
    Measure,
    Named,
    Target,
    ToyCurves,
    at_all_levels,
    best_single_code_accuracy,
    bins_of,
    of_losses,
    of_published,
    robustness,
    samples_of,
    with_bins,
)
from unweave_papers.paper004.ranks import RANKS
from unweave_papers.trained import (
    N_STEPS,
    annealed_vae,
    beta_vaes,
    coloured_shapes,
    factor_vaes,
    total_correlation_vaes,
    trained,
)

FALLS = 0.05
CURVES = "Curves are of one seed; figures of claims are means over 20 and more, with 95 % intervals."
ENCODERS = "One level after another, one training of each encoder: bands are 90 % intervals from resampled encoders."


def compare(claims: tuple[int, ...], results: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Report every curve, and check the claims about it; the paper gives its curves as figures only."""
    for panel, curves in results.panels.items():
        for name, values in curves.items():
            where = f"{results.across} {results.ticks[0]:g} to {results.ticks[-1]:g}"
            shown = " ".join(f"{value:.3f}" for value in values)
            yield ClaimCheck(", ".join(filter(None, (panel, name, where))), "figure only", shown)
    yield from claim_rows("004", *claims, folder=options.folder)


def compare_nuisance(curves: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: only minimality falls with the nuisance."""
    yield from compare((128, 129), curves, options)
    falls = {name: values[0] - values[-1] for name, values in curves.panels[""].items() if name != "minimality"}
    fallen = {name: fall for name, fall in falls.items() if fall > FALLS}
    here = ", ".join(f"{name} by {fall:.2f}" for name, fall in fallen.items()) or "no other"
    yield ClaimCheck("No other metric falls with the nuisance.", "minimality only", here, not fallen, in_part=True)


def compare_times(curves: ToyCurves, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 4: growth of computing times, which depend on the machine."""
    yield from compare((134,), curves, options)
    times = curves.panels[""]
    more = curves.ticks[-1] / curves.ticks[0]
    for name, values in times.items():
        growth = f"{values[-1] / values[0]:.1f}"
        yield ClaimCheck(f"{name}: ratio of times for {more:g} times the factors", "figure only", growth)


def write_toys(name: str, results: ToyCurves, options: Options) -> Tables:
    """Write all numbers as a table."""
    lines = [f"panel,curve,{results.across},value"]
    for panel, curves in results.panels.items():
        for curve, values in curves.items():
            rows = zip(results.ticks, values, strict=True)
            lines += [f'"{panel}","{curve}",{tick:g},{value:.6f}' for tick, value in rows]
    yield name, "\n".join(lines) + "\n"


def draw_toys(name: str, title: str, curves: ToyCurves, options: Options) -> Pictures:
    """Draw all panels; colours of curves go from blue (dependent factors) to red (independent), as in 004."""
    ordered = len(curves.panels) > 1 or name in ("fig9", "fig14")
    figure = panels_figure(
        curves.panels,
        curves.ticks,
        curves.label,
        across=curves.across,
        in_order=ordered,
        limits=(-0.04, 1.06) if curves.label == "score" else None,
        heading=title,
        logarithmic=curves.label != "score",
    )
    yield name, figure


def _toy_experiment(
    name: str,
    title: str,
    compute: Callable[[Options], ToyCurves],
    claims: tuple[int, ...] | Callable[[ToyCurves, Options], Iterator[ClaimCheck]],
    cost: str = "seconds",
) -> Experiment:
    comparison = partial(compare, claims) if isinstance(claims, tuple) else claims
    draw, write = partial(draw_toys, name, title), partial(write_toys, name)
    return Experiment(name, title, compute, comparison, draw, write, cost=cost, seeds=CURVES)


def _bins(metric: Callable[..., Score]) -> dict[str, toy_curves.Scored]:
    return {f"{n} bins": with_bins(metric, n) for n in TOY_BINS}


# fmt: off
TOYS = (
    _toy_experiment("fig2", "Eight metrics by mixing and dependence of the factors",
                    partial(toy_curves.over_mixing, TOY_METRICS), (121, 122, 123, 124, 125, 126, 127), "10 seconds"),
    _toy_experiment("fig3", "Eight metrics by the nuisance",
                    partial(toy_curves.over_nuisance, TOY_METRICS), compare_nuisance),
    _toy_experiment("fig4", "Computing time by the number of factors", toy_curves.times, compare_times, "10 seconds"),
    _toy_experiment("fig7", "Minimality by its number of bins",
                    partial(toy_curves.over_mixing, _bins(minimality)), (130, 136)),
    _toy_experiment("fig8", "Sufficiency by its number of bins",
                    partial(toy_curves.over_mixing, _bins(sufficiency)), (121, 130)),
    _toy_experiment("fig9", "Minimality and sufficiency by the nuisance and the number of bins",
                    toy_curves.over_nuisance_by_bins, (128, 129, 130)),
    _toy_experiment("fig12", "Minimality by the number of rows",
                    partial(toy_curves.over_mixing_by_rows, MINIMALITY), (131,)),
    _toy_experiment("fig13", "Sufficiency by the number of rows",
                    partial(toy_curves.over_mixing_by_rows, SUFFICIENCY), (131,)),
    _toy_experiment("fig14", "Minimality and sufficiency by the nuisance and the number of rows",
                    toy_curves.over_nuisance_by_rows, (131,)),
)
# fmt: on


STRONG, STABLE = 0.5, 0.3
ACCURACY, IRS = (best_single_code_accuracy, "accuracy"), (robustness, "IRS")
Condition = Callable[[FloatArray], Any]  # of correlations, levels x metrics x draws


def _claim_check(
    given: Correlations, claim: str, paper: str, here: str, condition: Condition, value: float
) -> ClaimCheck:
    """A claim that holds, or does not, for the encoders and for nearly all resamples of them; otherwise undecided."""
    said = bool(condition(given.values[:, :, None])[0])
    share = float((condition(given.draws) == said).mean())
    found = "undecided" if share < CERTAIN else "holds" if said else "does not hold"
    row = ClaimCheck.found(claim, paper, f"{here}; so in {share:.0%} of resampled encoders", found)
    return replace(row, value=value)


def _split(given: Correlations, metric: str, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Correlations of a metric (levels x draws), and of the others (levels x metrics x draws; undefined is -1)."""
    j = given.metrics.index(metric)
    return np.nan_to_num(table[:, j], nan=-1.0), np.nan_to_num(np.delete(table, j, axis=1), nan=-1.0)


def compare_accuracy(given: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: sufficiency has the highest and most stable correlation with accuracy."""
    yield from _numbers(given)
    of = partial(_split, given, "sufficiency")
    mine, others = (table[..., 0] for table in of(given.values[:, :, None]))

    def most(table: FloatArray) -> Any:
        return of(table)[0][0] >= of(table)[1][0].max(axis=0)

    def stable(table: FloatArray) -> Any:
        return (of(table)[0].min(axis=0) > STRONG) & (np.ptp(of(table)[0], axis=0) < STABLE)

    def fall(table: FloatArray) -> Any:
        return (of(table)[1][0] - of(table)[1].min(axis=0) > STABLE).all(axis=0)

    here = f"{mine[0]:.2f}, the best other {others[0].max():.2f}"
    claim = "independent factors: correlation of sufficiency with accuracy minus the highest of the others (above 0)"
    yield _claim_check(given, claim, "above 0", here, most, float(mine[0] - others[0].max()))
    claim = "smallest correlation of sufficiency with accuracy (above .5, and the range below .3)"
    yield _claim_check(given, claim, "stable", f"{mine.min():.2f} to {mine.max():.2f}", stable, float(mine.min()))
    n_fallen = int((others[0] - others.min(axis=0) > STABLE).sum())
    here = f"{n_fallen} of {others.shape[1]} fall by more than {STABLE}"
    claim = "other metrics whose correlation with accuracy falls by more than .3 (all)"
    yield _claim_check(given, claim, "all of them", here, fall, n_fallen)


def compare_robustness(given: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 6: minimality correlates most with IRS, and strongly, at every level of dependence."""
    yield from _numbers(given)
    of = partial(_split, given, "minimality")
    mine, others = (table[..., 0] for table in of(given.values[:, :, None]))

    def strong(table: FloatArray) -> Any:
        return of(table)[0].min(axis=0) > STRONG

    def weak(table: FloatArray) -> Any:
        return (of(table)[1].mean(axis=0) < STRONG).mean(axis=0) > 0.5

    def highest(table: FloatArray) -> Any:
        return (of(table)[0] >= of(table)[1].max(axis=1)).all(axis=0)

    claim = "smallest correlation of minimality with IRS (above .5)"
    yield _claim_check(given, claim, "yes", f"{mine.min():.2f} to {mine.max():.2f}", strong, float(mine.min()))
    n_weak = int((others.mean(axis=0) < STRONG).sum())
    claim = "other metrics whose mean correlation with IRS is below .5 (more than half)"
    here = f"{n_weak} of {others.shape[1]} below {STRONG} on average"
    yield _claim_check(given, claim, "most", here, weak, n_weak)
    n_highest = int((mine >= others.max(axis=1)).sum())
    claim = "levels on which no metric has a higher correlation with IRS than minimality (all)"
    yield _claim_check(given, claim, "yes", f"on {n_highest} of {mine.size} levels", highest, n_highest)


def compare_settings(given: Correlations, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures 10, 11, 15 and 16: the number of bins or samples hardly changes the correlations."""
    yield from _numbers(given)

    def close(table: FloatArray) -> Any:
        return np.nanmax(np.ptp(table, axis=1), axis=0) < STABLE

    def strong(table: FloatArray) -> Any:
        return np.nanmin(table, axis=(0, 1)) > STRONG

    spread, lowest = float(np.nanmax(np.ptp(given.values, axis=1))), float(np.nanmin(given.values))
    claim = "largest difference between settings at one level (below .3)"
    yield _claim_check(given, claim, "small", f"{spread:.3f}", close, spread)
    yield _claim_check(
        given, "smallest correlation of any setting (above .5)", "strong", f"{lowest:.3f}", strong, lowest
    )


def write_comparison(name: str, correlations: Correlations, options: Options) -> Tables:
    """Write the correlations and their intervals as a table."""
    lines = ["level,metric,correlation,lower,upper"]
    for i, level in enumerate(correlations.levels):
        for j, metric in enumerate(correlations.metrics):
            numbers = ",".join(
                f"{table[i, j]:.4f}" for table in (correlations.values, correlations.lower, correlations.upper)
            )
            lines.append(f'"{level}","{metric}",{numbers}')
    yield name, "\n".join(lines) + "\n"


def draw_comparison(name: str, target: str, correlations: Correlations, options: Options) -> Pictures:
    """Draw a curve for every metric over the levels of dependence."""
    curves = {metric: correlations.of(metric) for metric in correlations.metrics}
    bands = {
        metric: (correlations.lower[:, j], correlations.upper[:, j]) for j, metric in enumerate(correlations.metrics)
    }
    figure = curves_figure(
        curves, correlations.levels, f"rank correlation with {target}", bands=bands, limits=(-1.05, 1.05)
    )
    yield name, figure


def _numbers(correlations: Correlations) -> Iterator[ClaimCheck]:
    for j, metric in enumerate(correlations.metrics):
        rows = zip(correlations.values[:, j], correlations.lower[:, j], correlations.upper[:, j], strict=True)
        shown = "  ".join(f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in rows)
        yield ClaimCheck(
            f"{metric}, by level ({correlations.n_encoders} encoders, 90% intervals)", "figure only", shown
        )


N_SEEDS = 3  # with ten settings these are thirty encoders; the paper has 36
COLOURED_LEVELS: dict[str, tuple[Dependence, ...]] = {
    "independent": (),
    "one pair": (CorrelatedPair("size", "x", 0.1),),
    **{
        f"two pairs, {str(sigma).lstrip('0')}": (
            CorrelatedPair("size", "x", sigma),
            CorrelatedPair("ground hue", "shape hue", sigma),
        )
        for sigma in (0.4, 0.1, 0.04)
    },
    "confounded": (Confounder("shape", 0.2),),
}


def of_settings(options: Options) -> Named:
    """Train beta-VAEs, FactorVAEs, beta-TCVAEs and AnnealedVAEs of all seeds."""
    options = replace(options, n_seeds=options.n_seeds or N_SEEDS)
    objectives = [*beta_vaes(), *factor_vaes(), *total_correlation_vaes(), annealed_vae(options)]
    return [(f"small {model.name} {options.n_steps or N_STEPS}", model) for model in trained(options, objectives)]


def compute_small(
    models: Callable[[Options], Named],
    data: Callable[[], GridDataSet],
    levels: Mapping[str, tuple[Dependence, ...]],
    target: Target,
    options: Options,
) -> Correlations:
    """Compute rank correlations over small models that were trained here; hues are classes, as in 004."""
    images, n_rows, fleet = data(), options.n_rows or N_ROWS, models(options)
    kinds = {
        name: "categorical" if kind.startswith("circular") else kind
        for name, kind in zip(images.factor_names, images.kinds, strict=True)
    }

    def encoders(level: str) -> Iterator[tuple[str, Evidence]]:
        drawn = DependentSample(images, levels[level]) if levels[level] else images
        batch = drawn.sample(n_rows, options.seed or 0)
        for name, model in fleet:
            codes = model.encode(batch.images)
            evidence = Evidence(batch.factors, codes, factor_names=images.factor_names, kinds=kinds)
            yield f"{name} {level} {n_rows}", evidence

    return at_all_levels(encoders, METRICS, target, options)


def _experiment(
    name: str,
    title: str,
    compare: Callable[[Correlations, Options], Iterator[ClaimCheck]],
    target: Target,
    metrics: Mapping[str, Measure] = METRICS,
    prefix: str = "",
) -> Experiment:
    compute = partial(of_published, metrics, target, prefix)
    draw, write = partial(draw_comparison, name, target[1]), partial(write_comparison, name)
    options, needs = ("seed", "n_rows", "weights", "codes"), ("torch", "weights")
    cost = "10 minutes on one core for all of 004"
    return Experiment(name, title, compute, compare, draw, write, options, needs, cost, ENCODERS)


def _small_experiments(experiment: Experiment, target: Target) -> Iterator[Experiment]:
    """The same experiment with small models of several seeds, or of six losses, instead of published ones."""
    six, three = "six losses, three MLPs", "minutes on one core for fig5 or fig6, then 4 for the other"
    for suffix, words, models, data, levels, cost in (
        ("seeds", "small models, several seeds", of_settings, small_sprites, LEVELS, f"14 {three}"),
        ("losses", f"{six}, sprites", partial(of_losses, small_sprites), small_sprites, LEVELS, f"12 {three}"),
        ("coloured", f"{six}, coloured shapes", partial(of_losses, coloured_shapes), coloured_shapes,
         COLOURED_LEVELS, f"15 {three}"),
    ):  # fmt: skip
        name = f"{experiment.name}-{suffix}"
        yield replace(
            experiment,
            name=name,
            title=f"{experiment.title} ({words})",
            compute=partial(compute_small, models, data, levels, target),
            draw=partial(draw_comparison, name, target[1]),
            write=partial(write_comparison, name),
            options=("seed", "n_seeds", "n_steps", "n_rows"),
            needs=("torch",),
            cost=cost,
        )


# fmt: off
AGAINST_ACCURACY = _experiment(
    "fig5", "Metrics against the accuracy of a forest on one code", compare_accuracy, ACCURACY)
AGAINST_IRS = _experiment("fig6", "Metrics against interventional robustness", compare_robustness, IRS)
PAPER = Paper(
    "004",
    "Rethinking Disentanglement under Dependent Factors of Variation",
    (
        *TOYS,
        AGAINST_ACCURACY,
        AGAINST_IRS,
        _experiment("fig10", "Sufficiency by its number of bins, against accuracy",
                    compare_settings, ACCURACY, bins_of("sufficiency"), "sufficiency, "),
        _experiment("fig11", "Minimality by its number of bins, against IRS",
                    compare_settings, IRS, bins_of("minimality"), "minimality, "),
        _experiment("fig15", "Sufficiency by its number of samples, against accuracy",
                    compare_settings, ACCURACY, samples_of("sufficiency"), "sufficiency, "),
        _experiment("fig16", "Minimality by its number of samples, against IRS",
                    compare_settings, IRS, samples_of("minimality"), "minimality, "),
        *_small_experiments(AGAINST_ACCURACY, ACCURACY),
        *_small_experiments(AGAINST_IRS, IRS),
        RANKS,
    ),
)
# fmt: on
