"""Sweeps give the same table however they are computed, and compute no cell twice."""

import json
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from tiny_cells import Arithmetic, Gaussian, Raising, Same, ThreadCounts, first, largest_thread_count, many, second

from unweave import Evidence, InputError, Score, UnweaveError
from unweave.metrics import dci_disentanglement, mcc, r2
from unweave.randomness import random_stream
from unweave.sweeps import AllRows, Cell, Measurement, Sweep, SweepStopped, execution, grid, measured, run
from unweave.sweeps.execution import _refuse_other_versions, compute
from unweave.synthetic.encoders import Mixed, Noise
from unweave.threads import one_thread, thread_controller


def table_bytes(folder):
    return (Path(folder) / "table.parquet").read_bytes()


def calls(record):
    return len(record.read_text().split()) if record.exists() else 0


def test_one_and_two_workers_give_the_same_bytes(tmp_path):
    sweep = grid(
        "both",
        worlds=[Gaussian(3)],
        encoders=[Mixed(3.0), Noise(4)],
        metrics=["mcc:correlation=rdc", "r2", "dci_disentanglement", "mig"],
        n_rows=60,
        n_seeds=2,
    )
    tables = [run(sweep, tmp_path / str(n_jobs), n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert tables[0].equals(tables[1])
    assert table_bytes(tmp_path / "1") == table_bytes(tmp_path / "2")
    assert tables[0].height == 2 * 2 * 4
    assert not tables[0]["value"].is_nan().any()


def test_numbers_are_those_of_the_metrics(tmp_path):
    of_world, of_encoder = random_stream(5, "factors of a cell"), random_stream(5, "codes of a cell")
    factors = Gaussian(3).sample(200, of_world)
    evidence = Evidence(factors, Mixed().encode(factors, of_encoder))
    cell = Cell(Gaussian(3), Mixed(), 200, 5, (mcc, r2, dci_disentanglement))
    expected = [mcc(evidence), r2(evidence, rng=5), dci_disentanglement(evidence, rng=5)]
    assert run(Sweep("one", (cell,)), tmp_path)["raw"].to_list() == [score.raw for score in expected]


def test_a_finished_run_computes_and_writes_nothing(tmp_path):
    record = tmp_path / "record"
    sweep = many(20, record=str(record))
    before = run(sweep, tmp_path / "out")
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.*")}
    assert calls(record) == 20
    assert run(sweep, tmp_path / "out").equals(before)
    assert calls(record) == 20
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.*")} == files


def test_only_what_is_new_is_computed(tmp_path):
    record = tmp_path / "record"
    world, encoder = Gaussian(), Same(str(record))

    def swept(metrics, n_seeds):
        return run(
            grid("s", worlds=[world], encoders=[encoder], metrics=metrics, n_rows=20, n_seeds=n_seeds), tmp_path / "o"
        )

    swept([first], 3)
    assert calls(record) == 3
    swept([first], 5)
    assert calls(record) == 3 + 2
    both = swept([second, first], 5)
    assert calls(record) == 3 + 2 + 5
    assert both["metric"].to_list() == ["second", "first"] * 5
    assert swept([first], 3).height == 3  # a smaller sweep again: the table has only its rows
    assert swept([second], 5).height == 5  # results of the larger sweep are still stored
    assert calls(record) == 3 + 2 + 5


def test_the_same_content_is_computed_once(tmp_path):
    record = tmp_path / "record"
    cells = [
        Cell(Gaussian(), Same(str(record)), 20, 0, {"a": first, "b": "mcc", "c": first}, labels={"name": name})
        for name in ("x", "y")
    ]
    table = run(Sweep("twice", tuple(cells)), tmp_path / "out")
    assert calls(record) == 1
    assert table.select("name", "metric").rows() == [(name, label) for name in "xy" for label in "abc"]
    assert table["value"].to_list() == pytest.approx([1.0] * 6)


def test_which_metrics_are_asked_for_changes_no_number(tmp_path):
    cell = Cell(Gaussian(), Mixed(), 100, 1, ("r2", "mcc", "dci_disentanglement"))
    together = compute(cell)
    alone = {}
    for label in cell.metric_by_label:
        alone |= compute(cell.only([label]))
    assert alone == together


def test_a_metric_that_cannot_gives_nan_with_its_reason(tmp_path):
    cell = Cell(Gaussian(), Mixed(), 5, 0, ("mcc", first))
    table = run(Sweep("few", (cell,)), tmp_path)
    assert table["value"].is_nan().to_list() == [True, False]
    assert "at least 10 rows" in table["problem"][0]


@pytest.mark.parametrize(("kind", "tried_again"), [("bug", True), ("undefined", False)])
def test_accidents_are_tried_again_and_answers_are_not(tmp_path, kind, tried_again):
    fixed = tmp_path / "fixed"
    sweep = Sweep("raises", (Cell(Gaussian(), Raising(kind, str(fixed)), 20, 0, (first,)),))
    table = run(sweep, tmp_path / "out")
    assert np.isnan(table["value"][0])
    assert "on purpose" in table["problem"][0]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["finished"] != tried_again
    fixed.touch()
    assert np.isnan(run(sweep, tmp_path / "out")["value"][0]) != tried_again


def test_an_interrupted_run_says_so_and_goes_on(tmp_path):
    fixed = tmp_path / "fixed"
    cells = [*many(3).cells, Cell(Gaussian(), Raising("stop", str(fixed)), 20, 0, (first,)), *many(6).cells]
    with pytest.raises(KeyboardInterrupt, match="run the same sweep again to continue"):
        run(Sweep("stops", tuple(cells)), tmp_path / "out")
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["finished"] is False
    fixed.touch()
    assert run(Sweep("stops", tuple(cells)), tmp_path / "out").height == 3 * 2 + 1 + 6 * 2


def test_a_cell_that_ends_its_process_fails_alone(tmp_path):
    fixed = tmp_path / "fixed"
    cells = [*many(3).cells, Cell(Gaussian(), Raising("exit", str(fixed)), 20, 0, (first,)), *many(6).cells[3:]]
    table = run(Sweep("dies", tuple(cells)), tmp_path / "out", n_jobs=2)
    lost = table.filter(table["encoder"].str.starts_with("Raising"))
    assert lost["problem"].to_list() == ["Its process ended 2 times (a crash, killed, or out of memory)."]
    assert table.height == 6 * 2 + 1
    others = table.filter(~table["encoder"].str.starts_with("Raising"))
    assert others.equals(run(many(6), tmp_path / "whole").select(others.columns))
    fixed.touch()
    again = run(Sweep("dies", tuple(cells)), tmp_path / "out")
    assert again["value"].is_nan().sum() == others["value"].is_nan().sum()


def test_a_cell_that_does_not_end_is_stopped_at_the_limit(tmp_path):
    slow = Cell(Gaussian(), Same(), 10, 1, (first,), Arithmetic(pause=600))
    quick = [Cell(Gaussian(), Same(), 10, seed, (first,), Arithmetic()) for seed in (2, 3)]
    table = run(Sweep("hangs", (slow, *quick)), tmp_path / "out", time_limit=1.5)
    assert table["problem"].to_list() == ["It was stopped after the time limit of 1.5 seconds.", None, None]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert not manifest["finished"]


def test_cells_compute_with_one_thread(tmp_path):
    """This holds for any limits outside, and they are restored."""
    sweep = Sweep("threads", (Cell(Gaussian(), Same(), 10, 0, (first,), ThreadCounts()),))
    with threadpool_limits(2):
        before = threadpool_info()
        assert {entry["num_threads"] for entry in before} == {2}
        assert run(sweep, tmp_path)["value"].to_list() == [1.0]
        assert threadpool_info() == before


def test_threads_come_back_when_the_last_cell_leaves():
    """A Dask worker runs cells in several threads; the first one to finish must not restore the limits."""
    with threadpool_limits(2), ExitStack() as first_cell, ExitStack() as second_cell:
        first_cell.enter_context(one_thread())
        second_cell.enter_context(one_thread())
        first_cell.close()
        assert largest_thread_count() == 1
        second_cell.close()
        assert largest_thread_count() == 2


def test_workers_of_other_versions_are_refused(tmp_path):
    cell = many(1).cells[0]
    results = compute(cell)
    _refuse_other_versions(cell, results)
    with pytest.raises(SweepStopped, match="different versions"):
        _refuse_other_versions(cell, {"0" * 32: None})


def test_labels_become_columns(tmp_path):
    cells = [Cell(Gaussian(), Same(), 10, 0, (first,), labels={"rho": 0.5, "encoder": "E1"})]
    cells += [Cell(Gaussian(), Same(), 10, 1, (first,), labels={"rho": 1, "kept": True})]
    table = run(Sweep("labels", tuple(cells)), tmp_path)
    assert table.columns == ["world", "encoder", "rho", "kept", "n_rows", "seed", "metric", "value", "raw", "problem"]
    assert table["rho"].dtype == pl.Float64
    assert table.select("encoder", "rho", "kept").rows() == [("E1", 0.5, None), ("Same()", 1.0, True)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metrics": ("mmc",)}, "did you mean 'mcc'"),
        ({"metrics": {}}, "no metric"),
        ({"metrics": (len,)}, "not a metric"),
    ],
)
def test_bad_cells_are_refused(change, said):
    given = {"world": Gaussian(), "encoder": Same(), "n_rows": 10, "seed": 0, "metrics": (first,)}
    with pytest.raises(UnweaveError, match=said):
        Cell(**given | change)


def test_a_sweep_has_cells():
    with pytest.raises(InputError, match="no cells"):
        Sweep("empty", ())


def test_a_protocol_must_answer_what_it_is_asked(tmp_path):
    sweep = Sweep("wrong", (Cell(Gaussian(), Same(), 10, 0, (first,), WrongNames()),))
    with pytest.raises(SweepStopped, match="returned scores of x in place of first"):
        run(sweep, tmp_path)


class WrongNames(AllRows):
    def scores(self, world, encoder, n_rows, seed, metrics):
        return Arithmetic().scores(world, encoder, n_rows, seed, {"x": None})


class Workers(AllRows):
    """A protocol whose score is the number of workers that joblib would start."""

    def scores(self, world, encoder, n_rows, seed, metrics):
        return [Measurement(label, float(joblib.Parallel().n_jobs), 0.0) for label in metrics]


def test_no_workers_are_started_within_a_cell(tmp_path):
    sweep = Sweep("workers", (Cell(Gaussian(), Same(), 10, 0, (first,), Workers()),))
    with joblib.parallel_config("threading", n_jobs=3):
        assert run(sweep, tmp_path)["value"].to_list() == [1.0]


def test_the_bar_begins_with_the_cells_that_are_there(tmp_path, monkeypatch):
    asked, advanced = [], []

    @contextmanager
    def bar(*given):
        asked.append(given)
        yield SimpleNamespace(advance=lambda: advanced.append(1))

    run(many(2), tmp_path)
    monkeypatch.setattr(execution, "progress_bar", bar)
    run(many(5), tmp_path, progress=True)
    assert (asked, len(advanced)) == ([(5, True, 2, "cells")], 3)


def test_measurements_have_the_seconds_they_took(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", iter([5.0, 7.5, 10.0, 11.0]).__next__)
    found = [measured("good", lambda: Score(0.5)), measured("bad", lambda: 1 / 0)]
    assert [each.seconds for each in found] == [2.5, 1.0]
    assert [each.final for each in found] == [True, False]


def test_an_undefined_score_says_why_if_it_can():
    found = [measured("a", lambda: Score(np.nan)), measured("b", lambda: Score(np.nan, caveats=("So.", "Or so.")))]
    assert [each.problem for each in found] == ["undefined", "So. Or so."]


def test_libraries_are_searched_again_only_after_imports():
    assert thread_controller() is thread_controller()
