"""DCI-ES explicitness: how little capacity does a probe need to predict the factors?

    E = 1/d sum_j (1 - A_j),   A_j = area under l_j(k) / (l0_j (k_max - k_min))

with l_j(k) the smallest held-out loss of factor j's probes up to capacity k, and l0_j the loss of predicting the mean.
Eastwood et al. (2023) use the area between the curve and its lowest value, l_j(k) - l_j(k_max), and divide it by the
triangle l0_j (k_max - k_min) / 2. A constant curve then has an area of 0, so that random codes would score 1.
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, Several, Share, metric, seed_from
from unweave.estimators.probes.capacity_ladder import LinearThenTrees
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import varying
from unweave.metrics.prediction.dci.loss_capacity import Floor, area_above_curve, losses_by_capacity
from unweave.score import Score


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=50,
    chance=0.0,
    cost="one linear probe, and 64 trees per factor (per level of a categorical one), on at most 20,000 rows",
    fails_when=(
        "entanglement is the question, because mixed codes are explicit too, or the codes will be used by other models "
        "than the probes of the ladder"
    ),
    reference="Eastwood et al. (2023), 'DCI-ES: an extended disentanglement framework'",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    version=2,
)
def dci_explicitness(
    evidence: Evidence,
    *,
    ladder: LinearThenTrees = LinearThenTrees(),  # noqa: B008 - a frozen value
    floor: Floor = "zero",
    test_share: Share = 0.2,
    max_rows: Several = 20_000,
    rng: Seed = 0,
) -> Score:
    """Area above the curve of a probe's loss against its capacity: how well simple probes predict the factors; mean.

    1 means that the first probe, which is linear, predicts every factor without loss. Random codes score 0. A score of
    one half means, for example, that the linear probe explains half of each factor and larger probes explain no more,
    or that the loss falls to 0 halfway along the capacity axis.

    Parameters
    ----------
    ladder : LinearThenTrees
        Probes of increasing capacity, at equal distances on the capacity axis.
    floor : {'zero', 'best'}
        Loss from which the area is measured: zero, or the lowest loss of any probe, as published. The published
        definition measures how little capacity the probes need to reach their own lowest loss. For a factor that no
        probe predicts it is nan here, while the published value is 1.
    test_share : float
        Share of held-out rows.
    max_rows : int
        If there are more rows than this, a random subset of this size is used, with a caveat.
    rng : int or Generator
        Seed of the split, of that subset and of the probes.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> linear = float(dci_explicitness(factors, factors @ [[1.0, 1.0], [1.0, -1.0]]))
    >>> bent = float(dci_explicitness(factors, factors ** 3))
    >>> round(linear, 2), bent < 0.95
    (1.0, True)
    """
    losses = losses_by_capacity(evidence, ladder, test_share, max_rows, seed_from(rng))
    per_factor = np.array([area_above_curve(np.arange(float(len(loss))), loss, floor) for loss in losses.T])
    sampled = Finding("rows_sampled", n_rows=max_rows, of=evidence.n_rows)
    caveats = [sampled] if evidence.n_rows > max_rows else []
    unread = [evidence.factor_names[j] for j in np.flatnonzero(varying(evidence) & np.isnan(per_factor))]
    if unread:
        caveats.append(Finding("factors_not_predicted", factors=unread))
    return Score(
        raw=float(np.nanmean(per_factor)) if np.isfinite(per_factor).any() else float("nan"),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"loss_by_capacity": losses},
        caveats=tuple(caveats),
    )
