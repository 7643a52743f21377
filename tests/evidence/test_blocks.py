"""Rows that are read in blocks have the same scores as rows in memory."""

import functools

import numpy as np
import polars
import pytest

from unweave import Evidence, FileError, InputError, evaluate
from unweave.card.decorator import metric_of
from unweave.evidence.blocks import (
    ArrayPart,
    BlockReader,
    RowBlocks,
    _stretches,
    array_blocks,
    frame_blocks,
    is_large,
)
from unweave.files.formats import parquet_blocks
from unweave.metrics import dcimig, mcc, mig, mig_sup, modularity, r2, sap

RNG = np.random.default_rng(0)
N = 3000
COLUMNS = {
    "factor size": RNG.normal(size=N),
    "factor level": RNG.integers(4, size=N).astype(float),
    "factor shape": np.array(["square", "heart", "star"])[RNG.integers(3, size=N)],
    "factor angle": RNG.uniform(0, 360, size=N),
}
SHAPE = np.unique(COLUMNS["factor shape"], return_inverse=True)[1]
CODES = np.column_stack(
    [
        COLUMNS["factor size"] + 0.3 * RNG.normal(size=N),
        np.maximum(COLUMNS["factor level"] + RNG.normal(size=N), 0.0),  # many ties at zero
        np.cos(np.deg2rad(COLUMNS["factor angle"])) + 100.0,
        SHAPE + 0.1 * RNG.normal(size=N),
        np.full(N, 7.0),
    ]
)
FACTORS = {name.removeprefix("factor "): column for name, column in COLUMNS.items()}
KINDS = {"angle": "circular:360"}
EXACT = [mcc, mig, mig_sup, dcimig, modularity, functools.partial(sap, classify="none")]


def folder_of(path, n_parts=3, **more):
    for k, rows in enumerate(np.array_split(np.arange(N), n_parts)):
        table = {name: column[rows] for name, column in COLUMNS.items()} | more
        table |= {f"code {i}": CODES[rows, i] for i in range(CODES.shape[1])}
        polars.DataFrame(table).write_parquet(path / f"part-{k}.parquet", row_group_size=400)
    return path


@pytest.fixture
def blocks(tmp_path):
    return parquet_blocks(folder_of(tmp_path), sample_rows=500)


@pytest.mark.parametrize("metric", EXACT, ids=lambda metric: metric_of(metric).card.name)
def test_a_folder_gives_the_numbers_of_memory(metric, blocks):
    kinds = {"factor angle": "circular:360"}
    known, found = metric(FACTORS, CODES, kinds=KINDS), metric(blocks, kinds=kinds)
    assert found.raw == pytest.approx(known.raw, abs=1e-10)
    for name, part in known.parts.items():
        np.testing.assert_allclose(found.parts[name], part, atol=1e-10)
    assert found.caveats[-1].kind == "all_rows_in_blocks"
    assert found.caveats[-1].quantities == {"n_rows": N, "n_sampled": 500}


def test_metrics_of_rows_take_a_stated_sample(blocks):
    found = r2(blocks, kinds={"factor angle": "circular:360"})  # categories have no moments
    assert str(found.caveats[-1]) == "Computed on 500 of 3,000 rows, drawn at random."
    evidence = Evidence(blocks, kinds={"factor angle": "circular:360"})
    assert evidence.n_rows == 500
    assert found.raw == r2(evidence.rows(np.arange(500))).raw  # computed on the sample
    assert sap(evidence).caveats[-1].kind == "rows_sampled"  # classification of categories needs rows
    assert mcc(evidence, correlation="spearman").caveats[-1].kind == "rows_sampled"
    assert mcc(evidence, cross_fit=True).caveats[-1].kind == "rows_sampled"
    assert evidence.dead_codes == ("code 4",)


