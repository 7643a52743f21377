"""Probes: models that predict a factor from codes, fitted and tested on different rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import joblib
import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from unweave.arrays import FloatArray
from unweave.estimators.boosting import BinnedCodes, Boosted, Boosting
from unweave.options import Count, Rate, checks_options
from unweave.randomness import random_seed

LIBRARY = f"scikit-learn {sklearn.__version__}"


class FittedProbe(Protocol):
    """A probe after fitting."""

    @property
    def importance(self) -> FloatArray:
        """Non-negative importance of every code, in the probe's own unit."""

    def predict(self, codes: FloatArray) -> NDArray[Any]:
        """Predicted targets (rows x targets) or, for a classifier, labels (rows)."""


class PreparedProbe(Protocol):
    """A regression whose computations that depend on the codes alone are done."""

    def fit(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit the probe to all target columns, with the codes for which it was prepared."""


class Probe(Protocol):
    """A frozen recipe for fitting; the same seed gives the same fit.

    `regress` and `classify` have to be written. A probe whose fit has a costly part that depends on the codes alone may
    compute it in `prepared`, which the null distribution of a score calls once for all permutations of the factors.

    >>> from unweave.metrics import r2
    >>> @dataclass(frozen=True)
    ... class Mean(Probe):
    ...     def regress(self, codes, targets, seed):
    ...         return FittedMean(targets.mean(axis=0), np.ones(codes.shape[1]))
    ...
    ...     def classify(self, codes, labels, seed):
    ...         return FittedMean(np.bincount(labels).argmax(), np.ones(codes.shape[1]))
    >>> @dataclass(frozen=True)
    ... class FittedMean:
    ...     mean: np.ndarray
    ...     importance: np.ndarray
    ...
    ...     def predict(self, codes):
    ...         return np.broadcast_to(self.mean, (len(codes), *np.shape(self.mean)))
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(r2(factors, factors, probe=Mean()).raw, 6)
    0.0
    """

    @abstractmethod
    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit all target columns (rows x targets)."""

    @abstractmethod
    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> FittedProbe:
        """Fit one column of labels."""

    def probe_each(
        self,
        codes: FloatArray,
        targets: Sequence[NDArray[Any]],
        unseen: FloatArray,
        seed: int,
        used: Sequence[NDArray[np.bool_]] | None = None,
    ) -> list[tuple[FloatArray, NDArray[Any]]]:
        """Importance of every code for each target, and predictions from unseen codes; by default fitted in turn.

        A target is columns (rows x k) to regress on, or labels (rows) to classify. ``used`` has a mask of the rows that
        each target is fitted to; all rows where it is missing.
        """

        def probed(target: NDArray[Any], rows: Any) -> tuple[FloatArray, NDArray[Any]]:
            fitted = (self.regress if target.ndim == 2 else self.classify)(codes[rows], target[rows], seed)
            return fitted.importance, fitted.predict(unseen)

        rows: Sequence[Any] = [slice(None)] * len(targets) if used is None else used
        pairs = zip(targets, rows, strict=True)
        return list(joblib.Parallel(require="sharedmem")(joblib.delayed(probed)(*pair) for pair in pairs))

    def prepared(self, codes: FloatArray) -> PreparedProbe:
        """The part of the regression that depends on the codes alone; by default, nothing is prepared."""
        return Unprepared(self)

    def largest_sparse_fit(self) -> int:
        """Largest min(rows, codes) of a `SparseTable` that the probe fits; 0 (the default) if codes must be dense."""
        return 0

    def most_rows(self) -> int | None:
        """Number of rows above which a random sample of so many is fitted and scored; None (the default) for all."""
        return None


@dataclass(frozen=True)
class Unprepared:
    """A regression without preparation: every fit starts from the codes."""

    probe: Probe

    def fit(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedProbe:
        """Fit all target columns."""
        return self.probe.regress(codes, targets, seed)


class ByScikitLearn:
    """An estimator that scikit-learn fits."""

    @property
    def library(self) -> str:
        """The library and its version, which are recorded with every score because results differ between libraries."""
        return LIBRARY


class ByIndicators(Probe, Protocol):
    """A probe that classifies by regression on the indicators of the labels; derived classes define `regress`."""

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> FittedProbe:
        """Fit the indicators of the labels; the label with the largest prediction is predicted."""
        distinct = np.unique(labels)
        return LargestIndicator(self.regress(codes, (labels[:, None] == distinct).astype(np.float64), seed), distinct)


@dataclass(frozen=True)
class LargestIndicator:
    """A fitted regression of label indicators."""

    fitted: FittedProbe
    labels: NDArray[np.intp]

    @property
    def importance(self) -> FloatArray:
        """Importance of every code for all indicators."""
        return self.fitted.importance

    def predict(self, codes: FloatArray) -> NDArray[np.intp]:
        """The label whose indicator is largest."""
        return np.asarray(self.labels[self.fitted.predict(codes).argmax(axis=1)])


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


MOST_TREE_ROWS = 25_000


@checks_options
@dataclass(frozen=True)
class BoostedTrees(Probe):
    """Histogram gradient boosting of squared errors; a code's importance is the total gain of the splits on it.

    Codes that are strictly monotone functions of each other are equivalent for a tree. They are fitted once and share
    the importance equally, so that it does not depend on the order of the codes or on how ties are resolved. Codes are
    cut into 63 bins, narrower in the tails (255 for fewer than 640 rows), whose edges lie in gaps, so that clusters of
    a discrete factor are not split. Labels are classified by regression on the indicators of the classes (L2Boost,
    Buehlmann and Yu 2003). Classes with fewer than ``min_leaf`` rows have no indicator, because no leaf can contain
    only such a class, and trees would fit it with unrelated codes.

    >>> codes = np.random.default_rng(0).normal(size=(200, 3))
    >>> fitted = BoostedTrees().regress(codes, codes[:, [1]] ** 3, seed=0)
    >>> int(fitted.importance.argmax()), bool(fitted.importance.max() > 0.9 * fitted.importance.sum())
    (1, True)
    """

    n_trees: Count = 100
    depth: Count = 3
    learning_rate: Rate = 0.1
    min_leaf: Count = 5

    def most_rows(self) -> int:
        """25,000 rows, whose importances differ from those of more rows in the third digit."""
        return MOST_TREE_ROWS

    def regress(self, codes: FloatArray, targets: FloatArray, seed: int) -> FittedTrees:
        """Fit one ensemble per target; nothing is random, so ``seed`` is not used."""
        groups, firsts = monotone_groups(codes)
        boosted = self._boosting().fit(BinnedCodes.for_trees(codes[:, firsts]), targets)
        return FittedTrees(boosted, firsts, _shared(boosted.gains.sum(axis=1), groups))

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> FittedProbe:
        """Fit the indicators of the classes that are learned."""
        learned = self._learned(labels)
        indicators = (labels[:, None] == learned).astype(np.float64)
        return LargestIndicator(self.regress(codes, indicators, seed), learned)

    def probe_each(
        self,
        codes: FloatArray,
        targets: Sequence[NDArray[Any]],
        unseen: FloatArray,
        seed: int,
        used: Sequence[NDArray[np.bool_]] | None = None,
    ) -> list[tuple[FloatArray, NDArray[Any]]]:
        """Importances and predictions; all trees grow together on the same bins, each as if it were alone."""
        groups, firsts = monotone_groups(codes)
        learned, columns = [], []
        for k, target in enumerate(targets):
            classes = None
            if target.ndim == 1:
                labels = target if used is None else target[used[k]]
                classes = self._learned(labels)
                # the trees of the second of two classes would be those of the first with the opposite sign
                one_suffices = classes.size == 2 and np.isin(labels, classes).all()
                target = target[:, None] == classes[: 1 if one_suffices else None]
            learned.append(classes)
            columns.append(target)
        n_columns = [column.shape[1] for column in columns]
        of_targets = None if used is None else np.repeat(np.column_stack(used), n_columns, axis=1)
        table = np.concatenate(columns, axis=1, dtype=np.float64)
        boosted = self._boosting().fit(BinnedCodes.for_trees(codes[:, firsts]), table, of_targets)
        ends = np.cumsum(n_columns)[:-1]
        gains, predicted = (np.split(a, ends, axis=1) for a in (boosted.gains, boosted.predict(unseen[:, firsts])))
        return [
            (_shared(gain.sum(axis=1), groups), found)
            if classes is None
            else (_shared(gain.mean(axis=1) * classes.size, groups), _largest(found, classes))
            for gain, found, classes in zip(gains, predicted, learned, strict=True)
        ]

    def _learned(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Classes that fill a leaf, if there are two; all classes otherwise."""
        classes, counts = np.unique(labels, return_counts=True)
        large = counts >= self.min_leaf
        return np.asarray(classes[large] if np.count_nonzero(large) > 1 else classes)

    def _boosting(self) -> Boosting:
        return Boosting(self.n_trees, self.depth, self.learning_rate, self.min_leaf)


def _largest(indicators: FloatArray, classes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The class of the largest predicted indicator; of two classes, the first alone has one."""
    if indicators.shape[1] < classes.size:
        return np.asarray(np.where(indicators[:, 0] >= 0.5, *classes))
    return np.asarray(classes[indicators.argmax(axis=1)])


def _shared(gains: FloatArray, group_of_code: NDArray[np.intp]) -> FloatArray:
    return np.asarray((gains / np.bincount(group_of_code))[group_of_code])


@dataclass(frozen=True)
class FittedTrees:
    """Boosted trees on the codes ``seen``."""

    boosted: Boosted
    seen: NDArray[np.intp]
    importance: FloatArray

    def predict(self, codes: FloatArray) -> NDArray[Any]:
        """Predicted targets."""
        return self.boosted.predict(codes[:, self.seen])


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
        kind, options, seen = self._kinds()[0], self._options(), _in_single_precision(codes)
        with unchecked():
            models = tuple(
                kind(**options, random_state=random_seed(seed, "trees")).fit(seen(codes), target)
                for target in targets.T
            )
        # impurity importances are shares of the target's variance, and are weighted by it before they are added up
        shares = np.stack([model.feature_importances_ for model in models])
        return Fitted(models, targets.var(axis=0) @ shares, seen)

    def classify(self, codes: FloatArray, labels: NDArray[np.intp], seed: int) -> Fitted:
        """Fit one ensemble."""
        seen = _in_single_precision(codes)
        with unchecked():
            model = self._kinds()[1](**self._options(), random_state=random_seed(seed, "trees"))
            model.fit(seen(codes), labels)
        return Fitted((model,), model.feature_importances_, seen, classifier=True)


@checks_options
@dataclass(frozen=True)
class GradientBoosting(Ensembles):
    """scikit-learn's exact gradient boosting with its defaults, as in disentanglement_lib and the code of 003; slow."""

    n_trees: Count = 100
    depth: Count = 3
    learning_rate: Rate = 0.1

    def _kinds(self) -> tuple[Any, Any]:
        from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

        return GradientBoostingRegressor, GradientBoostingClassifier

    def _options(self) -> dict[str, Any]:
        return {"n_estimators": self.n_trees, "max_depth": self.depth, "learning_rate": self.learning_rate}


@checks_options
@dataclass(frozen=True)
class RandomForest(Ensembles):
    """A random forest with impurity importances, as in DCI-ES."""

    n_trees: Count = 100
    depth: Count | None = None

    def _kinds(self) -> tuple[Any, Any]:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        return RandomForestRegressor, RandomForestClassifier

    def _options(self) -> dict[str, Any]:
        return {"n_estimators": self.n_trees, "max_depth": self.depth}


def unchecked() -> AbstractContextManager[None]:
    """Context without scikit-learn's input checks, which take a third of the time of small trees."""
    from sklearn import config_context

    return config_context(assume_finite=True, skip_parameter_validation=True)


def _in_single_precision(codes: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Map of codes that scales columns which the 32-bit numbers of scikit-learn's trees cannot hold; others stay."""
    exponents = np.frexp(np.abs(codes).max(axis=0, initial=0.0))[1]
    exponents[np.abs(exponents) <= LARGEST_EXPONENT] = 0
    most = float(np.finfo(np.float32).max)
    return lambda given: np.clip(np.ldexp(given, -exponents), -most, most) if exponents.any() else given


LARGEST_EXPONENT = 100  # 32-bit numbers have exponents from -126 to 127
Folds = NDArray[np.intp]
TINY = 1e-6


def least_squares(design: FloatArray, targets: FloatArray, penalty: float = TINY) -> FloatArray:
    """Coefficients ((1 + p) x m), the intercept first; ``penalty`` is a ridge per row."""
    columns = np.column_stack([np.ones(len(design)), design])
    return np.asarray(_solved(columns.T @ columns, columns.T @ targets, penalty * len(design)))


def out_of_fold_least_squares(
    design: FloatArray, targets: FloatArray, fold: Folds, penalty: float = TINY
) -> FloatArray:
    """Prediction of every row (n x m) by a fit with intercept on the other folds.

    >>> x = np.arange(6.0)[:, None]
    >>> out_of_fold_least_squares(x, 2 * x + 1, np.array([0, 1, 2, 0, 1, 2]), 0.0)[:, 0].round(6).tolist()
    [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    """
    columns = np.column_stack([np.ones(len(design)), design])
    squares, products = columns.T @ columns, columns.T @ targets
    predicted = np.empty(targets.shape)
    for k in np.unique(fold):
        test = np.flatnonzero(fold == k)
        left_out = columns[test]
        rest = squares - left_out.T @ left_out, products - left_out.T @ targets[test]
        predicted[test] = left_out @ _solved(*rest, penalty * (len(design) - test.size))
    return predicted


def _solved(squares: FloatArray, products: FloatArray, ridge: float) -> FloatArray:
    ridges = np.full(len(squares), ridge)
    ridges[0] = 0.0  # the intercept is not penalised
    penalised = squares + np.diag(ridges)
    try:
        return np.asarray(cho_solve(cho_factor(penalised, check_finite=False), products, check_finite=False))
    except np.linalg.LinAlgError:  # columns that are linearly dependent in spite of the penalty
        return np.asarray(np.linalg.lstsq(penalised, products, rcond=None)[0])


def out_of_fold_kernel_ridge(
    kernel: FloatArray, targets: FloatArray, fold: Folds, penalties: tuple[float, ...]
) -> Iterator[FloatArray]:
    """Predictions of every row by kernel ridge regression on the other folds, one array (n x m) per penalty.

    Penalties are relative to the mean of the kernel's diagonal.
    """
    predicted = np.empty((len(penalties), *targets.shape))
    for k in np.unique(fold):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        inner, across = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
        mean = targets[train].mean(axis=0)
        for place, penalty in enumerate(penalties):
            predicted[place, test] = mean + across @ kernel_weights(inner, targets[train] - mean, penalty)
    return iter(predicted)


def kernel_weights(kernel: FloatArray, centred_targets: FloatArray, penalty: float) -> FloatArray:
    """Weights a of the kernel ridge fit k(x, .) a to centred targets."""
    penalised = kernel.copy()
    penalised.flat[:: len(kernel) + 1] += penalty * kernel.trace() / len(kernel)
    factor = cho_factor(penalised, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, centred_targets, check_finite=False))
