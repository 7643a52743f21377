"""Tables for a terminal, a pipe and a paper: no text is cut, and names are not interpreted as markup."""

import dataclasses
import re
from io import StringIO

import numpy as np
import pytest
from fake_evaluations import fake_evaluation
from rich.console import Console, Group

from unweave import Evidence, compare, evaluate
from unweave.evaluation import Evaluation
from unweave.findings import Finding, shared_reason
from unweave.report.answer import shared_reasons
from unweave.report.terminal import Prose
from unweave.sentences import templates
from unweave.trust import Verdict
from unweave.trust.verdict_record import Reason

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(60, 2))
NOISE = RNG.normal(size=(60, 2))
STRANGE = ["[red]", "[/x]", "a_b", r"50% & {more} #1 ~ x^2 $y \z", "two\nlines"]


@pytest.fixture(scope="module")
def strange():
    return compare(FACTORS, dict.fromkeys(STRANGE, FACTORS), metrics=["mcc", "r2:n_folds=3"], quick=True)


@pytest.fixture(scope="module")
def seeded():
    codes = FACTORS + NOISE
    return compare(FACTORS, {"one": codes, "two": codes[:, ::-1]}, metrics=["r2", "mig"], n_seeds=2, quick=True)


def printed(evaluation, width):
    buffer = StringIO()
    Console(file=buffer, width=width).print(evaluation, crop=False)
    return buffer.getvalue()


def widest(text):
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("width", range(40, 100))
def test_a_number_and_its_unit_stay_on_one_line(width):
    text = "mig is 0.38 (95 % interval 0.37 to 0.39) and r2 is 0.99 (95 % interval 0.98 to 1.00) in 30 s of CPU time"
    buffer = StringIO()
    Console(file=buffer, width=width).print(Group(Prose(text)))
    lines = [line.rstrip() for line in buffer.getvalue().splitlines()]
    assert " ".join(lines) == text
    assert not any(line.startswith(("%", "s ")) for line in lines)


def test_of_many_representations_the_best_and_the_worst_are_shown():
    codes = {f"representation {k}": FACTORS + k * NOISE for k in reversed(range(25))}
    evaluation = compare(FACTORS, codes, metrics=["mcc"], quick=True)
    lines = [line.split() for line in str(evaluation).splitlines() if "representation " in line]
    values = [float(line[2]) for line in lines if len(line) > 2 and line[1].isdigit()]
    assert len(values) == 12
    assert values == sorted(values, reverse=True)
    assert "13 more between" in str(evaluation)
    known = [evaluation.score("mcc", name).value for name in evaluation.representations]
    assert values[0] == pytest.approx(max(known), abs=6e-4)
    assert values[-1] == pytest.approx(min(known), abs=6e-4)


def test_of_many_steps_some_and_the_best_are_shown_in_their_order():
    codes = {f"step_{k}": FACTORS + abs(k - 13) * NOISE for k in range(25)}
    text = str(compare(FACTORS, codes, metrics=["mcc"], quick=True)).split("Other metrics")[1].split("Notes")[0]
    steps = [int(line.split()[0].removeprefix("step_")) for line in text.splitlines() if "step_" in line]
    assert steps == sorted(steps)
    assert {0, 13, 24} <= set(steps)
    hidden = [int(line.split()[1]) for line in text.splitlines() if "more between" in line]
    assert len(steps) + sum(hidden) == 25


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_narrow_terminal_loses_no_score(seeded, width):
    text = printed(seeded, width)
    assert widest(text) <= min(width, 100)
    for name in seeded.representations:
        mean, spread = seeded.mean_and_spread("r2", name)
        assert f"{mean:.3f} ± {spread:.3f}" in text


@pytest.mark.parametrize(("n_factors", "n_codes"), [(2, 8), (5, 10), (30, 300), (100, 800)])
def test_no_line_is_longer_than_the_terminal(n_factors, n_codes):
    many = fake_evaluation(n_factors=n_factors, n_codes=n_codes)
    assert widest(str(many)) <= 100
    assert widest(printed(many, 80)) <= 80


