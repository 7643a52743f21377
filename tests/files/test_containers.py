"""Files of other libraries: safetensors, torch, Arrow, AnnData, Hugging Face data sets; names by pattern; dates."""

import json
import pickle
import struct
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import unweave
from unweave.cli import main
from unweave.files.reading import read_codes, read_files

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 2))
C = RNG.normal(size=(40, 3)).astype(np.float32)


def frame():
    pl = pytest.importorskip("polars")
    codes = {f"emb_{k}": C[:, k] for k in range(3)}
    return pl.DataFrame({"shape": ["a", "b"] * 20, "size": Z[:, 0], **codes})


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int64", "bool", "bfloat16"])
def test_safetensors_are_what_was_saved(tmp_path, kind):
    torch = pytest.importorskip("torch")
    saved = pytest.importorskip("safetensors.torch")
    tensors = {"factors": torch.from_numpy(Z), "codes": (torch.from_numpy(C) * 3).to(getattr(torch, kind))}
    saved.save_file(tensors, tmp_path / "a.safetensors", metadata={"x": "y"})
    found = read_files(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(found.factors, Z)
    np.testing.assert_array_equal(found.codes, tensors["codes"].double().numpy())


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b"[]",
        b'{"codes": 3}',
        b'{"codes": {"dtype": "F32", "shape": [1000000], "data_offsets": [0, 4000000]}}',
        b'{"codes": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 8]}}',
        b'{"codes": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}}',
        b'{"codes": {"dtype": "Q8", "shape": [2], "data_offsets": [0, 8]}}',
    ],
)
def test_crafted_safetensors_are_refused(tmp_path, header):
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(16))
    with pytest.raises(unweave.UnweaveError, match=r"cannot be read as a \.safetensors file"):
        read_codes(path)
    path.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(unweave.UnweaveError, match="the header ends after the file"):
        read_codes(path)


