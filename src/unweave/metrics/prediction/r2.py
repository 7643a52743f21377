"""Share of the factors' variance that a probe explains from all codes.

    R2 = 1/d sum_j (1 - sum_t (z_tj - zhat_tj)^2 / sum_t (z_tj - mean_j)^2)

with z the factors, zhat their out-of-fold predictions and mean_j the training mean (003, table 2; its appendix F.3
calls the probe nonlinear, but its code uses a linear one without intercept).
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, Several, metric, seed_from
from unweave.estimators.probes.linear_probes import Linear
from unweave.estimators.probes.probe_protocols import Probe
from unweave.evidence import Evidence
from unweave.metrics.prediction.held_out_prediction import held_out_r2
from unweave.score import Score


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=10,
    chance=0.0,
    cost="n m^2 per fold (n^2 m if there are more codes than rows)",
    fails_when="entanglement is the question: any invertible linear mixing scores 1",
    reference="Joshi et al., 'Who Guards the Guardians?' (003), table 2",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    takes_sparse_codes=True,
    version=3,
    raw_range="below 0 without a limit, if held-out predictions are worse than the mean",
    factor_by_factor=True,
)
def r2(
    evidence: Evidence,
    *,
    probe: Probe = Linear(),  # noqa: B008 - a frozen value
    n_folds: Several = 5,
    rng: Seed = 0,
) -> Score:
    """Share of the factors' variance that a probe predicts from all codes together on held-out rows; mean over factors.

    1 means that every factor is a linear function of the codes (for the default probe). Random codes score 0, slightly
    below 0 before clipping. The score does not measure entanglement: codes that mix all factors linearly also score 1.

    Parameters
    ----------
    probe : Probe
        Linear by default, with an intercept and a ridge penalty chosen on the training rows. With at least five
        training rows per code, the penalty is the same for all directions of the codes, so that invertible linear maps
        of the codes do not change the score. With fewer rows, it applies to the standardised codes.
    n_folds : int
        Number of folds. Every row is predicted once, by a probe fitted on the other folds.
    rng : int or Generator
        Seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(r2(factors + 5, factors @ [[1.0, 1.0], [1.0, -1.0]])), 2)
    1.0
    """
    per_factor = held_out_r2(evidence, probe, n_folds, seed_from(rng))
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
    )
