"""The answer: the table of factors, questions by trusted metrics, and recommendations that fit the data."""

import dataclasses
import json
import re

import numpy as np
import pytest
from fake_evaluations import fake_evaluation

from unweave import Posterior, compare, evaluate
from unweave.evaluation import Evaluation
from unweave.evaluation.choose import QUESTIONS
from unweave.findings import Finding
from unweave.report.answer import answer_of, compared_answer, compared_by, fitting_advice
from unweave.trust import Verdict
from unweave.trust.verdict_record import Level, Reason

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(300, 3))
NAMES = ["x", "y", "hue"]
FACTORS = dict(zip(NAMES, Z.T, strict=True))
TURN = np.array([[0.8, 0.6], [-0.6, 0.8]])


def test_a_noisy_code_of_its_own_identifies_in_part():
    """The headline says that x has a code of its own, so that "not x" contradicted it."""
    codes = Z + np.array([1.0, 0.1, 0.1]) * np.random.default_rng(1).normal(size=Z.shape)
    answer = answer_of(evaluate(FACTORS, codes, metrics=["identification"], budget=0))
    assert answer.headline == "All 3 factors have a code of their own."
    assert answer.identified == (
        "The representation identifies y and hue up to permutation and elementwise maps; "
        "x only in part (recovery below 0.80)."
    )


@pytest.fixture(scope="module")
def turned():
    """Codes with x and y rotated, and hue in a separate code."""
    codes = np.column_stack([Z[:, :2] @ TURN, Z[:, 2] ** 3])
    return evaluate(FACTORS, codes, code_names=["a", "b", "c"], metrics=["identification", "r2"], budget=0)


def test_a_row_for_every_factor(turned):
    answer = answer_of(turned)
    assert [(row.factor, row.rung) for row in answer.factors] == [
        ("x", "own direction"), ("y", "own direction"), ("hue", "one code"),
    ]  # fmt: skip
    assert [row.where for row in answer.factors] == ["all 3 codes", "all 3 codes", "c"]
    assert [row.note for row in answer.factors] == ["a is mixed with y", "b is mixed with x", ""]
    assert answer.headline == "Of 3 factors, 1 has a code of its own: hue; 2 are directions of the codes: x and y."
    assert answer.identified == (
        "The representation identifies hue up to permutation and elementwise maps; x and y up to affine maps."
    )
    assert {name: weights.shape for name, weights in turned.directions.items()} == dict.fromkeys(NAMES, (3, 1))


def test_a_line_for_every_question_that_something_was_computed_for(turned):
    lines = {line.question: line for line in answer_of(turned).questions}
    assert list(lines) == ["recovery", "explicitness", "other content"]
    assert lines["recovery"].metric == "identification"
    assert lines["recovery"].value == turned["identification"].value
    assert lines["recovery"].noise is None  # the floor was not computed
    assert lines["other content"].answer == "no"  # all of the codes' variance is about the factors


@pytest.mark.parametrize("unchecked", [{"budget": 0}, {"quick": True}])
def test_what_was_not_checked_is_called_that_in_every_output(unchecked):
    found = evaluate(FACTORS, Z, metrics=["identification", "r2"], **unchecked)
    answer = answer_of(found)
    asked = [line for line in answer.questions if line.metric]
    assert [(line.answer, line.level) for line in asked] == [("not checked", "not checked")] * 2
    assert answer.headline == "All 3 factors have a code of their own."  # by the ladder, which has its own tests
    assert "not checked" in answer.report
    stored = json.loads(found.to_json())["answer"]["questions"]
    assert {line["answer"] for line in stored if line["metric"]} == {"not checked"}
    assert not any(line["level"] == "not checked" for line in stored if not line["metric"])
    assert found.to_frame("pandas")["verdict"].tolist() == ["not checked"] * 2
    page = found.to_html()
    for output in (str(found), found.to_markdown(), found._repr_html_(), page[page.index("<body") :]):
        assert output.count("not checked") >= 4  # the answer and the verdict of two questions
        assert not re.search(
            r"Own code for each factor\?\W+yes|code of its own\?\W+yes", re.sub("<[^>]*>", " ", output)
        )


def test_the_sentence_to_report_holds_the_trusted_numbers(turned):
    answer = answer_of(turned)
    for line in answer.questions:
        stated = f"{line.metric} is {line.value:.2f}" in answer.report
        assert stated == (line.level == "trust" and line.question != "other content")


def test_what_is_not_to_be_used_answers_nothing():
    one = fake_evaluation(
        chosen=[(*entry[:5], "do not use") for entry in fake_chosen() if entry[0] == "dci_completeness"]
    )
    (line,) = [line for line in answer_of(one).questions if line.question == "compactness"]
    assert (line.level, line.answer) == ("do not use", "not known")
    assert "no number to report" in answer_of(one).report


def fake_chosen():
    from fake_evaluations import CHOSEN

    return CHOSEN


