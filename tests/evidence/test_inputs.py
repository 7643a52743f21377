"""Arrays and tables of many kinds are read: missing values, odd tables, and numbers at the limits of floating point."""

import datetime
import decimal
import fractions
import functools
import time
import warnings

import numpy as np
import pandas as pd
import polars
import polars as pl
import pyarrow as pa
import pytest

from unweave import Evidence, FactorKind, FileError, InputError, Posterior, UnweaveError, evaluate, metrics
from unweave.evidence.columns import plain, within_reach
from unweave.findings import Finding
from unweave.metrics import CATALOGUE

ROWS = [[1.0, 5.0], [2.0, 7.0], [3.0, 6.0]]
COLUMNS = {"size": [1.0, 2.0, 3.0], "hue": [5.0, 7.0, 6.0]}


class TorchLike:
    """A tensor on another device with a gradient, which numpy can read only after detach and cpu."""

    def __init__(self, values, steps=()):
        self.values, self.steps = np.asarray(values), steps

    def detach(self):
        return TorchLike(self.values, (*self.steps, "detach"))

    def cpu(self):
        return TorchLike(self.values, (*self.steps, "cpu"))

    def __array__(self, dtype=None, copy=None):
        if self.steps != ("detach", "cpu"):
            raise RuntimeError("the tensor has a gradient or is not in memory")
        return self.values


class Bfloat16Like:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self):
        return np.asarray(self.values, dtype=np.float32)


class JaxLike:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=np.float32)


UNNAMED = {
    "numpy": np.array(ROWS),
    "fortran order": np.asfortranarray(ROWS),
    "strided": np.repeat(ROWS, 2, axis=0)[::2],
    "float32": np.array(ROWS, dtype=np.float32),
    "float16": np.array(ROWS, dtype=np.float16),
    "integers": np.array(ROWS, dtype=np.uint8),
    "lists": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "objects": np.array(ROWS, dtype=object),
    "decimals": [[decimal.Decimal(entry) for entry in row] for row in ROWS],
    "fractions": [[fractions.Fraction(entry) for entry in row] for row in ROWS],
    "torch-like": TorchLike(ROWS),
    "bfloat16-like": Bfloat16Like(ROWS),
    "jax-like": JaxLike(ROWS),
}
NAMED = {
    "mapping": COLUMNS,
    "mapping of tensors": {name: TorchLike(column) for name, column in COLUMNS.items()},
    "mapping of series": {name: pd.Series(column) for name, column in COLUMNS.items()},
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).astype("Int64"),
    "pandas of pyarrow": pd.DataFrame(COLUMNS).astype("double[pyarrow]"),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_unnamed_tables_are_numbered(name):
    evidence = Evidence(UNNAMED[name], UNNAMED[name])
    np.testing.assert_array_equal(evidence.factors, ROWS)
    np.testing.assert_array_equal(evidence.codes, ROWS)
    assert evidence.factor_names == ("factor 0", "factor 1")
    assert evidence.code_names == ("code 0", "code 1")


@pytest.mark.parametrize("name", NAMED)
def test_named_tables_keep_their_names(name):
    evidence = Evidence(NAMED[name], NAMED[name])
    np.testing.assert_array_equal(evidence.factors, ROWS)
    assert evidence.factor_names == evidence.code_names == ("size", "hue")


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 3],
        (1, 2, 3),
        range(1, 4),
        np.array([1, 2, 3]),
        pd.Series([1, 2, 3]),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
    ],
    ids=lambda column: type(column).__module__.split(".")[0] + "." + type(column).__name__,
)
def test_one_column_is_a_table_of_one(column):
    evidence = Evidence(column, column)
    assert evidence.factors.tolist() == [[1.0], [2.0], [3.0]]
    assert (evidence.factor_names, evidence.code_names) == (("factor 0",), ("code 0",))


def test_a_series_keeps_its_name():
    evidence = Evidence(pd.Series([1, 2], name="size"), pl.Series("z", [1, 2]))
    assert (evidence.factor_names, evidence.code_names) == (("size",), ("z",))


