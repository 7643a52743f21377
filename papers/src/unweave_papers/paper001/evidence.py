"""Evidence for the claims of 001 about its metrics, on posteriors with known answers: 137 to 145 and 149 to 151."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import ndtr

from unweave.arrays import FloatArray
from unweave.estimators.mixture import MixtureSampling
from unweave.estimators.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence, Posterior
from unweave.metrics import informativeness, jemmig, misjed, rmig, separability, wsepin
from unweave_papers.ledger import ClaimEvidence, near

LIMITS = (-4.0, 4.0)
BINS = (3, 5, 20, 100, 200)


def _grid(bins: int) -> QuantisedPosterior:
    return QuantisedPosterior(bins, LIMITS)


@cache
def _sharp_codes(std: float = 0.1) -> Evidence:
    """Two discrete factors, two codes that depend on them and one noise code."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 6], size=(500, 2))
    mean = np.column_stack([factors[:, 0] - 1.0, factors[:, 1] / 3 - 1 + 0.3 * factors[:, 0], rng.normal(size=500)])
    return Evidence(factors, Posterior(mean, np.full(mean.shape, std)), kinds="categorical")


def misjed_orders_pairs() -> ClaimEvidence:
    """Claim 137: MISJED is smallest for two informative codes, and largest for two noise codes."""
    mean = np.random.default_rng(2).normal(size=(100_000, 4))
    mean[:, 2:] = 0.04  # all means fall into one bin
    std = np.where(np.arange(4) < 2, 1e-3, 1.0) * np.ones((len(mean), 1))
    std[:, 2:] *= 1 + 1e-9 * mean[:, :2]  # a noise code, which must not be exactly constant
    matrix = misjed(None, Posterior(mean, std), estimator=_grid(50), normalise=False).parts["misjed_matrix"]
    figures = {"two informative codes": matrix[0, 1], "one noise code": matrix[0, 2], "two noise codes": matrix[2, 3]}
    return ClaimEvidence.by_rule(figures, lambda v: v[0] < 0.05 < v[1] < v[2])


def _even_means(std: float) -> float:
    axis = np.linspace(-4, 4, 11)[:-1] + 0.4
    mean = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return misjed(None, Posterior(mean, np.full_like(mean, std)), estimator=_grid(10), normalise=False).raw


def misjed_is_not_negative() -> ClaimEvidence:
    """Claim 138: MISJED is not negative.

    Our result: it is negative if the means are spread evenly over the grid and thus have the largest possible entropy.
    """
    return ClaimEvidence.by_rule({"MISJED of evenly spread means, std 1.5": _even_means(1.5)}, lambda v: v[0] >= 0)


def misjed_has_bounds() -> ClaimEvidence:
    """Claim 139: MISJED lies between 0 and 2 log of the number of bins.

    Our result: the upper bound holds, and the lower bound is violated slightly.
    """
    figures = {
        "smallest MISJED": _even_means(1.5),
        "largest MISJED": misjed_orders_pairs().figures["two noise codes"].value,
        "2 log 50": 2 * math.log(50),
    }
    return ClaimEvidence.by_rule(figures, lambda v: None if -0.2 < v[0] < 0 and v[1] <= v[2] else v[0] >= 0)


def jemmig_has_bounds() -> ClaimEvidence:
    """Claim 140: JEMMIG lies between 0 and H(y) + log of the number of bins."""
    evidence = _sharp_codes()
    scores = {bins: jemmig(evidence, estimator=_grid(bins), normalise=False) for bins in (10, 50, 200)}
    counts = [np.bincount(evidence.factors[:, j].astype(int)) / evidence.n_rows for j in range(2)]
    entropy = max(float(-(p * np.log(p)).sum()) for p in counts)
    figures = {f"JEMMIG in nats, {bins} bins": score.raw for bins, score in scores.items()}
    figures |= {f"H(y) + log {bins}": entropy + math.log(bins) for bins in scores}
    return ClaimEvidence.by_rule(
        figures, lambda v: min(v[:3]) >= 0 and all(a <= b for a, b in zip(v[:3], v[3:], strict=True))
    )


def rmig_is_stable_with_many_bins() -> ClaimEvidence:
    """Claim 141: RMIG is low with few bins and stable above 200 bins."""
    evidence = _sharp_codes()
    figures = {f"RMIG, {bins} bins": rmig(evidence, estimator=_grid(bins)).raw for bins in (3, 100, 200, 400)}
    return ClaimEvidence.by_rule(figures, lambda v: v[0] < v[1] - 0.1 and abs(v[2] - v[3]) < 0.01)


