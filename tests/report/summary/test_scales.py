"""Scales of bars and pictures: their ends, and whether they have a sign."""

from dataclasses import replace

import numpy as np
import pytest
from fake_evaluations import fake_evaluation

from unweave import Evaluation, Score, evaluate
from unweave.report.summary import summarise
from unweave.score import ShownMatrix

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(120, 2))


@pytest.mark.parametrize(("value", "ends"), [(-7.0, [-7.0, 1.0]), (7.0, [0.0, 7.0]), (0.5, [-2.0, 1.0])])
def test_an_axis_without_bounds_reaches_from_the_smallest_value_to_the_largest(value, ends):
    bounds = (-np.inf, max(ends[1], 1.0))
    per_factor = {"factor 0": 1.0 if value != 7 else 3.0, "factor 1": -2.0 if value != 7 else 0.0}
    score = Score(raw=value, metric="r2", version=1, bounds=bounds, per_factor=per_factor)
    row = replace(evaluate(FACTORS, FACTORS, metrics=["r2"], quick=True).rows[0], score=score)
    card = replace(row.card, bounds=bounds)
    [metric] = summarise(Evaluation((replace(row, card=card),), fake_evaluation().data))["metrics"]
    assert metric["domain"] == ends


@pytest.mark.parametrize(("lowest", "signed"), [(0.0, False), (-0.1, True)])
def test_a_matrix_has_a_sign_where_a_value_is_below_zero(lowest, signed):
    evaluation = fake_evaluation(n_codes=8)
    values = np.ones((8, 4))
    values[2, 1] = lowest
    first, *_ = evaluation.rows
    shown = ShownMatrix("weights", "Weight of every code", framed=False)
    row = replace(first, score=replace(first.score, parts={"weights": values}, matrices=(shown,)))
    [matrix] = summarise(replace(evaluation, rows=(row,)))["matrices"]
    assert matrix["signed"] is signed
