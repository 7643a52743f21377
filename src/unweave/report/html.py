"""The report page."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import struct
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeVar

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from numpy.typing import NDArray

from unweave.errors import InputError
from unweave.estimators.information import Histogram
from unweave.evaluation import Evaluation
from unweave.evaluation.loop import SMALLEST_DIFFERENCE
from unweave.evaluation.results import setting_of
from unweave.evidence import Evidence
from unweave.evidence.columns import plain
from unweave.metrics import mig
from unweave.metrics.matrices import factor_entropies
from unweave.report.latex import paper_latex
from unweave.report.summary import EVER_LESS, summarise
from unweave.sentences import between, brief, counted, fixed, listed, p_value, say
from unweave.trust.verdict_record import Level
from unweave.whole_files import write_output

Colour = tuple[int, int, int]
Item = TypeVar("Item")


def _ramp(text: str) -> tuple[Colour, ...]:
    red_green_blue = (bytes.fromhex(word) for word in text.split())
    return tuple((red, green, blue) for red, green, blue in red_green_blue)


# Both scales are defined in OKLCH. Light: lightness .975 to .31, hue 235 to 268. Dark: .25 to .93, hue 268 to 205.
# The chroma is largest in the middle.
LIGHT = _ramp(
    "f5f7f8 e6edf1 d8e3ea c9d8e4 bbcedd adc4d7 9ebad2 91afcc 83a5c7 759bc2 6890bd "
    "5b86b8 4f7bb3 4370ae 3865a9 2f5ba2 2a5096 274788 243d7a 21346c 1d2c5e"
)

DARK = _ramp(
    "1f2228 212a3d 24324b 283b5a 2a4568 2b4f77 2a5986 2c6492 336f9a 3d7aa2 4785a9 "
    "5390b0 5f9ab7 6ca5bd 7ab0c4 89bacb 98c4d1 a7cfd8 b7d9df c8e3e7 d8ecef"
)

N_LEVELS = len(LIGHT)
INK, PAPER = (0, 0, 0), (255, 255, 255)  # on any colour, one of the two has a contrast of at least 4.58


def level_of(value: float | None, scale: tuple[float, float]) -> int | None:
    """Return the index of the colour for an absolute value, or None if the value is undefined.

    >>> level_of(0.5, (0.0, 1.0)), level_of(-1.0, (0.0, 1.0)), level_of(None, (0.0, 1.0))
    (10, 20, None)
    """
    if value is None:
        return None
    share = (abs(value) - scale[0]) / (scale[1] - scale[0])
    return round(min(1.0, max(0.0, share)) * (N_LEVELS - 1))


def text_on(colour: Colour) -> Colour:
    """Return black or white, whichever has the higher contrast on a colour."""
    return max(INK, PAPER, key=lambda ink: contrast(ink, colour))


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, which lies between 1 and 21 (WCAG 2).

    >>> round(contrast((0, 0, 0), (255, 255, 255)), 1)
    21.0
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour, which lies between 0 and 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def hexadecimal(colour: Colour) -> str:
    """Return a colour in the hexadecimal notation of CSS.

    >>> hexadecimal((255, 0, 16))
    '#ff0010'
    """
    return "#{:02x}{:02x}{:02x}".format(*colour)


UNDEFINED: Colour = (136, 136, 136)


def picture(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> str:
    """Return the matrix as a PNG in a data URL, with the colours of the ramp. Undefined values are grey.

    >>> from unweave.report.html import LIGHT
    >>> picture([[0.0, 1.0]], (0.0, 1.0), LIGHT)[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png(values, scale, ramp)).decode()


def png(values: Sequence[Sequence[float | None]], scale: tuple[float, float], ramp: Sequence[Colour]) -> bytes:
    """Return the bytes of a PNG with a palette and eight bits per pixel (PNG specification, section 11)."""
    shares = np.abs(np.array(values, dtype=object).astype(np.float64)) / scale[1]
    levels = np.where(np.isnan(shares), N_LEVELS, np.rint(np.clip(shares, 0.0, 1.0) * (N_LEVELS - 1)))
    palette = b"".join(bytes(colour) for colour in [*ramp, UNDEFINED])
    return _png(np.nan_to_num(levels).astype(np.uint8)[:, :, None], palette)


