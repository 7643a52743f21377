"""Factors-invariance.

    f = 1/m sum_j f_ij,    f_ij = 1 - I(Z_j; Y_k, k != i | Y_i) / I(Z_j; X)    (004, eq. 1)

with Y_i the factor about which code Z_j carries the most information. 004 only defines when the property is satisfied.
The degree of violation is here divided by I(Z_j; X), as in minimality m_ij (eq. 5), so that m_ij <= f_ij, which is the
quantitative form of theorem 1.
"""

from __future__ import annotations

from dataclasses import replace

from unweave.card import Count, Seed, seed_from
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.information.minimal_sufficient.excess_information import invariance, told_beyond
from unweave.metrics.information.minimal_sufficient.minimality import CODE_SCALE
from unweave.metrics.information.minimal_sufficient.unit_information import USABLE, metric_of_004
from unweave.metrics.matrices import varying
from unweave.score import Score

NO_OTHERS = Finding("no_other_factors")


@metric_of_004(
    measures="modularity",
    equivalence="permutation and scale",
    chance=1.0,
    cost="two logistic fits per code",
    fails_when=(
        "codes carry no information, because noise is invariant to every factor (read it together with minimality)"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
)
def factors_invariance(
    evidence: Evidence,
    *,
    estimator: Information = CODE_SCALE,
    joint: JointInformation = USABLE,
    most_units: Count = 256,
    rng: Seed = 0,
) -> Score:
    """1 minus a code's information about other factors given its main factor, relative to its entropy; mean over codes.

    1 means that given its main factor, no code carries information about the other factors, whether the factors are
    dependent or not. Noise scores 1 too, because a code without information is invariant to everything.

    Parameters
    ----------
    estimator : Histogram
        Estimator that bins the codes and determines the main factor of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that all factors together carry about a code: by default a linear classifier on
        held-out rows.
    most_units : int
        If there are more codes than this, a random subset of this size is scored, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> mixed = factors @ [[1.0, 1.0], [1.0, -1.0]]
    >>> float(factors_invariance(factors, factors)) > 0.97 > 0.5 > float(factors_invariance(factors, mixed))
    True
    """
    score = invariance(evidence, told_beyond(evidence, "factors", estimator, joint, most_units, seed_from(rng)))
    return score if varying(evidence).sum() > 1 else replace(score, caveats=(*score.caveats, NO_OTHERS))
