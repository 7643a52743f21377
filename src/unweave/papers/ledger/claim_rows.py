"""Claims of the ledger as rows of a reproduction's table, decided by their own evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unweave.papers.experiment import ClaimCheck, Options
from unweave.papers.ledger.checking import evidence_of
from unweave.papers.ledger.claim_files import claim_of


def claim_rows(paper: str, *numbers: int, folder: Path = Path()) -> Iterator[ClaimCheck]:
    """These claims with the paper's figure, ours, and whether the evidence says that they hold.

    An experiment that shows a claim uses the rule that the ledger has for it, so that both say the same.

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
