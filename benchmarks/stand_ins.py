"""The peer table: every metric end to end from arrays, beside the recipe that people use, and the values of both.

``python -m benchmarks.stand_ins [METRIC ...]`` prints it, by default for 1,000 to 100,000 rows of 10 and 64 codes. The
recipes are those of identifiability-guard, disentanglement_lib and their relatives, written again with numpy, scipy and
scikit-learn. A recipe that takes minutes is timed in part and scaled. Where both sides follow the same convention,
their values are compared; ``stated`` has the options of ours that do so, and the time is that of the same call.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss, mutual_info_score, roc_auc_score

from benchmarks.measurement import Measurement, Target
from benchmarks.timing import best_cpu_seconds
from unweave.estimators.information import Histogram
from unweave.metrics import CATALOGUE

Arrays = tuple[np.ndarray, np.ndarray]
Found = float | None  # the value of a recipe, or None if only a part of it was computed
SIZES = ((1_000, 10, 5), (10_000, 10, 5), (10_000, 64, 10), (100_000, 10, 5), (100_000, 64, 10))
BINS, REPEATS = 20, 9
BATCHES, BATCH_ROWS = 15_000, 64  # numbers of batches for training and test, as in disentanglement_lib
CHECKED_SIZE = (10_000, 10, 5)


def mixed_codes(n_rows: int, n_codes: int, n_factors: int) -> Arrays:
    """Normal factors and codes, row by row as networks give them: noisy copies, two mixtures, and noise."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, n_factors))
    codes = 0.5 * rng.normal(size=(n_rows, n_codes))
    codes[:, :n_factors] += factors
    codes[:, n_factors : n_factors + 2] += factors[:, :2] + factors[:, 2:4]
    return factors, codes


def matched(between: np.ndarray) -> float:
    """Mean of the best matching of the rows of a matrix to its columns."""
    return float(between[linear_sum_assignment(-between)].mean())


def pearson(factors: np.ndarray, codes: np.ndarray) -> Found:
    d = factors.shape[1]
    return matched(np.abs(np.corrcoef(factors, codes, rowvar=False)[:d, d:]))


def spearman(factors: np.ndarray, codes: np.ndarray) -> Found:
    d = factors.shape[1]
    return matched(np.abs(spearmanr(factors, codes).statistic[:d, d:]))


def least_squares(factors: np.ndarray, codes: np.ndarray) -> Found:
    return float(LinearRegression().fit(codes, factors).score(codes, factors))


def ridge(factors: np.ndarray, codes: np.ndarray) -> Found:
    return float(Ridge(alpha=1e-3).fit(codes, factors).score(codes, factors))


def squared_correlations(factors: np.ndarray, codes: np.ndarray) -> Found:
    scores = np.zeros((codes.shape[1], factors.shape[1]))
    for i, code in enumerate(codes.T):
        for j, factor in enumerate(factors.T):
            cov = np.cov(code, factor)
            scores[i, j] = cov[0, 1] ** 2 / (cov[0, 0] * cov[1, 1])
    best = np.sort(scores, axis=0)
    return float((best[-1] - best[-2]).mean())


def width_labels(columns: np.ndarray) -> np.ndarray:
    return np.stack([np.digitize(column, np.histogram(column, BINS)[1][:-1]) for column in columns.T], axis=1)


