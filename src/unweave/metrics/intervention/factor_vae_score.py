"""FactorVAE score: does the code that moves least name the factor that was held fixed?

    score = 1/B sum_b [v(argmin_i Var_b(c_i) / Var(c_i)) = k_b]

over batches b in which factor k_b is held, with v the majority vote learned from other batches (Kim and Mnih 2018),
rescaled so that guessing one of d factors gets 0.
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
    fails_when=(
        "factors are mixed but every factor still has some code that varies least when it is fixed, which gives full "
        "marks; without a sampler also when factors are correlated or there are few rows for each value"
    ),
    reference="Kim and Mnih (2018), 'Disentangling by factorising'",
    identity_tolerance=0.01,
    raw_range="below 0 by the luck of the draw, down to -1 / (d - 1) for d factors",
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
    """How often the code that moves least while a factor is held names that factor, by a vote learned on other rows.

    1 means that holding a factor stills a code that no other factor stills; noise gets 0 on average, within some
    hundredths at 200 rows. With a sampler in the evidence factors are really held; without one, rows are picked that
    share the factor's level or bin, learning and testing on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Variances of ranks, which heavy tails cannot spoil, or of the codes as they are (published).
    bins : int
        Bins of equal mass for continuous and circular factors; discrete ones keep their levels.
    batch_size : int
        Rows in a batch.
    n_batches : int
        Batches from each half of the rows, for each halving.
    n_splits : int
        Halvings of the rows; with a sampler there is one, of fresh draws.
    rescale : bool
        Whether guessing counts 0; False keeps the published accuracy, where it counts 1/d.
    rng : int or Generator
        Decides halves and batches.

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
