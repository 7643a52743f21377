"""Evidence with independent factors, drawn by the user's sampler; its real codes replace modelled codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence, Posterior
from unweave.randomness import random_stream
from unweave.trust.counterpart.counterpart import stated_kind

MOST_CALLS = 1000
INDEPENDENT = 4.0  # standard errors; factors with smaller correlations count as uncorrelated


def independent_draws(evidence: Evidence, factors: Sequence[str], n_draws: int, seed: int) -> tuple[Evidence, ...]:
    """Evidence in which these factors vary independently, with the observed number of rows; empty without a sampler.

    If the sampler draws uncorrelated factors when none is fixed, its samples are used. Otherwise the sampler is called
    once for each of at most 1,000 rows, with every factor fixed at its value in an independently chosen row. The result
    is empty if the sampler raises an error.

    >>> def sampler(fixed, n_rows, rng):
    ...     factors = rng.normal(size=(n_rows, 2))
    ...     return factors, factors
    >>> z = np.random.default_rng(0).normal(size=(100, 1)) @ [[1.0, 1.0]]
    >>> drawn = independent_draws(Evidence(z, z, sampler=sampler), ["factor 0", "factor 1"], 1, seed=0)[0]
    >>> bool(abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 0.4)
    True
    """
    if evidence.sampler is None:
        return ()
    places = [evidence.factor_names.index(name) for name in factors]
    drawn = []
    for k in range(n_draws):
        try:
            found = _drawn(evidence, places, random_stream(seed, "interventions", k))
        except Exception:  # a sampler is the user's code and may raise any error; models are used instead
            return ()
        drawn.append(found)
    return tuple(drawn)


def _drawn(evidence: Evidence, places: list[int], rng: np.random.Generator) -> Evidence:
    values, codes = _arrays(evidence, *evidence.sampler({}, evidence.n_rows, rng))  # type: ignore[misc]
    if not _uncorrelated(values[:, places]):
        n_rows = min(evidence.n_rows, MOST_CALLS)
        values = evidence.factors[:n_rows].copy()
        for j in places:
            values[:, j] = evidence.factors[rng.permutation(evidence.n_rows)[:n_rows], j]
        held = [{evidence.factor_names[j]: float(row[j]) for j in places} for row in values]
        found = [_arrays(evidence, *evidence.sampler(fixed, 1, rng)) for fixed in held]  # type: ignore[misc]
        values, codes = (np.vstack([part[k] for part in found]) for k in range(2))
    return Evidence(
        values[:, places],
        codes,
        kinds=[stated_kind(evidence.declared_kinds[j]) for j in places],
        factor_names=[evidence.factor_names[j] for j in places],
    )


def _arrays(evidence: Evidence, factors: Any, codes: Any) -> tuple[FloatArray, FloatArray]:
    points = codes.table.values if isinstance(codes, Posterior) else codes
    values = np.asarray(factors, dtype=np.float64).reshape(-1, evidence.n_factors)
    return values, np.asarray(points, dtype=np.float64).reshape(-1, evidence.n_codes)


def _uncorrelated(factors: FloatArray) -> bool:
    if factors.shape[1] < 2:
        return True
    correlations = np.asarray(np.corrcoef(factors, rowvar=False))
    pairs = np.abs(correlations[np.triu_indices(factors.shape[1], 1)])
    return bool(np.nanmax(pairs) < INDEPENDENT / np.sqrt(len(factors)))