@pytest.mark.parametrize("copied", [False, True])
def test_r2_of_blocks_is_r2_in_memory_with_the_same_folds(copied, monkeypatch):
    n = 2501
    factors = np.column_stack([RNG.normal(size=(n, 2)), RNG.integers(4, size=n), RNG.uniform(0, 360, size=n)])
    angle = np.deg2rad(factors[:, 3])
    codes = np.column_stack(
        [factors[:, :3] @ RNG.normal(size=(3, 3)) + 0.3 * RNG.normal(size=(n, 3)) + 100, np.cos(angle), np.full(n, 7.0)]
    )
    codes = np.column_stack([codes, codes[:, 0] - codes[:, 1]]) if copied else codes
    kinds = ["continuous", "continuous", "ordinal", "circular:360"]
    monkeypatch.setattr("unweave.evidence.blocks.ROWS_IN_BLOCK", 700)
    found = r2(array_blocks(factors, codes, sample_rows=100), kinds=kinds)
    assert found.caveats[-1].kind == "all_rows_in_blocks"
    stops = [np.arange(1, 6) * size // 5 for size in (700, 700, 700, 401)]
    fold = np.concatenate([np.searchsorted(stop, np.arange(stop[-1]), side="right") for stop in stops])
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    monkeypatch.setattr(Evidence, "folds", lambda *_: folds)
    known = r2(factors, codes, kinds=kinds)
    assert found.raw == pytest.approx(known.raw, abs=1e-10)
    np.testing.assert_allclose([*found.per_factor.values()], [*known.per_factor.values()], atol=1e-10)


def test_numbers_of_32_bits_are_counted_as_in_memory(tmp_path):
    table = polars.DataFrame({"factor": COLUMNS["factor size"]} | {f"code {i}": CODES[:, i] for i in range(5)})
    narrow = table.cast(polars.Float32)
    narrow.write_parquet(tmp_path / "rows.parquet")
    factors, codes = (narrow.select(polars.selectors.starts_with(side)).to_numpy() for side in ("factor", "code"))
    for metric in (mcc, mig):
        assert metric(parquet_blocks(tmp_path)).raw == pytest.approx(metric(factors, codes).raw, abs=1e-12)


@pytest.mark.slow
def test_a_million_rows_give_the_numbers_of_memory():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(1_000_000, 5))
    codes = np.concatenate([factors, factors], axis=1) + rng.normal(size=(1_000_000, 10))
    blocks, known = Evidence(array_blocks(factors, codes)), Evidence(factors, codes)
    for metric in (mcc, mig, mig_sup, dcimig, modularity, sap):
        assert metric(blocks).raw == pytest.approx(metric(known).raw, abs=1e-10)
    assert r2(blocks).raw == pytest.approx(r2(known).raw, abs=1e-4)  # the folds differ


def test_r2_of_heavy_tails_is_of_the_sample():
    factors = RNG.normal(size=(2000, 1))
    codes = np.column_stack([factors + RNG.normal(size=(2000, 1)), RNG.standard_cauchy(2000) ** 3 + factors[:, 0]])
    codes[0, 0] = 1e6  # the prediction of this row would be clipped
    assert r2(array_blocks(factors, codes, sample_rows=300)).caveats[-1].kind == "rows_sampled"


def test_tables_of_dask_are_read_by_partitions(monkeypatch):
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("unweave.evidence.blocks.LARGEST_IN_MEMORY", 1000)
    factors = dask.from_pandas(pandas.DataFrame(FACTORS), npartitions=4)
    codes = dask.from_pandas(pandas.DataFrame(CODES, columns=[f"c{i}" for i in range(5)]), npartitions=4)
    evidence = Evidence(factors, codes, kinds=KINDS)
    assert (evidence.all_rows.n_rows, evidence.code_names[0], evidence.factor_names[2]) == (N, "c0", "shape")
    for metric in (mcc, mig):
        assert metric(evidence).raw == pytest.approx(metric(FACTORS, CODES, kinds=KINDS).raw, abs=1e-10)
    with pytest.raises(InputError, match=r"partitions do not pair up.*repartition"):
        Evidence(factors, codes.repartition(npartitions=3))
    with pytest.raises(InputError, match="Column 'shape' of the codes is not numeric"):
        Evidence(codes, factors)


