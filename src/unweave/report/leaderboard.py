"""Models by questions, from a folder of saved evaluations: `leaderboard` and the command of that name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text
from scipy import stats

from unweave.errors import FileError, UnweaveError
from unweave.estimators.independence import corrected
from unweave.evaluation import Evaluation
from unweave.evidence.columns import data_frame
from unweave.options import checks_options
from unweave.report.answer import IN_CODES, QuestionLine, TextTable, question_lines
from unweave.report.html import content_policy
from unweave.report.tables import plain_text
from unweave.report.terminal import plain_table
from unweave.sentences import between, counted, fixed, listed
from unweave.trust.verdict_record import Level
from unweave.whole_files import write_output

LADDER = "identified"
UNRANKED = (Level.NOISE, Level.DO_NOT_USE, Level.NO_VERDICT)  # such scores are shown, and are never the best
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class BoardScore:
    """A score of one model: its value, 95 % interval, floor and verdict; ``best`` if no other is significantly higher.

    ``best`` is False for every model of a column if there is no interval of the highest score, or if all models tie.
    """

    metric: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    noise: float = math.nan
    level: Level = Level.NOT_CHECKED
    best: bool = False

    @property
    def text(self) -> str:
        """Value with the sign of its verdict; a star marks the best."""
        return "" if math.isnan(self.value) else f"{fixed(self.value, 2)}{'*' * self.best} {self.level.sign}".rstrip()


@dataclass(frozen=True)
class Standing:
    """One model: where it was read, how many rows and codes it has, and a cell for every question."""

    model: str
    file: str
    n_rows: int
    n_codes: int
    cells: dict[str, BoardScore]


@dataclass(frozen=True)
class Board:
    """All models with the same factors, best identified first, then those without a ladder."""

    factors: tuple[str, ...]
    questions: tuple[str, ...]
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class Leaderboard:
    """Boards of models, one for each set of factors, and the files that are no evaluations with the reason.

    Models on one board need not have the same samples. The best of a column is tested with the intervals of the single
    evaluations (Holm's correction over the column), which is careful for models that were scored on the same samples:
    `unweave.compare` tests these in pairs.

    >>> import tempfile, unweave
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     unweave.evaluate(z, z, metrics=["r2"], quick=True).save(f"{folder}/model.json")
    ...     print(leaderboard(folder).to_markdown().splitlines()[4])
    | model | 60 | 2 | 1.00 |
    """

    boards: tuple[Board, ...]
    skipped: dict[str, str]

    def to_frame(self, backend: str = "polars") -> Any:
        """A row for each model and question; ``backend`` may be pandas."""
        lines = [
            {"factors": ", ".join(board.factors), "model": each.model, "file": each.file}
            | {"n_rows": each.n_rows, "n_codes": each.n_codes, "question": question, **vars(cell)}
            | {"level": str(cell.level)}
            for board in self.boards
            for each in board.standings
            for question, cell in each.cells.items()
        ]
        return data_frame({name: [line[name] for line in lines] for name in lines[0]}, backend)

    def to_markdown(self) -> str:
        """A table for each set of factors, with a legend."""
        parts = []
        for board in self.boards:
            table = _table(board)
            heads = ["---"] + ["---:"] * (len(table.heads) - 1)
            lines = [table.heads, heads, *([cell.replace("|", "\\|") for cell in row] for row in table.rows)]
            parts.append("\n".join([_title(board), "", *(f"| {' | '.join(line)} |" for line in lines)]))
        return "\n\n".join([*parts, " ".join(self._legend())]) + "\n"

    def to_html(self, path: str | Path | None = None) -> str:
        """The tables as one self-contained page without scripts; also written to ``path`` if given."""
        body = []
        for board in self.boards:
            heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in _table(board).heads)
            rows = "".join(_html_row(board, each) for each in board.standings)
            body.append(f"<h2>{escape(_title(board))}</h2><div><table><tr>{heads}</tr>{rows}</table></div>")
        legend = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._legend())
        page = PAGE.format(policy=content_policy(STYLE), style=STYLE, body="".join(body) + legend)
        if path is not None:
            write_output(path, page)
        return page

    def _legend(self) -> Iterator[str]:
        yield (
            f"'{LADDER.capitalize()}' is the value of the ladder: 0 for noise, about 0.5 for a lossless random mixing, "
            "1 for a code of its own for each factor. * is best: no other model is significantly better (5 %, Holm). "
            f"{', '.join(f'{level.sign} {level}' for level in Level if level.sign)}; scores at noise level and those "
            "not to be used are never best."
        )
        if self.skipped:
            yield f"{counted(len(self.skipped), 'file')} left out: {listed(list(self.skipped), 5)}."

    def __rich__(self) -> Group:
        parts: list[Any] = []
        for board in self.boards:
            table, shown = plain_table(), _table(board)
            for k, head in enumerate(shown.heads):
                table.add_column(head, justify="right" if k else "left", overflow="fold")
            for row in shown.rows:
                table.add_row(*map(Text, row))
            parts += [Text(_title(board), style="bold"), table]
        return Group(*parts, *(Text(sentence, style="dim") for sentence in self._legend()))

    def __str__(self) -> str:
        return plain_text(self)


STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;"
    "padding:0 1rem}div{overflow-x:auto}table{border-collapse:collapse}th,td{text-align:right;padding:.3rem .7rem;"
    "border-bottom:1px solid #8884;white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "small{opacity:.7}h2{font-size:1.1rem}"
)

PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width, initial-scale=1"><meta http-equiv="Content-Security-Policy" '
    'content="{policy}"><title>Leaderboard · unweave</title>'
    "<style>{style}</style></head><body><h1>Leaderboard</h1>{body}</body></html>"
)


def _html_row(board: Board, each: Standing) -> str:
    cells = []
    for question in board.questions:
        cell = each.cells[question]
        value = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
        known = not math.isnan(cell.low)
        ends = f"<br><small>{between(cell.low, cell.high)}</small>" if known else ""
        cells.append(f'<td title="{escape(f"{cell.metric}: {cell.level}")}">{value}{ends}</td>')
    head = f'<td title="{escape(each.file)}">{escape(each.model)}</td><td>{each.n_rows:,}</td><td>{each.n_codes:,}</td>'
    return f"<tr>{head}{''.join(cells)}</tr>"


def _title(board: Board) -> str:
    return f"{counted(len(board.standings), 'model')}, factors {listed(list(board.factors), 8)}"


def _table(board: Board) -> TextTable:
    rows = tuple(
        (each.model, f"{each.n_rows:,}", f"{each.n_codes:,}", *(each.cells[name].text for name in board.questions))
        for each in board.standings
    )
    return TextTable(("model", "rows", "codes", *board.questions), rows)


@checks_options
def leaderboard(folder: str | Path) -> Leaderboard:
    """Read every evaluation in a folder and rank the models.

    Parameters
    ----------
    folder : path
        Folder with files that `Evaluation.save` or ``unweave score --json`` wrote, also in folders below it. A model is
        called after its file, and after its representation too if the file has several.

    Returns
    -------
    Leaderboard
        Print it, or use `to_html`, `to_markdown` and `to_frame`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"{folder} is not a folder: name one with evaluations that Evaluation.save wrote.")
    skipped: dict[str, str] = {}
    models: dict[tuple[tuple[str, str], ...], list[Standing]] = {}
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        try:
            evaluation = Evaluation.load(path)
        except UnweaveError as error:
            skipped[name] = str(error)
            continue
        standings = list(_standings(evaluation, name))
        if not any(each.cells for each in standings):
            skipped[name] = "It answers no question: evaluate without metrics=, or with the metrics of the panel."
            continue
        factors = tuple((factor.name, factor.kind) for factor in evaluation.data.factors)
        models.setdefault(factors, []).extend(standings)
    if not models:
        reason = f" ({next(iter(skipped.values()))})" if skipped else ""
        raise FileError(f"{folder} has no evaluation{reason}: save some with Evaluation.save or score --json.")
    boards = [_board(tuple(name for name, _ in factors), entries) for factors, entries in models.items()]
    return Leaderboard(tuple(sorted(boards, key=lambda board: -len(board.standings))), skipped)


