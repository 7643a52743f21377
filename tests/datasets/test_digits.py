"""Digits: valid and damaged idx files, and measurements of strokes with known sizes."""

import gzip
import struct

import numpy as np
import pytest

from unweave import FileError, OptionError
from unweave.datasets import emnist, fashion_mnist, load, mnist
from unweave.datasets.digits import measured_digits, read_idx


def idx_bytes(array, order=">"):
    head = struct.pack(order + "HBB", 0, 0x08, array.ndim) if order == ">" else struct.pack("<BBH", array.ndim, 8, 0)
    return head + struct.pack(f"{order}{array.ndim}I", *array.shape) + array.tobytes()


def strokes(n=12, size=28):
    """Bars of known thickness, height and slant, rendered at 8 times the resolution and averaged."""
    rng = np.random.default_rng(0)
    truth = np.column_stack([rng.uniform(-0.5, 0.5, n), rng.uniform(1.5, 4, n), np.zeros(n), rng.uniform(12, 20, n)])
    fine = (np.arange(size * 8) + 0.5) / 8 - size / 2
    x, y = fine[None, None, :], fine[None, :, None]
    slant, thickness, _, height = (column[:, None, None] for column in truth.T)
    # a sheared bar: its thickness across the stroke is that along x times the cosine
    lit = (np.abs(x + y * np.tan(slant)) * np.cos(slant) <= thickness / 2) & (np.abs(y) <= height / 2)
    grey = lit.reshape(n, size, 8, size, 8).mean(axis=(2, 4))
    truth[:, 2] = truth[:, 1] / np.cos(truth[:, 0]) + np.abs(truth[:, 3] * np.tan(truth[:, 0]))
    return np.rint(grey * 255).astype(np.uint8), truth


@pytest.fixture
def folder(tmp_path):
    pixels, _ = strokes()
    labels = (np.arange(12) % 10).astype(np.uint8)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx_bytes(pixels))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(labels)))
    (tmp_path / "emnist-digits-train-images-idx3-ubyte").write_bytes(
        idx_bytes(np.ascontiguousarray(pixels.transpose(0, 2, 1)))
    )
    (tmp_path / "emnist-digits-train-labels-idx1-ubyte").write_bytes(idx_bytes(labels))
    return tmp_path


def test_measures_are_those_of_the_strokes():
    pixels, truth = strokes(40)
    found = measured_digits(pixels)
    assert found[:, 0] == pytest.approx(truth[:, 0], abs=0.05)
    assert np.corrcoef(found[:, 1], truth[:, 1])[0, 1] > 0.99
    with_ends = truth[:, 1] / (1 + truth[:, 1] / truth[:, 3])  # the two ends of a bar count as edge
    assert found[:, 1] == pytest.approx(with_ends, rel=0.15)
    assert found[:, 2] == pytest.approx(truth[:, 2], abs=1.2)
    assert found[:, 3] == pytest.approx(truth[:, 3], abs=0.6)


def test_an_empty_image_is_not_measured():
    slant, thickness, width, height = measured_digits(np.zeros((1, 8, 8), dtype=np.uint8))[0]
    assert np.isnan([slant, width, height]).all()
    assert thickness == 0


def test_mnist(folder):
    digits = mnist(folder, size=32)
    pixels, _ = strokes()
    assert (len(digits), digits.image_shape) == (12, (1, 32, 32))
    assert digits.kinds == ("categorical", *["continuous"] * 4)
    assert np.array_equal(np.rint(digits.images()[:, 0, 2:-2, 2:-2] * 255), pixels)
    assert digits.images()[:, 0, :2].max() == 0
    assert digits.factors([3, 1])[:, 0].tolist() == [3.0, 1.0]
    assert np.array_equal(digits.factors([3])[0, 1:], measured_digits(pixels[3:4])[0])


def test_fashion_and_emnist(folder):
    assert fashion_mnist(folder).value_names["label"][9] == "ankle boot"
    assert np.array_equal(emnist(folder).images(), mnist(folder).images())
    assert emnist(folder).fingerprint != mnist(folder).fingerprint == load("mnist", folder).fingerprint


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda content: content[:-5], "cut off"),
        (lambda content: content + b"xy", "another file, or damaged"),
        (lambda content: content[:9], "within its header"),
        (lambda content: b"PK" + content, "not an idx file"),
        (lambda content: b"", "not an idx file"),
        (lambda content: idx_bytes(np.zeros((2, 3), np.uint8), "<"), "little-endian"),
        (lambda content: idx_bytes(np.zeros((2, 3), np.uint8)), "three axes"),
        (lambda content: idx_bytes(np.zeros((5, 28, 28), np.uint8)), "for 5 images"),
    ],
)
def test_spoilt_files(folder, spoil, message):
    path = folder / "train-images-idx3-ubyte"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(FileError, match=message):
        mnist(folder)


