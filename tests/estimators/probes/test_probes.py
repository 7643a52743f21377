"""Probes: trees, kernels, lines and logistic regression against scikit-learn and by hand."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from unweave.estimators import (
    BoostedTrees,
    GradientBoosting,
    Lasso,
    Linear,
    LinearThenTrees,
    Logistic,
    Neighbourhood,
    RandomForest,
)
from unweave.estimators import logistic as softmax_regression
from unweave.estimators.boosting import BinnedCodes
from unweave.estimators.linear_probes import _safe_scale
from unweave.estimators.logistic import SoftmaxLoss, by_gradients, by_newton
from unweave.estimators.probes import (
    least_squares,
    monotone_groups,
    out_of_fold_kernel_ridge,
    out_of_fold_least_squares,
)
from unweave.estimators.regression import interaction_kernel, natural_spline, orthonormal_columns


def regression(n_rows=800, n_codes=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(n_rows, n_codes))
    return codes, (codes @ rng.normal(size=n_codes) + 0.1 * rng.normal(size=n_rows))[:, None]


def split_gains(model, n_codes):
    """Total gain of the splits on each code, which scikit-learn stores in its nodes but does not expose."""
    gains = np.zeros(n_codes)
    for tree in (tree for trees_of_round in model._predictors for tree in trees_of_round):
        splits = tree.nodes[tree.nodes["is_leaf"] == 0]
        np.add.at(gains, splits["feature_idx"], splits["gain"])
    return np.maximum(gains, 0.0)


SETTINGS = {"max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 5, "early_stopping": False}


@pytest.mark.parametrize(("n_rows", "n_codes"), [(60, 2), (800, 4), (3000, 12)])
def test_trees_are_those_of_scikit_learn_on_the_same_bins(n_rows, n_codes):
    codes, target = regression(n_rows, n_codes)
    targets = np.column_stack([target, np.sin(3 * codes[:, 0]), np.sign(codes[:, 1])])
    bins = BinnedCodes.for_trees(codes).bins.T.astype(float)
    probed = BoostedTrees().probe_each(codes, [targets[:, [j]] for j in range(3)], codes, seed=0)
    for j, (importance, predicted) in enumerate(probed):
        theirs = HistGradientBoostingRegressor(**SETTINGS).fit(bins, targets[:, j])
        gains = split_gains(theirs, n_codes)
        assert importance / gains.sum() == pytest.approx(gains / gains.sum(), abs=1e-3)
        assert predicted[:, 0] == pytest.approx(theirs.predict(bins), abs=1e-3)


def test_gains_agree_with_lightgbms_public_ones():
    lightgbm = pytest.importorskip("lightgbm")
    codes, target = regression()
    theirs = lightgbm.LGBMRegressor(
        n_estimators=100, max_depth=3, num_leaves=8, min_child_samples=20, importance_type="gain", n_jobs=1, verbose=-1
    )
    gains = BoostedTrees(min_leaf=20).regress(codes, target, seed=0).importance
    expected = theirs.fit(codes, target[:, 0]).feature_importances_
    assert gains / gains.sum() == pytest.approx(expected / expected.sum(), abs=0.01)


def test_gain_of_the_first_stump_is_the_drop_in_squared_error():
    """Closed form: one split of a step function removes all the variance."""
    codes = np.repeat(np.linspace(-1, 1, 40), 10)[:, None]
    target = np.where(codes > 0, 3.0, 1.0)
    fitted = BoostedTrees(n_trees=1, depth=1, learning_rate=1.0).regress(codes, target, seed=0)
    assert fitted.importance == pytest.approx([400.0])  # the sum of squares before the split; it is 0 after
    assert fitted.predict(np.array([[-5.0], [5.0]]))[:, 0] == pytest.approx([1.0, 3.0])


def test_no_leaf_is_smaller_than_the_fewest_rows():
    codes = np.arange(20.0)[:, None]
    target = (codes > 17).astype(float)  # two rows, which would make the best split
    fitted = BoostedTrees(n_trees=1, depth=1, learning_rate=1.0, min_leaf=5).regress(codes, target, seed=0)
    assert fitted.predict(codes)[:, 0] == pytest.approx([0.0] * 15 + [0.4] * 5, abs=1e-6)
    assert (BoostedTrees(min_leaf=11).regress(codes, target, seed=0).importance == 0).all()


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_targets_grown_together_are_fitted_as_if_alone_and_in_any_unit(unit):
    codes, target = regression(n_codes=2)
    targets = unit * np.column_stack([target, codes[:, 1] ** 2, np.full(800, 2.0)])
    labels = (codes[:, 0] > 0).astype(int)
    parts = [targets[:, [0, 1]], labels, targets[:, [2]]]
    together, classified, constant = BoostedTrees(n_trees=20).probe_each(codes, parts, codes, seed=0)
    alone = [BoostedTrees(n_trees=20).regress(codes, targets[:, [j]], seed=0) for j in (0, 1)]
    assert (together[0] == alone[0].importance + alone[1].importance).all()
    assert (together[1] == np.column_stack([fitted.predict(codes) for fitted in alone])).all()
    assert (classified[1] == labels).mean() > 0.99
    assert (constant[0] == 0).all()
    plain = BoostedTrees(n_trees=20).regress(codes, targets[:, :2] / unit, seed=0).importance
    assert together[0] / unit**2 == pytest.approx(plain, rel=1e-3)


def test_copies_share_their_importance_equally():
    codes, target = regression(n_codes=2)
    copied = np.column_stack([codes[:, 0], np.exp(codes[:, 0]), -(codes[:, 0] ** 3), codes[:, 1]])
    shared = BoostedTrees().regress(copied, target, seed=0).importance
    alone = BoostedTrees().regress(codes, target, seed=0).importance
    assert shared == pytest.approx([alone[0] / 3] * 3 + [alone[1]])


def test_monotone_groups_need_strictly_monotone_maps():
    x = np.linspace(-1, 1, 50)
    groups, firsts = monotone_groups(np.column_stack([x, x**2, np.round(x), -x, np.zeros(50), np.ones(50)]))
    assert groups.tolist() == [0, 1, 2, 0, 3, 3]
    assert firsts.tolist() == [0, 1, 2, 4]


def test_linear_probe_is_least_squares_where_codes_are_few():
    codes, target = regression()
    expected = LinearRegression().fit(codes, target).predict(codes)
    assert Linear().regress(codes, target, seed=0).predict(codes) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("n_codes", [30, 100, 300], ids=["fewer codes than rows", "as many", "more"])
def test_ridge_coefficients_solve_the_normal_equations_of_some_penalty(n_codes):
    """Independent check: scikit-learn's ridge with one of the penalties has the same predictions."""
    rng = np.random.default_rng(1)
    codes = rng.normal(size=(100, n_codes))
    target = codes[:, :3].sum(axis=1, keepdims=True) + rng.normal(size=(100, 1))
    found = Linear().regress(codes, target, seed=0).predict(codes)
    standardised = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    others = [Ridge(alpha=100 * p).fit(standardised, target).predict(standardised) for p in np.logspace(-9, 3, 37)]
    assert min(np.abs(found[:, 0] - np.ravel(other)).max() for other in others) < 1e-6


