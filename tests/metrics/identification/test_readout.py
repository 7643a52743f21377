"""Regressions that read a factor from codes: penalties that the rows allow, and the nearest rows."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.metrics.identification import (
    Luck,
    _lengths,
    _linear_readouts,
    _luck_of_mixings,
    _reason,
    factor_findings,
    luck,
)

readout = sys.modules["unweave.metrics.identification"]  # the metric of this name hides its module


@pytest.mark.parametrize(("n_rows", "smallest"), [(17, 1e-6), (16, 1e-3), (15, 1e-3)])
def test_a_small_penalty_needs_more_than_two_rows_for_a_function(n_rows, smallest, monkeypatch):
    """A code that varies has eight functions."""
    used = []
    fit = readout.out_of_fold_least_squares
    monkeypatch.setattr(readout, "out_of_fold_least_squares", lambda *given: used.append(given[3]) or fit(*given))
    rng = np.random.default_rng(0)
    readout.readouts(rng.normal(size=(n_rows, 1)), (rng.normal(size=(n_rows, 1)),), np.arange(n_rows) % 5, [1])
    assert used == [penalty for penalty in (1e-6, 1e-3, 1e-1) if penalty >= smallest]


def test_an_exact_fit_ends_the_search():
    codes = np.random.default_rng(0).normal(size=(100, 1))
    assert readout.readouts(codes, (codes,), np.arange(100) % 5, [1]) == pytest.approx([1.0], abs=1e-6)


def test_neighbours_are_rows_of_other_folds():
    """Four rows next to each other on a line, of which two are in the fold of the row itself."""
    fold = np.array([0, 0, 1, 1, 1])
    place = np.arange(5.0)
    distance = np.where(fold[:, None] == fold, np.inf, np.square(place[:, None] - place)).astype(np.float32)
    assert readout._of_neighbours(distance, place[:, None]) == []  # two rows of the other fold are too few
    fold = np.arange(40) % 2
    place = np.arange(40.0)
    distance = np.where(fold[:, None] == fold, np.inf, np.square(place[:, None] - place)).astype(np.float32)
    of_three, of_five, of_many = readout._of_neighbours(distance, place[:, None])
    assert (of_three[0, 0], of_five[0, 0], of_many[0, 0]) == (3.0, 5.0, 15.0)  # 1, 3, 5 and so on
    assert (of_three[39, 0], of_five[39, 0], of_many[39, 0]) == (36.0, 34.0, 24.0)


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_linear_readouts_do_not_depend_on_the_unit_of_codes(unit):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(200, 1))
    codes = np.column_stack([factor + rng.normal(size=(200, 1)), factor + rng.normal(size=(200, 1)), np.zeros(200)])
    found = _linear_readouts(codes * [unit, 1.0, unit], (factor,), np.arange(200) % 5, [1, 2, 3])
    assert found[:2] == pytest.approx([1 / 2, 2 / 3], abs=0.08)
    assert found[2] == pytest.approx(found[1])
    assert found == pytest.approx(_linear_readouts(codes, (factor,), np.arange(200) % 5, [1, 2, 3]), rel=1e-6)


@pytest.mark.parametrize(
    ("code", "n_functions"),
    [
        (np.arange(12.0).repeat(20), 12),
        (np.arange(13.0).repeat(20), 8 + 8),
        (np.maximum(np.arange(200.0), 4), 8),
        (np.maximum(np.arange(200.0), 5), 8 + 1),
        (np.maximum(np.arange(400.0), 7), 8),
        (np.maximum(np.arange(400.0), 8), 8 + 1),
    ],
    ids=["12 values", "13 values", "5 of 200 rows", "6 of 200 rows", "8 of 400 rows", "9 of 400 rows"],
)
def test_values_that_many_rows_share_have_indicators(code, n_functions):
    """Up to twelve values have nothing else; of more, at most eight that more than 5 rows and 2 % of all rows share."""
    found = readout._functions_of(code)
    assert found.shape == (code.size, n_functions)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), 1.0)


@pytest.mark.parametrize(
    ("n", "lengths"), [(0, []), (1, [1]), (2, [1, 2]), (7, [1, 2, 3, 4, 5, 6, 7]), (9, [1, 2, 3, 4, 5, 6, 8, 9])]
)
def test_numbers_of_codes_that_are_tried(n, lengths):
    assert _lengths(n) == lengths


def test_the_chance_level_is_interpolated_between_numbers_of_codes():
    two, three = luck(2, 2), luck(3, 2)
    assert luck(2.25, 2) == Luck(
        pytest.approx(0.75 * two.quantile + 0.25 * three.quantile),
        pytest.approx(0.75 * two.passing + 0.25 * three.passing),
    )
    assert luck(0.3, 2) == luck(1, 2)
    assert luck(5, 1) == Luck(0.0, 0.0)


def test_above_two_codes_for_a_factor_the_chance_level_is_interpolated_on_a_log_scale():
    """Beyond 4 codes of 2 factors, the next numbers are 5 and 7: 4 times 1.3 and 1.69, rounded."""
    four, five, seven = (_luck_of_mixings(n_codes, 2) for n_codes in (4, 5, 7))
    assert luck(4, 2) == four
    share = np.log(4.5 / 4) / np.log(5 / 4)
    assert luck(4.5, 2).quantile == pytest.approx((1 - share) * four.quantile + share * five.quantile)
    share = np.log(6 / 5) / np.log(7 / 5)
    assert luck(6, 2).quantile == pytest.approx((1 - share) * five.quantile + share * seven.quantile)
    assert luck(6, 2).passing == pytest.approx((1 - share) * five.passing + share * seven.passing)


def found_about(**given):
    """What is known about two factors and two codes, where each code is a factor, with other values as given."""
    known = {
        "chosen": (np.array([0]), np.array([1])),
        "alone": [True, True],
        "read": [1.0, 1.0],
        "affine": [1.0, 1.0],
        "purity": np.eye(2),
        "unmixed": np.eye(2),
        "signal": [1.0, 1.0],
        "identified": [1.0, 1.0],
        "free": np.array([0, 1]),
    } | given
    recovery = SimpleNamespace(chosen=known["chosen"], alone=known["alone"], read=known["read"])
    responses = SimpleNamespace(purity=known["purity"], unmixed=known["unmixed"], signal=known["signal"])
    return SimpleNamespace(
        recovery=recovery,
        responses=responses,
        affine=known["affine"],
        identified=known["identified"],
        free=known["free"],
    )


NO_CODE = (np.empty(0, dtype=np.intp), np.array([1]))


@pytest.mark.parametrize(
    ("given", "reason", "others"),
    [
        ({"chosen": NO_CODE, "affine": [0.09, 1.0]}, "absent", []),
        ({"chosen": NO_CODE, "affine": [0.1, 1.0]}, "mixed", []),
        ({"affine": [0.0, 1.0], "purity": np.array([[0.09, 0.0], [0.0, 1.0]])}, "absent", []),
        ({"affine": [0.0, 1.0], "purity": np.array([[0.1, 0.0], [0.0, 1.0]]), "signal": [0.5, 1.0]}, "noisy", []),
        ({"signal": [0.6, 1.0], "read": [0.7, 1.0]}, "noisy", []),
        ({"signal": [0.8, 1.0], "read": [0.7, 1.0]}, "folded", []),
        ({"signal": [0.8, 1.0], "read": [0.7, 1.0], "alone": [False, True]}, "noisy", []),
        ({"signal": [0.8, 1.0], "alone": [False, True], "unmixed": np.array([[0.7, 0.1], [0, 1]])}, "mixed", [1]),
        ({"signal": [0.8, 1.0], "alone": [False, True], "unmixed": np.array([[0.7, 0.09], [0, 1]])}, "mixed", []),
        ({"signal": [0.6, 1.0], "alone": [False, True], "unmixed": np.array([[0.7, 0.3], [0, 1]])}, "noisy", []),
        ({"alone": [False, True], "unmixed": np.array([[0.7, 0.3], [0, 1]]), "free": np.array([0])}, "mixed", []),
    ],
)
def test_the_largest_loss_is_the_reason(given, reason, others):
    assert _reason(found_about(**given), 0) == (reason, others)


@pytest.mark.parametrize(
    ("share", "kind"),
    [
        (0.8, "factor_identified"),
        (0.79, "factor_partly_identified"),
        (0.1, "factor_partly_identified"),
        (0.09, "factor_not_identified"),
        (-0.4, "factor_not_identified"),
    ],
)
def test_shares_that_count_as_identified(share, kind):
    factors = np.random.default_rng(0).normal(size=(20, 2))
    evidence = Evidence(factors, factors, factor_names=["x", "y"])
    first, second = factor_findings(evidence, found_about(identified=[share, 1.0], signal=[0.5, 1.0]))
    assert (first.kind, first.factors, first.codes) == (kind, ("x",), ("code 0",))
    assert first.quantities["share"] == max(share, 0.0)
    assert (second.kind, second.codes) == ("factor_identified", ("code 1",))


def test_a_factor_that_others_determine_and_an_absent_one():
    factors = np.random.default_rng(0).normal(size=(20, 2))
    evidence = Evidence(factors, factors)
    found = found_about(identified=[0.5, 0.0], free=np.array([1]), affine=[1.0, 0.0], purity=np.diag([1.0, 0.0]))
    determined, absent = factor_findings(evidence, found)
    assert (determined.kind, determined.factors) == ("factor_determined", ("factor 0",))
    assert (absent.kind, absent.quantities["reason"], absent.codes) == ("factor_not_identified", "absent", ())
