"""Experiments of 001."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from unweave.report.figures.geometry import information_figure
from unweave_papers.experiment import ClaimCheck, Experiment, Options, Paper, Pictures
from unweave_papers.figures import bars_figure, curves_figure, pairs_figure
from unweave_papers.paper001 import models
from unweave_papers.paper001.models import BINS, GRID, MODEL_DRAWS, SEED_STUDIES, TABLE, Numbers, by_model, models_in
from unweave_papers.paper001.representations import REPRESENTATIONS

FACTORS = ("shape", "scale", "orientation", "x", "y")
Table = dict[str, tuple[float, ...]]

TABLE_8: Table = {
    "FactorVAE": (0.2412, 0.7139, 0.0523, 0.7198, 0.7256),
    "beta-VAE": (0.0481, 0.1533, 0.0, 0.4127, 0.4193),
    "AAE": (0.0053, 0.0786, 0.0098, 0.3932, 0.4509),
}

TABLE_9: Table = {
    "FactorVAE": (0.6841, 0.3422, 0.7204, 0.2908, 0.2727),
    "beta-VAE": (0.8642, 0.8087, 0.9199, 0.5629, 0.5576),
    "AAE": (0.8426, 0.8143, 0.8665, 0.5738, 0.5258),
}

INFORMATIVE = 0.05  # smallest information of an informative code, in nats
SMALL = 0.05


def compare_rmig(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare RMIG with Table 8."""
    yield from _table(numbers, TABLE_8)
    yield from _verdict(numbers, better="higher")
    for name, row in numbers.items():
        told, untold = min(row["x"], row["y"]), max(row[name] for name in ("shape", "orientation") if name in row)
        here = f"positions at least {told:.3f}, shape and orientation at most {untold:.3f}"
        claim = f"{name}: RMIG of positions minus that of shape and orientation"
        yield ClaimCheck(claim, "yes", here, told > untold, 146, value=told - untold)


