"""Random rows of the evidence, for noise floors that would cost too much time on all rows.

A permutation test on some of the rows is as valid as one on all rows, but has less power. The floor is that of the
smaller data set. It is seldom too low, because the scores of random codes hardly ever rise with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unweave.evidence import Evidence
from unweave.randomness import random_stream
from unweave.trust.repeated_scoring import Quota
from unweave.trust.row_order import row_order


def some_rows(evidence: Evidence, n_rows: int, seed: int) -> Evidence:
    """The evidence, or ``n_rows`` random rows of it if it has more.

    >>> some_rows(Evidence(np.random.default_rng(0).normal(size=(100, 1)), np.arange(100.0)), 30, seed=0).n_rows
    30
    """
    if n_rows >= evidence.n_rows:
        return evidence
    return evidence.rows(np.sort(random_stream(seed, "rows of null draws").permutation(evidence.n_rows)[:n_rows]))


def may_use_some_rows(evidence: Evidence) -> bool:
    """Whether random rows can replace all rows: not if there are row groups, a time series or a sampler.

    >>> may_use_some_rows(Evidence(list(range(4)), list(range(4)), row_groups=[0, 0, 1, 1]))
    False
    """
    if evidence.row_groups is not None or evidence.sampler is not None:
        return False
    return row_order(evidence).kind == "exchangeable"


def by_rows(labels: Iterable[str], evidence: Evidence, quota: Quota | None, n_rows: int | None) -> dict[int, list[str]]:
    """Labels of metrics, grouped by the number of rows of their draws: the planned number, ``n_rows``, or all rows."""
    planned = {} if quota is None else quota.rows
    found: dict[int, list[str]] = {}
    for label in labels:
        found.setdefault(planned.get(label, n_rows or evidence.n_rows), []).append(label)
    return found
