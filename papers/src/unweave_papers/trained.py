"""Encoders that experiments are run on: small trained models and published weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unweave.arrays import student_reach
from unweave.datasets import ColouredShapes, DependentSample, DSprites, small_sprites
from unweave.datasets.dependence import Dependence
from unweave.datasets.interface import GridDataSet
from unweave.encoding import Encoded, encode, read_encoded
from unweave.errors import FileError, InputError
from unweave.evidence import Evidence
from unweave.progress import progress_bar
from unweave_papers.experiment import MeasuredFigure, Options
from unweave_papers.stored import StoredNumbers

if TYPE_CHECKING:
    from unweave.models import Objective, TrainedModel

N_SEEDS, N_STEPS = 5, 8000
BETAS, GAMMAS, TC_BETAS = (1, 4, 16, 32, 64), (10, 40), (8, 64)
CRITIC, HIDDEN = (256, 256, 256), (128, 128)
LEVEL = 0.95
Numbers = dict[str, float]


@dataclass(frozen=True)
class SmallSetting:
    """The results of one setting: a mapping of names to numbers for each seed."""

    name: str
    seeds: tuple[Numbers, ...]

    def values(self, number: str) -> list[float]:
        """Return one number for every seed."""
        return [numbers[number] for numbers in self.seeds]

    def mean(self, number: str) -> float:
        """Return the mean of a number over seeds."""
        return math.fsum(self.values(number)) / len(self.seeds)

    def interval(self, number: str) -> tuple[float, float]:
        """Return Student's 95 % interval of the mean; it is infinite for one seed."""
        values = self.values(number)
        if len(values) < 2:
            return -math.inf, math.inf
        reach = student_reach(float(stats.sem(values)), len(values) - 1, LEVEL)
        return self.mean(number) - reach, self.mean(number) + reach

    def shown(self, number: str) -> str:
        """Format mean and interval."""
        low, high = self.interval(number)
        return f"{self.mean(number):.3f} [{low:.3f}, {high:.3f}]" if math.isfinite(low) else f"{self.mean(number):.3f}"


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


def aae() -> Objective:
    """Return the objective of an AAE with the weight of 001's pictures and a small critic."""
    from unweave.models import AAE

    return AAE(weight=50, critic_hidden=CRITIC)


def coloured_shapes() -> ColouredShapes:
    """Return 3,200 coloured shapes of 24 x 24 pixels, all distinct: a second data set for small models.

    >>> len(coloured_shapes())
    3200
    """
    half, sizes = slice(None, None, 2), slice(1, None, 2)
    return ColouredShapes(24, {"ground hue": half, "shape hue": half, "size": sizes, "x": half})


def annealed_vae(options: Options) -> Objective:
    """Return the objective of an AnnealedVAE whose capacity reaches four nats halfway through training."""
    from unweave.models import AnnealedVAE

    return AnnealedVAE(gamma=100, capacity=4, capacity_steps=(options.n_steps or N_STEPS) / 2)


def trained(
    options: Options,
    objectives: Sequence[Objective],
    n_codes: int = 10,
    images: GridDataSet | None = None,
    hidden: tuple[int, ...] = HIDDEN,
) -> list[TrainedModel]:
    """Train models for all objectives and seeds, or read them from the folder; diverged models are left out.

    The images are the small sprites unless others are given. Reconstructions count as if images had 64 x 64 pixels.
    """
    from unweave.models import MLP, TrainingSettings, train

    images, steps = images or small_sprites(), options.n_steps or N_STEPS
    weight = 64**2 / (images.image_shape[1] * images.image_shape[2])
    kind = "" if images.name == "dsprites" else f"{images.name}-"
    kind += "" if hidden == HIDDEN else "x".join(map(str, hidden)) + "-"
    fleet = train(
        images,
        list(objectives),
        n_seeds=options.n_seeds or N_SEEDS,
        seed=options.seed or 0,
        n_codes=n_codes,
        trunk=MLP(hidden),
        settings=TrainingSettings(
            n_steps=steps, learning_rate=1e-3, reconstruction_weight=weight, checkpoint_every=1000
        ),
        folder=options.folder / f"small-models-{kind}{n_codes}-codes-{steps}-steps",
        progress=options.progress,
    )
    return [model for model in fleet if model.network is not None]


def levels_of(described: DSprites | Encoded) -> dict[str, str]:
    """Return the kinds of the factors as in 001 and 002: categorical or ordinal, and none circular."""
    kinds = zip(described.factor_names, described.kinds, strict=True)
    return {name: "categorical" if kind == "categorical" else "ordinal" for name, kind in kinds}


def evidence_of(model: TrainedModel, sprites: DSprites) -> Evidence:
    """Return evidence of all images, with categorical and ordinal factors as in 001 and 002."""
    names, codes = sprites.factor_names, model.encode(sprites.images())
    return Evidence(sprites.factors(), codes, factor_names=names, kinds=levels_of(sprites))


