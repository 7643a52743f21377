"""Probes of increasing capacity, and the loss of each on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.arrays import FloatArray
from unweave.estimators.probes.linear_probes import Linear
from unweave.estimators.probes.probe_protocols import ByScikitLearn
from unweave.randomness import random_seed
from unweave.threads import thread_controller

NOTHING_LEFT = 1e-9


@dataclass(frozen=True)
class LinearThenTrees(ByScikitLearn):
    """A linear probe, and increasing numbers of boosted trees fitted to its residuals; each probe extends the previous.

    The first probe is linear, so that a factor that is a linear function of the codes needs no further capacity. The
    predictions of the trees are bounded, so that heavy tails do not dominate them.

    >>> codes = np.random.default_rng(0).normal(size=(400, 2))
    >>> waves = np.sin(2 * codes)
    >>> losses = LinearThenTrees().losses(codes[:300], waves[:300], codes[300:], waves[300:], 0)
    >>> bool((losses[-1] < losses[0]).all())
    True
    """

    n_trees: tuple[int, ...] = (0, 1, 4, 16, 64)
    depth: int = 3
    learning_rate: float = 0.3
    min_leaf: int = 5

    def losses(
        self, train: FloatArray, targets: FloatArray, test: FloatArray, test_targets: FloatArray, seed: int
    ) -> FloatArray:
        """Squared errors summed over test rows (probes x targets); test codes are clipped to their training range."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        unseen = np.clip(test, train.min(axis=0), train.max(axis=0))
        linear = Linear().regress(train, targets, seed)
        left, wrong = targets - linear.predict(train), test_targets - linear.predict(unseen)
        losses = np.repeat(np.square(wrong).sum(axis=0)[None], len(self.n_trees), axis=0)
        something = np.square(left).sum(axis=0) > NOTHING_LEFT * np.square(targets - targets.mean(axis=0)).sum(axis=0)
        with thread_controller().limit(limits=1, user_api="openmp"):
            for t in np.flatnonzero(something).tolist():
                model = HistGradientBoostingRegressor(
                    max_iter=max(self.n_trees),
                    max_depth=self.depth,
                    max_leaf_nodes=None,
                    learning_rate=self.learning_rate,
                    min_samples_leaf=self.min_leaf,
                    early_stopping=False,
                    random_state=random_seed(seed, "trees"),
                ).fit(train, left[:, t])
                for n_trees, added in enumerate(model.staged_predict(unseen), start=1):
                    if n_trees in self.n_trees:
                        losses[self.n_trees.index(n_trees), t] = np.square(wrong[:, t] - added).sum()
        return losses
