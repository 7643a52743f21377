"""Figures for the claims of 003: functions that rows name, and claims that rows cannot express."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from unweave.errors import InputWarning
from unweave.estimators.linear_probes import Lasso
from unweave.estimators.probes import BoostedTrees
from unweave.evidence import Evidence
from unweave.metrics import dci_disentanglement, dci_informativeness, mcc, mig, r2, t_mex
from unweave.synthetic.encoders import Elementwise, Mixed, PermutedAndScaled
from unweave.synthetic.theory import (
    NullMcc,
    dci_completeness_of_dropped,
    dci_disentanglement_of_constraint,
    dci_disentanglement_of_dropped,
    least_mcc_of_mixed_pair,
    mcc_of_distributed,
    mcc_of_linear_map,
    mcc_of_mixed_pair,
    r2_of_dropped,
)
from unweave.synthetic.worlds import Independent, OneFactorConstraint
from unweave.trust.diagnosis import diagnose
from unweave_papers.experiment import MeasuredFigure
from unweave_papers.paper003.protocols import ProtocolName, metrics_and_protocol, released_r2, released_split
from unweave_papers.paper003.settings import FIRST_SEED, Setting, cell

__all__ = [  # closed forms that rows of claims name
    "dci_completeness_of_dropped",
    "dci_disentanglement_of_constraint",
    "dci_disentanglement_of_dropped",
    "mcc_of_distributed",
    "mcc_of_mixed_pair",
    "r2_of_dropped",
]


def scores(setting: Setting, metric: str, protocol: ProtocolName = "authors", n_seeds: int = 5) -> tuple[float, ...]:
    """Return the scores of a metric, given by the paper's name, one for each seed.

    >>> [round(score, 9) for score in scores(Setting("exp01", dgp="D1"), "MCC-P", "ours", 2)]
    [1.0, 1.0]
    """
    return tuple(_score(setting, metric, protocol, seed) for seed in range(FIRST_SEED, FIRST_SEED + n_seeds))


@cache
def _score(setting: Setting, metric: str, protocol: ProtocolName, seed: int) -> float:
    world, encoder = setting.world_of(protocol == "authors"), setting.encoder_of(protocol == "authors")
    chosen, how = metrics_and_protocol(protocol, setting.run, (metric,))
    with warnings.catch_warnings():
        # some cells have more factors than codes, and codes too large for single precision, on purpose
        warnings.simplefilter("ignore", InputWarning)
        warnings.filterwarnings("ignore", "overflow encountered in cast", RuntimeWarning)
        return how.scores(world, encoder, setting.n, seed, chosen)[0].value


def figure(setting: Setting, metric: str, protocol: ProtocolName = "authors", n_seeds: int = 5) -> MeasuredFigure:
    """Return the mean score over seeds with its interval."""
    return MeasuredFigure.over_seeds(scores(setting, metric, protocol, n_seeds))


def difference(
    one: tuple[Setting, str, ProtocolName], other: tuple[Setting, str, ProtocolName], n_seeds: int
) -> MeasuredFigure:
    """Return the mean difference of two scores with the same seed, with its interval; undefined ones are left out."""
    apart = np.subtract(scores(*one, n_seeds), scores(*other, n_seeds))
    return MeasuredFigure.over_seeds(apart[np.isfinite(apart)].tolist())


def lowest_score(metric: str) -> float:
    """Return the lowest score of perfect encoders in four worlds with 5, 10 and 20 factors, with ten seeds."""
    cells = [cell(run, dgp=f"D{k}") for run in ("exp01", "exp01_d10", "exp01_d20") for k in (1, 2, 3, 4)]
    return min(score for setting in cells for score in scores(setting, metric, n_seeds=10))


def largest_difference(one: Setting, other: Setting, metric: str, protocol: ProtocolName = "authors") -> float:
    """Return the largest difference of scores with the same seed, with ten seeds."""
    pairs = zip(scores(one, metric, protocol, 10), scores(other, metric, protocol, 10), strict=True)
    return max(abs(a - b) for a, b in pairs)


def largest_difference_of_panels(protocol: ProtocolName) -> float:
    """Return the largest difference of MCC-P between tanh and sinh; the released code shows one run twice."""
    settings = [[cell("exp02", alpha=alpha, fn=fn) for fn in ("tanh", "sinh")] for alpha in (0.05, 0.3, 1.0)]
    return max(largest_difference(one, other, "MCC-P", protocol) for one, other in settings)


def difference_by_redundancy() -> float:
    """Return the largest difference of R2 between one and four redundant factors; the released code ignores them."""
    one, four = (cell("exp07", dgp="D3", r=r, m=9) for r in (1, 4))
    return largest_difference(one, four, "R2")


def deviation_over_seeds(metric: str, encoder: str, dgp: str = "D1", n_seeds: int = 400) -> MeasuredFigure:
    """Return the standard deviation of a score on 50 rows, with an interval from 40 groups of seeds."""
    groups = np.reshape(scores(cell("exp10", dgp=dgp, encoder=encoder, n=50), metric, n_seeds=n_seeds), (40, -1))
    whole, parts = float(np.std(groups, ddof=1)), np.std(groups, axis=1, ddof=1)
    around = MeasuredFigure.over_seeds(parts.tolist())
    return MeasuredFigure(whole, whole - around.value + around.low, whole - around.value + around.high)


def mcc_of_random_mixings(n_factors: int, off: float, sign: int = 1) -> float:
    """Return the lowest MCC, from covariances, of 200 random mixings of factors with correlation ±(1 - off)."""
    rho = sign * (1 - off)
    covariance = np.full((n_factors, n_factors), rho) + (1 - rho) * np.eye(n_factors)
    return min(mcc_of_linear_map(Mixed(10.0).matrix(n_factors, seed), covariance) for seed in range(200))


def share_of_undefined(metric: str, run: str) -> float:
    """Return the share of undefined scores of a perfect encoder of independent factors on a fifth of 100 rows."""
    setting = cell("exp03", encoder="E1", rho=0.0) if run == "exp03" else cell(run, dgp="D1", encoder="E1", n=100)
    return float(np.isnan(scores(setting, metric, n_seeds=20)).mean())


def smallest_eigenvalue(d: int, place: Literal["at", "below"]) -> float:
    """Return the smallest eigenvalue if all correlations of d factors are -1 / (d - 1), or .01 below."""
    rho = -1 / (d - 1) - (0.01 if place == "below" else 0)
    return float(np.linalg.eigvalsh(np.full((d, d), rho) + (1 - rho) * np.eye(d))[0])


def quoted(number: float, where: str) -> float:
    """Return a number that the paper prints in this place."""
    return number


def mismatches_of_t_mex(encoder: str, n_codes: int) -> MeasuredFigure:
    """Return T-MEX as its authors define it: the number of dependences that a one-to-one encoder would not have."""
    found, setting = [], cell("exp09_ratio", encoder=encoder, m=n_codes)
    for seed in range(20):
        factors = np.asarray(setting.world_of(True).sample(setting.n, np.random.default_rng(seed)))
        codes = setting.encoder_of(True).encode(factors, np.random.default_rng(1000 + seed))
        found.append(t_mex(factors, codes, kinds="continuous", test="linear", correction="none").raw)
    return MeasuredFigure.over_seeds(found)


def r2_of_trees_for_a_product() -> MeasuredFigure:
    """Return the R2 with which trees predict a product of two factors from 4,000 rows."""
    found = []
    for seed in range(5):
        free = np.random.default_rng(seed).normal(size=(4000, 4))
        factors = np.column_stack([free, free[:, 0] * free[:, 1]])
        score = dci_informativeness(factors, free, probe=BoostedTrees(), kinds="continuous")
        found.append(list(score.per_factor.values())[-1])
    return MeasuredFigure.over_seeds(found)


def noise_bound(n_codes: int, n_rows: int) -> float:
    """Return sqrt(2 log m / n), which 003 calls a lower bound of MCC of noise."""
    return math.sqrt(2 * math.log(n_codes) / n_rows)


def expected_null_mcc(n_rows: int, n_codes: int, n_factors: int) -> float:
    """Return the expected MCC of independent codes and factors."""
    return float(NullMcc(n_rows, n_codes, n_factors).mean)


def mean_of_largest_half_normal(n: int) -> MeasuredFigure:
    """Return the mean of the largest of n half-normal variables, from 20,000 draws."""
    return MeasuredFigure.over_seeds(np.abs(np.random.default_rng(0).normal(size=(20_000, n))).max(axis=1))


N_DRAWS = 400
MOST_WORK = 2e6  # rows times (codes + factors), summed over draws; larger cells vary less and need fewer draws


@cache
def null_mcc(
    n_rows: int, n_codes: int, n_factors: int, correlation: Literal["pearson", "spearman", "rdc"] = "pearson"
) -> MeasuredFigure:
    """Return the mean MCC of independent normal codes and factors."""
    rng = np.random.default_rng(0)
    work = n_rows * (n_codes + n_factors) * (10 if correlation == "rdc" else 1)
    scores = [
        float(
            mcc(
                rng.normal(size=(n_rows, n_factors)),
                rng.normal(size=(n_rows, n_codes)),
                correlation=correlation,
                kinds="continuous",
            )
        )
        for _ in range(int(np.clip(MOST_WORK / work, 5, N_DRAWS)))
    ]
    return MeasuredFigure.over_seeds(scores)


def copies_share_importance() -> dict[str, float | MeasuredFigure]:
    """Claim 5: codes that are increasing functions of each other share the importance of trees, not of a lasso."""
    own, others, lasso = [], [], []
    for seed in range(10):
        factors = np.random.default_rng(seed).normal(size=(1000, 5))
        factors[:, 1] = factors[:, 0] ** 3
        matrix = dci_disentanglement(factors, factors, kinds="continuous").parts["importance_matrix"]
        own.append(matrix[0, 0] / (matrix[0, 0] + matrix[1, 0]))
        others.append(matrix[2, 2])
        lasso.append(float(dci_disentanglement(factors, factors, probe=Lasso(1e-3), kinds="continuous")))
    return {
        "share of a copied factor's importance in its own code": MeasuredFigure.over_seeds(own),
        "share of another factor's importance in its own code": MeasuredFigure.over_seeds(others),
        "DCI-D with a linear probe (lasso)": MeasuredFigure.over_seeds(lasso),
    }


def mig_on_rows(n_rows: int) -> MeasuredFigure:
    """Return MIG of independent factors with themselves."""
    samples = (Independent(5).sample(n_rows, np.random.default_rng(seed)) for seed in range(5))
    return MeasuredFigure.over_seeds([float(mig(factors, factors)) for factors in samples])


def alpha_zero_is_a_permutation() -> dict[str, float]:
    """Claim 14: E2 at alpha = 0 is E1 up to sign."""
    factors = Independent(5).sample(500, np.random.default_rng(0))
    codes = Elementwise(0.0).encode(factors, np.random.default_rng(1))
    plain = PermutedAndScaled().encode(factors, np.random.default_rng(1))
    both = np.abs(np.corrcoef(factors.T, codes.T)[:5, 5:]), np.abs(np.corrcoef(factors.T, plain.T)[:5, 5:])
    largest = [float(matrix.max(axis=0).min()) for matrix in both]
    return {"smallest best correlation, E2": largest[0], "smallest best correlation, E1": largest[1]}


def a_constraint_leaves_one_dimension() -> dict[str, float]:
    """Claim 15: factors have effective dimension d - 1 if one of them determines another (D_f)."""
    factors = OneFactorConstraint(5).sample(2000, np.random.default_rng(0))
    return {
        "effective dimension by construction, d = 5": OneFactorConstraint(5).effective_dimension,
        "effective dimension measured, d = 5": diagnose(Evidence(factors, factors)).effective_dimension,
    }


def r2_is_nonlinear() -> dict[str, float | MeasuredFigure]:
    """Claim 16: the released R2 of a cube equals that of a linear probe."""
    samples = [np.random.default_rng(seed).normal(size=(5000, 2)) for seed in range(20)]
    evidence = [Evidence(z**3, z) for z in samples]
    return {
        "released R2 of z^3 from z": MeasuredFigure.over_seeds([float(released_r2(one)) for one in evidence]),
        "R2 of a linear probe": MeasuredFigure.over_seeds([float(r2(one)) for one in evidence]),
        "closed form, 3 / 5": 0.6,
    }


def dci_uses_a_lasso() -> dict[str, float | MeasuredFigure]:
    """Claim 17: trees split the importance of two factors of which one determines the other; a lasso does not."""
    setting, lasso = cell("exp01", dgp="D3"), []
    for seed in range(10):
        factors = np.asarray(setting.world_of(True).sample(setting.n, np.random.default_rng(seed)))
        codes = setting.encoder_of(True).encode(factors, np.random.default_rng(1000 + seed))
        lasso.append(float(dci_disentanglement(factors, codes, probe=Lasso(1e-3), kinds="continuous")))
    return {
        "DCI-D with a lasso under D_f, d = 5": MeasuredFigure.over_seeds(lasso),
        "DCI-D with gradient boosted trees under D_f, d = 5": figure(setting, "DCI-D", n_seeds=10),
    }


def only_fitted_metrics_see_a_part_of_the_rows() -> dict[str, float | MeasuredFigure]:
    """Claim 18: the paper's MCC is computed on a fifth of the rows as well."""
    here = cell("exp15_e10", n=100, d=10)
    return {
        "number of rows that are scored, n = 1,000": len(released_split(1000, 42)[1]),
        "MCC-P of noise by the released protocol, n = 100": figure(here, "MCC-P", n_seeds=100),
        "MCC-P of noise on all rows, n = 100": figure(here, "MCC-P", "ours", n_seeds=100),
    }


