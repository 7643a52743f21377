"""Codes of one factor at values that were not observed, with fresh noise where the codes are noisy."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.trust.counterpart.code_models import CodeModels
from unweave.trust.counterpart.factor_designs import MOST_STEPS, Places

NEARBY = 0.1  # share of the rows, nearest in the factor, that residuals come from; the noise may vary along the factor
MOSTLY_NOISE = 0.5  # share of the residual variance that neighbouring rows must show too, or the fit is inadequate


def fresh_code(found: CodeModels, code: int, places: Places, generator: np.random.Generator) -> FloatArray:
    """A code that belongs to one factor, at these places of the factor.

    For a discrete factor, the code takes values observed in the same class. For other factors, it follows the fit, with
    residuals of nearby rows. Where neighbouring rows differ by less than the residuals of the fit, the fit is
    inadequate, and the code is interpolated between neighbours instead.
    """
    factor = int(found.owner[code])
    if found.designs[factor].in_steps:
        return _of_its_class(found.codes[:, code], found.factors[:, factor], places, generator)
    order = np.argsort(found.factors[:, factor], kind="stable")
    noise = _variance_between_neighbours(found.code_scores[order, code])
    left = float(np.square(found.left[:, code]).mean())
    if noise < MOSTLY_NOISE * left:
        return places.of(found.codes[:, code])
    rank = np.empty(order.size, dtype=np.intp)
    rank[order] = np.arange(order.size)
    reach = max(int(NEARBY * order.size), 1)
    steps = generator.integers(-reach, reach + 1, size=places.low.size)
    nearby = order[np.clip(rank[places.low] + steps, 0, order.size - 1)]
    # a little extra noise ensures that no residual occurs twice
    spread = np.sqrt(noise) * generator.normal(scale=order.size**-0.2, size=nearby.size)
    # held-out residuals contain the error of the fit as well, so they are scaled to the variance of the noise
    own = found.left[nearby, code] * np.sqrt(min(noise / left, 1.0))
    residuals = (own + spread) / np.sqrt(1 + order.size**-0.4)
    return from_scores(places.of(found.fitted[:, code]) + residuals, found, code)


def _variance_between_neighbours(values: FloatArray) -> float:
    """Noise variance of values along a smooth curve, from each value minus the mean of its two neighbours.

    >>> curve = np.sin(np.linspace(0, 6, 1000))
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=1000)
    >>> round(_variance_between_neighbours(curve + noise), 3), _variance_between_neighbours(curve) < 1e-9
    (0.009, True)
    """
    bends = values[1:-1] - (values[:-2] + values[2:]) / 2
    return float(np.square(bends).mean() / 1.5)


def _of_its_class(codes: FloatArray, classes: FloatArray, places: Places, generator: np.random.Generator) -> FloatArray:
    """Values of rows of the same class, with added noise so that none occurs twice; their variance is kept.

    >>> sides = np.repeat([0.0, 1.0], 500)
    >>> codes = sides + np.random.default_rng(0).normal(size=1000)
    >>> places = Places.at_rows(np.arange(500, 1000))
    >>> drawn = _of_its_class(codes, sides, places, np.random.default_rng(1))
    >>> bool(abs(drawn.mean() - codes[500:].mean()) < 0.1), bool(abs(drawn.std() - codes[500:].std()) < 0.1)
    (True, True)
    """
    here = codes[places.low]
    if np.unique(codes).size <= MOST_STEPS:
        return here
    _, labels = np.unique(classes, return_inverse=True)
    sizes = np.bincount(labels)
    middle = np.bincount(labels, codes) / sizes
    spread = np.sqrt(np.bincount(labels, np.square(codes - middle[labels])) / sizes)
    own = labels[places.low]
    width = (sizes**-0.2)[own]
    noise = width * spread[own] * generator.normal(size=own.size)
    return np.asarray(middle[own] + (here - middle[own] + noise) / np.sqrt(1 + width**2))


def from_scores(scores: FloatArray, found: CodeModels, code: int) -> FloatArray:
    """Normal scores transformed back to the code's own scale, extrapolated linearly beyond its range."""
    known, values = np.sort(found.code_scores[:, code]), np.sort(found.codes[:, code])
    slope = values.std() / known.std()
    inside = np.interp(scores, known, values)
    beyond = np.maximum(scores - known[-1], 0) + np.minimum(scores - known[0], 0)
    return inside + slope * beyond
