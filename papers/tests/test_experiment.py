"""Declarations of experiments: each is complete, found by name, checked before it computes, and run the same way."""

import dataclasses
import json
import re

import pytest
from matplotlib.figure import Figure

from unweave import OptionError, UnweaveError
from unweave_papers import everything, experiment, ledger
from unweave_papers import experiment as catalogue
from unweave_papers.experiment import (
    MODULES,
    ClaimCheck,
    Experiment,
    MeasuredFigure,
    Options,
    Paper,
    checks_table,
    experiment_claims,
    experiment_of,
    paper_of,
    reproduced,
)

FIELDS = {field.name for field in dataclasses.fields(Options)} - {"folder", "progress"}


@pytest.fixture
def calls(monkeypatch):
    """Replace the papers by one with a single experiment; return the list of its function calls."""
    asked = []

    def compute(options):
        asked.append("compute")
        return 0.5

    def compare(data, options):
        yield ClaimCheck.number("half", ".5", data, above=0.4, below=0.6)

    def drawn(data, options):
        asked.append("draw")
        yield "fig2", Figure()

    one = Experiment("fig2", "a figure", compute, compare, draw=drawn, options=("seed", "weights"), needs=("weights",))
    monkeypatch.setattr(catalogue, "paper_of", lambda number: Paper(number, "a paper", (one,)))
    monkeypatch.setattr(ledger, "claims_of", lambda number: ())
    return asked


@pytest.mark.parametrize("number", MODULES)
def test_every_experiment_is_declared_completely(number):
    paper = paper_of(number)
    assert paper.number == number
    names = [entry.name for entry in paper.experiments]
    assert len(set(names)) == len(names)
    for entry in paper.experiments:
        assert entry.title
        assert entry.cost
        assert entry.seeds.endswith(".")  # what was repeated, and what bars are
        assert entry.compare is not experiment.none
        assert set(entry.options) <= FIELDS
        assert set(entry.needs) <= {*experiment.PACKAGES, *experiment.FOLDERS}
        assert set(entry.needs) - {"torch"} <= set(entry.options)
        assert set(entry.needs) - {"torch"} <= set(entry.replaced)  # no folder has to be given


def test_102_figures_and_all_tables_of_results_have_a_command():
    names = {(number, re.match(r"(fig|tab)[A-F]?\d+|", entry.name)[0]) for number in MODULES
             for entry in paper_of(number).experiments}  # fmt: skip
    assert sum(name.startswith("fig") for _, name in names) == 102
    assert sum(name.startswith("tab") for _, name in names) == 9


def test_an_experiment_computes_compares_and_draws(calls, tmp_path):
    table, claims, written = reproduced("009", "fig2", Options(tmp_path, weights=tmp_path))
    assert [list(column.cells) for column in table.columns] == [["half"], [".5"], ["0.500"], ["holds"]]
    assert claims == f"wrote {tmp_path / '009-fig2-claims.json'}"
    [recorded] = json.loads((tmp_path / "009-fig2-claims.json").read_text())
    assert (recorded["claim"], recorded["holds"], recorded["verdict"]) == ("half", True, "holds")
    assert written == f"wrote {tmp_path / '009-fig2.png'}"
    assert calls == ["compute", "draw"]


def test_claims_with_rules_are_decided_by_rows_of_their_experiment():
    """A row has the number of its claim; all rows of the claim are its figures, and other experiments are named."""
    rows = [ClaimCheck.quantity("MISJED of the two most informative codes, AAE minus FactorVAE", "", value)
            for value in (MeasuredFigure(0.2, 0.1, 0.3), MeasuredFigure(0.1, -0.1, 0.3))]  # fmt: skip
    rows[1] = dataclasses.replace(rows[1], claim=rows[1].claim.replace("AAE minus FactorVAE", "beta-VAE minus AAE"))
    found = list(ledger.numbered("001", "tab5", rows))
    assert [row.ledger for row in found] == [210, 210]
    [claim] = ledger.decided_here("001", "tab5", found)
    assert (claim.ledger, claim.verdict) == (210, "undecided")
    [claim] = ledger.decided_here("001", "tab5", [dataclasses.replace(row, value=1.0) for row in found])
    assert claim.verdict == "holds"
    [few] = ledger.decided_here("001", "fig25", [ClaimCheck.quantity("a", "", 0.0, 148)])
    assert (few.verdict, few.here) == ("", "1 of the 9 figures that it needs")
    [shared] = ledger.decided_here("001", "fig6", [ClaimCheck.quantity("a", "", 0.0, 199)])
    assert shared.here.startswith("decided together with fig7")


