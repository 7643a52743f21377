"""The ledger of claims: it is complete and written in sentences, and its evidence is as recorded."""

import dataclasses
import json
import math

import pytest
from click.testing import CliRunner
from limits import claims_by_cost, made_up_figures, recorded_limits, rules_of
from records import other_versions

from unweave import FileError, InputError, OptionError
from unweave.cli import main
from unweave_papers import ledger as checking
from unweave_papers.experiment import MODULES, Options
from unweave_papers.ledger import (
    STATEMENT_HOLDS,
    ClaimEvidence,
    MeasuredFigure,
    claim_of,
    claims_of,
    falls,
    near,
    rises,
    rule_of,
    selected_claims,
)


def as_recorded(claims, folder):
    """Figures are within their tolerances, and with the same libraries as on record to six digits."""
    checked = list(checking.check(claims, Options(folder)))
    assert [(entry.claim.name, entry.reason) for entry in checked if entry.outcome != "as recorded"] == []
    if not other_versions():
        for claim, found in ((entry.claim, entry.found.figures) for entry in checked):
            for name, figure in claim.figures.items():
                assert found[name].numbers == pytest.approx(figure.numbers, abs=2e-6, nan_ok=True), (claim.name, name)


@pytest.mark.parametrize("part", claims_by_cost(cheap=True))
def test_cheap_evidence_and_the_limits_of_its_rules_are_as_recorded(part, tmp_path):
    claims = claims_by_cost(cheap=True)[part]
    with rules_of(claims) as limits:
        as_recorded(claims, tmp_path)
    on_record = recorded_limits()
    assert limits == {claim.name: on_record[claim.name] for claim in claims if claim.name in on_record}


@pytest.mark.slow
@pytest.mark.parametrize("part", claims_by_cost(cheap=False))
def test_other_evidence_is_as_recorded(part, tmp_path):
    as_recorded(claims_by_cost(cheap=False)[part], tmp_path)


@pytest.mark.parametrize("part", claims_by_cost(cheap=False))
def test_other_evidence_of_made_up_scores_and_the_limits_of_its_rules_are_as_recorded(part):
    claims, on_record = claims_by_cost(cheap=False)[part], recorded_limits()
    assert made_up_figures(claims) == {claim.name: on_record[claim.name] for claim in claims}


