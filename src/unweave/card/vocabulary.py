"""Types of the fields of a card: needs, classes of maps, chance levels, assumptions and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding

Need = Literal["factors", "codes", "dense codes", "posterior", "decoder", "reference", "sampler", "nuisances"]
Equivalence = Literal["permutation and scale", "elementwise", "affine", "bijection", "any"]
PROPERTIES = (  # properties that metrics of the catalogue measure; a user's metric may state another one
    "one-to-one recovery",
    "explicitness",
    "modularity",
    "modularity and explicitness",
    "compactness",
    "compactness and explicitness",
    "informativeness",
    "independence",
    "invariance to nuisances",
    "size",
    "agreement of two decoders",
    "importance of latents",
    "orthogonality of latents",
    "entropy of the generated data",
)
Case = Literal["one factor", "one code"]
NamedChance = Literal["by permutation", "no pairing"]
Chance = float | NamedChance | Callable[[int, int, int], float]

ANY_KIND = frozenset(FactorKind)
UNBOUNDED = (-math.inf, math.inf)


@dataclass(frozen=True)
class Assumption:
    """An assumption of a score: a test whether the evidence satisfies it, and the caveat if it does not.

    The caveat is a `Finding` or a sentence.

    >>> enough = Assumption("There are fewer than 100 rows.", lambda evidence: evidence.n_rows >= 100)
    >>> enough.holds(Evidence([1.0, 2.0]))
    False
    """

    caveat: Finding | str
    holds: Callable[[Evidence], bool]


@dataclass(frozen=True)
class Variant:
    """The range, best score and chance level of a metric if an option has the given value.

    >>> Variant("normalise", False, bounds=(0.0, math.inf), best=math.inf, chance=0.0).option
    'normalise'
    """

    option: str
    value: object
    bounds: tuple[float, float]
    best: float
    chance: Chance
