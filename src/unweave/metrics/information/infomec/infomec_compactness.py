"""InfoC, the compactness of InfoMEC.

    InfoC = (1/d sum_j max_i NMI_ij / sum_i NMI_ij - 1/m) / (1 - 1/m),    NMI_ij = I(c_i; z_j) / H(z_j)

over the m active codes, with d factors (Hsu et al. 2023, section 4).
"""

from __future__ import annotations

import numpy as np

from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.information.infomec.shares import (
    NEIGHBOURS,
    Activity,
    active_codes,
    concentration,
    infomec_metric,
    normalised_information_matrix,
)
from unweave.metrics.information.relative_information import NO_CODE_VARIES
from unweave.metrics.matrices import varying
from unweave.metrics.shown_matrices import NORMALISED_INFORMATION
from unweave.score import Score


@infomec_metric(
    measures="compactness",
    cost="n log n per code and n k per pair of code and factor, shared with infomec_modularity",
    fails_when="factors are correlated, or there are very many codes, because their estimation errors add up",
    assumes=(FACTORS_NOT_CORRELATED,),
    factor_by_factor=True,
    undefined_with=("one code",),
)
def infomec_compactness(
    evidence: Evidence, *, estimator: Information = NEIGHBOURS, activity: Activity = "varies"
) -> Score:
    """Share of the information about a factor, summed over codes, that its best code has, rescaled; mean over factors.

    1 means that only one code carries information about each factor, and 0 that all codes carry the same amount. Random
    codes score well above 0, because the score is then a ratio of estimation errors: compare it with the permutation
    null. With one code it is undefined (nan).

    Parameters
    ----------
    estimator : NearestNeighbour or Histogram
        Ten neighbours in the ranks of the codes by default, so that monotone maps of a code do not change the score.
        ``NearestNeighbour(10, factor_binning='equal_width')`` gives the published numbers.
    activity : {'varies', 'range'}
        Which codes are used: all that vary, or, as published, those whose range is above a twentieth of the largest
        range.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> float(infomec_compactness(factors, np.exp(factors))) > 0.97
    True
    """
    nmi = normalised_information_matrix(evidence, estimator)
    active = active_codes(evidence, activity, nmi)
    if active.sum() < 2:
        why = Finding("one_code_active") if active.any() else NO_CODE_VARIES
        return Score(raw=np.nan, caveats=(why,))
    per_factor = np.where(varying(evidence), concentration(nmi[active].T), np.nan)
    silent = varying(evidence) & np.isnan(per_factor)
    return Score(
        raw=np.nan if np.isnan(per_factor).all() else float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"normalised_information_matrix": nmi},
        matrices=(NORMALISED_INFORMATION,),
        caveats=(Finding("unencoded_factors_left_out", n_factors=silent.sum()),) if silent.any() else (),
    )