def test_verdicts_as_data(calls, tmp_path):
    [claim] = experiment_claims("009", "fig2", Options(tmp_path, weights=tmp_path))
    assert (claim.claim, claim.paper, claim.here, claim.verdict) == ("half", ".5", "0.500", "holds")
    assert calls == ["compute"]
    with pytest.raises(OptionError, match="--weights"):
        experiment_claims("009", "fig2", Options(tmp_path))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "fig2 needs the trained weights, .npz files: pass their folder with --weights"),
        ({"weights": "nowhere"}, "is not a folder"),
        ({"weights": "", "n_steps": 5}, "--steps is not an option of fig2: it takes --seed, --weights"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_computed(calls, tmp_path, given, sentence):
    given = given | ({"weights": tmp_path / given["weights"]} if "weights" in given else {})
    with pytest.raises(UnweaveError, match=sentence.replace(".", r"\.")):
        list(reproduced("009", "fig2", Options(tmp_path, **given)))
    assert calls == []


def test_missing_torch_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"fig1 needs torch: install unweave\[torch\]"):
        list(reproduced("000", "fig1", Options(tmp_path)))


def test_the_nearest_name_is_suggested():
    with pytest.raises(OptionError, match=r"no experiment 'agreemnt': did you mean 'agreement'\?"):
        experiment_of(paper_of("003"), "agreemnt")


def test_a_claim_that_fails_is_said():
    table = checks_table("002", [ClaimCheck.number("gap", "large", 0.1, above=0.2), ClaimCheck("entropy", "", "[3]")])
    assert list(table.columns[3].cells) == ["does not hold", ""]


def test_claims_show_their_number_and_what_is_undecided():
    known = ClaimCheck("UniBound", "about 0", "0", undecided=True, ledger=118)
    table = checks_table("002", [known, ClaimCheck("entropy", "", "3")])
    assert list(table.columns[0].cells) == ["002:118", ""]
    assert list(table.columns[4].cells) == ["undecided", ""]
    assert list(table.columns[5].cells) == ["holds", ""]
    assert known.is_claim
    assert not ClaimCheck("entropy", "", "3").is_claim


def test_a_figure_with_an_interval_across_its_limit_is_undecided():
    for low, high, verdict in ((0.1, 0.19, "does not hold"), (0.21, 0.3, "holds"), (0.1, 0.3, "undecided")):
        figure = MeasuredFigure(0.205, low, high)
        assert ClaimCheck.number("gap", "large", figure, above=0.2).verdict == verdict
    assert ClaimCheck.number("gap", "large", MeasuredFigure.over_seeds([0.9]), above=0.2).verdict == "undecided"


def test_folders_that_were_not_given_are_replaced_and_said(tmp_path, monkeypatch):
    from unweave_papers import trained

    monkeypatch.setattr(trained, "with_small_codes", lambda options: dataclasses.replace(options, codes=tmp_path))
    weights = experiment_of(paper_of("001"), "tab8")
    assert weights.requirements == ["torch", "(--weights)"]
    options, [told] = weights.ready(Options(tmp_path))
    assert options.codes == tmp_path
    assert told.startswith("Without --weights, tab8 uses six small models")
    given = Options(tmp_path, weights=tmp_path)
    assert weights.ready(given) == (given, [])
    digits = experiment_of(paper_of("000"), "fig6")
    options, [told] = digits.ready(Options(tmp_path))
    assert options.quick
    assert "Without --data" in told
    assert digits.ready(given) == (given, [])  # published decoders need no digits


def test_everything_is_planned_done_once_and_shown_on_one_page(calls, tmp_path, monkeypatch):
    monkeypatch.setattr(everything, "paper_of", catalogue.paper_of)
    monkeypatch.setattr(everything, "MODULES", {"009": ""})
    [skipped] = everything.planned(Options(tmp_path))
    assert "pass their folder with --weights" in skipped.reason
    options = Options(tmp_path, weights=tmp_path, n_steps=5)  # no option of the experiment, which is left out
    plan = everything.planned(options)
    states = [list(everything.plan_table(everything.planned(options)).columns[2].cells)]
    for _ in range(2):
        lines = list(everything.reproduced_all(plan))
        states.append(list(everything.plan_table(everything.planned(options)).columns[2].cells))
    assert states == [["to do"], ["done"], ["done"]]
    assert calls == ["compute", "draw"]
    assert lines == [f"wrote {tmp_path / 'index.html'}"]
    page = (tmp_path / "index.html").read_text()
    assert "<img src='009-fig2.png'" in page
    assert "<td>half</td><td>.5</td><td>0.500</td><td>holds</td>" in page


def test_the_report_has_every_claim_once():
    from generate import report_page

    page = report_page()
    for claim in ledger.claims_of():
        found = page.count(f"](../docs/claims.md#{claim.paper}-{claim.number})")
        assert found == (claim.verdict != "not testable here"), claim.name