def test_cross_validation_chooses_a_strong_penalty_for_noise_and_none_for_a_clean_code():
    rng = np.random.default_rng(2)
    codes = rng.normal(size=(200, 150))
    noise = Linear().regress(codes, rng.normal(size=(200, 1)), seed=0)
    clean = Linear().regress(codes, codes[:, :1], seed=0)
    assert np.abs(noise.predict(rng.normal(size=(200, 150)))).max() < 0.7
    assert clean.importance[0] == pytest.approx(codes[:, 0].std(), rel=1e-3)
    assert clean.importance[1:].max() < 1e-3


@pytest.mark.parametrize("probe", [Linear(), Lasso(0.01), BoostedTrees(), GradientBoosting(20), RandomForest(20)])
def test_classifiers_find_a_clean_label(probe):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 400)
    codes = np.column_stack([rng.normal(size=400), *(labels == k for k in range(3))])
    fitted = probe.classify(codes, labels, seed=0)
    assert (fitted.predict(codes) == labels).mean() > 0.98
    assert fitted.importance.shape == (4,)
    assert fitted.importance[0] < 0.2 * fitted.importance.sum()


@pytest.mark.parametrize("probe", [Lasso(), BoostedTrees(), GradientBoosting(20), RandomForest(20)])
def test_importances_over_targets_add_up_in_the_targets_units(probe):
    codes, _ = regression()
    small = probe.regress(codes, codes[:, [0, 1]] * [1.0, 0.01], seed=0).importance
    assert small[0] > 20 * small[1]


