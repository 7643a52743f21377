"""The information of one code and of all other codes about each factor, as data for Figures 2 and 3b of 002."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.card import Metric
from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation
from unweave.evidence import Evidence
from unweave.metrics import (
    redundancy_lower_bound,
    redundancy_upper_bound,
    synergy_lower_bound,
    synergy_upper_bound,
    unibound,
    unique_upper_bound,
)
from unweave.metrics.decomposition.partial_information import SAMPLING, partial_information
from unweave.metrics.matrices import varying

TERMS = {
    "unique": (unibound, unique_upper_bound),
    "redundant": (redundancy_lower_bound, redundancy_upper_bound),
    "synergistic": (synergy_lower_bound, synergy_upper_bound),
}


@dataclass(frozen=True)
class FactorBand:
    """Information about one factor in nats.

    ``single`` is the information of the best code, ``rest`` that of all other codes, and ``whole`` that of all codes.
    """

    factor: str
    code: str
    single: float
    rest: float
    whole: float
    entropy: float

    @property
    def interaction(self) -> float:
        """Lower bound of the redundancy if positive; if negative, its size is a lower bound of the synergy."""
        return self.single + self.rest - self.whole


def factor_bands(evidence: Evidence, estimator: DecompositionInformation = SAMPLING) -> list[FactorBand]:
    """Return the band of each factor that varies, for the code that carries most information about it."""
    found = partial_information(evidence, estimator)
    single, rest = np.maximum(found.single, 0.0), np.maximum(found.rest, 0.0)
    # for continuous factors, the closed forms return no entropy
    entropies = np.full(evidence.n_factors, np.nan) if found.entropies is None else found.entropies
    bands = []
    for j in np.flatnonzero(varying(evidence)):
        i = int(single[:, j].argmax())
        whole = max(float(found.whole[j]), float(single[i, j]), float(rest[i, j]))
        names = evidence.factor_names[j], evidence.code_names[i]
        bands.append(FactorBand(*names, float(single[i, j]), float(rest[i, j]), whole, float(entropies[j])))
    return bands


def term_intervals(
    evidence: Evidence, estimator: DecompositionInformation = SAMPLING, normalise: bool = True
) -> dict[str, tuple[float, float]]:
    """Return the bounds of the unique, redundant and synergistic information, averaged as in 002, Eq. 6."""

    def bound(metric: Metric) -> float:
        return metric(evidence, estimator=estimator, normalise=normalise).value

    return {term: (bound(lower), bound(upper)) for term, (lower, upper) in TERMS.items()}
