"""Factors and codes from files: all formats, one file or two, and files with mistakes."""

import zipfile

import numpy as np
import polars as pl
import pytest

from unweave import Evidence, FileError, InputError, UnweaveError
from unweave.files.reading import read_files, refuse_different_factors

RNG = np.random.default_rng(0)
N_ROWS = 12
FACTORS, CODES = RNG.normal(size=(N_ROWS, 2)), RNG.normal(size=(N_ROWS, 3))
SUBJECT = np.repeat(["ann", "bob", "cyd"], 4)
TABLE = pl.DataFrame(
    {"factor size": FACTORS[:, 0], "Factor hue": FACTORS[:, 1], "subject": SUBJECT}
    | {f"code {i}": CODES[:, i] for i in range(3)}
)


@pytest.fixture
def folder(tmp_path):
    """A folder with the same samples in every format, in one file and in separate files for factors and codes."""
    np.savez(tmp_path / "both.npz", factors=FACTORS, codes=CODES, subject=SUBJECT)
    np.savez(tmp_path / "named.npz", size=FACTORS[:, 0], hue=FACTORS[:, 1], z=CODES)
    np.savez(tmp_path / "codes.npz", anything=CODES)
    np.savez(tmp_path / "factors.npz", truth=FACTORS, subject=SUBJECT)
    np.save(tmp_path / "factors.npy", FACTORS)
    np.save(tmp_path / "codes.npy", CODES)
    for name, table in {
        "both": TABLE,
        "factors": TABLE.select("factor size", "Factor hue", "subject").rename({"factor size": "size"}),
        "codes": TABLE.select(pl.col("^code.*$").name.map(lambda name: name.replace("code ", "z"))),
    }.items():
        table.write_csv(tmp_path / f"{name}.csv")
        table.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def scored(files):
    """Evidence of the files, after a check that the numbers are those that were written."""
    evidence = Evidence(files.factors, files.codes, row_groups=files.row_groups)
    np.testing.assert_allclose(evidence.factors, FACTORS)
    np.testing.assert_allclose(evidence.codes, CODES)
    return evidence


@pytest.mark.parametrize("name", ["both.npz", "both.csv", "both.parquet"])
def test_one_file_holds_both(folder, name):
    evidence = scored(read_files(folder / name))
    if name != "both.npz":
        assert evidence.factor_names == ("factor size", "Factor hue")
        assert evidence.code_names == ("code 0", "code 1", "code 2")


@pytest.mark.parametrize(
    "factors", ["factors.npz", "factors.npy", "factors.csv", "factors.parquet", "both.csv", "both.npz"]
)
@pytest.mark.parametrize("codes", ["codes.npz", "codes.npy", "codes.csv", "codes.parquet", "both.parquet", "both.npz"])
def test_one_file_for_each(folder, factors, codes):
    options = {} if factors == "factors.npy" else {"row_groups": "subject"}
    scored(read_files(folder / factors, folder / codes, **options))


@pytest.mark.parametrize("name", ["both.npz", "both.csv", "both.parquet"])
def test_row_groups_by_name(folder, name):
    evidence = scored(read_files(folder / name, row_groups="subject"))
    assert evidence.row_groups.tolist() == np.repeat([0, 1, 2], 4).tolist()


def test_row_groups_may_stand_beside_the_codes(folder):
    np.savez(folder / "z.npz", z=CODES, subject=SUBJECT)
    evidence = scored(read_files(folder / "factors.npy", folder / "z.npz", row_groups="subject"))
    assert evidence.row_groups.tolist() == np.repeat([0, 1, 2], 4).tolist()


def test_arrays_and_columns_by_name(folder):
    evidence = scored(read_files(folder / "named.npz", factors=["size", "hue"], codes=["z"]))
    assert evidence.factor_names == ("size", "hue")
    both = read_files(folder / "both.csv", factors=["code 1"], codes=["Factor hue", "code 0"])
    assert (list(both.factors.columns), list(both.codes.columns)) == (["code 1"], ["Factor hue", "code 0"])


