"""Codes on a scale on which their spreads can be compared.

A few rows determine the variance of a heavy-tailed code. A batch without these rows has a small variance, whichever
factor is held fixed. Ranks do not have this problem, and they do not change under monotone maps of a code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence, EvidenceError
from unweave.memo import memoised
from unweave.metrics.matrices import live_points
from unweave.randomness import random_stream

Scale = Literal["ranks", "values"]
FREE_DRAWS = 10_000


def intervenes(evidence: Evidence) -> bool:
    """Whether the evidence has a sampler, from which batches are then drawn."""
    return evidence.sampler is not None


def drawn_codes(evidence: Evidence, fixed: dict[str, float], n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Non-constant codes of new samples in which these factors are held fixed (n_rows x live codes)."""
    assert evidence.sampler is not None
    codes = np.asarray(evidence.sampler(fixed, n_rows, rng)[1], dtype=np.float64)
    if codes.shape != (n_rows, evidence.n_codes):
        raise EvidenceError(
            f"The sampler returned codes of shape {codes.shape} for {n_rows} rows and {evidence.n_codes} codes: "
            "let it return factors and codes with the requested number of rows."
        )
    if not np.isfinite(codes).all():
        raise EvidenceError("The sampler returned codes that are nan or infinite: let it return finite values.")
    return np.ascontiguousarray(codes[:, live_points(evidence)])


def comparable_codes(evidence: Evidence, scale: Scale) -> FloatArray:
    """Non-constant codes with no factor held fixed, as values or ranks: those of the rows, or drawn by the sampler."""
    return _drawn_freely(evidence, scale) if intervenes(evidence) else _of_rows(evidence, scale)


def placed(evidence: Evidence, codes: FloatArray, scale: Scale) -> FloatArray:
    """Non-constant codes on the scale: their values, or their ranks (0 to 1) among codes with no factor held fixed."""
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
    """Codes drawn with no factor held fixed; both scales share the draw, because a sampler may be slow."""
    return drawn_codes(evidence, {}, FREE_DRAWS, random_stream(0, "samples with no factor fixed"))


def _on_scale(codes: FloatArray, scale: Scale) -> FloatArray:
    return codes if scale == "values" else _ranked(codes, np.sort(codes, axis=0).T)


def _ranked(codes: FloatArray, ascending: FloatArray) -> FloatArray:
    """Ranks of codes (rows x codes) among sorted values (codes x values), from 0 to 1; ties share the mean rank."""
    places = np.empty(codes.shape)
    for i, values in enumerate(ascending):
        below, upto = np.searchsorted(values, codes[:, i], "left"), np.searchsorted(values, codes[:, i], "right")
        places[:, i] = (below + upto) / (2 * values.size)
    return places
