"""Commands that score: score, compare, metrics, explain, concepts and unlabelled."""

from __future__ import annotations

import functools
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unweave.cli.terminal import (
    A_PATH,
    check_page,
    check_picture,
    check_writable,
    fail,
    hold_notes,
    image_shape_in,
    json_option,
    kinds_in,
    names_in,
    one_sentence_errors,
    option,
    print_json,
    print_wide,
    show,
)
from unweave.errors import OptionError
from unweave.whole_files import write_output

if TYPE_CHECKING:
    from unweave.card import Metric
    from unweave.evaluation import Evaluation
    from unweave.files.reading import Files
    from unweave.report.html import CodePictures

SCORE_OPTIONS = [
    option(
        "--metrics NAMES",
        "Metrics to compute, separated by commas: names, families such as information, or 'all' for the whole "
        "catalogue. The default is the panel; 'concepts' gives what is usually reported of sparse autoencoders. "
        "Options follow after colons: mcc:correlation=spearman. Name a metric of your own as module:name, which "
        "runs the code of the module.",
    ),
    option(
        "--kinds KINDS",
        "Kinds of the factors (continuous, ordinal, categorical, circular:PERIOD, or "
        "'ordinal:low<mid<high' for text with an order): one for all factors, or one for each or NAME=KIND pairs, "
        "separated by commas.",
    ),
    option(
        "--factors NAMES",
        "Columns of a table, or arrays of a file, to use as factors, separated by commas: names, patterns such as "
        "'emb_*', ranges such as emb_0..emb_63, and obs:NAME of an .h5ad file; 'cell_type=NK' is a factor for "
        "one level against all others, and 'cell_type=*' for each.",
    ),
    option("--codes NAMES", "Columns or arrays to use as codes, likewise; obsm:NAME of an .h5ad file."),
    option(
        "--codes-std NAME",
        "Array of an .npz file with the standard deviations of the codes' posterior. [default: codes_std]",
    ),
    option("--factor-names NAMES", "Names of the factors, separated by commas, in their order."),
    option("--code-names NAMES", "Names of the codes, separated by commas, in their order."),
    option(
        "--row-groups NAME",
        "Column or array with the group of each row, such as its subject or video. Splits keep groups whole.",
    ),
    option("--target NAME", "Column or array with the label of the task of a concept model."),
    option(
        "--environments NAME", "Column or array with the factor that was intervened on in each row, or 'observational'."
    ),
    option(
        "--nuisances NAMES", "Columns or arrays of what the codes should not depend on, such as a batch; see --factors."
    ),
    option(
        "--missing",
        "Whether rows with missing values are an error or are left out.",
        click.Choice(["refuse", "drop"]),
        default="refuse",
    ),
    option(
        "--seeds N",
        "Number of seeds for metrics with a random part. [default: 1]",
        click.IntRange(1, 10_000),
        default=1,
        show_default=False,
    ),
    option(
        "--jobs N",
        "Number of threads. The scores do not depend on it.",
        click.IntRange(1),
        default=1,
        show_default=False,
    ),
    option(
        "--screen/--no-screen",
        "Find the codes that depend on a factor on half of the rows, and score these alone on the other half. "
        "[default: for the panel, with more than 1,000 codes or 64 sparse ones]",
        default=None,
    ),
    option("--quick", "Compute scores only, without noise floors, intervals and verdicts.", is_flag=True),
    option(
        "--budget SECONDS",
        "Approximate CPU seconds of each representation for scores, noise floors, intervals and verdicts together. A "
        "note names what was left out.",
        click.FloatRange(0),
        default=30.0,
    ),
    json_option,
]

PAGE_OPTIONS = [
    option("--html FILE", "Write the report as one HTML page.", A_PATH),
    option("--markdown FILE", "Write the report as Markdown.", A_PATH),
    option("--summary FILE", "Write the report's data as JSON.", A_PATH),
    option(
        "--latex FILE",
        "Write a table for a paper (.tex), over seeds if names differ by a seed alone, such as vae_seed0.",
        A_PATH,
    ),
]


def with_options(options: Sequence[Any]) -> Callable[[Any], Any]:
    """Add options to a command, in their order."""
    return lambda command: functools.reduce(lambda known, option: option(known), reversed(options), command)


with_score_options = with_options([*SCORE_OPTIONS, *PAGE_OPTIONS])

