import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge

from unweave.estimators import BoostedTrees, GradientBoosting, Lasso, Linear, RandomForest
from unweave.estimators.boosting import BinnedCodes
from unweave.estimators.linear_probes import _safe_scale
from unweave.estimators.probes import monotone_groups


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
    bins = BinnedCodes.of(codes).bins.T.astype(float)
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
