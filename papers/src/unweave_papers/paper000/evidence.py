"""Evidence for the claims of 000 about decoders with closed forms: 152 to 155, 158 to 160, 162, 163, 165 and 166."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from unweave.arrays import FloatArray
from unweave.metrics import manifold_entropy, manifold_mutual_information, manifold_total_correlation
from unweave.synthetic.known_decoders import HALF_LOG_2PI_E, LinearDecoder, Torus
from unweave_papers.ledger import ClaimEvidence, near

TORUS = Torus()


@cache
def _jacobians(n_samples: int) -> FloatArray:
    latents = np.random.default_rng(0).standard_normal((n_samples, TORUS.latent_size))
    return np.concatenate(list(TORUS.jacobian_blocks(latents)))


def columns_of_the_torus() -> ClaimEvidence:
    """Claim 152: the squared lengths of the columns of the torus's Jacobian are 10 sigma^2.

    Our result: they are r^2 sigma^2 for angles and sigma^2 for radii, without the factor of ten.
    """
    gram = np.einsum("nij,nik->njk", _jacobians(2000), _jacobians(2000)).mean(axis=0)
    ratio = np.diag(gram) / TORUS.deviations**2
    figures = {
        "squared length of an angle's column over its variance": float(ratio[0]),
        "squared length of a radius's column over its variance": float(ratio[10]),
        "largest entry off the diagonal": float(np.abs(gram - np.diag(np.diag(gram))).max()),
    }
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - 10) < 1)


def entropies_of_the_torus() -> ClaimEvidence:
    """Claim 153: the entropies of the torus's latents contain a term log 10.

    Our result: they do not: the term follows from the error of claim 152.
    """
    entropies = np.array(list(manifold_entropy(_jacobians(2000)).per_code.values()))
    printed = HALF_LOG_2PI_E + math.log(10) + np.log(TORUS.deviations)
    figures = {
        "entropy of the first angle": float(entropies[0]),
        "entropy of the first angle, printed": float(printed[0]),
        "entropy of the first angle, closed form": float(TORUS.true_entropies[0]),
        "largest distance from the closed form": float(np.abs(entropies - TORUS.true_entropies).max()),
    }
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[1]) < 0.1)


def the_torus_shares_nothing() -> ClaimEvidence:
    """Claim 154: the total correlation of the torus is 0."""
    correlation = manifold_total_correlation(_jacobians(500)).raw
    return ClaimEvidence.by_rule({"total correlation": correlation}, lambda v: abs(v[0]) < 1e-9)


def angles_outweigh_radii() -> ClaimEvidence:
    """Claim 155: every angle of the torus has a larger standard deviation than every radius."""
    angles, radii = np.split(TORUS.deviations, 2)
    figures = {
        "smallest deviation of an angle": float(angles.min()),
        "largest deviation of a radius": float(radii.max()),
    }
    return ClaimEvidence.by_rule(figures, lambda v: v[0] > v[1])


def pairs_share_by_their_angle() -> ClaimEvidence:
    """Claim 158: the mutual information of two latents at a known angle is -1/2 log(1 - cos^2).

    Near a right angle, it is about half the squared deviation from that angle.
    """
    figures = {}
    for name, angle in (("cos .6", math.acos(0.6)), ("cos .05", math.acos(0.05))):
        columns = np.array([[1.0, math.cos(angle)], [0.0, math.sin(angle)], [0.0, 0.0]])
        figures[name] = float(manifold_mutual_information(columns[None].repeat(3, axis=0)).raw)
    figures |= {"-1/2 log(1 - .36)": -0.5 * math.log(1 - 0.36), "half of .05 squared": 0.5 * 0.05**2}
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[0] - v[2]) < 1e-9 and abs(v[1] - v[3]) < 1e-5)


def total_correlation_is_not_negative() -> ClaimEvidence:
    """Claim 159: total correlation is not negative, and 0 only for orthogonal columns (Hadamard)."""
    rng = np.random.default_rng(0)
    lowest = min(float(manifold_total_correlation(rng.normal(size=(4, 7, 5))).raw) for _ in range(50))
    orthogonal = np.linalg.qr(rng.normal(size=(7, 5)))[0] * np.array([1.0, 5.0, 0.1, 2.0, 3.0])
    figures = {
        "smallest total correlation of 50 random decoders": lowest,
        "total correlation of orthogonal columns": float(manifold_total_correlation(orthogonal[None]).raw),
    }
    return ClaimEvidence.by_rule(figures, lambda v: v[0] > 0 and abs(v[1]) < 1e-9)


def entropies_of_principal_components() -> ClaimEvidence:
    """Claim 160: the entropy of a principal component is half the logarithm of its eigenvalue, plus a constant."""
    decoder = LinearDecoder.principal_components(np.diag([1.0, 4.0, 9.0]))
    jacobians = decoder.matrix[None].repeat(2, axis=0)
    entropies = np.array(list(manifold_entropy(jacobians).per_code.values()))
    expected = HALF_LOG_2PI_E + 0.5 * np.log([9.0, 4.0, 1.0])
    figures = {f"entropy of component {k + 1}": float(entropies[k]) for k in range(3)}
    figures["mutual information"] = float(manifold_mutual_information(jacobians).raw)
    return ClaimEvidence.by_rule(figures, lambda v: near(np.array(v[:3]) - expected, 0.0, 1e-9) and abs(v[3]) < 1e-9)


def the_printed_correlation() -> ClaimEvidence:
    """Claim 162: Pearson's correlation is the covariance divided by the product of the variances.

    Our result: the square root is missing, so the formula is right for unit variances only.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=100_000)
    y = 0.6 * x + 0.8 * rng.normal(size=x.size)
    figures = {}
    for name, scale in (("unit variances", 1.0), ("one variable times 3", 3.0)):
        covariance = np.cov(scale * x, y)
        figures[f"as printed, {name}"] = float(covariance[0, 1] / (covariance[0, 0] * covariance[1, 1]))
        figures[f"correlation, {name}"] = float(np.corrcoef(scale * x, y)[0, 1])
    return ClaimEvidence.by_rule(figures, lambda v: abs(v[2] - v[3]) < 0.01)


def the_size_of_an_index_set() -> ClaimEvidence:
    """Claim 163: the size of an index set is its largest member minus its smallest.

    Our result: a set of consecutive indices has one member more.
    """
    indices = list(range(3, 8))
    figures = {"largest minus smallest index": max(indices) - min(indices), "number of indices": len(indices)}
    return ClaimEvidence.by_rule(figures, lambda v: v[0] == v[1])


def the_part_that_models_noise() -> ClaimEvidence:
    """Claim 165: the core models only noise.

    Our result: the sentence swaps core and detail: the core has the larger entropy, and the detail models noise.
    """
    angles, radii = np.split(TORUS.true_entropies, 2)
    figures = {
        "mean entropy of the core of the torus": float(angles.mean()),
        "mean entropy of the detail of the torus": float(radii.mean()),
    }
    return ClaimEvidence.by_rule(figures, lambda v: v[0] < v[1])


def samples_suffice() -> ClaimEvidence:
    """Claim 166: 100 and 1,000 samples suffice to estimate the entropies."""
    figures = {}
    for n in (100, 1000):
        entropies = np.array(list(manifold_entropy(_jacobians(2000)[:n]).per_code.values()))
        figures[f"largest error of an entropy, {n:,} samples"] = float(np.abs(entropies - TORUS.true_entropies).max())
    return ClaimEvidence.by_rule(figures, lambda v: v[0] < 0.05 and v[1] < 0.01)
