"""Outputs of encoders as tables, and parts of encodings that are kept, on both sides of every condition."""

import numpy as np
import pytest

from unweave import encoding as parts_of_encoding
from unweave.encoding import EncodingError, KeptParts, OutputReader

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
    with pytest.raises(EncodingError, match="negative standard deviation"):
        read((MEAN, zero_at_least), (MEAN, below))
    with pytest.raises(EncodingError, match="negative standard deviation"):
        read((MEAN, below), spread="std")
    with pytest.raises(EncodingError, match="A spread of 'variance' is not known"):
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
    with pytest.raises(EncodingError, match=message):
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
        with pytest.raises(EncodingError, match="The rows of category 0 are not probabilities"):
            read((MEAN, None, [table]))


def test_a_part_is_whole_if_all_its_arrays_have_its_rows(tmp_path):
    parts = KeptParts(tmp_path / "codes.npz", {"model": "a"})
    rows = np.arange(4.0)
    parts.add(3, 7, {"codes": rows, "codes_std": rows})
    parts.add(7, 11, {"codes": rows, "codes_std": rows[:3]})
    parts.add(11, 16, {"codes": rows})
    parts.add(16, 20, {})
    assert [parts.has(*ends) for ends in ((3, 7), (7, 11), (11, 16), (16, 20), (20, 24))] == [True] + [False] * 4
    assert parts.read(3, 7)["codes_std"].tolist() == rows.tolist()
    broken = next(parts.folder.glob("*3-*7.npz"))
    broken.write_bytes(b"half")
    assert not parts.has(3, 7)
    assert not broken.exists()


def test_parts_with_python_objects_are_not_read(tmp_path):
    parts = KeptParts(tmp_path / "codes.npz", {"model": "a"})
    parts.add(0, 1, {"codes": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="allow_pickle"):
        parts.read(0, 1)
    assert not parts.has(0, 1)


def test_a_part_that_another_process_removes_is_no_part(tmp_path, monkeypatch):
    parts = KeptParts(tmp_path / "codes.npz", {"model": "a"})
    parts.add(0, 1, {"codes": np.zeros(1)})

    def removed_meanwhile(path, **_options):
        path.unlink()
        raise OSError

    monkeypatch.setattr(parts_of_encoding.np, "load", removed_meanwhile)
    assert not parts.has(0, 1)


def test_parts_of_another_encoding_are_refused(tmp_path):
    out = tmp_path / "runs" / "codes.npz"
    first = KeptParts(out, {"model": "a", "rows": 5})
    KeptParts(out, {"model": "a", "rows": 5})
    with pytest.raises(EncodingError, match="parts of another encoding, whose rows is different"):
        KeptParts(out, {"model": "a", "rows": 6})
    first.add(0, 1, {"codes": np.zeros(1)})
    (first.folder / "manifest.json").unlink()
    with pytest.raises(EncodingError, match="whose model is different"):
        KeptParts(out, {"model": "a", "rows": 5})
    first.remove()
    first.remove()
    assert not first.folder.exists()
