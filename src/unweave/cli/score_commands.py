"""Commands that score: score, compare, report, metrics, explain, geometry, demo."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unweave.cli.terminal import (
    check_picture,
    check_writable,
    fail,
    kinds_in,
    names_in,
    one_sentence_errors,
    print_wide,
    show,
)

if TYPE_CHECKING:
    from unweave.evaluation import Evaluation
    from unweave.files.tables_and_arrays import Files
    from unweave.report.page.code_pictures import CodePictures

N_SHOWN = 10  # images on the page with their reconstructions
SCORE_OPTIONS = [
    click.option(
        "--metrics",
        metavar="NAMES",
        help=(
            "Names with commas; 'all' for the whole catalogue, or families such as information. By default the panel. "
            "Options follow colons: mcc:correlation=spearman. A metric of your own is named as module:name."
        ),
    ),
    click.option(
        "--kinds", metavar="KINDS", help="One for all factors, one for each, or NAME=KIND pairs, with commas."
    ),
    click.option("--factors", metavar="NAMES", help="Columns of a table, or arrays of an .npz, that are the factors."),
    click.option("--codes", metavar="NAMES", help="Columns or arrays that are the codes."),
    click.option(
        "--codes-std", metavar="NAME", help="Array of an .npz with the codes' posterior std (default: codes_std)."
    ),
    click.option("--factor-names", metavar="NAMES", help="Names of the factors, in their order."),
    click.option("--code-names", metavar="NAMES", help="Names of the codes, in their order."),
    click.option("--row-groups", metavar="NAME", help="Column or array naming the subject or video of each row."),
    click.option("--missing", type=click.Choice(["refuse", "drop"]), default="refuse", show_default=True),
    click.option(
        "--seeds", metavar="N", type=click.IntRange(1, 10_000), default=1, help="Runs of metrics with a random part."
    ),
    click.option("--jobs", metavar="N", type=click.IntRange(1), default=1, help="Threads; the numbers do not change."),
    click.option("--quick", is_flag=True, help="Scores alone, without noise floors, intervals and verdicts."),
    click.option(
        "--budget",
        metavar="SECONDS",
        type=click.FloatRange(0),
        default=30.0,
        show_default=True,
        help="CPU seconds in all, about: scores, noise floors, intervals and verdicts; what does not fit is named.",
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


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("codes_file", type=click.Path(path_type=Path), required=False)
@click.option("--decoder", metavar="MODEL", help="Show on the page what its decoder makes of each code (as encode).")
@click.option("--images", metavar="DATASET", help="Show reconstructions of images of this data set beside it.")
@click.option("--weights", type=click.Path(path_type=Path), help="Folder of published weights, for --decoder.")
@_with_score_options
def score(file: Path, codes_file: Path | None, **options: Any) -> None:
    """Score the codes in FILE against its factors (or factors in FILE, codes in CODES_FILE).

    Reads .npz (arrays 'factors' and 'codes', and 'codes_std' for a posterior), pairs of .npy, .csv, .parquet and
    folders of .parquet.
    """
    with one_sentence_errors():
        check_writable(*_pages(options).values(), inputs=(file, codes_file))
        from unweave.evaluation import evaluate
        from unweave.files.tables_and_arrays import read_files

        files = read_files(
            file,
            codes_file,
            factors=names_in(options["factors"]),
            codes=names_in(options["codes"]),
            codes_std=options["codes_std"],
            row_groups=options["row_groups"],
        )
        settings = _settings(options, files)
        pictures = _pictures(files, settings["kinds"], options)
        evaluation = evaluate(files.factors, files.codes, **settings)
        show(evaluation, options["as_json"])
        _write_pages(evaluation, options, pictures)


@click.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--factors-from", type=click.Path(path_type=Path), help="File with the factors; FILES hold codes only.")
@_with_score_options
def compare(files: tuple[Path, ...], factors_from: Path | None, **options: Any) -> None:
    """Score several representations of the same samples side by side, one file each.

    Instead of files, name a folder that `unweave train` wrote: its models are compared, with their spread over seeds.
    """
    with one_sentence_errors():
        if len(files) == 1 and files[0].is_dir():
            from unweave.cli.runs_folder import compare_folder

            compare_folder(files[0], names_in(options["metrics"]), options["as_json"])
            return
        check_writable(*_pages(options).values(), inputs=(*files, factors_from))
        from unweave.evaluation import compare as compare_all
        from unweave.files.tables_and_arrays import read_files, refuse_different_factors

        read = [
            read_files(
                path if factors_from is None else factors_from,
                None if factors_from is None else path,
                factors=names_in(options["factors"]),
                codes=names_in(options["codes"]),
                codes_std=options["codes_std"],
                row_groups=options["row_groups"],
            )
            for path in files
        ]
        if factors_from is None:
            refuse_different_factors({str(path): entry.factors for path, entry in zip(files, read, strict=True)})
        codes = dict(zip(_distinct_labels(files), (entry.codes for entry in read), strict=True))
        settings = _settings(options, read[0])
        evaluation = compare_all(read[0].factors, codes, **settings)
        show(evaluation, options["as_json"])
        _write_pages(evaluation, options)


@click.command()
@click.argument("file", metavar="EVALUATION.json", type=click.Path(path_type=Path))
@_with_page_options
def report(file: Path, **options: Any) -> None:
    """Make the report of a saved evaluation, as score --json prints it and Evaluation.save writes it."""
    with one_sentence_errors():
        from unweave.evidence import EvidenceError
        from unweave.report.page.page_files import read_evaluation

        if not any(options.values()):
            raise EvidenceError("There is no report to write: name a file with --html, --markdown or --summary.")
        check_writable(*_pages(options).values(), inputs=(file,))
        _write_pages(read_evaluation(file), options)


@click.command()
def metrics() -> None:
    """List the metrics by the question they answer."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unweave.evaluation.questions import OTHER, QUESTIONS, question_of
    from unweave.metrics import CATALOGUE

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("what it says")
    for question in (*QUESTIONS, OTHER):
        entries = [entry for entry in CATALOGUE.values() if question_of(entry.card.measures) is question]
        if entries:
            table.add_section()
            table.add_row(Text(question.text, style="bold"))
        for entry in sorted(entries, key=lambda entry: entry.card.name not in question.panel):
            mark = " *" if entry.card.name in question.panel else ""
            table.add_row(f"  {entry.card.name}{mark}", entry.card.summary)
    # a pipe has no width: wide enough for the table
    Console(width=None if sys.stdout.isatty() else 100, highlight=False).print(table)
    click.echo("* computed by default. `unweave explain NAME` says more; `--metrics all` computes all that fit.")


