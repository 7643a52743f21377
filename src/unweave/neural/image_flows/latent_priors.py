"""Priors of image flows: a standard normal, or a Gaussian with a diagonal covariance for every class."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from unweave.estimators.geometry.priors import GaussianMixture
from unweave.evidence import EvidenceError
from unweave.neural.flows import standard_normal_cost

SMALLEST_DEVIATION = 1e-4


class ClassMixture(nn.Module):
    """One Gaussian per class, with means and standard deviations learned with the flow (prior of GIN, 000 section 7).

    Parameters
    ----------
    n_classes, size : int

    Examples
    --------
    >>> prior = ClassMixture(n_classes=2, size=3)
    >>> round(float(prior.cost(torch.zeros(1, 3), torch.tensor([1]))[0]), 3)
    2.757
    """

    def __init__(self, n_classes: int, size: int) -> None:
        super().__init__()
        self.means = nn.Parameter(torch.zeros(n_classes, size))
        self.log_deviations = nn.Parameter(torch.zeros(n_classes, size))

    def cost(self, latents: Tensor, classes: Tensor) -> Tensor:
        """Negative log-density of latents whose classes are known."""
        log_deviations = self.log_deviations[classes]
        standard = (latents - self.means[classes]) * (-log_deviations).exp()
        return standard_normal_cost(standard) + log_deviations.sum(dim=1)

    def fit(self, latents: Tensor, classes: Tensor) -> None:
        """Initialise with the means and standard deviations of these latents."""
        n_classes = len(self.means)
        missing = sorted(set(range(n_classes)) - set(classes.tolist()))
        if missing:
            raise EvidenceError(
                f"Class {missing[0]} has no samples among the first {len(classes)}, so its Gaussian cannot be fitted: "
                f"give samples of all {n_classes} classes, or a prior with fewer."
            )
        with torch.no_grad():
            for k in range(n_classes):
                group = latents[classes == k]
                self.means[k] = group.mean(dim=0)
                self.log_deviations[k] = group.std(dim=0, correction=0).clamp(min=SMALLEST_DEVIATION).log()

    def as_prior(self) -> GaussianMixture:
        """The prior for the geometry metrics, which rescale columns by its standard deviations (E.1.3)."""
        means = self.means.detach().numpy().astype(np.float64)
        deviations = self.log_deviations.detach().exp().numpy().astype(np.float64)
        return GaussianMixture(tuple(map(tuple, means.tolist())), tuple(map(tuple, deviations.tolist())))
