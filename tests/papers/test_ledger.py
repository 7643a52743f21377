"""The ledger of claims: it is complete and written in sentences, and its evidence is as recorded."""

import dataclasses
import json

import pytest
from click.testing import CliRunner
from limits import claims_by_cost, made_up_figures, recorded_limits, rules_of
from records import recorded, versions

from unweave.cli import main
from unweave.evidence import EvidenceError
from unweave.papers.catalogue import MODULES
from unweave.papers.experiment import Options
from unweave.papers.ledger import checking
from unweave.papers.ledger.claim import STATEMENT_HOLDS, Evidenced, MeasuredFigure
from unweave.papers.ledger.claim_files import claim_of, claims_of
from unweave.papers.ledger.selection import selected_claims


def as_recorded(claims, folder):
    """Figures are within their tolerances, and with the same libraries as on record to six digits."""
    checked = list(checking.check(claims, Options(folder)))
    assert [(entry.claim.name, entry.reason) for entry in checked if entry.outcome != "as recorded"] == []
    if versions() == recorded("versions"):
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
    from unweave.papers.guardians.evidence import noise

    run = ["claims", "check", "003:76", "--out", str(tmp_path)]
    assert CliRunner().invoke(main, run).exit_code == 0
    for broken, outcome in (
        (lambda: Evidenced.of(True, {f"n = {n}": 0.5 for n in (100, 50, 20, 10)}), "figure moved"),
        (lambda: Evidenced(False, claim_of("003:76").figures), "verdict changed"),
        (lambda: 1 / 0, "failed"),
    ):
        monkeypatch.setattr(noise, "the_bound_in_numbers", broken)
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
        return Evidenced(STATEMENT_HOLDS[claim.verdict], claim.figures)

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
    with pytest.raises(EvidenceError, match="did you mean 'holds'"):
        selected_claims([], "hold")
    with pytest.raises(EvidenceError, match="There is no claim '003:999'"):
        claim_of("003:999")


def test_the_command_lists_shows_and_counts():
    listed = CliRunner().invoke(main, ["claims", "003", "--verdict", "error of the text"])
    assert "003:12" in listed.output
    assert "003:13" not in listed.output
    shown = CliRunner().invoke(main, ["claims", "003:44"]).output
    assert "(m/d) log m / log d" in shown
    assert "unweave reproduce 003 exp06" in shown
    assert "104" in CliRunner().invoke(main, ["claims"]).output


def test_recorded_figures_are_plain_json():
    path = checking.Path(checking.__file__).parent / "recorded" / "003.json"
    assert set(json.loads(path.read_text(encoding="utf-8"))["44"]) == {"seconds", "figures"}


def test_most_claims_are_computed():
    assert len(claims_of()) == 166
    assert sum(claim.is_computed for claim in claims_of()) >= 150


def test_the_page_has_every_claim_where_its_link_says():
    from unweave.papers.ledger.page import ledger_page

    page = ledger_page()
    for claim in claims_of():
        assert page.count(f'id="{claim.paper}-{claim.number}"') == 1
    assert "[003](#claims-of-003)" in page
    assert "## Claims of 003" in page


def test_what_takes_trained_models_is_decided_by_its_experiments(tmp_path, monkeypatch):
    from unweave.papers import ClaimCheck

    claim = dataclasses.replace(claim_of("001:146"), needs=())
    said = {"tab8": [ClaimCheck("a", "", "", True, 146, value=0.5), ClaimCheck("b", "", "", False, 12)]}
    monkeypatch.setattr(checking, "claims_of", lambda paper, name, options: said.get(name, []))
    found = checking.evidence_of(claim, Options(tmp_path))
    assert (found.holds, found.figures["a"].value, set(found.figures)) == (True, 0.5, {"a"})
    said["tab9"] = [ClaimCheck("c", "", "", False, 146)]
    assert checking.evidence_of(claim, Options(tmp_path)).holds is None
    said["tab8"] = []
    found = checking.evidence_of(claim, Options(tmp_path))
    assert (found.holds, found.figures["c"].value) == (False, 0.0)
    said["tab9"] = []
    with pytest.raises(EvidenceError, match="have no result on claim 146"):
        checking.evidence_of(claim, Options(tmp_path))


def test_what_was_not_reproduced_yet_says_which_command_does_it(tmp_path):
    pytest.importorskip("torch")
    claim = dataclasses.replace(claim_of("002:120"), experiments=("fig3c",), needs=("torch", "reproduced"))
    [entry] = checking.check([claim], Options(tmp_path))
    assert (entry.outcome, entry.reason.split(" first")[0]) == (
        "skipped",
        f"It needs trained models: run unweave reproduce 002 fig3c --out {tmp_path}",
    )
