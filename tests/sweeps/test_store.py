"""A store tolerates corrupt and foreign files, and is used by one process and one sweep at a time."""

import json
import platform
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import polars as pl
import pytest
from tiny_cells import many

from unweave import EvidenceError
from unweave.store import FolderLock
from unweave.sweeps import Measurement, run
from unweave.sweeps.execution import compute
from unweave.sweeps.store import Store

HOLDS_THE_LOCK = """
import pathlib, sys
from unweave.store import FolderLock
with FolderLock(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parts(tmp_path):
    """Parts of a run that was killed before it merged them."""
    run(many(3), tmp_path / "whole")
    with Store(tmp_path, "many") as store:
        for cell in many(3).cells:
            store.add(compute(cell))
    return sorted((tmp_path / "parts").iterdir())


def test_parts_are_read_again(tmp_path, parts):
    with Store(tmp_path, "many") as store:
        assert len(store.results) == 6


@pytest.mark.parametrize("size", [0, 4, 100, -1])
def test_a_torn_part_is_computed_again(tmp_path, parts, size):
    parts[1].write_bytes(parts[1].read_bytes()[:size])
    with pytest.warns(UserWarning, match=f"{parts[1].name} cannot be read"):
        table = run(many(3), tmp_path)
    assert table.equals(run(many(3), tmp_path / "whole"))
    assert not list((tmp_path / "parts").iterdir())


def test_a_part_with_other_columns_is_left_out(tmp_path, parts):
    pl.DataFrame({"key": ["x"], "value": [1]}).write_parquet(parts[0])
    with pytest.warns(UserWarning, match="its columns are key, value"):
        table = run(many(3), tmp_path)
    assert table.equals(run(many(3), tmp_path / "whole"))


def test_foreign_files_are_left_alone(tmp_path, parts):
    foreign = tmp_path / "parts" / "notes.txt"
    foreign.write_text("mine")
    with pytest.warns(UserWarning, match="notes.txt is not a file of a sweep"):
        run(many(3), tmp_path)
    assert foreign.read_text() == "mine"


@pytest.mark.parametrize("name", ["cells.parquet", "table.parquet", "manifest.json"])
def test_a_torn_file_is_made_again(tmp_path, name):
    before = run(many(3), tmp_path)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:30])
    with pytest.warns(UserWarning, match=f"{name} cannot be read"):
        assert run(many(3), tmp_path).equals(before)
    run(many(3), tmp_path)  # without a further warning
    if name != "cells.parquet":  # this file contains times
        assert (tmp_path / name).read_bytes() == whole


def test_unfinished_files_of_a_killed_run_go(tmp_path, parts):
    for folder in (tmp_path, tmp_path / "parts"):
        (folder / ".unweave-0123456789abcdef.unfinished").write_bytes(b"PAR1")
    run(many(3), tmp_path)
    assert not list(tmp_path.rglob("*.unfinished"))
    assert {path.name for path in tmp_path.iterdir()} >= {"manifest.json", "cells.parquet", "table.parquet"}
    assert not list((tmp_path / "parts").iterdir())


def test_the_manifest_says_what_there_is(tmp_path, parts):
    run(many(3), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    libraries = {name: version(name) for name in ("unweave", "numpy", "scipy", "scikit-learn")}
    assert manifest == {
        "schema": "unweave.sweep/1",
        "sweep": "many",
        "cells": 3,
        "results": 6,
        "finished": True,
        "versions": {"python": platform.python_version(), **libraries},
    }
    assert (tmp_path / "manifest.json").read_text() == json.dumps(manifest, indent=1) + "\n"


def test_another_sweep_or_schema_is_refused(tmp_path):
    run(many(1), tmp_path)
    with pytest.raises(EvidenceError, match="contains the sweep 'many', not 'few'"), Store(tmp_path, "few"):
        pass
    (tmp_path / "manifest.json").write_text('{"schema": "unweave.sweep/0"}')
    with pytest.raises(EvidenceError, match=r"schema 'unweave\.sweep/0'"):
        run(many(1), tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EvidenceError, match="cannot be a folder"):
        run(many(1), tmp_path / "file")


def test_what_is_not_final_is_not_kept(tmp_path):
    with Store(tmp_path, "many") as store:
        store.add({"0" * 32: Measurement("a", 1.0, 1.0), "1" * 32: Measurement("b", 1.0, 1.0, "failed", final=False)})
        assert len(store.results) == 2
    with Store(tmp_path, "many") as store:
        assert list(store.results) == ["0" * 32]


def test_a_folder_in_use_is_refused_until_its_process_is_gone(tmp_path):
    command = [sys.executable, "-c", HOLDS_THE_LOCK, tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"locked"
        with pytest.raises(EvidenceError, match=rf"in use by another run \(process {other.pid} on "):
            run(many(1), tmp_path)
        other.kill()
    assert (tmp_path / "owner").read_text().startswith(str(other.pid))  # the killed process
    assert run(many(1), tmp_path).height == 2


def test_the_lock_is_given_back_after_a_refusal(tmp_path):
    run(many(1), tmp_path)
    for _ in range(2):
        with pytest.raises(EvidenceError, match="contains the sweep"), Store(tmp_path, "few"):
            pass
    assert run(many(1), tmp_path).height == 2


def test_a_folder_in_use_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
    refused = pytest.raises(EvidenceError, match="is in use by another run")
    with FolderLock(tmp_path), refused, FolderLock(tmp_path):
        pass


def test_folders_are_made_with_those_above(tmp_path):
    assert run(many(1), tmp_path / "a" / "b").height == 2


def test_a_warning_names_the_line_that_runs_the_sweep(tmp_path, parts):
    (tmp_path / "parts" / "notes.txt").touch()
    (tmp_path / "manifest.json").write_text("{")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(many(3), tmp_path)
    places = [(Path(str(warning.message).split()[0]).name, warning.filename) for warning in caught]
    assert places[:2] == [("manifest.json", __file__), ("notes.txt", __file__)]
