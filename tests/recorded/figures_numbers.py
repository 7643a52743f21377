"""Figures of fixed numbers: sizes, axes, and every line, bar, picture and word that is drawn.

Widths, sizes and orders of all that is drawn are one list of numbers.
"""

import base64
import io
import math
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from auditing_numbers import audited, matched, product

from unweave import Evidence, Posterior

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from fake_evaluations import fake_evaluation

try:
    import matplotlib as mpl

    from unweave.report import html as block_pictures
    from unweave.report import html as code_pictures
    from unweave.report import html as colours
    from unweave.report import summary as matrix_summary
    from unweave.report.figures import codes as codes_and_factors
    from unweave.report.figures import codes as point_clouds
    from unweave.report.figures import curves, geometry, scores
    from unweave.report.figures import curves as history
    from unweave.report.figures import curves as training
    from unweave.report.figures import information as information_diagrams
    from unweave.report.figures import information as partial_information
    from unweave.report.figures import scores as mark_table
    from unweave.report.figures.scores import audit_figure, evaluation_plot
    from unweave.report.summary import FactorBand
    from unweave_papers.paper003.authors import SeedMean
    from unweave_papers.paper003.figures import FIGURES as OF_GUARDIANS
    from unweave_papers.paper003.figures import Shown, guardians_figure
except ImportError:
    mpl = None

RNG = np.random.default_rng(2)
MATRIX = RNG.uniform(size=(4, 3))
IMAGES = RNG.uniform(size=(3, 4, 8, 8))
LINE = np.linspace(-1, 1, 30)
THREE, FOUR = ["size", "angle", "shape"], ["c0", "c1", "c2", "c3"]
TERMS = {
    "one": {"unique": 0.5, "redundant": 0.2, "unique to the rest": 0.1, "synergistic": 0.3},
    "two": {"unique": 0.02, "redundant": 0.6, "unique to the rest": 0.001, "synergistic": 0.05},
}
UNIT = {"low": (0.1, 0.5), "high": (0.4, 0.9)}
PARTS = tuple(TERMS["one"])


def drawn(figure):
    """All that is drawn, as plain data."""
    return {
        "size": list(figure.get_size_inches()),
        "axes": [_axes(axes) for axes in figure.axes],
        "styles": np.array([number for each in figure.findobj() for number in _styles(each)], dtype=float),
        "legends": [
            (each._ncols, each.handlelength, each.get_frame_on()) for each in figure.findobj(mpl.legend.Legend)
        ],
    }


STYLES = (
    "linewidth", "linewidths", "markersize", "markeredgewidth", "fontsize", "rotation", "sizes", "zorder", "alpha",
    "visible",
)  # fmt: skip


def _styles(artist):
    for name in STYLES:
        value = getattr(artist, f"get_{name}", lambda: None)()
        yield from () if value is None else np.atleast_1d(np.asarray(value, dtype=float))
    if isinstance(artist, mpl.legend.Legend):
        yield from artist.get_bbox_to_anchor().bounds
    if isinstance(artist, mpl.text.Annotation):
        yield from artist.xyann


def _axes(axes):
    return {
        "title": [axes.get_title(loc) for loc in ("left", "center", "right")],
        "labels": (axes.get_xlabel(), axes.get_ylabel()),
        "limits": (axes.get_xlim(), axes.get_ylim()),
        "ticks": (_within(axes.get_xticks()), _within(axes.get_yticks())),
        "tick labels": [
            [each.get_text() for each in labels] for labels in (axes.get_xticklabels(), axes.get_yticklabels())
        ],
        "lines": [
            (np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float), *_style(line))
            for line in axes.lines
        ],
        "patches": [(np.asarray(patch.get_extents().bounds), _colour(patch.get_facecolor())) for patch in axes.patches],
        "collections": [
            (np.asarray(each.get_offsets(), float), [path.vertices for path in each.get_paths()][:3], each.get_alpha())
            for each in axes.collections
        ],
        "images": [(np.asarray(each.get_array(), float), each.get_clim()) for each in axes.images],
        "texts": [(text.get_text(), text.get_position(), text.get_fontsize()) for text in axes.texts],
        "inks": [_colour(text.get_color()) for text in axes.texts],
        "title is wrapped": axes.title.get_wrap(),
        "place": axes.get_position(original=True).bounds,
        "legend": [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else [],
    }


def _within(ticks):
    return [float(tick) for tick in ticks if math.isfinite(tick)]


def _style(line):
    return mpl.colors.to_hex(line.get_color()), line.get_linewidth(), line.get_linestyle(), line.get_alpha()


