"""The command line: thin, and quick to start (everything heavy is imported by the command that needs it)."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from unweave import __version__

if TYPE_CHECKING:
    from unweave.evaluation import Evaluation

SCORE_OPTIONS = [
    click.option("--metrics", metavar="NAMES", help="Comma-separated; options after colons: mcc:correlation=spearman."),
    click.option(
        "--kinds", metavar="KINDS", help="One for all factors, one for each, or NAME=KIND pairs, with commas."
    ),
    click.option("--factors", metavar="NAMES", help="Columns of a table, or arrays of an .npz, that are the factors."),
    click.option("--codes", metavar="NAMES", help="Columns or arrays that are the codes."),
    click.option(
        "--codes-std", metavar="NAME", help="Array of an .npz with the codes' posterior std (default: codes_std)."
    ),
    click.option("--row-groups", metavar="NAME", help="Column or array naming the subject or video of each row."),
    click.option("--missing", type=click.Choice(["refuse", "drop"]), default="refuse", show_default=True),
    click.option("--seeds", metavar="N", type=click.IntRange(1), default=1, help="Runs of metrics with a random part."),
    click.option("--jobs", metavar="N", type=click.IntRange(1), default=1, help="Threads; the numbers do not change."),
    click.option("--quick", is_flag=True, help="Scores alone, without noise floors, intervals and verdicts."),
    click.option(
        "--budget",
        metavar="SECONDS",
        type=click.FloatRange(0),
        default=30.0,
        show_default=True,
        help="For noise floors and intervals, about.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table."),
]
PAGE_OPTIONS = [
    click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the report as one HTML page."),
    click.option("--markdown", metavar="FILE", type=click.Path(path_type=Path), help="Write the report as Markdown."),
    click.option("--summary", metavar="FILE", type=click.Path(path_type=Path), help="Write the report's data as JSON."),
]


def _with_score_options(command: Any) -> Any:
    for option in reversed([*SCORE_OPTIONS, *PAGE_OPTIONS]):
        command = option(command)
    return command


def _with_page_options(command: Any) -> Any:
    for option in reversed(PAGE_OPTIONS):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="unweave")
def main() -> None:
    """Measure how well a learned representation separates the factors behind the data."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± or ─ is no reason to fail


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("codes_file", type=click.Path(path_type=Path), required=False)
@_with_score_options
def score(file: Path, codes_file: Path | None, **options: Any) -> None:
    """Score the codes in FILE against its factors (or factors in FILE, codes in CODES_FILE).

    Reads .npz (arrays 'factors' and 'codes', and 'codes_std' for a posterior), pairs of .npy, .csv and .parquet.
    """
    with _one_sentence_errors():
        from unweave.datasets.files import read_files
        from unweave.evaluation import evaluate

        files = read_files(
            file,
            codes_file,
            factors=_names(options["factors"]),
            codes=_names(options["codes"]),
            codes_std=options["codes_std"],
            row_groups=options["row_groups"],
        )
        settings = _settings(options, row_groups=files.row_groups)
        evaluation = evaluate(files.factors, files.codes, **settings)
        _show(evaluation, options["as_json"])
        _write_pages(evaluation, options)


@main.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--factors-from", type=click.Path(path_type=Path), help="File with the factors; FILES hold codes only.")
@_with_score_options
def compare(files: tuple[Path, ...], factors_from: Path | None, **options: Any) -> None:
    """Score several representations of the same samples side by side, one file each."""
    with _one_sentence_errors():
        from unweave.datasets.files import read_files, refuse_different_factors
        from unweave.evaluation import compare as compare_all

        read = [
            read_files(
                path if factors_from is None else factors_from,
                None if factors_from is None else path,
                factors=_names(options["factors"]),
                codes=_names(options["codes"]),
                codes_std=options["codes_std"],
                row_groups=options["row_groups"],
            )
            for path in files
        ]
        if factors_from is None:
            refuse_different_factors({str(path): entry.factors for path, entry in zip(files, read, strict=True)})
        codes = dict(zip(_distinct_labels(files), (entry.codes for entry in read), strict=True))
        settings = _settings(options, row_groups=read[0].row_groups)
        evaluation = compare_all(read[0].factors, codes, **settings)
        _show(evaluation, options["as_json"])
        _write_pages(evaluation, options)


