"""Representations-invariance.

    r = 1/d sum_i r_ij,    r_ij = 1 - I(Y_i; Z_k, k != j | Z_j) / I(Y_i; X)    (004, eq. 3)

with Z_j the code that carries the most information about factor Y_i. 004 only defines when the property is satisfied.
The degree of violation is here divided by I(Y_i; X), as in sufficiency s_ij (eq. 7), so that s_ij = r_ij + e_i - 1 with
e_i the explicitness, which is the quantitative form of theorem 2.
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, seed_from
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.metrics.information.minimal_sufficient.joint_information import told_together
from unweave.metrics.information.minimal_sufficient.unit_information import USABLE, metric_of_004
from unweave.score import Score


@metric_of_004(
    measures="compactness",
    equivalence="elementwise",
    chance=1.0,
    cost="two logistic fits per factor, shared with explicitness_ratio",
    fails_when=(
        "codes carry no information, because other codes then add none to the best one (read it together with "
        "explicitness_ratio)"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
    factor_by_factor=True,
)
def representations_invariance(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """1 minus the information that other codes add to a factor's best code, relative to the factor's entropy; mean.

    1 means that one code alone carries all the information that the codes have about a factor. Noise scores 1 too,
    because the other codes then add no information to the best one.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Estimator that bins the factors and determines the most informative code of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that several codes together carry about a factor: by default a linear classifier on
        held-out rows.
    rng : int or Generator
        Seed of the split.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> mixed = factors @ [[1.0, 1.0], [1.0, -1.0]]
    >>> float(representations_invariance(factors, factors)) > 0.97 > 0.5 > float(
    ...     representations_invariance(factors, mixed)
    ... )
    True
    """
    found = told_together(evidence, estimator, joint, seed_from(rng))
    per_factor = 1 - (found.together - found.alone) / found.entropies
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=found.caveats,
    )
