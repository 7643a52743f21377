"""Tables of concepts, runs, groups of seeds and unlabelled codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from unweave.evaluation.concepts import ConceptReport
from unweave.evaluation.environments import Environments
from unweave.evaluation.probe import ProbeReport
from unweave.evaluation.results import GroupedScore, GroupedScores
from unweave.evaluation.similarity import Similarity
from unweave.evaluation.unlabelled import RunPair, Unlabelled
from unweave.report.answer import settings_tested
from unweave.report.terminal import WIDTH, Prose, number_table, plain_table
from unweave.sentences import between, counted, fixed, say

if TYPE_CHECKING:
    from unweave.sweeps.trained_models import RunComparison

MOST_CONCEPTS = 40
MOST_CODES = 10


def concept_table(found: ConceptReport) -> Group:
    """Return the totals, a table with one row per concept, and the codes that depend on a concept."""
    rows, totals = found.rows(), found.totals()
    probes = [f"probe_{k}" for k in found.probes.k]
    single = {"f1": "F1", "auroc": "AUROC", "average_precision": "AP"}
    measures = single | {name: f"k = {name.removeprefix('probe_')}" for name in probes}
    headings = [heading for name in measures.values() for heading in (name, "(noise)")]
    lines = []
    for row in rows[:MOST_CONCEPTS]:
        numbers = [
            number for name in measures for number in (_with_interval(row, name), _two_decimals(row[f"{name}_floor"]))
        ]
        split_over = counted(row["specific_codes"], "code") if row["split"] else ""
        absorbed_by = counted(row["absorbing_codes"], "code") if row["absorbing_codes"] else ""
        share = f"{100 * row['prevalence']:.3g} %"
        lines.append((row["concept"], share, _best_code(row), *numbers, split_over, absorbed_by))
    heads = ("concept", "share", "best code", *headings, "split over", "absorbed by")
    hidden = len(rows) - MOST_CONCEPTS
    are = "is" if hidden == 1 else "are"
    return Group(
        Text(_use(totals)),
        number_table(heads, lines, left=("concept", "best code")),
        *([Text(f"{counted(hidden, 'concept')} {are} not shown; --json writes all of them.")] if hidden > 0 else []),
        Text(READING, style="dim"),
        *(Text(note, style="dim") for note in found.notes()),
        Text(_codes(found)),
    )


def _best_code(row: dict[str, Any]) -> str:
    """The code with the largest F1; if others have the same F1, their number, because the choice is then arbitrary."""
    named = row["f1_code"] if row["f1_sign"] > 0 else f"not {row['f1_code']}"
    return named if row["f1_ties"] == 1 else f"{named} (1 of {row['f1_ties']:,} with this F1)"


def _with_interval(row: dict[str, Any], name: str) -> str:
    ends = row[f"{name}_interval"]
    return _two_decimals(row[name]) + (f" ({between(*ends)})" if ends else "")


def _two_decimals(number: float) -> str:
    return fixed(None if math.isnan(number) else number, 2)


READING = (
    "F1, AUROC and average precision (AP) are each the maximum over single codes; 'best code' is the code with the "
    "highest F1, and 'not' means that it is low where the concept is present. The columns k = 1, 2, ... are held-out "
    "AUROCs of probes on k codes. 'Noise' is the mean score of as many random codes, and brackets have 95 % intervals. "
    "'unweave explain concept_f1' describes F1, and concept_auroc, concept_average_precision, concept_probe, "
    "concept_splitting and concept_absorption describe the others."
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


MOST_PAIRS = 15


def unlabelled_table(found: Unlabelled) -> Group:
    """Return a table of the runs, and a table of the pairs of runs with the highest and lowest agreement."""
    scores = list(dict.fromkeys(name for facts in found.runs.values() for name in facts.scores))
    heads = ("run", "codes", "active", "total correlation", *scores, *(["UDR"] if found.pairs else []))
    lines = []
    for name, facts in found.runs.items():
        numbers = [facts.total_correlation, *(facts.scores.get(score, math.nan) for score in scores)]
        numbers += [facts.ranking] if found.pairs else []
        lines.append((name, str(facts.n_codes), str(facts.n_active), *map(_unlabelled_number, numbers)))
    runs = number_table(heads, lines, left=("run",), whole=("run",))
    heading = (
        f"{counted(found.n_rows, 'row')}, {counted(len(found.runs), 'run')}, no factors; total correlation in nats"
    )
    return Group(Text(heading), runs, *_agreement(found))


def plain_text(*parts: Any, width: int = 120) -> str:
    """Return what a terminal of this width would show, without colours; every part begins a line."""
    buffer = StringIO()
    Console(file=buffer, width=width, color_system=None, force_jupyter=False).print(*parts, sep="\n")
    return buffer.getvalue().rstrip()


def _agreement(found: Unlabelled) -> list[Table | Text]:
    if not found.pairs:
        return [
            Text("If you pass two or more runs, the agreement between their codes is measured as well.", style="dim")
        ]
    shown = sorted(found.pairs, key=lambda pair: -pair.matched)
    if len(shown) > MOST_PAIRS:
        shown = [*shown[: MOST_PAIRS // 2], *shown[-(MOST_PAIRS // 2) :]]
    lines = [
        (
            f"{pair.first}, {pair.second}",
            *map(_unlabelled_number, (pair.matched, pair.chance, pair.linear, pair.ranking)),
        )
        for pair in shown
    ]
    heads = ("runs", "matched one to one", "unrelated codes", "linear map (R2)", "UDR")
    table = number_table(heads, lines, left=("runs",))
    left = len(found.pairs) - len(shown)
    rest = [Text(f"{counted(left, 'pair')} with intermediate agreement are not shown.")] if left else []
    return [table, *rest, Text(_meaning(found.pairs))]


def _meaning(pairs: tuple[RunPair, ...]) -> str:
    matched, linear = (fmean(getattr(pair, name) for pair in pairs) for name in ("matched", "linear"))
    chance = fmean(pair.chance for pair in pairs)
    if matched != matched:
        return "A run has no active code, so the agreement cannot be measured."
    if matched > 0.9:
        text = "The runs learned the same codes up to permutation and monotone maps."
    elif linear > 0.9:
        text = "The runs agree up to a linear map but not code by code: they mix the same subspace differently."
    elif matched < 1.5 * chance:
        text = "The codes of different runs have no more in common than unrelated codes."
    else:
        text = "The runs agree partly."
    return f"{text} Agreement does not show that the codes are the factors: this can only be tested with labelled rows."


def _unlabelled_number(value: float) -> str:
    return "inf" if value == float("inf") else fixed(None if value != value else value)


HEADINGS = {"active_codes": "active", "reconstruction": "recon. (nats)", "kl": "KL (nats)"}


def runs_table(found: RunComparison) -> Any:
    """Return a table with one row per model, grouped by setting, with mean and standard deviation over seeds.

    Settings that share a letter do not differ significantly.
    """
    table = plain_table()
    table.add_column("model", no_wrap=True)
    for column in found.columns:
        table.add_column(HEADINGS.get(column, column.replace("_", " ")), justify="right")
    for setting in found.settings:
        table.add_section()
        for row in found.of_setting(setting):
            cells = [_run_number(row.column(column), column) for column in found.columns]
            table.add_row(f"{setting} seed {row.seed}" + (f"  {row.problem}" if row.problem else ""), *cells)
        cells = [_spread(found, setting, column) for column in found.columns]
        table.add_row(f"  {counted(len(found.of_setting(setting)), 'seed')}", *cells, style="bold")
    return table


def _spread(found: RunComparison, setting: str, column: str) -> str:
    spread, letters = found.spread(setting, column), found.letters.get(column, {}).get(setting, "")
    if len(spread.values) < 2:
        return _run_number(spread.mean, column)
    return f"{_run_number(spread.mean, column)} ± {_run_number(spread.std, column)} {letters}".rstrip()


def _run_number(value: float, column: str) -> str:
    if value != value:
        return "-"
    text = f"{value:.1f}" if column in HEADINGS else f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and column not in HEADINGS else text


def grouped_table(found: GroupedScores, labels: Sequence[str] = ()) -> Table:
    """Return the table of these metrics, or of all, with the settings ranked by the first metric of all."""
    first, labels = next(iter(found.scores)), labels or tuple(found.scores)
    lines = [
        (
            group,
            str(len(found.score(first, group).values)),
            *(_cell(found.score(label, group)) for label in labels),
        )
        for group in found.ranked(first)
    ]
    return number_table(("setting", "seeds", *labels), lines, left=("setting",), whole=("setting",))


def grouped_text(found: GroupedScores) -> str:
    """Return the tables as plain text, with an explanation of the letters."""
    return plain_text(*grouped_parts(found), width=WIDTH)


def grouped_parts(found: GroupedScores) -> list[Table | Text]:
    """Return the scores of the settings, as many metrics beside each other as fit, their legend, and the tests."""
    room = WIDTH - max(len("setting"), *map(len, found.groups)) - len("seeds") - 5
    tables: list[list[str]] = [[]]
    for label in found.scores:
        widths = [len(head) + 4 for head in (*tables[-1], label)]
        widths = [max(width, len("-0.000 ± 0.000 ab") + 4) for width in widths]
        tables = [*tables[:-1], [*tables[-1], label]] if sum(widths) <= room or not tables[-1] else [*tables, [label]]
    ladder = f" {say('what_ladder_is')}" * ("ladder" in found.scores)
    tests = settings_tested(found, tuple(found.scores))
    return [
        *(grouped_table(found, labels) for labels in tables),
        Prose(f"{say('reading_of_settings', tested=bool(tests.rows))}{ladder}"),
        *([number_table(tests.heads, tests.rows, left=tests.heads[:2])] if tests.rows else []),
    ]


def _cell(score: GroupedScore) -> str:
    if score.std != score.std:
        return fixed(None if score.mean != score.mean else score.mean)
    return f"{fixed(score.mean)} ± {fixed(score.std)} {score.letters}".rstrip()


def similarity_text(found: Similarity) -> str:
    """The table of similarities as plain text."""
    heads = ("pair", "measure", "similarity", "interval", "unrelated", "calibrated", "p")
    lines = []
    for row in found.rows:
        interval = between(row.lower, row.upper, 3) if row.lower == row.lower else fixed(None)
        numbers = (fixed(row.value), interval, fixed(row.floor))
        shown = ("", row.note, "") if row.note and row.value != row.value else numbers
        lines.append((f"{row.first}, {row.second}", row.measure, *shown, fixed(row.calibrated), fixed(row.p_value)))
    legend = "'unrelated' is the similarity of rows in random order; calibrated is 0 there and 1 for equal codes."
    notes = dict.fromkeys(f"{row.measure}: {row.note}" for row in found.rows if row.note and row.value == row.value)
    return plain_text(number_table(heads, lines, left=("pair", "measure")), Text(" ".join((legend, *notes))))


def probe_text(found: ProbeReport) -> str:
    """The table of probes and one sentence for each factor, as plain text."""
    twin = any(row.baseline == row.baseline for row in found.rows)
    classes = any(row.accuracy == row.accuracy for row in found.rows)
    headings = ["factor", "layer", "probe", "R2", "interval", "p", "chance", "control", "rows for 90 %"]
    headings += [*(["baseline"] if twin else []), *(["accuracy"] if classes else [])]
    lines = []
    for row in (row for row in found.rows if row.value == row.value):
        more = [*([row.baseline] if twin else []), *([row.accuracy] if classes else [])]
        numbers = (fixed(row.value), between(row.lower, row.upper, 3), fixed(row.p_value))
        needed = "" if row.rows_needed != row.rows_needed else f"{row.rows_needed:.0f}"
        known = (row.factor, row.layer, row.probe, *numbers, fixed(row.floor), fixed(row.control), needed)
        lines.append((*known, *(fixed(None if number != number else number) for number in more)))
    table = number_table(headings, lines, left=("factor", "layer", "probe"))
    return plain_text(table, *(Text(found.sentence(factor)) for factor in found.factors), width=140)


def environments_table(found: Environments) -> list[Any]:
    """The table of environments, and sentences about them."""
    lines = []
    for name in found.names:
        direct, shifted = found.direct(name), found.shifted(name)
        most = max(
            (found[name, code] for code in direct or found.codes), key=lambda row: (row.shift == row.shift, row.shift)
        )
        others = [code for code in shifted if code not in direct]
        sets = (_few(direct) or "-", fixed(most.shift), between(most.lower, most.upper, 3))
        lines.append((name, str(found.n_rows[name]), *sets, _few(others) or "-", found.verdict(name)))
    heads = ("intervention", "rows", "sets", "shift", "interval", "also shifts", "verdict")
    table = number_table(heads, lines, left=("intervention", "sets", "also shifts", "verdict"))
    texts = [found.headline]
    if found.edges:
        texts.append(f"Graph of the codes: {', '.join(f'{cause} -> {effect}' for cause, effect in found.edges)}.")
    if found.distance == found.distance:
        texts.append(
            f"Structural Hamming distance to the given graph: {found.distance:.0f} ({found.lower:.0f} to "
            f"{found.upper:.0f} on random halves of the rows)."
        )
    texts.append(
        f"Compared with {found.n_rows[found.reference]} rows {found.reference!r}. 'sets' are codes that shift more "
        "than the other codes explain, and 'shift' is the largest of them: 0 for the same distribution, 1 at most."
    )
    return [table, *map(Text, [*texts, *found.notes])]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
