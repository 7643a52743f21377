"""Results that are computed once: locks, results by key and folders of one computation."""

import errno
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from unweave import FileError
from unweave.store import FolderLock, Results, Store

HOLDS_THE_LOCK = """
import pathlib, sys
from unweave.store import FolderLock
with FolderLock(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""
ADDS = """
import sys
from unweave.store import Results
results = Results(sys.argv[1])
for k in range(100):
    results.add({f"{sys.argv[2]} {k}": "x" * 3000})
"""
ADDED = [{"a": 0.1 + 0.2, "b": [1, None, "text"]}, {"c": float("inf")}, {"a": -0.0, "d": {"deep": [0.25]}}]


def test_a_folder_in_use_is_refused_until_its_process_is_gone(tmp_path):
    command = [sys.executable, "-c", HOLDS_THE_LOCK, tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"locked"
        refused = pytest.raises(FileError, match=rf"in use by another run \(process {other.pid} on ")
        with refused, FolderLock(tmp_path):
            pass
        other.kill()
    assert (tmp_path / "owner").read_text().startswith(str(other.pid))  # the killed process
    with FolderLock(tmp_path):
        assert (tmp_path / "owner").read_text().startswith(str(os.getpid()))


def test_a_folder_in_use_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
    refused = pytest.raises(FileError, match="is in use by another run")
    with FolderLock(tmp_path), refused, FolderLock(tmp_path):
        pass


def test_a_file_cut_anywhere_has_its_whole_lines_and_takes_further_ones(tmp_path):
    path = tmp_path / "new" / "results.jsonl"
    results = Results(path)
    states = [{}]
    for added in ADDED:
        results.add(added)
        states.append({**states[-1], **added})
    content = path.read_bytes()
    assert Results(path).by_key == results.by_key == states[-1]
    for n_bytes in range(len(content) + 1):
        path.write_bytes(content[:n_bytes])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = Results(path)
            # a line without its end of line is whole too
            n_lines = content[: n_bytes + 1].count(b"\n")
            assert cut.by_key == states[n_lines]
            assert path.read_bytes() == content[:n_bytes]  # reading changes nothing
            cut.add({"last": 1})
            cut.add({"more": 2})
            assert Results(path).by_key == {**states[n_lines], "last": 1, "more": 2}


def test_files_of_another_format_are_said_and_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'["ab", "cd"]\nnull\n\xff\xfe\n{"a": 1}\n')
    with pytest.warns(UserWarning, match="has 3 lines that cannot be read, so their results are computed again"):
        assert Results(path).by_key == {"a": 1}


def test_lines_of_two_processes_do_not_mix(tmp_path):
    path = tmp_path / "results.jsonl"
    processes = [subprocess.Popen([sys.executable, "-c", ADDS, path, name]) for name in "ab"]
    assert [process.wait() for process in processes] == [0, 0]
    assert Results(path).by_key.keys() == {f"{name} {k}" for name in "ab" for k in range(100)}


def test_a_value_is_computed_once(tmp_path):
    calls = []
    for _ in range(3):
        assert Results(tmp_path / "a.jsonl").value("a", lambda: calls.append(1) or 3.5) == 3.5
    assert len(calls) == 1
    in_memory = Results()
    assert [in_memory.value("a", lambda: calls.append(1) or 2) for _ in range(2)] == [2, 2]
    assert len(calls) == 2


def test_a_full_disk_is_said_and_what_follows_is_not_spoilt(tmp_path, monkeypatch):
    results = Results(tmp_path / "a.jsonl")
    results.add({"a": 1})

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(FileError, match=r"a\.jsonl cannot be written: No space left on device; make room"):
            results.add({"b": 2})
    results.add({"c": 3})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Results(tmp_path / "a.jsonl").by_key["c"] == 3


def test_damaged_arrays_are_no_arrays(tmp_path):
    with Store(tmp_path, {"model": "a"}) as store:
        store.add_arrays("1", {"codes": np.arange(4.0), "std": np.ones((2, 2), np.float32)})
        store.add_arrays("2", {"codes": np.array([{}], dtype=object)})
        assert store.arrays("1")["std"].dtype == np.float32
        assert store.arrays("2") is None  # objects of Python are never read
        assert store.arrays("3") is None
        content = (tmp_path / "1.npz").read_bytes()
        for n_bytes in (0, 10, len(content) // 2, len(content) - 1):
            (tmp_path / "1.npz").write_bytes(content[:n_bytes])
            assert store.arrays("1") is None
            assert not (tmp_path / "1.npz").exists()


def test_the_folder_of_another_computation_is_refused(tmp_path):
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        with Store(folder, {"model": ("a", 1), "rows": 5}) as store:
            store.describe(finished=True)
    with pytest.raises(FileError, match=r"another rows \(5 there, 6 now\)"), Store(folder, {"rows": 6}):
        pass
    with Store(folder, {"rows": 5}) as store:
        store.add_arrays("1", {"codes": np.zeros(1)})
    (folder / "manifest.json").unlink()
    with pytest.raises(FileError, match="arrays of an unknown origin"), Store(folder, {"rows": 5}):
        pass
