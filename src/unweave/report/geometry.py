"""Page and table of a decoder's spectrum."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Group
from rich.text import Text

from unweave.arrays import FloatArray
from unweave.errors import InputError, UnweaveError
from unweave.evaluation import Evaluation
from unweave.evidence import Evidence
from unweave.metrics.manifolds import Spectrum, square_image, traversals
from unweave.report.answer import TextTable
from unweave.report.html import content_policy
from unweave.report.terminal import WRAPPED_OF_DECODERS, number_table, text_columns
from unweave.sentences import counted
from unweave.whole_files import write_output

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
    """Return the page with the spectrum, mean tangent images, traversals, and the information of pairs of latents.

    ``shape`` is that of an image, and ``traversed`` are images of the most important latents (latent x value x D) at
    -2, -1, 0, 1 and 2, or None if only Jacobians are known.
    """
    environment = Environment(
        loader=PackageLoader("unweave.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    sections = list(_sections(found, information, shape, traversed))
    by_chance = {
        "with randomly rotated latents": found.rotated_total_correlation,
        "with random directions": found.random_total_correlation,
    }
    facts = {
        "latents": str(len(found.names)),
        "image": " x ".join(map(str, shape)),
        "total correlation": f"{found.total_correlation:.3f} nats",
        **{name: f"{value:.3f} nats" for name, value in by_chance.items() if not math.isnan(value)},
    }
    return environment.get_template("geometry.html.j2").render(
        name=name, facts=facts, sections=sections, policy=content_policy
    )


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
    write_output(path, page)


def image_shape(n_outputs: int, stated: ImageShape | None = None) -> ImageShape:
    """Return the stated shape of the images, or infer a square shape with one or three channels.

    >>> image_shape(1024), image_shape(12288)
    ((1, 32, 32), (3, 64, 64))
    """
    if stated is not None:
        if math.prod(stated) != n_outputs:
            raise InputError(
                f"Images of {' x '.join(map(str, stated))} have {math.prod(stated)} numbers, and this decoder returns "
                f"{n_outputs}: state channels, height and width of its images."
            )
        return stated
    if (inferred := square_image(n_outputs)) is not None:
        return inferred
    raise InputError(
        f"A decoder with {n_outputs} outputs does not return square images with 1 or 3 channels: state their shape "
        "with --image-shape CHANNELS,HEIGHT,WIDTH, or write the page of outputs that are no image with --html."
    )


def _sections(
    found: Spectrum, information: FloatArray, shape: ImageShape, traversed: FloatArray | None
) -> Iterator[PictureSection]:
    from unweave.report.figures.geometry import information_figure, spectrum_figure, tangent_figure, traversal_figure

    shown = found.order[:MOST_LATENTS]
    (place, drop), count = found.largest_drop, len(found.names)
    knee = f" The largest drop is {drop:.2f} nats, after {place} of {count} latents." if count > 1 else ""
    knee += "" if found.knee or count == 1 else " It is no knee, which is a drop of at least 1 nat."
    yield PictureSection(
        "How much each latent changes the image",
        "The manifold entropy of each latent in nats, sorted (strong line) and in the order of the decoder (faint "
        f"line). A latent with 1 nat more changes the image 2.7 times as much.{knee}",
        _embedded(spectrum_figure({"sorted": found.entropies}, knee=found.knee and place)),
    )
    grey = found.tangents.reshape(*shape, -1).mean(axis=0).reshape(shape[1] * shape[2], -1)
    yield PictureSection(
        "The mean effect of each latent",
        "The mean derivative of the image with respect to each latent; the most important latent comes first. Pixels "
        "that become brighter are red, and pixels that become darker are blue. Channels are averaged. If the effect "
        "of a latent has opposite signs in different images, its mean is close to 0.",
        _embedded(tangent_figure(grey, shape[1:], shown, found.names)),
    )
    words = "There are no traversals, because latents cannot be decoded with Jacobians alone: pass the decoder itself."
    picture = None
    if traversed is not None:
        words = "In each row, one latent goes from -2 to 2 and all others are 0. The last column is the absolute "
        words += "difference between the first and the last image, and it is scaled separately in each row."
        images = traversed.reshape(*traversed.shape[:2], *shape).transpose(0, 1, 3, 4, 2)
        names = [found.names[i] for i in shown]
        picture = _embedded(traversal_figure(images, names, [f"{value:g}" for value in VALUES]))
    yield PictureSection("Traversals of each latent", words, picture)
    order = found.order[:MOST_IN_MATRIX]
    yield PictureSection(
        "Which latents have the same effect",
        "The manifold mutual information of each pair of latents in nats, which is "
        "manifold_mutual_information(decoder).parts['matrix'] in Python; the most important latents come first. 0 "
        "means that two latents change the image in orthogonal directions."
        + (f" Only the first {MOST_IN_MATRIX} latents are shown." if count > MOST_IN_MATRIX else ""),
        _embedded(information_figure({"": information[np.ix_(order, order)]}, "latent by rank", "latent by rank"))
        if count > 1
        else None,
    )


def _embedded(figure: Figure) -> str:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    return base64.b64encode(buffer.getvalue()).decode()


LATENTS_SHOWN = 30
KEPT = (
    "Kept so far is the joint entropy of the latents down to this row, which counts shared information once. It can "
    "fall: 0 nats are a change by 0.24 units of the outputs, and a latent whose own change is smaller adds less than 0."
)


@dataclass(frozen=True)
class GeometryFacts:
    """What `unweave geometry` prints beside the scores: the latents by decreasing entropy, and the totals in nats.

    ``kept_so_far`` is the joint entropy of the first 1, 2, ... latents; the first ``n_kept`` keep ``keep`` nats.
    """

    n_outputs: int
    latents: tuple[str, ...]
    kept_so_far: tuple[float, ...]
    effective_dimension: float
    largest_drop: float
    n_before_drop: int
    total_correlation: float
    rotated_total_correlation: float
    random_total_correlation: float
    keep: float | None = None
    n_kept: int | None = None


def geometry_facts(found: Spectrum, keep: float | None = None) -> GeometryFacts:
    """Return the totals of a spectrum, and how many latents keep so many nats (None if no number does).

    >>> from unweave.metrics.manifolds import spectrum
    >>> geometry_facts(spectrum(np.diag([1.0, 4.0, 0.1])), keep=4.0).n_kept
    2
    """
    return GeometryFacts(
        n_outputs=len(found.tangents),
        latents=tuple(found.names[i] for i in found.order),
        kept_so_far=tuple(found.cumulative.tolist()),
        effective_dimension=found.effective_dimension,
        largest_drop=found.largest_drop[1],
        n_before_drop=found.largest_drop[0],
        total_correlation=found.total_correlation,
        rotated_total_correlation=found.rotated_total_correlation,
        random_total_correlation=found.random_total_correlation,
        keep=keep,
        n_kept=None if keep is None or not (found.cumulative >= keep).any() else found.n_for(keep),
    )


def geometry_table(
    found: Spectrum,
    evaluation: Evaluation,
    keep: float | None = None,
    sentences: Sequence[str] = (),
    tables: Sequence[TextTable] = (),
) -> Group:
    """Return the totals, a table of the 30 most important latents, and the given sentences and tables about them.

    If ``keep`` is given, a sentence says how many latents are needed to keep this number of nats.
    """
    parts = evaluation["manifold_mutual_information"].parts
    matrix, together = parts["matrix"], parts.get("all_others", ())
    partners = np.nan_to_num(matrix, nan=-1.0).argmax(axis=1)
    of_others = ["all others"] if len(together) else []
    heads = ("latent", "entropy", "+-", "kept so far", "shares most with", "nats", *of_others)
    lines: list[tuple[str, ...]] = []
    for rank, i in enumerate(found.order[:LATENTS_SHOWN]):
        kept = f"{found.cumulative[rank]:.3f}" if rank < len(found.cumulative) else ""
        partner = (found.names[partners[i]], f"{matrix[i, partners[i]]:.3f}") if len(found.names) > 1 else ("", "")
        entropy = (f"{found.entropies[i]:.3f}", f"{found.standard_errors[i]:.3f}")
        lines.append((found.names[i], *entropy, kept, *partner, *(f"{each:.3f}" for each in together[i : i + 1])))
    rest = len(found.names) - LATENTS_SHOWN
    are = "is" if rest == 1 else "are"
    return Group(
        Text(_heading(found, evaluation)),
        number_table(heads, lines, left=("latent", "shares most with")),
        *([Text(f"{counted(rest, 'latent')} with less entropy {are} not shown.")] if rest > 0 else []),
        *([Text(KEPT, style="dim")] if len(found.names) > 1 else []),
        *([Text(_answer(found, keep))] if keep is not None else []),
        *(Text(sentence) for sentence in sentences),
        *(text_columns(table, wrapped=WRAPPED_OF_DECODERS) for table in tables),
        *(Text(sentence, style="dim") for sentence in evaluation.notes),
    )


def _heading(found: Spectrum, evaluation: Evaluation) -> str:
    size, (position, drop) = len(found.names), found.largest_drop
    lines = [f"{counted(found.tangents.shape[0], 'output')}, {counted(size, 'latent')}; all values in nats"]
    for row in evaluation.rows:
        if row.score is None or row.metric == "manifold_entropy":
            continue
        parts, is_total = row.score.parts, row.metric in ("total_entropy", "manifold_total_correlation")
        error = f" +- {parts['standard_error'][0]:.3f}" if "standard_error" in parts else ""
        each = f" ({parts['per_dimension'][0]:.4f} per latent)" if is_total else ""
        lines.append(f"{row.metric.replace('_', ' '):<36}{row.score.value:.3f}{error}{each}")
        if row.metric == "manifold_total_correlation" and found.rotated_total_correlation >= 0 and size > 1:
            lines.append(f"{'  with randomly rotated latents':<36}{found.rotated_total_correlation:.3f}")
        if row.metric == "manifold_total_correlation" and found.random_total_correlation >= 0 and size > 1:
            lines.append(f"{'  with random directions':<36}{found.random_total_correlation:.3f}")
    if size > 1:
        no_knee = "" if found.knee else ", which is no knee (at least 1 nat)"
        lines.append(f"{'largest drop':<36}{drop:.3f} after {counted(position, 'latent')}{no_knee}")
    return "\n".join(lines)


def _answer(found: Spectrum, keep: float) -> str:
    try:
        n_kept = found.n_for(keep)
        kept_by = "The first latent keeps" if n_kept == 1 else f"The first {n_kept} latents keep"
        return f"{kept_by} {keep:g} {'nat' if keep == 1 else 'nats'}."
    except UnweaveError as error:
        return str(error)
