"""Which quick tests reach which lines, and what each costs: a fault meets those that can notice it, cheap ones first.

``python tests/mutants/reach.py`` runs the quick tests once under coverage and writes into ``build/reach``. With paths
of tests it looks at these alone and adds to what is known; ``--part 0/2`` takes every second file, so that two
processes can share the work. Name files of tests that were written since, so that faults meet them too. Fixtures that
several tests share count for all of them. What runs in other processes is not seen, and what runs on import counts
for all tests that reach anything else of the file. The sources are kept with the lines, so that lines that have moved
since are found again.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import coverage
import pytest
from faults import ROOT, SOURCES, Fault

RECORDED = ROOT / "build" / "reach"
SMALL = 0.3  # CPU seconds
SECONDS_OF_FILE = 20.0  # of a file of tests that start processes
# tests that look at source as text or start processes: they reach no lines here
NOT_SEEN = (
    "tests/architecture",
    "tests/recorded",  # a record notices that a number changed, not that it is wrong
    "tests/corpus",
    "tests/card/test_types.py",
    "tests/sweeps/test_killed.py",
    "tests/sweeps/test_cluster.py",
)


class Recorder:
    """A plugin of pytest that notes lines, seconds and shared fixtures of every test."""

    def __init__(self, record: Path, part: int, parts: int) -> None:
        self.record, self.part, self.parts = record, part, parts
        lines = str(record.with_suffix(".sqlite"))
        self.coverage = coverage.Coverage(lines, source=list(map(str, SOURCES)), config_file=False)
        self.coverage.set_option("run:relative_files", True)
        paths = sorted(path for folder in SOURCES for path in folder.rglob("*.py"))
        self.sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
        self.tests: dict[str, dict[str, Any]] = {}
        self.here: list[str] = [""]

    def pytest_sessionstart(self) -> None:
        """Start before tests are collected."""
        self.coverage.erase()
        self.coverage.start()

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        self.coverage.stop()
        self.coverage.save()
        text = json.dumps({"tests": self.tests, "sources": self.sources})
        self.record.with_suffix(".json").write_text(text, encoding="utf-8")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the files of this part."""
        files = list(dict.fromkeys(item.path for item in items))
        mine = set(files[self.part :: self.parts])
        items[:] = [item for item in items if item.path in mine]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note what one test reaches."""
        start = time.process_time()
        fixtures = getattr(item, "_fixtureinfo", None)
        shared = [
            self._name(each)
            for definitions in (fixtures.name2fixturedefs.values() if fixtures else ())
            for each in definitions
            if each.scope != "function"
        ]
        with_context = self._within(item.nodeid)
        next(with_context)
        result = yield
        next(with_context, None)
        self.tests[item.nodeid] = {"seconds": round(time.process_time() - start, 3), "shared": shared}
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note what a fixture that several tests share reaches, apart from the test that asked first."""
        if fixturedef.scope == "function":
            return (yield)
        with_context = self._within(self._name(fixturedef))
        next(with_context)
        result = yield
        next(with_context, None)
        return result

    def _within(self, name: str) -> Iterator[None]:
        self.here.append(name)
        self.coverage.switch_context(name)
        yield
        self.here.pop()
        self.coverage.switch_context(self.here[-1])

    @staticmethod
    def _name(fixture: Any) -> str:
        return f"fixture {fixture.argname} of {fixture.baseid}"


