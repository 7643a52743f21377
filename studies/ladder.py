"""Does the ladder keep its levels? Coverage of intervals, size of the axes test, factors found in noise.

    python -m studies.ladder coverage|axes|noise OUT.json [n_draws [d]]

Every draw is fresh and has its own seed. A table is written after every cell, so that a stopped run keeps what it has.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unweave import Evidence, ladder
from unweave.identifiability.analysis import quick_part


def superposed(seed: list[int], d: int, rho: float, n_rows: int = 1000) -> tuple[Any, ...]:
    """Normal factors in fewer codes with noise .1, and the recovery and leakage of the best directions."""
    rng, m = np.random.default_rng(seed), max(2, d - 1)
    z = rng.normal(size=(n_rows, d)) @ np.linalg.cholesky(np.full((d, d), rho) + (1 - rho) * np.eye(d)).T
    loadings = rng.normal(size=(m, d)) / np.sqrt(d)
    codes = z @ loadings.T + np.sqrt(0.1) * rng.normal(size=(n_rows, m))
    inner = loadings.T @ np.linalg.solve(loadings @ loadings.T + 0.1 * np.eye(m), loadings)
    leakage = np.square(inner) / np.diag(inner)[:, None]
    return z, codes, np.diag(inner), leakage.sum(axis=1) - np.diag(leakage)


def coverage(n_draws: int, *sizes: str) -> Iterator[dict[str, Any]]:
    """How often 95 % intervals of direction and leakage contain the closed form."""
    for d in map(int, sizes or (2, 5, 20)):
        for rho in (0.0, 0.6, 0.9):
            inside: dict[str, list[bool]] = {"direction": [], "leakage": []}
            start = time.process_time()
            for seed in range(n_draws):
                z, codes, *truth = superposed([3100, d, round(10 * rho), seed], d, rho)
                for j, row in enumerate(ladder(z, codes, quick=True).rows):
                    for name, values in zip(inside, truth, strict=True):
                        low, high = row.intervals[name]
                        inside[name].append(bool(low <= values[j] <= high))
                if seed % 50 == 49 or seed == n_draws - 1:
                    shares = {name: round(float(np.mean(each)), 4) for name, each in inside.items()}
                    yield {
                        "d": d, "rho": rho, "draws": seed + 1, **shares, "seconds": round(time.process_time() - start)
                    }  # fmt: skip


def mixed(setting: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """400 rows of factors and of codes whose axes are arbitrary mixtures of them."""
    n = 400
    d = 2 if setting == "d = 2" else 10 if setting == "d = 10" else 5
    z = rng.normal(size=(n, d))
    if setting == "rho .8":
        z = z @ np.linalg.cholesky(np.full((d, d), 0.8) + 0.2 * np.eye(d)).T
    if setting == "4 levels":
        z = rng.integers(0, 4, size=(n, d)).astype(float)
    haar = np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.choice([-1, 1], size=d)
    codes = z @ haar
    if setting == "Haar, noise .2":
        codes = np.sqrt(0.8) * codes + np.sqrt(0.2) * rng.normal(size=codes.shape)
    if setting.startswith("Gaussian"):
        m = 20 if setting == "Gaussian, 20 codes" else 5
        codes = z @ rng.normal(size=(d, m))
    if setting == "Gaussian, 45 noise codes":
        codes = np.hstack([codes, rng.normal(size=(n, 45))])
    if setting == "scales exp(2 N)":
        codes = codes * np.exp(2 * rng.normal(size=d))
    if setting == "copies x 3":
        codes = np.hstack([codes] * 3)
    return z, codes


SETTINGS = (
    *("Haar, d = 5", "Haar, noise .2", "Gaussian, 5 codes", "Gaussian, 20 codes", "Gaussian, 45 noise codes"),
    *("scales exp(2 N)", "copies x 3", "rho .8", "d = 2", "d = 10", "4 levels"),
)


def axes(n_draws: int) -> Iterator[dict[str, Any]]:
    """How often the axes of random mixtures are called the factors at level .05."""
    for k, setting in enumerate(SETTINGS):
        p_values = []
        for seed in range(n_draws):
            z, codes = mixed(setting, np.random.default_rng([3101, k, seed]))
            p_values.append(quick_part(Evidence(z, codes), 0).axes.p_value)  # Ladder.axes_p_value
        yield {"setting": setting, "draws": n_draws, "size": float(np.mean(np.array(p_values) <= 0.05))}


def noise(n_draws: int) -> Iterator[dict[str, Any]]:
    """Factors that are found in codes that are noise: of all factors, and calls with at least one."""
    for n, m, d in ((100, 5, 5), (100, 100, 5), (200, 5, 5), (200, 20, 10), (200, 200, 5)):
        for tails in ("normal", "t(3)"):
            rungs: Counter[str] = Counter()
            wrong = 0
            for seed in range(n_draws):
                rng = np.random.default_rng([3102, n, m, d, tails == "normal", seed])
                draw = rng.standard_normal if tails == "normal" else lambda size, rng=rng: rng.standard_t(3, size)
                found = [row.rung for row in ladder(draw((n, d)), draw((n, m))).rows]
                rungs.update(found)
                wrong += any(rung != "absent" for rung in found)
            yield {"n": n, "m": m, "d": d, "tails": tails, "draws": n_draws, "calls wrong": wrong, **rungs}


STUDIES = {"coverage": (coverage, 500), "axes": (axes, 200), "noise": (noise, 40)}


def main(name: str, out: str, n_draws: str = "", *sizes: str) -> None:
    """Run one study."""
    study, usual = STUDIES[name]
    cells: dict[str, dict[str, Any]] = {}
    for cell in study(int(n_draws or usual), *sizes):
        key = " ".join(f"{k} {cell[k]}" for k in ("d", "rho", "setting", "n", "m", "tails") if k in cell)
        cells[key] = cell
        Path(out).write_text(json.dumps(list(cells.values()), indent=1) + "\n")
        print(cell, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
