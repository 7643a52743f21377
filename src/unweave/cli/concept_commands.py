"""Commands for sparse autoencoders: `score --metrics concepts`, and `dictionaries`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unweave.cli.terminal import one_sentence_errors, print_wide

if TYPE_CHECKING:
    from unweave.files.tables_and_arrays import Files

EVIDENCE_OPTIONS = ("kinds", "missing", "row_groups", "factor_names", "code_names")
PAGES = ("html", "markdown", "summary")


def show_concepts(files: Files, settings: dict[str, Any], options: dict[str, Any]) -> None:
    """Print how well the codes detect the concepts."""
    from unweave.evidence import Evidence, EvidenceError
    from unweave.evidence.large.row_blocks import RowBlocks
    from unweave.metrics.concepts import concept_report
    from unweave.report.concept_table import concept_table

    if any(options[page] for page in PAGES):
        raise EvidenceError("--metrics concepts prints a table or JSON: leave --html, --markdown and --summary out.")
    if isinstance(files.factors, RowBlocks):
        raise EvidenceError("Concepts are scored in memory, and this folder is too large: pass fewer of its files.")
    evidence = Evidence(files.factors, files.codes, **{name: settings[name] for name in EVIDENCE_OPTIONS})
    found = concept_report(evidence)
    if options["as_json"]:
        click.echo(json.dumps(found.to_dict(), allow_nan=False))
    else:
        print_wide(concept_table(found))


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option(
    "--matching",
    type=click.Choice(["exact", "fast"]),
    default="exact",
    show_default=True,
    help="Optimal assignment, or greedy matching in rounds for very many columns.",
)
@click.option("--unsigned", is_flag=True, help="Count opposite directions as the same.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a sentence.")
def dictionaries(first: Path, second: Path, matching: Any, unsigned: bool, as_json: bool) -> None:
    """Match the columns of two decoders one to one, and print the mean cosine of the pairs (PW-MCC).

    FIRST and SECOND are .npy files (dimensions x codes), of two seeds of an autoencoder or of known directions.
    """
    with one_sentence_errors():
        from unweave.evidence import EvidenceError
        from unweave.files.formats import opened
        from unweave.metrics.concepts import dictionary_matching

        read = [opened(path) for path in (first, second)]
        for file in read:
            if not file.is_one_array:
                raise EvidenceError(
                    f"{file.path} is not an .npy file with one array: save the decoder, dimensions x codes."
                )
        arrays = [file.content.toarray() if hasattr(file.content, "toarray") else file.content for file in read]
        found = dictionary_matching(*arrays, matching=matching, signed=not unsigned)
        if as_json:
            pairs = {"first": found.first.tolist(), "second": found.second.tolist(), "cosines": found.cosines.tolist()}
            stated = {"mean_cosine": found.mean_cosine, "chance": found.chance, **pairs}
            click.echo(json.dumps({"schema": "unweave.dictionaries/1", **stated}, allow_nan=False))
            return
        click.echo(
            f"Mean cosine of {found.cosines.size:,} matched columns: {found.mean_cosine:.4f} (the best of "
            f"{arrays[1].shape[1]:,} random directions has about {found.chance:.2f}). "
            f"{int((found.cosines >= 0.9).sum()):,} pairs have 0.9 or more."
        )