def _standings(evaluation: Evaluation, file: str) -> Iterator[Standing]:
    stem = file.removesuffix(".json")
    for name in evaluation.representations:
        cells = {line.short: _cell(line) for line in question_lines(evaluation, name) if line.metric}
        if (ladder := evaluation.data.ladders.get(name)) is not None:
            low, high = ladder.intervals["value"]
            level = Level.NOT_CHECKED if any(row.rung in IN_CODES for row in ladder.rows) else Level.NOISE
            cells = {LADDER: BoardScore("ladder", ladder.value, low, high, 0.0, level)} | cells
        model = stem if len(evaluation.representations) == 1 else f"{stem}: {name}"
        yield Standing(model, file, evaluation.data.n_rows, evaluation.data.representations[name].n_codes, cells)


def _cell(line: QuestionLine) -> BoardScore:
    numbers = (line.value, line.low, line.high, line.noise)
    value, low, high, noise = (math.nan if number is None else number for number in numbers)
    return BoardScore(line.metric, value, low, high, noise, line.level)


def _board(factors: tuple[str, ...], standings: Sequence[Standing]) -> Board:
    questions = tuple(dict.fromkeys(name for each in standings for name in each.cells))
    questions = tuple(sorted(questions, key=lambda name: name != LADDER))
    marked: list[dict[str, BoardScore]] = [{} for _ in standings]
    for name in questions:
        column = [each.cells.get(name, BoardScore("")) for each in standings]
        for k, is_best in enumerate(_best(column)):
            marked[k][name] = replace(column[k], best=is_best)
    ranked = [replace(each, cells=cells) for each, cells in zip(standings, marked, strict=True)]
    first = questions[0]
    ranked.sort(key=lambda each: -each.cells[first].value if not math.isnan(each.cells[first].value) else math.inf)
    return Board(factors, questions, tuple(ranked))


def _best(column: Sequence[BoardScore]) -> list[bool]:
    """Which scores are not significantly below the highest; none if that has no interval or if nothing differs."""
    rivals = [k for k, cell in enumerate(column) if not math.isnan(cell.low) and cell.level not in UNRANKED]
    known = [k for k, cell in enumerate(column) if not math.isnan(cell.value) and cell.level not in UNRANKED]
    if len(known) < 2 or len(rivals) < len(known):
        return [False] * len(column)
    top = max(rivals, key=lambda k: column[k].value)
    others = [k for k in rivals if k != top]
    reach = 2 * stats.norm.ppf(0.975)
    errors = [math.hypot(column[k].high - column[k].low, column[top].high - column[top].low) / reach for k in others]
    apart = [column[top].value - column[k].value for k in others]
    p_values = [
        2 * float(stats.norm.sf(gap / error)) if error else float(gap == 0)
        for gap, error in zip(apart, errors, strict=True)
    ]
    tied = {k for k, p in zip(others, corrected(np.array(p_values), "holm"), strict=True) if p > SIGNIFICANT}
    if len(tied) == len(others):
        return [False] * len(column)
    return [k == top or k in tied for k in range(len(column))]
