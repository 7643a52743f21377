"""Folders and stores that are too large for memory are scored with the same command as small ones."""

import json

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from unweave import FileError, OptionError
from unweave.cli import main
from unweave.files.reading import read_files
from unweave.metrics import mcc

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(2000, 2))
CODES = FACTORS @ [[1.0, 0.2], [-0.1, 2.0]] + 0.1 * RNG.normal(size=(2000, 2))


def scored(*arguments):
    found = CliRunner().invoke(main, ["score", *map(str, arguments), "--metrics", "mcc,mig", "--quick", "--json"])
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)["rows"]
    return {row["label"]: row["score"] for row in rows}


@pytest.fixture
def folder(tmp_path):
    for k in range(2):
        rows = slice(1000 * k, 1000 * (k + 1))
        columns = {f"factor {j}": FACTORS[rows, j] for j in range(2)} | {"code": CODES[rows]}
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
        file["factors"], file["codes"] = FACTORS, CODES
    group = zarr.open_group(str(tmp_path / "both.zarr"), mode="w")
    group.create_array("factors", data=FACTORS)
    group.create_array("codes", data=CODES)
    for name in ("both.h5", "both.zarr"):
        assert scored(tmp_path / name)["mcc"]["raw"] == pytest.approx(mcc(FACTORS, CODES).raw, abs=1e-12)


def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, folder):
    (tmp_path / "broken.h5").write_bytes(b"nothing")
    with pytest.raises(FileError, match=r"broken.h5 cannot be read as arrays"):
        read_files(tmp_path / "broken.h5")
    np.savez(tmp_path / "both.npz", factors=FACTORS, codes=CODES)
    with pytest.raises(OptionError, match=r"both.npz is not one: leave --cluster out"):
        read_files(tmp_path / "both.npz", cluster="tcp://127.0.0.1:1")
    with pytest.raises(FileError, match=r"has no column 'colour' but 'factor 0'"):
        read_files(folder, factors=["colour"], cluster="tcp://127.0.0.1:1")
