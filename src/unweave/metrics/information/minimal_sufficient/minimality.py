"""Minimality.

    minimality = 1/m sum_j max_i m_ij,    m_ij = I(Z_j; Y_i) / I(Z_j; X)    (004, eq. 5 and 6)

with Z_j the m codes, Y_i the factors and X the data. Codes are binned, so I(Z_j; X) = H(Z_j) (section 4.4).
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, seed_from
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.information.minimal_sufficient.unit_information import (
    NO_NUISANCES,
    USABLE,
    held_information,
    metric_of_004,
    unit_information_matrix,
    unit_names,
)
from unweave.metrics.information.usable_information import split
from unweave.metrics.shown_matrices import MINIMALITY
from unweave.score import Score

CODE_SCALE = Histogram(20, "equal_width")


@metric_of_004(
    measures="modularity",
    equivalence="permutation and scale",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with sufficiency for the same estimator",
    fails_when=(
        "codes have a finer resolution than the factors, or the bins are much finer or coarser than the differences of "
        "interest, because the score describes the binned codes"
    ),
    takes_sparse_codes=True,
)
def minimality(
    evidence: Evidence,
    *,
    estimator: Information = CODE_SCALE,
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """Mutual information of a code and its best factor, relative to the code's entropy; mean over codes.

    1 means that every code is a function of one factor alone, not of another factor or of a nuisance. Random
    codes score about 0, more with few rows. The entropy of a code depends on how it is binned. The default is bins of
    equal width on the code's own scale, so that a little noise on a discrete code costs little. Bins of equal mass
    depend on ranks alone, and with them any amount of noise on K equal classes costs the same, 1 - log K / log bins.
    `sufficiency` uses bins of equal mass, and has a caveat where this changes its score.

    Parameters
    ----------
    estimator : Histogram
        ``Histogram(15, 'equal_width')`` gives the numbers of 004's code, and 20 bins those of its text.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information of a code group, by the chain rule over all factors and nuisances. Not used without
        code groups.
    rng : int or Generator
        Seed of the split if code groups are scored by usable information.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> round(float(minimality(factors, factors * [2, -1])), 6)
    1.0
    """
    seed = seed_from(rng)
    information = unit_information_matrix(evidence, estimator, joint, seed)
    held = held_information(evidence, estimator, joint, seed)[:, None]
    matrix = np.divide(information, held, out=np.full_like(information, np.nan), where=held > 0)  # eq. 5
    full = np.flatnonzero(held[:, 0] > 0)
    per_unit = np.full(len(matrix), np.nan)
    per_unit[full] = np.nanmax(matrix[full], axis=1)
    caveats = split(evidence, joint, seed)[2] if evidence.code_groups else ()
    if evidence.code_groups and not evidence.nuisances.shape[1]:
        caveats = (*caveats, NO_NUISANCES)
    if not full.size:
        caveats = (*caveats, Finding("all_codes_empty"))
    elif full.size < len(matrix):
        caveats = (*caveats, Finding("empty_codes_left_out", n_codes=len(matrix) - full.size))
    return Score(
        raw=float(per_unit[full].mean()) if full.size else np.nan,  # eq. 6
        per_code=dict(zip(unit_names(evidence), per_unit.tolist(), strict=True)),
        parts={"minimality_matrix": matrix},
        matrices=(MINIMALITY,),
        caveats=caveats,
    )
