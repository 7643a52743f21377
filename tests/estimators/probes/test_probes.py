import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge

from unweave.estimators.probes.linear_probes import Lasso, Linear
from unweave.estimators.probes.probes import BoostedTrees, GradientBoosting, RandomForest, monotone_groups, split_gains


def regression(n_rows=800, n_codes=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(n_rows, n_codes))
    return codes, (codes @ rng.normal(size=n_codes) + 0.1 * rng.normal(size=n_rows))[:, None]


def test_gains_agree_with_lightgbms_public_ones():
    """The gains from scikit-learn's private field agree with those that LightGBM publishes."""
    lightgbm = pytest.importorskip("lightgbm")
    codes, target = regression()
    ours = HistGradientBoostingRegressor(max_depth=3, max_leaf_nodes=None, min_samples_leaf=20, early_stopping=False)
    theirs = lightgbm.LGBMRegressor(
        n_estimators=100, max_depth=3, num_leaves=8, min_child_samples=20, importance_type="gain", n_jobs=1, verbose=-1
    )
    gains = split_gains(ours.fit(codes, target[:, 0]), 4)
    expected = theirs.fit(codes, target[:, 0]).feature_importances_
    assert gains / gains.sum() == pytest.approx(expected / expected.sum(), abs=0.01)


def test_gains_of_the_first_stump_are_the_drop_in_squared_error():
    """Closed form: one split of a step function removes all the variance."""
    codes = np.repeat(np.linspace(-1, 1, 40), 10)[:, None]  # few values, so that every value has its own bin
    target = np.where(codes[:, 0] > 0, 1.0, -1.0)
    stump = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, learning_rate=1.0, early_stopping=False)
    gain = split_gains(stump.fit(codes, target), 1)[0]
    assert gain == pytest.approx(400.0, rel=1e-3)  # the sum of squares before the split; it is 0 after


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


@pytest.mark.parametrize("n_codes", [30, 300], ids=["fewer codes than rows", "more"])
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
