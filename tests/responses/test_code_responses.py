"""Responses of codes: the factor of each code, and the representations and fits behind it."""

from dataclasses import replace

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.responses import responses as code_responses
from unweave.responses.factor_bases import (
    any_lumps,
    collapsed_codes,
    factor_bases,
    factor_view,
    fold_of_rows,
    has_lumps,
    narrow_codes,
    plain_codes,
)
from unweave.responses.responses import (
    MODELS,
    _along,
    _level_means,
    _smallest_sufficient,
    _standard_error,
    local_fits,
    responses_to_factors,
)

N = 1000
Z = np.random.default_rng(5).normal(size=(N, 4))


def responses(codes, factors=Z, **options):
    return responses_to_factors(Evidence(factors, np.column_stack(codes), **options), 5, 0)


def test_a_sum_belongs_to_no_factor_and_a_function_of_one_to_that():
    found = responses([Z[:, 0] + 2 * Z[:, 1], Z[:, 2], np.abs(Z[:, 3])])
    assert found.factor.tolist() == [-1, 2, 3]
    np.testing.assert_allclose(found.explained, 1, atol=0.01)


def test_noise_is_nobodys():
    rng = np.random.default_rng(6)
    found = responses([Z[:, 0] + rng.normal(size=N), rng.normal(size=N)])
    assert found.informative.tolist() == [True, False]
    assert found.explained[0] == pytest.approx(0.5, abs=0.06)


def test_products_of_pairs_are_told_from_sums_and_from_more():
    found = responses([Z[:, 0] * Z[:, 1], Z[:, 0] + np.sin(Z[:, 1])])
    assert [MODELS[k] for k in found.model] == ["pairs", "additive"]
    assert found.explained[0] > 0.9


def test_a_circle_has_whole_harmonics_of_variance_one():
    degrees = np.random.default_rng(7).uniform(0, 360, N)
    [circle] = factor_bases(Evidence({"angle": degrees}, Z, kinds={"angle": "circular:360"}))
    angle = np.radians(degrees)
    np.testing.assert_allclose(circle.linear, np.sqrt(2) * np.column_stack([np.cos(angle), np.sin(angle)]))
    assert circle.smooth.shape[1] == 8
    np.testing.assert_allclose(np.cov(circle.smooth, rowvar=False, bias=True), np.eye(8), atol=1e-8)


def test_rows_next_to_a_row_lie_on_both_sides():
    """For a linear code, the mean of the neighbours equals the code up to the distance between rows."""
    line = np.linspace(-1, 1, N)
    [factor] = factor_bases(Evidence(line[:, None], line[:, None]))
    of_three, of_many = local_fits(factor, line[:, None], np.arange(N) % 5)
    inner = slice(20, -20)
    assert abs((of_many[inner, 0] - line[inner]).mean()) < 0.1 * (line[1] - line[0])
    assert abs((of_three[inner, 0] - line[inner]).mean()) < (line[1] - line[0])


