"""Figures C.1 and B.1 of 000: standard deviation of estimates by the number of samples, and the geometry of PCA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.geometry.priors import StandardNormal
from unweave.evidence import Evidence
from unweave.metrics.geometry.manifolds import Sampling, geometry
from unweave.metrics.geometry.spectrum import spectrum
from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.manifold_entropic_metrics.digit_images import digit_images
from unweave.papers.manifold_entropic_metrics.trained_image_flows import kept_at, planned, trained_flow
from unweave.papers.manifold_entropic_metrics.wavelet_flows import GLOW, N_STEPS
from unweave.synthetic.known_decoders import LinearDecoder

N_RUNS = 10
SIZES, QUICK_SIZES = (5, 10, 20, 40), (4, 8, 16, 32)
COVARIANCE = np.array([[2.0, 1.2], [1.2, 1.0]])


@dataclass(frozen=True, eq=False)
class SampleSpread:
    """Standard deviations of three metrics over runs, in nats per latent, for every number of samples."""

    n_samples: tuple[int, ...]
    deviations: dict[str, list[float]]


def compute_spread(options: Options) -> SampleSpread:
    """Measure the GLOW-like flow of Figure 5 in ten runs, each with different latents."""
    from unweave.neural.image_flows.class_decoders import class_decoder

    digits = digit_images(options)
    plan = planned("GLOW-like seed 0", options, N_STEPS, **GLOW)
    flow = trained_flow(plan, digits, kept_at(plan, digits, options).with_suffix(".pt"), options.progress)
    sizes = QUICK_SIZES if options.quick else SIZES
    evidence = Evidence(decoder=class_decoder(flow))
    found = geometry(evidence, Sampling(StandardNormal(), N_RUNS * sizes[-1], options.seed or 0))
    return spread(found.log_lengths, found.log_directions, sizes)


def spread(log_lengths: FloatArray, log_directions: FloatArray, sizes: tuple[int, ...]) -> SampleSpread:
    """Average the first n samples of every run, for every n in ``sizes``, and return standard deviations over runs."""
    n_each = len(log_lengths) // N_RUNS
    lengths = log_lengths[: N_RUNS * n_each].reshape(N_RUNS, n_each, -1)
    directions = log_directions[: N_RUNS * n_each].reshape(N_RUNS, n_each)
    n_latents = lengths.shape[2]
    values: dict[str, list[float]] = {"manifold entropy": [], "total correlation": [], "total entropy": []}
    for n in sizes:
        values["manifold entropy"].append(float(lengths[:, :n].mean(axis=1).std(axis=0, ddof=1).mean()))
        shared = -directions[:, :n].mean(axis=1) / n_latents
        values["total correlation"].append(float(shared.std(ddof=1)))
        total = lengths[:, :n].mean(axis=(1, 2)) - shared
        values["total entropy"].append(float(total.std(ddof=1)))
    return SampleSpread(sizes, values)


def compare_spread(found: SampleSpread, options: Options) -> Iterator[ClaimCheck]:
    """Check that standard deviations fall with about the inverse square root of the number of samples."""
    for name, deviations in found.deviations.items():
        words = ", ".join(f"{n}: {value:.4f}" for n, value in zip(found.n_samples, deviations, strict=True))
        falls = deviations[-1] < 0.6 * deviations[0]
        yield ClaimCheck(f"deviation of the {name} over {N_RUNS} runs, by samples", "decreases", words, falls)
    slope = np.polyfit(np.log(found.n_samples), np.log(found.deviations["manifold entropy"]), 1)[0]
    yield ClaimCheck.number(
        "slope of the log deviation of entropies by log samples", "", float(slope), above=-0.65, below=-0.35
    )


def draw_spread(found: SampleSpread, options: Options) -> Iterator[Path]:
    """Plot the standard deviations over runs against the number of samples."""
    from unweave.report.figures.curves import curves_figure, save

    label = "deviation over runs (nats per latent)"
    figure = curves_figure(found.deviations, found.n_samples, label, across="samples")
    yield save(figure, options.folder / "000-figC1.png")


def compute_pca(options: Options) -> LinearDecoder:
    """Return the PCA of a two-dimensional Gaussian."""
    return LinearDecoder.principal_components(COVARIANCE)


def compare_pca(decoder: LinearDecoder, options: Options) -> Iterator[ClaimCheck]:
    """Check B.22 to B.27: entropies follow from the eigenvalues, and the total correlation is 0."""
    found = spectrum(decoder, n_samples=10)
    eigenvalues = np.linalg.eigvalsh(COVARIANCE)[::-1]
    expected = 0.5 * (1 + np.log(2 * np.pi * eigenvalues))
    error = float(np.abs(found.sorted_entropies - expected).max())
    yield ClaimCheck.number("distance of entropies from (1 + log 2 pi lambda) / 2", "0", error, below=1e-9, ledger=160)
    yield ClaimCheck.number("total correlation", "0", found.total_correlation, above=-1e-9, below=1e-9, ledger=160)


def draw_pca(decoder: LinearDecoder, options: Options) -> Iterator[Path]:
    """Draw the contour grid of PCA over its data."""
    from unweave.report.figures.geometry import contour_grid_figure, save

    levels, points = np.linspace(-2, 2, 9), np.linspace(-2.2, 2.2, 50)
    lines = []
    for moving in (0, 1):
        latents = np.zeros((9, 50, 2))
        latents[:, :, moving], latents[:, :, 1 - moving] = points, levels[:, None]
        lines.append(decoder.decode(latents.reshape(-1, 2)).reshape(9, 50, 2))
    data = decoder.decode(np.random.default_rng(0).standard_normal((2000, 2)))
    yield save(contour_grid_figure({"PCA": (lines[0], lines[1])}, data), options.folder / "000-figB1.png")