def _largest_share_of_one_factor(released: bool) -> float:
    """Largest absolute rank correlation of each code of E6 with a factor; the minimum over codes."""
    setting = cell("exp09_ratio", encoder="E6", m=10)
    factors = np.asarray(setting.world_of(released).sample(2000, np.random.default_rng(0)))
    codes = setting.encoder_of(released).encode(factors, np.random.default_rng(1))
    correlation = np.abs(np.corrcoef(rankdata(factors, axis=0).T, rankdata(codes, axis=0).T)[:5, 5:])
    return float(correlation.max(axis=0).min())


def extra_codes_mix_factors() -> dict[str, float]:
    """Claim 19: in the released code, every code of E6 depends on one factor."""
    name = "smallest rank correlation of a code with its factor"
    return {f"{name}, {what}": _largest_share_of_one_factor(what == "released") for what in ("released", "as printed")}


def the_null_encoder_is_uniform_from_zero() -> dict[str, float]:
    """Claim 20: in the released code, the codes of E9 are normal, and those of E10 are uniform on [-1, 1]."""
    found: dict[str, float] = {}
    for name in ("e9", "e10"):
        encoder = cell(f"exp15_{name}", n=1000, d=10).encoder_of(released=True)
        codes = encoder.encode(np.zeros((1000, 10)), np.random.default_rng(0))
        found |= {f"smallest code of {name.upper()}": codes.min(), f"largest code of {name.upper()}": codes.max()}
    return found


