"""The ladder against closed forms: rungs of constructed codes, recoveries, leakage, and refusals."""

import numpy as np
import pytest

import unweave
from unweave.identifiability import Ladder, ladder


def normal(seed, n=1000, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def rungs(found):
    return [row.rung for row in found.rows]


def test_codes_of_their_own_rotations_and_noise_are_told_apart():
    z = normal(3)
    turn = np.linalg.qr(normal(4, 3, 3))[0]
    own, turned, noise = (ladder(z, codes, quick=True) for codes in (np.sinh(z), z @ turn, normal(5)))
    assert rungs(own) == ["one code"] * 3
    assert rungs(turned) == ["own direction"] * 3
    assert rungs(noise) == ["absent"] * 3
    assert own.own_codes == pytest.approx(1, abs=0.01)
    assert turned.direction == pytest.approx(1, abs=0.01)
    assert noise.value == 0


def test_json_frame_and_figure_have_the_same_rows():
    z = normal(8, n=300, d=2)
    found = unweave.ladder(z, z, quick=True)
    again = Ladder.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.rows == found.rows
    assert found.to_frame()["rung"].to_list() == rungs(found)
    assert len(found.plot().axes[0].get_yticklabels()) >= 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ladder(normal(0, 12, 20), normal(1, 12, 3)), "20 factors needs at least 21 rows"),
        (lambda: ladder(normal(0), normal(1), baseline=normal(2, 7)), "baseline has 7 rows"),
        (lambda: ladder(normal(0), normal(1), baseline=normal(2, d=4)), "twin of the same width"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(unweave.EvidenceError, match=message):
        call()
