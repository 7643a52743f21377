"""`make mutants`: put small faults into copies of the tree, one at a time, and see whether the tests find them.

A fault is an entry of a TOML list: a file, a text that occurs in it once, what replaces it, and the tests that should
know. These run first; a fault that they miss meets all other quick tests, unless ``--relevant`` says to stop there.

A fault is *found* if a test fails that passes without it, *survives* if none does, is *stale* if its text is not in
the file exactly once, and is *out of time* if the tests did not end. Results are kept in ``build/mutants.jsonl``: a run
that was stopped goes on, and one after new tests tries survivors again and believes what was found.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))
RESULTS = ROOT / "build" / "mutants.jsonl"
PYTEST = ("-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no")
# libraries that tests import, loaded once for all runs; polars is not among them, for its threads do not survive a fork
LOADED = ("pytest", "numpy", "scipy.stats", "scipy.optimize", "sklearn.ensemble", "sklearn.linear_model", "hypothesis")
RUNNING: set[int] = set()
FORKS = multiprocessing.get_context("forkserver")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """One edit, and the tests that should notice."""

    name: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    digest: str = ""

    @property
    def key(self) -> str:
        """The same for the same edit of the same file."""
        return hashlib.sha256("\0".join([self.file, self.find, self.replace, self.digest]).encode()).hexdigest()[:16]


def faults_in(path: Path, root: Path = ROOT) -> list[Fault]:
    """The faults of a list, in its order; a name may come once."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    repeated = [name for name, count in Counter(entry["name"] for entry in entries).items() if count > 1]
    if repeated:
        raise ValueError(f"{path.name} has two faults called {repeated[0]!r}: give each a name of its own.")
    return [
        Fault(**{**entry, "tests": tuple(entry["tests"])}, digest=_digest([root / entry["file"]])) for entry in entries
    ]


def faulty(text: str, fault: Fault) -> str | None:
    """The text with the fault in it; None where the place is not there exactly once.

    >>> faulty("a + b", Fault("sign", "sum.py", " + ", " - ", ()))
    'a - b'
    >>> faulty("a + b + c", Fault("sign", "sum.py", " + ", " - ", ())) is None
    True
    """
    return text.replace(fault.find, fault.replace) if text.count(fault.find) == 1 else None


class Tree:
    """A copy of the working tree in which faults are tried, one after another."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.root, self.limit, self.broken = folder, limit, set[str]()
        for name in _tracked_files():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)

    def tried(self, fault: Fault, relevant_only: bool) -> tuple[str, str]:
        """What became of a fault, and the test that found it."""
        path = self.root / fault.file
        original = path.read_text(encoding="utf-8") if path.exists() else ""
        text = faulty(original, fault)
        if text is None:
            return "stale", ""
        path.write_text(text, encoding="utf-8")
        try:
            for suite in [fault.tests, *([] if relevant_only else [("tests", "src")])]:
                status, failed = self.run(suite)
                while status == "failed":
                    path.write_text(original, encoding="utf-8")
                    if self.run([failed])[0] == "passed":
                        return "found", failed
                    self.broken.add(failed)  # without the fault, too: it says nothing of any fault
                    path.write_text(text, encoding="utf-8")
                    status, failed = self.run(suite)
                if status == "out of time":
                    return status, ""
            return "survived", ""
        finally:
            path.write_text(original, encoding="utf-8")

    def run(self, tests: Iterable[str]) -> tuple[str, str]:
        """Passed, failed or out of time, and the first test that failed."""
        present = [test for test in tests if (self.root / test.split("::")[0]).exists()]
        output = self.root / "output.txt"
        process = FORKS.Process(
            target=_tested, args=(self.root, [*present, *(f"--deselect={test}" for test in self.broken)], output)
        )
        process.start()
        RUNNING.add(process.pid)
        process.join(self.limit)
        RUNNING.discard(process.pid)
        if process.is_alive():
            _end(process.pid)
            process.join()
            return "out of time", ""
        if process.exitcode in (0, 5):  # 5: all tests were slow ones
            return "passed", ""
        failed = FAILED.search(output.read_text(encoding="utf-8"))
        return "failed", failed[1] if failed else present[0]


def _end(pid: int) -> None:
    """End a run of pytest and all that its tests have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _tested(root: Path, tests: list[str], output: Path) -> None:
    """Run pytest on a tree in this process, which ends with pytest's exit code."""
    os.setsid()  # so that what tests start can be ended with them
    with output.open("w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        os.chdir(root)
        sys.path.insert(0, str(root / "src"))
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        import pytest

        os._exit(int(pytest.main([*PYTEST, *tests])))


def _tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def known(results: Path, tests_digest: str) -> dict[str, dict[str, str]]:
    """Results that still hold: what was found stays found, what survived these very tests survives them again."""
    kept = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else ():
        entry = json.loads(line)
        if entry["status"] == "found" or (entry["status"] == "survived" and entry["tests"] == tests_digest):
            kept[entry["key"]] = entry
    return kept


def tried_all(faults: list[Fault], workers: int, limit: float, relevant_only: bool) -> Iterator[tuple[Fault, str, str]]:
    """Every fault with what became of it, as they end."""
    trees, lock = threading.local(), threading.Lock()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers) as pool:

        def one(fault: Fault) -> tuple[Fault, str, str]:
            if not hasattr(trees, "own"):
                with lock:
                    trees.own = Tree(Path(tempfile.mkdtemp(dir=folder)), limit)
            return fault, *trees.own.tried(fault, relevant_only)

        jobs = [pool.submit(one, fault) for fault in faults]
        try:
            for job in concurrent.futures.as_completed(jobs):
                yield job.result()
        finally:  # when the run is stopped, what has begun stops, too
            pool.shutdown(wait=False, cancel_futures=True)
            for pid in tuple(RUNNING):
                _end(pid)


def main() -> None:
    """Try the faults of all lists, or of those named, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("lists", nargs="*", type=Path, default=LISTS, help="TOML lists; by default all that are here")
    parser.add_argument("--only", default="", help="faults whose name or file has this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each run of pytest")
    parser.add_argument("--relevant", action="store_true", help="run only the tests that a fault names")
    chosen = parser.parse_args()
    faults = [
        fault for path in chosen.lists for fault in faults_in(path) if chosen.only in fault.name + " " + fault.file
    ]
    tests_digest = _digest(sorted(path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "mutants"))
    RESULTS.parent.mkdir(exist_ok=True)
    FORKS.set_forkserver_preload(list(LOADED))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    kept = known(RESULTS, tests_digest)
    status = {fault: kept[fault.key]["status"] for fault in faults if fault.key in kept}
    with RESULTS.open("a", encoding="utf-8") as file:
        waiting = [fault for fault in faults if fault not in status]
        for fault, found, by in tried_all(waiting, chosen.workers, chosen.limit, chosen.relevant):
            status[fault] = found
            entry = {"key": fault.key, "name": fault.name, "status": found, "by": by, "tests": tests_digest}
            file.write(json.dumps(entry) + "\n")
            file.flush()
            print(f"{len(status)}/{len(faults)} {found}: {fault.name}" + (f" ({by})" if by else ""), flush=True)
    counts = Counter(status.values())
    for fault in faults:
        if status[fault] != "found":
            print(f"{status[fault]}: {fault.name} in {fault.file}")
    tried = len(faults) - counts["stale"]
    print(f"{counts['found']} of {tried} found ({', '.join(f'{count} {name}' for name, count in counts.items())})")


if __name__ == "__main__":
    main()
