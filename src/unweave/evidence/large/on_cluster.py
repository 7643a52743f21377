"""Tasks on the workers of a Dask cluster; a task whose worker dies is computed by another worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from unweave.evidence.reading.columns import EvidenceError

SECONDS_TO_CONNECT = 10
SECONDS_WITHOUT_WORKERS = 10
SECONDS_BETWEEN_LOOKS = 0.2


def computed_on(address: str, tasks: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Yield results in the order of the tasks; raises an EvidenceError if there is no cluster or it is lost."""
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise EvidenceError("A cluster needs the package distributed: install unweave[cluster].") from None
    try:
        client: Any = Client(  # type: ignore[no-untyped-call, unused-ignore]
            address, timeout=SECONDS_TO_CONNECT, set_as_default=False
        )
    except (OSError, ValueError, TypeError) as error:
        raise EvidenceError(
            f"There is no cluster at {address} ({type(error).__name__}): start one with `dask scheduler`, or leave "
            "--cluster out."
        ) from None
    try:
        futures: list[Any] = [client.submit(task, pure=False, retries=2) for task in tasks]
        for future in futures:
            yield _result(client, future, address)
            future.release()
    except (CommClosedError, CancelledError, KilledWorker, OSError) as error:
        raise EvidenceError(
            f"The cluster at {address} was lost before all rows were read ({type(error).__name__}): start it again, "
            "or leave --cluster out."
        ) from None
    finally:
        client.close(timeout=5)


def _result(client: Any, future: Any, address: str) -> Any:
    """Result of a future; raises an error if the cluster has lost all workers, because it would never arrive.

    A result that a worker holds is lost with the worker, so the workers are also watched while it is fetched.
    """
    with_workers = time.monotonic()
    while True:
        try:
            return future.result(timeout=SECONDS_BETWEEN_LOOKS)
        except TimeoutError:
            if future.status == "error":  # the task itself ran into a time limit
                raise
        if client.scheduler_info()["workers"]:
            with_workers = time.monotonic()
        elif time.monotonic() - with_workers > SECONDS_WITHOUT_WORKERS:
            raise EvidenceError(f"The cluster at {address} has no workers: start some with `dask worker {address}`.")
