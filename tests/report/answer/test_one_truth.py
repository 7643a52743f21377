"""No output contradicts another: headline, tables, frame, JSON, pages, probes, layers, boards and comparisons agree."""

import html
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

import unweave
from unweave import Evaluation, compare, evaluate, ladder
from unweave.evaluation.loop import compared_ladders
from unweave.integrations.monitor import logged_verdicts
from unweave.report.answer import IN_CODES, FactorState, answer_of, compared_answer
from unweave.report.leaderboard import leaderboard

N, D = 200, 3
LEVELS = ("trust", "noise level", "caution", "no verdict", "not checked", "do not use")


def haar(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def encoded(kind, z, rng):
    noise, d = rng.normal(size=z.shape), z.shape[1]
    wide = z @ rng.normal(size=(d, 12)) + 0.3 * rng.normal(size=(len(z), 12))
    return {
        "own": lambda: z,
        "reshaped": lambda: np.sinh(z)[:, ::-1],
        "private noise": lambda: math.sqrt(0.7) * z + math.sqrt(0.3) * noise,
        "rotated": lambda: z @ haar(rng, d),
        "rotated, noise": lambda: z @ haar(rng, d) + 0.5 * noise,
        "noise": lambda: noise,
        "one dropped": lambda: z[:, 1:] if d > 1 else noise,
        "folded": lambda: np.column_stack([z[:, 0] ** 2 if np.ptp(z[:, 0] ** 2) else noise[:, 0], z[:, 1:]]),
        "wide": lambda: wide,
        "joint": lambda: np.column_stack([z[:, 0] * np.sign(z[:, -1]), z[:, 1:-1], noise[:, 0]]),
        "weak": lambda: 0.2 * z + noise,
        "sparse": lambda: np.maximum(wide - 1.0, 0.0),
        "heavy tails": lambda: z + rng.standard_t(2, size=z.shape),
        "more codes than rows": lambda: z @ rng.normal(size=(d, 250)) + rng.normal(size=(len(z), 250)),
        "one dead": lambda: np.column_stack([z, np.ones(len(z))]),
    }[kind]()


KINDS = [
    "own", "reshaped", "private noise", "rotated", "rotated, noise", "noise", "one dropped", "folded", "wide", "joint",
    "weak", "sparse", "heavy tails", "more codes than rows", "one dead",
]  # fmt: skip

FACTORS = ["independent", "correlated", "binary", "levels", "classes", "circle", "implied", "uniform"]


def world(seed, factors, d=D):
    """Numbers that are encoded, and a random stream."""
    rng = np.random.default_rng([31, seed])
    z = rng.normal(size=(N, d))
    if factors == "correlated" and d > 1:
        z[:, 1] = 0.7 * z[:, 0] + math.sqrt(1 - 0.49) * z[:, 1]
    if factors == "implied" and d > 1:
        z[:, -1] = np.tanh(z[:, 0])
    if factors == "uniform":
        z = rng.uniform(-1.7, 1.7, size=(N, d))
    if factors in ("binary", "levels", "classes"):
        n_values = {"binary": 2, "levels": 4, "classes": 3}[factors]
        z[:, 0] = (rng.integers(n_values, size=N) - (n_values - 1) / 2) * 1.5
    return z, rng


def drawn(seed):
    """Factors with their kinds, and codes, of one of hundreds of worlds."""
    choose = np.random.default_rng([3100, seed])
    kind, factors, d = KINDS[seed % len(KINDS)], FACTORS[choose.integers(len(FACTORS))], int(choose.integers(1, 5))
    z, rng = world(seed, factors, d)
    columns, kinds = {f"f{j}": z[:, j] for j in range(d)}, {}
    codes = encoded(kind, z, rng)
    if factors == "classes":
        columns["f0"] = np.array(["a", "b", "c"])[np.unique(z[:, 0], return_inverse=True)[1]]
    if factors == "circle":
        angle = rng.uniform(0, 2 * np.pi, size=N)
        columns["f0"], kinds = angle, {"f0": "circular"}
        codes = encoded(
            kind, np.column_stack([np.cos(angle), np.sin(angle), z[:, 1:]]) * [1.4, 1.4, *[1] * (d - 1)], rng
        )
    return f"{kind} / {factors} / {d}", columns, kinds, codes


def sentences_shown(text):
    return " ".join(html.unescape(re.sub(r"[\\*]", "", text)).split())


def contradictions(found, factors, kinds, codes):  # noqa: C901 - one list of what must hold
    """Every pair of statements about one representation that cannot both be true."""
    wrong = []

    def must(holds, what):
        if not holds:
            wrong.append(what)

    answer, rungs = answer_of(found), found.ladder
    known = {row.factor: row for row in rungs.rows}
    must([row.rung for row in answer.factors] == [row.rung for row in rungs.rows], "rungs")
    for name, text in {
        "terminal": str(found),
        "Markdown": found.to_markdown(),
        "page": found.to_html(),
        "notebook": found._repr_html_(),
    }.items():
        flat = sentences_shown(text)
        for sentence in (answer.headline, answer.report, *answer.next_steps, answer.identified):
            plain = " ".join(sentence.split())
            must(plain in flat, f"{name} lacks: {sentence}")
        must("Train for longer" not in flat and "posterior means" not in flat, f"{name} advises what nobody knows")
    stored = json.loads(found.to_json())["answer"]
    must(stored == json.loads(json.dumps(found.answer)), "JSON has another answer")
    must((stored["headline"], stored["report"]) == (answer.headline, answer.report), "JSON has other sentences")
    frame = {line["metric"]: line for line in found.to_frame("polars").to_dicts()}
    cells = {metric["label"]: metric["cells"][0] for metric in found.to_summary()["metrics"]}
    tracked = logged_verdicts(found)
    for row in found.rows:
        must(row.level in LEVELS, f"level {row.level}")
        if row.verdict is not None and row.score is not None:
            said = {frame[row.label]["verdict"], str(row.level), cells[row.label]["verdict"]["level"]}
            must(len(said) == 1, f"{row.label}: verdicts {said}")
            must(tracked[f"unweave/{row.label}"].startswith(str(row.level)), f"{row.label}: tracker {tracked}")
        if row.ends is not None:
            low, high = row.ends
            must(low <= row.score.value <= high, f"{row.label}: interval")
            must((frame[row.label]["lower"], frame[row.label]["upper"]) == (low, high), f"{row.label}: frame")
    for line in answer.questions:
        if line.metric:
            must(line.level == found.row(line.metric, "codes").level, f"{line.metric}: level of the question")
            reported = re.search(rf"\b{line.metric} is \S?[0-9]", answer.report) is not None
            must(reported == (line.level == "trust"), f"{line.metric} ({line.level}): {answer.report}")
            must(line.low is None or line.low <= line.value <= line.high, f"{line.metric}: interval of the question")
            must(
                not (line.level == "noise level" and line.answer in ("yes", "partly")), f"{line.metric}: {line.answer}"
            )
            must((line.level == "not checked") == (line.answer == "not checked"), f"{line.metric}: {line.answer}")
    for row in answer.factors:
        must(row.low is None or row.low <= row.recovery <= row.high, f"{row.factor}: interval of the recovery")
        if row.factor in known:
            for name, (low, high) in known[row.factor].intervals.items():
                value = getattr(known[row.factor], name)
                must(math.isnan(value) or low <= value <= high, f"{row.factor}: interval of {name}")
    for name, (low, high) in rungs.intervals.items():
        must(low <= getattr(rungs, name) <= high, f"interval of the ladder's {name}")
    absent = {row.factor for row in answer.factors if row.state is FactorState.ABSENT}
    own_codes = found.row("identification", "codes").score.value
    must(abs(own_codes - rungs.own_codes) < 0.02, f"identification {own_codes:.3f}, own codes {rungs.own_codes:.3f}")
    if len(absent) == len(rungs.rows):
        must(not any(row.level == "trust" for row in found.rows), "luck: all are absent and a metric is trusted")
    must(("absent" in answer.headline) == bool(absent), answer.headline)
    n_own = sum(row.rung in ("one code", "own codes") for row in answer.factors)
    if answer.questions and answer.questions[0].metric == "identification":
        n = sum(row.counts for row in answer.factors)
        right = "no" if not n_own or answer.questions[0].level == "noise level" else "yes" if n_own == n else "partly"
        right = "not checked" if answer.questions[0].level == "not checked" else right
        must(answer.questions[0].answer == right, answer.questions[0].answer)
        must(not (n_own == n and right == "no"), f"all have own codes and identification is at noise {own_codes}")
    if answer.contains_nothing:
        must(rungs.value <= 0.02, f"nothing is contained and the ladder has {rungs.value}")
    for chart in found.to_summary()["charts"]:
        for bar in chart["bars"]:
            shown = (
                bar["factor"] in absent
                and bar["within_noise"] is False
                and chart["label"] in ("r2", "dci_informativeness")
            )
            must(
                not shown,
                f"luck: {bar['factor']} is absent and {chart['label']} is {bar['value']}, band {bar['floor']}",
            )
    again = Evaluation.from_json(found.to_json())
    must(again == found and str(again) == str(found), "JSON does not give the evaluation back")
    probed = unweave.probe(factors, codes, probes=["linear", "kernel"], kinds=kinds or None)
    for name in absent:
        must("better than chance" in probed.sentence(name), f"luck: {name} is absent and {probed.sentence(name)}")
    for row in rungs.rows:
        if row.rung in IN_CODES and row.intervals["readable"][0] > 0.15:
            must(
                "better than chance" not in probed.sentence(row.factor),
                f"{row.factor} is {row.rung} {row.readable:.2f} and {probed.sentence(row.factor)}",
            )
    return wrong


def told_wrongly(seeds, **options):
    """Contradictions of each kind, by world; those that start with 'luck' may come from a test at its level."""
    found = {}
    for seed in seeds:
        label, factors, kinds, codes = drawn(seed)
        evaluation = evaluate(factors, codes, kinds=kinds or None, **options)
        if wrong := contradictions(evaluation, factors, kinds, codes):
            found[f"{seed} {label}"] = wrong
    return found


def assert_only_luck(found, n_worlds):
    """Probes are tests of their own at 5 %, so a few may disagree with the ladder; nothing else may."""
    wrong = {world: certain for world, each in found.items() if (certain := [x for x in each if x[:4] != "luck"])}
    assert not wrong
    assert len(found) <= stats.binom.ppf(0.999, n_worlds, 0.05), found


METRICS = ["identification", "r2", "mcc"]


@pytest.mark.parametrize("first", range(0, 20, 5))  # every kind of codes, and five again
def test_no_output_of_one_representation_contradicts_another(first):
    assert_only_luck(told_wrongly(range(first, first + 5), metrics=METRICS, budget=1), 5)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20, 440, 20))  # in parts, so that a stopped run can go on
