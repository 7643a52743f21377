"""Trained models as cells of a sweep, and their comparison over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unweave.card.decorator import metric_of
from unweave.datasets import DataSet
from unweave.errors import InputError
from unweave.evaluation.choose import MetricChoice, chosen_metrics
from unweave.evaluation.results import GroupedScore, ranked_settings
from unweave.evidence import Evidence
from unweave.models.fleet import train
from unweave.models.model import TrainedModel
from unweave.models.networks import MLP, Trunk
from unweave.models.objectives import Objective, setting_name
from unweave.models.training import TrainingSettings
from unweave.models.training_file import DataSetChoice
from unweave.options import checks_options
from unweave.randomness import random_stream
from unweave.sweeps.sweep import Measurement, scores_of_evidence

METRICS = ("mig", "dci_disentanglement", "identification", "minimality", "sufficiency", "irs")


@dataclass(frozen=True)
class ModelRow:
    """One model: its setting and seed, statistics of its posteriors, and its scores (nan if undefined)."""

    setting: str
    seed: int
    active_codes: float
    reconstruction: float
    kl: float
    scores: Mapping[str, float]
    problem: str | None = None

    def column(self, name: str) -> float:
        """A score, or one of the statistics of the posterior."""
        return float(self.scores[name]) if name in self.scores else float(getattr(self, name))


@dataclass(frozen=True)
class RunComparison:
    """All models, and letters for every column: settings that share a letter do not differ significantly over seeds."""

    rows: tuple[ModelRow, ...]
    metrics: tuple[str, ...]
    letters: Mapping[str, Mapping[str, str]]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns of numbers."""
        return ("active_codes", "reconstruction", "kl", *self.metrics)

    @property
    def settings(self) -> list[str]:
        """Settings in the order of their first model."""
        return list(dict.fromkeys(row.setting for row in self.rows))

    def of_setting(self, setting: str) -> list[ModelRow]:
        """Models of a setting."""
        return [row for row in self.rows if row.setting == setting]

    def values(self, setting: str, column: str) -> list[float]:
        """Values of a column at the seeds of a setting, without nan."""
        return [value for row in self.of_setting(setting) if not math.isnan(value := row.column(column))]

    def spread(self, setting: str, column: str) -> GroupedScore:
        """Mean, standard deviation and interval of a column over the seeds of a setting."""
        (score,) = ranked_settings({setting: self.values(setting, column)}, False, 0.95)
        return score


@checks_options
def compared_runs(
    models: Sequence[TrainedModel],
    dataset: DataSet,
    *,
    metrics: MetricChoice | Iterable[MetricChoice] | None = None,
    n_rows: int = 5000,
    seed: int = 0,
    level: float = 0.95,
    watch: Callable[[str], None] = lambda _: None,
) -> RunComparison:
    """Score models of one data set, and find which settings differ significantly given the spread over seeds.

    Settings are compared by Welch's t-test over their seeds, with Holm's correction for the number of pairs.

    Parameters
    ----------
    models : sequence of TrainedModel
        As returned by `read_runs` and `train`.
    dataset : DataSet
        Data set whose images are encoded: ``n_rows`` at random, or all if there are fewer.
    metrics : names or metrics, optional
        By default mig, dci_disentanglement, identification, minimality, sufficiency and irs.
    n_rows, seed : int
        Number of images, and the seed of their selection and of metrics with a random part.
    level : float
        Confidence level: 1 minus the probability of a false difference between any two settings.
    watch : function
        Called with the name of each model before it is scored.
    """
    indices = np.sort(random_stream(seed, "compared images").permutation(len(dataset))[:n_rows])
    images, factors = dataset.images(indices), dataset.factors(indices)
    kinds = dict(zip(dataset.factor_names, dataset.kinds, strict=True))
    chosen = chosen_metrics(METRICS if metrics is None else metrics)
    rows = []
    for model in models:
        watch(model.name)
        setting, model_seed = setting_name(model.spec.objective), model.spec.seed
        if model.network is None:
            scores, active, cost, kl = dict.fromkeys(chosen, math.nan), math.nan, math.nan, math.nan
        else:
            evidence = Evidence(factors, model.encode(images), factor_names=dataset.factor_names, kinds=kinds)
            scores = {each.metric: each.value for each in scores_of_evidence(chosen, evidence, seed)}
            active = math.nan if model.is_deterministic else float(model.n_active_codes(images))
            cost, kl = model.reconstruction_cost(images), float(model.kl_per_code(images).sum())
        rows.append(ModelRow(setting, model_seed, active, cost, kl, scores, model.problem))
    if not rows:
        raise InputError("There are no models to compare.")
    comparison = RunComparison(tuple(rows), tuple(chosen), {})
    letters = {
        label: letters_of_ties(comparison, label, lower_is_better=metric_of(entry).card.lower_is_better, level=level)
        for label, entry in chosen.items()
    }
    return replace(comparison, letters=letters)


def letters_of_ties(comparison: RunComparison, column: str, *, lower_is_better: bool, level: float) -> dict[str, str]:
    """Letters of the settings, best first: settings that share a letter do not differ significantly in this column."""
    values = {setting: comparison.values(setting, column) for setting in comparison.settings}
    return {score.group: score.letters for score in ranked_settings(values, lower_is_better, level) if score.letters}


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
    device: str = "cpu"

    def scores(
        self, world: DataSetChoice, encoder: Objective, n_rows: int, seed: int, metrics: Mapping[str, Any]
    ) -> list[Measurement]:
        """Measurements of these metrics; for a model that diverged, nan with the reason."""
        dataset = world.loaded()
        [model] = train(dataset, encoder, seed=seed, **vars(self))
        if model.problem is not None:
            return [Measurement(label, math.nan, math.nan, model.problem) for label in metrics]
        indices = random_stream(seed, "images of a cell").permutation(len(dataset))[:n_rows]
        kinds = dict(zip(dataset.factor_names, dataset.kinds, strict=True))
        codes = model.encode(dataset.images(indices))
        evidence = Evidence(dataset.factors(indices), codes, factor_names=dataset.factor_names, kinds=kinds)
        return scores_of_evidence(metrics, evidence, seed)