# factors, their kinds and row groups, and --json
with_data_options = with_options([SCORE_OPTIONS[k] for k in (1, 2, 5, 7, 11, -1)])
with_page_options = with_options(PAGE_OPTIONS)
N_SHOWN = 10  # images on the page with their reconstructions


@click.command()
@click.argument("file", type=A_PATH)
@click.argument("codes_file", type=A_PATH, required=False)
@option(
    "--decoder MODEL", "Model whose decoder shows on the page how each code changes the images (named as for encode)."
)
@option("--images DATASET", "Data set whose images are shown on the page with their reconstructions.")
@option("--weights", "Folder of published weights for --decoder.", A_PATH)
@option("--cluster ADDRESS", "Dask scheduler whose workers read a folder of .parquet files.")
@option("--factors-from", "File with the factors, if FILE contains only codes.", A_PATH)
@with_score_options
def score(file: Path, codes_file: Path | None, factors_from: Path | None, **options: Any) -> None:
    """Measure how well the codes in FILE represent its factors.

    The codes may also be in a second file, CODES_FILE. Files may be .npz (with arrays 'factors' and 'codes', and
    'codes_std' for a posterior; or a sparse matrix of scipy, for codes), .npy (one for factors and one for codes),
    .csv, .parquet, .feather or .arrow, .safetensors, .pt (tensors only), .h5ad, HDF5, Zarr, folders of .parquet files,
    or data sets of Hugging Face (save_to_disk). Large .npy, HDF5 and Zarr arrays and large folders are
    read in blocks of rows.
    """
    with one_sentence_errors():
        hold_notes(options["as_json"])
        if factors_from is not None:
            if codes_file is not None:
                raise OptionError(f"The factors are named twice, {file} and {factors_from}: leave one of them out.")
            file, codes_file = factors_from, file
        check_writable(*_pages(options).values(), inputs=(file, codes_file))
        from unweave.evaluation import evaluate
        from unweave.files.reading import read_files

        chosen = _columns(options) | {"codes": names_in(options["codes"])}
        files = read_files(file, codes_file, **chosen, in_blocks=True, cluster=options["cluster"])
        settings = _settings(options, files)
        if settings["metrics"] == ["concepts"]:
            show_concepts(files, settings, options)
            return
        pictures = _pictures(files, settings["kinds"], options)
        evaluation = evaluate(files.factors, files.codes, **settings)
        show(evaluation, options["as_json"])
        _write_pages(evaluation, options, pictures)


@click.command()
@click.argument("files", type=A_PATH, nargs=-1, required=True)
@option("--factors-from", "File with the factors, if FILES contain only codes.", A_PATH)
@with_score_options
def compare(files: tuple[Path, ...], factors_from: Path | None, **options: Any) -> None:
    """Compare several representations of the same samples, given as one file each.

    They may also be arrays of one file: compare cells.h5ad --factors obs:cell_type --codes obsm:X_pca,obsm:X_drvi.
    Instead of files, you can name a folder that `unweave train` wrote. Its models are then compared, with their spread
    over seeds; for a page or a table, the codes that `unweave encode` wrote into the folder are.
    """
    with one_sentence_errors():
        hold_notes(options["as_json"])
        if len(files) == 1 and files[0].is_dir() and (pages := _pages(options)):
            folder, files = files[0], tuple(sorted(files[0].glob("*/codes.npz")))
            if not files:
                kind, page = next(iter(pages.items()))
                raise OptionError(
                    f"--{kind} needs the codes of the models: run unweave encode {shlex.quote(str(folder))} first, and "
                    f"then unweave compare {shlex.quote(str(folder))} --{kind} {shlex.quote(str(page))} again."
                )
        elif len(files) == 1 and files[0].is_dir():
            from unweave.cli.train import compare_folder

            compare_folder(files[0], names_in(options["metrics"]), options["as_json"])
            return
        check_writable(*_pages(options).values(), inputs=(*files, factors_from))
        from unweave.evaluation import compare as compare_all
        from unweave.files.reading import read_files, refuse_different_factors
        from unweave.report.answer import command_of_one

        representations = _representations(files, names_in(options["codes"]), factors_from)
        read = {
            label: read_files(
                *((path, None) if factors_from is None else (factors_from, path)), codes=names, **_columns(options)
            )
            for label, (path, names) in representations.items()
        }
        first = next(iter(read.values()))
        if factors_from is None:
            refuse_different_factors(
                {str(path): entry.factors for path, entry in zip(files, read.values(), strict=False)}
            )
        codes = {label: entry.codes for label, entry in read.items()}
        evaluation = compare_all(first.factors, codes, **_settings(options, first))
        given = {**options, "factors_from": factors_from}
        token = command_of_one.set(lambda label: _score_command(*representations[label], given))
        click.get_current_context().call_on_close(lambda: command_of_one.reset(token))
        show(evaluation, options["as_json"])
        _write_pages(evaluation, options)


