"""The error that training raises."""

from __future__ import annotations

from unweave.evidence import EvidenceError


class TrainingError(EvidenceError):
    """Raised if a model cannot be trained as requested; the message says what to change."""