def test_half_precisions_that_extend_numpy():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    assert Evidence(np.array([1, 2.5], dtype=bfloat16)).factors[:, 0].tolist() == [1.0, 2.5]


def test_bools_are_zero_and_one():
    assert Evidence([True, False, True]).factors[:, 0].tolist() == [1.0, 0.0, 1.0]


def test_names_given_win_over_names_found():
    evidence = Evidence(COLUMNS, ROWS, factor_names=["a", "b"], code_names=np.array(["u", "v"]))
    assert (evidence.factor_names, evidence.code_names) == (("a", "b"), ("u", "v"))


def test_a_lone_name_is_not_taken_apart():
    assert Evidence([1, 2], factor_names="size").factor_names == ("size",)


def test_names_reach_the_score():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["size", "hue"])
    codes = pl.DataFrame({"u": table["size"].to_numpy(), "v": table["hue"].to_numpy()})
    assert list(metrics.r2(table, codes).per_factor) == ["size", "hue"]
    assert list(metrics.dci_disentanglement(table, codes).per_code) == ["u", "v"]


def test_names_that_are_not_text_become_text():
    assert Evidence(pd.DataFrame([[1, 2]], columns=[0, ("a", 1)])).factor_names == ("0", "('a', 1)")


@pytest.mark.parametrize(
    "column",
    [
        ["square", "heart", "square"],
        np.array(["square", "heart", "square"]),
        np.array([b"square", b"heart", b"square"]),
        np.array(["square", "heart", "square"], dtype=np.dtypes.StringDType()),
        pd.Series(["square", "heart", "square"]),
        pd.Series(["square", "heart", "square"], dtype="category"),
        pl.Series(["square", "heart", "square"], dtype=pl.Categorical),
        pl.Series(["square", "heart", "square"], dtype=pl.Enum(["square", "heart"])),
        pa.chunked_array([["square", "heart", "square"]]).dictionary_encode(),
    ],
    ids=str,
)
def test_text_is_a_category(column):
    evidence = Evidence({"shape": column})
    assert evidence.factors[:, 0].tolist() == [1.0, 0.0, 1.0]
    assert evidence.factor_levels == (("heart", "square"),)
    assert evidence.kinds == ("categorical",)


def test_a_categorical_type_of_numbers_is_a_category():
    numbers = np.tile([3.0, 1.0, 2.0], 10)
    for table in (pd.DataFrame({"a": pd.Categorical(numbers)}), {"a": pd.Series(pd.Categorical(numbers))}):
        assert Evidence(table).kinds == ("categorical",)
    assert Evidence({"a": numbers}).kinds == ("ordinal",)


def test_a_table_of_lists_may_mix_columns_of_text_and_numbers():
    evidence = Evidence([[1, "heart"], [2, "square"]])
    assert evidence.factors.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert evidence.factor_levels == (None, ("heart", "square"))