def test_the_sample_is_of_all_rows_and_keeps_pairs(blocks):
    evidence = Evidence(blocks)
    place = {value: row for row, value in enumerate(COLUMNS["factor size"])}
    rows = [place[value] for value in evidence.factors[:, 0]]
    np.testing.assert_array_equal(evidence.codes, CODES[rows])
    assert len(set(rows)) == 500
    assert min(np.histogram(rows, 3, (0, N))[0]) > 120


def test_arrays_on_disk_are_read_in_blocks(tmp_path):
    factors = np.column_stack([COLUMNS["factor size"], COLUMNS["factor level"]])
    np.save(tmp_path / "codes.npy", CODES)
    stored = np.load(tmp_path / "codes.npy", mmap_mode="r")
    known = mcc(factors, CODES)
    found = mcc(array_blocks(factors, stored, rows_in_part=700, sample_rows=100))
    assert found.raw == pytest.approx(known.raw, abs=1e-12)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "codes.h5", "w") as file:
        file["codes"] = CODES
        found = mcc(array_blocks(factors, file["codes"], rows_in_part=700, sample_rows=100))
    assert found.raw == pytest.approx(known.raw, abs=1e-12)


def test_other_libraries_arrays(tmp_path):
    factors = np.column_stack([COLUMNS["factor size"], COLUMNS["factor level"]])
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(CODES, chunks=(512, 2))
    assert mcc(array_blocks(factors, lazy, sample_rows=100)).raw == pytest.approx(mcc(factors, CODES).raw, abs=1e-12)
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(store=tmp_path / "codes.zarr", data=CODES, chunks=(500, 5))
    assert mig(array_blocks(factors, stored, sample_rows=100)).raw == pytest.approx(mig(factors, CODES).raw, abs=1e-12)


def test_large_arrays_are_read_in_blocks_by_themselves(tmp_path, monkeypatch):
    monkeypatch.setattr("unweave.evidence.blocks.LARGEST_IN_MEMORY", 1000)
    np.save(tmp_path / "codes.npy", CODES)
    np.save(tmp_path / "factors.npy", np.column_stack([COLUMNS["factor size"], COLUMNS["factor level"]]))
    factors, codes = (np.load(tmp_path / f"{side}.npy", mmap_mode="r") for side in ("factors", "codes"))
    assert Evidence(factors, codes).all_rows.n_rows == N
    assert Evidence(np.array(factors), codes).all_rows is None


@pytest.mark.parametrize("ordered", [False, True])
def test_edges_of_planning_rows_hold_for_all_rows_also_where_these_are_ordered(ordered):
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(20_000, 2))
    codes = factors + 0.5 * rng.normal(size=(20_000, 2))
    if ordered:  # each planning stretch then contains similar values, and the stretches are not representative
        order = np.argsort(np.abs(factors[:, 0]), kind="stable")
        factors, codes = factors[order], codes[order]
    evidence = Evidence(array_blocks(factors, codes, planning_rows=5000, sample_rows=5000, rows_in_part=3000))
    assert evidence.all_rows.n_passes == (2 if ordered else 1)
    found, known = mig(evidence), mig(factors, codes)
    assert found.raw == pytest.approx(known.raw, abs=0.01)
    assert found.caveats[-1].kind == "all_rows_in_planned_bins"
    assert mcc(evidence).raw == pytest.approx(mcc(factors, codes).raw, abs=1e-12)


def test_rows_with_missing_values_are_refused_or_dropped():
    factors, codes = np.array([COLUMNS["factor size"], COLUMNS["factor level"]]).T, CODES.copy()
    codes[1234, 0] = np.nan
    source = array_blocks(factors, codes, rows_in_part=500, sample_rows=200)
    with pytest.raises(InputError, match="missing in row 1234"):
        Evidence(source)
    found = Evidence(source, missing="drop")
    assert (found.all_rows.n_rows, found.n_dropped) == (N - 1, 1)
    known = mig(factors, codes, missing="drop")
    assert mig(found).raw == pytest.approx(known.raw, abs=1e-12)


