"""beta-TCVAE (Chen et al. 2018, Eq 4): REC + KL + (beta - 1) TC.

TC is the total correlation of the aggregated posterior, by the weighted minibatch estimate of Eq S5 (`divergences`
states its bias). beta is 6 by default, the paper's choice for dSprites; disentanglement_lib sweeps 1 to 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.models.objectives.divergences import total_correlation_of_batch
from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class BetaTCVAE(Objective):
    """The evidence lower bound with a weight on the total correlation within its KL."""

    beta: float = hyperparameter(6.0, at_least=0.0)
    name: ClassVar[str] = "beta_tcvae"
    reference: ClassVar[str] = "Chen et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + KL + (beta - 1) TC (Eq 4 with alpha = gamma = 1)."""
        shared = total_correlation_of_batch(step.codes, step.mean, step.log_variance)
        return step.reconstruction + step.kl + (self.beta - 1) * step.noted("total correlation", shared)
