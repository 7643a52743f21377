"""Estimators on small data of several shapes: numbers, classes, angles, ties, and columns that hardly vary."""

import dataclasses
from functools import partial

import numpy as np

from unweave.estimators import (
    BoostedTrees,
    Histogram,
    Lasso,
    Linear,
    LinearCovariance,
    LinearSvm,
    LinearThenTrees,
    Logistic,
    NearestNeighbour,
    Neighbourhood,
    NonlinearCovariance,
    Pearson,
    QuantisedPosterior,
    RandomDependence,
    Spearman,
    UsableInformation,
    correlation,
    nearest_neighbour,
)
from unweave.estimators import correlation as pair_dependence
from unweave.estimators import correlation as run_agreement
from unweave.estimators import counts as binning
from unweave.estimators import geometry as gram
from unweave.estimators import independence as hypergeometric
from unweave.estimators import independence as multiple_testing
from unweave.estimators import logistic as logistic_probe
from unweave.estimators import logistic as tuned_logistic
from unweave.estimators import posteriors as gaussian_information
from unweave.estimators import probes as out_of_fold
from unweave.estimators import quantised_posterior as grid_masses
from unweave.estimators import regression as exact_functions
from unweave.estimators import regression as factor_functions
from unweave.estimators import regression as kernel_regression
from unweave.estimators import regression as spline_basis
from unweave.estimators import totals as moments

RELATIVE = 1e-5  # masses on a grid are of single precision
RNG = np.random.default_rng(5)
N = 90
X = RNG.normal(size=(N, 3))
CODES = np.column_stack([X[:, 0] ** 3 + 0.2 * X[:, 1], X[:, 1] + 0.5 * RNG.normal(size=N), np.round(X[:, 2], 1)])
CLASSES = np.digitize(X[:, 0], [-0.6, 0.1, 1.1])
ANGLES = np.mod(X[:, 1], 2.0) * np.pi
TRAIN, TEST = np.arange(N)[:60], np.arange(N)[60:]
FOLD = np.arange(N) % 3
P_VALUES = RNG.uniform(size=(4, 3)) ** 3
JACOBIANS = RNG.normal(size=(5, 7, 3)) * [1.0, 0.1, 3.0]
KERNEL = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))


def fitted(probe):
    """Importance and predictions of a regression and of a classification."""
    numbers = probe.regress(CODES[TRAIN], X[TRAIN, :1], 3)
    labels = probe.classify(CODES[TRAIN], CLASSES[TRAIN], 3)
    return [numbers.importance, numbers.predict(CODES[TEST]), labels.importance, labels.predict(CODES[TEST])]


def tested(test):
    """Statistics and p-values of numbers, classes and angles."""
    factors = [
        test.numeric(X[:, 0]),
        test.numeric(X[:, 2]),
        factor_functions.indicators(CLASSES),
        test.circular(ANGLES),
    ]
    return [
        getattr(test.pairs(CODES, factors[:k]), field.name)
        for k in (2, 4)
        for field in dataclasses.fields(test.pairs(CODES, factors[:2]))
    ]


def informed(estimator):
    """Information of every code about classes and about binned numbers."""
    labels = [estimator.factor_labels(CLASSES.astype(float), True), estimator.factor_labels(X[:, 1], False)]
    return [estimator.code_information(CODES, labels), *(np.bincount(each) for each in labels)]


def correlated(kind):
    """Correlations of all columns, also those that have several features."""
    bases = [correlation.orthonormal_basis(correlation.features(kind, column)) for column in (*CODES.T, *X.T)]
    return [correlation.canonical_correlation_matrix(bases), correlation.largest_correlations(bases[0], bases[1:])]


def joint(estimator):
    """Information of several columns together."""
    return estimator.joint_information(CODES, CLASSES, TRAIN, TEST)


def classified():
    """Log-probabilities and labels of the logistic regression, and of the one that chooses its penalty."""
    found = Logistic().fit(CODES[TRAIN], CLASSES[TRAIN])
    return [found.log_probabilities(CODES[TEST]), found.predict(CODES[TEST]), found.labels]


def on_lines(classifier):
    """Predictions from one code each."""
    return classifier.predictions(CODES[TRAIN], CLASSES[TRAIN], CODES[TEST], 1)


def of_grams():
    """What the geometry metrics are made of."""
    blocks = gram.cosines(gram.grams(JACOBIANS))
    return [
        gram.log_lengths(gram.grams(JACOBIANS)),
        gram.log_volume_of_directions(blocks.copy()),
        gram.log_volume_of_directions(blocks.copy(), [2, 0]),
        gram.nested_log_volumes(blocks.copy(), [1, 2, 0]),
        gram.information_of_cosines(blocks.copy()),
        [gram.random_total_correlation(n, d) for n, d in ((10, 3), (4, 4))],
    ]