def test_an_evaluation_has_floors_intervals_and_says_what_it_used(blocks):
    found = evaluate(blocks, metrics=["mcc", "r2"], budget=5, progress=False)
    assert found.data.n_rows == N
    for row in found.rows:
        assert row.noise_floor.floor < row.score.raw
    kinds = {row.label: row.score.caveats[-1].kind for row in found.rows}
    assert kinds == {"mcc": "all_rows_in_blocks", "r2": "rows_sampled"}


def test_bad_blocks_say_what_is_wrong(tmp_path):
    two = [
        ArrayPart(CODES[:, :1], CODES[:, :3], 0, 100),
        ArrayPart(CODES[:, :1], CODES[:, :2], 0, 100),
    ]
    with pytest.raises(InputError, match="block at row 100 has 1 factors and 2 codes, and there are 1 and 3"):
        Evidence(RowBlocks(two, ("a",), ("x", "y", "z")))
    with pytest.raises(InputError, match="factors have 10 rows, codes have 20 rows"):
        array_blocks(CODES[:10], CODES[:20])
    with pytest.raises(InputError, match="row_groups are not read in blocks"):
        Evidence(array_blocks(CODES[:, :1], CODES), row_groups=np.zeros(N))
    infinite = CODES.copy()
    infinite[5, 1] = np.inf
    with pytest.raises(InputError, match="'code 1' reaches inf from row 0 on"):
        Evidence(array_blocks(CODES[:, :1], infinite))
    folder_of(tmp_path)
    polars.DataFrame({"factor size": [1.0]}).write_parquet(tmp_path / "part-9.parquet")
    with pytest.raises(FileError, match=r"part-9.parquet and part-0.parquet have different columns"):
        parquet_blocks(tmp_path)
    table = {name: column[:5] for name, column in COLUMNS.items()} | {f"code {i}": CODES[:5, i] for i in range(5)}
    polars.DataFrame(table | {"factor level": list("abcde")}).write_parquet(tmp_path / "part-9.parquet")
    with pytest.raises(FileError, match=r"'factor level' is String in part-9.parquet and Float64"):
        parquet_blocks(tmp_path)
    (tmp_path / "part-9.parquet").write_bytes(b"no table")
    with pytest.raises(FileError, match=r"part-9.parquet cannot be read"):
        parquet_blocks(tmp_path)


