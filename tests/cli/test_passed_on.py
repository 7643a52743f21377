"""Commands pass what their options state to the functions that do the work, which stand-ins replace here."""

import importlib
import json
import math
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import OptionError
from unweave.cli import demos, main
from unweave.cli.demos import introduction, trained_demonstration
from unweave_papers.experiment import Options
from unweave_papers.ledger import claims_of

RNG = np.random.default_rng(0)
FACTORS, CODES = RNG.normal(size=(2, 60, 2))
GIVEN = {"quick": False, "budget": 30.0, "screen": None, "missing": "refuse", "n_jobs": 1, "n_seeds": 1}
PLAIN = {
    "kinds": None,
    "row_groups": None,
    "target": None,
    "environments": None,
    "nuisances": None,
    "factor_names": None,
    "code_names": None,
    "metrics": None,
    **GIVEN,
}
FULL = (
    "--metrics=mcc, r2", "--kinds=ordinal,categorical", "--missing=drop", "--seeds=3", "--jobs=2", "--quick",
    "--budget=0", "--screen", "--row-groups=subject", "--factor-names=a,b", "--code-names=c,d",
)  # fmt: skip


class Passed(Exception):
    """Raised by a stand-in, so that a command ends where it would begin to compute."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with factors and codes in two files."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        np.savez(tmp_path / f"{name}.npz", factors=FACTORS, codes=CODES, subject=np.arange(60) // 2)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def passed(folder, monkeypatch):
    """Run a command until it calls a function of a module, and return the arguments of the call."""

    def until(place, *command):
        module, _, name = place.partition(":")
        calls = []

        def stand_in(*arguments, **options):
            calls.append((arguments, options))
            raise Passed

        monkeypatch.setattr(importlib.import_module(module), name, stand_in)
        result = run(*command)
        assert isinstance(result.exception, Passed), result.output
        return calls[0]

    return until


@pytest.fixture
def bars(monkeypatch):
    """What progress bars were asked for: the number of steps, and whether they are wanted."""
    asked = []

    @contextmanager
    def bar(n_steps, wanted):
        asked.append((n_steps, wanted))
        yield SimpleNamespace(step=None, advance=lambda text: None)

    monkeypatch.setattr("unweave.progress.progress_bar", bar)
    return asked


@pytest.mark.parametrize(
    ("command", "function"), [(["score", "one.npz"], "evaluate"), (["compare", "one.npz", "two.npz"], "compare")]
)
def test_options_of_scores_reach_the_evaluation(passed, command, function):
    (factors, codes), options = passed(f"unweave.evaluation:{function}", *command)
    assert np.array_equal(factors, FACTORS)
    assert np.array_equal(codes if function == "evaluate" else codes["two"], CODES)
    assert options == PLAIN | {"progress": True}
    _, options = passed(f"unweave.evaluation:{function}", *command, *FULL)
    assert np.array_equal(options.pop("row_groups"), np.arange(60) // 2)
    assert options == {
        "metrics": ["mcc", "r2"],
        "kinds": ["ordinal", "categorical"],
        "missing": "drop",
        "n_seeds": 3,
        "n_jobs": 2,
        "quick": True,
        "budget": 0.0,
        "screen": True,
        "target": None,
        "environments": None,
        "nuisances": None,
        "factor_names": ["a", "b"],
        "code_names": ["c", "d"],
        "progress": True,
    }


def test_options_of_files_reach_their_reader(passed):
    named = (
        "--factors=a,b",
        "--codes=c",
        "--codes-std=s",
        "--row-groups=g",
        "--target=t",
        "--environments=e",
        "--nuisances=n,o",
    )
    read = {"factors": ["a", "b"], "codes": ["c"], "codes_std": "s", "row_groups": "g"}
    read |= {"target": "t", "environments": "e", "nuisances": ["n", "o"]}
    place = "unweave.files.reading:read_files"
    assert passed(place, "score", "x.npz", "y.npz", *named, "--cluster=tcp://here:1") == (
        (Path("x.npz"), Path("y.npz")),
        read | {"in_blocks": True, "cluster": "tcp://here:1"},
    )
    assert passed(place, "compare", "x.npz", *named) == ((Path("x.npz"), None), read)
    assert passed(place, "compare", "x.npz", "--factors-from=z.npz", *named) == ((Path("z.npz"), Path("x.npz")), read)


def test_a_decoder_is_measured_on_the_samples_that_were_asked_for(passed, folder):
    np.save(folder / "j.npy", RNG.normal(size=(30, 5, 3)))
    _, options = passed("unweave.evaluation:evaluate", "geometry", "j.npy", "--samples=20", "--seed=4")
    metrics = options.pop("metrics")
    assert {metric.keywords["n_samples"] for metric in metrics} == {20}
    assert options == {"seed": 4}  # without quick, which would advise verdicts that need factors
    _, options = passed("unweave.metrics.manifolds:spectrum", "geometry", "j.npy", "--samples=20", "--seed=4")
    assert options == {"n_samples": 20, "rng": 4}


def test_the_demonstration_has_half_a_minute(passed):
    (factors, codes), options = passed("unweave.evaluation:compare", "demo", "--rows=50")
    assert options == {"budget": 30.0, "progress": True}
    assert {len(table) for table in (*factors.values(), *codes.values())} == {50}


def test_options_of_studies_reach_them(passed, folder):
    assert passed("unweave.auditing:audit", "audit", "mcc", "--budget=7", "--seeds=3", "--jobs=2") == (
        ("mcc",),
        {"budget": 7.0, "n_seeds": 3, "n_jobs": 2},
    )
    declared = 'metrics = ["mcc"]\nworlds = ["Circuit"]\nencoders = ["Mixed"]\n'
    (folder / "few.toml").write_text(declared, encoding="utf-8")
    (sweep, out), options = passed(
        "unweave.sweeps.execution:run", "sweep", "few.toml", "--jobs=2", "--time-limit=5", "--cluster=tcp://here:1"
    )
    assert (sweep.name, out) == ("few", Path("few"))
    assert options == {"n_jobs": 2, "cluster": "tcp://here:1", "time_limit": 5.0}
    (_, out), _ = passed("unweave.sweeps.execution:run", "sweep", "few.toml", "--out=there")
    assert out == Path("there")


def test_options_of_an_experiment_reach_it(passed):
    place = "unweave_papers.experiment:reproduced"
    assert passed(place, "reproduce", "003", "fig2") == (
        ("003", "fig2", Options(Path("reproduced"), progress=True)),
        {},
    )
    stated = ("--seed=0", "--seeds=1", "--rows=1", "--steps=1", "--metrics=MCC-P, R2", "--quick", "--jobs=-1")
    (_, _, options), _ = passed(place, "reproduce", "003", "fig2", "--out=there", *stated)
    numbers = {"seed": 0, "n_seeds": 1, "n_rows": 1, "n_steps": 1, "n_jobs": -1}
    assert options == Options(Path("there"), progress=True, metrics=("MCC-P", "R2"), quick=True, **numbers)


def test_an_experiment_ends_with_its_cpu_time_on_the_other_stream(monkeypatch):
    times = iter([10.0, 12.5])
    monkeypatch.setattr("unweave_papers.commands.time", SimpleNamespace(process_time=lambda: next(times)))
    monkeypatch.setattr("unweave_papers.experiment.reproduced", lambda *_: ["a line"])
    monkeypatch.setattr("unweave_papers.stored.cost_sentence", lambda seconds, memory: f"{seconds} s")
    done = run("reproduce", "003", "fig2")
    assert (done.stdout, done.stderr) == ("a line\n", "2.5 s\n")


def test_claims_are_checked_if_they_take_less_than_the_limit(passed, bars):
    seconds = sorted(claim.seconds for claim in claims_of("003"))
    limit = next(each for each in seconds if each > seconds[0])
    cheap = [claim for claim in claims_of("003") if claim.seconds < limit]
    assert 0 < len(cheap) < len(seconds)
    place = "unweave_papers.ledger:check"
    (claims, options, budget), _ = passed(place, "claims", "check", "003", f"--cheap={limit!r}", "--data=d")
    assert claims == cheap
    assert (options, budget) == (Options(Path("reproduced"), progress=True, data=Path("d")), math.inf)
    (claims, _, budget), _ = passed(place, "claims", "check", "003", "--budget=0")
    assert (len(claims), budget) == (len(seconds), 0.0)
    assert bars == [(len(cheap), True), (len(seconds), True)]


def test_the_checklist_takes_kinds_and_a_seed(passed):
    place = "unweave_papers.paper003.checklist:checklist"
    (evidence, seed), _ = passed(place, "checklist", "one.npz")
    assert (evidence.kinds[0].value, seed) == ("continuous", 0)
    (evidence, seed), _ = passed(place, "checklist", "one.npz", "--kinds=ordinal", "--seed=5")
    assert (evidence.kinds[0].value, seed) == ("ordinal", 5)


def test_runs_without_factors_are_named_by_their_files(passed, folder):
    (folder / "there").mkdir()
    np.savez(folder / "there" / "one.npz", codes=CODES)
    place = "unweave.evaluation.unlabelled:unlabelled"
    [runs], options = passed(place, "unlabelled", "one.npz", "two.npz", "--seed=3")
    assert (list(runs), options) == (["one", "two"], {"similarity": False, "rng": 3})
    [runs], options = passed(place, "unlabelled", "one.npz", "there/one.npz", "--similarity")
    assert options["similarity"]
    assert list(runs) == ["one.npz", str(Path("there/one.npz"))]


def test_options_of_encoding_reach_it(passed, folder):
    pytest.importorskip("torch")
    (folder / "model_here.py").write_text("def encoder(images):\n    return images.mean(axis=(1, 2))\n")
    command = ("encode", "model_here:encoder", "small_sprites", "--out=codes.npz")
    asked = {"rows": None, "seed": 0, "batch_size": 250}
    (_, images), options = passed("unweave.encoding:encode", *command)
    assert (len(images), options.pop("out")) == (4608, Path("codes.npz"))
    assert options == asked | {"spread": None, "progress": True}
    stated = ("--rows=1", "--seed=2", "--batch-size=1", "--spread=std")
    _, options = passed("unweave.encoding:encode", *command, *stated)
    assert options.pop("out") == Path("codes.npz")
    assert options == {"rows": 1, "seed": 2, "batch_size": 1, "spread": "std", "progress": True}


def test_a_page_shows_ten_images_with_their_reconstructions(passed, monkeypatch):
    monkeypatch.setattr("unweave.encoding.named_model", lambda name, weights: f"{name} of {weights}")
    command = ("score", "one.npz", "--images=small_sprites", "--html=page.html", "--decoder=a:b", "--weights=w")
    (model, images), options = passed("unweave.encoding:encode", *command)
    assert (model, len(images), options) == ("a:b of w", 4608, {"rows": 10})


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(["json:dumps"], "DATASET"), (["json:dumps", "small_sprites"], "--out"), (["json:dumps", "--out=x"], "DATASET")],
)
def test_an_encoding_without_images_or_file_is_refused(arguments, missing):
    ended = run("encode", *arguments)
    assert ended.exit_code == 2
    assert f"{missing} is missing: it may be left out for a folder of runs only." in ended.stderr


@dataclass(frozen=True)
class Compared:
    """A comparison of runs."""

    metrics: tuple[str, ...] = ("mcc",)


class TestFoldersOfRuns:
    """Commands on a folder of trained models, which are stand-ins as well."""

    @pytest.fixture
    def models(self, folder, monkeypatch):
        pytest.importorskip("torch")
        found = [
            SimpleNamespace(name="good", network="weights", problem=None),
            SimpleNamespace(name="bad", network=None, problem="It diverged."),
        ]
        monkeypatch.setattr("unweave.models.training_file.read_runs", lambda path: found)
        monkeypatch.setattr("unweave.models.training_file.data_set_of", lambda path: "its images")
        return found

    def test_every_trained_model_is_encoded_beside_its_weights(self, models, folder, monkeypatch):
        calls = []

        def encode(*arguments, **options):
            calls.append((arguments, options))
            return SimpleNamespace(n_rows=7, means=np.zeros((7, 3)))

        monkeypatch.setattr("unweave.encoding.encode", encode)
        done = run("encode", folder, "--rows=7", "--seed=2", "--batch-size=5")
        out = folder / "good" / "codes.npz"
        options = {"rows": 7, "seed": 2, "batch_size": 5, "progress": True, "out": out}
        assert calls == [((models[0], "its images"), options)]
        assert (done.stdout, done.stderr) == (f"wrote {out}: 7 images, 3 codes\n", "bad: It diverged.\n")

    def test_models_are_compared_by_the_metrics_that_are_named(self, models, folder, bars, monkeypatch):
        calls = []

        def compared(*arguments, metrics, watch):
            calls.append((arguments, metrics))
            return Compared()

        monkeypatch.setattr("unweave.sweeps.trained_models.compared_runs", compared)
        done = run("compare", folder, "--json")
        assert json.loads(done.stdout) == {"schema": "unweave.runs/1", "metrics": ["mcc"]}
        run("compare", folder, "--json", "--metrics=r2")
        assert calls == [((models, "its images"), None), ((models, "its images"), ["r2"])]
        assert bars == [(2, True), (2, True)]


class TestTraining:
    """The command `train` declares a training and runs it."""

    @pytest.fixture
    def fleets(self, folder, monkeypatch):
        """Declarations that were run; models are trained if the name of the folder says so."""
        pytest.importorskip("torch")
        ran = []

        class Fleet(list):
            problems = ("a has failed",)
            models = ("a", "b")

        def stand_in(declared, out, *, progress):
            ran.append((declared, progress))
            return Fleet(SimpleNamespace(network=state) for state in ([None, 1] if out.name == "half" else [None]))

        monkeypatch.setattr("unweave.models.training_file.TrainingDeclaration.run", stand_in)
        return ran

    def test_options_are_declared(self, fleets):
        asked = ("--beta=1,4", "--no-pictures", "--out=half")
        stated = ("--seeds=1", "--steps=9", "--codes=3", "--batch-size=5", "--learning-rate=0.5", "--trunk=conv")
        for more in ((), (*stated, "--reconstruction-weight=2")):
            done = run("train", "beta_vae", "small_sprites", *asked, *more)
            assert (done.exit_code, done.stderr) == (0, "a has failed\n")
            assert done.stdout == "wrote half: 1 of 2 models trained\n"
        (plain, shown), (other, _) = fleets
        assert shown is True
        assert [each.beta for each in plain.objectives] == [1, 4]
        assert (plain.dataset.name, plain.dataset.path, plain.dataset.size) == ("small_sprites", None, None)
        assert (plain.n_seeds, plain.n_codes) == (1, 10)
        settings = plain.settings
        assert (settings.n_steps, settings.batch_size) == (8000, 64)
        assert (settings.learning_rate, settings.reconstruction_weight) == (1e-4, 1.0)
        assert (other.n_seeds, other.n_codes, other.trunk.channels) == (1, 3, (32, 32))
        settings = other.settings
        assert (settings.n_steps, settings.batch_size) == (9, 5)
        assert (settings.learning_rate, settings.reconstruction_weight) == (0.5, 2.0)

    def test_a_training_without_a_model_fails(self, fleets):
        done = run("train", "beta_vae", "small_sprites", "--no-pictures", "--out=none")
        assert (done.exit_code, done.stdout) == (1, "wrote none: 0 of 1 models trained\n")

    @pytest.mark.parametrize("named", [[], ["--beta"]])
    def test_a_training_without_images_is_refused(self, fleets, named):
        done = run("train", "beta_vae", *named, "--out=half")
        assert done.exit_code == 2
        assert "There is no data set: name one after the objective" in done.stderr

    def test_pictures_are_drawn_if_they_can_be(self, fleets, monkeypatch):
        drawn = []
        monkeypatch.setattr(
            "unweave.report.figures.curves.draw_runs",
            lambda out, models, images: drawn.append((out, models)) or iter("abc"),
        )
        done = run("train", "beta_vae", "small_sprites", "--out=half")
        assert drawn == [(Path("half"), ("a", "b"))]
        assert "\nwrote 3 pictures: losses.png, reconstructions.png and traversals.png" in done.stdout
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        done = run("train", "beta_vae", "small_sprites", "--out=half")
        assert done.exit_code == 0
        assert "There are no pictures, because matplotlib is not installed: install unweave[report]." in done.stderr
        assert len(drawn) == 1


class TestTrainedDemonstration:
    """The demonstration with training, whose training, encoding and scoring are stand-ins."""

    @pytest.fixture
    def calls(self, monkeypatch):
        pytest.importorskip("torch")
        seen = {}
        encoded = SimpleNamespace(
            factor_names=("a", "b"), kinds=("ordinal", "continuous"), factors=FACTORS.round(), codes=CODES
        )
        results = {
            "unweave.models.train": SimpleNamespace(problems=(), models=["the model"]),
            "unweave.encoding.encode": encoded,
            "unweave.evaluation.evaluate": "scores",
            "unweave.report.html.code_pictures": "pictures",
            "unweave.report.html.decoder_of": "decoder",
        }

        def stand_in(place):
            def call(*arguments, **options):
                seen[place.rpartition(".")[2]] = (arguments, options)
                return results[place]

            return call

        for place in results:
            monkeypatch.setattr(place, stand_in(place))
        seen["results"] = results
        return seen

    def test_images_are_weighted_as_those_of_the_literature(self, calls, tmp_path):
        said = []
        assert trained_demonstration(tmp_path, said.append) == ("scores", "pictures")
        assert [line[:2] for line in said] == ["1.", "2.", "3."]
        (images, objective), options = calls["train"]
        settings = options.pop("settings")
        assert (len(images), objective.beta) == (4608, 32.0)
        assert options == {"folder": tmp_path / "runs", "progress": True}
        assert (settings.n_steps, settings.learning_rate) == (4000, 1e-3)
        assert settings.reconstruction_weight * math.prod(images.image_shape) == 64 * 64

    def test_codes_are_scored_with_names_and_kinds(self, calls, tmp_path):
        trained_demonstration(tmp_path, lambda line: None, n_steps=3)
        assert calls["train"][1]["settings"].n_steps == 3
        (model, _), options = calls["encode"]
        assert (model, options.pop("out")) == ("the model", tmp_path / "codes.npz")
        assert options == {"rows": 2000, "progress": True}
        assert calls["decoder_of"] == (("the model",), {})
        (factors, codes), options = calls["evaluate"]
        assert codes is CODES
        assert np.array_equal(factors["b"], FACTORS.round()[:, 1])
        kinds = {"a": "ordinal", "b": "continuous"}
        assert options == {"kinds": kinds, "metrics": None, "budget": 5.0, "progress": True}

    def test_a_training_that_fails_says_why(self, calls, tmp_path):
        calls["results"]["unweave.models.train"] = SimpleNamespace(problems=("It diverged.",), models=[])
        with pytest.raises(OptionError, match=r"It diverged\."):
            trained_demonstration(tmp_path, lambda line: None)

    def test_its_folder_is_made_and_its_page_written(self, folder, monkeypatch):
        shown = SimpleNamespace(
            rows=[SimpleNamespace(score=1.0)], to_json=lambda: "data", data=SimpleNamespace(notes=())
        )
        monkeypatch.setattr(demos, "trained_demonstration", lambda out, say: (shown, None))
        monkeypatch.setattr("unweave.report.html.write_pages", lambda *_, html, pictures: [html])
        for _ in range(2):  # the folder may be there
            done = run("demo", "--trained", "--out", Path("a", "b"))
            assert done.exit_code == 0, done.output
            assert done.stdout == f"{shown}\nwrote {Path('a', 'b', 'page.html')}\n"
        assert Path("a", "b").is_dir()


def test_the_demonstration_prints_a_table_below_its_introduction(monkeypatch):
    shown = SimpleNamespace(rows=[SimpleNamespace(score=1.0)], to_json=lambda: "data", data=SimpleNamespace(notes=()))
    monkeypatch.setattr("unweave.evaluation.compare", lambda *_, **__: shown)
    assert run("demo", "--rows=50").stdout == f"{introduction()}\n{shown}\n"
