"""Results on disk, and files that are written whole or not at all."""

import errno
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave import FileError, evaluate, whole_files
from unweave.store import FolderLock, Results, Store
from unweave.whole_files import UNFINISHED, remove_unfinished, write_whole

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


TOKEN = "0123456789abcdef"
WRITER = """
import sys
from itertools import count
from pathlib import Path
from unweave.whole_files import write_whole

path, letter, n_times = Path(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
for _ in range(n_times) if n_times else count():
    write_whole(path, lambda file: [file.write(letter * 10_000) for _ in range(20)])
    content = path.read_bytes()
    assert len(content) == 200_000 and len(set(content)) == 1, "the file is torn"
"""


def writer(path, letter, n_times):
    return subprocess.Popen([sys.executable, "-c", WRITER, path, letter, str(n_times)], stderr=subprocess.PIPE)


def test_two_processes_write_the_same_file(tmp_path):
    """With one temporary name for both, 33 of 200 writes failed and 5 files were torn."""
    path = tmp_path / "page.html"
    for process in [writer(path, "a", 100), writer(path, "b", 100)]:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "page.html"
    (tmp_path / "mine.unfinished").write_text("not a file of ours")
    for letter in "abc":
        process = writer(path, letter, 0)
        while not (path.exists() and path.read_bytes()[:1] == letter.encode()):
            time.sleep(0.01)
            assert process.poll() is None
        time.sleep(0.02)
        process.kill()
        process.communicate()
        content = path.read_bytes()
        assert len(content) == 200_000
        assert set(content) == {ord(letter)}
    others = {entry.name for entry in tmp_path.iterdir() if not UNFINISHED.fullmatch(entry.name)}
    assert others == {"page.html", "mine.unfinished"}
    (tmp_path / f".unweave-{TOKEN}.unfinished").write_text("of a killed process")
    remove_unfinished(tmp_path, seconds=3600)
    assert (tmp_path / f".unweave-{TOKEN}.unfinished").exists()
    remove_unfinished(tmp_path)
    assert {entry.name for entry in tmp_path.iterdir()} == others


@pytest.mark.parametrize("planted", ["link", "hard link", "file", "folder"])
def test_what_has_the_temporary_name_is_neither_followed_nor_removed(tmp_path, monkeypatch, planted):
    """A fixed token stands for an attacker who guesses the temporary name."""
    monkeypatch.setattr(whole_files.secrets, "token_hex", lambda n: TOKEN)
    target, temporary = tmp_path / "target", tmp_path / f".unweave-{TOKEN}.unfinished"
    target.write_text("precious")
    {
        "link": lambda: temporary.symlink_to(target),
        "hard link": lambda: temporary.hardlink_to(target),
        "file": lambda: temporary.write_text("of another process"),
        "folder": temporary.mkdir,
    }[planted]()
    with pytest.raises(FileExistsError, match=r"page\.html"):
        write_whole(tmp_path / "page.html", lambda file: file.write(b"new"))
    assert target.read_text() == "precious"
    assert temporary.is_symlink() or temporary.exists()
    assert not (tmp_path / "page.html").exists()


def test_temporary_names_cannot_be_foreseen(tmp_path, monkeypatch):
    names, replace = [], os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (names.append(Path(old).name), replace(old, new)))
    for _ in range(50):
        write_whole(tmp_path / "page.html", lambda file: file.write(b"new"))
    assert len(set(names)) == 50
    assert all(map(UNFINISHED.fullmatch, names))


