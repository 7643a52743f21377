"""Generate documents from the cards: tables of the panel, a page for every metric, and the tables of the audit.

With ``--demo`` the outputs of the README's example and of the demo in docs/report.md are updated too, in some minutes.
"""

from __future__ import annotations

import collections.abc
import csv
import dataclasses
import enum
import json
import math
import re
import sys
import textwrap
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from audited import SHARED, read_table

from unweave.auditing import Audit
from unweave.auditing.measurement import FURTHER, PROPERTIES, Grid, Property, further_points
from unweave.auditing.properties import SCHEMA as AUDIT_SCHEMA
from unweave.auditing.properties import TICKS, Promise
from unweave.auditing.run import number_of
from unweave.card import Card
from unweave.card.card import CardDescription
from unweave.card.explain import explanation
from unweave.cli.demos import DEMO_BUDGET, introduction, scene_encoders
from unweave.evaluation import compare
from unweave.evaluation.choose import PANEL_VERSION, QUESTIONS
from unweave.evaluation.environments import Environments
from unweave.evaluation.probe import ProbeReport
from unweave.evaluation.results import SCHEMA as EVALUATION_SCHEMA
from unweave.evaluation.results import EvaluationData, Row
from unweave.evaluation.unlabelled import Unlabelled
from unweave.findings import Finding
from unweave.metrics import OWN_METRICS
from unweave.report.geometry import GeometryFacts
from unweave.report.leaderboard import Leaderboard
from unweave.sentences import counted
from unweave_papers.commands import CLAIM_FIELDS
from unweave_papers.experiment import MODULES, MeasuredFigure, paper_of
from unweave_papers.ledger import (
    FOUND,
    VERDICTS,
    Claim,
    ClaimVerdict,
    claims_of,
    counts_of_paper,
    parts_of,
    simple_rule,
)
from unweave_papers.paper003.checklist import ChecklistItem
from unweave_papers.paper003.tables import TABLE_3

ROOT = Path(__file__).parent.parent


def panel_table(folder: str) -> str:
    """Markdown table of the questions and the panel's metrics for each; ``folder`` has the pages of the metrics."""
    named = [(question.text, [f"[`{name}`]({folder}/{name}.md)" for name in question.panel]) for question in QUESTIONS]
    lines = ["| question | metrics of the panel: the first one answers |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {text} | {', '.join(names)} |" for text, names in named if names)])


FACT = re.compile(r"^(Use it for|Best score|Needs|Factors|Avoid when|Cost|Range|Raw scores|Chance level|Row order|"
                  r"Reference|Version): +(.*(?:\n {14}.*)*)", re.MULTILINE)  # fmt: skip


