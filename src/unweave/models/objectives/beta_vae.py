"""beta-VAE (Higgins et al. 2017, Eq 4): REC + beta KL.

beta is 4 by default, as in the paper for dSprites; disentanglement_lib sweeps 1, 2, 4, 6, 8, 16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class BetaVAE(Objective):
    """The evidence lower bound with a weight on its KL."""

    beta: float = hyperparameter(4.0, at_least=0.0)
    name: ClassVar[str] = "beta_vae"
    reference: ClassVar[str] = "Higgins et al. 2017"

    def loss(self, step: Step) -> Tensor:
        """REC + beta KL (Eq 4)."""
        return step.reconstruction + self.beta * step.kl
