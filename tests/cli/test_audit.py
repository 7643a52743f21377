"""`unweave audit`, and the picture."""

import json

import pytest
from click.testing import CliRunner

from unweave.auditing import Audit, audit
from unweave.cli import main
from unweave.evidence import EvidenceError

QUICK = ("--budget", "0.02", "--seeds", "2")


def run(*arguments):
    return CliRunner().invoke(main, ["audit", *arguments])


def test_a_table():
    result = run("mcc", *QUICK)
    assert result.exit_code == 0, result.output
    assert "Audit of mcc version 1:" in result.output
    assert "not measured within the budget" in result.output


def test_json():
    result = run("mcc:correlation=spearman", *QUICK, "--json")
    assert result.exit_code == 0, result.output
    assert Audit.from_dict(json.loads(result.output)).metric == "mcc (correlation=spearman)"


def test_a_name_that_is_not_known():
    result = run("mccc")
    assert result.exit_code == 2
    assert "did you mean 'mcc'" in result.output


def test_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "mcc.png"
    assert run("mcc", *QUICK, "--picture", str(path)).exit_code == 0
    assert path.stat().st_size > 10_000


def test_the_picture_has_a_panel_for_each_property(small):
    pytest.importorskip("matplotlib")
    from unweave.report.figures.audit import audit_figure

    figure = audit_figure(audit(lambda factors, codes: 0.5, grid=small, seeds=2, adversary=False))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["P1 satisfied", "P2 violated", "P3 satisfied", "P4 violated"]
    level = figure.axes[3].lines[0].get_ydata()
    assert set(level) == {0.5}


def test_there_is_no_picture_of_what_was_not_audited():
    pytest.importorskip("matplotlib")
    from unweave.report.figures.audit import audit_figure

    with pytest.raises(EvidenceError, match="nothing to draw"):
        audit_figure(audit("rmig"))
