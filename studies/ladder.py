"""Does the ladder keep its levels, and does it rank? Results in studies/ladder_results, discussed in docs/ladder.md.

    python -m studies.ladder coverage|axes|power|rotations|noise|budgets|vaes OUT.csv [n_draws [d]]

Every draw is fresh and has its own seed. A table is written after every cell, so that a stopped run keeps what it has.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unweave import Evidence, evaluate, ladder
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
        for rho in (0.0, 0.5, 0.9):
            inside: dict[str, list[bool]] = {"direction": [], "leakage": []}
            start = time.process_time()
            for seed in range(n_draws):
                z, codes, *truth = superposed([313100, d, round(10 * rho), seed], d, rho)
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


def power(n_draws: int) -> Iterator[dict[str, Any]]:
    """How often the axes of factors turned in pairs are called the factors at level .05; 400 rows, noise .2."""
    for d in (2, 4, 6, 10):
        for angle in (0, 5, 10, 15, 19):
            cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            turn = np.kron(np.eye(d // 2), [[cosine, sine], [-sine, cosine]])
            below = 0
            for seed in range(n_draws):
                rng = np.random.default_rng([3103, d, angle, seed])
                z = rng.normal(size=(400, d))
                codes = math.sqrt(0.8) * z @ turn + math.sqrt(0.2) * rng.normal(size=z.shape)
                below += quick_part(Evidence(z, codes), 0).axes.p_value <= 0.05
            yield {"d": d, "degrees": angle, "draws": n_draws, "power": below / n_draws}


def rotations(n_draws: int, *sizes: str) -> Iterator[dict[str, Any]]:
    """Mean of `identification` over random rotations, 1,000 rows."""
    for d in map(int, sizes or (2, 3, 4, 6, 8)):
        values = []
        for seed in range(n_draws):
            rng = np.random.default_rng([777, d, seed])
            z = rng.normal(size=(1000, d))
            values.append(ladder(z, z @ np.linalg.qr(rng.normal(size=(d, d)))[0], quick=True).own_codes)
        error = float(np.std(values)) / math.sqrt(n_draws)
        yield {"d": d, "draws": n_draws, "mean": round(float(np.mean(values)), 4), "standard error": round(error, 4)}


def budgets(n_draws: int) -> Iterator[dict[str, Any]]:
    """Metric, verdict and ends of the interval for every budget, on the same 1,000 rows."""
    for seed in range(n_draws):
        rng = np.random.default_rng([3104, seed])
        z = rng.normal(size=(1000, 3))
        z[:, 1] = 0.6 * z[:, 0] + 0.8 * z[:, 1]
        codes = np.column_stack([z[:, 0], z[:, 1:] @ [[0.8, 0.6], [-0.6, 0.8]]]) + 0.4 * rng.normal(size=(1000, 3))
        for budget in (1, 3, 8, 15, 30, math.inf):
            for row in evaluate(z, codes, budget=budget, progress=False).rows:
                low, high = row.ends or (math.nan, math.nan)
                value = row.score.value if row.score else math.nan
                yield {
                    "seed": seed, "budget": budget, "metric": row.label, "level": str(row.level),
                    "value": round(value, 6), "low": round(low, 4), "high": round(high, 4),
                }  # fmt: skip


def recovery_under_intervention(factors: np.ndarray, codes: np.ndarray) -> float:
    """The ladder's parts, without luck, from independent rows and other estimators: ANOVA, ridge and neighbours."""
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    codes = StandardScaler().fit_transform(codes)
    levels = [np.unique(column, return_inverse=True)[1] for column in factors.T]
    share = np.empty((codes.shape[1], len(levels)))
    for j, level in enumerate(levels):
        counts = np.bincount(level)
        for i, code in enumerate(codes.T):
            share[i, j] = counts @ np.square(np.bincount(level, code) / counts) / len(code)
    own = (np.square(share) / share.sum(axis=1, keepdims=True)).max(axis=0)
    parts = []
    for j, level in enumerate(levels):
        target = np.eye(level.max() + 1)[level] if level.max() < 4 else level
        linear, near = (
            max(0.0, float(cross_val_score(probe, codes, target, scoring="r2").mean()))
            for probe in (RidgeCV(10.0 ** np.arange(-2, 4)), KNeighborsRegressor(10))
        )
        parts.append(max(linear, near) / 4 + linear / 4 + own[j] / 2)
    return float(np.mean(parts))