def metric_page(entry: Any) -> str:
    """The page of a metric: what `unweave explain` prints, with headings, tables and code where they belong."""
    text = explanation(entry)
    head, _, rest = text.partition("\n\n")
    facts = {name: " ".join(fact.split()) for name, fact in FACT.findall(text)}
    meaning, _, example = rest[: rest.index("Use it for:")].partition("Example:\n")
    formula = text[text.index("Formula:\n") + 9 : text.index("\nOptions: ")].strip("\n")
    options = text[text.index("\nOptions: ") : text.index("\nReference: ")].split("\n\n", 1)[1:]
    papers = re.findall(r"^00\d: .*$", text, re.MULTILINE)
    use = ("Use it for", "Best score", "Needs", "Factors", "Avoid when", "Cost")
    beside = "".join(f" --{need} NAME" for need in ("nuisances", "target") if need in entry.card.needs)
    code = f"```python\n{textwrap.dedent(example.strip(chr(10)))}\n```"
    parts = [
        f"# {entry.card.name}",
        f"**{head.partition(': ')[2]}**",
        _prose(meaning.strip()),
        "## When to use it",
        _facts({name: facts[name] for name in use if name in facts}),
        "## What the numbers mean",
        _facts({name: facts[name] for name in ("Range", "Raw scores", "Chance level", "Row order") if name in facts}),
        "## Formula",
        _prose(formula),
        *(["## Example", code] if example.strip() else []),
        *(["## Options", _option_list(options[0])] if options and options[0].strip() else []),
        "## References",
        "\n".join(f"- {line}" for line in (facts["Reference"], *papers)),
        f"Version {facts['Version']} of this metric ([versions](../versions.md)). On the command line: "
        f"`unweave explain {entry.card.name}`, `unweave score codes.npz --metrics {entry.card.name}{beside}`.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _prose(text: str) -> str:
    """Paragraphs in Markdown: what is between two backquotes is code, and stars and bars are letters."""
    blocks = re.split(r"\n\n", text)
    return "\n\n".join(block if block.startswith("    ") else _inline(block) for block in blocks)


def _inline(text: str) -> str:
    pieces = re.split(r"(``?[^`]+``?)", text)
    return "".join(
        f"`{piece.strip('`')}`" if k % 2 else re.sub(r"([*_|<])", r"\\\1", piece) for k, piece in enumerate(pieces)
    )


def _facts(facts: dict[str, str]) -> str:
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {_inline(fact)} |" for name, fact in facts.items())])


def _option_list(text: str) -> str:
    """The options as a list, from lines 'name : type' and an indented description."""
    listed = []
    for line in textwrap.dedent(text).splitlines():
        if line.startswith(" "):
            listed[-1] += f" {_inline(line.strip())}"
        elif line.strip():
            name, _, kind = line.partition(" : ")
            listed.append(f"- `{name}` ({_inline(kind)}):")
    return "\n".join(listed)


def metric_index() -> str:
    """The page that lists all metrics, grouped by what they measure."""
    by_measure: dict[str, list[Card]] = {}
    for entry in OWN_METRICS.values():
        by_measure.setdefault(entry.card.measures, []).append(entry.card)
    parts = ["# Every metric", "[Which metric answers your question?](../which-metric.md) has the pictures."]
    for measures, cards in sorted(by_measure.items(), key=lambda item: _place(item[0])):
        rows = [f"| [`{card.name}`]({card.name}.md) | {card.equivalence} | {card.summary} |" for card in cards]
        heading = f"## {measures[0].upper()}{measures[1:]}"
        table = ["| metric | best score up to | what it measures |", "| --- | --- | --- |", *rows]
        parts += [heading, "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def _place(measures: str) -> tuple[int, str]:
    """Position of a property in the list: in the order of the questions, and properties without a question last."""
    places = [place for place, question in enumerate(QUESTIONS) if measures in question.measures]
    return (places[0] if places else len(QUESTIONS), measures)


def with_metric_pages(settings: str) -> str:
    """The settings of the site (mkdocs.yml), with an entry for every metric's page."""
    lines = "".join(f"      - {name}: metrics/{name}.md\n" for name in sorted(OWN_METRICS))
    return re.sub(
        r"( *# metrics\n).*?( *# end of metrics)", lambda found: found[1] + lines + found[2], settings, flags=re.S
    )


def demo_output() -> str:
    """The output of `unweave demo`."""
    return f"```\n{introduction()}\n{compare(*scene_encoders(1000), budget=DEMO_BUDGET)}\n```"


def example_output(readme: str) -> str:
    """The first part of the output of the README's example, without the table of all metrics."""
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert example, "the README has no example"
    found: dict[str, Any] = {}
    exec(example[1].split("print(")[0], found)
    return f"```\n{str(found['evaluation']).partition('All metrics')[0].rstrip()}\n```"


def paper_table() -> str:
    """Table 3 of 003 next to the results of the audit."""
    lines = ["| name in 003 | result of 003 | result of the audit | metric here |", "| --- | --- | --- | --- |"]
    audited = read_table()["metrics"]
    for name, (title, marks) in TABLE_3.items():
        ours = " ".join(audited[name]["ticks"]) if name in audited else "not audited"
        lines.append(f"| {title} | {' '.join(marks)} | {ours} | `{name}` |")
    return "\n".join(lines)


NUMBER = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]}  # null is nan