def test_without_identification_the_table_is_missing_and_the_headline_says_so():
    answer = answer_of(fake_evaluation())
    assert answer.factors == ()
    assert "add identification to the metrics" in answer.headline


def test_a_comparison_says_why_there_are_no_ladders():
    z = np.ones((40, 2))
    found = compare(z, {"a": Z[:40], "b": Z[:40]}, metrics="identification", quick=True)
    assert found.data.ladder_problems["a"] in compared_answer(found).headline
    codes = Posterior(Z, np.full(Z.shape, 0.1))
    unlabelled = compare(None, {"a": codes, "b": codes}, quick=True)
    assert "factors" in compared_answer(unlabelled).headline
    assert "add identification" not in compared_answer(unlabelled).headline


def test_noise_is_not_praised():
    rows = evaluate(Z, RNG.normal(size=(300, 3)), metrics=["mcc"], budget=4).rows
    assert rows[0].verdict.level == "trust"
    assert rows[0].level == "noise level"


@pytest.mark.parametrize("level", [level for level in Level if level is not Level.NOT_CHECKED])
def test_every_level_is_shown_on_every_page(level):
    evaluation = fake_evaluation()
    rows = tuple(dataclasses.replace(row, verdict=Verdict(level)) for row in evaluation.rows)
    changed = Evaluation(rows, evaluation.data)
    assert level in str(changed)
    assert level in changed.to_html()
    assert level in changed.to_markdown()


def advice_about(concerns, metrics):
    return Reason(Finding("undefined_here"), "", 0.0, "", Finding("advice", concerns=concerns, metrics=metrics))


def test_advice_fits_the_data(turned):
    assert fitting_advice(advice_about("P1", "r2"), turned, "codes") == ""  # no correlation to break
    assert "Read r2" in fitting_advice(advice_about("P3", "r2 or mcc"), turned, "codes")
    nothing = evaluate(Z, RNG.normal(size=(300, 3)), metrics=["mcc"], budget=4)
    assert "mcc" not in fitting_advice(advice_about("P3", "mcc"), nothing, "codes")


@pytest.fixture(scope="module")
def three():
    codes = {"kept": Z, "turned": np.column_stack([Z[:, :2] @ TURN, Z[:, 2]]), "noise": RNG.normal(size=(300, 3))}
    return compare(FACTORS, codes, metrics=["identification", "mcc"], budget=2)


def test_representations_are_ranked_with_the_best_group(three):
    answer = compared_answer(three)
    assert answer.headline == "kept identifies the factors best (ladder value 1.00; turned has 0.55)."
    recovery = compared_by("mcc", QUESTIONS[0], three)
    assert [entry.representation for entry in recovery.ranked] == ["kept", "turned", "noise"]
    assert [entry.best for entry in recovery.ranked] == [True, False, False]
    assert recovery.ranked[-1].verdict == "noise level"


def test_leakage_is_a_range_up_to_what_no_factor_explains():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 2))
    codes = z @ np.linalg.qr(rng.normal(size=(2, 2)))[0] + 0.6 * rng.normal(size=(600, 2))
    found = evaluate(z, codes, metrics=["identification"], budget=0)
    for row, known in zip(found.answer["factors"], found.ladder.rows, strict=True):
        most = known.leakage + known.noise
        assert row["most_leakage"] == pytest.approx(most)
        assert f"its direction may leak {known.leakage:.2f} to {most:.2f}" in row["note"]


def test_json_holds_the_answer_and_reads_back(three, turned):
    for evaluation in (three, turned):
        content = json.loads(evaluation.to_json())
        assert content["answer"] == json.loads(json.dumps(evaluation.answer))
        assert Evaluation.from_json(evaluation.to_json()).answer == evaluation.answer


def test_the_notebook_shows_the_answer_and_runs_nothing(turned):
    strange = evaluate({"<script>alert(1)</script>": Z[:, 0]}, Z, quick=True, code_names=["<b>", "&", '"'])
    for evaluation in (turned, strange):
        view = evaluation._repr_html_()
        assert "Next:" in view
        assert "<script" not in view
        assert "<b>b" not in view.replace("<b>Report", "").replace("<b>Next", "")


def test_pairs_of_factors_and_codes_for_pictures(turned):
    pairs = {pair.factor: pair for pair in turned.data.matched_pairs["codes"]}
    assert pairs["hue"].code == "c"
    order = np.argsort(pairs["hue"].x)
    assert (np.diff(np.array(pairs["hue"].y)[order]) >= 0).all()  # a monotone code of its factor
    assert 0 <= min(pairs["x"].y) <= max(pairs["x"].y) <= 1


def test_a_constant_factor_is_said_to_be_constant():
    answer = answer_of(evaluate({"x": Z[:, 0], "same": np.ones(300)}, Z, metrics=["identification"], budget=0))
    assert answer.factors[1].note == "it never varies in these data"
