"""Factor x layer: the table, its one error rate, the curves, and the evaluation of one layer."""

import base64
import hashlib
import html
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import unweave
from unweave.evaluation.loop import compared_ladders
from unweave.report.answer import answer_of, compared_answer, layers


@pytest.fixture(scope="module")
def over_layers():
    rng = np.random.default_rng(3110)
    z = rng.normal(size=(300, 2))
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    codes = {f"layer{k}": z @ turn + noise * rng.normal(size=(300, 2)) for k, noise in enumerate((2.0, 0.7, 0.1))}
    codes["layer3"] = np.column_stack([z[:, 0], rng.normal(size=300)])
    found = unweave.compare({"size": z[:, 0], "hue": z[:, 1]}, codes, metrics="identification", quick=True)
    return found, codes, z


def test_cells_are_the_recoveries_of_the_ladders(over_layers):
    found, codes, z = over_layers
    table = layers(found)
    assert table.are_ordered
    assert table.representations == tuple(codes)
    for k, name in enumerate(codes):
        alone = unweave.ladder({"size": z[:, 0], "hue": z[:, 1]}, codes[name], quick=True)
        assert [table.cells[row.factor][k].value for row in alone.rows] == [row.direction for row in alone.rows]
    assert table.noise == max(one.noise for one in found.data.ladders.values())
    assert [cell.above_noise for cell in table.cells["hue"]] == [True, True, True, False]


def test_every_output_has_the_table_and_its_error_rate(over_layers):
    found = over_layers[0]
    reading = compared_answer(found).layers.reading
    assert "at most 2 %" in reading
    for text in (str(found), found.to_markdown(), found.to_html(), found._repr_html_()):
        assert reading.split(":")[0] in " ".join(text.split())
    assert found.answer["layers"]["cells"]["hue"][3]["above_noise"] is False
    assert len(found.plot("layers", rung="readable").axes[0].lines) >= 2
    with pytest.raises(unweave.OptionError, match="not a recovery"):
        found.plot("layers", rung="half")


def test_a_layer_is_an_evaluation(over_layers):
    found = over_layers[0]
    one = found["layer2"]
    assert one.representations == ("layer2",)
    assert one.ladder is found.data.ladders["layer2"]
    assert one["identification"] is found.score("identification", "layer2")
    assert answer_of(one) == answer_of(found, "layer2")


def test_layers_with_other_rows_are_refused_in_a_sentence():
    with pytest.raises(unweave.InputError, match="In 'layer1'"):
        unweave.compare(np.eye(20), {"layer0": np.eye(20), "layer1": np.eye(20)[:7]})


def test_a_direction_that_is_not_read_has_a_bounded_interval():
    rng = np.random.default_rng(3111)
    z = rng.normal(size=(500, 2))
    row = unweave.ladder(z, np.column_stack([z[:, 0], rng.normal(size=500)]), quick=True).rows[1]
    low, high = row.intervals["direction"]
    assert (row.direction, low) == (0, 0)
    assert high < 0.1


def test_the_page_allows_its_own_script_alone(over_layers):
    page = html.unescape(over_layers[0].to_html())
    policy = re.search(r"script-src '([^']+)'", page)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    assert policy == "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def made_ladder(own, direction, p_value, spread=1e-4, n_blocks=20):
    parts = {"own_codes": own, "direction": direction, "readable": 0.9}
    replicates = {name: value + spread * np.arange(n_blocks) for name, value in parts.items()}
    value = 0.5 * own + 0.25 * direction + 0.25 * 0.9
    return SimpleNamespace(**parts, value=value, replicates=replicates, axes_p_value=p_value, n_rows=100)


@pytest.mark.parametrize("n_blocks", [3, 8, 20])
def test_the_interval_of_a_difference_has_the_test_of_its_blocks(n_blocks):
    made = {"A": made_ladder(0.5, 0.6, 0.001, n_blocks=n_blocks), "B": made_ladder(0.2, 0.6, 0.5, 3e-4, n_blocks)}
    found = compared_ladders(made, 0.95).differences[0]
    reach = stats.t.ppf(0.975, n_blocks - 1) * found.standard_error
    assert (found.lower, found.upper) == pytest.approx((found.difference - reach, found.difference + reach))


@pytest.mark.parametrize(("axes", "apart"), [(0.5, False), (0.001, True)])
def test_a_larger_value_by_lucky_axes_makes_neither_better(axes, apart):
    """A has the larger value by own codes that may be luck, and B the better directions."""
    found = compared_ladders({"A": made_ladder(0.5, 0.6, axes), "B": made_ladder(0.2, 0.8, 0.5)}, 0.95)
    assert (found.ties == (("A",), ("B",))) is apart
    assert found.ties[0][0] == "A"