def _png(pixels: NDArray[np.uint8], palette: bytes = b"") -> bytes:
    """Return the PNG file of an image of shape height x width x channels; one channel is grey or has a palette."""
    height, width, channels = pixels.shape
    # the PNG format starts every line with its filter type, and 0 means no filter
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 3 if palette else 0 if channels == 1 else 2, 0, 0, 0)
    chunks = {
        b"IHDR": header,
        **({b"PLTE": palette} if palette else {}),
        b"IDAT": zlib.compress(lines, 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks.items()
    )


Decode = Callable[[NDArray[np.float32]], Any]
N_STEPS, N_RECONSTRUCTED = 9, 10
MOST_CODES = 20
LARGEST_SIDE = 64


@dataclass(frozen=True)
class CodeRow:
    """The row of one code on the page.

    ``importance`` is the share of the code's variance that is signal, ``factor`` the factor that the code carries most
    information about, ``share`` the share of the factor's entropy that it carries, and ``strip`` the traversal.
    """

    code: str
    importance: float
    factor: str
    share: float
    strip: str


@dataclass(frozen=True)
class CodePictures:
    """The images of a model, encoded so that a page can embed them."""

    rows: tuple[CodeRow, ...]
    reconstructions: str = ""


def decoder_of(model: Any) -> Decode:
    """Return the function that maps codes to images: the method ``decode`` of a model, or the model itself."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        inner = getattr(model, "decode", model)

        def decode(codes: NDArray[np.float32]) -> Any:
            with torch.no_grad():
                return inner(torch.from_numpy(codes))

        return decode
    found = getattr(model, "decode", model)
    if not callable(found):
        raise InputError(f"{type(model).__name__} cannot decode: give a model with a method decode, or a function.")
    return found


def code_pictures(
    evidence: Evidence, decode: Decode, images: tuple[NDArray[Any], NDArray[Any]] | None = None
) -> CodePictures:
    """Return the traversals of all codes.

    If ``images`` has some images of the data set and their codes, the reconstructions are returned as well.
    """
    means = _decodable(evidence)
    spread = np.maximum(means.std(axis=0), 1e-12)
    # the row that is nearest to the medians of all codes
    middle = means[np.square((means - np.median(means, axis=0)) / spread).sum(axis=1).argmin()]
    importance = _importance(evidence)
    factors, shares = _most_informed_factors(evidence)
    rows = []
    for i in np.argsort(-importance)[:MOST_CODES]:
        moved = np.repeat(middle[None], N_STEPS, axis=0)
        low, high = (float(edge) for edge in np.quantile(means[:, i], [0.02, 0.98]))
        moved[:, i] = np.linspace(low, high, N_STEPS)
        strip = _picture(_decoded(decode, moved))
        rows.append(CodeRow(evidence.code_names[i], float(importance[i]), factors[i], float(shares[i]), strip))
    return CodePictures(tuple(rows), "" if images is None else _reconstructed(decode, *images))


def _decodable(evidence: Evidence) -> NDArray[np.float32]:
    """Return the input of the decoder: the Gaussian codes, followed by the probabilities of the categorical codes."""
    if evidence.posterior is None:
        return np.asarray(evidence.codes, dtype=np.float32)
    tables = (evidence.posterior.mean, *evidence.posterior.categories.values())
    return np.concatenate(tables, axis=1).astype(np.float32)


def _decoded(decode: Decode, codes: NDArray[np.float32]) -> NDArray[np.float32]:
    found = np.asarray(plain(decode(codes)), dtype=np.float32)
    if found.ndim != 4 or len(found) != len(codes) or found.shape[1] not in (1, 3):
        raise InputError(
            f"The decoder returned an array of shape {found.shape} for {len(codes)} codes: it has to return images of "
            "shape n x channels x height x width, with 1 or 3 channels."
        )
    if not np.isfinite(found).all():
        raise InputError("The decoder returned pixels that are nan or infinite: let it return numbers from 0 to 1.")
    return found


def _importance(evidence: Evidence) -> NDArray[np.float64]:
    """Return the share of each code's variance that is the variance of the posterior means.

    If there is no posterior, return the variance of each code relative to the largest variance of a code.
    """
    signal = evidence.codes.var(axis=0)
    if evidence.posterior is None:
        return signal / max(float(signal.max()), 1e-300)
    signal = evidence.posterior.mean.var(axis=0)  # categorical codes are not traversed
    noise = np.square(evidence.posterior.std).mean(axis=0)
    return np.asarray(signal / np.maximum(signal + noise, 1e-300))


def _most_informed_factors(evidence: Evidence) -> tuple[list[str], NDArray[np.float64]]:
    estimator = Histogram()
    information = np.asarray(mig(evidence, estimator=estimator).parts["mutual_information_matrix"])
    shares = np.nan_to_num(information / np.asarray(factor_entropies(evidence, estimator))[None, :])
    best = shares.argmax(axis=1)
    return [evidence.factor_names[j] for j in best], shares[np.arange(len(best)), best]


def _reconstructed(decode: Decode, images: NDArray[Any], codes: NDArray[Any]) -> str:
    chosen = slice(0, N_RECONSTRUCTED)
    made = _decoded(decode, np.asarray(codes[chosen], dtype=np.float32))
    if made.shape != images[chosen].shape:
        raise InputError(
            f"The decoder returns images of shape {made.shape[1:]}, but the data set has {images.shape[1:]}."
        )
    return _picture(images[chosen], made)


def _picture(*rows: NDArray[np.float32]) -> str:
    """Return a PNG that a page can embed. Each array is one row of images."""
    step = max(1, -(-rows[0].shape[-1] // LARGEST_SIDE))
    edge = ((0, 0), (0, 0), (1, 1), (1, 1))
    framed = [np.pad(line[:, :, ::step, ::step], edge, constant_values=0.5) for line in rows]
    lines = [np.concatenate(list(line), axis=2) for line in framed]
    pixels = np.rint(np.clip(np.concatenate(lines, axis=1), 0, 1) * 255).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(_png(pixels.transpose(1, 2, 0))).decode("ascii")


MOST_BYTES = 3_000_000
MOST_BYTES_OF_DATA = 400_000
FEW_VALUES = 12
LEAST_FRAMED = 0.05  # a smaller value is no match
MOST_COLUMNS = 24  # factors that a table with a row for every representation shows


def html_page(evaluation: Evaluation, pictures: CodePictures | None = None) -> str:
    """Return the HTML page. If it would exceed 3 MB, matrices and charts are aggregated further.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> factors = np.random.default_rng(0).normal(size=(200, 2))
    >>> html_page(unweave.evaluate(factors, factors, metrics=["mcc"], quick=True))[:15]
    '<!doctype html>'
    """
    for detail in EVER_LESS:
        page = rendered(summarise(evaluation, detail), pictures)
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def rendered(summary: Mapping[str, Any], pictures: CodePictures | None = None) -> str:
    """Render the page of a summary; its content policy allows its own script and no other."""
    script = files("unweave.report").joinpath("templates/behaviour.js").read_text(encoding="utf-8")
    page, style = _page_templates()
    pairs = {pair["factor"]: pair for of_one in summary["pairs"].values() for pair in of_one}
    # from the positions of factors and codes on some rows, the page draws the scatter plot of a cell
    points = {"factors": {name: pair["x"] for name, pair in pairs.items()}, "codes": summary["drawn_codes"]}
    return page.render(
        summary=summary,
        pictures=pictures,
        has=_what_there_is(summary),
        matrix_groups=_grouped(summary["matrices"], lambda matrix: (matrix["name"], tuple(matrix["metrics"]))),
        **(_compared(summary) if len(summary["data"]["representations"]) > 1 else summary["tables"]),
        script=script,
        style=style,
        policy=content_policy(style, script),
        pairs=pairs,
        embedded=_embedded(summary),
        points=_embedded(points) if pairs and any(summary["drawn_codes"].values()) else "",
    )


def content_policy(style: str, script: str = "") -> str:
    """Content security policy of a page: this style and this script, by their hashes, pictures inside it, and no more.

    Markup that came from a name could then neither run a script or an event handler nor load anything.

    >>> "script-src 'none'" in content_policy("p { margin: 0 }")
    True
    """
    style_hash, script_hash = (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in (style, script)
    )
    return (
        f"default-src 'none'; script-src {script_hash if script else repr('none')}; img-src data:; base-uri 'none'; "
        # places of bars are in attributes; browsers that do not know the two precise rules take the first
        f"form-action 'none'; style-src 'unsafe-inline'; style-src-elem {style_hash}; style-src-attr 'unsafe-inline'"
    )


@functools.cache
def _page_templates() -> tuple[Template, str]:
    """The page, and its style."""
    environment = Environment(
        loader=PackageLoader("unweave.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(brief=brief, fixed=fixed, listed=listed)
    environment.tests["has"] = lambda items, item: item in items
    environment.globals.update(
        place=_place,
        span=_span,
        level=level_of,
        picture=picture,
        p_value=p_value,
        counted=counted,
        best_rows=_best_rows,
        dots=_dots,
        between=between,
        mean=fmean,
        deviation=lambda values: fixed(stdev(values), 2) if stdev(values) >= 0.005 else "< 0.005",
        shared_names=_shared_names,
        setting_of=setting_of,
        rest_of=lambda name, group: name.removeprefix(group).removesuffix(group).strip(" ,;_/:.()-"),
        ramps={"light": LIGHT, "dark": DARK},
        hexadecimal=hexadecimal,
        text_on=text_on,
        Level=Level,
        say=say,
    )
    return environment.get_template("page.html.j2"), environment.get_template("style.css.j2").render()


def _what_there_is(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Determine which columns and sections have something to show."""
    cells = [cell for metric in summary["metrics"] for cell in metric["cells"]]
    axes = {tuple(metric["domain"]) for metric in summary["metrics"] if None not in metric["bounds"]}
    return {
        "one_axis": next(iter(axes)) if len(axes) == 1 else None,
        "several": len(summary["data"]["representations"]) > 1,
        "factors": any(cell["per_factor"] for cell in cells),
        # a decoder alone has no rows, and nothing to be checked with
        "verdict": bool(summary["data"]["n_rows"]) and any(map(itemgetter("verdict"), cells)),
        "floor": any(cell["floor"] for cell in cells),
        "chance": not any(cell["floor"] for cell in cells) and any(cell["chance"] is not None for cell in cells),
        "interval": any(cell["interval"] for cell in cells),
        "calibrated": any(cell["calibrated"] is not None for cell in cells),
        "p_value": any(cell["floor"] and cell["floor"]["p_value"] is not None for cell in cells),
        "ties": any(cell["groups"] for cell in cells),
        "why": any((cell["verdict"] and cell["verdict"]["reasons"]) or cell["problem"] for cell in cells),
    }


def _compared(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What the tables with a row for every representation need: their order and groups of seeds, and cells by name."""
    answer, names = summary["answer"], [one["name"] for one in summary["data"]["representations"]]
    ladders = {one["representation"]: one["parts"] for one in answer["representations"] if one["parts"]}
    scores = answer["settings"]["scores"] if answer["settings"] else {}
    first = next(iter(summary["rankings"].values()), {"ranked": ()})["ranked"]
    order = list(dict.fromkeys([*answer["order"], *(entry["representation"] for entry in first), *names]))
    is_course = answer["course"] is not None
    groups = [[name] for name in names] if is_course else _grouped(order, setting_of)
    if not is_course and len(ladders) == len(names):  # the group with the best seed need not be the best group
        groups.sort(key=lambda group: -fmean(ladders[name]["value"] for name in group))
    return {
        "blocks": [{"name": setting_of(of[0]) if len(of) > 1 else of[0], "members": of} for of in groups],
        "ladders": ladders,
        "worst": {(label, one["group"]): one["level"] for label, of in scores.items() for one in of},
        "recovered": _recovered(answer),
        "margin": SMALLEST_DIFFERENCE,
        "rankings": summary["rankings"],
        "by_label": {metric["label"]: metric for metric in summary["metrics"]},
        "factors": [factor["name"] for factor in summary["data"]["factors"]][:MOST_COLUMNS],
        "course": summary["tables"]["course"],
        "tests": summary["tables"].get("tests"),
        "steps": _shared_steps(answer["next_steps"], names),
    }


def _recovered(answer: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Of every representation and factor, the recovery by a direction as in the table of `Layers`, and the state."""
    table = answer["layers"] or {"representations": (), "cells": {}}
    places = {name: k for k, name in enumerate(table["representations"])}
    return {
        one["representation"]: {
            row["factor"]: {
                **row,
                "value": row["readable" if row["rung"] == "implied" else "direction"],
                **{"low": None, "high": None, "above_noise": True},
                **(table["cells"][row["factor"]][places[one["representation"]]] if places else {}),
            }
            for row in one["factors"]
        }
        for one in answer["representations"]
    }


def _shared_steps(steps: Sequence[str], names: Sequence[str]) -> list[str]:
    """Steps that begin with the name of a representation, once for all representations that share them."""
    shared: dict[str, list[str]] = {}
    for step in steps:
        name = next((name for name in names if step.startswith(f"{name}: ")), "")
        shared.setdefault(step.removeprefix(f"{name}: "), []).append(name)
    return [f"{listed(of, 3)}: {text}" if of[0] else text for text, of in shared.items()]


def _shared_names(scores: Sequence[str]) -> str:
    """The scores that share a reason, such as 'mcc of A' and 'mcc of B', by metric."""
    by_metric = _grouped(list(scores), lambda score: score.partition(" of ")[0])
    shown = [
        f"{of[0].partition(' of ')[0]} of {len(of)} representations" if len(of) > 2 else listed(of) for of in by_metric
    ]
    return listed(shown, 12)


def _grouped(items: list[Item], key: Callable[[Item], object]) -> list[list[Item]]:
    groups: dict[object, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _place(value: float, domain: list[float]) -> str:
    """Return the position of a value on an axis in per cent, clipped to the axis."""
    share = (value - domain[0]) / (domain[1] - domain[0])
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"


def _span(one: float, other: float, domain: list[float]) -> str:
    """Return the CSS of a bar that reaches from one value to another."""
    left, right = (float(_place(end, domain)[:-1]) for end in sorted((one, other)))
    return f"left:{left:.1f}%;width:{right - left:.1f}%"


def _best_rows(matrix: Mapping[str, Any], pairs: Mapping[str, Any]) -> list[int]:
    """Return the row to frame in each column.

    This is the row of the code that the factor is matched to, or else the row of the largest value, or -1 if that value
    is missing or next to 0.
    """
    matched = {pair["factor"]: pair["code"] for pair in pairs.get(matrix["representation"], ())}
    best = []
    for name, column in zip(matrix["column_names"], zip(*matrix["values"], strict=True), strict=True):
        sizes = [-1.0 if value is None else abs(value) for value in column]
        if matched.get(name) in matrix["row_names"]:
            i = matrix["row_names"].index(matched[name])
        else:
            i = max(range(len(sizes)), key=sizes.__getitem__)
        best.append(i if sizes[i] >= LEAST_FRAMED else -1)
    return best


def _dots(pair: Mapping[str, Any]) -> str:
    """Return the SVG path of a scatter plot with one dot per row; the code is on the vertical axis.

    Dots of a factor with few values are spread a little, so that they do not hide each other.
    """
    width = 0.0 if len(set(pair["x"])) > FEW_VALUES else 0.12 / max(len(set(pair["x"])) - 1, 1)
    spread = [90 * (x * (1 - width) + width * (0.618 * k % 1)) for k, x in enumerate(pair["x"])]
    return "".join(f"M{x:.0f} {56 - 56 * y:.0f}h0" for x, y in zip(spread, pair["y"], strict=True))


def _embedded(summary: Mapping[str, Any]) -> str:
    """Return the summary as JSON for a script element, or an empty string if it would make the page too large.

    "<" is escaped, so that no text in the summary can close the script element.
    """
    text = json.dumps(summary, ensure_ascii=False).replace("<", "\\u003c")
    return text if len(text) <= MOST_BYTES_OF_DATA else ""


def write_pages(
    evaluation: Evaluation,
    html: Path | None = None,
    markdown: Path | None = None,
    summary: Path | None = None,
    latex: Path | None = None,
    pictures: CodePictures | None = None,
) -> list[Path]:
    """Write the pages for which a path is given, and return these paths. Only the HTML page shows ``pictures``."""
    written = []
    pages: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: evaluation.to_html() if pictures is None else html_page(evaluation, pictures)),
        (markdown, evaluation.to_markdown),
        (summary, lambda: json.dumps(evaluation.to_summary(), allow_nan=False)),
        (latex, lambda: paper_latex(evaluation)),
    ]
    for path, page in pages:
        if path is not None:
            write_output(path, page())
            written.append(path)
    return written