def test_input_is_copied():
    factors, codes = np.array(ROWS, order="F"), np.array(ROWS, order="F")
    evidence = Evidence(factors, codes)
    factors[:], codes[:] = 0, 0
    assert evidence.factors.tolist() == evidence.codes.tolist() == ROWS


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 2, 2)), r"factors have shape \(2, 2, 2\): .*one row per sample.*flattening"),
        (np.zeros((0, 2)), "factors have no rows: pass at least a few samples"),
        ([], "factors have no rows"),
        (np.zeros((3, 0)), "factors have no columns: pass a table with at least one factor"),
        ({}, "factors have no columns"),
        (pd.DataFrame(index=range(3)), "factors have no columns"),
        ([[1, 2], [3]], r"rows of the factors have different lengths \(row 0 has 2, row 1 has 1\): pass"),
        ({"a": [1, 2], "b": [1]}, "columns have different lengths: 'a' has 2, 'b' has 1; give every column one"),
        ({"a": 1}, r"Factor 'a' has shape \(\): pass one value per row"),
        (
            {"a": np.zeros((3, 2))},
            "Factor 'a', a table read as probabilities of .*, does not sum to one in 3 rows .*pass probabilities",
        ),
        (np.array([1j, 2]), r"factors are complex \(complex128\): pass real numbers"),
        (np.array([1, 1j], dtype=object), "Factor 'factor 0' contains an object of type complex in row 1"),
        (pd.DataFrame({"day": pd.to_timedelta([1, 2, 3])}), "Factor 'day' has type timedelta64.*convert"),
        (np.array([np.timedelta64(1, "s"), 1], dtype=object), "contains an object of type timedelta64 in row 0"),
        ([datetime.time(3)], "Factor 'factor 0' contains an object of type time in row 0"),
        (np.array([1, np.zeros(3)], dtype=object), "Factor 'factor 0' contains an object of type ndarray in row 1"),
        ([1, 2, "heart"], r"Factor 'factor 0' mixes text with numbers \(row 2 is 'heart'\): make the column all"),
        ({"id": [2**53 + 1, 2]}, r"Factor 'id' contains integers above 2\*\*53.*number its values from 0, or leave it"),
        ({"id": [10**30, 2]}, r"Factor 'id' contains integers above 2\*\*53"),
        ({"id": np.array([10**400], dtype=object)}, r"Factor 'id' contains integers above 2\*\*53"),
        (pl.DataFrame({"id": [2**60, None]}), r"Factor 'id' contains integers above 2\*\*53"),
        (pl.DataFrame({"id": pl.Series([2**70], dtype=pl.Int128)}), r"Factor 'id' contains integers above 2\*\*53"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Two factors are called 'a': give every column a name of its own"),
        (pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]), "Two factors are called 'a'"),
        ({"1": [1], 1: [2]}, "Two factors are called '1'"),
        ("factors.csv", "factors are an object of type str, which has no rows: read the file first"),
        (pl.LazyFrame({"a": [1]}), "factors are an object of type LazyFrame, which has no rows"),
        (TorchLike(1.0), "factors are an object of type TorchLike, which has no rows"),
    ],
    ids=lambda given: given[:40] if isinstance(given, str) else type(given).__name__,
)
def test_tables_that_cannot_be_read(table, message):
    with pytest.raises(InputError, match=message) as raised:
        Evidence(table)
    assert "\n" not in str(raised.value)


def test_a_tensor_that_never_becomes_numbers():
    class Sparse:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("sparse tensors have no dense values")

    with pytest.raises(FileError, match="object of type Sparse cannot be read as numbers: turn it into a numpy"):
        Evidence(Sparse())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "There are no data: pass factors, codes, or both"),
        ({"row_groups": [1, 2]}, "There are no data"),
        ({"factors": [1, 2, 3], "codes": [1, 2]}, "factors have 3 rows, codes have 2 rows; pass the same samples"),
        ({"factors": [1, 2], "nuisances": [1]}, "factors have 2 rows, nuisances have 1 rows"),
        ({"factors": [1, 2], "row_groups": [1]}, "row_groups has 1 entry for 2 rows: give one group label"),
        ({"codes": ["a", "b"]}, "Code 'code 0' contains text: codes are numbers, so leave this column out"),
        ({"codes": [[1, 2]], "code_names": ["a"]}, "There are 1 code names for 2 codes: give one for each column"),
        ({"codes": [[1, 2]], "code_names": ["a", "a"]}, "Two codes are called 'a'"),
        ({"codes": [1, 2], "code_groups": {"g": ["z"]}}, "code_groups names 'z', which is not a code: use"),
        ({"codes": [1, 2], "code_groups": {"g": "code 0", "h": ["code 0"]}}, "Code 'code 0' is in two code groups"),
        ({"factors": [1, 2], "missing": "ignore"}, "missing='ignore' is not known: use 'refuse' or 'drop'"),
        ({"factors": [1, 2], "missing": np.zeros(3)}, "is not known: use 'refuse' or 'drop'"),
    ],
    ids=str,
)
def test_evidence_that_does_not_fit_together(options, message):
    with pytest.raises(UnweaveError, match=message):
        Evidence(**options)


