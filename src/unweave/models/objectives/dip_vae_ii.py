"""DIP-VAE-II (Kumar et al. 2018, Eq 7): as DIP-VAE-I, with Cov[z] = Cov[mean] + E diag(variance).

By the law of total covariance this is the covariance of the sampled codes. l_od is 10 by default, and l_d equals
l_od, as in disentanglement_lib.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unweave.models.objectives.covariances import covariance, distance_from_identity
from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class DIPVAEII(Objective):
    """The evidence lower bound and the distance of the codes' covariance from the identity."""

    off_diagonal: float = hyperparameter(10.0, at_least=0.0)
    diagonal_ratio: float = hyperparameter(1.0, at_least=0.0)
    name: ClassVar[str] = "dip_vae_ii"
    reference: ClassVar[str] = "Kumar et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + KL + penalty of Cov[z] (Eq 7)."""
        of_codes = covariance(step.mean) + torch.diag_embed(step.log_variance.exp().mean(-2))
        penalty = distance_from_identity(of_codes, self.off_diagonal, self.diagonal_ratio * self.off_diagonal)
        return step.reconstruction + step.kl + step.noted("covariance penalty", penalty)