@pytest.mark.parametrize("n_factors", [2, 30])
def test_no_line_is_longer_where_names_are_long(n_factors):
    long = fake_evaluation([f"{'a very long name ' * 5}{k}" for k in range(3)], n_factors=n_factors, n_codes=8)
    assert widest(str(long)) <= 100
    assert widest(printed(long, 80)) <= 80


@pytest.mark.parametrize(("n_factors", "n_codes"), [(2, 1), (3, 3), (20, 30)])
def test_long_names_do_not_widen_the_table(n_factors, n_codes):
    values = np.random.default_rng(0).normal(size=(60, 30))
    factors = {f"{'a factor with a long name ' * 4}{k}": values[:, k] for k in range(n_factors)}
    codes = {f"{'a code with a long name ' * 4}{k}": values[:, k] for k in range(n_codes)}
    evaluation = evaluate(factors, codes, metrics=["identification", "mcc"], quick=True)
    assert widest(str(evaluation)) <= 100
    assert widest(printed(evaluation, 80)) <= 80


def test_names_are_not_markup(strange):
    for text in (str(strange), printed(strange, 200)):
        assert "[red]" in text
        assert "[/x]" in text


def test_latex_has_balanced_columns_and_no_bare_special_letter(strange):
    lines = strange.to_latex().splitlines()
    assert r"\begin{tabular}{l S" in lines[2]
    assert lines[2].count(" S") == len(STRANGE)
    assert [lines[3], lines[5], lines[-1]] == [r"\toprule", r"\midrule", r"\endgroup"]
    table = [lines[4], *lines[6 : lines.index(r"\bottomrule")]]
    assert len(table) == 3
    for line in table:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == len(STRANGE)
        letters = r"\\(?:textbackslash|textasciitilde|textasciicircum)\{\}|\\[_%&#${}]"
        bare = re.sub(rf"{letters}|\$\\uparrow\$|\$\^\{{\\d?dagger\}}\$|\\bfseries", "", line[:-3])
        assert not set(bare) & set("_%#$~^\\")
        assert bare.count("{") == bare.count("}")
    assert r"a\_b" in lines[4]
    assert r"r2 (n\_folds=3)" in lines[7]


def test_latex_of_one_representation_and_several_seeds(seeded):
    assert " +- " in seeded.to_latex()
    assert evaluate(FACTORS, FACTORS, metrics="mcc").to_latex().splitlines()[4] == r"metric & {score} \\"


def test_failed_and_undefined_are_told_apart():
    evaluation = evaluate(FACTORS[:, :1], FACTORS, metrics=["mcc", "dci_disentanglement", "r2:n_folds=99"], quick=True)
    lines = {line.split()[0]: line for line in str(evaluation).splitlines() if line.strip()}
    assert "undefined" in lines["dci_disentanglement"]
    assert "failed" in lines["r2"]


@pytest.mark.parametrize(
    ("evidence", "heading"),
    [
        (
            Evidence({"size": range(60), "shape": ["a", "b"] * 30}, FACTORS),
            "60 rows, 2 factors (size continuous, shape categorical), 2 codes",
        ),
        (Evidence(RNG.normal(size=(60, 12)), FACTORS), "60 rows, 12 factors (12 continuous), 2 codes"),
        (Evidence(None, FACTORS), "60 rows, no factors, 2 codes"),
    ],
    ids=["few", "many", "none"],
)
def test_the_heading_says_what_was_evaluated(evidence, heading):
    assert str(evaluate(evidence, metrics="mcc", quick=True)).splitlines()[0] == heading


@pytest.fixture(scope="module")
def checked():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(200, 2))
    codes = {"kept": factors, "noisy": factors + rng.normal(size=(200, 2)), "noise": rng.normal(size=(200, 2))}
    return compare(factors, codes, metrics=["mcc", "r2"])


