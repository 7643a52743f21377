"""Baseline models: variational autoencoders with the standard objectives, many trained at once."""

try:
    import torch  # noqa: F401
except ImportError:
    raise ImportError("Models need torch: install it with pip install 'unweave[torch]'.") from None

from unweave.models.fleet import Fleet, train
from unweave.models.model import TrainedModel
from unweave.models.networks import MLP, Bernoulli, Convolutional, Gaussian, TrainingError
from unweave.models.objectives import (
    AAE,
    DIPVAEI,
    DIPVAEII,
    HFSVAE,
    OBJECTIVES,
    VAE,
    AdaGVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    JointVAE,
    Objective,
    Step,
)
from unweave.models.training import TrainingSettings

__all__ = [  # noqa: RUF022 - in the order in which a newcomer needs them
    "train",
    "TrainingSettings",
    "Fleet",
    "TrainedModel",
    "TrainingError",
    "MLP",
    "Convolutional",
    "Bernoulli",
    "Gaussian",
    "OBJECTIVES",
    "Objective",
    "Step",
    "VAE",
    "BetaVAE",
    "AnnealedVAE",
    "BetaTCVAE",
    "FactorVAE",
    "DIPVAEI",
    "DIPVAEII",
    "JointVAE",
    "AAE",
    "AdaGVAE",
    "HFSVAE",
]
