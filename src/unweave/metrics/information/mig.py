"""Mutual information gap.

    MIG = 1/d sum_j (I(c_i1; z_j) - I(c_i2; z_j)) / H(z_j)

with i1 and i2 the codes that have the largest and second largest mutual information with factor z_j (Chen et al. 2018).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unweave.card import metric
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.assumptions import FACTORS_NOT_CORRELATED
from unweave.metrics.matrices import code_entropies, factor_entropies, mutual_information_matrix, varying
from unweave.metrics.shown_matrices import MUTUAL_INFORMATION
from unweave.score import Score


@metric(
    measures="compactness",
    equivalence="elementwise",
    min_rows=40,
    chance=0.0,
    cost="n m d counts",
    fails_when=(
        "factors are correlated, several codes carry the same factor, or there are few rows for the bins, because the "
        "bias of the estimate then makes the gap smaller"
    ),
    reference="Chen et al. (2018), 'Isolating sources of disentanglement in VAEs'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.06,
    takes_sparse_codes=True,
    factor_by_factor=True,
)
def mig(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    normalise: Literal["factor_entropy", "code_entropy"] = "factor_entropy",
) -> Score:
    """Gap in mutual information between the two most informative codes of a factor, relative to its entropy; mean.

    1 means that one code determines each factor and no other code carries information about it. Random codes score
    about 0, slightly more with few rows. Perfect codes score below 1 at small n, because the histogram estimate is
    biased and finds information in unrelated codes too (about (bins - 1)^2 / 2n nats;
    ``Histogram(bias_correction='miller_madow')`` removes most of it).

    Parameters
    ----------
    estimator : Histogram, NearestNeighbour or QuantisedPosterior
        Bins of equal mass by default. ``Histogram(20, 'equal_width')`` gives the numbers of disentanglement_lib;
        `QuantisedPosterior` uses the whole posterior instead of its means, where the codes are a posterior (`rmig`).
    normalise : {'factor_entropy', 'code_entropy'}
        Divisor of the mutual information: the entropy of the factor, as published, or the entropy of the code, as in
        some libraries.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(mig(factors, np.exp(factors))), 2)
    1.0
    """
    information = mutual_information_matrix(evidence, estimator)
    if normalise == "code_entropy":
        entropies = code_entropies(evidence, estimator)[:, None]
        information = np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)
    elif normalise != "factor_entropy":
        raise ValueError(f"normalise={normalise!r} is not known: use 'factor_entropy' or 'code_entropy'.")
    ranked = np.sort(np.vstack([np.zeros(evidence.n_factors), information]), axis=0)  # with one code, the gap is to 0
    gaps = ranked[-1] - ranked[-2]
    divisors = factor_entropies(evidence, estimator) if normalise == "factor_entropy" else np.ones(evidence.n_factors)
    per_factor = np.divide(gaps, divisors, out=np.full(evidence.n_factors, np.nan), where=varying(evidence))
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"mutual_information_matrix": information},
        matrices=(MUTUAL_INFORMATION,),
        caveats=(Finding("one_code"),) if evidence.n_codes == 1 else (),
    )
