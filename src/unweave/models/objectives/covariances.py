"""The penalty of DIP-VAE: the distance of a covariance of codes from the identity."""

from __future__ import annotations

import torch
from torch import Tensor


def covariance(mean: Tensor) -> Tensor:
    """Covariance over the batch, models x codes x codes."""
    centred = mean - mean.mean(-2, keepdim=True)
    return centred.transpose(-1, -2) @ centred / mean.shape[-2]


def distance_from_identity(matrix: Tensor, off_diagonal: Tensor | float, diagonal: Tensor | float) -> Tensor:
    """off_diagonal sum_{i != j} C_ij^2 + diagonal sum_i (C_ii - 1)^2, one number per model."""
    variances = torch.diagonal(matrix, dim1=-2, dim2=-1)
    between = matrix.square().sum((-1, -2)) - variances.square().sum(1)
    return off_diagonal * between + diagonal * (variances - 1).square().sum(1)
