"""Are verdicts with the default budget those without a limit? Data sets fixed before any result, not used for choosing.

    python -m studies.budgets run FILE [most data sets]
    python -m studies.budgets table FILE

A cell is one metric of the panel on one data set: its level with the default budget, and with ``budget=inf``. Data set
k has a number of rows, codes and factors, kinds, a correlation of the numbers and an encoder drawn from seed 2040 and
k. A run continues where the file ends. The aim is 99 % of 500 cells with the same level.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import numpy as np

from unweave import evaluate
from unweave.evaluation.loop import BUDGET

ENCODERS = ("private", "leaky", "rotated", "network", "noise")
COLUMNS = ("data", "rows", "codes", "kinds", "encoder", "metric", "default", "unlimited")


def data_set(k: int) -> tuple[np.ndarray, np.ndarray, list[str], str]:
    """Factors, codes, kinds and encoder of data set k."""
    rng = np.random.default_rng([2040, k])
    n, m = int(300 * 10 ** rng.uniform(0, 1.5)), int(rng.integers(4, 25))
    kinds = rng.choice(["continuous", "ordinal", "categorical"], size=rng.integers(2, 7), p=[0.7, 0.15, 0.15]).tolist()
    encoder = str(rng.choice(ENCODERS))
    rho = rng.choice([0.0, 0.3, 0.7])
    factors = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, len(kinds)))
    for j, kind in enumerate(kinds):
        if kind != "continuous":
            factors[:, j] = np.digitize(factors[:, j], [-0.7, 0.0, 0.7])
    inputs = (factors - factors.mean(axis=0)) / factors.std(axis=0)
    private = np.hstack([inputs, np.zeros((n, m))])[:, :m]
    mixing = rng.normal(size=(len(kinds), m)) / np.sqrt(len(kinds))
    codes = {
        "private": private,
        "leaky": private + 0.3 * inputs @ mixing,
        "rotated": inputs @ mixing,
        "network": np.tanh(inputs @ rng.normal(size=(len(kinds), 32))) @ rng.normal(size=(32, m)) / 4,
        "noise": np.zeros((n, m)),
    }[encoder]
    return factors, codes + rng.choice([0.1, 0.5]) * rng.normal(size=(n, m)), kinds, encoder


def run(file: Path, most: int) -> None:
    """Append the cells of the data sets that the file does not have."""
    done = {row["data"] for row in rows_of(file)} if file.exists() else set()
    for k in range(most):
        if str(k) in done:
            continue
        factors, codes, kinds, encoder = data_set(k)
        found, free = (
            evaluate(factors, codes, kinds=kinds, progress=False, budget=budget) for budget in (BUDGET, math.inf)
        )
        levels = {row.label: str(row.level) for row in free.rows}
        with file.open("a", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            if not opened.tell():
                writer.writerow(COLUMNS)
            about = (k, *codes.shape, " ".join(kinds), encoder)
            writer.writerows((*about, row.label, str(row.level), levels[row.label]) for row in found.rows)


def rows_of(file: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def table(file: Path) -> str:
    """Cells with the same level, cells that are not checked, and those that differ."""
    rows = rows_of(file)
    other = [row for row in rows if row["default"] != row["unlimited"]]
    unchecked = sum(row["default"] == "not checked" for row in rows)
    lines = [f"{len(rows) - len(other)} of {len(rows)} cells have the same level; {unchecked} are not checked."]
    return "\n".join(lines + [", ".join(row.values()) for row in other])


if __name__ == "__main__":
    task, path, *numbers = sys.argv[1:]
    if task == "run":
        run(Path(path), int(numbers[0]) if numbers else 84)
    print(table(Path(path)))
