"""A pytest session that collects the quick tests once and forks for every fault, so that imports are paid once.

It works on a copy of the tree, reads requests as lines of JSON and answers each with a line. A fault within a function
is put into the loaded function; one in what runs on import meets a fork that imports the package again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest
from faults import Fault, changed_functions, faulty, replace_code
from reach import Reach

OPTIONS = ("-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no", "-s")
SLOWEST = 20.0  # CPU seconds that a test may take beside ten times what it took; more means that it does not end
NOT_LOADED = "nothing"  # in place of a test: the function to change is not loaded
WAIT = 6.0  # seconds of waiting for each CPU second, on a busy machine


@dataclass(frozen=True)
class Outcome:
    """How a run of tests ended: at which test, or at none."""

    failed: str = ""
    how: str = ""


class Chosen:
    """A plugin of pytest that runs these tests in this order and stops at the first that fails."""

    def __init__(self, tests: list[str], seconds: Callable[[str], float], say: Callable[[str], None]) -> None:
        self.tests, self.seconds, self.say = tests, seconds, say

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported fails as a whole."""
        if report.failed:
            self.say(f"failed {report.nodeid}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run them, unless a file could not be imported."""
        by_name = {item.nodeid: item for item in session.items}
        self.run([by_name[test] for test in self.tests if test in by_name])
        return True

    def run(self, items: list[pytest.Item]) -> None:
        """Say which test begins, and which one fails."""
        failed: list[str] = []
        if items:
            items[0].config.pluginmanager.register(_Failures(failed))
        for item, following in itertools.zip_longest(items, items[1:]):
            self.say(f"begins {item.nodeid}")
            signal.setitimer(signal.ITIMER_PROF, SLOWEST + 10 * self.seconds(item.nodeid))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if failed:
                self.say(f"failed {failed[0]}")
                return


class _Failures:
    """A plugin that notes the tests that fail."""

    def __init__(self, failed: list[str]) -> None:
        self.failed = failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note it."""
        if report.failed:
            self.failed.append(report.nodeid)


class Forks:
    """A plugin of pytest that answers requests in place of running the tests that were collected."""

    def __init__(self, root: Path, reach: Reach, requests: TextIO, answers: TextIO) -> None:
        self.root, self.reach, self.requests, self.answers = root, reach, requests, answers
        self.items: dict[str, pytest.Item] = {}
        self.broken: set[str] = set()
        self.edits = itertools.count(int(time.time()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer until there are no more requests."""
        self.items = {item.nodeid: item for item in session.items}
        self.config = session.config
        for line in self.requests:
            request = json.loads(line)
            status, by = self.tried(Fault(**request["fault"]), request["effort"])
            self.answers.write(json.dumps([status, by]) + "\n")
            self.answers.flush()
        return True

    def tried(self, fault: Fault, effort: float) -> tuple[str, str]:
        """What became of a fault, and the test that found it."""
        path = self.root / fault.file
        original = path.read_text(encoding="utf-8") if path.exists() else ""
        text = faulty(original, fault)
        if text is None:
            return "stale", ""
        tests = [test for test in self.reach.affordable(fault, original, self.items, effort) if test not in self.broken]
        codes = [compile(each, str(path), "exec", dont_inherit=True) for each in (original, text)]
        changed = changed_functions(codes[0], codes[1])
        runs = [self.loaded] if changed else []
        if not changed or self.reach.on_import(fault.file, original, original.index(fault.find)):
            runs.append(self.fresh)
        for run in runs:
            found = self.found(run, tests, path, (original, text), changed or [])
            if found.failed == NOT_LOADED:
                found = self.found(self.fresh, tests, path, (original, text), [])
            if found.failed:
                return "found", f"{found.failed} {found.how}".strip()
        return "survived", ""

    def found(
        self, run: Callable[..., Outcome], tests: list[str], path: Path, texts: tuple[str, str], changed: list[Any]
    ) -> Outcome:
        """The first test that fails with the fault and passes without."""
        while tests:
            try:
                self.write(path, texts[1])
                outcome = run(tests, changed)
            finally:
                self.write(path, texts[0])
            if outcome.failed in ("", NOT_LOADED) or not run([outcome.failed], []).failed:
                return outcome
            self.broken.add(outcome.failed)  # without the fault, too: it says nothing of any fault
            tests = [test for test in tests if test not in self.broken]
        return Outcome()

    def write(self, path: Path, text: str) -> None:
        """Write a source with a time of its own, so that no compiled file is taken for it."""
        path.write_text(text, encoding="utf-8")
        now = next(self.edits)
        os.utime(path, (now, now))

    def loaded(self, tests: list[str], changed: list[Any]) -> Outcome:
        """Run tests in a fork where loaded functions have new code."""

        def run(say: Callable[[str], None]) -> None:
            if changed and not replace_code(changed):
                say(f"failed {NOT_LOADED}")
                return
            items = [self.items[test] for test in tests if test in self.items]
            Chosen(tests, self.reach.seconds, say).run(items)

        return self.forked(run, tests)

    def fresh(self, tests: list[str], _: list[Any]) -> Outcome:
        """Run tests in a fork that imports the package and the tests again."""

        def run(say: Callable[[str], None]) -> None:
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None) or "").startswith(str(self.root)) and name != "__main__":
                    del sys.modules[name]
            files = dict.fromkeys(test.split("::")[0] for test in tests)
            signal.setitimer(signal.ITIMER_PROF, 3 * SLOWEST)
            pytest.main(
                [*OPTIONS, f"--basetemp={self.root / 'tmp'}", *files], plugins=[Chosen(tests, self.reach.seconds, say)]
            )

        return self.forked(run, tests)

    def forked(self, run: Callable[[Callable[[str], None]], None], tests: list[str]) -> Outcome:
        """What a fork says of the tests it runs."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()  # so that what tests start can be ended with them
            os.close(read)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            try:
                run(lambda text: os.write(write, (text.replace("\n", "\\n") + "\n").encode()) and None)
                os.write(write, b"ends\n")
            finally:
                os._exit(0)
        os.close(write)
        last, heard = "", b""
        limit = WAIT * (SLOWEST + 10 * max(map(self.reach.seconds, tests), default=0.0))
        while True:
            if not select.select([read], [], [], limit)[0]:
                break
            piece = os.read(read, 65536)
            if not piece:
                break
            heard += piece
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = heard.decode().splitlines()
        failed = [line.removeprefix("failed ") for line in lines if line.startswith("failed ")]
        names = {test.replace("\n", "\\n"): test for test in tests}
        if failed:
            return Outcome(names.get(failed[0], failed[0]))
        if lines and lines[-1] == "ends":
            return Outcome()
        last = next((line.removeprefix("begins ") for line in reversed(lines) if line.startswith("begins ")), "")
        return Outcome(names.get(last, last) or tests[0], "(does not end)")


def main() -> None:
    """Collect tests of a tree and answer requests."""
    root, tests = Path(sys.argv[1]).resolve(), sys.argv[5:]
    requests, answers = os.fdopen(int(sys.argv[2])), os.fdopen(int(sys.argv[3]), "w")
    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    forks = Forks(root, Reach(Path(sys.argv[4])), requests, answers)
    pytest.main([*OPTIONS, f"--basetemp={root / 'tmp'}", *tests], plugins=[forks])


if __name__ == "__main__":
    main()
