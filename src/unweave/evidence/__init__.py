"""Evidence, Posterior and FactorKind, and the functions that read and check all input data."""

from unweave.evidence.decoders import Decoder, Jacobians, StandardisedOutputs
from unweave.evidence.evidence import Evidence
from unweave.evidence.inputs import EvidenceOptions
from unweave.evidence.kinds import FactorKind
from unweave.evidence.posterior import Posterior

__all__ = ["Decoder", "Evidence", "EvidenceOptions", "FactorKind", "Jacobians", "Posterior", "StandardisedOutputs"]
