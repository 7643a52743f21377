"""Worlds: factors whose dependence is known by construction (003, section 2.1 and appendix D.1).

A world draws rows of factors with `sample`. Its `effective_dimension` is the number of factors that vary freely, and
its `constraints` are the factors that others determine. Factors with other marginals are increasing functions of
Gaussian draws, so they keep the Gaussian copula.
"""

from unweave.synthetic.worlds.constrained import Circuit, OneFactorConstraint, TwoFactorConstraint
from unweave.synthetic.worlds.free import Causal, Confounded, Correlated, Independent, WithCovariance
from unweave.synthetic.worlds.levelled import Levelled, Reordered
from unweave.synthetic.worlds.world import Constraint, Marginal, World, with_marginal

__all__ = [
    "Causal",
    "Circuit",
    "Confounded",
    "Constraint",
    "Correlated",
    "Independent",
    "Levelled",
    "Marginal",
    "OneFactorConstraint",
    "Reordered",
    "TwoFactorConstraint",
    "WithCovariance",
    "World",
    "with_marginal",
]
