"""Figures 5 and E.6 of 000: a wavelet flow and a GLOW-like flow of about the same likelihood, for several seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray
from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.manifold_entropic_metrics.trained_image_flows import MeasuredFlow, measured_flows, planned

N_SEEDS = 3
N_STEPS = 1000
SAME_COST = 0.05  # nats per pixel
# numbers of blocks with which both kinds of flow reach about the same likelihood
GLOW: dict[str, Any] = {"n_dense": 8}
WAVELET: dict[str, Any] = {"kind": "wavelet", "downsampling": "haar", "n_convolutional": 4, "n_dense": 2}


@dataclass(frozen=True, eq=False)
class TwoKinds:
    """Flows of both kinds for each seed; ``scales`` are the wavelet flow's ranges of latents, coarse to fine."""

    first_name: str
    second_name: str
    first: tuple[MeasuredFlow, ...]
    second: tuple[MeasuredFlow, ...]
    scales: tuple[slice, slice, slice]

    @property
    def pairs(self) -> list[tuple[MeasuredFlow, MeasuredFlow]]:
        """Pairs of flows with the same seed of which neither diverged."""
        both = zip(self.first, self.second, strict=True)
        return [(first, second) for first, second in both if not first.problem and not second.problem]


def compute(options: Options) -> TwoKinds:
    """Train and measure GLOW-like and wavelet flows."""
    return _both(options, "GLOW-like", "wavelet", GLOW, WAVELET)


def compute_convolutional(options: Options) -> TwoKinds:
    """Train and measure a wavelet flow with dense blocks, and one whose finer scales have only convolutions."""
    return _both(options, "wavelet", "wavelet convolutional", WAVELET, WAVELET | {"n_dense": 0}, n_seeds=1)


def _both(
    options: Options, one: str, other: str, first: dict[str, Any], second: dict[str, Any], n_seeds: int = N_SEEDS
) -> TwoKinds:
    seeds = range(options.n_seeds or (1 if options.quick else n_seeds))
    plans = {
        name: [planned(f"{name} seed {seed}", options, N_STEPS, seed, **shape) for seed in seeds]
        for name, shape in ((one, first), (other, second))
    }
    # both kinds of a seed before the next seed, so that an interrupted run has complete pairs
    found = measured_flows([plan for pair in zip(*plans.values(), strict=True) for plan in pair], options)
    size = (8 if options.quick else 16) ** 2
    scales = (slice(0, size // 16), slice(size // 16, size // 4), slice(size // 4, size))
    flows = {name: tuple(found[plan] for plan in group) for name, group in plans.items()}
    return TwoKinds(one, other, flows[one], flows[other], scales)


def compare(found: TwoKinds, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 5: the wavelet flow has less total correlation and more entropy in coarse latents."""
    yield from _numbers(found)
    pairs = found.pairs
    if not pairs:
        yield ClaimCheck("both kinds", "", "no seed with which both were trained", None, 164, undecided=True)
        return
    gaps = [second.held_out - first.held_out for first, second in pairs]
    yield ClaimCheck(
        "held-out costs differ by less than .05 nats per pixel for each seed",
        "comparable",
        ", ".join(f"{gap:+.3f}" for gap in gaps),
        all(abs(gap) < SAME_COST for gap in gaps),
        in_part=any(abs(gap) < SAME_COST for gap in gaps),
    )
    lower = [first.per_latent - second.per_latent for first, second in pairs]
    yield ClaimCheck(
        "total correlation of the wavelet flow is below that of the GLOW-like one",
        ".5 against 1.9",
        f"{_mean(pairs, 1):.3f} against {_mean(pairs, 0):.3f} nats per latent; {_interval(lower)}",
        all(gap > 0 for gap in lower),
        164,
        in_part=any(gap > 0 for gap in lower),
        value=float(np.mean(lower)),
    )
    means = np.array([[second.entropies[scale].mean() for scale in found.scales] for _, second in pairs])
    yield ClaimCheck(
        "mean entropy is highest for coarse latents and lowest for fine latents",
        "coarse, middle, fine",
        ", ".join(f"{value:.2f}" for value in means.mean(axis=0)),
        bool((np.diff(means, axis=1) < 0).all()),
    )
    shared = np.array([[second.mean_information(scale, scale) for scale in found.scales] for _, second in pairs])
    yield ClaimCheck(
        "pairs of coarse latents have more mutual information than pairs of finer latents",
        "more",
        ", ".join(f"{value:.4f}" for value in shared.mean(axis=0)),
        bool((shared[:, 0] > shared[:, 1:].max(axis=1)).all()),
    )


def compare_convolutional(found: TwoKinds, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.6: similar results, with a more intricate information matrix at the finer scales."""
    yield from _numbers(found)
    for dense, convolutional in found.pairs:
        fine = found.scales[2]
        spread = [_spread(flow.information[fine, fine]) for flow in (dense, convolutional)]
        words = f"{spread[1]:.2f} against {spread[0]:.2f}"
        claim = "information of fine pairs varies more with convolutions only (standard deviation over mean)"
        yield ClaimCheck(claim, "more intricate", words, spread[1] > spread[0])
        gap = abs(convolutional.per_latent - dense.per_latent)
        yield ClaimCheck.number("difference of total correlations, nats per latent", "comparable", gap, below=0.25)


def _numbers(found: TwoKinds) -> Iterator[ClaimCheck]:
    for name, flows in ((found.first_name, found.first), (found.second_name, found.second)):
        for k, flow in enumerate(flows):
            words = f"cost {flow.held_out:.3f} nats per pixel, total correlation {flow.per_latent:.3f} per latent"
            yield ClaimCheck(f"{name}, seed {k}", "", flow.problem or words)


def _mean(pairs: list[tuple[MeasuredFlow, MeasuredFlow]], which: int) -> float:
    return float(np.mean([pair[which].per_latent for pair in pairs]))


def _interval(values: list[float]) -> str:
    """Mean difference with its 95 % interval over seeds."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"difference {mean:.3f}, one seed"
    reach = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return f"difference {mean:.3f} [{mean - reach:.3f}, {mean + reach:.3f}]"


def _spread(block: FloatArray) -> float:
    return float(np.nanstd(block) / np.nanmean(block))


def draw(found: TwoKinds, options: Options) -> Iterator[Path]:
    """Draw spectra and information matrices of the first seed for Figure 5."""
    yield from _drawn(found, options, "000-fig5")


def draw_convolutional(found: TwoKinds, options: Options) -> Iterator[Path]:
    """Draw spectra and information matrices of the first seed for Figure E.6."""
    yield from _drawn(found, options, "000-figE6")


def _drawn(found: TwoKinds, options: Options, stem: str) -> Iterator[Path]:
    from unweave.report.figures.geometry import information_figure, save, spectrum_figure

    for first, second in found.pairs[:1]:
        named = {found.first_name: first, found.second_name: second}
        spectra = {name: flow.entropies for name, flow in named.items()}
        yield save(spectrum_figure(spectra), options.folder / f"{stem}-spectrum.png")
        matrices = {name: flow.information for name, flow in named.items()}
        largest = float(np.nanquantile(np.concatenate([matrix.ravel() for matrix in matrices.values()]), 0.99))
        yield save(information_figure(matrices, largest=largest), options.folder / f"{stem}-information.png")
