"""DIP-VAE-I (Kumar et al. 2018, Eq 6): REC + KL + l_od sum_{i != j} Cov[mean]_ij^2 + l_d sum_i (Cov[mean]_ii - 1)^2.

The covariance is that of the posteriors' means over the batch. l_od is 10 by default, and l_d is ten times l_od, as in
disentanglement_lib, which sweeps l_od over 1, 2, 5, 10, 20, 50.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.models.objectives.covariances import covariance, distance_from_identity
from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class DIPVAEI(Objective):
    """The evidence lower bound and the distance of the means' covariance from the identity."""

    off_diagonal: float = hyperparameter(10.0, at_least=0.0)
    diagonal_ratio: float = hyperparameter(10.0, at_least=0.0)
    name: ClassVar[str] = "dip_vae_i"
    reference: ClassVar[str] = "Kumar et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + KL + penalty of Cov[mean] (Eq 6)."""
        penalty = distance_from_identity(
            covariance(step.mean), self.off_diagonal, self.diagonal_ratio * self.off_diagonal
        )
        return step.reconstruction + step.kl + step.noted("covariance penalty", penalty)
