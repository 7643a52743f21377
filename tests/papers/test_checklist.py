"""The checklist of 003 on data with known answers."""

import numpy as np
import pytest
from click.testing import CliRunner

from unweave.cli import main
from unweave.evidence import Evidence
from unweave.papers.guardians import checklist as checklist_module
from unweave.papers.guardians.checklist import checklist


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
