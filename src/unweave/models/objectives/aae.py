"""Adversarial autoencoder (Makhzani et al. 2015; 001, A.2): REC + lambda CE(D(z), 1), with z the encoder's mean.

The critic D classifies codes (0) against draws of N(0, I) (1): 1/2 CE(D(z), 0) + 1/2 CE(D(z'), 1). The encoder is
deterministic, as in 001, where lambda is 10, 20 or 50; it is 10 by default. The critic is that of 001: five layers of
1000 units, Adam at 1e-4 with betas 0.5 and 0.99.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from unweave.models.networks.network import CriticShape
from unweave.models.objectives.factor_vae import telling_apart
from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class AAE(Objective):
    """Reconstruction, with a penalty for codes that a critic can distinguish from the prior."""

    weight: float = hyperparameter(10.0, at_least=0.0)
    critic_hidden: tuple[int, ...] = (1000,) * 5
    critic_learning_rate: float = 1e-4
    name: ClassVar[str] = "aae"
    reference: ClassVar[str] = "Makhzani et al. 2015"
    deterministic: ClassVar[bool] = True

    @property
    def critic(self) -> CriticShape:
        """The critic of 001, with the layer sizes and the learning rate of this objective."""
        return CriticShape(tuple(self.critic_hidden), self.critic_learning_rate, betas=(0.5, 0.99))

    def loss(self, step: Step) -> Tensor:
        """REC + lambda CE(D(z), 1)."""
        logits = step.judged(step.mean)
        fooled = functional.softplus(logits[..., 0] - logits[..., 1]).mean(1)
        return step.reconstruction_from(step.mean) + self.weight * step.noted("generator loss", fooled)

    def critic_loss(self, step: Step) -> Tensor:
        """Cross-entropy of the critic, which classifies codes against draws from the prior."""
        prior = step.random.normal("prior", tuple(step.mean.shape[1:]))
        return telling_apart(step.judged(step.mean), step.judged(prior))
