"""Modularity of Ridgeway and Mozer.

    M = 1/m sum_i (1 - sum_{j != j*} I(c_i; z_j)^2 / (I(c_i; z_j*)^2 (d - 1)))

with j* the factor that has the largest mutual information with code c_i, and d the number of factors (Ridgeway and
Mozer 2018).
"""

from __future__ import annotations

import numpy as np

from unweave.card import metric
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import mutual_information_matrix, varying
from unweave.metrics.shown_matrices import MUTUAL_INFORMATION
from unweave.score import Score


@metric(
    measures="modularity",
    equivalence="elementwise",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with mig",
    fails_when=(
        "some codes are unused, because their scores are ratios of estimation errors with the same weight as all "
        "others, or factors are correlated"
    ),
    reference="Ridgeway and Mozer (2018), 'Learning deep disentangled embeddings with the F-statistic loss'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.01,
    takes_sparse_codes=True,
    undefined_with=("one factor",),
)
def modularity(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
) -> Score:
    """1 minus the squared information of a code about other factors, relative to its main factor; mean over codes.

    1 means that every code carries information about one factor only. The amount does not matter, so a high score does
    not mean that the factors can be read from the codes. Random codes score far above 0, and higher with more rows per
    bin: compare with the permutation null. Codes without any information, such as constant ones, are left out. With one
    factor the score is undefined (nan).

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(20, 'equal_width')`` gives the numbers of disentanglement_lib.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> round(float(modularity(factors, np.exp(factors))), 2)
    1.0
    """
    information = np.maximum(mutual_information_matrix(evidence, estimator)[:, varying(evidence)], 0.0)
    most, n_others = information.max(axis=1), information.shape[1] - 1
    if n_others == 0:
        return Score(raw=np.nan, caveats=(Finding("one_factor_varies"),))
    others = np.square(information).sum(axis=1) - np.square(most)
    spread = np.divide(others, np.square(most) * n_others, out=np.full_like(most, np.nan), where=most > 0)
    per_code = 1 - spread
    return Score(
        raw=float(np.nanmean(per_code)) if (most > 0).any() else np.nan,
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={"mutual_information_matrix": mutual_information_matrix(evidence, estimator)},
        matrices=(MUTUAL_INFORMATION,),
        caveats=() if (most > 0).any() else (Finding("no_code_informative"),),
    )