def test_stretches_are_spread_from_the_first_row_to_the_last():
    rows = np.arange(200.0)[:, None]
    found = list(_stretches(array_blocks(rows, rows, rows_in_part=70), 80))
    assert [row for row, _ in found] == [13 * k for k in range(16)]
    for row, (_, codes) in found:
        end = min(row + 5, -(-(row + 1) // 70) * 70)  # a stretch ends with its part
        assert codes[:, 0].tolist() == list(range(row, end))
    assert len(list(_stretches(array_blocks(rows, rows, rows_in_part=70), 200))) == 3
    assert [len(codes) for _, (_, codes) in _stretches(array_blocks(rows, rows), 8)] == [1] * 16


def test_rows_without_a_complete_one_are_refused():
    codes = np.where(np.arange(40) < 20, 1.0, np.nan)[:, None]
    with pytest.raises(InputError, match="No row from 20 on is complete"):
        Evidence(array_blocks(np.arange(40.0), codes, rows_in_part=20), missing="drop")
    with pytest.raises(InputError, match="Every row that was examined has a missing value"):
        Evidence(array_blocks(np.arange(20.0), codes[20:]), missing="drop")
    with pytest.raises(InputError, match="There are no rows"):
        Evidence(array_blocks(np.empty(0), np.empty((0, 2))))


def test_sampled_rows_keep_their_pairs_where_rows_are_dropped():
    codes = np.arange(60.0)[:, None].repeat(2, axis=1)
    codes[7::10, 1] = np.nan
    found = Evidence(array_blocks(np.arange(60.0), codes, rows_in_part=25, sample_rows=60), missing="drop")
    assert found.factors[:, 0].tolist() == found.codes[:, 0].tolist() == [k for k in range(60) if k % 10 != 7]


def test_names_and_axes_of_arrays():
    blocks = array_blocks(CODES[:, 0], CODES, code_names=list("abcde"))
    assert (blocks.factor_names, blocks.code_names, blocks.n_rows) == (("factor 0",), tuple("abcde"), N)
    with pytest.raises(InputError, match="There are 2 code names for 5 codes: give one for each column"):
        array_blocks(CODES[:, 0], CODES, code_names=["a", "b"])
    with pytest.raises(InputError, match=r"The factors have shape \(3, 2, 2\): pass one row per sample"):
        array_blocks(np.zeros((3, 2, 2)), CODES[:3])


def test_arrays_are_large_beyond_the_limit(monkeypatch, tmp_path):
    np.save(tmp_path / "codes.npy", CODES)
    codes = np.load(tmp_path / "codes.npy", mmap_mode="r")
    for limit, large in ((10 * N, False), (10 * N - 1, True)):
        monkeypatch.setattr("unweave.evidence.blocks.LARGEST_IN_MEMORY", limit)
        assert is_large(codes, codes) == large
        assert not is_large(CODES, codes)
        assert not is_large(codes, CODES)


def test_text_of_later_blocks_is_numbered_after_that_of_earlier_ones():
    reader = BlockReader(("shape",), ("code 0",), "drop")
    codes = np.ones((2, 1))
    assert reader.read([np.array(["a", "c"])], codes, 0)[0].tolist() == [[0.0], [1.0]]
    assert reader.read([np.array(["b", None], dtype=object)], codes, 2)[0].tolist() == [[2.0]]
    assert reader.levels == {0: ("a", "c", "b")}
    with pytest.raises(InputError, match="Factor 'shape' is text in some blocks and numbers in others"):
        reader.read([np.array([1.0, 2.0])], codes, 4)


@pytest.mark.parametrize("end", ["lowest", "highest"])
def test_numbers_at_the_limit_of_blocks(end):
    reader = BlockReader(("size",), ("u",), "refuse")
    near = {"lowest": np.array([-1.0, -1.0]), "highest": np.array([1.0, 1.0])}
    sign = -1 if end == "lowest" else 1
    reader.check_reach(**near | {end: np.array([sign, sign * 1e150])}, first_row=3)
    with pytest.raises(InputError, match=r"'u' reaches 1.1e\+150 from row 3 on"):
        reader.check_reach(**near | {end: np.array([sign, sign * 1.1e150])}, first_row=3)


def test_parts_are_read_in_blocks_of_rows(monkeypatch):
    monkeypatch.setattr("unweave.evidence.blocks.ROWS_IN_BLOCK", 300)
    source = array_blocks(CODES[:1500, :2], CODES[:1500], rows_in_part=700)
    parts = [[codes for _, codes in part.blocks()] for part in source.parts]
    assert [[len(codes) for codes in part] for part in parts] == [[300, 300, 100], [300, 300, 100], [100]]
    np.testing.assert_array_equal(np.concatenate([codes for part in parts for codes in part]), CODES[:1500])


def test_tables_of_dask_are_read_in_blocks_beyond_the_limit(monkeypatch):
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    factors = dask.from_pandas(pandas.DataFrame(CODES[:, :2]), npartitions=2)
    codes = dask.from_pandas(pandas.DataFrame(CODES), npartitions=2)
    monkeypatch.setattr("unweave.evidence.blocks.LARGEST_IN_MEMORY", 7 * N)
    assert frame_blocks(factors, codes) is None
    monkeypatch.setattr("unweave.evidence.blocks.LARGEST_IN_MEMORY", 7 * N - 1)
    monkeypatch.setattr("unweave.evidence.blocks.ROWS_IN_BLOCK", 1000)
    found = frame_blocks(factors, codes)
    blocks = [block for part in found.parts for block in part.blocks()]
    assert [len(table) for _, table in blocks] == [1000, 500, 1000, 500]
    np.testing.assert_array_equal(np.concatenate([table for _, table in blocks]), CODES)
    np.testing.assert_array_equal(np.concatenate([columns[1] for columns, _ in blocks]), CODES[:, 1])