def test_dead_and_huge_codes_do_no_harm():
    codes, target = regression()
    wild = np.column_stack([codes, np.full(800, 3.0), np.sinh(2 * codes[:, 0] ** 3) * 1e30])
    fitted = Linear().regress(wild, target, seed=0)
    assert fitted.importance[4] == 0.0
    assert np.corrcoef(fitted.predict(wild)[:, 0], target[:, 0])[0, 1] > 0.99


@pytest.mark.parametrize(("n_rows", "is_whitened"), [(50, True), (49, False)])
def test_the_basis_of_codes_does_not_matter_with_five_rows_for_each(n_rows, is_whitened):
    rng = np.random.default_rng(4)
    codes, targets = rng.normal(size=(n_rows, 10)), rng.normal(size=(n_rows, 1))
    mixed = codes @ rng.normal(size=(10, 10))
    found = [Linear().prepared(columns).fit(columns, targets).predict(columns) for columns in (codes, mixed)]
    assert np.allclose(*found, atol=1e-6) is is_whitened
    assert Linear().largest_sparse_fit() == 4096


def test_directions_that_are_rounding_are_left_out_when_codes_are_whitened():
    codes = np.random.default_rng(5).normal(size=(60, 2))
    doubled = np.column_stack([codes, codes[:, 0] + codes[:, 1]])
    assert Linear().prepared(codes).energies.size == Linear().prepared(doubled).energies.size == 2
    one, both = (Linear().prepared(columns).fit(columns, codes).predict(columns) for columns in (codes, doubled))
    assert both == pytest.approx(one, abs=1e-6)


@pytest.mark.parametrize("unit", [1.0, -1e200, 1e-200])
def test_columns_that_are_constant_up_to_rounding_have_the_scale_one(unit):
    columns = unit * np.array([[1 - 2e-12, 1 - 0.5e-12, 0.0], [1 + 2e-12, 1 + 0.5e-12, 0.0]])
    assert _safe_scale(columns)[0] == pytest.approx(abs(unit) * 2e-12, rel=1e-3)
    assert _safe_scale(columns)[1:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("counts", "learned"), [((20, 5, 4), [0, 1]), ((20, 4, 4), [0, 1, 2]), ((20, 5, 5), [0, 1, 2]), ((4, 4), [0, 1])]
)
def test_classes_that_fill_no_leaf_are_not_learned_if_two_others_do(counts, learned):
    labels = np.repeat(np.arange(len(counts)), counts)
    codes = np.random.default_rng(6).normal(size=(labels.size, 1))
    fitted = BoostedTrees(n_trees=1).classify(codes, labels, seed=0)
    assert fitted.labels.tolist() == learned


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_grown_together_are_classified_as_if_alone(n_classes):
    codes, _ = regression()
    labels = np.digitize(codes[:, 0] + 0.5 * codes[:, 1] ** 2, [0.0, 1.0][: n_classes - 1])
    ((importance, predicted),) = BoostedTrees(n_trees=20).probe_each(codes, [labels], codes, seed=0)
    alone = BoostedTrees(n_trees=20).classify(codes, labels, seed=0)
    assert importance == pytest.approx(alone.importance, rel=1e-4)
    assert (predicted == alone.predict(codes)).mean() > 0.99


def test_a_target_of_some_rows_is_fitted_as_if_the_others_were_missing():
    """With few values the bins are the same, so that only the rows differ."""
    rng = np.random.default_rng(7)
    codes = rng.integers(9, size=(600, 3)).astype(float)
    target, used = (codes[:, :1] - codes[:, 1:2]) ** 2 + rng.normal(size=(600, 1)), rng.random(600) < 0.5
    labels = (target[:, 0] > 9).astype(int)
    probed = BoostedTrees().probe_each(codes, [target, labels], codes, seed=0, used=[used, used])
    alone = BoostedTrees().probe_each(codes[used], [target[used], labels[used]], codes, seed=0)
    for here, there in zip(probed, alone, strict=True):
        assert here[0] == pytest.approx(there[0], rel=1e-3)
        assert here[1] == pytest.approx(there[1], abs=1e-3)


