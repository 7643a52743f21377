"""`unweave.compat` gives the numbers of the recipes that projects copy, and mends what is wrong in them."""

import itertools

import numpy as np
import pytest
from scipy.stats import entropy, rankdata
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mutual_info_score
from sklearn.svm import LinearSVC

from unweave import InputError, InputWarning, OptionError, compat
from unweave.metrics import mcc
from unweave.randomness import random_seed

SEEDS = range(200)


def drawn(seed, square=True):
    """Factors and codes that mix them, on various scales; ties in a third of the cases."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 300)), int(rng.integers(2, 5))
    m = d if square else d + int(rng.integers(0, 4))
    z = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d) + rng.normal(size=d)
    hz = z / z.std(axis=0) @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))
    return (np.round(z / z.std(axis=0), 1), hz) if seed % 3 == 0 else (z, hz)


def best_mean(similarity, maximum=max):
    """Largest mean over all ways to give every row a column of its own."""
    d, m = similarity.shape
    return maximum(
        np.mean([similarity[j, i] for j, i in enumerate(way)]) for way in itertools.permutations(range(m), d)
    )


def pearson(z, hz):
    return np.corrcoef(z.T, hz.T)[: z.shape[1], z.shape[1] :]


def spearman(z, hz):
    return pearson(rankdata(z, axis=0), rankdata(hz, axis=0))


def r2_of(z, predicted):
    return np.mean(1 - ((z - predicted) ** 2).mean(axis=0) / z.var(axis=0))


@pytest.mark.parametrize(("method", "statistic"), [("pearson", pearson), ("spearman", spearman)])
def test_mean_corr_coef_is_the_best_of_all_matchings(method, statistic):
    for seed in SEEDS:
        z, hz = drawn(seed)
        expected = best_mean(np.abs(statistic(z, hz)))
        assert compat.mean_corr_coef(z, hz, method) == pytest.approx(expected, abs=1e-12)
        assert compat.mean_corr_coef(hz, z, method=method) == pytest.approx(expected, abs=1e-12)
        assert mcc(z, hz, kinds="continuous", correlation=method).value == pytest.approx(expected, abs=1e-9)


def test_out_of_sample_scores_test_rows_by_the_training_matching():
    for seed in SEEDS:
        z, hz = drawn(seed)
        half = len(z) // 2
        seen, unseen = (np.abs(pearson(z[rows], hz[rows])) for rows in (slice(half), slice(half, None)))
        d = len(seen)
        best = max(itertools.permutations(range(d)), key=lambda way: sum(seen[j, i] for j, i in enumerate(way)))
        found = compat.mean_corr_coef_out_of_sample(z[:half], hz[:half], z[half:], hz[half:])
        assert found == pytest.approx(np.mean([unseen[j, i] for j, i in enumerate(best)]), abs=1e-12)


@pytest.mark.parametrize(("method", "statistic"), [("Pearson", pearson), ("Spearman", spearman)])
def test_correlation_sorts_estimates_in_columns(method, statistic):
    for seed in SEEDS:
        z, hz = drawn(seed, square=False)
        sorted_correlations, order, estimates = compat.correlation(hz.T, z.T, method)
        np.testing.assert_array_equal(estimates, hz.T[order])
        np.testing.assert_allclose(sorted_correlations, statistic(z, hz[:, order]), atol=1e-12)
        expected = best_mean(np.abs(statistic(z, hz)))
        assert np.abs(np.diag(sorted_correlations)).mean() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("split", [False, True])
def test_linear_disentanglement_is_least_squares(split):
    for seed in SEEDS:
        z, hz = drawn(seed)
        half = len(z) // 2 if split else 0
        model = LinearRegression().fit(hz[: half or None], z[: half or None])
        expected = model.predict(hz[half:])
        (score, nothing), (scored, predicted) = compat.linear_disentanglement(z, hz, train_test_split=split)
        assert nothing is None
        np.testing.assert_array_equal(scored, z[half:])
        np.testing.assert_allclose(predicted / z.std(axis=0), expected / z.std(axis=0), atol=1e-9)
        assert score == pytest.approx(r2_of(z[half:], expected), rel=1e-12, abs=1e-12)
        for mode, statistic in (("pearson", pearson), ("spearman", spearman)):
            (score, matrix), _ = compat.linear_disentanglement(z, hz, mode, split)
            np.testing.assert_allclose(matrix, statistic(z[half:], predicted), atol=1e-12)
            assert score == pytest.approx(np.abs(np.diag(matrix)).mean(), abs=1e-12)


def test_adjusted_r2_counts_the_codes():
    rng = np.random.default_rng(0)
    z, hz = rng.normal(size=(60, 2)), rng.normal(size=(60, 20))
    plain = compat.linear_disentanglement(z, hz)[0][0]
    assert compat.linear_disentanglement(z, hz, "adjusted_r2")[0][0] == pytest.approx(1 - (1 - plain) * 59 / 39)
    plain, halves = (compat.linear_disentanglement(z, hz, mode, True)[0][0] for mode in ("r2", "adjusted_r2"))
    assert halves == pytest.approx(1 - (1 - plain) * 29 / 9)  # the 30 rows that are scored
    # the adjusted R2 of random codes is 0 on average, which it is not with the number of factors in place of codes
    adjusted = [
        compat.linear_disentanglement(rng.normal(size=(60, 2)), rng.normal(size=(60, 20)), "adjusted_r2")[0][0]
        for _ in range(200)
    ]
    assert abs(np.mean(adjusted)) < 3 * np.std(adjusted) / np.sqrt(200) + 1e-3


@pytest.mark.parametrize("rescaling", [False, True])
def test_permutation_disentanglement_tries_every_order(rescaling):
    for seed in SEEDS:
        z, hz = drawn(seed)
        d = z.shape[1]
        if d > 3:
            z, hz, d = z[:, :3], hz[:, :3], 3
        scores = []
        for way in itertools.permutations(range(d)):
            for signs in itertools.product([1, -1], repeat=1 if rescaling else d):
                moved = hz[:, way] * (1 if rescaling else np.array(signs))
                if rescaling:
                    moved = np.column_stack(
                        [
                            code * np.linalg.lstsq(code[:, None], factor)[0]
                            for code, factor in zip(moved.T, z.T, strict=True)
                        ]
                    )
                scores.append(r2_of(z, moved))
        (score, _), moved = compat.permutation_disentanglement(z, hz, rescaling=rescaling)
        assert score == pytest.approx(max(scores), rel=1e-12, abs=1e-12)
        assert r2_of(z, moved) == pytest.approx(max(scores), rel=1e-12, abs=1e-12)
        (score, _), _ = compat.permutation_disentanglement(z, hz, "pearson", rescaling, solver="munkres")
        assert score == pytest.approx(best_mean(np.abs(pearson(z, hz))), abs=1e-12)


def test_rescaled_codes_in_another_order_are_found():
    z = np.random.default_rng(0).normal(size=(100, 3))
    assert compat.permutation_disentanglement(z, 5 * z[:, [2, 0, 1]])[0][0] == pytest.approx(1)  # the copy gives 0


def levels_and_codes(seed):
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(50, 400)), int(rng.integers(1, 3)), int(rng.integers(2, 4))
    ys = rng.integers(rng.integers(2, 30), size=(d, n))
    return ys + rng.integers(-3, 3), rng.normal(size=(m, d)) @ ys + rng.normal(size=(m, n))


def test_compute_mig_counts_bins_of_equal_width():
    for seed in SEEDS:
        ys, mus = levels_and_codes(seed)
        gaps = []
        for y in ys:
            information = []
            for code in mus:
                edges = np.histogram_bin_edges(code, 20)
                information.append(mutual_info_score(y, np.clip(np.searchsorted(edges, code, "right"), 1, 20)))
            best, second = sorted(information)[:-3:-1]
            gaps.append((best - second) / entropy(np.unique(y, return_counts=True)[1]))
        assert compat.compute_mig(mus, ys)["discrete_mig"] == pytest.approx(np.mean(gaps), abs=1e-12)


def test_compute_sap_of_continuous_factors_is_a_gap_of_squared_correlations():
    for seed in SEEDS:
        z, hz = drawn(seed)
        squares = np.sort(pearson(z, hz) ** 2, axis=1)
        found = compat.compute_sap(hz.T, z.T, hz.T, z.T, continuous_factors=True)["SAP_score"]
        assert found == pytest.approx((squares[:, -1] - squares[:, -2]).mean(), abs=1e-12)


@pytest.mark.parametrize("seeds", [SEEDS[:10], pytest.param(SEEDS[10:], marks=pytest.mark.slow)])
def test_compute_sap_of_classes_is_a_gap_of_accuracies(seeds):
    for seed in seeds:
        ys, mus = levels_and_codes(seed)
        half = ys.shape[1] // 2
        gaps = []
        for y in ys:
            accuracies = []
            for code in mus:
                machine = LinearSVC(C=0.01, class_weight="balanced").fit(code[:half, None], y[:half])
                accuracies.append(np.mean(machine.predict(code[half:, None]) == y[half:]))
            best, second = sorted(accuracies)[:-3:-1]
            gaps.append(best - second)
        found = compat.compute_sap(mus[:, :half], ys[:, :half], mus[:, half:], ys[:, half:])["SAP_score"]
        assert found == pytest.approx(np.mean(gaps), abs=1e-12)


@pytest.mark.parametrize("seeds", [SEEDS[4:6], pytest.param(SEEDS, marks=pytest.mark.slow)])
def test_compute_dci_is_that_of_gradient_boosting(seeds):
    for seed in seeds:
        ys, mus = levels_and_codes(seed)
        ys = np.vstack([ys[:2] % 2, np.arange(ys.shape[1]) % 2])
        half = ys.shape[1] // 2
        importances, train, test = [], [], []
        for y in ys:
            model = GradientBoostingClassifier(random_state=random_seed(0, "trees")).fit(mus[:, :half].T, y[:half])
            importances.append(model.feature_importances_)
            train.append(model.score(mus[:, :half].T, y[:half]))
            test.append(model.score(mus[:, half:].T, y[half:]))
        matrix = np.array(importances).T
        spread = [1 - entropy(row, base=len(ys)) for row in matrix]
        found = compat.compute_dci(mus[:, :half], ys[:, :half], mus[:, half:], ys[:, half:])
        assert found == pytest.approx(
            {
                "informativeness_train": np.mean(train),
                "informativeness_test": np.mean(test),
                "disentanglement": np.average(spread, weights=matrix.sum(axis=1)),
                "completeness": np.mean([1 - entropy(row, base=len(mus)) for row in matrix.T]),
            },
            abs=1e-12,
        )


def test_the_pair_of_causal_papers():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 8))
        matrix = rng.uniform(-1, 1, size=(d + seed % 2, d))
        rows = matrix[:d].tolist()
        largest = [max(entry for j, entry in enumerate(row) if j != i) for i, row in enumerate(rows)]
        expected = np.mean([row[i] for i, row in enumerate(rows)]), np.mean(largest)
        assert compat.diag_and_max_off_diag(matrix) == pytest.approx(expected, abs=1e-12)


def test_where_the_copies_are_wrong():
    """Constant codes, other numbers of codes than factors, and tiny scales: a number and a warning, or a sentence."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 3))
    dead = z * [1.0, 1.0, 0.0]
    with pytest.warns(InputWarning, match="code 2 never varies, and counts as a correlation of 0"):
        assert compat.mean_corr_coef(z, dead) == pytest.approx(2 / 3)
    with pytest.warns(InputWarning, match="2 pairs are averaged"):
        assert compat.mean_corr_coef(z, z[:, :2]) == pytest.approx(1)
    wide = np.hstack([rng.normal(size=(400, 2)), z])
    np.testing.assert_array_equal(compat.correlation(wide.T, z.T)[1], [2, 3, 4])  # the copy takes the wrong rows
    with pytest.raises(InputError, match="2 estimates for 3 targets"):
        compat.correlation(z[:, :2].T, z.T)
    with pytest.raises(InputError, match="a permutation needs as many"):
        compat.permutation_disentanglement(z, wide)
    whole = compat.compute_sap(z.T, z.T, continuous_factors=True)["SAP_score"]
    tiny = compat.compute_sap(1e-7 * z.T, z.T, continuous_factors=True)["SAP_score"]  # the copy gives 0
    assert tiny == pytest.approx(whole, abs=1e-9)
    levels = rng.integers(4, size=(2, 400))
    constant = np.vstack([levels, np.zeros(400, int)])
    expected = compat.compute_mig(levels + 0.5, levels)["discrete_mig"]
    assert compat.compute_mig(levels + 0.5, constant)["discrete_mig"] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda z: compat.mean_corr_coef(z, z, "kendall"), "use 'pearson' or 'spearman'"),
        (lambda z: compat.linear_disentanglement(z, z, "mae"), "use 'r2', 'adjusted_r2', 'pearson' or 'spearman'"),
        (lambda z: compat.compute_sap(z.T, z.T), "pass mus_test and ys_test"),
        (lambda z: compat.compute_mig(z[:, 0], z.T), "samples in its columns"),
        (lambda z: compat.mean_corr_coef(z, z[1:]), "do not pair up"),
        (lambda z: compat.mean_corr_coef_out_of_sample(z, z, z, z[:, :1]), "pass the same columns"),
        (lambda z: compat.diag_and_max_off_diag(z), "one row for each of two or more factors"),
        (lambda z: compat.compute_dci(z.T, 0 * z.T, z.T, 0 * z.T), "constant in the training rows"),
        (lambda z: compat.compute_dci(z.T, z.T, z.T, 0 * z.T), "constant in the scored rows"),
        (lambda z: compat.compute_dci(z.T, z.T, z[:, :1].T, z.T), "pass the same columns"),
        (lambda z: compat.compute_sap(z.T, z.T > 0, z[:, :1].T, z.T > 0), "pass the same columns"),
        (lambda z: compat.linear_disentanglement(0 * z, z), "Factor 0 is constant in the scored rows"),
        (lambda z: compat.permutation_disentanglement(0 * z, z), "Factor 0 is constant in the scored rows"),
        (lambda z: compat.permutation_disentanglement(z, z, solver="x"), "use 'naive' or 'munkres'"),
        (lambda z: compat.linear_disentanglement(z[:3], z[:3], "adjusted_r2"), "needs 5 scored rows and has 3"),
    ],
)
def test_bad_input_is_one_sentence(call, says):
    with pytest.raises((InputError, OptionError), match=says):
        call(np.random.default_rng(0).normal(size=(50, 3)))
