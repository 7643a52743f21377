"""Parquet files and folders of them, and files that are larger than memory."""

import json
import warnings

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from unweave import Evidence, FileError, InputError, InputWarning, OptionError, evaluate
from unweave.cli import main
from unweave.files import formats as parquet_blocks
from unweave.files.reading import read_files
from unweave.metrics import mcc

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(90, 2))


def table(rows):
    return polars.DataFrame({"factor a": FACTORS[rows, 0], "factor b": FACTORS[rows, 1], "code": -FACTORS[rows, 0]})


def test_a_folder_is_one_table(tmp_path):
    for k in range(3):
        table(slice(30 * k, 30 * k + 30)).write_parquet(tmp_path / f"part-{k}.parquet")
    files = read_files(tmp_path)
    np.testing.assert_array_equal(files.factors.to_numpy(), FACTORS)
    found = evaluate(files.factors, files.codes, metrics="mcc", quick=True)
    assert found["mcc"].raw == pytest.approx(1.0)


def test_episodes_of_robots_are_groups_of_rows(tmp_path):
    """A folder as LeRobot writes it: chunks of episodes under data, other tables under meta, states as lists."""
    chunk = tmp_path / "data" / "chunk-000"
    chunk.mkdir(parents=True)
    (tmp_path / "meta").mkdir()
    polars.DataFrame({"task_index": [0]}).write_parquet(tmp_path / "meta" / "tasks.parquet")
    for k in range(9):
        state, task = FACTORS[10 * k : 10 * k + 10], ["pick", "push", None][k % 3]
        columns = {"observation.state": state.tolist(), "latent": (-state).tolist(), "task": [task] * 10}
        frame = polars.DataFrame({**columns, "episode_index": [k] * 10}, schema_overrides={"task": polars.String})
        frame.write_parquet(chunk / f"episode_{k:06d}.parquet")
    files = read_files(tmp_path, factors=["observation.state"], codes=["latent"])
    evidence = Evidence(files.factors, files.codes, row_groups=files.row_groups)
    np.testing.assert_array_equal(evidence.factors, FACTORS)
    assert evidence.row_groups.tolist() == np.repeat(np.arange(9), 10).tolist()
    other = read_files(tmp_path, factors=["observation.state"], codes=["latent"], row_groups="task")
    assert other.row_groups.to_list()[:10] == ["pick"] * 10
    apart = read_files(tmp_path, factors=["task=*", "episode_index"], codes=["latent"])
    assert apart.row_groups is None  # episodes are a factor here
    assert list(apart.factors) == ["task=pick", "task=push", "episode_index"]
    assert apart.factors["task=pick"][::10] == ["pick", "other", None] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)  # these are no one-hot columns by mistake
        Evidence(apart.factors, apart.codes, missing="drop")
    with pytest.raises(FileError, match="no column 'tusk'"):
        read_files(tmp_path, factors=["tusk=*"], codes=["latent"])


def test_parts_that_differ_are_named(tmp_path):
    table(slice(30)).write_parquet(tmp_path / "a.parquet")
    table(slice(30)).rename({"code": "codes"}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"b.parquet and a.parquet have different columns .'code', 'codes'"):
        read_files(tmp_path)
    table(slice(30)).with_columns(code=polars.lit("x")).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"Column 'code' is String in b.parquet and Float64 in a.parquet"):
        read_files(tmp_path)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"is a folder without .parquet files"):
        read_files(tmp_path)


def test_a_column_of_embeddings_is_as_many_codes():
    embeddings = polars.DataFrame({"embedding": FACTORS.tolist()})
    evidence = Evidence(FACTORS, embeddings)
    assert evidence.code_names == ("embedding 0", "embedding 1")
    np.testing.assert_array_equal(evidence.codes, FACTORS)
    ragged = polars.DataFrame({"embedding": [[1.0, 2.0], [1.0]] * 45})
    with pytest.raises(InputError, match=r"'embedding' contains lists of different lengths .1, 2."):
        Evidence(FACTORS, ragged)


def test_memory_mapped_arrays_are_read(tmp_path):
    np.save(tmp_path / "codes.npy", FACTORS)
    np.testing.assert_array_equal(Evidence(FACTORS, np.load(tmp_path / "codes.npy", mmap_mode="r")).codes, FACTORS)


def test_dask_and_hugging_face_tables_are_read():
    dask_array = pytest.importorskip("dask.array")
    np.testing.assert_array_equal(Evidence(FACTORS, dask_array.from_array(FACTORS, chunks=(30, 2))).codes, FACTORS)


@pytest.mark.parametrize(
    ("largest", "bytes_per_number", "large"), [(40, 10**9, False), (39, 10**9, True), (40, 0.001, True)]
)
def test_a_folder_is_large_by_its_numbers_or_by_its_bytes(tmp_path, monkeypatch, largest, bytes_per_number, large):
    """Two files of four and six rows with four columns."""
    monkeypatch.setattr(parquet_blocks, "LARGEST_IN_MEMORY", largest)
    monkeypatch.setattr(parquet_blocks, "BYTES_PER_NUMBER", bytes_per_number)
    assert not parquet_blocks.is_large_folder(tmp_path)
    for n_rows in (4, 6):
        columns = {name: np.arange(float(n_rows)) for name in ("factor a", "factor b", "code a", "code b")}
        polars.DataFrame(columns).write_parquet(tmp_path / f"{n_rows}.parquet")
    assert parquet_blocks.is_large_folder(tmp_path) == large


