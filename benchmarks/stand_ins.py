"""Each metric relative to the usual loop over scikit-learn, scipy or numpy calls in public libraries.

The loops here compute the same kind of quantity as these libraries do. The CPU seconds of the libraries themselves,
with one thread on the same data, are given for comparison. Case c09 has 10,000 rows, 10 codes, and discrete factors of
3, 6, 40, 32 and 32 values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import pearsonr
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.model_selection import cross_val_predict

from benchmarks.measurement import Measurement, seconds
from benchmarks.prediction import discrete_case
from benchmarks.timing import best_cpu_seconds
from unweave.evidence import Evidence
from unweave.metrics import CATALOGUE

Arrays = tuple[np.ndarray, np.ndarray]
BATCHES, BATCH_ROWS = 15_000, 64  # numbers of batches for training and test, as in public code
REPEATS = 9


def correlations(factors: np.ndarray, codes: np.ndarray) -> None:
    [[abs(pearsonr(factor, code)[0]) for code in codes.T] for factor in factors.T]


def five_regressions(factors: np.ndarray, codes: np.ndarray) -> None:
    cross_val_predict(LinearRegression(), codes, factors, cv=5)


def one_regression_per_pair(factors: np.ndarray, codes: np.ndarray) -> None:
    for code in codes.T:
        for factor in factors.T:
            LinearRegression().fit(code[:, None], factor).score(code[:, None], factor)


def information_of_bins(factors: np.ndarray, codes: np.ndarray) -> None:
    labels = [np.digitize(code, np.histogram(code, 20)[1][:-1]) for code in codes.T]
    [[mutual_info_score(factor, label) for factor in factors.T] for label in labels]


def information_by_neighbours(factors: np.ndarray, codes: np.ndarray) -> None:
    for factor in factors.T:
        mutual_info_classif(codes, factor, n_neighbors=10, random_state=0)


def logistic_fits(factors: np.ndarray, codes: np.ndarray) -> None:
    for factor in factors.T:
        LogisticRegression(max_iter=100).fit(codes, factor).predict_proba(codes)


def logistic_areas(factors: np.ndarray, codes: np.ndarray) -> None:
    for factor in factors.T:
        roc_auc_score(
            factor, LogisticRegression(max_iter=100).fit(codes, factor).predict_proba(codes), multi_class="ovr"
        )


def least_varying_codes(factors: np.ndarray, codes: np.ndarray) -> None:
    rng, spread = np.random.default_rng(0), codes.var(axis=0)
    for _ in range(BATCHES):
        j = rng.integers(factors.shape[1])
        rows = np.flatnonzero(factors[:, j] == rng.choice(factors[:, j]))
        (codes[rng.choice(rows, BATCH_ROWS)].var(axis=0) / spread).argmin()


def paired_differences(factors: np.ndarray, codes: np.ndarray) -> None:
    rng, points, held = np.random.default_rng(0), [], []
    for _ in range(BATCHES):
        j = rng.integers(factors.shape[1])
        rows = np.flatnonzero(factors[:, j] == rng.choice(factors[:, j]))
        first, second = codes[rng.choice(rows, (2, BATCH_ROWS))]
        points.append(np.abs(first - second).mean(axis=0))
        held.append(j)
    LogisticRegression().fit(points, held)


def distances_from_means(factors: np.ndarray, codes: np.ndarray) -> None:
    for factor in factors.T:
        for value in np.unique(factor):
            rows = factor == value
            np.percentile(np.abs(codes[rows] - codes[rows].mean(axis=0)), 99, axis=0)


def residuals_of_every_pair(factors: np.ndarray, codes: np.ndarray) -> None:
    for j in range(factors.shape[1]):
        others = np.delete(factors, j, axis=1)
        for code in codes.T:
            for _ in range(REPEATS):  # public code averages over random halves
                of_factor = factors[:, j] - LinearRegression().fit(others, factors[:, j]).predict(others)
                np.corrcoef(of_factor, code - LinearRegression().fit(others, code).predict(others))


def forests_of_rising_depth(factors: np.ndarray, codes: np.ndarray) -> None:
    for factor in factors.T:
        for depth in (1, 2, 4, 8):
            RandomForestRegressor(20, max_depth=depth, random_state=0).fit(codes, factor)


# metric to the usual loop, and the CPU seconds of a public library on this case (None if none was timed)
STAND_INS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], None], float | None]] = {
    "mcc": (correlations, 0.0073),
    "r2": (five_regressions, 0.0056),
    "sap": (one_regression_per_pair, 0.0688),
    "explicitness": (logistic_areas, 1.32),
    "dci_explicitness": (forests_of_rising_depth, None),
    "mig": (information_of_bins, 0.403),
    "mig_sup": (information_of_bins, 0.541),
    "dcimig": (information_of_bins, 0.505),
    "modularity": (information_of_bins, 0.196),
    "minimality": (information_of_bins, 0.736),
    "sufficiency": (information_of_bins, 0.736),
    "infomec_modularity": (information_by_neighbours, 2.53),
    "infomec_compactness": (information_by_neighbours, 2.53),
    "infomec_explicitness": (logistic_fits, 0.545),
    "beta_vae_score": (paired_differences, 3.02),
    "factor_vae_score": (least_varying_codes, 1.69),
    "irs": (distances_from_means, 0.0407),
    "t_mex": (residuals_of_every_pair, 3.44),
}


def each_metric() -> Measurement:
    """Speed of every metric on new evidence relative to its loop; the figure is the median ratio."""
    factors, codes, origin = discrete_case()
    ratios, lines = {}, []
    for name, (loop, elsewhere) in STAND_INS.items():
        contestants = {
            "ours": lambda evidence, name=name: CATALOGUE[name](evidence),
            "loop": lambda _, loop=loop: loop(factors, codes),
        }
        times = best_cpu_seconds(contestants, 2, lambda: Evidence(factors, codes))
        ratios[name] = times["loop"] / times["ours"]
        beside = "" if elsewhere is None else f"; a public library took {elsewhere:g} s on another machine"
        lines.append(f"{name:<24}{ratios[name]:>7.1f} x  {seconds(times)} ({loop.__name__}){beside}")
    slowest = min(ratios, key=lambda name: ratios[name])
    return Measurement(
        subject=f"every metric relative to the usual loop, {origin}; the smallest ratio is that of {slowest}",
        figure=float(np.median(list(ratios.values()))),
        unit="times faster than the usual loop, the median metric",
        notes=tuple(lines),
    )
