"""Tables of means over seeds, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Group

NOT_GROUPS = ("seed", "value", "raw", "problem")


def summary(table: pl.DataFrame, confidence: float = 0.95) -> pl.DataFrame:
    """Mean of the values over seeds for every setting and metric, with Student's t interval.

    ``n_seeds`` is the number of seeds with a value. Seeds without a value are left out; if no seed has a value, the
    problem is shown. The interval is nan for fewer than two seeds, and may exceed the bounds of the metric.

    >>> import polars as pl
    >>> table = pl.DataFrame({"seed": [0, 1], "metric": ["mcc"] * 2, "value": [0.4, 0.6], "raw": 0.0, "problem": None})
    >>> summary(table).select("metric", "mean", pl.col("low", "high").round(2), "n_seeds").rows()
    [('mcc', 0.5, -0.77, 1.77, 2)]
    """
    import polars as pl

    groups = [name for name in table.columns if name not in NOT_GROUPS]
    rows: list[dict[str, Any]] = []
    for labels, group in table.group_by(groups, maintain_order=True):
        values = group["value"].to_numpy()
        problems = group["problem"].drop_nulls()
        kept = values[~np.isnan(values)]
        mean = float(kept.mean()) if kept.size else np.nan
        half = np.nan
        if kept.size > 1:
            half = float(student.ppf((1 + confidence) / 2, kept.size - 1) * kept.std(ddof=1) / np.sqrt(kept.size))
        rows.append(
            dict(zip(groups, labels, strict=True))
            | {"mean": mean, "low": mean - half, "high": mean + half, "n_seeds": kept.size}
            | {"problem": problems[0] if len(problems) and not kept.size else None}
        )
    schema = {name: table.schema[name] for name in groups}
    numbers = {"mean": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(), "n_seeds": pl.Int64()}
    return pl.DataFrame(rows, schema={**schema, **numbers, "problem": pl.String()})


def printed(table: pl.DataFrame) -> Group:
    """Means and intervals for a terminal: one column for each metric, and a note for each reason of missing values."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    means = summary(table)
    metrics = means["metric"].unique(maintain_order=True).to_list()
    # constant columns are not shown
    labels = [name for name in means.columns[: means.columns.index("metric")] if means[name].n_unique() > 1]
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in labels:
        shown.add_column(Text(name))
    for name in metrics:
        shown.add_column(Text(name), justify="right")
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in means.iter_rows(named=True):
        lines.setdefault(tuple(row[name] for name in labels), {})[row["metric"]] = _cell(row)
    for line, cells in lines.items():
        stated = ("" if label is None else str(label) for label in line)
        shown.add_row(*map(Text, stated), *(Text(cells.get(name, "")) for name in metrics))
    problems = table.drop_nulls("problem").group_by("metric", "problem", maintain_order=True).len()
    notes = [f"{metric}, {times} times: {problem}" for metric, problem, times in problems.iter_rows()]
    several = table["seed"].n_unique() > 1
    heading = f"Means of {table['seed'].n_unique()} seeds ± half of their 95 % interval" if several else "One seed"
    return Group(Text(heading), shown, *(Text(note, style="dim") for note in notes))


def _cell(row: dict[str, Any]) -> str:
    if np.isnan(row["mean"]):
        return "undefined"
    if np.isnan(row["low"]):
        return f"{row['mean']:.3f}"
    return f"{row['mean']:.3f} ± {row['high'] - row['mean']:.3f}"
