"""What `unweave reproduce` prints and draws for the figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.papers.manifold_entropic_metrics import TrainedFlow
from unweave.report.figures.geometry import contour_grid_figure, information_figure, save, spectrum_figure
from unweave.synthetic.known_decoders import Torus, TwoMoons


def drawn(figure: str, flows: dict[str, TrainedFlow], folder: Path) -> list[Path]:
    """Write the pictures of a figure of 000; their paths."""
    if figure == "fig1":
        panels = {name: grid_lines(flow) for name, flow in flows.items()}
        parts = {name: _parts(flow) for name, flow in flows.items()}
        return [save(contour_grid_figure(panels, TwoMoons().sample(2000, 0), parts), folder / "000-fig1.png")]
    truth = Torus().true_entropies
    spectra = {name: flow.spectrum.entropies for name, flow in flows.items()}
    crosses = {name: flow.cross_information for name, flow in flows.items() if flow.cross_information is not None}
    return [
        save(spectrum_figure(spectra, truth), folder / "000-fig2-spectrum.png"),
        save(
            information_figure(crosses, "latent of the flow, sorted", "latent of the truth, sorted"),
            folder / "000-fig2-cross-information.png",
        ),
    ]


def grid_lines(flow: TrainedFlow, n_lines: int = 9, reach: float = 2.2) -> tuple[FloatArray, FloatArray]:
    """Lines along which the more important latent varies, and lines along which the other does."""
    levels, points = np.linspace(-reach, reach, n_lines), np.linspace(-reach, reach, 400)
    first, second = flow.spectrum.order
    lines = []
    for moving, still in ((first, second), (second, first)):
        latents = np.zeros((n_lines, len(points), 2))
        latents[:, :, moving], latents[:, :, still] = points, levels[:, None]
        lines.append(flow.decoder.decode(latents.reshape(-1, 2)).reshape(n_lines, -1, 2))
    return lines[0], lines[1]


def table(flows: dict[str, TrainedFlow]) -> Any:
    """The numbers of every flow, as a rich table."""
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("nats")
    for name in flows:
        shown.add_column(name, justify="right")
    summaries = [flow.summary() for flow in flows.values()]
    for key in summaries[0]:
        values = [summary[key] for summary in summaries]
        if isinstance(values[0], list):
            cells = [f"{entries[0]:.3f} to {entries[-1]:.3f}" for entries in values]
        else:
            cells = [f"{value:.3f}" for value in values]
        shown.add_row(key, *cells)
    if all(flow.cross_information is not None for flow in flows.values()):
        truth = Torus().true_entropies
        shown.add_row(
            "distance from the true spectrum", *(f"{flow.distance_from(truth):.3f}" for flow in flows.values())
        )
        shown.add_row("rows on the diagonal", *(f"{flow.rows_on_the_diagonal()} of 20" for flow in flows.values()))
    return shown


def _parts(flow: TrainedFlow) -> tuple[float, float, float]:
    first, second = flow.spectrum.sorted_entropies
    return float(first), float(second), flow.total_correlation
