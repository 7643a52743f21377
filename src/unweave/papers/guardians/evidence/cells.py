"""Scores of single cells of 003's experiments, computed by our protocol or by that of the released code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from unweave.papers.guardians.declared_sweeps import FIRST_SEED, SWEEPS
from unweave.papers.guardians.run_protocols import ProtocolName, metrics_and_protocol
from unweave.papers.guardians.settings import Setting
from unweave.papers.ledger.claim import MeasuredFigure


def cell(run: str, **columns: Any) -> Setting:
    """Return the only cell of an experiment's run that has these values in these columns.

    >>> cell("exp06", sweep="6a", dgp="D3", m=9).encoder
    'E4'
    """
    settings = SWEEPS[run.partition("_")[0].partition("@")[0]].settings
    found = [
        setting
        for setting in settings
        if setting.run == run and all(getattr(setting, name) == value for name, value in columns.items())
    ]
    if len(found) != 1:
        raise ValueError(f"{len(found)} cells of {run} have {columns}: name more columns.")
    return found[0]


def scores(setting: Setting, metric: str, protocol: ProtocolName = "authors", n_seeds: int = 5) -> tuple[float, ...]:
    """Return the scores of a metric, given by the paper's name, one for each seed.

    >>> scores(Setting("exp01", dgp="D1"), "MCC-P", "ours", 2)
    (1.0, 1.0)
    """
    return tuple(_score(setting, metric, protocol, seed) for seed in range(FIRST_SEED, FIRST_SEED + n_seeds))


@cache
def _score(setting: Setting, metric: str, protocol: ProtocolName, seed: int) -> float:
    world, encoder = setting.world_of(protocol == "authors"), setting.encoder_of(protocol == "authors")
    chosen, how = metrics_and_protocol(protocol, setting.run, (metric,))
    return how.scores(world, encoder, setting.n, seed, chosen)[0].value


def figure(setting: Setting, metric: str, protocol: ProtocolName = "authors", n_seeds: int = 5) -> MeasuredFigure:
    """Return the mean score over seeds with its interval."""
    return MeasuredFigure.over_seeds(scores(setting, metric, protocol, n_seeds))


def curve(
    metric: str,
    settings: Mapping[str, Setting],
    protocol: ProtocolName = "authors",
    n_seeds: int = 5,
) -> dict[str, MeasuredFigure]:
    """Return the figure of a metric in each cell, named by the metric and the name of the cell."""
    return {f"{metric}, {name}": figure(setting, metric, protocol, n_seeds) for name, setting in settings.items()}
