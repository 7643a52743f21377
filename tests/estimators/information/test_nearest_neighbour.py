"""Mutual information of labels with several columns, by nearest neighbours."""

import numpy as np
import pytest

from unweave.estimators.information.nearest_neighbour import label_information


@pytest.mark.parametrize("units", [[1.0, 1000.0], [1e-6, 1.0]])
def test_the_units_of_columns_do_not_matter(units):
    """Without scaling, the column with the largest unit would determine the neighbours."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(400, 2))
    labels = (columns[:, 0] > 0).astype(np.intp) + (columns[:, 1] > 0)
    expected = label_information(columns, labels, k=3)
    assert label_information(columns * units, labels, k=3) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.5