def the_constraint_is_a_cube() -> dict[str, float]:
    """Claim 21: in the released code, the constraint of D_f is z2 = tanh(2 z1^3 - .1)."""
    factors = np.asarray(cell("exp01", dgp="D3").world_of(released=True).sample(1000, np.random.default_rng(0)))
    cube, bent = factors**3, np.tanh(2 * factors**3 - 0.1)
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    nearest = [min(float(np.abs(factors[:, j] - of[:, i]).max()) for i, j in pairs) for of in (cube, bent)]
    names = ("z^3", "tanh(2 z^3 - .1)")
    return {f"largest distance of a factor from {n} of another": x for n, x in zip(names, nearest, strict=True)}


def _symmetric_mixing(rho: float, epsilon: float) -> tuple[float, float]:
    """MCC of 003's example in three dimensions: by its formula, and computed from the covariance."""
    matrix = np.array([[1.0, epsilon, 0.0], [epsilon, 1.0, 0.0], [0.0, 0.0, 1.0]])
    covariance = np.array([[1.0, rho, 0.0], [rho, 1.0, 0.0], [0.0, 0.0, 1.0]])
    paper = (1 + 2 * (1 + epsilon * rho) / math.sqrt(1 + epsilon**2 + 2 * epsilon * rho)) / 3
    return paper, mcc_of_linear_map(matrix, covariance)


