"""What training says when it cannot go on."""

from __future__ import annotations

from unweave.evidence import EvidenceError


class TrainingError(EvidenceError):
    """Raised if a model cannot be trained as requested; the message says what to change."""
