"""The score of each factor with its interval and the score of random codes, for the bar charts of a page."""

from __future__ import annotations

import math
from typing import Any

from unweave.report.summary.page_limits import Detail


def factor_charts(metric: dict[str, Any], factors: list[str], detail: Detail) -> list[dict[str, Any]]:
    """Return one chart for each representation for which the metric has a score per factor.

    If there are many factors, the chart has only the highest and the lowest scores.
    """
    charts = []
    for cell in metric["cells"]:
        named = [name for name in factors if name in cell["per_factor"]]
        if not named or all(math.isnan(cell["per_factor"][name]) for name in named):
            continue
        shown, sentence = _shown(named, cell["per_factor"], detail.bars)
        charts.append(
            {
                "label": metric["label"],
                "representation": cell["representation"],
                "measures": metric["measures"],
                "domain": metric["domain"],
                "lower_is_better": metric["lower_is_better"],
                "sentence": sentence,
                "bars": [_bar(name, cell, metric["lower_is_better"]) for name in shown],
            }
        )
    return charts


def _bar(factor: str, cell: dict[str, Any], lower_is_better: bool) -> dict[str, Any]:
    value = cell["per_factor"][factor]
    band = (cell["floor"] or {}).get("per_factor", {}).get(factor)
    ends = (cell["interval"] or {}).get("per_factor", {}).get(factor)
    within_noise = None
    if band and not math.isnan(value):
        edge = band[1] if lower_is_better else band[2]
        within_noise = None if edge is None else value >= edge if lower_is_better else value <= edge
    return {"factor": factor, "value": value, "floor": band, "interval": ends, "within_noise": within_noise}


def _shown(named: list[str], per_factor: dict[str, float], at_most: int) -> tuple[list[str], str]:
    if len(named) <= at_most:
        return named, ""
    order = sorted(
        (name for name in named if not math.isnan(per_factor[name])), key=lambda name: (per_factor[name], name)
    )
    half = at_most // 2
    lowest, highest = order[:half], order[max(half, len(order) - half) :]
    sentence = f"Only the {len(highest)} highest and {len(lowest)} lowest of {len(named):,} factors are shown."
    return [*reversed(highest), *reversed(lowest)], sentence
