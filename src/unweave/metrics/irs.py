"""Interventional robustness score (IRS)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Quantile, Seed, Several, metric, seed_from
from unweave.estimators.counts import Binning
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.factor_vae import FEW_ROWS, NO_CODES, Scale, cells, comparable_codes, intervenes, one_held, sampled
from unweave.metrics.matrices import FACTORS_HELD_ALONE, ROBUSTNESS, live_points
from unweave.randomness import random_stream
from unweave.score import Score

ROWS_PER_VALUE = 200


def mean_distances(
    evidence: Evidence,
    ceiling: FloatArray,
    scale: Scale,
    bins: int,
    binning: Binning,
    quantile: float,
    values: str,
    seed: int,
) -> tuple[FloatArray, float]:
    """Mean over a factor's values of the distance quantile (live codes x factors), and the typical rows per value.

    The second result is the smallest over factors of the median number of rows per value.
    """
    codes, rows = comparable_codes(evidence, scale), np.arange(evidence.n_rows)
    distances = np.full((codes.shape[1], evidence.n_factors), np.nan)
    smallest = math.inf
    for j, held in one_held(evidence).items():
        if intervenes(evidence):
            rng = random_stream(seed, "fixed values", j)
            groups = [drawn for drawn, _ in sampled(evidence, held, bins, ROWS_PER_VALUE, scale, rng)]
        else:
            groups = [codes[cell] for cell in cells(evidence, held, rows, bins, binning=binning, fewest=1)]
        sizes = [len(group) for group in groups]
        smallest = min(smallest, float(np.median(sizes)))
        within = [np.minimum(far(group, quantile), ceiling) for group in groups]
        distances[:, j] = np.average(within, axis=0, weights=sizes if values == "mass" else None)
    return distances, smallest


def far(group: FloatArray, quantile: float) -> FloatArray:
    """Quantile of every code's distances from its mean; sorting a transposed copy is faster than np.quantile."""
    distances = np.sort(np.abs(group - group.mean(axis=0)).T.copy(), axis=1)
    below, share = divmod(quantile * (len(group) - 1), 1)
    left, right = distances[:, int(below)], distances[:, min(int(below) + 1, len(group) - 1)]
    return np.asarray(left + share * (right - left))


@metric(
    measures="modularity",
    equivalence="permutation and scale",
    min_rows=100,
    chance="by permutation",
    cost="n m d distances",
    fails_when=(
        "there are few rows for each value of a factor, because the largest of few distances is small and random "
        "codes then score high; without a sampler also when factors are correlated, or when factors or codes have "
        "heavy tails, which makes the outer bins wide"
    ),
    reference=(
        "Suter et al. (2019), 'Robustly disentangled causal mechanisms: validating deep representations for "
        "interventional robustness'"
    ),
    assumes=(FACTORS_HELD_ALONE,),
    identity_tolerance=0.09,
    version=2,
    moves_at_200_rows=(0.0, 0.06, 0.0),
    no_blocks_because="its distances along single codes depend on the basis of a block",
)
def irs(
    evidence: Evidence,
    *,
    bins: Several = 20,
    binning: Binning = "equal_mass",
    quantile: Quantile = 0.99,
    overall: Literal["quantile", "largest"] = "quantile",
    values: Literal["mass", "alike"] = "mass",
    scale: Scale = "values",
    rng: Seed = 0,
) -> Score:
    """How little each code changes, in the worst case, while its best factor is held fixed and all others vary.

    1 means that every code is a function of one factor. Without a sampler, no code of a continuous factor reaches 1,
    because the factor still varies within each of its b bins, which costs about 1/b. A code that equals its factor
    scores .95 where the factor is uniform and .92 where it is normal, and a nonlinear function of the factor scores
    slightly less (.90 for E2 of the audit, .89 for the cube), unless ``scale='ranks'``. Random codes score a few
    hundredths where each value has hundreds of rows, and more with fewer rows. ``binning='equal_width',
    overall='largest', values='alike'`` gives the numbers of disentanglement_lib.

    Parameters
    ----------
    bins, binning : int and {'equal_mass', 'equal_width'}
        Bins for continuous and circular factors. Discrete factors keep their levels.
    quantile : float
        Quantile of the distances within a value; 1 is the largest distance.
    overall : {'quantile', 'largest'}
        Divisor of these distances: the same quantile among all rows, or the largest distance.
    values : {'mass', 'alike'}
        Whether values are weighted by their share of the rows, or equally.
    scale : {'values', 'ranks'}
        The codes themselves, weighted by their overall distance, or their ranks, which have equal weights and no heavy
        tails. Ranks also remove the gaps between clusters: K clearly separated clusters score 1 - 1/K.
    rng : int or Generator
        Seed of the draws of a sampler. Nothing else is random.

    Notes
    -----
    Interventional robustness score: does a code stay constant while its factor is held fixed and the others vary?

        IRS = sum_i M_i max_j (1 - sum_v p_j(v) min(D_i(v; j), M_i) / M_i) / sum_i M_i

    with D_i(v; j) a high quantile of the distances of code i from its mean among the rows in which factor j has value
    v, p_j(v) their share, and M_i the same quantile among all rows (after Suter et al. 2019). Public implementations
    divide the quantile D by the largest distance of all rows, and give rare values the same weight as common ones. Both
    raise the score of random codes, most of all if these have heavy tails.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2000, 2))
    >>> float(irs(factors, np.exp(factors))) > 0.9
    True
    """
    live = live_points(evidence)
    if not live.any():
        return Score(math.nan, caveats=(NO_CODES,))
    codes = comparable_codes(evidence, scale)
    movement = far(codes, quantile if overall == "quantile" else 1.0)
    ceiling = movement if overall == "quantile" else np.full_like(movement, np.inf)
    distances, smallest = mean_distances(evidence, ceiling, scale, bins, binning, quantile, values, seed_from(rng))
    matrix = np.full((evidence.n_codes, evidence.n_factors), np.nan)
    matrix[live] = 1 - distances / movement[:, None]
    per_code = np.full(evidence.n_codes, np.nan)
    per_code[live] = np.nanmax(matrix[live], axis=1)
    return Score(
        raw=float(np.average(per_code[live], weights=movement)),
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={"robustness_matrix": matrix},
        matrices=(ROBUSTNESS,),
        caveats=(Finding("few_rows_per_value", n_rows=smallest, effect="noise scores"),) if smallest < FEW_ROWS else (),
    )
