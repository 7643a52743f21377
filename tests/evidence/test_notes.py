"""What is said about untidy tables: how dates are read, indices, repeats, and that it stays with the evaluation."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from unweave import Evaluation, Evidence, InputError, InputWarning, compare, evaluate
from unweave.cli import main
from unweave.evidence.blocks import BlockReader
from unweave.files.reading import read_files

RNG = np.random.default_rng(0)
N = 400
CODES = RNG.normal(size=(N, 3))
DAYS = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 600, N), unit="D"))
SINCE = (DAYS - DAYS.min()).dt.days.to_numpy()


def read(**columns):
    """Evidence of these factors and its notes, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        evidence = Evidence(pd.DataFrame(columns), CODES, missing="drop")
    return evidence, [str(note) for note in evidence.notes]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("%Y-%m-%d", "has dates: they"),
        ("%Y/%m/%d", "has dates: they"),
        ("%d.%m.%Y", "read with the day first: they"),
        ("%d/%m/%Y", "read with the day first: they"),
        ("%m/%d/%Y", "read with the month first: they"),
        ("%d-%m-%Y %H:%M", "read with the day first: they"),
    ],
)
def test_dates_of_every_order_are_the_same_days(form, said):
    evidence, (note,) = read(seen=DAYS.dt.strftime(form))
    assert evidence.factors[:, 0].tolist() == SINCE.tolist()
    assert said in note
    assert evidence.kinds[0].value == "continuous"


def test_dates_without_leading_zeros_and_with_missing_ones():
    texts = [f"{day.day}.{day.month}.{day.year}" for day in DAYS]
    evidence, _ = read(seen=[None, *texts[1:]])
    assert evidence.kept_rows.tolist() == list(range(1, N))
    assert np.diff(evidence.factors[:, 0]).tolist() == np.diff(SINCE[1:]).tolist()


@pytest.mark.parametrize(("sign", "asked"), [("/", True), ("-", True), (".", False)])
def test_dates_that_fit_both_orders_are_day_first_and_asked_about(sign, asked):
    evidence, (note,) = read(seen=[f"{k % 12 + 1:02}{sign}03{sign}2024" for k in range(N)])
    assert evidence.factors[:3, 0].tolist() == [0, 1, 2]
    assert ("write them as 2024-01-31 if the month is first" in note) is asked
    assert (evidence.notes[0].kind == "asked") is asked


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["09.09.24", "10.09.24"], "write years with four digits if these are dates"),
        (["13/01/2024", "01/13/2024"], "because not all are dates of one order: write dates as 2024-01-31"),
        (["31.02.2024", "01.02.2024"], "because not all are dates of one order"),
    ],
)
def test_other_texts_like_dates_are_classes_and_asked_about(texts, said):
    evidence, (note,) = read(seen=texts * (N // 2))
    assert evidence.kinds[0].is_categorical
    assert said in note


@pytest.mark.parametrize("texts", [["3.11.1", "3.12.0"], ["192.168.1.1", "10.0.0.1"], ["1/2", "2/2"], ["a", "b"]])
def test_other_texts_are_no_dates(texts):
    assert read(seen=texts * (N // 2))[1] == []


def test_days_of_blocks_count_from_one_day():
    with pytest.raises(InputError, match="write them as 2024-01-31"):
        list(_read_blocks("01/02/2024"))
    first, second = _read_blocks("2024-01-01", "2024-01-03")
    assert second - first == 2


def _read_blocks(*texts):
    reader = BlockReader(("seen",), ("code",), "refuse")
    return [float(reader.read([np.array([text] * 3)], CODES[:3, :1], 0)[0][0, 0]) for text in texts]


@pytest.mark.parametrize(
    ("name", "numbers", "said"),
    [
        (
            "Unnamed: 0",
            np.r_[np.delete(np.arange(N + 9), RNG.integers(0, N, 29))[:380], np.arange(20)],
            "counts the rows",
        ),
        ("any", np.r_[np.arange(380), np.arange(20)], "counts the rows"),
        ("any", np.where(np.arange(N) == 7, math.nan, np.arange(N)), "counts the rows"),
        ("id", RNG.permutation(N), "is called like a number of the rows"),
    ],
)
def test_an_index_with_gaps_repeats_or_missing_rows_is_asked_about(name, numbers, said):
    _, (note,) = read(**{name: numbers})
    assert note == f"Factor '{name}' {said}: leave it out if it is their index."


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("id", RNG.integers(0, 9, N)), ("any", RNG.permutation(N)), ("time", np.sort(RNG.normal(size=N)))],
)
def test_other_numbers_are_no_index(name, numbers):
    assert read(**{name: numbers})[1] == []


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        (["high", "low", "mid"], "low<mid<high"),
        (["Large", "medium", "Small", "Very-large"], "Small<medium<Large<Very-large"),
        (["XL", "M", "S"], "S<M<XL"),
        (["often", "never", "sometimes"], "never<sometimes<often"),
        (["first", "third", "second"], "first<second<third"),
        (["week 12", "week 2", "week 6"], "week 2<week 6<week 12"),
    ],
)
def test_texts_with_an_order_are_asked_about_unless_their_kind_is_stated(levels, order):
    column = np.array(levels)[np.arange(N) % len(levels)]
    evidence, (note,) = read(light=column)
    assert f"kinds={{'light': 'ordinal:{order}'}} (--kinds 'light=ordinal:{order}')" in note
    assert evidence.kinds[0].is_categorical
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        for kinds in ({"light": "categorical"}, {"light": f"ordinal:{order}"}, "categorical"):
            Evidence({"light": column}, CODES, kinds=kinds)


