"""The answer: the table of factors, questions by trusted metrics, and recommendations that fit the data."""

import dataclasses
import json
import re

import numpy as np
import pytest
from fake_evaluations import fake_evaluation
from scipy import stats

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
    assert [row.where for row in answer.factors] == ["a, b", "b, a", "c"]
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
    assert str(found.row("identification", "a").problem) in compared_answer(found).headline
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
    assert answer.headline == (
        "kept identifies the factors best (ladder value 1.00, where 0 is noise and 1 a code of its own for each "
        "factor; turned has 0.55)."
    )
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


@pytest.fixture(scope="module")
def over_seeds():
    """Two settings whose seeds differ more than the settings, and the single best run belongs to neither of them."""
    rng, codes = np.random.default_rng(5), {}
    for seed in range(3):
        for beta, turned in ((1, seed == 0), (4, seed == 1)):
            axes = np.linalg.qr(rng.normal(size=(3, 3)))[0] if turned else np.eye(3)
            codes[f"beta{beta}/seed{seed}"] = Z @ axes + 0.3 * rng.normal(size=Z.shape)
    return compare(FACTORS, codes, metrics=["identification", "r2"], quick=True)


def test_the_headline_speaks_of_settings_and_not_of_their_seeds(over_seeds):
    answer = compared_answer(over_seeds)
    ladders = over_seeds.data.ladders
    values = {beta: [ladders[f"beta{beta}/seed{k}"].value for k in range(3)] for beta in (1, 4)}
    theirs = stats.ttest_ind(values[1], values[4], equal_var=False)
    assert answer.headline.startswith("The settings do not differ significantly")
    for beta, found in values.items():
        assert f"beta{beta} {np.mean(found):.2f} ± {np.std(found, ddof=1):.2f} (3 seeds)" in answer.headline
    assert f"p = {theirs.pvalue:.2g})" in answer.headline
    assert "/seed" not in answer.headline + answer.report
    assert answer.report == (
        "By means over 3 seeds (Welch's t-test, not corrected for the number of metrics): By the ladder the settings "
        "do not differ significantly. identification (not checked) and r2 (not checked) are not trusted in every run: "
        "their tests are in the table alone."
    )
    page = over_seeds.to_html()
    for text in (str(over_seeds), over_seeds.to_markdown(), page, over_seeds._repr_html_()):
        assert "Single runs, each of which is one seed of its setting" in " ".join(text.split())
        assert "best minus other" in text
    first = re.search(r'class="of-seeds"><th scope="row" data-sort="(beta\d)"', page)[1]
    assert first == answer.settings.groups[0]
    assert over_seeds.answer["settings"]["differences"]["ladder"][0]["p_value"] == pytest.approx(theirs.pvalue)


def test_a_better_setting_is_named_with_its_test(over_seeds):
    rng = np.random.default_rng(6)
    codes = {f"good {k} seed {s}": Z + 0.1 * rng.normal(size=Z.shape) for k in range(2) for s in range(2)}
    codes |= {f"bad seed {s}": Z @ np.ones((3, 3)) + rng.normal(size=Z.shape) for s in range(2)} | {"alone": Z}
    answer = compared_answer(compare(FACTORS, codes, metrics="identification", quick=True))
    assert re.match(r"good \d and good \d identify the factors best, without a significant", answer.headline)
    assert re.search(r"good \d minus bad is 0\.\d\d \(95 % interval", answer.headline)
    assert answer.headline.endswith("alone has one seed and is not tested.")
    seeds = {name: over_seeds.data.representations[name] for name in ("beta1/seed1", "beta1/seed2")}
    one = Evaluation(
        tuple(row for row in over_seeds.rows if row.representation in seeds),
        dataclasses.replace(
            over_seeds.data, representations=seeds, ladders={name: over_seeds.data.ladders[name] for name in seeds}
        ),
    )
    assert compared_answer(one).headline.startswith("All runs are seeds of one setting")


def test_advice_is_about_the_representations_that_one_would_keep(three):
    kept = compare(
        FACTORS, {"kept": Z, "turned": Z @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]}, metrics="identification"
    )
    assert not any("turned" in step for step in compared_answer(kept).next_steps)
    alike = compare(
        FACTORS, {f"turned by {k}": Z @ np.linalg.qr(RNG.normal(size=(3, 3)))[0] for k in range(2)}, quick=True
    )
    (step,) = (step for step in compared_answer(alike).next_steps if "directions" in step)
    assert step.startswith(compared_answer(alike).order[0])


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.filterwarnings("ignore")
def test_too_few_rows_are_one_reason_with_one_number(n):
    for found in (evaluate(Z[:n], Z[:n]), compare(Z[:n], {"a": Z[:n], "b": Z[:n]})):
        answer = found.answer
        assert f"identification needs at least 30 rows and has {n}" in answer["headline"]
        assert answer["report"] == "There is no number to report, because no metric could be computed."
        (step,) = answer["next_steps"]
        assert "identification needs at least 30 rows" in step


LEVELS = np.random.default_rng(7).integers(0, 4, size=600)
ONE_HOT = {f"is {k}": (k == LEVELS).astype(int) for k in range(4)}


