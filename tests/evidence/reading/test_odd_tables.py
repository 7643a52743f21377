"""Tables that are wide, ordered or have unusual names."""

import time

import numpy as np
import pandas as pd
import polars
import pytest

from unweave import Evidence, EvidenceError, FactorKind
from unweave.evidence.columns import plain, quoted

ROWS = np.arange(30.0)


def test_an_ordered_category_keeps_its_order():
    sizes = pd.Categorical(["low", "high", "mid"] * 10, categories=["low", "mid", "high"], ordered=True)
    for table in ({"size": pd.Series(sizes)}, pd.DataFrame({"size": sizes})):
        evidence = Evidence(table, ROWS)
        assert evidence.kinds == (FactorKind.ORDINAL,)
        assert evidence.factors[:3, 0].tolist() == [0, 2, 1]
    unordered = Evidence(pd.DataFrame({"size": sizes.as_unordered()}), ROWS)
    assert unordered.kinds == (FactorKind.CATEGORICAL,)


def test_a_missing_value_of_an_ordered_category_is_missing():
    sizes = pd.Series(pd.Categorical(["low", None, "high"] * 10, categories=["low", "high"], ordered=True))
    assert Evidence({"size": sizes}, ROWS, missing="drop").n_dropped == 10


def test_code_groups_take_numbers():
    codes = np.random.default_rng(0).normal(size=(30, 3))
    assert Evidence(ROWS, codes, code_groups={"a": [0, 2]}).code_groups == {"a": ("code 0", "code 2")}
    named = Evidence(ROWS, codes, code_names=["2", "1", "0"], code_groups={"a": [0]})
    assert named.code_groups == {"a": ("0",)}  # a name has priority over a position
    with pytest.raises(EvidenceError, match="'3', which is not a code"):
        Evidence(ROWS, codes, code_groups={"a": [3]})


def test_a_factor_of_several_columns_is_told_what_to_do():
    positions = np.random.default_rng(0).normal(size=(30, 2))
    for table in (positions, np.abs(positions)):
        with pytest.raises(EvidenceError, match=r"'position', .*a name of its own if these are several"):
            Evidence({"position": table}, ROWS)


LONG = "x" * 10_000


@pytest.mark.parametrize(
    "build",
    [
        lambda: Evidence({LONG: ["a", 1]}, [1, 2]),
        lambda: Evidence({LONG: [1.0, np.nan]}, [1, 2]),
        lambda: Evidence({LONG: [1.0, np.inf]}, [1, 2]),
        lambda: Evidence({LONG: [1.0, 1e200]}, [1, 2]),
        lambda: Evidence({LONG: [1.0, 2.0]}, [1, 2], kinds={"y": "ordinal"}),
        lambda: Evidence({"y": [1.0, 2.0]}, [1, 2], kinds={LONG: "ordinal"}),
        lambda: Evidence({"y": [1.0, 2.0]}, [1, 2], kinds=LONG),
        lambda: Evidence({LONG: [1.0, 9.0]}, [1, 2], kinds="circular"),
        lambda: Evidence([1, 2], {LONG: ["a", "b"]}),
        lambda: Evidence([1, 2], [[1, 2], [3, 4]], code_names=[LONG, LONG]),
        lambda: Evidence([1, 2], [1, 2], code_groups={"a": [LONG]}),
        lambda: Evidence({LONG: [[0.2, 0.2], [0.5, 0.5]]}, [1, 2]),
    ],
)
def test_messages_do_not_repeat_long_names(build):
    with pytest.raises(EvidenceError) as caught:
        build()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
def test_wide_tables_are_read_in_linear_time(frame):
    """Four times the columns take about four times as long; quadratic time would take sixteen times."""

    def seconds(n_columns):
        table = frame({f"c{i}": [1.0, 2.0, 3.0] for i in range(n_columns)})
        start = time.process_time()
        Evidence(codes=table)
        return time.process_time() - start

    seconds(10)
    assert min(seconds(4000) for _ in range(2)) < 10 * min(seconds(1000) for _ in range(3))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": [0], "h": []}, "The code group 'h' has no codes"),
        ({"g": [2]}, "code_groups names '2', which is not a code"),
        ({"g": [-1]}, "code_groups names '-1', which is not a code"),
        ({"g": [0.0]}, "code_groups names '0.0', which is not a code"),
        ({"g": ["code 0"], "h": [1, "code 1"]}, "Code 'code 1' is in two code groups"),
        ({"g": ["code 0"], "h": 1}, "code_groups is not a mapping from names to codes"),
        ([["code 0"]], "code_groups is not a mapping from names to codes"),
    ],
    ids=str,
)
def test_bad_code_groups(groups, message):
    with pytest.raises(EvidenceError, match=message):
        Evidence(codes=[[1.0, 2.0], [3.0, 4.0]], code_groups=groups)


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[1.0], [1.0, 2.0], None, [], [1.0] * 4, [1.0] * 3], r"lists of different lengths \(none, 0, 1, 2\): give"),
        ([None, None], r"lists of different lengths \(none\): give"),
        ([[1.0], None], r"lists of different lengths \(none, 1\): give"),
        ([[[1.0, 2.0]], [[3.0, 4.0]]], r"nested lists of shape \(1, 2\): flatten them"),
    ],
)
def test_lists_that_are_not_columns(lists, said):
    kind = polars.List(polars.List(polars.Float64)) if "nested" in said else polars.List(polars.Float64)
    with pytest.raises(EvidenceError, match=f"Factor 'e' contains {said}"):
        Evidence(polars.DataFrame({"e": polars.Series(lists, dtype=kind)}))


def test_the_name_that_occurs_twice_is_stated():
    with pytest.raises(EvidenceError, match="Two factors are called 'b': give every column a name of its own"):
        Evidence([[1, 2, 3]], factor_names=["a", "b", "b"])


@pytest.mark.parametrize(("length", "shown"), [(61, "x" * 61), (62, "x" * 29 + "..." + "x" * 29)])
def test_names_of_more_than_61_letters_are_shortened(length, shown):
    assert quoted("x" * length) == f"'{shown}'"


def test_arrays_keep_their_types():
    words = np.array(["a", "b"])
    assert plain(words) is words
    assert plain([1.0, 2.0]).dtype == np.float64
    assert plain(["a", "b"]).dtype == object