@pytest.mark.parametrize(
    "levels",
    ["low high", "metal plastic wood", "low mid other", "first middle last", "a-1 a-2 a-3", "mid middle high", "s a m"],
)
def test_other_texts_are_classes_without_a_question(levels):
    assert read(light=np.resize(levels.split(), N))[1] == []


def test_the_command_takes_an_order(tmp_path):
    light = RNG.integers(0, 3, N)
    table = pd.DataFrame({"light": np.array(["low", "mid", "high"])[light], "emb_0": light + CODES[:, 0] / 9})
    table.to_csv(tmp_path / "table.csv")
    chosen = [
        "score",
        str(tmp_path / "table.csv"),
        "--factors",
        "light",
        "--codes",
        "emb_*",
        "--metrics",
        "mcc",
        "--quick",
    ]
    asked = CliRunner().invoke(main, [*chosen, "--json"])
    assert "(--kinds 'light=ordinal:low<mid<high')" in asked.stderr
    stated = CliRunner().invoke(main, [*chosen, "--json", "--kinds", "light=ordinal:low<mid<high"])
    assert stated.stderr == ""
    scores = Evaluation.from_json(stated.stdout)
    assert scores.data.factors[0].kind == "ordinal"
    assert scores["mcc"].value == evaluate(light, table["emb_0"], metrics=["mcc"], quick=True)["mcc"].value


SHAPE = RNG.integers(0, 4, N)
NOISE = 0.3 * RNG.normal(size=(N, 4))


@pytest.mark.parametrize(
    "codes",
    [
        np.eye(4)[SHAPE] + NOISE,
        np.eye(4)[SHAPE] @ np.random.default_rng(1).normal(size=(4, 6)) + 0.1 * RNG.normal(size=(N, 6)),
        np.column_stack([np.eye(4)[SHAPE] + NOISE, RNG.normal(size=(N, 20))]),
    ],
    ids=["one code each", "mixed", "among noise"],
)
@pytest.mark.parametrize("gap", [False, True])
def test_numbers_that_codes_represent_as_classes_are_asked_about(codes, gap):
    shape = np.where(gap & (np.arange(N) == 3), math.nan, SHAPE)
    with pytest.warns(
        InputWarning, match=r"'shape' has 4 whole numbers as values, taken as ordered.*shape=categorical"
    ):
        evidence = Evidence({"shape": shape}, codes, missing="drop")
    assert evidence.kinds[0].value == "ordinal"
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        for kind in ("categorical", "ordinal"):
            Evidence({"shape": shape}, codes, kinds={"shape": kind}, missing="drop")


@pytest.mark.parametrize("n_levels", [3, 4, 6, 10])
@pytest.mark.parametrize(
    "encoded",
    [lambda x: x, lambda x: x**3, lambda x: np.exp(3 * x), lambda x: np.tanh(5 * (x - 0.5)), lambda x: 0 * x],
    ids=["line", "cube", "exponential", "sigmoid", "nothing"],
)
def test_numbers_whose_order_the_codes_follow_get_no_question(n_levels, encoded):
    x = RNG.integers(0, n_levels, N)
    other = RNG.normal(size=N)
    codes = np.column_stack([encoded(x / (n_levels - 1)), other]) @ [[1, 0.5], [0.3, -1]] + 0.1 * RNG.normal(
        size=(N, 2)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        Evidence({"size": x, "other": other}, codes)


def test_one_repeated_row_is_asked_about():
    again = np.r_[np.arange(N), 7]
    with pytest.warns(InputWarning, match="1 of 401 rows repeats another row"):
        Evidence(NOISE[again], CODES[again])
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)  # one code alone is equal
        Evidence(RNG.normal(size=len(again)), np.column_stack([CODES[again, 0], RNG.normal(size=len(again))]))


