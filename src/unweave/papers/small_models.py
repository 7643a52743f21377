"""Small models with several seeds, for the claims of papers 001, 002 and 004 about seeds and hyperparameters.

The data are 4,608 sprites of 16 x 16 pixels (three shapes, six scales, 16 x 16 positions, no rotation). The models are
MLPs with two layers of 128 units and ten codes, trained by 8,000 steps of Adam at 1e-3. The reconstruction is weighted
as if images had 64 x 64 pixels. Sixty models take ten minutes on one core. The papers trained convolutional networks on
all of dSprites for 100 to 500 times as long, so only the direction of effects is compared, and not their size.
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
    """The results of one setting: a mapping of names to numbers for each seed."""

    name: str
    seeds: tuple[Numbers, ...]

    def values(self, number: str) -> list[float]:
        """Return one number for every seed."""
        return [found[number] for found in self.seeds]

    def mean(self, number: str) -> float:
        """Return the mean of a number over seeds."""
        return math.fsum(self.values(number)) / len(self.seeds)

    def interval(self, number: str) -> tuple[float, float]:
        """Return Student's 95 % interval of the mean; it is infinite for one seed."""
        values = self.values(number)
        if len(values) < 2:
            return -math.inf, math.inf
        reach = float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1)) * stats.sem(values)
        return self.mean(number) - reach, self.mean(number) + reach

    def shown(self, number: str) -> str:
        """Format mean and interval."""
        low, high = self.interval(number)
        return f"{self.mean(number):.3f} [{low:.3f}, {high:.3f}]" if math.isfinite(low) else f"{self.mean(number):.3f}"


def settings_of(options: Options) -> TrainingSettings:
    """Return the settings of the training."""
    from unweave.models import TrainingSettings

    n_steps = options.n_steps or N_STEPS
    return TrainingSettings(n_steps=n_steps, learning_rate=1e-3, reconstruction_weight=16.0, checkpoint_every=1000)


def beta_vaes(betas: Iterable[float] = BETAS) -> list[Objective]:
    """Return the objectives of beta-VAEs with these weights."""
    from unweave.models import BetaVAE

    return [BetaVAE(beta=beta) for beta in betas]


def factor_vaes(gammas: Iterable[float] = GAMMAS) -> list[Objective]:
    """Return the objectives of FactorVAEs with these weights and a small critic."""
    from unweave.models import FactorVAE

    return [FactorVAE(gamma=gamma, critic_hidden=CRITIC) for gamma in gammas]


def total_correlation_vaes(betas: Iterable[float] = TC_BETAS) -> list[Objective]:
    """Return the objectives of beta-TCVAEs with these weights."""
    from unweave.models import BetaTCVAE

    return [BetaTCVAE(beta=beta) for beta in betas]


def annealed_vae(options: Options) -> Objective:
    """Return the objective of an AnnealedVAE whose capacity reaches four nats halfway through training."""
    from unweave.models import AnnealedVAE

    return AnnealedVAE(gamma=100, capacity=4, capacity_steps=(options.n_steps or N_STEPS) / 2)


def trained(options: Options, objectives: Sequence[Objective], n_codes: int = 10) -> list[TrainedModel]:
    """Train models for all objectives and seeds, or read them from the folder; diverged models are left out."""
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
    """Return evidence of all images, with categorical and ordinal factors as in 001 and 002."""
    kinds = {name: "categorical" if kind == "categorical" else "ordinal" for name, kind in _kinds(sprites).items()}
    return Evidence(sprites.factors(), model.encode(sprites.images()), factor_names=sprites.factor_names, kinds=kinds)


def measured(
    models: Sequence[TrainedModel],
    label: str,
    measure: Callable[[Evidence], Mapping[str, float]],
    options: Options,
    n_codes: int = 10,
) -> list[SmallSetting]:
    """Return the numbers of every model, grouped by setting; they are computed once and stored."""
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
    """Difference of the means of two settings, with Welch's 95 % interval over seeds."""

    value: float
    lower: float
    upper: float

    @property
    def sign(self) -> int:
        """Sign of the difference if its interval excludes 0, else 0."""
        return int(self.lower > 0) - int(self.upper < 0)

    def __str__(self) -> str:
        return f"difference {self.value:+.3f} [{self.lower:+.3f}, {self.upper:+.3f}]"


def difference(first: SmallSetting, second: SmallSetting, number: str) -> SeedDifference:
    """Return the second mean minus the first; the interval is infinite if a setting has one seed."""
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