def json_schema(kind: Any) -> dict[str, Any]:
    """JSON schema of what `plain_data` makes of a value of this type: a record has every field."""
    if dataclasses.is_dataclass(kind) and kind is not Finding:
        hints = typing.get_type_hints(kind)
        fields = {field.name: json_schema(hints[field.name]) for field in dataclasses.fields(kind)}
        return {"type": "object", "properties": fields, "required": list(fields)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    plain = {float: NUMBER, int: {"type": "integer"}, bool: {"type": "boolean"}, str: {"type": "string"}}
    if kind in plain:
        return plain[kind]
    origin, inner = typing.get_origin(kind), [entry for entry in typing.get_args(kind) if entry is not Ellipsis]
    if origin is typing.Literal:
        return {"enum": inner}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [{"type": "null"} if entry is type(None) else json_schema(entry) for entry in inner]}
    if origin in (tuple, list, collections.abc.Sequence):
        items = [json_schema(entry) for entry in dict.fromkeys(inner)]
        return {"type": "array", "items": items[0] if len(items) == 1 else {"anyOf": items}}
    if origin is np.ndarray:
        return {"type": ["array", "number", "null", "string"]}  # an array without axes is a number
    if origin in (dict, collections.abc.Mapping):
        return {"type": "object", "additionalProperties": json_schema(inner[1])}
    return {"type": "object", "required": ["kind"]} if kind is Finding else {}


def schemas() -> str:
    """JSON schemas of the outputs of all commands with ``--json``, by the name in their field ``schema``."""
    texts, anything, truth = json_schema(tuple[str, ...]), {"type": "object"}, {"type": "boolean"}
    listed = {"type": "array", "items": anything}
    card = json_schema(CardDescription)["properties"] | {"question": json_schema(str), "in_panel": truth}
    card |= {"lower_is_better": truth}
    metric = {"type": "object", "properties": card, "required": list(card)}
    of_claim = {"type": "object", "required": list(CLAIM_FIELDS)}
    outputs: dict[str, dict[str, Any]] = {
        EVALUATION_SCHEMA: {
            "answer": anything, "data": json_schema(EvaluationData), "rows": json_schema(tuple[Row, ...])
        },
        AUDIT_SCHEMA: {"ticks": texts, **json_schema(Audit)["properties"]},
        "unweave.geometry/1": json_schema(GeometryFacts)["properties"],  # in an evaluation, under the key geometry
        "unweave.probe/1": {**json_schema(ProbeReport)["properties"], "sentences": texts},
        "unweave.environments/1": {
            **json_schema(Environments)["properties"], "verdicts": anything, "headline": json_schema(str)
        },
        "unweave.unlabelled/1": json_schema(Unlabelled)["properties"],
        "unweave.leaderboard/1": json_schema(Leaderboard)["properties"],
        "unweave.runs/1": {"rows": listed, "letters": anything},
        "unweave.concepts/1": {"concepts": listed, "codes": listed},
        "unweave.dictionaries/1": {"mean_cosine": NUMBER, "chance": NUMBER, "first": {}, "second": {}, "cosines": {}},
        "unweave.metrics/1": {"metrics": {"type": "array", "items": metric}},
        "unweave.explain/1": {**card, "text": json_schema(str)},
        "unweave.files/1": {"wrote": texts},
        "unweave.sweep/1": {"wrote": texts, "rows": listed},
        "unweave.train/1": {"wrote": texts, "models": listed},
        "unweave.papers/1": {"papers": listed},
        "unweave.reproduce/1": {"paper": {}, "experiment": {}, "checks": listed, "wrote": texts},
        "unweave.claims/1": {"claims": {"type": "array", "items": of_claim}},
        "unweave.claims_check/1": {"claims": listed},
        "unweave.checklist/1": {"items": json_schema(tuple[ChecklistItem, ...])},
        "unweave.error/1": {"kind": {"enum": ["InputError", "OptionError", "FileError", "UnweaveError"]},
                            "message": json_schema(str)},
    }  # fmt: skip
    defined = {
        name: {"type": "object", "properties": {"schema": {"const": name}, **fields}, "required": ["schema", *fields]}
        for name, fields in outputs.items()
    }
    any_of = [{"$ref": f"#/$defs/{name.replace('/', '~1')}"} for name in defined]
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Outputs of unweave with --json"}
    return json.dumps({**about, "oneOf": any_of, "$defs": defined}, indent=1) + "\n"


