"""Experiments of 000."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from unweave.report.figures.geometry import information_figure, spectrum_figure
from unweave.synthetic.known_decoders import Torus, TwoMoons
from unweave_papers.experiment import ClaimCheck, Experiment, Options, Paper, Pictures
from unweave_papers.figures import contour_grid_figure
from unweave_papers.paper000 import image_flows, images, pictures
from unweave_papers.paper000.flows import (
    TrainedFlow,
    compare_linear,
    compare_spread,
    compute_spread,
    draw_linear,
    draw_spread,
    linear_flows,
    torus,
    two_moons,
)
from unweave_papers.paper000.image_flows import CONVOLUTIONAL, GLOW, WAVELET

N_LATENTS, N_FEW = 50, 10  # the paper has 100 and 10
Flows = dict[str, TrainedFlow]


def compare_two_moons(flows: Flows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with the caption of Figure 1: three objectives give equal likelihoods but use the latents differently."""
    yield from _numbers(flows)
    likelihood, correlation, reconstruction = flows.values()
    costs = [flow.negative_log_likelihood for flow in flows.values()]
    yield ClaimCheck.number("largest difference of likelihoods", "about 0", max(costs) - min(costs), below=0.05)
    shared = likelihood.total_correlation
    yield ClaimCheck.number("A: total correlation is high", ".777 in the notebook", shared, above=0.5, ledger=161)
    yield ClaimCheck.number("B: total correlation is low", "low", correlation.total_correlation, below=0.1)
    gap = float(np.subtract(*reconstruction.spectrum.entropies))  # the first latent is the core
    yield ClaimCheck.number("C: entropy of the core latent minus that of the other", "large", gap, above=1.5)


