"""Figures and tables that need no trained model: numbers agree with closed forms, and diagrams are to scale."""

import json
import math

import numpy as np
import pytest

from unweave.synthetic.theory import ToyModel
from unweave_papers import figures
from unweave_papers.experiment import Options, experiment_of, paper_of, reproduced
from unweave_papers.ledger import FOUND, claim_of
from unweave_papers.paper001.models import properties_of
from unweave_papers.paper002.experiments import STRENGTHS, measured_toy
from unweave_papers.paper003.tables import TABLE_3
from unweave_papers.paper004.encoders import ALPHAS, BETAS, DELTAS

CHEAP = ("002 tab1", "002 fig1", "002 fig2", "003 tabF3", "001 tab1", "004 fig9")


@pytest.mark.parametrize("name", [*CHEAP, pytest.param("003 tab3", marks=pytest.mark.slow)])
def test_the_command_prints_decides_and_draws(name, tmp_path):
    number, experiment = name.split()
    written = [line for line in reproduced(number, experiment, Options(tmp_path)) if isinstance(line, str)]
    pictures = list(tmp_path.glob(f"{number}-{experiment}*.png"))
    assert pictures
    assert {f"wrote {path}" for path in pictures} <= set(written)
    found = json.loads((tmp_path / f"{number}-{experiment}-claims.json").read_text())
    decided = {entry["ledger"]: entry["verdict"] for entry in found if entry["ledger"] is not None}
    # experiments use the ledger's evidence, so the verdicts must agree
    for claim, verdict in decided.items():
        assert verdict == FOUND[claim_of(f"{number}:{claim}").verdict]
    assert decided or name == "001 tab1"


@pytest.mark.parametrize("attack", ["none", "redundancy", "synergy"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_toy_model_is_measured_as_its_closed_form_says(attack, k):
    for alpha in (0.5, 10.0):
        found, theory = measured_toy(k, attack, alpha), ToyModel(k, 0.1, attack, alpha)
        expected = (theory.mig_numerator, theory.unibound, theory.unique_upper_bound)
        assert tuple(found.scores.values()) == pytest.approx(expected, abs=1e-9)
        assert sum(found.parts.values()) == pytest.approx(theory.whole, abs=1e-9)
        assert found.parts["redundant"] == pytest.approx(theory.redundancy, abs=1e-9)
        assert found.parts["synergistic"] == pytest.approx(theory.synergy, abs=1e-9)


def test_the_strengths_begin_without_an_attack():
    assert STRENGTHS[0] == 0
    assert measured_toy(3, "redundancy", 0.0).scores["MIG"] == pytest.approx(0.5 * math.log(101))


def test_grids_of_lines_and_bars():
    lines = np.zeros((3, 10, 2))
    figure = figures.contour_grid_figure(
        {"A": (lines, lines)}, np.random.default_rng(0).normal(size=(50, 2)), {"A": (1, 2, 0.5)}
    )
    heights = [bar.get_height() for bar in figure.axes[1].patches]
    assert heights == [1, 2, 0.5, 2.5]


def test_intervals_between_bounds_are_bars():
    bounds = {
        "a": {"unique": (0.1, 0.2), "redundant": (0.0, 0.5)},
        "b": {"unique": (0.3, 0.3), "redundant": (0.1, 0.2)},
    }
    bars = figures.interval_figure(bounds).axes[0].patches
    heights = [(bar.get_y(), round(bar.get_height(), 9)) for bar in bars]
    assert heights == [(0.1, 0.1), (0.3, 0.004), (0, 0.5), (0.1, 0.1)]


@pytest.mark.parametrize("apart", [0.0, 0.4, 0.9, 1.4, 2.0])
def test_circles_overlap_by_the_area_they_should(apart):
    x, y = np.meshgrid(np.linspace(-1, 2.5, 1401), np.linspace(-1.1, 1.1, 881))
    both = (x**2 + y**2 < 1) & ((x - apart) ** 2 + y**2 < 0.6**2)
    cell = (3.5 / 1400) * (2.2 / 880)
    assert figures._overlap(1.0, 0.6, apart) == pytest.approx(both.sum() * cell, abs=5e-3)
    if 0.4 < apart < 1.6:
        assert figures._distance(1.0, 0.6, figures._overlap(1.0, 0.6, apart)) == pytest.approx(apart, abs=1e-6)


def test_toy_curves_of_004_have_their_corners_and_are_listed():
    names = [entry.name for entry in paper_of("004").experiments]
    assert {"fig2", "fig3", "fig4", "fig7", "fig8", "fig9", "fig12", "fig13", "fig14"} <= set(names)
    found = experiment_of(paper_of("004"), "fig8").compute(Options(folder=None))
    curves = found.panels["20 bins"]
    assert len(curves) == len(DELTAS)
    assert {len(values) for values in curves.values()} == {len(ALPHAS)}
    for values in curves.values():
        assert values[-1] == pytest.approx(1.0, abs=1e-9)  # with alpha = 1 every factor has its own code
    assert curves["delta = 0.25"] == pytest.approx([1.0] * len(ALPHAS), abs=1e-9)  # identical factors


def test_sufficiency_over_a_nuisance_is_one_for_any_number_of_rows():
    found = experiment_of(paper_of("004"), "fig14").compute(Options(folder=None))
    assert min(min(values) for values in found.panels["sufficiency"].values()) > 0.97
    for values in found.panels["minimality"].values():
        assert values[0] == pytest.approx(1.0)
        assert (np.diff(values) < 0).all()
    assert found.ticks == BETAS


def test_table_1_of_001_is_measured():
    names = ("explicitness", "sap", "wsepin", "mig", "rmig")
    found = {name: "".join(mark for mark, _ in properties_of(name).values()) for name in names}
    assert found["explicitness"] == "✗✗✗✓✓"  # it fits a linear classifier
    assert found["sap"][1] == "✗"
    assert found["rmig"] == "✓✓✓✓✓"
    assert found["wsepin"] == "✓✓✓✓✓"
    assert found["mig"][2] == "✗"  # ours takes codes, not posteriors


def test_table_3_names_metrics_that_were_audited():
    from audited import read_table

    assert set(TABLE_3) <= set(read_table()["metrics"])