def test_when_factors_are_named_the_others_are_codes(folder):
    files = read_files(folder / "both.csv", factors=["factor size", "Factor hue"], row_groups="subject")
    assert list(files.codes.columns) == ["code 0", "code 1", "code 2"]


def test_endings_and_names_as_people_write_them(folder):
    TABLE.write_csv(folder / "run [1]*.CSV")  # a name that a shell would expand
    scored(read_files(folder / "run [1]*.CSV"))
    scored(read_files(str(folder / "both.npz")))


def csv(folder, text):
    path = folder / "written.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_table_written_by_hand(folder):
    files = read_files(csv(folder, "\ufefffactor a, factor b, code 0\n1, heart, 1e3\n2, square , NA\n3,, 5\n"))
    assert files.factors.to_dict(as_series=False) == {"factor a": [1, 2, 3], "factor b": ["heart", "square", None]}
    assert files.codes.to_dict(as_series=False) == {"code 0": [1000.0, None, 5.0]}


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", " NA "])
def test_words_for_a_missing_value(folder, word):
    files = read_files(csv(folder, f"factor a,code 0\n1.5,1\n{word},2\n2.5,3\n"))
    with pytest.raises(InputError, match=r"missing in 1 of 3 rows: factor 'factor a' \(1\)"):
        Evidence(files.factors, files.codes)


def object_arrays(folder):
    np.save(folder / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    np.savez(folder / "objects.npz", factors=np.array([{}, 1], dtype=object), codes=CODES)


BROKEN = r"is not a complete \.np. file: save it again with numpy\.savez?\."
UNREADABLE = "cannot be read as a .* table .*: check the file, or save it again"


@pytest.mark.parametrize("ending", [".npz", ".npy", ".csv", ".parquet"])
def test_files_cut_short_empty_or_of_another_kind(folder, ending):
    whole = (folder / f"codes{ending}").read_bytes()
    for name, content in {"empty": b"", "cut": whole[: len(whole) // 2], "other": b"\x00\x01\xff not a table"}.items():
        path = folder / f"{name}{ending}"
        path.write_bytes(content)
        if (name, ending) == ("cut", ".csv"):
            continue  # it has fewer rows, which is detected later
        with pytest.raises(UnweaveError, match=BROKEN if "np" in ending else UNREADABLE) as raised:
            read_files(folder / "factors.npy", path)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)


def test_endings_that_lie(folder):
    (folder / "npy.npz").write_bytes((folder / "codes.npy").read_bytes())
    (folder / "npz.npy").write_bytes((folder / "codes.npz").read_bytes())
    for name in ("npy.npz", "npz.npy"):
        with pytest.raises(InputError, match=f"{name} {BROKEN}"):
            read_files(folder / "factors.npy", folder / name)


def test_an_archive_with_a_broken_member(folder):
    with zipfile.ZipFile(folder / "member.npz", "w") as archive:
        archive.writestr("factors.npy", (folder / "factors.npy").read_bytes()[:150])
        archive.writestr("codes.npy", b"\x93NUMPY not an array")
    with pytest.raises(InputError, match=f"member.npz {BROKEN}"):
        read_files(folder / "member.npz")


def test_only_the_arrays_asked_for_are_read(folder):
    np.savez(folder / "extra.npz", factors=FACTORS, codes=CODES, notes=np.array([{}], dtype=object))
    scored(read_files(folder / "extra.npz"))


@pytest.mark.parametrize(("first", "second"), [("objects.npz", None), ("objects.npy", "codes.npy")])
def test_python_objects_are_not_read(folder, first, second):
    object_arrays(folder)
    with pytest.raises(InputError, match=f"{first} contains Python objects, which are not read: save plain arrays"):
        read_files(folder / first, second and folder / second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.npz",), r"There is no file .*nowhere\.npz: check the name and the folder"),
        (("factors.npy", "nowhere.npy"), r"There is no file .*nowhere\.npy"),
        (("x" * 300 + ".csv",), "There is no file"),
        ((".",), r"\.parquet and \w+\.parquet have different columns"),
        (
            ("notes.txt",),
            r"notes\.txt has an unsupported format \(\.txt\): use \.npz, \.npy, \.csv, \.parquet, \.h5 or \.zarr",
        ),
        (("README",), r"README has an unsupported format \(no ending\)"),
        (("codes.npy",), r"codes\.npy contains one array: pass two files, the factors and then the codes"),
        (
            ("named.npz",),
            r"named\.npz has no array 'factors' but 'size', 'hue', 'z': name existing ones with --factors",
        ),
        (("named.npz", "codes.npy"), "named.npz has no array 'factors' but 'size'"),
        (("codes.csv",), r"codes\.csv does not say which .* \('z0', 'z1', 'z2'\): name the factors with --factors A,B"),
    ],
    ids=str,
)
def test_files_that_do_not_hold_what_is_needed(folder, arguments, message):
    (folder / "notes.txt").write_text("factors")
    (folder / "README").write_text("factors")
    with pytest.raises(FileError, match=message):
        read_files(*(folder / name for name in arguments))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("both.npz", {"factors": ["z"]}, "has no array 'z' but 'factors', 'codes', 'subject'"),
        ("both.csv", {"codes": ["z"]}, "has no column 'z' but 'factor size', 'Factor hue'"),
        ("both.parquet", {"row_groups": "video"}, "has no column 'video' but"),
        ("both.npz", {"row_groups": "video"}, "has no array 'video' but"),
        ("both.csv", {"factors": ["code 0", "code 0"]}, "'code 0' is named twice: name every array or column once"),
        ("both.csv", {"factors": ["code 0"], "codes": ["code 0"]}, "'code 0' is named as a factor and as a code"),
    ],
    ids=str,
)
def test_names_that_are_not_there(folder, name, options, message):
    with pytest.raises(UnweaveError, match=message):
        read_files(folder / name, **options)