def the_closed_form_of_a_symmetric_mixing() -> dict[str, float | MeasuredFigure]:
    """Claim 22: MCC of a symmetric mixing by its closed form, from the covariance and from samples."""
    sampled = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        factors = rng.multivariate_normal(np.zeros(3), [[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]], size=40_000)
        sampled.append(float(mcc(factors, factors @ [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])))
    pairs = [_symmetric_mixing(rho, epsilon) for rho in (-0.8, 0.0, 0.4, 0.9) for epsilon in (0.2, 0.5, 0.9)]
    return {
        "largest distance from the MCC of the covariance": max(abs(a - b) for a, b in pairs),
        "formula at rho = .4, epsilon = .5": _symmetric_mixing(0.4, 0.5)[0],
        "samples at rho = .4, epsilon = .5": MeasuredFigure.over_seeds(sampled),
    }


def the_least_mcc_of_a_symmetric_mixing() -> dict[str, float]:
    """Claim 23: MCC of a symmetric mixing is smallest at rho = -epsilon."""
    rhos = np.linspace(-0.99, 0.99, 1981)
    scores = [mcc_of_mixed_pair(float(rho), 0.5) for rho in rhos]
    return {
        "rho of the least MCC, epsilon = .5": float(rhos[int(np.argmin(scores))]),
        "least MCC": min(scores),
        "(1 + 2 sqrt(1 - epsilon^2)) / 3": (1 + 2 * math.sqrt(0.75)) / 3,
        "closed form here": least_mcc_of_mixed_pair(0.5),
    }


