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


def _mig(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> float:
    """Mutual information of the best code minus that of the second best."""
    ranked = np.sort(_informations(k, sigma, attack, alpha)[0])
    return float(ranked[-1] - ranked[-2])


def _unibound(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> float:
    return float(unibound(_evidence_of(k, sigma, attack, alpha), estimator=EXACT, normalise=False).raw)


def _bound(metric: Callable[..., Score], evidence: Evidence) -> float:
    """A bound in nats, for the first code and the first factor."""
    return float(metric(evidence, estimator=EXACT, normalise=False).parts["bound_matrix"][0, 0])


def untouched_codes() -> Figures:
    """Claim 105: MIG and UniBound of codes that were not attacked are 1/2 log(1 + 1/sigma^2)."""
    printed = 0.5 * math.log(1 + 1 / 0.01)
    return {"printed, sigma = .1": printed, "MIG": _mig(5, 0.1), "UniBound": _unibound(5, 0.1)}


def unibound_under_redundancy() -> Figures:
    """Claim 106: UniBound under redundancy has the printed closed form, for two, three and five factors."""
    s, a = 0.01, 100.0
    printed = 0.5 * math.log((1 + s) * (1 + a * s) / (s * (1 + a * (1 + s))))
    figures = {"printed, sigma = .1, alpha = 10": printed}
    return figures | {f"UniBound, K = {k}": _unibound(k, 0.1, "redundancy", 10.0) for k in (2, 3, 5)}


def mig_under_redundancy() -> Figures:
    """Claim 107: MIG under redundancy has the printed closed form.

    Our result: this is wrong for two and three factors.
    """

    def printed(k: int) -> float:
        s, a, share = 0.01, 100.0, (1 - 2 / k) ** 2
        return 0.5 * math.log((1 + s) * (1 + a * (1 + s - share)) / (s * (1 + a * (1 + s))))

    figures: dict[str, float] = {}
    for k in (2, 3, 5):
        figures |= {f"printed, K = {k}": printed(k), f"exact, K = {k}": _mig(k, 0.1, "redundancy", 10.0)}
    return figures


def curves_of_five_factors() -> Figures:
    """Claim 108: MIG and UniBound follow the printed curves for five factors."""
    figures: dict[str, float] = {}
    apart: list[float] = []
    for alpha in (0.5, 2.0, 10.0):
        a = alpha**2
        printed = [0.5 * math.log(101 * (1 + x * a) / (1 + 1.01 * a)) for x in (0.65, 0.01)]
        scores = [_mig(5, 0.1, "redundancy", alpha), _unibound(5, 0.1, "redundancy", alpha)]
        apart += [abs(p - f) for p, f in zip(printed, scores, strict=True)]
        figures |= {f"MIG, alpha = {alpha:g}": scores[0], f"UniBound, alpha = {alpha:g}": scores[1]}
    return {"largest distance from the printed curves": max(apart)} | figures


def mig_survives_redundancy() -> Figures:
    """Claim 109: MIG does not tend to 0 under redundancy. Its limit is computed for five factors."""
    limit = 0.5 * math.log(1 + (1 - (1 - 2 / 5) ** 2) / 0.01)
    return {"limit for K = 5": limit, "MIG, alpha = 1,000": _mig(5, 0.1, "redundancy", 1000.0)}


def both_under_synergy() -> Figures:
    """Claim 110: MIG and UniBound under synergy are 1/2 log(1 + 1/(alpha^2 + sigma^2))."""
    printed = 0.5 * math.log(1 + 1 / (100 + 0.01))
    return {
        "printed, sigma = .1, alpha = 10": printed,
        "MIG": _mig(5, 0.1, "synergy", 10.0),
        "UniBound": _unibound(5, 0.1, "synergy", 10.0),
    }


def upper_bound_under_synergy() -> Figures:
    """Claim 111: the upper bound on unique information under synergy is 1/2 log(1 + 1/sigma^2) (Table 1).

    Our result: the paper's own Eq. 7 gives a smaller upper bound.
    """
    evidence = _evidence_of(5, 0.1, "synergy", 10.0)
    return {"Table 1": 0.5 * math.log(101), "Eq. 7": _bound(unique_upper_bound, evidence)}


def the_upper_bound_is_fooled_by_synergy() -> Figures:
    """Claim 112: synergy inflates the upper bound on unique information.

    Our result: it inflates the looser bound that includes synergistic information, but not the bound of Eq. 7.
    """
    evidence = _evidence_of(5, 0.1, "synergy", 10.0)
    tight = _bound(unique_upper_bound, evidence)
    loose = tight + _bound(synergy_upper_bound, evidence)
    return {"Eq. 7, alpha = 10": tight, "Eq. 7 plus synergy, alpha = 10": loose}


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


def redundancy_and_synergy_are_known() -> Figures:
    """Claim 115: the toy model's redundancy and synergy, printed and by the bounds on codes that were attacked."""
    s, a = 0.01, 100.0
    red, syn = _evidence_of(5, 0.1, "redundancy", 10.0), _evidence_of(5, 0.1, "synergy", 10.0)
    return {
        "R under redundancy, printed": 0.5 * math.log((1 + a * (1 + s)) / (1 + a * s)),
        "R under redundancy, lower bound": _bound(redundancy_lower_bound, red),
        "R under redundancy, upper bound": _bound(redundancy_upper_bound, red),
        "C under synergy, printed": 0.5 * math.log((1 + s) * (s + a) / (s * (1 + s + a))),
        "C under synergy, lower bound": _bound(synergy_lower_bound, syn),
        "C under synergy, upper bound": _bound(synergy_upper_bound, syn),
    }


def unibound_is_below_the_gap() -> Figures:
    """Claim 116: UniBound is at most MIG's gap and Eq. 7's upper bound, on 100 posteriors with random codes."""
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
    }


def the_reflection_is_orthonormal() -> Figures:
    """Claim 117: the matrix I - (2/K) 11' is orthonormal."""
    apart = []
    for k in (2, 3, 5, 10):
        reflection = np.eye(k) - 2 / k * np.ones((k, k))
        apart.append(float(np.abs(reflection @ reflection.T - np.eye(k)).max()))
    return {"largest entry of U U' - I": max(apart)}
