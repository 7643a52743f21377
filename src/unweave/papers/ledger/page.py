"""The ledger as a page: counts, and for each paper a table with filters and small plots of the figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from unweave.papers.catalogue import MODULES, paper_of
from unweave.papers.ledger.claim import VERDICTS, Claim, MeasuredFigure
from unweave.papers.ledger.claim_files import claims_of
from unweave.words.phrases import counted

WIDTH, LINE, MARGIN = 120, 11, 6  # size of a plot in pixels
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


def ledger_page() -> str:
    """Return the page as Markdown with tables in HTML."""
    options = "".join(f"<option>{escape(verdict)}</option>" for verdict in VERDICTS)
    return "\n".join([
        "# Every claim of the five papers, and whether it holds",
        "",
        f"This page has {len(claims_of())} checkable claims in our words, each with a verdict. For {_n_computed()} of",
        "them, a function of this package computes the evidence; its figures are shown below. To compute them again:",
        "",
        "```",
        "unweave claims 003:44          # one claim: the statement, the verdict with its reason, the figures",
        "unweave claims check 003:44    # compute its evidence again; fails if a figure or the verdict has changed",
        "unweave claims check           # check all claims",
        "```",
        "",
        *_summary(),
        "",
        "'Error of the text' is an error that the authors' own code or algebra contradicts. 'Artefact of code or",
        "protocol' is a claim that is true of the published numbers, but not of the quantity that they should",
        "measure. Dots are our figures, with 95 % intervals over seeds if there are several seeds. The scale goes",
        "from 0 to 1, or from the smallest figure to the largest.",
        "",
        FILTER.format(options=options),
        *(line for number in MODULES for line in _of_paper(number)),
        "",
    ])  # fmt: skip


def _n_computed() -> int:
    return sum(bool(claim.is_computed) for claim in claims_of())


def _summary() -> Iterator[str]:
    yield f"| paper | {' | '.join(VERDICTS)} | computed |"
    yield f"| --- |{' ---: |' * (len(VERDICTS) + 1)}"
    for number in MODULES:
        claims = claims_of(number)
        counts = Counter(claim.verdict for claim in claims)
        cells = [str(counts[verdict] or "") for verdict in VERDICTS]
        n_computed = sum(bool(claim.is_computed) for claim in claims)
        yield f"| [{number}](#claims-of-{number}) | {' | '.join(cells)} | {n_computed} of {len(claims)} |"


def _of_paper(number: str) -> Iterator[str]:
    yield from ("", f"## Claims of {number}", "", escape(paper_of(number).title) + ".", "")
    headings = "".join(f"<th>{name}</th>" for name in ("claim", "what the paper says", "verdict", "figures"))
    yield f"<table><thead><tr>{headings}</tr></thead><tbody>"
    yield from map(_row, claims_of(number))
    yield "</tbody></table>"


def _row(claim: Claim) -> str:
    stated = f" In the paper: {escape(claim.stated)}." if claim.stated else ""
    commands = [claim.command] * bool(claim.is_computed) + [claim.see] * bool(claim.see)
    shown = "<br>".join(f"<code>{escape(command)}</code>" for command in commands)
    return (
        f'<tr id="{claim.paper}-{claim.number}" data-verdict="{escape(claim.verdict)}">'
        f'<td><a href="#{claim.paper}-{claim.number}">{claim.name}</a><br>{escape(claim.where)}</td>'
        f"<td>{escape(claim.statement)}{stated}<br><em>{escape(claim.why)}</em><br>{shown}</td>"
        f"<td>{escape(claim.verdict)}</td><td>{_figures(claim.figures)}</td></tr>"
    )


def _figures(figures: Mapping[str, MeasuredFigure]) -> str:
    if not figures:
        return ""
    lines = "<br>".join(f"{escape(name)}: {figure}" for name, figure in figures.items())
    return f"{_picture(figures)}<details><summary>{counted(len(figures), 'figure')}</summary>{lines}</details>"


def _picture(figures: Mapping[str, MeasuredFigure]) -> str:
    """Return an SVG plot with a dot for each figure, one below the other, and its interval."""
    values = [figure.value for figure in figures.values() if not math.isnan(figure.value)]
    if not values:
        return ""
    unit = min(values) >= 0 and max(values) <= 1
    low, high = (0.0, 1.0) if unit else (min(values), max(values))
    span = (high - low) or 1.0

    def across(number: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * min(max((number - low) / span, 0.0), 1.0)

    marks = []
    for k, figure in enumerate(figures.values()):
        if math.isnan(figure.value):
            continue
        height = LINE * (k + 0.5)
        if len(figure.numbers) == 3:
            ends = [across(number) for number in figure.numbers[1:]]
            marks.append(
                f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{height}" y2="{height}" stroke="currentColor"/>'
            )
        marks.append(f'<circle cx="{across(figure.value):.1f}" cy="{height}" r="3" fill="currentColor"/>')
    tall = LINE * len(figures)
    frame = 'fill="none" stroke="currentColor" opacity=".25"'
    parts = [
        f"<title>from {low:.3g} to {high:.3g}</title>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{tall - 1}" {frame}/>',
        *marks,
    ]
    return f'<svg role="img" width="{WIDTH}" height="{tall}" viewBox="0 0 {WIDTH} {tall}">{"".join(parts)}</svg>'
