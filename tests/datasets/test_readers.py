"""Readers of published formats, each with a small valid file and with damaged files."""

import struct
import zipfile
from itertools import product

import numpy as np
import pytest

from unweave import FileError, InputError, OptionError, UnweaveError
from unweave.datasets import MPI3D, Cars3D, CelebA, DSprites, DSpritesFile, Shapes3D, SmallNORB
from unweave.datasets import readers as zipped_arrays
from unweave.datasets.readers import ZippedArrays, read_binary_matrix

rng = np.random.default_rng(0)
KEEP = {"scale": [0, 1], "orientation": [0, 1, 2], "x": [0, 1], "y": [0, 1, 2, 3]}


def dsprites_arrays():
    few = DSprites(keep=KEEP)
    values = np.column_stack([np.ones(len(few)), few.factors() + np.eye(5)[0]])
    classes = np.column_stack([np.zeros(len(few), np.int64), few.places()])
    return {"imgs": few.images()[:, 0].astype(np.uint8), "latents_values": values, "latents_classes": classes}


@pytest.mark.parametrize("save", [np.savez_compressed, np.savez])
def test_dsprites(tmp_path, save):
    save(tmp_path / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz", **dsprites_arrays())
    read, rendered = DSpritesFile(tmp_path), DSprites(keep=KEEP)
    assert (read.factor_names, read.image_shape) == (rendered.factor_names, rendered.image_shape)
    assert read.value_names == rendered.value_names
    assert read.images([]).shape == (0, 1, 64, 64)
    assert len(bytes.fromhex(read.fingerprint)) == 16
    assert np.allclose(read.factors(), rendered.factors())
    chosen = rng.permutation(len(rendered))[:60]
    assert np.array_equal(read.images(chosen), rendered.images(chosen))
    factors, _ = read.sampler(lambda images: images[:, 0, 32, 32:34])({"x": 0.0}, 20, rng)
    assert set(factors[:, 3]) == {0.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"imgs": np.zeros((144, 8), np.uint8)}, "n x height x width"),
        ({"latents_classes": np.zeros((10, 6), np.int64)}, "144 x 6"),
        ({"latents_classes": rng.permutation(dsprites_arrays()["latents_classes"])}, "in order"),
        ({"imgs": None}, "no array 'imgs' but latents_values"),
        ({"imgs": np.zeros((144, 4, 4), ">u2")}, "should be bytes"),
        ({"latents_values": np.full((144, 6), np.nan)}, "not numbers"),
        ({"latents_values": np.where(np.arange(864).reshape(144, 6) == 863, np.inf, 1.0)}, "not numbers"),
        ({"latents_values": np.ones((144, 5))}, r"\(144, 6\) and \(144, 5\): they should be 144 x 6"),
        ({name: np.ones((144, 5)) for name in ("latents_classes", "latents_values")}, "they should be 144 x 6"),
        ({"latents_values": np.array([[{}]], dtype=object)}, "other.npz contains Python objects, which are not read"),
    ],
)
def test_other_dsprites(tmp_path, change, message):
    arrays = {name: array for name, array in (dsprites_arrays() | change).items() if array is not None}
    np.savez_compressed(tmp_path / "other.npz", **arrays)
    with pytest.raises(FileError, match=message):
        DSpritesFile(tmp_path / "other.npz")


def test_dsprites_of_another_byte_order(tmp_path):
    other = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in dsprites_arrays().items()}
    np.savez(tmp_path / "other.npz", **other)
    assert np.allclose(DSpritesFile(tmp_path / "other.npz").factors(), DSprites(keep=KEEP).factors())


def test_one_is_the_largest_byte_of_dsprites(tmp_path):
    np.savez(tmp_path / "other.npz", **(dsprites_arrays() | {"imgs": np.full((144, 2, 2), 2, np.uint8)}))
    with pytest.raises(FileError, match="bytes up to 2: those of dSprites are 0 and 1"):
        DSpritesFile(tmp_path / "other.npz").images([0])


def test_a_full_turn_of_a_file_equals_no_turn(tmp_path):
    arrays = dsprites_arrays()
    turns = np.array([0.0, 1.0, 2 * np.pi])
    arrays["latents_values"][:, 3] = turns[arrays["latents_classes"][:, 3]]
    np.savez(tmp_path / "other.npz", **arrays)
    assert DSpritesFile(tmp_path / "other.npz").values[2].tolist() == [0.0, 1.0, 0.0]