def _colour(colour):
    return mpl.colors.to_hex(colour, keep_alpha=True)


def in_short(figure):
    """What is drawn in a figure of many panels: its words, and all places and styles as two lists of numbers."""
    found = drawn(figure)
    places = [
        number
        for axes in found["axes"]
        for key in ("limits", "ticks", "lines", "patches", "texts", "images")
        for number in _numbers(axes[key])
    ]
    titles = [axes["title"] for axes in found["axes"]]
    kept = {key: found[key] for key in ("size", "styles", "legends")}
    return kept | {"titles": titles, "places": np.array(places)}


def _numbers(value):
    if isinstance(value, np.ndarray):
        yield from np.nan_to_num(value.astype(float)).ravel()
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, (int, float)):
        yield float(value)


def of_guardians(name):
    """A figure of 003 from means that are made up, half of which the authors have too."""
    figure, rng = OF_GUARDIANS[name], np.random.default_rng(0)
    parts = []
    for part in figure.parts:
        keys = [(*setting.key, metric) for setting in part.settings for metric in part.metrics]
        values = rng.uniform(size=len(keys))
        ours = {key: SeedMean(value, value - 0.1, value + 0.2) for key, value in zip(keys, values, strict=True)}
        parts.append(Shown(part, ours, {key: ours[key] for key in keys[::2]}))
    return guardians_figure(figure, parts)


def painted(uri):
    """The pixels of a picture that a page embeds."""
    content = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    return np.asarray(mpl.image.imread(io.BytesIO(content)), dtype=float)


def of_codes(with_posterior):
    """Traversals and reconstructions of a decoder that paints stripes."""
    rng = np.random.default_rng(1)
    factors, std = rng.normal(size=(80, 2)), rng.uniform(0.1, 0.9, size=(80, 3))
    codes = np.column_stack([factors[:, 0], factors @ [1.0, 2.0], 0.1 * rng.normal(size=80)])
    evidence = Evidence(factors, Posterior(codes, std) if with_posterior else codes)

    def decode(asked):
        stripes = np.tile(asked[:, None, :, None], (1, 1, 2, 40)) / 4 + np.linspace(0, 1, 40)
        return stripes.reshape(len(asked), 1, 6, 40)

    found = code_pictures.code_pictures(evidence, decode, (decode(codes) + 0.1, codes))
    rows = [(row.code, row.importance, row.factor, row.share, painted(row.strip)) for row in found.rows]
    return [rows, painted(found.reconstructions)]


def colouring():
    """Colours of both scales, and which a value gets."""
    shades = (*colours.LIGHT[::4], *colours.DARK[::4])
    return {
        "levels": [colours.level_of(value, (0.1, 2.0)) for value in (None, 0.0, 0.1, 0.3, -1.0, 2.0, 9.0)],
        "luminance": np.array([colours.luminance(shade) for shade in shades]),
        "contrast": np.array([colours.contrast(shade, other) for shade in shades for other in shades]),
        "text": [colours.hexadecimal(colours.text_on(shade)) for shade in shades],
        "picture": painted(block_pictures.picture([[0.0, None, 1.0], [0.3, -0.7, 2.0]], (0.0, 1.0), colours.LIGHT)),
    }


def in_blocks(n_rows, n_columns):
    """A matrix that is too large for a table, with an undefined cell and a sign."""
    matrix = np.sin(np.arange(n_rows * n_columns, dtype=float)).reshape(n_rows, n_columns)
    matrix[0, 1] = np.nan
    shown = SimpleNamespace(part="loading_matrix", meaning="", framed=False, columns="factors")
    names = [f"r{i}" for i in range(n_rows)], [f"c{j}" for j in range(n_columns)]
    detail = SimpleNamespace(table_cells=40, table_columns=9, picture_rows=7, picture_columns=5, links=4)
    found = matrix_summary.summarised_matrix(shown, matrix, *names, detail)
    kept = {key: value for key, value in found.items() if not isinstance(value, str)}
    return kept | {"values": np.array(kept["values"], dtype=float)}


def pairs():
    """A factor of numbers and one of classes, each with a code."""
    classes = np.digitize(LINE, [-0.3, 0.4]).astype(float)
    pair = codes_and_factors.Pair
    return [pair("size", "c0", LINE, LINE**2), pair("shape", "c1", classes, LINE**3, ("a", "b", "c"))]


