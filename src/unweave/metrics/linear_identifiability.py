"""Linear identifiability: are the codes the factors up to an affine map, or up to a rotation and one scale?

With Z (n x d) the centred columns of the factors and C (n x m) the centred codes:

- `weak_mcc` is the mean canonical correlation of Z and C: 1 for every invertible affine map. `mcc` is the 'strong' one.
- `r2` predicts Z from C (nothing is lost), and `reverse_r2` predicts C from Z (nothing is added, and nothing is bent).
- `procrustes_distance` and `orthogonality_error` are 0 for rotations, reflections and one common scale. Factors and
  codes keep their units; standardise factors whose units are arbitrary.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.arrays import FloatArray
from unweave.card import Seed, Several, metric, seed_from
from unweave.estimators.linear_probes import Linear
from unweave.estimators.probes import Probe
from unweave.estimators.similarity import procrustes, whitener
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import live_points, target_columns, varying
from unweave.metrics.prediction import held_out_squares
from unweave.score import Score

N_FOLDS = 5

NUMERIC = frozenset(kind for kind in FactorKind if kind.is_numeric)


@memoised(on="factors")
def n_directions(evidence: Evidence) -> int:
    """Rank of the factors."""
    columns = _standardised(evidence.factors[:, varying(evidence)])
    return whitener(columns.T @ columns)[0].shape[1]


def _standardised(table: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1, so that rounding does not depend on their units."""
    table = table - table.mean(axis=0)
    return np.asarray(table / np.sqrt(np.square(table).mean(axis=0)))


def _centred(table: FloatArray) -> FloatArray:
    """Columns with mean 0, divided by one number, so that their squares are neither infinite nor 0."""
    table = table - table.mean(axis=0)
    return np.asarray(table / np.abs(table).max())


@memoised(on="codes")
def standardised_codes(evidence: Evidence) -> FloatArray:
    """Codes that vary, with mean 0 and variance 1."""
    return _standardised(evidence.codes[:, live_points(evidence)])


def canonical_correlations(
    x: FloatArray, y: FloatArray, x_test: FloatArray | None = None, y_test: FloatArray | None = None
) -> FloatArray:
    """Canonical correlations of two tables, or correlations on other rows of the canonical variates of these rows.

    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> canonical_correlations(x, x @ [[1.0, 2.0, 0.0], [0.0, 1.0, 5.0]]).round(6).tolist()
    [1.0, 1.0]
    """
    x_mean, y_mean = x.mean(axis=0), y.mean(axis=0)
    x, y = x - x_mean, y - y_mean
    white_x, white_y = whitener(x.T @ x)[0], whitener(y.T @ y)[0]
    left, correlations, right = np.linalg.svd(white_x.T @ (x.T @ y) @ white_y, full_matrices=False)
    if x_test is None or y_test is None:
        return np.clip(correlations, 0.0, 1.0)
    ours, theirs = (x_test - x_mean) @ white_x @ left, (y_test - y_mean) @ white_y @ right.T
    ours, theirs = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    scale = np.sqrt(np.square(ours).sum(axis=0) * np.square(theirs).sum(axis=0))
    return np.divide((ours * theirs).sum(axis=0), scale, out=np.zeros_like(scale), where=scale > 0)


