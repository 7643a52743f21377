"""`make mutants`: put small faults into copies of the tree, one at a time, and see whether the tests find them.

A fault is an entry of a TOML list: a file, a text that occurs in it once, what replaces it, and the tests that should
know. Tests that reach the faulty lines run first, if ``reach.py`` has looked which ones do, and tests written since;
then those named. A fault that they miss meets all other quick tests, unless ``--relevant`` says to stop there.

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
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import pytest
from reach import LINES, Reach

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))
RESULTS = ROOT / "build" / "mutants.jsonl"
PYTEST = ("-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no")
# libraries that tests import, loaded once for all runs; polars is not among them, for its threads do not survive a fork
LOADED = ("pytest", "numpy", "scipy.stats", "scipy.optimize", "sklearn.ensemble", "sklearn.linear_model", "hypothesis")
RUNNING: set[int] = set()
STOPPED = threading.Event()
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as in make test: more are slower, and sums differ
FORKS = multiprocessing.get_context("forkserver")


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


@dataclass(frozen=True)
class Effort:
    """How far the search for a test goes: seconds for a run of pytest, CPU seconds of tests that reach the fault."""

    limit: float
    reaching: float
    relevant_only: bool


class Chosen:
    """A plugin of pytest that runs these tests in this order, where any are named one by one."""

    def __init__(self, tests: list[str], left_out: set[str]) -> None:
        self.place = {test: k for k, test in enumerate(tests) if "::" in test}
        self.left_out = left_out
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first test that fails."""
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported fails as a whole."""
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave the others out."""
        items[:] = [item for item in items if item.nodeid not in self.left_out]
        if self.place:
            items[:] = sorted(
                (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
            )


class Tree:
    """A copy of the working tree in which faults are tried, one after another."""

    def __init__(self, folder: Path, effort: Effort, reach: Reach | None) -> None:
        self.root, self.effort, self.reach, self.broken = folder, effort, reach, set[str]()
        for name in _tracked_files():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)

    def tried(self, fault: Fault) -> tuple[str, str]:
        """What became of a fault, and the test that found it."""
        path = self.root / fault.file
        original = path.read_text(encoding="utf-8") if path.exists() else ""
        text = faulty(original, fault)
        if text is None:
            return "stale", ""
        path.write_text(text, encoding="utf-8")
        try:
            for suite in self.suites(fault, original):
                status, failed = self.run(suite, self.known_of(suite))
                while status == "failed":
                    path.write_text(original, encoding="utf-8")
                    if self.run([failed] if failed else suite)[0] == "passed":
                        return "found", failed or "the process ended"
                    if not failed:
                        return "out of time", ""
                    self.broken.add(failed)  # without the fault, too: it says nothing of any fault
                    path.write_text(text, encoding="utf-8")
                    status, failed = self.run(suite, self.known_of(suite))
                if status == "out of time":
                    return status, ""
            return "survived", ""
        finally:
            path.write_text(original, encoding="utf-8")

    def suites(self, fault: Fault, original: str) -> Iterator[list[str]]:
        """The tests that a fault meets, the likeliest first."""
        if self.reach is not None:
            start = original.index(fault.find)
            reaching = self.reach.of(fault.file, original, start, start + len(fault.find))
            cost = accumulate(self.reach.tests[test]["seconds"] for test in reaching)
            affordable = len(list(takewhile(lambda seconds: seconds <= self.effort.reaching, cost)))
            yield reaching[: max(affordable, 1)]
            yield [test for test in fault.tests if test.startswith("tests") and test.endswith(".py")]
            yield _changed_since(LINES)
            if reaching and self.effort.relevant_only:
                return
        yield list(fault.tests)
        if not self.effort.relevant_only:
            yield ["tests", "src"]

    def known_of(self, suite: list[str]) -> set[str]:
        """Tests of whole files that need not run again, because it is known whether they reach the fault."""
        by_file = self.reach is not None and suite == _changed_since(LINES)
        return set(self.reach.tests) if by_file and self.reach else set()

    def run(self, tests: list[str], known: Iterable[str] = ()) -> tuple[str, str]:
        """Passed, failed or out of time, and the first test that failed if it is known."""
        present = [test for test in tests if (self.root / test.split("::")[0]).exists()]
        if not present:
            return "passed", ""
        if STOPPED.is_set():
            return "out of time", ""
        (self.root / "failed.txt").unlink(missing_ok=True)
        process = FORKS.Process(target=_tested, args=(self.root, present, self.broken | set(known)))
        process.start()
        RUNNING.add(process.pid)
        process.join(self.effort.limit)
        RUNNING.discard(process.pid)
        if process.is_alive():
            _end(process.pid)
            process.join()
            return "out of time", ""
        if process.exitcode in (0, 5):  # 5: all tests were slow ones
            return "passed", ""
        failed = self.root / "failed.txt"  # missing where the process ended in the middle
        return "failed", failed.read_text(encoding="utf-8") if failed.exists() else ""


def _changed_since(file: Path) -> list[str]:
    """Files of tests that are newer than another file."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in tests if path.stat().st_mtime > file.stat().st_mtime]


def _end(pid: int) -> None:
    """End a run of pytest and all that its tests have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _tested(root: Path, tests: list[str], left_out: set[str]) -> None:
    """Run pytest on a tree in this process, which ends with pytest's exit code."""
    os.setsid()  # so that what tests start can be ended with them
    with (root / "output.txt").open("w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        os.chdir(root)
        sys.path.insert(0, str(root / "src"))
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        chosen = Chosen(tests, left_out)
        code = int(pytest.main([*PYTEST, *files], plugins=[chosen]))
        (root / "failed.txt").write_text(chosen.failed, encoding="utf-8")
        os._exit(code)


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


def tried_all(
    faults: list[Fault], workers: int, effort: Effort, reach: Reach | None
) -> Iterator[tuple[Fault, str, str]]:
    """Every fault with what became of it, as they end."""
    trees, lock = threading.local(), threading.Lock()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers) as pool:

        def one(fault: Fault) -> tuple[Fault, str, str]:
            if not hasattr(trees, "own"):
                with lock:
                    trees.own = Tree(Path(tempfile.mkdtemp(dir=folder)), effort, reach)
            return fault, *trees.own.tried(fault)

        jobs = [pool.submit(one, fault) for fault in faults]
        try:
            for job in concurrent.futures.as_completed(jobs):
                yield job.result()
        finally:  # when the run is stopped, what has begun stops, too
            STOPPED.set()
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
    parser.add_argument("--reaching", type=float, default=120.0, help="CPU seconds of tests that reach a fault")
    parser.add_argument("--relevant", action="store_true", help="run only tests that reach a fault, or that it names")
    chosen = parser.parse_args()
    faults = [
        fault for path in chosen.lists for fault in faults_in(path) if chosen.only in fault.name + " " + fault.file
    ]
    tests_digest = _digest(sorted(path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "mutants"))
    RESULTS.parent.mkdir(exist_ok=True)
    os.environ |= THREADS
    FORKS.set_forkserver_preload(list(LOADED))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    kept = known(RESULTS, tests_digest)
    status = {fault: kept[fault.key]["status"] for fault in faults if fault.key in kept}
    with RESULTS.open("a", encoding="utf-8") as file:
        waiting = [fault for fault in faults if fault not in status]
        effort = Effort(chosen.limit, chosen.reaching, chosen.relevant)
        for fault, found, by in tried_all(waiting, chosen.workers, effort, Reach() if LINES.exists() else None):
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
