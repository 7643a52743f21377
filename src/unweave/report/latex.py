"""Tables for papers: models and metrics in LaTeX, Markdown and HTML, and single LaTeX rows for an existing table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from unweave.errors import InputError, OptionError
from unweave.evaluation import Evaluation
from unweave.evaluation.results import GroupedScore, GroupedScores
from unweave.report.answer import TextTable, settings_tested
from unweave.sentences import MINUS, fixed, say
from unweave.trust.comparison import never_below
from unweave.trust.verdict_record import Level

ESCAPES = {letter: f"\\{letter}" for letter in "_%&#${}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    MINUS: "$-$",
}

MARKS = {Level.CAUTION: "†", Level.NOISE: "°", Level.DO_NOT_USE: "‡"}
DOUBTED = (Level.DO_NOT_USE, Level.NOISE)  # never printed in bold, as in the answer
ARROWS = {False: ("↑", r"$\uparrow$"), True: ("↓", r"$\downarrow$")}


# compiled and looked at: without the last two, siunitx 3 drops "± 0.000" and leaves gaps beside "±"
UNCERTAINTY = "uncertainty-mode=separate, retain-zero-uncertainty, table-align-uncertainty=false"


SHRINK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{"

LETTERS, MOST_LETTERS = 60, 100  # of a line: that fit on a page of the class article, and when shrunk so as to be read


@dataclass(frozen=True)
class PaperCell:
    """One number of a table: its text, standard deviation and interval; whether it is bold, and the verdict's mark."""

    number: float | None = None
    missing: str = ""
    spread: float | None = None
    ends: tuple[float, float] | None = None
    bold: bool = False
    level: Level | None = None

    def text(self, digits: int) -> str:
        """The cell in plain characters, without bold."""
        if self.number is None:
            return self.missing
        after = "" if self.spread is None else f" ± {fixed(self.spread, digits)}"
        if self.ends:
            after += " [{}, {}]".format(*(fixed(end, digits) for end in self.ends))
        return fixed(self.number, digits) + after + (MARKS.get(self.level, "") if self.level else "")


