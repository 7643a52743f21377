"""The command `encode`: compute the codes of a data set with a model, and write them to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unweave.cli.runs_folder import encode_folder, training_data
from unweave.cli.terminal import check_writable, one_sentence_errors, resumable


@click.command()
@click.argument("model")
@click.argument("dataset", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="File to write (.npz).")
@click.option("--weights", type=click.Path(path_type=Path), help="Folder of published weights; MODEL is a name in it.")
@click.option("--path", type=click.Path(path_type=Path), help="Folder or file of DATASET, if it is read from files.")
@click.option("--size", type=click.IntRange(1), help="Height and width of the images, for data sets that are rendered.")
@click.option("--rows", type=click.IntRange(1), help="Number of images to draw at random, instead of all images.")
@click.option(
    "--dependence",
    metavar="TEXT",
    help="Draw images with dependent factors: x~y:0.1 (sigma), shape~*:0.2, or y=cube(x).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random images.")
@click.option(
    "--batch-size", type=click.IntRange(1), default=250, show_default=True, help="Number of images per batch."
)
@click.option(
    "--spread",
    type=click.Choice(["std", "log_variance"]),
    help="What the model returns as second output, after the mean.",
)
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
        from unweave.encoding.models import named_model

        size = {} if options["size"] is None else {"size": options["size"]}
        images = training_data(Path(model)) if dataset is None else load(dataset, options["path"], **size)
        if options["dependence"]:
            images = DependentSample(images, dependences_from_text(options["dependence"]))
        with resumable():
            if is_folder:
                encode_folder(Path(model), images, options)
                return
            encoded = encode_images(
                named_model(model, options["weights"]),
                images,
                options["out"],
                rows=options["rows"],
                seed=options["seed"],
                batch_size=options["batch_size"],
                spread=options["spread"],
                progress=True,
            )
        n_codes = encoded.means.shape[1]
        click.echo(
            f"wrote {options['out']}: {encoded.n_rows} images, {n_codes} codes, {len(encoded.factor_names)} factors"
        )
