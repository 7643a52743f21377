"""`identification`: does every factor have codes of its own, beyond what a random mixing gives?"""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import metric, seed_from
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.identifiability import Ladder, LadderRow
from unweave.identifiability.analysis import QuickPart, quick_part
from unweave.identifiability.readouts import OwnCodes
from unweave.identifiability.rungs import is_found, rows_left_out, scored_ladder
from unweave.metrics.matrices import CHOSEN, PURITY, varying_units
from unweave.responses.factor_bases import live_codes, narrow_codes
from unweave.score import Score

IDENTIFIED, PARTLY = 0.8, 0.1

NOISY = 0.1  # smallest share of noise in a code for which noise is the reason


def factor_findings(found: Ladder, share: FloatArray, part: QuickPart) -> tuple[Finding, ...]:
    """One finding for every factor that varies, from its row and its score."""
    own = {part.names[j]: part.own[k] for k, j in enumerate(part.free)}
    return tuple(
        _of_factor(row, float(number), own.get(row.factor, OwnCodes()))
        for row, number in zip(found.rows, share, strict=True)
    )


def _of_factor(row: LadderRow, number: float, own: OwnCodes) -> Finding:
    if row.rung == "implied":
        return Finding("factor_determined", factors=(row.factor,))
    share = max(0.0, number)
    if share >= IDENTIFIED:
        return Finding("factor_identified", factors=(row.factor,), codes=list(row.codes), share=share)
    reason, codes = _reason(row, own), [] if row.rung == "absent" else list(row.codes)
    others = row.mixed_with if reason == "mixed" else ()
    about = (row.factor, *others)
    noise = row.code_noise if reason == "noisy" else 0.0
    if share >= PARTLY:
        return Finding("factor_partly_identified", factors=about, codes=codes, share=share, reason=reason, noise=noise)
    return Finding("factor_not_identified", factors=about, codes=codes, share=share, reason=reason, noise=noise)


def _reason(row: LadderRow, own_codes: OwnCodes) -> str:
    if row.rung == "folded":
        return "folded"
    if not is_found(row):
        return "absent"
    own = row.rung in ("one code", "own codes")
    return "noisy" if own and row.code_noise >= NOISY else "folded" if own and own_codes.shape == "folded" else "mixed"


