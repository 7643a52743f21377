"""Malicious names and saved evaluations: no code runs, markup is escaped, and errors have our messages."""

import copy
import json
import random

import numpy as np
import pytest

from unweave import Evaluation, InputError, UnweaveError, compare

Z = np.random.default_rng(0).normal(size=(60, 2))
LINK = "[x](javascript:alert(1)) ![i](http://e.org/x.png)"
NAMES = {"tex": "a\nb \\input{x} 100% & $x_1$", "escape": "\x1b[2J\x07 bell", "markup": "<img src=x onerror=alert(1)>"}
ODD = [None, "text", -1, 1e308, [], {}, True, [[[1]]], "inf", {"a": {"b": 1}}, "<script>"]


@pytest.fixture(scope="module")
def evaluation():
    factors = {LINK: Z[:, 0], NAMES["escape"]: Z[:, 1]}
    codes = {"one ``` two": Z[:, 0], NAMES["markup"]: Z[:, 1]}
    return compare(factors, {NAMES["tex"]: codes, LINK: Z}, metrics=["mcc", "r2"], budget=0.1)


def test_markdown_has_no_links_of_names(evaluation):
    page = evaluation.to_markdown()
    outside = "".join(page.split("```")[::2])
    assert "[x](javascript" not in outside
    assert "![i](" not in outside
    assert "\\[x\\](javascript" in page
    assert "<img" not in page


def test_no_control_character_reaches_a_terminal_or_a_file(evaluation):
    for text in (str(evaluation), evaluation.to_markdown(), evaluation.to_latex()):
        assert not [letter for letter in text if ord(letter) < 32 and letter != "\n"]
    assert "\ufffd" in str(evaluation)


def test_a_newline_in_a_name_stays_in_its_latex_line(evaluation):
    rows = evaluation.to_summary()["writing"]["latex"].split("\n")
    assert all(line.startswith("%") or line.endswith("\\\\") for line in rows if line)
    assert "a b \\textbackslash" in evaluation.to_latex().replace("\\textbackslash{}", "\\textbackslash")


def test_nothing_of_a_name_runs_on_the_page(evaluation):
    assert "<img src=x" not in evaluation.to_html()


def edited(content, seed):
    """A copy in which one entry is changed or deleted."""
    rng, data = random.Random(seed), copy.deepcopy(content)
    place, key = data, rng.choice(["rows", "data"])
    while isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.9:
        place = place[key]
        key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
    if rng.random() < 0.2 and isinstance(place, dict):
        del place[key]
    else:
        place[key] = rng.choice(ODD)
    return data


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_edited_evaluations_are_shown_or_refused_in_one_sentence(evaluation, first):
    content, refused = json.loads(evaluation.to_json()), 0
    for seed in range(first, first + 50):
        try:
            read = Evaluation.from_json(json.dumps(edited(content, seed)))
            str(read), read.to_latex(), read.to_frame(), read.to_markdown()
        except UnweaveError as error:
            refused += 1
            assert "This evaluation was damaged or edited" in str(error) or "not an evaluation" in str(error)
    assert refused > 10


def test_markup_in_every_string_of_an_evaluation_runs_nowhere(evaluation):
    def marked(item):
        if isinstance(item, dict):
            return {key: marked(entry) for key, entry in item.items()}
        if isinstance(item, list):
            return [marked(entry) for entry in item]
        return f"{item}<script>alert(1)</script>" if isinstance(item, str) else item

    content = json.loads(evaluation.to_json())
    for part in ("representations", "factors", "versions"):
        tampered = copy.deepcopy(content)
        tampered["data"][part] = marked(tampered["data"][part])
        page = Evaluation.from_json(json.dumps(tampered)).to_html()
        assert "<script>alert(1)" not in page


def test_nesting_without_end_is_refused():
    deep = '{"schema": "unweave.evaluation/6", "rows": [], "data": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(InputError, match="not an evaluation"):
        Evaluation.from_json(deep)
