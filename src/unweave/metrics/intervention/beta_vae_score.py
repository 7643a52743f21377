"""BetaVAE score: does a linear classifier of code differences predict the factor that was held fixed?

    score = 1/B sum_b [f(1/L sum_l |c(x_l) - c(x'_l)|) = k_b]

over batches b of L pairs (x_l, x'_l) that share factor k_b, with f a linear classifier learned from other batches
(Higgins et al. 2017), rescaled so that guessing one of d factors scores 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.card import Count, Seed, Several, seed_from
from unweave.estimators.probes.logistic_probe import Classifier, Logistic
from unweave.evidence import Evidence
from unweave.metrics.intervention.comparable_codes import Scale, intervenes
from unweave.metrics.intervention.fixed_factors import Plan, asked, batches
from unweave.metrics.intervention.held_factors import Held, held_factor_metric, holdable, one_held
from unweave.metrics.intervention.votes import NO_CODES, ONE_FACTOR, accuracy_score
from unweave.metrics.matrices import live_points
from unweave.randomness import random_stream
from unweave.score import Score

BatchOfHalf = tuple[FloatArray, NDArray[np.intp]]


@held_factor_metric(
    cost="10,000 batches of 64 pairs, ten linear classifiers",
    version=3,
    fails_when=(
        "entanglement is the question: most invertible mixings score nearly 1, and a rotation by 45 degrees scores "
        "about 0; without a sampler also when factors are correlated or there are few rows for each value"
    ),
    reference=(
        "Higgins et al. (2017), 'beta-VAE: learning basic visual concepts with a constrained variational framework'"
    ),
    identity_tolerance=0.01,
    raw_range="below 0 by chance, down to -1 / (d - 1) for d factors",
)
def beta_vae_score(
    evidence: Evidence,
    *,
    scale: Scale = "ranks",
    classifier: Classifier = Logistic(),  # noqa: B008 - a frozen value
    bins: Several = 10,
    batch_size: Several = 64,
    n_batches: Several = 1000,
    n_splits: Count = 5,
    rescale: bool = True,
    rng: Seed = 0,
) -> Score:
    """Accuracy of a linear classifier that predicts the factor that pairs of samples share from mean code differences.

    1 means that the classifier always predicts the shared factor from the code differences. Random codes score 0 on
    average, within a few hundredths at 200 rows. With a sampler in the evidence, the factor is held fixed by
    intervention. Without one, pairs of rows are chosen that share the factor's level or bin, and the classifier is
    trained and tested on disjoint halves of the rows.

    Parameters
    ----------
    scale : {'ranks', 'values'}
        Differences of ranks, which are robust to heavy tails, or differences of the codes themselves (published).
    classifier : Logistic
        The linear classifier. ``Logistic(strength=1, whiten=False)`` is that of disentanglement_lib.
    batch_size : int
        Number of pairs in a batch.
    bins, n_batches, n_splits, rescale, rng
        See `factor_vae_score`.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(beta_vae_score(factors, np.exp(factors)))
    1.0
    """
    seed, held_of = seed_from(rng), one_held(evidence)
    per_factor = max(n_batches // len(held_of), 1)
    plan = Plan(per_factor * batch_size, 2, bins, scale)
    n_splits = 1 if intervenes(evidence) else n_splits  # draws of a sampler are independent, so one split is enough
    held_of, caveats = holdable(evidence, held_of, plan, range(seed, seed + n_splits))
    if len(held_of) < 2 or not live_points(evidence).any():
        return Score(math.nan, caveats=(*caveats, ONE_FACTOR if len(held_of) < 2 else NO_CODES))
    right = []
    for split in range(n_splits):
        halves = _differences(evidence, held_of, plan, batch_size, seed + split)
        right += [_accuracies(classifier, *halves[::way]) for way in (1, -1)]
    caveats = (*caveats, *asked(evidence, held_of.values(), plan, seed, free=scale == "ranks"))
    return accuracy_score(evidence, held_of, np.mean(right, axis=0), rescale, caveats, {})


def _differences(evidence: Evidence, held_of: Held, plan: Plan, batch_size: int, seed: int) -> list[BatchOfHalf]:
    """For each half, the mean absolute code difference of every batch (batches x live codes) and its shared factor."""
    rngs = [random_stream(seed, "order of pairs", half) for half in (0, 1)]
    means: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for held in held_of.values():
        found: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        for half, codes in batches(evidence, held, plan, seed):
            found[half].append(np.abs(codes[:, 0] - codes[:, 1]))
        for half, blocks in enumerate(found):
            pairs = np.concatenate(blocks)
            order = rngs[half].permutation(len(pairs))  # so that the pairs of a batch share different values
            means[half].append(pairs[order].reshape(-1, batch_size, pairs.shape[1]).mean(axis=1))
    return [(np.concatenate(side), np.repeat(np.arange(len(side)), [len(mean) for mean in side])) for side in means]


def _accuracies(classifier: Classifier, learned: BatchOfHalf, tested: BatchOfHalf) -> FloatArray:
    """Accuracy of the classifier for every factor."""
    right = classifier.fit(*learned).predict(tested[0]) == tested[1]
    return np.asarray(np.bincount(tested[1], weights=right) / np.bincount(tested[1]))
