"""Table 3 of 003 for the whole catalogue: the audit of every metric of factors and codes, stored in the package.

`unweave.trust` reads the table as data. Run ``python docs/audited.py`` (``make audit``) to write it again. Finished
cells are stored in a file, so that a run that was stopped can continue and every further run adds cells (``--budget 0``
only writes the table). ``--metrics identification,r2`` (``make audit METRICS=identification,r2``) only updates the
entries of these metrics and of metrics that share their computations.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import unweave
from unweave.auditing.measurement import Subject, subject_of
from unweave.auditing.properties import Audit, PropertyNumber, Result
from unweave.auditing.run import audit_all, text_table
from unweave.metrics import CATALOGUE
from unweave.store import write_result

SCHEMA = "unweave.audited/1"
TABLE = Path(unweave.__file__).parent / "trust" / "audited.json"
CELLS = Path(".audit") / "cells.jsonl"
BUDGET, SEEDS = 120.0, 5
# metrics that share their expensive computation, which is done once
SHARED = (
    ("dci_disentanglement", "dci_completeness", "dci_informativeness"),
    ("mig", "mig_sup", "dcimig", "modularity"),
    ("minimality", "sufficiency"),
    ("infomec_modularity", "infomec_compactness"),
    ("infomec_explicitness", "explicitness_ratio"),
)
# further rows of Table 3 in 003; its T-MEX is the alignment score of a linear test
VARIANTS = (
    subject_of("mcc:correlation=spearman"),
    subject_of("mcc:correlation=rdc"),
    subject_of("t_mex:test=linear:score=alignment"),
)


def groups() -> list[list[Subject]]:
    """The metrics of the catalogue and their variants, in groups; metrics that share computations are in one group."""
    together = {name: group for group in SHARED for name in group}
    listed = dict.fromkeys(together.get(name, (name,)) for name in CATALOGUE)
    return [[subject_of(name) for name in group] for group in listed] + [[variant] for variant in VARIANTS]


def audited_catalogue(
    budget: float,
    cells: str | Path | None,
    n_jobs: int = 1,
    names: Iterable[str] = (),
    n_seeds: int = SEEDS,
    say: Callable[[str], object] = str,
) -> list[Audit]:
    """Audit the catalogue, or only the groups that contain these names; every group has ``budget`` CPU seconds."""
    wanted = set(names)
    audits: list[Audit] = []
    for group in groups():
        if not wanted or wanted & {subject.label for subject in group}:
            audits += audit_all(group, n_seeds=n_seeds, budget=budget, n_jobs=n_jobs, store=cells)
            say("\n".join(f"{audit.ticks} {audit.metric} ({audit.seconds:.0f} s)" for audit in audits[-len(group) :]))
    return audits


def table_data(audits: Sequence[Audit]) -> dict[str, Any]:
    """The content of the table: verdicts, numbers and intervals, without the curves from which they were computed."""
    audited = [audit for audit in audits if not audit.refusal]
    return {
        "schema": SCHEMA,
        "versions": audited[0].versions,
        "grid": audited[0].grid,
        "metrics": {audit.metric: _summary(audit) for audit in audited},
        "not_audited": {audit.metric: str(audit.refusal) for audit in audits if audit.refusal},
    }


def write_table(audits: Sequence[Audit], path: Path = TABLE, *, keep_others: bool = False) -> None:
    """Write the table as JSON with one line for every value, so that differences between versions are readable.

    With ``keep_others``, the entries of other metrics in the file do not change.
    """
    data = table_data(audits)
    if keep_others and path.exists():
        before = read_table(path)
        data = {**before, "metrics": {**before["metrics"], **data["metrics"]}}
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    write_result(path, lambda file: file.write(text.encode()))


def read_table(path: Path = TABLE) -> dict[str, Any]:
    """The table as plain data."""
    return json.loads(path.read_text(encoding="utf-8"))


def _summary(audit: Audit) -> dict[str, Any]:
    plain = audit.to_dict()
    return {
        "version": audit.version,
        "n_seeds": audit.n_seeds,
        "ticks": audit.ticks,
        **{result.name: _summary_of_property(result) for result in audit.results},
        "equivalence": audit.equivalence,
        "promises": plain["promises"],
        "red_team": plain["red_team"],
        "treatment": str(audit.treatment or ""),
        "problems": [str(problem) for problem in audit.problems],
        "further": {
            result.name: {**_summary_of_property(result), "n_undefined": result.n_undefined} for result in audit.further
        },
        "spread": _largest_spread(audit),
        "remarks": [str(remark) for remark in audit.remarks],
        "seconds": round(audit.seconds, 1),
    }


def _summary_of_property(result: Result) -> dict[str, Any]:
    """Summary of a property: the decisive number, the worst number of every kind, and how many points are missing."""
    return {
        "verdict": result.verdict,
        "possible": list(result.possible),
        **_rounded_number(result),
        "where": result.where,
        "worst_of_each": {name: _rounded_number(row) for name, row in result.worst_of_each("level").items()},
        "worst_case": None if result.worst_case is None else result.worst_case.expression,
        "n_missing": len(result.missing),
    }


def _largest_spread(audit: Audit) -> float | None:
    """Largest standard deviation over seeds of the numbers that decide P1 and P3; None without such numbers."""
    spreads = [row.spread for name in ("P1", "P3") for row in audit[name].measured if row.counts]
    return _four_decimals(max((spread for spread in spreads if spread == spread), default=math.inf))


def _rounded_number(row: Result | PropertyNumber) -> dict[str, Any]:
    return {"number": _four_decimals(row.number), "interval": [_four_decimals(bound) for bound in row.interval]}


def _four_decimals(number: float) -> float | None:
    return round(number, 4) if abs(number) < float("inf") else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Audit the catalogue and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--budget", type=float, default=BUDGET, help="CPU seconds for every group of metrics")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--metrics", default="", help="names separated by commas; other entries do not change")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="draws of every case; up to 8 times more if undecided")
    parser.add_argument("--cells", type=Path, default=CELLS, help="file of finished cells")
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args(arguments)
    separated = re.split(r",(?![^(]*\))", given.metrics)  # not within brackets
    names = [name.strip() for name in separated if name.strip()]
    unknown = set(names) - {subject.label for group in groups() for subject in group}
    if unknown:
        parser.error(f"{min(unknown)} is not a metric of the catalogue: use names that `unweave metrics` lists")
    audits = audited_catalogue(
        given.budget, given.cells, given.jobs, names, given.seeds, lambda text: sys.stderr.write(text + "\n")
    )
    write_table(audits, given.out, keep_others=bool(names))
    sys.stdout.write(text_table(audits) + "\n")


if __name__ == "__main__":
    main()