def llms_text(settings: str) -> str:
    """The list of pages for language models (llms.txt): the pages of the site, in the order of its navigation."""
    lines = [
        "# unweave",
        "",
        "> unweave is a Python library and command line that measures how well a learned representation separates the "
        "factors behind the data (disentanglement, identifiability), with a noise floor, an interval and a verdict for "
        "every score.",
        "",
        "Rows are samples. In Python: `unweave.evaluate(factors, codes)`, `unweave.compare(factors, {name: codes})`. "
        "On the command line: `unweave score codes.npz`, `unweave compare a.npz b.npz`, `unweave metrics`, `unweave "
        "explain mcc`. Every command has `--json`, errors included, with schemas in [schemas.json](schemas.json), and "
        "`unweave mcp` serves the same to assistants. A score whose verdict is 'do not use' or 'noise level' is not a "
        "result to report.",
    ]
    for line in settings[settings.index("\nnav:") :].splitlines()[2:]:
        section = re.fullmatch(r"  - ([^:]+):", line)
        page = re.fullmatch(r" +- (?:(.+): )?(\S+\.md)", line)
        if section:
            lines += ["", f"## {section[1]}", ""]
        elif page:
            lines += ["", "## Pages", ""] * (line.startswith("  - ") and "## Pages" not in lines)
            lines.append(f"- [{page[1] or 'All'}]({page[2].removesuffix('.md')}.html)")
    return "\n".join(lines) + "\n"


