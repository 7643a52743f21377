"""Screening of many codes: those that depend on a factor are found on half of the rows and scored on the other half."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from unweave import Evidence, InputError, compare, evaluate
from unweave.cli import main
from unweave.evaluation import Evaluation
from unweave.evaluation import loop as screened_first
from unweave.metrics import mcc
from unweave.metrics.screening import ScreenedCodes

RNG = np.random.default_rng(0)
N, M, D = 1200, 300, 3
CONCEPTS = (RNG.random((N, D)) < 0.3).astype(float)
CODES = np.where(RNG.random((N, M)) < 0.02, RNG.random((N, M)), 0.0)
PLANTED = [5, 77, 200]
CODES[:, PLANTED] = CONCEPTS * RNG.gamma(50, 0.02, (N, D))
SPARSE = sparse.csr_array(CODES)


@pytest.fixture(scope="module")
def found():
    return evaluate(CONCEPTS, SPARSE, budget=2.0)


def test_the_panel_is_of_the_codes_that_matter(found):
    screening = found.data.screening["codes"]
    assert (screening.n_codes, screening.n_found, screening.n_rows) == (M, D, N // 2)
    assert found.data.n_rows == N // 2
    assert found.data.representations["codes"].code_names == tuple(f"code {i}" for i in PLANTED)
    assert found["identification"].value > 0.9
    assert not [row.label for row in found.rows if row.problem]
    assert [row["where"] for row in found.answer["factors"]] == [f"code {i}" for i in PLANTED]


def test_it_is_said_how_many_codes_are_not_shown(found):
    sentence = "3 of 300 codes depend on a factor (tested on 600 other rows; false-discovery rate 5 %)."
    assert sentence in " ".join(str(found).split())
    assert "3 of 300 codes" in found.answer["report"] or "no number" in found.answer["report"]
    page, text = found.to_html(), found.to_markdown()
    for shown in (page, text):
        assert sentence in shown
        assert "297 codes are not shown" in " ".join(shown.split())
    frame = found.code_frame()
    assert sorted(frame["code"].to_list()) == sorted(f"code {i}" for i in PLANTED)
    assert frame["q_value"].max() < 0.05
    again = Evaluation.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)


def test_named_metrics_take_all_codes_unless_told_otherwise():
    everything = evaluate(CONCEPTS, SPARSE, metrics=["mcc"], quick=True)
    assert everything["mcc"].raw == pytest.approx(mcc(CONCEPTS, CODES).raw, abs=1e-10)
    assert everything.data.screening == {}
    with pytest.raises(InputError, match="The codes were not screened: pass screen=True"):
        everything.code_frame()
    chosen = evaluate(CONCEPTS, CODES, metrics=["mcc"], quick=True, screen=True)
    second = np.sort(Evidence(CONCEPTS, CODES).split(0.5, seed=0)[1])
    assert chosen["mcc"].raw == pytest.approx(mcc(CONCEPTS[second], CODES[second]).raw, abs=1e-10)
    assert chosen.data.representations["codes"].n_codes == D


def test_codes_without_any_dependence_get_the_score_of_chance():
    noise = sparse.random_array((N, 500), density=0.05, rng=np.random.default_rng(1), format="csr")
    found = evaluate(CONCEPTS, noise, metrics=["mcc", "r2"], screen=True, quick=True)
    assert found.data.screening["codes"].n_scored == D  # the strongest ones, which are none
    assert found["mcc"].raw < 0.15  # they were selected on other rows, so the score is not biased
    assert found["r2"].raw < 0.02
    assert "Only the 3 strongest codes are scored and shown; 497 are not." in " ".join(str(found).split())


def test_representations_are_compared_on_the_same_rows():
    both = compare(CONCEPTS, {"wide": SPARSE, "small": CODES[:, PLANTED]}, quick=True, screen=None)
    assert both.data.n_rows == N // 2
    assert list(both.data.screening) == ["wide"]
    assert both.score("mcc", "wide").raw == pytest.approx(both.score("mcc", "small").raw, abs=1e-10)


def test_concepts_and_dictionaries_on_the_command_line(tmp_path):
    np.save(tmp_path / "concepts.npy", CONCEPTS)
    sparse.save_npz(tmp_path / "codes.npz", SPARSE)
    words = [
        "score",
        str(tmp_path / "concepts.npy"),
        str(tmp_path / "codes.npz"),
        "--metrics",
        "concepts",
        "--budget",
        "1",
    ]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert "3 of 300 codes depend on a concept (false-discovery rate 5 %)" in " ".join(ran.stdout.split())
    found = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert [row["auroc_code"] for row in found["concepts"]] == [f"code {i}" for i in PLANTED]
    assert [row["probe_16"] for row in found["concepts"]] == pytest.approx([1.0] * D, abs=1e-3)
    assert (found["n_codes"], found["always_on_codes"]) == (M, 0)
    refused = CliRunner().invoke(main, [*words, "--html", str(tmp_path / "page.html")])
    assert "prints a table or JSON" in refused.output
    decoder = RNG.normal(size=(16, 40))
    np.save(tmp_path / "first.npy", decoder)
    np.save(tmp_path / "second.npy", -decoder[:, ::-1])
    words = ["dictionaries", str(tmp_path / "first.npy"), str(tmp_path / "second.npy")]
    assert (
        CliRunner().invoke(main, [*words, "--unsigned"]).stdout.startswith("Mean cosine of 40 matched columns: 1.0000")
    )
    assert json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["mean_cosine"] < 0.9
    wrong = CliRunner().invoke(main, ["dictionaries", str(tmp_path / "first.npy"), str(tmp_path / "codes.npy")])
    assert "There is no file" in wrong.output


def test_a_sparse_matrix_in_a_file(tmp_path):
    np.save(tmp_path / "concepts.npy", CONCEPTS)
    sparse.save_npz(tmp_path / "codes.npz", SPARSE)
    words = ["score", str(tmp_path / "concepts.npy"), str(tmp_path / "codes.npz"), "--json", "--quick", "--no-screen"]
    ran = CliRunner().invoke(main, [*words, "--metrics", "mcc"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["rows"][0]["score"]["raw"] == pytest.approx(mcc(CONCEPTS, CODES).raw, abs=1e-10)
    (tmp_path / "codes.npz").write_bytes((tmp_path / "codes.npz").read_bytes()[:-400])
    broken = CliRunner().invoke(main, words)
    assert broken.exit_code != 0
    assert "is not a complete .npz file" in broken.output


def given(**other):
    """An evidence, as far as the limits of screening depend on it."""
    plain = {"posterior": None, "code_groups": {}, "all_rows": None, "n_factors": 1, "n_codes": 2, "n_rows": 200}
    return SimpleNamespace(**plain | {"sparse_codes": None} | other)


@pytest.mark.parametrize(
    ("other", "may"),
    [
        ({}, True),
        ({"n_rows": 199}, False),
        ({"n_codes": 1}, False),
        ({"n_factors": 0}, False),
        ({"posterior": "one"}, False),
        ({"code_groups": {"a": (0,)}}, False),
        ({"all_rows": "many"}, False),
    ],
)
def test_codes_are_screened_only_if_they_are_single_points_on_enough_rows(other, may):
    assert screened_first._can_be_screened(given(**other)) is may


@pytest.mark.parametrize(
    ("n_codes", "stored", "wanted", "many"),
    [
        (1000, None, None, False),
        (1001, None, None, True),
        (64, "sparse", None, False),
        (65, "sparse", None, True),
        (2, None, True, True),
        (5000, None, False, False),
    ],
)
def test_so_many_codes_are_screened_without_asking(n_codes, stored, wanted, many):
    assert screened_first._shall_be_screened(given(n_codes=n_codes, sparse_codes=stored), wanted) is many


def selected(factors, q_value=0.01, rate=0.05):
    n = len(factors)
    return ScreenedCodes(
        np.arange(n)[::-1], tuple(map(str, range(n))), tuple(factors), np.zeros(n), np.zeros(n),
        np.broadcast_to(q_value, n), 5000, rate,
    )  # fmt: skip


@pytest.mark.parametrize(("n_factors", "n_scored"), [(3, 64), (32, 64), (33, 66), (128, 256), (129, 256)])
def test_at_most_so_many_codes_are_scored(n_factors, n_scored):
    assert screened_first._codes_to_score(selected(["a"] * 400), n_factors).size == n_scored


def test_the_strongest_codes_of_every_factor_are_scored_first():
    """The first 64 codes are of one factor, and one code of another factor comes after them."""
    chosen = screened_first._codes_to_score(selected(["a"] * 64 + ["b"]), 2)
    assert chosen.tolist() == [0, *range(2, 65)]


def test_codes_at_the_rate_are_found_and_a_thousand_are_listed(monkeypatch):
    q_values = np.where(np.arange(1500) < 1200, 0.05, 0.0501)
    monkeypatch.setattr(screened_first, "screened", lambda *_, **__: selected(["a"] * 1500, q_values))
    monkeypatch.setattr(screened_first, "_codes_to_score", lambda *_: np.arange(3))
    _, known = screened_first.screened_first({"x": Evidence(CONCEPTS, CODES)}, True, True)
    found = known["x"]
    assert (found.n_codes, found.n_found, found.n_scored, found.n_rows, found.rate) == (5000, 1200, 3, N // 2, 0.05)
    assert len(found.codes) == 1000


@pytest.mark.parametrize(
    ("n_rows", "n_codes", "stored", "dense"),
    [
        (10, 256, "sparse", True),
        (10, 257, "sparse", False),
        (10, 256, None, False),
        (160_000, 250, "sparse", True),
        (160_001, 250, "sparse", False),
    ],
)
def test_a_few_sparse_codes_become_a_table(n_rows, n_codes, stored, dense):
    evidence = given(n_rows=n_rows, n_codes=n_codes, sparse_codes=stored, choosing_codes=len)
    found = screened_first._dense(evidence)
    assert (found == n_codes) if dense else (found is evidence)
