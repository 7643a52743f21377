"""Study: p-values of random encoders are uniform, and the mean of their calibrated scores is 0.

Factors are correlated, codes are mixed and skewed, and codes are independent of the factors. Seeds are fixed, and there
is no early stopping. Slow metrics have cheaper options than their defaults (`CHEAPER`): fewer or no trees, fewer
batches, samples and bins. Permutation p-values are valid for any statistic, whatever its options.
"""

import functools
import math

import numpy as np
import pytest
from scipy.stats import kstest

from unweave import Evidence, Posterior
from unweave.estimators import Histogram, Linear, LinearThenTrees, MixtureSampling
from unweave.metrics import CATALOGUE, dci_disentanglement, mcc, mig, r2
from unweave.trust.floors import noise_floors, why_no_floor

NO_TREES = {"probe": Linear()}
FEW_BATCHES = {"n_batches": 30, "batch_size": 16, "n_splits": 1}
FEW_BINS = {"estimator": Histogram(3)}
FEW_SAMPLES = {"estimator": MixtureSampling(samples=40, factor_bins=3)}
CHEAPER = {
    "dci_disentanglement": NO_TREES,
    "dci_completeness": NO_TREES,
    "dci_informativeness": NO_TREES,
    "dci_explicitness": {"ladder": LinearThenTrees(n_trees=(0, 1))},
    "explicitness": {"bins": 2},
    "beta_vae_score": FEW_BATCHES,
    "factor_vae_score": FEW_BATCHES,
    "relevance_factor_vae_score": FEW_BATCHES | {"bins": 3},
    "infomec_explicitness": {"bins": 3},
    "factors_invariance": FEW_BINS,
    "nuisances_invariance": FEW_BINS,
    "representations_invariance": FEW_BINS,
    "explicitness_ratio": FEW_BINS,
    "unibound": FEW_SAMPLES,
    "unique_upper_bound": FEW_SAMPLES,
    "redundancy_lower_bound": FEW_SAMPLES,
    "redundancy_upper_bound": FEW_SAMPLES,
    "synergy_lower_bound": FEW_SAMPLES,
    "synergy_upper_bound": FEW_SAMPLES,
}
UNIFORM = {"mcc": mcc, "mig": mig, "r2": r2}
OTHERS = {
    name: functools.partial(entry, **CHEAPER.get(name, {}))
    for name, entry in CATALOGUE.items()
    if name not in UNIFORM and why_no_floor(entry.card) is None
}
LEVELS = (0.01, 0.05, 0.1)


def unrelated(seed, n_rows=100, n_codes=2, posterior=False):
    rng = np.random.default_rng([7, seed])
    factors = rng.normal(size=(n_rows, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    codes = np.exp(0.5 * rng.normal(size=(n_rows, n_codes)))
    codes[:, -1] += codes[:, 0]
    spread = rng.uniform(0.2, 1.0, size=codes.shape)
    return Evidence(factors, Posterior(codes, spread) if posterior else codes, nuisances=rng.normal(size=(n_rows, 1)))


@pytest.mark.slow
def test_p_values_are_uniform():
    """2,000 data sets with 199 permutations each.

    They have 300 rows: with 60 rows, mig with bins of three rows has only a dozen values, and ties make its p-values
    too large. The first 500 data sets are an unlucky draw for mig (p = .002; the other three parts .36, .03 and .48):
    its p-values were uniform over 20,000 further data sets with 19 permutations each.
    """
    p_values = {name: [] for name in UNIFORM}
    for k in range(2000):
        for name, floor in noise_floors(UNIFORM, unrelated(k, n_rows=300), n_draws=199, seed=k).items():
            p_values[name].append(floor.p_value)
    fits = {name: _uniformity(found) for name, found in p_values.items()}
    print(fits)
    assert min(fits.values()) > 0.01


def _uniformity(p_values):
    """p-value of the Kolmogorov-Smirnov test; discrete p-values 1/200, ..., 1 are spread over the step below each."""
    jitter = np.random.default_rng(0).uniform(size=len(p_values)) / 200
    return float(kstest(np.array(p_values) - jitter, "uniform").pvalue)


@pytest.mark.slow
def test_other_metrics_are_not_too_often_significant():
    """Every metric of the catalogue that pairs codes with factors, on 100 data sets with 99 permutations each.

    Exact p-values exceed the bound at .01 with probability .08, at .05 with .03 and at .1 with .02, and there are 32
    metrics. Metrics that exceed it are therefore tested again on 300 further data sets, where they must not exceed it.
    """
    exceeded = _exceeding(OTHERS, range(100))
    again = {name: OTHERS[name] for name in exceeded}
    print("looked at again:", exceeded)
    assert not (_exceeding(again, range(1000, 1300)) if again else {})


def _exceeding(metrics, seeds):
    """Metrics whose share of p-values below a level exceeds it by more than two standard errors; with the shares."""
    p_values = {name: [] for name in metrics}
    for k in seeds:
        for name, floor in noise_floors(metrics, unrelated(k, posterior=True), n_draws=99, seed=k).items():
            assert not floor.reason, floor.reason
            p_values[name].append(floor.p_value)
    shares = {name: [float(np.mean(np.array(found) <= a + 1e-9)) for a in LEVELS] for name, found in p_values.items()}
    print({name: [round(share, 3) for share in found] for name, found in shares.items()})
    bounds = [a + 2 * math.sqrt(a * (1 - a) / len(seeds)) for a in LEVELS]
    return {
        name: found
        for name, found in shares.items()
        if any(share > bound for share, bound in zip(found, bounds, strict=True))
    }


@pytest.mark.slow
@pytest.mark.parametrize("n_codes", [1, 10, 50, 200])
def test_calibrated_scores_of_nulls_average_0(n_codes):
    """There are 1 to 200 codes and 100 rows, in 200 data sets with 19 permutations each.

    DCI has a linear probe and at least two codes (with one code it is always 0). With 10 codes, its boosted trees are
    tested as well, in 40 data sets. With 200 codes of noise, ten or thirty trees score .74 to .84, and their calibrated
    scores have standard deviations of .26 to .62, so a mean within .02 would take hundreds of data sets.
    """
    metrics = dict(UNIFORM)
    if n_codes > 1:
        metrics["dci, linear"] = functools.partial(dci_disentanglement, probe=Linear())
    with_trees = metrics | ({"dci, trees": dci_disentanglement} if n_codes == 10 else {})
    calibrated = {name: [] for name in with_trees}
    for k in range(200):
        chosen = with_trees if k < 40 else metrics
        for name, floor in noise_floors(chosen, unrelated(k, n_codes=n_codes), n_draws=19, seed=k).items():
            calibrated[name].append(floor.calibrated)
    means = {name: float(np.mean(found)) for name, found in calibrated.items()}
    print(n_codes, {name: round(mean, 4) for name, mean in means.items()})
    assert all(abs(mean) <= 0.02 for mean in means.values())
