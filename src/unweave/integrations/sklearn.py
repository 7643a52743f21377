"""Scorers for scikit-learn, which evaluate transformers, for example in `GridSearchCV`, by known factors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np

from unweave.card.decorator import metric_of
from unweave.errors import InputError
from unweave.evaluation import evaluate
from unweave.evaluation.choose import MetricChoice, chosen_metrics
from unweave.evidence import EvidenceOptions
from unweave.options import checks_options

Codes = Callable[[Any, Any], Any]


@checks_options
def scorer(
    metrics: MetricChoice | Iterable[MetricChoice],
    *,
    factors: Any = None,
    codes: Codes | None = None,
    **evidence_options: Unpack[EvidenceOptions],
) -> Scorer:
    """A scorer with the signature ``scorer(estimator, X, y)``, for ``scoring=`` of scikit-learn.

    Parameters
    ----------
    metrics : name, metric, or several
        With one metric the scorer returns a number. With several it returns a dictionary, for `GridSearchCV` with
        ``refit="mcc"``.
    factors : table or function, optional
        The factors. By default they are ``y``, which transformers ignore when they are fitted. A function is called
        with X. The rows of a pandas table are selected by the index of X; the rows of any other table are selected by
        the row numbers in ``y`` (``search.fit(X, np.arange(len(X)))``).
    codes : function, optional
        ``codes(estimator, X)`` returns the codes, or a `Posterior`; by default ``estimator.transform(X)``.
    **evidence_options
        ``kinds`` and the other options of `Evidence`.

    Returns
    -------
    Scorer
        Greater is better, as in scikit-learn: metrics for which lower is better change sign. A metric that fails on a
        fold scores nan with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import FastICA
    >>> from sklearn.model_selection import GridSearchCV
    >>> factors = np.random.default_rng(0).uniform(size=(300, 3))
    >>> mixed = factors @ np.random.default_rng(1).normal(size=(3, 3))
    >>> search = GridSearchCV(FastICA(random_state=0), {"n_components": [1, 3]}, scoring=scorer("mcc"), cv=3)
    >>> search.fit(mixed, factors).best_params_
    {'n_components': 3}
    """
    return Scorer(metrics, factors, codes, dict(evidence_options))


@checks_options
class Scorer:
    """The result of `scorer`: a callable that scikit-learn can clone, pickle and send to other processes.

    >>> Scorer("mcc")
    scorer('mcc')
    """

    def __init__(
        self,
        metrics: MetricChoice | Iterable[MetricChoice],
        factors: Any = None,
        codes: Codes | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.chosen = chosen_metrics(metrics)
        self.is_single = isinstance(metrics, str) or callable(metrics)
        self.factors, self.codes, self.options = factors, codes, dict(options or {})

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float | dict[str, float]:
        """Scores of a fitted estimator on these samples."""
        codes = estimator.transform(X) if self.codes is None else self.codes(estimator, X)
        factors = self._factors_of(X, y)
        evaluation = evaluate(
            factors, codes, metrics=list(self.chosen.values()), quick=True, progress=False, **self.options
        )
        scores = {}
        for label, row in zip(evaluation.labels, evaluation.rows, strict=True):
            value = math.nan if row.score is None else row.score.value
            if row.problem is not None:
                warnings.warn(str(row.problem), stacklevel=2)
            scores[label] = -value if metric_of(self.chosen[label]).card.lower_is_better else value
        return next(iter(scores.values())) if self.is_single else scores

    def _factors_of(self, X: Any, y: Any) -> Any:
        if self.factors is None:
            if y is None:
                raise InputError("The scorer has no factors: pass them as y, or as factors= of scorer.")
            return y
        if callable(self.factors):
            return self.factors(X)
        if hasattr(self.factors, "loc") and hasattr(X, "index"):
            return self.factors.loc[X.index]
        if len(self.factors) == len(X):
            return self.factors
        rows = None if y is None else np.asarray(y)
        if rows is None or rows.ndim != 1 or rows.dtype.kind not in "iu" or len(np.unique(rows)) < len(rows):
            raise InputError(
                f"The factors have {len(self.factors)} rows and X has {len(X)}, so rows cannot be matched: pass the "
                "factors as y, or the row numbers as y (np.arange(len(X))), or both tables with a pandas index."
            )
        return self.factors.iloc[rows] if hasattr(self.factors, "iloc") else np.asarray(self.factors)[rows]

    def __repr__(self) -> str:
        return f"scorer({', '.join(map(repr, self.chosen))})"
