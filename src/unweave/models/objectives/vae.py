"""Variational autoencoder (Kingma and Welling 2014): REC + KL.

REC is -E_q log p(x | z), KL the divergence of q(z | x) = N(mean, diag variance) from N(0, I), both means over the
batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.models.objectives.objective import Objective
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class VAE(Objective):
    """The negative evidence lower bound."""

    name: ClassVar[str] = "vae"
    reference: ClassVar[str] = "Kingma and Welling 2014"

    def loss(self, step: Step) -> Tensor:
        """REC + KL."""
        return step.reconstruction + step.kl
