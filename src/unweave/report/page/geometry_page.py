"""What each latent of a decoder of images does, as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from unweave.arrays import FloatArray
from unweave.evaluation import Evaluation
from unweave.evidence import Evidence, EvidenceError
from unweave.metrics.geometry.spectrum import Spectrum, traversals
from unweave.whole_files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LATENTS = 12
MOST_IN_MATRIX = 128
VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)
ImageShape = tuple[int, int, int]


@dataclass(frozen=True)
class PictureSection:
    """A picture of the page with its heading and what it shows; the picture is a PNG in base64, or there is none."""

    heading: str
    words: str
    picture: str | None


def geometry_page(
    name: str, found: Spectrum, information: FloatArray, shape: ImageShape, traversed: FloatArray | None
) -> str:
    """Spectrum with its knee, mean tangent images, traversals, and the matrix of pairs, on one page.

    Parameters
    ----------
    name : str
        What the decoder is called.
    found : Spectrum
    information : array, d x d
        Manifold mutual information of pairs.
    shape : (channels, height, width)
        Of an image.
    traversed : array (latent x value x D), optional
        Images of the most important latents at -2, -1, 0, 1 and 2; None if there are Jacobians alone.
    """
    environment = Environment(
        loader=PackageLoader("unweave.report.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    sections = list(_sections(found, information, shape, traversed))
    facts = {
        "latents": str(len(found.names)),
        "image": " x ".join(map(str, shape)),
        "total correlation": f"{found.total_correlation:.3f} nats",
        "effective dimension": f"{found.effective_dimension:.2f}",
    }
    return environment.get_template("geometry.html.j2").render(name=name, facts=facts, sections=sections)


def write_geometry_page(
    path: Path,
    name: str,
    evidence: Evidence,
    found: Spectrum,
    evaluation: Evaluation,
    stated: ImageShape | None = None,
) -> None:
    """Write the page of a decoder that was evaluated already."""
    shape = image_shape(found.tangents.shape[0], stated)
    dimensions = found.order[:MOST_LATENTS]
    can_decode = hasattr(evidence.decoder, "decode")
    traversed = traversals(evidence, dimensions, VALUES) if can_decode else None
    information = evaluation["manifold_mutual_information"].parts["matrix"]
    page = geometry_page(name, found, information, shape, traversed)
    write_whole(path, lambda file: file.write(page.encode()))


def image_shape(n_outputs: int, stated: ImageShape | None = None) -> ImageShape:
    """The shape of an image with so many numbers: as stated, or square with one or three channels.

    >>> image_shape(1024), image_shape(12288)
    ((1, 32, 32), (3, 64, 64))
    """
    if stated is not None:
        if math.prod(stated) != n_outputs:
            raise EvidenceError(
                f"Images of {' x '.join(map(str, stated))} have {math.prod(stated)} numbers, and this decoder gives "
                f"{n_outputs}: state channels, height and width of its images."
            )
        return stated
    for n_channels in (1, 3):
        side = math.isqrt(n_outputs // n_channels)
        if n_channels * side * side == n_outputs and side > 1:
            return n_channels, side, side
    raise EvidenceError(
        f"A decoder with {n_outputs} outputs does not give square images with one or three channels: state their shape "
        "with --image-shape CHANNELS,HEIGHT,WIDTH."
    )


def _sections(
    found: Spectrum, information: FloatArray, shape: ImageShape, traversed: FloatArray | None
) -> Iterator[PictureSection]:
    from unweave.report.figures.geometry import information_figure, spectrum_figure, tangent_figure

    shown = found.order[:MOST_LATENTS]
    (place, drop), count = found.knee, len(found.names)
    knee = f" The largest drop is {drop:.2f} nats, after {place} of {count} latents." if count > 1 else ""
    yield PictureSection(
        "How much each latent moves the image",
        "The manifold entropy of every latent, in nats: sorted (strong) and in the decoder's own order (faint). A "
        f"latent with 1 nat more moves the image 2.7 times as far.{knee}",
        _embedded(spectrum_figure({"sorted": found.entropies}, knee=place if count > 1 else None)),
    )
    grey = found.tangents.reshape(*shape, -1).mean(axis=0).reshape(shape[1] * shape[2], -1)
    yield PictureSection(
        "What each latent does on average",
        "The mean derivative of the image by each latent, the most important first: where it turns brighter (red) and "
        "darker (blue). Channels are averaged. A latent that does opposite things to different images looks pale here.",
        _embedded(tangent_figure(grey, shape[1:], shown, found.names)),
    )
    words = "Each row moves one latent from -2 to 2 while all others are 0; the last column is the absolute difference "
    words += "of the extremes, on a scale of its own in every row."
    if traversed is None:
        words = "Jacobians alone cannot decode latents, so there are no traversals: name the decoder itself."
    yield PictureSection(
        "What changes along each latent",
        words,
        None if traversed is None else _embedded(_traversal_figure(traversed, shape, [found.names[i] for i in shown])),
    )
    order = found.order[:MOST_IN_MATRIX]
    yield PictureSection(
        "Which latents do the same",
        "The manifold mutual information of every pair, in nats, with the most important latents first. 0 means that "
        "two latents move the image in orthogonal directions."
        + (f" Only the first {MOST_IN_MATRIX} latents are shown." if count > MOST_IN_MATRIX else ""),
        _embedded(information_figure({"": information[np.ix_(order, order)]}, "latent by rank", "latent by rank"))
        if count > 1
        else None,
    )


def _traversal_figure(traversed: FloatArray, shape: ImageShape, names: list[str]) -> Figure:
    from unweave.report.figures.geometry import traversal_figure

    images = traversed.reshape(*traversed.shape[:2], *shape).transpose(0, 1, 3, 4, 2)
    return traversal_figure(images, names, [f"{value:g}" for value in VALUES])


def _embedded(figure: Figure) -> str:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    return base64.b64encode(buffer.getvalue()).decode()
