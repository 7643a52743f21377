"""A score is a number within its bounds that can be saved and restored."""

import json
import math
import numbers
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score

from unweave import Score
from unweave.codec import plain_data
from unweave.metrics import mcc

NAN, INF = math.nan, math.inf
ANY_NUMBER = st.floats(allow_nan=True, allow_infinity=True)

PRINTED = st.characters(categories=["L", "N", "P", "S"])  # control characters are taken out of names and sentences


@pytest.mark.parametrize(
    ("raw", "bounds", "value"),
    [(1.2, (0, 1), 1.0), (-0.3, (0, 1), 0.0), (0.4, (0, 1), 0.4), (-7.0, (-INF, INF), -7.0), (INF, (0, 1), 1.0)],
)
def test_the_value_is_clipped_and_the_raw_number_is_kept(raw, bounds, value):
    score = Score(raw, bounds=bounds)
    assert (score.value, float(score), score.raw) == (value, value, raw)


def test_undefined_stays_undefined():
    assert math.isnan(float(Score(NAN, bounds=(0.0, 1.0))))


@pytest.mark.parametrize("raw", [1, True, np.float32(0.5), np.float64(0.5), np.int64(1)])
def test_any_number_becomes_a_plain_float(raw, recwarn):
    assert type(Score(raw).value) is float
    assert type(float(Score(raw))) is float
    assert not recwarn.list


@given(
    raw=ANY_NUMBER,
    bounds=st.tuples(ANY_NUMBER.filter(lambda bound: bound <= 0), st.just(INF)),
    # control characters are taken out of names when a file is read
    per_factor=st.dictionaries(
        st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=3), ANY_NUMBER, max_size=3
    ),
    matrix=st.lists(st.tuples(ANY_NUMBER, ANY_NUMBER), max_size=3),
    caveats=st.lists(st.text(PRINTED, max_size=5), max_size=2),
)
def test_json_gives_the_same_score_back(raw, bounds, per_factor, matrix, caveats):
    parts = {"matrix": np.array(matrix, dtype=float).reshape(len(matrix), 2)}
    score = Score(raw, "mcc", 2, bounds, per_factor, per_factor, parts, tuple(caveats), {"bins": 20, "share": NAN})
    text = score.to_json()
    json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are not JSON
    back = Score.from_json(text)
    assert back == score
    np.testing.assert_equal(
        (back.raw, back.bounds, back.per_factor, list(map(str, back.caveats))), (raw, bounds, per_factor, caveats)
    )
    if matrix:
        np.testing.assert_array_equal(back.parts["matrix"], parts["matrix"])


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.0, NAN], [INF, -INF]]),
        np.array([[[NAN]], [[2.0]]]),
        np.array(NAN),
        np.array(3.0),
        np.array([1, 2]),
        np.array([True, False]),
        np.array([], dtype=float),
        np.zeros((2, 0)),
    ],
    ids=repr,
)
def test_parts_of_any_shape_come_back(array):
    score = Score(0.5, parts={"part": array})
    back = Score.from_json(score.to_json())
    assert back == score
    np.testing.assert_array_equal(back.parts["part"], array)
    assert back.parts["part"].dtype == (array.dtype if array.size else np.float64)


def test_a_score_is_a_number_for_scikit_learn():
    def recovered(_model, codes, factors):
        return mcc(factors, codes)

    z = np.random.default_rng(0).normal(size=(60, 2))
    found = cross_val_score(DummyRegressor(), z, z, scoring=recovered, cv=2)
    assert isinstance(Score(0.5), numbers.Real)
    assert found.tolist() == pytest.approx([1.0, 1.0])
    assert max(Score(0.2), Score(0.7), key=float).value == 0.7
    assert sorted([Score(0.7), Score(0.2)])[0] == 0.2
    assert bool(Score(0.0))  # so that `if row.score` is true for a score of 0


def test_scores_that_differ_are_not_equal():
    assert Score(0.5) != Score(0.5000001)
    assert Score(NAN) == Score(NAN)
    assert Score(0.5, parts={"a": np.array([1.0, NAN])}) != Score(0.5, parts={"a": np.array([1.0, 2.0])})
    assert Score(0.5) != 0.4
    assert Score(0.5) != "0.5"


class Probe:
    def __repr__(self):
        return "Probe()"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (np.bool_(True), True),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        ((1, NAN, "a"), [1, None, "a"]),
        ({1: {"a": -INF}}, {"1": {"a": "-inf"}}),
        (np.array(["a", "b"]), ["a", "b"]),
        (None, None),
        (Probe(), "Probe()"),
    ],
    ids=str,
)
def test_settings_of_any_type_become_plain(item, expected):
    assert plain_data(item) == expected
    assert type(plain_data(item)) is type(expected)
    json.dumps(plain_data(item), allow_nan=False)


def test_repr_is_short_and_pickling_works():
    score = Score(0.51234, "mcc", caveats=("One.", "Two."))
    assert repr(score) == "Score(mcc = 0.5123, 2 caveats)"
    assert pickle.loads(pickle.dumps(score)) == score
