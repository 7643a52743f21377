"""Explicitness of 004, as a ratio.

    e = 1/d sum_i e_i,    e_i = 1 - I(Y_i; X | Z) / I(Y_i; X) = I(Y_i; Z) / H(Y_i)    (004, eq. 4)

with Z all codes together, Y_i the factors and X the data. With the sufficiency s_ij (eq. 7) and the
representations-invariance r_ij, s_ij = r_ij + e_i - 1, which is the quantitative form of theorem 2.
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
    measures="explicitness",
    equivalence="affine",
    chance=0.0,
    cost="two logistic fits per factor, shared with representations_invariance",
    fails_when=(
        "there are few rows for the number of codes, or codes carry a factor in a form that the classifier cannot learn"
    ),
    identity_tolerance=0.05,
    order_tolerance=0.03,
    factor_by_factor=True,
)
def explicitness_ratio(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """Information that all codes together carry about a factor, relative to its entropy; mean over factors.

    1 means that all codes together determine every factor, whether they mix factors or not. Random codes score 0.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Estimator whose labels (bins or levels) represent the factors.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that all codes together carry about a factor: by default a linear classifier on
        held-out rows. ``boosted_trees`` also find factors that depend on several codes jointly. Nearest-neighbour
        estimates are too low with more than three or four codes.
    rng : int or Generator
        Seed of the split.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> float(explicitness_ratio(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])) > 0.95
    True
    """
    found = told_together(evidence, estimator, joint, seed_from(rng))
    per_factor = found.together / found.entropies
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=found.caveats,
    )
