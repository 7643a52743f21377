"""Encoders: maps from factors to codes that declare what they apply and what they lose (003, appendix D.2).

Every encoder is a frozen value with `encode(factors, rng)`; the same ``rng`` gives the same map for all factors.
`purity` is the share of each code's variance that each factor explains alone, and `mixing_share` summarises it in one
number.
"""

from unweave.synthetic.encoders.encoder import Encoder, mixing_share
from unweave.synthetic.encoders.matched import Elementwise, Mixed, PermutedAndScaled
from unweave.synthetic.encoders.nulls import Noise
from unweave.synthetic.encoders.overcomplete import Copied, Distributed, WithMixedExtras
from unweave.synthetic.encoders.partial import Noisy, PartlyMixed, Reshaped, WithCopies, WithNoiseCodes
from unweave.synthetic.encoders.undercomplete import Dropped, Kept

# the names in 003; E10 is the Gaussian control of its released code
BY_PAPER_NAME = {
    "E1": PermutedAndScaled,
    "E2": Elementwise,
    "E3": Mixed,
    "E4": Dropped,
    "E5": Copied,
    "E6": WithMixedExtras,
    "E7": Mixed,
    "E8": Distributed,
    "E9": Noise,
    "E10": Noise,
}

__all__ = [
    "BY_PAPER_NAME",
    "Copied",
    "Distributed",
    "Dropped",
    "Elementwise",
    "Encoder",
    "Kept",
    "Mixed",
    "Noise",
    "Noisy",
    "PartlyMixed",
    "PermutedAndScaled",
    "Reshaped",
    "WithCopies",
    "WithMixedExtras",
    "WithNoiseCodes",
    "mixing_share",
]