def test_repeated_rows_with_missing_values_count():
    factor = RNG.normal(size=N)
    factor[3] = math.nan
    again = np.r_[np.arange(N), np.arange(10)]
    with pytest.warns(InputWarning, match="10 of 410 rows repeat another row"):
        Evidence(factor[again], CODES[again], missing="drop")


def test_missing_values_are_refused_with_all_else_that_is_odd():
    table = pd.DataFrame(
        {
            "age": np.where(np.arange(N) == 3, math.nan, RNG.normal(size=N)),
            "seen": DAYS.dt.strftime("%d.%m.%y"),
            "humidity": [f"{k} %" for k in RNG.integers(0, 99, N)],
            "site": "A",
            "Unnamed: 0": np.arange(N),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)  # nothing is said twice
        with pytest.raises(InputError) as caught:
            Evidence(table, CODES)
    assert str(caught.value).startswith("There are 2 problems: (1) Values are missing in 1 of 400 rows")
    assert "Besides, without stopping the call (4 questions): (3) Factor 'site' never varies" in str(caught.value)
    for said in (
        "Values are missing in 1 of 400 rows: factor 'age' (1)",
        "Factor 'site' never varies",
        "Factor 'seen' is text with",
        "Factor 'humidity' is text with",
        "Factor 'Unnamed: 0' counts the rows",
    ):
        assert said in str(caught.value)


def untidy(tmp_path):
    """A file with an index and amounts as text."""
    factor = RNG.integers(0, 100, N)
    table = pd.DataFrame({"humidity": [f"{k}%" for k in factor], "emb": factor + RNG.normal(size=N)})
    table.to_csv(tmp_path / "a.csv", index_label="index")
    return tmp_path / "a.csv"


def test_columns_that_are_codes_because_nobody_named_them_are_said(tmp_path):
    path = untidy(tmp_path)
    with pytest.warns(InputWarning, match="The codes are the other columns of .*, 'index', 'emb': name them"):
        read_files(path, factors=["humidity"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        read_files(path, factors=["humidity"], codes=["emb"])


def test_notes_are_on_every_page_and_in_the_saved_evaluation(tmp_path):
    pages = [tmp_path / name for name in ("a.html", "a.md", "a.json")]
    words = [word for pair in zip(("--html", "--markdown", "--summary"), map(str, pages), strict=True) for word in pair]
    call = ["score", str(untidy(tmp_path)), "--factors", "humidity", "--metrics", "mcc", "--quick", *words]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    for text in (result.stdout, *(page.read_text(encoding="utf-8") for page in pages)):
        flat = " ".join(text.replace("&#39;", "'").split())
        assert "Code 'index' counts the rows: leave it out if it is their index." in flat
        assert "pass numbers if they are amounts" in flat
    on_terminal = " ".join(result.output.split())  # both questions are next steps, so that no list repeats them
    assert on_terminal.count("leave it out if it is their index") == on_terminal.count("if they are amounts") == 1
    table = {"humidity": [f"{k}%" for k in RNG.integers(0, 30, N)], "seen": DAYS.dt.strftime("%Y-%m-%d").to_numpy()}
    with pytest.warns(InputWarning, match="became days"):
        said = str(evaluate(table, CODES, metrics="mcc", quick=True))
    assert "became days" in " ".join(said[said.index("Notes about the data") :].split())


def test_questions_are_next_steps_and_survive_saving():
    table = {"humidity": [f"{k}%" for k in RNG.integers(0, 30, N)], "seen": DAYS.dt.strftime("%Y-%m-%d").to_numpy()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        found = evaluate(table, CODES, metrics="mcc", quick=True)
        both = compare(table, {"a": CODES, "b": CODES[:, ::-1]}, metrics="mcc", quick=True)
    for each in (found, both):
        assert Evaluation.from_json(each.to_json()).data.notes == each.data.notes
        assert [note.kind for note in each.data.notes] == ["stated", "asked"]  # a date changes nothing
        steps = " ".join(each.answer["next_steps"])
        assert "pass numbers if they are amounts" in steps
        assert "became days" not in steps


def test_a_warning_is_at_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        evaluate({"id": np.arange(N)}, CODES, metrics="mcc", quick=True)
    assert {each.filename for each in warned if each.category is InputWarning} == {__file__}
