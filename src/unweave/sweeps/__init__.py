"""Sweeps: a declared grid of worlds, encoders, metrics and seeds, computed once, in any number of processes."""

from unweave.sweeps.execution import SweepStopped, run
from unweave.sweeps.protocol import AllRows, Measurement, Protocol, measured
from unweave.sweeps.summary import summary
from unweave.sweeps.sweep import Cell, Sweep, grid

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
