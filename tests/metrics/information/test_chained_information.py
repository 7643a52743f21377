"""Information about several targets by the chain rule, with a stub estimator whose values a test prescribes."""

from dataclasses import dataclass

import numpy as np
import pytest

from unweave.metrics.information.minimal_sufficient.unit_information import chained_information

ROWS = np.arange(4)


@dataclass(frozen=True)
class ByWidth:
    """Stub estimator whose information depends only on the number of columns."""

    told: tuple[float, ...]

    def joint_information(self, columns, labels, train, test):
        return self.told[columns.shape[1]]


def chained(*told, n_targets):
    column = np.zeros((4, 1))
    targets = [(np.zeros(4, dtype=np.intp), column)] * n_targets
    return chained_information(column, np.empty((4, 0)), targets, ByWidth(told), ROWS, ROWS)


def test_every_target_adds_what_it_tells_beyond_those_before():
    assert chained(0.0, 0.3, 0.5, n_targets=1) == pytest.approx(0.3)
    assert chained(0.0, 0.3, 0.5, n_targets=2) == pytest.approx(0.3 + (0.5 - 0.3))


def test_an_estimate_that_falls_with_more_columns_takes_nothing_away():
    """Held-out estimates may decrease with more columns, although mutual information cannot."""
    assert chained(0.0, 0.3, 0.1, n_targets=2) == pytest.approx(0.3)
    assert chained(0.0, -0.2, 0.1, n_targets=1) == 0.0