def measured(
    models: Sequence[TrainedModel],
    label: str,
    measure: Callable[[Evidence], Mapping[str, float]],
    options: Options,
    n_codes: int = 10,
) -> list[SmallSetting]:
    """Return the numbers of every model, grouped by setting; they are computed once and stored."""
    from unweave.models.objectives import setting_name

    sprites = small_sprites()
    by_setting: dict[str, list[Numbers]] = {}
    with progress_bar(len(models), options.progress) as bar:
        for model in models:
            bar.step(f"{label} of {model.name}")
            steps = options.n_steps or N_STEPS
            file = options.folder / "numbers" / f"{model.name}-{n_codes}-codes-{steps}-steps.json"

            def compute(model: TrainedModel = model) -> Numbers:
                return {name: float(value) for name, value in measure(evidence_of(model, sprites)).items()}

            name = setting_name(model.spec.objective)
            by_setting.setdefault(name, []).append(StoredNumbers(file).value(label, compute))
    return [SmallSetting(name, tuple(numbers)) for name, numbers in by_setting.items()]


def difference(first: SmallSetting, second: SmallSetting, number: str) -> MeasuredFigure:
    """Return the second mean minus the first, with Welch's interval; it is infinite if a setting has one seed."""
    one, other = first.values(number), second.values(number)
    value = second.mean(number) - first.mean(number)
    if min(len(one), len(other)) < 2:
        return MeasuredFigure(value, -math.inf, math.inf)
    if max(stats.tstd(one), stats.tstd(other)) == 0:
        return MeasuredFigure(value, value, value)
    interval = stats.ttest_ind(other, one, equal_var=False).confidence_interval(LEVEL)
    return MeasuredFigure(value, float(interval.low), float(interval.high))


# our names of the published models of dSprites to the names of their files
MODELS = {
    "VAE": "VAE_dsprites",
    "beta-VAE": "betaH_dsprites",
    "AnnealedVAE": "betaB_dsprites",
    "FactorVAE": "factor_dsprites",
    "beta-TCVAE": "btcvae_dsprites",
    "beta-TCVAE, MI -5": "btcvae_dsprites_a-5",
    "beta-TCVAE, MI 0": "btcvae_dsprites_a0",
    "beta-TCVAE, MI 5": "btcvae_dsprites_a5",
    "JointVAE": "joint_dsprites",
}

FEWEST_ROWS = 500


def codes_of(
    options: Options,
    n_rows: int,
    models: Sequence[str] = tuple(MODELS),
    dependences: Sequence[Dependence] = (),
    label: str = "independent",
) -> dict[str, Encoded]:
    """Compute or read the codes of ``n_rows`` images by each encoder; the images are the same for all encoders.

    With ``options.codes`` the encoders are the files of that folder, and rows with dependent factors are drawn from
    the rows of these files.
    """
    seed = options.seed or 0
    if options.codes is not None:
        sprites = small_sprites() if options.codes.name == SMALL else DSprites()
        given = _codes_in_folder(options.codes).items()
        return {name: _draw(encoded, sprites, n_rows, dependences, seed) for name, encoded in given}
    folder = options.folder / "codes"
    folder.mkdir(parents=True, exist_ok=True)
    encoded = {}
    for name in models:
        path = folder / f"{MODELS[name]}-{label}-{n_rows}-{seed}.npz"
        encoded[name] = read_encoded(path) if path.exists() else _encode(name, path, n_rows, dependences, options)
    return encoded


SMALL = "small-codes"


def with_small_codes(options: Options) -> Options:
    """Train six small models with one seed, encode all sprites, and return options with the folder of these codes."""
    objectives = {
        "VAE": beta_vaes([1])[0],
        "beta-VAE": beta_vaes([16])[0],
        "AnnealedVAE": annealed_vae(options),
        "FactorVAE": factor_vaes([40])[0],
        "beta-TCVAE": total_correlation_vaes([8])[0],
        "AAE": aae(),
    }
    folder = options.folder / SMALL
    if any(not (folder / f"{name}.npz").exists() for name in objectives):
        folder.mkdir(parents=True, exist_ok=True)
        models = trained(replace(options, n_seeds=1, seed=0), list(objectives.values()))
        for name, objective in objectives.items():
            for model in (model for model in models if model.spec.objective == objective):
                encode(model, small_sprites(), out=folder / f"{name}.npz", progress=options.progress)
    return replace(options, codes=folder)


def models_among(encoders: Mapping[str, Encoded], names: Sequence[str]) -> dict[str, Encoded]:
    """Return the models of these names, or all if none exists: encoders in a folder of codes can have any name."""
    there = {name: encoders[name] for name in names if name in encoders}
    return there or dict(encoders)


