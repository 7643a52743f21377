"""Normalised mutual information of the active codes, for the modularity and compactness of InfoMEC."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.card import metric
from unweave.estimators.information.information_protocols import Information
from unweave.estimators.information.nearest_neighbour import NearestNeighbour
from unweave.evidence import Evidence
from unweave.metrics.information.relative_information import relative_information_matrix, telling_codes

NEIGHBOURS = NearestNeighbour(k=10, ranked=True)
Activity = Literal["varies", "range"]
RANGE_SHARE = 1 / 20

# fields of the card that the three metrics of InfoMEC have in common
infomec_metric = functools.partial(
    metric,
    equivalence="elementwise",
    min_rows=50,
    chance="by permutation",
    reference="Hsu et al. (2023), 'Disentanglement via latent quantization'",
    identity_tolerance=0.04,
)


def normalised_information_matrix(evidence: Evidence, estimator: Information) -> FloatArray:
    """NMI_ij = I(c_i; z_j) / H(z_j) (m x d); negative estimates, as for about half of independent pairs, become 0."""
    return np.maximum(relative_information_matrix(evidence, estimator, "factor_entropy"), 0.0)


def active_codes(evidence: Evidence, activity: Activity, nmi: FloatArray) -> NDArray[np.bool_]:
    """True for codes that vary or, as published, for codes whose range is above a twentieth of the largest range."""
    if activity == "varies":
        return telling_codes(evidence, nmi)
    if activity != "range":
        raise ValueError(f"activity={activity!r} is not known: use 'varies' or 'range'.")
    widths = np.ptp(evidence.codes, axis=0)
    return np.asarray(widths > RANGE_SHARE * widths.max())


def concentration(shares: FloatArray) -> FloatArray:
    """Largest entry of every row relative to its sum, rescaled so that a uniform row scores 0 and a single entry 1.

    >>> concentration(np.array([[1.0, 1.0], [0.0, 3.0]])).tolist()
    [0.0, 1.0]
    """
    n_shares = shares.shape[1]
    totals = shares.sum(axis=1)
    largest = np.divide(shares.max(axis=1), totals, out=np.full_like(totals, np.nan), where=totals > 0)
    return (largest - 1 / n_shares) / (1 - 1 / n_shares)