@pytest.mark.parametrize("options", [{"factors": ["a"]}, {"row_groups": "a"}], ids=str)
def test_a_bare_array_has_no_names(folder, options):
    with pytest.raises(FileError, match=r"factors\.npy contains one array without names, so it has no 'a': omit"):
        read_files(folder / "factors.npy", folder / "codes.npy", **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("factor a,factor a,code 0\n1,2,3\n", "two columns called 'factor a': give every column a name of its own"),
        ("factor a, factor a,code 0\n1,2,3\n", "two columns called 'factor a'"),
        ("factor a,code 0\n1,2,3\n", "cannot be read as a .csv table .*more fields"),
        (b"factor a,code 0\n\xff\xfe,2\n", "cannot be read as a .csv table .*utf-8"),
    ],
    ids=str,
)
def test_tables_with_broken_lines(folder, text, message):
    with pytest.raises(FileError, match=message):
        read_files(csv(folder, text))


class TestFactorsOfSeveralFiles:
    def test_the_same_factors(self):
        table = pl.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
        refuse_different_factors({"A": table, "B": table.clone(), "C": table.clone()})

    @pytest.mark.parametrize(
        "other",
        [
            {"a": [1.0, None], "b": ["x", "z"]},
            {"a": [None, 1.0], "b": ["x", "y"]},
            {"a": [1.0, None], "c": ["x", "y"]},
            {"a": [1.0], "b": ["x"]},
        ],
        ids=str,
    )
    def test_different_factors(self, other):
        table = pl.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
        with pytest.raises(FileError, match=r"B and A have different factors: .* same samples, in the same order"):
            refuse_different_factors({"A": table, "B": pl.DataFrame(other)})
