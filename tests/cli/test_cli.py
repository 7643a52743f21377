"""The command line: every command on every kind of file, and one sentence with exit code 2 for bad input."""

import functools
import json
import re
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from unweave import Evaluation, compare, evaluate, metrics
from unweave.cli import main

N_ROWS = 80
RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(N_ROWS, 2))
CODES = FACTORS @ [[2.0, 0.1], [0.0, -1.0]]
NOISE = RNG.normal(size=(N_ROWS, 2))
SUBJECT = np.repeat(np.arange(20), 4)
NAMES = ["factor size", "factor hue", "code u", "code v"]
TABLE = pl.DataFrame(dict(zip(NAMES, np.column_stack([FACTORS, CODES]).T, strict=True)) | {"subject": SUBJECT})
QUICK = ("--metrics", "mcc,r2,mig", "--quick")


def write_broken_files(folder):
    """Write invalid files, each with one error."""
    (folder / "empty.csv").touch()
    (folder / "empty.npz").touch()
    (folder / "notes.txt").write_text("factors")
    (folder / "broken.npz").write_bytes((folder / "both.npz").read_bytes()[:300])
    (folder / "broken.npy").write_bytes((folder / "codes.npy").read_bytes()[:300])
    (folder / "broken.csv").write_text("factor a,code 0\n1,2,3\n")
    (folder / "broken.parquet").write_bytes((folder / "both.parquet").read_bytes()[:300])
    (folder / "twice.csv").write_text("factor a,factor a,code 0\n1,2,3\n")
    (folder / "text.csv").write_text("factor a,code 0\n1,heart\n2,square\n")
    np.savez(folder / "objects.npz", factors=np.array([{}], dtype=object), codes=CODES)
    np.savez(folder / "keys.npz", z=CODES)
    np.savez(folder / "lengths.npz", factors=FACTORS, codes=CODES[:5])
    np.savez(folder / "none.npz", factors=FACTORS[:0], codes=CODES[:0])
    np.savez(folder / "cube.npz", factors=FACTORS, codes=np.zeros((N_ROWS, 2, 2, 2)))
    np.savez(folder / "complex.npz", factors=FACTORS * 1j, codes=CODES)
    np.savez(folder / "infinite.npz", factors=FACTORS, codes=CODES * np.inf)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of valid files, all with the same samples, and of invalid files."""
    path = tmp_path_factory.mktemp("files")
    np.savez(path / "both.npz", factors=FACTORS, codes=CODES, subject=SUBJECT)
    np.savez(path / "noise.npz", factors=FACTORS, codes=NOISE)
    np.savez(path / "other.npz", factors=FACTORS + 1, codes=NOISE)
    np.savez(path / "gap.npz", factors=np.where(np.arange(N_ROWS)[:, None] == [3, -1], np.nan, FACTORS), codes=CODES)
    np.savez(path / "angle.npz", factors=np.linspace(0, 359, N_ROWS), codes=CODES)
    np.savez(path / "few.npz", factors=FACTORS[:20], codes=CODES[:20])
    np.savez(path / "fewest.npz", factors=FACTORS[:4], codes=CODES[:4])
    np.savez(path / "flat.npz", factors=np.ones((N_ROWS, 2)), codes=CODES)
    np.save(path / "factors.npy", FACTORS)
    np.save(path / "codes.npy", CODES)
    TABLE.write_csv(path / "both.csv")
    TABLE.write_parquet(path / "both.parquet")
    TABLE.select(NAMES[:2]).write_csv(path / "factors.csv")
    TABLE.select(NAMES[2:]).write_csv(path / "codes.csv")
    write_broken_files(path)
    return path


@pytest.fixture
def run(folder, monkeypatch):
    """Run a command in the folder of the files."""
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return invoke


def evaluation_of(result):
    """The evaluation that a command printed as strict JSON."""
    assert result.exit_code == 0, result.stderr
    json.loads(result.stdout, parse_constant=pytest.fail)
    return Evaluation.from_json(result.stdout)


def refused(result):
    """The error message of a command that ended with exit code 2."""
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    (line,) = [line for line in result.stderr.splitlines() if line and not line.startswith("Note: ")]
    assert line.startswith("Error: ")
    return line


class TestScore:
    @pytest.mark.parametrize(
        "files",
        [["both.npz"], ["both.csv"], ["both.parquet"], ["factors.npy", "codes.npy"], ["factors.csv", "codes.csv"]],
    )
    def test_every_kind_of_file_gives_the_same_numbers(self, run, files):
        found = evaluation_of(run("score", *files, *QUICK, "--json", "--quick"))
        expected = evaluate(FACTORS, CODES, metrics=["mcc", "r2", "mig"], quick=True)
        assert found.labels == expected.labels
        for label in found.labels:
            assert found[label].raw == pytest.approx(expected[label].raw, abs=1e-12)
        if "csv" in files[0]:
            assert list(found["r2"].per_factor) == NAMES[:2]

    def test_the_table_is_plain_text(self, run):
        result = run("score", "both.csv", *QUICK)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("80 rows, 2 factors (factor size continuous, factor hue continuous), 2 codes")
        for word in (*QUICK[1].split(","), "Can the factors be read out of the codes?", "1.000"):
            assert word in result.stdout
        assert not set("\x1b\r━╸") & set(result.stdout)  # no colours, no progress bar

    def test_names_by_option_and_from_the_file(self, run, folder):
        np.savez(folder / "code names.npz", factors=FACTORS, codes=CODES, code_names=["left", "right"])
        found = evaluation_of(run("score", "code names.npz", "--factor-names", "big, small", *QUICK, "--json"))
        assert [factor.name for factor in found.data.factors] == ["big", "small"]
        assert found.data.representations["codes"].code_names == ("left", "right")
        found = evaluation_of(run("score", "code names.npz", "--code-names", "a,b", *QUICK, "--json"))
        assert found.data.representations["codes"].code_names == ("a", "b")

    def test_metrics_with_options(self, run):
        found = evaluation_of(run("score", "both.npz", "--metrics", "mcc:correlation=spearman, r2:n_folds=3", "--json"))
        assert found.labels == ("mcc (correlation=spearman)", "r2 (n_folds=3)")
        assert found["mcc"].settings["correlation"] == "spearman"

    @pytest.mark.parametrize(
        ("stated", "kinds"),
        [
            ("ordinal", ["ordinal", "ordinal"]),
            ("continuous, circular:100", ["continuous", "circular"]),
            ("factor hue=circular:100", ["continuous", "circular"]),
            ("factor size=ordinal,factor hue = categorical", ["ordinal", "categorical"]),
        ],
    )
    def test_kinds(self, run, folder, stated, kinds):
        table = TABLE.with_columns(pl.Series("factor hue", np.arange(N_ROWS) % 3))
        table.write_csv(folder / "kinds.csv")
        found = evaluation_of(run("score", "kinds.csv", "--kinds", stated, "--metrics", "mcc", "--json", "--quick"))
        assert [factor.kind for factor in found.data.factors] == kinds

    def test_factors_and_codes_by_name(self, run):
        arguments = ("--factors", "code u", "--codes", "factor size, code v", "--metrics", "r2", "--json", "--quick")
        found = evaluation_of(run("score", "both.csv", *arguments))
        assert list(found["r2"].per_factor) == ["code u"]
        assert found.data.representations["codes"].n_codes == 2

    def test_row_groups(self, run):
        """The parts on which mcc is cross-fitted consist of whole groups."""
        name = "mcc:cross_fit=true"
        asked = ("--row-groups", "subject", "--metrics", name, "--json", "--quick")
        by_group = evaluation_of(run("score", "both.npz", *asked))
        assert by_group.rows[0].score == metrics.mcc(FACTORS, CODES, cross_fit=True, row_groups=SUBJECT)
        assert by_group.rows[0].score != metrics.mcc(FACTORS, CODES, cross_fit=True)

    def test_missing_values(self, run):
        assert "Values are missing in 1 of 80 rows: factor 'factor 0' (1)" in refused(run("score", "gap.npz"))
        found = evaluation_of(run("score", "gap.npz", "--missing", "drop", *QUICK, "--json"))
        assert (found.data.n_rows, found.data.n_dropped) == (79, 1)
        assert "1 row with missing values was dropped." in run("score", "gap.npz", "--missing", "drop", *QUICK).stdout

    def test_seeds_and_jobs(self, run):
        chosen = ("--metrics", "r2,mcc:cross_fit=true", "--seeds", 2, "--quick")
        found = evaluation_of(run("score", "noise.npz", *chosen, "--json", "--jobs", 2))
        assert [row.seed for row in found.rows] == [0, 1, 0, 1]
        assert found == evaluation_of(run("score", "noise.npz", *chosen, "--json"))
        assert " ± " in run("score", "noise.npz", *chosen).stdout

    def test_checks_stand_beside_the_scores(self, run):
        chosen = ("score", "both.npz", "--metrics", "mcc,r2")
        found = evaluation_of(run(*chosen, "--json"))
        assert all(row.noise_floor.p_value <= 0.05 and row.interval.defined for row in found.rows)
        assert {row.verdict.level for row in found.rows} == {"trust"}
        assert found.data.diagnosis["codes"].n_rows == found.data.n_rows
        table = run(*chosen).stdout
        assert all(heading in table for heading in ("noise", "95 % interval", "verdict", "Report:", "Next:"))

    def test_some_metrics_fail(self, run):
        result = run("score", "few.npz", *QUICK)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "mig needs at least 40 rows and has 20: pass more samples." in result.stdout
        assert "failed" in next(line for line in result.stdout.splitlines() if line.strip().startswith("mig"))

    @pytest.mark.parametrize("form", [(), ("--json",)], ids=["table", "json"])
    def test_every_metric_fails(self, run, form):
        result = run("score", "fewest.npz", "--metrics", "mcc,dci_completeness", *form)
        assert refused(result) == (
            "Error: No metric could be computed: mcc needs at least 10 rows and has 4: pass more samples."
        )
        assert "dci_completeness needs at least 50 rows" in result.stdout


class TestCompare:
    def test_side_by_side(self, run):
        both = evaluation_of(run("compare", "both.npz", "noise.npz", *QUICK, "--json"))
        assert both.representations == ("both", "noise")
        assert both.score("mcc", "both").value > both.score("mcc", "noise").value
        table = run("compare", "both.npz", "noise.npz", *QUICK).stdout
        ranked = [line.split() for line in table[table.index("mcc (Own code for each factor?)") :].splitlines()[1:3]]
        assert [line[0] for line in ranked] == ["both", "noise"]

    def test_factors_from_another_file(self, run, folder):
        np.save(folder / "noise.npy", NOISE)
        arguments = ("codes.npy", "noise.npy", "codes.csv", "--factors-from", "factors.npy", *QUICK, "--json")
        found = evaluation_of(run("compare", *arguments))
        assert found.representations == ("codes.npy", "noise.npy", "codes.csv")
        assert found.score("mcc", "codes.npy").raw == pytest.approx(found.score("mcc", "codes.csv").raw)

    def test_the_last_line_is_a_command_that_runs(self, run, folder):
        np.savez(folder / "my codes.npz", mu=CODES)
        given = (
            "--factors-from",
            "factors.npy",
            "--codes",
            "mu",
            "--kinds",
            "continuous",
            "--metrics",
            "identification",
        )
        np.savez(folder / "noise mu.npz", mu=NOISE)
        text = " ".join(run("compare", "my codes.npz", "noise mu.npz", *given, "--quick").stdout.split())
        command = re.search(r"evaluate one alone: unweave (score .*), or comparison\['my codes'\]", text)[1]
        assert shlex.split(command)[:2] == ["score", "my codes.npz"]
        assert "--kinds continuous" in command
        alone = evaluation_of(run(*shlex.split(command), *QUICK, "--json"))
        assert alone["mcc"].raw == evaluate(FACTORS, CODES, metrics=["mcc"], quick=True)["mcc"].raw
        sentence = refused(run("score", "my codes.npz"))
        assert "has no array 'factors' but 'mu'" in sentence
        assert "(--factors-from labels.npz, or unweave score labels.npz my codes.npz)" in sentence
        twice = refused(run("score", "factors.npy", "my codes.npz", "--factors-from", "factors.npy"))
        assert "The factors are named twice, factors.npy and factors.npy" in twice
        assert "unweave score FILE, or" in str(
            compare(FACTORS, {"a": CODES, "b": NOISE}, metrics=["identification"], quick=True)
        )

    def test_a_folder_of_runs_gives_a_table(self, run, folder):
        for name, codes in {"vae-beta=4-seed=0": CODES, "vae-beta=4-seed=1": CODES + NOISE, "ae-seed=0": NOISE}.items():
            (folder / "my runs" / name).mkdir(parents=True)
            np.savez(folder / "my runs" / name / "codes.npz", factors=FACTORS, codes=codes)
        assert run("compare", "my runs", *QUICK, "--latex", "runs.tex").exit_code == 0
        rows = [line for line in (folder / "runs.tex").read_text().splitlines() if line.startswith(("ae", "vae"))]
        assert [row.split(" & ")[0] for row in rows] == ["vae-beta=4", "ae"]
        files = [f"my runs/{name}/codes.npz" for name in ("vae-beta=4-seed=0", "ae-seed=0")]
        assert evaluation_of(run("compare", *files, *QUICK, "--json")).representations == (
            "vae-beta=4-seed=0",
            "ae-seed=0",
        )
        (folder / "empty runs").mkdir()
        assert refused(run("compare", "empty runs", "--latex", "runs.tex")) == (
            "Error: --latex needs the codes of the models: run unweave encode 'empty runs' first, and then "
            "unweave compare 'empty runs' --latex runs.tex again."
        )

    def test_files_of_other_samples(self, run):
        sentence = refused(run("compare", "both.npz", "other.npz"))
        assert sentence.startswith("Error: other.npz and both.npz have different factors: compare representations of")

    def test_one_file_twice(self, run):
        assert "A file is named twice" in refused(run("compare", "both.npz", "both.npz"))

    def test_the_bad_file_is_named(self, run, folder):
        np.save(folder / "infinite.npy", np.full((N_ROWS, 1), np.inf))
        sentence = refused(run("compare", "codes.npy", "infinite.npy", "--factors-from", "factors.npy"))
        assert "In 'infinite': Code 'code 0' is infinite in 80 rows" in sentence


class TestOtherCommands:
    def test_metrics_lists_the_catalogue(self, run):
        result = run("metrics")
        assert result.exit_code == 0
        for name in metrics.CATALOGUE:
            assert name in result.stdout

    @pytest.mark.parametrize("name", metrics.CATALOGUE)
    def test_explain_says_what_the_card_says(self, run, name):
        result = run("explain", name)
        card = metrics.CATALOGUE[name].card
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{name}: {card.summary}")
        for fact in (card.measures, card.fails_when, card.reference):
            assert fact in " ".join(result.stdout.split())

    @pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
    def test_demo(self, run, monkeypatch, quick):
        """Floors, intervals and verdicts of four encoders take a minute; `TestScore` looks at those of one."""
        monkeypatch.setattr("unweave.evaluation.compare", functools.partial(compare, quick=quick))
        result = run("demo", "--rows", 200)
        assert (result.exit_code, result.stderr) == (0, "")
        for word in ("scene", "rotated", "without hue", "noise", "identification", "mcc", "r2", "mig"):
            assert word in result.stdout

    def test_version(self, run):
        assert "unweave, version" in run("--version").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score nowhere.npz", "There is no file nowhere.npz: check the name and the folder."),
        ("score .", "broken.parquet cannot be read as a .parquet table"),
        ("score notes.txt", "notes.txt has an unsupported format (.txt): use .npz, .npy, .csv, .parquet"),
        ("score empty.csv", "empty.csv cannot be read as a .csv table"),
        ("score empty.npz", "empty.npz is not a complete .npz file: save it again with numpy.savez."),
        ("score broken.npz", "broken.npz is not a complete .npz file"),
        ("score factors.npy broken.npy", "broken.npy is not a complete .npy file: save it again with numpy.save."),
        ("score broken.csv", "broken.csv cannot be read as a .csv table"),
        ("score broken.parquet", "broken.parquet cannot be read as a .parquet table"),
        ("score twice.csv", "twice.csv has two columns called 'factor a'"),
        ("score text.csv", "Code 'code 0' contains text"),
        ("score objects.npz", "objects.npz contains Python objects, which are not read"),
        ("score keys.npz", "keys.npz has no array 'factors' but 'z'"),
        ("score codes.npy", "codes.npy contains one array: pass two files"),
        ("score lengths.npz", "factors have 80 rows, codes have 5 rows; pass the same samples in the same order."),
        ("score none.npz", "The factors have no rows"),
        ("score cube.npz", "The codes have shape (80, 2, 2, 2)"),
        ("score complex.npz", "The factors are complex (complex128)"),
        ("score infinite.npz", "Code 'code 0' is infinite in 80 rows"),
        ("score flat.npz", "A score needs a factor that varies, and all are constant"),
        ("score both.npz --metrics mmc", "There is no metric called 'mmc': did you mean 'mcc'?"),
        ("score both.npz --metrics mcc:corelation=rdc", "mcc has no option 'corelation'"),
        ("score both.npz --metrics mcc:correlation=kendall", "correlation='kendall' is not known: use 'pearson'"),
        ("score both.npz --kinds nominal", "'nominal' is not a kind of factor"),
        ("score both.npz --kinds hue=ordinal", "kinds names 'hue', but the factors are 'factor 0', 'factor 1'"),
        ("score angle.npz --kinds circular", "Factor 'factor 0' is circular with period 6.28319"),
        ("score both.npz --row-groups video", "both.npz has no array 'video'"),
        ("score both.csv --factors hue", "both.csv has no column 'hue'"),
        ("explain mmc", "There is no metric called 'mmc': did you mean 'mcc'?"),
        ("compare both.npz lengths.npz", "In 'lengths': The rows do not pair up"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(run, arguments, message):
    assert message in refused(run(*arguments.split()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score both.npz --metric mcc", "No such option"),
        ("score", "Missing argument 'FILE'"),
        ("score both.npz --seeds 0", "Invalid value for '--seeds'"),
        ("score both.npz --missing ignore", "Invalid value for '--missing'"),
        ("scores both.npz", "No such command 'scores'"),
    ],
)
def test_a_mistyped_command_shows_how_to_use_it(run, arguments, message):
    result = run(*arguments.split())
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert message in line


class TestProcess:
    """Commands in another process, without click's test harness."""

    def test_score_and_bad_input(self, folder):
        """In one process: output is that of the score, and errors and the exit code are those of the bad input."""
        script = (
            "import sys\nfrom unweave.cli import main\n"
            "try:\n    main(['score', *sys.argv[2:]])\nexcept SystemExit as done:\n    assert done.code == 0\n"
            "main(['score', sys.argv[1]])"
        )
        command = [sys.executable, "-c", script, folder / "nowhere.csv", folder / "both.csv", *QUICK, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr == f"Error: There is no file {folder / 'nowhere.csv'}: check the name and the folder.\n"
        assert Evaluation.from_json(done.stdout).labels == ("mcc", "r2", "mig")

    def test_a_stream_without_the_letters_of_the_table(self, folder):
        arguments = ["score", folder / "noise.npz", "--metrics", "r2", "--seeds", "2", "--quick"]
        command = [sys.executable, "-c", "from unweave.cli import main; main()", *arguments]
        narrow = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        done = subprocess.run(command, capture_output=True, check=False, env=narrow)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"r2" in done.stdout

    def test_help_imports_nothing_heavy(self):
        script = (
            "import sys\nfrom unweave.cli import main\n"
            "try:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert "Compare several representations" in done.stdout
        loaded = set(done.stderr.split())
        assert not {"numpy", "scipy", "sklearn", "polars", "narwhals", "rich", "joblib"} & loaded


class TestPosteriors:
    """An .npz file with 'codes_std', or with the array that --codes-std names, is scored as a posterior."""

    @pytest.fixture
    def posteriors(self, tmp_path):
        factors = np.random.default_rng(0).integers(0, 3, size=(150, 2))
        spread = np.full((150, 2), 0.3)
        np.savez(tmp_path / "posterior.npz", factors=factors, codes=factors - 1.0, codes_std=spread)
        np.savez(tmp_path / "named.npz", factors=factors, codes=factors - 1.0, sigma=spread, bad=-spread)
        np.savez(tmp_path / "codes.npz", codes=factors - 1.0, codes_std=spread)
        np.save(tmp_path / "factors.npy", factors)
        return tmp_path

    @pytest.mark.parametrize(
        "arguments",
        [("posterior.npz",), ("named.npz", "--codes-std", "sigma"), ("factors.npy", "codes.npz")],
        ids=" ".join,
    )
    def test_the_metrics_of_posteriors_appear(self, run, posteriors, arguments):
        files = [posteriors / text if text.endswith(("z", "y")) else text for text in arguments]
        result = run("score", *files, "--metrics", "all", "--json", "--quick")
        assert result.exit_code == 0
        evaluation = Evaluation.from_json(result.stdout)
        assert {"rmig", "jemmig", "wsepin", "unibound"} <= set(evaluation.labels)
        assert 0.5 < evaluation["rmig"].value < 1

    def test_without_a_name_they_do_not(self, run, posteriors):
        result = run("score", posteriors / "named.npz", "--json", "--quick")
        assert "rmig" not in Evaluation.from_json(result.stdout).labels

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (("named.npz", "--codes-std", "bad"), "zero or negative"),
            (("named.npz", "--codes-std", "none"), "no array 'none'"),
        ],
        ids=str,
    )
    def test_bad_spreads_end_with_a_sentence(self, run, posteriors, arguments, sentence):
        result = run("score", posteriors / arguments[0], *arguments[1:])
        assert result.exit_code == 2
        assert sentence in result.stderr


def test_python_dash_m_is_the_same_command():
    shown = subprocess.run([sys.executable, "-m", "unweave", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("unweave, version ")


def test_a_budget_that_is_no_number_is_refused(run):
    assert "budget=nan is not a time" in refused(run("score", "both.npz", "--metrics", "mcc", "--budget", "nan"))
