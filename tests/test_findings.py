"""Findings are values: equal by content, usable as keys, and the same after JSON."""

import json
import re

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
    finding = Finding("stated", text="So.", factors=factors, codes=codes, **quantities)
    text = json.dumps(finding.to_dict(), allow_nan=False)
    back = Finding.from_dict(json.loads(text))
    assert back == finding
    assert hash(back) == hash(finding)


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "null"])
def test_words_are_not_taken_for_numbers(word):
    assert Finding.from_dict(stated(word).to_dict()).quantities == {"text": word}


def test_equal_by_content():
    assert Finding("rows_dropped", n=float("nan")) == Finding("rows_dropped", n=np.float64("nan"))
    assert Finding("rows_dropped", n=1, m=2) == Finding("rows_dropped", m=2, n=1)
    content = [{}, {"n": 1}, {"factors": ["x"]}, {"codes": ["x"]}]
    assert len({Finding(kind, **given) for kind in ("one_code", "one_factor") for given in content}) == 8
    assert Finding("one_code") != "one_code"


def test_numbers_of_numpy_become_numbers_of_python():
    assert json.dumps(Finding("one_code", n=np.int64(3), share=np.float32(0.5)).to_dict()["quantities"])


def test_sentences_become_findings_that_state_them():
    kept = Finding("one_code")
    assert as_findings(["Mind the gap.", kept]) == (stated("Mind the gap."), kept)
    assert str(as_findings(["Mind the gap."])[0]) == "Mind the gap."
    assert repr(Finding("one_code", n=1, codes=["c"])) == "Finding('one_code', n=1, codes=('c',))"


@pytest.mark.parametrize(
    ("kind", "says"),
    [("rows_droped", "did you mean 'rows_dropped'"), ("qqq", "use stated(...) for a sentence of your own")],
)
def test_an_unknown_kind_is_refused_in_one_sentence(kind, says):
    with pytest.raises(ValueError, match=re.escape(f"There is no finding of kind {kind!r}: {says}")):
        Finding(kind, n_rows=3)


def test_a_saved_finding_of_a_kind_that_no_longer_exists_keeps_its_sentence():
    saved = Finding("rows_dropped", n_rows=3).to_dict() | {"kind": "rows_left_out"}
    assert Finding.from_dict(saved) == stated("3 rows with missing values were dropped.")
