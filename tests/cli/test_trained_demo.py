"""The demonstration with training: its files, its page, and a second call that reads the results."""

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from unweave.cli import demos as trained_demo
from unweave.cli import main
from unweave.encoding import read_encoded


def test_from_a_model_to_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr(trained_demo, "N_ROWS", 300)
    monkeypatch.setattr(trained_demo, "BUDGET", 0.1)
    monkeypatch.setattr(trained_demo, "METRICS", ("mcc", "mig"))
    monkeypatch.setattr(trained_demo.trained_demonstration, "__defaults__", (60,))
    done = CliRunner().invoke(main, ["demo", "--trained", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "mig" in done.output
    page = (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    assert "scale" in page
    codes = read_encoded(tmp_path / "out" / "codes.npz")
    assert codes.factor_names == ("shape", "scale", "x", "y")
    again = CliRunner().invoke(main, ["demo", "--trained", "--out", str(tmp_path / "out")])
    assert again.exit_code == 0, again.output
    assert np.array_equal(read_encoded(tmp_path / "out" / "codes.npz").means, codes.means)
