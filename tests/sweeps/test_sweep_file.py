"""Sweeps declared in TOML, the command that runs them, and the table that it prints."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tiny_cells import many

from unweave import FileError, OptionError, UnweaveError
from unweave.cli import main
from unweave.sweeps import Cell, run, summary, sweep_file
from unweave.sweeps.sweep import terminal_table
from unweave.sweeps.sweep_file import declared_sweep, read_sweep
from unweave.synthetic.encoders import Kept, Mixed, Noisy, PermutedAndScaled
from unweave.synthetic.worlds import Correlated

EXAMPLE = Path(__file__).parents[2] / "docs" / "sweep.toml"
GOOD = {"metrics": ["mcc"], "worlds": [{"class": "Correlated"}], "encoders": [{"class": "Mixed"}], "n_seeds": 1}


def test_the_example_is_every_combination():
    sweep = read_sweep(EXAMPLE)
    assert sweep.name == "kept-and-mixed"
    assert len(sweep.cells) == 2 * 5 * 5
    worlds = list(dict.fromkeys(cell.world for cell in sweep.cells))
    assert worlds == [Correlated(4, 0.0), Correlated(4, 0.5)]
    encoders = list(dict.fromkeys(cell.encoder for cell in sweep.cells))
    assert encoders == [
        PermutedAndScaled(),
        Mixed(kappa=1.0),
        Mixed(kappa=10.0),
        Kept((0, 2)),
        Noisy(PermutedAndScaled(), 0.1),
    ]
    assert sweep.cells[-1].columns == {
        "world": "Correlated",
        "world.n_factors": 4,
        "world.rho": 0.5,
        "encoder": "Noisy",
        "encoder.share": 0.1,
        "encoder.encoder": "PermutedAndScaled()",
        "n_rows": 500,
        "seed": 4,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": 3}, "'seeds' is not a key of a sweep: write n_seeds=5 for five seeds, or seed=5 for seed number 5"),
        ({"metrics": []}, "'metrics' is missing"),
        ({"worlds": None}, "'worlds' is missing"),
        ({"metrics": ["mmc"]}, "did you mean 'mcc'"),
        ({"metrics": [1]}, "metrics are not all text"),
        ({"metrics": ["mcc", 1]}, "metrics are not all text"),
        ({"metrics": "mcc"}, "'metrics' is missing, empty or not a list"),
        ({"worlds": [3]}, "worlds, entry 1 has no class"),
        ({"worlds": [{"class": 3}]}, "worlds, entry 1 has no class"),
        ({"name": ""}, "name = ''"),
        ({"name": ".."}, r"name = '\.\.'"),
        ({"n_seeds": [0, 1]}, r"n_seeds=\[0, 1\] is not allowed: use a whole number from 1"),
        ({"seed": -1}, "seed=-1 is not allowed: use a whole number from 0"),
        ({"n_rows": 0}, "n_rows = 0 is not valid: use whole numbers from 1"),
        ({"name": "a/b"}, "name = 'a/b'"),
        ({"name": 3}, "name = 3"),
        ({"n_seeds": 0}, "n_seeds=0"),
        ({"n_seeds": True}, "n_seeds=True"),
        ({"n_rows": "many"}, "n_rows = 'many'"),
        ({"n_rows": [100, True]}, r"n_rows = \[100, True\]"),
        ({"worlds": [{"rho": 0.5}]}, "worlds, entry 1 has no class"),
        ({"worlds": [{"class": "Corelated"}]}, "class 'Corelated' is not known: did you mean 'Correlated'"),
        ({"worlds": [{"class": "Mixed"}]}, "class 'Mixed' is not known"),
        ({"worlds": [{"class": "Correlated", "roh": 0.5}]}, "Correlated has no parameter 'roh': did you mean 'rho'"),
        ({"worlds": [{"class": "Correlated", "rho": -0.9}]}, "worlds, entry 1: Correlated cannot be created with rho"),
        ({"encoders": [{"class": "Mixed"}, {"class": "Kept"}]}, "encoders, entry 2: Kept needs the parameter 'kept'"),
        ({"encoders": [{"class": "Noisy", "encoder": {"class": "Mixt"}}]}, "class 'Mixt' is not known"),
    ],
)
def test_bad_declarations_name_the_key(change, said):
    with pytest.raises(UnweaveError, match=said):
        declared_sweep(GOOD | change, "bad")


@pytest.mark.parametrize("text", [b"name = ", b"\xff"])
def test_what_is_not_toml_is_refused(tmp_path, text):
    (tmp_path / "bad.toml").write_bytes(text)
    with pytest.raises(FileError, match=r"bad\.toml is not a TOML file"):
        read_sweep(tmp_path / "bad.toml")


def test_the_command_computes_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(EXAMPLE.read_text().replace("500", "60").replace("n_seeds = 5", "n_seeds = 2"))
    first = CliRunner().invoke(main, ["sweep", "s.toml"])
    assert first.exit_code == 0, first.output
    assert first.output.rstrip().endswith(f"wrote {Path('kept-and-mixed') / 'table.parquet'}")
    assert "Means of 2 seeds" in first.output
    table = pl.read_parquet("kept-and-mixed/table.parquet")
    assert table.height == 2 * 5 * 2 * 3
    kept = summary(table).filter(
        pl.col("encoder") == "Kept", pl.col("metric") == "mcc (normalise=coverage)", pl.col("world.rho") == 0.0
    )
    assert kept["mean"].to_list() == pytest.approx([0.5])  # two of four factors, by construction
    written = Path("kept-and-mixed/results.jsonl").stat().st_mtime_ns
    assert CliRunner().invoke(main, ["sweep", "s.toml"]).output == first.output
    assert Path("kept-and-mixed/results.jsonl").stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml"], "none.toml cannot be read"),
        ([str(EXAMPLE), "--jobs", "0"], "n_jobs=0"),
        ([str(EXAMPLE), "--cluster", "nowhere"], "No Dask scheduler answers at 'nowhere'"),
    ],
)
def test_bad_commands_end_with_one_sentence(tmp_path, monkeypatch, arguments, said):
    monkeypatch.setattr("unweave.sweeps.execution.CONNECT_SECONDS", 0.3)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["sweep", *arguments])
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert said in result.output
    assert len(result.output.splitlines()) == 1


def test_ctrl_c_ends_with_one_sentence(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt("What is finished is kept.")

    monkeypatch.setattr("unweave.sweeps.execution.run", interrupted)
    result = CliRunner().invoke(main, ["sweep", str(EXAMPLE), "--out", str(tmp_path)])
    assert (result.exit_code, result.output) == (130, "What is finished is kept.\n")


def test_summaries_leave_out_what_is_undefined(tmp_path):
    """Seeds 0 and 7 of these cells have no value."""
    table = run(many(9), tmp_path)
    means = summary(table)
    assert means["n_seeds"].to_list() == [7, 7]
    kept = table.filter(pl.col("metric") == "first", ~pl.col("value").is_nan())["value"]
    assert means["mean"][0] == pytest.approx(kept.mean())
    # the quantile .975 of Student's t with 6 degrees of freedom, from a printed table
    assert means["high"][0] - means["mean"][0] == pytest.approx(2.4469 * kept.std() / 7**0.5, rel=1e-4)
    notes = [str(part) for part in terminal_table(table).renderables[2:]]
    assert notes == [f"{metric}, 2 times: not for this seed" for metric in ("first", "second")]


def test_every_public_world_and_encoder_can_be_named():
    found = list(sweep_file._declared_items({"worlds": [{"class": "Circuit"}]}, "world", sweep_file.worlds, "sample"))
    assert [type(world).__name__ for world, _ in found] == ["Circuit"]
    for name in set(sweep_file.encoders.__all__) - {"Encoder", "mixing_share"}:
        with pytest.raises(OptionError, match=f"{name} has no parameter 'absent'"):
            declared_sweep(GOOD | {"encoders": [{"class": name, "absent": 1}]}, "bad")


def test_the_page_shows_the_example_and_its_python_runs(tmp_path, monkeypatch, capsys):
    page = EXAMPLE.with_name("sweeps.md").read_text(encoding="utf-8")
    assert EXAMPLE.read_text(encoding="utf-8") in page
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("n_jobs=2", "n_jobs=1"), {})
    assert "n_seeds" in capsys.readouterr().out


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sweep_that_is_terminated_says_where_it_is_and_continues(tmp_path, n_jobs):
    """SIGTERM, as sent by schedulers of clusters: one sentence, code 143, no leaked semaphores, and the same table."""
    file = tmp_path / "s.toml"
    file.write_text('metrics = ["mcc"]\nn_rows = 2000\nn_seeds = 4000\nworlds = ["Circuit"]\nencoders = ["Mixed"]\n')
    command = [
        sys.executable,
        "-m",
        "unweave",
        "sweep",
        str(file),
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        str(n_jobs),
    ]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    results = tmp_path / "out" / "results.jsonl"
    deadline = time.monotonic() + 60
    while (not results.exists() or not results.read_bytes().count(b"\n")) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    said, stopped = running.communicate(timeout=60)
    assert running.returncode == 143
    sentence = f"Finished results (of 4000) are stored in {tmp_path / 'out'}: run the same sweep again to continue."
    assert (said, stopped) == ("", f"{sentence}\n")
    n_finished = results.read_bytes().count(b"\n")
    declared = {"metrics": ["mcc"], "n_rows": 2000, "worlds": ["Circuit"], "encoders": ["Mixed"]}
    few = declared_sweep({**declared, "n_seeds": 3}, "s")
    assert 0 < n_finished < 4000
    assert run(few, tmp_path / "out").equals(run(few, tmp_path / "whole"))


def test_a_sweep_has_a_thousand_rows_and_five_seeds_unless_told_otherwise():
    declared = {"metrics": ["mcc"], "worlds": ["Circuit"], "encoders": ["Mixed"]}
    cells = declared_sweep(declared, "plain").cells
    assert [(cell.n_rows, cell.seed) for cell in cells] == [(1000, seed) for seed in range(5)]
    cells = declared_sweep(declared | {"n_rows": [1, 20], "n_seeds": 2, "seed": 7}, "few").cells
    assert [(cell.n_rows, cell.seed) for cell in cells] == [(1, 7), (1, 8), (20, 7), (20, 8)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_rows": 0}, "n_rows=0 of Cell is not allowed: use a whole number from 1"),
        ({"n_rows": True}, "n_rows=True of Cell"),
        ({"n_rows": 2.0}, "n_rows=2.0 of Cell"),
        ({"seed": -1}, "seed=-1 of Cell is not allowed: use a whole number from 0"),
        ({"labels": {"a": [1]}}, r"a=\[1\] cannot label a cell"),
        ({"labels": {"value": 1}}, "value=1 cannot label a cell"),
    ],
)
def test_cells_that_cannot_be(given, said):
    plain = {"n_rows": 1, "seed": 0, "metrics": ["mcc"], "labels": {"a": 1, "b": None, "c": "x", "d": 0.5}}
    assert Cell(Correlated(), Mixed(), **plain).columns["b"] is None
    with pytest.raises(OptionError, match=said):
        Cell(Correlated(), Mixed(), **plain | given)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_jobs": 0}, "n_jobs=0 is not a number of processes"),
        ({"n_jobs": True}, "n_jobs=True is not a number of processes"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 is not a number of processes"),
        ({"time_limit": 0}, "time_limit=0 is not a limit"),
        ({"time_limit": -1.0}, r"time_limit=-1\.0 is not a limit"),
        ({"time_limit": float("nan")}, "time_limit=nan is not a limit"),
    ],
)
def test_options_of_a_run_that_cannot_be(tmp_path, options, said):
    with pytest.raises(OptionError, match=said):
        run(many(1), tmp_path, **options)


def test_tables_keep_the_order_of_the_sweep():
    """Groups are hashed, and forty of them do not come in their order by chance."""
    cells = [(f"world {k % 20}", f"metric {k // 20}") for k in range(40)]
    table = pl.DataFrame(
        {
            "world": [world for world, _ in cells],
            "n_rows": [100] * 40,
            "seed": [0] * 40,
            "metric": [metric for _, metric in cells],
            "value": [float("nan")] * 40,
            "raw": [float("nan")] * 40,
            "problem": [f"problem {k}" for k in range(40)],
        }
    )
    means = summary(table)
    assert list(zip(means["world"], means["metric"], strict=True)) == cells
    assert means["problem"].to_list() == table["problem"].to_list()
    heading, shown, *notes = terminal_table(table).renderables
    assert str(heading) == "One seed"
    assert [str(column.header) for column in shown.columns] == ["world", "metric 0", "metric 1"]  # not the constant one
    assert [str(note) for note in notes] == [f"{cells[k][1]}, 1 times: problem {k}" for k in range(40)]


def test_metrics_keep_their_order_in_a_table(tmp_path):
    names = [f"metric {k}" for k in range(20)]
    table = pl.DataFrame({"seed": [0, 1] * 20, "metric": [name for name in names for _ in range(2)], "value": 0.5})
    heading, shown = terminal_table(table.with_columns(raw=0.5, problem=pl.lit(None, pl.String))).renderables
    assert str(heading) == "Means of 2 seeds ± half of their 95 % interval"
    assert [str(column.header) for column in shown.columns] == names


def test_a_limit_may_be_short_and_a_finished_sweep_starts_no_process(tmp_path, monkeypatch):
    table = run(many(2), tmp_path)
    monkeypatch.setattr("unweave.sweeps.execution._started_process", lambda *_: pytest.fail("a process was started"))
    assert run(many(2), tmp_path, time_limit=0.5, n_jobs=-1).equals(table)
