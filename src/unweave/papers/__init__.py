"""The papers' experiments, each with the paper's numbers beside those computed here; `unweave reproduce` runs them.

A paper is a room with a file ``experiments.py`` that declares ``PAPER``, and a line in `unweave.papers.catalogue`. An
`Experiment` names a function that computes plain data, one that compares them with the paper, one that writes tables
and one that draws.
"""

from unweave.papers.experiment import ClaimCheck, Experiment, Options, Paper

__all__ = ["ClaimCheck", "Experiment", "Options", "Paper"]
