"""Codes on a scale on which their spreads can be compared.

A few rows determine the variance of a heavy-tailed code. A batch without these rows has a small variance, whichever
factor is held. Ranks do not have this problem, and they do not change under monotone maps of a code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence, EvidenceError
from unweave.memo import memoised
from unweave.metrics.matrices import live_points

Scale = Literal["ranks", "values"]
FREE_DRAWS = 10_000


def intervenes(evidence: Evidence) -> bool:
    """Whether batches come from the sampler."""
    return evidence.sampler is not None


def drawn_codes(evidence: Evidence, fixed: dict[str, float], n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Live codes of samples in which these factors are held."""
    assert evidence.sampler is not None
    codes = np.asarray(evidence.sampler(fixed, n_rows, rng)[1], dtype=np.float64)
    if codes.shape != (n_rows, evidence.n_codes):
        raise EvidenceError(
            f"The sampler gave codes of shape {codes.shape} for {n_rows} rows and {evidence.n_codes} codes: "
            "let it return factors and codes of as many rows as it is asked for."
        )
    if not np.isfinite(codes).all():
        raise EvidenceError("The sampler gave codes that are missing or infinite: let it return finite ones.")
    return np.ascontiguousarray(codes[:, live_points(evidence)])


def comparable_codes(evidence: Evidence, scale: Scale) -> FloatArray:
    """Non-constant codes with no factor held fixed, as values or ranks: those of the rows, or drawn by the sampler."""
    return _drawn_freely(evidence, scale) if intervenes(evidence) else _of_rows(evidence, scale)


def placed(evidence: Evidence, codes: FloatArray, scale: Scale) -> FloatArray:
    """Live codes on the scale of comparison: as they are, or their ranks, scaled to 0 to 1, among free codes."""
    return codes if scale == "values" else _ranked(codes, _ascending(evidence))


@memoised(on="both")
def _ascending(evidence: Evidence) -> FloatArray:
    """Sorted values of every non-constant code, with no factor held fixed."""
    return np.asarray(np.sort(comparable_codes(evidence, "values"), axis=0).T, order="C")


@memoised(on="codes")
def _of_rows(evidence: Evidence, scale: Scale) -> FloatArray:
    return _on_scale(np.ascontiguousarray(evidence.codes[:, live_points(evidence)]), scale)


@memoised(on="both")
def _drawn_freely(evidence: Evidence, scale: Scale) -> FloatArray:
    return _on_scale(_free_draw(evidence), scale)


@memoised(on="both")
def _free_draw(evidence: Evidence) -> FloatArray:
    """One draw for both scales: a sampler may be costly."""
    return drawn_codes(evidence, {}, FREE_DRAWS, np.random.default_rng(0))


def _on_scale(codes: FloatArray, scale: Scale) -> FloatArray:
    return codes if scale == "values" else _ranked(codes, np.sort(codes, axis=0).T)


def _ranked(codes: FloatArray, ascending: FloatArray) -> FloatArray:
    """Places of codes (rows x codes) among sorted values (codes x values); ties get the middle of theirs."""
    places = np.empty(codes.shape)
    for i, values in enumerate(ascending):
        below, upto = np.searchsorted(values, codes[:, i], "left"), np.searchsorted(values, codes[:, i], "right")
        places[:, i] = (below + upto) / (2 * values.size)
    return places
