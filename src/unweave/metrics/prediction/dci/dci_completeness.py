"""DCI completeness: is each factor predicted from one code only?

    C = sum_j w_j C_j,   C_j = 1 - H_m(R_.j / sum_i R_ij),   w_j = sum_i R_ij / sum_ij R_ij

with R_ij the importance of code i for factor j and H_m the entropy with logarithms to base m, the number of codes
including constant ones (Eastwood and Williams 2018).
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, Share, seed_from
from unweave.estimators.probes.probe_protocols import Probe
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import live_points, varying
from unweave.metrics.prediction.dci.relative_importance import (
    DEFAULT_PROBE,
    NOTHING_USED,
    Normalise,
    Weights,
    concentration,
    dci_metric,
    relative_importance,
    weighted_mean,
)
from unweave.metrics.shown_matrices import IMPORTANCE
from unweave.score import Score


@dci_metric(
    measures="compactness",
    cost="one probe per factor, shared with dci_disentanglement",
    fails_when=(
        "several codes carry the same factor, because importance is shared between them; representations with "
        "different numbers of dead codes are compared, because dead codes raise the score; or there are few rows for "
        "the probe"
    ),
    factor_by_factor=True,
    undefined_with=("one code",),
)
def dci_completeness(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    normalise: Normalise = "factor",
    weights: Weights = "importance",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How concentrated the importances of a factor are on one code; mean over factors, weighted by importance.

    1 means that the probe uses one code for each factor. Random codes score a few hundredths, more with few rows. The
    score decreases when a code is duplicated, because the factor's importance is then divided between the copies. Dead
    codes raise a score below 1, because the published definition counts all codes; a caveat then states the score
    without them. The options are those of `dci_disentanglement`. With ``normalise='factor'`` all factors have the same
    weight.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_completeness(factors, factors ** 3)) > 0.95
    True
    """
    matrix = relative_importance(evidence, probe, normalise, test_share, seed_from(rng))
    if matrix.shape[0] == 1:
        return Score(float("nan"), caveats=(Finding("one_code_for_all"),))
    totals = matrix.sum(axis=0)
    per_factor = np.full(evidence.n_factors, np.nan)
    per_factor[varying(evidence)] = concentration(matrix.T)
    caveats = [] if totals.any() else [NOTHING_USED]
    live = live_points(evidence)
    if totals.any() and 1 < live.sum() < live.size:
        without = weighted_mean(concentration(matrix[live].T), matrix[live].sum(axis=0), weights)
        caveats.append(Finding("dead_codes_counted", n_codes=live.size, without=without))
    return Score(
        raw=weighted_mean(per_factor[varying(evidence)], totals, weights),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"importance_matrix": matrix},
        matrices=(IMPORTANCE,),
        caveats=tuple(caveats),
    )
