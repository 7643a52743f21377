"""The summary has the numbers of the evaluation, aggregates large matrices, and is strict JSON."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from fake_evaluations import CHOSEN, fake_evaluation

from unweave import Evaluation, Evidence, Posterior, Score, compare, evaluate
from unweave.report import summary as diagnosis_summary
from unweave.report import summary as factor_bars
from unweave.report.answer import shared_reasons
from unweave.report.html import rendered
from unweave.report.summary import COARSE, Detail, summarise, summarised_matrix, trusted_scores
from unweave.score import ShownMatrix
from unweave.synthetic.known_decoders import Torus
from unweave.trust.verdict_record import Level

RNG = np.random.default_rng(0)
FACTORS = {"size": RNG.normal(size=120), "hue": RNG.normal(size=120), "flat": np.ones(120)}
KEPT = np.column_stack([FACTORS["hue"], FACTORS["size"], RNG.normal(size=120)])


@pytest.fixture(scope="module")
def summary():
    return summarise(fake_evaluation())


@pytest.fixture(scope="module")
def doubted():
    """No score is at noise level, so that mig has the verdict 'do not use'."""
    return summarise(fake_evaluation(chosen=above_noise()))


def above_noise():
    return chosen_with(*[0.005] * len(CHOSEN), levels=[entry[-1] for entry in CHOSEN])


def cell_of(summary, label, representation=None):
    metric = next(metric for metric in summary["metrics"] if metric["label"] == label)
    return next(cell for cell in metric["cells"] if representation in (None, cell["representation"]))


def test_summary_is_strict_json_with_a_schema(summary):
    assert summary["schema"] == "unweave.report/3"
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_bare_scores_are_summarised_and_say_so():
    evaluation = evaluate(FACTORS, KEPT, metrics=["mcc", "dci_disentanglement", "mig"], quick=True)
    summary = summarise(evaluation)
    for label in evaluation.labels:
        cell = cell_of(summary, label)
        assert cell["value"] == pytest.approx(evaluation[label].value)
        assert (cell["floor"], cell["interval"], cell["verdict"]) == (None, None, None)
    assert "without verdicts" in summary["trusted"]
    assert summary["counts"] == {"trust": 0, "noise level": 0, "no verdict": 0, "caution": 0, "do not use": 0}
    flat = next(bar for bar in summary["charts"][0]["bars"] if bar["factor"] == "flat")
    assert flat["value"] is None  # undefined is not zero


def test_floor_interval_and_verdict_come_through(summary, doubted):
    cell = cell_of(summary, "mig")
    floor = cell["floor"]
    assert (floor["mean"], floor["p_value"], floor["resolution"], floor["n_draws"]) == (0.033, 0.31, 0.005, 199)
    assert (floor["low"], floor["high"]) == (pytest.approx(0.01), pytest.approx(0.06))
    assert (cell["interval"]["low"], cell["interval"]["high"], cell["interval"]["level"]) == (0.01, 0.08, 0.9)
    assert cell["calibrated"] == pytest.approx((0.041 - 0.033) / (1 - 0.033))
    assert cell["verdict"]["level"] == "noise level"
    assert [reason["measured"] for reason in cell["verdict"]["reasons"]] == [0.033]
    assert summary["counts"] == {"trust": 3, "noise level": 1, "no verdict": 0, "caution": 2, "do not use": 0}
    verdict = cell_of(doubted, "mig")["verdict"]
    assert verdict["level"] == "do not use"
    assert [reason["measured"] for reason in verdict["reasons"]] == [3.0, 0.62]
    assert doubted["counts"] == {"trust": 3, "noise level": 0, "no verdict": 0, "caution": 2, "do not use": 1}
    for each in (summary, doubted):
        assert each["trusted"].startswith("Of 6 scores, 3 can be trusted")


def test_reasons_appear_once_with_everyone_they_hold_for_and_the_gravest_first(summary, doubted):
    reasons = [(reason["level"], reason["scores"], reason["section"]) for reason in doubted["reasons"]]
    assert reasons == [
        ("do not use", ["mig"], "003, section 4.2"),
        ("do not use", ["mig"], "003, section 3.1"),
        ("caution", ["mcc", "dci_completeness"], "003, section 3.1"),
    ]
    assert doubted["reasons"][0]["advice"].startswith("use dci_disentanglement")
    assert summary["reasons"] == doubted["reasons"][2:]  # a score at noise level has no other reason


def test_the_page_and_the_terminal_group_reasons_alike():
    evaluation = fake_evaluation()
    of_terminal = [(reason.level, reason.scores) for reason in shared_reasons(evaluation)]
    of_page = [(reason["level"], tuple(reason["scores"])) for reason in summarise(evaluation)["reasons"]]
    assert set(of_terminal) <= set(of_page)  # the terminal states only the main reason of every score


def test_bars_know_what_is_within_noise(summary):
    for chart in summary["charts"]:
        higher_is_better = not chart["lower_is_better"]
        for bar in chart["bars"]:
            beyond = bar["value"] > bar["floor"][2] if higher_is_better else bar["value"] < bar["floor"][1]
            assert bar["within_noise"] == (not beyond)
    assert any(bar["within_noise"] for chart in summary["charts"] for bar in chart["bars"])


def test_the_same_matrix_is_shown_once_with_names():
    summary = summarise(evaluate(FACTORS, KEPT, metrics=["mcc", "dci_disentanglement", "dci_completeness"], quick=True))
    correlation, importance = summary["matrices"]
    assert importance["metrics"] == ["dci_disentanglement", "dci_completeness"]
    assert correlation["column_names"] == ["size", "hue", "flat"]
    assert correlation["row_names"] == ["code 0", "code 1", "code 2"]
    assert correlation["values"][1][0] == pytest.approx(1.0)
    assert correlation["values"][0][2] is None  # no correlation with a constant
    assert [row[2] for row in importance["values"]] == [None] * 3  # left out by the metric, not by the page
    assert importance["values"][1][0] == max(importance["values"][1][:2])


def test_a_matrix_is_shown_where_it_is_declared_whatever_its_name():
    evaluation = fake_evaluation(n_codes=8)
    shown = ShownMatrix("weights", "Weight of every code", framed=False)
    parts = {"weights": np.ones((8, 4)), "hidden_matrix": np.ones((8, 4))}
    first, *_ = evaluation.rows
    row = replace(first, score=replace(first.score, parts=parts, matrices=(shown,)))
    [matrix] = summarise(replace(evaluation, rows=(row,)))["matrices"]
    assert (matrix["name"], matrix["meaning"], matrix["framed"]) == ("weights", "Weight of every code", False)
    with pytest.raises(ValueError, match="'weights', which is not among its parts: none"):
        replace(row.score, parts={})


def test_only_matrices_of_codes_and_factors_are_shown():
    codes = RNG.normal(size=(120, 5))  # as many as dci_explicitness has capacities
    assert summarise(evaluate(FACTORS, codes, metrics=["dci_explicitness"], quick=True))["matrices"] == []


def test_codes_keep_their_names():
    named = {"left": KEPT[:, 0], "right": KEPT[:, 1]}
    summary = summarise(evaluate(FACTORS, named, metrics=["mcc"]))
    assert summary["matrices"][0]["row_names"] == ["left", "right"]


def test_several_seeds_give_mean_and_spread_and_one_matrix():
    evaluation = evaluate(FACTORS, KEPT, metrics=["dci_disentanglement", "r2"], n_seeds=3, quick=True)
    summary = summarise(evaluation)
    values = evaluation.values("r2", "codes")
    cell = cell_of(summary, "r2")
    assert cell["value"] == pytest.approx(np.mean(values))
    assert cell["spread"] == pytest.approx(np.std(values, ddof=1))
    assert len(summary["matrices"]) == 1
    assert "3 seeds (0, 1, 2)" in summary["writing"]["methods"]


def test_failures_keep_their_reason():
    summary = summarise(evaluate(FACTORS, KEPT, metrics=["mcc", "r2:n_folds=500"], quick=True))
    cell = cell_of(summary, "r2 (n_folds=500)")
    assert cell["value"] is None
    assert "500" in cell["problem"]
    assert "1 score could not be computed" in summary["trusted"]


def test_representations_side_by_side_with_groups_of_ties():
    summary = summarise(fake_evaluation(("a", "b", "c")))
    assert [cell["representation"] for cell in summary["metrics"][0]["cells"]] == ["a", "b", "c"]
    assert [cell["groups"] for cell in summary["metrics"][0]["cells"]] == [[0], [0], [1]]
    assert summary["metrics"][0]["comparison"] == "Few parts."
    assert len(summary["matrices"]) == 9
    assert len(summary["diagnosis"]) == 3
    assert set(summary["reasons"][0]["scores"]) == {
        f"{each} of {k}" for each in ("mcc", "dci_completeness") for k in "abc"
    }
    doubted = summarise(fake_evaluation(("a", "b", "c"), chosen=above_noise()))
    assert doubted["reasons"][0]["scores"] == ["mig of a", "mig of b", "mig of c"]


def test_a_representation_that_lacks_a_metric_has_no_cell():
    codes = RNG.normal(size=(120, 2))
    evaluation = compare(FACTORS, {"one": codes, "two": codes}, metrics=["mcc", "mig"], quick=True)
    rows = tuple(row for row in evaluation.rows if (row.label, row.representation) != ("mig", "two"))
    summary = summarise(replace(evaluation, rows=rows))
    assert [cell["representation"] for cell in summary["metrics"][1]["cells"]] == ["one"]


def test_large_matrices_are_the_largest_of_blocks():
    evaluation = fake_evaluation(n_factors=200, n_codes=2000)
    matrix = next(m for m in summarise(evaluation)["matrices"] if m["name"] == "correlation_matrix")
    whole = evaluation["mcc"].parts["correlation_matrix"]
    values = np.array(matrix["values"])
    assert values.shape == (-(-2000 // matrix["rows_per_block"]), -(-200 // matrix["columns_per_block"]))
    assert values.max() == whole.max()
    # columns keep their order, so each block has the maximum of its columns
    wide = matrix["columns_per_block"]
    np.testing.assert_array_equal(values.max(axis=0), whole.max(axis=0).reshape(-1, wide).max(axis=1))
    assert "largest value of a block" in matrix["sentence"]
    assert "2,000 codes by 200 factors" in matrix["sentence"]
    first = matrix["strongest"][0]
    i, j = (int(first[axis].split()[1]) for axis in ("row", "column"))
    assert first["value"] == whole[i, j] == whole.max()


def test_of_many_factors_the_ends_have_bars():
    evaluation = fake_evaluation(n_factors=200, n_codes=20)
    chart = summarise(evaluation)["charts"][0]
    values = sorted(evaluation["mcc"].per_factor.values())
    assert [bar["value"] for bar in chart["bars"]] == [*values[:-13:-1], *reversed(values[:12])]
    assert chart["sentence"] == "Only the 12 highest and 12 lowest of 200 factors are shown."


def test_coarse_detail_says_what_it_left_out():
    summary = summarise(fake_evaluation(), replace(COARSE, charts=2, matrices=1))
    assert (len(summary["charts"]), summary["charts_left_out"]) == (2, 3)
    assert (len(summary["matrices"]), summary["matrices_left_out"]) == (1, 2)


def test_diagnosis_in_figures(summary):
    figures = {figure["key"]: figure["text"] for figure in summary["diagnosis"][0]["figures"]}
    assert figures["effective_dimension"] == "3 of 4"
    assert figures["nuisance_share"] == "27 %"
    assert (figures["dead_codes"], figures["duplicated_codes"]) == ("2", "1")
    assert figures["largest_correlation"] == "0.62"
    pairs, unexplained = summary["diagnosis"][0]["charts"]
    assert pairs["bars"] == [{"name": "size and hue", "value": 0.64}]
    assert [bar["name"] for bar in unexplained["bars"]] == ["code 0", "code 2"]
    assert summary["diagnosis"][0]["constraints"] == ["scale is a function of size and hue"]


def test_methods_paragraph_says_sizes_settings_floors_and_fingerprint(summary):
    methods = summary["writing"]["methods"]
    for part in (
        "m = 12 codes",
        "d = 4 factors (3 continuous and 1 categorical)",
        "n = 10,000 samples",
        "unweave 0.1.0",
        "numpy 2.4.6",
        "mcc (Hyvärinen and Morioka, 2016",
        "199 permutations",
        "90 % subsampling intervals",
        "3 rows with missing values were dropped",
        "00c0ffee00",
    ):
        assert part in methods


def test_latex_rows_have_a_cell_for_every_question_and_marks_for_verdicts():
    latex = summarise(fake_evaluation(("beta_VAE", "b")))["writing"]["latex"].splitlines()
    rows = [line for line in latex if not line.startswith("%")]
    assert len(rows) == 2
    assert all(row.count(" & ") == 3 and row.endswith(r"\\") for row in rows)
    assert rows[0].startswith(r"beta\_VAE & 0.934 {\scriptsize")


@pytest.mark.parametrize("names", [("codes",), ("a", "b", "c")])
def test_a_saved_evaluation_has_the_same_summary(tmp_path, names):
    evaluation = fake_evaluation(names)
    evaluation.save(tmp_path / "saved.json")
    assert summarise(Evaluation.load(tmp_path / "saved.json")) == summarise(evaluation)


@pytest.fixture(scope="module")
def two_compared():
    codes = {"kept": KEPT, "noise": RNG.normal(size=(120, 2))}
    return compare(FACTORS, codes, metrics=["mcc", "t_mex", "r2:n_folds=500"], budget=60, level=0.9)


def test_what_an_evaluation_found_is_what_its_summary_says(two_compared):
    summary = summarise(Evaluation.from_json(two_compared.to_json()))
    for label, name in [("mcc", "kept"), ("mcc", "noise"), ("t_mex", "kept"), ("t_mex", "noise")]:
        row, cell = two_compared.row(label, name), cell_of(summary, label, name)
        floor, interval = row.noise_floor, row.interval
        assert (cell["floor"]["mean"], cell["floor"]["p_value"]) == (floor.floor, floor.p_value)
        assert (cell["floor"]["kind"], cell["floor"]["n_draws"]) == ("permutation", len(floor.draws))
        assert cell["floor"]["note"] == " ".join(map(str, floor.notes))
        assert cell["calibrated"] == floor.calibrated
        assert (cell["interval"]["low"], cell["interval"]["high"]) == row.ends
        assert (cell["interval"]["level"], cell["interval"]["kind"]) == (0.9, "subsampling")
        assert {name: tuple(ends) for name, ends in cell["interval"]["per_factor"].items()} == interval.per_factor
        assert cell["verdict"]["level"] == row.level
        assert row.at_noise_level == (name == "noise")
        noise = f"These codes score like random codes: {row.score.value:.2f}, and random codes score {floor.floor:.2f}"
        said = (
            [f"{noise} (p = {floor.p_value:.2g})."]
            if row.at_noise_level
            else [each.sentence for each in row.verdict.reasons]
        )
        assert [reason["sentence"] for reason in cell["verdict"]["reasons"]] == said
        bands = cell["floor"]["per_factor"]
        assert set(bands) == {"size", "hue"}
        for factor, (mean, low, high) in bands.items():
            assert mean == floor.per_factor_floor[factor]
            assert sorted((mean, floor.per_factor_upper[factor])) == [low, high]
    assert [cell["groups"] for cell in summary["metrics"][0]["cells"]] == [[0], [1]]
    failed = cell_of(summary, "r2 (n_folds=500)", "kept")
    assert (failed["floor"], failed["interval"], failed["verdict"], failed["groups"]) == (None, None, None, [])


def test_a_summary_says_what_the_diagnosis_found(two_compared):
    for name, said in zip(("kept", "noise"), summarise(two_compared)["diagnosis"], strict=True):
        found = two_compared.data.diagnosis[name].to_dict()
        figures = {figure["key"]: figure["value"] for figure in said["figures"]}
        assert said["sentences"] == found["sentences"]
        assert figures["largest_correlation"] == found["max_correlation"]
        assert figures["nuisance_share"] == found["nuisance_share"]
        assert figures["dead_codes"] == 0
        assert {bar["name"]: bar["value"] for bar in said["charts"][-1]["bars"]} == found["nuisance_per_code"]
        assert said["looked"]


def test_what_has_no_interval_or_floor_shows_none():
    few = evaluate(RNG.normal(size=(10, 2)), RNG.normal(size=(10, 2)), metrics=["mcc"], budget=5)
    cell = cell_of(summarise(few), "mcc")
    assert (cell["floor"] is None, cell["interval"] is None) == (False, True)  # parts of 10 rows are too few
    decoder = evaluate(Evidence(decoder=Torus()), metrics=["manifold_total_correlation"], budget=1)
    cell = cell_of(summarise(decoder), "manifold_total_correlation")
    assert (cell["floor"], cell["interval"], cell["calibrated"]) == (None, None, None)
    assert cell["verdict"]["reasons"] == []  # without factors, there is nothing to check a score with


def test_unbounded_metrics_get_an_axis_of_their_own():
    score = Score(raw=7.0, metric="t_mex", version=1, bounds=(0.0, np.inf), per_factor={"size": 3.0, "hue": 9.0})
    evaluation = evaluate(FACTORS, KEPT, metrics=["t_mex"], quick=True)
    summary = summarise(Evaluation((replace(evaluation.rows[0], score=score),), evaluation.data))
    assert summary["metrics"][0]["domain"] == [0.0, 9.0]
    assert summary["metrics"][0]["bounds"] == [0.0, None]


def test_evaluations_without_factors_or_codes_have_pages_too():
    codes = Posterior(RNG.normal(size=(100, 2)), np.full((100, 2), 0.2))
    alone = summarise(evaluate(None, codes, metrics=["informativeness"], quick=True))
    assert alone["subtitle"] == "2 codes on 100 rows."
    assert "a representation of m = 2 codes on n = 100 samples with unweave" in alone["writing"]["methods"]
    decoder = summarise(evaluate(Evidence(decoder=Torus()), metrics=["manifold_total_correlation"], quick=True))
    assert decoder["title"] == "How the decoder uses its latents"
    assert decoder["writing"]["methods"].startswith("We scored a decoder with unweave")
    for summary in (alone, decoder):
        assert rendered(summary).startswith("<!doctype html>")


def chosen_with(*p_values, levels):
    """A metric for each p-value, with these verdicts."""
    return [
        (name, measures, value, (*floor[:3], p), interval, level)
        for (name, measures, value, floor, interval, _), p, level in zip(CHOSEN, p_values, levels, strict=False)
    ]


@pytest.mark.parametrize(
    ("p_values", "levels", "sentence"),
    [
        ((0.005, 0.005), ("trust",) * 2, "All 2 scores can be trusted on these data."),
        (
            (0.3, 0.005, 0.2),
            ("trust",) * 3,
            "Of 3 scores, 1 can be trusted on these data and 2 at noise level.",
        ),
        ((0.3,), ("trust",), "Of 1 score, 1 at noise level."),
        (
            (0.3, 0.005, 0.2),
            ("trust", "trust", "caution"),
            "Of 3 scores, 1 can be trusted on these data and 2 at noise level.",
        ),
        (
            (0.3, 0.005, 0.005),
            ("trust", "trust", "caution"),
            "Of 3 scores, 1 can be trusted on these data, 1 at noise level and 1 with caution.",
        ),
    ],
)
def test_the_page_counts_trusted_scores_that_are_noise(p_values, levels, sentence):
    evaluation = fake_evaluation(chosen=chosen_with(*p_values, levels=levels))
    assert summarise(evaluation)["trusted"] == sentence


@pytest.mark.parametrize(
    ("p_value", "resolution", "said"),
    [(0.05, 0.005, False), (0.06, 0.005, True), (0.5, 0.005, True), (0.06, 0.1, False), (0.11, 0.1, True)],
)
def test_a_score_is_noise_above_one_in_twenty_and_above_what_few_draws_can_show(p_value, resolution, said):
    evaluation = fake_evaluation()
    rows = [
        replace(row, noise_floor=replace(row.noise_floor, p_value=p_value, resolution=resolution))
        for row in evaluation.rows
    ]
    found = summarise(replace(evaluation, rows=tuple(rows)))
    assert ("at noise level" in found["trusted"]) is said


def signed_evaluation(n_factors, n_codes):
    """Correlations with a sign: the strongest of every factor is negative."""
    evaluation = fake_evaluation(n_factors=n_factors, n_codes=n_codes)
    matrix = np.full((n_codes, n_factors), 0.3)
    matrix[np.arange(n_factors), np.arange(n_factors)] = -0.87
    rows = [
        replace(row, score=replace(row.score, parts={"correlation_matrix": matrix}))
        if row.label == "mcc"
        else replace(row, score=replace(row.score, parts={}, matrices=()))
        for row in evaluation.rows
    ]
    return replace(evaluation, rows=tuple(rows))


def test_the_framed_code_of_a_factor_is_the_strongest_whatever_its_sign():
    page = rendered(summarise(signed_evaluation(3, 8)))
    framed = re.findall(r'<td class="[^"]*best[^"]*">([^<]*)</td>', page)
    assert [text.replace("\u2212", "-") for text in framed] == ["-0.87"] * 3


def test_of_large_matrices_the_strongest_cells_are_told_whatever_their_sign():
    (matrix,) = summarise(signed_evaluation(60, 80))["matrices"]
    assert {pair["value"] for pair in matrix["strongest"]} == {-0.87}
    assert np.max(matrix["values"]) == pytest.approx(0.87)


@pytest.mark.parametrize(
    ("label", "floor", "edge", "value", "within"),
    [
        ("r2", 0.1, 0.2, 0.15, True),
        ("r2", 0.1, 0.2, 0.25, False),
        ("jemmig", 0.93, 0.9, 0.91, True),  # lower is better: nulls reach down to .9
        ("jemmig", 0.93, 0.9, 0.88, False),
    ],
)
def test_a_factor_is_within_noise_up_to_what_few_nulls_reach(label, floor, edge, value, within):
    evaluation = fake_evaluation()
    rows = [
        replace(
            row,
            score=replace(row.score, per_factor=dict.fromkeys(row.score.per_factor, value)),
            noise_floor=replace(
                row.noise_floor,
                per_factor_floor=dict.fromkeys(row.score.per_factor, floor),
                per_factor_upper=dict.fromkeys(row.score.per_factor, edge),
            ),
        )
        for row in evaluation.rows
        if row.label == label
    ]
    summary = summarise(replace(evaluation, rows=tuple(rows)))
    (chart,) = [chart for chart in summary["charts"] if chart["label"] == label]
    assert {bar["within_noise"] for bar in chart["bars"]} == {within}


def test_the_band_of_a_floor_lies_within_the_bounds_of_the_metric(summary):
    """Null scores of r2 are negative before clipping, and are clipped like scores."""
    row = next(row for row in fake_evaluation().rows if row.label == "r2")
    assert min(row.noise_floor.draws) < 0
    floor = cell_of(summary, "r2")["floor"]
    assert 0 == floor["low"] <= floor["mean"] <= floor["high"]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("effective_dimension", 2.5, "2.5 of 4"),
        ("nuisance_share", 0.126, "13 %"),
        ("rows_per_code", 1234.0, "1,234"),
        ("rows_per_code", 1234.5, "1,234"),
        ("rows_per_code", 99.94, "99.9"),
        ("rows_per_code", 100.4, "100"),
        ("rows_per_code", 9.999, "10.00"),
        ("rows_per_code", 10.01, "10.0"),
        ("largest_correlation", 0.126, "0.13"),
        ("n_rows", 12000, "12,000"),
    ],
)
def test_numbers_of_the_data_are_as_long_as_they_need_to_be(key, value, text):
    assert diagnosis_summary._text(key, value, {"n_factors": 4}) == text


@pytest.mark.parametrize(("per_code", "text"), [(9.96, "10.0 rows"), (10.0, "10 rows"), (1234.4, "1,234 rows")])
def test_rows_per_code_are_counted(per_code, text):
    sizes = {"n_rows": 20, "n_codes": 2, "n_factors": 1, "rows_per_code": per_code}
    assert f"which is {text} per code" in diagnosis_summary._sentences_of_sizes(sizes)[0]
    assert diagnosis_summary._sentences_of_sizes(sizes | {"rows_per_code": None}) == []


@pytest.mark.parametrize("n", [3, 4])
def test_the_largest_values_of_a_chart_are_shown(n):
    found = diagnosis_summary._chart("A", {"x": None, **{f"z{k}": k / 10 for k in range(n)}}, Detail(bars=3))
    assert [bar["name"] for bar in found["bars"]] == [f"z{k}" for k in reversed(range(n))][:3]
    assert found["sentence"] == ("" if n == 3 else "Only the 3 largest of 4 values are shown.")
    assert diagnosis_summary._chart("A", {"x": None}, Detail()) is None


@pytest.mark.parametrize(
    ("lower_is_better", "value", "within"),
    [(False, 0.2, True), (False, 0.21, False), (True, 0.1, True), (True, 0.09, False), (False, math.nan, None)],
)
def test_the_edge_of_the_noise_is_noise(lower_is_better, value, within):
    cell = {"per_factor": {"z": value}, "floor": {"per_factor": {"z": [0.15, 0.1, 0.2]}}, "interval": None}
    assert factor_bars._bar("z", cell, lower_is_better)["within_noise"] is within


@pytest.mark.parametrize(
    ("n", "at_most", "shown"),
    [(5, 5, [0, 1, 2, 3, 4]), (6, 5, [5, 4, 1, 0]), (6, 4, [5, 4, 1, 0]), (7, 6, [6, 5, 4, 2, 1, 0])],
)
def test_of_many_bars_the_highest_and_the_lowest_are_shown(n, at_most, shown):
    names = [f"z{k}" for k in range(n)]
    found, sentence = factor_bars._shown(names, {name: k / 10 for k, name in enumerate(names)}, at_most)
    assert found == [f"z{k}" for k in shown]
    half = at_most // 2
    said = f"Only the {half} highest and {half} lowest of {n} factors are shown."
    assert sentence == ("" if n <= at_most else said)


def judged(label, level, problem=None):
    verdict = {"level": level, "reasons": []} if level else None
    cell = {"verdict": verdict, "at_noise_level": False, "problem": problem, "value": None if problem else 0.5}
    return {"label": label, "cells": [cell]}


def test_scores_are_counted_by_verdict_from_best_to_worst():
    levels = [Level.DO_NOT_USE, Level.NO_VERDICT, Level.CAUTION]
    metrics = [*(judged("mcc", level) for level in levels), judged("mig", None, problem="It failed.")]
    assert trusted_scores(metrics) == (
        "Of 3 scores, none can be trusted on these data, 1 with caution, 1 could not be checked and 1 should not be "
        "used. 1 score could not be computed."
    )
    assert trusted_scores([judged("mig", None), judged("r2", None)]) == (
        "2 scores, without verdicts: these are bare scores."
    )


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "as_table"), [(4, 9, True), (4, 10, False), (5, 8, True), (41, 1, False), (40, 1, True)]
)
def test_a_matrix_is_a_table_up_to_its_cells_and_columns(n_rows, n_columns, as_table):
    shown = ShownMatrix("a_matrix", "A")
    names = [f"c{i}" for i in range(n_rows)], [f"z{j}" for j in range(n_columns)]
    found = summarised_matrix(shown, np.zeros((n_rows, n_columns)), *names, Detail(table_cells=40, table_columns=9))
    assert found["as_table"] is as_table
    assert ("rows_per_block" in found) is not as_table
