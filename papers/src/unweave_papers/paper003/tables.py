"""Tables 3 and F.3 of 003: marks of the four properties, and MCC of random codes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from unweave.auditing.measurement import PROPERTIES
from unweave.auditing.properties import TICKS
from unweave.auditing.run import number_of
from unweave.synthetic.theory import NullMcc
from unweave.trust.verdict import table as audited_metrics
from unweave_papers.experiment import ClaimCheck, Experiment, MeasuredFigure, Options, Pictures, Tables
from unweave_papers.figures import curves_figure, mark_table_figure
from unweave_papers.ledger import claim_rows
from unweave_papers.paper003.evidence import figure, null_mcc
from unweave_papers.paper003.settings import cell

# Table 3: the audit's name of a metric to the paper's name and marks
TABLE_3 = {
    "mcc": ("MCC-P", "✗✗✗✗"),
    "mcc (correlation=spearman)": ("MCC-S", "✗✗✗✗"),
    "r2": ("R²", "✓~✗✓"),
    "dci_disentanglement": ("DCI-D", "~~✗~"),
    "mig": ("MIG", "✗✗✗~"),
    "t_mex (test=linear, score=alignment)": ("T-MEX", "~✗✗~"),
}

# the table of F.3, m = d = 10: number of rows to the paper's bound and observed MCC
TABLE_F3 = {100: (0.21, 0.3), 50: (0.30, 0.5), 20: (0.48, 0.83), 10: (0.68, 0.95)}
N_CODES = 10


def marks(options: Options) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """Return our mark and its number by metric and property, from the audit results in the package."""
    audited = audited_metrics()
    return {name: {key: _mark(audited[name][key]) for key in PROPERTIES} for name in TABLE_3 if name in audited}


def _mark(entry: Mapping[str, object]) -> tuple[str, str]:
    low, high = (math.nan if bound is None else bound for bound in entry["interval"])  # type: ignore[attr-defined]
    number = entry["number"]
    shown = f"{number_of(number, (low, high))}, {entry['where']}" if isinstance(number, float) else ""
    return TICKS[entry["verdict"]], shown  # type: ignore[index]


def compare_marks(
    marks_of_metric: Mapping[str, Mapping[str, tuple[str, str]]], options: Options
) -> Iterator[ClaimCheck]:
    """Compare every mark with the paper's; a mark can be undecided."""
    for name, by_property in marks_of_metric.items():
        title, theirs = TABLE_3[name]
        for (key, (mark, number)), of_paper in zip(by_property.items(), theirs, strict=True):
            agree = None if mark == TICKS["undecided"] else mark == of_paper
            yield ClaimCheck(f"{title}, {key}", of_paper, f"{mark} {number}", agree, undecided=agree is None)
    yield from claim_rows("003", 91, folder=options.folder)


def draw_marks(marks_of_metric: Mapping[str, Mapping[str, tuple[str, str]]], options: Options) -> Pictures:
    """Draw our marks beside the paper's."""
    rows = {
        TABLE_3[name][0]: [(mark, theirs) for (mark, _), theirs in zip(row.values(), TABLE_3[name][1], strict=True)]
        for name, row in marks_of_metric.items()
    }
    drawn = mark_table_figure(rows, PROPERTIES, title="by the audit (in the paper)")
    yield "tab3", drawn


class NullRow(NamedTuple):
    """MCC of ten noise codes and ten factors: the bound, means on all and on a fifth of the rows, and expectation."""

    bound: float
    all_rows: MeasuredFigure
    fifth: MeasuredFigure | None
    theory: float


def null_rows(options: Options) -> dict[int, NullRow]:
    """Compute MCC of noise for every number of rows; the released code's cell of 50 rows was not published."""
    released = {n: figure(cell("exp15_e10@8402085(June)", n=n, m=N_CODES), "MCC-P") for n in (100, 20, 10)}
    return {
        n: NullRow(
            math.sqrt(2 * math.log(N_CODES) / n),
            null_mcc(n, N_CODES, N_CODES),
            released.get(n),
            float(NullMcc(n, N_CODES, N_CODES).mean),
        )
        for n in TABLE_F3
    }


def compare_nulls(nulls: Mapping[int, NullRow], options: Options) -> Iterator[ClaimCheck]:
    """Compare the paper's bound and observed MCC with ours, and check the claims of the ledger."""
    for n, row in nulls.items():
        bound, observed = TABLE_F3[n]
        name = f"m/n = {N_CODES / n:g} (n = {n})"
        yield ClaimCheck(
            f"sqrt(2 log m / n), {name}", f"{bound:.2f}", f"{row.bound:.3f}", abs(row.bound - bound) < 0.01
        )
        same = abs(row.all_rows.value - observed) < 0.05
        yield ClaimCheck(f"MCC-P on all rows, {name}", f"{observed:g}", str(row.all_rows), same)
        if row.fifth is not None:
            yield ClaimCheck(f"MCC-P on a fifth of the rows, {name}", f"{observed:g}", str(row.fifth))
        yield ClaimCheck(f"expected MCC-P, {name}", "not in the paper", f"{row.theory:.3f}")
    yield from claim_rows("003", 74, 75, 76, 77, 78, folder=options.folder)


def write_nulls(nulls: Mapping[int, NullRow], options: Options) -> Tables:
    """Write the scores of noise and the bounds as a table."""
    lines = ["n,bound of the paper,bound,observed in the paper,all rows,low,high,a fifth of the rows,expected"]
    for n, row in nulls.items():
        fifth = "" if row.fifth is None else f"{row.fifth.value:.4f}"
        ours = ",".join(f"{number:.4f}" for number in row.all_rows.numbers)
        lines.append(f"{n},{TABLE_F3[n][0]},{row.bound:.4f},{TABLE_F3[n][1]},{ours},{fifth},{row.theory:.4f}")
    yield "tabF3", "\n".join(lines) + "\n"


def draw_nulls(nulls: Mapping[int, NullRow], options: Options) -> Pictures:
    """Draw MCC and bounds against m/n."""
    curves = {
        "observed in the paper": [observed for _, observed in TABLE_F3.values()],
        "a fifth of the rows": [math.nan if row.fifth is None else row.fifth.value for row in nulls.values()],
        "sqrt(2 log m / n)": [row.bound for row in nulls.values()],
        "all rows": [row.all_rows.value for row in nulls.values()],
        "expected": [row.theory for row in nulls.values()],
    }
    bands = {
        "all rows": tuple(list(ends) for ends in zip(*(r.all_rows.numbers[1:] for r in nulls.values()), strict=True))
    }
    ticks = [f"{N_CODES / n:g}" for n in nulls]
    drawn = curves_figure(curves, ticks, "MCC-P of noise", across="m/n, m = d = 10", bands=bands, limits=(0, 1.05))  # type: ignore[arg-type]
    yield "tabF3", drawn


TABLES = (
    Experiment(
        "tab3",
        "The four properties of metrics, by the audit results in the package",
        compute=marks,
        compare=compare_marks,
        draw=draw_marks,
        options=(),
        cost="seconds; unweave audit NAME computes a row again",
        seeds="Marks follow from audits with the numbers of seeds in the documents; those in brackets are the paper's.",
    ),
    Experiment(
        "tabF3",
        "MCC of random codes",
        compute=null_rows,
        compare=compare_nulls,
        write=write_nulls,
        draw=draw_nulls,
        options=(),
        seeds="Means over seeds: the band is a 95 % interval.",
    ),
)