def test_rows_of_a_large_deflated_array(tmp_path, monkeypatch):
    """Rows are read correctly in any order, with many saved states of the decompression."""
    monkeypatch.setattr(zipped_arrays, "KEPT_EVERY", 1 << 16)
    monkeypatch.setattr(zipped_arrays, "FED_AT_ONCE", 1 << 10)
    table = rng.integers(0, 40, size=(5000, 11, 3)).astype(np.uint8)
    np.savez_compressed(tmp_path / "table.npz", table=table)
    rows = ZippedArrays(tmp_path / "table.npz").rows_of("table")
    for chosen in (
        rng.integers(5000, size=30),
        np.array([4999]),
        np.array([0, 0, 7]),
        np.arange(1000, 1100),
        np.array([3, 5, 7]),
    ):
        assert np.array_equal(rows[chosen], table[chosen])
    assert rows[np.array([], dtype=np.int64)].shape == (0, 11, 3)


def test_a_stream_that_ends_early_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "table.npz", table=rng.integers(0, 256, size=(1000, 100)).astype(np.uint8))
    arrays = ZippedArrays(tmp_path / "table.npz")
    arrays._members["table"].compress_size //= 2
    rows = arrays.rows_of("table")
    assert rows[np.array([0])].shape == (1, 100)
    for chosen in (np.array([999]), np.arange(1000)):
        with pytest.raises(FileError, match="ends before its arrays do: it was cut off"):
            rows[chosen]


def test_a_cut_off_archive(tmp_path):
    np.savez_compressed(tmp_path / "whole.npz", images=rng.integers(0, 255, (24, 4, 4, 3)).astype(np.uint8))
    content = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"not a whole \.npz"):
        MPI3D(tmp_path / "cut.npz")
    damaged = bytearray(content)
    damaged[100:400] = bytes(300)
    (tmp_path / "damaged.npz").write_bytes(damaged)
    with pytest.raises(FileError):
        MPI3D(tmp_path / "damaged.npz", n_values=(2, 2, 1, 1, 1, 2, 3)).images()


def test_mpi3d(tmp_path):
    images = rng.integers(0, 255, size=(96, 8, 8, 3)).astype(np.uint8)
    np.savez_compressed(tmp_path / "mpi3d_toy.npz", images=images)
    read = MPI3D(tmp_path, n_values=(2, 2, 2, 1, 3, 2, 2))
    assert read.image_shape == (3, 8, 8)
    assert read.factor_names[0] == "object colour"
    assert "camera height" not in read.factor_names  # it does not vary here
    assert np.array_equal(np.rint(read.images([95, 0]) * 255), images[[95, 0]].transpose(0, 3, 1, 2))
    with pytest.raises(FileError, match="96 images, which is none of the published"):
        MPI3D(tmp_path)
    for n_values in ((2, 2, 2, 1, 3, 2, 3), (2, 2, 2, 3, 2, 2)):  # too many images, and too few factors
        with pytest.raises(FileError, match="96 images, which is none of the published"):
            MPI3D(tmp_path, n_values=n_values)
    with pytest.raises(FileError, match=r"mpi3d_real\.npz"):
        MPI3D(_empty(tmp_path))
    for odd in (images.transpose(0, 3, 1, 2), images / 255, images.astype(">u2"), images[0]):
        np.savez(tmp_path / "odd.npz", images=odd)
        with pytest.raises(FileError, match="should be bytes, n x height x width x 3"):
            MPI3D(tmp_path / "odd.npz", n_values=(2, 2, 2, 1, 3, 2, 2))


