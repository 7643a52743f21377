"""Which quick tests reach which lines, and what each costs: a fault meets those that can notice it, cheap ones first.

``python tests/mutants/reach.py`` runs the quick tests once under coverage and writes ``build/reach.*``. Fixtures that
several tests share count for all of them. What runs in other processes is not seen, and what runs on import counts for
all tests that reach anything else of the file.
"""

from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).parents[2]
LINES, TESTS = ROOT / "build" / "reach.sqlite", ROOT / "build" / "reach.json"
# tests that look at source as text or start processes: they reach no lines here
NOT_SEEN = (
    "tests/architecture",
    "tests/card/test_types.py",
    "tests/sweeps/test_killed.py",
    "tests/sweeps/test_cluster.py",
)


class Recorder:
    """A plugin of pytest that notes lines, seconds and shared fixtures of every test."""

    def __init__(self) -> None:
        self.coverage = coverage.Coverage(str(LINES), source=[str(ROOT / "src" / "unweave")], config_file=False)
        self.coverage.set_option("run:relative_files", True)
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
        TESTS.write_text(json.dumps(self.tests), encoding="utf-8")

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

    def __init__(self) -> None:
        self.lines = coverage.CoverageData(str(LINES))
        self.lines.read()
        self.tests = json.loads(TESTS.read_text(encoding="utf-8"))

    @cached_property
    def _asked_by(self) -> dict[str, list[str]]:
        """The tests behind every context: itself, or those that share a fixture."""
        found: dict[str, list[str]] = {name: [name] for name in self.tests}
        for name, entry in self.tests.items():
            for fixture in entry["shared"]:
                found.setdefault(fixture, []).append(name)
        return found

    def of(self, file: str, text: str, start: int, end: int) -> list[str]:
        """Tests that reach the statement around these places of the text of a file, those of its room first.

        Where the statement runs on import alone, all that reach the file.
        """
        by_line = self.lines.contexts_by_lineno(file)
        first, last = _statement(text, 1 + text.count("\n", 0, start), 1 + text.count("\n", 0, max(start, end - 1)))
        contexts = {each for line in range(first, last + 1) for each in by_line.get(line, ())} - {""}
        if not contexts:
            contexts = {each for line in by_line for each in by_line[line]} - {""}
        chosen = {test for context in contexts for test in self._asked_by.get(context, ())}
        return self._ordered(chosen, file)

    def _ordered(self, chosen: set[str], file: str) -> list[str]:
        """File by file, so that fixtures are made once: those of the room and the cheapest first."""
        files: dict[str, list[str]] = {}
        for test in self.tests:  # in the order in which pytest runs them
            if test in chosen:
                files.setdefault(test.split("::")[0], []).append(test)
        room = set(Path(file.removeprefix("src/unweave/")).with_suffix("").parts)

        def rank(entry: tuple[str, list[str]]) -> tuple[int, float]:
            path, tests = entry
            parts = Path(path.removeprefix("src/unweave/").removeprefix("tests/")).with_suffix("").parts
            near = sum(part.removeprefix("test_") in room for part in parts)
            return -near, sum(self.tests[test]["seconds"] for test in tests)

        return [test for _, tests in sorted(files.items(), key=rank) for test in tests]


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


if __name__ == "__main__":
    LINES.parent.mkdir(exist_ok=True)
    ignored = [f"--ignore={ROOT / path}" for path in NOT_SEEN]
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "--no-header", "--tb=line", *ignored, *sys.argv[1:]]
    sys.path.insert(0, str(ROOT / "src"))
    sys.exit(pytest.main(options, plugins=[Recorder()]))
