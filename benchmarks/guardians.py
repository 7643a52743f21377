"""The null grid of 003's Figure 5 as a sweep, relative to a bare loop over its cells."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.sweeps import run
from unweave_papers.paper003.figures import FIGURES
from unweave_papers.paper003.settings import SWEEPS


def null_grid() -> Measurement:
    """Overhead of a sweep's keys, files and table relative to the metrics alone."""
    [part] = FIGURES["fig5"].parts
    sweep = SWEEPS[part.experiment].sweep("ours", part.settings, ("MCC-P", "R2"))
    root = Path(tempfile.mkdtemp())
    contestants = {
        "sweep": lambda _: run(sweep, tempfile.mkdtemp(dir=root)),
        "loop": lambda _: [
            cell.protocol.scores(cell.world, cell.encoder, cell.n_rows, cell.seed, cell.metric_by_label)
            for cell in sweep.cells
        ],
    }
    try:
        times = best_cpu_seconds(contestants, repetitions=2)
    finally:
        shutil.rmtree(root)
    return Measurement(
        subject=f"Figure 5 of 003 as a sweep: {len(part.settings)} cells, 5 seeds, MCC and R2, one process",
        figure=times["sweep"] / times["loop"],
        unit="times the bare loop over worlds, encoders and metrics",
        target=Target("at most", 2),
        notes=(seconds(times),),
    )
