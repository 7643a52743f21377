"""AnnealedVAE (Burgess et al. 2018, Eq 8): REC + gamma |KL - C|, where the capacity C rises linearly from 0.

Defaults are those of the paper: gamma 1000, C up to 25 nats over 100,000 steps. Shorten the rise for shorter training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.models.objectives.objective import Objective, hyperparameter, risen
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class AnnealedVAE(Objective):
    """Reconstruction, with a penalty for a KL that differs from a capacity, which rises during training."""

    gamma: float = hyperparameter(1000.0, at_least=0.0)
    capacity: float = hyperparameter(25.0, at_least=0.0)
    capacity_steps: float = hyperparameter(100_000.0, above=0.0)
    name: ClassVar[str] = "annealed_vae"
    reference: ClassVar[str] = "Burgess et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + gamma |KL - C| (Eq 8)."""
        capacity = self.capacity * risen(step.number, self.capacity_steps)
        return step.reconstruction + self.gamma * (step.kl - capacity).abs()
