"""The view in a notebook: small tables, text if there is no HTML, and figures as images."""

import numpy as np
import pytest

import unweave
from unweave.auditing import Audit

FACTORS = np.random.default_rng(0).uniform(size=(120, 2))


@pytest.fixture(scope="module")
def evaluation():
    return unweave.evaluate(
        {"<b>size": FACTORS[:, 0], "x": FACTORS[:, 1]}, FACTORS, metrics=["mcc"], quick=True, progress=False
    )


def test_a_score_shows_its_factors_escaped(evaluation):
    shown = evaluation["mcc"]._repr_html_()
    assert "mcc = 1.000" in shown
    assert "&lt;b&gt;size" in shown
    assert "<b>size" not in shown


def test_a_diagnosis_shows_its_sentences():
    found = unweave.diagnose(unweave.Evidence(FACTORS, np.column_stack([FACTORS, np.ones(120)])))
    shown = found._repr_html_()
    assert shown.count("<li>") >= len(found.sentences())


def test_an_audit_shows_why_there_is_none():
    assert "No codes." in Audit("mine", 1, refusal="No codes.")._repr_html_()


def test_text_is_text_in_a_notebook_too(evaluation, monkeypatch):
    """In a notebook, rich prints HTML and leaves the text empty unless force_jupyter is False."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "mcc" in str(evaluation)
    assert "run" in str(unweave.unlabelled({"a": FACTORS}))
    both = unweave.compare(FACTORS, {"a": FACTORS, "b": FACTORS[:, ::-1]}, metrics=["mcc"], quick=True, progress=False)
    assert "setting" in str(both.grouped({"a": "one", "b": "one"}))
    assert "mine" in str(Audit("mine", 1, refusal="No codes."))


def test_figures_show_themselves(evaluation):
    assert evaluation.plot()._repr_png_().startswith(b"\x89PNG")


def test_a_comparison_shows_its_groups_escaped():
    from unweave.metrics import mcc
    from unweave.trust import compared

    noise = np.random.default_rng(1).normal(size=(120, 2))
    evidences = {"<i>good": unweave.Evidence(FACTORS, FACTORS), "noise": unweave.Evidence(FACTORS, noise)}
    shown = compared(mcc, evidences)._repr_html_()
    assert "&lt;i&gt;good" in shown
    assert shown.index("good") < shown.index("noise")
    assert "share a letter" in shown
