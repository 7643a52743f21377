"""The commands `audit` and `sweep`, which study metrics."""

from __future__ import annotations

from pathlib import Path

import click

from unweave.cli.terminal import (
    A_PATH,
    check_picture,
    json_option,
    one_sentence_errors,
    option,
    print_json,
    print_wide,
    resumable,
)


@click.command()
@click.argument("name")
@option("--budget S", "Seconds of computing.", float, default=300)
@option("--seeds N", "Number of seeds.", click.IntRange(2, 10_000), default=5)
@option(
    "--jobs N",
    "Number of processes. The results do not depend on it.",
    click.IntRange(1),
    default=1,
    show_default=False,
)
@option("--picture", "Draw the curves into this file (.png, .pdf, .svg).", A_PATH)
@json_option
def audit(name: str, budget: float, seeds: int, jobs: int, picture: Path | None, as_json: bool) -> None:
    """Test whether a metric has the four properties of 003, whether its card is right, and which codes deceive it.

    NAME is a metric, with options after colons (mcc:correlation=spearman), or your own metric or function of factors
    and codes, as module:name, which runs the code of the module. The output states what was not measured because of the
    budget.
    """
    with one_sentence_errors():
        check_picture(picture)
        from unweave.auditing import audit as audit_one

        with resumable("Interrupted: an audit is computed as a whole, so nothing was written."):
            audited = audit_one(name, budget=budget, n_seeds=seeds, n_jobs=jobs)
        if picture:
            from unweave.report.figures.geometry import save
            from unweave.report.figures.scores import audit_figure

            save(audit_figure(audited), picture)
        if as_json:
            click.echo(audited.to_json())
        else:
            print_wide(audited)


@click.command()
@click.argument("file", type=A_PATH)
@option("--out", "Folder for the results. The default is the name of the sweep.", A_PATH)
@option(
    "--jobs N",
    "Number of processes, -1 for all cores. The results do not depend on it.",
    int,
    default=1,
    show_default=False,
)
@option("--cluster ADDRESS", "Compute on the Dask cluster whose scheduler is there.")
@option("--time-limit SECONDS", "Time limit for each cell. A cell that takes longer is stopped.", float)
@json_option
def sweep(
    file: Path, out: Path | None, jobs: int, cluster: str | None, time_limit: float | None, as_json: bool
) -> None:
    """Compute all combinations of worlds, encoders, metrics and seeds that FILE (TOML) declares.

    FILE is code: every module:name in it imports that Python module and runs it. Results are saved as they are
    computed. After an interruption, give the same command again to continue.
    """
    with one_sentence_errors():
        from unweave.sweeps.execution import run
        from unweave.sweeps.sweep import terminal_table
        from unweave.sweeps.sweep_file import read_sweep

        declared = read_sweep(file)
        folder = out or Path(declared.name)
        with resumable():
            table = run(declared, folder, n_jobs=jobs, cluster=cluster, time_limit=time_limit)
        if as_json:
            print_json("sweep", wrote=[str(folder / "table.parquet")], rows=table.to_dicts())
            return
        print_wide(terminal_table(table))
        click.echo(f"wrote {folder / 'table.parquet'}")