def test_files_without_rows_are_left_out_or_refused(tmp_path):
    for n_rows in (0, 5):
        columns = {name: np.arange(float(n_rows)) for name in ("factor a", "code a")}
        polars.DataFrame(columns).write_parquet(tmp_path / f"{n_rows}.parquet")
    found = parquet_blocks.parquet_blocks(tmp_path)
    assert [part.n_rows for part in found.parts] == [5]
    (tmp_path / "5.parquet").unlink()
    with pytest.raises(FileError, match="no rows"):
        parquet_blocks.parquet_blocks(tmp_path)


def test_a_folder_of_as_many_bytes_as_fit_is_not_large(tmp_path, monkeypatch):
    table(slice(5)).write_parquet(tmp_path / "a.parquet")
    n_bytes = (tmp_path / "a.parquet").stat().st_size
    monkeypatch.setattr(parquet_blocks, "BYTES_PER_NUMBER", 1)
    monkeypatch.setattr(parquet_blocks, "LARGEST_IN_MEMORY", n_bytes)
    assert not parquet_blocks.is_large_folder(tmp_path)
    monkeypatch.setattr(parquet_blocks, "LARGEST_IN_MEMORY", n_bytes - 1)
    assert parquet_blocks.is_large_folder(tmp_path)


@pytest.mark.parametrize(
    ("largest", "options", "in_blocks"),
    [
        (14, {"in_blocks": True}, True),
        (14, {}, False),
        (14, {"in_blocks": True, "row_groups": "factor b"}, False),
        (15, {"in_blocks": True}, False),
    ],
)
def test_large_folders_are_read_in_blocks_if_that_is_asked_for(tmp_path, monkeypatch, largest, options, in_blocks):
    """A file of five rows with three columns."""
    monkeypatch.setattr(parquet_blocks, "LARGEST_IN_MEMORY", largest)
    monkeypatch.setattr(parquet_blocks, "BYTES_PER_NUMBER", 10**9)
    table(slice(5)).write_parquet(tmp_path / "a.parquet")
    files = read_files(tmp_path, **options)
    assert (files.codes is None) == in_blocks
    names = files.factors.factor_names if in_blocks else files.factors.columns
    assert list(names) == (["factor a"] if "row_groups" in options else ["factor a", "factor b"])


def test_a_broken_file_of_a_folder_is_named(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    for read in (parquet_blocks.parquet_blocks, read_files):
        with pytest.raises(
            FileError, match=r"a\.parquet cannot be read as a \.parquet table \(.+\): check the file"
        ) as raised:
            read(tmp_path)
        assert "\n" not in str(raised.value)


def test_rows_keep_their_order_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_blocks, "ROWS_IN_BLOCK", 7)
    table(slice(90)).write_parquet(tmp_path / "a.parquet", row_group_size=10)
    blocks = list(parquet_blocks.parquet_blocks(tmp_path).parts[0].blocks())
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate([codes for _, codes in blocks])[:, 0], -FACTORS[:, 0])


FACTORS_LARGE_FILES = RNG.normal(size=(2000, 2))
CODES = FACTORS_LARGE_FILES @ [[1.0, 0.2], [-0.1, 2.0]] + 0.1 * RNG.normal(size=(2000, 2))


def scored(*arguments):
    found = CliRunner().invoke(main, ["score", *map(str, arguments), "--metrics", "mcc,mig", "--quick", "--json"])
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)["rows"]
    return {row["label"]: row["score"] for row in rows}


@pytest.fixture
def folder(tmp_path):
    for k in range(2):
        rows = slice(1000 * k, 1000 * (k + 1))
        columns = {f"factor {j}": FACTORS_LARGE_FILES[rows, j] for j in range(2)} | {"code": CODES[rows]}
        polars.DataFrame(columns, schema_overrides={"code": polars.Array(polars.Float64, 2)}).write_parquet(
            tmp_path / f"{k}.parquet"
        )
    return tmp_path


def test_a_folder_past_the_limit_is_read_in_blocks(folder, monkeypatch):
    small = scored(folder)
    monkeypatch.setattr("unweave.files.formats.LARGEST_IN_MEMORY", 1000)
    large = scored(folder)
    for name, score in small.items():
        assert large[name]["raw"] == pytest.approx(score["raw"], abs=1e-12)
        assert [caveat["kind"] for caveat in large[name]["caveats"]][-1] == "all_rows_in_blocks"


def test_hdf5_and_zarr(tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    with h5py.File(tmp_path / "both.h5", "w") as file:
        file["factors"], file["codes"] = FACTORS_LARGE_FILES, CODES
    group = zarr.open_group(str(tmp_path / "both.zarr"), mode="w")
    group.create_array("factors", data=FACTORS_LARGE_FILES)
    group.create_array("codes", data=CODES)
    for name in ("both.h5", "both.zarr"):
        assert scored(tmp_path / name)["mcc"]["raw"] == pytest.approx(mcc(FACTORS_LARGE_FILES, CODES).raw, abs=1e-12)


def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, folder):
    (tmp_path / "broken.h5").write_bytes(b"nothing")
    with pytest.raises(FileError, match=r"broken.h5 cannot be read as arrays"):
        read_files(tmp_path / "broken.h5")
    np.savez(tmp_path / "both.npz", factors=FACTORS_LARGE_FILES, codes=CODES)
    with pytest.raises(OptionError, match=r"both.npz is not one: leave --cluster out"):
        read_files(tmp_path / "both.npz", cluster="tcp://127.0.0.1:1")
    with pytest.raises(FileError, match=r"has no column 'colour' but 'factor 0'"):
        read_files(folder, factors=["colour"], cluster="tcp://127.0.0.1:1")
