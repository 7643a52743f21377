"""Usable information: the reduction of cross-entropy by a classifier on held-out rows, in nats (Xu et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray, Rows
from unweave.estimators.information.entropy import entropy_of_counts
from unweave.estimators.information.information_protocols import JointInformation
from unweave.estimators.probes.probe_protocols import LIBRARY
from unweave.estimators.probes.tuned_logistic import tuned_probabilities
from unweave.randomness import random_seed


@dataclass(frozen=True)
class UsableInformation(JointInformation):
    """Reduction of held-out cross-entropy by a classifier, relative to predicting the training frequencies.

    The classifier is multinomial logistic, with logits linear in the columns and a penalty chosen within the training
    rows, or boosted trees, which can use interactions but need more rows. Predictions are mixed with the frequencies in
    the n training rows at weight 1 / (n + 1), so that the loss of a row exceeds the loss of the frequencies by at most
    log(n + 1). If there are more than ``most_rows`` rows, metrics use a random subset of this size.

    >>> rng = np.random.default_rng(0)
    >>> columns = rng.normal(size=(1000, 2))
    >>> labels = (columns.sum(axis=1) > 0).astype(int)
    >>> UsableInformation().share(columns, labels, np.arange(800), np.arange(800, 1000)) > 0.95
    True
    """

    classifier: Literal["logistic", "boosted_trees"] = "logistic"
    test_share: float = 0.2
    most_rows: int = 10_000
    seed: int = 0

    @property
    def library(self) -> str | None:
        """The library that fits the classifier, or None if unweave fits it."""
        return LIBRARY if self.classifier == "boosted_trees" else None

    def row_plan(self) -> tuple[float, int | None]:
        """Share of the rows to hold out, and the largest number of rows to use."""

        return self.test_share, self.most_rows

    def share(self, columns: FloatArray, labels: NDArray[np.integer], train: Rows, test: Rows) -> float:
        """Share of the test labels' cross-entropy that the columns remove; negative if the classifier increases it."""
        n_labels = int(labels.max()) + 1
        counts = np.bincount(labels[train], minlength=n_labels)
        frequencies = (counts + 0.5) / (train.size + 0.5 * n_labels)
        without = -np.log(frequencies[labels[test]]).mean()
        seen = columns[train]
        unseen = np.clip(columns[test], seen.min(axis=0), seen.max(axis=0))
        predicted = self._probabilities(seen, labels[train], unseen, n_labels)[np.arange(test.size), labels[test]]
        doubt = 1 / (train.size + 1)
        return float(1 + np.log((1 - doubt) * predicted + doubt * frequencies[labels[test]]).mean() / without)

    def joint_information(self, columns: FloatArray, labels: NDArray[np.integer], train: Rows, test: Rows) -> float:
        """`share` times the entropy of the labels, in nats; at least 0."""

        return max(self.share(columns, labels, train, test), 0.0) * float(entropy_of_counts(np.bincount(labels)))

    def _probabilities(
        self, seen: FloatArray, labels: NDArray[np.integer], unseen: FloatArray, n_labels: int
    ) -> FloatArray:
        if self.classifier == "logistic":
            return tuned_probabilities(seen, labels, unseen, n_labels, self.seed)
        if self.classifier != "boosted_trees":
            raise ValueError(f"classifier={self.classifier!r} is not known: use 'logistic' or 'boosted_trees'.")
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_depth=3, early_stopping=True, random_state=random_seed(self.seed, "trees")
        )
        model.fit(seen, labels)
        probabilities = np.zeros((len(unseen), n_labels))
        probabilities[:, model.classes_] = model.predict_proba(unseen)
        return probabilities
