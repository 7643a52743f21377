"""Hot kernels end to end from arrays, relative to what people use instead: a few seconds, and part of `make check`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mutual_info_score

from benchmarks.matching import noisy_copies
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.estimators.nearest_neighbour import NearestNeighbour
from unweave.evidence import Evidence
from unweave.metrics import dci_disentanglement, mcc, mig, r2
from unweave.trust.floors import noise_floors


def matched(correlations: np.ndarray, n_factors: int) -> float:
    """Mean of the best matching of factors to codes, from the correlations of all columns."""
    between = np.abs(correlations[:n_factors, n_factors:])
    return float(between[linear_sum_assignment(-between)].mean())


def _compared(
    subject: str, ours: Callable[[], object], theirs: Callable[[], object], unit: str, limit: float, scale: float = 1.0
) -> Measurement:
    """Ratio of times; limits are about two thirds of what was measured, because a busy machine moves it a little."""
    times = best_cpu_seconds({"unweave": lambda _: ours(), "stand-in": lambda _: theirs()}, repetitions=3)
    figure = scale * times["stand-in"] / times["unweave"]
    return Measurement(subject, figure, f"times faster than {unit}", Target("at least", limit), (seconds(times),))


def _columns(n_rows: int, n_codes: int, n_factors: int) -> tuple[np.ndarray, np.ndarray]:
    factors, codes = noisy_copies(n_rows, n_codes, n_factors)
    return factors, np.ascontiguousarray(codes)  # row by row, as networks give them


def mcc_kernel() -> Measurement:
    """Pearson MCC with all checks against numpy's correlations and scipy's assignment."""
    factors, codes = _columns(100_000, 64, 10)
    return _compared(
        "mcc(factors, codes), n = 100,000, m = 64, d = 10",
        lambda: mcc(factors, codes),
        lambda: matched(np.corrcoef(factors.T, codes.T), 10),
        "numpy.corrcoef and scipy's linear_sum_assignment",
        1.4,
    )


def spearman_kernel() -> Measurement:
    """Spearman MCC against scipy's rank correlations and assignment."""
    factors, codes = _columns(10_000, 64, 10)
    return _compared(
        "mcc(factors, codes, correlation='spearman'), n = 10,000, m = 64, d = 10",
        lambda: mcc(factors, codes, correlation="spearman"),
        lambda: matched(spearmanr(np.column_stack([factors, codes])).statistic, 10),
        "scipy.stats.spearmanr and linear_sum_assignment",
        2.0,
    )


def r2_kernel() -> Measurement:
    """Held-out R2 by five folds against one fit and its R2 on the same rows."""
    factors, codes = _columns(100_000, 64, 10)
    return _compared(
        "r2(factors, codes), five folds held out, n = 100,000, m = 64, d = 10",
        lambda: r2(factors, codes),
        lambda: LinearRegression().fit(codes, factors).score(codes, factors),
        "one in-sample fit of sklearn's LinearRegression",
        2.0,
    )


def mig_kernel() -> Measurement:
    """MIG with its binning against a loop over pairs whose bins are given; three of 640 pairs are timed."""
    factors, codes = _columns(50_000, 64, 10)
    labels = [np.searchsorted(np.quantile(column, np.arange(1, 20) / 20), column) for column in codes[:, :4].T]
    return _compared(
        "mig(factors, codes), n = 50,000, m = 64, d = 10",
        lambda: mig(factors, codes),
        lambda: [mutual_info_score(labels[0], other) for other in labels[1:]],
        "a loop over sklearn's mutual_info_score (3 of 640 pairs, scaled)",
        20,
        scale=640 / 3,
    )


def neighbours_kernel() -> Measurement:
    """Nearest-neighbour information against scikit-learn's, which adds noise to the code first."""
    labels = np.random.default_rng(0).integers(0, 20, size=10_000).astype(np.uint16)
    code = (labels + np.random.default_rng(1).normal(size=labels.size))[:, None]
    return _compared(
        "NearestNeighbour(k=3) of one pair, n = 10,000, 20 levels",
        lambda: NearestNeighbour(k=3).code_information(code, [labels]),
        lambda: mutual_info_classif(code, labels, discrete_features=False, n_neighbors=3, random_state=0),
        "sklearn's mutual_info_classif",
        7.5,
    )


def dci_kernel() -> Measurement:
    """DCI against the recipe of disentanglement_lib and identifiability-guard, of which five of 100 trees are timed."""
    factors, codes = _columns(10_000, 10, 5)
    train = np.arange(8_000)
    return _compared(
        "dci_disentanglement(factors, codes), n = 10,000, m = 10, d = 5",
        lambda: dci_disentanglement(factors, codes),
        lambda: GradientBoostingRegressor(n_estimators=5).fit(codes[train], factors[train, 0]),
        "sklearn's GradientBoosting for every factor (5 of 500 trees, scaled)",
        18,
        scale=100,
    )


def dci_draws_kernel() -> Measurement:
    """Ten permuted draws of DCI against scikit-learn's histogram boosting of as many targets; two of 50 are timed."""
    factors, codes = _columns(2_000, 10, 5)
    evidence, train = Evidence(factors, codes), np.arange(1_600)
    dci_disentanglement(evidence)
    recipe = HistGradientBoostingRegressor(max_depth=3, max_leaf_nodes=None, min_samples_leaf=5, early_stopping=False)
    return _compared(
        "ten draws of the floor of dci_disentanglement, n = 2,000, m = 10, d = 5",
        lambda: noise_floors({"dci": dci_disentanglement}, evidence, n_draws=10),
        lambda: [recipe.fit(codes[train], factors[train, j]).predict(codes[1_600:]) for j in range(2)],
        "sklearn's HistGradientBoosting (2 of 50 fits, scaled)",
        2.5,
        scale=25,
    )


KERNELS = {
    "mcc": mcc_kernel,
    "mcc by ranks": spearman_kernel,
    "r2": r2_kernel,
    "mig": mig_kernel,
    "nearest neighbours": neighbours_kernel,
    "dci": dci_kernel,
    "dci draws": dci_draws_kernel,
}
