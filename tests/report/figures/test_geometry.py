"""Pictures are drawn from plain arrays and written; their contents are asserted through the axes."""

import base64
import struct

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from unweave.report import geometry as geometry_page
from unweave.report.figures.codes import blank_figure
from unweave.report.figures.geometry import (
    information_figure,
    save,
    spectrum_figure,
    tangent_figure,
)


def test_spectrum_shows_both_orders_and_the_truth(tmp_path):
    figure = spectrum_figure({"a": np.array([1.0, 3.0, 2.0]), "b": np.zeros(3)}, truth=np.array([3.0, 2.0, 1.0]))
    lines = figure.axes[0].lines
    assert [line.get_ydata().tolist() for line in lines[:2]] == [[1.0, 3.0, 2.0], [3.0, 2.0, 1.0]]
    assert len(lines) == 5
    assert save(figure, tmp_path / "deep" / "spectrum.png").stat().st_size > 1000


def test_a_spectrum_with_names_has_them_and_its_knee_and_no_faint_line():
    axes = spectrum_figure({"mine": np.array([1.0, 3.0, 2.9])}, knee=2, names=["a", "b", "c"]).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["b", "c", "a"]
    assert [line.get_alpha() for line in axes.get_lines()] == [None, None]  # the spectrum and the knee
    assert axes.texts[0].get_text() == "largest drop after 2"


def test_no_two_of_many_spectra_have_the_same_colour():
    figure = spectrum_figure({f"beta {k}": np.arange(3.0) + k for k in range(10)})
    sorted_lines = [line for line in figure.axes[0].get_lines() if line.get_alpha() is None]
    assert len({line.get_color() for line in sorted_lines}) == 10


def test_information_hides_what_is_undefined_and_caps_what_is_infinite():
    matrix = np.array([[np.nan, 1.0], [np.inf, 2.0]])
    figure = information_figure({"one": matrix, "two": matrix})
    shown = figure.axes[0].images[0].get_array()
    assert bool(shown.mask[0, 0])
    assert shown[1, 0] == 2.0


def test_tangents():
    tangents = tangent_figure(np.random.default_rng(0).normal(size=(16, 3)), (4, 4), [2, 0], ["x", "y", "z"])
    assert [axes.get_title() for axes in tangents.axes][:2] == ["z", "x"]


def dots_per_inch(content):
    """The resolution that a PNG states, in its chunk pHYs."""
    place = content.index(b"pHYs") + 4
    across, down, unit = struct.unpack(">IIB", content[place : place + 9])
    assert (across, unit) == (down, 1)  # in dots per metre
    return round(across * 0.0254)


def test_figures_have_the_resolution_of_files_notebooks_and_pages(tmp_path):
    figure, _ = blank_figure(2.0, 1.0)
    assert dots_per_inch(save(figure, tmp_path / "a.png").read_bytes()) == 150
    assert dots_per_inch(figure._repr_png_()) == 90
    assert dots_per_inch(base64.b64decode(geometry_page._embedded(figure))) == 110
