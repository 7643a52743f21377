"""Evidence for the claims of 001, on posteriors with known answers; their verdicts are in claims/001.toml."""

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
from unweave_papers.ledger import Figures

LIMITS = (-4.0, 4.0)


def _grid(bins: int) -> QuantisedPosterior:
    return QuantisedPosterior(bins, LIMITS)


@cache
def _sharp_codes(std: float = 0.1) -> Evidence:
    """Two discrete factors, two codes that depend on them and one noise code."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 6], size=(500, 2))
    mean = np.column_stack([factors[:, 0] - 1.0, factors[:, 1] / 3 - 1 + 0.3 * factors[:, 0], rng.normal(size=500)])
    return Evidence(factors, Posterior(mean, np.full(mean.shape, std)), kinds="categorical")


@cache
def _misjed_matrix() -> FloatArray:
    """MISJED of two informative codes followed by two noise codes, with 50 bins."""
    mean = np.random.default_rng(2).normal(size=(100_000, 4))
    mean[:, 2:] = 0.04  # all means fall into one bin
    std = np.where(np.arange(4) < 2, 1e-3, 1.0) * np.ones((len(mean), 1))
    std[:, 2:] *= 1 + 1e-9 * mean[:, :2]  # a noise code, which must not be exactly constant
    return misjed(None, Posterior(mean, std), estimator=_grid(50), normalise=False).parts["misjed_matrix"]


def misjed_of_pair(i: int, j: int) -> float:
    """Return MISJED of two of four codes, of which the last two are noise."""
    return float(_misjed_matrix()[i, j])


def misjed_of_even_means(std: float) -> float:
    """Return MISJED of means that are spread evenly over the grid and thus have the largest possible entropy."""
    axis = np.linspace(-4, 4, 11)[:-1] + 0.4
    mean = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return misjed(None, Posterior(mean, np.full_like(mean, std)), estimator=_grid(10), normalise=False).raw


def on_sharp_codes(name: str, bins: int, normalise: bool = True) -> float:
    """Return RMIG or JEMMIG of two discrete factors and sharp codes."""
    return {"RMIG": rmig, "JEMMIG": jemmig}[name](_sharp_codes(), estimator=_grid(bins), normalise=normalise).raw


def twice_log(bins: int) -> float:
    """Return the upper bound of MISJED with this number of bins."""
    return 2 * math.log(bins)


def jemmig_has_bounds() -> Figures:
    """Claim 140: JEMMIG lies between 0 and H(y) + log of the number of bins, for 200 random posteriors."""
    above, below = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_values, bins = int(rng.integers(2, 8)), int(rng.integers(2, 60))
        factor = rng.integers(0, n_values, size=(200, 1))
        mean = rng.normal(size=(200, 3)) * rng.exponential(size=3) + factor * rng.normal(size=3)
        posterior = Posterior(mean, np.full(mean.shape, rng.exponential() + 1e-3))
        score = jemmig(Evidence(factor, posterior, kinds="categorical"), estimator=_grid(bins), normalise=False).raw
        shares = np.bincount(factor[:, 0], minlength=n_values) / 200
        entropy = float(-sum(p * math.log(p) for p in shares if p))
        above.append(score)
        below.append(entropy + math.log(bins) - score)
    return {"smallest JEMMIG, nats": min(above), "smallest H(y) + log bins - JEMMIG, nats": min(below)}


def quantised_entropy_is_shifted() -> Figures:
    """Claim 143: quantised and differential entropy differ by the logarithm of the bin width."""
    edges = np.linspace(-8, 8, 1601)
    masses = np.diff(ndtr(edges))
    on_grid = float(-(masses[masses > 0] * np.log(masses[masses > 0])).sum())
    differential = 0.5 * math.log(2 * math.pi * math.e)
    return {"entropy on the grid": on_grid, "differential entropy minus log width": differential - math.log(0.01)}


def range_of_a_uniform_code() -> Figures:
    """Claim 144: a uniform code with the entropy of a standard normal code has width sqrt(2 pi e)."""
    width = math.sqrt(2 * math.pi * math.e)
    return {
        "sqrt(2 pi e)": width,
        "entropy of a unit normal": 0.5 * math.log(2 * math.pi * math.e),
        "log width": math.log(width),
    }


def convexity_gives_unique_solutions() -> Figures:
    """Claim 149: mutual information is convex in the encoder, so solutions are unique."""

    def information(table: FloatArray) -> float:
        marginal = table.mean(axis=0)
        return float(np.mean((table * np.log(np.maximum(table, 1e-300) / marginal)).sum(axis=1)))

    one = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    two = np.array([[0.2, 0.8, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    ends = (information(one) + information(two)) / 2
    return {"mean I of two encoders": ends, "I of their mean": information((one + two) / 2)}


def information_falls_with_the_number_of_codes() -> Figures:
    """Claim 167: I(x, z) as noise codes are added, with the densities of the published code and without its floor."""
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
    return figures


def wsepin_is_informativeness_less_separability() -> Figures:
    """Claim 151: WSEPIN is weighted informativeness minus separability.

    This is an identity if the codes are independent given the sample.
    """
    evidence = _sharp_codes(0.2)
    weights = wsepin(evidence, normalise=False).parts["weights"]
    told = informativeness(evidence, estimator=MixtureSampling(), normalise=False).per_code
    shared = separability(evidence, normalise=False).per_code
    expected = float(weights @ (np.array(list(told.values())) - np.array(list(shared.values()))))
    return {"WSEPIN": wsepin(evidence, normalise=False).raw, "weighted informativeness minus separability": expected}
