"""Files of every format, those that people write, and those that cannot be read."""

import os
import pickle
import stat
import sys
import time
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from unweave import Evidence, FileError, InputError, InputWarning, OptionError, Posterior, UnweaveError
from unweave.cli import main
from unweave.evidence import archives
from unweave.files import formats as stored_arrays
from unweave.files.formats import Opened, opened, parquet_blocks
from unweave.files.reading import read_codes, read_decoder, read_files, refuse_different_factors
from unweave.whole_files import write_whole

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
    assert (list(both.factors), list(both.codes)) == (["code 1"], ["Factor hue", "code 0"])


def test_when_factors_are_named_the_others_are_codes(folder):
    files = read_files(folder / "both.csv", factors=["factor size", "Factor hue"], row_groups="subject")
    assert list(files.codes) == ["code 0", "code 1", "code 2"]


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
    read = {name: column.tolist() for name, column in files.factors.items()}
    assert read == {"factor a": [1, 2, 3], "factor b": ["heart", "square", None]}
    np.testing.assert_array_equal(files.codes["code 0"], [1000.0, np.nan, 5.0])


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
        with pytest.raises(FileError, match=f"{name} {BROKEN}"):
            read_files(folder / "factors.npy", folder / name)


def test_an_archive_with_a_broken_member(folder):
    with zipfile.ZipFile(folder / "member.npz", "w") as archive:
        archive.writestr("factors.npy", (folder / "factors.npy").read_bytes()[:150])
        archive.writestr("codes.npy", b"\x93NUMPY not an array")
    with pytest.raises(FileError, match=f"member.npz {BROKEN}"):
        read_files(folder / "member.npz")


def test_only_the_arrays_asked_for_are_read(folder):
    np.savez(folder / "extra.npz", factors=FACTORS, codes=CODES, notes=np.array([{}], dtype=object))
    scored(read_files(folder / "extra.npz"))


@pytest.mark.parametrize(("first", "second"), [("objects.npz", None), ("objects.npy", "codes.npy")])
def test_python_objects_are_not_read(folder, first, second):
    object_arrays(folder)
    with pytest.raises(FileError, match=f"{first} contains Python objects, which are not read: save plain arrays"):
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
            r"notes\.txt has an unsupported format \(\.txt\): use \.npz, \.npy, .*, \.h5ad, \.h5 or \.zarr",
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


def test_all_missing_names_are_in_one_error_with_what_may_be_meant(tmp_path):
    columns = ["Unnamed: 0", "angle_deg", "size (m)", "material", "is_red", "light", "emb_0"]
    (tmp_path / "chairs.csv").write_text(f"{','.join(columns)}\n{','.join('1' * 7)}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no note on codes before the error
        with pytest.raises(FileError) as caught:
            read_files(
                tmp_path / "chairs.csv", factors=["angle", "size", "material", "redness", "lite"], row_groups="video"
            )
    assert "has no columns 'angle' (did you mean 'angle_deg'?), 'size' (did you mean 'size (m)'?), " in str(
        caught.value
    )
    assert "'redness' (did you mean 'is_red'?), 'lite' and 'video' but 'Unnamed: 0', " in str(caught.value)
    with pytest.raises(FileError, match=r"has no column 'angle' but .*: did you mean 'angle_deg'\?"):
        read_files(tmp_path / "chairs.csv", factors=["angle"])


@pytest.mark.parametrize("options", [{"factors": ["a"]}, {"row_groups": "a"}], ids=str)
def test_a_bare_array_has_no_names(folder, options):
    with pytest.raises(FileError, match=r"factors\.npy contains one array without names, so it has no 'a': omit"):
        read_files(folder / "factors.npy", folder / "codes.npy", **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as a .csv table"),
        ("factor a,code 0\n1,2,3\n", "cannot be read as a .csv table .*line 2 has 3 fields and the header 2"),
        (b"factor a,code 0\n\xff\xfe,2\n", "cannot be read as a .csv table .*utf-8"),
        ("factor a,factor a,code 0\n1,2,3\n", "two columns called 'factor a': give every column a name of its own"),
        ("factor b, factor a,factor a\n1,2,3\n", "has two columns called 'factor a'"),
        ("factor a;code x\n1.5;2.5\n", "is separated by semicolons: save it with commas"),
        ("factor a;code x\n1,5;2,5\n", "is separated by semicolons: .* points in numbers"),
        ("a;b;c,d\n1,2,3\n", "is separated by semicolons"),
        ("a|b;c|d\n1,2,3\n", "is separated by bars"),
        ("factor a\tcode x\n1.5\t2.5\n", "is separated by tabs"),
        ("1,2.5\n1,2\n", "has numbers in its first row: put the names of the columns there"),
        *(
            (f"{header}\n1,2\n", "does not say which of its columns are factors and which are codes")
            for header in ("factor a,size", "code a,size", "size,hue")
        ),
    ],
    ids=str,
)
def test_tables_that_cannot_be_read_say_why(folder, text, message):
    with pytest.raises(FileError, match=message):
        read_files(csv(folder, text))


