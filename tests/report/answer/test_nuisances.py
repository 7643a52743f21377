"""Where nuisances are given, every output says how well the codes reveal them."""

import numpy as np
import pytest

from unweave import compare, evaluate
from unweave.report.answer import answer_of, compared_answer

RNG = np.random.default_rng(3)
Z, BATCH = RNG.normal(size=(400, 2)), RNG.integers(0, 3, 400)
SHIFTED = np.column_stack([Z, Z[:, 0] * 0 + (BATCH == 1) + 2 * (BATCH == 2) + 0.1 * RNG.normal(size=400)])
FACTORS = {"x": Z[:, 0], "y": Z[:, 1]}
OPTIONS = {"metrics": "identification", "quick": True, "nuisances": {"batch": np.array(["a", "b", "c"])[BATCH]}}


@pytest.fixture(scope="module")
def both():
    return compare(FACTORS, {"clean": Z, "shifted": SHIFTED}, **OPTIONS)


def test_the_nuisance_is_read_as_a_factor_would_be(both):
    """By the probe of r2 on the same rows: the metric on the nuisance in place of the factors says the same."""
    asked = evaluate({"batch": np.array(["a", "b", "c"])[BATCH]}, SHIFTED, metrics="r2", quick=True)
    assert both.data.nuisances["shifted"]["batch"] == pytest.approx(asked["r2"].value)
    assert both.data.nuisances["clean"]["batch"] == pytest.approx(0, abs=0.02)
    assert both["shifted"].data.nuisances == {"shifted": both.data.nuisances["shifted"]}


def test_every_output_says_it_and_the_ranking_does_not_count_it(both):
    value = f"{both.data.nuisances['shifted']['batch']:.2f}"
    said = compared_answer(both).nuisances
    assert f"batch 0.00 in clean, {value} in shifted" in said
    one = evaluate(FACTORS, SHIFTED, **OPTIONS)
    assert f": batch {value}." in answer_of(one).nuisances
    for found, sentence in ((both, said), (one, answer_of(one).nuisances)):
        for text in (str(found), found.to_markdown(), found.to_html(), found._repr_html_()):
            assert sentence in " ".join(text.split())
        assert found.answer["nuisances"] == sentence
    without = evaluate(FACTORS, SHIFTED, metrics="identification", quick=True)
    assert without.answer["nuisances"] == ""
    assert without.ladder.value == one.ladder.value
