"""Functions that projects copy from each other, with the same names, arguments and orientation.

They return the numbers of the copied code where it is right; the guide "Replace your munkres.py" lists where it is not.
From ICE-BeeM: `mean_corr_coef` and `mean_corr_coef_out_of_sample` (rows are samples). From TCL and SlowVAE, with
``munkres.py``: `correlation` (columns are samples). From CL-ICA: `linear_disentanglement` and
`permutation_disentanglement` (rows are samples). From disentanglement_lib: `compute_mig`, `compute_sap` and
`compute_dci` (columns are samples). From CITRIS: `diag_and_max_off_diag`. The metrics in `unweave.metrics` also say how
far a number may be trusted.

>>> import numpy as np
>>> z = np.random.default_rng(0).normal(size=(500, 3))
>>> round(mean_corr_coef(z, -2 * z[:, ::-1]), 6)
1.0
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.errors import InputError, InputWarning, OptionError
from unweave.estimators.correlation import (
    Correlation,
    Pearson,
    Spearman,
    best_matching,
    features,
    orthonormal_basis,
)
from unweave.estimators.information import Histogram
from unweave.estimators.linear_probes import LinearSvm
from unweave.estimators.probes import GradientBoosting
from unweave.evidence import Evidence
from unweave.metrics.dci import concentration, weighted_mean
from unweave.metrics.mig import mig

__all__ = [
    "compute_dci",
    "compute_mig",
    "compute_sap",
    "correlation",
    "diag_and_max_off_diag",
    "linear_disentanglement",
    "mean_corr_coef",
    "mean_corr_coef_out_of_sample",
    "permutation_disentanglement",
]

CORRELATIONS: dict[str, Correlation] = {"pearson": Pearson(), "spearman": Spearman()}
Mode = Literal["r2", "adjusted_r2", "pearson", "spearman"]


def mean_corr_coef(x: object, y: object, method: str = "pearson") -> float:
    """Mean absolute correlation of the best one-to-one matching of the columns of two tables.

    Parameters
    ----------
    x, y : tables, n x d and n x m
        Factors and codes, in either order. With d different from m, min(d, m) pairs are averaged; a warning says so.
    method : {'pearson', 'spearman'}
        Linear correlation or rank correlation.

    Returns
    -------
    float
        `unweave.metrics.mcc` gives the same number for continuous factors. A constant column counts as a pair with
        correlation 0 and is named in a warning, where the copied code fails.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(mean_corr_coef(z, np.exp(z[:, [1, 2, 0]]), method="spearman"), 6)
    1.0
    """
    matrix = np.abs(_correlations(_evidence(x, y), method))
    _warn_of_unmatched(*matrix.shape)
    return float(matrix[best_matching(matrix)].mean())


def mean_corr_coef_out_of_sample(
    x: object, y: object, x_test: object, y_test: object, method: str = "pearson"
) -> float:
    """Mean absolute correlation on test rows of the columns that are matched on other rows.

    Random codes score about sqrt(2 / (pi n)) for n test rows, because absolute values are averaged;
    ``mcc(factors, codes, cross_fit=True)`` keeps the signs of the training rows, so that they score 0.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(mean_corr_coef_out_of_sample(z[:250], -z[:250], z[250:], -z[250:]), 6)
    1.0
    """
    seen, unseen = (np.abs(_correlations(_evidence(*pair), method)) for pair in ((x, y), (x_test, y_test)))
    if seen.shape != unseen.shape:
        raise InputError(
            f"x and y have {seen.shape} columns, and x_test and y_test have {unseen.shape}: pass the same columns."
        )
    _warn_of_unmatched(*seen.shape)
    return float(unseen[best_matching(seen)].mean())


def correlation(x: object, y: object, method: str = "Pearson") -> tuple[FloatArray, NDArray[np.intp], FloatArray]:
    """Correlations of targets with the estimates matched to them; the samples are in the columns.

    Parameters
    ----------
    x : array, m x n
        Estimated sources, which are sorted. There have to be at least as many as targets.
    y : array, d x n
        Targets.
    method : {'Pearson', 'Spearman'}
        Linear correlation or rank correlation.

    Returns
    -------
    corr_sort : array, d x d
        Signed correlations of the targets (rows) with the sorted estimates; the mean of the absolute diagonal is MCC.
    sort_idx : array of d integers
        Which estimate is matched to each target.
    x_sort : array, d x n
        The sorted estimates.

    Examples
    --------
    >>> sources = np.random.default_rng(0).normal(size=(3, 500))
    >>> correlation(sources[[2, 0, 1]], sources)[1].tolist()
    [1, 2, 0]
    """
    evidence = _evidence(_transpose(y), _transpose(x))
    if evidence.n_codes < evidence.n_factors:
        raise InputError(
            f"There are {evidence.n_codes} estimates for {evidence.n_factors} targets, so that some would have no "
            "partner: use unweave.metrics.mcc(factors, codes, normalise='coverage')."
        )
    matrix = _correlations(evidence, method)
    order = best_matching(np.abs(matrix))[1]
    return matrix[:, order], order, np.asarray(evidence.codes[:, order].T)


def linear_disentanglement(
    z: object, hz: object, mode: Mode = "r2", train_test_split: bool = False
) -> tuple[tuple[float, FloatArray | None], tuple[FloatArray, FloatArray]]:
    """How well least squares with an intercept predicts the factors ``z`` from the codes ``hz``.

    Parameters
    ----------
    z, hz : tables, n x d and n x m
        Factors and codes.
    mode : {'r2', 'adjusted_r2', 'pearson', 'spearman'}
        R2 averaged over factors, the same adjusted for the number of codes, or the mean absolute correlation of factors
        and predictions.
    train_test_split : bool
        Whether to fit the first half of the rows and to score the second. Otherwise the training rows are scored, on
        which random codes have R2 = m / (n - 1). ``unweave.metrics.r2`` scores held-out rows in random order.

    Returns
    -------
    (score, correlations), (z, predicted)
        ``correlations`` is None for R2. The last two are the scored rows.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(linear_disentanglement(z, z @ [[1.0, 1.0], [1.0, -1.0]])[0][0], 6)
    1.0
    """
    evidence = _evidence(z, hz)
    factors, codes = evidence.factors, evidence.codes
    half = len(factors) // 2 if train_test_split else 0
    rows = slice(half) if half else slice(None)
    means = codes[rows].mean(axis=0), factors[rows].mean(axis=0)
    coefficients = np.linalg.lstsq(codes[rows] - means[0], factors[rows] - means[1], rcond=None)[0]
    scored, predicted = factors[half:], (codes[half:] - means[0]) @ coefficients + means[1]
    if mode in CORRELATIONS:
        matrix = _correlations(_evidence(scored, predicted), mode)
        return (float(np.abs(np.diag(matrix)).mean()), matrix), (scored, predicted)
    shape = len(scored), codes.shape[1]
    return (_r2(_r2_of_factors(scored, predicted).mean(), mode, shape), None), (scored, predicted)


def permutation_disentanglement(
    z: object,
    hz: object,
    mode: Mode = "r2",
    rescaling: bool = True,
    solver: Literal["naive", "munkres"] = "naive",
    sign_flips: bool = True,
    cache_permutations: object = None,
) -> tuple[tuple[float, FloatArray | None], FloatArray]:
    """How well the codes ``hz`` agree with the factors ``z`` up to their order, and to scale or sign.

    The best order is found by assignment for both values of ``solver``; ``cache_permutations`` has no effect.

    Parameters
    ----------
    z, hz : tables, n x d each
        Factors and codes.
    mode : {'r2', 'adjusted_r2', 'pearson', 'spearman'}
        R2 of the reordered codes as predictions of the factors, or their mean absolute correlation.
    rescaling : bool
        Whether each code is multiplied by the number that predicts its factor best, without an intercept.
    solver : {'naive', 'munkres'}
        The name of the copied solver.
    sign_flips : bool
        Without rescaling, whether codes may change their sign.

    Returns
    -------
    (score, correlations), hz
        ``correlations`` is None for R2; ``hz`` has the reordered and rescaled codes.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 2))
    >>> round(permutation_disentanglement(z, -3 * z[:, ::-1])[0][0], 6)
    1.0
    """
    evidence = _evidence(z, hz)
    factors, codes = evidence.factors, evidence.codes
    if factors.shape != codes.shape:
        raise InputError(
            f"There are {codes.shape[1]} codes for {factors.shape[1]} factors, and a permutation needs as many: use "
            "unweave.metrics.mcc(factors, codes, normalise='coverage')."
        )
    if solver not in ("naive", "munkres"):
        raise OptionError(f"solver={solver!r} is not known: use 'naive' or 'munkres'.")
    products, squares = codes.T @ factors, np.square(codes).sum(axis=0)[:, None]
    if rescaling:
        scales = np.divide(products, squares, out=np.zeros_like(products), where=squares > 0)
    else:
        scales = np.where((products < 0) & sign_flips, -1.0, 1.0)
    if mode in CORRELATIONS:
        agreement = np.abs(_correlations(evidence, mode)).T
    else:  # R2 of every code as prediction of every factor: 1 - |z - s c|^2 / |z - mean|^2
        errors = np.square(factors).sum(axis=0) - 2 * scales * products + scales**2 * squares
        agreement = 1 - errors / _deviations(factors)
    order = best_matching(agreement.T)[1]
    matched = codes[:, order] * scales[order, np.arange(order.size)]
    if mode in CORRELATIONS:
        matrix = _correlations(_evidence(factors, codes[:, order]), mode)
        return (float(np.abs(np.diag(matrix)).mean()), matrix), matched
    return (_r2(_r2_of_factors(factors, matched).mean(), mode, codes.shape), None), matched


def compute_mig(mus_train: object, ys_train: object, num_bins: int = 20) -> dict[str, float]:
    """Mutual information gap of codes in bins of equal width; the samples are in the columns.

    Parameters
    ----------
    mus_train : array, m x n
        Codes.
    ys_train : array, d x n
        Factors. The levels of whole numbers are kept; other factors are cut into bins as well, where the copied code
        takes every value for a class of its own.
    num_bins : int
        Number of bins.

    Returns
    -------
    dict
        ``discrete_mig``. Constant factors are left out, where the copied code divides by an entropy of 0.

    Examples
    --------
    >>> levels = np.random.default_rng(0).integers(5, size=(2, 5000))
    >>> round(compute_mig(levels + 0.5, levels)["discrete_mig"], 2)
    1.0
    """
    factors = np.asarray(_transpose(ys_train))
    evidence = Evidence(factors, _transpose(mus_train), kinds=_kinds(factors))
    return {"discrete_mig": mig(evidence, estimator=Histogram(num_bins, "equal_width")).raw}


def compute_sap(
    mus: object, ys: object, mus_test: object = None, ys_test: object = None, continuous_factors: bool = False
) -> dict[str, float]:
    """Separated attribute predictability; the samples are in the columns.

    Parameters
    ----------
    mus, ys : arrays, m x n and d x n
        Codes and factors.
    mus_test, ys_test : arrays, m x k and d x k
        Rows on which classifiers are scored. They are not used for continuous factors.
    continuous_factors : bool
        Whether a code is scored by its squared correlation with a factor, or by the accuracy of a linear support
        vector machine. The latter cannot separate a level between two others, so that perfect codes score near 0.

    Returns
    -------
    dict
        ``SAP_score``.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(2, 5000))
    >>> round(compute_sap(z, z, continuous_factors=True)["SAP_score"], 2)
    1.0
    """
    evidence = _evidence(_transpose(ys), _transpose(mus))
    if continuous_factors:
        return {"SAP_score": _gap(_correlations(evidence, "pearson").T ** 2)}
    if mus_test is None or ys_test is None:
        raise InputError("Classifiers are scored on test rows: pass mus_test and ys_test, or continuous_factors=True.")
    unseen = _evidence(_transpose(ys_test), _transpose(mus_test))
    _check_columns(evidence, unseen)
    accuracies = np.zeros((evidence.n_codes, evidence.n_factors))
    for j in range(evidence.n_factors):
        values, labels = np.unique(evidence.factors[:, j], return_inverse=True)
        if values.size > 1:
            predicted = values[LinearSvm().predictions(evidence.codes, labels, unseen.codes, seed=0)]
            accuracies[:, j] = (predicted == unseen.factors[:, [j]]).mean(axis=0)
    return {"SAP_score": _gap(accuracies)}


def compute_dci(mus_train: object, ys_train: object, mus_test: object, ys_test: object) -> dict[str, float]:
    """Disentanglement, completeness and informativeness by gradient boosting; the samples are in the columns.

    Parameters
    ----------
    mus_train, ys_train : arrays, m x n and d x n
        Codes and factors. Whole numbers are classified. Other factors are regressed, where the copied code fails.
    mus_test, ys_test : arrays, m x k and d x k
        Rows on which the probes are scored.

    Returns
    -------
    dict
        ``informativeness_train`` and ``informativeness_test`` (accuracy, or R2 where factors are regressed),
        ``disentanglement`` and ``completeness``. Equal data give equal numbers; the copied code has no seed.

    Examples
    --------
    >>> levels = np.random.default_rng(0).integers(3, size=(2, 200))
    >>> compute_dci(levels + 0.5, levels, levels + 0.5, levels)["informativeness_test"]
    1.0
    """
    seen = _evidence(_transpose(ys_train), _transpose(mus_train))
    unseen = _evidence(_transpose(ys_test), _transpose(mus_test))
    _check_columns(seen, unseen)
    importance, accuracies = np.zeros((seen.n_codes, seen.n_factors)), np.zeros((2, seen.n_factors))
    for j, kind in enumerate(_kinds(seen.factors)):
        values, labels = np.unique(seen.factors[:, j], return_inverse=True)
        if values.size == 1:
            raise InputError(f"Factor {j} is constant in the training rows: leave it out.")
        if kind == "continuous":
            fitted = GradientBoosting().regress(seen.codes, seen.factors[:, [j]], seed=0)
            scores = [_r2_of_factors(of.factors[:, [j]], fitted.predict(of.codes))[0] for of in (seen, unseen)]
        else:
            fitted = GradientBoosting().classify(seen.codes, labels, seed=0)
            scores = [(values[fitted.predict(of.codes)] == of.factors[:, j]).mean() for of in (seen, unseen)]
        importance[:, j], accuracies[:, j] = fitted.importance, scores
    d, c = (
        weighted_mean(concentration(matrix), matrix.sum(axis=1), "importance") if matrix.shape[1] > 1 else np.nan
        for matrix in (importance, importance.T)
    )
    train, test = accuracies.mean(axis=1).tolist()
    return {"informativeness_train": train, "informativeness_test": test, "disentanglement": d, "completeness": c}


def diag_and_max_off_diag(matrix: object) -> tuple[float, float]:
    """Mean of the diagonal and mean over rows of the largest other entry: the pair that causal papers print.

    Parameters
    ----------
    matrix : array, d x d or (d + 1) x d
        R2 or rank correlation of factors (columns) with their predictions from each block of codes (rows), where block
        i belongs to factor i. A last row of codes that belong to no factor is left out.

    Examples
    --------
    >>> diag_and_max_off_diag([[0.9, 0.1], [0.2, 1.0]])
    (0.95, 0.15000000000000002)
    """
    try:
        given = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("The matrix is not made of numbers: pass an array.") from None
    if given.ndim != 2 or given.shape[0] - given.shape[1] not in (0, 1) or given.shape[1] < 2:
        raise InputError(
            f"The matrix has shape {given.shape}: pass one row for each of two or more factors, and at most one more."
        )
    square = given[: given.shape[1]]
    others = np.where(np.eye(len(square), dtype=bool), -np.inf, square)
    return float(np.diag(square).mean()), float(others.max(axis=1).mean())


def _evidence(factors: object, codes: object) -> Evidence:
    return Evidence(factors, codes, kinds="continuous")


def _transpose(table: Any) -> Any:
    if getattr(table, "ndim", 2) != 2:
        raise InputError(f"An array has {table.ndim} dimensions: pass one with samples in its columns.")
    return table.T if hasattr(table, "T") else np.transpose(table)


def _kinds(factors: FloatArray) -> list[str]:
    """Whole numbers are levels, and everything else is continuous."""
    try:
        numbers = np.atleast_2d(np.asarray(factors, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError("The factors are not numbers: pass an array.") from None
    return ["ordinal" if (column == np.round(column)).all() else "continuous" for column in numbers.T]


def _correlations(evidence: Evidence, method: str) -> FloatArray:
    """Signed correlations (d x m); those of constant columns are 0, with a warning."""
    if not isinstance(method, str) or method.lower() not in CORRELATIONS:
        raise OptionError(f"method={method!r} is not known: use 'pearson' or 'spearman'.")
    constant = [*evidence.constant_factors, *evidence.dead_codes]
    if constant:
        warnings.warn(
            f"{', '.join(constant)} never varies, and counts as a correlation of 0 (the copied code fails here).",
            InputWarning,
            stacklevel=3,
        )
    chosen = CORRELATIONS[method.lower()]
    factors, codes = (_standardised(chosen, table) for table in (evidence.factors, evidence.codes))
    return np.clip(factors.T @ codes, -1.0, 1.0)


def _standardised(chosen: Correlation, table: FloatArray) -> FloatArray:
    """Columns, or their ranks, with mean 0 and norm 1; constant columns are 0."""
    standardised = np.zeros_like(table)
    for i, column in enumerate(table.T):
        basis = orthonormal_basis(features(chosen, column))
        standardised[:, i] = basis[:, 0] if basis.shape[1] else 0.0
    return standardised


def _warn_of_unmatched(n_factors: int, n_codes: int) -> None:
    if n_factors != n_codes:
        least = min(n_factors, n_codes)
        warnings.warn(
            f"x has {n_factors} columns and y has {n_codes}, so that {least} pairs are averaged and the others do not "
            "count: unweave.metrics.mcc(factors, codes, normalise='coverage') averages over all factors.",
            InputWarning,
            stacklevel=3,
        )


def _gap(scores: FloatArray) -> float:
    """Difference between the two best codes of a factor (m x d), averaged; with one code the difference from 0."""
    ranked = np.sort(np.vstack([np.zeros(scores.shape[1]), scores]), axis=0)
    return float((ranked[-1] - ranked[-2]).mean())


def _r2_of_factors(factors: FloatArray, predicted: FloatArray) -> FloatArray:
    """R2 of every factor."""
    return np.asarray(1 - np.square(factors - predicted).sum(axis=0) / _deviations(factors))


def _deviations(factors: FloatArray) -> FloatArray:
    """Sum of squared deviations of every factor from its mean."""
    if constant := np.flatnonzero(np.ptp(factors, axis=0) == 0).tolist():
        raise InputError(f"Factor {constant[0]} is constant in the scored rows, so that it has no R2: leave it out.")
    return np.asarray(np.square(factors - factors.mean(axis=0)).sum(axis=0))


def _check_columns(seen: Evidence, unseen: Evidence) -> None:
    """Refuse test rows with another number of codes or factors."""
    sizes = [(evidence.n_codes, evidence.n_factors) for evidence in (seen, unseen)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"Training and test rows have {sizes[0][0]} and {sizes[1][0]} codes, and {sizes[0][1]} and {sizes[1][1]} "
            "factors: pass the same columns."
        )


def _r2(r2: float, mode: str, shape: tuple[int, ...]) -> float:
    """R2, or R2 adjusted for the number of codes."""
    if mode not in ("r2", "adjusted_r2"):
        raise OptionError(f"mode={mode!r} is not known: use 'r2', 'adjusted_r2', 'pearson' or 'spearman'.")
    n_rows, n_codes = shape
    if mode == "adjusted_r2" and n_rows < n_codes + 2:
        raise InputError(f"Adjusted R2 of {n_codes} codes needs {n_codes + 2} scored rows and has {n_rows}: pass more.")
    return float(r2 if mode == "r2" else 1 - (1 - r2) * (n_rows - 1) / (n_rows - n_codes - 1))
