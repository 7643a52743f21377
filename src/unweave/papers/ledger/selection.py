"""Selection of claims by papers, numbers and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from unweave.evidence import EvidenceError
from unweave.names import suggestion
from unweave.papers.ledger.claim import VERDICTS, Claim
from unweave.papers.ledger.claim_files import claim_of, claims_of


def selected_claims(names: Sequence[str] = (), verdict: str | None = None) -> list[Claim]:
    """Return the claims of these papers (``003``) or numbers (``003:44``) with this verdict; all by default.

    >>> [claim.name for claim in selected_claims(["003:44", "003:42"])]
    ['003:44', '003:42']
    """
    if verdict is not None and verdict not in VERDICTS:
        raise EvidenceError(f"There is no verdict {verdict!r}: {suggestion(verdict, VERDICTS)}")
    found = [claim for name in names for claim in ((claim_of(name),) if ":" in name else claims_of(name))]
    return [claim for claim in (found if names else claims_of()) if verdict in (None, claim.verdict)]
