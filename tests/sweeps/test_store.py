"""The folder of a sweep: it survives damaged files, and belongs to one sweep and one process at a time."""

import json
import platform
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest
from tiny_cells import many

from unweave import FileError
from unweave.store import FolderLock
from unweave.sweeps import run


@pytest.mark.parametrize("n_bytes", [0, 4, 100, -1, -300])
def test_a_truncated_file_of_results_is_completed(tmp_path, n_bytes):
    whole = run(many(3), tmp_path)
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes()[:n_bytes])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run(many(3), tmp_path).equals(whole)
    n_cut = sum("results.jsonl has 1 lines that cannot be read" in str(warning.message) for warning in caught)
    assert n_cut == (n_bytes not in (0, -1))


def test_foreign_files_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    run(many(3), tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["table.parquet", "manifest.json"])
def test_a_truncated_file_is_made_again(tmp_path, name):
    before = run(many(3), tmp_path)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:30])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(many(3), tmp_path).equals(before)
    run(many(3), tmp_path)  # without a further warning
    assert (tmp_path / name).read_bytes() == whole


def test_unfinished_files_of_a_killed_run_go(tmp_path):
    (tmp_path / ".unweave-0123456789abcdef.unfinished").write_bytes(b"PAR1")
    run(many(3), tmp_path)
    files = {path.name for path in tmp_path.iterdir()} - {"lock", "owner"}
    assert files == {"manifest.json", "results.jsonl", "table.parquet"}


def test_the_manifest_says_what_there_is(tmp_path):
    run(many(3), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    libraries = {name: version(name) for name in ("unweave", "numpy", "scipy", "scikit-learn")}
    assert manifest == {
        "schema": "unweave.sweep/2",
        "sweep": "many",
        "cells": 3,
        "results": 6,
        "finished": True,
        "versions": {"python": platform.python_version(), **libraries},
    }


def test_another_sweep_or_schema_is_refused_and_the_lock_given_back(tmp_path):
    run(many(1), tmp_path)
    path = tmp_path / "manifest.json"
    manifest = path.read_text()
    for field, before, now in [("sweep", "few", "many"), ("schema", "unweave.sweep/1", "unweave.sweep/2")]:
        path.write_text(json.dumps({**json.loads(manifest), field: before}))
        with pytest.raises(FileError, match=f"results of another {field} \\('{before}' there, '{now}' now\\)"):
            run(many(1), tmp_path)
    path.write_text(manifest)
    assert run(many(1), tmp_path).height == 2


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be written: File exists"):
        run(many(1), tmp_path / "file")


def test_a_folder_in_use_is_refused(tmp_path):
    with FolderLock(tmp_path), pytest.raises(FileError, match="is in use by another run"):
        run(many(1), tmp_path)


def test_folders_are_made_with_those_above(tmp_path):
    assert run(many(1), tmp_path / "a" / "b").height == 2


def test_a_warning_names_the_line_that_runs_the_sweep(tmp_path):
    run(many(3), tmp_path)
    for name in ("manifest.json", "results.jsonl"):
        (tmp_path / name).write_text("{")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(many(3), tmp_path)
    places = [(Path(str(warning.message).split()[0]).name, warning.filename) for warning in caught]
    assert places == [("manifest.json", __file__), ("results.jsonl", __file__)]
