"""The commands `reproduce`, `claims` and `checklist`, which the command line of unweave finds by entry points."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from unweave.cli.terminal import (
    json_option,
    kinds_in,
    names_in,
    one_sentence_errors,
    option,
    print_json,
    print_wide,
    resumable,
)


def _names(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    return tuple(names_in(text)) or None


@click.command()
@click.argument("paper", required=False)
@click.argument("experiment", required=False)
@option("--out", "Folder for the results.", click.Path(path_type=Path), default=Path("reproduced"))
@option("--seed", "The seed, or the first of several.", click.IntRange(0))
@option("--seeds N", "Number of seeds.", click.IntRange(1, 10_000), to="n_seeds")
@option("--rows N", "Number of samples.", click.IntRange(1), to="n_rows")
@option("--steps N", "Training steps.", click.IntRange(1), to="n_steps")
@option("--metrics NAMES", "Only these metrics, separated by commas: MCC-P,R2.", callback=_names)
@option(
    "--protocol",
    "How to compute: as here (default), or as the authors' released code does.",
    click.Choice(["ours", "authors"]),
)
@option("--authors-data DIR", "Folder of the authors' tables.", click.Path(path_type=Path))
@option("--data DIR", "Folder of the data set.", click.Path(path_type=Path))
@option("--weights DIR", "Folder of trained weights.", click.Path(path_type=Path))
@option("--codes DIR", "Folder of codes, in place of weights.", click.Path(path_type=Path))
@option("--quick", "Smaller models and images, for a first look.", default=None, is_flag=True)
@option("--jobs N", "Processes, -1 for all cores.", int, to="n_jobs")
@option("--cluster ADDRESS", "Compute on the Dask cluster whose scheduler is there.")
@json_option
def reproduce(paper: str | None, experiment: str | None, out: Path, as_json: bool, **given: Any) -> None:
    """Reproduce an experiment of a paper, and compare the results with the paper.

    Without EXPERIMENT the command lists the experiments of PAPER, and without PAPER it lists the papers. If PAPER is
    'all', it computes every experiment of every paper that the given options allow, after a plan with their costs, and
    writes one page with every figure (index.html). An experiment says which options it takes. An interrupted
    experiment continues when the same command is given again. Tables, pictures and checkpoints are written to --out.
    """
    with one_sentence_errors():
        from unweave_papers.experiment import MODULES, Options, experiments_table, paper_of, papers_table, reproduced
        from unweave_papers.stored import cost_sentence, peak_memory

        if as_json and experiment is None:
            listed = [paper_of(number) for number in (MODULES if paper is None else [paper])]
            fields = ("name", "title", "requirements", "cost")
            papers = [
                {
                    "paper": entry.number,
                    "title": entry.title,
                    "experiments": [{field: getattr(one, field) for field in fields} for one in entry.experiments],
                }
                for entry in listed
            ]
            print_json("papers", papers=papers)
        elif paper is None:
            print_wide(papers_table())
        elif paper == "all":
            from unweave_papers.everything import plan_table, planned, reproduced_all

            plan = planned(Options(out, progress=True, **given))
            print_wide(plan_table(plan))
            with resumable():
                for line in reproduced_all(plan):
                    print_wide(line)
        elif experiment is None:
            print_wide(experiments_table(paper_of(paper)))
        else:
            start = time.process_time()
            wrote = []
            with resumable():
                for line in reproduced(paper, experiment, Options(out, progress=True, **given)):
                    if isinstance(line, str) and line.startswith("wrote "):
                        wrote.append(line.removeprefix("wrote "))
                    if not as_json:
                        print_wide(line)
            if as_json:  # the comparison with the paper is in the file of claims
                found = [path for path in wrote if path.endswith("-claims.json")]
                checks = json.loads(Path(found[0]).read_bytes()) if found else []
                print_json("reproduce", paper=paper, experiment=experiment, checks=checks, wrote=wrote)
            # on stderr, because the output itself should be the same every time
            click.echo(cost_sentence(time.process_time() - start, peak_memory()), err=True)


@click.command()
@click.argument("what", nargs=-1, metavar="[check] [PAPER | PAPER:NUMBER]...")
@option("--verdict TEXT", "Show only claims with this verdict, such as 'holds' or 'does not hold'.")
@option("--budget S", "Seconds of computing. Claims that do not fit are skipped.", click.FloatRange(0))
@option("--cheap S", "Check only claims that take less than this each.", click.FloatRange(0))
@option("--record", "Save the computed figures as the reference for later checks.", to="to_record", is_flag=True)
@option("--out", "", click.Path(path_type=Path), default=Path("reproduced"))
@option("--weights DIR", "Folder of trained weights.", click.Path(path_type=Path))
@option("--data DIR", "Folder of the data set.", click.Path(path_type=Path))
@option("--authors-data DIR", "Folder of the authors' tables.", click.Path(path_type=Path))
@json_option
def claims(what: tuple[str, ...], verdict: str | None, to_record: bool, out: Path, as_json: bool, **given: Any) -> None:
    """List the claims of the papers with our verdicts, show one claim, or recompute the evidence.

    'unweave claims' counts the claims, 'unweave claims 003' lists those of a paper, and 'unweave claims 003:44' shows
    one. 'unweave claims check 003' recomputes the evidence, and fails if a figure or a verdict has changed.
    """
    with one_sentence_errors():
        from unweave_papers.ledger import claim_of, claims_table, selected_claims, shown_claim, summary_table

        checks = bool(what) and what[0] == "check"
        names = what[1:] if checks else what
        if checks:
            _check(selected_claims(names, verdict), to_record, out, as_json=as_json, **given)
        elif as_json:
            chosen = (
                [claim_of(name) for name in names] if names and ":" in names[0] else selected_claims(names, verdict)
            )
            print_json("claims", claims=[{field: getattr(claim, field) for field in CLAIM_FIELDS} for claim in chosen])
        elif not names and verdict is None:
            print_wide(summary_table())
        elif len(names) == 1 and ":" in names[0]:
            click.echo(shown_claim(claim_of(names[0])))
        else:
            print_wide(claims_table(selected_claims(names, verdict)))


CLAIM_FIELDS = ("paper", "number", "where", "statement", "stated", "verdict", "why")


def _check(
    chosen: Any, to_record: bool, out: Path, budget: float | None, cheap: float | None, as_json: bool, **folders: Any
) -> None:
    import math

    from unweave.progress import progress_bar
    from unweave_papers.experiment import Options
    from unweave_papers.ledger import CHANGED, check, check_lines, outcome_table, recorded

    wanted = [claim for claim in chosen if cheap is None or claim.seconds < cheap]
    options = Options(out, progress=True, **folders)
    checked = []
    with resumable(), progress_bar(len(wanted), True) as bar:
        for entry in check(wanted, options, math.inf if budget is None else budget):
            checked.append(entry)
            bar.advance(text=f"claim {entry.claim.name}")
    if to_record:
        for path in recorded(checked):
            click.echo(f"wrote {path}", err=as_json)
    if as_json:
        fields = ("outcome", "reason", "seconds")
        outcomes = [{"claim": entry.claim.name} | {name: getattr(entry, name) for name in fields} for entry in checked]
        print_json("claims_check", claims=outcomes)
    elif not to_record:
        for line in check_lines(checked):
            print_wide(line)
    failing: tuple[str, ...] = ("failed", "verdict changed") if to_record else CHANGED
    wrong = [entry for entry in checked if entry.outcome in failing]
    if wrong:
        if to_record and not as_json:
            print_wide(outcome_table(wrong))
        raise SystemExit(1)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("codes_file", type=click.Path(path_type=Path), required=False)
@option("--factors NAMES", "Columns of a table, or arrays of an .npz file, to use as factors.")
@option("--codes NAMES", "Columns or arrays to use as codes.")
@option("--kinds KINDS", "Kinds of the factors: one for all, one for each, or NAME=KIND pairs, separated by commas.")
@option("--seed", "", click.IntRange(0), default=0)
@json_option
def checklist(file: Path, codes_file: Path | None, as_json: bool, **options: Any) -> None:
    """Answer the practitioner's checklist of 003 (appendix A), item by item, on the data in FILE."""
    with one_sentence_errors():
        from unweave.evidence import Evidence
        from unweave.files.reading import read_files
        from unweave_papers.paper003.checklist import checklist as items_of
        from unweave_papers.paper003.checklist import checklist_table

        files = read_files(file, codes_file, factors=names_in(options["factors"]), codes=names_in(options["codes"]))
        evidence = Evidence(files.factors, files.codes, kinds=kinds_in(options["kinds"]) or files.kinds)
        items = items_of(evidence, options["seed"])
        if as_json:
            print_json("checklist", items=items)
        else:
            print_wide(checklist_table(items))