class Reach:
    """What was recorded, to ask for the tests of a place."""

    def __init__(self, recorded: Path = RECORDED) -> None:
        self.records: list[tuple[coverage.CoverageData, dict[str, str]]] = []
        self.tests: dict[str, dict[str, Any]] = {}
        for path in sorted(recorded.glob("*.json")):
            known = json.loads(path.read_text(encoding="utf-8"))
            lines = coverage.CoverageData(str(path.with_suffix(".sqlite")))
            lines.read()
            self.records.append((lines, known["sources"]))
            self.tests |= known["tests"]

    @cached_property
    def _asked_by(self) -> dict[str, list[str]]:
        """The tests behind every context: itself, or those that share a fixture."""
        found: dict[str, list[str]] = {name: [name] for name in self.tests}
        for name, entry in self.tests.items():
            for fixture in entry["shared"]:
                found.setdefault(fixture, []).append(name)
        return found

    def of(self, file: str, text: str, start: int, end: int) -> list[str]:
        """Tests that reach the statement around these places of the text of a file, the likeliest and cheapest first.

        If the statement runs on import, these are all tests that reach the file. If no test reaches it, these are the
        files of tests that start processes in the same room, or else all tests of the room.
        """
        there, nearby = self._contexts(file, text, start, end)
        on_import = _runs_on_import(text, 1 + text.count("\n", 0, start), 1 + text.count("\n", 0, max(start, end - 1)))
        contexts = (nearby if on_import else there) - {""}
        chosen = {test for context in contexts for test in self._asked_by.get(context, ())}
        processes = [path for path in NOT_SEEN if path.endswith(".py") and _nearness(path, file)]
        room = [test for test in sorted(self.tests) if _nearness(test, file)]
        return self._ordered(sorted(chosen), file) or processes or self._ordered(room, file)

    def affordable(self, fault: Fault, text: str, effort: float) -> list[str]:
        """Tests that may notice a fault, as far as so many CPU seconds go; one at least, if any reaches it."""
        start = text.index(fault.find)
        tests = self.of(fault.file, text, start, start + len(fault.find))
        spent = accumulate(map(self.seconds, tests))
        return tests[: max(1, sum(1 for _ in takewhile(lambda seconds: seconds <= effort, spent)))]

    def _contexts(self, file: str, text: str, start: int, end: int) -> tuple[set[str], set[str]]:
        """What reaches the statement, and what reaches the file."""
        first, last = _statement(text, 1 + text.count("\n", 0, start), 1 + text.count("\n", 0, max(start, end - 1)))
        there: set[str] = set()
        nearby: set[str] = set()
        for lines, sources in self.records:
            by_line = lines.contexts_by_lineno(file)
            recorded = moved_lines(sources.get(file, ""), text, range(first, last + 1))
            there |= {each for line in recorded for each in by_line.get(line, ())}
            nearby |= {each for line in by_line for each in by_line[line]}
        return there, nearby

    def _ordered(self, chosen: list[str], file: str) -> list[str]:
        """Small tests first, the nearest before others; then file by file, so that shared fixtures are made once."""
        small = [test for test in chosen if self.seconds(test) <= SMALL and not self._shares(test)]
        small.sort(key=lambda test: (-_nearness(test, file), self.seconds(test)))
        files: dict[str, list[str]] = {}
        for test in chosen:
            if self.seconds(test) > SMALL or self._shares(test):
                files.setdefault(test.split("::")[0], []).append(test)

        def rank(entry: tuple[str, list[str]]) -> tuple[int, float]:
            return -_nearness(entry[0], file), sum(map(self.seconds, entry[1]))

        return small + [test for _, tests in sorted(files.items(), key=rank) for test in tests]

    def seconds(self, test: str) -> float:
        """CPU seconds that a test took when it was recorded."""
        return float(self.tests[test]["seconds"]) if test in self.tests else SECONDS_OF_FILE

    def _shares(self, test: str) -> bool:
        return bool(self.tests[test]["shared"])


def _nearness(test: str, file: str) -> int:
    """How many parts of its path, or of its name, a test has in common with a file.

    >>> _nearness("tests/metrics/matching/test_mcc.py::test_copies", "src/unweave/metrics/matching.py")
    2
    >>> _nearness("tests/contract/test_contract.py::test_contract[mig-bounds]", "src/unweave/metrics/mig.py")
    1
    """
    path, _, name = test.partition("::")
    room = Path(file.removeprefix("src/unweave/")).with_suffix("").parts
    parts = Path(path.removeprefix("src/unweave/").removeprefix("tests/")).with_suffix("").parts
    return sum(part.removeprefix("test_") in room for part in parts) + (f"[{room[-1]}" in name)


def _runs_on_import(text: str, first: int, last: int) -> bool:
    """Whether these lines run on import: the body of no function has them.

    >>> text = "A = 1\\ndef f(a=2):\\n    return a\\nclass B:\\n    c = 3\\n"
    >>> [_runs_on_import(text, line, line) for line in (1, 2, 3, 5)]
    [True, True, False, True]
    """
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return not any(node.body[0].lineno <= first and last <= (node.end_lineno or 0) for node in functions)


def _statement(text: str, first: int, last: int) -> tuple[int, int]:
    """First and last line of the smallest statement around these lines; of compound ones the head alone.

    >>> _statement("def f(a):\\n    return g(\\n        a\\n    )\\n", 3, 3)
    (2, 4)
    >>> _statement("if (a and\\n    b):\\n    c()\\n", 1, 1)
    (1, 2)
    """
    best = (first, last)
    smallest = None
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt) or node.end_lineno is None:
            continue
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        end = max(end, node.lineno)
        if node.lineno <= first <= end and (smallest is None or end - node.lineno < smallest):
            best, smallest = (node.lineno, max(end, last)), end - node.lineno
    return best


def moved_lines(then: str, now: str, lines: range) -> list[int]:
    """Where these lines of a text were in an older one, counted from 1.

    >>> moved_lines("a\\nb\\nc\\n", "new\\na\\nb\\nc\\n", range(3, 5))
    [2, 3]
    """
    if then == now:
        return list(lines)
    blocks = difflib.SequenceMatcher(None, then.splitlines(), now.splitlines(), autojunk=False).get_matching_blocks()
    return [line - block.b + block.a for line in lines for block in blocks if block.b < line <= block.b + block.size]


def main() -> int:
    """Run the quick tests, or those named, and write down what they reach."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tests", nargs="*", help="files or folders of tests; by default all")
    parser.add_argument("--part", default="0/1", help="k/n: every n-th file from the k-th, counted from 0")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    RECORDED.mkdir(parents=True, exist_ok=True)
    record = RECORDED / f"{time.time_ns()}-{part}"
    ignored = [f"--ignore={ROOT / path}" for path in NOT_SEEN]
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "--no-header", "--tb=line", *ignored, *chosen.tests]
    sys.path[:0] = [
        *(str(folder.parent) for folder in SOURCES),
        str(ROOT),
    ]  # as `python -m pytest` does: workers of clusters import tests
    return int(pytest.main(options, plugins=[Recorder(record, part, parts)]))


if __name__ == "__main__":
    sys.exit(main())
