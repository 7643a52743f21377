"""Codes of the counterpart: how many rows and codes they have, and what stands for codes that only many predict."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust import counterpart
from unweave.trust.code_models import Places
from unweave.trust.counterpart import (
    Counterpart,
    DrawnCodes,
    Teller,
    _no_chance,
    _with_own_information,
    stands_for_its_factor,
)

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
