"""The answer: the table of factors, questions by trusted metrics, and recommendations that fit the data."""

import dataclasses
import json

import numpy as np
import pytest
from fake_evaluations import fake_evaluation

from unweave import Score, compare, evaluate
from unweave.evaluation import Evaluation
from unweave.evaluation.choose import QUESTIONS
from unweave.findings import Finding
from unweave.report.answer import answer_of, compared_answer, compared_by, fitting_advice, verdict_in_words
from unweave.trust.intervals import Interval
from unweave.trust.verdict_record import Level, Reason, Verdict

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(300, 3))
NAMES = ["x", "y", "hue"]
FACTORS = dict(zip(NAMES, Z.T, strict=True))
TURN = np.array([[0.8, 0.6], [-0.6, 0.8]])


@pytest.fixture(scope="module")
def turned():
    """Codes with x and y rotated, and hue in a separate code."""
    codes = np.column_stack([Z[:, :2] @ TURN, Z[:, 2] ** 3])
    return evaluate(FACTORS, codes, code_names=["a", "b", "c"], metrics=["identification", "r2"], budget=0)


def test_a_row_for_every_factor(turned):
    ends = Interval("identification", 0.95, 0.4, 0.3, 0.5, (0.0, 1.0), 24, per_factor={"hue": (0.9, 1.2)})
    rows = tuple(dataclasses.replace(row, interval=ends) for row in turned.rows)
    answer = answer_of(Evaluation(rows, turned.data))
    assert [row.factor for row in answer.factors] == NAMES
    assert [row.found for row in answer.factors] == ["no", "no", "yes"]
    assert answer.factors[2].codes == ("c",)
    assert [row.obstacle for row in answer.factors] == ["mixed with y", "mixed with x", ""]
    assert (answer.factors[2].low, answer.factors[2].high) == (0.9, 1.0)
    assert answer.factors[0].low is None
    assert answer.headline == "1 of 3 factors has a code of its own: hue. Not found: x and y."


def test_the_score_is_the_mean_of_the_column_of_factors(turned):
    answer = answer_of(turned)
    shares = [row.share for row in answer.factors]
    assert np.mean(shares) == pytest.approx(
        turned["identification"].value
    )  # one factor is found, so mixing does not count below 0
    assert "identification is the mean of this column. A factor" in answer.reading[0]


def test_a_score_below_the_mean_of_its_column_is_explained():
    rotated = Z @ np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    evaluation = evaluate(FACTORS, rotated, metrics=["identification"], quick=True)
    score = evaluation["identification"]
    row = dataclasses.replace(evaluation.rows[0], score=dataclasses.replace(score, raw=0.02))
    findings = tuple(Finding("factor_not_identified", factors=(name,), share=0.08, reason="mixed") for name in NAMES)
    row = dataclasses.replace(row, score=dataclasses.replace(row.score, findings=findings))
    answer = answer_of(Evaluation((row,), evaluation.data))
    assert "Here it is 0.02 instead of 0.08, because less than one factor is found in all" in answer.reading[0]


def test_redundant_factors_are_not_in_the_mean_of_the_column():
    factors = {"x": Z[:, 0], "y": Z[:, 1], "cube": Z[:, 0] ** 3}
    answer = answer_of(
        evaluate(factors, np.column_stack([Z[:, :2], Z[:, 0] ** 3]), metrics="identification", quick=True)
    )
    assert "is the mean of this column without cube, which other factors determine." in answer.reading[0]


def test_an_mcc_above_identification_is_explained():
    rotated = Z @ np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    both = compare(FACTORS, {"kept": Z, "rotated": rotated}, metrics=["identification", "mcc"], quick=True)
    kept, rotated_answer = compared_answer(both).representations
    assert kept.mcc_note == ""
    assert rotated_answer.mcc_note == compared_answer(both).mcc_note
    assert "mcc can be high although identification is low" in both.to_markdown()
    assert "mcc can be high although identification is low" in str(both)
    assert "mcc can be high although identification is low" in both.to_html()


def test_what_is_mixed_and_can_be_read_is_worth_a_rotation(turned):
    (step,) = answer_of(turned).next_steps
    assert step.startswith("x and y are mixed with each other in")
    assert "a rotation of the codes may separate them" in step


def test_a_line_for_every_question_that_something_was_computed_for(turned):
    lines = {line.question: line for line in answer_of(turned).questions}
    assert list(lines) == ["recovery", "explicitness", "other content"]
    assert lines["explicitness"].answer == "yes"
    assert lines["recovery"].metric == "identification"
    assert lines["recovery"].value == turned["identification"].value
    assert lines["recovery"].noise == 0
    assert lines["other content"].answer == "no"  # all of the codes' variance is about the factors


def test_the_sentence_to_report_holds_the_trusted_numbers(turned):
    answer = answer_of(turned)
    for line in answer.questions:
        stated = f"{line.metric} is {line.value:.2f}" in answer.report
        assert stated == (line.level == "trust" and line.question != "other content")


def test_the_metric_of_a_question_is_the_most_trusted_one():
    lines = {line.question: line for line in answer_of(fake_evaluation()).questions}
    assert (lines["compactness"].metric, lines["compactness"].level) == ("jemmig", "trust")
    assert set(lines["compactness"].others) == {"dci_completeness", "mig"}
    assert lines["compactness"].answer == "partly"  # lower is better: noise .93, score .51, best 0


def test_what_is_not_to_be_used_answers_nothing():
    one = fake_evaluation(chosen=[entry for entry in fake_chosen() if entry[0] == "mig"])
    (line,) = [line for line in answer_of(one).questions if line.question == "compactness"]
    assert (line.level, line.answer) == ("do not use", "not known")
    assert "no number to report" in answer_of(one).report


def fake_chosen():
    from fake_evaluations import CHOSEN

    return CHOSEN


def test_without_identification_the_table_is_missing_and_the_headline_says_so():
    answer = answer_of(fake_evaluation())
    assert answer.factors == ()
    assert "add it to the metrics" in answer.headline


def test_noise_is_not_praised():
    rows = evaluate(Z, RNG.normal(size=(300, 3)), metrics=["mcc"], budget=4).rows
    assert rows[0].verdict.level == "trust"
    assert verdict_in_words(rows[0]) == "noise level"


@pytest.mark.parametrize("level", Level)
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
    return compare(FACTORS, codes, metrics=["identification", "mcc"], budget=4)


def test_representations_are_ranked_with_the_best_group(three):
    answer = compared_answer(three)
    assert answer.headline == "kept has every factor in a code of its own."
    recovery = compared_by("mcc", QUESTIONS[0], three)
    assert [entry.representation for entry in recovery.ranked] == ["kept", "turned", "noise"]
    assert [entry.best for entry in recovery.ranked] == [True, False, False]
    assert recovery.ranked[-1].verdict == "noise level"


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
    assert answer.factors[1].obstacle == "it never varies in these data"


def test_an_undefined_score_finds_nothing():
    score = Score(raw=float("nan"), metric="identification", caveats=("These data cannot tell.",))
    evaluation = evaluate(Z[:, :2], Z, metrics=["identification"], quick=True)
    row = dataclasses.replace(evaluation.rows[0], score=dataclasses.replace(evaluation.rows[0].score, raw=score.raw))
    answer = answer_of(Evaluation((row,), evaluation.data))
    assert {entry.found for entry in answer.factors} == {"not known"}
    assert answer.headline.startswith("These data do not show which factors were found.")
