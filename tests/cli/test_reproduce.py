"""`unweave reproduce 003`: a small figure that is resumed, an experiment, and invalid input."""

import csv
import functools

import pytest
from click.testing import CliRunner

from unweave.cli import main
from unweave_papers.paper000 import flows as trained_flows

pytest.importorskip("matplotlib")
MEASURED_ON_SAMPLES = ("spectrum", "manifold_total_correlation", "manifold_cross_mutual_information")
TINY = ("--metrics", "MCC-P,R2", "--seeds", "2")


def run(*arguments):
    return CliRunner().invoke(main, ["reproduce", *arguments])


def _of_few_samples(measure, evidence, n_samples):
    return measure(evidence, n_samples=n_samples // 20)


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_figure_is_drawn_and_costs_nothing_the_second_time(tmp_path):
    first = run("003", "fig24", "--out", str(tmp_path), "--protocol", "authors", *TINY)
    assert first.exit_code == 0, first.output
    assert (tmp_path / "003-fig24-authors.png").stat().st_size > 10_000
    rows = rows_of(tmp_path / "003-fig24-authors.csv")
    assert len(rows) == 9 * 2
    assert {row["mean"] for row in rows if row["metric"] == "MCC-P"} == {"1"}
    table = tmp_path / "003-exp06-authors" / "table.parquet"
    before = table.stat().st_mtime_ns
    assert run("003", "fig24", "--out", str(tmp_path), "--protocol", "authors", *TINY).exit_code == 0
    assert table.stat().st_mtime_ns == before


def test_the_authors_data_are_drawn_over_it(tmp_path):
    found = run("003", "fig24", "--out", str(tmp_path), "--protocol", "authors", *TINY)
    assert found.exit_code == 0, found.output
    columns = "run,sweep,dgp,encoder,n,d,m,rho,kappa,alpha,fn,r,metric,mean,std,ci_lo,ci_hi,n_seeds,nan_seeds,note"
    cell = "exp06,6b,D2,E4,1000,11,3,0.5,,,,,R2,0.536,0.01,0.52,0.55,5,,"
    (tmp_path / "exp06.csv").write_text(f"{columns}\n{cell}\n")
    result = run(
        "003", "fig24", "--out", str(tmp_path), "--authors-data", str(tmp_path), "--protocol", "authors", *TINY
    )
    assert result.exit_code == 0, result.output
    beside = [row for row in rows_of(tmp_path / "003-fig24-authors.csv") if row["authors_mean"]]
    assert [(row["d"], row["metric"], row["authors_mean"]) for row in beside] == [("11", "R2", "0.536")]
    assert float(beside[0]["mean"]) == pytest.approx(0.536, abs=0.05)


def test_papers_and_experiments_are_listed_alike():
    papers = run()
    assert papers.exit_code == 0
    assert all(number in papers.output for number in ("000", "003"))
    for number, name, need in (("000", "fig1", "torch"), ("001", "tab8", "(--weights)")):
        listed = run(number)
        assert listed.exit_code == 0
        assert any(line.strip().startswith(name) and need in line for line in listed.output.splitlines())


def test_a_small_training_is_compared_drawn_and_resumed(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("zuko")
    few = {name: functools.partial(_of_few_samples, getattr(trained_flows, name)) for name in MEASURED_ON_SAMPLES}
    for name, value in (few | {"N_TEST_ROWS": 500}).items():
        monkeypatch.setattr(trained_flows, name, value)
    first = run("000", "fig1", "--out", str(tmp_path), "--steps", "2")
    assert first.exit_code == 0, first.output
    assert "largest difference of likelihoods" in first.output
    assert (tmp_path / "000-fig1.png").stat().st_size > 10_000
    checkpoints = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.pt")}
    assert len(checkpoints) == 3
    assert "CPU seconds and at most" in first.stderr
    assert run("000", "fig1", "--out", str(tmp_path), "--steps", "2").stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in checkpoints} == checkpoints


def test_an_experiment_has_all_its_cells_and_figures(tmp_path):
    result = run("003", "exp14", "--out", str(tmp_path), "--metrics", "MCC-P", "--seeds", "1", "--seed", "7")
    assert result.exit_code == 0, result.output
    assert len(rows_of(tmp_path / "003-exp14-ours.csv")) == 11
    assert {path.name for path in tmp_path.glob("*.png")} == {"003-fig34-ours.png", "003-fig35-ours.png"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("003", "fig99"), "Paper 003 has no experiment 'fig99': did you mean 'fig9'?"),
        (("003", "fig2", "--steps", "5"), "--steps is not an option of fig2"),
        (("000", "fig1", "--jobs", "2"), "--jobs is not an option of fig1"),
        (("003", "fig2", "--metrics", "MCC"), "003 has no metric 'MCC'"),
        (("003", "fig2", "--metrics", "InfoE"), "None of these metrics is shown here"),
        (("003", "fig2", "--authors-data", "nowhere"), "nowhere"),
        (("007", "fig2"), "There is no paper '007' here"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(tmp_path, arguments, sentence):
    result = run(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert sentence in result.output
