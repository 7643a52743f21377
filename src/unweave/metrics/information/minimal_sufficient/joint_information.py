"""What all codes together tell of a factor, and what the best unit tells alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.binning import Binning
from unweave.estimators.information.mutual_information import Histogram
from unweave.estimators.information.usable_information import UsableInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.information.minimal_sufficient.unit_information import unit_information_matrix, units
from unweave.metrics.information.usable_information import Joint, held_out_shares, labels_from_training, split
from unweave.metrics.matrices import Information, factor_entropies, factor_labels, varying


@dataclass(frozen=True)
class Together:
    """Per factor: I(Y_i; Z_j) of its best unit j, I(Y_i; Z) of all codes, and H(Y_i); nan where it does not vary."""

    alone: FloatArray
    together: FloatArray
    entropies: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def told_together(evidence: Evidence, estimator: Information, joint: Joint, seed: int) -> Together:
    """Both informations from the multivariate estimator, so that their difference means something.

    All codes tell no less than one of them; where a classifier of many codes and few rows does worse than one of a
    single unit, the latter stands for both.
    """
    train, test, caveats = split(evidence, joint, seed)
    best = np.argmax(unit_information_matrix(evidence, estimator, joint, seed), axis=0)
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    alone = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        codes, labels = evidence.codes[:, units(evidence)[best[j]][1]], _labels(evidence, j, estimator, joint, train)
        alone[j] = joint.joint_information(codes, labels, train, test)
    return Together(alone, np.maximum(_of_all_codes(evidence, estimator, joint, seed), alone), entropies, caveats)


def _of_all_codes(evidence: Evidence, estimator: Information, joint: Joint, seed: int) -> FloatArray:
    if isinstance(joint, UsableInformation):
        shares, _ = held_out_shares(evidence, joint, *_bins(estimator), seed)
        return np.maximum(shares, 0.0) * factor_entropies(evidence, estimator)
    train, test, _ = split(evidence, joint, seed)
    labels = factor_labels(evidence, estimator)
    return np.array([joint.joint_information(evidence.codes, column, train, test) for column in labels])


def _labels(evidence: Evidence, j: int, estimator: Information, joint: Joint, train: Rows) -> Labels:
    if isinstance(joint, UsableInformation):
        return labels_from_training(evidence, j, *_bins(estimator), train)
    return factor_labels(evidence, estimator)[j]


def _bins(estimator: Information) -> tuple[int, Binning]:
    if isinstance(estimator, Histogram):
        return estimator.bins, estimator.binning
    return estimator.factor_bins, getattr(estimator, "factor_binning", "equal_mass")