def compare_jemmig(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare JEMMIG with Table 9; lower is better."""
    yield from _table(numbers, TABLE_9)
    yield from _verdict(numbers, better="lower")
    for name, row in models_in(numbers, "FactorVAE", "beta-VAE"):
        here = f"{row['scale']:.3f} and {row['x']:.3f}"
        more = row["scale"] - row["x"]
        yield ClaimCheck(f"{name}: JEMMIG of scale minus that of x", "above 0", here, more > 0, 146, value=more)


def compare_modularity(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 8: both versions of modularity rate VAE above FactorVAE, unlike JEMMIG."""
    for name, row in numbers.items():
        yield ClaimCheck(name, "figure only", ", ".join(f"{what} {value:.3f}" for what, value in row.items()))
    if {"VAE", "FactorVAE"} <= numbers.keys():
        for version in ("of means", "of q(z | x)"):
            first, second = numbers["VAE"][version], numbers["FactorVAE"][version]
            here = f"{first:.3f} and {second:.3f}"
            yield ClaimCheck(f"modularity {version} rates VAE above FactorVAE", "yes", here, first > second)


def compare_informativeness(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 9: VAEs have uninformative codes."""
    for name, values in numbers.items():
        yield ClaimCheck(name, "figure only", _list(values))
        uninformative = _nats(values[-1]) < INFORMATIVE
        yield ClaimCheck(f"{name}: some codes are uninformative", "yes", f"{values[-1]:.4f}", uninformative)


def compare_informative_codes(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 14: FactorVAE has five informative codes."""
    for name, values in numbers.items():
        n_informative = sum(_nats(value) > INFORMATIVE for value in values)
        paper, holds = ("5", n_informative == 5) if name in ("FactorVAE", "AAE") else ("figure only", None)
        here = f"{n_informative} of {len(values)}"
        yield ClaimCheck(f"{name}: codes with more than {INFORMATIVE} nats", paper, here, holds)


def compare_bins(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 17: scores change with the number of bins, but the order of models does not."""
    for name, row in numbers.items():
        for score, values in row.items():
            yield ClaimCheck(f"{name}: {score} at {_list(BINS)} bins", "figure only", _list(values))
    for score in ("RMIG", "JEMMIG"):
        columns = np.array([row[score] for row in numbers.values()]).T
        orders = [np.argsort(column).tolist() for column in columns]
        settled = next(k for k in range(len(BINS)) if all(order == orders[-1] for order in orders[k:]))
        claim = f"{score}: the order of models does not change with the number of bins"
        yield ClaimCheck(claim, "yes", f"the same from {BINS[settled]} bins on", settled == 0, 141)
    moved = max(abs(row["RMIG"][-1] - row["RMIG"][-2]) for row in numbers.values())
    yield ClaimCheck.number("largest change of RMIG above 200 bins", "stable", moved, below=0.02, ledger=141)
    rises = all(np.diff(row["JEMMIG"][2:]).min() > 0 for row in numbers.values())
    yield ClaimCheck("JEMMIG rises from 50 bins on", "always", "yes" if rises else "not for all", rises, 142)


def compare_draws(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 18: estimates do not depend on the number of draws."""
    for name, row in numbers.items():
        for score, values in row.items():
            spread = max(values) - min(values)
            here = f"{_list(values)} at {_list(MODEL_DRAWS)}"
            yield ClaimCheck(f"{name}: {score} is stable", "yes", here, spread < SMALL)


def compare_correlations(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 20: means are more correlated than draws."""
    for name, row in numbers.items():
        correlations = (np.abs(np.array(row[what])) for what in ("means", "draws"))
        means, draws = (float(np.nanmax(np.where(np.eye(len(table)), 0, table))) for table in correlations)
        here = f"means up to {means:.3f}, draws up to {draws:.3f}"
        yield ClaimCheck(f"{name}: means are more correlated than draws", "yes", here, means > draws + SMALL)


def compare_shared(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Report three-way information (Eq 2); codes are separable if it is 0, and the paper gives no figures."""
    for name, row in numbers.items():
        matrix = np.array(row["I(x, z_i, z_j)"], dtype=np.float64)
        pairs = matrix[np.triu_indices(len(matrix), k=1)]
        if not np.isfinite(pairs).any():
            yield ClaimCheck(f"{name}: I(x, z_i, z_j)", "no figure", "undefined: every pair identifies every sample")
            continue
        here = f"mean {row['mean']:.3f} +- {row['standard error']:.3f} nats, largest pair {np.nanmax(pairs):.3f}"
        if n_undefined := int(np.isnan(pairs).sum()):
            here += f", {n_undefined} pairs undefined"
        yield ClaimCheck(f"{name}: I(x, z_i, z_j)", "no figure", here)


def compare_matrices(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 23: means overestimate the information of noisy codes."""
    for name, row in numbers.items():
        posterior, means = np.array(row["q(z | x)"]), np.array(row["means"])
        means = means[: len(posterior)]
        noisy = posterior.max(axis=1)[: len(means)] < SMALL
        claim = f"{name}: means overestimate the information of noisy codes"
        if not noisy.any():
            yield ClaimCheck(claim, "yes", "it has no noisy code")
            continue
        first, second = float(means[noisy].max()), float(posterior[: len(means)][noisy].max())
        here = f"{first:.3f} nats from means, {second:.3f} from q(z | x), {int(noisy.sum())} noisy codes"
        yield ClaimCheck(claim, "yes", here, first > second + 0.01)


def compare_estimates(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 24: H_q = H_s - log(bin width), and RMIG does not depend on the estimator."""
    width = 8 / GRID.bins
    for name, row in numbers.items():
        drawn, quantised = row["JEMMIG"]
        paper, more = f"-log(width) = {-math.log(width):.3f}", quantised - drawn
        holds = abs(more + math.log(width)) < 2 * SMALL
        yield ClaimCheck(f"{name}: JEMMIG on the grid minus JEMMIG by sampling", paper, f"{more:.3f}", holds, 143)
        drawn, quantised = row["RMIG"]
        here, holds = f"{drawn:.3f} and {quantised:.3f}", abs(drawn - quantised) < SMALL / 2
        yield ClaimCheck(f"{name}: RMIG by sampling and on the grid", "equal", here, holds, 143)


def compare_gaps(numbers: Numbers, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 25: RMIG equals MIG of Chen et al., but not of Locatello et al. if beta is large."""
    for name, row in numbers.items():
        chen, locatello = row["MIG (Chen)"] - row["RMIG"], row["MIG (Locatello)"] - row["RMIG"]
        here, holds = f"{row['RMIG']:.3f} and {row['MIG (Chen)']:.3f}", abs(chen) < SMALL / 2
        yield ClaimCheck(f"{name}: MIG of Chen et al. minus RMIG", "0", here, holds, 148, value=chen)
        here = f"{row['MIG (Locatello)']:.3f}, {locatello:+.3f}"
        yield ClaimCheck(f"{name}: MIG of Locatello et al.", "higher for beta >= 20", here)


def _table(numbers: Numbers, table: Table) -> Iterator[ClaimCheck]:
    for name, row in numbers.items():
        stated = dict(zip(FACTORS, table.get(name, ()), strict=False))
        paper = _list(stated[factor] for factor in row if factor in stated) or "not in the table"
        yield ClaimCheck(f"{name}: {', '.join(row)}", paper, _list(row.values()))


def _verdict(numbers: Numbers, better: str) -> Iterator[ClaimCheck]:
    """Check whether FactorVAE is better than beta-VAE for every factor, which is the paper's main claim."""
    if not {"FactorVAE", "beta-VAE"} <= numbers.keys():
        return
    sign = 1 if better == "higher" else -1
    first, second = numbers["FactorVAE"], numbers["beta-VAE"]
    ahead = [factor for factor in first if sign * (first[factor] - second[factor]) > 0]
    means = (float(np.mean(list(row.values()))) for row in (first, second))
    here = f"on {', '.join(ahead) or 'no factor'}; means {next(means):.3f} and {next(means):.3f}"
    whole = len(ahead) == len(first)
    claim = f"factors with a better {'RMIG' if sign > 0 else 'JEMMIG'} of FactorVAE than of beta-VAE, of {len(first)}"
    yield ClaimCheck(claim, "on every factor", here, whole, 146, in_part=bool(ahead), value=len(ahead))


def _nats(share: float) -> float:
    return share * math.log(GRID.bins)


def _list(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def draw_bars(label: str, table: Table, name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw scores as bars by model, with marks for the paper's numbers."""
    marks = {model: dict(zip(FACTORS, row, strict=True)) for model, row in table.items()}
    yield name, bars_figure(numbers, label, marks=marks or None)


def draw_sorted(name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw the informativeness of codes, the most informative code first."""
    shown = (dict(models_in(numbers, "FactorVAE", "beta-VAE", "AAE")) if name == "fig14" else numbers) or numbers
    longest = max(map(len, shown.values()))
    curves = {model: [*values, *[np.nan] * (longest - len(values))] for model, values in shown.items()}
    figure = curves_figure(curves, range(1, longest + 1), "informativeness, normalised", across="code")
    yield name, figure


def draw_curves(across: str, ticks: Sequence[int], name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw scores against the number of bins or draws, one figure per score."""
    for score in next(iter(numbers.values())):
        curves = {model: row[score] for model, row in numbers.items()}
        yield f"{name}-{score.replace(' ', '-')}", curves_figure(curves, ticks, score, across=across)


def draw_matrices(name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw matrices as heat maps, one figure per model."""
    for model, row in numbers.items():
        matrices = {what: np.abs(np.array(matrix)) for what, matrix in row.items()}
        yield f"{name}-{model}", information_figure(matrices, "code", "column")


def draw_shared(name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw heat maps of three-way information of pairs of codes, one figure per model."""
    pairs = {model: {"I(x, z_i, z_j)": row["I(x, z_i, z_j)"]} for model, row in numbers.items()}
    yield from draw_matrices(name, pairs, options)


def draw_estimates(name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw scores estimated by sampling against scores on the grid."""
    for score in ("JEMMIG", "RMIG"):
        points = {model: ([row[score][0]], [row[score][1]]) for model, row in numbers.items()}
        figure = pairs_figure(points, f"{score}, by drawing", f"{score}, on the grid")
        yield f"{name}-{score}", figure


def draw_gaps(name: str, numbers: Numbers, options: Options) -> Pictures:
    """Draw RMIG against the two implementations of MIG."""
    for other in ("MIG (Chen)", "MIG (Locatello)"):
        points = {model: ([row["RMIG"]], [row[other]]) for model, row in numbers.items()}
        yield f"{name}-{other.split('(')[1][:-1]}", pairs_figure(points, "RMIG", other)


def _experiment(
    name: str,
    title: str,
    measure: Callable[..., Any],
    compare: Callable[[Numbers, Options], Iterator[ClaimCheck]],
    draw: Callable[[str, Numbers, Options], Pictures],
    cost: str = "1 minute on one core, after 2 for the codes",
) -> Experiment:
    compute = partial(by_model, measure.__name__.replace("_", " "), measure)
    options, needs = ("seed", "n_rows", "weights", "codes"), ("torch", "weights")
    seeds = "One training of each encoder: numbers have no intervals. Dashes are the paper's numbers."
    drawn = partial(draw, name)
    return Experiment(name, title, compute, compare, drawn, options=options, needs=needs, cost=cost, seeds=seeds)


# fmt: off
PAPER = Paper(
    "001",
    "Theory and Evaluation Metrics for Learning Disentangled Representations",
    (
        TABLE,
        _experiment("tab8", "RMIG of every factor", models.rmig_per_factor, compare_rmig,
                    partial(draw_bars, "RMIG, normalised", TABLE_8)),
        _experiment("tab9", "JEMMIG of every factor", models.jemmig_per_factor, compare_jemmig,
                    partial(draw_bars, "JEMMIG, normalised (lower is better)", TABLE_9)),
        _experiment("fig8", "Modularity of means and of posteriors", models.modularities, compare_modularity,
                    partial(draw_bars, "score", {})),
        _experiment("fig9",
                    "Informativeness of every code, all models (the paper uses faces, which are not available here)",
                    models.informativeness_per_code, compare_informativeness, draw_sorted),
        _experiment("fig14", "Informativeness of every code, FactorVAE and beta-VAE",
                    models.informativeness_per_code, compare_informative_codes, draw_sorted),
        _experiment("fig17", "RMIG, JEMMIG and joint entropy by the number of bins",
                    models.scores_by_bins, compare_bins, partial(draw_curves, "bins", BINS)),
        _experiment("fig18", "JEMMIG and WSEPIN by the number of draws", models.scores_by_draws, compare_draws,
                    partial(draw_curves, "draws", MODEL_DRAWS), "8 minutes on one core"),
        _experiment("fig20", "Correlations between codes, by means and by draws",
                    models.correlations, compare_correlations, draw_matrices),
        _experiment("eq2", "Three-way information I(x, z_i, z_j) of every pair of codes",
                    models.shared_by_two_codes, compare_shared, draw_shared),
        _experiment("fig23", "Mutual information estimated from posteriors and from means, and importances",
                    models.matrices, compare_matrices, draw_matrices),
        _experiment("fig24", "Drawn against quantised JEMMIG and RMIG",
                    models.sampled_and_quantised, compare_estimates, draw_estimates, "3 minutes on one core"),
        _experiment("fig25", "RMIG against two other implementations of MIG",
                    models.three_gaps, compare_gaps, draw_gaps, "3 minutes on one core"),
        *SEED_STUDIES,
        *REPRESENTATIONS,
    ),
)
# fmt: on