@pytest.mark.filterwarnings("ignore::unweave.InputWarning")
def test_a_level_follows_from_all_other_levels_whichever_is_left_out():
    rng = np.random.default_rng(8)
    size = {"size": rng.normal(size=600)}
    carried = {"all": np.eye(4)[LEVELS], "last two": np.eye(4)[LEVELS][:, 2:], "a number": LEVELS[:, None]}
    codes = {
        name: np.column_stack([own + 0.05 * rng.normal(size=own.shape), size["size"]]) for name, own in carried.items()
    }
    found = compare(ONE_HOT | size, codes, metrics="identification", quick=True)
    for name in codes:
        (row,) = (row for row in answer_of(found, name).factors if row.rung == "implied")
        others = set(ONE_HOT) - {row.factor}
        assert set(found.data.ladders[name][row.factor].implied_by) == others
        assert row.note.startswith("follows from ")
        assert row.note.endswith(f" together, so {'it does not count' if row.where else 'no code is needed'}")
        assert row.recovery == row.readable == found.data.ladders[name][row.factor].readable
        place = found.representations.index(name)
        assert compared_answer(found).layers.cells[row.factor][place].value == row.readable
    # each level has a code, also the implied one, of which it was said that no code is needed
    (row,) = (row for row in answer_of(found, "all").factors if row.rung == "implied")
    assert row.where == f"code {list(ONE_HOT).index(row.factor)}"
    assert row.one_code > 0.99
    assert f"but {row.factor} would have a code of its own in place of another one" in answer_of(found, "all").headline
    table = compared_answer(found).layers
    assert all(cell.value is not None for cells in table.cells.values() for cell in cells)
    implied = [cell for cells in table.cells.values() for cell in cells if cell.rung == "implied"]
    assert [cell.above_noise for cell in implied] == [cell.value > table.noise for cell in implied]


def test_the_report_of_settings_speaks_of_every_metric_of_the_table():
    rng, runs = np.random.default_rng(6), {}
    for seed in range(3):
        for beta, noise in ((1, 0.2), (4, 0.6)):
            runs[f"beta{beta}/seed{seed}"] = Z + noise * (1 + 0.02 * seed) * rng.normal(size=Z.shape)
    found = compare(FACTORS, runs, metrics=["identification", "r2", "mig", "mcc"], budget=0)
    settings = found.grouped()
    report = compared_answer(found).report
    assert set(settings.differences) == {"ladder", "identification", "r2", "mig", "mcc"}
    assert all(name in report for name in settings.differences)
    assert "not corrected for the number of metrics" in report
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert "not corrected for the number of metrics" in " ".join(text.split())
        assert "p (Welch)" in text
    runs |= {f"beta8/seed{seed}": rng.normal(size=Z.shape) for seed in range(3)}
    three = compare(FACTORS, runs, metrics="r2", quick=True)
    assert "p (Welch, Holm)" in three.to_markdown()


def test_settings_whose_gains_cancel_in_the_ladder_are_told_apart_by_its_parts():
    """Clean rotations against noisy codes of their own: "do not differ" was read as the answer to both questions."""
    rng, runs = np.random.default_rng(0), {}
    factors = rng.normal(size=(300, 4))
    for seed in range(4):
        own = np.random.default_rng(seed)
        runs[f"turned_seed{seed}"] = factors @ np.linalg.qr(own.normal(size=(4, 4)))[0]
        runs[f"noisy_seed{seed}"] = factors + (1 + 0.35 * own.normal()) * own.normal(size=factors.shape)
    headline = compared_answer(compare(factors, runs, metrics=["identification", "r2"], quick=True)).headline
    start = (
        "The settings do not differ significantly by the ladder, which counts own codes and readability: noisy has more"
    )
    assert headline.startswith(start)
    assert " and turned is more readable (r2 1.00 against " in headline


def test_classes_that_share_a_value_of_the_code_are_not_called_noise():
    shape = np.array(["disc", "ring", "star", "bar"])[LEVELS]
    rng = np.random.default_rng(9)
    other = rng.normal(size=600)
    for noise in (0.01, 0.5):
        code = np.array([0.0, 0.0, 1.0, 2.0])[LEVELS] + noise * rng.normal(size=600)
        found = evaluate({"shape": shape, "other": other}, np.column_stack([code, other]), quick=True)
        assert answer_of(found).factors[0].note.split("; ")[0] == "its code does not tell all classes apart"


@pytest.mark.parametrize(("copies", "few"), [(1, {"code 0", "code 1"}), (5, {"all 12 codes"})])
def test_the_codes_of_a_direction_are_named_if_they_are_few(copies, few):
    rng = np.random.default_rng(10)
    mixed = np.column_stack([Z[:, 0] + Z[:, 1], Z[:, 0] - Z[:, 1]])
    noisy = [mixed + 0.2 * rng.normal(size=mixed.shape) for _ in range(copies)]
    codes = np.column_stack([*noisy, rng.normal(size=(300, 2))])
    row = answer_of(evaluate(Z[:, :2], codes, metrics="identification", quick=True)).factors[0]
    assert row.rung == "own direction"
    assert set(row.where.split(", ")) == few


def test_a_quick_answer_says_where_better_probes_could_take_a_rung_away():
    z, noise = np.random.default_rng(50).normal(size=(2, 600, 2))
    clean, private = (
        answer_of(evaluate({"size": z[:, 0], "hue": z[:, 1]}, codes, metrics="identification", quick=True))
        for codes in (z, z + 1.2 * noise)
    )
    assert "may show that size and hue are only readable" in private.headline
    assert all("nonlinear probes were not tried" in row.note for row in private.factors)
    assert "were not tried" not in clean.headline + "".join(row.note for row in clean.factors)
    assert "ladder value may be higher" in clean.reading[0]
