"""FactorVAE score: does the code with the smallest variance identify the factor that was held fixed?

    score = 1/B sum_b [v(argmin_i Var_b(c_i) / Var(c_i)) = k_b]

over batches b in which factor k_b is held fixed, with c_i the codes and v the majority vote learned from other batches
(Kim and Mnih 2018), rescaled so that guessing one of d factors scores 0.
"""

from __future__ import annotations

from unweave.card import Count, Seed, Several, seed_from
from unweave.evidence import Evidence
from unweave.metrics.intervention.comparable_codes import Scale
from unweave.metrics.intervention.fixed_factors import Plan
from unweave.metrics.intervention.held_factors import held_factor_metric, one_held
from unweave.metrics.intervention.votes import vote_score
from unweave.score import Score


@held_factor_metric(
    cost="10,000 batches of 64 rows",
    version=3,
    fails_when=(
        "factors are mixed but every factor still has some code that varies least when it is fixed, which scores 1; "
        "without a sampler also when factors are correlated or there are few rows for each value"
    ),
    reference="Kim and Mnih (2018), 'Disentangling by factorising'",
    identity_tolerance=0.01,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
)
def factor_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    bins: Several = 10,
    batch_size: Several = 64,
    n_batches: Several = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """Accuracy of a majority vote that predicts the fixed factor from the code with the smallest normalised variance.

    1 means that each factor, while it is held fixed, minimises the variance of a code of its own. Random codes (noise)
    score 0 on average, within a few hundredths at 200 rows. With a sampler in the evidence, the factor is held fixed by
    intervention. Without one, rows are chosen that share the factor's level or bin, and the vote is learned and tested
    on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which are robust to heavy tails, or variances of the codes themselves (published).
    bins : int
        Number of bins of equal mass for continuous and circular factors. Discrete factors keep their levels.
    batch_size : int
        Number of rows in a batch.
    n_batches : int
        Number of batches from each half of the rows, for each split into halves.
    n_splits : int
        Number of random splits of the rows into halves. With a sampler there is one split, of new draws.
    rescale : bool
        Whether to rescale the accuracy so that guessing scores 0. False gives the published accuracy, for which
        guessing scores 1/d.
    rng : int or Generator
        Seed of the splits and the batches.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(factor_vae_score(factors, np.exp(factors)))
    1.0
    """
    held_of = one_held(evidence)
    plan = Plan(max(n_batches // len(held_of), 1), batch_size, bins, scale)
    return vote_score(evidence, held_of, plan, "least", n_splits, rescale, seed_from(rng))