@pytest.mark.parametrize("name", ["x", "x" * 245, "x" * 255, "é" * 127, "." + "y" * 254, "a b\nc"])
def test_names_of_any_legal_length(tmp_path, name):
    for content in (b"first", b"second"):
        write_whole(tmp_path / name, lambda file, content=content: file.write(content))
        assert (tmp_path / name).read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "reason"), [("missing/x.html", errno.ENOENT), ("x" * 255 + "y", errno.ENAMETOOLONG), ("", errno.EISDIR)]
)
def test_errors_name_the_path_of_the_user(tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(5).normal(size=(60, 2))
    evaluation = evaluate(rows, rows, metrics=["mcc"], quick=True)
    for write in (evaluation.to_html, evaluation.save):
        said = f"{Path(name)} cannot be written: {os.strerror(reason)}; name another file."
        with pytest.raises(FileError, match=f"^{re.escape(said)}$"):
            write(Path(name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_are_those_of_a_file_that_is_opened(tmp_path, umask):
    modes = [None, 0o600, 0o644, 0o666, 0o640]
    before = os.umask(umask)
    try:
        for k, mode in enumerate(modes):
            for way, write in (
                ("opened", Path.write_bytes),
                ("whole", lambda p, c: write_whole(p, lambda f: f.write(c))),
            ):
                path = tmp_path / f"{way}{k}"
                if mode is not None:
                    path.touch()
                    path.chmod(mode)
                write(path, b"content")
    finally:
        os.umask(before)
    for k in range(len(modes)):
        assert (tmp_path / f"whole{k}").stat().st_mode == (tmp_path / f"opened{k}").stat().st_mode


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("n_bytes", [0, 1, 4096, 199_999])
def test_a_write_that_the_system_refuses_leaves_the_old_file(tmp_path, n_bytes, there):
    """A limit on the size of files makes the system itself refuse a write in the middle, as a full disk does."""
    path = tmp_path / "page.html"
    if there:
        path.write_bytes(b"")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        with pytest.raises(OSError, match=r"page\.html") as raised:
            write_whole(path, lambda file: [file.write(b"a" * 10_000) for _ in range(20)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == [path] * there
    assert not there or path.read_bytes() == b""


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failing_disk_leaves_the_old_file(tmp_path, monkeypatch, function, number):
    def fails(*_arguments):
        raise OSError(number, os.strerror(number))

    path = tmp_path / "page.html"
    path.write_text("the page of yesterday")
    monkeypatch.setattr(os, function, fails)
    with pytest.raises(OSError, match=r"page\.html") as raised:
        write_whole(path, lambda file: file.write(b"new"))
    assert raised.value.errno == number
    assert path.read_text() == "the page of yesterday"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_on_the_disk_before_its_name_and_the_folder_after(tmp_path, monkeypatch):
    steps, fsync, replace = [], os.fsync, os.replace

    def noted_sync(descriptor):
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", lambda old, new: (steps.append("name"), replace(old, new)))
    write_whole(tmp_path / "page.html", lambda file: file.write(b"new"))
    assert steps == ["file", "name", "folder"]


@pytest.mark.parametrize(("number", "is_error"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synchronised(tmp_path, monkeypatch, number, is_error):
    fsync = os.fsync

    def fails_for_folders(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fails_for_folders)
    path = tmp_path / "page.html"
    if is_error:
        with pytest.raises(OSError, match=r"page\.html"):
            write_whole(path, lambda file: file.write(b"new"))
    else:
        write_whole(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"new"


def test_all_files_of_the_package_are_written_whole():
    """Other ways of writing would leave half a file after an interruption; lines of results are appended."""
    writes = re.compile(
        r"write_(?:text|bytes)\(|open\([^)]*[\"'][rb]*[wax+]b?[\"']|"
        r"(?:np|torch)\.save\w*\((?!file|stream|content, file|\{')|save_file\(|"
        r"savefig\((?!file|buffer)|\.(?:write|to)_(?:csv|parquet)\("
    )
    package = Path(unweave.__file__).parent
    found = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for line in path.read_text().splitlines()
        if writes.search(line) and not re.match(r"\s*(>>>|\.\.\.|def )", line)
    ]
    assert sorted(found) == ["store.py", "sweeps/execution.py", "whole_files.py", "whole_files.py"]
