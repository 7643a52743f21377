"""The checklist of 003 on data with known answers."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from unweave.cli import main
from unweave.evidence import Evidence
from unweave.synthetic.theory import NullMcc
from unweave.trust import diagnose
from unweave_papers.paper003 import checklist as checklist_module
from unweave_papers.paper003.checklist import checklist


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Floors here are far from the limit of .1 on either side, so that three permutations decide as 19 do."""
    assert checklist_module.N_DRAWS == 19
    monkeypatch.setattr(checklist_module, "N_DRAWS", 3)


def answers(factors, codes):
    return {item.name: item for item in checklist(Evidence(factors, codes, kinds="continuous"))}


@pytest.fixture(scope="module")
def factors():
    return np.random.default_rng(0).normal(size=(300, 3))


def test_clean_data_have_nothing_to_beware_of(factors):
    found = answers(factors, factors)
    assert len(found) == 10
    assert {item.answer for item in found.values()} == {"fine", "note"}


def test_correlated_factors(factors):
    mixed = factors @ np.array([[1, 0.7, 0], [0, 0.7, 0], [0, 0, 1]])
    found = answers(mixed, mixed)
    assert found["Correlated factors"].answer == "beware"
    assert found["A high MCC need not mean identifiability"].answer == "beware"
    assert "audit" in found["Correlated factors"].found


def test_more_codes_than_factors(factors):
    found = answers(factors, np.column_stack([factors, factors @ np.ones((3, 3))]))
    assert "overcomplete" in found["Know your assumptions"].found
    assert found["More codes than factors"].answer == "beware"
    assert found["A high DCI-D need not mean disentanglement"].answer == "beware"


def test_few_rows_for_the_codes():
    rng = np.random.default_rng(1)
    found = answers(rng.normal(size=(60, 3)), rng.normal(size=(60, 40)))
    assert found["Codes per row"].answer == "beware"
    assert found["Report a null encoder"].answer == "beware"
    # the expected MCC of noise by the closed form is below the paper's sqrt(2 log m / n) = .35 (claim 77)
    assert "an MCC of 0.3" in found["Codes per row"].found or "an MCC of 0.2" in found["Codes per row"].found


def test_a_factor_that_two_others_determine(factors):
    found = answers(np.column_stack([factors[:, :2], factors[:, 0] * factors[:, 1]]), factors[:, :2])
    assert found["Redundancy of several factors"].answer == "beware"
    assert "factor 2 follows from factor 0 and factor 1" in found["Redundancy of several factors"].found


def test_the_command(tmp_path, factors):
    path = tmp_path / "data.npz"
    np.savez(path, factors=factors, codes=factors)
    result = CliRunner().invoke(main, ["checklist", str(path)])
    assert result.exit_code == 0
    assert "Codes per row" in result.output
    assert CliRunner().invoke(main, ["checklist", str(tmp_path / "none.npz")]).exit_code == 2


@pytest.mark.parametrize(
    ("floors", "answer", "words"),
    [
        ({"MCC": 0.1, "R2": 0.05}, "fine", "Permuted codes score MCC 0.10, R2 0.05."),
        ({"MCC": 0.05, "R2": 0.101}, "beware", "Permuted codes score MCC 0.05, R2 0.10."),
        ({"MCC": math.nan, "R2": 0.0}, "fine", "Permuted codes score R2 0.00."),
        ({}, "fine", "There are too few rows to score permuted codes."),
    ],
)
def test_a_floor_above_a_tenth_is_high(floors, answer, words):
    found = {label: SimpleNamespace(floor=floor) for label, floor in floors.items()}
    assert checklist_module._baseline(found) == ("Report a null encoder", answer, words)


def test_the_expected_floor_of_mcc_decides_on_codes_per_row():
    for n in (100, 2000):
        expected = float(NullMcc(n, 10, 5).mean)
        answer = "beware" if n == 100 else "fine"
        words = f"m/n is {10 / n:g}. Random codes would have an MCC of {expected:.2f} on {n:,} rows."
        assert checklist_module._codes_per_row(n, 10, 5) == ("Codes per row", answer, words)


@pytest.fixture(scope="module")
def independent(factors):
    return diagnose(Evidence(factors, factors, kinds="continuous"))


@pytest.mark.parametrize(("n_codes", "words"), [(3, "matched (m = d)"), (4, "over"), (2, "under")])
@pytest.mark.parametrize(("floor", "answer"), [(math.nan, "fine"), (0.1, "fine"), (0.11, "beware")])
def test_codes_are_matched_more_or_fewer(factors, independent, n_codes, words, floor, answer):
    """With independent factors there are only the number of codes and the score of random codes to beware of."""
    evidence = Evidence(factors, np.resize(factors, (300, n_codes)), kinds="continuous")
    floors = {} if math.isnan(floor) else {"MCC": SimpleNamespace(floor=floor)}
    items = {name: (said, found) for name, said, found in checklist_module._items(evidence, independent, floors)}
    assert words in items["Know your assumptions"][1]
    more = "beware" if n_codes > 3 else "fine"
    assert items["More codes than factors"][0] == items["A high DCI-D need not mean disentanglement"][0] == more
    assert items["Matched and independent"][0] == ("fine" if n_codes == 3 else "note")
    assert items["A high MCC need not mean identifiability"][0] == answer
