"""The counterpart: models of codes, designs of factors, and codes that are drawn from them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.metrics import mcc
from unweave.trust import counterpart, diagnose
from unweave.trust import counterpart as drawn_codes
from unweave.trust import counterpart as real_interventions
from unweave.trust.code_models import (
    JOINT_MODELS,
    Places,
    _Errors,
    _owners,
    _steps,
    code_models,
    factor_design,
    out_of_fold,
    shared_models,
)
from unweave.trust.counterpart import (
    Counterpart,
    DrawnCodes,
    Teller,
    _no_chance,
    _read_share,
    _uncorrelated,
    _with_own_information,
    distinct_codes,
    each_told,
    independent_draws,
    stands_for_its_factor,
    tellers_of,
)
from unweave.trust.effects import steps_of

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, 2))


@pytest.mark.parametrize(
    ("most_rows", "enough", "cells", "expected"),
    [(59, 10, 1000, 59), (60, 10, 1000, 60), (100, 10, 90, 45), (100, 50, 90, 50), (40, 50, 90, 40)],
)
def test_the_models_see_so_many_rows(most_rows, enough, cells, expected, monkeypatch):
    for name, value in (("MOST_ROWS", most_rows), ("ENOUGH_ROWS", enough), ("MOST_CELLS", cells)):
        monkeypatch.setattr(counterpart, name, value)
    found = Counterpart.of(Evidence(Z, Z)).evidence
    assert found.n_rows == expected
    assert (np.diff(found.kept_rows if found.kept_rows is not None else np.arange(60)) > 0).all()


@pytest.mark.parametrize(
    ("n_rows", "options", "expected"),
    [
        (60, {}, 70),
        (60, {"same_rows": True}, 60),
        (60, {"where": "here"}, 60),
        (60, {"where": "as it is"}, 60),
        (80, {}, 80),
        (80, {"same_rows": True}, 80),
    ],
)
def test_rows_that_are_drawn(n_rows, options, expected, monkeypatch):
    monkeypatch.setattr(counterpart, "ENOUGH_ROWS", 70)
    factors = np.random.default_rng(1).normal(size=(n_rows, 2))
    drawn = Counterpart.of(Evidence(factors, factors)).sample(0, same_codes=True, **options)
    assert drawn.n_rows == expected
    if "where" in options:
        assert drawn.factors.tolist() == factors.tolist()
    else:
        assert drawn.factors[:, 0].tolist() != factors[:, 0].tolist()
    if expected == n_rows:
        assert sorted(drawn.factors[:, 0]) == sorted(factors[:, 0])
        assert drawn.codes.tolist() == drawn.factors.tolist()  # each code is that of the row of its factor


def test_one_code_stands_for_a_factor_that_only_many_codes_predict():
    factor = np.linspace(-1, 1, 50)
    drawn = SimpleNamespace(
        tellers={1: Teller((), 0.75), 0: Teller((3, 4), 1.0)},
        generator=np.random.default_rng(5),
        n_rows=50,
        places=[None, Places.at_rows(np.arange(50)[::-1])],
        responses=SimpleNamespace(factor_scores=np.column_stack([np.zeros(50), factor])),
        of=lambda code: code,
    )
    (code,) = DrawnCodes._for_factor(drawn, 1)
    noise = np.random.default_rng(5).normal(size=50)
    assert code == pytest.approx(np.sqrt(0.75) * factor[::-1] + 0.5 * noise)
    assert DrawnCodes._for_factor(drawn, 0) == [3, 4]


def test_codes_have_information_of_their_own_beside_others():
    """Four orthogonal columns of 21 rows, of mean 0 and variance 1: the shares that are left are exact."""
    first, second, third, fourth = (np.linalg.qr(np.column_stack([np.ones(21), RNG.normal(size=(21, 4))]))[0].T[1:]) * (
        np.sqrt(21)
    )
    assert sorted(_with_own_information(np.column_stack([first, second]), [])) == [0, 1]
    assert _with_own_information(np.column_stack([first, second]), [first]).tolist() == [1]
    assert _with_own_information(np.column_stack([first + second, first, second]), []).size == 2
    # a share of .05 of the variance is 21 times .05 over 18 degrees of freedom beside two columns and a constant
    for share, kept in ((0.05 * 18 / 21 + 1e-9, [0]), (0.05 * 18 / 21 - 1e-9, [])):
        code = np.sqrt(1 - share) * first + np.sqrt(share) * third
        assert _with_own_information(code[:, None], [first, second]).tolist() == kept
    # and after the first code was found, there is one degree of freedom fewer
    for share, n_kept in ((0.05 * 19 / 21 + 1e-9, 2), (0.05 * 19 / 21 - 1e-9, 1)):
        code = np.sqrt(1 - share) * first + np.sqrt(share) * fourth
        assert _with_own_information(np.column_stack([first, code]), []).size == n_kept


def test_few_rows_have_one_degree_of_freedom_at_least():
    assert _with_own_information(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), []).size == 2
    assert _with_own_information(np.array([[1.0], [-1.0]]), []).tolist() == [0]


def test_chance_has_no_part_with_one_factor():
    assert _no_chance(50, 1, 1) == 0.9
    # of two codes in a plane, one is that near to a given axis in one of a hundred cases
    angle = np.arccos(np.sqrt(_no_chance(2, 1, 2)))
    assert angle / (np.pi / 2) == pytest.approx(0.01 / 2)


@pytest.mark.parametrize(
    ("owner", "silent", "collapsed", "left", "stands"),
    [
        (0, False, False, 0.5, True),
        (0, False, False, 0.51, False),
        (1, False, False, 0.0, True),
        (-1, False, False, 0.0, False),
        (0, True, False, 0.0, False),
        (0, False, True, 0.0, False),
    ],
)
def test_a_code_stands_for_a_factor_that_explains_half_of_it(owner, silent, collapsed, left, stands):
    """Scores of mean square 4, of which the residuals have a share."""
    signs = np.tile([[1.0], [-1.0]], (8, 1))
    found = SimpleNamespace(
        code_scores=2 * signs,
        left=np.concatenate([np.full(8, 2.0), np.full(8, -2.0)])[:, None] * np.sqrt(left),
        owner=np.array([owner]),
        silent=np.array([silent]),
        collapsed=np.array([collapsed]),
    )
    if left == 0.5:
        found.left = np.concatenate([np.full(8, 2.0), np.zeros(8)])[:, None]
    assert stands_for_its_factor(found).tolist() == [stands]


FOLDS = [np.arange(k, 30, 3) for k in range(3)]


@pytest.mark.parametrize("value", [0.0, 5.0, -5.0, -1e9])
def test_a_column_that_never_varies_changes_nothing(value):
    column, targets = RNG.normal(size=(30, 1)), RNG.normal(size=(30, 2))
    alone, weights = out_of_fold(column, targets, FOLDS, 1e-3)
    found, others = out_of_fold(np.column_stack([column, np.full(30, value)]), targets, FOLDS, 1e-3)
    assert found == pytest.approx(alone)
    assert others[:2] == pytest.approx(weights)
    assert others[2] == pytest.approx(np.zeros(2), abs=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "fitted"),
    [(35, {0, 1, 3}), (36, {0, 1, 2, 3}), (44, {0, 1, 2, 3}), (45, {0, 1, 2, 3, 4}), (54, {0, 1, 2, 3, 4, 5})],
)
def test_a_joint_model_needs_three_rows_for_a_column(n_rows, fitted):
    """With three numeric factors the models have 3, 9, 12, 3, 15 and 18 columns."""
    factors = RNG.normal(size=(n_rows, 3))
    assert set(code_models(Evidence(factors, factors + RNG.normal(size=factors.shape))).weights) == fitted


def test_explained_shares_are_relative_to_the_variance_of_the_scores():
    """Two models, three rows and four codes; the mean squares of the scores are 1, 4, 1 and 0."""
    scores = np.array([[1.0, 2.0, 1.0, 0.0], [-1.0, -2.0, 1.0, 0.0], [1.0, 2.0, -1.0, 0.0]])
    squares = np.stack([np.full((3, 4), [0.25, 1.0, 2.0, 0.0]), np.array([[0.0] * 4, [0.0] * 4, [3.0] * 3 + [0.0]])])
    found = _Errors(scores, squares, 1).explained()
    assert found.tolist() == [[0.75, 0.75, -1.0, 1.0], [0.0, 0.75, 0.0, 1.0]]


def test_the_first_joint_model_within_a_standard_error_of_the_best_is_chosen():
    """One model of a single factor and three joint models of two rows; the columns are codes.

    More squared error than the best of (0, 1), (0, 2) or (0, 3) has a mean that is its standard deviation, which is
    sqrt(2) standard errors; more error of (1, 3) has a mean of 2 and a standard deviation of 1, and (-1, 2) has a mean
    of .5 and a standard deviation of 1.5.
    """
    best, half, far = [1.0, 1.0], [0.0, 3.0], [2.0, 4.0]
    codes = [
        (best, far, half, best),  # the second is within a standard error of the best, which is no joint model
        (far, far, far, best),
        (far, best, best, best),
        (best, [2.0, 3.0], far, far),  # no joint model is as good, and the first has the least error
        (best, far, [2.0, 3.0], far),
    ]
    errors = _Errors(np.ones((2, 5)), np.array(codes).transpose(1, 2, 0), 1)
    assert errors.simplest_joint().tolist() == [1, 2, 0, 0, 1]
    assert errors.best.tolist() == [[1.0] * 5] * 2


def test_predictions_are_those_of_ridge_regressions_without_the_fold():
    columns, targets = RNG.normal(size=(30, 4)) * [1.0, 5.0, 0.1, 1.0] + 2.0, RNG.normal(size=(30, 3))
    used, of = np.array([True, False, True, True]), np.array([True, False, True])
    found, weights = out_of_fold(columns, targets, FOLDS, 0.1, used=used, of=of)
    chosen, wanted = columns[:, used], targets[:, of]
    standard = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    middle = wanted.mean(axis=0)
    for test in FOLDS:
        train = np.setdiff1d(np.arange(30), test)
        slopes = np.linalg.solve(
            standard[train].T @ standard[train] + 3.0 * np.eye(3), standard[train].T @ (wanted - middle)[train]
        )
        assert found[test] == pytest.approx(standard[test] @ slopes + middle)
    slopes = np.linalg.solve(standard.T @ standard + 3.0 * np.eye(3), standard.T @ (wanted - middle))
    assert np.column_stack([np.ones(30), columns]) @ weights == pytest.approx(standard @ slopes + middle)
    assert weights[2].tolist() == [0.0, 0.0]


def test_each_of_several_factors_that_determine_each_other_gets_the_code_that_is_straight_in_it():
    x = RNG.normal(size=40)
    evidence = Evidence({"x": x, "cube": x**3, "other": RNG.normal(size=40)}, np.column_stack([-(x**3), x, x]))
    belongs = np.array([[True, True, False], [True, True, False], [True, True, False]])
    explained = np.array([[0.9, 0.9, 0.0], [0.9, 0.9, 0.0], [0.99, 0.9, 1.0]])
    assert _owners(evidence, belongs, explained).tolist() == [1, 0, 0]
    belongs[1] = False
    assert _owners(evidence, belongs, explained).tolist() == [1, -1, 0]


def test_a_factor_is_followed_if_a_live_code_is_its_own_or_needs_it_beside_others():
    """Codes of x, of 10 y + z, and of y + 10 z: of the second, z has 1 % of the variance."""
    x, y, z = np.linalg.qr(RNG.normal(size=(300, 3)) - 0.01)[0].T * 20
    found = code_models(Evidence({"x": x, "y": y, "z": z}, np.column_stack([x, 10 * y + z, y + 10 * z])))
    owner, no_one = np.array([0, -1, -1]), np.zeros(3, dtype=bool)
    found = replace(found, owner=owner, silent=no_one, model=np.zeros(3, dtype=int), of_codes=~no_one)
    for dead, followed in [((), [True, True, True]), ((0,), [False, True, True]), ((1,), [True, False, True])]:
        gone = np.isin(np.arange(3), dead)
        for models in (replace(found, silent=gone), replace(found, collapsed=gone)):
            assert [models.followed(j) for j in range(3)] == followed


A, B, C = np.random.default_rng(0).normal(size=(3, 300))


@pytest.mark.parametrize(
    ("columns", "left"),
    [([A, A, B], [0, 2]), ([A, B, A], [0, 1]), ([A, -A, A], [0]), ([A, B, C], [0, 1, 2]), ([A, A + 0.3 * B], [0, 1])],
)
def test_the_first_of_copies_is_left(columns, left):
    assert distinct_codes(np.column_stack(columns), np.arange(len(columns))).tolist() == left


def test_codes_that_differ_for_other_factors_are_no_copies():
    """Signals are the codes where the factors do not go together; a constant signal is no copy of anything."""
    observed, elsewhere = np.column_stack([A, A, A, A]), np.column_stack([A, B, -A, np.ones(300)])
    assert distinct_codes(observed, np.arange(4), elsewhere).tolist() == [0, 1, 3]


SIGNS = np.tile([[1.0], [-1.0]], (20, 1))


@pytest.mark.parametrize(("share", "expected"), [(0.0, True), (0.9, True), (1.1, False)])
def test_codes_are_explained_below_a_share_of_their_variance(share, expected):
    """A code of variance 9 with a model of its values, one of variance 4 with a model of its scores, and noise."""
    left = np.sqrt(share * drawn_codes.OWN_INFORMATION)
    found = SimpleNamespace(
        of_codes=np.array([True, False, False]),
        codes=SIGNS * [3.0, 100.0, 1.0],
        code_scores=SIGNS * [100.0, 2.0, 1.0],
        residuals=SIGNS * [3.0 * left, 2.0 * left, 1.0],
    )
    drawn = SimpleNamespace(responses=found)
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0, 1])) is expected
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0])) is expected
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0, 2])) is False


N = 400
ANGLE, X, LABEL = RNG.uniform(0, 360, N), RNG.normal(size=N), RNG.integers(0, 4, N)
EVIDENCE = Evidence(
    {"angle": ANGLE, "x": X, "label": LABEL},
    X,
    kinds={"angle": "circular:360", "x": "continuous", "label": "categorical"},
)
DESIGNS = [factor_design(EVIDENCE, j) for j in range(3)]


def test_a_turn_is_a_period():
    angle = np.radians(ANGLE)
    np.testing.assert_allclose(DESIGNS[0].plain, np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-12)
    in_turns = Evidence({"angle": ANGLE / 360}, X, kinds={"angle": "circular:1"})
    np.testing.assert_allclose(factor_design(in_turns, 0).smooth, DESIGNS[0].smooth, atol=1e-9)


@pytest.mark.parametrize("model", JOINT_MODELS)
def test_a_model_is_as_wide_as_it_says(model):
    assert model.columns(DESIGNS).shape == (N, model.width(DESIGNS))


def test_products_of_every_two_factors_are_in_the_models_that_have_products():
    product = X * (LABEL == 2)
    for model in JOINT_MODELS:
        design = np.column_stack([np.ones(N), model.columns(DESIGNS)])
        left = product - design @ np.linalg.lstsq(design, product, rcond=None)[0]
        assert (np.square(left).mean() < 0.05 * product.var()) == (model.products is not None)


@pytest.mark.parametrize(("n_rows", "n_steps"), [(59, 0), (60, 4), (74, 4), (75, 5), (299, 19), (300, 20), (400, 20)])
def test_steps_have_equally_many_rows(n_rows, n_steps):
    found = _steps(RNG.permutation(n_rows).astype(float), n_rows)
    assert found.shape == (n_rows, max(n_steps - 1, 0))
    sizes = [*found.sum(axis=0), n_rows - found.sum()] if n_steps else [0]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("n_values", "in_steps"), [(20, True), (21, False)])
def test_few_values_are_steps(n_values, in_steps):
    evidence = Evidence({"x": np.arange(100.0) % n_values}, kinds="continuous")
    design = factor_design(evidence, 0)
    assert design.in_steps is in_steps
    if in_steps:
        assert design.plain.ravel().tolist() == evidence.factors.ravel().tolist()
        assert design.smooth.shape == (100, 19)


@pytest.mark.parametrize(("n_rows", "n_knots"), [(80, 3), (159, 3), (160, 4), (319, 7), (320, 8), (400, 8)])
def test_smooth_functions_have_a_knot_for_forty_rows_and_three_to_eight(n_rows, n_knots):
    design = factor_design(Evidence({"x": X[:n_rows]}), 0)
    assert design.flexible.shape[1] == 3 + n_knots + _steps(X[:n_rows], n_rows).shape[1]
    assert design.smooth.shape[1] == 3 + (n_knots + 1) // 2


@pytest.mark.parametrize("model", JOINT_MODELS)
def test_the_columns_of_a_model_are_functions_of_the_factors_that_it_says(model):
    """A column changes if and only if a factor that it belongs to takes other values."""
    belongs = model.factors_of_columns(DESIGNS)
    before = model.columns(DESIGNS)
    for j in range(3):
        moved = [
            design.at(Places.at_rows(np.arange(N)[::-1])) if k == j else design for k, design in enumerate(DESIGNS)
        ]
        assert ((model.columns(moved) != before).any(axis=0) == belongs[:, j]).all()


NAMES = ["a", "b", "c"]


def evidence_with(sampler, n_rows=300):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, 1)) + 0.1 * rng.normal(size=(n_rows, 3))
    return Evidence(factors, 2 * factors, sampler=sampler, factor_names=NAMES, kinds="continuous")


def dependent(calls=None, posterior=False):
    """A sampler whose own factors are nearly one, unless they are fixed."""

    def sampler(fixed, n_rows, rng):
        if calls is not None:
            calls.append((dict(fixed), n_rows))
        factors = rng.normal(size=(n_rows, 1)) + 0.1 * rng.normal(size=(n_rows, 3))
        for name, value in fixed.items():
            factors[:, NAMES.index(name)] = value
        codes = 2 * factors
        return factors, Posterior(codes, np.ones_like(codes)) if posterior else codes

    return sampler


@pytest.mark.parametrize("posterior", [False, True])
def test_dependent_factors_are_fixed_row_by_row(posterior):
    calls = []
    evidence = evidence_with(dependent(calls, posterior))
    (drawn,) = independent_draws(evidence, ["c", "a"], 1, seed=0)
    assert drawn.factor_names == ("c", "a")
    assert drawn.declared_kinds == evidence.declared_kinds[:2]
    assert drawn.n_rows == 300
    assert abs(np.corrcoef(drawn.factors, rowvar=False)[0, 1]) < 4 / np.sqrt(300)
    assert sorted(drawn.factors[:, 0]) == pytest.approx(sorted(evidence.factors[:, 2]))
    assert drawn.codes[:, [2, 0]] == pytest.approx(2 * drawn.factors)
    assert [set(fixed) for fixed, _ in calls[1:]] == [{"a", "c"}] * 300
    assert {n_rows for _, n_rows in calls[1:]} == {1}


def test_at_most_so_many_rows_are_fixed_one_by_one(monkeypatch):
    monkeypatch.setattr(real_interventions, "MOST_CALLS", 20)
    drawn = independent_draws(evidence_with(dependent()), ["a", "b"], 2, seed=0)
    assert [each.n_rows for each in drawn] == [20, 20]
    assert not np.array_equal(drawn[0].factors, drawn[1].factors)


def test_a_sampler_that_fails_gives_nothing():
    def failing(fixed, n_rows, rng):
        raise RuntimeError("no")

    assert independent_draws(evidence_with(failing), ["a", "b"], 2, seed=0) == ()
    assert independent_draws(evidence_with(None), ["a", "b"], 2, seed=0) == ()


def test_one_factor_has_nothing_to_correlate_with_and_small_correlations_are_chance():
    first, second = np.random.default_rng(0).normal(size=(2, 400))
    second -= first * (first @ second) / (first @ first)
    assert _uncorrelated(first[:, None])
    assert _uncorrelated(np.column_stack([first, second + 0.1 * first]))
    assert not _uncorrelated(np.column_stack([first, second + 0.3 * first]))
    assert not _uncorrelated(np.column_stack([first, second - 0.3 * first]))


def near(apart, noise, seed=13):
    """Two factors that differ by ``apart`` standard deviations, and a code of their sum with noise."""
    x, difference, rest = np.random.default_rng(seed).normal(size=(3, 500))
    y = x + apart * difference
    return Evidence({"x": x, "y": y}, np.column_stack([x + y + noise * rest, rest]))


def followed(evidence):
    """Correlations of the first code with the factors."""
    return np.corrcoef(evidence.factors[:, 0], evidence.codes[:, 0])[0, 1], np.corrcoef(
        evidence.factors[:, 1], evidence.codes[:, 0]
    )[0, 1]


def test_a_code_that_could_be_of_either_is_shared():
    counterpart = Counterpart.of(near(0.03, 0.5))
    one, other = sorted(followed(counterpart.sample(0, same_codes=True)))
    assert one < 0.2 < 0.8 < other
    one, other = followed(counterpart.shared.sample(0, same_codes=True))
    # each has half of the code: 1 / sqrt(2) without noise
    assert 0.5 < one < 0.8
    assert 0.5 < other < 0.8


def test_nothing_is_shared_where_the_data_show_which_factor_it_is():
    x, difference = np.random.default_rng(0).normal(size=(2, 500))
    factors = np.column_stack([x, x + 0.1 * difference])
    for codes in (factors, factors**3, factors + 0.01 * np.random.default_rng(1).normal(size=factors.shape)):
        evidence = Evidence(factors, codes)
        assert shared_models(evidence, code_models(evidence)) is None


def test_nothing_is_shared_between_factors_that_differ():
    evidence = near(1.0, 0.5)
    assert shared_models(evidence, code_models(evidence)) is None


def test_every_second_draw_is_of_the_shared_models():
    evidence = near(0.03, 0.5)
    (step,) = [each for each in steps_of(evidence, diagnose(evidence)).steps if each.effect == "dependence"]
    assert len(step.after) % 2 == 0
    smaller = [min(followed(drawn)) for drawn in step.after]
    assert max(smaller[::2]) < 0.2 < 0.4 < min(smaller[1::2])
    # so the estimate is between those of the two assumptions
    scores = [mcc(drawn).value for drawn in step.after]
    assert max(scores[1::2]) < np.mean(scores) < min(scores[::2])


def test_residuals_come_from_rows_with_similar_factors():
    """Residuals that codes share stay shared, and residuals that depend on a factor still do."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000))
    common = rng.normal(size=1000) * np.where(c > 0, 1.0, 0.1)
    evidence = Evidence({"a": a, "b": b, "c": c}, np.column_stack([a + b + common, a - b + common]))
    drawn = Counterpart.of(evidence).sample(1, same_codes=True, same_rows=True)
    a, b, c = drawn.factors.T
    left = drawn.codes - np.column_stack([a + b, a - b])
    assert np.corrcoef(left, rowvar=False)[0, 1] > 0.9
    assert left[c > 0.5].std() > 2 * left[c < -0.5].std()  # 1 if rows were random


def test_of_equally_good_codes_the_straightest_is_named_whatever_its_sign():
    factor, other, *noise = RNG.normal(size=(4, 400))
    bent, straight = (factor + 0.15 * noise[0]) ** 3, -(factor + 0.15 * noise[1])
    found = code_models(Evidence({"x": factor, "y": other}, np.column_stack([bent, straight, other])))
    assert found.owner.tolist() == [0, 0, 1]
    assert {factor: teller.codes for factor, teller in tellers_of(found, 0).items()} == {0: (1,), 1: (2,)}


@pytest.mark.parametrize("waves", [1, 4, 7])
def test_curves_with_many_turns_are_read_too(waves):
    x = RNG.normal(size=(300, 1))
    assert _read_share(x, np.sin(waves * x[:, 0])) > 0.97
    assert _read_share(RNG.normal(size=(300, 1)), np.sin(waves * x[:, 0])) < 0.1


@pytest.mark.parametrize(("share", "told"), [(0.9, True), (0.899, False)])
def test_factors_are_told_from_a_limit_on(share, told):
    assert each_told({0: Teller((0,)), 1: Teller((1,), share)}, 2) is told