def markdown_table(data: Mapping[str, Any]) -> str:
    """The table for the documents: a mark, the decisive number and its interval for every property."""
    lines = ["| metric | P1 | P2 | P3 | P4 | adversary | card |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, entry in data["metrics"].items():
        cells = [_markdown_cell(entry[key]) + _price(name, key, data["metrics"]) for key in PROPERTIES]
        product = "" if entry["red_team"] is None else f"{entry['red_team']['product']:.2f}".lstrip("0")
        broken = [promise for promise in entry["promises"] if not Promise(**promise).kept]
        card = ", ".join(f"{promise['encoder']} scores {promise['score']:.2f}" for promise in broken)
        card = card or ("kept" if entry["promises"] else "not measured")
        lines.append(f"| `{name}` | {' | '.join(cells)} | {product} | {card} |")
    return "\n".join(lines)


def further_table(data: Mapping[str, Any]) -> str:
    """The second table for the documents: further questions, standard deviations over seeds, and remarks."""
    lines = [
        "| metric | d = 2, 3 | levels | many-to-one | rows | spread | remarks |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, entry in data["metrics"].items():
        if "further" not in entry:
            lines.append(f"| `{name}` | not measured, about {_minutes(_further_seconds(entry))} | | | | | |")
            continue
        cells = [_further_cell(entry["further"][key], 4 * _further_seconds(entry)) for key in FURTHER]
        spread = number_of(entry["spread"], (0, 0)).split(" ")[0] if entry["spread"] is not None else ""
        lines.append(f"| `{name}` | {' | '.join(cells)} | {spread} | {' '.join(entry['remarks'])} |")
    return "\n".join(lines)


def _further_cell(entry: Mapping[str, Any], seconds: float) -> str:
    """A cell of the second table, with the number of undefined points and the time that would decide the verdict."""
    undefined = f" (undefined at {entry['n_undefined']})" if entry["n_undefined"] else ""
    price = f" (4 times the seeds: {_minutes(seconds)})" if entry["verdict"] == "undecided" else ""
    return f"{_markdown_cell(entry)}{undefined}{price}"


def _further_seconds(entry: Mapping[str, Any]) -> float:
    """Estimated CPU seconds for the further questions, from the time of the measured cells of the four properties."""
    n_measured = len(Grid().points()) - sum(entry[key]["n_missing"] for key in PROPERTIES)
    return float(max(entry["seconds"] * len(further_points()) / max(n_measured, 1), 1))


def _price(name: str, key: Property, entries: Mapping[str, Any]) -> str:
    """Estimated time to decide an undecided property, as text; empty for a decided property.

    Missing cells are assumed to be the largest ones, and their time to grow with rows times codes times factors, which
    is an overestimate for most metrics. If no cell is missing, the interval is too wide, and four times the seeds would
    halve it. For metrics that share their computation, the time is that of the slowest one.
    """
    entry = entries[name]
    if entry[key]["verdict"] != "undecided":
        return ""
    group = next((group for group in SHARED if name in group), (name,))
    seconds = max(entries[other]["seconds"] for other in group if other in entries)
    if not entry[key]["n_missing"]:
        return f" (4 times the seeds: {_minutes(4 * seconds)})"
    sizes: dict[str, list[int]] = {each: [] for each in PROPERTIES}
    for point in Grid().points():
        sizes[point.name].append(point.case.size)
    missing = {each: sum(sorted(sizes[each], reverse=True)[: entry[each]["n_missing"]]) for each in PROPERTIES}
    measured = sum(map(sum, sizes.values())) - sum(missing.values())
    return f" (about {_minutes(seconds * missing[key] / max(measured, 1))})"


def _minutes(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _markdown_cell(entry: Mapping[str, Any]) -> str:
    """Mark and number; for P2 also whether it is the cost of a redundant factor or the relative cost of free ones."""
    if entry["number"] is None:
        return TICKS[entry["verdict"]]
    low, high = entry["interval"]
    interval = (-math.inf if low is None else low, math.inf if high is None else high)
    kind = "relative cost " if "free dropped" in entry["where"] else "cost " if "redundant" in entry["where"] else ""
    return f"{TICKS[entry['verdict']]} {kind}{number_of(entry['number'], interval)}"


WIDTH, LINE, MARGIN = 160, 11, 6  # size of a plot in pixels
FILTER = """<p>Show <select id="claim-verdict"><option value="">all verdicts</option>{options}</select>
with the words <input id="claim-words" type="search" placeholder="MCC, correlation, Figure 5"></p>
<script>
(() => {{
  const verdict = document.getElementById("claim-verdict"), words = document.getElementById("claim-words");
  const show = () => document.querySelectorAll("tr[data-verdict]").forEach(row => {{
    const fits = !verdict.value || row.dataset.verdict === verdict.value;
    row.hidden = !(fits && row.textContent.toLowerCase().includes(words.value.toLowerCase()));
  }});
  verdict.addEventListener("change", show);
  words.addEventListener("input", show);
}})();
</script>"""


OF_THE_TEXT: tuple[tuple[str, str, ClaimVerdict], ...] = (
    ("Errors of the text", "Errors that the authors' own code or algebra contradicts.", "error of the text"),
    (
        "Artefacts of code or protocol",
        "Claims that are true of the published numbers, but not of the quantity that they should measure.",
        "artefact of code or protocol",
    ),
)


def ledger_page() -> str:
    """Return the page as Markdown with tables in HTML."""
    options = "".join(f"<option>{escape(verdict)}</option>" for verdict in VERDICTS)
    claims = claims_of()
    negative = sum(FOUND.get(claim.verdict) == "does not hold" for claim in claims)
    n_computed = sum(claim.is_computed for claim in claims)
    elsewhere = [verdict for *_, verdict in OF_THE_TEXT]
    lines = [
        f"# {len(claims)} claims of five papers: what holds, what does not, and what is undecided",
        "",
        "The claims are in our words, and the evidence of nearly all is computed by this package:",
        f"{n_computed} of {len(claims)}; {negative} do not hold as printed. Claims that take trained networks",
        "say at which scale we trained ours. To compute the evidence again:",
        "",
        "```",
        "unweave claims 003:44          # one claim: the statement, the verdict with its reason, the figures",
        "unweave claims check 003:44    # compute its evidence again; fails if a figure or the verdict has changed",
        "unweave claims check           # check all claims",
        "```",
        "",
        *_claims_summary(),
        "",
        "Every claim has parts, written as rules about figures before the figures are computed (REPORT.md lists the",
        "exceptions). A figure is a mean over seeds with its 95 % interval (or over what the claim's scale names), or",
        "a single number: exact, or of one training. A part counts as decided only if 99.5 % of figures",
        "drawn from the intervals agree. A claim holds if all parts hold, holds in part if some hold and some do",
        "not, and is undecided if the intervals are too wide. 'Not reproduced at this scale' is a claim about large",
        "networks that does not hold for our smaller ones. In the plots, each line is a simple rule: dots are the",
        "figures with their intervals, and the dashed line or the grey band is the threshold.",
        "",
        FILTER.format(options=options),
    ]  # fmt: skip
    for number in MODULES:
        listed = [claim for claim in claims_of(number) if claim.verdict not in elsewhere]
        lines += _claims_section(f"Claims of {number}", escape(paper_of(number).title) + ".", listed)
    for heading, text, verdict in OF_THE_TEXT:
        lines += _claims_section(heading, text, [claim for claim in claims if claim.verdict == verdict])
    return "\n".join([*lines, ""])


def _claims_summary() -> Iterator[str]:
    yield f"| paper | {' | '.join(VERDICTS)} | computed |"
    yield f"| --- |{' ---: |' * (len(VERDICTS) + 1)}"
    for number in MODULES:
        yield f"| [{number}](#claims-of-{number}) | {' | '.join(counts_of_paper(number))} |"


def _claims_section(heading: str, text: str, claims: Iterable[Claim]) -> Iterator[str]:
    yield from ("", f"## {heading}", "", text, "")
    headings = "".join(f"<th>{name}</th>" for name in ("claim", "what the paper says", "verdict", "figures"))
    yield f"<table><thead><tr>{headings}</tr></thead><tbody>"
    yield from map(_claim_row, claims)
    yield "</tbody></table>"


def _claim_row(claim: Claim) -> str:
    stated = f" In the paper: {escape(claim.stated)}." if claim.stated else ""
    scale = f" Scale: {escape(claim.scale)}." if claim.scale else ""
    commands = [claim.command] * bool(claim.is_computed) + [claim.see] * bool(claim.see)
    shown = "<br>".join(f"<code>{escape(command)}</code>" for command in commands)
    return (
        f'<tr id="{claim.paper}-{claim.number}" data-verdict="{escape(claim.verdict)}">'
        f'<td><a href="#{claim.paper}-{claim.number}">{claim.name}</a><br>{escape(claim.where)}</td>'
        f"<td>{escape(claim.statement)}{stated}<br><em>{escape(claim.why)}</em>{scale}<br>{shown}</td>"
        f"<td>{escape(claim.verdict)}</td><td>{_claim_figures(claim)}</td></tr>"
    )


def _claim_figures(claim: Claim) -> str:
    if not claim.figures:
        return ""
    lines = [f"{escape(name)}: {figure}" for name, figure in claim.figures.items()]
    lines += [f"<em>{escape(text)}</em>: {part}" for text, part in parts_of(claim)]
    told = f"<details><summary>{counted(len(claim.figures), 'figure')}</summary>{'<br>'.join(lines)}</details>"
    return f"{_claim_picture(claim.expect, list(claim.figures.values()))}{told}"


def _claim_picture(expect: Sequence[str], figures: Sequence[MeasuredFigure]) -> str:
    """Return an SVG plot with a line for each simple rule: its figures with intervals, and its threshold."""
    texts = [text for part in expect for text in re.split(" or | and ", part)]
    drawn = [marks for text in texts if (marks := _marks(*simple_rule(text, len(figures)), figures))]
    if not drawn:
        return ""
    tall = LINE * len(drawn)
    frame = 'fill="none" stroke="currentColor" opacity=".25"'
    parts = [f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{tall - 1}" {frame}/>']
    parts += [f'<g transform="translate(0 {LINE * k})">{marks}</g>' for k, marks in enumerate(drawn)]
    return f'<svg role="img" width="{WIDTH}" height="{tall}" viewBox="0 0 {WIDTH} {tall}">{"".join(parts)}</svg>'


def _marks(pattern: str, chosen: Sequence[slice], numbers: Sequence[float], figures: Sequence[MeasuredFigure]) -> str:
    shown = [figure for which in chosen for figure in figures[which] if math.isfinite(figure.value)]
    if not shown:
        return ""
    limits = (
        [numbers[0] - numbers[1], numbers[0] + numbers[1]]
        if "equals" in pattern
        else [numbers[0]]
        if "above" in pattern or "below" in pattern
        else []
    )
    places = [x for figure in shown for x in figure.numbers if math.isfinite(x)] + limits
    low, high = min(places), max(places)
    span = (high - low) or 1.0

    def across(number: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * min(max((number - low) / span, 0.0), 1.0), 1)

    middle = LINE / 2
    marks = [f"<title>from {low:.3g} to {high:.3g}</title>"]
    if len(limits) == 2:
        start, end = map(across, limits)
        marks.append(f'<rect x="{start}" y="0" width="{max(end - start, 1):.1f}" height="{LINE}" opacity=".2"/>')
    marks += [
        f'<line x1="{across(x)}" x2="{across(x)}" y1="0" y2="{LINE}" stroke="currentColor" stroke-dasharray="2"/>'
        for x in limits[:1] * (len(limits) == 1)
    ]
    for figure in shown:
        ends = [across(x) for x in figure.numbers[1:] if math.isfinite(x)]
        if ends:
            marks.append(f'<line x1="{ends[0]}" x2="{ends[1]}" y1="{middle}" y2="{middle}" stroke="currentColor"/>')
        marks.append(f'<circle cx="{across(figure.value)}" cy="{middle}" r="3" fill="currentColor"/>')
    return "".join(marks)


SECTIONS: tuple[tuple[ClaimVerdict, str], ...] = (
    ("holds", "What holds"),
    ("holds in part", "What holds in part"),
    ("does not hold", "What does not hold"),
    ("not reproduced at this scale", "What our smaller models do not show"),
    ("undecided", "What our seeds cannot decide"),
)
INTRODUCTION = """\
We computed the evidence for {n} statements of five papers again: {computed} by commands of this package, the
others cannot be computed. {holds} hold, {part} hold in part, {fails} do not hold, {small} do not hold for
models smaller than the paper's, and {undecided} are undecided. {errors} further statements are errors of the
text, and {artefacts} are true of the published numbers only, because of the code or the protocol.

A statement is split into parts, and each part is a rule about figures that follows the paper's sentence. Rules of
27 statements were worded, or worded again, after figures were known (000: 170, 173, 178, 179, 189; 001: 145;
003: 7, 27, 32, 58, 68, 72, 82, 83, 85, 86, 89, 90, 94, 97, 98, 101, 102; 004: 123, 127, 134, 209).
Figures have 95 % intervals over seeds, unless their scale names something else; figures of single trainings have
none. A part is decided if 99.5 % of figures drawn from the intervals agree.
Statements about closed forms are computed exactly, and those about synthetic data with the papers' numbers of
factors, codes and rows and with up to 5,000 seeds. Statements about trained networks rest on nine published
encoders or on small networks; each says so. Figures of small networks were recorded when these were trained, to
the digits that docs/papers.md and docs/geometry.md have, and `unweave claims check` compares new ones with them.

`unweave claims check` computes all figures again that need no trained network, in about seven CPU minutes.
`unweave reproduce all` computes every figure and table, says first what that costs, and continues where it was
interrupted. [The ledger](../docs/claims.md) has every figure with its interval."""


def report_page() -> str:
    """Return the report as Markdown: what holds, what does not, at which scale, and how to compute each number."""
    claims = claims_of()
    n = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}
    computed = sum(claim.verdict in FOUND for claim in claims)
    told = INTRODUCTION.format(
        n=len(claims), computed=computed, holds=n["holds"], part=n["holds in part"], fails=n["does not hold"],
        small=n["not reproduced at this scale"], undecided=n["undecided"], errors=n["error of the text"],
        artefacts=n["artefact of code or protocol"],
    )  # fmt: skip
    lines = ["# What holds of five papers on disentanglement", "", told, ""]
    lines += [f"| paper | {' | '.join(VERDICTS)} |", f"| --- |{' ---: |' * len(VERDICTS)}"]
    for number in MODULES:
        counts = (sum(claim.verdict == verdict for claim in claims_of(number)) or "" for verdict in VERDICTS)
        lines.append(f"| {number} {paper_of(number).title} | {' | '.join(map(str, counts))} |")
    lines += ranks_section()
    for verdict, heading in SECTIONS:
        lines += ["", f"## {heading}"]
        for number in MODULES:
            chosen = [claim for claim in claims_of(number) if claim.verdict == verdict]
            lines += ["", f"**{number}**", "", *map(_claim_as_item, chosen)] if chosen else []
    for verdict, heading in (("error of the text", "Errata"), ("artefact of code or protocol", "Artefacts")):
        lines += ["", f"## {heading}", "", *(_claim_as_item(claim) for claim in claims if claim.verdict == verdict)]
    return "\n".join([*lines, ""])


def ranks_section() -> list[str]:
    """Return how far metrics of different papers rank encoders alike, from the table that `004 ranks` wrote."""
    path = ROOT / "papers" / "src" / "unweave_papers" / "recorded" / "ranks.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["metric"] for row in rows))
    paper_of_metric = {row["metric"]: row["paper"] for row in rows}
    data = dict.fromkeys(row["data"] for row in rows)
    counts = " and ".join(
        f"{next(r['encoders'] for r in rows if r['data'] == one)} encoders of {WORDS[one]}" for one in data
    )
    lines = ["", "## How far metrics of the papers agree", "", RANKS.format(counts=counts), ""]
    lines += [f"| metric | {' | '.join(f'{WORDS[one]}: mean | lowest | highest' for one in data)} |"]
    lines += [f"| --- |{' ---: | --- | --- |' * len(data)}"]
    for name in names:
        cells = [f"{name} ({paper_of_metric[name]})"]
        for one in data:
            [row] = [row for row in rows if (row["data"], row["metric"]) == (one, name)]
            others = {k: float(row[k]) for k in names if paper_of_metric[k] != row["paper"] and row[k] != "nan"}
            low, high = min(others, key=others.__getitem__), max(others, key=others.__getitem__)
            mean = sum(others.values()) / len(others)
            cells += [f"{mean:.2f}", f"{others[low]:.2f} ({low})", f"{others[high]:.2f} ({high})"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


WORDS = {"dsprites": "sprites", "coloured_shapes": "coloured shapes"}
RANKS = """\
Eleven metrics of four papers, each oriented so that higher is better, scored {counts} that were
trained here (AAEs, FactorVAEs, beta-VAEs, and the six losses of 004 with two MLPs; `unweave reproduce 004 ranks`).
The table has Spearman's rank correlations of a metric with those of the other papers: their mean, the lowest and
the highest. MIG, RMIG and sufficiency rank these encoders nearly alike (.89 to .97). R2, which many mixed codes
satisfy, and minimality agree least with the others. Nine encoders of coloured shapes are too few for a table.
Metrics of 000 score
decoders and are not among them."""


def _claim_as_item(claim: Claim) -> str:
    where = f"[{claim.name}](../docs/claims.md#{claim.paper}-{claim.number}), {claim.where}"
    scale = f" Scale: {claim.scale}." if claim.scale else ""
    how = f" `{claim.see or claim.command}`" if claim.is_computed else ""
    return f"- {claim.statement} {claim.why}{scale} ({where}){how}"


def with_part(text: str, name: str, part: str) -> str:
    """The text with the part between the two markers of this name replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(pattern, lambda match: f"{match[1]}{part}\n{match[2]}", text, flags=re.DOTALL)


def documents(with_demo: bool) -> dict[Path, str]:
    """Path and content of every generated document."""
    readme = ROOT / "README.md"
    report = ROOT / "docs" / "report.md"
    text = with_part(readme.read_text(encoding="utf-8"), "panel", panel_table("docs/metrics"))
    pages = {ROOT / "docs" / "metrics" / f"{name}.md": metric_page(entry) for name, entry in OWN_METRICS.items()}
    pages[ROOT / "docs" / "metrics" / "index.md"] = metric_index()
    pages[ROOT / "mkdocs.yml"] = with_metric_pages((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    audit = ROOT / "docs" / "audit.md"
    pages[audit] = with_part(audit.read_text(encoding="utf-8"), "audited", markdown_table(read_table()))
    pages[audit] = with_part(pages[audit], "further", further_table(read_table()))
    pages[audit] = with_part(pages[audit], "table 3", paper_table())
    panel = ROOT / "docs" / "panel.md"
    pages[panel] = with_part(panel.read_text(encoding="utf-8"), "panel", panel_table("metrics"))
    pages[panel] = re.sub(r"version \d+\.", f"version {PANEL_VERSION}.", pages[panel])
    pages[ROOT / "docs" / "claims.md"] = ledger_page()
    pages[ROOT / "papers" / "REPORT.md"] = report_page()
    pages[ROOT / "docs" / "schemas.json"] = schemas()
    pages[ROOT / "docs" / "llms.txt"] = llms_text(pages[ROOT / "mkdocs.yml"])
    if with_demo:
        text = with_part(text, "answer", example_output(text))
        pages[report] = with_part(report.read_text(encoding="utf-8"), "demo", demo_output())
    return {readme: text, **pages}


def main(arguments: list[str]) -> None:
    """Write all documents, and the demo only with ``--demo``."""
    for path, content in documents(with_demo="--demo" in arguments).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
