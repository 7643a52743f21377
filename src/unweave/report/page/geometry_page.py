"""A self-contained HTML page that shows how each latent of an image decoder changes the images."""

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
    """A section of the page: heading, description, and a PNG in base64, which is None if there is no picture."""

    heading: str
    words: str
    picture: str | None


def geometry_page(
    name: str, found: Spectrum, information: FloatArray, shape: ImageShape, traversed: FloatArray | None
) -> str:
    """Return the page with the spectrum, mean tangent images, traversals, and the matrix of pairs of latents.

    Parameters
    ----------
    name : str
        Name of the decoder.
    found : Spectrum
    information : array, d x d
        Manifold mutual information of each pair of latents.
    shape : (channels, height, width)
        Shape of an image.
    traversed : array (latent x value x D), optional
        Images of the most important latents at -2, -1, 0, 1 and 2, or None if only Jacobians are known.
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
    """Write the page of a decoder that has been evaluated."""
    shape = image_shape(found.tangents.shape[0], stated)
    dimensions = found.order[:MOST_LATENTS]
    can_decode = hasattr(evidence.decoder, "decode")
    traversed = traversals(evidence, dimensions, VALUES) if can_decode else None
    information = evaluation["manifold_mutual_information"].parts["matrix"]
    page = geometry_page(name, found, information, shape, traversed)
    write_whole(path, lambda file: file.write(page.encode()))


def image_shape(n_outputs: int, stated: ImageShape | None = None) -> ImageShape:
    """Return the stated shape of the images, or infer a square shape with one or three channels.

    >>> image_shape(1024), image_shape(12288)
    ((1, 32, 32), (3, 64, 64))
    """
    if stated is not None:
        if math.prod(stated) != n_outputs:
            raise EvidenceError(
                f"Images of {' x '.join(map(str, stated))} have {math.prod(stated)} numbers, and this decoder returns "
                f"{n_outputs}: state channels, height and width of its images."
            )
        return stated
    for n_channels in (1, 3):
        side = math.isqrt(n_outputs // n_channels)
        if n_channels * side * side == n_outputs and side > 1:
            return n_channels, side, side
    raise EvidenceError(
        f"A decoder with {n_outputs} outputs does not return square images with 1 or 3 channels: state their shape "
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
        "How much each latent changes the image",
        "The manifold entropy of each latent in nats, sorted (strong line) and in the order of the decoder (faint "
        f"line). A latent with 1 nat more changes the image 2.7 times as much.{knee}",
        _embedded(spectrum_figure({"sorted": found.entropies}, knee=place if count > 1 else None)),
    )
    grey = found.tangents.reshape(*shape, -1).mean(axis=0).reshape(shape[1] * shape[2], -1)
    yield PictureSection(
        "The mean effect of each latent",
        "The mean derivative of the image with respect to each latent; the most important latent comes first. Pixels "
        "that become brighter are red, and pixels that become darker are blue. Channels are averaged. If the effect "
        "of a latent has opposite signs in different images, its mean is close to 0.",
        _embedded(tangent_figure(grey, shape[1:], shown, found.names)),
    )
    words = "In each row, one latent goes from -2 to 2 and all others are 0. The last column is the absolute "
    words += "difference between the first and the last image, and it is scaled separately in each row."
    if traversed is None:
        words = (
            "There are no traversals, because latents cannot be decoded with Jacobians alone: pass the decoder itself."
        )
    yield PictureSection(
        "Traversals of each latent",
        words,
        None if traversed is None else _embedded(_traversal_figure(traversed, shape, [found.names[i] for i in shown])),
    )
    order = found.order[:MOST_IN_MATRIX]
    yield PictureSection(
        "Which latents have the same effect",
        "The manifold mutual information of each pair of latents in nats; the most important latents come first. 0 "
        "means that two latents change the image in orthogonal directions."
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
