"""Draw the figure of docs/which-metric.md, and write the table of scores below it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from unweave import evaluate
from unweave.report.figures.codes import RAMP

DOCS = Path(__file__).parent
METRICS = ["mcc", "identification", "dci_disentanglement", "mig", "dci_completeness", "r2"]
FACTORS = ["size", "x", "y"]


def representations() -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return three uniform factors, and six encodings of them by name."""
    rng = np.random.default_rng(0)
    factors = rng.uniform(-1, 1, size=(1000, 3))
    size, x, y = factors.T
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    return factors, {
        "recovered": factors,
        "permuted and rescaled": np.column_stack([-2 * y, size**3, np.exp(x)]),
        "a factor split": np.column_stack([np.maximum(size, 0), np.minimum(size, 0), x, y]),
        "two factors in one code": np.column_stack([size, x + 0.8 * y]),
        "linearly mixed": factors @ turn,
        "noise": rng.normal(size=(1000, 3)),
    }


def picture() -> Figure:
    """Draw six small matrices side by side."""
    factors, codes = representations()
    figure = Figure(figsize=(10, 2.5), layout="constrained", facecolor="white")
    for place, (name, table) in enumerate(codes.items()):
        axes = figure.add_subplot(1, len(codes), place + 1)
        matrix = np.abs(np.corrcoef(table.T, factors.T)[: table.shape[1], table.shape[1] :])
        axes.imshow(matrix, cmap=RAMP, vmin=0, vmax=1)
        axes.set_title(name, fontsize=8)
        axes.set_xticks(range(3), FACTORS, fontsize=7)
        axes.set_yticks(range(len(matrix)), [f"code {k}" for k in range(len(matrix))], fontsize=7)
        axes.tick_params(length=0)
    return figure


def score_table() -> str:
    """Return a Markdown table with the scores of all six encodings."""
    factors, codes = representations()
    lines = [f"| | {' | '.join(f'`{name}`' for name in METRICS)} |", "| --- |" + " ---: |" * len(METRICS)]
    for name, table in codes.items():
        evaluation = evaluate(factors, table, metrics=METRICS, quick=True, progress=False)
        lines.append(f"| {name} | {' | '.join(f'{evaluation[metric].value:.2f}' for metric in METRICS)} |")
    return "\n".join(lines)


def main() -> None:
    """Write the figure and the table."""
    with rc_context({"svg.hashsalt": "unweave"}):  # so that the same numbers give the same file
        picture().savefig(DOCS / "images" / "which-metric.svg", metadata={"Date": None})
    page = DOCS / "which-metric.md"
    text = page.read_text(encoding="utf-8")
    part = f"<!-- scores -->\n{score_table()}\n<!-- /scores -->"
    page.write_text(
        re.sub(r"<!-- scores -->.*<!-- /scores -->", lambda _: part, text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