def test_a_cut_off_download(folder):
    path = folder / "train-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(FileError, match="cut off or damaged"):
        mnist(folder)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(FileError, match=r"t10k-images-idx3-ubyte or t10k-images-idx3-ubyte\.gz"):
        mnist(tmp_path, split="test")
    with pytest.raises(OptionError, match="give their path"):
        load("mnist")
    with pytest.raises(OptionError, match="give no path"):
        load("dsprites", tmp_path)


def test_a_plain_file_is_mapped(folder):
    assert isinstance(read_idx(folder / "train-images-idx3-ubyte"), np.memmap)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0\0\x08", "not an idx file"),
        (b"\0\0\x08\x01", "ends within its header"),
        (b"\0\0\x08\x01\0\0\0", "ends within its header"),
        (b"\0\0\x07\x01\0\0\0\x01a", "not an idx file"),
        (b"\x01\x08\0\0", "little-endian"),
        (b"\x01\x08\0", "not an idx file"),
    ],
)
def test_headers_that_are_too_short_or_of_no_type(tmp_path, content, message):
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with pytest.raises(FileError, match=message):
        read_idx(tmp_path / "a.gz")


def test_a_header_without_axes_is_one_number(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"\0\0\x08\0\x2a"))
    assert read_idx(tmp_path / "a.gz").tolist() == 42


@pytest.mark.parametrize(("kind", "dtype"), [(9, "i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")])
@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_numbers_of_every_type(tmp_path, kind, dtype, name):
    array = np.arange(-3, 3).astype(dtype).reshape(2, 3)
    content = struct.pack(">HBBII", 0, kind, 2, 2, 3) + array.tobytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read_idx(tmp_path / name).tolist() == array.tolist()


def write_mnist(folder, pixels, labels):
    (folder / "train-images-idx3-ubyte").write_bytes(idx_bytes(np.asarray(pixels, np.uint8)))
    (folder / "train-labels-idx1-ubyte").write_bytes(idx_bytes(np.asarray(labels, np.uint8)))
    return folder


def test_images_are_padded_on_all_sides_and_one_more_below_and_to_the_right(tmp_path):
    pixels = np.arange(1, 13).reshape(1, 3, 4)
    write_mnist(tmp_path, pixels, [0])
    padded = mnist(tmp_path, size=9)
    assert padded.image_shape == (1, 9, 9)
    expected = np.zeros((9, 9))
    expected[3:6, 2:6] = pixels[0]
    assert np.array_equal(np.rint(padded.images()[0, 0] * 255), expected)
    plain = mnist(tmp_path)
    assert plain.image_shape == (1, 3, 4)
    assert np.array_equal(np.rint(plain.images() * 255), pixels[:, None])
    assert mnist(tmp_path, size=4).images().shape == (1, 1, 4, 4)
    with pytest.raises(OptionError, match="Images of 3 x 4 cannot be padded to 3: choose a larger size"):
        mnist(tmp_path, size=3)


def test_labels_have_names(tmp_path):
    write_mnist(tmp_path, np.zeros((3, 2, 2)), [0, 7, 9])
    assert mnist(tmp_path).value_names["label"] == tuple("0123456789")
    assert mnist(tmp_path).labels.tolist() == [0, 7, 9]
    assert fashion_mnist(tmp_path).n_images == 3
    write_mnist(tmp_path, np.zeros((3, 2, 2)), [0, 7, 10])
    with pytest.raises(FileError, match="has label 10, but fashion_mnist has 10 labels"):
        fashion_mnist(tmp_path)


def test_a_file_without_images_is_refused(tmp_path):
    with pytest.raises(FileError, match="has no images: get the file again"):
        mnist(write_mnist(tmp_path, np.zeros((0, 2, 2)), np.zeros(0)))


def test_the_digest_of_digits_is_of_all_pixels_and_labels(tmp_path):
    pixels = np.zeros((3, 2, 2))
    digests = {mnist(write_mnist(tmp_path, pixels, [0, 1, 2])).fingerprint}
    digests.add(mnist(write_mnist(tmp_path, pixels, [0, 1, 3])).fingerprint)
    for at in (0, 2):
        changed = pixels.copy()
        changed[at, 1, 1] = 1
        digests.add(mnist(write_mnist(tmp_path, changed, [0, 1, 2])).fingerprint)
    assert [len(bytes.fromhex(digest)) for digest in digests] == [16] * 4


def test_measures_at_the_limits():
    """No images, and one pixel that is just half as bright as can be: the region of at least one half is a point."""
    assert measured_digits(np.zeros((0, 5, 5))).shape == (0, 4)
    point = np.zeros((1, 5, 6))
    point[0, 2, 3] = 0.5
    assert measured_digits(point, 1.0)[0, 2:].tolist() == [0.0, 0.0]
