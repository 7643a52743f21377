"""DCI informativeness: can the factors be predicted from the codes?

    I = 1/d sum_j skill_j

with skill_j the held-out skill of factor j's probe: R2 for numeric factors and (accuracy - a0) / (1 - a0) for
categorical ones, where a0 is the accuracy of always predicting the most frequent category (after Eastwood and Williams
2018, who report the error).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.card import Seed, Share, seed_from
from unweave.estimators.probes.probe_protocols import Probe
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import importance
from unweave.metrics.prediction.dci.relative_importance import DEFAULT_PROBE, dci_metric
from unweave.score import Score


@dci_metric(
    measures="explicitness",
    chance=0.0,
    cost="one probe per factor, shared with dci_disentanglement",
    fails_when=(
        "there are few rows for the probe; codes mix factors, because trees score below 1 even if no information is "
        "lost (.86 for five factors); or entanglement is the question, because a mixing scores far above random codes"
    ),
    raw_range="below 0 without a limit, if held-out predictions are worse than the mean",
    factor_by_factor=True,
)
def dci_informativeness(
    evidence: Evidence,
    *,
    probe: Probe = DEFAULT_PROBE,
    measure: Literal["skill", "accuracy"] = "skill",
    test_share: Share = 0.2,
    rng: Seed = 0,
) -> Score:
    """How well a probe of each factor predicts it from all codes, on held-out rows, averaged over factors.

    1 means perfect prediction. Random codes score 0 (below 0 before clipping). Trees split one code at a time, so codes
    that mix factors score below 1 even if no information is lost: on average .96 for 2 factors, .86 for 5 and .82 for
    10 (the audit's E3, 2,000 rows), and hardly more with more rows. `r2` scores 1 for a linear mixing.

    Parameters
    ----------
    probe : Probe
        Boosted trees by default, shared with `dci_disentanglement` and `dci_completeness`.
    measure : {'skill', 'accuracy'}
        How categorical factors are scored: by accuracy relative to always predicting the most frequent category, or by
        plain accuracy as disentanglement_lib reports it.
    test_share : float
        Share of held-out rows. With 0 the training rows are scored.
    rng : int or Generator
        Seed of the split and of the probe.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> float(dci_informativeness(factors, factors ** 3)) > 0.95
    True
    """
    found = importance(evidence, probe, test_share, seed_from(rng))
    per_factor = found.skill if measure == "skill" else found.accuracy
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        caveats=() if test_share else (Finding("scored_on_training_rows"),),
    )
