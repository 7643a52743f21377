"""The expected seconds of scores."""

import numpy as np

from unweave import Evidence
from unweave.evaluation.choose import expected_seconds
from unweave.trust.budget import DataSizes, table

Z = np.random.default_rng(0).normal(size=(4000, 4))
NARROW = Evidence(Z[:, :2], Z[:, 2:4])


def test_a_score_that_others_have_paid_for_takes_a_millisecond():
    sizes = DataSizes.of(NARROW)
    labels = ["dci_completeness", "mine", "dci_disentanglement", "mcc", "mine"]
    expected = [table()["dci_completeness"].seconds(sizes), 0.1, 1e-3, table()["mcc"].seconds(sizes), 0.1]
    assert expected_seconds(labels, NARROW) == expected
