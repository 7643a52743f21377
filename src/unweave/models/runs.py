"""Folders of trained models."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

import unweave
from unweave.errors import FileError, OptionError
from unweave.models.objectives import setting_name
from unweave.models.training import ModelSpec, Record, State
from unweave.store import FolderLock
from unweave.whole_files import UNFINISHED, remove_unfinished, write_whole

if TYPE_CHECKING:
    from unweave.models.fleet import FleetPlan

FORMAT = "unweave.runs/1"
SECONDS_OF_A_WRITE = 3600  # codes are written to these folders without the lock
Done = tuple[dict[str, Tensor] | None, list[Record], str | None]


class Folder(FolderLock):
    """The folder of a fleet, locked while it is used in a with statement."""

    def __init__(self, path: Path, plan: FleetPlan) -> None:
        if find_spec("safetensors") is None:
            raise OptionError("Folders of runs need safetensors: install it with pip install 'unweave[torch]'.")
        super().__init__(path)
        stated = {"format": FORMAT, **shared_settings(plan)}
        file = path / "run.json"
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                if any(entry.name != "lock" and not UNFINISHED.fullmatch(entry.name) for entry in path.iterdir()):
                    raise FileError(f"{path} contains files that are not runs: name an empty folder, or a new one.")
                write_json(file, {**stated, "versions": versions()})
        except OSError as error:
            raise FileError(f"{path} cannot be used as a folder of runs: {error.strerror}.") from None
        _refuse_another_run(path, read_json(file), stated)

    def __enter__(self) -> Self:
        super().__enter__()
        for folder in (self.folder, *filter(Path.is_dir, self.folder.iterdir())):
            remove_unfinished(folder, SECONDS_OF_A_WRITE)
        return self

    def begin(self, name: str, spec: ModelSpec, state: State) -> None:
        """Make the model's folder and write its description."""
        (self.folder / name).mkdir(exist_ok=True)
        self._write(name, spec, "training", state)

    def state(self, name: str) -> State:
        """The state of a model's training: its last checkpoint, or the state before the first step if there is none."""
        file = self.folder / name / "checkpoint.safetensors"
        if not file.exists():
            return State()
        tensors, words = read_tensors(file)
        return State(int(words["n_steps"]), tensors, json.loads(words["history"]))

    def checkpoint(self, name: str, state: State) -> None:
        """Write a checkpoint of the model."""
        words = {"n_steps": str(state.n_steps), "history": json.dumps(state.history)}
        write_tensors(self.folder / name / "checkpoint.safetensors", state.tensors, words)

    def finish(self, name: str, spec: ModelSpec, state: State, weights: dict[str, Tensor]) -> None:
        """Write the weights of a model whose training is complete."""
        write_tensors(self.folder / name / "weights.safetensors", weights, {"format": FORMAT})
        self._write(name, spec, "finished", state)
        (self.folder / name / "checkpoint.safetensors").unlink(missing_ok=True)

    def give_up(self, name: str, spec: ModelSpec, state: State, problem: str) -> None:
        """Record that a model has diverged, with the problem as the reason why it has no weights."""
        self._write(name, spec, "diverged", state, problem)
        (self.folder / name / "checkpoint.safetensors").unlink(missing_ok=True)

    def done(self, name: str, spec: ModelSpec) -> Done | None:
        """Weights, history and problem of a model whose training has ended; None for other models."""
        file = self.folder / name / "model.json"
        if not file.exists():
            return None
        model = read_json(file)
        if {"objective": model.get("objective"), "seed": model.get("seed")} != description_of(spec):
            raise FileError(f"{self.folder / name} has a model with other settings: name another folder.")
        if model["status"] == "training":
            return None
        finished = model["status"] == "finished"
        weights = read_tensors(self.folder / name / "weights.safetensors")[0] if finished else None
        return weights, model["history"], model["problem"]

    def _write(self, name: str, spec: ModelSpec, status: str, state: State, problem: str | None = None) -> None:
        content = {"status": status, "problem": problem, "history": state.history, "versions": versions()}
        write_json(self.folder / name / "model.json", description_of(spec) | content)


def shared_settings(plan: FleetPlan) -> dict[str, Any]:
    """The settings that all models of a folder share, as plain data."""
    settings, trunk = plan.settings, plan.trunk
    likelihood = {"kind": type(settings.likelihood).__name__.lower(), **asdict(settings.likelihood)}
    return _plain({
        "data": {name: getattr(plan.images, name) for name in ("name", "fingerprint", "image_shape", "n_rows")},
        "n_codes": plan.n_codes,
        "trunk": {"kind": type(trunk).__name__, **asdict(trunk)},  # type: ignore[call-overload]
        "settings": {**asdict(settings), "likelihood": likelihood},
    })  # fmt: skip


def description_of(spec: ModelSpec) -> dict[str, Any]:
    """Objective and seed of one model, as plain data."""
    return _plain({"objective": {"name": spec.objective.name, **spec.objective.settings()}, "seed": spec.seed})


def versions() -> dict[str, str]:
    """Versions of the libraries that the weights depend on."""
    return {"unweave": unweave.__version__, "torch": str(torch.__version__)}


def write_tensors(file: Path, tensors: dict[str, Tensor], words: dict[str, str]) -> None:
    """Write tensors and a dictionary of texts to a safetensors file."""
    from safetensors.torch import save

    _moved_there(file, save({name: tensor.contiguous() for name, tensor in tensors.items()}, words))


def read_tensors(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and texts of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="pt") as content:
            names = list(content.keys())
            return {name: content.get_tensor(name) for name in names}, content.metadata() or {}
    except (OSError, SafetensorError):
        raise FileError(f"{file} is missing or incomplete: delete the model's folder, and train it again.") from None


def write_json(file: Path, content: Any) -> None:
    """Write plain data to a JSON file."""
    _moved_there(file, (json.dumps(content, indent=1) + "\n").encode())


def read_json(file: Path) -> dict[str, Any]:
    """Plain data of a JSON file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileError(f"{file} is missing or incomplete: name another folder, or delete this one.") from None
    if not isinstance(content, dict):
        raise FileError(f"{file} does not describe a run: name another folder.")
    return content


def _moved_there(file: Path, content: bytes) -> None:
    try:
        write_whole(file, lambda stream: stream.write(content))
    except OSError as error:
        raise FileError(
            f"{file} cannot be written: {error.strerror}; training goes on from the last checkpoint."
        ) from None


def _refuse_another_run(path: Path, run: dict[str, Any], stated: dict[str, Any]) -> None:
    if run.get("format") != FORMAT:
        raise FileError(f"{path} is not a folder of runs that this version can read: name another folder.")
    for part, wanted in stated.items():
        there = run.get(part)
        if there == wanted:
            continue
        difference = f" ({there} there, {wanted} now)"
        if isinstance(there, dict) and isinstance(wanted, dict):
            unequal = (
                f" ({key}: {there.get(key)} there, {wanted[key]} now)"
                for key in wanted
                if there.get(key) != wanted[key]
            )
            difference = next(unequal, "")
        raise FileError(
            f"{path} contains runs with other {part}{difference}: name another folder, or train with the same."
        )


def _plain(content: Any) -> Any:
    """The content after writing it as JSON and reading it again, so that tuples become lists."""
    return json.loads(json.dumps(content))


def distinct_names(specs: Iterable[ModelSpec]) -> list[str]:
    """Names of all models, which are also those of their folders; raises an error if two are equal."""
    names = [f"{setting_name(spec.objective)}-seed={spec.seed}" for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FileError(f"{twice} occurs twice: give every model its own setting or seed.")
    return names
