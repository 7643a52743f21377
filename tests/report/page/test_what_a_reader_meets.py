"""Words and frames of the page that readers stumbled over."""

import re

import numpy as np

from unweave import evaluate
from unweave.report import html

Z = np.random.default_rng(2).normal(size=(300, 2))


def test_a_frame_is_not_drawn_around_nothing():
    """A factor that no code depends on was framed at 0.00."""
    matrix = {"representation": "a", "row_names": ["c0", "c1"], "column_names": ["x", "batch"]}
    pairs = {"a": [{"factor": "x", "code": "c1"}, {"factor": "batch", "code": "c0"}]}
    assert html._best_rows(matrix | {"values": [[0.3, 0.001], [0.9, 0.004]]}, pairs) == [1, -1]
    assert html._best_rows(matrix | {"values": [[0.3, 0.001], [0.9, 0.004]]}, {}) == [1, -1]


def test_words_in_dark_cells_have_the_colour_of_the_cell_and_names_do_not_break():
    page = evaluate(Z, Z, metrics="identification", quick=True).to_html()
    assert ".heat td .small { color: inherit; }" in page
    assert re.search(r"\.found tbody th \{[^}]*overflow-wrap: break-word", page)
    assert "from which a factor is recovered" not in page


def test_the_paper_that_sections_are_of_is_named():
    page = evaluate(Z, np.column_stack([Z, Z]), metrics=["mcc"], budget=5).to_html()
    assert "(003, " in page
    assert "Who Guards the Guardians?" in page


def test_methods_have_groups_of_rows_and_the_kinds_of_factors():
    factors = {"angle": np.arange(300) % 36 * 10.0, "size": Z[:, 0]}
    found = evaluate(
        factors, Z, metrics="r2", kinds={"angle": "circular:360"}, row_groups=np.arange(300) // 3, budget=5
    )
    methods = found.to_summary()["writing"]["methods"]
    assert "(1 circular (angle) and 1 continuous)" in methods
    assert "intervals over 100 groups of samples" in methods
    without = evaluate(factors, Z, metrics="r2", kinds={"angle": "circular:360"}, budget=5).to_summary()
    assert "intervals over samples" in without["writing"]["methods"]