def test_even_values_have_no_lumps_and_few_equal_ones_make_none():
    even = np.linspace(0, 1, N)
    assert not has_lumps(even)
    assert not has_lumps(np.r_[even, 0.5, 0.5])
    assert has_lumps(np.r_[even, np.full(N // 4, 0.5)])


def test_views_are_standardised():
    view = factor_view(Evidence({"x": 3 + 5 * Z[:, 0]}), 0)
    assert view.targets.std() == pytest.approx(1)
    assert view.targets.mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("apart", "expected"), [(0.5, True), (1.0, False)])
def test_lumps_are_at_most_twice_as_wide_as_the_gaps(apart, expected):
    """Two runs of ten values, 4.45 from each other: a run of width 9 has no gap of 4.5 around it."""
    run = apart * np.arange(10)
    assert has_lumps(np.r_[run, run + run[-1] + 4.45]) is expected


def test_fewer_than_ten_values_are_no_lump():
    for n_near, expected in ((9, False), (10, True)):
        assert has_lumps(np.r_[np.linspace(0, 0.01, n_near), 10.0 * np.arange(1, 60)]) is expected


def line(place, circle=False):
    """A factor whose rows lie at these places."""
    [factor] = factor_bases(Evidence(place[:, None], place[:, None]))
    return replace(factor, place=place, circle=circle, levels=False)


def test_neighbours_at_both_ends_of_a_line_are_the_nearest_rows_of_other_folds():
    """The neighbours of row 0 are the rows 1, 3, ..., 15, and those of row 39 are 24, 26, ..., 38."""
    place = np.arange(40.0)
    of_three, of_many = local_fits(line(place), place[:, None], np.arange(40) % 2)
    assert of_many[[0, 1, 39], 0].tolist() == [8.0, 7.0, 31.0]
    assert of_many[20, 0] == 20.0  # 13, 15, ..., 27
    assert of_three[[0, 10, 39], 0].tolist() == [1.0, 11.0, 38.0]


def test_a_circle_goes_on_for_half_a_turn_at_both_ends():
    place = np.array([0.6, 0.1, 0.9, 0.5, 0.4])
    rows, at = _along(line(place, circle=True), np.arange(5))
    assert rows.tolist() == [3, 0, 2, 1, 4, 3, 0, 2, 1, 4]
    assert at == pytest.approx([-0.5, -0.4, -0.1, 0.1, 0.4, 0.5, 0.6, 0.9, 1.1, 1.4])
    rows, at = _along(line(place), np.array([0, 1, 2]))
    assert (rows.tolist(), at.tolist()) == ([1, 0, 2], [0.1, 0.6, 0.9])


def test_means_of_levels_are_those_of_other_folds():
    """Level 2 is in fold 1 alone, so that the mean of fold 0 takes its place."""
    level, fold = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1])
    found = _level_means(level, np.array([[1.0], [3.0], [5.0], [9.0], [100.0]]), fold)
    assert found[:, 0].tolist() == [3.0, 1.0, 9.0, 5.0, 3.0]


def test_rows_of_one_group_count_as_one_in_a_standard_error():
    means = np.array([[1.0, 5.0], [3.0, 5.0], [8.0, 6.0], [4.0, 8.0]])
    exact = means.std(axis=0) / 2
    assert _standard_error(means, None) == pytest.approx(exact)
    groups = np.array([2, 0, 1, 3] * 3)
    assert _standard_error(means[groups], groups) == pytest.approx(exact)
    # groups of one and three rows: the sums of deviations from 3 are -3 and 3, and rows are twice as many as groups
    assert _standard_error(np.array([[0.0], [4.0], [4.0], [4.0]]), np.array([0, 1, 1, 1])) == pytest.approx(
        1.5 / 2**0.5
    )


EVEN, UNEVEN = np.ones(4), np.array([0.0, 0.0, 2.0, 2.0])  # mean 1, and standard errors of 0 and 1/2


@pytest.mark.parametrize(
    ("excess", "variance", "allowed", "kept"),
    [
        (0.25 * EVEN, 1.0, (9.0, 0.25), True),
        (0.26 * EVEN, 1.0, (9.0, 0.25), False),
        (UNEVEN, 4.0, (2.0, 0.0), True),
        (UNEVEN, 4.0, (1.9, 0.0), False),
        (UNEVEN, 4.0, (1.9, 0.25), True),  # the larger of both counts
        (0.5 * EVEN, 1.0, (0.0, 9.0), True),  # half of what the best model explains
        (0.51 * EVEN, 1.0, (0.0, 9.0), False),
        (0.01 * EVEN, 0.0, (0.0, 9.0), False),  # the best model explains nothing
        (0.0 * EVEN, 0.0, (0.0, 0.0), True),
    ],
)
def test_a_smaller_model_is_kept_if_its_loss_is_within_the_limit(excess, variance, allowed, kept):
    """The best model of the first code is the second one, and that of the second code is the third one."""
    least = np.zeros(4)
    errors = [np.stack([excess, 9 * EVEN], 1), np.stack([least, excess], 1), np.stack([least, least], 1)]
    found = _smallest_sufficient(errors, np.full(2, variance), [allowed] * 3, None)
    assert found.tolist() == ([0, 1] if kept else [1, 2])