def many_nats(scale):
    """Parts of information in other units, one of them hardly there, one narrow and late."""
    shares = [(0.9, 0.02, 0.05, 0.03), (0.05, 0.03, 0.02, 0.9), (0.001, 0.4, 0.199, 0.4), (0.3, 0.0, 0.3, 0.0)]
    return {f"of {k}": dict(zip(PARTS, scale * np.array(each), strict=True)) for k, each in enumerate(shares)}


def with_gaps(n_codes, n_factors):
    """A matrix with entries above 1, undefined ones, and a factor that never varies."""
    matrix = 2 * np.sin(np.arange(n_codes * n_factors, dtype=float)).reshape(n_codes, n_factors)
    matrix[0, 0] = matrix[:, 1] = np.nan
    names = [f"c{i}" for i in range(n_codes)], [f"z{j}" for j in range(n_factors)]
    return codes_and_factors.matrix_figure(matrix, *names, "a long title")


def lines(n):
    """So many curves of three points."""
    return {f"line {k}": LINE[k : k + 3] for k in range(n)}


def dots():
    """Scores with all that a score can have."""
    dot = scores.Dot
    return [
        dot("mcc", 0.9, 0.1, (0.8, 0.95), "trust", "a"),
        dot("mig", 0.2, 0.15, (0.1, 0.3), "caution", "b"),
        dot("sap", 0.4, level="do not use"),
        dot("r2", -0.1),
    ]


def plotted(kind, representations=("codes",)):
    """A figure of an evaluation."""
    return evaluation_plot(fake_evaluation(list(representations)), kind)