class TestRowIndexes:
    """Pandas would align rows by their index, so different indexes are an error and are not paired by position."""

    factors = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    shuffled = pd.DataFrame({"z": [3.0, 1.0, 2.0]}, index=["c", "a", "b"])

    @pytest.mark.parametrize("side", ["codes", "nuisances", "row_groups"])
    def test_different_indexes_are_refused(self, side):
        other = self.shuffled["z"] if side == "row_groups" else self.shuffled
        with pytest.raises(InputError, match=rf"factors and the {side} have different row indexes.*codes\.loc"):
            Evidence(self.factors, **{side: other})

    def test_columns_of_a_mapping_are_checked_too(self):
        columns = {"size": self.factors["size"], "z": self.shuffled["z"]}
        with pytest.raises(InputError, match="factor 'size' and the factor 'z' have different row indexes"):
            Evidence(columns)

    def test_equal_indexes_and_tables_without_one_pair_by_position(self):
        assert Evidence(self.factors, self.shuffled.loc[self.factors.index]).codes[:, 0].tolist() == [1.0, 2.0, 3.0]
        assert Evidence(self.factors, self.shuffled.to_numpy()).codes[:, 0].tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("as_type", [np.int64, object])
def test_integers_that_floats_would_round_are_refused(sign, as_type):
    largest = np.array([sign * 2**53, 0], dtype=as_type)
    assert Evidence(largest, [0.0, 1.0]).factors[0, 0] == sign * 2**53
    with pytest.raises(InputError, match=r"2\*\*53"):
        Evidence(np.array([sign * (2**53 + 1), 0], dtype=as_type), [0.0, 1.0])


NAN = float("nan")


def gaps(*rows, n_rows=8):
    column = np.arange(n_rows, dtype=float)
    column[list(rows)] = NAN
    return column


def test_missing_values_are_refused_with_columns_and_counts():
    with pytest.raises(InputError) as raised:
        Evidence({"size": gaps(0, 3), "hue": gaps()}, {"u": gaps(3, 5, 6)}, nuisances={"light": gaps(7)})
    assert str(raised.value) == (
        "Values are missing in 5 of 8 rows: factor 'size' (2), code 'u' (3), nuisance 'light' (1); fill them in, "
        "or leave these rows out with missing='drop' (--missing drop on the command line)."
    )


