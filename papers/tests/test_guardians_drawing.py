"""Drawing of 003's figures from synthetic means: panels, axes, markers of the authors' data, and legends."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from unweave.report.figures.geometry import INK
from unweave_papers.paper003.authors import SeedMean
from unweave_papers.paper003.figures import COLOUR_OF_METRIC, FIGURES, Shown, _log_axis, _map, guardians_figure


def made_up(name, with_theirs):
    figure, rng = FIGURES[name], np.random.default_rng(0)
    parts = []
    for part in figure.parts:
        means = {
            (*setting.key, metric): SeedMean(value, value - 0.1, value + 0.1)
            for setting in part.settings
            for metric in part.metrics
            for value in [float(rng.uniform())]
        }
        parts.append(Shown(part, means, means if with_theirs else {}))
    return guardians_figure(figure, parts)


def visible(figure):
    return [axes for axes in figure.axes if axes.get_visible() and axes.get_title()]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("fig2", ["d = 2", "d = 5", "d = 10"]),
        ("fig4", ["E5", "E6", "E7", "E8"]),
        ("fig7", ["d = 5", "d = 10", "d = 20"]),
        ("fig3", ["independent (D1)", "constraint of one (D3)"]),
    ],
)
def test_panels_are_those_of_the_paper(name, titles):
    figure = made_up(name, with_theirs=False)
    assert [axes.get_title() for axes in visible(figure)] == titles
    assert all(axes.get_ylim() == (-0.04, 1.05) for axes in visible(figure))
    assert "authors' data" not in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_authors_data_are_markers_in_the_legend():
    figure = made_up("fig1", with_theirs=True)
    assert len(visible(figure)) == 4
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[-1] == "authors' data"
    assert {"E1", "E3", "E7", "E8", "MCC-P", "DCI-D", "R2"} <= set(labels)


def test_maps_have_their_numbers_and_the_authors_below():
    alone, both = made_up("fig5", with_theirs=False), made_up("fig5", with_theirs=True)
    assert [axes.get_title() for axes in visible(alone)] == ["DCI-D", "MCC-P", "MCC-S", "R2"]
    assert len(visible(both)) == 8
    assert "R2, authors' data" in [axes.get_title() for axes in visible(both)]
    assert len(visible(alone)[0].texts) == 35
    assert [label.get_text() for label in visible(alone)[0].get_yticklabels()] == ["0.5", "1", "2", "5", "10"]


def test_colours_are_all_different():
    assert len(set(COLOUR_OF_METRIC.values())) == len(COLOUR_OF_METRIC) == 12


@pytest.mark.parametrize(("n_columns", "last", "rotation"), [(6, 1000.0, 0), (7, 100.0, 45), (7, 99.0, 0)])
def test_numbers_of_a_map_are_dark_on_light_and_wide_labels_are_turned(n_columns, last, rotation):
    axes = Figure().add_subplot()
    xs = [*map(float, range(n_columns - 1)), last]
    values = np.zeros((1, n_columns))
    values[0, :5] = 0.55, 0.551, np.nan, 1.0, 0.004
    image = _map(axes, values, xs, [0.5])
    shown = [(text.get_text(), text.get_color()) for text in axes.texts[:5]]
    assert shown == [(".55", "white"), (".55", "black"), ("n/a", INK), ("1.00", "black"), (".00", "white")]
    assert [text.get_position() for text in axes.texts[:2]] == [(0, 0), (1, 0)]
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {rotation}
    assert axes.get_xticklabels()[-1].get_text() == f"{last:g}"
    assert image.get_clim() == (0, 1)


def test_labels_of_a_logarithmic_axis_do_not_overlap():
    """A label is left out if it is within 14 % of the axis of the one before."""
    axes = Figure().add_subplot()
    _log_axis(axes, [1.0, 10**0.13, 10**0.15, 10**0.28, 10**0.3, 10.0])
    assert [float(label.get_text()) for label in axes.get_xticklabels()] == pytest.approx(
        [1.0, 10**0.15, 10**0.3, 10.0], rel=1e-5
    )
    assert axes.get_xscale() == "log"


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(name, tmp_path):
    made_up(name, with_theirs=True).savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
