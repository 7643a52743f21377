"""Evidence for the claims of 000 about decoders with closed forms; their verdicts are in claims/000.toml."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from unweave.arrays import FloatArray
from unweave.metrics import manifold_entropy, manifold_mutual_information, manifold_total_correlation
from unweave.synthetic.known_decoders import HALF_LOG_2PI_E, LinearDecoder, Torus
from unweave_papers.experiment import MeasuredFigure
from unweave_papers.ledger import Figures

TORUS = Torus()


@cache
def _jacobians(n_samples: int) -> FloatArray:
    latents = np.random.default_rng(0).standard_normal((n_samples, TORUS.latent_size))
    return np.concatenate(list(TORUS.jacobian_blocks(latents)))


def columns_of_the_torus() -> Figures:
    """Claim 152: the squared lengths of the columns of the torus's Jacobian are 10 sigma^2."""
    gram = np.einsum("nij,nik->njk", _jacobians(2000), _jacobians(2000)).mean(axis=0)
    ratio = np.diag(gram) / TORUS.deviations**2
    return {
        "squared length of an angle's column over its variance": float(ratio[0]),
        "squared length of a radius's column over its variance": float(ratio[10]),
        "largest entry off the diagonal": float(np.abs(gram - np.diag(np.diag(gram))).max()),
    }


def entropies_of_the_torus() -> Figures:
    """Claim 153: the entropies of the torus's latents contain a term log 10."""
    entropies = np.array(list(manifold_entropy(_jacobians(2000)).per_code.values()))
    printed = HALF_LOG_2PI_E + math.log(10) + np.log(TORUS.deviations)
    return {
        "entropy of the first angle": float(entropies[0]),
        "entropy of the first angle, printed": float(printed[0]),
        "entropy of the first angle, closed form": float(TORUS.true_entropies[0]),
        "largest distance from the closed form": float(np.abs(entropies - TORUS.true_entropies).max()),
    }


def the_torus_shares_nothing() -> Figures:
    """Claim 154: the total correlation of the torus is 0."""
    return {"total correlation": manifold_total_correlation(_jacobians(500)).raw}


def angles_outweigh_radii() -> Figures:
    """Claim 155: every angle of the torus has a larger standard deviation than every radius."""
    angles, radii = np.split(TORUS.deviations, 2)
    return {
        "smallest deviation of an angle": float(angles.min()),
        "largest deviation of a radius": float(radii.max()),
    }


def pairs_share_by_their_angle() -> Figures:
    """Claim 158: the mutual information of two latents at a known angle is -1/2 log(1 - cos^2).

    Near a right angle, it is about half the squared deviation from that angle.
    """
    figures = {}
    for name, angle in (("cos .6", math.acos(0.6)), ("cos .05", math.acos(0.05))):
        columns = np.array([[1.0, math.cos(angle)], [0.0, math.sin(angle)], [0.0, 0.0]])
        figures[name] = float(manifold_mutual_information(columns[None].repeat(3, axis=0)).raw)
    return figures | {"-1/2 log(1 - .36)": -0.5 * math.log(1 - 0.36), "half of .05 squared": 0.5 * 0.05**2}


def total_correlation_is_not_negative() -> Figures:
    """Claim 159: total correlation is not negative, and 0 only for orthogonal columns (Hadamard)."""
    rng = np.random.default_rng(0)
    lowest = min(float(manifold_total_correlation(rng.normal(size=(4, 7, 5))).raw) for _ in range(50))
    orthogonal = np.linalg.qr(rng.normal(size=(7, 5)))[0] * np.array([1.0, 5.0, 0.1, 2.0, 3.0])
    return {
        "smallest total correlation of 50 random decoders": lowest,
        "total correlation of orthogonal columns": float(manifold_total_correlation(orthogonal[None]).raw),
    }


def entropies_of_principal_components() -> Figures:
    """Claim 160: the entropy of a principal component is half the logarithm of its eigenvalue, plus a constant."""
    decoder = LinearDecoder.principal_components(np.diag([1.0, 4.0, 9.0]))
    jacobians = decoder.matrix[None].repeat(2, axis=0)
    entropies = np.array(list(manifold_entropy(jacobians).per_code.values()))
    expected = HALF_LOG_2PI_E + 0.5 * np.log([9.0, 4.0, 1.0])
    figures = {f"entropy of component {k + 1}": float(entropies[k]) for k in range(3)}
    figures["largest distance from the formula"] = float(np.abs(entropies - expected).max())
    return figures | {"mutual information": float(manifold_mutual_information(jacobians).raw)}


def the_printed_correlation() -> Figures:
    """Claim 162: Pearson's correlation is the covariance divided by the product of the variances."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=100_000)
    y = 0.6 * x + 0.8 * rng.normal(size=x.size)
    figures = {}
    for name, scale in (("unit variances", 1.0), ("one variable times 3", 3.0)):
        covariance = np.cov(scale * x, y)
        figures[f"as printed, {name}"] = float(covariance[0, 1] / (covariance[0, 0] * covariance[1, 1]))
        figures[f"correlation, {name}"] = float(np.corrcoef(scale * x, y)[0, 1])
    return figures


def the_size_of_an_index_set() -> Figures:
    """Claim 163: the size of an index set is its largest member minus its smallest."""
    indices = list(range(3, 8))
    return {"largest minus smallest index": max(indices) - min(indices), "number of indices": len(indices)}


def samples_suffice() -> Figures:
    """Claim 166: 100 and 1,000 samples suffice to estimate the entropies; means of 40 and 4 disjoint samples."""
    figures: dict[str, MeasuredFigure] = {}
    for n in (100, 1000):
        parts = _jacobians(4000).reshape(-1, n, *_jacobians(1).shape[1:])
        entropies = np.array([list(manifold_entropy(part).per_code.values()) for part in parts])
        errors = np.abs(entropies - TORUS.true_entropies).max(axis=1)
        figures[f"largest error of an entropy, {n:,} samples"] = MeasuredFigure.over_seeds(errors.tolist())
    return figures


def total_correlation_of_pca() -> Figures:
    """Claim 191: total correlation per latent with and without the prior's constant in single entropies."""
    jacobians = LinearDecoder.principal_components(np.diag([1.0, 4.0, 9.0])).matrix[None].repeat(2, axis=0)
    shared = manifold_total_correlation(jacobians).raw
    return {"total correlation": shared, "as in the notebook, per latent": shared / 3 - HALF_LOG_2PI_E}
