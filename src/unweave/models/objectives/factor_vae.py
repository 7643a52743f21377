"""FactorVAE (Kim and Mnih 2018, Eq 2 and Algorithm 2): REC + KL + gamma mean(D_0(z) - D_1(z)).

D is a critic with two logits that classifies codes (0) against codes of which each entry was shuffled separately over
the batch (1), so that D_0 - D_1 estimates log q(z) / prod_l q(z_l). Defaults are those of the paper: gamma 35, a critic
of six layers of 1000 units with slope 0.2, its Adam at 1e-4 with betas 0.5 and 0.9, and a second batch for the shuffled
codes (disentanglement_lib shuffles the first one).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from unweave.models.networks.network import CriticShape
from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class FactorVAE(Objective):
    """The evidence lower bound and the total correlation of the codes, estimated by a critic."""

    gamma: float = hyperparameter(35.0, at_least=0.0)
    critic_hidden: tuple[int, ...] = (1000,) * 6
    critic_learning_rate: float = 1e-4
    name: ClassVar[str] = "factor_vae"
    reference: ClassVar[str] = "Kim and Mnih 2018"

    @property
    def critic(self) -> CriticShape:
        """The critic of the paper, with the layer sizes and the learning rate of this objective."""
        return CriticShape(tuple(self.critic_hidden), self.critic_learning_rate, betas=(0.5, 0.9))

    def loss(self, step: Step) -> Tensor:
        """REC + KL + gamma TC, TC by the critic (Eq 2 and 3)."""
        shared = density_ratio(step.judged(step.codes))
        return step.reconstruction + step.kl + self.gamma * step.noted("total correlation", shared)

    def critic_loss(self, step: Step) -> Tensor:
        """Cross-entropy of the critic, which classifies codes against shuffled codes of another batch (Algorithm 2)."""
        with torch.no_grad():
            encoded = step.network.encode(step.other_images)
            others = step.sampled(encoded.mean, encoded.log_variance, "other noise")
        return telling_apart(step.judged(step.codes), step.judged(shuffled(step, others)))


def density_ratio(logits: Tensor) -> Tensor:
    """mean(D_0 - D_1), the estimate of the total correlation from the critic's logits, one number per model."""
    return (logits[..., 0] - logits[..., 1]).mean(1)


def shuffled(step: Step, codes: Tensor) -> Tensor:
    """Codes of which every entry is shuffled over the batch independently."""
    _, n_rows, n_codes = codes.shape
    orders = step.random.orders("shuffling", n_codes, n_rows).transpose(-1, -2)
    return codes.gather(-2, orders)


def telling_apart(zeros: Tensor, ones: Tensor) -> Tensor:
    """Mean of the critic's cross-entropies on codes of class 0 and on codes of class 1, one number per model."""
    first, second = (logits[..., 1] - logits[..., 0] for logits in (zeros, ones))
    return 0.5 * (functional.softplus(first).mean(1) + functional.softplus(-second).mean(1))
