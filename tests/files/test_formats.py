"""Names of columns, separators, sizes and parts of files, on both sides of every condition."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unweave import FileError, InputError, OptionError, Posterior
from unweave.evidence import archives
from unweave.files import formats as stored_arrays
from unweave.files.formats import opened, parquet_blocks, shown
from unweave.files.reading import read_codes, read_decoder, read_files, refuse_different_factors


def test_six_names_are_shown():
    assert shown(list("abcdef")) == "'a', 'b', 'c', 'd', 'e', 'f'"
    assert shown(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e', 'f' and 1 more"


@pytest.mark.parametrize(
    ("header", "names"),
    [("a;b,c", ("a;b", "c")), ("1,b", ("1", "b")), ("inf,nan", ("inf", "nan")), (" a ,b", ("a", "b"))],
)
def test_headers_that_are_taken(tmp_path, header, names):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2\n")
    assert opened(tmp_path / "a.csv").names == names


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a;b;c,d", "is separated by semicolons"),
        ("a|b;c|d", "is separated by bars"),
        ("a\tb", "is separated by tabs"),
        ("1,2.5", "has numbers in its first row"),
        ("a,b,b", "has two columns called 'b'"),
        ("b, a,a", "has two columns called 'a'"),
    ],
)
def test_headers_that_are_refused(tmp_path, header, message):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2,3\n")
    with pytest.raises(FileError, match=message):
        opened(tmp_path / "a.csv")


def test_one_array_or_several(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3.0), y=np.arange(3.0) + 1, z=np.arange(3.0) + 2)
    file = opened(tmp_path / "a.npz")
    assert file.table(["y"]).tolist() == [1.0, 2.0, 3.0]
    assert {name: column.tolist() for name, column in file.table(["z", "x"]).items()} == {
        "z": [2.0, 3.0, 4.0],
        "x": [0.0, 1.0, 2.0],
    }
    with pytest.raises(OptionError, match="'y' is named twice"):
        file.table(["x", "y", "y"])


@pytest.mark.parametrize(
    ("save", "beyond", "most_compressed", "refused"),
    [
        (np.savez_compressed, 0, 100, False),  # as large as is unpacked without a question
        (np.savez_compressed, 1, 100, True),
        (np.savez_compressed, 1, 10_000, False),
        (np.savez, 1, 1, False),  # not compressed
    ],
)
def test_large_arrays_are_refused_if_they_are_compressed_much(
    tmp_path, monkeypatch, save, beyond, most_compressed, refused
):
    save(tmp_path / "a.npz", codes=np.zeros(10_000))
    file = opened(tmp_path / "a.npz")
    n_bytes = file.content.zip.infolist()[0].file_size
    monkeypatch.setattr(archives, "LARGEST_UNPACKED", n_bytes - beyond)
    monkeypatch.setattr(archives, "MOST_COMPRESSED", most_compressed)
    if refused:
        with pytest.raises(InputError, match=r"The array 'codes' of .* takes 0\.0 GB once unpacked from 0\.0 MB"):
            file.column("codes")
    else:
        assert file.column("codes").shape == (10_000,)


def test_stds_belong_to_the_codes_that_no_one_named(tmp_path):
    codes = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", factors=codes, codes=codes, codes_std=codes + 1, other_std=codes + 2)
    assert read_codes(tmp_path / "a.npz").std.tolist() == (codes + 1).tolist()
    assert read_files(tmp_path / "a.npz").codes.std.tolist() == (codes + 1).tolist()
    assert not isinstance(read_files(tmp_path / "a.npz", codes=["codes"]).codes, Posterior)
    assert read_codes(tmp_path / "a.npz", ["codes"], "other_std").std.tolist() == (codes + 2).tolist()


def test_names_and_kinds_of_an_archive_belong_to_its_own_arrays(tmp_path):
    table = np.arange(6.0).reshape(3, 2)
    content = {"factors": table, "codes": table, "factor_kinds": ["ordinal"] * 2, "code_names": ["u", "v"]}
    np.savez(tmp_path / "a.npz", factor_names=["x", "y"], **content)
    files = read_files(tmp_path / "a.npz")
    assert {name: column.tolist() for name, column in files.factors.items()} == {
        "x": [0.0, 2.0, 4.0],
        "y": [1.0, 3.0, 5.0],
    }
    assert (files.kinds, files.code_names) == (["ordinal", "ordinal"], ["u", "v"])
    named = read_files(tmp_path / "a.npz", factors=["codes"], codes=["factors"])
    assert (named.factors.tolist(), named.kinds, named.code_names) == (table.tolist(), None, None)
    for names, factors, message in (
        (["x"], table, r"has 1 factor_names for factors of shape \(3, 2\)"),
        (["x"], table[:, 0], r"has 1 factor_names for factors of shape \(3,\)"),
    ):
        np.savez(tmp_path / "b.npz", factor_names=names, **content | {"factors": factors})
        with pytest.raises(FileError, match=message):
            read_files(tmp_path / "b.npz")


def test_factors_with_the_same_missing_values_are_the_same():
    one = {"x": [1.0, np.nan, 3.0]}
    refuse_different_factors({"a": one, "b": {"x": [1.0, np.nan, 3.0]}})
    for other in ({"x": [1.0, 2.0, 3.0]}, {"y": [1.0, np.nan, 3.0]}):
        with pytest.raises(FileError, match="c and a have different factors"):
            refuse_different_factors({"a": one, "b": one, "c": other})


def test_parts_with_columns_in_another_order_are_refused(tmp_path):
    table = pl.DataFrame({"factor a": [1.0], "code b": [2.0]})
    table.write_parquet(tmp_path / "1.parquet")
    table.select("code b", "factor a").write_parquet(tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"2.parquet and 1.parquet have different columns \('code b', 'factor a'\)"):
        read_files(tmp_path)


@pytest.fixture
def part(tmp_path):
    """Writes a file of a folder, and gives its blocks."""

    def written(**codes):
        columns = {"factor a": [0.0, 1.0, 2.0]} | {f"code {name}": column for name, column in codes.items()}
        pl.DataFrame(columns).write_parquet(tmp_path / "1.parquet")
        return parquet_blocks(tmp_path)

    return written


def test_columns_of_lists_and_truth_values_are_codes(part):
    blocks = part(e=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], f=[True, False, True], g=[7, 8, 9])
    assert blocks.code_names == ("code e 0", "code e 1", "code f", "code g")
    (factors,), codes = next(iter(blocks.parts[0].blocks()))
    assert factors.tolist() == [0.0, 1.0, 2.0]
    assert codes.tolist() == [[1.0, 2.0, 1.0, 7.0], [3.0, 4.0, 0.0, 8.0], [5.0, 6.0, 1.0, 9.0]]
    (factors,), codes = blocks.parts[0].some(1, 2)
    assert (factors.tolist(), codes.tolist()) == ([1.0], [[3.0, 4.0, 0.0, 8.0]])


def test_single_precision_is_kept_if_all_codes_have_it(part):
    single = {
        "a": pl.Series([1.0, 2.0, 3.0], dtype=pl.Float32),
        "b": pl.Series([[1.0], [2.0], [3.0]], dtype=pl.Array(pl.Float32, 1)),
    }
    assert part(**single).parts[0].some(0, 3)[1].dtype == np.float32
    assert part(**single, c=[1.0, 2.0, 3.0]).parts[0].some(0, 3)[1].dtype == np.float64
    assert part(c=pl.Series([[1], [2], [3]], dtype=pl.Array(pl.Int32, 1))).parts[0].some(0, 3)[1].dtype == np.float64


@pytest.mark.parametrize("lists", [[[1.0, 2.0], [1.0], [1.0, 2.0]], [[], [], []]])
def test_lists_have_one_length_that_is_not_zero(part, lists):
    blocks = part(e=pl.Series(lists, dtype=pl.List(pl.Float64)), f=[1.0, 2.0, 3.0])
    with pytest.raises(FileError, match=r"Column 'code e' of .* has lists of different lengths"):
        blocks.parts[0].some(0, 3)


def test_columns_of_a_folder_are_named_or_begin_as_they_should(tmp_path):
    pl.DataFrame({"size": [1.0], "u": [2.0], "v": [3.0]}).write_parquet(tmp_path / "1.parquet")
    found = parquet_blocks(tmp_path, factors=["size"])
    assert (found.factor_names, found.code_names) == (("size",), ("u", "v"))
    found = parquet_blocks(tmp_path, factors=["size"], codes=["v"])
    assert (found.factor_names, found.code_names) == (("size",), ("v",))
    for options in ({}, {"codes": ["u"]}):
        with pytest.raises(FileError, match=r"does not say which of its columns are factors .* \('size', 'u', 'v'\)"):
            parquet_blocks(tmp_path, **options)
    with pytest.raises(FileError, match="has no column 'hue' but 'size', 'u', 'v'"):
        parquet_blocks(tmp_path, factors=["hue"])


def test_text_is_no_code(part):
    with pytest.raises(FileError, match=r"Column 'code e' of .* is String: codes are numbers"):
        part(e=["a", "b", "c"]).parts[0].some(0, 3)


@pytest.mark.parametrize("header", ["factor a,size", "code a,size", "size,hue"])
def test_a_table_needs_both_sides(tmp_path, header):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2\n")
    with pytest.raises(FileError, match="does not say which of its columns are factors and which are codes"):
        read_files(tmp_path / "a.csv")


@pytest.mark.parametrize("names", [("format", "shape", "data"), ("format", "shape", "data", "codes")])
def test_arrays_that_only_look_like_a_sparse_matrix_are_refused(tmp_path, names):
    np.savez(tmp_path / "a.npz", **dict.fromkeys(names, np.ones(2)))
    with pytest.raises(InputError, match=r"is not a complete \.npz file"):
        opened(tmp_path / "a.npz")


JACOBIANS = np.arange(24.0).reshape(4, 3, 2)


@pytest.mark.parametrize("names", [["jacobians"], ["anything"], ["codes", "jacobians"], ["jacobians", "scales", "x"]])
def test_the_jacobians_of_an_archive(tmp_path, names):
    arrays = {name: JACOBIANS if name in ("jacobians", "anything") else np.array([2.0, 3.0]) for name in names}
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_decoder(str(tmp_path / "a.npz"))
    assert found.values.tolist() == JACOBIANS.tolist()
    assert (found.scales is None) == ("scales" not in names)
    if "scales" in names:
        assert found.scales.tolist() == [[2.0, 3.0]] * 4


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["codes"], "has codes, but the geometry metrics need a decoder"),
        (["codes", "x"], "has codes, but the geometry metrics need a decoder"),
        (["x", "y"], "has no array 'jacobians' but 'x', 'y': rename the array to use"),
        (["x", "y", "z"], "has no array 'jacobians' but 'x', 'y', 'z'"),
    ],
)
def test_archives_without_jacobians(tmp_path, names, message):
    np.savez(tmp_path / "a.npz", **dict.fromkeys(names, JACOBIANS))
    with pytest.raises(FileError, match=message):
        read_decoder(str(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("a.h5", "h5py", "datasets"), ("a.hdf5", "h5py", "datasets"), ("a.ZARR", "zarr", "zarr")],
)
def test_packages_that_are_missing_are_named(monkeypatch, name, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=rf"{name} needs the package {package}: install unweave\[{extra}\]"):
        stored_arrays.stored_arrays(Path(name))


def test_a_hundred_letters_of_a_reason_are_shown(monkeypatch):
    def broken(_path):
        raise OSError("x " * 100)

    monkeypatch.setattr(stored_arrays, "_hdf5", broken)
    with pytest.raises(FileError, match=rf"cannot be read as arrays \({'x ' * 50}\): check the file"):
        stored_arrays.stored_arrays(Path("a.h5"))


def test_groups_of_a_store_are_no_arrays(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("more")
    with pytest.raises(FileError, match="has no arrays in its root group: store 'factors' and 'codes' there"):
        opened(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["codes"] = np.eye(2)
    assert opened(tmp_path / "a.h5").names == ("codes",)


def test_a_published_vae_is_a_decoder_of_its_codes(tmp_path):
    pytest.importorskip("torch")
    shapes = {f"encoder.conv{k}": (2, 1 if k == 1 else 2, 4, 4) for k in (1, 2, 3)}
    shapes |= {f"decoder.convT{k}": (2, 1 if k == 3 else 2, 4, 4) for k in (1, 2, 3)}
    shapes |= {"encoder.lin1": (5, 2), "encoder.lin2": (5, 5), "encoder.mu_logvar_gen": (6, 5)}
    shapes |= {"decoder.lin1": (5, 3), "decoder.lin2": (5, 5), "decoder.lin3": (2, 5)}
    arrays = {f"{name}.weight": np.ones(shape, np.float32) for name, shape in shapes.items()}
    arrays |= {f"{name}.bias": np.ones(shape["convT" in name], np.float32) for name, shape in shapes.items()}
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_decoder(str(tmp_path / "a.npz"))
    assert found.latent_size == 3
    assert next(iter(found.jacobian_blocks(np.zeros((2, 3))))).shape == (2, 64, 3)  # images of 8 x 8
