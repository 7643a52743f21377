"""Evidence for the claims of 002 about its toy model (section 5.1 and appendix B): 105 to 117."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from unweave import Evidence, Posterior
from unweave.arrays import FloatArray
from unweave.estimators.posteriors import GaussianInformation
from unweave.metrics import (
    redundancy_lower_bound,
    redundancy_upper_bound,
    synergy_lower_bound,
    synergy_upper_bound,
    unibound,
    unique_upper_bound,
)
from unweave.metrics.decomposition import partial_information
from unweave.score import Score
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.theory import Attack, ToyModel
from unweave_papers.ledger import Figures

EXACT = GaussianInformation()
BOUNDS: dict[str, Callable[..., Score]] = {
    "unique, upper": unique_upper_bound,
    "redundant, lower": redundancy_lower_bound,
    "redundant, upper": redundancy_upper_bound,
    "synergistic, lower": synergy_lower_bound,
    "synergistic, upper": synergy_upper_bound,
}


@cache
def _evidence_of(k: int, sigma: float, attack: Attack, alpha: float) -> Evidence:
    """Factors with exactly unit covariance, and the posterior after the attack."""
    factors, posterior = ToyModel(k, sigma).sample(300)
    if attack == "none":
        return Evidence(factors, posterior)
    return Evidence(factors, (Redundancy if attack == "redundancy" else Synergy)(alpha).attack(posterior))


def _informations(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """I(y_1; z_i) and I(y_1; all codes but z_i) for every code, computed from covariances."""
    information = partial_information(_evidence_of(k, sigma, attack, alpha), EXACT)
    return information.single[:, 0], information.rest[:, 0]


def exact(score: str, k: int, attack: Attack = "none", alpha: float = 0.0) -> float:
    """Return MIG, UniBound or a bound of the first factor and its code in nats, from covariances with sigma = .1."""
    if score == "MIG":
        ranked = np.sort(_informations(k, 0.1, attack, alpha)[0])
        return float(ranked[-1] - ranked[-2])
    evidence = _evidence_of(k, 0.1, attack, alpha)
    if score == "UniBound":
        return float(unibound(evidence, estimator=EXACT, normalise=False).raw)
    return float(BOUNDS[score](evidence, estimator=EXACT, normalise=False).parts["bound_matrix"][0, 0])


def printed(score: str, k: int, attack: Attack = "none", alpha: float = 0.0) -> float:
    """Return what the formulas of Table 1 and appendix B give as they are printed, for sigma = .1."""
    s, a = 0.1**2, alpha**2
    alone = 0.5 * math.log(1 + 1 / s)
    if attack == "synergy" and score == "C":
        return 0.5 * math.log((1 + s) * (s + a) / (s * (1 + s + a)))
    if attack == "none" or (attack == "synergy" and score == "upper bound"):
        return alone
    if attack == "synergy":
        return 0.5 * math.log(1 + 1 / (a + s))
    if score == "R":
        return 0.5 * math.log((1 + a * (1 + s)) / (1 + a * s))
    hidden = 1 + s - (1 - 2 / k) ** 2 if score == "MIG" else s
    return 0.5 * math.log((1 + s) * (1 + a * hidden) / (s * (1 + a * (1 + s))))


def loose_upper_bound(k: int, alpha: float) -> float:
    """Return the bound of Eq. 7 under synergy plus the synergistic information, which the looser bound includes."""
    return exact("unique, upper", k, "synergy", alpha) + exact("synergistic, upper", k, "synergy", alpha)


def curves_of_five_factors() -> Figures:
    """Claim 108: MIG and UniBound follow the printed curves for five factors."""
    cells = [(score, alpha) for alpha in (0.5, 2.0, 10.0) for score in ("MIG", "UniBound")]
    figures = {f"{score}, alpha = {alpha:g}": exact(score, 5, "redundancy", alpha) for score, alpha in cells}
    of_paper = [printed(score, 5, "redundancy", alpha) for score, alpha in cells]
    apart = [abs(here - paper) for here, paper in zip(figures.values(), of_paper, strict=True)]
    return {"largest distance from the printed curves": max(apart)} | figures


def mig_survives_redundancy() -> Figures:
    """Claim 109: MIG does not tend to 0 under redundancy. Its limit is computed for five factors."""
    figures = {"limit for K = 5": 0.5 * math.log(1 + (1 - (1 - 2 / 5) ** 2) / 0.01)}
    return figures | {f"MIG, K = {k}, alpha = 1,000": exact("MIG", k, "redundancy", 1000.0) for k in (5, 4, 3)}


def information_of_the_rest_under_synergy() -> Figures:
    """Claim 113: Eq. 14, the information of all codes but an added one about another factor, has (1 - 2/K)^2.

    Our result: the right term is 4/K^2.
    """
    s, a, k = 0.25, 4.0, 5
    printed = 0.5 * math.log((1 + s) * (1 + s + a) / (s * (1 + s + a) + a * (1 - 2 / k) ** 2))
    exact = float(_informations(k, 0.5, "synergy", 2.0)[1][k + 1])
    return {"printed, K = 5, sigma = .5, alpha = 2": printed, "exact, K = 5, sigma = .5, alpha = 2": exact}


def entropy_of_a_gaussian() -> Figures:
    """Claim 114: the entropy of a Gaussian vector is 1/2 log(2 pi e det S).

    Our result: it is 1/2 log((2 pi e)^n det S).
    """
    covariance = np.diag([1.0, 2.0, 3.0])
    logdet = float(np.linalg.slogdet(covariance)[1])
    exact = sum(0.5 * math.log(2 * math.pi * math.e * variance) for variance in np.diag(covariance))
    return {
        "printed": 0.5 * (math.log(2 * math.pi * math.e) + logdet),
        "sum of the entropies of three independent variables": exact,
    }


def unibound_is_below_the_gap() -> Figures:
    """Claim 116: UniBound is at most MIG's gap, Eq. 7's upper bound, and unique information as others define it.

    The first two are of 100 posteriors with random codes, the third of 200 random distributions of three variables.
    """
    gaps, uppers = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        factors, posterior = ToyModel(3, 0.3).sample(300)
        mixed = Posterior(posterior.mean @ rng.normal(size=(3, 4)), np.tile(rng.exponential(size=4) + 0.05, (300, 1)))
        evidence = Evidence(factors, mixed)
        single = partial_information(evidence, EXACT).single
        ranked = np.sort(single, axis=0)
        lower = unibound(evidence, estimator=EXACT, normalise=False)
        upper = unique_upper_bound(evidence, estimator=EXACT, normalise=False).parts["bound_matrix"]
        gaps.append(float((ranked[-1] - ranked[-2] - np.array(list(lower.per_factor.values()))).min()))
        uppers.append(float((upper - lower.parts["bound_matrix"]).min()))
    return {
        "smallest gap of MIG minus UniBound of a factor": min(gaps),
        "smallest upper bound on unique information minus UniBound": min(uppers),
        "smallest unique information by Williams and Beer minus UniBound": min(map(unique_minus_unibound, range(200))),
    }


def unique_minus_unibound(seed: int) -> float:
    """Unique information of z about y by the redundancy of Williams and Beer (2010), minus UniBound, in nats.

    The distribution of y, z and the other code is random. Redundancy is the mean over y of the smaller of the two
    specific informations, which differs from the smaller of the two mutual informations.
    """
    joint = np.random.default_rng(seed).dirichlet(np.full(27, 0.3)).reshape(3, 3, 3)  # y, z, rest
    of_y = joint.sum(axis=(1, 2))
    specific = []
    for other in (2, 1):
        pair = joint.sum(axis=other)
        ratio = np.log(np.where(pair > 0, pair, 1) / np.where(pair > 0, np.outer(of_y, pair.sum(axis=0)), 1))
        specific.append((pair * ratio).sum(axis=1))  # each value of y with its probability
    own, rest = map(np.sum, specific)
    return float(own - np.minimum(*specific).sum() - max(own - rest, 0.0))


def the_reflection_is_orthonormal() -> Figures:
    """Claim 117: the matrix I - (2/K) 11' is orthonormal."""
    apart = []
    for k in (2, 3, 5, 10):
        reflection = np.eye(k) - 2 / k * np.ones((k, k))
        apart.append(float(np.abs(reflection @ reflection.T - np.eye(k)).max()))
    return {"largest entry of U U' - I": max(apart)}
