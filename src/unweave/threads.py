"""One thread for every numerical library, so that sums are computed in the same order on every machine and worker."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_LOCK = threading.Lock()
_inside = 0
_limits_before: Any = None
_controller: tuple[int, Any] = (-1, None)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside the context; the limits are restored when the last thread leaves it.

    A Dask worker runs cells in several threads of one process, which share BLAS. No thread may restore the limits while
    another one computes.
    """
    import scipy.linalg  # noqa: F401 - loads its BLAS, so that it is limited from the first cell on
    import sklearn  # noqa: F401 - the same for OpenMP

    global _inside, _limits_before
    with _LOCK:
        limits = thread_controller().limit(limits=1)  # in every thread, because OpenMP limits each thread separately
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


def thread_controller() -> Any:
    """Controller of the threads of the loaded libraries; it is made anew only after imports, because that takes 5 ms.

    >>> with thread_controller().limit(limits=1, user_api="openmp"):
    ...     pass
    """
    global _controller
    if _controller[0] != len(sys.modules):
        _controller = (len(sys.modules), ThreadpoolController())
    return _controller[1]