@dataclass(frozen=True)
class PaperTable:
    """A table of models and metrics before it is rendered; ``heads`` and ``names`` are texts with an arrow or none."""

    corner: str
    heads: tuple[tuple[str, bool | None], ...]
    names: tuple[tuple[str, bool | None], ...]
    cells: tuple[tuple[PaperCell, ...], ...]
    legend: tuple[str, ...]
    digits: int
    tests: TextTable | None = None  # below the table in Markdown and HTML

    def latex(self) -> str:
        """A booktabs table with siunitx columns, in several parts if it is wide, followed by the legend."""
        legend = " ".join(escaped(sentence) for sentence in self.legend)
        for mark, latex in (("†", r"$^{\dagger}$"), ("‡", r"$^{\ddagger}$"), ("°", r"$^{\circ}$"), ("±", r"$\pm$")):
            legend = legend.replace(mark, latex)
        parts = [self._tabular(columns) for columns in self._parts()]
        shrunk = any(part.startswith(SHRINK) for part in parts)
        return "\n".join(
            [
                rf"% needs \usepackage{{booktabs{', graphicx' * shrunk}}} and \usepackage{{siunitx}}, version 3",
                rf"\begingroup\sisetup{{{UNCERTAINTY}, text-series-to-math}}",
                "\n\\par\\medskip\n".join(parts),
                *([rf"\par\smallskip{{\footnotesize {legend}\par}}"] if legend else []),
                r"\endgroup",
                "",  # a text file ends with a new line
            ]
        )

    def _letters(self, columns: Sequence[int]) -> int:
        """About how many letters a line of these columns has."""
        texts = [[self.heads[j][0], *(row[j].text(self.digits) for row in self.cells)] for j in columns]
        return max((len(name) for name, _ in self.names), default=0) + sum(
            3 + max(map(len, column)) for column in texts
        )

    def _parts(self) -> list[list[int]]:
        """Columns beside each other: as few equal parts as can be read when they are shrunk to the width of a page."""
        parts: list[list[int]] = [[]]
        for n_parts in range(1, len(self.heads) + 1):
            parts = [part.tolist() for part in np.array_split(np.arange(len(self.heads)), n_parts)]
            if max(map(self._letters, parts)) <= MOST_LETTERS:
                break
        return parts

    def _tabular(self, columns: Sequence[int]) -> str:
        cells = [[row[j] for j in columns] for row in self.cells]
        formats = "".join(f" S[{_column_format(column, self.digits)}]" for column in zip(*cells, strict=True))
        fits = SHRINK if self._letters(columns) > LETTERS else ""
        rows = [
            " & ".join([_latex_name(*name), *(_latex_cell(cell, self.digits) for cell in row)])
            for name, row in zip(self.names, cells, strict=True)
        ]
        heads = " & ".join([escaped(self.corner), *(f"{{{_latex_name(*self.heads[j])}}}" for j in columns)])
        lines = [r"\toprule", rf"{heads} \\", r"\midrule", *(rf"{row} \\" for row in rows), r"\bottomrule"]
        return "\n".join([rf"{fits}\begin{{tabular}}{{l{formats}}}", *lines, r"\end{tabular}" + "}" * bool(fits)])

    def markdown(self) -> str:
        """A table in Markdown, followed by the legend."""
        from unweave.report.markdown import markdown_table, plain

        def shown(cell: PaperCell) -> str:
            text = plain(cell.text(self.digits))
            return f"**{text}**" if cell.bold else text

        lines = [[plain(self.corner), *(plain(_text_name(*head)) for head in self.heads)]]
        lines.append(["---", *["---:"] * len(self.heads)])
        lines += [
            [plain(_text_name(*name)), *map(shown, row)] for name, row in zip(self.names, self.cells, strict=True)
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        tests = markdown_table(self.tests) if self.tests else ""
        return "\n\n".join(filter(None, [table, plain(" ".join(self.legend)), tests])) + "\n"

    def html(self) -> str:
        """An HTML table with the legend as its caption."""
        from unweave.report.notebook import html_table

        def shown(cell: PaperCell) -> str:
            text = escape(cell.text(self.digits))
            return f'<td style="text-align:right">{f"<b>{text}</b>" if cell.bold else text}</td>'

        heads = "".join(
            f"<th>{escape(text)}</th>" for text in (self.corner, *(_text_name(*head) for head in self.heads))
        )
        body = "".join(
            f'<tr><th style="text-align:left">{escape(_text_name(*name))}</th>{"".join(map(shown, row))}</tr>'
            for name, row in zip(self.names, self.cells, strict=True)
        )
        caption = f'<caption style="caption-side:bottom">{escape(" ".join(self.legend))}</caption>' * bool(self.legend)
        tests = html_table(self.tests) if self.tests else ""
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{tests}"


def paper_table(
    found: Evaluation | GroupedScores,
    metrics: Sequence[str] | str | None = None,
    rows: str = "models",
    intervals: bool = False,
    bold: bool = True,
    marks: bool = True,
    digits: int = 3,
    names: Mapping[str, str] | None = None,
    models: Sequence[str] | None = None,
) -> PaperTable:
    """Return the table of an evaluation, or of groups of seeds; `GroupedScores.to_latex` describes the options."""
    _refuse_settings(rows, digits)
    if isinstance(found, GroupedScores):
        chosen = _chosen_labels(tuple(found.scores), metrics if metrics is not None else found.columns or None)
        of_found, down = found.groups, found.lower_is_better
        columns = {label: _cells_of_groups(found, label, intervals, bold) for label in chosen}
        tests = settings_tested(found, chosen) if any(found.differences.values()) else None
    else:
        of_found, chosen = found.representations, _chosen_labels(found.labels, metrics)
        down = {row.label: row.card.lower_is_better for row in found.rows}
        columns, tests = {label: _cells_of_models(found, label, intervals, bold) for label in chosen}, None
    if not marks:
        columns = {label: tuple(replace(cell, level=None) for cell in cells) for label, cells in columns.items()}
    wanted = _chosen_models(of_found, models)
    columns = {label: tuple(cells[of_found.index(name)] for name in wanted) for label, cells in columns.items()}
    texts = _texts_of((*chosen, *wanted), names)
    legend = _legend(found, columns, bold and len(wanted) > 1)
    legend += (say("what_ladder_is"),) if isinstance(found, GroupedScores) and "ladder" in chosen else ()
    of_metrics = tuple((texts[label], down.get(label, False)) for label in chosen)
    of_models = tuple((texts[name], None) for name in wanted)
    if rows == "models":
        cells = tuple(zip(*columns.values(), strict=True))
        return PaperTable("model", of_metrics, of_models, cells, legend, digits, tests)
    of_models = of_models if len(wanted) > 1 else (("score", None),)
    return PaperTable("metric", of_models, of_metrics, tuple(columns.values()), legend, digits, tests)


def _refuse_settings(rows: str, digits: int) -> None:
    """Raise an error for settings of a table that are not known."""
    if rows not in ("models", "metrics"):
        raise OptionError(f"rows={rows!r} is not known: write 'models' or 'metrics'.")
    if not isinstance(digits, int) or not 0 <= digits <= 9:
        raise OptionError(f"digits={digits!r} is not a number of decimals: write a whole number from 0 to 9.")


def _chosen_models(known: Sequence[str], models: Sequence[str] | None) -> list[str]:
    """The named models in their order; all if none is named."""
    wanted = [*known] if models is None else [models] if isinstance(models, str) else [*models]
    if strange := [name for name in wanted if name not in known]:
        raise InputError(f"There is no model {strange[0]!r} in this table: there are {', '.join(known)}.")
    return wanted


def _texts_of(known: Sequence[str], names: Mapping[str, str] | None) -> dict[str, str]:
    """What is printed for every metric and model."""
    if strange := [name for name in names or {} if name not in known]:
        listed = ", ".join(known)
        raise OptionError(f"names has {strange[0]!r}, which is no row or column of this table: there are {listed}.")
    return {name: name for name in known} | dict(names or {})


def paper_latex(evaluation: Evaluation) -> str:
    """The table in LaTeX with models as rows: over seeds if names differ by a seed alone, or with intervals."""
    if evaluation.has_seeds:
        return evaluation.grouped().to_latex()
    return evaluation.to_latex(rows="models" if len(evaluation.representations) > 1 else "metrics", intervals=True)


def _chosen_labels(labels: Sequence[str], metrics: Sequence[str] | str | None) -> tuple[str, ...]:
    """Labels of the named metrics, in their order; a name without options stands for the first label of that metric."""
    if metrics is None:
        return tuple(labels)
    if not isinstance(metrics, Sequence):
        raise OptionError(f"metrics={metrics!r} names no metric: write names in a list, or leave it out for all.")
    names = [name.strip() for name in metrics.split(",")] if isinstance(metrics, str) else list(metrics)
    chosen = []
    for name in filter(None, names):
        fitting = [label for label in labels if label == name] or [
            label for label in labels if label.split(" (")[0] == name
        ]
        if not fitting:
            raise InputError(f"There is no score of {name!r}: there are {', '.join(labels)}.")
        chosen.append(fitting[0])
    if not chosen:
        raise OptionError("metrics names no metric: leave it out for all of them.")
    return tuple(dict.fromkeys(chosen))


def _cells_of_models(evaluation: Evaluation, label: str, intervals: bool, bold: bool) -> tuple[PaperCell, ...]:
    rows = {name: evaluation.row(label, name) for name in evaluation.representations}
    comparison = evaluation.data.comparison.get(label)
    doubted = {name for name, row in rows.items() if row is not None and row.level in DOUBTED}
    best = never_below(comparison, doubted) if bold else ()
    cells = []
    for name, row in rows.items():
        values = evaluation.values(label, name)
        mean, spread = evaluation.mean_and_spread(label, name)
        if row is None or not math.isfinite(mean):
            cells.append(PaperCell(missing="" if row is None else "undefined" if values else "failed"))
            continue
        ends = row.ends if intervals else None
        std = spread if len(values) > 1 and not ends else None
        cells.append(PaperCell(mean, "", std, ends, name in best, row.level))
    return tuple(cells)


def _cells_of_groups(found: GroupedScores, label: str, intervals: bool, bold: bool) -> tuple[PaperCell, ...]:
    scores = {score.group: score for score in found.scores[label]}
    tested = all(score.letters for score in found.scores[label] if score.values)
    best = found.best(label) if bold and tested else ()
    return tuple(_cell_of_group(scores[name], intervals, name in best) for name in found.groups)


def _cell_of_group(score: GroupedScore, intervals: bool, bold: bool) -> PaperCell:
    if not math.isfinite(score.mean):
        return PaperCell(missing="failed")
    several = math.isfinite(score.std)
    ends = (score.lower, score.upper) if intervals and several else None
    return PaperCell(score.mean, "", score.std if several and not intervals else None, ends, bold, score.level)


def _legend(
    found: Evaluation | GroupedScores, columns: Mapping[str, Sequence[PaperCell]], bold: bool
) -> tuple[str, ...]:
    """Sentences on what the numbers, bold print and marks mean; only of what the table has."""
    cells = [cell for column in columns.values() for cell in column]
    if isinstance(found, GroupedScores):
        over, test, of_runs = f"over {_n_seeds(found)} seeds", "Welch's t-test over seeds, Holm's correction", True
        brackets = f"Mean {over}; in brackets, its {100 * found.level:g} % interval (Student's t)."
    else:
        over, test, of_runs = "over seeds", "paired test over samples", False
        levels = sorted({row.interval.level for row in found.rows if row.interval is not None})
        brackets = f"In brackets: {' or '.join(f'{100 * level:g} %' for level in levels)} intervals over samples."
    said = [f"Mean ± standard deviation {over}."] if any(cell.spread is not None for cell in cells) else []
    said += [brackets] if any(cell.ends for cell in cells) else []
    if any(cell.bold for cell in cells):
        said.append(f"Bold: the best, and what does not differ significantly from it ({test}).")
    elif bold and not isinstance(found, GroupedScores) and not found.data.comparison:
        said.append("Nothing is bold, because the differences were not tested.")
    elif bold:
        said.append("Nothing is bold, because no setting is reliable and significantly better than another.")
    for level, mark in MARKS.items():
        if any(cell.level is level for cell in cells):
            said.append(f"{mark} {MARK_WORDS[level]}{' in at least one run' * of_runs}.")
    return tuple(said)


MARK_WORDS = {
    Level.CAUTION: "use with caution on these data",
    Level.NOISE: "not significantly better than random codes",
    Level.DO_NOT_USE: "not reliable on these data",
}


MARK_NAMES = {Level.CAUTION: "dagger", Level.NOISE: "degree sign", Level.DO_NOT_USE: "double dagger"}


def _n_seeds(found: GroupedScores) -> str:
    counts = sorted({len(score.values) for scores in found.scores.values() for score in scores if score.values})
    return "no" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _text_name(text: str, down: bool | None) -> str:
    return text if down is None else f"{text} {ARROWS[down][0]}"


def _latex_name(text: str, down: bool | None) -> str:
    return escaped(text) if down is None else f"{escaped(text)} {ARROWS[down][1]}"


def _after(cell: PaperCell, digits: int) -> str:
    """What follows the number in a column of siunitx: the interval and the mark."""
    if cell.number is None:
        return ""
    ends = " [{}, {}]".format(*(fixed(end, digits).replace(MINUS, "$-$") for end in cell.ends)) if cell.ends else ""
    return ends + (cell.level.latex_mark if cell.level else "")


def _latex_cell(cell: PaperCell, digits: int) -> str:
    if cell.number is None:
        return f"{{{cell.missing or '--'}}}"
    number = fixed(cell.number, digits).replace(MINUS, "-")
    spread = "" if cell.spread is None else f" +- {fixed(cell.spread, digits)}"
    after = f" {{{found}}}" if (found := _after(cell, digits)) else ""
    return r"\bfseries " * cell.bold + number + spread + after


def _column_format(cells: Sequence[PaperCell], digits: int) -> str:
    """The ``table-format`` of a column of siunitx; empty if its numbers have an exponent."""
    numbers = [fixed(cell.number, digits).replace(MINUS, "-") for cell in cells if cell.number is not None]
    spreads = [fixed(cell.spread, digits) for cell in cells if cell.spread is not None]
    if not numbers or any("e" in number for number in numbers + spreads):
        return ""
    whole = max(len(number.lstrip("-").partition(".")[0]) for number in numbers)
    # siunitx counts the digits of an uncertainty without leading zeros: 0.012 has two, and 1.200 has four
    n_digits = max((len(spread.replace(".", "").lstrip("0")) or 1 for spread in spreads), default=0)
    sign = "-" if any(number.startswith("-") for number in numbers) else ""
    # siunitx 3 reserves room for what follows a number here only: a table-format resets table-space-text-post
    widest = max((_after(cell, digits) for cell in cells), key=len)
    spread = f"({max(n_digits, digits)})" * bool(spreads) + f"{{{widest}}}" * bool(widest)
    return f"table-format={sign}{whole}{f'.{digits}' * bool(digits)}{spread}"


def latex_rows(summary: Mapping[str, Any]) -> str:
    """Return one row for each representation, after comments that name the columns and explain the marks.

    The columns are the metrics that the answer is based on. `paper_table` has all metrics.
    """
    chosen = [line["metric"] for line in summary["answer"]["questions"] if line["metric"]]
    metrics = [metric for metric in summary["metrics"] if metric["label"] in chosen] or summary["metrics"]
    lines = ["% columns: representation, " + ", ".join(metric["label"] for metric in metrics)]
    cells = [cell for metric in metrics for cell in metric["cells"]]
    levels = sorted({cell["interval"]["level"] for cell in cells if cell["interval"]})
    if levels:
        stated = " or ".join(f"{100 * level:g} %" for level in levels)
        lines.append(f"% in brackets: {stated} intervals over samples")
    shown = {cell["verdict"]["level"] for cell in cells if cell["verdict"]}
    marks = [f"{name}: {MARK_WORDS[level]}" for level, name in MARK_NAMES.items() if level in shown]
    lines += [f"% {'; '.join(marks)}"] if marks else []
    for entry in summary["data"]["representations"]:
        row = [escaped(entry["name"]), *(_full_cell(metric, entry["name"]) for metric in metrics)]
        lines.append(" & ".join(row) + r" \\")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return the text on one line, escaped so that LaTeX prints it unchanged.

    >>> print(escaped("50 % of z_1"))
    50 \\% of z\\_1
    """
    return "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()))


def _full_cell(metric: Mapping[str, Any], representation: str) -> str:
    """Return mean and standard deviation over seeds, the interval, and the mark of the verdict."""
    cell = next((cell for cell in metric["cells"] if cell["representation"] == representation), None)
    if cell is None or cell["value"] is None:
        return "--"
    text = escaped(fixed(cell["value"]))
    if cell["spread"] is not None:
        text += rf" $\pm$ {fixed(cell['spread'])}"
    if cell["interval"]:
        ends = ", ".join(escaped(fixed(cell["interval"][end])) for end in ("low", "high"))
        text += rf" {{\scriptsize [{ends}]}}"
    return text + (Level(cell["verdict"]["level"]).latex_mark if cell["verdict"] else "")