def histogram_information(factors: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    of_factors, of_codes = width_labels(factors), width_labels(codes)
    information = np.array([[mutual_info_score(z, c) for z in of_factors.T] for c in of_codes.T])
    return information, np.array([mutual_info_score(z, z) for z in of_factors.T])


def information_gap(factors: np.ndarray, codes: np.ndarray) -> Found:
    information, entropies = histogram_information(factors, codes)
    best = np.sort(information, axis=0)
    return float(((best[-1] - best[-2]) / entropies).mean())


def one_factor_per_code(factors: np.ndarray, codes: np.ndarray) -> Found:
    squares = np.square(histogram_information(factors, codes)[0])
    largest = squares.max(axis=1)
    return float(1 - ((squares.sum(axis=1) - largest) / (largest * (squares.shape[1] - 1))).mean())


def information_only(factors: np.ndarray, codes: np.ndarray) -> Found:
    histogram_information(factors, codes)
    return None


def information_by_neighbours(factors: np.ndarray, codes: np.ndarray) -> Found:
    mutual_info_classif(codes, width_labels(factors)[:, 0], n_neighbors=10, random_state=0)
    return None


def logistic_entropies(factors: np.ndarray, codes: np.ndarray) -> Found:
    label = width_labels(factors)[:, 0]
    log_loss(label, LogisticRegression(max_iter=100).fit(codes, label).predict_proba(codes))
    return None


def logistic_areas(factors: np.ndarray, codes: np.ndarray) -> Found:
    label = np.digitize(factors[:, 0], np.quantile(factors[:, 0], np.arange(1, 10) / 10))
    half = len(codes) // 2
    found = LogisticRegression(max_iter=100).fit(codes[:half], label[:half]).predict_proba(codes[half:])
    roc_auc_score(label[half:], found, multi_class="ovr")
    return None


def boosted_importances(factors: np.ndarray, codes: np.ndarray) -> Found:
    train = slice(len(codes) * 4 // 5)
    GradientBoostingRegressor(n_estimators=2).fit(codes[train], factors[train, 0])
    return None


def forests_of_rising_depth(factors: np.ndarray, codes: np.ndarray) -> Found:
    RandomForestRegressor(5, max_depth=8, random_state=0).fit(codes, factors[:, 0])
    return None


def batches_of_equal_values(factors: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Factor and rows of each batch, whose rows share a bin of the factor."""
    rng, cuts = np.random.default_rng(0), np.arange(1, BINS) / BINS
    labels = [np.searchsorted(np.quantile(factor, cuts), factor) for factor in factors.T]
    members = [[np.flatnonzero(label == value) for value in np.unique(label)] for label in labels]
    for _ in range(BATCHES):
        j = int(rng.integers(len(members)))
        rows = members[j][rng.integers(len(members[j]))]
        yield j, rng.choice(rows, 2 * BATCH_ROWS)


def least_varying_codes(factors: np.ndarray, codes: np.ndarray) -> Found:
    spread, votes = codes.var(axis=0, ddof=1), np.zeros((codes.shape[1], factors.shape[1]))
    for j, rows in batches_of_equal_values(factors):
        votes[(codes[rows[:BATCH_ROWS]].var(axis=0, ddof=1) / spread).argmin(), j] += 1
    return float(votes.max(axis=1).sum() / votes.sum())


def paired_differences(factors: np.ndarray, codes: np.ndarray) -> Found:
    points, held = [], []
    for j, rows in batches_of_equal_values(factors):
        points.append(np.abs(codes[rows[:BATCH_ROWS]] - codes[rows[BATCH_ROWS:]]).mean(axis=0))
        held.append(j)
    return float(LogisticRegression().fit(points, held).score(points, held))


def distances_from_means(factors: np.ndarray, codes: np.ndarray) -> Found:
    overall = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    within = np.zeros((codes.shape[1], factors.shape[1]))
    for j, labels in enumerate(width_labels(factors).T):
        values = np.unique(labels)
        for value in values:
            rows = codes[labels == value]
            within[:, j] += np.percentile(np.abs(rows - rows.mean(axis=0)), 99, axis=0) / values.size
    robust = (1 - within / overall[:, None]).max(axis=1)
    return float(np.average(robust, weights=overall))


def residuals_of_pairs(factors: np.ndarray, codes: np.ndarray) -> Found:
    others = factors[:, 1:]
    of_factor = factors[:, 0] - LinearRegression().fit(others, factors[:, 0]).predict(others)
    np.corrcoef(of_factor, codes[:, 0] - LinearRegression().fit(others, codes[:, 0]).predict(others))
    return None


@dataclass(frozen=True)
class Peer:
    """A recipe for a metric, the share of the whole that it computes, and the options of ours with its convention.

    ``agrees`` is how far both values may differ; None if the recipe estimates something else, for the reason in `why`.
    """

    metric: str
    recipe: Callable[[np.ndarray, np.ndarray], Found]
    agrees: float | None = None
    why: str = ""
    stated: dict[str, Any] = field(default_factory=dict)
    scale: Callable[[int, int], float] = lambda m, d: 1.0
    at_least: float = 1.0

    @property
    def call(self) -> Callable[..., Any]:
        """The metric with these options."""
        return functools.partial(CATALOGUE[self.metric], **self.stated)


WIDTH = Histogram(BINS, "equal_width")
PUBLISHED = {"scale": "values", "bins": BINS, "rescale": False}
PER_FACTOR: Callable[[int, int], float] = lambda m, d: d  # noqa: E731
HELD_OUT = "held out by five folds"
PEERS = (
    Peer("mcc", pearson, agrees=1e-12),
    Peer("mcc", spearman, agrees=1e-12, stated={"correlation": "spearman"}),
    Peer("r2", least_squares, agrees=0.01, why=HELD_OUT),
    Peer("r2", ridge, agrees=0.01, why=HELD_OUT),
    Peer("sap", squared_correlations, agrees=1e-12),
    Peer("mig", information_only, why="bins of equal mass", at_least=20),
    Peer("mig", information_gap, agrees=1e-9, stated={"estimator": WIDTH}, at_least=20),
    Peer("modularity", one_factor_per_code, agrees=1e-9, stated={"estimator": WIDTH}, at_least=20),
    Peer("mig_sup", information_only, why="timed only", at_least=20),
    Peer("dcimig", information_only, why="timed only", at_least=20),
    Peer("minimality", information_only, why="timed only", at_least=20),
    Peer("sufficiency", information_only, why="timed only", at_least=20),
    Peer("infomec_modularity", information_by_neighbours, why="one factor", scale=PER_FACTOR),
    Peer("infomec_explicitness", logistic_entropies, why="one factor, in sample, 100 iterations", scale=PER_FACTOR),
    Peer("explicitness", logistic_areas, why="one factor, 100 iterations", scale=PER_FACTOR),
    Peer("dci_disentanglement", boosted_importances, why="2 of 100 trees", scale=lambda m, d: 50 * d, at_least=20),
    Peer("dci_explicitness", forests_of_rising_depth, why="5 of 400 trees", scale=lambda m, d: 80 * d),
    Peer("factor_vae_score", least_varying_codes, why="ranks, five splits"),
    Peer("factor_vae_score", least_varying_codes, agrees=0.02, stated=PUBLISHED),
    Peer("beta_vae_score", paired_differences, why="ranks, held out, five splits"),
    Peer("irs", distances_from_means, why="values by their mass"),
    Peer(
        "irs",
        distances_from_means,
        agrees=1e-9,
        stated={"binning": "equal_width", "overall": "largest", "values": "alike"},
    ),
    Peer("t_mex", residuals_of_pairs, why="one pair, one of 9 repeats", scale=lambda m, d: REPEATS * m * d),
)


@dataclass(frozen=True)
class Row:
    """Times of a metric and a recipe on one data set, and their values."""

    peer: Peer
    ours: float
    theirs: float
    score: float
    value: Found

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs / self.ours

    @property
    def differs(self) -> bool:
        """Whether values that should agree do not."""
        agrees, value = self.peer.agrees, self.value
        return agrees is not None and value is not None and not abs(self.score - value) <= agrees

    @property
    def line(self) -> str:
        """The row as text."""
        value = f"{self.value:.6f}" if self.value is not None else "-"
        doubt = "DIFFERS" if self.differs else self.peer.why
        name = f"{self.peer.metric}{'*' if self.peer.stated else ''}"
        return (
            f"{name:<24}{self.peer.recipe.__name__:<28}{1e3 * self.ours:>10.2f}{1e3 * self.theirs:>12.2f}"
            f"{self.ratio:>8.2f} {'' if self.ratio >= 1 else '<'}  {self.score:>9.6f} {value:>9}  {doubt}"
        )


def measured(peer: Peer, factors: np.ndarray, codes: np.ndarray, repetitions: int) -> Row:
    """Times and values of both sides on these arrays; every call of ours starts from the arrays and checks them."""
    found: dict[str, Any] = {}
    contestants = {
        "ours": lambda _: found.update(ours=peer.call(factors, codes)),
        "theirs": lambda _: found.update(theirs=peer.recipe(factors, codes)),
    }
    times = best_cpu_seconds(contestants, repetitions)
    theirs = times["theirs"] * peer.scale(codes.shape[1], factors.shape[1])
    return Row(peer, times["ours"], theirs, float(found["ours"].raw), found["theirs"])


def each_metric() -> Measurement:
    """Every metric relative to its peers at one size; the figure is the smallest ratio relative to what is asked."""
    factors, codes = mixed_codes(*CHECKED_SIZE)
    rows = [measured(peer, factors, codes, 2) for peer in PEERS]
    differing = [row.peer.metric for row in rows if row.differs]
    if differing:
        raise AssertionError(f"values of {', '.join(differing)} differ from those of their peers")
    least = min(rows, key=lambda row: row.ratio / row.peer.at_least)
    return Measurement(
        subject=f"every metric from arrays, n, m, d = {CHECKED_SIZE}; the smallest is {least.peer.metric}",
        figure=least.ratio / least.peer.at_least,
        unit="times what is asked (20 times for information and DCI, level with its peer for all others)",
        target=Target("at least", 1),
        notes=tuple(row.line for row in rows),
    )


def main(names: list[str]) -> None:
    """Print the table for these metrics, or all."""
    print(f"{'METRIC':<24}{'RECIPE':<28}{'OURS, ms':>10}{'THEIRS, ms':>12}{'RATIO':>8}   OUR VALUE  THEIR VALUE")
    for n_rows, n_codes, n_factors in SIZES:
        factors, codes = mixed_codes(n_rows, n_codes, n_factors)
        print(f"\nn = {n_rows:,}, m = {n_codes}, d = {n_factors}")
        for peer in PEERS:
            if not names or peer.metric in names:
                quick = n_rows < 10_000
                print(measured(peer, factors, codes, 7 if quick else 3 if n_codes < 64 else 2).line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
