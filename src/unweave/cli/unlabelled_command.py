"""The command `unlabelled`: measurements that need no factors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unweave.cli.terminal import fail, names_in, one_sentence_errors, print_wide


@click.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--codes", metavar="NAMES", help="Columns or arrays to use as codes.")
@click.option(
    "--codes-std",
    metavar="NAME",
    help="Array with the standard deviations of the codes' posterior. [default: codes_std]",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the train and test split for the linear agreement."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def unlabelled(files: tuple[Path, ...], **options: Any) -> None:
    """Measure representations without factors: active codes, total correlation, and agreement between runs.

    Pass one file for each run (for example one per seed of the same model), all with the same samples: .npz (array
    'codes', and 'codes_std' for a posterior), .npy, .csv or .parquet. For a decoder, see `unweave geometry`.
    """
    with one_sentence_errors():
        from unweave.evaluation.unlabelled import unlabelled as described
        from unweave.files.tables_and_arrays import read_codes

        if len(set(files)) < len(files):
            fail("A file is named twice: name every run once.")
        stems = [path.stem for path in files]
        names = stems if len(set(stems)) == len(stems) else [str(path) for path in files]
        runs = {
            name: read_codes(path, names_in(options["codes"]), options["codes_std"])
            for name, path in zip(names, files, strict=True)
        }
        found = described(runs, rng=options["seed"])
        if options["as_json"]:
            import json

            click.echo(json.dumps(found.to_dict(), allow_nan=False))
            return
        from unweave.report.unlabelled_table import unlabelled_table

        print_wide(unlabelled_table(found))