@metric(
    measures="linear identifiability",
    equivalence="affine",
    min_rows=20,
    chance=0.0,
    cost="n (m + d)^2 per fold",
    fails_when=(
        "entanglement is the question, because every invertible linear mixing scores 1, or there are nearly as many "
        "codes as rows, because the variates then fit noise"
    ),
    reference="Roeder et al. (2021), 'On linear identifiability of learned representations'",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    moves_at_200_rows=(0.1, 0.1, 0.0),
    raw_range="slightly below 0, if held-out rows correlate with the opposite sign",
    takes_code_groups=True,
    takes_factor_groups=True,
    factor_kinds=NUMERIC,
)
def weak_mcc(evidence: Evidence, *, cross_fit: bool = True, rng: Seed = 0) -> Score:
    """Mean canonical correlation of codes and factors, on held-out rows.

    1 means that every factor is an affine function of the codes ('weak' identifiability), where `mcc` needs one code
    for each factor ('strong'). Random codes score about 0. Directions of the factors for which there is no code count
    as 0.

    Parameters
    ----------
    cross_fit : bool
        Whether the canonical variates are found on four fifths of the rows and correlated on the others, for each fifth
        in turn. Without it, random codes score about sqrt(m / n), as in published code.
    rng : int or Generator
        Seed of the folds.

    Notes
    -----
    Mean correlation coefficient after canonical correlation analysis.

        weak MCC = 1/K sum_k corr(Z a_k, C b_k)

    with Z the factors, C the codes, a_k and b_k the pairs of canonical directions, and K the rank of Z.
    Canonical variates of different pairs are uncorrelated, so that no matching is needed.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(weak_mcc(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])), 3)
    1.0
    """
    if not live_points(evidence).any():
        return Score(math.nan, caveats=(Finding("no_code_varies"),))
    factors, codes = _standardised(evidence.factors[:, varying(evidence)]), standardised_codes(evidence)
    rank = n_directions(evidence)
    if cross_fit:
        by_fold = [
            canonical_correlations(factors[train], codes[train], factors[test], codes[test])
            for train, test in evidence.folds(N_FOLDS, seed_from(rng))
        ]
        correlations = sum(np.pad(found, (0, max(rank - found.size, 0)))[:rank] for found in by_fold) / len(by_fold)
    else:
        correlations = canonical_correlations(factors, codes)
    return Score(raw=float(np.sum(correlations) / rank), parts={"canonical_correlations": np.asarray(correlations)})


@metric(
    measures="linear identifiability",
    equivalence="affine",
    min_rows=10,
    chance=0.0,
    cost="n d^2 per fold",
    fails_when="lost factors are the question: codes of one factor alone score 1, and `r2` finds what is lost",
    reference="ours; reported beside R2 of the factors in work on linear identifiability",
    identity_tolerance=0.01,
    order_tolerance=0.02,
    moves_at_200_rows=(0.13, 0.13, 0.0),
    raw_range="below 0 without a limit, if held-out predictions are worse than the mean",
    no_blocks_because="its mean over single codes depends on the basis of a block",
)
def reverse_r2(
    evidence: Evidence,
    *,
    probe: Probe = Linear(),  # noqa: B008 - a frozen value
    n_folds: Several = 5,
    rng: Seed = 0,
) -> Score:
    """Share of the codes' variance that a probe predicts from all factors on held-out rows; mean over codes.

    1 means that every code is an affine function of the factors (for the default probe): the codes contain nothing but
    the factors, and do not bend them. Random codes score 0, slightly below 0 before clipping. With `r2` = 1 as well,
    codes and factors are the same up to an invertible affine map. Codes that never vary are left out.

    Parameters
    ----------
    probe : Probe
        Linear by default, as for `r2`.
    n_folds : int
        Number of folds. Every row is predicted once, by a probe fitted on the other folds.
    rng : int or Generator
        Seed of the folds.

    Notes
    -----
    Share of the codes' variance that the factors explain.

        reverse R2 = 1/m sum_i (1 - sum_t (c_ti - chat_ti)^2 / sum_t (c_ti - mean_i)^2)

    with c the codes, chat their out-of-fold predictions from the factors and mean_i the training mean.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(reverse_r2(factors, factors @ [[1.0, 1.0], [1.0, -1.0]])), 3)
    1.0
    """
    live = live_points(evidence)
    if not live.any():
        return Score(math.nan, caveats=(Finding("no_code_varies"),))
    columns = [target_columns(evidence, j) for j in np.flatnonzero(varying(evidence)).tolist()]
    factors_as_codes = evidence.recoded(np.column_stack(columns))
    errors, deviations = held_out_squares(
        factors_as_codes, probe, standardised_codes(evidence), n_folds, seed_from(rng)
    )
    per_code = np.full(evidence.n_codes, np.nan)
    per_code[live] = 1 - errors / deviations
    return Score(
        raw=float(np.nanmean(per_code)),
        per_code=dict(zip(evidence.code_names, per_code.tolist(), strict=True)),
    )


