"""Generate documents from the cards: tables of the panel, a page for every metric, and the tables of the audit.

With ``--demo`` the outputs of the README's example and of the demo in docs/report.md are updated too, in some minutes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from unweave.auditing.catalogue import further_table, markdown_table, read_table
from unweave.card import Card
from unweave.card.explain import explained
from unweave.cli.demos import DEMO_BUDGET, circuit_encoders, introduction
from unweave.evaluation import compare
from unweave.evaluation.choose import PANEL_VERSION, QUESTIONS
from unweave.metrics import CATALOGUE
from unweave_papers.ledger import ledger_page
from unweave_papers.paper003.tables import TABLE_3

ROOT = Path(__file__).parent.parent


def panel_table(folder: str) -> str:
    """Markdown table of the questions and the panel's metrics for each; ``folder`` has the pages of the metrics."""
    named = [(question.text, [f"[`{name}`]({folder}/{name}.md)" for name in question.panel]) for question in QUESTIONS]
    lines = ["| question | metrics of the panel: the first one answers |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {text} | {', '.join(names)} |" for text, names in named if names)])


def metric_index() -> str:
    """The page that lists all metrics, grouped by what they measure."""
    by_measure: dict[str, list[Card]] = {}
    for entry in CATALOGUE.values():
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
    lines = "".join(f"      - {name}: metrics/{name}.md\n" for name in sorted(CATALOGUE))
    return re.sub(
        r"( *# metrics\n).*?( *# end of metrics)", lambda found: found[1] + lines + found[2], settings, flags=re.S
    )


def demo_output() -> str:
    """The output of `unweave demo`."""
    return f"```\n{introduction()}\n{compare(*circuit_encoders(1000), budget=DEMO_BUDGET)}\n```"


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


def with_part(text: str, name: str, part: str) -> str:
    """The text with the part between the two markers of this name replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    return re.sub(pattern, lambda match: f"{match[1]}{part}\n{match[2]}", text, flags=re.DOTALL)


def documents(with_demo: bool) -> dict[Path, str]:
    """Path and content of every generated document."""
    readme = ROOT / "README.md"
    report = ROOT / "docs" / "report.md"
    text = with_part(readme.read_text(encoding="utf-8"), "panel", panel_table("docs/metrics"))
    pages = {
        ROOT / "docs" / "metrics" / f"{name}.md": f"# {name}\n\n```\n{explained(entry)}\n```\n"
        for name, entry in CATALOGUE.items()
    }
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
