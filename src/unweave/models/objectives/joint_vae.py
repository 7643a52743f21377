"""JointVAE (Dupont 2018, Eq 7): REC + gamma |KL_z - C_z| + gamma |KL_c - C_c|, with Gaussian and categorical codes.

A categorical code is a Gumbel-softmax sample at temperature tau; its KL from the uniform distribution has a closed
form. Both capacities rise linearly from 0. Defaults are those of the released dSprites model: one code of three
values, gamma 150, C_z up to 40 and C_c up to 1.1 nats over 300,000 steps, tau 0.67. C_c is limited to log K, which the
KL cannot exceed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unweave.models.errors import TrainingError
from unweave.models.objectives.divergences import categorical_kl
from unweave.models.objectives.objective import Objective, hyperparameter, risen
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class JointVAE(Objective):
    """Gaussian and categorical codes, each kind with its own capacity."""

    gamma: float = hyperparameter(150.0, at_least=0.0)
    capacity: float = hyperparameter(40.0, at_least=0.0)
    categorical_capacity: float = hyperparameter(1.1, at_least=0.0)
    capacity_steps: float = hyperparameter(300_000.0, above=0.0)
    temperature: float = hyperparameter(0.67, above=0.0)
    categories: tuple[int, ...] = (3,)
    name: ClassVar[str] = "joint_vae"
    reference: ClassVar[str] = "Dupont 2018"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "categories", tuple(self.categories))
        if not self.categories or not all(isinstance(size, int) and size > 1 for size in self.categories):
            raise TrainingError(f"categories={self.categories} of joint_vae: give whole numbers from 2, one per code.")

    @property
    def category_sizes(self) -> tuple[int, ...]:
        """Number of values of every categorical code."""
        return self.categories

    def loss(self, step: Step) -> Tensor:
        """REC + gamma |KL_z - C_z| + gamma |KL_c - C_c| (Eq 7)."""
        chosen = [
            gumbel_softmax(logits, step.random.uniform(f"category {k}", tuple(logits.shape[1:])), self.temperature)
            for k, logits in enumerate(step.encoded.logits)
        ]
        reconstruction = step.reconstruction_from(torch.cat([step.codes, *chosen], dim=-1))
        discrete = torch.stack([categorical_kl(logits) for logits in step.encoded.logits]).sum(0)
        share = risen(step.number, self.capacity_steps)
        most = sum(math.log(size) for size in self.categories)
        gaussian_gap = (step.kl - self.capacity * share).abs()
        discrete_gap = (
            step.noted("categorical kl", discrete) - (self.categorical_capacity * share).clamp(max=most)
        ).abs()
        return reconstruction + self.gamma * (gaussian_gap + discrete_gap)


def gumbel_softmax(logits: Tensor, uniform: Tensor, temperature: Tensor | float) -> Tensor:
    """softmax((logits + G) / tau) with G = -log(-log u): a relaxed sample of a categorical distribution."""
    tiny = torch.finfo(uniform.dtype).tiny
    gumbel = -(-uniform.clamp(min=tiny).log()).clamp(min=tiny).log()
    tau = torch.as_tensor(temperature)
    return ((logits + gumbel) / tau.reshape(-1, *[1] * (logits.dim() - 1))).softmax(-1)
