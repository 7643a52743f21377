"""Figures 4 and E.2 to E.5 of 000: two flows of digits.

One is a volume-preserving flow (GIN) with a Gaussian per digit, and the other is a conditional flow (cINN).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from unweave.arrays import FloatArray
from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.manifold_entropic_metrics.digit_images import N_CLASSES
from unweave.papers.manifold_entropic_metrics.trained_image_flows import VALUES, MeasuredFlow, measured_flows, planned

N_STEPS = 1000
N_TANGENTS = 12
N_DRAWS = 2000
WEAK, CLEARLY_BELOW_ONE = 0.5, 0.95


@dataclass(frozen=True, eq=False)
class DigitFlows:
    """One or both flows; a flow that the figure does not need is None."""

    gin: MeasuredFlow | None
    conditional: MeasuredFlow | None


def compute_gin(options: Options) -> DigitFlows:
    """Train and measure the volume-preserving flow."""
    return _computed(options, ("gin",))


def compute_conditional(options: Options) -> DigitFlows:
    """Train and measure the conditional flow."""
    return _computed(options, ("conditional",))


def compute_both(options: Options) -> DigitFlows:
    """Train and measure both flows."""
    return _computed(options, ("gin", "conditional"))


def _computed(options: Options, names: tuple[str, ...]) -> DigitFlows:
    shapes: dict[str, dict[str, Any]] = {
        "gin": {"couplings": "gin", "n_components": N_CLASSES, "n_dense": 3 if options.quick else 6},
        "conditional": {"n_conditions": N_CLASSES},
    }
    plans = {name: planned(name, options, N_STEPS, **shapes[name]) for name in names}
    found = measured_flows(list(plans.values()), options)
    return DigitFlows(*(found[plans[name]] if name in plans else None for name in shapes))


def compare_gin(found: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 4: the variance of a latent does not measure its importance."""
    gin = found.gin
    assert gin is not None
    if gin.problem:
        yield ClaimCheck("GIN", "", gin.problem, None, 164, undecided=True)
        return
    yield ClaimCheck("GIN: held-out cost, nats per pixel", "", f"{gin.held_out:.3f}")
    rank, low, high = rank_correlation(gin.variances, gin.entropies)
    yield ClaimCheck(
        "rank correlation of latent variance and manifold entropy",
        "weak",
        f"{rank:.3f} [{low:.3f}, {high:.3f}]",
        high < WEAK,
        164,
        in_part=high < CLEARLY_BELOW_ONE,
        value=rank,
    )
    n_top = max(len(gin.entropies) // 10, 1)
    important = gin.entropies >= np.sort(gin.entropies)[-n_top]
    small = gin.variances < np.median(gin.variances)
    words = f"{int((important & small).sum())} of the {n_top} most important have less than the median variance"
    yield ClaimCheck("latents of small variance and large entropy exist", "yes", words, bool((important & small).any()))
    falls = [_largest_fall(values) for values in (0.5 * np.log(gin.variances), gin.entropies)]
    yield ClaimCheck("largest drop of log standard deviations, and its position", "after about 22", falls[0][1])
    yield ClaimCheck(
        "the entropy falls more gradually than the variance: its largest drop",
        "gradual",
        f"{falls[1][1]}, of variances {falls[0][0]:.2f}",
        falls[1][0] < falls[0][0],
    )


def rank_correlation(one: FloatArray, other: FloatArray, seed: int = 0) -> tuple[float, float, float]:
    """Spearman's correlation over latents and the ends of its 95 % bootstrap interval, resampling latents.

    >>> rank_correlation(np.arange(20.0), np.arange(20.0) ** 3)
    (1.0, 1.0, 1.0)
    """
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(N_DRAWS):
        rows = rng.integers(0, len(one), len(one))
        draws.append(stats.spearmanr(one[rows], other[rows]).statistic)
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return round(float(stats.spearmanr(one, other).statistic), 6), round(float(low), 6), round(float(high), 6)


def compare_spectra(found: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.2: both spectra are steep and similar."""
    for name, flow in (("GIN", found.gin), ("cINN", found.conditional)):
        assert flow is not None
        if flow.problem:
            yield ClaimCheck(name, "", flow.problem, None, undecided=True)
            return
        falling = np.sort(flow.entropies)[::-1]
        yield ClaimCheck(f"{name}: held-out cost, nats per pixel", "", f"{flow.held_out:.3f}")
        tenth = len(falling) // 10
        claim = f"{name}: drop of the entropy over the first tenth of latents, nats"
        yield ClaimCheck.number(claim, "very steep", float(falling[0] - falling[tenth]), above=1.0)
    assert found.gin is not None
    assert found.conditional is not None
    gap = float(np.abs(np.sort(found.gin.entropies) - np.sort(found.conditional.entropies)).mean())
    yield ClaimCheck.number("mean distance of the two sorted spectra, nats", "comparable", gap, below=0.5)


def compare_tangents(found: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figures E.3 and E.4: a latent has a similar effect on all digits."""
    for name, flow in (("GIN", found.gin), ("cINN", found.conditional)):
        if flow is None:
            continue
        if flow.problem:
            yield ClaimCheck(name, "", flow.problem, None, undecided=True)
            continue
        same, other = tangent_agreement(flow)
        words = f"{same:.3f} for the same latent, {other:.3f} for two latents"
        yield ClaimCheck(f"{name}: mean |cosine| of tangent images of two digits", "shared", words, same > 2 * other)


def tangent_agreement(flow: MeasuredFlow, n_latents: int = 20) -> tuple[float, float]:
    """Mean |cosine| of two digits' mean tangents, for the same latent and for two different important latents."""
    tangents = flow.tangents[:, :, flow.order[:n_latents]].astype(np.float64)
    directions = tangents / np.linalg.norm(tangents, axis=1, keepdims=True)
    same, other = [], []
    for a, b in combinations(range(len(directions)), 2):
        cosines = np.abs(directions[a].T @ directions[b])
        same.append(np.diagonal(cosines).mean())
        other.append(cosines[~np.eye(len(cosines), dtype=bool)].mean())
    return float(np.mean(same)), float(np.mean(other))


def compare_traversals(found: DigitFlows, options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.5: important latents change images more."""
    flow = found.conditional
    assert flow is not None
    if flow.problem:
        yield ClaimCheck("cINN", "", flow.problem, None, undecided=True)
        return
    reach = np.abs(flow.traversals[:, :, -1] - flow.traversals[:, :, 0]).sum(axis=-1).mean(axis=0)
    rank = float(stats.spearmanr(reach, flow.entropies[flow.order[: len(reach)]]).statistic)
    claim = "rank correlation of entropy and of the change from -2 to 2, first 20 latents"
    yield ClaimCheck.number(claim, "", rank, above=0.3)


def _largest_fall(values: FloatArray) -> tuple[float, str]:
    falls = -np.diff(np.sort(values)[::-1])
    return float(falls.max()), f"{falls.max():.2f} nats after {int(falls.argmax()) + 1}"


def draw_gin(found: DigitFlows, options: Options) -> Iterator[Path]:
    """Draw the spectra of entropies and of log standard deviations."""
    from unweave.report.figures.geometry import save, spectrum_figure

    if found.gin is not None and not found.gin.problem:
        spectra = {"manifold entropy": found.gin.entropies, "log deviation": 0.5 * np.log(found.gin.variances)}
        yield save(spectrum_figure(spectra), options.folder / "000-fig4.png")


def draw_spectra(found: DigitFlows, options: Options) -> Iterator[Path]:
    """Draw the spectra of both flows."""
    from unweave.report.figures.geometry import save, spectrum_figure

    named = {"GIN": found.gin, "cINN": found.conditional}
    spectra = {name: flow.entropies for name, flow in named.items() if flow is not None and not flow.problem}
    if spectra:
        yield save(spectrum_figure(spectra), options.folder / "000-figE2.png")


def draw_tangents(found: DigitFlows, options: Options) -> Iterator[Path]:
    """Draw the mean image of every digit and the mean tangents of the most important latents."""
    from unweave.report.figures.geometry import image_grid_figure, save

    for name, flow in (("E3", found.gin), ("E4", found.conditional)):
        if flow is None or flow.problem:
            continue
        side = round(flow.centres.shape[1] ** 0.5)
        tangents = flow.tangents[:, :, flow.order[:N_TANGENTS]].transpose(0, 2, 1)
        tangents = tangents / np.abs(tangents).max(axis=2, keepdims=True)
        centres = flow.centres[:, None] / np.abs(flow.centres).max()
        rows = np.concatenate([centres, tangents], axis=1).reshape(N_CLASSES, -1, side, side)
        names = ["middle", *(f"latent {i}" for i in flow.order[:N_TANGENTS])]
        figure = image_grid_figure(rows, [str(k) for k in range(N_CLASSES)], names)
        yield save(figure, options.folder / f"000-fig{name}.png")


def draw_traversals(found: DigitFlows, options: Options) -> Iterator[Path]:
    """Draw digits 0, 3, 7 and 9 along the six most important latents, with the difference of the extremes."""
    from unweave.report.figures.geometry import image_grid_figure, save

    flow = found.conditional
    if flow is None or flow.problem:
        return
    side = round(flow.centres.shape[1] ** 0.5)
    for digit in (0, 3, 7, 9):
        images = flow.traversals[digit, :6]
        change = np.abs(images[:, -1] - images[:, 0])[:, None]
        rows = np.concatenate([images, change], axis=1).reshape(6, -1, side, side)
        names = [*(f"{value:g}" for value in VALUES), "|difference|"]
        figure = image_grid_figure(rows, [f"latent {i}" for i in flow.order[:6]], names, signed=False)
        yield save(figure, options.folder / f"000-figE5-{digit}.png")
