"""Text of claims for the terminal: lists, single claims, and outcomes of checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unweave.papers.catalogue import MODULES, paper_of, plain_table
from unweave.papers.ledger.checking import CHANGED, CheckedClaim
from unweave.papers.ledger.claim import VERDICTS, Claim
from unweave.papers.ledger.claim_files import claims_of


def summary_table() -> Any:
    """Return a table of the number of claims by paper and verdict."""
    rows = []
    for number in MODULES:
        counts = Counter(claim.verdict for claim in claims_of(number))
        n_computed = sum(bool(claim.is_computed) for claim in claims_of(number))
        counted = [str(counts[verdict] or "") for verdict in VERDICTS]
        rows.append((number, paper_of(number).title, *counted, f"{n_computed} of {len(claims_of(number))}"))
    return plain_table(("paper", "title", *VERDICTS, "computed"), rows)


def claims_table(claims: Iterable[Claim]) -> Any:
    """Return a table with a row for each claim."""
    rows = [(claim.name, claim.where, claim.statement, claim.verdict) for claim in claims]
    return plain_table(("claim", "where", "what the paper says", "verdict"), rows)


def shown_claim(claim: Claim) -> str:
    """Format a claim with its verdict, the reason, the figures and the commands that check and show it.

    >>> from unweave.papers.ledger.claim_files import claim_of
    >>> print(shown_claim(claim_of("003:44")).splitlines()[0])
    003:44  does not hold
    """
    lines = [
        f"{claim.name}  {claim.verdict}",
        f"Where        {claim.where}",
        f"Statement    {claim.statement}",
        *([f"Paper        {claim.stated}"] if claim.stated else []),
        *(f"{'Here' if k == 0 else '':<12} {name}: {x}" for k, (name, x) in enumerate(claim.figures.items())),
        f"Why          {claim.why}",
    ]
    if claim.is_computed:
        needs = f" (needs {', '.join(claim.needs)})" if claim.needs else ""
        lines.append(f"Check        {claim.command}, {_duration(claim.seconds)}{needs}")
    if claim.see:
        lines.append(f"See          {claim.see}")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    return "less than a second" if seconds < 1 else f"about {seconds:.0f} s"


def outcome_table(checked: Iterable[CheckedClaim]) -> Any:
    """Return a table with the outcome of each check, and what is different from the record."""
    rows = [(entry.claim.name, entry.outcome, entry.reason) for entry in checked]
    return plain_table(("claim", "outcome", "what is different"), rows)


def check_lines(checked: Sequence[CheckedClaim]) -> Iterator[Any]:
    """Yield the changed claims, the skipped claims, and the number of claims that are as recorded."""
    told = [entry for entry in checked if entry.outcome in CHANGED]
    if told:
        yield outcome_table(told)
    skipped = Counter(entry.reason for entry in checked if entry.outcome == "skipped" and entry.claim.is_computed)
    yield from (f"{n} skipped. {reason}" for reason, n in skipped.items())
    n_quoted = sum(not entry.claim.is_computed for entry in checked)
    if n_quoted:
        yield f"{n_quoted} have no evidence that can be computed here."
    n_same, n_computed = sum(entry.outcome == "as recorded" for entry in checked), sum(map(_computed, checked))
    seconds = sum(entry.seconds for entry in checked)
    yield f"{n_same} of {n_computed} computed claims are as recorded ({seconds:.0f} CPU seconds)."


def _computed(entry: CheckedClaim) -> bool:
    return entry.outcome != "skipped"
