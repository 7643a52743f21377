"""Commands that study metrics: audit, sweep, reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unweave.cli.terminal import check_writable, names_in, one_sentence_errors, print_wide


@click.command()
@click.argument("name")
@click.option("--budget", metavar="S", type=float, default=300, show_default=True, help="Seconds of computing.")
@click.option("--seeds", metavar="N", type=click.IntRange(2), default=5, show_default=True)
@click.option("--jobs", metavar="N", type=click.IntRange(1), default=1, help="Processes; the numbers do not change.")
@click.option("--picture", type=click.Path(path_type=Path), help="Write the curves to this file (.png, .pdf, .svg).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def audit(name: str, budget: float, seeds: int, jobs: int, picture: Path | None, as_json: bool) -> None:
    """Test a metric for the four properties that 003 asks for, its own card, and an adversary's encoders.

    NAME is a metric, with options after colons: mcc:correlation=spearman. What does not fit in the budget is said.
    """
    with one_sentence_errors():
        check_writable(picture)
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
@click.argument("paper")
@click.argument("figure")
@click.option("--out", type=click.Path(path_type=Path), default=Path("reproduced"), show_default=True)
@click.option("--seed", type=click.IntRange(0), help="The seed, or the first of several (000: 0, 003: 42).")
@click.option("--steps", type=click.IntRange(1), help="000: training steps; the default is what the figure needs.")
@click.option("--protocol", type=click.Choice(["ours", "authors"]), help="003: ours (default), or the released code's.")
@click.option("--authors-data", type=click.Path(path_type=Path), help="003: folder with exp01.csv to exp15.csv.")
@click.option("--metrics", metavar="NAMES", help="003: only these, with commas: MCC-P,R2.")
@click.option("--seeds", "n_seeds", metavar="N", type=click.IntRange(1), help="003: number of seeds.")
@click.option("--jobs", "n_jobs", metavar="N", type=int, help="003: processes, -1 for all cores.")
@click.option("--cluster", metavar="ADDRESS", help="003: compute on the Dask cluster whose scheduler is there.")
def reproduce(paper: str, figure: str, out: Path, seed: int | None, steps: int | None, **sweeping: Any) -> None:
    """Run a figure of a paper again.

    000: fig1 (two moons), fig2 (torus). 003: fig1 to fig37, exp01 to exp15, or agreement (with the authors' data).
    What was interrupted goes on where it was; pictures, tables and checkpoints are written to --out.
    """
    with one_sentence_errors():
        from importlib import import_module

        from unweave.evidence import EvidenceError
        from unweave.papers import home_of

        home = home_of(paper)
        given_for_003 = {name: value for name, value in sweeping.items() if value is not None}
        if paper == "003" and steps is None:
            _reproduce_003(figure, out, seed, given_for_003)
            return
        if paper == "003" or given_for_003:
            option = "steps" if paper == "003" else next(iter(given_for_003)).removeprefix("n_").replace("_", "-")
            raise EvidenceError(f"--{option} is not for paper {paper}: leave it out.")
        reproductions = import_module(home).REPRODUCTIONS
        if figure not in reproductions:
            raise EvidenceError(f"Paper {paper} has no {figure!r} here: there are {', '.join(reproductions)}.")
        given = {} if steps is None else {"n_steps": steps}
        flows = reproductions[figure](seed=seed or 0, folder=out, progress=True, **given)
        from unweave.report.reproductions.manifold_entropic_metrics import drawn, table

        print_wide(table(flows))
        for path in drawn(figure, flows, out):
            click.echo(f"wrote {path}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results; by default named as the sweep.")
@click.option(
    "--jobs", metavar="N", type=int, default=1, help="Processes, -1 for all cores; the numbers do not change."
)
@click.option("--cluster", metavar="ADDRESS", help="Compute on the Dask cluster whose scheduler is there.")
def sweep(file: Path, out: Path | None, jobs: int, cluster: str | None) -> None:
    """Compute the grid of worlds, encoders, metrics and seeds that FILE (TOML) declares.

    Cells are written as they are finished: run the same again to go on after an interruption.
    """
    with one_sentence_errors():
        from unweave.sweeps.declaration import read_sweep
        from unweave.sweeps.execution import run
        from unweave.sweeps.summary import printed

        declared = read_sweep(file)
        folder = out or Path(declared.name)
        try:
            table = run(declared, folder, n_jobs=jobs, cluster=cluster, progress=True)
        except KeyboardInterrupt as stopped:
            click.echo(str(stopped), err=True)
            raise SystemExit(130) from None
        print_wide(printed(table))
        click.echo(f"wrote {folder / 'table.parquet'}")


def _reproduce_003(figure: str, out: Path, seed: int | None, options: dict[str, Any]) -> None:
    from unweave.papers.guardians.reproduction import Run
    from unweave.report.reproductions.guardians import reproduced

    options |= {} if seed is None else {"first_seed": seed}
    metrics = tuple(names_in(options.pop("metrics", None)))
    try:
        for line in reproduced(figure, Run(out, metrics=metrics, progress=True, **options)):
            print_wide(line)
    except KeyboardInterrupt as stopped:
        click.echo(str(stopped), err=True)
        raise SystemExit(130) from None
