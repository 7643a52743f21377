"""Nuisances-invariance.

    n = 1/m sum_j n_ij,    n_ij = 1 - I(Z_j; N | Y_i) / I(Z_j; X)    (004, eq. 2)

with N the nuisances and Y_i the factor that code Z_j tells most of. 004 states when the property holds; the share that
is lost has the divisor of minimality (eq. 5), so that m_ij <= n_ij, which is theorem 1 in numbers.
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
    """1 minus the information a code has about nuisances given its factor, relative to its entropy; mean over codes.

    1 means that given its factor, no code says anything of the nuisances. A code of pure noise gets 1 too.

    Parameters
    ----------
    estimator : Histogram
        Labels of the codes, and the factor each tells most of.
    joint : UsableInformation or NearestNeighbour
        What a factor and the nuisances together say of a code: on held-out rows by a linear classifier, by default.
    most_units : int
        Of more codes than this, as many are drawn at random, with a caveat.
    rng : int or Generator
        Decides the split and that draw.

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
