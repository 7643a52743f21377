"""Probes that are ensembles of trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information.binning import edges_in_gaps
from unweave.estimators.probes.probe_protocols import ByScikitLearn, Probe
from unweave.randomness import random_seed
from unweave.threads import thread_controller


@dataclass(frozen=True)
class Fitted:
    """Fitted scikit-learn models, one per target column; ``seen`` computes their inputs from the codes."""

    models: tuple[Any, ...]
    importance: FloatArray
    seen: Callable[[FloatArray], FloatArray]
    classifier: bool = False

    def predict(self, codes: FloatArray) -> NDArray[Any]:
        """Predicted targets or labels."""
        seen = self.seen(codes)
        if self.classifier:
            return np.asarray(self.models[0].predict(seen))
        return np.column_stack([model.predict(seen) for model in self.models])


@dataclass(frozen=True)
class BoostedTrees(ByScikitLearn, Probe):
    """Histogram gradient boosting; a code's importance is the total gain of the splits on it.

    Codes that are strictly monotone functions of each other are equivalent for a tree. They are fitted once and share
    the importance equally, so that it does not depend on the order of the codes or on how ties are resolved. Codes are
    cut into 255 bins whose edges lie in gaps, so that clusters of a discrete factor are not split. Classes with fewer
    than ``min_leaf`` rows are not learned, because no leaf can contain only such a class, and trees would fit it with
    unrelated codes.
    """

    n_trees: int = 100
    depth: int = 3
    learning_rate: float = 0.1
    min_leaf: int = 5

    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> Fitted:
        """Fit one ensemble per target."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        return self._fit(HistGradientBoostingRegressor, codes, list(targets.T), seed)

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> Fitted:
        """Fit one ensemble, with one tree per class and round."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        counts = np.bincount(labels)
        if np.count_nonzero(counts >= self.min_leaf) > 1:
            learnable = counts[labels] >= self.min_leaf
            codes, labels = codes[learnable], labels[learnable]
        return self._fit(HistGradientBoostingClassifier, codes, [labels], seed)

    def _fit(self, kind: Any, codes: FloatArray, targets: list[NDArray[Any]], seed: int) -> Fitted:
        group_of_code, firsts = monotone_groups(codes)
        seen = GapBins(firsts, tuple(edges_in_gaps(codes[:, i], 255) for i in firsts))
        binned, models, gains = seen(codes), [], np.zeros(firsts.size)
        # one thread, because several threads would sum gradients in another order and round differently
        with thread_controller().limit(limits=1, user_api="openmp"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The number of unique classes")  # many classes are intended
            for target in targets:
                model = kind(
                    max_iter=self.n_trees,
                    max_depth=self.depth,
                    max_leaf_nodes=None,
                    learning_rate=self.learning_rate,
                    min_samples_leaf=self.min_leaf,
                    early_stopping=False,
                    random_state=random_seed(seed, "trees"),
                ).fit(binned, target)
                gains += split_gains(model, firsts.size)
                models.append(model)
        sharers = np.bincount(group_of_code)
        importance = (gains / sharers)[group_of_code]
        return Fitted(tuple(models), importance, seen, classifier="Classifier" in kind.__name__)


@dataclass(frozen=True)
class GapBins:
    """Maps codes to bin numbers, for the codes in ``chosen`` only."""

    chosen: NDArray[np.intp]
    edges: tuple[FloatArray, ...]

    def __call__(self, codes: FloatArray) -> FloatArray:
        """Bin numbers (rows x chosen codes)."""
        columns = [np.searchsorted(edges, codes[:, i]) for i, edges in zip(self.chosen, self.edges, strict=True)]
        return np.column_stack(columns).astype(np.float64)


def split_gains(model: Any, n_codes: int) -> FloatArray:
    """Total gain of the splits on each code in a fitted histogram gradient boosting model.

    scikit-learn stores the gain in every node but does not expose it. Only this function reads the private field, and a
    test compares the result with LightGBM's public gains.
    """
    gains = np.zeros(n_codes)
    for trees_of_round in model._predictors:
        for tree in trees_of_round:
            splits = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
    return np.maximum(gains, 0.0)


def monotone_groups(codes: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group number of every code, and the first code of every group of codes that are strictly monotone in each other.

    >>> groups, firsts = monotone_groups(np.array([[1.0, 5.0, -1.0], [2.0, 4.0, -8.0], [3.0, 9.0, -27.0]]))
    >>> groups.tolist(), firsts.tolist()
    ([0, 1, 0], [0, 1])
    """
    group_by_order: dict[bytes, int] = {}
    firsts: list[int] = []
    group_of_code = np.empty(codes.shape[1], dtype=np.intp)
    for i in range(codes.shape[1]):
        places = np.unique(codes[:, i], return_inverse=True)[1]
        if 2 * places[np.argmax(2 * places != places.max())] > places.max():
            places = places.max() - places  # gives increasing and decreasing copies the same direction
        key = places.astype(np.int32).tobytes()
        if key not in group_by_order:
            group_by_order[key] = len(firsts)
            firsts.append(i)
        group_of_code[i] = group_by_order[key]
    return group_of_code, np.array(firsts, dtype=np.intp)


@dataclass(frozen=True)
class Ensembles(ByScikitLearn, Probe):
    """Ensembles of trees of scikit-learn with impurity importances; derived classes define the models and options."""

    def _kinds(self) -> tuple[Any, Any]:
        """The regressor and the classifier."""
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """Options of both models, apart from the seed."""
        raise NotImplementedError

    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> Fitted:
        """Fit one ensemble per target."""
        kind, options = self._kinds()[0], self._options()
        with unchecked():
            models = tuple(
                kind(**options, random_state=random_seed(seed, "trees")).fit(codes, target) for target in targets.T
            )
        # impurity importances are shares of the target's variance, and are weighted by it before they are added up
        shares = np.stack([model.feature_importances_ for model in models])
        return Fitted(models, targets.var(axis=0) @ shares, _as_they_are)

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> Fitted:
        """Fit one ensemble."""
        with unchecked():
            model = self._kinds()[1](**self._options(), random_state=random_seed(seed, "trees")).fit(codes, labels)
        return Fitted((model,), model.feature_importances_, _as_they_are, classifier=True)


@dataclass(frozen=True)
class GradientBoosting(Ensembles):
    """scikit-learn's exact gradient boosting with its defaults, as in disentanglement_lib and the code of 003; slow."""

    n_trees: int = 100
    depth: int = 3
    learning_rate: float = 0.1

    def _kinds(self) -> tuple[Any, Any]:
        from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

        return GradientBoostingRegressor, GradientBoostingClassifier

    def _options(self) -> dict[str, Any]:
        return {"n_estimators": self.n_trees, "max_depth": self.depth, "learning_rate": self.learning_rate}


@dataclass(frozen=True)
class RandomForest(Ensembles):
    """A random forest with impurity importances, as in DCI-ES."""

    n_trees: int = 100
    depth: int | None = None

    def _kinds(self) -> tuple[Any, Any]:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        return RandomForestRegressor, RandomForestClassifier

    def _options(self) -> dict[str, Any]:
        return {"n_estimators": self.n_trees, "max_depth": self.depth}


def unchecked() -> AbstractContextManager[None]:
    """Context without scikit-learn's input checks, which take a third of the time of small trees."""
    from sklearn import config_context

    return config_context(assume_finite=True, skip_parameter_validation=True)


def _as_they_are(codes: FloatArray) -> FloatArray:
    return codes
