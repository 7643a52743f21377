"""Experiments of five papers, which compare our numbers with the published ones; `unweave reproduce` runs them.

Each paper has a subpackage with a module ``experiments.py`` that declares ``PAPER``, and an entry in
`unweave_papers.experiment`. An `Experiment` consists of a function that computes plain data, one that compares them
with the paper, one that writes tables and one that draws.
"""
