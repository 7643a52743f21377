"""What fits into the budget of an audit: time already spent counts, cells that are known do not."""

from dataclasses import replace

import pytest

from unweave.auditing import measurement as measuring
from unweave.auditing.measurement import Bench, Case, Subject, subject_of
from unweave.store import Results
from unweave.sweeps import Measurement, sweep
from unweave.sweeps.execution import compute
from unweave.synthetic.encoders import Mixed, PermutedAndScaled
from unweave.synthetic.worlds import Independent

SMALL, LARGE = Case(Independent(2), Mixed(), 100), Case(Independent(2), Mixed(), 1000)
OTHER = Case(Independent(2), PermutedAndScaled(), 100)


@pytest.fixture
def bench(monkeypatch):
    """Every cell takes a second for each hundred rows."""
    monkeypatch.setattr(
        Subject, "measured", lambda self, data, seed: Measurement(self.label, 0.5, 0.5, None, data.n_rows / 100)
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


@pytest.mark.parametrize(
    ("n_jobs", "n_seeds", "batches"),
    [(1, 1, [1] * 9), (2, 2, [4, 4, 1]), (2, 3, [3, 3, 3]), (3, 3, [4, 4, 1]), (2, 1, [8, 1])],
)
def test_several_jobs_measure_four_cells_each_at_once(n_jobs, n_seeds, batches, monkeypatch):
    asked = []
    bench = Bench([subject_of(lambda factors, codes: 0.5)], n_jobs=n_jobs)
    monkeypatch.setattr(bench, "_run", lambda cases, seeds: asked.append(len(cases)) or {case: [] for case in cases})
    cases = [Case(Independent(2), Mixed(), 100 + k) for k in range(9)]
    assert list(bench.measure([*cases, cases[0]], range(n_seeds))) == cases
    assert [size for size in asked if size] == batches


@pytest.mark.parametrize(("n_jobs", "n_seeds", "used"), [(1, 3, 1), (2, 3, 2), (4, 3, 3), (4, 1, 1)])
def test_there_are_no_more_jobs_than_cells(n_jobs, n_seeds, used, monkeypatch):
    asked = []

    def computed(tasks, n_jobs, idle):
        asked.extend([n_jobs] * bool(tasks))
        return enumerate(map(compute, tasks))

    monkeypatch.setattr(measuring, "computed", computed)
    Bench([subject_of(lambda factors, codes: 0.5)], n_jobs=n_jobs).measure([SMALL], range(n_seeds))
    assert asked == [used]


def test_the_slowest_cell_of_a_size_counts(bench, monkeypatch):
    seconds = iter([2.0, 5.0, 3.0])
    monkeypatch.setattr(Subject, "measured", lambda self, *_: Measurement(self.label, 0.5, 0.5, None, next(seconds)))
    bench.budget = None
    bench.measure([SMALL], [0, 1, 2])
    assert bench._seconds_by_size == {SMALL.size: 5.0}
    assert bench.spent == 10.0


def test_a_cell_is_known_if_all_subjects_have_it(bench):
    both = Bench([*bench.subjects, subject_of("mcc")], bench.store)
    bench.measure([SMALL], [0])
    assert bench._known(SMALL, 0)
    assert not both._known(SMALL, 0)


def test_outcomes_are_read_with_the_same_libraries_and_version_only(tmp_path, monkeypatch):
    path, subject = tmp_path / "cells.jsonl", subject_of("mcc")
    Bench([subject], Results(path)).measure([SMALL], [0])
    assert Bench([subject], Results(path))._known(SMALL, 0)
    assert not Bench([replace(subject, worst=-1.0)], Results(path))._known(SMALL, 0)
    monkeypatch.setattr(sweep, "library_releases", lambda: {"numpy": "0.1"})
    assert not Bench([subject], Results(path))._known(SMALL, 0)
