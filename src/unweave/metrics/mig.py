"""MIG, MIG-sup, DCIMIG and modularity: gaps of mutual information."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.card import MetricUndefined, metric
from unweave.estimators.information import Histogram, Information
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import (
    FACTORS_NOT_CORRELATED,
    MUTUAL_INFORMATION,
    RELATIVE_INFORMATION,
    code_entropies,
    factor_entropies,
    live_units,
    unit_information,
    varying,
)
from unweave.score import Score


@metric(
    measures="modularity and explicitness",
    equivalence="elementwise",
    min_rows=40,
    chance=0.0,
    cost="n m d counts, shared with mig",
    fails_when=(
        "factors are correlated, or their entropies differ much, because factors of large entropy then dominate"
    ),
    reference="Sepliarskaia et al. (2019), 'How to not measure disentanglement'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.06,
    takes_sparse_codes=True,
    takes_code_groups=True,
    moves_at_200_rows=(0.0, 0.0, 0.03),
)
def dcimig(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
) -> Score:
    """Information gap of each factor's best code between this factor and the next, relative to all factors' entropy.

    1 means that every factor has a code that determines it and carries no information about any other factor. Unused
    codes do not lower the score (they lower `mig_sup`), and neither do copies of a code (they lower `mig`). Random
    codes score about 0.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(10, 'equal_width')`` gives the numbers of Ubisoft's library.

    Notes
    -----
    DCIMIG, also called 3CharM: the mutual information gap of the best code of every factor.

        DCIMIG = sum_j S_j / sum_j H(z_j),    S_j = max_i (I(c_i; z_j) - max_{k != j} I(c_i; z_k))

    where the maximum is over the codes c_i that carry more information about factor z_j than about any other factor. If
    there is no such code, S_j = 0 (Sepliarskaia et al. 2019).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(dcimig(factors, np.column_stack([np.exp(factors), factors]))), 2)
    1.0
    """
    information = unit_information(evidence, estimator)
    ranked = np.sort(np.column_stack([np.zeros(len(information)), information]), axis=1)
    gaps = ranked[:, -1] - ranked[:, -2]
    best_gaps = np.zeros(evidence.n_factors)
    np.maximum.at(best_gaps, information.argmax(axis=1), gaps)
    entropies = factor_entropies(evidence, estimator)
    per_factor = np.divide(
        best_gaps, entropies, out=np.full_like(gaps, np.nan, shape=(evidence.n_factors,)), where=varying(evidence)
    )
    return Score(
        raw=float(best_gaps.sum() / entropies.sum()),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        per_code=dict(zip(evidence.code_units, gaps.tolist(), strict=True)),
        parts={"mutual_information_matrix": information},
        matrices=(MUTUAL_INFORMATION,),
        caveats=(Finding("one_factor"),) if evidence.n_factors == 1 else (),
    )


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
    takes_code_groups=True,
    factor_by_factor=True,
    moves_at_200_rows=(0.0, 0.0, 0.06),
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

    Notes
    -----
    Mutual information gap.

        MIG = 1/d sum_j (I(c_i1; z_j) - I(c_i2; z_j)) / H(z_j)

    with i1 and i2 the codes that have the largest and second largest mutual information with factor z_j (Chen et al.
    2018). For a block of codes, it is the information in the held-out linear readout of the factor from the block: a
    lower bound, which hardly depends on the basis of the block.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(mig(factors, np.exp(factors))), 2)
    1.0
    """
    information = unit_information(evidence, estimator)
    if normalise == "code_entropy":
        entropies = _unit_entropies(evidence, estimator)[:, None]
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
        caveats=(Finding("one_code"),) if len(information) == 1 else (),
    )


@metric(
    measures="modularity",
    equivalence="elementwise",
    min_rows=40,
    chance="by permutation",
    cost="n m d counts, shared with mig",
    fails_when=(
        "some codes are unused, because their scores are ratios of estimation errors with the same weight as all "
        "others, or factors are correlated"
    ),
    reference="Ridgeway and Mozer (2018), 'Learning deep disentangled embeddings with the F-statistic loss'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.01,
    takes_sparse_codes=True,
    takes_code_groups=True,
    undefined_with=("one factor",),
    moves_at_200_rows=(0.0, 0.0, 0.04),
)
def modularity(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
) -> Score:
    """1 minus the squared information of a code about other factors, relative to its main factor; mean over codes.

    1 means that every code carries information about one factor only. The amount does not matter, so a high score does
    not mean that the factors can be read from the codes. Random codes score far above 0, and higher with more rows per
    bin: compare with the permutation null. Codes without any information, such as constant ones, are left out. With one
    factor the score is undefined (nan).

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default. ``Histogram(20, 'equal_width')`` gives the numbers of disentanglement_lib.

    Notes
    -----
    Modularity of Ridgeway and Mozer.

        M = 1/m sum_i (1 - sum_{j != j*} I(c_i; z_j)^2 / (I(c_i; z_j*)^2 (d - 1)))

    with j* the factor that has the largest mutual information with code c_i, and d the number of factors (Ridgeway and
    Mozer 2018).

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(2_000, 3))
    >>> round(float(modularity(factors, np.exp(factors))), 2)
    1.0
    """
    information = np.maximum(unit_information(evidence, estimator)[:, varying(evidence)], 0.0)
    most, n_others = information.max(axis=1), information.shape[1] - 1
    if n_others == 0:
        return Score(raw=np.nan, caveats=(Finding("one_factor_varies"),))
    others = np.square(information).sum(axis=1) - np.square(most)
    spread = np.divide(others, np.square(most) * n_others, out=np.full_like(most, np.nan), where=most > 0)
    per_code = 1 - spread
    return Score(
        raw=float(np.nanmean(per_code)) if (most > 0).any() else np.nan,
        per_code=dict(zip(evidence.code_units, per_code.tolist(), strict=True)),
        parts={"mutual_information_matrix": unit_information(evidence, estimator)},
        matrices=(MUTUAL_INFORMATION,),
        caveats=() if (most > 0).any() else (Finding("no_code_informative"),),
    )


