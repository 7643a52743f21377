"""identification: is every free factor given back, on its own, by codes that nothing else moves?

    value = (mean over free factors of s_j - E0) / (1 - E0),    s_j = max over k of sqrt(S_(k)j R2_j(1..k))

with S_ij the share of code i's variance that factor j alone moves when all factors are set independently (a first-order
Sobol index, noise counted in the variance); codes in order of falling S for factor j; R2_j(1..k) of factor j from the
first k of them, on held-out rows; and E0 what a random mixing of as many distinct codes gets. A factor is free when
those kept before it do not determine it, the best recovered first. Numbers count by their ranks. Derivation and limits:
docs/identification.md. It answers the open problem of 003: no metric there has all four of its properties.
"""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import ANY_KIND, metric, seed_from
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.identification.chance import chance_level, n_distinct
from unweave.metrics.identification.findings import Findings, findings, free_factors
from unweave.metrics.matrices import varying
from unweave.metrics.shown_matrices import CHOSEN, PURITY
from unweave.responses.code_responses import JUMPS
from unweave.responses.factor_bases import live_codes
from unweave.score import Score

MUCH_OUTSIDE = 0.1
KNOWS_NOTHING = -1


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    factor_kinds=ANY_KIND,
    needs=("factors", "codes"),
    min_rows=30,
    bounds=(0.0, 1.0),
    best=1.0,
    chance=0.0,
    cost="n m d (about 30 fitted functions a factor), and kernel fits to 500 rows that all codes share",
    fails_when=(
        "codes mix factors that are so dependent in the data that setting them apart is extrapolation, or a code "
        "depends on many factors together in ways that 500 rows do not show"
    ),
    reference="ours (docs/identification.md), after Joshi et al., 'Who Guards the Guardians?' (003), section 3",
    identity_tolerance=0.01,
    order_tolerance=0.03,
)
def identification(
    evidence: Evidence,
    *,
    n_folds: int = 5,
    rng: int | np.random.Generator | None = 0,
) -> Score:
    """How far every free factor is recovered by codes that it alone moves, above what a random mixing gets.

    1 means that every degree of freedom of the factors is given back by codes that are functions of one factor each;
    copies, several codes for a factor, codes of noise and mixed codes besides do not matter. A random rotation gets 0
    on average before clipping (one that happens to lie near the axes gets more, and is less mixed), noise gets
    -1 / (d - 1), which is 0 after. Dependence between factors does not
    matter, and a factor that others determine need not be encoded. ``parts`` say why: ``purity_matrix``,
    ``chosen_matrix`` (codes each factor is read from), ``free_factors`` (0 or 1 for each), ``effective_dimension``,
    ``chance_level``, ``distinct_codes``, ``affine_recovery`` (R2 of each factor from all codes, mixed or not: a
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
    recovered, known = found.recovery.recovered, found.responses.informative
    free = free_factors(evidence, recovered)
    n_codes = n_distinct(found.responses.do_codes[:, known], found.responses.purity[known][:, np.unique(found.alike)])
    chance = chance_level(n_codes, len(free))
    is_free = np.isin(np.arange(recovered.size), free).astype(np.float64)
    purity = _as_given(evidence, found.purity)
    return Score(
        raw=(float(recovered[free].mean()) - chance) / (1 - chance),
        per_factor=dict(zip(evidence.factor_names, _per_factor(evidence, recovered).tolist(), strict=True)),
        per_code=dict(zip(evidence.code_names, np.nanmax(purity, axis=1).tolist(), strict=True)),
        parts={
            "purity_matrix": purity,
            "chosen_matrix": _as_given(evidence, found.chosen),
            "free_factors": _per_factor(evidence, is_free),
            "effective_dimension": np.array(float(len(free))),
            "chance_level": np.array(chance),
            "distinct_codes": np.array(n_codes),
            "affine_recovery": _per_factor(evidence, found.affine),
            "model_per_code": _per_code(evidence, np.where(known, found.responses.model, KNOWS_NOTHING)),
        },
        matrices=(PURITY, CHOSEN),
        caveats=_caveats(found),
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


def _caveats(found: Findings) -> tuple[Finding, ...]:
    known = found.responses.informative
    if not known.any():
        return (Finding("codes_uninformative_here"),)
    mixed = int((found.responses.model[known] > JUMPS).sum())
    if mixed and found.outside > MUCH_OUTSIDE:
        return (Finding("combinations_extrapolated", share=found.outside, n_mixed=mixed),)
    return ()