@pytest.mark.parametrize(
    "column",
    [
        [1.0, NAN, 3.0],
        [1, None, 3],
        [True, None, False],
        ["a", None, "b"],
        ["a", NAN, "b"],
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        np.array([1.0, np.float32("nan"), 3.0], dtype=object),
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([True, None, False], dtype="boolean"),
        pd.array(["a", None, "b"], dtype="string"),
        pd.Categorical(["a", None, "b"]),
        pd.Series([1, pd.NA, 3], dtype=object),
        pl.Series([1, None, 3]),
        pl.Series([True, None, False]),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
        pl.Series([1.0, NAN, 3.0]),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', column)}",
)
def test_every_library_has_its_way_to_miss_a_value(column):
    table = pd.DataFrame({"a": column}) if "pandas" in type(column).__module__ else {"a": column}
    with pytest.raises(InputError, match=r"missing in 1 of 3 rows: factor 'a' \(1\)"):
        Evidence(table)
    evidence = Evidence(table, missing="drop")
    assert (evidence.n_rows, evidence.n_dropped, evidence.kept_rows.tolist()) == (2, 1, [0, 2])


def test_rows_are_dropped_on_every_side_at_once():
    evidence = Evidence(
        gaps(0),
        Posterior(gaps(1), gaps(2) + 1),
        nuisances=gaps(3),
        row_groups=["a", "a", "b", "b", None, "c", "b", "c"],
        missing="drop",
    )
    assert evidence.kept_rows.tolist() == [5, 6, 7]
    assert (evidence.n_rows, evidence.n_dropped) == (3, 5)
    assert evidence.factors[:, 0].tolist() == [5.0, 6.0, 7.0]
    assert evidence.codes[:, 0].tolist() == evidence.posterior.mean[:, 0].tolist() == [5.0, 6.0, 7.0]
    assert evidence.posterior.std[:, 0].tolist() == [6.0, 7.0, 8.0]
    assert evidence.nuisances[:, 0].tolist() == [5.0, 6.0, 7.0]
    assert evidence.row_groups.tolist() == [1, 0, 1]


def test_dropping_nothing_changes_nothing():
    assert Evidence(gaps(), gaps(), missing="drop").fingerprint == Evidence(gaps(), gaps()).fingerprint


def test_the_score_says_how_many_rows_were_dropped():
    score = metrics.mcc(gaps(2, n_rows=40), gaps(5, n_rows=40), missing="drop")
    assert Finding("rows_dropped", n_rows=2) in score.caveats


def test_nothing_left_to_score():
    with pytest.raises(InputError, match="Every row has a missing value, so dropping leaves none: fill them in"):
        Evidence([1.0, NAN], [NAN, 1.0], missing="drop")


@pytest.mark.parametrize("missing", ["refuse", "drop"])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinities_are_refused(missing, infinity):
    with pytest.raises(InputError, match="Code 'u' is infinite in 2 rows: clip these values or leave the rows out"):
        Evidence(gaps(), {"u": [infinity, 1, NAN, 3, 4, 5, 6, infinity]}, missing=missing)


def test_infinities_of_both_signs_do_not_cancel():
    with pytest.raises(InputError, match="Factor 'factor 0' is infinite in 2 rows"):
        Evidence([np.inf, -np.inf, 0.0])


def test_values_whose_sum_overflows_are_not_infinite():
    assert Evidence(None, [1.7e308, 1.7e308, 1.0]).n_rows == 3


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_factors_whose_squares_are_lost(scale):
    with pytest.raises(InputError, match=r"Factor 'a' reaches .* and spans .*: state it in other units"):
        Evidence({"a": [scale, 2 * scale, 3 * scale]})


@pytest.mark.parametrize(
    ("n_columns", "end"), [(5, "; fill"), (6, " and 1 more column; fill"), (20, " and 15 more columns; fill")]
)
def test_five_columns_are_listed(n_columns, end):
    with pytest.raises(InputError, match=rf"missing in 2 of 3 rows: .*code 'code 4' \(2\){end}"):
        Evidence(codes=np.vstack([np.full((2, n_columns), NAN), np.ones(n_columns)]))


ROWS_ODD_TABLES = np.arange(30.0)


def test_an_ordered_category_keeps_its_order():
    sizes = pd.Categorical(["low", "high", "mid"] * 10, categories=["low", "mid", "high"], ordered=True)
    for table in ({"size": pd.Series(sizes)}, pd.DataFrame({"size": sizes})):
        evidence = Evidence(table, ROWS_ODD_TABLES)
        assert evidence.kinds == (FactorKind.ORDINAL,)
        assert evidence.factors[:3, 0].tolist() == [0, 2, 1]
    unordered = Evidence(pd.DataFrame({"size": sizes.as_unordered()}), ROWS_ODD_TABLES)
    assert unordered.kinds == (FactorKind.CATEGORICAL,)


def test_a_missing_value_of_an_ordered_category_is_missing():
    sizes = pd.Series(pd.Categorical(["low", None, "high"] * 10, categories=["low", "high"], ordered=True))
    assert Evidence({"size": sizes}, ROWS_ODD_TABLES, missing="drop").n_dropped == 10


def test_code_groups_take_numbers():
    codes = np.random.default_rng(0).normal(size=(30, 3))
    assert Evidence(ROWS_ODD_TABLES, codes, code_groups={"a": [0, 2]}).code_groups == {"a": ("code 0", "code 2")}
    named = Evidence(ROWS_ODD_TABLES, codes, code_names=["2", "1", "0"], code_groups={"a": [0]})
    assert named.code_groups == {"a": ("0",)}  # a name has priority over a position
    with pytest.raises(InputError, match="'3', which is not a code"):
        Evidence(ROWS_ODD_TABLES, codes, code_groups={"a": [3]})


def test_a_factor_of_several_columns_is_told_what_to_do():
    positions = np.random.default_rng(0).normal(size=(30, 2))
    for table in (positions, np.abs(positions)):
        with pytest.raises(InputError, match=r"'position', .*a name of its own if these are several"):
            Evidence({"position": table}, ROWS_ODD_TABLES)


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
    with pytest.raises(UnweaveError) as caught:
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
    with pytest.raises(UnweaveError, match=message):
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
    with pytest.raises(InputError, match=f"Factor 'e' contains {said}"):
        Evidence(polars.DataFrame({"e": polars.Series(lists, dtype=kind)}))


def test_the_name_that_occurs_twice_is_stated():
    with pytest.raises(InputError, match="Two factors are called 'b': give every column a name of its own"):
        Evidence([[1, 2, 3]], factor_names=["a", "b", "b"])


def test_arrays_keep_their_types():
    words = np.array(["a", "b"])
    assert plain(words) is words
    assert plain([1.0, 2.0]).dtype == np.float64
    assert plain(["a", "b"]).dtype == object


RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(150, 3))
CODES = FACTORS @ RNG.normal(size=(3, 3)) + 0.2 * RNG.normal(size=(150, 3))
SCALES = {
    "vanishing": 2.0**-1000,
    "huge": 2.0**1000,
    "largest": 2.0 ** (1023 - np.frexp(np.abs(CODES).max())[1]),
    "all of these": np.ldexp(1.0, [-1000, 0, 1000]),
}
METRICS = ["mcc", "r2", "mig", "sap", "dci_disentanglement", "dci_completeness", "explicitness", "infomec_explicitness"]
METRICS += ["minimality", "factors_invariance", "beta_vae_score"]


