"""Settings of training: steps, batches, optimiser, likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unweave.models.errors import TrainingError
from unweave.models.networks.likelihoods import Bernoulli, Likelihood

LOG_EVERY = 100


@dataclass(frozen=True)
class TrainingSettings:
    """Steps of Adam, the same for all models of a fleet.

    Batch size, learning rate and betas are those of Locatello et al. 2019, who train for 300,000 steps.

    Attributes
    ----------
    n_steps, batch_size : int
        Number of steps, and number of images in a batch, drawn with replacement.
    learning_rate, betas : float, pair of float
        Parameters of Adam for encoder and decoder.
    likelihood : Bernoulli or Gaussian
        Distribution of the pixels given the decoder's output.
    reconstruction_weight : float
        Factor of the reconstruction. With 4096 divided by the number of pixels, hyperparameters for images of 64 x 64
        pixels have the same effect on smaller images.
    checkpoint_every : int
        Steps between two checkpoints, a multiple of 100.
    """

    n_steps: int = 8000
    batch_size: int = 64
    learning_rate: float = 1e-4
    betas: tuple[float, float] = (0.9, 0.999)
    likelihood: Likelihood = Bernoulli()  # noqa: RUF009 - frozen
    reconstruction_weight: float = 1.0
    checkpoint_every: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "betas", tuple(self.betas))
        for name in ("n_steps", "batch_size", "checkpoint_every"):
            _check(
                isinstance(getattr(self, name), int) and getattr(self, name) > 0, self, name, "a whole number above 0"
            )
        for name in ("learning_rate", "reconstruction_weight"):
            value = getattr(self, name)
            _check(math.isfinite(value) and value > 0, self, name, "a number above 0")
        _check(
            len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas), self, "betas", "two numbers from 0 to 1"
        )
        multiple = self.checkpoint_every % LOG_EVERY == 0
        _check(multiple, self, "checkpoint_every", f"a multiple of {LOG_EVERY}, the interval of the history")


def _check(holds: bool, settings: TrainingSettings, name: str, wanted: str) -> None:
    if not holds:
        raise TrainingError(f"{name}={getattr(settings, name)!r} of the training has to be {wanted}.")
