"""What training says when it cannot go on."""

from __future__ import annotations

from unweave.evidence import EvidenceError


class TrainingError(EvidenceError):
    """Training that cannot be done as asked; the message says what to change."""
