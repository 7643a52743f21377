"""Evidence for the claims of 002 about its toy model (section 5.1 and appendix B): 105 to 117."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from unweave import Evidence
from unweave.arrays import FloatArray
from unweave.estimators.posteriors import GaussianInformation
from unweave.metrics import synergy_upper_bound, unibound, unique_upper_bound
from unweave.metrics.decomposition import partial_information
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.theory import Attack, ToyModel
from unweave_papers.ledger import ClaimEvidence, near

EXACT = GaussianInformation()


@cache
def _attacked(k: int, sigma: float, attack: Attack, alpha: float) -> Evidence:
    """Factors with exactly unit covariance, and the posterior after the attack."""
    factors, posterior = ToyModel(k, sigma).sample(300)
    if attack == "none":
        return Evidence(factors, posterior)
    return Evidence(factors, (Redundancy if attack == "redundancy" else Synergy)(alpha).attack(posterior))


def _informations(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """I(y_1; z_i) and I(y_1; all codes but z_i) for every code, computed from covariances."""
    information = partial_information(_attacked(k, sigma, attack, alpha), EXACT)
    return information.single[:, 0], information.rest[:, 0]


def _mig(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> float:
    """Mutual information of the best code minus that of the second best."""
    ranked = np.sort(_informations(k, sigma, attack, alpha)[0])
    return float(ranked[-1] - ranked[-2])


def _unibound(k: int, sigma: float, attack: Attack = "none", alpha: float = 0.0) -> float:
    return float(unibound(_attacked(k, sigma, attack, alpha), estimator=EXACT, normalise=False).raw)


def untouched_codes() -> ClaimEvidence:
    """Claim 105: MIG and UniBound of codes that were not attacked are 1/2 log(1 + 1/sigma^2)."""
    printed = 0.5 * math.log(1 + 1 / 0.01)
    figures = {"printed, sigma = .1": printed, "MIG": _mig(5, 0.1), "UniBound": _unibound(5, 0.1)}
    return ClaimEvidence.by_rule(figures, lambda values: near(values, printed, 1e-6))


def unibound_under_redundancy() -> ClaimEvidence:
    """Claim 106: UniBound under redundancy has the printed closed form, for two, three and five factors."""
    s, a = 0.01, 100.0
    printed = 0.5 * math.log((1 + s) * (1 + a * s) / (s * (1 + a * (1 + s))))
    figures = {"printed, sigma = .1, alpha = 10": printed}
    figures |= {f"UniBound, K = {k}": _unibound(k, 0.1, "redundancy", 10.0) for k in (2, 3, 5)}
    return ClaimEvidence.by_rule(figures, lambda values: near(values, printed, 1e-6))


def mig_under_redundancy() -> ClaimEvidence:
    """Claim 107: MIG under redundancy has the printed closed form.

    Our result: this is wrong for two and three factors.
    """

    def printed(k: int) -> float:
        s, a, share = 0.01, 100.0, (1 - 2 / k) ** 2
        return 0.5 * math.log((1 + s) * (1 + a * (1 + s - share)) / (s * (1 + a * (1 + s))))

    figures: dict[str, float] = {}
    for k in (2, 3, 5):
        figures |= {f"printed, K = {k}": printed(k), f"exact, K = {k}": _mig(k, 0.1, "redundancy", 10.0)}
    return ClaimEvidence.by_rule(figures, lambda v: near([v[0] - v[1], v[2] - v[3], v[4] - v[5]], 0.0, 1e-6))


def curves_of_five_factors() -> ClaimEvidence:
    """Claim 108: MIG and UniBound follow the printed curves for five factors."""
    figures: dict[str, float] = {}
    apart: list[float] = []
    for alpha in (0.5, 2.0, 10.0):
        a = alpha**2
        printed = [0.5 * math.log(101 * (1 + x * a) / (1 + 1.01 * a)) for x in (0.65, 0.01)]
        scores = [_mig(5, 0.1, "redundancy", alpha), _unibound(5, 0.1, "redundancy", alpha)]
        apart += [abs(p - f) for p, f in zip(printed, scores, strict=True)]
        figures |= {f"MIG, alpha = {alpha:g}": scores[0], f"UniBound, alpha = {alpha:g}": scores[1]}
    return ClaimEvidence.by_rule(
        figures | {"largest distance from the printed curves": max(apart)}, lambda v: v[-1] < 1e-6
    )


def mig_survives_redundancy() -> ClaimEvidence:
    """Claim 109: MIG does not tend to 0 under redundancy. Its limit is computed for five factors."""
    limit = 0.5 * math.log(1 + (1 - (1 - 2 / 5) ** 2) / 0.01)
    figures = {"limit for K = 5": limit, "MIG, alpha = 1,000": _mig(5, 0.1, "redundancy", 1000.0)}
    return ClaimEvidence.by_rule(figures, lambda v: v[1] > 1 and near(v, limit, 1e-3))


def both_under_synergy() -> ClaimEvidence:
    """Claim 110: MIG and UniBound under synergy are 1/2 log(1 + 1/(alpha^2 + sigma^2))."""
    printed = 0.5 * math.log(1 + 1 / (100 + 0.01))
    figures = {
        "printed, sigma = .1, alpha = 10": printed,
        "MIG": _mig(5, 0.1, "synergy", 10.0),
        "UniBound": ToyModel(5, 0.1, "synergy", 10.0).unibound,
    }
    return ClaimEvidence.by_rule(figures, lambda values: near(values, printed, 1e-6))


def upper_bound_under_synergy() -> ClaimEvidence:
    """Claim 111: the upper bound on unique information under synergy is 1/2 log(1 + 1/sigma^2) (Table 1).

    Our result: the paper's own Eq. 7 gives a smaller upper bound.
    """
    evidence = _attacked(5, 0.1, "synergy", 10.0)
    bound = unique_upper_bound(evidence, estimator=EXACT, normalise=False).parts["bound_matrix"][0, 0]
    figures = {"Table 1": 0.5 * math.log(101), "Eq. 7": float(bound)}
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[1]) < 1e-3)


def the_upper_bound_is_fooled_by_synergy() -> ClaimEvidence:
    """Claim 112: synergy inflates the upper bound on unique information.

    Our result: it inflates the looser bound that includes synergistic information, but not the bound of Eq. 7.
    """
    evidence = _attacked(5, 0.1, "synergy", 10.0)
    tight = float(unique_upper_bound(evidence, estimator=EXACT, normalise=False).parts["bound_matrix"][0, 0])
    loose = tight + float(synergy_upper_bound(evidence, estimator=EXACT, normalise=False).parts["bound_matrix"][0, 0])
    return ClaimEvidence.by_rule(
        {"Eq. 7, alpha = 10": tight, "Eq. 7 plus synergy, alpha = 10": loose}, lambda v: v[0] > 1
    )


def information_of_the_rest_under_synergy() -> ClaimEvidence:
    """Claim 113: Eq. 14, the information of all codes but an added one about another factor, has (1 - 2/K)^2.

    Our result: the right term is 4/K^2.
    """
    s, a, k = 0.25, 4.0, 5
    printed = 0.5 * math.log((1 + s) * (1 + s + a) / (s * (1 + s + a) + a * (1 - 2 / k) ** 2))
    exact = float(_informations(k, 0.5, "synergy", 2.0)[1][k + 1])
    return ClaimEvidence.by_rule(
        {"printed, K = 5, sigma = .5, alpha = 2": printed, "exact, K = 5, sigma = .5, alpha = 2": exact},
        lambda v: abs(v[0] - v[1]) < 1e-6,
    )


def entropy_of_a_gaussian() -> ClaimEvidence:
    """Claim 114: the entropy of a Gaussian vector is 1/2 log(2 pi e det S).

    Our result: it is 1/2 log((2 pi e)^n det S).
    """
    covariance = np.diag([1.0, 2.0, 3.0])
    logdet = float(np.linalg.slogdet(covariance)[1])
    exact = sum(0.5 * math.log(2 * math.pi * math.e * variance) for variance in np.diag(covariance))
    figures = {
        "printed": 0.5 * (math.log(2 * math.pi * math.e) + logdet),
        "sum of the entropies of three independent variables": exact,
    }
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[1]) < 1e-9)


def redundancy_and_synergy_are_known() -> ClaimEvidence:
    """Claim 115: the toy model's redundancy and synergy are known, because their lower and upper bounds are equal."""
    red, syn = ToyModel(5, 0.1, "redundancy", 10.0), ToyModel(5, 0.1, "synergy", 10.0)
    s, a = 0.01, 100.0
    figures = {
        "R under redundancy, printed": 0.5 * math.log((1 + a * (1 + s)) / (1 + a * s)),
        "R under redundancy, bound": red.redundancy,
        "C under synergy, printed": 0.5 * math.log((1 + s) * (s + a) / (s * (1 + s + a))),
        "C under synergy, bound": syn.synergy,
    }
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[1]) < 1e-9 and abs(v[2] - v[3]) < 1e-9)


def unibound_is_below_the_gap() -> ClaimEvidence:
    """Claim 116: UniBound is at most the gap of MIG, for all attacks, strengths and numbers of factors."""
    attacks: tuple[Attack, ...] = ("none", "redundancy", "synergy")
    cases = [
        ToyModel(k, sigma, attack, alpha)
        for k in (2, 3, 5)
        for sigma in (0.1, 0.5)
        for attack in attacks
        for alpha in (0.5, 10.0)
    ]
    gaps = [model.mig_numerator - model.unibound for model in cases]
    return ClaimEvidence.by_rule({"smallest MIG minus UniBound in 36 cases": min(gaps)}, lambda v: v[0] > -1e-9)


def the_reflection_is_orthonormal() -> ClaimEvidence:
    """Claim 117: the matrix I - (2/K) 11' is orthonormal."""
    apart = []
    for k in (2, 3, 5, 10):
        reflection = np.eye(k) - 2 / k * np.ones((k, k))
        apart.append(float(np.abs(reflection @ reflection.T - np.eye(k)).max()))
    return ClaimEvidence.by_rule({"largest entry of U U' - I": max(apart)}, lambda v: v[0] < 1e-12)
