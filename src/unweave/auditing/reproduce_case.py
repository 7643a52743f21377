"""All names in the audit's expressions: evaluate them after ``from unweave.auditing.reproduce_case import *``."""

from unweave.auditing.measurement.cases import MAP_SEED, scored
from unweave.synthetic.encoders import (
    Copied,
    Distributed,
    Dropped,
    Elementwise,
    Kept,
    Mixed,
    Noise,
    Noisy,
    PartlyMixed,
    PermutedAndScaled,
    Reshaped,
    WithCopies,
    WithMixedExtras,
    WithNoiseCodes,
    mixing_share,
)
from unweave.synthetic.worlds import (
    Correlated,
    Independent,
    Levelled,
    OneFactorConstraint,
    Reordered,
    TwoFactorConstraint,
)

__all__ = [
    "MAP_SEED",
    "Copied",
    "Correlated",
    "Distributed",
    "Dropped",
    "Elementwise",
    "Independent",
    "Kept",
    "Levelled",
    "Mixed",
    "Noise",
    "Noisy",
    "OneFactorConstraint",
    "PartlyMixed",
    "PermutedAndScaled",
    "Reordered",
    "Reshaped",
    "TwoFactorConstraint",
    "WithCopies",
    "WithMixedExtras",
    "WithNoiseCodes",
    "mixing_share",
    "scored",
]
