"""Outputs of encoders as tables, and parts of encodings that are kept, on both sides of every condition."""

import numpy as np
import pytest

from unweave import InputError, OptionError
from unweave.encoding import OutputReader

MEAN = np.arange(6.0).reshape(2, 3)


def read(*outputs, spread=None, n_images=2):
    """Arrays of the last of these batches."""
    reader = OutputReader(spread)
    return [reader.arrays(output, n_images) for output in outputs][-1]


@pytest.mark.parametrize(
    ("output", "names", "shape"),
    [
        (MEAN, ["codes"], (2, 3)),
        (MEAN.tolist(), ["codes"], (2, 3)),
        (MEAN[:, 0], ["codes"], (2, 1)),
        ([1.0, 2.0], ["codes"], (2, 1)),
        ([1, 2], ["codes"], (2, 1)),
        ((MEAN,), ["codes"], (2, 3)),
        ([MEAN, MEAN], ["codes", "codes_std"], (2, 3)),
        ((MEAN, None), ["codes"], (2, 3)),
        ((MEAN, MEAN, np.full((2, 4), 0.25)), ["codes", "codes_std", "codes_category category 0"], (2, 3)),
        ((MEAN, None, {"hue": np.full((2, 4), 0.25)}), ["codes", "codes_category hue"], (2, 3)),
    ],
)
def test_what_is_returned_is_named(output, names, shape):
    found = read(output)
    assert list(found) == names
    assert found["codes"].shape == shape


@pytest.mark.parametrize(
    ("output", "codes"), [([[1.0, 2.0]], [[1.0, 2.0]]), ([3.0], [[3.0]]), ((MEAN[:1],), [[0, 1, 2]])]
)
def test_one_image_has_one_row_of_codes(output, codes):
    assert read(output, n_images=1)["codes"].tolist() == codes


def test_the_first_batch_decides_what_the_spread_is():
    zero_at_least, below = np.array([[0.0, 1.0, 2.0]] * 2), np.array([[2.0, -2.0, 4.0]] * 2)
    assert read((MEAN, zero_at_least))["codes_std"].tolist() == zero_at_least.tolist()
    np.testing.assert_allclose(read((MEAN, below))["codes_std"], np.exp([[1.0, -1.0, 2.0]] * 2), rtol=1e-6)
    np.testing.assert_allclose(read((MEAN, below), (MEAN, zero_at_least))["codes_std"][0, 2], np.e, rtol=1e-6)
    with pytest.raises(InputError, match="negative standard deviation"):
        read((MEAN, zero_at_least), (MEAN, below))
    with pytest.raises(InputError, match="negative standard deviation"):
        read((MEAN, below), spread="std")
    with pytest.raises(OptionError, match="A spread of 'variance' is not known"):
        OutputReader("variance")


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (((),), "returned 0 values"),
        (((MEAN,) * 4,), "returned 4 values"),
        (([[0.0, 1.0, 2.0], [3.0, 4.0, np.inf]],), "returned inf as codes, in row 1 and column 2 of a batch"),
        ((np.array([[0.0, np.nan], [np.nan, 1.0]]),), "returned nan as codes, in row 0 and column 1 of a batch"),
        ((MEAN[None],), r"codes of shape \(1, 2, 3\) for 2 images"),
        ((MEAN[:1],), r"codes of shape \(1, 3\) for 2 images"),
        (((MEAN, MEAN[:, :2]),), r"means \(2, 3\) and spreads \(2, 2\)"),
        ((MEAN, MEAN[:, :2]), "codes of width 2 for one batch and codes of width 3 for another"),
        ((MEAN, (MEAN, MEAN)), "codes of width 3, codes_std of width 3 for one batch and codes of width 3 for another"),
    ],
)
def test_bad_batches_state_where(outputs, message):
    with pytest.raises(InputError, match=message):
        read(*outputs)


@pytest.mark.parametrize(
    ("table", "fits"),
    [
        ([[0.0, 1.0], [0.5, 0.5]], True),
        ([[0.0, 1.0], [0.5, 0.5008]], True),
        ([[0.0, 1.0], [0.5, 0.4992]], True),
        ([[0.0, 1.0], [0.5, 0.503]], False),
        ([[0.0, 1.0], [0.5, 0.497]], False),
        ([[0.0, 1.0], [-0.5, 1.5]], False),
    ],
)
def test_categories_are_probabilities_up_to_rounding(table, fits):
    if fits:
        np.testing.assert_allclose(read((MEAN, None, [table]))["codes_category category 0"], table, rtol=1e-6)
    else:
        with pytest.raises(InputError, match="The rows of category 0 are not probabilities"):
            read((MEAN, None, [table]))
