"""Seeds grouped by setting: the spread, and which settings differ significantly."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

import unweave
from unweave.evaluation.results import GroupedScore, GroupedScores, differences_of_settings, ranked_settings
from unweave.report.latex import PaperCell, PaperTable

FACTORS = np.random.default_rng(0).uniform(size=(300, 2))


def codes(noise, seed):
    return FACTORS + noise * np.random.default_rng(seed).normal(size=FACTORS.shape)


@pytest.fixture(scope="module")
def sixty():
    """Twelve settings of five seeds: pairs of settings have the same noise."""
    runs = {f"setting {k:02d} seed {s}": codes(0.05 * (1 + k // 2), 10 * k + s) for k in range(12) for s in range(5)}
    return unweave.compare(FACTORS, runs, metrics=["mcc", "r2"], quick=True)


def test_spread_and_letters(sixty):
    groups = {name: name[:10] for name in sixty.representations}
    found = sixty.grouped(groups)
    first = found.score("mcc", "setting 00")
    values = [sixty.score("mcc", f"setting 00 seed {seed}").value for seed in range(5)]
    assert first.values == pytest.approx(values)
    assert (first.mean, first.std) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    ends = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (first.lower, first.upper) == pytest.approx(ends)
    means = [found.score("mcc", group).mean for group in found.ranked("mcc")]
    assert means == sorted(means, reverse=True)
    assert set(first.letters) & set(found.score("mcc", "setting 01").letters)  # the same noise
    assert not set(first.letters) & set(found.score("mcc", "setting 10").letters)
    lines = str(found).splitlines()
    assert len([line for line in lines if line.strip().startswith("setting 0")]) == 10


def test_single_seeds_have_no_spread(sixty):
    found = sixty.grouped({name: name for name in sixty.representations})
    assert np.isnan(found.score("r2", "setting 00 seed 0").std)
    assert found.score("r2", "setting 00 seed 0").letters == ""


def test_every_representation_needs_a_group(sixty):
    with pytest.raises(unweave.InputError, match="is in no group"):
        sixty.grouped({"setting 00 seed 0": "a"})


def ranked(values, down=False, level=0.95):
    return [(score.group, score.letters) for score in ranked_settings(values, down, level)]


def test_settings_are_ranked_with_those_without_a_score_last():
    values = {"a": [0.1, 0.1], "none": [], "b": [0.5, 0.5], "alone": [0.3]}
    assert ranked(values) == [("b", "a"), ("alone", ""), ("a", "b"), ("none", "")]
    assert ranked(values, down=True) == [("a", "a"), ("alone", ""), ("b", "b"), ("none", "")]


def welch(one, two):
    (found,) = differences_of_settings({"a": one, "b": two}, False, 0.95)
    return found


def test_settings_differ_up_to_one_minus_the_level():
    one, two = [0.1, 0.2, 0.3], [0.3, 0.45, 0.5]
    p_value = stats.ttest_ind(one, two, equal_var=False).pvalue
    assert welch(one, two).p_value == pytest.approx(p_value)
    assert ranked({"a": one, "b": two}, level=1 - 1.1 * p_value) == [("b", "a"), ("a", "b")]
    assert ranked({"a": one, "b": two}, level=1 - 0.9 * p_value) == [("b", "a"), ("a", "a")]


@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("values", [([1.0, 1.0], [1.0, 3.0]), ([1.0, 3.0], [1.0, 1.0]), ([0.2, 0.5, 0.4], [0.9, 0.7])])
def test_settings_are_tested_as_by_scipy(values):
    theirs = stats.ttest_ind(*values, equal_var=False)
    found = welch(*values)
    sign = 1 if found.first == "a" else -1
    assert found.p_value == pytest.approx(theirs.pvalue)
    assert found.difference == pytest.approx(sign * (np.mean(values[0]) - np.mean(values[1])))
    ends = sorted(sign * end for end in theirs.confidence_interval())
    assert (found.lower, found.upper) == pytest.approx(ends)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("other", "p_value"), [(0.1, 1.0), (0.7, 0.0)])
def test_equal_seeds_are_compared_without_a_warning(other, p_value):
    same = [0.1 + 0.2 - 0.2, 0.1, 0.1]  # equal but for rounding
    assert welch(same, [other] * 3).p_value == p_value


@pytest.fixture(scope="module")
def by_setting(sixty):
    return sixty.grouped(lambda name: name[:10])


def bold_cells(table, label):
    """Settings in bold, by a metric, of a Markdown table with models as rows."""
    table = table.split("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line]
    place = next(k for k, head in enumerate(lines[0]) if head.split(" ")[0] == label)
    return {line[0] for line in lines[2:] if line[place].startswith("**")}


@pytest.mark.parametrize("seed", range(20))
def test_bold_are_those_that_do_not_differ_from_the_best(seed):
    rng = np.random.default_rng(seed)
    down, centres = bool(seed % 2), rng.choice([0.2, 0.5, 0.8], size=5)
    values = {f"s{k}": list(rng.normal(centre, 0.1, size=rng.integers(2, 6))) for k, centre in enumerate(centres)}
    scores = ranked_settings(values, down, 0.95)
    table = GroupedScores({"mcc": scores}, 0.95, {"mcc": down}).to_markdown()
    alike = {score.group for score in scores if set(score.letters) & set(scores[0].letters)}
    assert bold_cells(table, "mcc") == (alike if len(alike) < len(scores) else set())
    assert ("mcc ↓" if down else "mcc ↑") in table


def test_a_table_for_a_paper_has_every_mean_and_deviation(by_setting):
    latex, markdown, page = by_setting.to_latex(), by_setting.to_markdown(), by_setting.to_html()
    for label, scores in by_setting.scores.items():
        for score in scores:
            assert f"{score.mean:.3f} +- {score.std:.3f}" in latex
            assert f"{score.mean:.3f} ± {score.std:.3f}" in markdown
            assert f"{score.mean:.3f} ± {score.std:.3f}" in page
        assert rf"{{{label} $\uparrow$}}" in latex
    body = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")].splitlines()[1:]
    assert len(body) == 12
    assert {line.count("&") for line in body} == {2}
    assert latex.count("S[table-format=1.3(3)]") == 2
    assert "resizebox" not in latex  # a narrow table needs no further package
    assert "over 5 seeds" in latex
    assert by_setting.to_frame("pandas").shape == (24, 14)


def test_the_test_of_two_settings_is_in_every_form(sixty):
    """Whether another setting helps: the difference of the means, its interval and its p-value."""
    names = [name for name in sixty.representations if name.startswith(("setting 00", "setting 10"))]
    rows = tuple(row for row in sixty.rows if row.representation in names)
    known = {name: sixty.data.representations[name] for name in names}
    found = unweave.Evaluation(rows, dataclasses.replace(sixty.data, representations=known)).grouped()
    (test,) = found.differences["mcc"]
    values = [found.score("mcc", group).values for group in (test.first, test.second)]
    theirs = stats.ttest_ind(*values, equal_var=False)
    assert (test.first, test.second) == ("setting 00", "setting 10")
    assert test.difference == pytest.approx(np.mean(values[0]) - np.mean(values[1]))
    assert (test.lower, test.upper) == pytest.approx(tuple(theirs.confidence_interval()))
    assert test.p_value == pytest.approx(theirs.pvalue)
    for text in (str(found), found.to_markdown(), found.to_html()):
        for part in (
            "setting 00 \N{MINUS SIGN} setting 10",
            f"{test.difference:.3f}",
            f"{test.lower:.3f} to {test.upper:.3f}",
        ):
            assert part in text
    line = found.to_frame("pandas").query("metric == 'mcc' and group == 'setting 10'").iloc[0]
    assert line["best"] == "setting 00"
    assert line["best_minus_this"] == test.difference
    assert (line["best_minus_this_lower"], line["best_minus_this_upper"]) == (test.lower, test.upper)
    assert line["p_value"] == test.p_value


def test_intervals_metrics_decimals_and_rows(by_setting, tmp_path):
    table = by_setting.to_latex(tmp_path / "t.tex", metrics="r2", rows="metrics", intervals=True, digits=2)
    first = by_setting.score("r2", "setting 00")
    assert f"{first.mean:.2f} {{ [{first.lower:.2f}, {first.upper:.2f}]}}" in table
    assert table.count("S[table-format=1.2{ [") == 12  # room for the interval, or columns overlap
    assert r"\resizebox{\ifdim\width>\linewidth" in table
    assert "mcc" not in table
    assert "95 \\% interval" in table
    assert (tmp_path / "t.tex").read_text(encoding="utf-8") == table
    assert "**" not in by_setting.to_markdown(bold=False)


def test_headings_and_rows_as_a_paper_has_them(by_setting, sixty):
    chosen = ["setting 03", "setting 00"]
    table = by_setting.to_latex(models=chosen, names={"r2": "$R^2$ %", "setting 03": "ours"})
    body = table[table.index(r"\midrule") : table.index(r"\bottomrule")].splitlines()[1:]
    assert [line.split(" & ")[0] for line in body] == ["ours", "setting 00"]
    assert r"{\$R\textasciicircum{}2\$ \% $\uparrow$}" in table
    assert f"{by_setting.score('r2', 'setting 03').mean:.3f}" in body[0]
    assert table.endswith("\\endgroup\n")
    runs = list(sixty.representations[:2])[::-1]
    single = sixty.to_latex(rows="models", models=runs)
    assert single.index(runs[0]) < single.index(runs[1])


def test_the_ladder_is_a_column_where_it_was_asked_for():
    runs = {f"run{k}": codes(0.3, k)[:200] for k in range(2)}
    named = unweave.compare(FACTORS[:200], runs, metrics=["identification"], quick=True).grouped(lambda name: "ours")
    assert "ladder" in named.scores
    assert named.to_markdown().splitlines()[0] == "| model | identification ↑ |"
    assert "ladder" in named.to_latex(metrics=["ladder", "identification"])
    panel = dataclasses.replace(named, columns=())
    assert panel.to_markdown().splitlines()[0] == "| model | ladder ↑ | identification ↑ |"


def test_a_wide_table_is_set_in_parts_that_can_be_read():
    cells = tuple((PaperCell(0.5, spread=0.1),) * 9 for _ in "ab")
    heads, names = tuple((f"a long name {k}", False) for k in range(9)), (("a", None), ("b", None))
    latex = PaperTable("model", heads, names, cells, (), 3).latex()
    parts = latex.split(r"\par\medskip")
    assert [part.count("a long name") for part in parts] == [5, 4]
    assert [part.count(r"\\") for part in parts] == [3, 3]
    assert latex.count("resizebox") == 2


def test_verdicts_are_marked_and_explained():
    runs = {f"good {seed}": codes(0.01, seed) for seed in range(3)}
    runs |= {f"noise {seed}": np.random.default_rng(20 + seed).normal(size=FACTORS.shape) for seed in range(3)}
    found = unweave.compare(FACTORS, runs, metrics=["r2"], budget=20)
    grouped = found.grouped(lambda name: name.split()[0])
    assert grouped.score("r2", "noise").level == "noise level"
    assert bold_cells(grouped.to_markdown(), "r2") == {"good"}
    assert "° not significantly better than random codes in at least one run." in grouped.to_markdown()
    assert r"$^{\circ}$" in grouped.to_latex()
    assert "°" not in grouped.to_markdown(marks=False)
    single = found.to_latex(rows="models", intervals=True)
    assert single.count(r"\bfseries") == 3
    assert "95 \\% intervals over samples" in single


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "seeds"}, "write 'models' or 'metrics'"),
        ({"metrics": "mig"}, "no score of 'mig': there are mcc, r2"),
        ({"metrics": []}, "names no metric"),
        ({"digits": 2.5}, "whole number from 0 to 9"),
        ({"names": {"mig": "MIG"}}, "names has 'mig', which is no row or column of this table: there are mcc, r2"),
        ({"models": ["ours"]}, "There is no model 'ours' in this table: there are setting 00"),
    ],
)
def test_tables_that_cannot_be_written(by_setting, sixty, options, message):
    for found in (by_setting, sixty):
        with pytest.raises(unweave.UnweaveError, match=message):
            found.to_latex(**options)


def test_more_settings_than_letters_and_settings_without_scores():
    letters = [*"abcdefghijklmnopqrstuvwxyz", "a1", "b1"]  # every setting differs from all others
    made = tuple(GroupedScore(f"s{k}", (1.0, 1.0), 1 - k / 100, 0.01, 0.0, 1.0, each) for k, each in enumerate(letters))
    assert bold_cells(GroupedScores({"mcc": made}).to_markdown(), "mcc") == {"s0"}
    empty = GroupedScore("s0", (), float("nan"), float("nan"), float("nan"), float("nan"))
    assert "failed" in GroupedScores({"mcc": (empty,)}).to_markdown()
