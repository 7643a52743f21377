"""One thread for every numerical library, so that sums keep their order whatever the machine and the worker."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import scipy.linalg  # noqa: F401 - brings its BLAS, to be limited from the first cell on
import sklearn  # noqa: F401 - the same for OpenMP
from threadpoolctl import ThreadpoolController

_LOCK = threading.Lock()
_inside = 0
_limits_before: Any = None
_controller: tuple[int, Any] = (-1, None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside; the limits of before come back when the last of all threads leaves.

    A Dask worker runs cells in several threads of one process, which share their BLAS: none of them may give the
    threads back while another computes.
    """
    global _inside, _limits_before
    with _LOCK:
        limits = _current_controller().limit(limits=1)  # in every thread: OpenMP counts for each by itself
        if _inside == 0:
            _limits_before = limits
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0:
                _limits_before.restore_original_limits()


def _current_controller() -> Any:
    """The libraries loaded now; looking for them takes longer than a small cell, so only after new imports."""
    global _controller
    if _controller[0] != len(sys.modules):
        _controller = (len(sys.modules), ThreadpoolController())
    return _controller[1]
