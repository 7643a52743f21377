"""The tables that `unweave score --metrics concepts` prints.

They show how well single codes detect each concept, and how many codes are active.
"""

from __future__ import annotations

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from unweave.metrics.concepts import ConceptReport
from unweave.words.phrases import counted, fixed

MOST_CONCEPTS = 40
MOST_CODES = 10


def concept_table(found: ConceptReport) -> Group:
    """Return the totals, a table with one row per concept, and the codes that depend on a concept."""
    rows, totals = found.rows(), found.totals()
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    probes = [f"probe_{k}" for k in found.probes.k]
    headings = ["concept", "share", "best code", "F1", "(trivial)", "AUROC", "(chance)", "AP"]
    for heading in [*headings, *(f"k = {k}" for k in found.probes.k), "split over", "absorbed by"]:
        shown.add_column(heading, justify="left" if heading in ("concept", "best code") else "right")
    for row in rows[:MOST_CONCEPTS]:
        shown.add_row(
            row["concept"],
            f"{100 * row['prevalence']:.3g} %",
            row["f1_code"],
            fixed(row["f1"], 2),
            fixed(row["f1_of_chance"], 2),
            fixed(row["auroc"], 2),
            fixed(row["auroc_of_chance"], 2),
            fixed(row["average_precision"], 2),
            *(fixed(None if row[name] != row[name] else row[name], 2) for name in probes),
            counted(row["specific_codes"], "code") if row["split"] else "",
            counted(row["absorbing_codes"], "code") if row["absorbing_codes"] else "",
        )
    hidden = len(rows) - MOST_CONCEPTS
    are = "is" if hidden == 1 else "are"
    return Group(
        Text(_use(totals)),
        shown,
        *([Text(f"{counted(hidden, 'concept')} {are} not shown; --json writes all of them.")] if hidden > 0 else []),
        Text(READING, style="dim"),
        Text(_codes(found)),
    )


READING = (
    "F1, AUROC and average precision (AP) are each the maximum over single codes; 'best code' is the code with the "
    "highest F1. 'Trivial' is the F1 of predicting the concept for every sample. 'Chance' is the expected maximum "
    "AUROC of the same number of random codes. The columns k = 1, 2, ... are the held-out AUROCs of probes on k codes; "
    "random codes score 0.5."
)


def _use(totals: dict[str, float]) -> str:
    return (
        f"{counted(int(totals['n_rows']), 'row')}, {counted(int(totals['n_codes']), 'code')}, of which "
        f"{totals['active_per_row']:.3g} are active on a row (density {100 * totals['mean_density']:.3g} %); "
        f"{int(totals['dead_codes']):,} are dead, {int(totals['dense_codes']):,} are active on more than half of the "
        f"rows, {int(totals['always_on_codes']):,} on all. {counted(int(totals['split_concepts']), 'concept')} split, "
        f"{int(totals['absorbed_concepts']):,} partly absorbed by other codes."
    )


def _codes(found: ConceptReport) -> str:
    screening = found.screening
    said = (
        f"{screening.codes.size:,} of {screening.n_codes:,} codes depend on a concept (false-discovery rate "
        f"{100 * screening.rate:g} %)"
    )
    named = [f"{code} ({factor})" for code, factor in zip(screening.names, screening.factors, strict=True)]
    rest = f" and {len(named) - MOST_CODES:,} more" if len(named) > MOST_CODES else ""
    return f"{said}: {', '.join(named[:MOST_CODES])}{rest}." if named else f"{said}."