def test_a_code_beyond_the_training_range_is_read_as_the_end_of_it():
    """Without clipping, one outlier of a million would dominate the loss."""
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(200, 1)), rng.normal(size=(50, 1))
    far, end = test.copy(), test.copy()
    far[0], end[0] = 1e6, train.max()
    ladder = LinearThenTrees(n_trees=(0, 1, 4))
    found, expected = (ladder.losses(train, train**3, codes, test**3, seed=0) for codes in (far, end))
    assert found == pytest.approx(expected)


def test_a_class_of_one_row_outweighs_part_of_a_large_one():
    """Fourteen of fifteen neighbours belong to a class of twenty and together weigh 14/20; the other one weighs 1."""
    code, labels = np.arange(21.0)[:, None], np.zeros(21, dtype=int)
    labels[10] = 1
    assert Neighbourhood().predictions(code, labels, code[10:11], 0).tolist() == [[1]]
    assert Neighbourhood(k=5).predictions(code, labels, code[:1], 0).tolist() == [[0]]


def test_a_label_that_only_others_have_takes_no_vote():
    code, labels = np.arange(6.0)[:, None], np.array([0, 0, 0, 2, 2, 2])
    assert Neighbourhood(k=3).predictions(code, labels, code, 0)[:, 0].tolist() == [0, 0, 0, 2, 2, 2]


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 4)), RNG.normal(size=(60, 3))
fold_of_row = RNG.permutation(60) % 5


def test_least_squares_by_downdates_is_a_fit_without_the_fold():
    predicted = out_of_fold_least_squares(X, Y, fold_of_row, 0.0)
    for k in range(5):
        refit = LinearRegression().fit(X[fold_of_row != k], Y[fold_of_row != k])
        assert np.allclose(predicted[fold_of_row == k], refit.predict(X[fold_of_row == k]))