@functools.cache
def usual_score(name):
    return CATALOGUE[name](FACTORS, CODES).raw


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", METRICS)
def test_metrics_of_each_code_alone_do_not_mind_its_unit(name, scale):
    found = CATALOGUE[name](FACTORS, CODES * SCALES[scale]).raw
    assert found == pytest.approx(usual_score(name), abs=1e-9)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-255, SCALES["huge"], SCALES["largest"]])
def test_codes_keep_their_ratios_in_a_common_unit(scale):
    """irs weights codes by their spread, so that their ratios matter."""
    codes = CODES * [0.0025, 0.25, 1.0]
    assert CATALOGUE["irs"](FACTORS, codes * scale).raw == CATALOGUE["irs"](FACTORS, codes).raw


def test_tiny_codes_far_from_zero():
    score = CATALOGUE["explicitness"]
    moved = (CODES + 1e6) * 2.0**-1000
    assert score(FACTORS, moved).raw == pytest.approx(score(FACTORS, CODES).raw, abs=1e-3)


def test_no_digit_is_lost_and_usual_codes_are_left_alone():
    held = Evidence(None, CODES * 2.0**900).codes
    assert (held * 2.0 ** (np.frexp(np.abs(CODES).max())[1] - 500) == CODES).all()
    for usual in (CODES, CODES * 1e100, CODES * 1e-70, np.zeros((150, 2))):
        assert (Evidence(None, usual).codes == usual).all()
    assert Evidence(None, np.column_stack([CODES * 1e300, np.zeros(150)])).dead_codes == ("code 3",)


def test_means_of_a_posterior_are_refused_as_their_spreads_are_in_the_same_unit():
    for scale in (1e200, 1e-200, 1e307):
        with pytest.raises(InputError, match=r"code 'code 0' .* in other units"):
            Evidence(None, Posterior(CODES * scale, np.full_like(CODES, 0.1 * scale)))
    usual = CODES * 1e100
    assert (Evidence(None, Posterior(usual, np.ones_like(usual))).codes == usual).all()


def test_verdicts_of_huge_codes_are_those_of_codes_in_another_unit():
    plain, huge = (evaluate(FACTORS, CODES * scale, metrics=["mcc", "r2"]).rows for scale in (1.0, 2.0**1000))
    assert [row.verdict.level for row in huge] == [row.verdict.level for row in plain]


@pytest.mark.parametrize(
    ("codes", "held"),
    [
        ([2.0**499, 1.0], [2.0**499, 1.0]),
        ([2.0**500, 1.0], [2.0**499, 0.5]),
        ([-(2.0**500), 1.0], [-(2.0**499), 0.5]),
        ([2.0**-251], [2.0**-251]),
        ([2.0**-252], [0.5]),
        ([2.0**-252, 0.0], [0.5, 0.0]),
        ([2.0**-600, 2.0**-300], [2.0**-251, 0.5]),
        ([2.0**-600, 2.0**600], [2.0**-251, 2.0**499]),
        ([2.0**-252, 4.0], [2.0**-251, 4.0]),
    ],
)
def test_the_common_unit_is_a_power_of_two(codes, held):
    assert within_reach(np.array([codes])).tolist() == [held]
    assert within_reach(np.array([codes, np.zeros(len(codes))])).tolist() == [held, [0.0] * len(codes)]


