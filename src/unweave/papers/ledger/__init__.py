"""The ledger: every checkable claim of the five papers, with a verdict and a function that computes the evidence.

What a claim says, and our verdict on it, is written by hand in ``claims``, one file for each paper. The figures that
the evidence gave are in ``recorded``. `unweave claims check` computes the evidence again and compares.
"""

from unweave.papers.ledger.claim import Claim, Evidenced, MeasuredFigure
from unweave.papers.ledger.claim_files import claim_of, claims_of

__all__ = ["Claim", "Evidenced", "MeasuredFigure", "claim_of", "claims_of"]