def _empty(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


def write_shapes3d(path, labels, images, name="images"):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file[name] = images
        file["labels"] = labels


def test_shapes3d(tmp_path):
    values = [np.arange(3) / 10, np.arange(2) / 10, [0.0, 0.1], [0.75, 1.25], [0.0, 1.0], [-30.0, 0.0, 30.0]]
    labels = np.array(list(product(*values)))
    images = rng.integers(0, 255, size=(len(labels), 6, 6, 3)).astype(np.uint8)
    write_shapes3d(tmp_path / "3dshapes.h5", labels, images)
    read = Shapes3D(tmp_path)
    assert np.allclose(read.factors(), labels)
    assert read.kinds[0] == "circular:1"
    assert (read.image_shape, read.value_names) == ((3, 6, 6), {"shape": ("cube", "cylinder")})
    chosen = [100, 3, 3, 50]
    assert np.array_equal(np.rint(read.images(chosen) * 255), images[chosen].transpose(0, 3, 1, 2))
    write_shapes3d(tmp_path / "other.h5", labels, images, name="pictures")
    with pytest.raises(FileError, match="no array 'images' but labels, pictures"):
        Shapes3D(tmp_path / "other.h5")
    for odd, of in ((images.transpose(0, 3, 1, 2), labels), (images / 255, labels), (images, labels[:10])):
        write_shapes3d(tmp_path / "odd.h5", of, odd)
        with pytest.raises(FileError, match="should be bytes, n x height x width x 3, and n x 6"):
            Shapes3D(tmp_path / "odd.h5")
    write_shapes3d(tmp_path / "turned.h5", labels.astype(">f8"), images)
    assert np.allclose(Shapes3D(tmp_path / "turned.h5").factors(), labels)
    content = (tmp_path / "3dshapes.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(content[:2000])
    with pytest.raises(FileError, match="cannot be read as arrays"):
        Shapes3D(tmp_path / "cut.h5")
    with pytest.raises(FileError, match=r"called 3dshapes\.h5"):
        Shapes3D(_empty(tmp_path))


def norb_bytes(array, order="<"):
    kind = {"u1": 0x1E3D4C55, "i4": 0x1E3D4C54}[array.dtype.str[1:]]
    sizes = [*array.shape, 1, 1][: max(3, array.ndim)]
    return struct.pack(f"{order}II{len(sizes)}I", kind, array.ndim, *sizes) + array.tobytes()


def write_norb(folder, n=30):
    stem = "smallnorb-5x46789x9x18x6x2x96x96-training"
    pixels = rng.integers(0, 255, size=(n, 2, 96, 96)).astype(np.uint8)
    info = rng.integers(0, 6, size=(n, 4)).astype(np.int32)
    category = rng.integers(0, 5, size=n).astype(np.int32)
    for part, array in (("dat", pixels), ("cat", category), ("info", info)):
        (folder / f"{stem}-{part}.mat").write_bytes(norb_bytes(array))
    return stem, pixels, category, info


def test_small_norb(tmp_path):
    stem, pixels, category, info = write_norb(tmp_path)
    read = SmallNORB(tmp_path)
    assert np.array_equal(read.factors(), np.column_stack([category, info[:, :2], 10 * info[:, 2], info[:, 3]]))
    assert read.image_shape == (1, 96, 96)
    assert len(bytes.fromhex(read.fingerprint)) == 16
    assert np.array_equal(np.rint(read.images([7, 2]) * 255), pixels[[7, 2], :1])
    with pytest.raises(FileError, match=r"testing-dat\.mat"):
        SmallNORB(tmp_path, "test")
    path = tmp_path / f"{stem}-cat.mat"
    whole = path.read_bytes()
    for content, message in (
        (whole[:-8], "cut off"),
        (norb_bytes(category[:-1].copy()), "belong together"),
        (norb_bytes(category, ">"), "big-endian"),
        (b"nothing of the kind at all", "another number"),
    ):
        path.write_bytes(content)
        with pytest.raises(UnweaveError, match=message):
            SmallNORB(tmp_path)


def test_cars3d(tmp_path):
    from scipy.io import savemat

    views = rng.integers(0, 255, size=(3, 16, 16, 3, 6, 4)).astype(np.uint8)
    for car, name in enumerate(("car_b.mat", "car_c.mat", "car_d.mat")):
        savemat(tmp_path / name, {"im": views[car]})
    read = Cars3D(tmp_path)
    assert read.n_values == (4, 6, 3)
    index = read.indices_of([[2, 240.0, 1]])
    assert np.array_equal(np.rint(read.images(index)[0] * 255), views[1, :, :, :, 4, 2].transpose(2, 0, 1))
    half = Cars3D(tmp_path, size=8).images(index)[0]
    assert half[0, 0, 0] * 255 == pytest.approx(views[1, :2, :2, 0, 4, 2].mean(), abs=1e-3)
    savemat(tmp_path / "car_d.mat", {"im": views[2, ..., :5, :]})
    with pytest.raises(InputError, match="but that of the first car"):
        Cars3D(tmp_path).images()
    savemat(tmp_path / "car_a.mat", {"im": views[0] / 255})
    with pytest.raises(FileError, match="should be bytes"):
        Cars3D(tmp_path)
    savemat(tmp_path / "car_a.mat", {"image": views[0]})
    with pytest.raises(FileError, match="no array 'im' but image"):
        Cars3D(tmp_path)
    (tmp_path / "car_a.mat").write_bytes(b"no")
    with pytest.raises(FileError, match="cannot be read"):
        Cars3D(tmp_path)
    with pytest.raises(FileError, match="give the folder cars"):
        Cars3D(_empty(tmp_path))


def write_celeba(folder, n=4):
    image = pytest.importorskip("PIL.Image")
    (folder / "img_align_celeba").mkdir()
    for i in range(1, n + 1):
        image.new("RGB", (178, 218), (10 * i, 100, 200)).save(folder / "img_align_celeba" / f"{i:06}.jpg")
    rows = [f"{i:06}.jpg  {1 if i % 2 else -1} -1" for i in range(1, n + 1)]
    (folder / "list_attr_celeba.txt").write_text("\n".join([str(n), "Bald Wearing_Hat", *rows, ""]))


def test_celeba(tmp_path):
    write_celeba(tmp_path)
    read = CelebA(tmp_path, size=32)
    assert read.factor_names == ("Bald", "Wearing Hat")
    assert read.factors()[:, 0].tolist() == [1, 0, 1, 0]
    assert read.images([3])[0, :, 16, 16] * 255 == pytest.approx([40, 100, 200], abs=3)
    assert len(read.images([])) == 0
    (tmp_path / "img_align_celeba" / "000002.jpg").unlink()
    (tmp_path / "img_align_celeba" / "000003.jpg").write_bytes(b"half a pict")
    for index, message in ((1, "lists 000002.jpg"), (2, "not a whole picture")):
        with pytest.raises(FileError, match=message):
            read.images([index])
    listing = tmp_path / "list_attr_celeba.txt"
    whole = listing.read_text()
    for text, message in (
        (whole[: len(whole) // 2], "should list 4|is not a picture"),
        (whole.replace(" -1\n", " 7\n", 1), "Line 3"),
        ("no list", "another file"),
    ):
        listing.write_text(text)
        with pytest.raises(FileError, match=message):
            CelebA(tmp_path)


@pytest.mark.parametrize("size", [(40, 20), (20, 40), (20, 21)])
def test_pictures_of_celeba_are_cut_to_their_middle_square(tmp_path, size):
    image = pytest.importorskip("PIL.Image")
    write_celeba(tmp_path, n=1)
    values = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    top, left = ((side - 20) // 2 for side in (size[1], size[0]))
    middle = np.random.default_rng(0).integers(0, 256, size=(20, 20, 3))
    values[top : top + 20, left : left + 20] = middle
    (tmp_path / "img_align_celeba" / "000001.jpg").unlink()
    image.fromarray(values).save(tmp_path / "img_align_celeba" / "000001.jpg", format="PNG")
    assert CelebA(tmp_path, size=20).images([0])[0] * 255 == pytest.approx(middle.transpose(2, 0, 1), abs=0.01)


def test_an_archive_in_another_packing(tmp_path):
    with zipfile.ZipFile(tmp_path / "odd.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("images.npy", b"\x93NUMPY")
    with pytest.raises(FileError, match=r"numpy\.savez_compressed"):
        MPI3D(tmp_path / "odd.npz")


@pytest.mark.parametrize(("kind", "dtype"), [(0x1E3D4C51, "<f4"), (0x1E3D4C53, "<f8"), (0x1E3D4C56, "<i2")])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (1, 2, 1, 2, 1, 2, 1, 2)])
def test_matrices_of_norb_of_every_type(tmp_path, kind, dtype, shape):
    array = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    sizes = [*shape, 1, 1][: max(3, len(shape))]
    path = tmp_path / "a.mat"
    path.write_bytes(struct.pack(f"<II{len(sizes)}I", kind, len(shape), *sizes) + array.tobytes())
    assert np.array_equal(read_binary_matrix(path), array)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(FileError, match=r"but it has .*: it is another file, or damaged"):
        read_binary_matrix(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "it begins with another number"),
        ((0x1E3D4C55, 1, 1, 1), "it begins with another number"),
        ((0x554C3D1E,), "its bytes are in big-endian order"),
        ((0x1E3D4C55, 9, *[1] * 9), "its header states 9 axes"),
        ((0x1E3D4C55, 4, 1, 1, 1), "its header states 4 axes"),
    ],
    ids=str,
)
def test_headers_of_norb_that_cannot_be(tmp_path, words, message):
    (tmp_path / "a.mat").write_bytes(struct.pack(f"<{len(words)}I", *words))
    with pytest.raises(FileError, match=message):
        read_binary_matrix(tmp_path / "a.mat")


def test_one_byte_is_the_smallest_matrix_of_norb(tmp_path):
    (tmp_path / "a.mat").write_bytes(struct.pack("<5IB", 0x1E3D4C55, 3, 1, 1, 1, 42))
    assert read_binary_matrix(tmp_path / "a.mat").tolist() == [[[42]]]


def test_files_of_norb_have_the_published_shapes(tmp_path):
    stem, _, _, info = write_norb(tmp_path, n=3)
    with pytest.raises(OptionError, match="split='validation' is not known: use 'train' or 'test'"):
        SmallNORB(tmp_path, "validation")
    for part, array, message in (
        ("info", info[:, :3].copy(), r"have shapes \(3,\) and \(3, 3\) for 3 images"),
        ("dat", np.zeros((3, 96, 96), np.uint8), r"has shape \(3, 96, 96\): it should be bytes"),
        ("dat", np.zeros((3, 2, 9, 9), np.int32), r"has shape \(3, 2, 9, 9\): it should be bytes"),
    ):
        (tmp_path / f"{stem}-{part}.mat").write_bytes(norb_bytes(array))
        with pytest.raises(InputError, match=message):
            SmallNORB(tmp_path)


@pytest.mark.parametrize("size", [5, -8, 32])
def test_cars_are_averaged_to_a_divisor_of_their_size(tmp_path, size):
    from scipy.io import savemat

    savemat(tmp_path / "car.mat", {"im": np.zeros((16, 16, 3, 6, 4), np.uint8)})
    with pytest.raises(OptionError, match=f"Images of 16 x 16 cannot be averaged to {size}: choose a divisor"):
        Cars3D(tmp_path, size=size)
    assert Cars3D(tmp_path, size=1).image_shape == (3, 1, 1)
    assert Cars3D(tmp_path, size=4).images([0, 23]).shape == (2, 3, 4, 4)
    savemat(tmp_path / "car.mat", {"im": np.zeros((16, 8, 3, 6, 4), np.uint8)})
    with pytest.raises(OptionError, match="Images of 16 x 8 cannot be averaged"):
        Cars3D(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "should begin with the number of pictures"),
        ("Bald Hat\n1.jpg 1 1", "should begin with the number of pictures"),
        ("2\nBald Hat\n1.jpg 1 -1\n", "should list 2 pictures, but has 1"),
        ("2\nBald Hat\n1.jpg 1 -1\n2.jpg 1 -1 1\n", "Line 4 of .* is not a picture and 2 attributes"),
        ("2\nBald Hat\n1.jpg 1 -1\n2.jpg 1\n", "Line 4 of .* is not a picture and 2 attributes"),
        ("1\nBald Hat\n1.jpg 1 0\n", "Line 3 of .* is not a picture and 2 attributes"),
        ("0\nBald Hat", "There is no folder img_align_celeba"),
        ("2\nBald Hat\n\n1.jpg 1 -1\n2.jpg -1 -1\n\n", "There is no folder img_align_celeba"),
    ],
    ids=repr,
)
def test_lists_of_attributes(tmp_path, text, message):
    (tmp_path / "list_attr_celeba.txt").write_text(text)
    with pytest.raises(FileError, match=message):
        CelebA(tmp_path)


@pytest.mark.parametrize("save", [np.savez_compressed, np.savez])
def test_rows_of_wider_numbers_and_two_arrays(tmp_path, save):
    first, second = np.arange(21, dtype="<i2").reshape(7, 3), rng.normal(size=(50, 2, 5)).astype("<f4")
    save(tmp_path / "two.npz", first=first, second=second, turned=np.asfortranarray(first), lists=np.arange(4.0))
    arrays = ZippedArrays(tmp_path / "two.npz")
    for name, array in (("first", first), ("second", second)):
        rows = arrays.rows_of(name)
        assert (len(rows), rows.shape, rows.dtype) == (len(array), array.shape, array.dtype)
        chosen = np.array([len(array) - 1, 0, 5, 4, 4])
        assert np.array_equal(rows[chosen], array[chosen])
    assert arrays.rows_of("lists")[np.array([3, 1])].tolist() == [3.0, 1.0]
    with pytest.raises(FileError, match=r"turned.npy in .* is not an array of whole rows of numbers"):
        arrays.rows_of("turned")
    with pytest.raises(FileError, match="has no array 'third' but first, second, turned, lists"):
        arrays.rows_of("third")
