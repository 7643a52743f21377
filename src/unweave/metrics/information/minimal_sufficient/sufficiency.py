"""Sufficiency.

    sufficiency = 1/d sum_i max_j s_ij,    s_ij = I(Y_i; Z_j) / I(Y_i; X)    (004, eq. 7 and 8)

with Y_i the d factors, Z_j the codes and X the data. Factors are functions of X, so I(Y_i; X) = H(Y_i) (section 4.4).
"""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Seed, seed_from
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.information.minimal_sufficient.minimality import CODE_SCALE
from unweave.metrics.information.minimal_sufficient.unit_information import (
    USABLE,
    metric_of_004,
    unit_information_matrix,
)
from unweave.metrics.information.usable_information import split
from unweave.metrics.matrices import factor_entropies, mutual_information_matrix, varying
from unweave.metrics.shown_matrices import SUFFICIENCY
from unweave.score import Score

RANKS = Histogram()
BINS_MATTER = 0.05


@metric_of_004(
    measures="compactness and explicitness",
    equivalence="elementwise",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with mig",
    fails_when=(
        "there are many codes and few rows, because the best of many codes is taken, or a factor needs several codes; "
        "equal-mass bins split codes of few values at arbitrary places, so the score may fall as factors become more "
        "dependent"
    ),
    takes_sparse_codes=True,
    factor_by_factor=True,
)
def sufficiency(
    evidence: Evidence,
    *,
    estimator: Information = RANKS,
    joint: JointInformation = USABLE,
    rng: Seed = 0,
) -> Score:
    """Mutual information of a factor and its best code, relative to the factor's entropy; mean over factors.

    1 means that every factor can be read from one code. The score does not depend on what else that code carries, which
    `minimality` measures. It does not depend on other codes either: where factors are dependent, several codes may
    rightly carry information about one factor. Random codes score about 0, more with few rows and many codes.

    Codes are cut into bins of equal mass here, and into bins of equal width by `minimality`. Bins of equal mass depend
    on ranks alone, so that the code exp(z) scores 1 like z itself; with bins of equal width it scores .38. 004 uses
    equal width for both metrics; sufficiency then never decreases as factors become more dependent. If the score with
    equal width differs by more than .05, a caveat states it.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(15, 'equal_width')`` gives the numbers of 004's code, and 20 bins
        those of its text.
    joint : UsableInformation or NearestNeighbour
        Estimator of the information that a code group carries about a factor. Not used without code groups.
    rng : int or Generator
        Seed of the split if code groups are scored by usable information.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> round(float(sufficiency(factors, np.exp(factors))), 6)
    1.0
    """
    seed = seed_from(rng)
    information = unit_information_matrix(evidence, estimator, joint, seed)
    entropies = np.where(varying(evidence), factor_entropies(evidence, estimator), np.nan)
    matrix = information / entropies  # eq. 7
    per_factor = matrix.max(axis=0)
    return Score(
        raw=float(np.nanmean(per_factor)),  # eq. 8
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts={"sufficiency_matrix": matrix},
        matrices=(SUFFICIENCY,),
        caveats=split(evidence, joint, seed)[2] if evidence.code_groups else _bins_caveat(evidence, estimator, matrix),
    )


def _bins_caveat(evidence: Evidence, estimator: Information, matrix: FloatArray) -> tuple[Finding, ...]:
    """A caveat that states the score with the bins of `minimality` if it differs by more than .05."""
    if estimator != RANKS:
        return ()
    told = mutual_information_matrix(evidence, CODE_SCALE)
    entropies = np.where(varying(evidence), factor_entropies(evidence, CODE_SCALE), np.nan)
    here, there = (float(np.nanmean(found.max(axis=0))) for found in (matrix, told / entropies))
    return (Finding("other_bins_than_minimality", here=here, there=there),) if abs(here - there) > BINS_MATTER else ()
