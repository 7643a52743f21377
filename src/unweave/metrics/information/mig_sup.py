"""Mutual information gap between factors, for every code.

    MIG-sup = 1/m sum_i (I(c_i; z_j1) / H(z_j1) - I(c_i; z_j2) / H(z_j2))

with j1 and j2 the factors with the largest and second largest normalised mutual information with code c_i (Li et al.
2020). MIG measures whether a factor is in one code only, and MIG-sup whether a code carries one factor only.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.card import metric
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.information.relative_information import NO_CODE_VARIES, relative_information_matrix, telling_codes
from unweave.metrics.shown_matrices import RELATIVE_INFORMATION
from unweave.score import Score


@metric(
    measures="modularity",
    equivalence="elementwise",
    min_rows=40,
    chance=0.0,
    cost="n m d counts, shared with mig",
    fails_when="factors are correlated, or many codes are unused, because each of them counts as a gap of 0",
    reference="Li et al. (2020), 'Progressive learning and disentanglement of hierarchical representations'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.06,
    takes_sparse_codes=True,
)
def mig_sup(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    normalise: Literal["factor_entropy", "code_entropy"] = "factor_entropy",
) -> Score:
    """Gap in normalised mutual information between the two factors a code carries most about; mean over codes.

    1 means that every code determines one factor and carries no information about any other. Random codes score about
    0, and so does a code that carries the same amount about two factors. Codes that never vary are left out. Perfect
    codes score below 1 at small n, because the histogram estimate is biased and finds information in unrelated factors
    too.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default.
    normalise : {'factor_entropy', 'code_entropy'}
        Divisor of the mutual information: the entropy of the factor, as published, or the entropy of the code, as in
        some libraries (with ``Histogram(10, 'equal_width')``).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(mig_sup(factors, np.exp(factors))), 2)
    1.0
    """
    shares = relative_information_matrix(evidence, estimator, normalise)
    counted = telling_codes(evidence, shares)
    ranked = np.sort(np.column_stack([np.zeros(evidence.n_codes), shares]), axis=1)  # with one factor, the gap is to 0
    per_code = np.where(counted, ranked[:, -1] - ranked[:, -2], np.nan)
    return Score(
        raw=float(np.nanmean(per_code)) if counted.any() else np.nan,
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={"relative_information_matrix": shares},
        matrices=(RELATIVE_INFORMATION,),
        caveats=_caveats(evidence, counted),
    )


def _caveats(evidence: Evidence, counted: NDArray[np.bool_]) -> tuple[Finding, ...]:
    if not counted.any():
        return (NO_CODE_VARIES,)
    return (Finding("one_factor"),) if evidence.n_factors == 1 else ()