@metric(
    measures="linear identifiability",
    equivalence="orthogonal",
    min_rows=10,
    chance=1.0,
    best=0.0,
    cost="one n x m x d matrix product and a singular value decomposition",
    fails_when=(
        "factors or codes have units of their own, because only one scale is allowed, or there are many codes for the "
        "number of rows, because random codes then score below 1"
    ),
    moves_at_200_rows=(0.0, 0.0, 0.0),
    reference="Schonemann (1966), 'A generalized solution of the orthogonal Procrustes problem'",
    takes_code_groups=True,
    factor_kinds=NUMERIC,
)
def procrustes_distance(evidence: Evidence) -> Score:
    """Share of the variance that remains after the best rotation, reflection, shift and scale of codes onto factors.

    0 means that the codes are the factors up to a rotation, a reflection, a shift and one common scale; it is best.
    Random codes score about 1. Both sides keep their units: standardise factors whose units are arbitrary.

    Notes
    -----
    Procrustes distance, the disparity of `scipy.spatial.procrustes`.

        D = 1 - |C'Z|_*^2 / (|C|^2 |Z|^2) = min_{Q, s} |Z - s C Q|^2 / |Z|^2

    with Z the centred factors, C the centred codes, |.|_* the sum of the singular values, |.| the Frobenius norm, Q a
    matrix with orthonormal rows or columns and s a scale.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(procrustes_distance(factors, 5 * factors @ [[0.6, 0.8], [-0.8, 0.6]])), 6)
    0.0
    """
    if not live_points(evidence).any():
        return Score(math.nan, caveats=(Finding("no_code_varies"),))
    factors, codes = _centred(evidence.factors), _centred(evidence.codes)
    return Score(1 - procrustes(codes.T @ factors, float(np.sum(codes**2)), float(np.sum(factors**2))) ** 2)


@metric(
    measures="linear identifiability",
    equivalence="orthogonal",
    min_rows=10,
    chance=1.0,
    bounds=(0.0, math.inf),
    best=0.0,
    cost="one least squares fit of the codes to the factors",
    fails_when=(
        "factors or codes have units of their own, because only one scale is allowed, or it is read without `r2`, "
        "because lost factors and unequal scales both raise it"
    ),
    moves_at_200_rows=(0.0, 0.0, 0.0),
    reference="ours",
    takes_code_groups=True,
    version=2,
    factor_kinds=NUMERIC,
)
def orthogonality_error(evidence: Evidence) -> Score:
    """Distance of the linear map from factors to codes from an orthogonal map with one scale.

    0 means that the codes are the factors up to a rotation, a reflection, a shift and one common scale; it is best.
    Random codes score about 1. A map that stretches some factors and shrinks others scores above 0 even if nothing is
    lost, and copies of one of d factors score sqrt(d - 1) if all have the same variance. Both sides keep their units:
    standardise factors whose units are arbitrary. With linearly dependent factors it is undefined (nan), because many
    maps fit equally well.

    Notes
    -----
    Relative distance of W W' from the identity.

        E = |W W' tr Cov(Z) / tr Cov(C) - 1|_F / sqrt(d)

    with W (d x m) the least squares coefficients of the codes C on the factors Z, 1 the identity and tr Cov the total
    variance. If the codes are an orthogonal map of the factors times s, W W' is s^2 times the identity, and the total
    variance of the codes is s^2 times that of the factors.

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(float(orthogonality_error(factors, 5 * factors @ [[0.6, 0.8], [-0.8, 0.6]])), 6)
    0.0
    """
    if not live_points(evidence).any():
        return Score(math.nan, caveats=(Finding("no_code_varies"),))
    factors, codes = _centred(evidence.factors[:, varying(evidence)]), _centred(evidence.codes)
    weights, _, rank, _ = np.linalg.lstsq(factors, codes, rcond=None)
    if rank < (d := factors.shape[1]):
        return Score(math.nan, caveats=(Finding("factors_linearly_dependent"),))
    gram = weights @ weights.T * (np.sum(factors**2) / np.sum(codes**2))
    return Score(
        raw=float(np.linalg.norm(gram - np.eye(d)) / math.sqrt(d)),
        parts={"squared_singular_values": np.asarray(np.linalg.eigvalsh(gram)[::-1], dtype=np.float64)},
    )