ABOUT_DATA = (
    *("factors_from", "factors", "codes", "codes_std", "factor_names", "code_names", "row_groups", "nuisances"),
    *("target", "environments", "kinds", "missing"),
)


def _score_command(path: Path, codes: list[str], options: dict[str, Any]) -> str:
    """The command that scores one of the compared representations, with the same options about the data."""
    given = {**options, "codes": ",".join(codes), "missing": options["missing"].replace("refuse", "")}
    named = [(f"--{name.replace('_', '-')}", str(given[name])) for name in ABOUT_DATA if given.get(name)]
    return shlex.join(["unweave", "score", str(path), *(word for pair in named for word in pair)])


def _representations(
    files: tuple[Path, ...], named: list[str], factors_from: Path | None
) -> dict[str, tuple[Path, list[str]]]:
    """File and names of the codes of every representation, by its name."""
    from unweave.files.formats import opened

    if len(files) > 1 and named and factors_from is None:
        first, second = (opened(path) for path in files[:2])
        if first.is_archive and not set(first.names).intersection(first.chosen(named)) and named[0] in second.names:
            raise OptionError(
                f"{files[0]} has no {named[0]!r}, and {files[1]} has: if the first has only the factors, pass "
                f"--factors-from {files[0]}."
            )
    if len(files) == 1 and files[0].suffix == ".h5ad":
        named = opened(files[0]).chosen(named)
    if len(files) > 1 or len(named) < 2:
        return {label: (path, named) for label, path in zip(_distinct_labels(files), files, strict=True)}
    # several arrays of one file are several representations, as the keys of obsm are; obsm:X_pca is called X_pca
    bare = [name.partition(":")[2] or name for name in named]
    return {
        label: (files[0], [name])
        for label, name in zip(bare if len({*bare}) == len(bare) else named, named, strict=True)
    }


@click.command()
@click.argument("file", metavar="EVALUATION.json", type=A_PATH)
@with_page_options
@json_option
def report(file: Path, as_json: bool, **options: Any) -> None:
    """Write the report of a saved evaluation (the output of score --json, or a file that Evaluation.save wrote)."""
    with one_sentence_errors():
        from unweave.evaluation import Evaluation

        if not any(options.values()):
            raise OptionError("There is no report to write: name a file with --html, --markdown, --latex or --summary.")
        check_writable(*_pages(options).values(), inputs=(file,))
        _write_pages(Evaluation.load(file), options)
        if as_json:
            print_json("files", wrote=[str(path) for path in _pages(options).values()])


@click.command()
@click.argument("folder", type=A_PATH)
@option("--html FILE", "Write the tables as one HTML page.", A_PATH)
@option("--markdown FILE", "Write the tables as Markdown.", A_PATH)
@json_option
def leaderboard(folder: Path, html: Path | None, markdown: Path | None, as_json: bool) -> None:
    """Rank all models whose evaluations are in FOLDER (saved by score --json or Evaluation.save).

    Models with the same factors share a table of models and questions, with verdicts; a star marks what is best.
    """
    with one_sentence_errors():
        check_writable(html, markdown)
        from unweave.report.leaderboard import leaderboard as read_leaderboard

        board = read_leaderboard(folder)
        if as_json:
            from unweave.codec import plain_data

            print_json("leaderboard", **plain_data(board))
        else:
            print_wide(board)
        if html:
            board.to_html(html)
        if markdown:
            write_output(markdown, board.to_markdown())


