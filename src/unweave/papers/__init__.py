"""One file or room a paper: its experiments, giving plain data; `unweave reproduce` runs and draws them."""

from __future__ import annotations

from unweave.evidence import EvidenceError

# paper number to its module: 000 has REPRODUCTIONS (name of a figure to a function), 003 FIGURES and EXPERIMENTS
HOMES = {"000": "unweave.papers.manifold_entropic_metrics", "003": "unweave.papers.guardians"}


def home_of(number: str) -> str:
    """Module of a paper."""
    if number not in HOMES:
        raise EvidenceError(f"There is no reproduction of paper {number!r}: there are {', '.join(HOMES)}.")
    return HOMES[number]
