"""Models as cells of a sweep: the data set is the world, the objective is the encoder, and the protocol trains it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from unweave.evidence import Evidence
from unweave.models.networks import MLP, Trunk
from unweave.models.objectives import Objective
from unweave.models.runs.training_file import DataSetChoice
from unweave.models.training.fleet import train
from unweave.models.training.settings import TrainingSettings
from unweave.randomness import random_stream
from unweave.sweeps.protocol import Measurement, measured, scored


@dataclass(frozen=True)
class TrainedModels:
    """Protocol that trains one model per cell with the cell's seed, and scores it on images drawn with the same seed.

    Every cell trains its model separately, so a cluster trains as many models at once as it has workers. On one machine
    `unweave.models.train` is faster for many models, and the weights are the same.

    >>> from unweave.models import BetaVAE
    >>> from unweave.sweeps import grid
    >>> sweep = grid(
    ...     "seeds",
    ...     worlds={"sprites": DataSetChoice("small_sprites")},
    ...     encoders={"beta 1": BetaVAE(beta=1), "beta 16": BetaVAE(beta=16)},
    ...     metrics=["mig"],
    ...     protocol=TrainedModels(settings=TrainingSettings(n_steps=10)),
    ... )
    >>> len(sweep.cells)
    10
    """

    n_codes: int = 10
    trunk: Trunk = field(default_factory=MLP)
    settings: TrainingSettings = TrainingSettings()  # noqa: RUF009 - frozen

    def scores(
        self, world: DataSetChoice, encoder: Objective, n_rows: int, seed: int, metrics: Mapping[str, Any]
    ) -> list[Measurement]:
        """Measurements of these metrics; for a model that diverged, nan with the reason."""
        dataset = world.loaded()
        [model] = train(dataset, encoder, seeds=[seed], n_codes=self.n_codes, trunk=self.trunk, settings=self.settings)
        if model.problem is not None:
            return [Measurement(label, math.nan, math.nan, model.problem) for label in metrics]
        indices = random_stream(seed, "images of a cell").permutation(len(dataset))[:n_rows]
        kinds = dict(zip(dataset.factor_names, dataset.kinds, strict=True))
        codes = model.encode(dataset.images(indices))
        evidence = Evidence(dataset.factors(indices), codes, factor_names=dataset.factor_names, kinds=kinds)
        return [measured(label, partial(scored, entry, evidence, seed)) for label, entry in metrics.items()]
