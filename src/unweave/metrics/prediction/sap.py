"""Separated attribute predictability.

    SAP = 1/d sum_j (S_i1,j - S_i2,j)

with S_ij the prediction score of code i alone for factor j, and i1 and i2 the codes with the largest and second largest
score. For numeric factors S_ij is the squared correlation. For categorical factors it is the balanced accuracy of a
classifier (Kumar et al. 2018), here rescaled so that guessing scores 0: (accuracy - 1/K) / (1 - 1/K) for K categories.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Seed, Several, metric, seed_from
from unweave.estimators.dependence.correlation import Pearson
from unweave.estimators.information.binning import levels
from unweave.estimators.probes.line_classifiers import LineClassifier, Neighbourhood
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import correlation_matrix, varying
from unweave.metrics.shown_matrices import PREDICTABILITY
from unweave.score import Score


@metric(
    measures="compactness",
    equivalence="permutation and scale",
    min_rows=10,
    chance=0.0,
    cost="one n x m x d matrix product; a classifier per code for categories",
    fails_when=(
        "factors are correlated, several codes carry the same factor, or a code is a nonlinear function of its factor"
    ),
    reference="Kumar et al. (2018), 'Variational inference of disentangled latent concepts'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.01,
    order_tolerance=0.01,
    takes_sparse_codes=True,
    factor_by_factor=True,
    version=2,
)
def sap(
    evidence: Evidence,
    *,
    classify: Literal["categorical", "discrete", "none"] = "categorical",
    classifier: LineClassifier = Neighbourhood(),  # noqa: B008 - a frozen value
    rescale: bool = True,
    n_folds: Several = 5,
    rng: Seed = 0,
) -> Score:
    """Difference between the prediction scores of the two single codes that predict a factor best; mean over factors.

    1 means that one code predicts each factor perfectly and no other code predicts it at all. Random codes score about
    0 (some thousandths at 200 rows). A circular factor is compared through its cosine and sine.

    Parameters
    ----------
    classify : {'categorical', 'discrete', 'none'}
        Which factors are scored by classification on held-out rows: categorical ones, categorical and ordinal ones, or
        none. With 'none', a categorical factor is scored by the share of a code's variance between its categories.
    classifier : Neighbourhood or LinearSvm
        Classifier of single codes. The published support vector machine (`LinearSvm`) has one threshold per category,
        so that even perfect codes score near 0.
    rescale : bool
        Whether to rescale the accuracy so that guessing a category scores 0. False gives the published accuracy, with
        which a perfect code scores 1 - 1/K.
    n_folds : int
        Number of folds. Every row is classified once, by a classifier fitted on the other folds.
    rng : int or Generator
        Seed of the folds. Without classification nothing is random.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2000, 2))
    >>> round(float(sap(factors, factors)), 2)
    1.0
    """
    by_classification = {
        "categorical": (FactorKind.CATEGORICAL,),
        "discrete": (FactorKind.CATEGORICAL, FactorKind.ORDINAL),
        "none": (),
    }.get(classify)
    if by_classification is None:
        raise ValueError(f"classify={classify!r} is not known: use 'categorical', 'discrete' or 'none'.")
    matrix = np.square(correlation_matrix(evidence, Pearson()))
    for j in np.flatnonzero(varying(evidence)).tolist():
        if evidence.kinds[j] in by_classification:
            matrix[:, j] = _balanced_accuracies(evidence, j, classifier, rescale, n_folds, seed_from(rng))
    nothing = np.zeros(evidence.n_factors)
    ranked = np.sort(np.vstack([nothing, matrix]) if evidence.n_codes == 1 else matrix, axis=0)
    per_factor = ranked[-1] - ranked[-2]
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"predictability_matrix": matrix},
        matrices=(PREDICTABILITY,),
        caveats=(Finding("one_code"),) if evidence.n_codes == 1 else (),
    )


@memoised(on="both")
def _balanced_accuracies(
    evidence: Evidence, j: int, classifier: LineClassifier, rescale: bool, n_folds: int, seed: int
) -> FloatArray:
    """Held-out balanced accuracy of each code alone for factor j: the recall of a label, averaged over labels (m)."""
    labels = levels(evidence.factors[:, j]).astype(np.intp)
    counts = np.bincount(labels)
    recalls = np.zeros((counts.size, evidence.n_codes))
    for train, test in evidence.folds(n_folds, seed):
        predicted = classifier.predictions(evidence.codes[train], labels[train], evidence.codes[test], seed)
        np.add.at(recalls, labels[test], predicted == labels[test][:, None])
    accuracy = (recalls / counts[:, None]).mean(axis=0)
    return (accuracy - 1 / counts.size) / (1 - 1 / counts.size) if rescale else accuracy
