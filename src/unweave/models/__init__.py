"""Baseline models: variational autoencoders with the standard objectives, many trained at once."""

try:
    import torch  # noqa: F401
except ImportError:
    raise ImportError("Models need torch: install it with pip install 'unweave[torch]'.") from None

from typing import TYPE_CHECKING

from unweave.models.fleet import Fleet, train
from unweave.models.model import TrainedModel
from unweave.models.networks import MLP, Bernoulli, Convolutional, Gaussian
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
from unweave.models.training_file import read_runs
from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave.sweeps.trained_models import TrainedModels, compared_runs
else:  # these need metrics, and training does not
    __getattr__ = on_demand(
        __name__, dict.fromkeys(("TrainedModels", "compared_runs"), "unweave.sweeps.trained_models")
    )[0]

# in the order in which a newcomer needs them
# fmt: off
__all__ = [  # noqa: RUF022
    "train", "read_runs", "TrainingSettings", "Fleet", "TrainedModel", "TrainedModels", "compared_runs",
    "MLP", "Convolutional", "Bernoulli", "Gaussian", "OBJECTIVES", "Objective", "Step",
    "VAE", "BetaVAE", "AnnealedVAE", "BetaTCVAE", "FactorVAE", "DIPVAEI", "DIPVAEII", "JointVAE", "AAE", "AdaGVAE",
    "HFSVAE",
]
# fmt: on