def _encode(name: str, path: Path, n_rows: int, dependences: Sequence[Dependence], options: Options) -> Encoded:
    from unweave.neural.published_vaes import read_published

    assert options.weights is not None
    sprites = DSprites()
    images = DependentSample(sprites, dependences) if dependences else sprites
    model = read_published(MODELS[name], options.weights)
    return encode(model, images, out=path, rows=n_rows, seed=options.seed or 0, progress=options.progress)


def _codes_in_folder(folder: Path) -> dict[str, Encoded]:
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise FileError(f"{folder} has no .npz file of codes: write one per encoder with unweave encode.")
    encoders = {path.stem: read_encoded(path) for path in paths}
    first_name, first = next(iter(encoders.items()))
    for name, other in encoders.items():
        if other.factor_names != first.factor_names:
            raise FileError(f"{name} and {first_name} in {folder} have different factors: encode one data set.")
    return encoders


def _draw(encoded: Encoded, sprites: DSprites, n_rows: int, dependences: Sequence[Dependence], seed: int) -> Encoded:
    """Draw rows without replacement, so that no row is in both a training and a test set.

    The few images of the small sprites are drawn with replacement if factors are dependent.
    """
    rng = np.random.default_rng(seed)
    if not dependences:
        return encoded.rows(rng.permutation(encoded.n_rows)[:n_rows])
    weights = DependentSample(sprites, dependences).weights_of(encoded.indices)
    if encoded.n_rows == len(sprites):
        return encoded.rows(rng.choice(encoded.n_rows, size=n_rows, p=weights / weights.sum()))
    kept = np.flatnonzero(rng.uniform(size=encoded.n_rows) * weights.max() <= weights)
    if kept.size < min(FEWEST_ROWS, n_rows):
        raise InputError(
            f"Only {kept.size} of {encoded.n_rows} encoded images are left after drawing dependent factors: encode "
            "more images, or give --weights instead of --codes."
        )
    return encoded.rows(rng.permutation(kept)[:n_rows])


def evidence_of_levels(encoded: Encoded) -> Evidence:
    """Return evidence with categorical and ordinal factors only, as in 001 and 002; no factor is circular."""
    return Evidence(encoded.factors, encoded.codes, factor_names=encoded.factor_names, kinds=levels_of(encoded))


# number of images to the steps between kept orientations and between kept positions
GRIDS: Mapping[int, tuple[int, int]] = {3240: (8, 6), 11_520: (4, 4), 46_080: (4, 2), 184_320: (1, 2), 737_280: (1, 1)}
ORDINALS = {1: "", 2: "second ", 4: "fourth ", 6: "sixth ", 8: "eighth "}


def grid_of(n_images: int) -> DSprites:
    """Return all combinations of shape, scale and a part of the orientations and positions.

    >>> [len(grid_of(n)) == n for n in GRIDS]
    [True, True, True, True, True]
    """
    turns, places = (slice(None, None, every) for every in GRIDS[n_images])
    return DSprites(keep={"orientation": turns, "x": places, "y": places})


def grid_description(n_images: int) -> str:
    """Describe which images of dSprites a grid of this size contains.

    >>> grid_description(46_080), grid_description(184_320)
    ('every fourth orientation and every second position', 'every orientation and every second position')
    """
    turns, places = GRIDS[n_images]
    if turns == places == 1:
        return "all images"
    kept = (f"every {ORDINALS[every]}{name}" for every, name in ((turns, "orientation"), (places, "position")))
    return " and ".join(kept)


def codes_of_grid(options: Options, n_images: int, models: Sequence[str]) -> dict[str, Encoded]:
    """Compute the codes of all images of a grid by published encoders, or read them from ``options.folder``."""
    folder = options.folder / "codes"
    folder.mkdir(parents=True, exist_ok=True)
    encoders = {}
    for name in models:
        path = folder / f"{MODELS[name]}-grid-{n_images}.npz"
        if not path.exists():
            from unweave.neural.published_vaes import read_published

            assert options.weights is not None
            model = read_published(MODELS[name], options.weights)
            encode(model, grid_of(n_images), out=path, progress=options.progress)
        encoders[name] = read_encoded(path)
    return encoders


def rows_of_grid(encoded: Encoded, n_images: int) -> Encoded:
    """Return the rows of encoded images that belong to the grid of ``n_images``, which is coarser.

    The last orientation of dSprites is a full turn and equals the first one; a coarse grid contains it once.
    """
    coarse = grid_of(n_images)
    inside = np.ones(encoded.n_rows, dtype=bool)
    for column, values in zip(encoded.factors.T, coarse.values, strict=True):
        inside &= np.isin(column.round(9), values.round(9))
    rows = np.flatnonzero(inside)
    if all(len(np.unique(values.round(9))) == len(values) for values in coarse.values):
        first = np.unique(encoded.factors[rows].round(9), axis=0, return_index=True)[1]
        rows = rows[np.sort(first)]
    return encoded.rows(rows)
