"""`train`: many models at once, each with the same result as if it were trained alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import torch

from unweave.errors import InputError, OptionError
from unweave.models.model import TrainedModel
from unweave.models.networks import MLP, Architecture, Bernoulli, Device, Network, Trunk, refuse_missing_device
from unweave.models.objectives import Objective, objective_of
from unweave.models.runs import Folder, distinct_names
from unweave.models.training import ModelSpec, Stack, State, TrainingImages, TrainingSettings, training_images
from unweave.names import explains_options
from unweave.options import checks_options
from unweave.progress import progress_bar
from unweave.randomness import seed_range

MOST_IN_A_STACK = 16  # larger stacks are not faster, because their weights do not fit into the cache


@dataclass(frozen=True, eq=False)
class Fleet(Sequence[TrainedModel]):
    """Models that were trained together, in the order of objectives and seeds."""

    models: tuple[TrainedModel, ...]

    @overload
    def __getitem__(self, place: int) -> TrainedModel: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TrainedModel]: ...
    def __getitem__(self, place: int | slice) -> TrainedModel | Sequence[TrainedModel]:
        return self.models[place]

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        return f"Fleet({len(self.models)} models, from {self.models[0].name} to {self.models[-1].name})"

    @property
    def problems(self) -> list[str]:
        """One sentence for every model without weights, with the reason."""
        return [f"{model.name}: {model.problem}" for model in self.models if model.problem]


@dataclass(frozen=True, eq=False)
class FleetPlan:
    """The images, sizes, settings and device that all models of a fleet share."""

    images: TrainingImages
    n_codes: int
    trunk: Trunk
    settings: TrainingSettings
    device: Device = "cpu"

    def architecture(self, objective: Objective) -> Architecture:
        """Architecture of the models with this objective."""
        return Architecture(
            self.trunk, self.images.image_shape, self.n_codes, objective.category_sizes, objective.critic
        )


@explains_options
@checks_options
def train(
    data: Any,
    objectives: Any = "vae",
    *,
    n_seeds: int = 1,
    seed: int = 0,
    n_codes: int = 10,
    trunk: Trunk = MLP(),  # noqa: B008 - a frozen value
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - a frozen value
    folder: str | Path | None = None,
    device: Device = "cpu",
    progress: bool = True,
) -> Fleet:
    """Train models with every objective and every seed.

    Models whose objectives differ only in hyperparameters are computed together, with one batched product per layer. A
    model draws its weights, batches and noise from its own seed, so that its result does not depend on which other
    models are trained at the same time. All computation uses one thread.

    Parameters
    ----------
    data : data set, array, or pair (images, factors)
        Images between 0 and 1: n x pixels, n x height x width, or n x channels x height x width.
    objectives : name, objective, function, or list of these
        A name stands for the default hyperparameters. A function receives a `Step` and returns one loss per model.
    n_seeds : int
        Number of models for every objective, each with its own seed.
    seed : int
        The first seed; the others follow it.
    n_codes : int
        Number of Gaussian codes.
    trunk : Trunk
        Encoder and decoder: ``MLP()`` or ``Convolutional()``.
    settings : TrainingSettings
        Steps, batches, learning rate, likelihood.
    folder : path, optional
        Where checkpoints and finished models are written. After an interruption the same call continues, and finished
        models are read.
    device : str or torch.device
        Where the models are computed, such as ``"cuda"``. Random numbers are drawn on the CPU, so that a seed gives the
        same initial weights, batches and noise on every device. A training may continue on another device.
    progress : bool
        Show a bar with the time left, on terminals and in notebooks, after two seconds.

    Returns
    -------
    Fleet
        The models; one that diverged has a ``problem`` in place of weights.

    Examples
    --------
    >>> import numpy as np
    >>> images = (np.random.default_rng(0).random((20, 8, 8)) > 0.5).astype(float)
    >>> short = TrainingSettings(n_steps=3, batch_size=8)
    >>> from unweave.models import BetaVAE
    >>> fleet = train(images, [BetaVAE(beta=1), BetaVAE(beta=4)], n_seeds=2, n_codes=3, settings=short)
    >>> [model.name for model in fleet][:2]
    ['beta_vae-beta=1-seed=0', 'beta_vae-beta=1-seed=1']
    >>> fleet[0].encode(images).mean.shape
    (20, 3)

    A user-defined objective is a function:

    >>> def half_kl(step):
    ...     return step.reconstruction + 0.5 * step.kl
    >>> train(images, half_kl, n_codes=3, settings=short)[0].name
    'custom-half_kl-seed=0'
    """
    if isinstance(n_codes, bool) or not isinstance(n_codes, int) or n_codes < 1:
        raise OptionError(f"n_codes={n_codes!r} is not a whole number above 0.")
    refuse_missing_device(device)
    plan = FleetPlan(training_images(data), n_codes, trunk, settings, device)
    several = list(objectives) if isinstance(objectives, (list, tuple)) else [objectives]
    if not several:
        raise OptionError("There is no objective: name at least one.")
    seeds = seed_range(n_seeds, seed)
    specs = [ModelSpec(objective, seed) for objective in map(objective_of, several) for seed in seeds]
    by_name = dict(zip(distinct_names(specs), specs, strict=True))
    _refuse_what_cannot_work(plan, specs)
    stored = None if folder is None else Folder(Path(folder), plan)
    models: dict[str, TrainedModel] = {}
    waiting: dict[str, tuple[ModelSpec, State]] = {}
    with _one_thread(), stored or nullcontext():
        for name, spec in by_name.items():
            done = None if stored is None else stored.done(name, spec)
            if done is None:
                waiting[name] = spec, State() if stored is None else stored.state(name)
            else:
                weights, history, problem = done
                models[name] = _model(plan, name, spec, State(history=history), weights, problem)
        n_before = sum(state.n_steps for _, state in waiting.values())
        with progress_bar(len(waiting) * settings.n_steps, progress, n_before, "training") as bar:
            models |= _models_as_they_end(plan, waiting, stored, bar.advance)
    return Fleet(tuple(models[name] for name in by_name))


def _models_as_they_end(
    plan: FleetPlan, waiting: dict[str, tuple[ModelSpec, State]], stored: Folder | None, advance: Callable[[int], None]
) -> Iterator[tuple[str, TrainedModel]]:
    """Yield every model when its training ends. Stacks take turns, so all models progress at about the same rate."""
    stacks = [(names, _stack(plan, [waiting[name] for name in names])) for names in _together(waiting)]
    if stored is not None:
        for name, (spec, state) in waiting.items():
            stored.begin(name, spec, state)
    while stacks:
        names, stack = stacks.pop(0)
        due = min(plan.settings.checkpoint_every, plan.settings.n_steps - stack.n_steps)
        n_before = stack.n_steps
        lost = stack.advance(due)
        advance((stack.n_steps - n_before) * len(names))
        states = stack.states()
        for m in lost:
            advance(plan.settings.n_steps - stack.n_steps)
            yield names[m], _ended_model(plan, names[m], stack.specs[m], states[m], stored, True)
        left = [m for m in range(len(names)) if m not in lost]
        is_done = stack.n_steps == plan.settings.n_steps
        for m in left:
            if is_done:
                yield names[m], _ended_model(plan, names[m], stack.specs[m], states[m], stored, False)
            elif stored is not None and stack.n_steps % plan.settings.checkpoint_every == 0:
                stored.checkpoint(names[m], states[m])
        if left and not is_done:
            if lost:
                stack = _stack(plan, [(stack.specs[m], states[m]) for m in left])
            stacks.append(([names[m] for m in left], stack))


def _together(waiting: dict[str, tuple[ModelSpec, State]]) -> list[list[str]]:
    """Names of models to stack: with equal kinds of objective, fixed fields and numbers of steps done; at most 16."""
    groups: dict[Any, list[str]] = {}
    for name, (spec, state) in waiting.items():
        groups.setdefault((spec.objective.structure(), state.n_steps), []).append(name)
    return [
        group[start : start + MOST_IN_A_STACK]
        for group in groups.values()
        for start in range(0, len(group), MOST_IN_A_STACK)
    ]


def _stack(plan: FleetPlan, some: Sequence[tuple[ModelSpec, State]]) -> Stack:
    specs, states = zip(*some, strict=True)
    return Stack(specs, states, plan.images, plan.architecture(specs[0].objective), plan.settings, plan.device)


def _ended_model(
    plan: FleetPlan, name: str, spec: ModelSpec, state: State, stored: Folder | None, diverged: bool
) -> TrainedModel:
    """The model of a training that ended, which the folder records."""
    if diverged:
        advice = "lower the learning rate or the weights of the objective"
        problem = f"The loss is not finite at step {state.n_steps}: {advice}."
        if stored is not None:
            stored.give_up(name, spec, state, problem)
        return _model(plan, name, spec, state, None, problem)
    # the moments of Adam and the critic are needed for training only
    kept = [key for key in state.tensors if key.startswith("weights.") and not key.startswith("weights.critic.")]
    weights = {key.removeprefix("weights."): state.tensors[key] for key in kept}
    if stored is not None:
        stored.finish(name, spec, state, weights)
    return _model(plan, name, spec, state, weights, None)


def _model(
    plan: FleetPlan, name: str, spec: ModelSpec, state: State, weights: Any, problem: str | None
) -> TrainedModel:
    network = None
    if weights is not None:
        architecture = replace(plan.architecture(spec.objective), critic=None)
        network = Network(architecture, {key: tensor[None].to(plan.device) for key, tensor in weights.items()})
    return TrainedModel(name, spec, network, plan.settings.likelihood, tuple(state.history), problem)


def _refuse_what_cannot_work(plan: FleetPlan, specs: Sequence[ModelSpec]) -> None:
    for spec in specs:
        objective = spec.objective
        plan.architecture(objective).layers()
        n_values = plan.images.n_values
        if objective.pairs and (n_values is None or len(n_values) < 2):
            raise InputError(
                f"{objective.name} needs pairs of images that share factors, and {plan.images.name} does not have all "
                "combinations of two or more factors: pass a data set of all combinations, or (images, factors)."
            )
    if isinstance(plan.settings.likelihood, Bernoulli):
        some = plan.images.rows(torch.arange(min(plan.images.n_rows, 1000)))
        if float(some.min()) < 0 or float(some.max()) > 1:
            raise InputError(
                f"Pixels range from {float(some.min()):g} to {float(some.max()):g}, and a Bernoulli likelihood "
                "needs 0 to 1: scale the images (bytes by 1/255), or use a Gaussian likelihood."
            )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch to one thread: sums keep their order, and more threads can be much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
