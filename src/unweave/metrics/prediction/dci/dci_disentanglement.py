"""DCI disentanglement: is each code important for one factor only?

    D = sum_i w_i D_i,   D_i = 1 - H_d(R_i. / sum_j R_ij),   w_i = sum_j R_ij / sum_ij R_ij

with R_ij the importance of code i for factor j and H_d the entropy with logarithms to base d, the number of factors
(Eastwood and Williams 2018; 003, appendix F.2).
"""

from __future__ import annotations

from unweave.card import Seed, Share, seed_from
from unweave.estimators.probes.probe_protocols import Probe
from unweave.evidence import Evidence
from unweave.findings import Finding
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
    measures="modularity",
    cost="one probe per factor",
    fails_when=(
        "one factor is a copy or a function of another, because a perfect encoder then scores below 1, or there are "
        "few rows for the probe"
    ),
    undefined_with=("one factor",),
)
def dci_disentanglement(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    normalise: Normalise = "factor",
    weights: Weights = "importance",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How concentrated the importances of a code are on one factor; mean over codes, weighted by importance.

    1 means that every code that the probe uses is important for one factor only. Random codes score a few hundredths,
    more with few rows and many codes. In two cases disentangled codes score below 1 with the defaults: codes of only m
    of d independent factors score (m/d) log m / log d, and a factor that is a copy of another one lowers the score to
    1 - (2/d) log 2 / log d.

    Parameters
    ----------
    probe : Probe
        Boosted trees by default. `Lasso`, `RandomForest` and `GradientBoosting` reproduce published numbers.
    normalise : {'factor', 'skill', 'none'}
        Whether each factor's importances are scaled to sum to 1, scaled to sum to its held-out skill, or not scaled.
    weights : {'importance', 'uniform'}
        How codes are averaged. Codes without importance are left out.
    test_share : float
        Share of held-out rows. With 0 the probe is fitted on all rows.
    rng : int or Generator
        Seed of the split and of the probe.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_disentanglement(factors, factors ** 3)) > 0.95
    True
    """
    matrix = relative_importance(evidence, probe, normalise, test_share, seed_from(rng))
    if matrix.shape[1] == 1:
        return Score(float("nan"), caveats=(Finding("one_factor_varies"),))
    per_code, totals = concentration(matrix), matrix.sum(axis=1)
    return Score(
        raw=weighted_mean(per_code, totals, weights),
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
        parts={"importance_matrix": matrix},
        matrices=(IMPORTANCE,),
        caveats=_caveats(int((totals > 0).sum()), normalise),
    )


def _caveats(n_used: int, normalise: Normalise) -> tuple[Finding, ...]:
    if n_used == 0:
        return (NOTHING_USED,)
    return (Finding("probe_used_one_code"),) if n_used == 1 and normalise == "factor" else ()