NO_CODE_VARIES = Finding("no_code_varies")


def telling_codes(evidence: Evidence, shares: FloatArray) -> NDArray[np.bool_]:
    """True for codes that vary as points, or whose posteriors are informative although their means are constant."""
    return live_units(evidence) | (shares > 0).any(axis=1)


def _unit_entropies(evidence: Evidence, estimator: Information) -> FloatArray:
    if evidence.has_blocks:
        raise MetricUndefined("The entropy of a block is not estimated: use normalise='factor_entropy'.")
    return code_entropies(evidence, estimator)


def relative_information_matrix(
    evidence: Evidence, estimator: Information, normalise: Literal["factor_entropy", "code_entropy"]
) -> FloatArray:
    """I(c_i; z_j) / H(z_j) or I(c_i; z_j) / H(c_i), as ``normalise`` selects (m x d); 0 where that entropy is 0."""
    information = unit_information(evidence, estimator)
    if normalise == "factor_entropy":
        entropies = factor_entropies(evidence, estimator)[None, :]
    elif normalise == "code_entropy":
        entropies = _unit_entropies(evidence, estimator)[:, None]
    else:
        raise ValueError(f"normalise={normalise!r} is not known: use 'factor_entropy' or 'code_entropy'.")
    return np.divide(information, entropies, out=np.zeros_like(information), where=entropies > 0)


@metric(
    measures="modularity",
    equivalence="elementwise",
    min_rows=40,
    chance=0.0,
    cost="n m d counts, shared with mig",
    fails_when="factors are correlated, or many codes are unused, because each of them counts as a gap of 0",
    reference="Li et al. (2020), 'Progressive learning and disentanglement of hierarchical representations'",
    assumes=(FACTORS_NOT_CORRELATED,),
    identity_tolerance=0.06,
    takes_sparse_codes=True,
    takes_code_groups=True,
    moves_at_200_rows=(0.0, 0.0, 0.04),
)
def mig_sup(
    evidence: Evidence,
    *,
    estimator: Information = Histogram(),  # noqa: B008 - a frozen value
    normalise: Literal["factor_entropy", "code_entropy"] = "factor_entropy",
) -> Score:
    """Gap in normalised mutual information between the two factors a code carries most about; mean over codes.

    1 means that every code determines one factor and carries no information about any other. Random codes score about
    0, and so does a code that carries the same amount about two factors. Codes that never vary are left out. Perfect
    codes score below 1 at small n, because the histogram estimate is biased and finds information in unrelated factors
    too.

    Parameters
    ----------
    estimator : Histogram or NearestNeighbour
        Bins of equal mass by default.
    normalise : {'factor_entropy', 'code_entropy'}
        Divisor of the mutual information: the entropy of the factor, as published, or the entropy of the code, as in
        some libraries (with ``Histogram(10, 'equal_width')``).

    Notes
    -----
    Mutual information gap between factors, for every code.

        MIG-sup = 1/m sum_i (I(c_i; z_j1) / H(z_j1) - I(c_i; z_j2) / H(z_j2))

    with j1 and j2 the factors with the largest and second largest normalised mutual information with code c_i (Li et
    al. 2020). MIG measures whether a factor is in one code only, and MIG-sup whether a code carries one factor only.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> round(float(mig_sup(factors, np.exp(factors))), 2)
    1.0
    """
    shares = relative_information_matrix(evidence, estimator, normalise)
    counted = telling_codes(evidence, shares)
    ranked = np.sort(np.column_stack([np.zeros(len(shares)), shares]), axis=1)  # with one factor, the gap is to 0
    per_code = np.where(counted, ranked[:, -1] - ranked[:, -2], np.nan)
    return Score(
        raw=float(np.nanmean(per_code)) if counted.any() else np.nan,
        per_code=dict(zip(evidence.code_units, per_code.tolist(), strict=True)),
        parts={"relative_information_matrix": shares},
        matrices=(RELATIVE_INFORMATION,),
        caveats=_caveats(evidence, counted),
    )


def _caveats(evidence: Evidence, counted: NDArray[np.bool_]) -> tuple[Finding, ...]:
    if not counted.any():
        return (NO_CODE_VARIES,)
    return (Finding("one_factor"),) if evidence.n_factors == 1 else ()
