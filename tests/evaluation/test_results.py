"""An evaluation can be saved, restored, and converted to data frames of several libraries."""

import dataclasses
import json
import math
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import unweave
from unweave import Evaluation, InputError, OptionError, compare, evaluate
from unweave.evaluation.results import notes_of
from unweave.findings import Finding

RNG = np.random.default_rng(0)
FACTORS = {"size": RNG.normal(size=80), "hue": RNG.normal(size=80), "flat": np.ones(80)}
CODES = {"kept": np.column_stack(list(FACTORS.values())), "noise": RNG.normal(size=(80, 2))}


@pytest.fixture(scope="module")
def evaluation():
    """Two representations, two seeds, nan for a constant factor, and a metric that fails."""
    return compare(FACTORS, CODES, metrics=["mcc", "r2", "mig", "r2:n_folds=100"], n_seeds=2, budget=0.5)


def test_json_gives_the_same_evaluation_back(evaluation):
    text = evaluation.to_json()
    json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are not JSON
    assert Evaluation.from_json(text) == evaluation
    assert str(Evaluation.from_json(text)) == str(evaluation)


def test_json_says_its_schema_data_and_versions(evaluation):
    content = json.loads(evaluation.to_json())
    assert content["schema"] == "unweave.evaluation/6"
    assert (content["data"]["n_rows"], content["data"]["n_dropped"]) == (80, 0)
    assert {"unweave", "numpy", "python"} <= set(content["data"]["versions"])
    assert len({entry["fingerprint"] for entry in content["data"]["representations"].values()}) == 2


def test_save_and_load(evaluation, tmp_path):
    evaluation.save(tmp_path / "evaluation.json")
    assert Evaluation.load(str(tmp_path / "evaluation.json")) == evaluation


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "This is not an evaluation in JSON: pass what to_json or save wrote"),
        ("[1, 2]", "This is not an evaluation in JSON"),
        ("{}", "This is not an evaluation in JSON"),
        (
            '{"schema": "unweave.evaluation/99"}',
            "has schema 'unweave.evaluation/99' and this version reads .*evaluate again",
        ),
    ],
)
def test_json_of_something_else(text, message):
    with pytest.raises(InputError, match=message):
        Evaluation.from_json(text)


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (lambda content: content["rows"][0].pop("label"), r"rows\.0\.label: it is missing"),
        (
            lambda content: content["rows"][1]["score"].update(raw="high"),
            r"rows\.1\.score\.raw: 'high' is no",
        ),
        (lambda content: content["rows"][0]["score"].update(parts={"a": [[1], [2, 3]]}), "is not an array of numbers"),
        (lambda content: content["rows"][0]["verdict"].update(level="fine"), "'fine' is not one of 'trust', 'no"),
        (lambda content: content["rows"][0].update(card=None), r"rows\.0\.card"),
        (lambda content: content["rows"][0]["score"].update(caveats=["a sentence"]), "is not a finding"),
        (lambda content: content.update(rows=3), "rows"),
        (lambda content: content.pop("data"), "data: it is missing"),
    ],
)
def test_an_edited_file_is_refused_in_one_sentence(evaluation, edit, place):
    content = json.loads(evaluation.to_json())
    edit(content)
    with pytest.raises(InputError, match=place) as refused:
        Evaluation.from_json(json.dumps(content))
    assert "evaluate again" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_scores_by_metric_representation_and_seed(evaluation):
    assert evaluation.score("mcc") == evaluation.score("mcc", "kept", 0)
    assert evaluation.score("r2", "noise", 1) != evaluation.score("r2", "noise", 0)
    with pytest.raises(OptionError, match="There is no score of 'dci': there are mcc, r2, mig"):
        evaluation.score("dci")
    with pytest.raises(InputError, match="A split into 100 parts needs at least 100 rows and there are 80"):
        evaluation.score("r2 (n_folds=100)")
    with pytest.raises(InputError, match=r"There are 2 representations \('kept', 'noise'\): write evaluation\["):
        evaluation["mcc"]


def test_mean_and_spread_over_seeds(evaluation):
    values = evaluation.values("r2", "noise")
    raw = [evaluation.score("r2", "noise", seed).value for seed in (0, 1)]
    assert values == raw
    assert evaluation.mean_and_spread("mig", "kept") == (evaluation.score("mig", "kept").value, 0.0)
    mean, spread = evaluation.mean_and_spread("mcc", "noise")
    assert (mean, spread) == (pytest.approx(evaluation.score("mcc", "noise").value), 0.0)
    assert math.isnan(evaluation.mean_and_spread("r2 (n_folds=100)", "kept")[0])


def test_mean_and_spread_are_those_of_the_values():
    evaluation = evaluate(FACTORS, RNG.normal(size=(80, 2)) + CODES["kept"][:, :2], metrics="r2", n_seeds=4, quick=True)
    values = evaluation.values("r2", "codes")
    assert len(set(values)) == 4
    assert evaluation.mean_and_spread("r2", "codes") == (
        pytest.approx(np.mean(values)),
        pytest.approx(np.std(values, ddof=1)),
    )