def test_torch_files_have_tensors_and_run_no_code(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save({"factors": torch.from_numpy(Z), "codes": torch.from_numpy(C), "epoch": 3}, tmp_path / "a.pt")
    found = read_files(tmp_path / "a.pt")
    np.testing.assert_array_equal(found.codes, C)
    torch.save(torch.from_numpy(C).bfloat16(), tmp_path / "codes.pth")
    np.testing.assert_allclose(read_codes(tmp_path / "codes.pth"), C, rtol=1e-2)

    class Planted:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    torch.save({"codes": torch.from_numpy(C), "x": Planted()}, tmp_path / "b.pt")
    (tmp_path / "c.pt").write_bytes(pickle.dumps(Planted()))
    for name in ("b.pt", "c.pt"):
        with pytest.raises(unweave.FileError, match="has more than tensors, such as a whole module, or is damaged"):
            read_codes(tmp_path / name)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("ending", ["arrow", "feather"])
def test_arrow_files(tmp_path, compression, ending):
    frame().write_ipc(tmp_path / f"a.{ending}", compression=compression)
    found = read_files(tmp_path / f"a.{ending}", factors=["shape", "size"])
    np.testing.assert_array_equal(found.codes.to_numpy(), C)


def test_feather_of_pandas(tmp_path):
    pytest.importorskip("pyarrow")
    table = frame().to_pandas().astype({"shape": "category"})
    table.to_feather(tmp_path / "a.feather")
    found = read_files(tmp_path / "a.feather", factors=["shape", "size"], codes=["emb_*"])
    assert unweave.Evidence(found.factors, found.codes).kinds[0].value == "categorical"


def test_crafted_arrow_files_are_refused(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "a.arrow"
    pl.DataFrame({"codes": np.zeros(100_000)}).write_ipc(path, compression="zstd")
    content = bytearray(path.read_bytes())
    place = content.find(struct.pack("<q", 800_000))
    assert place > 0
    content[place : place + 8] = struct.pack("<q", 2**40)
    path.write_bytes(content)
    with pytest.raises(unweave.FileError, match="GB once unpacked"):
        read_codes(path)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_refused_or_read(tmp_path, seed):
    """Whatever bytes are changed or cut off, there is an error of one sentence or a table."""
    rng = np.random.default_rng(seed)
    path = tmp_path / f"a.{('arrow', 'safetensors')[seed % 2]}"
    if seed % 2:
        header = json.dumps({"codes": {"dtype": "F32", "shape": [40, 3], "data_offsets": [0, 480]}}).encode()
        path.write_bytes(struct.pack("<Q", len(header)) + header + C.tobytes())
    else:
        frame().write_ipc(path, compression="lz4")
    content = bytearray(path.read_bytes())
    for _ in range(rng.integers(1, 20)):
        content[rng.integers(len(content))] = rng.integers(256)
    path.write_bytes(content[: rng.integers(1, len(content) + 1)] if seed % 3 == 0 else content)
    try:
        read_codes(path)
    except unweave.UnweaveError as error:
        assert "\n" not in str(error)


@pytest.fixture
def cells(tmp_path):
    """A file as AnnData writes it: columns of obs, dense and sparse arrays, categories with a missing one."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        obs = file.create_group("obs")
        obs.attrs.update({"_index": "index", "encoding-type": "dataframe"})
        obs["index"] = [f"cell {k}" for k in range(40)]
        obs["time"] = Z[:, 0]
        kind = obs.create_group("cell_type")
        kind.attrs.update({"encoding-type": "categorical", "ordered": False})
        kind["categories"], kind["codes"] = ["B", "T"], np.arange(40) % 2
        count = obs.create_group("n")
        count.attrs["encoding-type"] = "nullable-integer"
        count["values"], count["mask"] = np.arange(40), np.arange(40) < 1
        obsm = file.create_group("obsm")
        obsm["X_drvi"], obsm["X_pca"] = C, C[:, :2]
        sparse = file.create_group("X")
        sparse.attrs.update({"encoding-type": "csr_matrix", "shape": (40, 3)})
        sparse["data"], sparse["indices"] = np.ones(40), np.arange(40) % 3
        sparse["indptr"] = np.arange(41)
    return path


def test_cells_by_name(cells):
    found = read_files(cells, factors=["obs:cell_type", "obs:time"], codes=["obsm:X_drvi"])
    np.testing.assert_array_equal(found.codes, C)
    assert list(found.factors) == ["cell_type", "time"]
    evidence = unweave.Evidence(found.factors, found.codes)
    assert [kind.value for kind in evidence.kinds] == ["categorical", "continuous"]
    assert read_files(cells, factors=["obs:n"], codes=["X"]).factors["n"][0] is None
    apart = read_files(cells, factors=["obs:cell_type=*"], codes=["obsm:X_drvi"]).factors
    assert {name: column[:2] for name, column in apart.items()} == {
        "cell_type=B": ["B", "other"],
        "cell_type=T": ["other", "T"],
    }
    assert list(read_files(cells, factors=["cell_type"], codes=["X_drvi"]).factors) == ["cell_type"]
    np.testing.assert_array_equal(read_codes(cells, ["X"]).toarray().argmax(axis=1), np.arange(40) % 3)


def test_single_levels_of_a_column_are_factors(cells):
    one = read_files(cells, factors=["obs:cell_type=T", "obs:time", "obs:cell_type"], codes=["obsm:X_drvi"]).factors
    assert list(one) == ["cell_type", "cell_type=T", "time"]
    assert list(one["cell_type=T"][:2]) == ["other", "T"]
    assert list(read_files(cells, factors=["cell_type=B"], codes=["X_drvi"]).factors) == ["cell_type=B"]
    with pytest.raises(
        unweave.FileError, match=r"'cell_type' has no level 'NK' but 'B', 'T': name one of them, or '\*'"
    ):
        read_files(cells, factors=["obs:cell_type=NK"], codes=["obsm:X_drvi"])
    with pytest.raises(unweave.FileError, match="has no array 'obs:kind=NK'"):
        read_files(cells, factors=["obs:kind=NK"], codes=["obsm:X_drvi"])


def test_nuisances_by_name(cells, tmp_path):
    found = read_files(cells, factors=["obs:time"], codes=["obsm:X_drvi"], nuisances=["obs:cell_type"])
    assert unweave.Evidence(found.factors, found.codes, nuisances=found.nuisances).nuisance_names == ("cell_type",)
    frame().write_csv(tmp_path / "table.csv")
    factor, *others = frame().columns
    found = read_files(tmp_path / "table.csv", factors=[factor], nuisances=[others[0]])
    assert (list(found.nuisances), list(found.codes)) == (others[:1], others[1:])
    given = [
        "score",
        str(cells),
        "--factors",
        "obs:time",
        "--codes",
        "obsm:X_drvi",
        "--metrics",
        "nuisances_invariance",
    ]
    refused = CliRunner().invoke(main, [*given, "--quick"])
    assert "(--nuisances)" in refused.output


def test_cells_are_compared_by_key(cells):
    words = ["--factors", "obs:cell_type,obs:time", "--metrics", "r2", "--quick", "--json"]
    result = CliRunner().invoke(main, ["compare", str(cells), "--codes", "obsm:X_drvi,obsm:X_pca", *words])
    assert result.exit_code == 0, result.output
    assert list(json.loads(result.stdout)["data"]["representations"]) == ["X_drvi", "X_pca"]


def test_cells_without_names_and_with_links(cells):
    h5py = pytest.importorskip("h5py")
    with pytest.raises(unweave.FileError, match="name both, such as --factors obs:cell_type --codes obsm:X_pca"):
        read_files(cells)
    with h5py.File(cells, "a") as file:
        file["obsm"]["linked"] = h5py.ExternalLink("other.h5", "/secret")
    with pytest.raises(unweave.FileError, match="has a link called 'linked'"):
        read_files(cells, factors=["obs:time"], codes=["obsm:X_pca"])


def test_a_file_of_anndata_itself(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame(
        {"cell_type": pd.Categorical(["B", "T"] * 20), "time": Z[:, 0]}, index=[f"c{k}" for k in range(40)]
    )
    if hasattr(anndata.settings, "allow_write_nullable_strings"):
        anndata.settings.allow_write_nullable_strings = True
    anndata.AnnData(X=C, obs=obs, obsm={"X_drvi": C}).write_h5ad(tmp_path / "a.h5ad")
    found = read_files(tmp_path / "a.h5ad", factors=["obs:cell_type", "obs:time"], codes=["obsm:X_drvi"])
    np.testing.assert_array_equal(found.codes, C)
    np.testing.assert_array_equal(found.factors["obs:time"], Z[:, 0])
    assert found.factors["obs:cell_type"].tolist() == ["B", "T"] * 20


def test_data_sets_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets")
    table = {name: frame()[name].to_list() for name in frame().columns}
    datasets.Dataset.from_dict(table).save_to_disk(str(tmp_path / "set"), num_shards=2)
    found = read_files(tmp_path / "set", factors=["shape", "size"], codes=["emb_*"])
    np.testing.assert_allclose(found.codes.to_numpy(), C)
    assert found.factors["shape"].to_list() == ["a", "b"] * 20


@pytest.mark.parametrize(
    ("codes", "expected"),
    [(["emb_*"], 3), (["emb_0..emb_1"], 2), (["emb_2..emb_0"], 3), (["emb_[02]"], 2), (["emb_0", "emb_2"], 2)],
)
def test_columns_by_pattern_and_range(tmp_path, codes, expected):
    pytest.importorskip("polars")
    frame().write_csv(tmp_path / "a.csv")
    assert len(read_files(tmp_path / "a.csv", factors=["shape", "size"], codes=codes).codes) == expected


def test_patterns_that_fit_nothing_or_twice(tmp_path):
    pytest.importorskip("polars")
    frame().write_csv(tmp_path / "a.csv")
    with pytest.raises(unweave.FileError, match=r"No name in .* fits 'x_\*': there are"):
        read_files(tmp_path / "a.csv", factors=["shape"], codes=["x_*"])
    with pytest.raises(unweave.OptionError, match="named twice"):
        read_files(tmp_path / "a.csv", factors=["shape"], codes=["emb_*", "emb_1"])


def noted(factors):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        evidence = unweave.Evidence(factors, C)
    return evidence, [str(entry.message) for entry in found]


def test_dates_become_days_with_a_note(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    days = np.arange(40) * 2.5
    times = pd.Timestamp("2024-03-01") + pd.to_timedelta(days, unit="D")
    times.to_frame(name="day").to_csv(tmp_path / "a.csv", index=False)
    csv = read_files(tmp_path / "a.csv", tmp_path / "a.csv", factors=["day"], codes=["day"]).factors
    for table in (
        pd.DataFrame({"day": times}),
        pd.DataFrame({"day": times.tz_localize("UTC")}),
        pl.DataFrame({"day": list(times.to_pydatetime())}),
        {"day": times.to_numpy()},
        csv,
    ):
        evidence, notes = noted(table)
        np.testing.assert_allclose(evidence.factors[:, 0], days, atol=1e-6)
        assert evidence.kinds[0].value == "continuous"
        assert [note for note in notes if "became days since 2024-03-01" in note]


def test_texts_that_only_look_like_dates_stay_texts(tmp_path):
    rows = "\n".join(["day"] + ["2024-13-01", "2024-02-01"] * 20)
    (tmp_path / "a.csv").write_text(rows, encoding="utf-8")
    assert read_codes(tmp_path / "a.csv")["day"].tolist()[0] == "2024-13-01"


def test_all_problems_of_a_table_are_told_at_once():
    bad = {"a": [1, "x"] * 20, "b": [{}] * 40, "c": Z[:, 0]}
    with pytest.raises(
        unweave.InputError, match=r"There are 2 problems: \(1\) Factor 'a' mixes .* \(2\) Factor 'b' contains"
    ):
        unweave.Evidence(bad, C)
    with pytest.raises(unweave.InputError, match="The codes 'u', 'v' contain text"):
        unweave.Evidence(Z, {"u": ["x"] * 40, "v": ["y"] * 40, "w": Z[:, 0]})
    holes, infinite = Z.copy(), C.copy()
    holes[3, 0], infinite[5, 1], infinite[6, 2] = np.nan, np.inf, np.inf
    with pytest.raises(
        unweave.InputError, match=r"3 problems: \(1\) Code 'code 1' is infinite.*\(3\) Values are missing"
    ):
        unweave.Evidence(holes, infinite)
    with pytest.raises(unweave.InputError, match=r"2 problems: \(1\) Factor 'a'.*\(2\) Code 'u' contains text"):
        unweave.Evidence({"a": [1, "x"] * 20}, {"u": ["x"] * 40, "w": Z[:, 0]})
