"""Information of every code about every factor, as a share of an entropy."""

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
    """Codes that are used: those that vary as points, and those whose posteriors are informative in another way."""
    return live_points(evidence) | (shares > 0).any(axis=1)


def relative_information_matrix(
    evidence: Evidence, estimator: Information, normalise: Literal["factor_entropy", "code_entropy"]
) -> FloatArray:
    """I(c_i; z_j) / H(z_j), or / H(c_i), with 0 where that entropy is 0 (a constant tells and holds nothing)."""
    information = mutual_information_matrix(evidence, estimator)
    if normalise == "factor_entropy":
        entropies = factor_entropies(evidence, estimator)[None, :]
    elif normalise == "code_entropy":
        entropies = code_entropies(evidence, estimator)[:, None]
    else:
        raise ValueError(f"normalise={normalise!r} is not known: use 'factor_entropy' or 'code_entropy'.")
    return np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)
