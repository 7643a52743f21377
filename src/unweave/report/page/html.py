"""The summary as a self-contained HTML page, which needs no network and no other file."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from unweave.evaluation import Evaluation
from unweave.report.answer.levels import rank_of
from unweave.report.page import colours
from unweave.report.page.block_pictures import picture
from unweave.report.page.code_pictures import CodePictures
from unweave.report.summary.page_limits import EVER_LESS
from unweave.report.summary.summarise import summarise
from unweave.words.answers import reading_of_pictures
from unweave.words.phrases import brief, counted, fixed, listed, p_value

MOST_BYTES = 3_000_000
MOST_BYTES_OF_DATA = 400_000
MOST_FACTORS = 24  # largest number of rows in the factor table
TIE_LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
    """Render the page of a summary."""
    return _page_template().render(
        summary=summary,
        pictures=pictures,
        has=_what_there_is(summary),
        matrix_groups=_grouped(summary["matrices"], lambda matrix: (matrix["name"], tuple(matrix["metrics"]))),
        chart_groups=_grouped(summary["charts"], lambda chart: chart["label"]),
        shown_factors=_shown_factors(summary["answer"]),
        pairs=_pairs(summary),
        embedded=_embedded(summary),
    )


@functools.cache
def _page_template() -> Template:
    environment = Environment(
        loader=PackageLoader("unweave.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(brief=brief, fixed=fixed, listed=listed)
    environment.globals.update(
        place=_place,
        span=_span,
        level=colours.level_of,
        picture=picture,
        p_value=p_value,
        counted=counted,
        best_rows=_best_rows,
        dots=_dots,
        tie=lambda groups: "".join(TIE_LETTERS[k] for k in groups if k < len(TIE_LETTERS)),
        ramps={"light": colours.LIGHT, "dark": colours.DARK},
        hexadecimal=colours.hexadecimal,
        text_on=colours.text_on,
        rank_of=rank_of,
        reading_of_pictures=reading_of_pictures,
    )
    return environment.get_template("page.html.j2")


def _what_there_is(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Determine which columns and sections have something to show."""
    cells = [cell for metric in summary["metrics"] for cell in metric["cells"]]
    axes = {tuple(metric["domain"]) for metric in summary["metrics"]}
    return {
        "one_axis": next(iter(axes)) if len(axes) == 1 else None,
        "several": len(summary["data"]["representations"]) > 1,
        "verdict": any(cell["verdict"] for cell in cells),
        "floor": any(cell["floor"] for cell in cells),
        "chance": not any(cell["floor"] for cell in cells) and any(cell["chance"] is not None for cell in cells),
        "interval": any(cell["interval"] for cell in cells),
        "calibrated": any(cell["calibrated"] is not None for cell in cells),
        "p_value": any(cell["floor"] and cell["floor"]["p_value"] is not None for cell in cells),
        "ties": any(cell["groups"] for cell in cells),
        "why": any((cell["verdict"] and cell["verdict"]["reasons"]) or cell["problem"] for cell in cells),
    }


def _grouped(items: list[dict[str, Any]], key: Any) -> list[list[dict[str, Any]]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
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

    This is the row of the code that the factor is matched to, or else the row of the largest value, or -1 if the column
    has no value.
    """
    matched = {pair["factor"]: pair["code"] for pair in pairs.get(matrix["representation"], ())}
    best = []
    for name, column in zip(matrix["column_names"], zip(*matrix["values"], strict=True), strict=True):
        sizes = [-1.0 if value is None else abs(value) for value in column]
        if matched.get(name) in matrix["row_names"]:
            best.append(matrix["row_names"].index(matched[name]))
        else:
            best.append(max(range(len(sizes)), key=sizes.__getitem__) if max(sizes) > 0 else -1)
    return best


def _pairs(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the points of the scatter plot of each factor and its code, if there is one representation."""
    return {pair["factor"]: pair for of_one in summary["pairs"].values() for pair in of_one}


def _dots(pair: Mapping[str, Any]) -> str:
    """Return the SVG path of a scatter plot with one dot per row; the code is on the vertical axis."""
    return "".join(f"M{90 * x:.0f} {56 - 56 * y:.0f}h0" for x, y in zip(pair["x"], pair["y"], strict=True))


def _shown_factors(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the factor table. If there are too many, only the best and worst recovered factors remain."""
    rows: list[dict[str, Any]] = answer.get("factors", [])
    if len(rows) <= MOST_FACTORS:
        return rows
    ordered = sorted(rows, key=lambda row: -1.0 if row["share"] is None else row["share"], reverse=True)
    return [*ordered[: MOST_FACTORS // 2], *ordered[-MOST_FACTORS // 2 :]]


def _embedded(summary: Mapping[str, Any]) -> str:
    """Return the summary as JSON for a script element, or an empty string if it would make the page too large.

    "<" is escaped, so that no text in the summary can close the script element.
    """
    text = json.dumps(summary, ensure_ascii=False).replace("<", "\\u003c")
    return text if len(text) <= MOST_BYTES_OF_DATA else ""
