"""Relevance-FactorVAE score: does the code with the largest variance identify the one factor that varies?

    score = 1/B sum_b [v(argmax_i Var_b(c_i) / Var(c_i)) = k_b]

over batches b in which all factors but k_b are held fixed, with c_i the codes and v the majority vote learned from
other batches (Kim, Wang, Sahu and Pavlovic 2019), rescaled so that guessing one of d factors scores 0.
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
    version=3,
    fails_when=(
        "some codes are noise with as much variance as the informative ones; without a sampler also when there are "
        "many factors, because few rows then agree in all other factors, or when factors are correlated"
    ),
    reference="Kim et al. (2019), 'Relevance factor VAE: learning and identifying disentangled factors'",
    identity_tolerance=0.02,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
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
    """Accuracy of a majority vote that predicts the only varying factor from the code with the largest variance.

    1 means that each factor, while all others are held fixed, maximises the variance of a code of its own. Random codes
    score 0 on average. Codes that depend on no factor always vary and lower the score. With a sampler in the evidence,
    factors are held fixed by intervention. Without one, rows are chosen that agree approximately in all other factors,
    and the vote is learned and tested on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which are robust to heavy tails, or variances of the codes themselves (published).
    bins : int, optional
        Number of bins of equal mass for all but categorical factors. By default it is chosen, between 2 and 10, such
        that cells have 16 rows.
    batch_size, n_batches, n_splits, rescale, rng
        See `factor_vae_score`.

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