@main.command()
@click.argument("file", metavar="EVALUATION.json", type=click.Path(path_type=Path))
@_with_page_options
def report(file: Path, **options: Any) -> None:
    """Make the report of a saved evaluation, as score --json prints it and Evaluation.save writes it."""
    with _one_sentence_errors():
        from unweave.evidence import EvidenceError
        from unweave.report.files import read_evaluation

        if not any(options.values()):
            raise EvidenceError("There is no report to write: name a file with --html, --markdown or --summary.")
        _write_pages(read_evaluation(file), options)


@main.command()
def metrics() -> None:
    """List the metrics."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from unweave.metrics import CATALOGUE

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("metric", "measures", "full marks up to", "what it says"):
        table.add_column(heading, no_wrap=heading == "metric")
    for entry in CATALOGUE.values():
        table.add_row(entry.card.name, entry.card.measures, entry.card.equivalence, entry.card.summary)
    # a pipe has no width: wide enough for the table
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)


@main.command()
@click.argument("name")
def explain(name: str) -> None:
    """Explain a metric: its card in plain words."""
    with _one_sentence_errors():
        from unweave.evaluation.choice import chosen_by_text
        from unweave.explanation import explained

        click.echo(explained(chosen_by_text(name)))


@main.command()
@click.argument("source")
@click.option("--reference", metavar="SOURCE", help="Another decoder to compare with, such as the true one.")
@click.option("--latent-size", type=click.IntRange(1), help="Number of latents, if SOURCE is a plain torch function.")
@click.option("--samples", type=click.IntRange(1), default=1000, show_default=True, help="Latents to draw.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the latents.")
@click.option("--keep", metavar="NATS", type=float, help="Say how many latents keep so many nats.")
@click.option("--picture", type=click.Path(path_type=Path), help="Write the spectrum to this file (.png, .pdf, .svg).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def geometry(source: str, reference: str | None, latent_size: int | None, **options: Any) -> None:
    """Say what each latent of a decoder does to the data.

    SOURCE is a decoder as module:name, or its Jacobians (samples x outputs x latents) in an .npy or .npz file.
    """
    with _one_sentence_errors():
        from functools import partial

        from unweave.datasets.decoders import read_decoder
        from unweave.evaluation import evaluate
        from unweave.evidence import Evidence
        from unweave.metrics import CATALOGUE
        from unweave.spectrum import spectrum

        other = None if reference is None else read_decoder(reference)
        evidence = Evidence(decoder=read_decoder(source, latent_size), reference=other)
        found = spectrum(evidence, n_samples=options["samples"], rng=options["seed"])
        fitting = [entry for entry in CATALOGUE.values() if entry.card.lacking(evidence) is None]
        chosen = [partial(entry, n_samples=options["samples"]) for entry in fitting]
        evaluation = evaluate(evidence, metrics=chosen, seeds=options["seed"], quick=True)
        if options["picture"]:
            from unweave.report.geometry_figures import save, spectrum_figure

            save(spectrum_figure({source: found.entropies}), options["picture"])
        if options["as_json"]:
            click.echo(evaluation.to_json())
        else:
            from unweave.report.geometry_table import geometry_table

            _print_wide(geometry_table(found, evaluation, options["keep"]))


@main.command()
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
    with _one_sentence_errors():
        from unweave.auditing import audit as audit_one

        found = audit_one(name, budget=budget, seeds=seeds, n_jobs=jobs, progress=True)
        if picture:
            from unweave.report.audit_figures import audit_figure
            from unweave.report.geometry_figures import save

            save(audit_figure(found), picture)
        if as_json:
            click.echo(found.to_json())
        else:
            _print_wide(found)


@main.command()
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
    with _one_sentence_errors():
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
        from unweave.report.reproductions import drawn, table

        _print_wide(table(flows))
        for path in drawn(figure, flows, out):
            click.echo(f"wrote {path}")


@main.command()
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
    with _one_sentence_errors():
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
        _print_wide(printed(table))
        click.echo(f"wrote {folder / 'table.parquet'}")


@main.command()
@click.option("--rows", type=click.IntRange(50), default=1000, show_default=True, help="Samples to draw.")
def demo(rows: int) -> None:
    """Score a few encoders of a circuit with a resistor."""
    with _one_sentence_errors():
        from unweave.demonstration import METRICS, circuit_encoders, introduction
        from unweave.evaluation import compare as compare_all

        factors, representations = circuit_encoders(rows)
        click.echo(introduction())
        _show(compare_all(factors, representations, metrics=METRICS, budget=5.0, progress=True), as_json=False)


def _reproduce_003(figure: str, out: Path, seed: int | None, options: dict[str, Any]) -> None:
    from unweave.papers.guardians.reproduction import Run
    from unweave.report.guardians import reproduced

    options |= {} if seed is None else {"first_seed": seed}
    metrics = tuple(_names(options.pop("metrics", None)))
    try:
        for line in reproduced(figure, Run(out, metrics=metrics, progress=True, **options)):
            _print_wide(line)
    except KeyboardInterrupt as stopped:
        click.echo(str(stopped), err=True)
        raise SystemExit(130) from None


def _settings(options: dict[str, Any], row_groups: Any) -> dict[str, Any]:
    return {
        "metrics": _names(options["metrics"]) or None,
        "kinds": _kinds(options["kinds"]),
        "missing": options["missing"],
        "seeds": range(options["seeds"]),
        "n_jobs": options["jobs"],
        "quick": options["quick"],
        "budget": options["budget"],
        "row_groups": row_groups,
        "progress": True,
    }


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _kinds(text: str | None) -> str | list[str] | dict[str, str] | None:
    """One kind for all factors, one for each in their order, or kinds by name."""
    stated = _names(text)
    if any("=" in pair for pair in stated):
        pairs = [pair.rpartition("=") for pair in stated]
        return {name.strip(): kind.strip() for name, _, kind in pairs}
    return (stated if len(stated) > 1 else stated[0]) if stated else None


def _distinct_labels(files: tuple[Path, ...]) -> list[str]:
    """File names without endings, or whole paths where these are not distinct."""
    if len(set(files)) < len(files):
        _fail("A file is named twice: name every representation once.")
    stems = [path.stem for path in files]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in files]


def _write_pages(evaluation: Evaluation, options: dict[str, Any]) -> None:
    wanted = {kind: options[kind] for kind in ("html", "markdown", "summary") if options[kind]}
    if wanted:
        from unweave.report.files import write_pages

        for path in write_pages(evaluation, **wanted):
            click.echo(f"wrote {path}", err=True)


def _show(evaluation: Evaluation, as_json: bool) -> None:
    if as_json:
        click.echo(evaluation.to_json())
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(evaluation, crop=False)
    else:
        click.echo(str(evaluation))
    if all(row.score is None for row in evaluation.rows):
        _fail(f"No metric could be computed: {evaluation.rows[0].problem}")


def _print_wide(item: Any) -> None:
    from rich.console import Console

    # a pipe has no width: wide enough for the table, and no colours
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(item)


def _fail(sentence: str) -> NoReturn:
    click.echo(f"Error: {' '.join(sentence.split())}", err=True)
    raise SystemExit(2)


class _one_sentence_errors:
    """Bad input ends the command with its one sentence and exit code 2, without a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None and issubclass(kind, ValueError):
            from unweave.evidence import EvidenceError

            if isinstance(error, EvidenceError):
                _fail(str(error))
