"""Damaged, truncated, mislabelled or malicious files end in an error of one sentence, without loss of data."""

import os
import pickle
import stat
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import FileError, InputError
from unweave.cli import main
from unweave.files.formats import Opened
from unweave.files.reading import read_decoder, read_files
from unweave.whole_files import write_whole

Z = np.random.default_rng(0).normal(size=(40, 2))
ROWS = [f"{a:.4f},{b:.4f}" for a, b in Z]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("ok.npz", factors=Z, codes=Z)
    np.savez("geometry.npz", jacobians=np.random.default_rng(0).normal(size=(20, 3, 2)))
    return tmp_path


def csv(name, header, rows=ROWS, **options):
    Path(name).write_text("\n".join([*header, *rows]) + "\n", **options)
    return name


def ended(*words):
    """The last line of the output of a command that has to end with an error of one sentence."""
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    return done.output.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (
            ["factor a;code x"],
            [row.replace(",", ";") for row in ROWS],
            "is separated by semicolons: save it with commas",
        ),
        (["factor a\tcode x"], [row.replace(",", "\t") for row in ROWS], "is separated by tabs"),
        (["factor a;code x"], ["1,5;2,5"] * 40, "is separated by semicolons: .* points in numbers"),
        ([], ROWS, "has numbers in its first row: put the names of the columns there"),
        (["factor a,factor a"], ROWS, "has two columns called 'factor a'"),
        (["a,b"], ROWS, "does not say which of its columns are factors"),
        ([], [], "cannot be read as a .csv table"),
    ],
    ids=["semicolons", "tabs", "decimal commas", "no header", "a name twice", "no roles", "empty"],
)
def test_tables_that_cannot_be_read_say_why(folder, header, rows, message):
    with pytest.raises(FileError, match=message):
        read_files(csv("table.csv", header, rows))


def test_byte_order_marks_are_no_part_of_a_name(folder):
    files = read_files(csv("bom.csv", ["factor a,code x"], encoding="utf-8-sig"))
    assert (files.factors.columns, files.codes.columns) == (["factor a"], ["code x"])


@pytest.mark.parametrize("name", ["", " "])
def test_the_index_that_pandas_writes_is_no_code(folder, name):
    indexed = [f"{i},{row}" for i, row in enumerate(ROWS)]
    files = read_files(csv("indexed.csv", [f"{name},size,x"], indexed), factors=["size"])
    assert files.codes.columns == ["x"]


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
def test_broken_archives(folder, kind):
    broken(kind)
    assert "bad.npz is not a complete .npz file: save it again with numpy.savez" in ended("geometry", "bad.npz")
    assert "bad.npz" in ended("score", "bad.npz", "--factors", "jacobians", "--quick")


def test_python_objects_are_not_unpickled(folder):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (Path("sprung"),))

    np.savez("trap.npz", factors=np.array([Trap()], dtype=object), codes=Z, jacobians=np.array([Trap()], dtype=object))
    assert "contains Python objects, which are not read" in ended("score", "trap.npz")
    assert "contains Python objects, which are not read" in ended("geometry", "trap.npz")
    assert not Path("sprung").exists()


def test_an_archive_that_unpacks_to_gigabytes_is_refused_unread(folder):
    with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("codes.npy", "w") as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (2**17, 1024)}
            np.lib.format.write_array_header_1_0(member, header)
            member.write(np.random.default_rng(0).bytes(2**20))
        archive.filelist[0].file_size = 2**30 + 128  # the size in the directory of the archive
    tracemalloc.start()
    with pytest.raises(InputError, match=r"'codes' of bomb.npz takes 1.1 GB once unpacked from 1.\d MB"):
        read_files("ok.npz", "bomb.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_arrays_are_mapped_and_not_read_whole(folder):
    np.save("codes.npy", Z)
    np.save("factors.npy", Z)
    assert isinstance(read_files("factors.npy", "codes.npy").codes, np.memmap)
    assert read_decoder("geometry.npz") is not None


def test_many_columns_are_read(folder):
    names = [f"factor {j}" if j < 5 else f"code {j}" for j in range(4_000)]
    csv("wide.csv", [",".join(names)], [",".join(["0.5"] * 4_000)] * 3)
    files = read_files("wide.csv", factors=names[:5])
    assert files.codes.shape == (3, 3_995)


def test_a_hundred_thousand_names_are_looked_up_in_linear_time():
    """A search in a tuple for each name took 100 s; reading 100,000 columns from a file takes 5 s of CPU time."""

    class Columns:
        def select(self, names):
            return names

    names = tuple(f"code {j}" for j in range(100_000))
    start = time.process_time()
    assert len(Opened(Path("wide.csv"), Columns(), names).table(names)) == 100_000
    assert time.process_time() - start < 2


def test_links_are_followed_and_kept(folder):
    os.symlink("ok.npz", "link.npz")
    assert read_files("link.npz").codes.shape == (40, 2)
    assert "one of the files that are read" in ended("score", "ok.npz", "--html", "link.npz")
    os.symlink("loop.npz", "loop.npz")
    assert "There is no file loop.npz" in ended("score", "loop.npz")
    os.symlink("page.html", "latest.html")
    write_whole(Path("latest.html"), lambda file: file.write(b"new"))
    assert Path("latest.html").is_symlink()
    assert Path("page.html").read_bytes() == b"new"


def test_a_device_is_written_to_and_never_replaced(folder):
    """Replacing a device by a regular file would make it unusable for all programs."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(Path("pipe"), lambda file: file.write(b"whole"))
    assert os.read(reader, 10) == b"whole"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence(folder):
    assert "cannot be written: No space left" in ended(
        "score", "ok.npz", "--quick", "--metrics", "mcc", "--html", "/dev/full"
    )
    assert Path("/dev/full").is_char_device()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_sentence(folder):
    folder.chmod(0o500)
    try:
        assert "cannot be written: permission denied" in ended("score", "ok.npz", "--quick", "--html", "page.html")
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("geometry", "geometry.npz", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("geometry", "geometry.npz", "--picture", "x.bogus"), "does not end in .png, .pdf or .svg"),
        (("score", "ok.npz", "--seeds", "1000000000000"), "1000000000000 is not in the range 1<=x<=10000"),
    ],
)
def test_options_out_of_range(folder, words, message):
    assert message in ended(*words)
