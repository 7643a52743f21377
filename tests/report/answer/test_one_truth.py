"""No output contradicts another: headline, tables, frame, JSON, pages and comparisons of many small worlds agree."""

import json
import math
import re

import numpy as np
import pytest

from unweave import Evaluation, compare, evaluate, ladder
from unweave.evaluation.loop import compared_ladders
from unweave.report.answer import IN_CODES, answer_of, compared_answer

N, D = 200, 3
LEVELS = ("trust", "noise level", "caution", "no verdict", "not checked", "do not use")


def haar(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def encoded(kind, z, rng):
    noise = rng.normal(size=z.shape)
    return {
        "own": z,
        "reshaped": np.sinh(z)[:, ::-1],
        "private noise": math.sqrt(0.7) * z + math.sqrt(0.3) * noise,
        "rotated": z @ haar(rng, D),
        "rotated, noise": z @ haar(rng, D) + 0.5 * noise,
        "noise": noise,
        "one dropped": z[:, 1:],
        "folded": np.column_stack([z[:, 0] ** 2, z[:, 1:]]),
        "wide": z @ rng.normal(size=(D, 12)) + 0.3 * rng.normal(size=(len(z), 12)),
        "joint": np.column_stack([z[:, 0] * np.sign(z[:, 1]), z[:, 2]]),
    }[kind]


KINDS = [
    "own", "reshaped", "private noise", "rotated", "rotated, noise", "noise", "one dropped", "folded", "wide", "joint",
]  # fmt: skip


def world(seed, factors):
    rng = np.random.default_rng([31, seed])
    z = rng.normal(size=(N, D))
    if factors == "correlated":
        z[:, 1] = 0.7 * z[:, 0] + math.sqrt(1 - 0.49) * z[:, 1]
    if factors == "binary":
        z[:, 0] = np.where(z[:, 0] > 0, 1.0, -1.0)
    return z, rng


def assert_one_truth(found):
    """What is said of one representation is the same everywhere."""
    answer, rungs = answer_of(found), found.ladder
    assert [row.rung for row in answer.factors] == [row.rung for row in rungs.rows]
    shown = found.answer
    texts = [str(found), found.to_markdown(), found.to_html(), found._repr_html_()]
    for text in texts:
        flat = " ".join(re.sub(r"[\\*]", "", text).split())
        for sentence in (answer.headline, answer.report, *answer.next_steps, answer.identified):
            assert " ".join(sentence.replace("'", "&#39;").split()) in flat or sentence in flat
    assert shown["headline"] == answer.headline == json.loads(found.to_json())["answer"]["headline"]
    assert shown["report"] == answer.report
    frame = {line["metric"]: line for line in found.to_frame("polars").to_dicts()}
    cells = {metric["label"]: metric["cells"][0] for metric in found.to_summary()["metrics"]}
    for row in found.rows:
        assert row.level in LEVELS
        if row.verdict is not None:
            assert frame[row.label]["verdict"] == row.level == cells[row.label]["verdict"]["level"]
        if row.ends is not None:
            low, high = row.ends
            assert low <= row.score.value <= high
            assert (frame[row.label]["lower"], frame[row.label]["upper"]) == (low, high)
    for line in answer.questions:
        if line.metric:
            assert line.level == found.row(line.metric, "codes").level
            assert (f"{line.metric} is {line.value:.2f}" in answer.report) == (line.level == "trust")
    for row in answer.factors:
        if row.low is not None:
            assert row.low <= row.recovery <= row.high
        if row.rung == "absent":  # no recovery on the page is above its floor where the factor counts as absent
            assert rungs[row.factor].readable <= max(rungs[row.factor].floors["readable"], 0.02) or (
                rungs[row.factor].p_value > 0.02 or rungs[row.factor].intervals["readable"][0] <= 0
            )
    assert ("absent" in answer.headline) == any(row.rung == "absent" for row in answer.factors)
    assert "Train for longer" not in texts[0]
    assert "posterior means" not in texts[0]


@pytest.mark.parametrize("factors", ["independent", "correlated", "binary"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_output_of_one_representation_contradicts_another(kind, factors):
    z, rng = world(KINDS.index(kind), factors)
    found = evaluate(z, encoded(kind, z, rng), metrics=["identification", "r2", "mcc"], budget=1)
    assert_one_truth(found)
    again = Evaluation.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)


@pytest.mark.parametrize("seed", range(4))
def test_no_comparison_contradicts_its_parts(seed):
    z, rng = world(seed, ["independent", "correlated"][seed % 2])
    names = [KINDS[k] for k in np.random.default_rng(seed).choice(len(KINDS), 3, replace=False)]
    codes = {name: encoded(name, z, rng) for name in names}
    both = compare(z, codes, metrics=["identification", "r2"], budget=3)
    answer = compared_answer(both)
    values = {name: one.value for name, one in both.data.ladders.items()}
    assert list(answer.order) == sorted(values, key=lambda name: -values[name])
    for name in answer.best:
        assert any(row.rung in IN_CODES for row in both.data.ladders[name].rows)
        for other in values:
            if other != name:
                pair = both.data.ladder_comparison.between(name, other)
                assert pair.p_value > 0.05 or pair.first == name
    assert not answer.best or any(each.p_value <= 0.05 for each in both.data.ladder_comparison.differences)
    for name in names:
        for question in answer.questions:
            entry = next(each for each in question.ranked if each.representation == name)
            assert entry.level == both.row(question.metric, name).level
            assert not (entry.best and entry.level in ("noise level", "do not use"))
    text = " ".join(str(both).split())
    assert answer.headline in text
    assert answer.report in text


def test_noise_and_two_rotations_are_never_best():
    z, rng = world(9, "independent")
    noise, turned = rng.normal(size=(N, D)), z @ haar(rng, D)
    found = compare(z, {"noise": noise, "turned": turned}, metrics="identification", budget=5)
    assert compared_answer(found).best == ("turned",)
    assert "noise is best" not in str(found)
    rotations = compare(z, {"A": z @ haar(rng, D), "B": z @ haar(rng, D)}, metrics="identification", budget=5)
    assert compared_answer(rotations).best == ()
    assert "best" not in compared_answer(rotations).headline


def test_noise_has_one_level_and_a_rotation_is_not_an_error():
    rng = np.random.default_rng([31, 9])
    z = rng.normal(size=(N, 4))
    half = math.sqrt(0.5)
    turned = z @ np.kron(np.eye(2), [[half, half], [-half, half]])  # every code has as much of one factor as of another
    for codes, rung in ((rng.normal(size=(N, 4)), "absent"), (turned, "own direction")):
        found = evaluate(z, codes, metrics=["identification", "r2", "mcc"], budget=5)
        assert {row.rung for row in answer_of(found).factors} == {rung}
        for row in found.rows:
            assert row.level == ("noise level" if row.at_noise_level else "trust")
        first = answer_of(found).questions[0]
        assert (first.metric, first.answer) == ("identification", "no")
        assert "do not use" not in str(found)
        if first.level == "noise level":
            assert "no better than a random mixing of the factors" in answer_of(found).report
            assert not any("identification" in step for step in answer_of(found).next_steps)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_equal_representations_are_seldom_told_apart(turned):
    told_apart = 0
    for seed in range(100):
        z, rng = world(1000 + seed, "independent")
        pair = [z @ haar(rng, D) if turned else z + 0.6 * rng.normal(size=z.shape) for _ in range(2)]
        found = compared_ladders(
            {name: ladder(z, codes, quick=True) for name, codes in zip("AB", pair, strict=True)}, 0.95
        )
        told_apart += len(found.ties) > 1
    assert told_apart <= 5 + 2 * 2.2  # two standard errors of 100 draws


def test_nothing_is_said_of_differences_without_a_test():
    z, rng = world(1, "independent")
    found = compare(z, {"kept": z, "noise": rng.normal(size=(N, D))}, quick=True)
    answer = compared_answer(found)
    assert "not tested" in answer.headline
    assert "were not tested" in answer.report
    assert "significantly" not in answer.report
    assert not any(entry.best for question in answer.questions for entry in question.ranked)


@pytest.mark.parametrize("budgets", [(0, 2, 8), pytest.param((1, 3, 8, 15, 30, math.inf), marks=pytest.mark.slow)])
def test_the_metric_of_a_question_does_not_depend_on_the_budget(budgets):
    z, rng = world(2, "correlated")
    codes = encoded("rotated, noise", z, rng)
    found = [evaluate(z, codes, budget=budget) for budget in budgets]
    metrics = [[(line.question, line.metric) for line in answer_of(one).questions] for one in found]
    assert all(each == metrics[0] for each in metrics)
    for one in zip(*(one.rows for one in found), strict=True):
        assert len({row.level for row in one if row.level != "not checked"} - {"no verdict"}) <= 1


@pytest.mark.parametrize(
    ("make", "rung", "forbidden"),
    [
        (lambda v, w: (np.abs(v), v), "one code", "depends on it"),  # speed of a velocity
        (lambda v, w: (v, v**2), "folded", "Train"),
        (lambda v, w: (v, w), "absent", "Train"),
    ],
)
def test_advice_fits_what_is_known(make, rung, forbidden):
    rng = np.random.default_rng(5)
    v, w = rng.normal(size=(2, 600))
    factor, code = make(v, w)
    found = evaluate({"f": factor}, {"c": code}, metrics=["identification"], budget=1)
    assert found.ladder["f"].rung == rung
    assert forbidden not in str(found)


def test_an_angle_is_not_asked_of_classes():
    rng = np.random.default_rng(5)
    names, code = np.array(["a", "b", "c"])[rng.integers(3, size=600)], rng.normal(size=600)
    found = evaluate({"f": names}, {"c": np.where(names == "b", 0.0, 1.0) + 1e-3 * code}, metrics=["identification"])
    assert "angle" not in str(found)