def jemmig_always_rises_with_bins() -> ClaimEvidence:
    """Claim 142: JEMMIG always rises with the number of bins.

    Our result: with few bins it first falls, and then it rises.
    """
    evidence = _sharp_codes()
    figures = {
        f"JEMMIG in nats, {bins} bins": jemmig(evidence, estimator=_grid(bins), normalise=False).raw for bins in BINS
    }
    return ClaimEvidence.by_rule(figures, lambda values: bool((np.diff(values) > 0).all()))


def quantised_entropy_is_shifted() -> ClaimEvidence:
    """Claim 143: quantised and differential entropy differ by the logarithm of the bin width."""
    edges = np.linspace(-8, 8, 1601)
    masses = np.diff(ndtr(edges))
    on_grid = float(-(masses[masses > 0] * np.log(masses[masses > 0])).sum())
    differential = 0.5 * math.log(2 * math.pi * math.e)
    figures = {"entropy on the grid": on_grid, "differential entropy minus log width": differential - math.log(0.01)}
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[1]) < 1e-3)


def range_of_a_uniform_code() -> ClaimEvidence:
    """Claim 144: a uniform code with the entropy of a standard normal code has width sqrt(2 pi e)."""
    width = math.sqrt(2 * math.pi * math.e)
    figures = {
        "sqrt(2 pi e)": width,
        "entropy of a unit normal": 0.5 * math.log(2 * math.pi * math.e),
        "log width": math.log(width),
    }
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - 4.1327) < 1e-4 and abs(v[1] - v[2]) < 1e-12)


def normalised_jemmig_rises_with_bins() -> ClaimEvidence:
    """Claim 145: normalised JEMMIG lies between 0 and 1 and rises with the number of bins."""
    evidence = _sharp_codes()
    figures = {f"JEMMIG, {bins} bins": jemmig(evidence, estimator=_grid(bins)).raw for bins in (100, 200, 800)}
    return ClaimEvidence.by_rule(figures, lambda v: 0 <= v[0] < v[1] < v[2] <= 1)


def convexity_gives_unique_solutions() -> ClaimEvidence:
    """Claim 149: mutual information is convex in the encoder, so solutions are unique.

    Our result: it is not strictly convex, so they need not be.
    """

    def information(table: FloatArray) -> float:
        marginal = table.mean(axis=0)
        return float(np.mean((table * np.log(np.maximum(table, 1e-300) / marginal)).sum(axis=1)))

    one = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    two = np.array([[0.2, 0.8, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    figures = {
        "I of one encoder": information(one),
        "I of another encoder": information(two),
        "I of their mean": information((one + two) / 2),
    }
    return ClaimEvidence.by_rule(figures, lambda v: v[2] < (v[0] + v[1]) / 2 - 1e-9)


def information_falls_with_the_number_of_codes() -> ClaimEvidence:
    """Claim 150: I(x, z) falls as the number of codes grows.

    Our result: it falls only if densities below 1e-8 are replaced by 1e-8, as in the published code.
    """
    evidence = _sharp_codes(0.2)
    posterior = evidence.posterior
    assert posterior is not None
    mean, std = posterior.mean[:300], posterior.std[:300]
    noise = np.random.default_rng(4).normal(size=(300, 13))
    figures = {}
    for n_noise in (0, 5, 10):
        means = np.column_stack([mean, np.zeros((300, n_noise))])
        stds = np.column_stack([std, np.ones((300, n_noise))])
        draws = means + stds * noise[:, : 3 + n_noise]
        log_density = -0.5 * ((draws[:, None] - means) / stds) ** 2 - np.log(stds) - 0.5 * math.log(2 * math.pi)
        density = np.exp(log_density.sum(axis=2))
        for name, densities in (("density at least 1e-8", np.maximum(density, 1e-8)), ("exact density", density)):
            told = float(np.mean(np.log(np.diag(densities)) - np.log(densities.mean(axis=1))))
            figures[f"I(x, z), {n_noise} noise codes, {name}"] = told
    return ClaimEvidence.by_rule(figures, lambda v: v[1] - v[5] > 0.1)


def wsepin_is_informativeness_less_separability() -> ClaimEvidence:
    """Claim 151: WSEPIN is weighted informativeness minus separability.

    This is an identity if the codes are independent given the sample.
    """
    evidence = _sharp_codes(0.2)
    weights = wsepin(evidence, normalise=False).parts["weights"]
    told = informativeness(evidence, estimator=MixtureSampling(), normalise=False).per_code
    shared = separability(evidence, normalise=False).per_code
    expected = float(weights @ (np.array(list(told.values())) - np.array(list(shared.values()))))
    figures = {"WSEPIN": wsepin(evidence, normalise=False).raw, "weighted informativeness minus separability": expected}
    return ClaimEvidence.by_rule(figures, lambda values: near(values, expected, 1e-9))
