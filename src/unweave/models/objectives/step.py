"""The inputs of an objective in one training step: batches, posteriors, codes and reconstructions of a stack."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from unweave.models.errors import TrainingError
from unweave.models.networks.likelihoods import Likelihood
from unweave.models.networks.network import EncodedBatch, Network
from unweave.models.objectives.divergences import gaussian_kl_per_code
from unweave.models.randomness import Randomness

Fetch = Callable[[str], Tensor]


class Step:
    """The quantities that a loss may use, computed on first access. The first axis of tensors is the model.

    Attributes
    ----------
    number : int
        Number of steps before this one.
    n_rows : int
        Number of images in the data set.
    random : Randomness
        Random numbers, with a separate stream for each model.
    terms : dict of str to Tensor
        Parts of the loss that the history records, one number per model.
    """

    def __init__(
        self,
        network: Network,
        fetch: Fetch,
        random: Randomness,
        likelihood: Likelihood,
        *,
        number: int,
        n_rows: int,
        reconstruction_weight: float = 1.0,
    ) -> None:
        self.network, self.random = network, random
        self.number, self.n_rows = number, n_rows
        self.terms: dict[str, Tensor] = {}
        self._fetch, self._likelihood = fetch, likelihood
        self._judged: list[tuple[Tensor, Tensor]] = []
        self._reconstruction_weight = reconstruction_weight

    @cached_property
    def images(self) -> Tensor:
        """The batch of every model, models x batch x pixels."""
        return self._fetch("rows")

    @cached_property
    def other_images(self) -> Tensor:
        """A second batch of every model, independent of the first, models x batch x pixels."""
        return self._fetch("other rows")

    @cached_property
    def partners(self) -> Tensor:
        """Images that share some factors with those of the batch, for objectives with ``pairs``."""
        return self._fetch("partners")

    @cached_property
    def encoded(self) -> EncodedBatch:
        """Posteriors of the batch."""
        return self.network.encode(self.images)

    @property
    def mean(self) -> Tensor:
        """Means of the Gaussian codes, models x batch x codes."""
        return self.encoded.mean

    @property
    def log_variance(self) -> Tensor:
        """Logarithms of the variances of the Gaussian codes, models x batch x codes."""
        return self.encoded.log_variance

    @cached_property
    def codes(self) -> Tensor:
        """One sample of the Gaussian codes for every image, models x batch x codes."""
        return self.sampled(self.mean, self.log_variance)

    @cached_property
    def reconstruction(self) -> Tensor:
        """-E log p(x | z) in nats per image, from the sampled codes, times the reconstruction weight; one per model."""
        return self.reconstruction_from(self.codes)

    @cached_property
    def kl_per_code(self) -> Tensor:
        """KL from the posterior to the prior, mean over the batch, models x codes."""
        return gaussian_kl_per_code(self.mean, self.log_variance)

    @cached_property
    def kl(self) -> Tensor:
        """Sum over the codes of `kl_per_code`: one number per model."""
        return self.noted("kl", self.kl_per_code.sum(1))

    def sampled(self, mean: Tensor, log_variance: Tensor, purpose: str = "noise") -> Tensor:
        """A reparametrised sample of Gaussian posteriors."""
        noise = self.random.normal(purpose, tuple(mean.shape[1:]))
        return torch.addcmul(mean, (0.5 * log_variance).exp(), noise)

    def reconstruction_from(self, codes: Tensor, images: Tensor | None = None) -> Tensor:
        """-log p(x | z) of the batch or ``images`` for these codes, times the reconstruction weight; one per model."""
        cost = self._likelihood.cost(self.network.decode(codes), self.images if images is None else images)
        return self.noted("reconstruction", self._reconstruction_weight * cost)

    def judged(self, codes: Tensor) -> Tensor:
        """Two logits of the critic for every code vector, models x batch x 2; computed once for the same tensor.

        The gradient of the loss is taken with respect to encoder and decoder, and that of the critic's loss with
        respect to the critic alone, so both can share one forward pass.
        """
        for known, logits in self._judged:
            if known is codes:
                return logits
        self._judged.append((codes, self.network.critic(codes)))
        return self._judged[-1][1]

    def noted(self, name: str, term: Tensor) -> Tensor:
        """Record the term in the history under this name, and return it."""
        if name in self.terms:
            raise TrainingError(f"Two terms of the loss are called {name!r}: give each a name of its own.")
        self.terms[name] = term.detach()
        return term