FIGURES = {
    "matrix": lambda: codes_and_factors.matrix_figure(MATRIX, FOUR, THREE, "importance"),
    "a matrix with signs": lambda: codes_and_factors.matrix_figure(MATRIX - 0.5, FOUR, THREE),
    "a large matrix": lambda: codes_and_factors.matrix_figure(
        np.linspace(0, 1, 750).reshape(30, 25), [f"c{i}" for i in range(30)], [f"z{j}" for j in range(25)]
    ),
    "bars of factors": lambda: codes_and_factors.factor_bars_figure(
        dict(zip(THREE, (0.9, 0.4, 0.1), strict=True)),
        dict.fromkeys(THREE, (0.05, 0.2)),
        dict.fromkeys(THREE, (0.3, 0.5)),
        "mig",
    ),
    "bars alone": lambda: codes_and_factors.factor_bars_figure({"size": 0.9}),
    "matched pairs": lambda: codes_and_factors.matched_pairs_figure(pairs()),
    "curves": lambda: curves.curves_figure({"a": LINE[:4], "b": LINE[4:8]}, [1, 2, 4, 8], "mcc", across="rows"),
    "curves with bands": lambda: curves.curves_figure(
        {"a": LINE[:3]}, [0, 1, 2], "mcc", bands={"a": (LINE[:3] - 0.1, LINE[:3] + 0.2)}, limits=(-1.0, 1.0)
    ),
    "bars": lambda: curves.bars_figure(
        {"one": {"a": 0.2, "b": 0.4}, "two": {"a": 0.6, "b": 0.1}},
        "score",
        marks={"one": {"a": 0.3}},
        ranges={"two": {"b": (0.05, 0.2)}},
    ),
    "panels": lambda: curves.panels_figure(
        {f"panel {k}": {"a": LINE[k : k + 3], "b": LINE[k + 5 : k + 8]} for k in range(5)}, [1, 2, 3], "mcc", across="d"
    ),
    "panels with marks": lambda: curves.panels_figure(
        {"a": {"x": LINE[:3] + 2, "y": LINE[3:6] + 2}},
        [1, 2, 3],
        "error",
        in_order=True,
        tick_labels=["one", "two", "three"],
        marks={"a": {"paper": LINE[6:9] + 2}},
        limits=(0.5, 4.0),
        logarithmic=True,
    ),
    "pairs": lambda: curves.pairs_figure({"a": (LINE[:4], LINE[2:6]), "b": ([0.2], [0.7])}, "here", "there"),
    "marks": lambda: mark_table.mark_table_figure(
        {"mcc": [("+", "+"), ("-", "+")], "r2": [("+", "-"), ("-", "-")]}, ["P1", "P2"], title="marks"
    ),
    "clouds": lambda: point_clouds.clouds_figure({"a": [MATRIX[:, :2], MATRIX[:, 1:]]}, ["one", "two"]),
    "circles": lambda: information_diagrams.circles_figure(TERMS),
    "bands": lambda: information_diagrams.bands_figure(TERMS),
    "gaps": lambda: information_diagrams.gap_figure({"a": (0.9, 0.3, 0.6), "b": (0.5, 0.2, 0.7)}),
    "bands of factors": lambda: partial_information.band_figure(
        [FactorBand("size", "c0", 0.6, 0.5, 0.9, 1.2), FactorBand("angle", "c1", 0.3, 0.4, 0.9, 1.1)]
    ),
    "spectrum with a knee": lambda: geometry.spectrum_figure({"a": np.sort(MATRIX[:, 0])[::-1]}, knee=2),
    "spectrum": lambda: geometry.spectrum_figure({"a": MATRIX[:, 0], "b": MATRIX[:, 1]}, MATRIX[:, 2]),
    "information": lambda: geometry.information_figure({"a": MATRIX, "b": 2 * MATRIX}, "row", "column"),
    "contours": lambda: geometry.contour_grid_figure(
        {"a": (IMAGES[0, :3, :6, :2], IMAGES[1, :2, :6, :2])}, IMAGES[2, 0, :, :2], {"a": (1.0, 0.5, 0.2)}
    ),
    "images": lambda: geometry.image_grid_figure(IMAGES - 0.5, THREE, FOUR),
    "images without sign": lambda: geometry.image_grid_figure(IMAGES, THREE, signed=False),
    "tangents": lambda: geometry.tangent_figure(IMAGES[0].reshape(4, 64)[:3].T, (8, 8), [2, 0, 1], THREE),
    "history": lambda: history.history_figure(
        [1, 2, 3], {"mcc": [0.2, 0.6, 0.9], "mig": [0.1, 0.2, 0.1]}, {"mcc": 0.1}, {"mcc": (0.85, 0.95)}
    ),
    "intervals of terms": lambda: partial_information.interval_figure({"vae": UNIT, "beta": UNIT}),
    "scores": lambda: scores.scores_figure(dots()),
    "verdicts": lambda: scores.verdicts_figure(
        {"vae": {"mcc": "trust", "mig": "caution"}, "beta": {"mcc": "do not use", "mig": None}}
    ),
    "losses": lambda: training.loss_figure(
        {"vae": {"kl": {"seed 0": ([1, 2], [3.0, 1.0]), "seed 1": ([1, 2], [2.0, 1])}}}
    ),
    "reconstructions": lambda: training.reconstruction_figure(IMAGES[:, :1], {"vae": IMAGES[:, 1:2]}),
    "traversals": lambda: training.traversal_figure({"c0": IMAGES[:, :3], "c1": IMAGES[:2, 1:]}, "vae"),
    "a matrix of 150 cells": lambda: with_gaps(15, 10),
    "a matrix of 156 cells": lambda: with_gaps(13, 12),
    "a matrix of 40 codes": lambda: with_gaps(40, 2),
    "a matrix of 41 codes": lambda: with_gaps(41, 2),
    **{
        f"bars of {n} factors": partial(
            lambda n: codes_and_factors.factor_bars_figure(
                {f"z{k}": k / 5 for k in range(n)}, {"z0": (0.0, 0.1)}, {"z1": (0.1, 0.3)}
            ),
            n,
        )
        for n in (4, 5)
    },
    "one matched pair": lambda: codes_and_factors.matched_pairs_figure(pairs()[:1]),
    "five matched pairs": lambda: codes_and_factors.matched_pairs_figure([*pairs(), *pairs(), *pairs()][:5]),
    "13 classes": lambda: codes_and_factors.matched_pairs_figure(
        [codes_and_factors.Pair("z", "c", np.arange(26.0) % 13, LINE[:26], tuple("abcdefghijklm"))]
    ),
    **{
        f"curves over {n} ticks": partial(
            lambda n: curves.curves_figure(
                {"a": LINE[:n], "b": LINE[n : 2 * n]}, range(n), "mcc", bands={"b": (LINE[:n], LINE[1 : n + 1])}
            ),
            n,
        )
        for n in (5, 6)
    },
    **{
        f"bars of {n} groups": partial(
            lambda n: curves.bars_figure({f"g{k}": {f"e{j}": j / 9 for j in range(8)} for k in range(n)}, "score"), n
        )
        for n in (3, 4)
    },
    **{f"{n} curves": partial(lambda n: curves.curves_figure(lines(n), range(3), "mcc"), n) for n in (10, 11)},
    "panels in two columns": lambda: curves.panels_figure(
        {f"panel {k}": lines(3) for k in range(3)}, [1, 2, 3], "mcc", n_across=2, in_order=True, heading="all"
    ),
    "history of nine": lambda: history.history_figure([1, 2, 3], lines(9)),
    "history of none": lambda: history.history_figure([1, 2, 3], {}),
    "circles of many nats": lambda: information_diagrams.circles_figure(many_nats(4.0)),
    "bands of many nats": lambda: information_diagrams.bands_figure(many_nats(100.0), unit="bits"),
    "gaps of many nats": lambda: information_diagrams.gap_figure({"a": (3.0, 2.8, 0.1), "b": (2.0, 2.5, 1.0)}),
    "bands without entropy": lambda: partial_information.band_figure(
        [
            FactorBand("size", "c0", 0.6, 0.5, 1.3, math.nan),
            FactorBand("hue", "c1", 0.3, 0.4, 0.701, 1.1),
            FactorBand("angle", "c2", 0.3, 0.4, 0.697, 1.1),
        ]
    ),
    "one interval without width": lambda: partial_information.interval_figure(
        {"vae": {"low": (0.3, 0.3), "high": (0.4, 0.403)}}, "nats"
    ),
    **{f"{n} spectra": partial(lambda n: geometry.spectrum_figure(lines(n)), n) for n in (1, 5, 6)},
    "information of nothing": lambda: geometry.information_figure({"a": 0.0 * MATRIX}),
    "a little information": lambda: geometry.information_figure({"a": 0.1 * MATRIX, "b": 0.2 * MATRIX}),
    "information on a scale": lambda: geometry.information_figure({"a": MATRIX}, largest=2.0, label="bits"),
    "contours alone": lambda: geometry.contour_grid_figure(
        dict.fromkeys(("a", "b"), (IMAGES[0, :3, :6, :2], IMAGES[1, :2, :6, :2])), IMAGES[2, 0, :, :2]
    ),
    "black images": lambda: geometry.image_grid_figure(0.0 * IMAGES[:2, :2], THREE),
    "seven tangents": lambda: geometry.tangent_figure(
        np.column_stack([np.zeros(64), -IMAGES.reshape(12, 64)[:6].T]), (8, 8), [2, 0, 1, 3, 6, 5, 4], list("abcdefg")
    ),
    "one score": lambda: scores.scores_figure([scores.Dot("mcc", 0.9)]),
    "two scores": lambda: scores.scores_figure(dots()[2:]),
    "losses of two terms": lambda: training.loss_figure(
        {
            term: {f"vae {k}": {"seed 0": ([1, 2], [3.0, end])} for k in range(7)}
            for term, end in (("kl", 0.0), ("b", 1.0))
        }
    ),
    **{
        f"losses of {n} settings": partial(
            lambda n: training.loss_figure({"kl": {f"vae {k}": {"seed 0": ([1, 2], [3.0, -1.0])} for k in range(n)}}), n
        )
        for n in (12, 13)
    },
    "images beyond their range": lambda: training.traversal_figure(
        {"c0": 3 * IMAGES[:2, :1] - 1, "c1": IMAGES[:, 1:2]}, ""
    ),
    **{f"evaluation, {kind}": partial(plotted, kind) for kind in ("scores", "verdicts", "matrix", "factors")},
    "evaluation, compared": partial(plotted, "comparison", ("a", "b", "c")),
    "evaluation, verdicts of three": partial(plotted, "verdicts", ("a", "b", "c")),
}
CASES = {name: partial(lambda make: drawn(make()), make) for name, make in FIGURES.items()} if mpl else {}
if mpl:
    CASES |= {
        "pictures of codes": lambda: [of_codes(False), of_codes(True)],
        "colours": colouring,
        "matrices in blocks": lambda: [in_blocks(5, 8), in_blocks(5, 9), in_blocks(4, 10), in_blocks(20, 12)],
        "audits": lambda: [in_short(audit_figure(audited(metric, False))) for metric in (matched, product)],
        "projections": lambda: in_short(point_clouds.projections_figure(MATRIX, THREE)),
        "traversals of latents": lambda: in_short(geometry.traversal_figure(IMAGES[..., None], THREE, FOUR)),
        "traversals in colour": lambda: in_short(
            geometry.traversal_figure(np.moveaxis(3 * IMAGES[None, :, 1:], 2, -1), THREE[:1], THREE)
        ),
        "traversals that change nothing": lambda: in_short(
            geometry.traversal_figure(np.ones((2, 3, 4, 4, 1)), THREE[:2], THREE)
        ),
    }
    CASES |= {
        f"{name} of 003": partial(lambda name: in_short(of_guardians(name)), name)
        for name in ("fig3", "fig5", "fig7", "fig24")
    }
