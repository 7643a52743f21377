"""Numbers that stand for different things on one page say so, and rounded numbers stay on their side of a limit."""

import numpy as np
import pytest

from unweave import compare, evaluate
from unweave.findings import Finding, shared_reason
from unweave.report.answer import _row_of_difference, answer_of
from unweave.report.figures.curves import loss_figure
from unweave.sentences import MINUS
from unweave.trust.comparison import Difference

Z = np.random.default_rng(1).normal(size=(300, 2))


@pytest.mark.parametrize(
    ("lower", "p_value", "shown"),
    [
        (-0.0000057, 0.05016, (f"{MINUS}0.000 to 0.013", "> 0.050")),
        (0.0000057, 0.04984, ("0.000 to 0.013", "0.050")),
        (-0.02, 0.2, (f"{MINUS}0.020 to 0.013", "0.200")),
    ],
)
def test_an_interval_that_holds_0_and_a_p_value_above_the_level_look_like_it(lower, p_value, shown):
    """'0.000 to 0.013' with p = 0.050 looked like a significant difference that was not in bold."""
    assert _row_of_difference(Difference("a", "b", 0.007, 0.003, lower, 0.013, p_value))[2:] == shown


def test_a_reason_says_why_its_first_number_is_not_the_score():
    moved = {"strength": 0.5, "n_rows": 0, "before": 0.33, "after": 0.04, "factors": ("x", "y")}
    for further in (False, True):
        found = Finding("depends_on_dependence", further=further, **moved)
        assert ("simulated" in str(found)) is further
        assert ("simulated" in shared_reason({"mcc": found, "mig": found})) is further


def test_the_chart_of_identification_says_that_luck_is_taken_off():
    """The table has the own codes of a factor, and the chart those beyond a random mixing."""
    charts = evaluate(Z, Z @ [[0.8, 0.6], [-0.6, 0.8]], metrics=["identification", "r2"], quick=True).to_summary()[
        "charts"
    ]
    assert {chart["label"]: "beyond those of a random mixing" in chart["sentence"] for chart in charts} == {
        "identification": True,
        "r2": False,
    }


def test_the_table_of_recoveries_is_of_directions_on_the_page_as_on_the_terminal():
    both = compare(Z, {"own": Z, "turned": Z @ [[0.8, 0.6], [-0.6, 0.8]]}, metrics="identification", quick=True)
    assert "recovery by a direction of the codes, whatever the mark" in both.to_html()
    assert "or by own codes" not in both.to_html()


def test_the_weighted_reconstruction_of_a_loss_is_not_that_of_a_table():
    (axes,) = loss_figure({"reconstruction": {"vae": {"seed 0": ([0, 1], [2.0, 1.0])}}}).axes
    assert "times its weight" in axes.get_title()


def test_a_factor_with_a_small_recovery_is_called_weakly_readable():
    """A recovery of .08 was called readable, like one of .8; the rung stays."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 2000))
    codes = (y + 0.35 * x + 0.5 * rng.normal(size=2000))[:, None]
    found = evaluate({"x": x, "y": y}, codes, metrics="identification", quick=True)
    rows = {row.factor: row for row in answer_of(found).factors}
    assert rows["x"].rung == found.ladder["x"].rung == "readable"
    assert 0.02 < rows["x"].recovery < 0.2
    assert rows["x"].words == rows["x"].group == "weakly readable"
    assert "1 can be read only weakly (recovery below 0.20): x" in answer_of(found).headline
    assert "weakly" not in rows["y"].words