@pytest.mark.parametrize(
    ("column", "fits"),
    [
        ([0.0, 1e150], True),
        ([0.0, 1.1e150], False),
        ([-1.1e150, 0.0], False),
        ([0.0, 1.1e-150], True),
        ([0.0, 0.9e-150], False),
        ([-0.3e-150, 0.3e-150], False),
        ([1e-151, 1e-151], True),  # it does not vary
        ([-3.0, 3.0], True),
    ],
)
def test_factors_at_the_limit(column, fits):
    if fits:
        assert Evidence({"a": column}).factors[:, 0].tolist() == column
    else:
        with pytest.raises(InputError, match=r"Factor 'a' reaches .* and spans .*: state it in other units"):
            Evidence({"a": column})


def _asked(factors, codes=None, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Evidence(factors, codes, **options)
    return " ".join(str(each.message) for each in caught)


N = 400
DRAW = np.random.default_rng(5)
WHOLE = np.r_[0, 359, DRAW.integers(0, 360, N - 2)].astype(float)
CIRCLES = {
    "angle": (DRAW.uniform(0, 360, N), "circular:360"),
    "theta": (DRAW.uniform(-np.pi, np.pi, N), "circular"),
    "wall_hue": (DRAW.choice(np.arange(10) / 10, N), "circular:1"),
    "any": (WHOLE, "circular:360"),
    "steps of 45": (DRAW.choice(np.arange(8) * 45.0, N), "circular:360"),
    "radians": (DRAW.choice(np.linspace(0, 2 * np.pi, 40), N), "circular"),
}


@pytest.mark.parametrize("name", CIRCLES)
def test_a_factor_that_covers_a_circle_is_asked_about_once(name):
    column, kind = CIRCLES[name]
    said = _asked({name: column, "size": DRAW.normal(size=N)})
    assert said == (
        f"'{name}' covers a full circle evenly: if it wraps around as angles do, declare kinds={{'{name}': '{kind}'}} "
        f"(--kinds '{name}={kind}')."
    )
    assert _asked({name: column}, kinds={name: "continuous"}) == ""
    assert _asked({name: column}, kinds=kind) == ""


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("age", DRAW.integers(0, 100, N)),
        ("percent", DRAW.uniform(0, 100, N)),
        ("pixel", DRAW.integers(0, 256, N)),
        ("hue", DRAW.integers(0, 256, N)),
        ("weight", DRAW.uniform(0, 360, N)),
        ("share", DRAW.choice(np.arange(10) / 10, N)),
        ("angle", DRAW.uniform(0, 90, N)),
        ("angle", np.clip(DRAW.normal(180, 50, N), 0, 360)),
        ("triangle", DRAW.uniform(0, 360, N)),
        ("rotation", DRAW.integers(0, 2, N)),
        ("degrees", DRAW.choice([0.0, 90.0, 180.0, 270.0], N)),
    ],
)
def test_other_numbers_are_not_taken_for_angles(name, column):
    assert _asked({name: column}) == ""


def test_a_few_rows_that_repeat_are_counted_once():
    factors, codes = DRAW.normal(size=(N, 2)), DRAW.normal(size=(N, 3))
    again = np.r_[np.arange(N), np.arange(12)]
    said = "12 of 412 rows repeat another row in every factor and code: leave the repeats out, or pass row_groups"
    assert said in _asked(factors[again], codes[again])
    assert _asked(factors[again], codes[again], row_groups=again) == ""
    assert _asked(factors[again], DRAW.normal(size=(N + 12, 3))) == ""
    assert _asked(factors, codes) == ""
    assert "3 of 403 rows repeat another row" in _asked(factors[again[:-9]], codes[again[:-9]])