@click.command()
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics by the question they answer."""
    from unweave.evaluation.choose import OTHER, QUESTIONS, question_of
    from unweave.metrics import CATALOGUE

    if as_json:
        print_json("metrics", metrics=[_plain_card(entry) for entry in CATALOGUE.values()])
        return
    from rich.console import Console
    from rich.text import Text

    from unweave.report.terminal import plain_table

    table = plain_table()
    table.add_column("metric", no_wrap=True)
    table.add_column("what it measures")
    for question in (*QUESTIONS, OTHER):
        entries = [entry for entry in CATALOGUE.values() if question_of(entry.card.measures) is question]
        if entries:
            table.add_section()
            table.add_row(Text(question.text, style="bold"))
        for entry in sorted(entries, key=lambda entry: entry.card.name not in question.panel):
            mark = " *" if entry.card.name in question.panel else ""
            table.add_row(f"  {entry.card.name}{mark}", entry.card.summary)
    # a pipe has no width, so use one that is wide enough for the table
    Console(width=None if sys.stdout.isatty() else 100, highlight=False).print(table)
    click.echo(
        "* computed by default. `unweave explain NAME` describes a metric; `--metrics all` computes all that apply."
    )


def _plain_card(entry: Metric) -> dict[str, Any]:
    """What the card of a metric says, as plain data."""
    from unweave.card.card import CardDescription
    from unweave.codec import plain_data
    from unweave.evaluation.choose import question_of

    question, described = question_of(entry.card.measures), CardDescription.of(entry.card, {})
    asked = {"question": question.text, "in_panel": entry.card.name in question.panel}
    return {**plain_data(described), "lower_is_better": described.lower_is_better, **asked}


@click.command()
@click.argument("name")
@json_option
def explain(name: str, as_json: bool) -> None:
    """Describe a metric: what it measures, when to use it, its formula and its options.

    NAME is a metric, or your own as module:name, which runs the code of the module.
    """
    with one_sentence_errors():
        from unweave.card.decorator import metric_of
        from unweave.card.explain import explanation
        from unweave.evaluation.choose import chosen_by_text

        chosen = chosen_by_text(name)
        entry = metric_of(chosen)
        if as_json:
            print_json("explain", **_plain_card(entry), text=explanation(chosen))
        else:
            click.echo(explanation(chosen))


@click.command()
@click.argument("source")
@option("--reference SOURCE", "Another decoder to compare with, such as the true one.")
@option("--latent-size", "Number of latents, if the decoder does not state it.", click.IntRange(1))
@option("--samples", "Number of latents to draw.", click.IntRange(1), default=1000)
@option("--seed", "Seed of the latents.", click.IntRange(0), default=0)
@option("--output-names NAMES", "Names of the outputs, separated by commas.")
@option("--standardise", "Scale every output to unit variance, as for outputs with different units.", is_flag=True)
@option("--keep NATS", "Print how many latents are needed to keep this many nats.", float)
@option("--picture", "Write the spectrum to this file (.png, .pdf, .svg).", A_PATH)
@option("--html FILE", "Write the report as one HTML page.", A_PATH)
@option("--pictures", "Write a page of pictures of a decoder of images (.html).", A_PATH)
@option("--image-shape C,H,W", "Shape of an image, if it is not square.", callback=image_shape_in)
@json_option
def geometry(source: str, reference: str | None, latent_size: int | None, **options: Any) -> None:
    """Measure how each latent of a decoder changes the data.

    SOURCE is a decoder as module:name, which runs the code of the module, a published VAE as an .npz file of its
    weights, or Jacobians (samples x outputs x latents) in an .npy or .npz file.
    """
    with one_sentence_errors():
        check_picture(options["picture"])
        check_page(options["pictures"])
        check_writable(options["html"])
        from functools import partial

        from unweave.codec import plain_data
        from unweave.evaluation import evaluate
        from unweave.evidence import Evidence
        from unweave.files.reading import read_decoder
        from unweave.metrics import CATALOGUE
        from unweave.metrics.manifolds import spectrum, standardised

        other = None if reference is None else read_decoder(reference, latent_size)
        names = names_in(options["output_names"]) or None
        evidence = Evidence(decoder=read_decoder(source, latent_size), reference=other, output_names=names)
        if options["standardise"]:
            scaled = standardised(evidence, rng=options["seed"])
            other = other and standardised(other, scaled.deviations)
            evidence = Evidence(decoder=scaled, reference=other, output_names=names)
        decoded = spectrum(evidence, n_samples=options["samples"], rng=options["seed"])
        fitting = [entry for entry in CATALOGUE.values() if entry.card.lacking(evidence) is None]
        chosen = [partial(entry, n_samples=options["samples"]) for entry in fitting]
        evaluation = evaluate(evidence, metrics=chosen, seed=options["seed"])
        if options["html"]:
            evaluation.to_html(options["html"])
        if options["picture"]:
            from unweave.report.figures.geometry import save, spectrum_figure

            knee = decoded.knee and decoded.knee[0]
            save(spectrum_figure({source: decoded.entropies}, knee=knee, names=decoded.names), options["picture"])
        if options["pictures"]:
            from unweave.report.geometry import write_geometry_page

            name = Path(source).name if source.endswith(".npz") else source
            write_geometry_page(options["pictures"], name, evidence, decoded, evaluation, options["image_shape"])
        from unweave.report.answer import answer_of, caveats_of_decoders
        from unweave.report.geometry import geometry_facts, geometry_table

        if options["as_json"]:
            facts = {"schema": "unweave.geometry/1", **plain_data(geometry_facts(decoded, options["keep"]))}
            click.echo(json.dumps(json.loads(evaluation.to_json()) | {"geometry": facts}, allow_nan=False))
        else:
            answer, shown = evaluation.answer, answer_of(evaluation).spectrum
            tables = shown.tables()[1:] if shown else ()
            said = [answer["headline"], answer["identified"]] if answer["spectrum"] else []
            said.append(caveats_of_decoders(evaluation.data.decoders.get("decoder")))
            print_wide(geometry_table(decoded, evaluation, options["keep"], said, tables))


@click.command()
@option("--rows", "Number of samples to draw.", click.IntRange(50), default=1000)
@option("--trained", "Train a small model on images, encode them, score the codes and write the page.", is_flag=True)
@option("--out", "Folder for the results of --trained.", A_PATH, default=Path("trained-demo"), show_default=False)
@json_option
def demo(rows: int, trained: bool, out: Path, as_json: bool) -> None:
    """Score four encoders of a simulated scene, or train and score a small model in a minute (--trained)."""
    with one_sentence_errors():
        if trained:
            from unweave.cli.demos import trained_demonstration
            from unweave.report.html import write_pages

            out.mkdir(parents=True, exist_ok=True)
            evaluation, pictures = trained_demonstration(out, lambda line: click.echo(line, err=as_json))
            show(evaluation, as_json)
            for path in write_pages(evaluation, html=out / "page.html", pictures=pictures):
                click.echo(f"wrote {path}", err=as_json)
            return
        from unweave.cli.demos import DEMO_BUDGET, introduction, scene_encoders
        from unweave.evaluation import compare as compare_all

        factors, representations = scene_encoders(rows)
        click.echo(introduction(), err=as_json)
        show(compare_all(factors, representations, budget=DEMO_BUDGET, progress=True), as_json)


def _columns(options: dict[str, Any]) -> dict[str, Any]:
    """Columns or arrays of a file that are not codes, as `read_files` takes them."""
    names = ("codes_std", "row_groups", "target", "environments")
    chosen = {name: options[name] for name in names if name in options}
    nuisances = {"nuisances": names_in(options["nuisances"])} if "nuisances" in options else {}
    return {"factors": names_in(options["factors"])} | chosen | nuisances


def _settings(options: dict[str, Any], files: Files) -> dict[str, Any]:
    kept = {name: options[name] for name in ("missing", "quick", "budget", "screen")}
    return kept | {
        "metrics": names_in(options["metrics"]) or None,
        "kinds": kinds_in(options["kinds"]) or files.kinds,
        "n_seeds": options["seeds"],
        "n_jobs": options["jobs"],
        "row_groups": files.row_groups,
        "target": files.target,
        "environments": files.environments,
        "nuisances": files.nuisances,
        "factor_names": names_in(options["factor_names"]) or None,
        "code_names": names_in(options["code_names"]) or files.code_names,
        "progress": True,
    }


def _distinct_labels(files: tuple[Path, ...], what: str = "representation") -> list[str]:
    """File names without extensions, the folders of the files, or full paths: the first that are distinct."""
    if len(set(files)) < len(files):
        fail(f"A file is named twice: name every {what} once.")
    stems, folders = [path.stem for path in files], [path.parent.name for path in files]
    distinct = (names for names in (stems, folders) if all(names) and len(set(names)) == len(files))
    return next(distinct, [*map(str, files)])


def _pages(options: dict[str, Any]) -> dict[str, Path]:
    """Paths of the requested pages by kind."""
    if options["html"] and options["html"].suffix.lower() in (".pdf", ".png", ".docx"):
        raise OptionError(f"{options['html']} would be a page of HTML: name it .html, and print it from a browser.")
    return {kind: options[kind] for kind in ("html", "markdown", "summary", "latex") if options[kind]}


def _pictures(files: Files, kinds: Any, options: dict[str, Any]) -> CodePictures | None:
    """Pictures of how each code changes the images, drawn before the scores so that errors appear early."""
    from unweave.evidence import Evidence

    if options["decoder"] is None:
        if options["images"]:
            raise OptionError("--images shows reconstructions, which need a model: name it with --decoder.")
        return None
    if not options["html"]:
        raise OptionError("--decoder draws on the page: name its file with --html.")
    import numpy as np

    from unweave.datasets import load
    from unweave.encoding import encode as encode_images
    from unweave.encoding import named_model
    from unweave.report.html import code_pictures, decoder_of

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
        from unweave.report.html import write_pages

        for path in write_pages(evaluation, **wanted, pictures=pictures):
            click.echo(f"wrote {path}", err=True)


EVIDENCE_OPTIONS = ("kinds", "missing", "row_groups", "factor_names", "code_names")


def show_concepts(files: Files, settings: dict[str, Any], options: dict[str, Any]) -> None:
    """Print how well the codes detect the concepts."""
    from unweave.evaluation.concepts import concept_report
    from unweave.evidence import Evidence
    from unweave.evidence.blocks import RowBlocks
    from unweave.report.tables import concept_table

    if _pages(options):
        raise OptionError("--metrics concepts prints a table or JSON: leave --html, --markdown and --summary out.")
    if isinstance(files.factors, RowBlocks):
        raise OptionError("Concepts are scored in memory, and this folder is too large: pass fewer of its files.")
    evidence = Evidence(files.factors, files.codes, **{name: settings[name] for name in EVIDENCE_OPTIONS})
    concepts = concept_report(evidence, budget=0 if settings["quick"] else settings["budget"])
    if options["as_json"]:
        click.echo(json.dumps(concepts.to_dict(), allow_nan=False))
    else:
        print_wide(concept_table(concepts))


@click.command()
@click.argument("first", type=A_PATH)
@click.argument("second", type=A_PATH)
@option(
    "--matching",
    "Optimal assignment, or greedy matching in rounds for very many columns.",
    click.Choice(["exact", "fast"]),
    default="exact",
)
@option("--unsigned", "Count opposite directions as the same.", is_flag=True)
@json_option
def dictionaries(first: Path, second: Path, matching: Any, unsigned: bool, as_json: bool) -> None:
    """Match the columns of two decoders one to one, and print the mean cosine of the pairs (PW-MCC).

    FIRST and SECOND are .npy files (dimensions x codes), of two seeds of an autoencoder or of known directions.
    """
    with one_sentence_errors():
        from unweave.files.formats import opened
        from unweave.metrics.concepts import dictionary_matching

        read = [opened(path) for path in (first, second)]
        for file in read:
            if not file.is_one_array:
                raise OptionError(
                    f"{file.path} is not an .npy file with one array: save the decoder, dimensions x codes."
                )
        arrays = [file.content.toarray() if hasattr(file.content, "toarray") else file.content for file in read]
        pairing = dictionary_matching(*arrays, matching=matching, signed=not unsigned)
        if as_json:
            pairs = {name: getattr(pairing, name).tolist() for name in ("first", "second", "cosines")}
            stated = {"mean_cosine": pairing.mean_cosine, "chance": pairing.chance, **pairs}
            print_json("dictionaries", **stated)
            return
        click.echo(
            f"Mean cosine of {pairing.cosines.size:,} matched columns: {pairing.mean_cosine:.4f} (the best of "
            f"{arrays[1].shape[1]:,} random directions has about {pairing.chance:.2f}). "
            f"{int((pairing.cosines >= 0.9).sum()):,} pairs have 0.9 or more."
        )


@click.command()
@click.argument("files", type=A_PATH, nargs=-1, required=True)
@option("--factors-from", "File with the factors, if FILES contain only codes.", A_PATH)
@option("--layers NAMES", "Arrays of one .npz file to use as layers, separated by commas.")
@option("--baseline", "File with the codes of a twin, such as untrained.", A_PATH)
@option("--probes NAMES", "Probes, separated by commas.", default="linear,kernel,boosted")
@option(
    "--split",
    "Random folds, or folds whose rows combine ranges of factors that no training row combines.",
    click.Choice(["random", "unseen combinations"]),
    default="random",
)
@option("--seed", "Seed of folds and pairings.", click.IntRange(0), default=0)
@option("--picture", "Draw factors x layers into this file (.png, .pdf, .svg).", A_PATH)
@with_data_options
def probe(files: tuple[Path, ...], factors_from: Path | None, **options: Any) -> None:
    """Predict every factor from the codes of every layer, by linear, kernel and boosted probes.

    Pass one file for each layer, all with the same samples and factors, or one .npz file and the names of its layers
    with --layers. All probes are tested on the same held-out rows.
    """
    with one_sentence_errors():
        check_picture(options["picture"])
        from unweave.evaluation.probe import probe as probed
        from unweave.files.formats import opened
        from unweave.files.reading import read_codes, read_files, refuse_different_factors

        names = names_in(options["layers"])
        if names and len(files) > 1:
            raise OptionError(
                "--layers names arrays of one file: pass one file, or one for each layer without --layers."
            )
        if names:
            file = opened(files[0])
            file.check(file.chosen(names), "--layers")
        choices = (
            {name: (files[0], [name]) for name in names}
            if names
            else {name: (path, []) for name, path in zip(_distinct_labels(files, "layer"), files, strict=True)}
        )
        read = {
            name: read_files(
                *((path, None) if factors_from is None else (factors_from, path)), codes=codes, **_columns(options)
            )
            for name, (path, codes) in choices.items()
        }
        if factors_from is None:
            refuse_different_factors({name: entry.factors for name, entry in read.items()})
        first = next(iter(read.values()))
        found = probed(
            first.factors,
            {name: entry.codes for name, entry in read.items()},
            baseline=None if options["baseline"] is None else read_codes(options["baseline"]),
            probes=names_in(options["probes"]),
            split=options["split"],
            rng=options["seed"],
            kinds=kinds_in(options["kinds"]) or first.kinds,
            missing=options["missing"],
            row_groups=first.row_groups,
            factor_names=names_in(options["factor_names"]) or None,
        )
        if options["picture"]:
            from unweave.report.figures.geometry import save

            save(found.plot(), options["picture"])
        click.echo(json.dumps(found.to_dict(), allow_nan=False) if options["as_json"] else str(found))


@click.command()
@click.argument("files", type=A_PATH, nargs=-1, required=True)
@option("--codes NAMES", "Columns or arrays to use as codes.")
@option("--codes-std NAME", "Array with the standard deviations of the codes' posterior. [default: codes_std]")
@option("--similarity", "Compare all pairs by CKA, CCA, Procrustes and other measures, too.", is_flag=True)
@option("--picture", "Draw the matrix of calibrated CKA into this file (.png, .pdf, .svg).", A_PATH)
@option("--seed", "Seed of the train and test split for the linear agreement.", int, default=0)
@json_option
def unlabelled(files: tuple[Path, ...], **options: Any) -> None:
    """Measure representations without factors: active codes, total correlation, and agreement between runs.

    Pass one file for each run (for example one per seed of the same model), all with the same samples: .npz (array
    'codes', and 'codes_std' for a posterior), .npy, .csv or .parquet. For a decoder, see `unweave geometry`.
    """
    with one_sentence_errors():
        from unweave.evaluation.unlabelled import unlabelled as described
        from unweave.files.reading import read_codes

        runs = {
            name: read_codes(path, names_in(options["codes"]), options["codes_std"])
            for name, path in zip(_distinct_labels(files, "run"), files, strict=True)
        }
        if options["picture"]:
            check_picture(options["picture"])
        wanted = options["similarity"] or options["picture"] is not None
        description = described(runs, similarity=wanted, rng=options["seed"])
        if options["picture"] and description.similarity:
            from unweave.report.figures.geometry import save

            save(description.similarity.plot(), options["picture"])
        if options["as_json"]:
            click.echo(json.dumps(description.to_dict(), allow_nan=False))
            return
        from unweave.report.tables import unlabelled_table

        print_wide(unlabelled_table(description))
        if description.similarity:
            click.echo(f"\n{description.similarity}")