def test_files_of_the_same_samples_have_the_same_factors():
    given = {"a": [1.0, None], "b": ["x", "y"]}
    refuse_different_factors({"A": pl.DataFrame(given), "B": pl.DataFrame(given), "C": pl.DataFrame(given)})
    refuse_different_factors({"A": {"x": [1.0, np.nan]}, "B": {"x": [1.0, np.nan]}})
    for other in (
        {"a": [1.0, None], "b": ["x", "z"]},
        {"a": [None, 1.0], "b": ["x", "y"]},
        {"a": [1.0, 2.0], "b": ["x", "y"]},
        {"a": [1.0, None], "c": ["x", "y"]},
        {"a": [1.0], "b": ["x"]},
    ):
        with pytest.raises(FileError, match=r"C and A have different factors: .* same samples, in the same order"):
            refuse_different_factors(dict(zip("ABC", map(pl.DataFrame, (given, given, other)), strict=True)))


Z = np.random.default_rng(0).normal(size=(40, 2))
ROWS = [f"{a:.4f},{b:.4f}" for a, b in Z]


@pytest.fixture
def folder_odd_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("ok.npz", factors=Z, codes=Z)
    np.savez("geometry.npz", jacobians=np.random.default_rng(0).normal(size=(20, 3, 2)))
    return tmp_path


def csv_odd_files(name, header, rows=ROWS, **options):
    Path(name).write_text("\n".join([*header, *rows]) + "\n", **options)
    return name


def ended(*words):
    """The last line of the output of a command that has to end with an error of one sentence."""
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    return done.output.strip().splitlines()[-1]


def test_byte_order_marks_are_no_part_of_a_name(folder_odd_files):
    files = read_files(csv_odd_files("bom.csv", ["factor a,code x"], encoding="utf-8-sig"))
    assert (list(files.factors), list(files.codes)) == (["factor a"], ["code x"])


@pytest.mark.parametrize("name", ["", " "])
def test_the_index_that_pandas_writes_is_no_code(folder_odd_files, name):
    indexed = [f"{i},{row}" for i, row in enumerate(ROWS)]
    files = read_files(csv_odd_files("indexed.csv", [f"{name},size,x"], indexed), factors=["size"])
    assert list(files.codes) == ["x"]


def broken(kind):
    whole = Path("geometry.npz").read_bytes()
    Path("bad.npz").write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "changed": whole[:150] + b"x" * 40 + whole[190:],
            "empty": b"",
            "pickle": pickle.dumps({"jacobians": 1}),
        }[kind]
    )


@pytest.mark.parametrize("kind", ["cut", "changed", "empty", "pickle"])
def test_broken_archives(folder_odd_files, kind):
    broken(kind)
    assert "bad.npz is not a complete .npz file: save it again with numpy.savez" in ended("geometry", "bad.npz")
    assert "bad.npz" in ended("score", "bad.npz", "--factors", "jacobians", "--quick")


def test_python_objects_are_not_unpickled(folder_odd_files):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (Path("sprung"),))

    np.savez("trap.npz", factors=np.array([Trap()], dtype=object), codes=Z, jacobians=np.array([Trap()], dtype=object))
    assert "contains Python objects, which are not read" in ended("score", "trap.npz")
    assert "contains Python objects, which are not read" in ended("geometry", "trap.npz")
    assert not Path("sprung").exists()


