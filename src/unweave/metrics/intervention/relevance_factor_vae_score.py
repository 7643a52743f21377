"""Relevance-FactorVAE score: does the code that moves most name the one factor that was left free?

    score = 1/B sum_b [v(argmax_i Var_b(c_i) / Var(c_i)) = k_b]

over batches b in which all factors but k_b are held, with v the majority vote learned from other batches (Kim, Wang,
Sahu and Pavlovic 2019), rescaled so that guessing one of d factors gets 0.
"""

from __future__ import annotations

import numpy as np

from unweave.card import Count, Seed, Several, seed_from
from unweave.evidence import Evidence
from unweave.metrics.intervention.comparable_codes import Scale
from unweave.metrics.intervention.fixed_factors import Plan
from unweave.metrics.intervention.held_factors import all_others_held, held_factor_metric
from unweave.metrics.intervention.votes import vote_score
from unweave.score import Score

ROWS_PER_CELL = 16
MOST_BINS = 10


@held_factor_metric(
    cost="10,000 batches of 64 rows",
    fails_when=(
        "some codes are noise with as much variance as the informative ones; without a sampler also when there are "
        "many factors, because few rows then agree in all others, or when factors are correlated"
    ),
    reference="Kim et al. (2019), 'Relevance factor VAE: learning and identifying disentangled factors'",
    identity_tolerance=0.02,
    raw_range="below 0 by the luck of the draw, down to -1 / (d - 1) for d factors",
)
def relevance_factor_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    bins: Several | None = None,
    batch_size: Several = 64,
    n_batches: Several = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """How often the code that moves most while all factors but one are held names the free one.

    1 means that every factor moves one code, more than it moves any other; noise gets 0 on average. Codes that follow
    no factor move all the time and spoil it. With a sampler in the evidence factors are really held; without one, rows
    are picked that agree in all other factors, coarsely, learning and testing on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which heavy tails cannot spoil, or of the codes as they are (published).
    bins : int, optional
        Bins of equal mass for all but categorical factors; by default as many as leave 16 rows in a cell, from 2 to
        10.
    batch_size, n_batches, n_splits, rescale, rng
        As in `factor_vae_score`.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1000, 3))
    >>> float(relevance_factor_vae_score(factors, np.exp(factors))) > 0.98
    True
    """
    held_of = all_others_held(evidence)
    if bins is None:
        finest = (evidence.n_rows / 2 / ROWS_PER_CELL) ** (1 / max(len(held_of) - 1, 1))
        bins = int(np.clip(finest, 2, MOST_BINS))
    plan = Plan(max(n_batches // len(held_of), 1), batch_size, bins, scale, merge=True)
    return vote_score(evidence, held_of, plan, "most", n_splits, rescale, seed_from(rng))