@click.command()
@click.argument("name")
def explain(name: str) -> None:
    """Explain a metric: its card in plain words."""
    with one_sentence_errors():
        from unweave.card.choices import metric_of
        from unweave.card.explanation import explained
        from unweave.evaluation.metric_choice import chosen_by_text

        chosen = chosen_by_text(name)
        metric_of(chosen)
        click.echo(explained(chosen))


@click.command()
@click.argument("source")
@click.option("--reference", metavar="SOURCE", help="Another decoder to compare with, such as the true one.")
@click.option("--latent-size", type=click.IntRange(1), help="Number of latents, if SOURCE is a plain torch function.")
@click.option("--samples", type=click.IntRange(1), default=1000, show_default=True, help="Latents to draw.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the latents.")
@click.option("--keep", metavar="NATS", type=float, help="Say how many latents keep so many nats.")
@click.option("--picture", type=click.Path(path_type=Path), help="Write the spectrum to this file (.png, .pdf, .svg).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def geometry(source: str, reference: str | None, latent_size: int | None, **options: Any) -> None:
    """Say what each latent of a decoder does to the data.

    SOURCE is a decoder as module:name, or its Jacobians (samples x outputs x latents) in an .npy or .npz file.
    """
    with one_sentence_errors():
        check_picture(options["picture"])
        from functools import partial

        from unweave.evaluation import evaluate
        from unweave.evidence import Evidence
        from unweave.files.decoder_sources import read_decoder
        from unweave.metrics import CATALOGUE
        from unweave.metrics.geometry.spectrum import spectrum

        other = None if reference is None else read_decoder(reference)
        evidence = Evidence(decoder=read_decoder(source, latent_size), reference=other)
        found = spectrum(evidence, n_samples=options["samples"], rng=options["seed"])
        fitting = [entry for entry in CATALOGUE.values() if entry.card.lacking(evidence) is None]
        chosen = [partial(entry, n_samples=options["samples"]) for entry in fitting]
        evaluation = evaluate(evidence, metrics=chosen, seeds=options["seed"], quick=True)
        if options["picture"]:
            from unweave.report.figures.geometry import save, spectrum_figure

            save(spectrum_figure({source: found.entropies}), options["picture"])
        if options["as_json"]:
            click.echo(evaluation.to_json())
        else:
            from unweave.report.geometry_table import geometry_table

            print_wide(geometry_table(found, evaluation, options["keep"]))


@click.command()
@click.option("--rows", type=click.IntRange(50), default=1000, show_default=True, help="Samples to draw.")
@click.option("--trained", is_flag=True, help="Train a small model of images, encode, score and write the page.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("trained-demo"), help="Folder, with --trained.")
def demo(rows: int, trained: bool, out: Path) -> None:
    """Score a few encoders of a circuit with a resistor, or (--trained) go from a model to its page in a minute."""
    with one_sentence_errors():
        if trained:
            from unweave.cli.trained_demo import trained_demonstration
            from unweave.report.page.page_files import write_pages

            out.mkdir(parents=True, exist_ok=True)
            evaluation, pictures = trained_demonstration(out, click.echo)
            show(evaluation, as_json=False)
            for path in write_pages(evaluation, html=out / "page.html", pictures=pictures):
                click.echo(f"wrote {path}")
            return
        from unweave.cli.circuit_demo import DEMO_BUDGET, circuit_encoders, introduction
        from unweave.evaluation import compare as compare_all

        factors, representations = circuit_encoders(rows)
        click.echo(introduction())
        show(compare_all(factors, representations, budget=DEMO_BUDGET, progress=True), as_json=False)


def _settings(options: dict[str, Any], files: Files) -> dict[str, Any]:
    return {
        "metrics": names_in(options["metrics"]) or None,
        "kinds": kinds_in(options["kinds"]) or files.kinds,
        "missing": options["missing"],
        "seeds": range(options["seeds"]),
        "n_jobs": options["jobs"],
        "quick": options["quick"],
        "budget": options["budget"],
        "row_groups": files.row_groups,
        "factor_names": names_in(options["factor_names"]) or None,
        "code_names": names_in(options["code_names"]) or files.code_names,
        "progress": True,
    }


def _distinct_labels(files: tuple[Path, ...]) -> list[str]:
    """File names without endings, or whole paths where these are not distinct."""
    if len(set(files)) < len(files):
        fail("A file is named twice: name every representation once.")
    stems = [path.stem for path in files]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in files]


def _pages(options: dict[str, Any]) -> dict[str, Path]:
    """Files of the pages that were asked for."""
    return {kind: options[kind] for kind in ("html", "markdown", "summary") if options[kind]}


def _pictures(files: Files, kinds: Any, options: dict[str, Any]) -> CodePictures | None:
    """Pictures of the codes by the decoder that was named, before the long computation."""
    from unweave.evidence import Evidence, EvidenceError

    if options["decoder"] is None:
        if options["images"]:
            raise EvidenceError("--images shows reconstructions, which need a model: name it with --decoder.")
        return None
    if not options["html"]:
        raise EvidenceError("--decoder draws on the page: name its file with --html.")
    import numpy as np

    from unweave.datasets import load
    from unweave.encoding import encode as encode_images
    from unweave.encoding.models import named_model
    from unweave.report.page.code_pictures import code_pictures, decoder_of

    model = named_model(options["decoder"], options["weights"])
    originals = None
    if options["images"]:
        dataset = load(options["images"])
        encoded = encode_images(model, dataset, rows=min(N_SHOWN, len(dataset)))
        tables = [table for name, table in encoded.arrays.items() if name not in ("codes", "codes_std")]
        originals = (dataset.images(encoded.indices), np.concatenate([encoded.means, *tables], axis=1))
    return code_pictures(Evidence(files.factors, files.codes, kinds=kinds), decoder_of(model), originals)


def _write_pages(evaluation: Evaluation, options: dict[str, Any], pictures: CodePictures | None = None) -> None:
    if wanted := _pages(options):
        from unweave.report.page.page_files import write_pages

        for path in write_pages(evaluation, **wanted, pictures=pictures):
            click.echo(f"wrote {path}", err=True)
