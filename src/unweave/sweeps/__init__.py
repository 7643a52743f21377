"""Sweeps: grids of worlds, encoders, metrics and seeds that are computed once, in any number of processes."""

from unweave.sweeps.execution import SweepStopped, run
from unweave.sweeps.sweep import AllRows, Cell, Measurement, Protocol, Sweep, grid, measured, summary

__all__ = ["AllRows", "Cell", "Measurement", "Protocol", "Sweep", "SweepStopped", "grid", "measured", "run", "summary"]
