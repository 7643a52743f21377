"""Priors of latents, each as a map from standard normal noise, so that entropies of decoders refer to one standard.

    z = T(u), u ~ N(0, I);    dx/du_i = dx/dz_i T_i'(u_i)

The manifold metrics are defined for a standard normal prior; any other is reached by rescaling columns of the Jacobian
(000, E.1.3: GIN's mixture, rescaled by the standard deviations of every class).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from unweave.arrays import FloatArray


@dataclass(frozen=True)
class Latents:
    """Latent samples (n x d), and the scales T'(u) (n x d) that columns of the Jacobian are multiplied by."""

    values: FloatArray
    scales: FloatArray | None


class Prior(Protocol):
    """The distribution that latents are drawn from; give your own with these two members.

    >>> prior: Prior = StandardNormal()
    >>> prior.sample(5, size=2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """Number of latents, None for any."""

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n latents, with their scales."""


@dataclass(frozen=True)
class StandardNormal:
    """IndependentPrior standard normal latents: the prior of flows, VAEs and most GANs.

    >>> StandardNormal().sample(5, 2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """Number of latents, None for any."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n latents."""
        return Latents(np.random.default_rng(seed).standard_normal((n, size)), None)


@dataclass(frozen=True)
class GaussianMixture:
    """One Gaussian with diagonal covariance per class; metrics are computed within classes and averaged by weight.

    Parameters
    ----------
    means, deviations : one tuple of d numbers per class
    weights : one number per class, optional
        Equal by default.

    Examples
    --------
    >>> prior = GaussianMixture(means=((0.0, 0.0), (3.0, 0.0)), deviations=((1.0, 0.5), (2.0, 0.5)))
    >>> sorted(set(prior.sample(50, 2, seed=0).scales[:, 0].tolist()))
    [1.0, 2.0]
    """

    means: tuple[tuple[float, ...], ...]
    deviations: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] | None = None

    @classmethod
    def fitted(cls, latents: FloatArray, classes: Sequence[object] | FloatArray) -> Self:
        """The empirical means, standard deviations and shares of the classes of these latents (E.1.3)."""
        labels = np.unique(np.asarray(classes), return_inverse=True)[1]
        groups = [np.asarray(latents, dtype=np.float64)[labels == k] for k in range(labels.max() + 1)]
        return cls(
            tuple(tuple(group.mean(axis=0).tolist()) for group in groups),
            tuple(tuple(group.std(axis=0).tolist()) for group in groups),
            tuple(len(group) / len(labels) for group in groups),
        )

    @property
    def size(self) -> int | None:
        """Number of latents."""
        return len(self.means[0])

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n latents: first a class for each, then a latent from the Gaussian of this class."""
        rng = np.random.default_rng(seed)
        weights = np.ones(len(self.means)) if self.weights is None else np.asarray(self.weights)
        classes = rng.choice(len(self.means), size=n, p=weights / weights.sum())
        scales = np.asarray(self.deviations)[classes]
        return Latents(np.asarray(self.means)[classes] + scales * rng.standard_normal((n, size)), scales)


@dataclass(frozen=True)
class IndependentPrior:
    """Independent latents with one continuous distribution of `scipy.stats`, given by its name and parameters.

    >>> bool((IndependentPrior("uniform", (-1.0, 2.0)).sample(100, 3, seed=0).values < 1).all())
    True
    """

    distribution: str
    parameters: tuple[float, ...] = ()

    @property
    def size(self) -> int | None:
        """Number of latents, None for any."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n latents; the scales are the ratio of the normal density to this one."""
        from scipy import stats

        marginal: Any = getattr(stats, self.distribution)(*self.parameters)
        noise = np.random.default_rng(seed).standard_normal((n, size))
        values = np.where(noise < 0, marginal.ppf(stats.norm.cdf(noise)), marginal.isf(stats.norm.sf(noise)))
        return Latents(values, np.exp(stats.norm.logpdf(noise) - marginal.logpdf(values)))