def test_an_archive_that_unpacks_to_gigabytes_is_refused_unread(folder_odd_files):
    with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("codes.npy", "w") as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (2**17, 1024)}
            np.lib.format.write_array_header_1_0(member, header)
            member.write(np.random.default_rng(0).bytes(2**20))
        archive.filelist[0].file_size = 2**30 + 128  # the size in the directory of the archive
    tracemalloc.start()
    with pytest.raises(FileError, match=r"'codes' of bomb.npz takes 1.1 GB once unpacked from 1.\d MB"):
        read_files("ok.npz", "bomb.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_arrays_are_mapped_and_not_read_whole(folder_odd_files):
    np.save("codes.npy", Z)
    np.save("factors.npy", Z)
    assert isinstance(read_files("factors.npy", "codes.npy").codes, np.memmap)
    assert read_decoder("geometry.npz") is not None


def test_many_columns_are_read(folder_odd_files):
    names = [f"factor {j}" if j < 5 else f"code {j}" for j in range(4_000)]
    csv_odd_files("wide.csv", [",".join(names)], [",".join(["0.5"] * 4_000)] * 3)
    files = read_files("wide.csv", factors=names[:5])
    assert {column.shape for column in files.codes.values()} == {(3,)}
    assert len(files.codes) == 3_995


def test_a_hundred_thousand_names_are_looked_up_in_linear_time():
    """A search in a tuple for each name took 100 s; reading 100,000 columns from a file takes 5 s of CPU time."""

    class Columns:
        def select(self, names):
            return names

    names = tuple(f"code {j}" for j in range(100_000))
    start = time.process_time()
    assert len(Opened(Path("wide.csv"), Columns(), names).table(names)) == 100_000
    assert time.process_time() - start < 2


def test_links_are_followed_and_kept(folder_odd_files):
    os.symlink("ok.npz", "link.npz")
    assert read_files("link.npz").codes.shape == (40, 2)
    assert "one of the files that are read" in ended("score", "ok.npz", "--html", "link.npz")
    os.symlink("loop.npz", "loop.npz")
    assert "There is no file loop.npz" in ended("score", "loop.npz")
    os.symlink("page.html", "latest.html")
    write_whole(Path("latest.html"), lambda file: file.write(b"new"))
    assert Path("latest.html").is_symlink()
    assert Path("page.html").read_bytes() == b"new"


def test_a_device_is_written_to_and_never_replaced(folder_odd_files):
    """Replacing a device by a regular file would make it unusable for all programs."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(Path("pipe"), lambda file: file.write(b"whole"))
    assert os.read(reader, 10) == b"whole"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence(folder_odd_files):
    assert "cannot be written: No space left" in ended(
        "score", "ok.npz", "--quick", "--metrics", "mcc", "--html", "/dev/full"
    )
    assert Path("/dev/full").is_char_device()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_sentence(folder_odd_files):
    folder_odd_files.chmod(0o500)
    try:
        assert "cannot be written: permission denied" in ended("score", "ok.npz", "--quick", "--html", "page.html")
    finally:
        folder_odd_files.chmod(0o700)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("geometry", "geometry.npz", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("geometry", "geometry.npz", "--picture", "x.bogus"), "does not end in .png, .pdf or .svg"),
        (("score", "ok.npz", "--seeds", "1000000000000"), "1000000000000 is not in the range 1<=x<=10000"),
    ],
)
def test_options_out_of_range(folder_odd_files, words, message):
    assert message in ended(*words)


@pytest.mark.parametrize(
    ("header", "names"),
    [("a;b,c", ("a;b", "c")), ("1,b", ("1", "b")), ("inf,nan", ("inf", "nan")), (" a ,b", ("a", "b"))],
)
def test_headers_that_are_taken(tmp_path, header, names):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2\n")
    assert opened(tmp_path / "a.csv").names == names


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
        with pytest.raises(FileError, match=r"The array 'codes' of .* takes 0\.0 GB once unpacked from 0\.0 MB"):
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


@pytest.mark.parametrize("names", [("format", "shape", "data"), ("format", "shape", "data", "codes")])
def test_arrays_that_only_look_like_a_sparse_matrix_are_refused(tmp_path, names):
    np.savez(tmp_path / "a.npz", **dict.fromkeys(names, np.ones(2)))
    with pytest.raises(FileError, match=r"is not a complete \.npz file"):
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


@pytest.mark.parametrize("array", ["names", "columns", "label_names"])
def test_an_array_of_names_names_the_columns(tmp_path, array):
    path = tmp_path / "a.npz"
    np.savez(path, factors=FACTORS, codes=CODES, **{array: np.array(["size", "hue"])})
    assert list(read_files(path).factors) == ["size", "hue"]
    np.savez(path, labels=FACTORS, **{array: np.array(["size", "hue"])})
    np.savez(tmp_path / "c.npz", codes=CODES, **{array: np.array(["u", "v", "w"])})
    found = read_files(path, tmp_path / "c.npz")
    assert (list(found.factors), found.code_names) == (["size", "hue"], ["u", "v", "w"])


def test_names_of_hdf5_are_text(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["factors"], file["codes"], file["names"] = FACTORS, CODES, ["size", "hue"]
    assert list(read_files(tmp_path / "a.h5").factors) == ["size", "hue"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"names": np.array(["x"])}, "also has 'names', which is not used"),
        ({"subject": SUBJECT, "extra": CODES}, "also has 'subject', 'extra', which are not used: name what belongs"),
    ],
)
def test_arrays_that_play_no_part_are_said(tmp_path, more, said):
    np.savez(tmp_path / "a.npz", factors=FACTORS, codes=CODES, indices=np.arange(N_ROWS), **more)
    with pytest.warns(InputWarning, match=said):
        assert read_files(tmp_path / "a.npz").factors.shape == FACTORS.shape
