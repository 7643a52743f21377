"""Grid of the posterior metrics: the codes that are used, the entropies on the grid, and the mass outside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import posterior_of, quantised_codes

GRID = QuantisedPosterior()
SAMPLING = MixtureSampling()
REFERENCE = "Do and Tran (2020), 'Theory and Evaluation Metrics for Learning Disentangled Representations' (001)"
MOST_OUTSIDE = 0.01
SMALLEST_ENTROPY = 1e-9
NOTHING_TOLD = Finding("no_code_tells_samples")


def alive(evidence: Evidence) -> NDArray[np.bool_]:
    """True for codes whose posterior depends on the sample; all other codes are left out of means over codes."""
    return ~np.isin(evidence.code_names, evidence.dead_codes)


def log_sizes(evidence: Evidence, grid: QuantisedPosterior) -> FloatArray:
    """Largest possible entropy of every code in nats: log of the number of bins, or of categories."""
    posterior = posterior_of(evidence, grid)
    sizes = [grid.bins] * posterior.n_gaussian + [table.shape[1] for table in posterior.categories.values()]
    return np.log(sizes)


def grid_entropies(evidence: Evidence, grid: QuantisedPosterior) -> FloatArray:
    """H(z_i) of every code on the grid, the divisor of normalised scores; nan for a code that lies in one bin."""
    entropies = quantised_codes(evidence, grid).entropies
    return np.where(entropies > SMALLEST_ENTROPY, entropies, np.nan)


def outside_caveat(evidence: Evidence, grid: QuantisedPosterior | None) -> tuple[Finding, ...]:
    """A caveat if more than 1 % of a code's probability mass lies outside the grid; none without a grid."""
    if grid is None:
        return ()
    outside = quantised_codes(evidence, grid).outside * alive(evidence)
    missed = np.flatnonzero(outside > MOST_OUTSIDE)
    if not missed.size:
        return ()
    worst = int(outside.argmax())
    posterior = posterior_of(evidence, grid)
    low, high = grid.ranges_of(posterior.mean, posterior.std)[:, worst]
    return (
        Finding(
            "mass_outside_grid",
            share=outside[worst],
            n_others=missed.size - 1,
            threshold=MOST_OUTSIDE,
            low=low,
            high=high,
            codes=[evidence.code_names[worst]],
        ),
    )


def named(names: tuple[str, ...], numbers: FloatArray) -> dict[str, float]:
    """Dictionary from names to numbers."""
    return dict(zip(names, np.asarray(numbers, dtype=np.float64).tolist(), strict=True))