def a_full_mixing_falls_to_a_third() -> dict[str, float]:
    """Claim 25: MCC of a symmetric mixing tends to 1/3 as rho tends to -1, for epsilon = 1."""
    rhos = (-0.99, -0.999999, 0.5)
    found = {f"MCC, epsilon = 1, rho = {rho:g}": _symmetric_mixing(rho, 1.0)[1] for rho in rhos}
    apart = [abs(x - (1 + 2 * math.sqrt((1 + rho) / 2)) / 3) for x, rho in zip(found.values(), rhos, strict=True)]
    return found | {"largest distance from Eq. 51": max(apart)}


def a_normal_number_and_its_cube_are_orthogonal() -> dict[str, float]:
    """Claim 56: the correlation of a normal variable and its cube is 3 / sqrt(15)."""
    z = np.random.default_rng(0).normal(size=1_000_000)
    factors = np.random.default_rng(1).normal(size=(2000, 3))
    factors[:, 1] = factors[:, 0] ** 3
    score = dci_disentanglement(factors, factors, probe=Lasso(1e-3), kinds="continuous")
    return {
        "correlation of z and z^3": float(np.corrcoef(z, z**3)[0, 1]),
        "closed form": 3 / np.sqrt(15),
        "DCI-D with a lasso": float(score),
    }
