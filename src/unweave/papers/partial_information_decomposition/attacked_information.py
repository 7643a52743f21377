"""Exact UniBound and MIG of an encoder under the redundancy attack of 002 (Eq 9), without covariances.

The attack adds z' = alpha U z + noise to the codes z. Given a sample, z and z' are correlated, and densities with a
covariance matrix for every sample are expensive. They are not needed, because mutual information is invariant to
bijections:

    I(y; z_i)              is not changed by the attack
    I(y; z'_k)             z'_k is Gaussian with mean alpha U_k mu and variance 1 + alpha^2 sum_j U_kj^2 sigma_j^2
    I(y; all)              equals I(y; z), because z' is z with noise
    I(y; all but z'_k)     equals I(y; z) as well
    I(y; all but z_i)      equals I(y; z_j for j != i, alpha z_i + noise): given these z_j, z' is alpha U_i z_i + noise,
                           of which only the projection on U_i, a unit vector, depends on z_i

In each of these cases the codes are independent given the sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import entropy

from unweave.arrays import FloatArray
from unweave.encoding import Encoded
from unweave.estimators.posteriors.mixture_density import Components
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.synthetic.attacks import Redundancy, mixing_matrix


@dataclass(frozen=True)
class AttackedInformation:
    """Scores of an attacked encoder relative to the factors' entropies, and UniBound's standard error over draws."""

    mig: float
    unibound: float
    unibound_error: float


def attacked_information(encoded: Encoded, attack: Redundancy, estimator: MixtureSampling) -> AttackedInformation:
    """Compute MIG and UniBound of the codes with those that the attack adds; strength 0 adds no codes."""
    components = _columns(encoded, attack)
    n_codes = encoded.means.shape[1]
    old = range(n_codes)
    alone = [(i,) for i in old] + [(2 * n_codes + k,) for k in old if attack.alpha > 0]
    others = [tuple(j for j in old if j != i) + ((n_codes + i,) if attack.alpha > 0 else ()) for i in old]
    groups = [*alone, *others, tuple(old)]
    # without one new code, the rest has the same information as all old codes, which are the last group
    rest = np.array([len(alone) + k if k < n_codes else len(groups) - 1 for k in range(len(alone))])
    gaps, unique, errors = [], [], []
    for factor in encoded.factors.T:
        labels = np.unique(factor, return_inverse=True)[1].astype(np.uint16)
        sampled, _ = estimator.label_ratios(components, range(components.n_codes), groups, labels)
        size = float(entropy(np.bincount(labels)))
        told = np.maximum(sampled.mean(sampled.ratios), 0) / size
        bounds = told[: len(alone)] - told[rest]  # 002, Eq 5
        best = int(bounds.argmax())
        difference = sampled.ratios[:, best] - sampled.ratios[:, rest[best]]
        second, first = np.sort(told[: len(alone)])[-2:]
        gaps.append(first - second)
        unique.append(max(bounds[best], 0.0))
        errors.append(float(sampled.standard_error(difference)) / size if bounds[best] > 0 else 0.0)
    error = float(np.sqrt(np.square(errors).sum()) / len(errors))
    return AttackedInformation(float(np.mean(gaps)), float(np.mean(unique)), error)


def _columns(encoded: Encoded, attack: Redundancy) -> Components:
    """Return the components of all codes, then of each code with noise, then of the new codes."""
    mean, std = (encoded.arrays[name].astype(np.float64) for name in ("codes", "codes_std"))
    scaled: FloatArray = attack.alpha * mixing_matrix(attack.mixing, mean.shape[1])
    noisy = np.sqrt(np.square(attack.alpha * std) + 1)
    new = np.sqrt(np.square(std) @ np.square(scaled).T + 1)
    return Components(np.column_stack([mean, attack.alpha * mean, mean @ scaled.T]), np.column_stack([std, noisy, new]))
