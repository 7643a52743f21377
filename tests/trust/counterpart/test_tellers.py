"""The code that predicts a factor: the straightest of equally good ones, and curves of several widths."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.trust.code_models import code_models
from unweave.trust.counterpart import Teller, _read_share, each_told, tellers_of

RNG = np.random.default_rng(0)


def test_of_equally_good_codes_the_straightest_is_named_whatever_its_sign():
    factor, other, *noise = RNG.normal(size=(4, 400))
    bent, straight = (factor + 0.15 * noise[0]) ** 3, -(factor + 0.15 * noise[1])
    found = code_models(Evidence({"x": factor, "y": other}, np.column_stack([bent, straight, other])))
    assert found.owner.tolist() == [0, 0, 1]
    assert {factor: teller.codes for factor, teller in tellers_of(found, 0).items()} == {0: (1,), 1: (2,)}


@pytest.mark.parametrize("waves", [1, 4, 7])
def test_curves_with_many_turns_are_read_too(waves):
    x = RNG.normal(size=(300, 1))
    assert _read_share(x, np.sin(waves * x[:, 0])) > 0.97
    assert _read_share(RNG.normal(size=(300, 1)), np.sin(waves * x[:, 0])) < 0.1


@pytest.mark.parametrize(("share", "told"), [(0.9, True), (0.899, False)])
def test_factors_are_told_from_a_limit_on(share, told):
    assert each_told({0: Teller((0,)), 1: Teller((1,), share)}, 2) is told
