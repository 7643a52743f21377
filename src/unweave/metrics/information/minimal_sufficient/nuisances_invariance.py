"""Nuisances-invariance.

    n = 1/m sum_j n_ij,    n_ij = 1 - I(Z_j; N | Y_i) / I(Z_j; X)    (004, eq. 2)

with N the nuisances and Y_i the factor about which code Z_j carries the most information. 004 only defines when the
property is satisfied. The degree of violation is here divided by I(Z_j; X), as in minimality m_ij (eq. 5), so that
m_ij <= n_ij, which is the quantitative form of theorem 1.
"""

from __future__ import annotations

from unweave.card import Count, Seed, seed_from
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.metrics.information.minimal_sufficient.excess_information import invariance, told_beyond
from unweave.metrics.information.minimal_sufficient.minimality import CODE_SCALE
from unweave.metrics.information.minimal_sufficient.unit_information import USABLE, metric_of_004
from unweave.score import Score


@metric_of_004(
    measures="invariance to nuisances",
    equivalence="permutation and scale",
    needs=("factors", "codes", "nuisances"),
    chance=1.0,
    cost="two logistic fits per code",
    fails_when=(
        "codes carry no information, because noise is invariant to every nuisance, or relevant nuisances are not given"
    ),
    identity_tolerance=0.02,
    order_tolerance=0.03,
)
def nuisances_invariance(
    evidence: Evidence,
    *,
    estimator: Information = CODE_SCALE,
    joint: JointInformation = USABLE,
    most_units: Count = 256,
    rng: Seed = 0,
) -> Score:
    """1 minus a code's information about nuisances given its main factor, relative to its entropy; mean over codes.

    1 means that given its main factor, no code carries information about the nuisances. Noise scores 1 too.

    Parameters
    ----------
    estimator : Histogram
        Estimator that bins the codes and determines the main factor of each.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that a factor and the nuisances together carry about a code: by default a linear
        classifier on held-out rows.
    most_units : int
        If there are more codes than this, a random subset of this size is scored, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> factors, light = rng.normal(size=(1_000, 2)), rng.normal(size=(1_000, 1))
    >>> clean = nuisances_invariance(factors, factors, nuisances=light)
    >>> lit = nuisances_invariance(factors, factors + light, nuisances=light)
    >>> float(clean) > 0.97 > 0.7 > float(lit)
    True
    """
    return invariance(evidence, told_beyond(evidence, "nuisances", estimator, joint, most_units, seed_from(rng)))
