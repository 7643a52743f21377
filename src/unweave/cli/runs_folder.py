"""The commands `encode` and `compare` for a folder of trained models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unweave.cli.terminal import print_wide

if TYPE_CHECKING:
    from unweave.datasets import DataSet
    from unweave.models import TrainedModel


def encode_folder(folder: Path, images: DataSet, options: dict[str, Any]) -> None:
    """Write the codes of every model of a folder next to its weights; existing codes are replaced."""
    from unweave.encoding import encode

    for model in _models(folder):
        if model.network is None:
            click.echo(f"{model.name}: {model.problem}", err=True)
            continue
        out = folder / model.name / "codes.npz"
        encoded = encode(
            model,
            images,
            out,
            rows=options["rows"],
            seed=options["seed"],
            batch_size=options["batch_size"],
            progress=True,
        )
        click.echo(f"wrote {out}: {encoded.n_rows} images, {encoded.means.shape[1]} codes")


def compare_folder(folder: Path, metrics: list[str], as_json: bool) -> None:
    """Print the comparison of the models of a folder."""
    models = _models(folder)
    from unweave.models.runs.comparison import compared_runs
    from unweave.progress import progress_bar
    from unweave.report.runs import runs_table

    with progress_bar(len(models), True) as bar:
        found = compared_runs(models, training_data(folder), metrics=metrics or None, watch=bar.step)
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps(asdict(found), indent=2))
        return
    print_wide(runs_table(found))
    click.echo("Mean ± standard deviation over seeds; settings that share a letter do not differ significantly.")


def training_data(folder: Path) -> DataSet:
    """The data set that the models of a folder were trained on."""
    with _needing_torch():
        from unweave.models.runs.training_file import data_set_of

        return data_set_of(folder)


def _models(folder: Path) -> list[TrainedModel]:
    with _needing_torch():
        from unweave.models.runs.reading import read_runs

        return read_runs(folder)


@contextmanager
def _needing_torch() -> Iterator[None]:
    from unweave.evidence import EvidenceError

    try:
        yield
    except ImportError as error:
        raise EvidenceError(str(error)) from None
