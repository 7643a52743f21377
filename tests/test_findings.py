"""Findings are values: equal by content, usable as keys, and the same after JSON."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.findings import Finding, as_findings, stated

QUANTITY = st.one_of(st.text(max_size=4), st.floats(), st.integers(-(2**53), 2**53))
NAMES = st.lists(st.text(max_size=3), max_size=3)


@settings(max_examples=30)
@given(quantities=st.dictionaries(st.text("abcde", min_size=1), QUANTITY, max_size=3), factors=NAMES, codes=NAMES)
def test_json_gives_the_same_finding_back(quantities, factors, codes):
    finding = Finding("someones_own", factors=factors, codes=codes, **quantities)
    text = json.dumps(finding.to_dict(), allow_nan=False)
    back = Finding.from_dict(json.loads(text))
    assert back == finding
    assert hash(back) == hash(finding)


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "null"])
def test_words_are_not_taken_for_numbers(word):
    assert Finding.from_dict(stated(word).to_dict()).quantities == {"text": word}


def test_equal_by_content():
    assert Finding("a", n=float("nan")) == Finding("a", n=np.float64("nan"))
    assert Finding("a", n=1, m=2) == Finding("a", m=2, n=1)
    different = {Finding("a"), Finding("b"), Finding("a", n=1), Finding("a", factors=["x"]), Finding("a", codes=["x"])}
    assert len(different) == 5
    assert Finding("a") != "a"


def test_numbers_of_numpy_become_numbers_of_python():
    assert json.dumps(Finding("a", n=np.int64(3), share=np.float32(0.5)).to_dict()["quantities"])


def test_sentences_become_findings_that_state_them():
    kept = Finding("one_code")
    assert as_findings(["Mind the gap.", kept]) == (stated("Mind the gap."), kept)
    assert str(as_findings(["Mind the gap."])[0]) == "Mind the gap."
    assert repr(Finding("a", n=1, codes=["c"])) == "Finding('a', n=1, codes=('c',))"