def test_one_undefined_seed_leaves_the_mean_undefined_and_without_a_spread():
    evaluation = evaluate(FACTORS, CODES["kept"], metrics="r2", n_seeds=2, quick=True)
    first, second = evaluation.rows
    undefined = dataclasses.replace(second, score=dataclasses.replace(second.score, raw=math.nan))
    mean, spread = dataclasses.replace(evaluation, rows=(first, undefined)).mean_and_spread("r2", "codes")
    assert math.isnan(mean)
    assert spread == 0.0


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_frames(evaluation, backend):
    frame = evaluation.to_frame(backend)
    assert type(frame).__module__.split(".")[0] == backend
    columns = frame.to_pydict() if backend == "pyarrow" else {name: frame[name].to_list() for name in frame.columns}
    scores = ["representation", "metric", "seed", "value", "raw", "chance"]
    checks = ["floor", "p_value", "calibrated", "lower", "upper", "verdict"]
    assert list(columns) == [*scores, *checks, "seconds", "note"]
    assert columns["representation"] == [row.representation for row in evaluation.rows]
    assert columns["metric"][:4] == ["mcc", "mcc", "r2", "r2"]
    np.testing.assert_array_equal(
        columns["value"], [row.score.value if row.score else np.nan for row in evaluation.rows]
    )
    assert "A split into 100 parts" in " ".join(columns["note"])


def test_the_default_frame_is_of_a_library_that_is_installed(evaluation, monkeypatch):
    for backend in ("pandas", "polars", "pyarrow"):
        assert type(evaluation.to_frame()).__module__.split(".")[0] == backend
        monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(OptionError, match="needs pandas, polars or pyarrow, and none is installed: install one"):
        evaluation.to_frame()
    with pytest.raises(OptionError, match=r"backend='dask' is not known: use 'pandas', 'polars', 'pyarrow'\."):
        evaluation.to_frame("dask")


def test_notes_stand_once_with_their_metrics(evaluation):
    constant = "flat is constant in these samples and left out of the score."
    assert evaluation.notes[constant] == ("mcc", "r2", "mig")
    assert any(note.startswith("kept: code 2 does not vary") for note in evaluation.notes)


@pytest.fixture(scope="module")
def hurried():
    """One representation, with a budget of 0."""
    factors = np.random.default_rng(5).normal(size=(80, 2))
    return evaluate(factors, factors, metrics=["mcc", "r2", "mig"], n_seeds=2, seed=1, budget=0.0)


def test_fewer_draws_are_said_once_for_all_metrics(hurried):
    for words in ("The noise floor did not fit into the time budget of 0 s", "The interval did not fit into"):
        ((sentence, labels),) = [entry for entry in hurried.notes.items() if words in entry[0]]
        assert labels == ("mcc", "r2", "mig")
        assert sentence in " ".join(str(hurried).split())
        assert sentence in hurried.to_markdown()
        assert sentence in hurried.to_html()


RANGE = (
    "At most 19 to 101 of 199 permutations fit into the budget of 0.5 s, and they do not decide whether the score is "
    "above noise: pass a larger budget."
)


def test_numbers_that_differ_become_a_range(hurried):
    said = {
        "mcc": Finding("fewer_nulls", n_draws=101, of=199, seconds=0.5),
        "mig": Finding("fewer_nulls", n_draws=19, of=199, seconds=0.5),
    }
    rows = [hurried.row(label, "codes") for label in said]
    rows = [
        dataclasses.replace(row, noise_floor=dataclasses.replace(row.noise_floor, notes=(said[row.label],)))
        for row in rows
    ]
    assert Evaluation(tuple(rows), hurried.data).notes[RANGE] == ("mcc", "mig")


def test_checks_of_one_seed_beside_a_mean_over_seeds_are_named(hurried):
    ((sentence, labels),) = [entry for entry in hurried.notes.items() if "seed" in entry[0]]
    assert "means over 2 seeds" in sentence
    assert "those of seed 1 alone" in sentence
    assert labels == ("mcc", "r2")


def test_where_all_fits_nothing_is_said_of_draws():
    factors = np.random.default_rng(5).normal(size=(80, 2))
    assert evaluate(factors, factors, metrics="mcc", budget=1e6).notes == {}


def test_fields_that_are_nan_are_equal_to_themselves(evaluation):
    """Python 3.13 compares the fields of records one by one, and nan with nan is false there."""
    nan = [dataclasses.replace(row, chance=float("nan")) for row in evaluation.rows]
    odd = dataclasses.replace(evaluation, rows=tuple(nan))
    assert Evaluation.from_json(odd.to_json()) == odd
    assert odd != evaluation
    assert odd != "something else"


