"""DCIMIG, also called 3CharM: the mutual information gap of the best code of every factor.

    DCIMIG = sum_j S_j / sum_j H(z_j),    S_j = max_i (I(c_i; z_j) - max_{k != j} I(c_i; z_k))

where the maximum is over the codes c_i that carry more information about factor z_j than about any other factor. If
there is no such code, S_j = 0 (Sepliarskaia et al. 2019).
"""

from __future__ import annotations

import numpy as np

from unweave.card import metric
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import factor_entropies, mutual_information_matrix, varying
from unweave.metrics.shown_matrices import MUTUAL_INFORMATION
from unweave.score import Score


@metric(
    measures="modularity and explicitness",
    equivalence="elementwise",
    min_rows=40,
    chance=0.0,
    cost="n m d counts, shared with mig",
    fails_when=(
        "factors are correlated, or their entropies differ much, because factors of large entropy then dominate"
    ),
    reference="Sepliarskaia et al. (2019), 'How to not measure disentanglement'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.06,
    takes_sparse_codes=True,
)
def dcimig(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
) -> Score:
    """Information gap of each factor's best code between this factor and the next, relative to all factors' entropy.

    1 means that every factor has a code that determines it and carries no information about any other factor. Unused
    codes do not lower the score (they lower `mig_sup`), and neither do copies of a code (they lower `mig`). Random
    codes score about 0.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(10, 'equal_width')`` gives the numbers of Ubisoft's library.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(dcimig(factors, np.column_stack([np.exp(factors), factors]))), 2)
    1.0
    """
    information = mutual_information_matrix(evidence, estimator)
    ranked = np.sort(np.column_stack([np.zeros(evidence.n_codes), information]), axis=1)
    gaps = ranked[:, -1] - ranked[:, -2]
    best_gaps = np.zeros(evidence.n_factors)
    np.maximum.at(best_gaps, information.argmax(axis=1), gaps)
    entropies = factor_entropies(evidence, estimator)
    per_factor = np.divide(
        best_gaps, entropies, out=np.full_like(gaps, np.nan, shape=(evidence.n_factors,)), where=varying(evidence)
    )
    return Score(
        raw=float(best_gaps.sum() / entropies.sum()),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, gaps.tolist(), strict=True)),
        parts={"mutual_information_matrix": information},
        matrices=(MUTUAL_INFORMATION,),
        caveats=(Finding("one_factor"),) if evidence.n_factors == 1 else (),
    )
