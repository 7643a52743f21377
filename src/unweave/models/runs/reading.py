"""Read trained models from a folder; their data set is not needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from unweave.models.errors import TrainingError
from unweave.models.model import TrainedModel
from unweave.models.networks import MLP, Convolutional, Trunk
from unweave.models.networks.network import Architecture, Network
from unweave.models.objectives import Custom, Objective, kind_of
from unweave.models.objectives.step import Step
from unweave.models.runs.checkpoints import FORMAT, read_json, read_tensors
from unweave.models.runs.training_file import settings_of
from unweave.models.training.stack import Member

TRUNK_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (MLP, Convolutional)}


def is_folder_of_runs(folder: str | Path) -> bool:
    """Whether a folder was written by training."""
    return (Path(folder) / "run.json").is_file()


def read_runs(folder: str | Path) -> list[TrainedModel]:
    """All models of a folder, by name; ``problem`` gives the reason for models that diverged or are not finished."""
    folder = Path(folder)
    if not is_folder_of_runs(folder):
        raise TrainingError(f"{folder} is not a folder of runs: it has no run.json. Train models into it first.")
    run = read_json(folder / "run.json")
    if run.get("format") != FORMAT:
        raise TrainingError(f"{folder} was written by another version: train its models again.")
    found = [read_model(file.parent, run) for file in sorted(folder.glob("*/model.json"))]
    if not found:
        raise TrainingError(f"{folder} has no models yet: start the training.")
    return found


def read_model(folder: Path, run: Mapping[str, Any]) -> TrainedModel:
    """The model in this folder; ``run`` has the settings that all models of the fleet share."""
    stated = read_json(folder / "model.json")
    member = Member(_objective(stated["objective"]), stated["seed"])
    likelihood = settings_of(run["settings"]).likelihood
    network, problem = None, stated["problem"]
    if stated["status"] == "finished":
        tensors = read_tensors(folder / "weights.safetensors")[0]
        network = Network(_architecture(run, member.objective), _stacked(tensors))
    elif stated["status"] == "training":
        problem = "Its training is not finished: run the same command again to continue."
    return TrainedModel(folder.name, member, network, likelihood, tuple(stated["history"]), problem)


def _objective(stated: Mapping[str, Any]) -> Objective:
    name = stated["name"]
    if name == Custom.name:
        return Custom(_of_another_program)
    kind = kind_of(name)
    values = {entry.name: stated[entry.name] for entry in fields(kind)}
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def _architecture(run: Mapping[str, Any], objective: Objective) -> Architecture:
    stated = dict(run["trunk"])
    kind = TRUNK_KINDS[stated.pop("kind")]
    trunk: Trunk = kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in stated.items()})
    shape = tuple(run["data"]["image_shape"])
    whole = Architecture(trunk, shape, run["n_codes"], objective.category_sizes, objective.critic)
    return replace(whole, critic=None)


def _stacked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor[None] for name, tensor in tensors.items()}


def _of_another_program(step: Step) -> Tensor:
    raise TrainingError("The objective of this model was a user-defined function, which is not stored with the model.")
