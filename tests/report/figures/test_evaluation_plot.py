"""Figures of an evaluation show its numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fake_evaluations import fake_evaluation

import unweave

pytest.importorskip("matplotlib")
from unweave.report.figures import scores as plots
from unweave.report.figures.scores import Dot

RNG = np.random.default_rng(0)
FACTORS = {"size": RNG.uniform(size=300), "shape": RNG.choice(["round", "square"], size=300)}
CODES = np.column_stack([np.where(FACTORS["shape"] == "round", 0, 1) + 0.1 * RNG.normal(size=300), FACTORS["size"]])


@pytest.fixture(scope="module")
def evaluation():
    return unweave.evaluate(FACTORS, CODES, metrics=["mcc", "mig", "jemmig", "dci_size"], budget=2)


def test_scores_are_at_their_values(evaluation):
    (axes,) = evaluation.plot().axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["mcc", "mig", "dci_size"]  # jemmig needs a posterior
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert dots[:2] == [evaluation["mcc"].value, evaluation["mig"].value]


def test_the_matrix_is_that_of_the_score(evaluation):
    axes = evaluation.plot("matrix", metric="mig").axes[0]
    shown = next(iter(evaluation["mig"].matrices))
    assert np.allclose(axes.images[0].get_array(), np.abs(evaluation["mig"].parts[shown.part]))


def test_bars_and_noise_of_every_factor(evaluation):
    (axes,) = evaluation.plot("factors", metric="mig").axes
    heights = [patch.get_height() for patch in axes.patches[::2]]
    assert heights == pytest.approx(list(evaluation["mig"].per_factor.values()))
    assert len(axes.patches) == 4


def test_pairs_find_the_matched_code(evaluation):
    size, shape = evaluation.plot("pairs", factors=FACTORS, codes=CODES).axes
    assert (size.get_title(), shape.get_title()) == ("size in code 1", "shape in code 0")
    assert [label.get_text() for label in shape.get_yticklabels()] == ["round", "square"]
    with pytest.raises(unweave.InputError, match="pass factors and codes"):
        evaluation.plot("pairs")


def test_verdicts_and_many_checkpoints(evaluation):
    assert len(evaluation.plot("verdicts").axes[0].texts) == 4
    codes = {f"seed {k}": FACTORS["size"][:, None] + k / 20 * RNG.normal(size=(300, 1)) for k in range(6)}
    many = unweave.compare({"size": FACTORS["size"]}, codes, metrics=["mcc"], budget=2)
    (axes,) = many.plot().axes
    values = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert values[:6] == sorted(values[:6], reverse=True)
    assert len(axes.texts) == 6  # letters of ties
    quick = unweave.evaluate(FACTORS, CODES, metrics=["mcc"], quick=True)
    with pytest.raises(unweave.InputError, match="without quick"):
        quick.plot("verdicts")


def test_what_is_not_there_is_said(evaluation):
    for options, words in [
        ({"kind": "pie"}, "choose one of scores"),
        ({"metric": "sap"}, "no score of 'sap'"),
        ({"representation": "b"}, "no representation 'b'"),
        ({"kind": "matrix", "metric": "dci_size"}, "No score has a matrix"),
        ({"kind": "factors", "metric": "dci_size"}, "No score has values per factor"),
    ]:
        with pytest.raises(unweave.UnweaveError, match=words):
            evaluation.plot(**options)


def checked(defined):
    floor = SimpleNamespace(floor=0.2, defined=defined)
    return SimpleNamespace(
        score=SimpleNamespace(value=0.5), noise_floor=floor, verdict=SimpleNamespace(level="trust"),
        interval=SimpleNamespace(clipped=(0.4, 0.6), defined=defined), level="caution",  # that of the row is shown
    )  # fmt: skip


def test_a_dot_has_the_checks_that_are_defined():
    assert plots._dot(checked(True), "mcc") == Dot("mcc", 0.5, 0.2, (0.4, 0.6), "caution")
    bare = SimpleNamespace(score=None, noise_floor=None, interval=None, verdict=None)
    for row, value, level in [(checked(False), 0.5, "caution"), (bare, np.nan, None)]:
        dot = plots._dot(row, "mcc")
        assert (dot.interval, dot.level, np.isnan(dot.floor)) == (None, level, True)
        np.testing.assert_equal(dot.value, value)


@pytest.mark.parametrize(("label", "order"), [("mcc", "bca"), ("jemmig", "cba")])
def test_representations_without_a_score_come_last(monkeypatch, label, order):
    monkeypatch.setattr(plots, "scores_figure", lambda dots, label="score": (dots, label))
    three = fake_evaluation(["a", "b", "c"])
    rows = [replace(row, score=None) if row.representation == "a" else row for row in three.rows]
    dots, shown = plots.evaluation_plot(replace(three, rows=tuple(rows)), "comparison", label)
    assert ("".join(dot.name for dot in dots), shown) == (order, label)


def test_the_kind_of_plot_follows_from_the_number_of_representations(monkeypatch):
    monkeypatch.setattr(plots, "scores_figure", lambda dots, label="score": label)
    assert plots.evaluation_plot(fake_evaluation()) == "score"
    assert plots.evaluation_plot(fake_evaluation(["a", "b"])) == "mcc"


def test_scores_with_other_bounds_are_drawn_only_alone(monkeypatch):
    monkeypatch.setattr(plots, "scores_figure", lambda dots, label="score": [dot.name for dot in dots])
    one = fake_evaluation()
    wide = [replace(row, card=replace(row.card, bounds=(0.0, 2.0))) for row in one.rows]
    assert plots.evaluation_plot(replace(one, rows=(*wide[:2], *one.rows[2:4]))) == list(one.labels[2:4])
    assert plots.evaluation_plot(replace(one, rows=tuple(wide))) == list(one.labels)


@pytest.mark.parametrize(("n_classes", "named"), [(12, 12), (13, 0)])
def test_up_to_twelve_classes_are_named(monkeypatch, n_classes, named):
    monkeypatch.setattr(plots, "matched_pairs_figure", lambda pairs: pairs)
    data = SimpleNamespace(factors=(SimpleNamespace(name="factor 0", kind="ordinal"),))
    values = np.arange(39.0) % n_classes
    (pair,) = plots._pairs(SimpleNamespace(data=data), values, -values)
    assert len(pair.classes) == named
    assert pair.classes[:2] == ("0", "1")[:named]
