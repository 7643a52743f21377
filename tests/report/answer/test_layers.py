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
from unweave.estimators.independence import corrected
from unweave.evaluation.loop import compared_ladders
from unweave.report.answer import LayerCell, Layers, answer_of, compared_answer, course, layers
from unweave.sentences import MINUS
from unweave.trust.comparison import Comparison, Difference, never_below


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
    replicates["value"] = sum(w * replicates[name] for name, w in zip(parts, (0.5, 0.25, 0.25), strict=True))
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


def test_a_pair_is_the_same_whatever_is_compared_beside_it():
    """Values, tests and letters are of one quantity; p alone is corrected, by Holm, for the number of pairs."""
    rng = np.random.default_rng(102)
    z = rng.normal(size=(500, 4))
    ladders = {}
    for k, angle in enumerate((0.7, 0.3, 0.15, 0.0, 0.0)):
        turn = np.kron(np.eye(2), [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        ladders[f"step {k}"] = unweave.ladder(z, z @ turn + 0.2 * rng.normal(size=z.shape), quick=True)
    found = compared_ladders(ladders, 0.95)
    alone = [compared_ladders({n: ladders[n] for n in (d.first, d.second)}, 0.95) for d in found.differences]
    for here, pair in zip(found.differences, (each.differences[0] for each in alone), strict=True):
        assert (here.first, here.second) == (pair.first, pair.second)
        assert here.difference == ladders[here.first].value - ladders[here.second].value
        assert (here.difference, here.lower, here.upper) == (pair.difference, pair.lower, pair.upper)
    p_values, p_alone = (
        np.array([d.p_value for d in each]) for each in (found.differences, (a.differences[0] for a in alone))
    )
    assert (p_alone <= p_values).all()
    assert (p_values <= corrected(p_alone, "holm")).all()
    assert found.scores == {name: ladders[name].value for name in found.scores}
    assert found.ties == (tuple(list(found.scores)[:2]), *((f"step {k}",) for k in (2, 1, 0)))
    assert never_below(found) == found.ties[0]


def over_steps(n_rows=400):
    """Codes that turn onto the factors over steps and get noisy at the end; the hue is lost for a while."""
    rng = np.random.default_rng(101)
    z = rng.normal(size=(n_rows, 2))
    codes = {}
    for step, angle, noise, lost in (
        (10, 0.8, 0.1, 0),
        (100, 0.8, 0.1, 1.2),
        (1000, 0, 0.1, 0),
        (2000, 0, 0.1, 0),
        (3000, 0, 1.2, 0),
    ):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        seen = z + np.array([0.0, lost]) * rng.normal(size=z.shape)
        codes[f"ckpt_{step:06d}"] = seen @ turn + noise * rng.normal(size=z.shape)
    return {"size": z[:, 0], "hue": z[:, 1]}, codes


@pytest.fixture(scope="module")
def trained():
    return unweave.compare(*over_steps(), metrics="identification")


def test_what_training_does_is_said_in_every_output(trained):
    answer = compared_answer(trained)
    over = answer.course
    assert over.best in ("ckpt_001000", "ckpt_002000")
    assert (over.first, over.fallen) == ("ckpt_001000", "ckpt_003000")
    assert len(over.dips) == 1
    assert over.dips[0].startswith("hue (from ")
    assert "ckpt_000100" in over.dips[0]
    assert over.sentence in answer.report
    assert answer.next_steps[0].startswith(f"Keep {over.best}")
    assert f"comparison['{over.best}']" in answer.next_steps[-1]
    assert not any("do not show what would help" in step for step in answer.next_steps)
    for text in (str(trained), trained.to_markdown(), trained.to_html(), trained._repr_html_()):
        shown = " ".join(html.unescape(text).split())
        assert "it falls significantly" in shown
        assert (
            re.split("<script|<pre", shown)[0].count("it falls significantly") == 1
        )  # in the report, and not above as well
        assert "On the way there" in shown


def test_the_course_says_when_each_factor_got_codes_of_its_own_and_which_lost_them(trained):
    over, answer = compared_answer(trained).course, compared_answer(trained)
    assert "Own codes first at: size ckpt_001000 and hue ckpt_001000." in over.sentence
    own = {name: trained[name].ladder for name in (over.best, "ckpt_003000")}
    lost = max(("size", "hue"), key=lambda name: own[over.best][name].own_codes - own["ckpt_003000"][name].own_codes)
    high, low = (own[name][lost].own_codes for name in (over.best, "ckpt_003000"))
    assert f"Afterwards {lost} loses most of them (from {high:.2f} to {low:.2f})." in over.sentence
    assert "was chosen on the rows that are reported" in answer.next_steps[0]
    assert "ladder values " in answer.headline
    for name in answer.best:
        assert f"{trained[name].ladder.value:.2f}" in answer.headline


def test_own_codes_that_fall_and_come_back_are_named():
    cells = [
        LayerCell(v, v - 0.05, v + 0.05, rung, True)
        for v, rung in ((0.2, "own direction"), (0.8, "one code"), (0.4, "own direction"), (0.9, "one code"))
    ]
    steps = ("s1", "s2", "s3", "s4")
    own, direction = (
        Layers(
            name, steps, {"x": tuple(cells) if name == "own_codes" else (cells[3],) * 4}, 0.0, True, "", (1, 2, 3, 4)
        )
        for name in ("own_codes", "direction")
    )
    said = course(direction, dict(zip(steps, (0.2, 0.5, 0.4, 0.9), strict=True)), None, own=own).sentence
    assert "Own codes first at: x s2. On the way they fall and come back for x (from 0.80 to 0.40 at s3)." in said


def test_ordered_representations_are_in_their_order_and_others_best_first(trained, over_layers):
    names = list(trained.representations)
    assert [row[0] for row in compared_answer(trained).table().rows] == names
    for question in compared_answer(trained).questions:
        assert [entry.representation for entry in question.ranked] == names
    text = str(trained).split("By identification;")[1].split("Report:")[0]
    assert re.findall(r"^ +(ckpt_\d+) ", text, re.MULTILINE)[: len(names)] == names
    page = trained.to_html()
    rows = re.findall(r'<th scope="row" data-sort="([^"]+)">', page.split('id="models"')[1].split("</table>")[0])
    assert rows == names
    assert re.findall(r'class="step"[^>]*><title>[^<]*</title>(\d+)<', page)[:5] == [
        "10",
        "100",
        "1000",
        "2000",
        "3000",
    ]
    codes = over_steps()[1]
    other = unweave.compare(
        over_steps()[0], {"noisy": codes[names[-1]], "late": codes[names[3]]}, metrics="identification", quick=True
    )
    assert [row[0] for row in compared_answer(other).table().rows] == ["late", "noisy"]
    assert compared_answer(other).course is None
    # without tests, it is only said where the ladder is highest
    untested = compared_answer(over_layers[0]).course
    assert (untested.first, untested.fallen, untested.step) == ("", "", "")
    assert "not tested" in untested.sentence


def test_a_course_at_its_limits():
    def made(values, p_value):
        cells = tuple(LayerCell(value, None, None, "own direction", True) for value in (0.9, 0.8, 0.9))
        worse = tuple(LayerCell(value, None, None, "own direction", True) for value in (0.9, 0.79, 0.91))
        names = ("s1", "s2", "s3")
        found = Layers("direction", names, {"x": cells, "y": worse}, 0.0, True, "", (1, 2, 3))
        pairs = [Difference("s3", name, 0.1, 0.1, 0.0, 0.2, p_value) for name in names[:2]]
        return course(
            found, dict(zip(names, values, strict=True)), Comparison("ladder", 0.95, differences=tuple(pairs))
        )

    rises = made((0.1, 0.2, 0.9), 0.01)
    assert (rises.best, rises.first, rises.fallen) == ("s3", "s3", "")
    assert "significantly above all before it" in rises.sentence
    assert [dip.split()[0] for dip in rises.dips] == ["y"]  # x falls by a tenth and no more
    assert made((0.1, 0.2, 0.9), 0.06).first == "s1"


def test_the_page_and_the_terminal_have_the_same_recoveries(trained):
    table = layers(trained)
    page = trained.to_html().split('class="models sortable heat recovered')[1].split("</table>")[0]
    shown = re.findall(r'<td class="h\d+[^>]*>([^<]+)<', page)
    text = [value for row in table.table().rows for value in row[1:]]
    assert shown == text
    assert "recovery by a direction of the codes" in trained.to_html()


def test_differences_of_the_ladder_have_letters_and_both_kinds_of_test(trained):
    answer = compared_answer(trained)
    best = answer.order[0]
    names = trained.representations  # best minus first and best minus last, in the order of the steps
    assert [row[0] for row in answer.differences.rows] == [f"{best} {MINUS} {names[k]}" for k in (0, -1)]
    first = trained.data.ladder_comparison.between(best, names[0])
    assert answer.differences.rows[0][1] == f"{first.difference:.3f}"
    for text in (str(trained), trained.to_markdown(), trained.to_html(), trained._repr_html_()):
        assert "corrected by Holm for the number of all pairs" in " ".join(html.unescape(text).split())
    page = trained.to_html()
    for name, letters in answer.letters.items():
        assert f'<span class="small">{letters}</span>' in page.split(f'data-sort="{name}"')[1].split("</tr>")[0]


def test_labels_of_many_steps_do_not_run_into_one_another():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(60, 2))
    steps = {f"ckpt_{100_000 * k:08d}": z + rng.normal(size=z.shape) for k in range(1, 31)}
    page = unweave.compare(z, steps, metrics="identification", quick=True).to_html()
    drawn = page.split('<svg class="curves"')[1].split("</svg>")[0]
    places = [float(x) for x in re.findall(r'class="step" x="([\d.]+)"', drawn)]
    assert min(np.diff(places)) >= 7 * len("3000000")
    assert max(places) == 600
