"""InfoE, the explicitness of InfoMEC.

    InfoE = 1/d sum_j (1 - H_V(z_j | c) / H_V(z_j))

with H_V the held-out cross-entropy of a multinomial logistic model of the classes of factor z_j, given all codes c or
without codes (Hsu et al. 2023, section 4, after Xu et al. 2020).
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, Several, seed_from
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import JointInformation
from unweave.estimators.information.usable_information import UsableInformation
from unweave.evidence import Evidence
from unweave.metrics.information.infomec.shares import infomec_metric
from unweave.metrics.information.usable_information import held_out_shares
from unweave.score import Score


@infomec_metric(
    measures="explicitness",
    equivalence="affine",
    chance=0.0,
    cost="one logistic fit per factor, shared with explicitness_ratio",
    fails_when="there are few rows for the number of codes and classes",
    identity_tolerance=0.05,
    order_tolerance=0.03,
    raw_range="below 0 without a limit, if held-out rows are predicted worse than by the class frequencies",
    factor_by_factor=True,
    version=2,
)
def infomec_explicitness(
    evidence: Evidence,
    *,
    estimator: JointInformation = UsableInformation(),  # noqa: B008 - a frozen value
    bins: Several = 20,
    rng: Seed = 0,
) -> Score:
    """Share of a factor's entropy that a linear classifier on all codes saves on held-out rows, averaged over factors.

    1 means that a linear classifier predicts every factor from the codes, which it may also do from mixed codes. A
    classifier that always predicts the training frequencies scores exactly 0, and so do random codes (slightly below 0
    before clipping). A continuous or circular factor is cut into classes of equal mass, with bin edges from the
    training rows. Rows near these edges are misclassified even for a perfect code, which costs about 0.01 at 5,000
    rows.

    Parameters
    ----------
    estimator : UsableInformation or any JointInformation
        The classifier, its train and test split, and the number of rows used. If it has more than 400 weights (20 codes
        and 20 classes), its logits are restricted to ten linear combinations of the codes. The published score is
        computed on the training rows.
    bins : int
        Number of classes of a continuous or circular factor. Discrete factors keep their levels.
    rng : int or Generator
        Seed of the split.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> float(infomec_explicitness(factors, factors @ [[1.0, 2.0], [2.0, -1.0]])) > 0.95
    True
    """
    shares, caveats = held_out_shares(evidence, estimator, Histogram(bins), seed_from(rng))
    return Score(
        raw=float(np.nanmean(shares)),
        per_factor=dict(zip(evidence.factor_names, shares.tolist(), strict=True)),
        caveats=caveats,
    )
