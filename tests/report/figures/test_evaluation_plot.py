"""Figures of an evaluation show its numbers."""

import numpy as np
import pytest

import unweave

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
    with pytest.raises(unweave.EvidenceError, match="pass factors and codes"):
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
    with pytest.raises(unweave.EvidenceError, match="without quick"):
        quick.plot("verdicts")


def test_what_is_not_there_is_said(evaluation):
    for options, words in [
        ({"kind": "pie"}, "choose one of scores"),
        ({"metric": "sap"}, "no score of 'sap'"),
        ({"representation": "b"}, "no representation 'b'"),
        ({"kind": "matrix", "metric": "dci_size"}, "No score has a matrix"),
        ({"kind": "factors", "metric": "dci_size"}, "No score has values per factor"),
    ]:
        with pytest.raises(unweave.EvidenceError, match=words):
            evaluation.plot(**options)