def test_a_penalty_is_per_row_of_the_other_folds():
    predicted = out_of_fold_least_squares(X[:50], Y[:50], np.arange(50) // 20, 0.3)
    for k, n_train in enumerate((30, 30, 40)):
        train, test = (np.flatnonzero((np.arange(50) // 20 == k) == choice) for choice in (False, True))
        refit = Ridge(alpha=0.3 * n_train).fit(X[train], Y[train])
        assert np.allclose(predicted[test], refit.predict(X[test]))


def test_least_squares_on_all_rows():
    refit = LinearRegression().fit(X, Y)
    assert np.allclose(least_squares(X, Y, 0.0), np.vstack([refit.intercept_, refit.coef_.T]))


def test_dependent_columns_do_no_harm():
    doubled = np.hstack([X, X])
    assert np.allclose(
        out_of_fold_least_squares(doubled, Y, fold_of_row), out_of_fold_least_squares(X, Y, fold_of_row), atol=1e-4
    )


def test_kernel_ridge_is_a_fit_without_the_fold():
    blocks = [X[:, :1], X[:, 1:2], X[:, 2:]]
    for name in ("pairs", "joint"):
        kernel = interaction_kernel(blocks, blocks, name)
        (predicted,) = out_of_fold_kernel_ridge(kernel, Y, fold_of_row, (0.1,))
        for k in range(5):
            train, test = np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k)
            inner = kernel[np.ix_(train, train)]
            mean = Y[train].mean(axis=0)
            refit = KernelRidge(alpha=0.1 * inner.trace() / len(inner), kernel="precomputed")
            expected = mean + refit.fit(inner, Y[train] - mean).predict(kernel[np.ix_(test, train)])
            assert np.allclose(predicted[test], expected)


def test_kernel_of_pairs_by_hand():
    one, two = X[:, :1], X[:, 1:2]
    single = [a @ a.T + np.exp(-0.5 * (a - a.T) ** 2) for a in (one, two)]
    expected = (single[0] + single[1]) / 4 + single[0] * single[1] / 2
    assert np.allclose(interaction_kernel([one, two], [one, two], "pairs"), expected)


def test_splines_go_on_as_lines():
    column = np.linspace(-3, 3, 601)
    basis = natural_spline(column, 6)
    assert basis.shape == (601, 6)
    assert np.allclose(np.diff(basis[column > 2.9], n=2, axis=0), 0, atol=1e-9)
    orthonormal = orthonormal_columns(basis)
    assert np.allclose(orthonormal.T @ orthonormal / 601, np.eye(6))


def noisy_classes(n_rows=2000, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_labels, n_rows)
    return labels[:, None] * [1.0, 0.0, -0.5] + rng.normal(size=(n_rows, 3)), labels


def loss_of(columns, labels, penalty):
    design = np.vstack([np.ones(len(columns)), columns.T])
    return SoftmaxLoss(design, labels, penalty * np.array([0.0, 1.0, 1.0, 1.0]))


def test_slope_and_newton_step_are_derivatives():
    loss = loss_of(*noisy_classes(50), 0.1)
    weights = np.random.default_rng(1).normal(size=(4, 4))

    def slope_at(point):
        return loss.slope(point.reshape(4, 4), loss.at(point.reshape(4, 4))[1]).ravel()

    slope = slope_at(weights.ravel())
    assert slope == pytest.approx(approx_fprime(weights.ravel(), lambda p: loss.at(p.reshape(4, 4))[0]), abs=1e-6)
    step = loss.newton_step(slope.reshape(4, 4), loss.at(weights)[1])
    assert approx_fprime(weights.ravel(), slope_at) @ step.ravel() == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize(("n_labels", "width"), [(2, 7), (3, 3), (21, 4)])
def test_newton_step_solves_with_the_hessian_of_many_and_of_few_labels(n_labels, width):
    rng = np.random.default_rng(n_labels)
    loss = SoftmaxLoss(rng.normal(size=(width, 900)), rng.integers(n_labels, size=900), np.full(width, 0.01))
    weights, slope = rng.normal(size=(2, n_labels, width))
    p = loss.at(weights)[1]
    own = p[:, None] * np.eye(n_labels)[:, :, None] - p[:, None] * p
    hessian = np.einsum("kln,in,jn->kilj", own, loss.columns, loss.columns) / 900
    hessian = hessian.reshape(slope.size, -1) + 0.01 * np.eye(slope.size)
    assert hessian @ loss.newton_step(slope, p).ravel() == pytest.approx(slope.ravel(), abs=1e-9)


def test_both_methods_find_the_optimum_that_scikit_learn_finds(monkeypatch):
    columns, labels = noisy_classes()
    loss = loss_of(columns, labels, 1e-4)
    theirs = LogisticRegression(C=1 / (1e-4 * len(labels)), tol=1e-8, max_iter=2000).fit(columns, labels)
    least = loss.at(np.column_stack([theirs.intercept_, theirs.coef_]))[0]
    start = np.zeros((4, 4))
    assert loss.at(by_newton(loss, start))[0] == pytest.approx(least, abs=1e-3)
    assert loss.at(by_gradients(loss, start, 1e-7, 2000))[0] == pytest.approx(least, abs=1e-9)
    monkeypatch.setattr(softmax_regression, "GOOD_ENOUGH", 1e-12)
    assert loss.at(by_newton(loss, start))[0] == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
def test_probe_without_whitening_is_that_of_scikit_learn(n_labels):
    columns, labels = noisy_classes(n_labels=n_labels)
    ours = Logistic(strength=1.0, whiten=False).fit(columns, labels).log_probabilities(columns)
    theirs = LogisticRegression().fit(columns, labels).predict_log_proba(columns)
    assert (
        pytest.approx(theirs, abs=1e-6 if n_labels > 2 else 2e-3) == ours.T
    )  # for two labels scikit-learn fits one set of weights


def test_probe_keeps_the_names_of_labels_and_bears_dead_codes():
    columns, labels = noisy_classes(n_labels=2)
    fitted = Logistic().fit(np.column_stack([columns, np.ones(2000)]), 3 + 4 * labels)
    assert set(fitted.predict(np.column_stack([columns, np.ones(2000)]))) == {3, 7}
    nothing = Logistic().fit(np.ones((2000, 2)), labels).log_probabilities(np.ones((1, 2)))
    assert np.exp(nothing[:, 0]) == pytest.approx(np.bincount(labels) / 2000, abs=1e-3)
