"""Tables of all types are read with the same numbers and names."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unweave import Evidence, EvidenceError, metrics

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
        ([[1, 2], [3]], "rows have different lengths: pass a table in which every row has as many values"),
        ({"a": [1, 2], "b": [1]}, r"columns have different lengths \(1, 2\): every column needs one value per row"),
        ({"a": 1}, r"Factor 'a' has shape \(\): pass one value per row"),
        (
            {"a": np.zeros((3, 2))},
            "Factor 'a', a table read as probabilities of .*, does not sum to one in 3 rows .*pass probabilities",
        ),
        (np.array([1j, 2]), "Factor 'factor 0' has type complex128, which is neither number nor text: convert"),
        (np.array([1, 1j], dtype=object), "Factor 'factor 0' contains an object of type complex in row 1"),
        (pd.DataFrame({"day": pd.date_range("2020", periods=3)}), "Factor 'day' has type datetime64.*convert"),
        (np.array([np.timedelta64(1, "s"), 1], dtype=object), "contains an object of type timedelta64 in row 0"),
        ([datetime.date(2020, 1, 1)], "Factor 'factor 0' contains an object of type date in row 0"),
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
        ("factors.csv", "factors are an object of type str, which has no rows: pass an array"),
        (pl.LazyFrame({"a": [1]}), "factors are an object of type LazyFrame, which has no rows"),
        (TorchLike(1.0), "factors are an object of type TorchLike, which has no rows"),
    ],
    ids=lambda given: given[:40] if isinstance(given, str) else type(given).__name__,
)
def test_tables_that_cannot_be_read(table, message):
    with pytest.raises(EvidenceError, match=message) as raised:
        Evidence(table)
    assert "\n" not in str(raised.value)


def test_a_tensor_that_never_becomes_numbers():
    class Sparse:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("sparse tensors have no dense values")

    with pytest.raises(EvidenceError, match="object of type Sparse cannot be read as numbers: turn it into a numpy"):
        Evidence(Sparse())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "There are no data: pass factors, codes, or both"),
        ({"row_groups": [1, 2]}, "There are no data"),
        ({"factors": [1, 2, 3], "codes": [1, 2]}, "factors have 3 rows, codes have 2 rows; pass the same samples"),
        ({"factors": [1, 2], "nuisances": [1]}, "factors have 2 rows, nuisances have 1 rows"),
        ({"factors": [1, 2], "row_groups": [1]}, "factors have 2 rows, row_groups have 1 rows"),
        ({"codes": ["a", "b"]}, "Code 'code 0' contains text: codes are numbers, so leave this column out"),
        ({"codes": [[1, 2]], "code_names": ["a"]}, "There are 1 code names for 2 codes: give one for each column"),
        ({"codes": [[1, 2]], "code_names": ["a", "a"]}, "Two codes are called 'a'"),
        ({"codes": [1, 2], "code_groups": {"g": ["z"]}}, "code_groups names 'z', which is not a code: use"),
        ({"codes": [1, 2], "code_groups": {"g": "code 0", "h": ["code 0"]}}, "Code 'code 0' is in two code groups"),
        ({"factors": [1, 2], "missing": "ignore"}, "missing='ignore' is not known: use 'refuse' or 'drop'"),
    ],
    ids=str,
)
def test_evidence_that_does_not_fit_together(options, message):
    with pytest.raises(EvidenceError, match=message):
        Evidence(**options)


class TestRowIndexes:
    """Pandas would align rows by their index, so different indexes are an error and are not paired by position."""

    factors = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    shuffled = pd.DataFrame({"z": [3.0, 1.0, 2.0]}, index=["c", "a", "b"])

    @pytest.mark.parametrize("side", ["codes", "nuisances", "row_groups"])
    def test_different_indexes_are_refused(self, side):
        other = self.shuffled["z"] if side == "row_groups" else self.shuffled
        with pytest.raises(EvidenceError, match=rf"factors and the {side} have different row indexes.*codes\.loc"):
            Evidence(self.factors, **{side: other})

    def test_columns_of_a_mapping_are_checked_too(self):
        columns = {"size": self.factors["size"], "z": self.shuffled["z"]}
        with pytest.raises(EvidenceError, match="factor 'size' and the factor 'z' have different row indexes"):
            Evidence(columns)

    def test_equal_indexes_and_tables_without_one_pair_by_position(self):
        assert Evidence(self.factors, self.shuffled.loc[self.factors.index]).codes[:, 0].tolist() == [1.0, 2.0, 3.0]
        assert Evidence(self.factors, self.shuffled.to_numpy()).codes[:, 0].tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("as_type", [np.int64, object])
def test_integers_that_floats_would_round_are_refused(sign, as_type):
    largest = np.array([sign * 2**53, 0], dtype=as_type)
    assert Evidence(largest, [0.0, 1.0]).factors[0, 0] == sign * 2**53
    with pytest.raises(EvidenceError, match=r"2\*\*53"):
        Evidence(np.array([sign * (2**53 + 1), 0], dtype=as_type), [0.0, 1.0])
