"""Grids and tables of factors, at the limits of what they find and accept."""

import numpy as np
import pytest

from unweave import InputError
from unweave.datasets.interface import Factor, GridDataSet, TabledDataSet

FACTORS = (Factor("size", "ordinal"), Factor("shape", "categorical", ("heart", "square")), Factor("far", "continuous"))
VALUES = ([0.0, 0.5, 2.0], [0, 1], [-300.0, 100.0, 200.0, 250.0])


class Numbers(GridDataSet):
    """Images of one pixel: the indices of the values as digits."""

    image_shape = (1, 1, 1)

    def __init__(self, values=VALUES, **keep):
        super().__init__("numbers", FACTORS, values, keep)

    def _rendered(self, places):
        return (places @ [100, 10, 1]).astype(np.float32).reshape(-1, 1, 1, 1)


class Tabled(TabledDataSet):
    def __init__(self, table, pixels=None, n_factors=1):
        self.pixels = np.zeros(20) if pixels is None else pixels
        super().__init__("tabled", [Factor(f"f{j}", "ordinal") for j in range(n_factors)], np.asarray(table), (1, 1, 1))

    def _images(self, indices):
        return self.pixels[indices].astype(np.float32).reshape(-1, 1, 1, 1)


def test_images_are_those_of_their_factors():
    grid = Numbers()
    assert (len(grid), grid.n_values) == (24, (3, 2, 4))
    assert grid.indices_of([[2.0, 1, 250.0], [0.0, 0, -300.0], [0.5, 1, 100.0]]).tolist() == [23, 0, 13]
    assert grid.images([23, 0, 13]).ravel().tolist() == [213.0, 0.0, 111.0]
    assert [len(batch.indices) for batch in Numbers(shape=["heart"], far=[1]).batches(1)] == [1, 1, 1]
    assert grid.images([]).shape == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("values", "near", "far"),
    [([0.0, 0.5, 2.0], 1.9e-6, 2.1e-6), ([0.0, 0.1, 0.4], 0.9e-6, 1.1e-6), ([-300.0, 0.0, 200.0], 2.9e-4, 3.1e-4)],
)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_values_are_found_up_to_rounding(values, near, far, sign, which):
    grid = Numbers((values, *VALUES[1:]))
    assert grid.indices_of([[values[which] + sign * near, 0, -300.0]]).tolist() == [8 * which]
    with pytest.raises(InputError, match="size is never"):
        grid.indices_of([[values[which] + sign * far, 0, -300.0]])


@pytest.mark.parametrize(
    ("value", "nearest"), [(-1.0, "0"), (0.2, "0"), (0.25, "0"), (0.3, "0.5"), (1.3, "2"), (5.0, "2")]
)
def test_the_nearest_value_is_named(value, nearest):
    with pytest.raises(InputError, match=rf"size is never {value:g} in numbers: the nearest value is {nearest}\.$"):
        Numbers().indices_of([[0.0, 0, -300.0], [value, 0, -300.0]])


def test_a_value_that_is_no_number_is_never_found():
    with pytest.raises(InputError, match="size is never nan"):
        Numbers().indices_of([[np.nan, 0, -300.0]])


def test_the_first_of_equal_values_is_found():
    grid = Numbers(([2.0, 0.5, 0.5], *VALUES[1:]))
    assert grid.indices_of([[0.5, 0, -300.0], [2.0, 0, -300.0]]).tolist() == [8, 0]


def test_kept_values_are_numbered_anew_and_a_single_one_is_no_factor():
    grid = Numbers(size=[2, 0], shape=["square"], far=slice(1, 4))
    assert (grid.factor_names, grid.n_values, len(grid)) == (("size", "far"), (2, 3), 6)
    assert grid.factors([0, 5]).tolist() == [[2.0, 100.0], [0.0, 250.0]]
    assert grid.images().ravel().tolist() == [211.0, 212.0, 213.0, 11.0, 12.0, 13.0]
    assert grid.indices_of([[0.0, 200.0]]).tolist() == [4]
    held = grid.indices_with({"far": 250.0}, 40, np.random.default_rng(0))
    assert set(held) == {2, 5}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ({"size": [0, 3]}, "size has the values 0 to 2"),
        ({"size": [3]}, "size has the values 0 to 2: keep at least one"),
        ({"size": [0, -1]}, "size has the values 0 to 2"),
        ({"size": []}, "size has the values 0 to 2"),
        ({"size": slice(3, 4)}, "size has the values 0 to 2"),
        ({"shape": ["star"]}, "shape is never 'star': its values are heart, square"),
        ({"size": ["small"]}, "size is never 'small': its values are numbers"),
        ({"hue": [0]}, "no factor 'hue' of which to keep values: the factors are size, shape, far"),
    ],
    ids=str,
)
def test_values_that_cannot_be_kept(keep, message):
    with pytest.raises(InputError, match=message):
        Numbers(**keep)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda grid: grid.indices_of([0.0, 0, -300.0]), r"not an array of shape \(3,\)"),
        (lambda grid: grid.indices_of([[0.0, 0]]), r"not an array of shape \(1, 2\)"),
        (lambda grid: grid.sampler_of_codes(np.zeros(24)), r"the codes have the shape \(24,\)"),
        (lambda grid: grid.sampler_of_codes(np.zeros((23, 2))), r"numbers has 24 images, but .* \(23, 2\)"),
        (lambda grid: grid.images([[0, 1]]), "an array of int64 with 2 axes"),
        (lambda grid: grid.images([0, 24]), "numbers has images 0 to 23, so there is no image 24"),
    ],
)
def test_bad_shapes(ask, message):
    with pytest.raises(InputError, match=message):
        ask(Numbers())


def test_the_digest_of_a_table_is_of_its_factors_and_first_images():
    table = np.arange(20.0)[:, None]
    digests = [Tabled(table).fingerprint, Tabled(table + 1).fingerprint]
    for lit in (0, 15, 16):
        digests.append(Tabled(table, np.arange(20) == lit).fingerprint)
    assert len(set(digests)) == 4
    assert digests[4] == digests[0]  # the seventeenth image is not read
    assert Tabled(table[:3]).fingerprint != digests[0]


@pytest.mark.parametrize(("table", "n_factors"), [(np.ones(3), 1), (np.ones((3, 2)), 1), (np.ones((0, 1)), 1)])
def test_a_table_has_a_row_per_image_and_a_column_per_factor(table, n_factors):
    with pytest.raises(InputError, match=r"tabled has a table of factors of shape .*: it needs one column per factor"):
        Tabled(table, n_factors=n_factors)


def test_a_value_at_the_tolerance_is_found():
    assert Numbers(([0.0, 0.1, 0.4], *VALUES[1:])).indices_of([[1e-6, 0, -300.0]]).tolist() == [0]
    assert Numbers(([0.5, 0.5, 0.5], *VALUES[1:])).indices_of([[0.5, 0, -300.0]]).tolist() == [0]


def test_a_grid_of_one_image_has_no_factors():
    grid = Numbers(size=[2], shape=["square"], far=[3])
    assert (len(grid), grid.factor_names, grid.factors().shape) == (1, (), (1, 0))
    assert grid.images().ravel().tolist() == [213.0]


def test_a_table_may_have_one_row():
    assert Tabled([[4.0]]).factors().tolist() == [[4.0]]
