"""The adversary's small changes of an encoder: how far they go, and where they end."""

import pytest

from unweave.auditing.adversary import _perturbed_encoder
from unweave.synthetic.encoders import Mixed, Noise, Noisy, PartlyMixed, Reshaped, WithCopies, WithNoiseCodes

START = (
    Mixed(2.0, 2.0),
    PartlyMixed(0.4),
    Noise(10),
    Noisy(PartlyMixed(0.25), 0.3),
    WithCopies(PartlyMixed(0.25), 4),
    WithNoiseCodes(PartlyMixed(0.25), 10),
    Reshaped(PartlyMixed(0.25)),
)


class Drawing:
    """Gives the same normal number and the same whole number each time."""

    def __init__(self, number, whole):
        self.number, self.whole = number, whole

    def normal(self):
        return self.number

    def integers(self, low, high):
        assert (low, high) == (-1, 2)
        return self.whole


@pytest.mark.parametrize(
    ("number", "whole", "expected"),
    [
        (
            1.0,  # e^.5 = 1.6487, e^.3 = 1.3499, e^.4 = 1.4918
            1,
            (
                Mixed(3.297, 2.7),
                PartlyMixed(0.5),
                Noise(15),
                Noisy(PartlyMixed(0.35), 0.4),
                WithCopies(PartlyMixed(0.35), 5),
                WithNoiseCodes(PartlyMixed(0.35), 15),
                Reshaped(PartlyMixed(0.35)),
            ),
        ),
        (
            -20.0,
            -3,
            (
                Mixed(1.0, 1.0),
                PartlyMixed(0.0),
                Noise(2),
                Noisy(PartlyMixed(0.0), 0.0),
                WithCopies(PartlyMixed(0.0), 1),
                WithNoiseCodes(PartlyMixed(0.0), 1),
                Reshaped(PartlyMixed(0.0)),
            ),
        ),
    ],
)
def test_parameters_change_by_their_steps_and_stay_within_their_ends(number, whole, expected):
    assert tuple(_perturbed_encoder(encoder, Drawing(number, whole)) for encoder in START) == expected


def test_large_parameters_end_too():
    up = Drawing(20.0, 3)
    assert _perturbed_encoder(Mixed(2.0, 2.0), up).ratio == 15.0
    assert _perturbed_encoder(PartlyMixed(0.4), up) == PartlyMixed(1.0)
    assert _perturbed_encoder(Noise(10), up) == Noise(300)
    assert _perturbed_encoder(Noisy(PartlyMixed(0.4), 0.3), up) == Noisy(PartlyMixed(1.0), 0.95)
    assert _perturbed_encoder(WithCopies(PartlyMixed(0.4), 4), up) == WithCopies(PartlyMixed(1.0), 6)
