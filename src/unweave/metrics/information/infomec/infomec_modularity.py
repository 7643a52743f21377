"""InfoM, the modularity of InfoMEC.

    InfoM = (1/m sum_i max_j NMI_ij / sum_j NMI_ij - 1/d) / (1 - 1/d),    NMI_ij = I(c_i; z_j) / H(z_j)

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
    measures="modularity",
    cost="n log n per code and n k per pair of code and factor, shared with infomec_compactness",
    fails_when=(
        "some codes are unused, because their scores are ratios of estimation errors with the same weight as all "
        "others, or factors are correlated"
    ),
    assumes=(FACTORS_NOT_CORRELATED,),
    undefined_with=("one factor",),
)
def infomec_modularity(
    evidence: Evidence, *, estimator: Information = NEIGHBOURS, activity: Activity = "varies"
) -> Score:
    """Largest share of a code's information about all factors that concerns one factor, rescaled; mean over codes.

    1 means that every code carries information about one factor only, and 0 that codes carry the same amount about all
    factors. Random codes score about 0.3 to 0.7 for any n, because the score is then a ratio of estimation errors:
    compare it with the permutation null. With one factor it is undefined (nan).

    Parameters
    ----------
    estimator : NearestNeighbour or Histogram
        Ten neighbours in the ranks of the codes by default, so that monotone maps of a code do not change the score.
        ``NearestNeighbour(10, factor_binning='equal_width')`` gives the published numbers.
    activity : {'varies', 'range'}
        Which codes are used: all that vary, or, as published, those whose range is above a twentieth of the largest
        range, so that one heavy-tailed code can exclude all others.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> float(infomec_modularity(factors, np.exp(factors))) > 0.97
    True
    """
    nmi = normalised_information_matrix(evidence, estimator)
    if varying(evidence).sum() < 2:
        return Score(raw=np.nan, caveats=(Finding("one_factor_varies"),))
    active = active_codes(evidence, activity, nmi)
    if not active.any():
        return Score(raw=np.nan, caveats=(NO_CODE_VARIES,))
    per_code = np.where(active, concentration(nmi[:, varying(evidence)]), np.nan)
    silent = active & np.isnan(per_code)
    return Score(
        raw=np.nan if np.isnan(per_code).all() else float(np.nanmean(per_code)),
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={"normalised_information_matrix": nmi},
        matrices=(NORMALISED_INFORMATION,),
        caveats=(Finding("uninformative_codes_left_out", n_codes=silent.sum()),) if silent.any() else (),
    )
