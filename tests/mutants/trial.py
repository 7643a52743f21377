"""One fault in a copy of the tree: run the tests that may notice it in processes of their own, and see what fails."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from py_compile import PycInvalidationMode

from chosen import NAMED_IN
from faults import ROOT, SOURCES, Fault, faulty
from reach import Reach

OPTIONS = ("-x", "-q", "-m", "not slow", "--tb=no", "--no-header", "-p", "chosen", "-p", "no:randomly")
# as in make test: more threads are slower, and sums differ
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
STARTING = 60  # CPU seconds for imports; beside them tests may take five times what they took when they were recorded
DOES_NOT_END = "(does not end)"
FIRST = 30  # tests that are tried before all others: most faults that are found at all are found by one of these


class Tree:
    """A copy of the working tree, to put faults into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tree"
        self.broken: set[str] = set()  # tests that fail without any fault: they say nothing of one
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name in filter(lambda name: (ROOT / name).is_file(), names):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.folder / name)
        # checked by content: a fault and its removal within a second have the same time, and often the same size
        sources = [self.folder / folder.relative_to(ROOT).parent for folder in SOURCES]
        for folder in sources:
            compileall.compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        paths = os.pathsep.join(map(str, (*sources, self.folder / "tests" / "mutants")))
        self.named = folder / "tests.json"
        self.server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "mutants" / "serving.py")],
            cwd=self.folder,
            env=os.environ | ENVIRONMENT | {"PYTHONPATH": paths, NAMED_IN: str(self.named), "MPLBACKEND": "agg"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def tried(self, fault: Fault, reach: Reach, effort: float) -> tuple[str, str]:
        """Whether a fault is found, survives or is stale, and the test that found it."""
        path = self.folder / fault.file
        original = path.read_text(encoding="utf-8") if path.exists() else ""
        text = faulty(original, fault)
        if text is None:
            return "stale", ""
        tests = reach.affordable(fault, original, effort)
        while tests := [test for test in tests if test not in self.broken]:
            path.write_text(text, encoding="utf-8")
            try:
                failed = self.first_failure(tests[:FIRST], reach) or self.first_failure(tests[FIRST:], reach)
            finally:
                path.write_text(original, encoding="utf-8")
            if not failed:
                break
            name = failed.removesuffix(DOES_NOT_END).strip()
            if not self.first_failure([name] if name in tests else tests[:1], reach):
                return "found", failed
            self.broken.add(name)
        return "survived", ""

    def first_failure(self, tests: list[str], reach: Reach) -> str:
        """The first of these tests that fails, in their order; empty if all pass."""
        if not tests:
            return ""
        cache = self.folder.parent / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        self.named.write_text(json.dumps(tests), encoding="utf-8")
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        code = self._exit_code(
            options=[*OPTIONS, "-o", f"cache_dir={cache}", *files],
            seconds=int(STARTING + 5 * sum(map(reach.seconds, tests))),
        )
        if code in (0, 5):  # all passed, or none was collected
            return ""
        failures = cache / "v" / "cache" / "lastfailed"
        if failures.exists():
            return str(next(iter(json.loads(failures.read_text(encoding="utf-8")))))
        return f"{tests[0]} {DOES_NOT_END}"

    def _exit_code(self, **request: object) -> int:
        if self.server.stdin is None or self.server.stdout is None:
            raise RuntimeError("The process that runs the tests has no pipes.")
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())