@pytest.mark.parametrize("paper", MODULES)
def test_claims_are_complete_and_in_sentences(paper):
    claims = claims_of(paper)
    assert len({claim.number for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.statement.endswith("."), claim.name
        assert claim.why.endswith("."), claim.name
        assert claim.where, claim.name
        assert claim.is_computed == (claim.verdict in STATEMENT_HOLDS), claim.name
        assert bool(claim.figures) == claim.is_computed, claim.name


def test_evidence_that_is_broken_fails_the_check(tmp_path, monkeypatch):
    run = ["claims", "check", "003:76", "--out", str(tmp_path)]
    assert CliRunner().invoke(main, run).exit_code == 0
    for broken, outcome in (
        (lambda: ClaimEvidence.of(True, {f"n = {n}": 0.5 for n in (100, 50, 20, 10)}), "figure moved"),
        (lambda: ClaimEvidence(False, claim_of("003:76").figures), "verdict changed"),
        (lambda: 1 / 0, "failed"),
    ):
        monkeypatch.setattr(checking, "evidence_of", lambda claim, options, broken=broken: broken())
        result = CliRunner().invoke(main, run)
        assert result.exit_code == 1
        assert outcome in result.output


def test_an_interrupted_check_goes_on_where_it_was(tmp_path, monkeypatch):
    claims = [dataclasses.replace(claim_of(name), seconds=k) for k, name in enumerate(("003:42", "003:43"))]
    calls = []

    def evidence(claim, options):
        calls.append(claim.name)
        if calls == ["003:42", "003:43"]:
            raise KeyboardInterrupt
        return ClaimEvidence(STATEMENT_HOLDS[claim.verdict], claim.figures)

    monkeypatch.setattr(checking, "evidence_of", evidence)
    with pytest.raises(KeyboardInterrupt):
        list(checking.check(claims, Options(tmp_path)))
    list(checking.check(claims, Options(tmp_path)))
    assert calls == ["003:42", "003:43", "003:43"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_or_too_dear_is_skipped(tmp_path):
    claim = claim_of("003:76")
    needy = dataclasses.replace(claim, needs=("weights",))
    dear = dataclasses.replace(claim, seconds=100.0)
    reasons = [entry.reason for entry in checking.check([needy, dear], Options(tmp_path), budget=10)]
    assert reasons == [
        "It needs the trained weights, .npz files: pass their folder with --weights.",
        "It takes about 100 s, which exceeds the budget.",
    ]


def test_figures_over_seeds_have_students_interval():
    found = MeasuredFigure.over_seeds([1.0, 2.0, 3.0])
    assert (found.value, round(found.low, 3), round(found.high, 3)) == (2.0, -0.484, 4.484)  # 4.303 / sqrt 3


def test_what_a_person_may_name():
    assert {claim.verdict for claim in selected_claims(["003"], "holds")} == {"holds"}
    with pytest.raises(OptionError, match="did you mean 'holds'"):
        selected_claims([], "hold")
    with pytest.raises(OptionError, match="There is no claim '003:999'"):
        claim_of("003:999")


def test_the_command_lists_shows_and_counts():
    listed = CliRunner().invoke(main, ["claims", "003", "--verdict", "error of the text"])
    assert "003:12" in listed.output
    assert "003:13" not in listed.output
    shown = CliRunner().invoke(main, ["claims", "003:44"]).output
    assert "(m/d) log m / log d" in shown
    assert "unweave reproduce 003 exp06" in shown
    assert "104" in CliRunner().invoke(main, ["claims"]).output


def test_the_page_has_every_claim_where_its_link_says():
    from unweave_papers.ledger import ledger_page

    page = ledger_page()
    for claim in claims_of():
        assert page.count(f'id="{claim.paper}-{claim.number}"') == 1
    assert "[003](#claims-of-003)" in page
    assert "## Claims of 003" in page


def test_what_takes_trained_models_is_decided_by_its_experiments(tmp_path, monkeypatch):
    from unweave_papers.experiment import ClaimCheck

    claim = dataclasses.replace(claim_of("001:146"), needs=())
    said = {"tab8": [ClaimCheck("a", "", "", True, 146, value=0.5), ClaimCheck("b", "", "", False, 12)]}
    monkeypatch.setattr(checking, "experiment_claims", lambda paper, name, options: said.get(name, []))
    found = checking.evidence_of(claim, Options(tmp_path))
    assert (found.holds, found.figures["a"].value, set(found.figures)) == (True, 0.5, {"a"})
    said["tab9"] = [ClaimCheck("c", "", "", False, 146)]
    assert checking.evidence_of(claim, Options(tmp_path)).holds is None
    said["tab8"] = []
    found = checking.evidence_of(claim, Options(tmp_path))
    assert (found.holds, found.figures["c"].value) == (False, 0.0)
    said["tab9"] = []
    with pytest.raises(InputError, match="have no result on claim 146"):
        checking.evidence_of(claim, Options(tmp_path))


def test_what_was_not_reproduced_yet_says_which_command_does_it(tmp_path):
    pytest.importorskip("torch")
    claim = dataclasses.replace(claim_of("002:120"), experiments=("fig3c",), needs=("torch", "reproduced"))
    [entry] = checking.check([claim], Options(tmp_path))
    assert (entry.outcome, entry.reason.split(" first")[0]) == (
        "skipped",
        f"It needs trained models: run unweave reproduce 002 fig3c --out {tmp_path}",
    )


def test_a_plot_has_dots_and_intervals_to_scale():
    """Of 120 pixels, 108 are the scale; a line is 11 pixels high."""
    from unweave_papers.ledger import _picture

    figures = {"a": MeasuredFigure(0.5), "b": MeasuredFigure(math.nan), "c": MeasuredFigure(0.25, -0.5, 1.0)}
    assert _picture(figures) == (
        '<svg role="img" width="120" height="33" viewBox="0 0 120 33"><title>from 0 to 1</title>'
        '<rect x="0.5" y="0.5" width="119" height="32" fill="none" stroke="currentColor" opacity=".25"/>'
        '<circle cx="60.0" cy="5.5" r="3" fill="currentColor"/>'
        '<line x1="6.0" x2="114.0" y1="27.5" y2="27.5" stroke="currentColor"/>'
        '<circle cx="33.0" cy="27.5" r="3" fill="currentColor"/></svg>'
    )
    assert _picture({"b": MeasuredFigure(math.nan)}) == ""


def test_rows_of_the_page_have_the_figures_and_the_commands():
    from unweave_papers.ledger import _row, _summary

    claim = dataclasses.replace(
        claim_of("003:76"), stated="", see="unweave see", figures={"a < b": MeasuredFigure(1.0)}
    )
    row = _row(claim)
    assert "In the paper" not in row
    assert "<code>unweave claims check 003:76</code><br><code>unweave see</code>" in row
    assert "<details><summary>1 figure</summary>a &lt; b: 1.000</details>" in row
    quoted = _row(dataclasses.replace(claim, rows={}, see="", stated="x", figures={}))
    assert "<code>" not in quoted
    assert "In the paper: x." in quoted
    assert quoted.endswith("<td></td></tr>")
    head, ruler, *rows = _summary()
    assert (head.count("|"), ruler.count("---:")) == (9, 7)
    assert [row.split(" | ")[-1] for row in rows] == [
        f"{sum(claim.is_computed for claim in claims_of(paper))} of {len(claims_of(paper))} |" for paper in MODULES
    ]


@pytest.mark.parametrize(
    ("values", "rising"),
    [
        ((0.0, 0.05), False),
        ((0.0, 0.0501), True),
        ((0.0, 0.5, 0.481), True),
        ((0.0, 0.5, 0.48), False),
        ((1, 0), False),
    ],
)
def test_values_rise_if_the_last_is_higher_and_no_step_is_a_clear_fall(values, rising):
    assert rises(values) is rising
    assert falls([-value for value in values]) is rising


def test_values_are_near_a_target_up_to_and_including_the_distance():
    assert near([0.5, 1.5], 1.0, 0.5)
    assert not near([0.5, 1.51], 1.0, 0.5)
    assert [ClaimEvidence.by_rule({"a": 1.0}, lambda v, says=says: says).holds for says in (None, 0.0, 3)] == [
        None,
        False,
        True,
    ]


def test_two_seeds_have_no_interval_and_large_figures_have_four_digits():
    assert MeasuredFigure.over_seeds([1.0, 2.0]).numbers == [1.5]
    assert len(MeasuredFigure.over_seeds([1.0, 2.0, 4.0]).numbers) == 3
    assert [str(MeasuredFigure(x)) for x in (999.0, 1000.0, -12345.0)] == ["999.000", "1000", "-1.234e+04"]


def test_figures_are_recorded_to_six_digits_beside_those_that_are_there(tmp_path, monkeypatch):
    from unweave_papers import ledger as claim_files

    monkeypatch.setattr(claim_files, "FOLDER", tmp_path)
    (tmp_path / "recorded").mkdir()
    found = {
        10: ClaimEvidence.of(True, {"a": 1.23456789}),
        9: ClaimEvidence(None, {"b": MeasuredFigure(0.5, 0.1234564, 1.0)}),
    }
    for numbers in ((10,), (9,)):
        path = claim_files.record("003", {n: found[n] for n in numbers}, dict.fromkeys(numbers, 1.26))
    assert path.read_text(encoding="utf-8") == (
        '{\n"9": {"seconds": 1.3, "figures": {"b": [0.5, 0.123456, 1.0]}},\n'
        '"10": {"seconds": 1.3, "figures": {"a": [1.234568]}}\n}\n'
    )
    entry = {"number": 9, "where": "", "statement": "", "verdict": "holds", "why": ""}
    claim = claim_files._claim("003", entry, json.loads(path.read_text(encoding="utf-8")))
    assert (claim.seconds, claim.figures["b"]) == (1.3, MeasuredFigure(0.5, 0.123456, 1.0))
    assert claim_files._claim("003", entry, {}).seconds == 1.0


def test_a_check_ends_with_counts():
    from unweave_papers.ledger import check_lines, shown_claim

    claim = claim_of("003:76")
    quoted = dataclasses.replace(claim, rows={})
    checked = [
        checking.CheckedClaim(claim, "as recorded", seconds=1.6),
        checking.CheckedClaim(claim, "skipped", "It is dear."),
        checking.CheckedClaim(claim, "skipped", "It is dear."),
        checking.CheckedClaim(quoted, "skipped", "It has no evidence."),
        checking.CheckedClaim(claim, "failed", "ValueError: a", seconds=1.0),
    ]
    table, *lines = check_lines(checked)
    assert [list(column.cells) for column in table.columns] == [["003:76"], ["failed"], ["ValueError: a"]]
    assert lines == [
        "2 skipped. It is dear.",
        "1 have no evidence that can be computed here.",
        "1 of 2 computed claims are as recorded (3 CPU seconds).",
    ]
    assert list(check_lines(checked[:1])) == ["1 of 1 computed claims are as recorded (2 CPU seconds)."]
    for seconds, words in ((0.99, "less than a second"), (1.0, "about 1 s"), (1.6, "about 2 s")):
        assert f"Check        unweave claims check 003:76, {words}" in shown_claim(
            dataclasses.replace(claim, seconds=seconds)
        )


@pytest.mark.parametrize(("budget", "outcomes"), [(2.0, ["as recorded"] * 2), (1.9, ["as recorded", "skipped"])])
def test_claims_are_checked_up_to_and_including_the_budget(tmp_path, monkeypatch, budget, outcomes):
    claims = [dataclasses.replace(claim_of(name), seconds=1.0) for name in ("003:76", "003:42")]
    monkeypatch.setattr(
        checking, "_checked", lambda claim, options, kept: checking.CheckedClaim(claim, "as recorded", seconds=1.0)
    )
    assert [entry.outcome for entry in checking.check(claims, Options(tmp_path), budget)] == outcomes


def test_a_figure_may_differ_by_its_tolerance_and_no_more():
    close = checking._close
    assert [close(0.5, recorded, 0.25) for recorded in (0.25, 0.24, 0.75, 0.76)] == [True, False, True, False]
    assert [close(*pair, 0.1) for pair in ((math.nan, math.nan), (math.inf, math.inf))] == [True, True]
    assert [close(*pair, 0.1) for pair in ((math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0))] == [False] * 3


@pytest.mark.parametrize(
    ("text", "holding", "failing"),
    [
        ("all equal 1 within 0.25", [0.75, 1.25, 1.0], [0.75, 1.25, 1.26]),
        ("1-2 rise by 0.5", [0.0, 0.6, 0.0], [0.0, 0.5, 1.0]),
        ("2-3 fall by 0.5", [0.0, 0.6, 0.0], [0.6, 0.5, 0.0]),
        ("1 is above 0.5", [0.6, 0.0, 0.0], [0.5, 1.0, 1.0]),
        ("2-3 are below -1e-3", [0.0, -0.1, -0.2], [-1.0, -1.0, 0.0]),
        ("all agree within 0.5", [0.0, 0.25, 0.49], [0.0, 0.25, 0.5]),
        ("1 agrees with 3 within 0.5", [0.0, 9.0, -0.4], [0.0, 0.0, 0.5]),
        ("3 exceeds 1-2", [0.0, 0.1, 0.2], [0.3, 0.1, 0.2]),
        ("3 exceeds 1-2 by 0.5", [0.0, 0.1, 0.7], [0.0, 0.25, 0.75]),
        ("1 is undefined or 2 is undefined", [0.0, math.nan, 0.0], [0.0, 0.0, math.nan]),
    ],
)
def test_rules_of_rows(text, holding, failing):
    rule = rule_of(text, 3)
    assert rule(holding)
    assert not rule(failing)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"metric": "MCC"}, "'MCC' is not a metric of 003"),
        ({"m": 99}, "0 cells of exp09_ratio have"),
        ({"colour": 1}, "colour is not a column of 003"),
        ({"protocol": "theirs"}, "'theirs' is not a protocol of 003"),
        ({"expect": "all rise"}, "'all rise' follows none of the rules"),
        ({"expect": "1-2 rise by 0.1"}, "there is no figure 1-2 among 1"),
        ({"expect": []}, "rows need something to expect"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_in_one_sentence(row, reason):
    cells = {"metric": "R2", "run": "exp09_ratio", "encoder": "E7", "m": 8, "name": "{metric}"}
    entry = {"number": 9, "where": "", "statement": "", "verdict": "holds", "why": "", "expect": "1 is above 0"}
    entry |= {"expect": row.pop("expect")} if "expect" in row else {}
    with pytest.raises(FileError, match=f"Claim 003:9 cannot be read: {reason}"):
        checking._claim("003", entry | {"rows": [cells | row]}, {})


def test_functions_that_rows_name_exist():
    from unweave_papers.paper003 import evidence

    named = {function for claim in claims_of("003") for function, _ in claim.rows.values()}
    assert named <= set(vars(evidence))
