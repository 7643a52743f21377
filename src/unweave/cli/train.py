"""Commands that train and encode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unweave.cli.terminal import (
    A_PATH,
    check_writable,
    json_option,
    one_sentence_errors,
    option,
    print_json,
    print_wide,
    resumable,
)
from unweave.errors import OptionError

if TYPE_CHECKING:
    from unweave.datasets import DataSet
    from unweave.models import TrainedModel


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("objective", metavar="OBJECTIVE|FILE.toml")
@click.argument("dataset", required=False)
@click.argument("hyperparameters", nargs=-1, type=click.UNPROCESSED)
@option("--out", "Folder of the runs.", A_PATH, required=True)
@option("--seeds N", "Number of seeds.", click.IntRange(1, 10_000), default=1)
@option("--steps N", "Number of training steps.", int, default=8000)
@option("--codes N", "Number of Gaussian codes.", int, default=10)
@option("--batch-size N", "Number of images per step.", int, default=64)
@option("--learning-rate X", "Learning rate of Adam.", float, default=1e-4)
@option(
    "--reconstruction-weight X",
    "Weight of the reconstruction loss; 4096 / pixels weights small images like those of 64 x 64.",
    float,
    default=1.0,
)
@option("--trunk", "Architecture of encoder and decoder.", click.Choice(["mlp", "conv"]), default="mlp")
@option("--path", "Folder or file of DATASET, if it is read from files.", A_PATH)
@option("--size", "Height and width of the images, for data sets that are rendered.", click.IntRange(1))
@option("--device", "Device of torch, such as cuda; by default cpu, or what FILE.toml declares.")
@option(
    "--pictures/--no-pictures",
    "Whether to draw losses, reconstructions and traversals as .png files.",
    default=True,
    show_default=False,
)
@json_option
def train(objective: str, dataset: str | None, out: Path, as_json: bool, **options: Any) -> None:
    """Train models with OBJECTIVE on DATASET, one for every hyperparameter value and every seed.

    Hyperparameters are options with values separated by commas: --beta 1,4,16. Layer sizes are written as 256x256. All
    models are trained together, with the same results as if each were trained alone. After an interruption, the same
    command continues. A file FILE.toml in place of OBJECTIVE declares several objectives at once.

    Example: unweave train beta_vae small_sprites --beta 1,4,16 --seeds 3 --out runs
    """
    with one_sentence_errors():
        declared = _training_declaration(objective, dataset, options)
        with resumable():
            fleet = declared.run(out, progress=True)
        for problem in fleet.problems:
            click.echo(problem, err=True)
        n_finished = sum(model.network is not None for model in fleet)
        click.echo(f"wrote {out}: {n_finished} of {len(fleet)} models trained", err=as_json)
        if options["pictures"]:
            _draw(out, fleet, declared.dataset.loaded(), as_json)
        if as_json:
            models = [{"name": model.name, "problem": model.problem or None} for model in fleet]
            print_json("train", wrote=[str(out)], models=models)
        if not n_finished:
            raise SystemExit(1)


def _training_declaration(objective: str, dataset: str | None, options: dict[str, Any]) -> Any:
    try:
        from unweave.models.training import TrainingSettings
        from unweave.models.training_file import (
            DataSetChoice,
            TrainingDeclaration,
            objective_grid,
            read_declaration,
            trunk_of,
        )
    except ImportError as error:
        raise OptionError(str(error)) from None
    if objective.endswith(".toml"):
        if dataset is not None:
            raise OptionError(f"{objective} declares the data set and all settings: name only --out beside it.")
        declared = read_declaration(objective)
        return declared if options["device"] is None else replace(declared, device=options["device"])
    if dataset is None or dataset.startswith("-"):
        raise OptionError("There is no data set: name one after the objective, such as small_sprites.")
    values = _values(options["hyperparameters"])
    path = None if options["path"] is None else str(options["path"])
    choice = DataSetChoice(dataset, path, options["size"])
    objectives = tuple(objective_grid(objective, values))
    images = choice.loaded()
    sizes = {"kind": "conv", "channels": _channels(images.image_shape[1])} if options["trunk"] == "conv" else "mlp"
    settings = TrainingSettings(
        n_steps=options["steps"],
        batch_size=options["batch_size"],
        learning_rate=options["learning_rate"],
        reconstruction_weight=options["reconstruction_weight"],
    )
    return TrainingDeclaration(
        choice, objectives, options["seeds"], 0, options["codes"], trunk_of(sizes), settings, options["device"] or "cpu"
    )


def _channels(side: int) -> tuple[int, ...]:
    """Channels of the convolutions that reduce a square image, ``side`` pixels wide, to 4 x 4."""
    return (32, 32, 64, 64)[: max(1, side.bit_length() - 3)]


def _values(given: tuple[str, ...]) -> dict[str, list[Any]]:
    """Values of hyperparameters, from ``--name values`` or ``--name=values``."""
    words: list[str] = []
    for word in given:
        words += word.split("=", 1) if word.startswith("--") else [word]
    if len(words) % 2 or not all(name.startswith("--") for name in words[::2]):
        raise OptionError(f"{' '.join(given)!r} are not hyperparameters: write --beta 1,4,16.")
    return {
        name.removeprefix("--").replace("-", "_"): [_value(one) for one in text.split(",")]
        for name, text in zip(words[::2], words[1::2], strict=True)
    }


def _value(text: str) -> Any:
    try:
        if "x" in text:
            return tuple(int(part) for part in text.split("x"))
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise OptionError(f"{text!r} is not a number, nor sizes of layers such as 256x256.") from None


def _draw(out: Path, fleet: Any, dataset: Any, as_json: bool) -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        click.echo("There are no pictures, because matplotlib is not installed: install unweave[report].", err=True)
        return
    from unweave.report.figures.curves import draw_runs

    n_pictures = len(list(draw_runs(out, fleet.models, dataset)))
    click.echo(
        f"wrote {n_pictures} pictures: losses.png, reconstructions.png and traversals.png of every model", err=as_json
    )


def encode_folder(folder: Path, images: DataSet, options: dict[str, Any]) -> list[Path]:
    """Write the codes of every model of a folder next to its weights; existing codes are replaced."""
    from unweave.encoding import encode

    written = []
    for model in _models(folder):
        if model.network is None:
            click.echo(f"{model.name}: {model.problem}", err=True)
            continue
        out = folder / model.name / "codes.npz"
        chosen = {name: options[name] for name in ("rows", "seed", "batch_size")}
        encoded = encode(_on_device(model, options["device"]), images, out=out, **chosen, progress=True)
        written.append(out)
        click.echo(f"wrote {out}: {encoded.n_rows} images, {encoded.means.shape[1]} codes", err=options["as_json"])
    return written


def _on_device(model: Any, device: str | None) -> Any:
    if device is None:
        return model
    if not hasattr(model, "to"):
        raise OptionError(f"The model cannot be moved to {device!r}, because it is not of torch: omit --device.")
    from unweave.models.networks import refuse_missing_device

    refuse_missing_device(device)
    return model.to(device)


def compare_folder(folder: Path, metrics: list[str], as_json: bool) -> None:
    """Print the comparison of the models of a folder."""
    models = _models(folder)
    from unweave.progress import progress_bar
    from unweave.report.tables import runs_table
    from unweave.sweeps.trained_models import compared_runs

    with progress_bar(len(models), True) as bar:
        comparison = compared_runs(models, training_data(folder), metrics=metrics or None, watch=bar.step)
    if as_json:
        from unweave.codec import plain_data

        print_json("runs", **plain_data(comparison))
        return
    print_wide(runs_table(comparison))
    click.echo("Mean ± standard deviation over seeds; settings that share a letter do not differ significantly.")


def training_data(folder: Path) -> DataSet:
    """The data set that the models of a folder were trained on."""
    with _needing_torch():
        from unweave.models.training_file import data_set_of

        return data_set_of(folder)


def _models(folder: Path) -> list[TrainedModel]:
    with _needing_torch():
        from unweave.models.training_file import read_runs

        return read_runs(folder)


@contextmanager
def _needing_torch() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise OptionError(str(error)) from None


@click.command()
@click.argument("model")
@click.argument("dataset", required=False)
@option("--out", "File to write (.npz).", A_PATH)
@option("--weights", "Folder of published weights; MODEL is a name in it.", A_PATH)
@option("--path", "Folder or file of DATASET, if it is read from files.", A_PATH)
@option("--size", "Height and width of the images, for data sets that are rendered.", click.IntRange(1))
@option("--rows", "Number of images to draw at random, instead of all images.", click.IntRange(1))
@option("--dependence TEXT", "Draw images with dependent factors: x~y:0.1 (sigma), shape~*:0.2, or y=cube(x).")
@option("--seed", "Seed of the random images.", int, default=0)
@option("--batch-size", "Number of images per batch.", click.IntRange(1), default=250)
@option("--spread", "What the model returns as second output, after the mean.", click.Choice(["std", "log_variance"]))
@option("--device", "Device of torch, such as cuda; by default that of the model's weights.")
@json_option
def encode(model: str, dataset: str | None, **options: Any) -> None:
    """Encode the images of DATASET with MODEL, and write a file for score and compare.

    MODEL is a function or torch module as module:name, which runs the code of the module, or published weights (an
    .npz file, or a name with --weights). It may also be a folder that train wrote. The codes of every model are then
    written next to its weights; the images are those that it was trained on, unless you name DATASET. An interrupted
    encoding continues when the same command is given again.
    """
    with one_sentence_errors():
        is_folder = Path(model).is_dir()
        if not is_folder and (dataset is None or options["out"] is None):
            missing = "DATASET" if dataset is None else "--out"
            raise click.UsageError(f"{missing} is missing: it may be left out for a folder of runs only.")
        check_writable(options["out"])
        from unweave.datasets import DependentSample, load
        from unweave.datasets.dependence import dependences_from_text
        from unweave.encoding import encode as encode_images
        from unweave.encoding import named_model

        size = {} if options["size"] is None else {"size": options["size"]}
        images = training_data(Path(model)) if dataset is None else load(dataset, options["path"], **size)
        if options["dependence"]:
            images = DependentSample(images, dependences_from_text(options["dependence"]))
        with resumable():
            if is_folder:
                written = encode_folder(Path(model), images, options)
                if options["as_json"]:
                    print_json("files", wrote=list(map(str, written)))
                return
            moved = _on_device(named_model(model, options["weights"]), options["device"])
            chosen = {name: options[name] for name in ("out", "rows", "seed", "batch_size", "spread")}
            encoded = encode_images(moved, images, **chosen, progress=True)
        sizes = f"{encoded.n_rows} images, {encoded.means.shape[1]} codes, {len(encoded.factor_names)} factors"
        click.echo(f"wrote {options['out']}: {sizes}", err=options["as_json"])
        if options["as_json"]:
            print_json("files", wrote=[str(options["out"])])
