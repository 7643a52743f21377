"""Traversals of latents as rows of images, with the difference of the extremes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unweave.arrays import FloatArray


def traversal_figure(images: FloatArray, row_names: Sequence[str], column_names: Sequence[str]) -> Figure:
    """Images (latent x value x height x width x channels, one or three); a last column has |last - first|.

    Images share one scale of grey or colour; the difference has its own in every row, where black is no change.
    """
    n_rows, n_columns = images.shape[:2]
    figure = Figure(figsize=(1.2 + 0.95 * (n_columns + 1), 0.3 + 0.95 * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(n_rows, n_columns + 1, squeeze=False)
    low, high = float(images.min()), float(images.max())
    scaled = (images - low) / max(high - low, 1e-12)
    for i, row in enumerate(scaled):
        change = np.abs(row[-1] - row[0]).mean(axis=-1, keepdims=True)
        for axes, image in zip(grid[i], [*row, change / max(float(change.max()), 1e-12)], strict=True):
            axes.imshow(image if image.shape[-1] == 3 else image[..., 0], cmap="gray", vmin=0, vmax=1)
            axes.set_xticks([])
            axes.set_yticks([])
        grid[i][0].set_ylabel(row_names[i], fontsize=8, rotation=0, ha="right", va="center")
    for axes, name in zip(grid[0], [*column_names, "|difference|"], strict=True):
        axes.set_title(name, fontsize=8)
    return figure
