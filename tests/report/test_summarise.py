"""The summary holds what the evaluation says, aggregates what is too much, and is strict JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fake_evaluations import CHOSEN, fake_evaluation

from unweave import Evaluation, Evidence, Posterior, Score, compare, evaluate
from unweave.report.detail import COARSE
from unweave.report.html import rendered
from unweave.report.summarise import summarise
from unweave.synthetic.decoders import Torus

RNG = np.random.default_rng(0)
FACTORS = {"size": RNG.normal(size=120), "hue": RNG.normal(size=120), "flat": np.ones(120)}
KEPT = np.column_stack([FACTORS["hue"], FACTORS["size"], RNG.normal(size=120)])


@pytest.fixture(scope="module")
def summary():
    return summarise(fake_evaluation())


def cell_of(summary, label, representation=None):
    metric = next(metric for metric in summary["metrics"] if metric["label"] == label)
    return next(cell for cell in metric["cells"] if representation in (None, cell["representation"]))


def test_summary_is_strict_json_with_a_schema(summary):
    assert summary["schema"] == "unweave.report/1"
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_bare_scores_are_summarised_and_say_so():
    evaluation = evaluate(FACTORS, KEPT, metrics=["mcc", "dci_disentanglement", "mig"], quick=True)
    summary = summarise(evaluation)
    for label in evaluation.labels:
        cell = cell_of(summary, label)
        assert cell["value"] == pytest.approx(evaluation[label].value)
        assert (cell["floor"], cell["interval"], cell["verdict"]) == (None, None, None)
    assert "without verdicts" in summary["headline"]
    assert summary["next_steps"][-1]["sentence"].startswith("Evaluate without --quick")
    assert summary["counts"] == {"trust": 0, "caution": 0, "do not use": 0}
    flat = next(bar for bar in summary["charts"][0]["bars"] if bar["factor"] == "flat")
    assert flat["value"] is None  # undefined is not zero


def test_floor_interval_and_verdict_come_through(summary):
    cell = cell_of(summary, "mig")
    assert (cell["floor"]["mean"], cell["floor"]["low"], cell["floor"]["high"]) == (0.033, 0.01, 0.06)
    assert (cell["interval"]["low"], cell["interval"]["high"], cell["interval"]["level"]) == (0.01, 0.08, 0.9)
    assert cell["calibrated"] == pytest.approx((0.041 - 0.033) / (1 - 0.033))
    assert cell["verdict"]["level"] == "do not use"
    assert [reason["measured"] for reason in cell["verdict"]["reasons"]] == [3.0, 0.62]
    assert summary["counts"] == {"trust": 3, "caution": 2, "do not use": 1}
    assert summary["headline"].startswith("Of 6 scores, 3 can be trusted")


def test_reasons_appear_once_with_everyone_they_hold_for(summary):
    assert [reason["quantity"] for reason in summary["reasons"]] == [
        "largest correlation of two factors",
        "codes per factor",
    ]
    shared = summary["reasons"][0]
    assert (shared["level"], shared["measured"], shared["section"]) == ("do not use", 0.62, "003, section 3.1")
    entries = [(entry["level"], entry["metrics"]) for entry in shared["entries"]]
    assert entries == [("do not use", ["mig"]), ("caution", ["mcc", "dci_completeness"])]


def test_what_to_do_next_starts_with_the_gravest_and_names_what_is_noise(summary):
    assert summary["next_steps"][0] == {
        "sentence": "Use dci_disentanglement, or drop duplicated codes first.",
        "metrics": ["mig"],
    }
    noise = next(step for step in summary["next_steps"] if "p > .05" in step["sentence"])
    assert noise["metrics"] == ["mig"]


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


def test_only_matrices_of_codes_and_factors_are_shown():
    codes = RNG.normal(size=(120, 5))  # as many as dci_explicitness has capacities
    assert summarise(evaluate(FACTORS, codes, metrics=["dci_explicitness"], quick=True))["matrices"] == []


def test_codes_keep_their_names():
    named = {"left": KEPT[:, 0], "right": KEPT[:, 1]}
    summary = summarise(evaluate(FACTORS, named, metrics=["mcc"]))
    assert summary["matrices"][0]["row_names"] == ["left", "right"]


def test_several_seeds_give_mean_and_spread_and_one_matrix():
    evaluation = evaluate(FACTORS, KEPT, metrics=["dci_disentanglement", "r2"], seeds=[0, 1, 2], quick=True)
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
    assert any(step["sentence"] == cell["problem"] for step in summary["next_steps"])
    assert "1 score could not be computed" in summary["headline"]


def test_representations_side_by_side_with_groups_of_ties():
    summary = summarise(fake_evaluation(("a", "b", "c")))
    assert [cell["representation"] for cell in summary["metrics"][0]["cells"]] == ["a", "b", "c"]
    assert [cell["groups"] for cell in summary["metrics"][0]["cells"]] == [[0], [0], [1]]
    assert len(summary["matrices"]) == 9
    assert len(summary["diagnosis"]) == 3
    # a reason that holds for all representations does not name them
    assert summary["reasons"][0]["entries"][0]["metrics"] == ["mig"]


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
    # columns keep their order: the largest of each block of columns is the largest of those columns
    wide = matrix["columns_per_block"]
    np.testing.assert_array_equal(values.max(axis=0), whole.max(axis=0).reshape(-1, wide).max(axis=1))
    assert "Aggregated" in matrix["sentence"]
    assert "2,000 codes by 200 factors" in matrix["sentence"]
    first = matrix["strongest"][0]
    i, j = (int(first[axis].split()[1]) for axis in ("row", "column"))
    assert first["value"] == whole[i, j] == whole.max()


def test_of_many_factors_the_ends_have_bars():
    evaluation = fake_evaluation(n_factors=200, n_codes=20)
    chart = summarise(evaluation)["charts"][0]
    values = sorted(evaluation["mcc"].per_factor.values())
    assert [bar["value"] for bar in chart["bars"]] == [*values[:-13:-1], *reversed(values[:12])]
    assert chart["sentence"] == "Aggregated: the 12 highest and the 12 lowest of 200 factors."


def test_coarse_detail_says_what_it_left_out():
    summary = summarise(fake_evaluation(), replace(COARSE, charts=2, matrices=1))
    assert (len(summary["charts"]), summary["charts_left_out"]) == (2, 3)
    assert (len(summary["matrices"]), summary["matrices_left_out"]) == (1, 2)


def test_diagnosis_in_figures(summary):
    figures = {figure["key"]: figure["text"] for figure in summary["diagnosis"][0]["figures"]}
    assert figures["effective_dimension"] == "3 of 4"
    assert figures["nuisance_share"] == "27 %"
    assert (figures["dead_codes"], figures["duplicated_codes"]) == ("2", "1")
    correlation = summary["diagnosis"][0]["factor_correlation"]
    assert correlation["signed"]
    assert correlation["values"][0][1] == -0.62
    assert summary["diagnosis"][0]["constraints"] == ["scale is a function of size and hue"]


def test_methods_paragraph_says_sizes_settings_floors_and_fingerprint(summary):
    methods = summary["writing"]["methods"]
    for part in (
        "m = 12 codes",
        "d = 4 factors (3 continuous and 1 categorical)",
        "n = 10,000 samples",
        "unweave 0.1.0",
        "numpy 2.4.6",
        "mcc (normalise = matched; version 1; Hyvärinen and Morioka, 2016",
        "199 permutations",
        "90 % jackknife intervals",
        "3 rows with missing values were dropped",
        "00c0ffee00",
    ):
        assert part in methods


def test_latex_rows_have_a_cell_for_every_metric_and_marks_for_verdicts():
    latex = summarise(fake_evaluation(("beta_VAE", "b")))["writing"]["latex"].splitlines()
    rows = [line for line in latex if not line.startswith("%")]
    assert len(rows) == 2
    assert all(row.count(" & ") == len(CHOSEN) and row.endswith(r"\\") for row in rows)
    assert rows[0].startswith(r"beta\_VAE & 0.871 {\scriptsize [0.850, 0.890]}$^{\dagger}$ & 0.934 {\scriptsize")


def test_trust_read_back_from_plain_mappings_is_the_same(summary):
    evaluation = fake_evaluation()
    for row in evaluation.rows:
        row.noise_floor, row.interval = vars(row.noise_floor), vars(row.interval)
        reasons = [vars(reason) for reason in row.verdict.reasons]
        row.verdict = {"level": row.verdict.level, "reasons": reasons}
    assert summarise(evaluation) == summary


def test_bands_come_from_the_draws_where_the_floor_has_no_ends():
    evaluation = fake_evaluation()
    draws = tuple(np.linspace(0, 1, 101))
    for row in evaluation.rows:
        del row.noise_floor.low, row.noise_floor.high
        row.noise_floor.draws = draws
    floor = cell_of(summarise(evaluation), "mcc")["floor"]
    assert (floor["low"], floor["high"]) == (pytest.approx(0.05), pytest.approx(0.95))


def test_trust_objects_of_the_library_by_their_own_names():
    evaluation = fake_evaluation(("a", "b"))
    for row in evaluation.rows:
        floor, ends = row.noise_floor, row.interval
        per_factor = floor.per_factor
        floor.per_factor_floor = {name: band[0] for name, band in per_factor.items()}
        floor.per_factor_upper = {name: band[2] for name, band in per_factor.items()}
        ends.lower, ends.upper = ends.low, ends.high
        del floor.per_factor, ends.low, ends.high, ends.kind
    ties = {"ties": [["a"], ["b"]], "notes": ["Few parts."]}
    data = evaluation.data | {"comparison": {"mcc": ties}}
    data["diagnosis"] = {
        "a": {"max_correlation": 0.5, "sentences": ["One."], "nuisance_per_code": {"x": 0.4, "y": 0.9}}
    }
    summary = summarise(replace(evaluation, data=data))
    cell = cell_of(summary, "mcc", "b")
    assert cell["interval"]["low"] == pytest.approx(0.83)
    assert "90 % subsampling intervals" in summary["writing"]["methods"]
    assert (cell["groups"], summary["metrics"][0]["comparison"]) == ([1], "Few parts.")
    assert summary["charts"][0]["bars"][0]["floor"] == [0.214, 0.214, 0.26]
    first, second = summary["diagnosis"]
    assert [bar["name"] for bar in first["charts"][0]["bars"]] == ["y", "x"]
    assert {figure["key"]: figure["value"] for figure in first["figures"]}["largest_correlation"] == 0.5
    assert not second["looked"]


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
    assert decoder["title"] == "What the decoder does"
    assert decoder["writing"]["methods"].startswith("We scored a decoder with unweave")
    for summary in (alone, decoder):
        assert rendered(summary).startswith("<!doctype html>")
