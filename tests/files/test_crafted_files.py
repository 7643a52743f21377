"""Crafted files are read or refused in one sentence: no crash, no foreign error, no memory beyond the limit."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from unweave import Evidence, FileError, InputError
from unweave.codec import read_json
from unweave.evidence.sparse import sparse_columns
from unweave.files.formats import opened
from unweave.files.parquet_sizes import refuse_parquet_bomb

SCRIPT = Path(__file__).with_name("crafted_files.py")
MOST_SECONDS = 10
pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured on Linux")


def outcomes(folder, step):
    """Counts by outcome of every step-th crafted file, and the lines of those that went wrong."""
    counts, problems, first, finished = Counter(), [], 0, False
    while not finished:
        done = subprocess.run(
            [sys.executable, SCRIPT, folder, str(first), str(step)],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"RUST_BACKTRACE": "0"},
        )
        finished = done.returncode == 0
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        assert lines or finished, done.stderr
        for number, name, *said in lines:
            first = int(number) + 1
            outcome, seconds, megabytes, most = said or (f"crash {done.returncode}", 0, 0, 0)
            counts[outcome.split()[0]] += 1
            in_bounds = float(seconds) < MOST_SECONDS and int(megabytes) <= int(most)
            if outcome not in ("read", "refused") or not in_bounds or (("bomb" in name) and outcome == "read"):
                problems.append(f"{number} {name}: {outcome[:300]}, {seconds} s, {megabytes} MB")
    return counts, problems


def test_some_crafted_files(tmp_path):
    counts, problems = outcomes(tmp_path, step=61)
    assert not problems, "\n".join(problems)
    assert set(counts) == {"read", "refused"}


@pytest.mark.slow
def test_all_crafted_files(tmp_path, capsys):
    counts, problems = outcomes(tmp_path, step=1)
    with capsys.disabled():
        print(f"\n{counts.total()} crafted files:", ", ".join(f"{outcome} {n}" for outcome, n in counts.items()))
    assert not problems, "\n".join(problems)
    assert counts.total() > 1_000


TABLE = np.where(np.random.default_rng(0).random((12, 4)) < 0.5, 0.0, np.arange(48.0).reshape(12, 4))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_consistent_matrices_of_every_layout_are_read(layout):
    matrix = getattr(scipy.sparse, f"{layout}_array")(TABLE)
    assert sparse_columns(matrix).dense(slice(0, 4)).tolist() == TABLE.tolist()


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("part", "place", "value"),
    [("indices", 0, 10**6), ("indices", -1, -1), ("indptr", 0, 1), ("indptr", 1, 10**6), ("indptr", 1, -5)],
)
def test_matrices_whose_indices_point_outside_are_refused(layout, part, place, value):
    matrix = getattr(scipy.sparse, f"{layout}_array")(TABLE)
    getattr(matrix, part)[place] = value
    with pytest.raises(InputError, match="parts of the sparse codes do not fit together: build the matrix again"):
        Evidence(np.arange(12.0), matrix)


def test_the_ends_of_an_empty_matrix_are_checked():
    """scipy's own full check passes a matrix without entries whose starts go up and down."""
    matrix = scipy.sparse.csr_array((3, 4))
    matrix.indptr[:] = [0, 5, -3, 0]
    with pytest.raises(InputError, match="do not fit together"):
        sparse_columns(matrix)


@pytest.mark.parametrize("rows", [[[0, 99], [1]], [[0], [-9]], [[0, 1], [1]]])
def test_lists_of_places_are_checked(rows):
    matrix = scipy.sparse.lil_array((2, 4))
    matrix.rows[:] = [list(places) for places in rows]
    matrix.data[:] = [[1.0] * len(rows[0]), [1.0, 2.0] if rows[0] == [0, 1] else [1.0]]
    with pytest.raises(InputError, match="do not fit together"):
        sparse_columns(matrix)


def test_tensors_whose_indices_point_outside_are_refused():
    torch = pytest.importorskip("torch")
    places, values = torch.tensor([[0, 1], [0, 10**9]]), torch.ones(2)
    wrong = [
        torch.sparse_coo_tensor(places, values, (2, 4), check_invariants=False),
        torch.sparse_csr_tensor(torch.tensor([0, 9, 2]), places[1], values, (2, 4), check_invariants=False),
        torch.sparse_csc_tensor(torch.tensor([0, 1, 2]), places[1], values, (4, 2), check_invariants=False),
    ]
    for tensor in wrong:
        with pytest.raises(InputError, match="do not fit together"):
            sparse_columns(tensor)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_saved_matrices_are_read_as_they_were(tmp_path, layout):
    scipy.sparse.save_npz(tmp_path / "a.npz", getattr(scipy.sparse, f"{layout}_matrix")(TABLE))
    assert opened(tmp_path / "a.npz").content.toarray().tolist() == TABLE.tolist()
    scipy.sparse.save_npz(tmp_path / "b.npz", scipy.sparse.dia_array(TABLE))
    with pytest.raises(FileError, match=r"b.npz is a sparse matrix in the format 'dia': save matrix.tocsc\(\)"):
        opened(tmp_path / "b.npz")


def test_sizes_of_parquet_files_are_those_that_pyarrow_gives(tmp_path, monkeypatch):
    """The headers are read by this package, so an independent reader of them has to agree."""
    polars, parquet = pytest.importorskip("polars"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    frame = polars.DataFrame({"a": rng.normal(size=5_000), "b": rng.integers(0, 3, 5_000), "c": ["x" * 300] * 5_000})
    asked = []
    monkeypatch.setattr("unweave.files.parquet_sizes.refuse_bomb", lambda *words: asked.append(words))
    for k, compression in enumerate(("zstd", "snappy", "uncompressed", "gzip", "lz4", "brotli")):
        path = tmp_path / f"{k}.parquet"
        frame.write_parquet(path, compression=compression, row_group_size=2_000, data_page_size=4_000)
        if k % 2:
            parquet.write_table(frame.to_arrow(), path, compression=compression, data_page_version=f"{1 + k // 3}.0")
        refuse_parquet_bomb(path)
        footer = parquet.read_metadata(path)
        columns = [footer.row_group(g).column(j) for g in range(footer.num_row_groups) for j in range(3)]
        n_values = sum(column.num_values for column in columns)
        n_bytes = sum(column.total_uncompressed_size for column in columns)
        _, unpacked, stored = asked.pop()
        assert stored == path.stat().st_size
        assert unpacked == max(n_bytes, unpacked)
        assert 16 * n_values <= unpacked <= max(n_bytes, 16 * (2 * n_values + footer.num_rows))


def test_a_repeated_key_of_json_is_refused():
    assert read_json('{"a": {"b": 1}, "b": [2, {"b": 3}]}') == {"a": {"b": 1}, "b": [2, {"b": 3}]}
    for text in ('{"a": 1, "b": 2, "a": 1}', '[{"x": {"a": 1, "a": 2}}]'):
        with pytest.raises(ValueError, match="the key 'a' is there twice"):
            read_json(text)
