"""identification: which share of the free factors is given back, each by codes that nothing else moves?

    value = mean over free factors of max(t_j, 0)
    t_j = 1 - (1 - u_j) / (1 - q) - (1 - s_j / u_j) / (1 - min(q, .75))

with s_j the recovery of factor j by codes that it alone moves (`recovery`), u_j the same without noise, and q the upper
decile of u over random mixings of as many codes and factors (`chance`). Below 0, t_j has a tenth of that slope, which
counts only while the positive t_j add up to less than one factor (`share_identified`). For codes of one factor each
u_j = 1: only noise and folds count. Factors that others determine do not count. Numbers count by their ranks, and as
they are where factors have levels or lumps. Derivation and limits: docs/identification.md. It answers the open problem
of 003: no metric there has all four of its properties.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import metric, seed_from
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.identification.chance import share_identified
from unweave.metrics.identification.factor_findings import factor_findings
from unweave.metrics.identification.findings import Findings, findings
from unweave.metrics.matrices import varying
from unweave.metrics.shown_matrices import CHOSEN, PURITY
from unweave.responses.code_responses import JUMPS
from unweave.responses.collapsed_codes import narrow_codes
from unweave.responses.factor_bases import live_codes
from unweave.score import Score

MUCH_OUTSIDE = 0.1
KNOWS_NOTHING = -1
MOST_PASSING = 0.07  # share of factors that random mixings give back as if their codes were pure


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    min_rows=30,
    chance=0.0,
    version=4,
    cost="n m d (about 30 fitted functions a factor), and kernel fits to 500 rows that all codes share",
    fails_when=(
        "codes mix factors that are so dependent in the data that their separate effects must be extrapolated, or a "
        "code depends on several factors jointly in a way that 500 rows do not show"
    ),
    reference="ours (docs/identification.md), after Joshi et al., 'Who Guards the Guardians?' (003), section 3",
    raw_range="down to -.4 for codes that mix all factors more than most random mixings do",
    identity_tolerance=0.01,
    order_tolerance=0.03,
)
def identification(
    evidence: Evidence,
    *,
    n_folds: int = 5,
    rng: int | np.random.Generator | None = 0,
) -> Score:
    """The share of the free factors that codes give back, each by codes that it alone moves, beyond what luck gives.

    1 means that every degree of freedom of the factors is given back by codes that are functions of one factor each;
    copies, several codes for a factor, codes of noise and mixed codes besides do not matter. Of d free factors, each
    one that is missing costs 1 / d. Noise on a code costs what it takes of the code's variance, and mixing costs in
    proportion to how far it goes, from a share that few random mixings reach. A random mixing gets next to nothing, a
    single one more if it happens to lie near the axes, and noise gets 0. Dependence between factors does not matter,
    and a factor that others determine need not be encoded. Where codes are so many and factors so few that random
    mixings pass for pure, the score is undefined and says so.

    ``findings`` say of every factor whether it is identified, partly or not, by which codes, and why not: absent, mixed
    with which factors, noisy or folded. ``per_factor`` has the numbers, ``parts`` the steps: ``purity_matrix``,
    ``chosen_matrix`` (codes each factor is read from), ``free_factors`` (0 or 1 for each), ``recovery`` and
    ``unmixed_recovery`` (with the noise of the codes and without), ``effective_dimension``, ``luck_level`` (above which
    a recovery counts), ``distinct_codes``, ``affine_recovery`` (R2 of each factor from all codes, mixed or not: a
    lossless rotation gets 1) and ``model_per_code`` (0 one factor, 1 one factor with jumps, 2 linear, 3 additive,
    4 pairs, 5 joint, -1 none: the code knows nothing).

    Parameters
    ----------
    n_folds : int
        Every fit predicts rows of a fold that it has not seen.
    rng : int or Generator
        Decides the folds, the do-sample, and which 1,000 rows readouts and kernels look at.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(float(identification(factors, np.exp(factors[:, ::-1]))), 2)
    1.0
    >>> turned = factors[:, :2] @ [[0.8, 0.6], [-0.6, 0.8]]
    >>> score = identification(factors[:, :2], turned)
    >>> float(score), score.parts["affine_recovery"].round(1).tolist()
    (0.0, [1.0, 1.0])
    """
    seed = seed_from(rng)
    found = findings(evidence, n_folds, seed)
    known = found.responses.informative
    is_free = np.isin(np.arange(found.identified.size), found.free).astype(np.float64)
    purity = _as_given(evidence, found.responses.purity)
    # what no factor gets by luck is no luck: codes that are all mixed are known to be
    told = found.luck.passing <= MOST_PASSING or not (found.identified[found.free] > 0).any()
    return Score(
        raw=share_identified(found.identified[found.free]) if told else math.nan,
        per_factor=dict(zip(evidence.factor_names, _per_factor(evidence, found.identified).tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, np.nanmax(purity, axis=1).tolist(), strict=True)),
        parts={
            "purity_matrix": purity,
            "chosen_matrix": _as_given(evidence, found.chosen),
            "free_factors": _per_factor(evidence, is_free),
            "recovery": _per_factor(evidence, found.recovery.recovered),
            "unmixed_recovery": _per_factor(evidence, found.recovery.unmixed),
            "effective_dimension": np.array(float(found.free.size)),
            "luck_level": np.array(found.luck.quantile),
            "distinct_codes": np.array(found.n_distinct),
            "affine_recovery": _per_factor(evidence, found.affine),
            "model_per_code": _per_code(evidence, np.where(known, found.responses.model, KNOWS_NOTHING)),
        },
        matrices=(PURITY, CHOSEN),
        caveats=_caveats(evidence, found, told=told),
        findings=factor_findings(evidence, found),
    )


def _per_factor(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Numbers of the factors that vary, and nan for the others."""
    result = np.full(evidence.n_factors, np.nan)
    result[varying(evidence)] = numbers
    return result


def _per_code(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Numbers of the codes that vary; dead ones know nothing."""
    result = np.full(evidence.n_codes, float(KNOWS_NOTHING))
    result[live_codes(evidence)] = numbers
    return result


def _as_given(evidence: Evidence, matrix: FloatArray) -> FloatArray:
    """The matrix with nan for constant factors and 0 for dead codes."""
    result = np.zeros((evidence.n_codes, evidence.n_factors))
    result[np.ix_(live_codes(evidence), np.flatnonzero(varying(evidence)))] = matrix
    result[:, ~varying(evidence)] = np.nan
    return result


def _caveats(evidence: Evidence, found: Findings, *, told: bool) -> tuple[Finding, ...]:
    known = found.responses.informative
    if not known.any():
        return (Finding("codes_uninformative_here"),)
    narrow = narrow_codes(evidence)
    caveats = [Finding("codes_narrow", codes=narrow)] if narrow else []
    mixed = int((found.responses.model[known] > JUMPS).sum())
    if not told:
        n_codes, n_free, passing = found.n_distinct, found.free.size, found.luck.passing
        caveats.append(Finding("mixing_passes_for_pure", n_codes=n_codes, n_factors=n_free, passing=passing))
    elif mixed and found.outside > MUCH_OUTSIDE:
        caveats.append(Finding("combinations_extrapolated", share=found.outside, n_mixed=mixed))
    return tuple(caveats)