def test_codes_are_informative_beyond_what_the_best_of_all_tests_explains_by_chance():
    """Noise explains more than 2 log(tests / .01) / n of a code in one of a hundred data sets; a test is a fit."""
    n, rng = 200, np.random.default_rng(9)
    z = rng.normal(size=(n, 2))
    noise = np.linalg.qr(np.column_stack([np.ones(n), z, rng.normal(size=(n, 1))]))[0][:, 3]
    codes = z[:, :1] / z[:, 0].std() + np.linspace(1.2, 3.4, 50) * np.sqrt(n) * noise[:, None]
    found = responses(codes.T, factors=z)
    limit = 2 * np.log(50 * 2 * len(MODELS) / 0.01) / n
    assert found.informative.tolist() == (found.explained > limit).tolist()
    assert 10 < found.informative.sum() < 40
    alone = 2 * np.log(2 * len(MODELS) / 0.01) / n
    above, below = codes[:, found.explained > alone][:, -1:], codes[:, found.explained < alone][:, :1]
    for one, expected in ((above, True), (below, False)):
        single = responses(one.T, factors=z)
        assert single.explained[0] == pytest.approx(alone, rel=0.08)
        assert single.informative.tolist() == [expected]


def test_codes_are_analysed_alike_in_blocks_and_at_once(monkeypatch):
    z = Z[:80, :2]
    codes = [z[:, 0], z[:, 1] ** 3, z.sum(axis=1), z.prod(axis=1), z[:, 1]]
    whole = responses(codes, factors=z)
    monkeypatch.setattr(code_responses, "MOST_CODES_AT_ONCE", 2)
    parts = responses(codes, factors=z)
    for name, value in vars(whole).items():
        assert getattr(parts, name) == pytest.approx(value), name


@pytest.mark.parametrize(
    ("n_folds", "groups", "n_made"),
    [(1, None, 2), (2, None, 2), (5, None, 5), (20, None, 12), (5, np.arange(12) % 3, 3), (2, np.arange(12) % 3, 2)],
)
def test_there_are_two_folds_or_more_and_no_more_than_groups(n_folds, groups, n_made):
    evidence = Evidence(np.arange(12), np.arange(12), row_groups=groups)
    fold = fold_of_rows(evidence, n_folds, 0)
    assert sorted(set(fold.tolist())) == list(range(n_made))
    if groups is not None:
        assert all(len(set(fold[groups == k])) == 1 for k in range(3))


def test_codes_that_vary_by_less_than_a_fivehundredth_of_the_widest_one_are_narrow():
    """The spread is that of the 10 % and 90 % quantiles, and a code that never varies is dead, not narrow."""
    line = np.linspace(-1, 1, 101)
    codes = np.column_stack([line, 0.002 * line, 0.0021 * line, np.zeros(101), 0.0019 * line, line])
    codes[[0, -1], 4] = -50.0, 50.0
    evidence = Evidence(line, codes)
    assert narrow_codes(evidence) == ("code 1", "code 4")
    assert collapsed_codes(evidence) == ("code 3",)
    assert narrow_codes(Evidence(line, Posterior(codes, np.ones_like(codes)))) == ()


def test_codes_that_carry_less_than_a_fiftieth_of_a_nat_have_collapsed():
    """log(1 + v / s^2) / 2 nats, with v the variance of the means and s that of the posterior."""
    line = np.linspace(-1, 1, 101) / np.linspace(-1, 1, 101).std()
    share = np.expm1(2 * 0.02)
    mean = np.column_stack([line, line, 1e-9 * line, line, np.zeros(101)])
    std = np.sqrt([1.01 / share, 0.99 / share, 0.99e-18 / share, 1e-300, 1.0]) * np.ones((101, 1))
    assert collapsed_codes(Evidence(line, Posterior(mean, std))) == ("code 0", "code 4")


def test_plain_codes_are_standardised_in_any_unit():
    line = np.arange(5.0)
    found = plain_codes(Evidence(line, np.column_stack([line, -1e200 * line + 1e200, 1e-200 * line])))
    exact = (line - 2) / np.sqrt(2)
    assert found == pytest.approx(np.column_stack([exact, -exact, exact]))


@pytest.mark.parametrize(
    ("column", "kind", "expected"),
    [
        (np.arange(60) % 4, "ordinal", True),
        (np.arange(60) % 4, "categorical", True),
        (np.linspace(0, 1, 60), "continuous", False),
        (np.repeat([0.0, 1.0], 30), "continuous", True),
        (np.repeat([0.0, 1.0], 30), "circular:3", False),
        (np.ones(60), "ordinal", False),
    ],
)
def test_factors_with_levels_or_clusters_have_lumps(column, kind, expected):
    assert any_lumps(Evidence({"even": np.linspace(0, 1, 60), "x": column}, kinds={"x": kind})) is expected
