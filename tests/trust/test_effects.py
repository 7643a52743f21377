"""Errors of modelled codes, and the changes that they make doubtful."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.metrics import mcc
from unweave.trust.effects import CheckStep, Steps

Z, NOISE = np.random.default_rng(0).normal(size=(2, 200, 2))
EXACT, MADE = (Evidence(Z, Z),), (Evidence(Z, Z + NOISE),)


@pytest.mark.parametrize(
    ("modelled", "compared"), [((True, True), True), ((True, False), True), ((False, True), True), ((False,), False)]
)
def test_models_of_codes_are_compared_with_the_codes_if_any_step_uses_them(modelled, compared):
    steps = tuple(CheckStep("dependence", EXACT, MADE, each) for each in modelled)
    found = Steps(steps, real=EXACT, control=MADE).on(mcc, mcc(EXACT[0]))
    exact = mcc(MADE[0]).value - 1
    assert exact < -0.1
    assert found.misfit == pytest.approx(exact if compared else 0.0)
    assert [change.moved for change in found.changes] == pytest.approx([exact] * len(modelled))
    # a change is doubted if it relies on the models and is no larger than their error
    assert [found.doubted(change) for change in found.changes] == list(modelled)
