"""Regressions that read a factor from codes: penalties that the rows allow, and the nearest rows."""

import numpy as np
import pytest

from unweave.metrics.identification import readout
from unweave.metrics.identification.recovery import _linear_readouts


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
