"""Evidence, Posterior, FactorKind: the one gate through which data enter."""

from unweave.evidence.columns import EvidenceError
from unweave.evidence.decoders import Decoder, Jacobians
from unweave.evidence.gate import Evidence
from unweave.evidence.kinds import FactorKind
from unweave.evidence.posterior import Posterior

__all__ = ["Decoder", "Evidence", "EvidenceError", "FactorKind", "Jacobians", "Posterior"]