def masses():
    """A posterior on a grid, by masses and by densities."""
    mean, std = X[:, 0], np.exp(X[:, 1] / 2 - 1)
    densities = grid_masses.centre_masses(mean, std, -3.0, 0.5, np.empty((12, N), dtype=np.float32))
    return [QuantisedPosterior(bins=12).masses(mean, std), densities, grid_masses.aggregated_moments(X, X**2 + 0.1)]


PROBES = {"linear": Linear(), "lasso": Lasso(0.05), "boosted trees": BoostedTrees()}
CORRELATIONS = {"pearson": Pearson(), "spearman": Spearman(), "random": RandomDependence()}
HISTOGRAMS = {
    "bins of equal mass": Histogram(7),
    "bins of equal width": Histogram(7, "equal_width"),
    "corrected for bias": Histogram(7, bias_correction="miller_madow"),
    "neighbours": NearestNeighbour(k=4),
    "neighbours of ranks": NearestNeighbour(ranked=True),
}
CASES = {f"probe, {name}": partial(fitted, probe) for name, probe in PROBES.items()}
CASES |= {f"correlation, {name}": partial(correlated, kind) for name, kind in CORRELATIONS.items()}
CASES |= {f"information, {name}": partial(informed, estimator) for name, estimator in HISTOGRAMS.items()}
CASES |= {
    "tests, linear": partial(tested, LinearCovariance()),
    "tests, nonlinear": partial(tested, NonlinearCovariance()),
    "joint information, usable": partial(joint, UsableInformation()),
    "joint information, neighbours": partial(joint, NearestNeighbour()),
    "logistic": classified,
    "logistic, tuned": lambda: tuned_logistic.tuned_probabilities(CODES[TRAIN], CLASSES[TRAIN], CODES[TEST], 4, 0),
    "areas": lambda: [logistic_probe.area_under_curve(np.round(X[:, k], 1), CLASSES > 1) for k in range(3)],
    "neighbourhoods": partial(on_lines, Neighbourhood()),
    "support vectors": partial(on_lines, LinearSvm()),
    "ladder": lambda: LinearThenTrees().losses(CODES[TRAIN], X[TRAIN], CODES[TEST], X[TEST], 0),
    "corrections": lambda: [
        multiple_testing.corrected(P_VALUES, name) for name in ("holm", "benjamini-hochberg", "none")
    ],
    "tails": lambda: [
        tail(np.array([1, 4, 9]), 40, np.array([10, 12, 30]), np.array([5, 9, 11]))
        for tail in (hypergeometric.upper_tail, hypergeometric.lower_tail)
    ],
    "pairs": lambda: [
        pair_dependence.independence_p_value(X[:, 0], CODES[:, 1]),
        pair_dependence.canonical_correlation(X[:, :2], CODES[:, 1:]),
        [pair_dependence.correlation_p_value(r, n) for r, n in ((0.3, 20), (-0.5, 100), (0.0, 9))],
    ],
    "runs": lambda: [
        run_agreement.disentanglement_ranking(np.abs(P_VALUES)),
        run_agreement.total_correlation(CODES),
        run_agreement.divergence_from_prior(X, np.exp(CODES[:, :3] / 9)),
    ],
    "edges": lambda: (
        [binning.bin_edges(CODES[:, k], 6, how) for k in range(3) for how in ("equal_mass", "equal_width")]
        + [binning.edges_in_gaps(CODES[:, k], 6) for k in range(3)]
    ),
    "labels by neighbours": lambda: [nearest_neighbour.label_information(X, CLASSES, k) for k in (1, 3, 8)],
    "grams": of_grams,
    "masses": masses,
    "gaussians": lambda: [
        gaussian_information.gaussian_information(np.cov(CODES.T), [0], [1, 2]),
    ],
    "least squares": lambda: [
        out_of_fold.least_squares(CODES, X, 0.1),
        out_of_fold.out_of_fold_least_squares(CODES, X, FOLD),
        list(out_of_fold.out_of_fold_kernel_ridge(KERNEL, X, FOLD, (0.01, 1.0))),
    ],
    "kernels": lambda: [
        predicted := kernel_regression.held_out_predictions(KERNEL, CODES, 0.3),
        kernel_regression.unexplained_variances(CODES, predicted),
        kernel_regression.unexplained_entropy(CLASSES, np.roll(CLASSES, 1), 4),
    ],
    "functions": lambda: [
        spline_basis.natural_spline(X[:, 0], 5),
        factor_functions.harmonics(ANGLES, 3).values,
        factor_functions.polynomials(factor_functions.normal_quantiles(CODES[:, 2]), 3),
        factor_functions.bounded(4 * X),
        exact_functions.open_to_least_squares(X, X @ [1.0, 2.0, 0.0] + 0.1 * CODES[:, 0]),
        exact_functions.polynomial_sources(X, X[:, 0] * X[:, 2]),
        exact_functions.monomial_exponents(np.exp(X), np.exp(2 * X[:, 0] - X[:, 1])),
    ],
    "moments": lambda: moments.folds_of(np.vstack([X.T, CODES.T]), 2),
}
