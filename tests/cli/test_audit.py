"""`unweave audit`."""

import json

import pytest
from click.testing import CliRunner

from unweave.auditing import Audit
from unweave.cli import main

QUICK = ("--budget", "0.02", "--seeds", "2")


def run(*arguments):
    return CliRunner().invoke(main, ["audit", *arguments])


def test_a_table():
    result = run("mcc", *QUICK)
    assert result.exit_code == 0, result.output
    assert "Audit of mcc version 3:" in result.output
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
