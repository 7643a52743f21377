"""What one code and all others tell of every factor, as plain data for pictures (002, Figures 2 and 3b)."""

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
    """Information of one factor in nats: its best code alone, all other codes, all codes, and its entropy."""

    factor: str
    code: str
    single: float
    rest: float
    whole: float
    entropy: float

    @property
    def interaction(self) -> float:
        """Redundancy if positive, synergy if negative: at least so much of it."""
        return self.single + self.rest - self.whole


def factor_bands(evidence: Evidence, estimator: DecompositionInformation = SAMPLING) -> list[FactorBand]:
    """The band of every factor that varies, for the code that tells most of it."""
    found = partial_information(evidence, estimator)
    single, rest = np.maximum(found.single, 0.0), np.maximum(found.rest, 0.0)
    # a continuous factor of the closed forms has no entropy
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
    """Lower and upper bound of the unique, redundant and synergistic information, summarised as in 002, Eq 6."""

    def bound(metric: Metric) -> float:
        return metric(evidence, estimator=estimator, normalise=normalise).value

    return {term: (bound(lower), bound(upper)) for term, (lower, upper) in TERMS.items()}
