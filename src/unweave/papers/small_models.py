"""Small models with several seeds, for what papers 001, 002 and 004 say of seeds and hyperparameters.

4,608 sprites of 16 x 16 (three shapes, six scales, 16 x 16 positions, no rotation), MLPs of 128 and 128 units, ten
codes, 8,000 steps of Adam at 1e-3, reconstruction weighted as if images had 64 x 64 pixels: sixty models take ten
minutes of one core. The papers trained convolutional networks on all of dSprites for 100 to 500 times as long, so
what is compared with them is the direction of an effect and not its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from scipy import stats

from unweave.datasets import DSprites, small_sprites
from unweave.evidence import Evidence
from unweave.papers.experiment import Options
from unweave.papers.kept_numbers import KeptNumbers
from unweave.progress import progress_bar

if TYPE_CHECKING:
    from unweave.models import Objective, TrainedModel, TrainingSettings

N_SEEDS, N_STEPS = 5, 8000
BETAS, GAMMAS, TC_BETAS = (1, 4, 16, 32, 64), (10, 40), (8, 64)
CRITIC = (256, 256, 256)
LEVEL = 0.95
Numbers = dict[str, float]


@dataclass(frozen=True)
class SmallSetting:
    """Numbers of all seeds of one setting, by name."""

    name: str
    seeds: tuple[Numbers, ...]

    def values(self, number: str) -> list[float]:
        """One number of every seed."""
        return [found[number] for found in self.seeds]

    def mean(self, number: str) -> float:
        """Mean over seeds."""
        return math.fsum(self.values(number)) / len(self.seeds)

    def interval(self, number: str) -> tuple[float, float]:
        """95% interval of the mean by Student's t; as wide as can be with one seed."""
        values = self.values(number)
        if len(values) < 2:
            return -math.inf, math.inf
        reach = float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1)) * stats.sem(values)
        return self.mean(number) - reach, self.mean(number) + reach

    def shown(self, number: str) -> str:
        """Mean and interval in words."""
        low, high = self.interval(number)
        return f"{self.mean(number):.3f} [{low:.3f}, {high:.3f}]" if math.isfinite(low) else f"{self.mean(number):.3f}"


def settings_of(options: Options) -> TrainingSettings:
    """Settings of the training."""
    from unweave.models import TrainingSettings

    n_steps = options.n_steps or N_STEPS
    return TrainingSettings(n_steps=n_steps, learning_rate=1e-3, reconstruction_weight=16.0, checkpoint_every=1000)


def beta_vaes(betas: Iterable[float] = BETAS) -> list[Objective]:
    """beta-VAEs of these weights."""
    from unweave.models import BetaVAE

    return [BetaVAE(beta=beta) for beta in betas]


def factor_vaes(gammas: Iterable[float] = GAMMAS) -> list[Objective]:
    """FactorVAEs of these weights, with a small critic."""
    from unweave.models import FactorVAE

    return [FactorVAE(gamma=gamma, critic_hidden=CRITIC) for gamma in gammas]


def total_correlation_vaes(betas: Iterable[float] = TC_BETAS) -> list[Objective]:
    """beta-TCVAEs of these weights."""
    from unweave.models import BetaTCVAE

    return [BetaTCVAE(beta=beta) for beta in betas]


def annealed_vae(options: Options) -> Objective:
    """AnnealedVAE with four nats, which it reaches halfway."""
    from unweave.models import AnnealedVAE

    return AnnealedVAE(gamma=100, capacity=4, capacity_steps=(options.n_steps or N_STEPS) / 2)


def trained(options: Options, objectives: Sequence[Objective], n_codes: int = 10) -> list[TrainedModel]:
    """Models of these objectives and all seeds, trained or read from the folder; those that diverged are left out."""
    from unweave.models import train

    first = options.seed or 0
    fleet = train(
        small_sprites(),
        list(objectives),
        seeds=range(first, first + (options.n_seeds or N_SEEDS)),
        n_codes=n_codes,
        settings=settings_of(options),
        folder=options.folder / f"small-models-{n_codes}-codes-{options.n_steps or N_STEPS}-steps",
        progress=options.progress,
    )
    return [model for model in fleet if model.network is not None]


def evidence_of(model: TrainedModel, sprites: DSprites) -> Evidence:
    """All images, factors as levels, as in 001 and 002."""
    kinds = {name: "categorical" if kind == "categorical" else "ordinal" for name, kind in _kinds(sprites).items()}
    return Evidence(sprites.factors(), model.encode(sprites.images()), factor_names=sprites.factor_names, kinds=kinds)


def measured(
    models: Sequence[TrainedModel],
    label: str,
    measure: Callable[[Evidence], Mapping[str, float]],
    options: Options,
    n_codes: int = 10,
) -> list[SmallSetting]:
    """Numbers of every model, computed once and kept, grouped by setting."""
    from unweave.models.runs.naming import setting_name

    sprites = small_sprites()
    found: dict[str, list[Numbers]] = {}
    with progress_bar(len(models), options.progress) as bar:
        for model in models:
            bar.step(f"{label} of {model.name}")
            steps = options.n_steps or N_STEPS
            file = options.folder / "numbers" / f"{model.name}-{n_codes}-codes-{steps}-steps.json"
            compute = partial(_plain, measure, model, sprites)
            name = setting_name(model.member.objective)
            found.setdefault(name, []).append(KeptNumbers(file).value(label, compute))
    return [SmallSetting(name, tuple(numbers)) for name, numbers in found.items()]


@dataclass(frozen=True)
class SeedDifference:
    """Mean of one setting less that of another, with the 95% interval of Welch's t over seeds."""

    value: float
    lower: float
    upper: float

    @property
    def sign(self) -> int:
        """1 or -1 where the interval lies on one side of 0, else 0."""
        return int(self.lower > 0) - int(self.upper < 0)

    def __str__(self) -> str:
        return f"difference {self.value:+.3f} [{self.lower:+.3f}, {self.upper:+.3f}]"


def difference(first: SmallSetting, second: SmallSetting, number: str) -> SeedDifference:
    """What the second setting has more than the first; as wide as can be with one seed."""
    one, other = first.values(number), second.values(number)
    value = second.mean(number) - first.mean(number)
    if min(len(one), len(other)) < 2:
        return SeedDifference(value, -math.inf, math.inf)
    if max(stats.tstd(one), stats.tstd(other)) == 0:
        return SeedDifference(value, value, value)
    interval = stats.ttest_ind(other, one, equal_var=False).confidence_interval(LEVEL)
    return SeedDifference(value, float(interval.low), float(interval.high))


def _plain(measure: Callable[[Evidence], Mapping[str, float]], model: TrainedModel, sprites: DSprites) -> Numbers:
    return {name: float(value) for name, value in measure(evidence_of(model, sprites)).items()}


def _kinds(sprites: DSprites) -> dict[str, str]:
    return dict(zip(sprites.factor_names, sprites.kinds, strict=True))
