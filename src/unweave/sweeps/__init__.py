"""Sweeps: grids of worlds, encoders, metrics and seeds that are computed once, in any number of processes."""

from unweave.sweeps.execution import run
from unweave.sweeps.protocol import AllRows, Measurement, Protocol, measured
from unweave.sweeps.summary import summary
from unweave.sweeps.sweep import Cell, Sweep, grid
from unweave.sweeps.workers import SweepStopped

__all__ = [
    "AllRows",
    "Cell",
    "Measurement",
    "Protocol",
    "Sweep",
    "SweepStopped",
    "grid",
    "measured",
    "run",
    "summary",
]
