"""The order of the audit's cells, and the independence of null codes and factors."""

import numpy as np
import pytest

from unweave.auditing import Grid
from unweave.auditing.measurement import PROPERTIES, Case
from unweave.synthetic.encoders import Noise
from unweave.synthetic.worlds import Independent


def test_telling_cells_come_first():
    """Both ends of a curve come before its middle, twice the codes before other ratios, and expensive cells last."""
    points = Grid().points()
    turns = [point.turn for point in points]
    assert turns == sorted(turns)
    assert {point.name for point in points if point.turn == 0} == set(PROPERTIES)
    mixed = [point.x for point in points if (point.name, point.series, point.n_factors) == ("P1", "E3", 5)]
    assert mixed[:2] == [0.0, 0.97]
    copied = [point.x for point in points if (point.name, point.series, point.n_factors) == ("P3", "E5", 5)]
    assert copied[:3] == [1, 2.0, 10.0]
    assert points[-1].case.encoder.n_codes(5) > 200


@pytest.mark.parametrize("seed", range(3))
def test_noise_codes_do_not_know_the_factors_of_the_same_seed(seed):
    evidence = Case(Independent(5), Noise(5)).evidence(seed)
    between = np.corrcoef(evidence.factors, evidence.codes, rowvar=False)[:5, 5:]
    assert np.abs(between).max() < 4 / np.sqrt(1000)
