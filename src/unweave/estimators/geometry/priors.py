"""Priors of latents, each written as a map of standard normal noise.

    z = T(u), u ~ N(0, I);    dx/du_i = dx/dz_i T_i'(u_i)

The manifold metrics are defined for a standard normal prior. For any other prior the columns of the Jacobian are
rescaled (000, E.1.3: GIN's mixture, rescaled by the standard deviations of every class).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from unweave.arrays import FloatArray
from unweave.randomness import random_stream


@dataclass(frozen=True)
class Latents:
    """Latent samples (n x d), and the factors T'(u) (n x d) that rescale columns of the Jacobian (None: all 1)."""

    values: FloatArray
    scales: FloatArray | None


class Prior(Protocol):
    """The distribution of the latents; a class of your own needs these two members.

    >>> prior: Prior = StandardNormal()
    >>> prior.sample(5, size=2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """Number of latents, or None if any number is possible."""

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents, with the scales of their Jacobian columns."""


@dataclass(frozen=True)
class StandardNormal:
    """Independent standard normal latents: the prior of flows, VAEs and most GANs.

    >>> StandardNormal().sample(5, 2, seed=0).values.shape
    (5, 2)
    """

    @property
    def size(self) -> int | None:
        """None, because any number of latents is possible."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents."""
        return Latents(random_stream(seed, "prior").standard_normal((n, size)), None)


@dataclass(frozen=True)
class GaussianMixture:
    """One Gaussian with diagonal covariance per class; metrics are computed within classes and averaged by weight.

    Parameters
    ----------
    means, deviations : one tuple of d numbers per class
        Means and standard deviations of the latents.
    weights : one number per class, optional
        Probabilities of the classes, up to a common scale; equal by default.

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
        """The mixture with the empirical means, standard deviations and frequencies of the classes (E.1.3)."""
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
        """Draw n samples: a class for each, and then the latents from the Gaussian of this class."""
        rng = random_stream(seed, "prior")
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
        """None, because any number of latents is possible."""
        return None

    def sample(self, n: int, size: int, seed: int) -> Latents:
        """Draw n samples of ``size`` latents; their scales are the normal density divided by the prior's density."""
        from scipy import stats

        marginal: Any = getattr(stats, self.distribution)(*self.parameters)
        noise = random_stream(seed, "prior").standard_normal((n, size))
        values = np.where(noise < 0, marginal.ppf(stats.norm.cdf(noise)), marginal.isf(stats.norm.sf(noise)))
        return Latents(values, np.exp(stats.norm.logpdf(noise) - marginal.logpdf(values)))
