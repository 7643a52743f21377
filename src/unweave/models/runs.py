"""Folders of trained models."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


class Folder:
    """The folder of a fleet, locked while it is used in a with statement."""

    def __init__(self, path: Path, plan: FleetPlan) -> None:
        _need_safetensors()
        self.path, self._lock = path, FolderLock(path)
        stated = {"format": FORMAT, **described(plan)}
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

    def __enter__(self) -> Folder:
        self._lock.__enter__()
        for folder in (self.path, *filter(Path.is_dir, self.path.iterdir())):
            remove_unfinished(folder, SECONDS_OF_A_WRITE)
        return self

    def __exit__(self, *trouble: object) -> None:
        self._lock.__exit__(*trouble)

    def begin(self, name: str, spec: ModelSpec, state: State) -> None:
        """Make the model's folder and write its description."""
        (self.path / name).mkdir(exist_ok=True)
        self._write(name, spec, "training", state)

    def state(self, name: str) -> State:
        """The state of a model's training: its last checkpoint, or the state before the first step if there is none."""
        file = self.path / name / "checkpoint.safetensors"
        if not file.exists():
            return State()
        tensors, words = read_tensors(file)
        return State(int(words["n_steps"]), tensors, json.loads(words["history"]))

    def checkpoint(self, name: str, state: State) -> None:
        """Write a checkpoint of the model."""
        words = {"n_steps": str(state.n_steps), "history": json.dumps(state.history)}
        write_tensors(self.path / name / "checkpoint.safetensors", state.tensors, words)

    def finish(self, name: str, spec: ModelSpec, state: State, weights: dict[str, Tensor]) -> None:
        """Write the weights of a model whose training is complete."""
        used = {key: tensor for key, tensor in weights.items() if not key.startswith("critic.")}
        write_tensors(self.path / name / "weights.safetensors", used, {"format": FORMAT})
        self._write(name, spec, "finished", state)
        (self.path / name / "checkpoint.safetensors").unlink(missing_ok=True)

    def give_up(self, name: str, spec: ModelSpec, state: State, problem: str) -> None:
        """Record that a model has diverged, with the problem as the reason why it has no weights."""
        self._write(name, spec, "diverged", state, problem)
        (self.path / name / "checkpoint.safetensors").unlink(missing_ok=True)

    def done(self, name: str, spec: ModelSpec) -> Done | None:
        """Weights, history and problem of a model whose training has ended; None for other models."""
        file = self.path / name / "model.json"
        if not file.exists():
            return None
        found = read_json(file)
        if {"objective": found.get("objective"), "seed": found.get("seed")} != description_of(spec):
            raise FileError(f"{self.path / name} has a model with other settings: name another folder.")
        if found["status"] == "training":
            return None
        weights = None
        if found["status"] == "finished":
            weights = read_tensors(self.path / name / "weights.safetensors")[0]
        return weights, found["history"], found["problem"]

    def _write(self, name: str, spec: ModelSpec, status: str, state: State, problem: str | None = None) -> None:
        content = {"status": status, "problem": problem, "history": state.history, "versions": versions()}
        write_json(self.path / name / "model.json", description_of(spec) | content)


def described(plan: FleetPlan) -> dict[str, Any]:
    """The settings that all models of a folder share, as plain data."""
    images, settings = plan.images, plan.settings
    likelihood = {"kind": type(settings.likelihood).__name__.lower(), **asdict(settings.likelihood)}
    trunk: Any = plan.trunk
    return _plain(
        {
            "data": {
                "name": images.name,
                "fingerprint": images.fingerprint,
                "image_shape": images.image_shape,
                "n_rows": images.n_rows,
            },
            "n_codes": plan.n_codes,
            "trunk": {"kind": type(trunk).__name__, **asdict(trunk)},
            "settings": {**asdict(settings), "likelihood": likelihood},
        }
    )


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
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileError(f"{file} is missing or incomplete: name another folder, or delete this one.") from None
    if not isinstance(found, dict):
        raise FileError(f"{file} does not describe a run: name another folder.")
    return found


def _moved_there(file: Path, content: bytes) -> None:
    try:
        write_whole(file, lambda stream: stream.write(content))
    except OSError as error:
        raise FileError(
            f"{file} cannot be written: {error.strerror}; training goes on from the last checkpoint."
        ) from None


def _refuse_another_run(path: Path, found: dict[str, Any], stated: dict[str, Any]) -> None:
    if found.get("format") != FORMAT:
        raise FileError(f"{path} is not a folder of runs that this version can read: name another folder.")
    for part, wanted in stated.items():
        if found.get(part) != wanted:
            raise FileError(
                f"{path} contains runs with other {part}{_difference(found.get(part), wanted)}: name another folder, "
                "or train with the same."
            )


def _difference(found: Any, wanted: Any) -> str:
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        return f" ({found} there, {wanted} now)"
    for key in wanted:
        if found.get(key) != wanted[key]:
            return f" ({key}: {found.get(key)} there, {wanted[key]} now)"
    return ""


def _plain(content: Any) -> Any:
    """The content after writing it as JSON and reading it again, so that tuples become lists."""
    return json.loads(json.dumps(content))


def _need_safetensors() -> None:
    try:
        import safetensors  # noqa: F401
    except ImportError:
        raise OptionError("Folders of runs need safetensors: install it with pip install 'unweave[torch]'.") from None


def model_name(spec: ModelSpec) -> str:
    """Name of a model, which is also that of its folder."""
    return f"{setting_name(spec.objective)}-seed={spec.seed}"


def distinct_names(specs: Iterable[ModelSpec]) -> list[str]:
    """Names of all models; raises an error if two are equal."""
    names = [model_name(spec) for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FileError(f"{twice} occurs twice: give every model its own setting or seed.")
    return names
