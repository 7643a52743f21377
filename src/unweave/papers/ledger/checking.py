"""Compute the evidence of claims again, and compare it with the recorded figures."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from unweave.evidence import EvidenceError
from unweave.names import imported
from unweave.papers.catalogue import MODULES, claims_of, experiment_of, paper_of
from unweave.papers.experiment import FOLDERS, PACKAGES, ClaimCheck, Options, flag
from unweave.papers.kept_numbers import KeptNumbers
from unweave.papers.ledger.claim import STATEMENT_HOLDS, Claim, Evidenced, MeasuredFigure
from unweave.papers.ledger.claim_files import record

Outcome = Literal["as recorded", "figure moved", "verdict changed", "not recorded", "failed", "skipped"]
CHANGED: tuple[Outcome, ...] = ("figure moved", "verdict changed", "not recorded", "failed")


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, the outcome of its check with the reason, the computed evidence, and its CPU seconds."""

    claim: Claim
    outcome: Outcome
    reason: str = ""
    found: Evidenced | None = None
    seconds: float = 0.0


def evidence_of(claim: Claim, options: Options) -> Evidenced:
    """Compute the evidence of a claim."""
    if claim.experiments:
        return reproduced_evidence(claim, options)
    room = MODULES[claim.paper].rpartition(".")[0]
    compute = imported(f"{room}.evidence.{claim.evidence}", "evidence")
    return compute(options) if claim.needs else compute()


def reproduced_evidence(claim: Claim, options: Options) -> Evidenced:
    """Return evidence from the claim's experiments: it holds if all their rows about it hold, and in part if some do.

    The figure of a row is the number on which its verdict is based, or 1 if it holds and 0 if not.
    """
    rows: list[ClaimCheck] = []
    for name in claim.experiments:
        taken = experiment_of(paper_of(claim.paper), name).options
        given = {key: value for key, value in options.stated.items() if key in taken}
        checks = claims_of(claim.paper, name, Options(options.folder, options.progress, **given))
        rows += [row for row in checks if row.ledger == claim.number and row.is_claim]
    if not rows:
        raise EvidenceError(f"{', '.join(claim.experiments)} of {claim.paper} have no result on claim {claim.number}.")
    held = [row.holds for row in rows]
    figures = {row.claim: float(row.holds is True) if row.value is None else row.value for row in rows}
    return Evidenced.of(
        True if all(held) else None if any(held) or any(row.in_part for row in rows) else False, figures
    )


def check(claims: Iterable[Claim], options: Options, budget: float = math.inf) -> Iterator[CheckedClaim]:
    """Check claims one after another, cheap ones first, and yield each result when it is ready.

    Claims are skipped if they need a package or a folder that is missing, or if they would exceed the budget (CPU
    seconds). An interrupted check is continued, unless the package has changed since. Until the end, results are
    stored in a file in ``options.folder``.
    """
    kept = KeptNumbers(options.folder / f"claims-{package_digest()}.json")
    spent = 0.0
    for claim in sorted(claims, key=lambda claim: (claim.seconds, claim.paper, claim.number)):
        missing = _missing(claim, options)
        if missing:
            yield CheckedClaim(claim, "skipped", missing)
        elif spent + claim.seconds > budget:
            yield CheckedClaim(claim, "skipped", f"It takes about {claim.seconds:.0f} s, which exceeds the budget.")
        else:
            checked = _checked(claim, options, kept)
            spent += checked.seconds
            yield checked
    kept.path.unlink(missing_ok=True)


def recorded(checked: Iterable[CheckedClaim]) -> Iterator[Path]:
    """Record the figures of these checks for later comparisons; failed checks are left out."""
    found: dict[str, dict[int, CheckedClaim]] = {}
    for entry in checked:
        if entry.found is not None:
            found.setdefault(entry.claim.paper, {})[entry.claim.number] = entry
    for paper, of_paper in found.items():
        figures = {number: entry.found for number, entry in of_paper.items() if entry.found is not None}
        yield record(paper, figures, {number: entry.seconds for number, entry in of_paper.items()})


def package_digest() -> str:
    """Return a digest of the package's source, so that stored results of other code are not used."""
    digest = hashlib.blake2b(digest_size=6)
    package = Path(__file__).parents[2]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _missing(claim: Claim, options: Options) -> str:
    if not claim.is_computed:
        return f"It has no evidence to compute: {claim.why}"
    for need in claim.needs:
        if need == "reproduced":
            for name in claim.experiments:
                if not (options.folder / f"{claim.paper}-{name}-claims.json").exists():
                    cost = experiment_of(paper_of(claim.paper), name).cost
                    command = f"unweave reproduce {claim.paper} {name} --out {options.folder}"
                    return f"It needs trained models: run {command} first ({cost})."
        elif need in PACKAGES:
            if not all(map(find_spec, PACKAGES[need])):
                return f"It needs {need}: install unweave[{need}]."
        elif getattr(options, need) is None:
            return f"It needs {FOLDERS[need]}: pass their folder with {flag(need)}."
    return ""


def _checked(claim: Claim, options: Options, kept: KeptNumbers) -> CheckedClaim:
    start = time.process_time()

    def computed() -> dict[str, Any]:
        found = evidence_of(claim, options)
        numbers = {name: figure.numbers for name, figure in found.figures.items()}
        return {"holds": found.holds, "figures": numbers, "seconds": time.process_time() - start}

    try:
        value = kept.value(claim.name, computed)
    except Exception as error:  # evidence may fail in any way, and the other claims must still be checked
        return CheckedClaim(claim, "failed", f"{type(error).__name__}: {error}", seconds=time.process_time() - start)
    figures = {name: MeasuredFigure(*numbers) for name, numbers in value["figures"].items()}
    found = Evidenced(value["holds"], figures)
    outcome, reason = compared(claim, found)
    return CheckedClaim(claim, outcome, reason, found, value["seconds"])


def compared(claim: Claim, found: Evidenced) -> tuple[Outcome, str]:
    """Compare evidence with the record; return the outcome, and what is different.

    >>> from unweave.papers.ledger.claim_files import claim_of
    >>> from dataclasses import replace
    >>> claim = replace(claim_of("003:44"), figures={"a": MeasuredFigure(0.5)}, tolerance=0.1)
    >>> compared(claim, Evidenced.of(False, {"a": 0.55}))
    ('as recorded', '')
    >>> compared(claim, Evidenced.of(False, {"a": 0.7}))
    ('figure moved', 'a: 0.700 instead of 0.500')
    >>> compared(claim, Evidenced.of(True, {"a": 0.5}))[0]
    'verdict changed'
    """
    wanted = STATEMENT_HOLDS.get(claim.verdict)
    if found.holds is not wanted:
        says = {True: "it holds", False: "it does not hold", None: "it holds in part"}
        return "verdict changed", f"The verdict is '{claim.verdict}', but by the evidence {says[found.holds]}."
    if not claim.figures:
        return "not recorded", "No figures are recorded for it."
    if set(found.figures) != set(claim.figures):
        return "figure moved", "The names of the figures differ from those in the record."
    moved = [
        f"{name}: {figure} instead of {claim.figures[name]}"
        for name, figure in found.figures.items()
        if not _close(figure.value, claim.figures[name].value, claim.tolerance)
    ]
    return ("figure moved", "; ".join(moved)) if moved else ("as recorded", "")


def _close(value: float, recorded: float, tolerance: float) -> bool:
    return (math.isnan(value) and math.isnan(recorded)) or value == recorded or abs(value - recorded) <= tolerance
