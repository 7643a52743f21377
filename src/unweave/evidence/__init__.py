"""Evidence, Posterior and FactorKind, and the functions that read and check all input data."""

from unweave.evidence.gate import Evidence
from unweave.evidence.jacobians import Decoder, Jacobians
from unweave.evidence.kinds import FactorKind
from unweave.evidence.options import EvidenceOptions
from unweave.evidence.posterior import Posterior
from unweave.evidence.reading.columns import EvidenceError

__all__ = ["Decoder", "Evidence", "EvidenceError", "EvidenceOptions", "FactorKind", "Jacobians", "Posterior"]