@pytest.fixture(scope="module")
def kept():
    factors = np.random.default_rng(1).normal(size=(200, 2))
    return evaluate(factors, factors, metrics=["mcc", "r2"])


def test_one_representation_shows_every_check(kept):
    line = next(line for line in str(kept).splitlines() if "   mcc" in line)
    assert re.search(r"1\.000 +0\.0\d\d +> 0\.9995 +trust", line)


def test_several_representations_are_in_order_with_the_best_marked(checked):
    text = str(checked)
    lines = [line.split() for line in text[text.index("mcc (Own") :].splitlines()[1:4]]
    assert [line[0] for line in lines] == ["kept", "noisy", "noise"]
    assert [line[-1] for line in lines] == ["best", "trust", "level"]  # codes of noise are not praised with "trust"
    assert "✓" not in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_verdict_is_never_cut(kept, width):
    shown = printed(kept, width)
    assert len(re.findall(r"(?:mcc|r2) .* ?trust", shown)) == 3  # r2 in the answer, and both in the table
    assert widest(shown) <= width


@pytest.fixture(scope="module")
def doubtful():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(100, 2))
    codes = factors @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(100, 6))
    return evaluate(factors, codes, metrics=["sap", "mig", "mcc"])


@pytest.mark.parametrize("width", [80, 100])
def test_reasons_stand_below_once(doubtful, width):
    shown = " ".join(printed(doubtful, width).split())
    reasons = shared_reasons(doubtful)
    assert any(len(reason.scores) > 1 for reason in reasons)
    assert sum(len(reason.scores) for reason in reasons) == sum(row.verdict.level != "trust" for row in doubtful.rows)
    for reason in reasons:
        assert shown.count(reason.sentence) == 1


def test_reasons_stand_under_the_verdict_of_their_row(doubtful):
    """Three scores that one cause changes by different amounts."""
    moved = {"before": 0.5, "further": False, "rows_per_code": 20.0, "enough": 1000}
    judged = zip(doubtful.rows, ("caution", "do not use", "caution"), (0.65, 0.9, 0.62), strict=True)
    rows = [
        dataclasses.replace(
            row, verdict=Verdict(level, (Reason(Finding("depends_on_number_of_rows", after=after, **moved), "", 0.0),))
        )
        for row, level, after in judged
    ]
    reasons = shared_reasons(Evaluation(tuple(rows), doubtful.data))
    labels = doubtful.labels
    assert [(reason.level, reason.scores) for reason in reasons] == [
        ("do not use", (labels[1],)),
        ("caution", (labels[0], labels[2])),
    ]
    shown = " ".join(printed(Evaluation(tuple(rows), doubtful.data), 100).split())
    assert "1 score (do not use): Depends on the number of rows." in shown
    assert "2 scores (caution): Depend on the number of rows." in shown


@pytest.mark.parametrize("kind", [kind for kind in templates()["findings"] if kind.startswith("depends_on_")])
def test_every_cause_that_scores_can_share_has_one_sentence(kind):
    quantities = {
        "before": 0.25,
        "after": 0.75,
        "factors": ("x", "y"),
        "strength": 0.5,
        "n_codes": 3,
        "n_free": 3.0,
        "n_samples": 25,
    }
    sentence = shared_reason({name: Finding(kind, **quantities) for name in ("mig", "sap")})
    assert "mig goes from 0.25 to 0.75, sap from 0.25 to 0.75" in sentence


def test_floors_in_the_table_lie_within_the_bounds_of_the_metric():
    """Scores of r2 for permuted codes are negative before clipping, and no negative score is shown."""
    codes = np.random.default_rng(1).normal(size=(60, 20))
    evaluation = evaluate(FACTORS, codes, metrics=["r2"], budget=5)
    assert np.median(evaluation.rows[0].noise_floor.draws) < 0 > evaluation["r2"].raw
    line = next(line for line in str(evaluation).splitlines() if line.strip().startswith("r2"))
    assert "0.000" in line
    assert not re.search(r"-\d", line.partition(" to ")[0])  # score, floor, and the lower end of the interval
