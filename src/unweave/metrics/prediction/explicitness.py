"""Explicitness score: how well a classifier distinguishes every value of a factor from its other values.

    E = 1/d sum_j 1/K_j sum_k (2 AUC_jk - 1)

with AUC_jk the area under the ROC curve, on held-out rows, of a logistic probe's score for value k of factor j against
all its other values (Ridgeway and Mozer 2018). The authors fit one linear model per value, which cannot separate the
middle values of an ordered factor. The probe here is therefore one softmax regression over all values.
"""

from __future__ import annotations

import numpy as np

from unweave.card import Seed, Several, Share, metric, seed_from
from unweave.estimators.probes.logistic_probe import Classifier, Logistic
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import varying
from unweave.metrics.prediction.class_areas import class_areas
from unweave.score import Score

MOST_ROWS = 20_000


@metric(
    measures="explicitness",
    equivalence="affine",
    min_rows=50,
    chance=0.0,
    cost="one softmax regression per factor, on at most 20,000 rows",
    fails_when=(
        "entanglement is the question, because every invertible linear mixing scores 1, or some values of a "
        "factor are rare"
    ),
    reference="Ridgeway and Mozer (2018), 'Learning deep disentangled embeddings with the F-statistic loss'",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    raw_range="down to -1, if held-out rows are ranked worse than by chance",
    factor_by_factor=True,
    version=2,
)
def explicitness(
    evidence: Evidence,
    *,
    probe: Classifier = Logistic(),  # noqa: B008 - a frozen value
    bins: Several = 10,
    test_share: Share = 0.2,
    max_rows: Several = MOST_ROWS,
    rng: Seed = 0,
) -> Score:
    """Held-out AUC of a logistic probe for each value of each factor against its other values, rescaled; mean.

    1 means that the probe ranks every held-out row with a value above all other rows. Random codes score 0, slightly
    above or below before clipping. All values have the same weight, however rare they are. A value that is missing in
    the training rows or in the held-out rows is left out.

    Parameters
    ----------
    probe : Logistic
        The default whitens the codes and has a weak penalty. ``Logistic(strength=1, whiten=False)`` is scikit-learn's
        default.
    bins : int
        Number of bins of equal mass for continuous and circular factors. Discrete factors keep their levels.
    test_share : float
        Share of held-out rows. With 0 the training rows are scored, as in several libraries.
    max_rows : int
        If there are more rows than this, a random subset of this size is used, with a caveat.
    rng : int or Generator
        Seed of the split and of that subset.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> float(explicitness(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])) > 0.98
    True
    """
    areas = class_areas(evidence, probe, bins, test_share, max_rows, seed_from(rng))
    per_factor = [2 * np.nanmean(area) - 1 if np.isfinite(area).any() else np.nan for area in areas]
    caveats = [
        Finding("rare_values", n_values=int(np.isnan(area).sum()), factors=[name])
        for name, area, varies in zip(evidence.factor_names, areas, varying(evidence), strict=True)
        if varies and np.isnan(area).any()
    ]
    if evidence.n_rows > max_rows:
        caveats.append(Finding("rows_sampled", n_rows=max_rows, of=evidence.n_rows))
    if not test_share:
        caveats.append(Finding("scored_on_training_rows"))
    return Score(
        raw=float(np.nanmean(per_factor)) if np.isfinite(per_factor).any() else float("nan"),
        per_factor=dict(zip(evidence.factor_names, map(float, per_factor), strict=True)),
        caveats=tuple(caveats),
    )
