"""Claims of the ledger as rows of a reproduction's table, with verdicts from their evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.ledger.checking import evidence_of
from unweave.papers.ledger.claim_files import claim_of


def claim_rows(paper: str, *numbers: int, folder: Path = Path()) -> Iterator[ClaimCheck]:
    """Yield these claims with the paper's figure, our figures and the verdict of the evidence.

    Experiments that show a claim use the ledger's evidence function, so that both give the same verdict.

    >>> [row] = claim_rows("003", 76)
    >>> row.ledger, row.verdict
    (76, 'holds')
    """
    for number in numbers:
        claim = claim_of(f"{paper}:{number}")
        found = evidence_of(claim, Options(folder))
        here = "; ".join(f"{name}: {figure}" for name, figure in found.figures.items())
        yield ClaimCheck(
            claim.statement,
            claim.stated or "no figure",
            here,
            found.holds is True,
            number,
            in_part=found.holds is None,
        )
