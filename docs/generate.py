"""Generate documents from the cards: tables of the panel, a page for every metric, and the tables of the audit.

With ``--demo`` the outputs of the README's example and of the demo in docs/report.md are updated too, in some minutes.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import json
import re
import sys
import textwrap
import types
import typing
from pathlib import Path
from typing import Any

import numpy as np

from unweave.auditing import Audit
from unweave.auditing.catalogue import further_table, markdown_table, read_table
from unweave.auditing.properties import SCHEMA as AUDIT_SCHEMA
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
from unweave.report.leaderboard import Leaderboard
from unweave_papers.commands import CLAIM_FIELDS
from unweave_papers.everything import report_page
from unweave_papers.ledger import ledger_page
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
        f"`unweave explain {entry.card.name}`, `unweave score codes.npz --metrics {entry.card.name}`.",
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
