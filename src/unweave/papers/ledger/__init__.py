"""The ledger: every checkable claim of the five papers, with a verdict and a function that computes the evidence.

Statements and verdicts are written by hand in ``claims``, one file for each paper. The figures that the evidence
functions returned are in ``recorded``. `unweave claims check` computes the evidence again and compares it with them.
"""

from unweave.papers.ledger.claim import Claim, Evidenced, MeasuredFigure
from unweave.papers.ledger.claim_files import claim_of, claims_of

__all__ = ["Claim", "Evidenced", "MeasuredFigure", "claim_of", "claims_of"]
