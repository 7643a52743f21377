"""The practitioner's checklist of 003 (appendix A), answered item by item on the user's own data.

Items are numbered as in the paper. If a rule of the paper is wrong (claims 44, 77 and 80 of the ledger), the item uses
a correct rule instead: the expected MCC of noise instead of sqrt(2 log m / n), and the audit's results instead of the
paper's Table 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from unweave.card import Metric
from unweave.evidence import Evidence
from unweave.metrics import dci_disentanglement, mcc, r2
from unweave.synthetic.theory import NullMcc
from unweave.trust.diagnosis import Diagnosis, diagnose
from unweave.trust.floors import NoiseFloor, noise_floor
from unweave.trust.verdict import satisfies
from unweave_papers.experiment import plain_table

Answer = Literal["fine", "beware", "note"]
HIGH_FLOOR = 0.1
N_DRAWS = 19
CHECKED: dict[str, Metric[...]] = {"MCC": mcc, "R2": r2, "DCI-D": dci_disentanglement}
GENERAL = ("identification", "r2", "mcc", "dci_disentanglement", "mig", "minimality", "sufficiency")


@dataclass(frozen=True)
class ChecklistItem:
    """An item of the checklist with its answer and the finding on these data."""

    number: int
    name: str
    answer: Answer
    found: str


def checklist(evidence: Evidence, seed: int = 0) -> list[ChecklistItem]:
    """Answer the ten items of the checklist on these data; the seed is that of the permutations for noise floors.

    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=(200, 2))
    >>> items = checklist(Evidence(z, z[:, ::-1]))
    >>> [item.answer for item in items[:4]]
    ['fine', 'fine', 'note', 'fine']
    """
    diagnosis = diagnose(evidence)
    floors = {
        label: noise_floor(metric, evidence, n_draws=N_DRAWS, seed=seed)
        for label, metric in CHECKED.items()
        if evidence.n_rows >= metric.card.min_rows
    }
    return [ChecklistItem(k + 1, *item) for k, item in enumerate(_items(evidence, diagnosis, floors))]


def checklist_table(items: list[ChecklistItem]) -> Any:
    """Format the items as a table for the terminal."""
    rows = [(str(item.number), item.name, item.answer, item.found) for item in items]
    return plain_table(("", "item of the checklist (003, appendix A)", "answer", "on these data"), rows)


def _items(
    evidence: Evidence, diagnosis: Diagnosis, floors: dict[str, NoiseFloor]
) -> Iterator[tuple[str, Answer, str]]:
    n, m, d = evidence.n_rows, evidence.n_codes, evidence.n_factors
    dependent = diagnosis.effective_dimension < d or diagnosis.dependence_class.value not in ("independent", "unknown")
    yield _codes_per_row(n, m, d)
    yield _baseline(floors)
    matched = "matched (m = d)" if m == d else "overcomplete (m > d)" if m > d else "undercomplete (m < d)"
    yield "Know your assumptions", "note", f"The factors are {_dependence(diagnosis)}; the codes are {matched}."
    easy = m == d and not dependent
    yield (
        "Matched and independent",
        "fine" if easy else "note",
        "MCC, DCI-D and R2 can all be interpreted." if easy else "It does not apply here: see items 5 and 6.",
    )
    yield (
        "Correlated factors",
        "beware" if dependent else "fine",
        f"{_with_property('P1')} here; other scores rise or fall with the dependence."
        if dependent
        else "The factors look independent.",
    )
    yield (
        "More codes than factors",
        "beware" if m > d else "fine",
        f"{_with_property('P3')} here; compare with m = d." if m > d else "There are no more codes than factors.",
    )
    yield "Look the metric up", "note", "The audit has the four properties of every metric: see docs/audit.md."
    high = floors["MCC"].floor if "MCC" in floors else math.nan
    doubtful = dependent or high > HIGH_FLOOR
    yield (
        "A high MCC need not mean identifiability",
        "beware" if doubtful else "fine",
        f"Random codes score {high:.2f}, and the factors are {_dependence(diagnosis)}.",
    )
    yield (
        "A high DCI-D need not mean disentanglement",
        "beware" if m > d else "fine",
        "Mixed codes score higher if there are more of them." if m > d else "There are no more codes than factors.",
    )
    several = [constraint for constraint in diagnosis.constraints if not constraint.is_single]
    yield (
        "Redundancy of several factors",
        "beware" if several else "fine",
        f"{several[0].determined} follows from {' and '.join(several[0].by)}; pairwise metrics do not detect this."
        if several
        else "No factor follows from several others, as far as these rows can show.",
    )


def _codes_per_row(n: int, m: int, d: int) -> tuple[str, Answer, str]:
    expected = float(NullMcc(n, m, d).mean)
    answer: Answer = "beware" if expected > HIGH_FLOOR else "fine"
    return (
        "Codes per row",
        answer,
        f"m/n is {m / n:.2g}. Random codes would have an MCC of {expected:.2f} on {n:,} rows.",
    )


def _baseline(floors: dict[str, NoiseFloor]) -> tuple[str, Answer, str]:
    told = [f"{label} {floor.floor:.2f}" for label, floor in floors.items() if math.isfinite(floor.floor)]
    high = any(floor.floor > HIGH_FLOOR for floor in floors.values())
    return (
        "Report a null encoder",
        "beware" if high else "fine",
        f"Permuted codes score {', '.join(told)}." if told else "There are too few rows to score permuted codes.",
    )


def _dependence(diagnosis: Diagnosis) -> str:
    if diagnosis.constraints:
        return f"functions of {diagnosis.effective_dimension:g} free factors"
    words = {"independent": "independent", "correlated": "correlated", "nonlinear dependence": "nonlinearly dependent"}
    return words.get(diagnosis.dependence_class.value, "of unknown dependence")


def _with_property(concerns: str) -> str:
    names = [name for name in GENERAL if satisfies(name, concerns)][:3]
    return f"By the audit, {' and '.join(names)} can be used" if names else "By the audit, no metric can be used"