def compare_torus(flows: Flows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 2: latents match the true ones only in the flow trained with the total correlation term."""
    yield from _numbers(flows)
    truth = Torus().true_entropies
    alone, with_term = flows.values()
    per_latent = [flow.total_correlation / len(flow.spectrum.entropies) for flow in (alone, with_term)]
    yield ClaimCheck.number("a: total correlation per latent", ".90", per_latent[0], above=0.3, ledger=156)
    yield ClaimCheck.number("b: total correlation per latent", ".014", per_latent[1], below=0.03, ledger=156)
    distances = [flow.distance_from(truth) for flow in (alone, with_term)]
    yield ClaimCheck.number("a: largest distance from the true spectrum", "large", distances[0], above=0.5, ledger=157)
    yield ClaimCheck.number(
        "b: largest distance from the true spectrum", "about 0", distances[1], below=0.1, ledger=157
    )
    for letter, flow, holds in (("a", alone, range(10)), ("b", with_term, range(20, 21))):
        assert flow.cross_information is not None
        n_matched = pictures.n_on_diagonal(flow.cross_information)
        paper = "none" if letter == "a" else "all 20"
        claim = f"{letter}: latents that match a true latent"
        yield ClaimCheck(claim, paper, f"{n_matched} of 20", n_matched in holds, 157, value=n_matched)
        if flow.pictures is not None:
            yield pictures.compare_pearson(letter, flow.pictures, flow.spectrum.order)


def _numbers(flows: Flows) -> Iterator[ClaimCheck]:
    for name, flow in flows.items():
        entropies = flow.spectrum.sorted_entropies
        yield ClaimCheck(f"{name}: negative log-likelihood", "", f"{flow.negative_log_likelihood:.3f}")
        yield ClaimCheck(f"{name}: total entropy", "", f"{flow.spectrum.cumulative[-1]:.3f}")
        yield ClaimCheck(f"{name}: manifold entropies", "", f"{entropies[0]:.3f} to {entropies[-1]:.3f}")
        yield ClaimCheck(f"{name}: total correlation", "", f"{flow.total_correlation:.3f}")


def draw_two_moons(flows: Flows, options: Options) -> Pictures:
    """Draw contour grids over the data, and the entropies as bars."""
    lines = {name: flow.grid_lines for name, flow in flows.items() if flow.grid_lines is not None}
    entropies = {}
    for name, flow in flows.items():
        first, second = map(float, flow.spectrum.sorted_entropies)
        entropies[name] = (first, second, flow.total_correlation)
    yield "fig1", contour_grid_figure(lines, TwoMoons().sample(2000, 0), entropies)


def draw_torus(flows: Flows, options: Options) -> Pictures:
    """Draw the spectra and the true spectrum, and mutual information and correlations with the true latents."""
    spectra = {name: flow.spectrum.entropies for name, flow in flows.items()}
    yield "fig2-spectrum", spectrum_figure(spectra, Torus().true_entropies)
    crosses = {name: flow.cross_information for name, flow in flows.items() if flow.cross_information is not None}
    figure = information_figure(crosses, "latent of the flow, sorted", "latent of the truth, sorted")
    yield "fig2-cross-information", figure
    by_importance = np.argsort(-Torus().true_entropies)
    pearson = {
        name: flow.pictures.pearson[flow.spectrum.order][:, by_importance]
        for name, flow in flows.items()
        if flow.pictures is not None
    }
    figure = information_figure(
        pearson, "latent of the flow, sorted", "latent of the truth, sorted", 1.0, "squared correlation"
    )
    yield "fig2-pearson", figure


def torus_pictures_of(which: int, options: Options) -> pictures.TorusPictures:
    """Return the pictures of the flow trained by likelihood alone (0) or with the total correlation term (1)."""
    shown = list(torus(options).values())[which].pictures
    assert shown is not None
    return shown


ONE = "One training of each model: numbers have no intervals."
THREE = "Three trainings of each model unless --seeds is given: intervals are 95 % intervals over them."
of_toys = partial(Experiment, options=("seed", "n_steps"), needs=("torch",), seeds=ONE)
of_flows = partial(Experiment, options=("seed", "n_steps", "data", "quick"), needs=("torch", "data"), seeds=ONE)
of_seeds = partial(
    Experiment, options=("seed", "n_seeds", "n_steps", "data", "quick"), needs=("torch", "data"), seeds=THREE
)
of_vaes = partial(
    Experiment, options=("seed", "n_steps", "data", "weights", "quick"), needs=("torch", "data"), seeds=ONE
)

# fmt: off
PAPER = Paper(
    "000",
    "Galperin and Koethe: Analyzing Generative Models by Manifold Entropic Metrics",
    (
        of_toys("fig1", "Flows of two moons, trained by likelihood alone and with two further terms",
                two_moons, compare_two_moons, draw_two_moons, cost="4 minutes on one core"),
        of_toys("fig2", "Flows of a torus, trained by likelihood alone and with the total correlation",
                torus, compare_torus, draw_torus, cost="6 minutes on one core"),
        of_seeds("fig3", "Flows of digits with a reconstruction term for a core of latents: the knee of the spectrum",
                 image_flows.compute_core, image_flows.compare_core, partial(image_flows.draw_core, "fig3"),
                 cost="13 minutes on one core"),
        of_flows("fig4", "GIN of digits: the variance of a latent against its manifold entropy",
                 partial(image_flows.compute_digits, ("GIN",)), image_flows.compare_gin,
                 partial(image_flows.draw_spectra, "fig4"), cost="2 minutes on one core"),
        of_seeds("fig5", "A wavelet flow of digits against a GLOW-like one",
                 partial(image_flows.compute_kinds, {"GLOW-like": GLOW, "wavelet": WAVELET}, image_flows.N_SEEDS),
                 image_flows.compare_wavelet, partial(image_flows.draw_kinds, "fig5"), cost="10 minutes on one core"),
        of_vaes("fig6", "beta-VAEs of digits with 50 latents: spectra over beta, and of published decoders",
                partial(images.compute, N_LATENTS), images.compare, partial(images.draw, "fig6"),
                cost="2 minutes on one core"),
        Experiment("figB1", "Two linear flows of a Gaussian distribution: a general one, and PCA",
                   linear_flows, compare_linear, draw_linear, options=(),
                   seeds="Nothing is trained, and the numbers are exact."),
        of_flows("figC1", "Standard deviation of the metrics over 40 runs, by the number of samples",
                 compute_spread, compare_spread, draw_spread, cost="4 minutes on one core",
                 seeds="40 runs of one flow: intervals are 95 % intervals from resampled runs."),
        of_seeds("figE1", "Mutual information between core and other latents in the flows of fig3",
                 image_flows.compute_core, image_flows.compare_information, partial(image_flows.draw_core, "figE1"),
                 cost="seconds after fig3"),
        of_flows("figE2", "Spectra of GIN and of the conditional flow (cINN) of digits",
                 partial(image_flows.compute_digits, ("GIN", "cINN")), image_flows.compare_spectra,
                 partial(image_flows.draw_spectra, "figE2"), cost="4 minutes on one core"),
        of_flows("figE3", "Mean tangent images of GIN, digit by digit",
                 partial(image_flows.compute_digits, ("GIN",)), image_flows.compare_tangents,
                 image_flows.draw_tangents, cost="seconds after fig4"),
        of_flows("figE4", "Mean tangent images of the conditional flow, digit by digit",
                 partial(image_flows.compute_digits, ("cINN",)), image_flows.compare_tangents,
                 image_flows.draw_tangents, cost="seconds after figE2"),
        of_flows("figE5", "Traversals of the conditional flow",
                 partial(image_flows.compute_digits, ("cINN",)), image_flows.compare_traversals,
                 image_flows.draw_traversals, cost="seconds after figE2"),
        of_flows("figE6", "A wavelet flow that has only convolutions at the finer scales",
                 partial(image_flows.compute_kinds, {"wavelet": WAVELET, "wavelet convolutional": CONVOLUTIONAL}, 1),
                 image_flows.compare_convolutional, partial(image_flows.draw_kinds, "figE6"),
                 cost="3 minutes on one core after fig5"),
        of_vaes("figE7", "beta-VAEs of digits with 10 latents: spectra over beta, and of published decoders",
                partial(images.compute, N_FEW), images.compare, partial(images.draw, "figE7"),
                cost="4 minutes on one core"),
        of_vaes("figE8", "Total entropy and total correlation over beta, 50 latents",
                partial(images.compute, N_LATENTS), images.compare_totals, partial(images.draw_totals, "figE8"),
                cost="a minute after fig6"),
        of_vaes("figE9", "Total entropy and total correlation over beta, 10 latents",
                partial(images.compute, N_FEW), images.compare_totals, partial(images.draw_totals, "figE9"),
                cost="a minute after figE7"),
        Experiment("figD1", "Data of the torus, the first four dimensions",
                   lambda options: None, pictures.compare_data, pictures.draw_data, options=(),
                   seeds="2,000 samples of the closed form; nothing is trained."),
        of_toys("figD2", "Data of the torus beside samples of the flow trained by likelihood alone",
                partial(torus_pictures_of, 0), pictures.compare_generated, pictures.draw_generated,
                cost="seconds after fig2"),
        of_toys("figD3", "Contour grids of the flow of the torus trained with the total correlation",
                partial(torus_pictures_of, 1), pictures.compare_grids, pictures.draw_grids,
                cost="seconds after fig2"),
    ),
)
# fmt: on
