"""A process that has imported the libraries, but nothing of the package, and runs tests in forks of itself.

It reads one request a line, ``{"options": [...], "seconds": 90}``, runs pytest with these options in a fork, and
answers with the exit code. A fork that takes more CPU time than ``seconds``, or twice as much time on the clock, is
ended. A fork saves the seconds that imports of libraries take, and imports the package anew, with the fault in it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time

import pytest

LIBRARIES = (
    "cattrs", "click.testing", "coverage", "hypothesis", "jinja2", "joblib", "matplotlib.pyplot", "narwhals", "numpy",
    "pandas", "rich.table", "scipy.interpolate", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial",
    "scipy.special", "scipy.stats", "sklearn.ensemble", "sklearn.feature_selection", "sklearn.linear_model",
    "sklearn.model_selection", "sklearn.neighbors", "sklearn.svm", "torch", "torch.func",
)  # fmt: skip
ENDED = -1


def exit_code(options: list[str], seconds: int) -> int:
    """Exit code of pytest in a fork."""
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        code = 1
        with contextlib.suppress(BaseException):
            code = int(pytest.main(options))
        os._exit(code)
    end = time.monotonic() + 2 * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return ENDED


def main() -> None:
    """Serve until the input ends."""
    for library in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    for line in sys.stdin:
        request = json.loads(line)
        print(exit_code(request["options"], request["seconds"]), flush=True)


if __name__ == "__main__":
    main()
