"""Hausdorff factorised support (Roth et al. 2023): REC + beta KL + gamma sum over pairs (i, j) of the distance

    max_{s in S_i x S_j} min_b |s - mean_b[i, j]|^2,    S_i = {mean_b[i]} of the batch,

the largest squared distance from a point in the product of two codes' supports to the codes of the nearest image. By
default there are 25 random pairs of codes per step and all B^2 points of the product, as in the released code. gamma
100 and beta 1 are within the paper's grids (0.1 to 10^4, and 0 to 16), which name no best value. The maximum is hard;
004 used a soft maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import torch
from torch import Tensor

from unweave.models.objectives.objective import Objective, hyperparameter
from unweave.models.objectives.step import Step


@dataclass(frozen=True)
class HFSVAE(Objective):
    """The evidence lower bound and the distance of pairs of codes from a factorised support."""

    gamma: float = hyperparameter(100.0, at_least=0.0)
    beta: float = hyperparameter(1.0, at_least=0.0)
    n_pairs: int = 25
    name: ClassVar[str] = "hfs_vae"
    reference: ClassVar[str] = "Roth et al. 2023"

    def loss(self, step: Step) -> Tensor:
        """REC + beta KL + gamma sum of Hausdorff distances."""
        pairs = torch.tensor(list(combinations(range(step.mean.shape[-1]), 2)))
        order = step.random.orders("pairs", 1, len(pairs))[:, 0, : self.n_pairs]
        distance = support_distance(step.mean, pairs[order])
        return step.reconstruction + self.beta * step.kl + self.gamma * step.noted("support distance", distance)


def support_distance(mean: Tensor, pairs: Tensor) -> Tensor:
    """Sum over pairs of codes (models x pairs x 2) of their distance from a factorised support; one per model."""
    n_models, n_rows, _ = mean.shape
    first, second = (mean.gather(-1, pairs[..., side].unsqueeze(1).expand(-1, n_rows, -1)) for side in (0, 1))
    first, second = first.transpose(1, 2).flatten(0, 1), second.transpose(1, 2).flatten(0, 1)  # (models pairs) x batch
    with torch.no_grad():  # only the indices of the corner and of its nearest point; the distance below has a gradient
        corner = torch.cat(
            [_emptiest_corner(*some) for some in zip(first.chunk(n_models), second.chunk(n_models), strict=True)]
        )
        row, column = corner // n_rows, corner % n_rows
        to_corner = (first - first.gather(1, row)).square() + (second - second.gather(1, column)).square()
        closest = to_corner.argmin(1, keepdim=True)
    along = (first.gather(1, row) - first.gather(1, closest)).square()
    across = (second.gather(1, column) - second.gather(1, closest)).square()
    return (along + across).view(n_models, -1).sum(1)


def _emptiest_corner(first: Tensor, second: Tensor) -> Tensor:
    """Index (row x batch + column) of the corner farthest from its nearest point, for each pair (pairs x batch)."""
    apart_first = (first.unsqueeze(2) - first.unsqueeze(1)).square()
    apart_second = (second.unsqueeze(2) - second.unsqueeze(1)).square()
    nearest = [(of_row.unsqueeze(1) + apart_second).amin(-1) for of_row in apart_first.unbind(1)]
    return torch.stack(nearest, 1).flatten(1).argmax(1, keepdim=True)
