"""identification: the share of the free factors that are recovered by codes that depend on no other factor.

    value = mean over free factors of max(t_j, 0)
    t_j = 1 - (1 - u_j) / (1 - q) - (1 - s_j / u_j) / (1 - min(q, .75))

with s_j the recovery of factor j from codes that depend on it alone (`recovery`), u_j the same without the noise of the
codes, and q the upper decile of u over random mixings with as many codes and factors (`chance`). Below 0, t_j has a
tenth of that slope, and counts only if the positive t_j add up to less than one factor (`share_identified`). If every
code depends on one factor, u_j = 1, and only noise and folds reduce the score. The free factors are a smallest set that
determines all others. Values are replaced by ranks; if factors have levels or clusters of values, codes are also used
without ranks. Derivation and limits: docs/identification.md. The metric answers the open problem of 003, in which no
metric has all four desired properties.
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
MOST_PASSING = 0.07  # largest share of factors for which random mixings may have codes that look pure


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    min_rows=30,
    chance=0.0,
    version=5,
    cost="n m d (about 30 fitted functions per factor), and kernel fits to 500 rows that all codes share",
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
    """Share of the free factors recovered by codes that depend on no other factor, corrected for chance.

    1 means that every free factor is recovered from codes that are functions of it alone. Copies of codes, several
    codes for one factor, and further codes that are noise or mixtures do not change the score. Each of d free factors
    that is missing costs 1 / d. Noise costs in proportion to its share of the code's variance. Mixing costs in
    proportion to its strength, and a mixing at the upper decile of random mixings scores 0. Most random mixings
    therefore score about 0; a few score higher because they happen to lie near the axes. Noise scores 0. Dependence
    between factors does not change the score, and a factor that other factors determine need not be encoded. With many
    codes and few factors, random mixings can look pure; the score is then nan, with a caveat.

    ``findings`` describe for every factor whether it is identified, partly or not, by which codes, and otherwise why
    not: it is absent, mixed with other factors, noisy or folded. ``per_factor`` has the score of every factor, and
    ``parts`` the steps: ``purity_matrix``, ``chosen_matrix`` (the codes from which a factor is predicted),
    ``free_factors`` (0 or 1 for each), ``recovery`` and ``unmixed_recovery`` (with the noise of the codes and without),
    ``effective_dimension`` (the number of free factors), ``luck_level`` (the recovery at which the score is 0),
    ``distinct_codes``, ``affine_recovery`` (held-out R2 of each factor from all codes, or from the chosen ones if that
    is larger; 1 for a lossless rotation) and ``model_per_code`` (0 one factor, 1 one factor with jumps, 2 linear, 3
    additive, 4 pairs, 5 joint, -1 for a code that depends on no factor).

    Parameters
    ----------
    n_folds : int
        Number of folds of the cross-fitting: every fit predicts only held-out rows.
    rng : int or Generator
        Seed of the folds, of the do-sample (factors drawn independently), and of the rows (at most 1,000) that readouts
        and kernels use.

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
    # if no factor is found, no code looks pure by chance, so the score is defined
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
    """Expand the numbers of the factors that vary to all factors (d), with nan for constant ones."""
    result = np.full(evidence.n_factors, np.nan)
    result[varying(evidence)] = numbers
    return result


def _per_code(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Expand the numbers of the codes that vary to all codes (m), with -1 for constant ones."""
    result = np.full(evidence.n_codes, float(KNOWS_NOTHING))
    result[live_codes(evidence)] = numbers
    return result


def _as_given(evidence: Evidence, matrix: FloatArray) -> FloatArray:
    """Expand the matrix to all codes and factors (m x d), with nan for constant factors and 0 for constant codes."""
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
