"""Mutual information of many pairs, relative to scikit-learn with one pair at a time."""

from __future__ import annotations

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from benchmarks.matching import noisy_copies
from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.estimators.information import Histogram
from unweave.estimators.nearest_neighbour import NearestNeighbour
from unweave.evidence import Evidence
from unweave.metrics import mig
from unweave.metrics.matrices import code_labels, factor_labels

PAIRS_TIMED = ((0, 0), (1, 0), (40, 5), (63, 9))


def mig_time() -> Measurement:
    """Time of MIG including binning, relative to a loop over labels that are already binned."""
    n_codes, n_factors = 64, 10
    factors, codes = noisy_copies(1_000_000, n_codes, n_factors)
    evidence = Evidence(factors, codes)
    information = mig(evidence).parts["mutual_information_matrix"]
    # 64-bit labels, as numpy.digitize returns them
    of_codes = {i: code_labels(evidence, Histogram())[i].astype(np.int64) for i, _ in PAIRS_TIMED}
    of_factors = {j: factor_labels(evidence, Histogram())[j].astype(np.int64) for _, j in PAIRS_TIMED}
    for i, j in PAIRS_TIMED:  # the comparison is valid only if both sides compute the same number
        np.testing.assert_allclose(information[i, j], mutual_info_score(of_codes[i], of_factors[j]), atol=1e-9)
    del evidence

    contestants = {
        "mig": mig,
        "slice": lambda _: [mutual_info_score(of_codes[i], of_factors[j]) for i, j in PAIRS_TIMED],
    }
    times = best_cpu_seconds(contestants, 5, lambda: Evidence(factors, codes), prepared_for=["mig"])
    scale = n_codes * n_factors / len(PAIRS_TIMED)
    return Measurement(
        subject="mig on existing evidence, n = 1,000,000, 64 codes x 10 factors, 20 bins of equal mass",
        figure=times["slice"] * scale / times["mig"],
        unit="times faster than a loop over sklearn.metrics.mutual_info_score",
        target=Target("at least", 20),
        notes=(
            f"the loop is timed on {len(PAIRS_TIMED)} of {n_codes * n_factors} pairs (code, factor) = {PAIRS_TIMED}, "
            f"and scaled by {scale:g}; its labels are already binned",
            seconds(times),
        ),
    )


def nearest_neighbour() -> Measurement:
    """Time of the nearest-neighbour estimator for one code and one factor of 20 levels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 20, size=10_000).astype(np.uint16)
    code = (labels + rng.normal(size=labels.size))[:, None]
    contestants = {
        "unweave": lambda _: NearestNeighbour(k=3).code_information(code, [labels]),
        "scikit-learn": lambda _: mutual_info_classif(
            code, labels, discrete_features=False, n_neighbors=3, random_state=0
        ),
    }
    times = best_cpu_seconds(contestants, repetitions=7)
    return Measurement(
        subject="NearestNeighbour(k=3) mutual information of one pair, n = 10,000, 20 levels",
        figure=times["scikit-learn"] / times["unweave"],
        unit="times faster than sklearn.feature_selection.mutual_info_classif",
        notes=(seconds(times),),
    )
