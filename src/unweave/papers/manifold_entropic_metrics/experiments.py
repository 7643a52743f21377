"""The experiments of 000: comparisons of their flows with the paper, and their figures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper
from unweave.papers.manifold_entropic_metrics import torus_pictures
from unweave.papers.manifold_entropic_metrics.picture_experiments import PICTURES
from unweave.papers.manifold_entropic_metrics.torus_pictures import TorusPictures, compare_pearson
from unweave.papers.manifold_entropic_metrics.trained_flows import TrainedFlow, torus, two_moons
from unweave.synthetic.known_decoders import Torus, TwoMoons

Flows = dict[str, TrainedFlow]


def compare_two_moons(flows: Flows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with the caption of Figure 1: three objectives give equal likelihoods but use the latents differently."""
    yield from _numbers(flows)
    likelihood, correlation, reconstruction = flows.values()
    costs = [flow.negative_log_likelihood for flow in flows.values()]
    yield ClaimCheck.number("largest difference of likelihoods", "about 0", max(costs) - min(costs), below=0.05)
    shared = likelihood.total_correlation
    yield ClaimCheck.number("A: total correlation is high", ".777 in the notebook", shared, above=0.5, ledger=161)
    yield ClaimCheck.number("B: total correlation is 0", "about 0", correlation.total_correlation, below=0.1)
    gap = float(np.subtract(*reconstruction.spectrum.sorted_entropies))
    yield ClaimCheck.number("C: entropy of the core latent minus that of the other", "large", gap, above=1.5)


def compare_torus(flows: Flows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 2: latents match the true ones only in the flow trained with the total correlation term."""
    yield from _numbers(flows)
    truth = Torus().true_entropies
    alone, with_term = flows.values()
    per_latent = [flow.total_correlation_per_latent for flow in (alone, with_term)]
    yield ClaimCheck.number("a: total correlation per latent", ".90", per_latent[0], above=0.3, ledger=156)
    yield ClaimCheck.number("b: total correlation per latent", ".014", per_latent[1], below=0.03, ledger=156)
    distances = [flow.distance_from(truth) for flow in (alone, with_term)]
    yield ClaimCheck.number("a: largest distance from the true spectrum", "large", distances[0], above=0.5, ledger=157)
    yield ClaimCheck.number(
        "b: largest distance from the true spectrum", "about 0", distances[1], below=0.1, ledger=157
    )
    for letter, flow, holds in (("a", alone, range(10)), ("b", with_term, range(20, 21))):
        found = flow.rows_on_the_diagonal()
        paper = "none" if letter == "a" else "all 20"
        claim = f"{letter}: latents that match a true latent"
        yield ClaimCheck(claim, paper, f"{found} of 20", found in holds, 157, value=found)
        if flow.pictures is not None:
            yield compare_pearson(letter, flow.pictures, flow.spectrum.order)


def _numbers(flows: Flows) -> Iterator[ClaimCheck]:
    for name, flow in flows.items():
        entropies = flow.spectrum.sorted_entropies
        yield ClaimCheck(f"{name}: negative log-likelihood", "", f"{flow.negative_log_likelihood:.3f}")
        yield ClaimCheck(f"{name}: total entropy", "", f"{flow.spectrum.cumulative[-1]:.3f}")
        yield ClaimCheck(f"{name}: manifold entropies", "", f"{entropies[0]:.3f} to {entropies[-1]:.3f}")
        yield ClaimCheck(f"{name}: total correlation", "", f"{flow.total_correlation:.3f}")


def draw_two_moons(flows: Flows, options: Options) -> Iterator[Path]:
    """Draw contour grids over the data, and the entropies as bars."""
    from unweave.report.figures.geometry import contour_grid_figure, save

    lines = {name: flow.grid_lines for name, flow in flows.items() if flow.grid_lines is not None}
    entropies = {}
    for name, flow in flows.items():
        first, second = map(float, flow.spectrum.sorted_entropies)
        entropies[name] = (first, second, flow.total_correlation)
    yield save(contour_grid_figure(lines, TwoMoons().sample(2000, 0), entropies), options.folder / "000-fig1.png")


def draw_torus(flows: Flows, options: Options) -> Iterator[Path]:
    """Draw the spectra and the true spectrum, and mutual information and correlations with the true latents."""
    from unweave.report.figures.geometry import information_figure, save, spectrum_figure

    spectra = {name: flow.spectrum.entropies for name, flow in flows.items()}
    yield save(spectrum_figure(spectra, Torus().true_entropies), options.folder / "000-fig2-spectrum.png")
    crosses = {name: flow.cross_information for name, flow in flows.items() if flow.cross_information is not None}
    figure = information_figure(crosses, "latent of the flow, sorted", "latent of the truth, sorted")
    yield save(figure, options.folder / "000-fig2-cross-information.png")
    by_importance = np.argsort(-Torus().true_entropies)
    pearson = {
        name: flow.pictures.pearson[flow.spectrum.order][:, by_importance]
        for name, flow in flows.items()
        if flow.pictures is not None
    }
    figure = information_figure(
        pearson, "latent of the flow, sorted", "latent of the truth, sorted", 1.0, "squared correlation"
    )
    yield save(figure, options.folder / "000-fig2-pearson.png")


def torus_pictures_of(which: int, options: Options) -> TorusPictures:
    """Return the pictures of the flow trained by likelihood alone (0) or with the total correlation term (1)."""
    found = list(torus(options).values())[which].pictures
    assert found is not None
    return found


PAPER = Paper(
    "000",
    "Galperin and Koethe: Analyzing Generative Models by Manifold Entropic Metrics",
    (
        Experiment(
            "fig1",
            "Flows of two moons, trained by likelihood alone and with two further terms",
            compute=two_moons,
            compare=compare_two_moons,
            draw=draw_two_moons,
            options=("seed", "n_steps"),
            needs=("torch",),
            cost="4 minutes on one core",
        ),
        Experiment(
            "fig2",
            "Flows of a torus, trained by likelihood alone and with the total correlation",
            compute=torus,
            compare=compare_torus,
            draw=draw_torus,
            options=("seed", "n_steps"),
            needs=("torch",),
            cost="6 minutes on one core",
        ),
        *PICTURES,
        Experiment(
            "figD1",
            "Data of the torus, the first four dimensions",
            compute=torus_pictures.no_flows,
            compare=torus_pictures.nothing_to_compare,
            draw=torus_pictures.draw_data,
            options=(),
        ),
        Experiment(
            "figD2",
            "Data of the torus beside samples of the flow trained by likelihood alone",
            compute=partial(torus_pictures_of, 0),
            compare=torus_pictures.compare_generated,
            draw=torus_pictures.draw_generated,
            options=("seed", "n_steps"),
            needs=("torch",),
            cost="seconds after fig2",
        ),
        Experiment(
            "figD3",
            "Contour grids of the flow of the torus trained with the total correlation",
            compute=partial(torus_pictures_of, 1),
            compare=torus_pictures.compare_grids,
            draw=torus_pictures.draw_grids,
            options=("seed", "n_steps"),
            needs=("torch",),
            cost="seconds after fig2",
        ),
    ),
)
