"""Declarations of the image experiments of 000: flows and VAEs of digits, and further figures of its appendix."""

from __future__ import annotations

from functools import partial

from unweave.papers.experiment import Experiment
from unweave.papers.manifold_entropic_metrics import core_flows, digit_flows, sample_sizes, vae_spectra, wavelet_flows

N_LATENTS, N_FEW = 50, 10  # the paper has 100 and 10
of_flows = partial(Experiment, options=("seed", "n_steps", "data", "quick"), needs=("torch", "data"))
of_seeds = partial(Experiment, options=("seed", "n_seeds", "n_steps", "data", "quick"), needs=("torch", "data"))
of_vaes = partial(Experiment, options=("seed", "n_steps", "data", "weights", "quick"), needs=("torch",))

PICTURES = (
    of_seeds(
        "fig3",
        "Flows of digits with a reconstruction term for a core of latents: the knee of the spectrum",
        compute=core_flows.compute,
        compare=core_flows.compare,
        draw=core_flows.draw,
        cost="13 minutes on one core",
    ),
    of_flows(
        "fig4",
        "GIN of digits: the variance of a latent against its manifold entropy",
        compute=digit_flows.compute_gin,
        compare=digit_flows.compare_gin,
        draw=digit_flows.draw_gin,
        cost="2 minutes on one core",
    ),
    of_seeds(
        "fig5",
        "A wavelet flow of digits against a GLOW-like one",
        compute=wavelet_flows.compute,
        compare=wavelet_flows.compare,
        draw=wavelet_flows.draw,
        cost="10 minutes on one core",
    ),
    of_vaes(
        "fig6",
        "beta-VAEs of digits with 50 latents: spectra over beta, and of published decoders",
        compute=partial(vae_spectra.compute, N_LATENTS),
        compare=vae_spectra.compare,
        draw=partial(vae_spectra.draw, "fig6"),
        cost="2 minutes on one core",
    ),
    Experiment(
        "figB1",
        "The geometry of PCA in two dimensions",
        compute=sample_sizes.compute_pca,
        compare=sample_sizes.compare_pca,
        draw=sample_sizes.draw_pca,
        options=(),
    ),
    of_flows(
        "figC1",
        "Standard deviation of the metrics over ten runs, by the number of samples",
        compute=sample_sizes.compute_spread,
        compare=sample_sizes.compare_spread,
        draw=sample_sizes.draw_spread,
        cost="4 minutes on one core",
    ),
    of_seeds(
        "figE1",
        "Mutual information between core and other latents in the flows of fig3",
        compute=core_flows.compute,
        compare=core_flows.compare_information,
        draw=core_flows.draw_information,
        cost="seconds after fig3",
    ),
    of_flows(
        "figE2",
        "Spectra of GIN and of the conditional flow (cINN) of digits",
        compute=digit_flows.compute_both,
        compare=digit_flows.compare_spectra,
        draw=digit_flows.draw_spectra,
        cost="4 minutes on one core",
    ),
    of_flows(
        "figE3",
        "Mean tangent images of GIN, digit by digit",
        compute=digit_flows.compute_gin,
        compare=digit_flows.compare_tangents,
        draw=digit_flows.draw_tangents,
        cost="seconds after fig4",
    ),
    of_flows(
        "figE4",
        "Mean tangent images of the conditional flow, digit by digit",
        compute=digit_flows.compute_conditional,
        compare=digit_flows.compare_tangents,
        draw=digit_flows.draw_tangents,
        cost="seconds after figE2",
    ),
    of_flows(
        "figE5",
        "Traversals of the conditional flow",
        compute=digit_flows.compute_conditional,
        compare=digit_flows.compare_traversals,
        draw=digit_flows.draw_traversals,
        cost="seconds after figE2",
    ),
    of_flows(
        "figE6",
        "A wavelet flow that has only convolutions at the finer scales",
        compute=wavelet_flows.compute_convolutional,
        compare=wavelet_flows.compare_convolutional,
        draw=wavelet_flows.draw_convolutional,
        cost="3 minutes on one core after fig5",
    ),
    of_vaes(
        "figE7",
        "beta-VAEs of digits with 10 latents: spectra over beta, and of published decoders",
        compute=partial(vae_spectra.compute, N_FEW),
        compare=vae_spectra.compare,
        draw=partial(vae_spectra.draw, "figE7"),
        cost="4 minutes on one core",
    ),
    of_vaes(
        "figE8",
        "Total entropy and total correlation over beta, 50 latents",
        compute=partial(vae_spectra.compute, N_LATENTS),
        compare=vae_spectra.compare_totals,
        draw=partial(vae_spectra.draw_totals, "figE8"),
        cost="a minute after fig6",
    ),
    of_vaes(
        "figE9",
        "Total entropy and total correlation over beta, 10 latents",
        compute=partial(vae_spectra.compute, N_FEW),
        compare=vae_spectra.compare_totals,
        draw=partial(vae_spectra.draw_totals, "figE9"),
        cost="a minute after figE7",
    ),
)
