"""What Figure 2 and Figures D.1 to D.3 show of the torus besides its spectrum: correlations, projections and grids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from unweave.arrays import FloatArray
from unweave.papers.experiment import ClaimCheck, Options
from unweave.synthetic.known_decoders import Torus

CIRCLES = (0, 2, 5, 7, 9)  # the pairs (0, 1), (4, 5), (10, 11), (14, 15) and (18, 19) of the paper
N_ROWS, N_DRAWN = 5000, 1500


class Invertible(Protocol):
    """A decoder that also encodes."""

    def decode(self, latents: FloatArray) -> FloatArray:
        """Data of latents."""

    def encode(self, data: FloatArray) -> FloatArray:
        """Latents of data."""


@dataclass(frozen=True, eq=False)
class TorusPictures:
    """What is drawn of a flow of the torus.

    ``pearson`` holds squared correlations of the flow's latents with the true ones (D.28, with the root it lacks), both
    in their own order; ``generated`` is data of the flow as coordinates of every circle (n x circle x 2); ``grids`` has
    for some circles lines along which the latent of the angle varies, and the latent of the radius.
    """

    pearson: FloatArray
    generated: FloatArray
    grids: dict[int, tuple[FloatArray, FloatArray]]


def torus_pictures(flow: Invertible, torus: Torus) -> TorusPictures:
    """All pictures of a flow that was trained on the torus."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((N_ROWS, torus.latent_size))
    found = flow.encode(torus.decode(truth))
    pearson = squared_correlations(found, truth)
    generated = flow.decode(rng.standard_normal((N_DRAWN, torus.latent_size)))
    partners = pearson.argmax(axis=0)  # of every true latent
    grids = {k: circle_lines(flow, torus, k, int(partners[k]), int(partners[torus.n_circles + k])) for k in CIRCLES}
    return TorusPictures(pearson, circles_of(generated, torus), grids)


def squared_correlations(one: FloatArray, other: FloatArray) -> FloatArray:
    """Squared Pearson correlation of every column of one with every column of the other.

    >>> rows = np.random.default_rng(0).normal(size=(50, 2))
    >>> squared_correlations(rows, -3 * rows).diagonal().round(6).tolist()
    [1.0, 1.0]
    """
    return np.asarray(np.corrcoef(one.T, other.T)[: one.shape[1], one.shape[1] :] ** 2)


def circles_of(data: FloatArray, torus: Torus) -> FloatArray:
    """Data (n x D) as coordinates of circles (n x circle x 2), the rotation undone."""
    return (data @ torus.rotation).reshape(len(data), torus.n_circles, 2)


def circle_lines(flow: Invertible, torus: Torus, k: int, angle: int, radius: int) -> tuple[FloatArray, FloatArray]:
    """Lines (line x point x 2) on circle k when the latent of its angle varies, and when that of its radius does."""
    levels, points = np.linspace(-2, 2, 7), np.linspace(-2.2, 2.2, 60)
    lines = []
    for moving, still in ((angle, radius), (radius, angle)):
        latents = np.zeros((len(levels), len(points), torus.latent_size))
        latents[:, :, still] = levels[:, None]
        latents[:, :, moving] = points
        images = circles_of(flow.decode(latents.reshape(-1, torus.latent_size)), torus)[:, k]
        lines.append(images.reshape(len(levels), len(points), 2))
    return lines[0], lines[1]


def compare_pearson(letter: str, found: TorusPictures, order: list[int]) -> ClaimCheck:
    """Figure 2, right: the encoder inverts the truth latent by latent with the term, and does not without."""
    by_importance = np.argsort(-Torus().true_entropies)
    matrix = found.pearson[order][:, by_importance]
    on_diagonal = int((matrix.argmax(axis=1) == np.arange(len(matrix))).sum())
    mean = float(np.diagonal(matrix).mean())
    here = f"{on_diagonal} of 20, mean {mean:.3f}"
    paper = "none" if letter == "a" else "diagonal"
    holds = on_diagonal < 10 if letter == "a" else on_diagonal == 20 and mean > 0.9
    return ClaimCheck(f"{letter}: squared correlations largest on the diagonal", paper, here, holds)


def no_flows(options: Options) -> None:
    """Figure D.1 is of the data alone."""


def nothing_to_compare(found: object, options: Options) -> Iterator[ClaimCheck]:
    """For pictures without a claim."""
    return iter(())


def draw_data(found: object, options: Options) -> Iterator[Path]:
    """Figure D.1: the first four data dimensions against each other, before the rotation."""
    from unweave.report.figures.point_clouds import projections_figure, save

    torus = Torus()
    rows = circles_of(torus.sample(N_DRAWN, 0), torus).reshape(N_DRAWN, -1)
    yield save(projections_figure(rows[:, :4], [f"x{i}" for i in range(4)]), options.folder / "000-figD1.png")


def draw_generated(found: TorusPictures, options: Options) -> Iterator[Path]:
    """Figure D.2: original and generated samples on five circles."""
    from unweave.report.figures.point_clouds import clouds_figure, save

    torus = Torus()
    original = circles_of(torus.sample(N_DRAWN, 0), torus)
    rows = {"original": original, "generated": found.generated}
    names = [f"{2 * k}, {2 * k + 1}" for k in CIRCLES]
    clouds = {name: [points[:, k] for k in CIRCLES] for name, points in rows.items()}
    yield save(clouds_figure(clouds, names), options.folder / "000-figD2.png")


def draw_grids(found: TorusPictures, options: Options) -> Iterator[Path]:
    """Figure D.3: contour grids of the flow with the total correlation."""
    from unweave.report.figures.geometry import contour_grid_figure, save

    torus = Torus()
    # all circles lie on one another, so the data of the first show where they are
    data = circles_of(torus.sample(N_DRAWN, 0), torus)[:, 0]
    panels = {f"{2 * k}, {2 * k + 1}": lines for k, lines in found.grids.items()}
    yield save(contour_grid_figure(panels, data), options.folder / "000-figD3.png")


def compare_generated(found: TorusPictures, options: Options) -> Iterator[ClaimCheck]:
    """Figure D.2 in numbers: deviations of angles and radii of generated data, against the truth."""
    torus = Torus()
    angles = np.arctan2(found.generated[..., 1], found.generated[..., 0]).std(axis=0)
    radii = np.linalg.norm(found.generated, axis=2).std(axis=0)
    ratio = np.concatenate([angles, radii]) / torus.deviations
    words = f"{ratio.min():.3f} to {ratio.max():.3f}"
    claim = "deviations of generated angles and radii, relative to the truth"
    yield ClaimCheck(claim, "the same", words, bool((np.abs(ratio - 1) < 0.15).all()))


def compare_grids(found: TorusPictures, options: Options) -> Iterator[ClaimCheck]:
    """Figure D.3 in numbers: along the latent of the angle the radius stays, and the other way round."""
    worst = 0.0
    for along_angle, along_radius in found.grids.values():
        radii = np.linalg.norm(along_angle, axis=2)
        angles = np.arctan2(along_radius[..., 1], along_radius[..., 0])
        middle = slice(5, -5)  # points within two deviations
        worst = max(
            worst, float(np.ptp(radii[:, middle], axis=1).max()), float(np.ptp(angles[:, middle], axis=1).max())
        )
    claim = "largest change of the radius along lines of the angle, and of the angle along lines of the radius"
    yield ClaimCheck.number(claim, "about 0", worst, below=0.1)
