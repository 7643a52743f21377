"""The commands `audit`, `sweep` and `reproduce`, which study metrics."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from unweave.cli.terminal import check_picture, names_in, one_sentence_errors, print_wide, resumable


def _names(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    return tuple(names_in(text)) or None


@click.command()
@click.argument("name")
@click.option("--budget", metavar="S", type=float, default=300, show_default=True, help="Seconds of computing.")
@click.option(
    "--seeds", metavar="N", type=click.IntRange(2, 10_000), default=5, show_default=True, help="Number of seeds."
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    help="Number of processes. The results do not depend on it.",
)
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the curves into this file (.png, .pdf, .svg).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def audit(name: str, budget: float, seeds: int, jobs: int, picture: Path | None, as_json: bool) -> None:
    """Test whether a metric has the four properties of 003, whether its card is right, and which codes deceive it.

    NAME is a metric, with options after colons (mcc:correlation=spearman), or your own metric or function of factors
    and codes, as module:name, which runs the code of the module. The output states what was not measured because of the
    budget.
    """
    with one_sentence_errors():
        check_picture(picture)
        from unweave.auditing import audit as audit_one

        found = audit_one(name, budget=budget, seeds=seeds, n_jobs=jobs, progress=True)
        if picture:
            from unweave.report.figures.audit import audit_figure
            from unweave.report.figures.geometry import save

            save(audit_figure(found), picture)
        if as_json:
            click.echo(found.to_json())
        else:
            print_wide(found)


@click.command()
@click.argument("paper", required=False)
@click.argument("experiment", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Folder for the results.",
)
@click.option("--seed", type=click.IntRange(0), help="The seed, or the first of several.")
@click.option("--seeds", "n_seeds", metavar="N", type=click.IntRange(1, 10_000), help="Number of seeds.")
@click.option("--rows", "n_rows", metavar="N", type=click.IntRange(1), help="Number of samples.")
@click.option("--steps", "n_steps", metavar="N", type=click.IntRange(1), help="Training steps.")
@click.option("--metrics", metavar="NAMES", callback=_names, help="Only these metrics, separated by commas: MCC-P,R2.")
@click.option(
    "--protocol",
    type=click.Choice(["ours", "authors"]),
    help="How to compute: as here (default), or as the authors' released code does.",
)
@click.option("--authors-data", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the authors' tables.")
@click.option("--data", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the data set.")
@click.option("--weights", metavar="DIR", type=click.Path(path_type=Path), help="Folder of trained weights.")
@click.option("--codes", metavar="DIR", type=click.Path(path_type=Path), help="Folder of codes, in place of weights.")
@click.option("--quick", is_flag=True, default=None, help="Smaller models and images, for a first look.")
@click.option("--jobs", "n_jobs", metavar="N", type=int, help="Processes, -1 for all cores.")
@click.option("--cluster", metavar="ADDRESS", help="Compute on the Dask cluster whose scheduler is there.")
def reproduce(paper: str | None, experiment: str | None, out: Path, **given: Any) -> None:
    """Reproduce an experiment of a paper, and compare the results with the paper.

    Without EXPERIMENT the command lists the experiments of PAPER, and without PAPER it lists the papers. An experiment
    says which options it takes. An interrupted experiment continues when the same command is given again. Tables,
    pictures and checkpoints are written to --out.
    """
    with one_sentence_errors():
        from unweave.papers.catalogue import experiments_table, paper_of, papers_table, reproduced
        from unweave.papers.computing_cost import in_words, peak_memory
        from unweave.papers.experiment import Options

        if paper is None:
            print_wide(papers_table())
        elif experiment is None:
            print_wide(experiments_table(paper_of(paper)))
        else:
            start = time.process_time()
            with resumable():
                for line in reproduced(paper, experiment, Options(out, progress=True, **given)):
                    print_wide(line)
            # on stderr, because the output itself should be the same every time
            click.echo(in_words(time.process_time() - start, peak_memory()), err=True)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for the results. The default is the name of the sweep."
)
@click.option(
    "--jobs",
    metavar="N",
    type=int,
    default=1,
    help="Number of processes, -1 for all cores. The results do not depend on it.",
)
@click.option("--cluster", metavar="ADDRESS", help="Compute on the Dask cluster whose scheduler is there.")
@click.option(
    "--time-limit", metavar="SECONDS", type=float, help="Time limit for each cell. A cell that takes longer is stopped."
)
def sweep(file: Path, out: Path | None, jobs: int, cluster: str | None, time_limit: float | None) -> None:
    """Compute all combinations of worlds, encoders, metrics and seeds that FILE (TOML) declares.

    FILE is code: every module:name in it imports that Python module and runs it. Results are saved as they are
    computed. After an interruption, give the same command again to continue.
    """
    with one_sentence_errors():
        from unweave.sweeps.execution import run
        from unweave.sweeps.summary import printed
        from unweave.sweeps.sweep_file import read_sweep

        declared = read_sweep(file)
        folder = out or Path(declared.name)
        with resumable():
            table = run(declared, folder, n_jobs=jobs, cluster=cluster, time_limit=time_limit, progress=True)
        print_wide(printed(table))
        click.echo(f"wrote {folder / 'table.parquet'}")
