"""TOML files that describe trainings, and the folders they were run in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from torch import Tensor

from unweave.datasets import DataSet, load
from unweave.errors import FileError, OptionError
from unweave.models.fleet import Fleet, train
from unweave.models.model import TrainedModel
from unweave.models.networks import LIKELIHOODS, TRUNKS, Architecture, Network, Trunk
from unweave.models.objectives import Custom, Objective, Step, kind_of
from unweave.models.runs import FORMAT, read_json, read_tensors, write_json
from unweave.models.training import ModelSpec, TrainingSettings
from unweave.names import option_suggestion, suggestion
from unweave.whole_files import read_toml

KEYS = ("dataset", "objectives", "n_seeds", "seed", "n_codes", "trunk", "training", "device")


@dataclass(frozen=True)
class DataSetChoice:
    """The name of a data set, the path of its files, and the size of its images."""

    name: str
    path: str | None = None
    size: int | None = None

    def loaded(self) -> DataSet:
        """Load the data set."""
        return load(self.name, self.path, **({} if self.size is None else {"size": self.size}))


@dataclass(frozen=True)
class TrainingDeclaration:
    """Everything that a file states about the training, so that it can be repeated."""

    dataset: DataSetChoice
    objectives: tuple[Objective, ...]
    n_seeds: int = 1
    seed: int = 0
    n_codes: int = 10
    trunk: Trunk = field(default_factory=TRUNKS["mlp"])
    settings: TrainingSettings = TrainingSettings()  # noqa: RUF009 - frozen
    device: str = "cpu"

    def run(self, folder: Path, *, progress: bool = True) -> Fleet:
        """Train all models into a folder, which also stores the name of their data set."""
        options = {name: stated for name, stated in vars(self).items() if name not in ("dataset", "objectives")}
        fleet = train(self.dataset.loaded(), list(self.objectives), folder=folder, progress=progress, **options)
        if not (folder / "dataset.json").exists():
            write_json(folder / "dataset.json", asdict(self.dataset))
        return fleet


def data_set_of(folder: Path) -> DataSet:
    """The data set that the models of a folder were trained on."""
    if not (folder / "run.json").is_file():
        read_runs(folder)  # says that it is no folder of runs
    file = folder / "dataset.json"
    if not file.exists():
        raise FileError(
            f"{folder} does not state the data set, as for models that were trained on images of your own: encode them "
            "in Python with unweave.encode(model, images, factors, out=...) for each model of "
            "unweave.models.read_runs(folder), and compare the files."
        )
    return DataSetChoice(**read_json(file)).loaded()


def read_declaration(path: str | Path) -> TrainingDeclaration:
    """The training that a TOML file declares."""
    return read_toml(Path(path), declared_training)


def declared_training(declared: Mapping[str, Any]) -> TrainingDeclaration:
    """The training that a mapping, as read from TOML, declares; lists of a hyperparameter's values are swept.

    >>> declared = declared_training(
    ...     {"dataset": "small_sprites", "n_seeds": 2, "objectives": [{"name": "beta_vae", "beta": [1, 4]}]}
    ... )
    >>> declared.objectives
    (BetaVAE(beta=1), BetaVAE(beta=4))
    """
    _refuse_unknown(declared, KEYS, "a training")
    for key in ("dataset", "objectives"):
        if not declared.get(key):
            raise OptionError(f"{key!r} is missing: add it to the training.")
    dataset = declared["dataset"]
    choice = DataSetChoice(dataset) if isinstance(dataset, str) else _made(DataSetChoice, dataset, "dataset")
    entries = declared["objectives"]
    if not isinstance(entries, list) or not all(isinstance(entry, (str, Mapping)) for entry in entries):
        raise OptionError("objectives are not a list of names or of tables with a name: write [[objectives]].")
    return TrainingDeclaration(
        choice,
        tuple(itertools.chain.from_iterable(map(_declared_objectives, entries))),
        declared.get("n_seeds", 1),
        declared.get("seed", 0),
        declared.get("n_codes", 10),
        trunk_of(declared.get("trunk", "mlp")),
        settings_of(declared.get("training", {})),
        str(declared.get("device", "cpu")),
    )


def objective_grid(name: str, values: Mapping[str, Iterable[Any]]) -> list[Objective]:
    """Objectives with this name, one for every combination of the values given for its fields.

    >>> objective_grid("factor_vae", {"gamma": [10, 40], "critic_hidden": [(256, 256)]})[1].gamma
    40
    """
    kind = kind_of(name)
    _refuse_unknown(values, [entry.name for entry in fields(kind)], name)
    return [kind(**dict(zip(values, combination, strict=True))) for combination in itertools.product(*values.values())]


def trunk_of(stated: Any) -> Trunk:
    """A trunk by its name, or by a mapping with its kind and sizes."""
    given = {"kind": stated} if isinstance(stated, str) else dict(stated)
    name = given.pop("kind", "mlp")
    if name not in TRUNKS:
        raise OptionError(f"There is no trunk {name!r}: {suggestion(str(name), TRUNKS)}")
    return _made(TRUNKS[name], given, "trunk")


def settings_of(stated: Mapping[str, Any]) -> TrainingSettings:
    """Training settings from plain data, in which the likelihood is given by its name."""
    given = dict(stated)
    likelihood = given.get("likelihood", "bernoulli")
    parts = {"kind": likelihood} if isinstance(likelihood, str) else dict(likelihood)
    name = parts.pop("kind", "bernoulli")
    if name not in LIKELIHOODS:
        raise OptionError(f"There is no likelihood {name!r}: {suggestion(str(name), LIKELIHOODS)}")
    given["likelihood"] = _made(LIKELIHOODS[name], parts, "likelihood")
    return _made(TrainingSettings, given, "training")


def _declared_objectives(entry: str | Mapping[str, Any]) -> list[Objective]:
    if isinstance(entry, str):
        return objective_grid(entry, {})
    if not isinstance(entry.get("name"), str):
        raise OptionError('An objective has no name: write name = "beta_vae" in every [[objectives]].')
    kind = kind_of(entry["name"])
    _refuse_unknown(entry, ["name", *(part.name for part in fields(kind))], entry["name"])
    values = {}
    for part in fields(kind):
        if part.name in entry:
            given = entry[part.name]
            several = given if isinstance(given, list) else [given]
            if isinstance(part.default, tuple):  # a value is a list itself, so that several are a list of lists
                lists = several if several and isinstance(several[0], list) else [several]
                values[part.name] = [tuple(one) for one in lists]
            else:
                values[part.name] = several
    return objective_grid(entry["name"], values)


def _made(kind: Any, given: Mapping[str, Any], what: str) -> Any:
    if not isinstance(given, Mapping):
        raise OptionError(f"{what} = {given!r} is not a table of settings.")
    _refuse_unknown(given, [entry.name for entry in fields(kind)], what)
    return kind(**_with_tuples(given))


def _with_tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}


def _refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    known = list(known)
    for key in given:
        if key not in known:
            raise OptionError(f"{key!r} is not a setting of {what}: {option_suggestion(key, known)}")


def read_runs(folder: str | Path) -> list[TrainedModel]:
    """All models of a folder, by name; ``problem`` gives the reason for models that diverged or are not finished."""
    folder = Path(folder)
    if not (folder / "run.json").is_file():
        raise FileError(
            f"{folder} is not a folder that unweave train wrote: name the files of codes in it (compare a.npz b.npz), "
            "and make them with unweave encode module:name, or with unweave.encode(model, images) in Python."
        )
    run = read_json(folder / "run.json")
    if run.get("format") != FORMAT:
        raise FileError(f"{folder} was written by another version: train its models again.")
    models = [read_model(file.parent, run) for file in sorted(folder.glob("*/model.json"))]
    if not models:
        raise FileError(f"{folder} has no models yet: start the training.")
    return models


def read_model(folder: Path, run: Mapping[str, Any]) -> TrainedModel:
    """The model in this folder; ``run`` has the settings that all models of the fleet share."""
    stated = read_json(folder / "model.json")
    objective = _objective(stated["objective"])
    likelihood = settings_of(run["settings"]).likelihood
    network, problem = None, stated["problem"]
    if stated["status"] == "finished":
        sizes = dict(run["trunk"])
        kind: Any = {trunk.__name__: trunk for trunk in TRUNKS.values()}[sizes.pop("kind")]
        shape = tuple(run["data"]["image_shape"])
        architecture = Architecture(kind(**_with_tuples(sizes)), shape, run["n_codes"], objective.category_sizes)
        tensors = read_tensors(folder / "weights.safetensors")[0]
        network = Network(architecture, {name: tensor[None] for name, tensor in tensors.items()})
    elif stated["status"] == "training":
        problem = "Its training is not finished: run the same command again to continue."
    spec = ModelSpec(objective, stated["seed"])
    return TrainedModel(folder.name, spec, network, likelihood, tuple(stated["history"]), problem)


def _objective(stated: Mapping[str, Any]) -> Objective:
    if stated["name"] == Custom.name:
        return Custom(_of_another_program)
    kind = kind_of(stated["name"])
    return kind(**_with_tuples({entry.name: stated[entry.name] for entry in fields(kind)}))


def _of_another_program(step: Step) -> Tensor:
    raise OptionError("The objective of this model was a user-defined function, which is not stored with the model.")
