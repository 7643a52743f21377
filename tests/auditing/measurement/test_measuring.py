"""What fits into the budget of an audit: time already spent counts, cells that are known do not."""

import pytest

from unweave.auditing.measurement import measuring
from unweave.auditing.measurement.cases import Case
from unweave.auditing.measurement.measuring import Bench, Outcome
from unweave.auditing.measurement.store import CellStore
from unweave.auditing.measurement.subjects import subject_of
from unweave.synthetic.encoders import Mixed, PermutedAndScaled
from unweave.synthetic.worlds import Independent

SMALL, LARGE = Case(Independent(2), Mixed(), 100), Case(Independent(2), Mixed(), 1000)
OTHER = Case(Independent(2), PermutedAndScaled(), 100)


@pytest.fixture
def bench(monkeypatch):
    """Every cell takes a second for each hundred rows."""
    monkeypatch.setattr(
        measuring, "outcomes", lambda case, seed, subjects: [Outcome(0.5, None, case.n_rows / 100) for _ in subjects]
    )
    return Bench([subject_of(lambda factors, codes: 0.5)], budget=10.0)


def test_known_cells_cost_nothing(bench):
    bench.measure([SMALL], [0, 1])
    assert bench.spent == 2.0
    bench.measure([SMALL], [0, 1])
    assert bench.spent == 2.0
    bench.measure([SMALL], [0, 1, 2])
    assert bench.spent == 3.0


def test_a_cell_is_expected_to_take_its_share_of_a_smaller_one(bench):
    bench.measure([SMALL], [0])
    size = LARGE.size / SMALL.size
    assert bench._expected_seconds(LARGE.size) == pytest.approx(size)
    assert bench._expected_seconds(SMALL.size) == 1.0
    assert bench._expected_seconds(SMALL.size - 1) == 0.0
    assert set(bench.measure([LARGE, OTHER], [0])) == {OTHER}  # ten seconds do not fit into the nine that are left


@pytest.mark.parametrize(("spent", "fits"), [(8.0, True), (9.0, True), (9.5, False), (10.0, False)])
def test_what_ends_with_the_budget_fits(bench, spent, fits):
    bench.measure([SMALL], [0])
    bench.spent = spent
    assert bench._fits([OTHER], [0]) == fits
    assert bench._fits([SMALL], [0])
    bench.budget = None
    assert bench._fits([OTHER], [0])


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "cells.jsonl"
    CellStore(path).add(("a", "case", 0), Outcome(0.25, None, 1.5))
    path.write_text(path.read_text() + '["b", "case", 0, 0.')
    cut = CellStore(path)
    assert (cut.get(("a", "case", 0)), cut.get(("b", "case", 0))) == (Outcome(0.25, None, 1.5), None)
    cut.add(("c", "case", 0), Outcome(None, "it failed", 0.5))
    assert CellStore(path).get(("c", "case", 0)) == Outcome(None, "it failed", 0.5)
    assert len(path.read_text().splitlines()) == 3