def test_no_output_contradicts_another_in_hundreds_of_worlds(first):
    assert_only_luck(told_wrongly(range(first, first + 20), metrics=METRICS, budget=1), 20)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(500, 515, 5))
def test_no_output_of_the_panel_contradicts_another(first):
    assert_only_luck(told_wrongly(range(first, first + 5), budget=8), 5)


def compared_contradictions(seed, folder, budget=3):  # noqa: C901 - one list of what must hold
    """Every pair of statements about three representations, together and alone, that cannot both be true."""
    wrong = []

    def must(holds, what):
        if not holds:
            wrong.append(what)

    z, rng = world(seed, FACTORS[seed % 2])
    names = [KINDS[k] for k in np.random.default_rng(seed).choice(len(KINDS), 3, replace=False)]
    codes = {name: encoded(name, z, rng) for name in names}
    options = {"metrics": ["identification", "r2"], "budget": budget}
    both = compare(z, codes, **options)
    answer, ladders = compared_answer(both), both.data.ladders
    values = {name: one.value for name, one in ladders.items()}
    must(list(answer.order) == sorted(values, key=lambda name: -values[name]), "order")

    def significantly_below(comparison, name, other):
        pair = comparison.between(name, other)
        return pair.p_value <= 0.05 and (pair.difference < 0) == (pair.first == name)

    for name in answer.best:
        must(any(row.rung in IN_CODES for row in ladders[name].rows), f"{name} is best and contains nothing")
        for other in values:
            worse = other != name and significantly_below(both.data.ladder_comparison, name, other)
            must(not worse, f"{name} is best and significantly below {other}")
    differs = any(each.p_value <= 0.05 for each in both.data.ladder_comparison.differences)
    must(differs or not answer.best, "a best without a significant difference")
    for question in answer.questions:
        comparison = both.data.comparison[question.metric]
        for entry in question.ranked:
            must(entry.level == both.row(question.metric, entry.representation).level, f"{question.metric}: level")
            must(not (entry.best and entry.level in ("noise level", "do not use")), f"{entry.representation} is best")
            must(entry.low is None or entry.low <= entry.value <= entry.high, f"{question.metric}: interval")
            for other in values:
                worse = entry.best and other != entry.representation
                worse = worse and significantly_below(comparison, entry.representation, other)
                must(not worse, f"{entry.representation} is best by {question.metric}, and {other} is better")
    alone = {name: evaluate(z, one, **options) for name, one in codes.items()}
    for name, one in alone.items():
        must(one.ladder.to_dict() == ladders[name].to_dict(), f"{name} has another ladder alone")
        for row in one.rows:
            there = both.row(row.label, name)
            must(row.score.value == there.score.value, f"{name}: {row.label} has another value alone")
            must(row.level == there.level, f"{name}: {row.label} is {row.level} alone and {there.level} compared")
        one.save(folder / f"{name}.json")
    for factor, cells in answer.layers.cells.items():
        for name, cell in zip(answer.layers.representations, cells, strict=True):
            row = ladders[name][factor]
            must((cell.value, cell.rung) == (row.direction, row.rung), f"{name}: {factor} in the table of layers")
            must(not (cell.above_noise and row.rung == "absent"), f"{name}: {factor} is absent and above noise")
    (board,) = leaderboard(folder).boards
    for standing in board.standings:
        of = answer_of(alone[standing.model])
        for line in of.questions:
            if line.metric:
                cell = standing.cells[line.short]
                must(
                    (cell.value, cell.level) == (line.value, line.level),
                    f"{standing.model}: {line.metric} on the board",
                )
        of_ladder = standing.cells["identified"]
        must(of_ladder.value == values[standing.model], f"{standing.model}: ladder on the board")
        must((of_ladder.level == "noise level") == of.contains_nothing, f"{standing.model}: noise on the board")
        must(not (of_ladder.best and of.contains_nothing), f"{standing.model}: best on the board")
    for name, text in {"terminal": str(both), "Markdown": both.to_markdown(), "page": both.to_html()}.items():
        flat = sentences_shown(text)
        for sentence in (answer.headline, answer.report):
            must(sentence in flat, f"{name} lacks: {sentence}")
    return {f"{seed} {names}": wrong} if wrong else {}


def test_no_comparison_contradicts_its_parts(tmp_path):
    assert not compared_contradictions(0, tmp_path, budget=1)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 160, 6))
def test_no_comparison_of_many_contradicts_its_parts(first, tmp_path):
    found = {}
    for seed in range(first, first + 6):
        (tmp_path / str(seed)).mkdir()
        found |= compared_contradictions(seed, tmp_path / str(seed))
    assert not found


def test_noise_and_two_rotations_are_never_best():
    z, rng = world(9, "independent")
    noise, turned = rng.normal(size=(N, D)), z @ haar(rng, D)
    found = compare(z, {"noise": noise, "turned": turned}, metrics="identification", budget=2)
    assert compared_answer(found).best == ("turned",)
    assert "noise is best" not in str(found)
    rotations = compare(z, {"A": z @ haar(rng, D), "B": z @ haar(rng, D)}, metrics="identification", budget=2)
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


@pytest.mark.parametrize("budgets", [(0, 3), pytest.param((1, 3, 8, 15, 30, math.inf), marks=pytest.mark.slow)])
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
    found = evaluate(
        {"f": names}, {"c": np.where(names == "b", 0.0, 1.0) + 1e-3 * code}, metrics=["identification"], budget=1
    )
    assert "angle" not in str(found)
