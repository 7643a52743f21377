"""Many rows: metrics in one pass over a folder of Parquet files, relative to reading the same files.

Run ``python -m benchmarks.rows [ROWS CODES FACTORS FOLDER KIND]``, where KIND is float64 or float32. The files are
written first, unless the folder has some. CPU seconds are those of all threads. Memory is the peak of the process, so
use the folder of an earlier run to exclude the writing. Up to a million rows, the scores are also compared with those
of the rows in memory.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars
from threadpoolctl import threadpool_limits

from unweave import Evidence
from unweave.evidence.blocks import ROWS_IN_BLOCK
from unweave.files.formats import parquet_blocks
from unweave.metrics import dcimig, mcc, mig, mig_sup, modularity, sap

METRICS = (mcc, mig, mig_sup, dcimig, modularity, sap)
ROWS_IN_FILE = 2_000_000


def write(folder: Path, n_rows: int, n_codes: int, n_factors: int, kind: str = "float64") -> None:
    rng = np.random.default_rng(0)
    for k, start in enumerate(range(0, n_rows, ROWS_IN_FILE)):
        n = min(ROWS_IN_FILE, n_rows - start)
        factors = rng.normal(size=(n_factors, n))
        noise = rng.normal(size=(n_codes, n))
        table = {f"factor {j}": factors[j].astype(kind) for j in range(n_factors)}
        table |= {f"code {i}": (factors[i % n_factors] + noise[i]).astype(kind) for i in range(n_codes)}
        polars.DataFrame(table).write_parquet(folder / f"{k:05}.parquet", row_group_size=250_000)


def seconds_of_reading(folder: Path) -> float:
    """Return the CPU seconds that polars needs to read all columns of the files in batches."""
    start = time.process_time()
    for path in sorted(folder.glob("*.parquet")):
        for _ in polars.scan_parquet(path).collect_batches(chunk_size=ROWS_IN_BLOCK, maintain_order=True):
            pass
    return time.process_time() - start


def difference_from_memory(folder: Path, values: dict[str, float]) -> float:
    """Return the largest difference of a score from that of the rows in memory."""
    table = polars.read_parquet(folder / "*.parquet")
    sides = [table.select(polars.selectors.starts_with(name)).to_numpy() for name in ("factor", "code")]
    evidence = Evidence(*sides)
    return max(abs(metric(evidence).raw - values[metric.card.name]) for metric in METRICS)


def main() -> None:
    n_rows, n_codes, n_factors = 100_000_000, 10, 5
    if len(sys.argv) > 3:
        n_rows, n_codes, n_factors = (int(word) for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[4] if len(sys.argv) > 4 else temporary)
        if not list(folder.glob("*.parquet")):
            write(folder, n_rows, n_codes, n_factors, *sys.argv[5:6])
        peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        reading = seconds_of_reading(folder)
        source = parquet_blocks(folder)
        print(f"reading {source.n_rows} rows: {reading:.1f} CPU s, {source.n_rows / reading / 1e6:.2f} M rows/s")
        start = time.process_time()
        evidence = Evidence(source)
        values = {metric.card.name: metric(evidence).raw for metric in METRICS}
        used = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        shown = ", ".join(f"{name} {value:.6f}" for name, value in values.items())
        print(f"{shown}: {used:.1f} CPU s, {source.n_rows / used / 1e6:.2f} M rows/s")
        print(f"{used / reading:.2f} times reading, peak memory {peak:.2f} GB ({peak_before:.2f} GB before)")
        if source.n_rows <= 1_000_000:
            print(f"largest difference from scores of rows in memory: {difference_from_memory(folder, values):.1e}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