def vaes(n_draws: int) -> Iterator[dict[str, Any]]:
    """Ladder of ten small VAEs on images whose x and y depend on each other, and recovery on independent images."""
    from unweave.datasets import DependentSample, small_sprites
    from unweave.datasets.dependence import CorrelatedPair
    from unweave.models import BetaVAE, TrainingSettings, train

    images = small_sprites()
    dependent = DependentSample(images, [CorrelatedPair("x", "y", sigma=0.3)])
    kinds = dict(zip(images.factor_names, images.kinds, strict=True))
    for seed in range(n_draws):
        for n_steps in (100, 400, 1000, 2000, 4000):
            settings = TrainingSettings(n_steps=n_steps, learning_rate=1e-3)
            objectives = [BetaVAE(beta=1), BetaVAE(beta=8)]
            for model in train(images, objectives, seed=seed, n_codes=6, settings=settings, progress=False):
                scored, fresh = dependent.sample(1000, rng=3105 + seed), images.sample(3000, rng=31_050 + seed)
                found, truth = (
                    (each.factors, np.asarray(model.codes_of(each.images), dtype=float)) for each in (scored, fresh)
                )
                rungs = ladder(*found, factor_names=images.factor_names, kinds=kinds)
                yield {
                    "seed": seed, "beta": model.spec.objective.beta, "steps": n_steps,
                    "ladder": round(rungs.value, 4), "own codes": round(rungs.own_codes, 4),
                    "truth": round(recovery_under_intervention(*truth), 4),
                }  # fmt: skip


def noise(n_draws: int) -> Iterator[dict[str, Any]]:
    """Factors that are found in codes that are noise: of all factors, and calls with at least one."""
    for n, m, d in ((100, 5, 5), (100, 100, 5), (200, 5, 5), (200, 20, 10), (200, 200, 5)):
        for tails in ("normal", "t(3)"):
            rungs: Counter[str] = Counter()
            wrong = 0
            for seed in range(n_draws):
                rng = np.random.default_rng([313102, n, m, d, tails == "normal", seed])
                draw = rng.standard_normal if tails == "normal" else lambda size, rng=rng: rng.standard_t(3, size)
                found = [row.rung for row in ladder(draw((n, d)), draw((n, m))).rows]
                rungs.update(found)
                wrong += any(rung != "absent" for rung in found)
            yield {"n": n, "m": m, "d": d, "tails": tails, "draws": n_draws, "calls wrong": wrong, **rungs}


STUDIES = {
    "coverage": (coverage, 500), "axes": (axes, 200), "power": (power, 100), "rotations": (rotations, 60),
    "noise": (noise, 40), "budgets": (budgets, 1), "vaes": (vaes, 3),
}  # fmt: skip

KEYS = ("seed", "d", "rho", "degrees", "setting", "n", "m", "tails", "budget", "metric", "beta", "steps")


def main(name: str, out: str, n_draws: str = "", *sizes: str) -> None:
    """Run one study."""
    study, usual = STUDIES[name]
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in study(int(n_draws or usual), *sizes):
        cells[tuple(cell.get(key) for key in KEYS)] = cell
        names = dict.fromkeys(name for each in cells.values() for name in each)
        with Path(out).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(names), restval=0, lineterminator="\n")
            writer.writeheader()
            writer.writerows(cells.values())
        print(cell, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
