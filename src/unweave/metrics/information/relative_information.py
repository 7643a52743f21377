"""Mutual information of every code and factor, relative to the entropy of one of them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import code_entropies, factor_entropies, live_points, mutual_information_matrix

NO_CODE_VARIES = Finding("no_code_varies")


def telling_codes(evidence: Evidence, shares: FloatArray) -> NDArray[np.bool_]:
    """True for codes that vary as points, or whose posteriors are informative although their means are constant."""
    return live_points(evidence) | (shares > 0).any(axis=1)


def relative_information_matrix(
    evidence: Evidence, estimator: Information, normalise: Literal["factor_entropy", "code_entropy"]
) -> FloatArray:
    """I(c_i; z_j) / H(z_j) or I(c_i; z_j) / H(c_i), as ``normalise`` selects (m x d); 0 where that entropy is 0."""
    information = mutual_information_matrix(evidence, estimator)
    if normalise == "factor_entropy":
        entropies = factor_entropies(evidence, estimator)[None, :]
    elif normalise == "code_entropy":
        entropies = code_entropies(evidence, estimator)[:, None]
    else:
        raise ValueError(f"normalise={normalise!r} is not known: use 'factor_entropy' or 'code_entropy'.")
    return np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)