@metric(
    measures="one-to-one recovery",
    equivalence="elementwise",
    min_rows=30,
    chance=0.0,
    bounds=(-1.0, 1.0),
    version=12,
    cost="n m d (about 10 functions of each factor), and ridge regressions on all codes",
    fails_when=(
        "codes mix factors that are so dependent in the data that their separate effects must be extrapolated, or a "
        "code depends on three or more factors jointly"
    ),
    reference="ours (docs/identification.md), after Joshi et al., 'Who Guards the Guardians?' (003), section 3",
    identity_tolerance=0.01,
    order_tolerance=0.03,
    takes_code_groups=True,
    takes_factor_groups=True,
    moves_at_200_rows=(0.03, 0.12, 0.05),
)
def identification(evidence: Evidence, *, rng: int | np.random.Generator | None = 0) -> Score:
    """Recovery of the free factors from codes of their own, beyond that of an average random mixing.

    1 means that every free factor is recovered from codes that depend on it alone. Noise scores 0, random mixings score
    0 on average, and a mixing that is further from the axes than most is below 0, at least -1. Private codes with noise
    score one minus the share of noise. Copies of codes, several codes for one factor, and further codes that are noise
    do not change the score. Each of d free factors that is missing costs 1 / d. Dependence between factors does not
    change the score, and a factor that other factors determine need not be encoded.

    ``findings`` describe for every factor whether it is identified, partly or not, by which codes, and otherwise why
    not: it is absent, mixed with other factors, noisy or folded. ``per_factor`` has the score of every factor, of which
    the score is the mean over the free factors. ``parts`` has ``purity_matrix`` (the share of each code's variance that
    each factor causes), ``chosen_matrix`` (the own codes of each factor), ``free_factors`` (0 or 1 for each),
    ``own_codes`` (recovery from them), ``affine_recovery`` (recovery by a linear readout of all codes or of their
    ranks, or from own codes if that is larger), ``effective_dimension`` (the number of free factors) and
    ``luck_level`` (the share of the linear recovery that own codes of an average random mixing have). `unweave.ladder`
    gives all of this with intervals.

    Parameters
    ----------
    rng : int or Generator
        Seed of the folds, the permutations and the random mixings.

    Notes
    -----
    identification: the third part of the ladder of identifiability.

        score = (own - k lin) / (1 - k) if own >= k lin, else (own - k lin) / (2 k)
        value = (score - c lin) / (1 - c)

    with own and lin the means over the free factors of the recovery from own codes and of the linear recovery, and k
    the mean of u^2, the squared unmixed share of the best code, over random mixings with the same codes and noise, and
    c the mean of the score over the same mixings, at most 1/4 (`unweave.identifiability`). The free factors are a
    smallest set that determines all others. Derivation and limits: docs/ladder.md. The metric answers the open problem
    of 003, in which no metric has all four desired properties.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(float(identification(factors, np.exp(factors[:, ::-1]))), 2)
    1.0
    >>> turned = factors[:, :2] @ [[0.8, 0.6], [-0.6, 0.8]]
    >>> score = identification(factors[:, :2], turned)
    >>> bool(score < 0.1), score.parts["affine_recovery"].round(1).tolist()
    (True, [1.0, 1.0])
    """
    seed = seed_from(rng)
    if not live_codes(evidence).size:
        nothing = dict.fromkeys(evidence.factor_units, 0.0)
        return Score(raw=0.0, per_factor=nothing, caveats=(Finding("codes_uninformative_here"),))
    found, part = scored_ladder(evidence, seed), quick_part(evidence, seed)
    own, linear = (np.array([_recovered(row, linear=kind) for row in found.rows]) for kind in (False, True))
    above = own - found.luck * linear  # which of its two slopes the score has is decided by the means
    slope = 1 / (1 - found.luck) if np.nanmean(above) >= 0 else 1 / (2 * found.luck)
    numbers = (slope * above - found.chance * linear) / (1 - found.chance)
    names = {name: i for i, name in enumerate(evidence.code_units if evidence.has_blocks else evidence.code_names)}
    purity, chosen = np.zeros((2, len(names), len(evidence.factor_units)))
    varies = varying_units(evidence)
    used, alive = np.flatnonzero(varies), np.array([names[name] for name in part.codes.unit_names])
    purity[np.ix_(alive, used[part.free])] = np.where(
        part.responses.informative[:, None], np.clip(part.responses.share, 0.0, 1.0), 0.0
    )
    purity[:, ~varies] = chosen[:, ~varies] = np.nan
    purity[:, used[[row.rung == "implied" for row in found.rows]]] = np.nan  # others have its share of the variance
    for place, row in zip(used, found.rows, strict=True):
        chosen[[names[code] for code in row.codes], place] = 1.0
    is_free = np.array([row.rung != "implied" for row in found.rows], dtype=np.float64)
    return Score(
        raw=found.own_codes,
        per_factor=dict(zip(evidence.factor_units, _per_factor(evidence, numbers).tolist(), strict=True)),
        per_code=dict(zip(names, np.nanmax(purity, axis=1).tolist(), strict=True)),
        parts={
            "purity_matrix": purity,
            "chosen_matrix": chosen,
            "free_factors": _per_factor(evidence, is_free),
            "own_codes": _per_factor(evidence, own),
            "affine_recovery": _per_factor(evidence, linear),
            "effective_dimension": np.array(is_free.sum()),
            "luck_level": np.array(found.luck),
        },
        matrices=(PURITY, CHOSEN),
        caveats=_caveats(evidence, part),
        findings=factor_findings(found, numbers, part),
    )


def _recovered(row: LadderRow, *, linear: bool) -> float:
    """Recovery from own codes, or by a linear readout; 0 for factors that are not found, nan for implied ones."""
    if row.rung == "implied":
        return float("nan")
    return (row.linear if linear else row.own_codes) if is_found(row) else 0.0


def _per_factor(evidence: Evidence, numbers: FloatArray) -> FloatArray:
    """Expand the numbers of the factors that vary to all factors (d), with nan for constant ones."""
    result = np.full(len(evidence.factor_units), np.nan)
    result[varying_units(evidence)] = numbers
    return result


def _caveats(evidence: Evidence, part: QuickPart) -> tuple[Finding, ...]:
    sampled = [each for each in rows_left_out(part, evidence) if each.kind == "rows_sampled"]
    if not part.responses.informative.any():
        return (*sampled, Finding("codes_uninformative_here"))
    narrow = narrow_codes(evidence)
    return (*sampled, Finding("codes_narrow", codes=narrow)) if narrow else tuple(sampled)