def test_a_frame_has_the_numbers_of_every_check(evaluation):
    lines = evaluation.to_frame("polars").to_dicts()
    assert any(row.noise_floor and row.interval and row.verdict for row in evaluation.rows)
    for row, line in zip(evaluation.rows, lines, strict=True):
        expected = {name: getattr(row.noise_floor, name, math.nan) for name in ("floor", "p_value", "calibrated")}
        expected |= dict(zip(("lower", "upper"), row.ends or (math.nan, math.nan), strict=True))
        expected |= {name: getattr(row.score, name, math.nan) for name in ("value", "raw")}
        expected["chance"] = math.nan if row.chance is None else row.chance
        np.testing.assert_equal({name: line[name] for name in expected}, expected)
        assert (line["seed"], line["seconds"]) == (row.seed, row.seconds)
        assert line["verdict"] == (row.level if row.verdict or row.score else None)
        assert line["note"] == " ".join(map(str, row.score.caveats if row.score else [row.problem]))


@pytest.mark.parametrize(("n", "shown"), [(2, "'a', 'b'"), (4, "'a', 'b', 'c', 'd'"), (5, "'a', 'b', 'c', 'd', ...")])
def test_four_representations_are_named(n, shown):
    several = Evaluation((), SimpleNamespace(representations=dict.fromkeys("abcdefg"[:n])))
    with pytest.raises(InputError, match=re.escape(f"There are {n} representations ({shown}): write one")):
        several["mcc"]


@pytest.mark.parametrize(
    ("name", "shown"), [("a\\b", "a\\b"), ("a\x07", "a\ufffd"), ("\n\u202e", " \ufffd"), ("größe", "größe")]
)
def test_names_have_no_control_characters_from_the_start(name, shown):
    found = compare({name: np.arange(20.0)}, {name: {name: np.arange(20.0)}}, metrics="mcc", quick=True)
    assert (found.representations, found.data.factor_names) == ((shown,), (shown,))
    assert found.data.representations[shown].code_names == (shown,)
    assert list(found["mcc"].per_factor) == [shown]
    edited = found.to_json().replace(json.dumps(shown), json.dumps(name))
    assert Evaluation.from_json(edited).representations == (shown,)


@pytest.mark.parametrize(("seeds", "said"), [((0, 1), "seed 0"), ((3, 1, 0), "seed 3"), ((4,), None)])
def test_the_first_seed_is_the_one_that_was_checked(seeds, said):
    plain = {"label": "mcc", "representation": "a", "noise_floor": None, "interval": None}
    rows = [SimpleNamespace(**plain, seed=seed, score=None, problem=None, verdict="trust") for seed in seeds]
    notes = list(notes_of(rows, 1))
    assert [f"means over {len(seeds)} seeds" in note and f"{said} alone" in note for note in notes] == [True] * bool(
        said
    )
    for row in rows:
        row.verdict = None
    assert notes_of(rows, 1) == {}


def test_a_note_names_the_representations_unless_it_is_about_all():
    def row(name, label):
        score = SimpleNamespace(caveats=("A caveat.",))
        return SimpleNamespace(
            label=label, representation=name, noise_floor=None, interval=None, seed=None, score=score, problem=None,
            verdict=None,
        )  # fmt: skip

    rows = [row("a", "mcc"), row("b", "r2")]
    assert notes_of(rows, 2) == {"A caveat.": ("mcc", "r2")}
    assert notes_of(rows, 3) == {"a, b: A caveat.": ("mcc", "r2")}


def test_a_number_with_two_values_is_called_binary():
    rng = np.random.default_rng(0)
    factors = {"is_red": rng.random(200) < 0.5, "n": rng.integers(0, 3, 200), "size": rng.normal(size=200)}
    found = unweave.evaluate(factors, rng.normal(size=(200, 2)), metrics=["mcc"], quick=True)
    assert str(found).startswith("200 rows, 3 factors (is_red binary, n ordinal, size continuous), 2 codes")
    assert [factor.kind for factor in found.data.factors] == ["ordinal", "ordinal", "continuous"]
    assert unweave.Evaluation.from_json(found.to_json()).data.factors == found.data.factors


def test_directions_of_a_ladder_are_those_of_an_evaluation():
    rng = np.random.default_rng(0)
    shape, size = rng.choice(["a", "b", "c"], 300), rng.normal(size=300)
    codes = np.column_stack([(shape == "a") + 0.1 * rng.normal(size=300), shape == "b", size])
    directions = unweave.ladder({"shape": shape, "size": size}, codes).directions
    evaluation = unweave.evaluate({"shape": shape, "size": size}, codes, metrics=["identification"], budget=5)
    assert repr(directions) == repr(evaluation.directions)
    assert directions.columns == {"shape": ("a", "b", "c"), "size": ("",)}
    frame = directions.to_frame("pandas")
    assert frame.columns.tolist() == ["factor", "column", "code 0", "code 1", "code 2"]
    loaded = unweave.Evaluation.from_json(evaluation.to_json())
    assert repr(loaded.directions) == repr(directions)
    assert loaded.ladder.directions.to_frame("pandas").shape == frame.shape
