"""Options of `unweave train` as numbers and sizes."""

import pytest

from unweave import OptionError
from unweave.cli.train import _channels, _values


@pytest.mark.parametrize(
    ("side", "channels"),
    [(4, (32,)), (8, (32,)), (16, (32, 32)), (28, (32, 32)), (32, (32, 32, 64)), (64, (32, 32, 64, 64)),
     (128, (32, 32, 64, 64))],
)  # fmt: skip
def test_convolutions_bring_an_image_to_four_by_four(side, channels):
    assert _channels(side) == channels


def test_values_of_hyperparameters():
    found = _values(("--beta", "1,4.5,-2", "--critic-hidden=64x32"))
    assert found == {"beta": [1, 4.5, -2], "critic_hidden": [(64, 32)]}
    assert [type(value) for value in found["beta"]] == [int, float, int]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--beta",), "'--beta' are not hyperparameters"),
        (("beta", "1"), "'beta 1' are not hyperparameters"),
        (("--beta", "1", "4"), "'--beta 1 4' are not hyperparameters"),
        (("--beta", "1", "gamma", "2"), "'--beta 1 gamma 2' are not hyperparameters"),
        (("--beta=1=2",), "'1=2' is not a number"),
        (("--beta", "one"), "'one' is not a number"),
        (("--h", "3xb"), "'3xb' is not a number"),
    ],
)
def test_what_is_no_hyperparameter(given, said):
    with pytest.raises(OptionError, match=said):
        _values(given)
