"""Missing values are an error that names and counts them, or are dropped in all tables; infinities are an error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unweave import Evidence, EvidenceError, Posterior, metrics
from unweave.findings import Finding

NAN = float("nan")


def gaps(*rows, n_rows=8):
    column = np.arange(n_rows, dtype=float)
    column[list(rows)] = NAN
    return column


def test_missing_values_are_refused_with_columns_and_counts():
    with pytest.raises(EvidenceError) as raised:
        Evidence({"size": gaps(0, 3), "hue": gaps()}, {"u": gaps(3, 5, 6)}, nuisances={"light": gaps(7)})
    assert str(raised.value) == (
        "Values are missing in 5 of 8 rows: factor 'size' (2), code 'u' (3), nuisance 'light' (1); fill them in, "
        "or leave these rows out with missing='drop' (--missing drop on the command line)."
    )


def test_many_columns_are_not_all_listed():
    with pytest.raises(EvidenceError, match=r"code 'code 4' \(1\) and 15 more columns; fill"):
        Evidence(codes=np.full((1, 20), NAN))
    with pytest.raises(EvidenceError, match=r"code 'code 4' \(1\) and 1 more column; fill"):
        Evidence(codes=np.full((1, 6), NAN))


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
    with pytest.raises(EvidenceError, match=r"missing in 1 of 3 rows: factor 'a' \(1\)"):
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
    with pytest.raises(EvidenceError, match="Every row has a missing value, so dropping leaves none: fill them in"):
        Evidence([1.0, NAN], [NAN, 1.0], missing="drop")


@pytest.mark.parametrize("missing", ["refuse", "drop"])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinities_are_refused(missing, infinity):
    with pytest.raises(EvidenceError, match="Code 'u' is infinite in 2 rows: clip these values or leave the rows out"):
        Evidence(gaps(), {"u": [infinity, 1, NAN, 3, 4, 5, 6, infinity]}, missing=missing)


def test_infinities_of_both_signs_do_not_cancel():
    with pytest.raises(EvidenceError, match="Factor 'factor 0' is infinite in 2 rows"):
        Evidence([np.inf, -np.inf, 0.0])


def test_values_whose_sum_overflows_are_not_infinite():
    assert Evidence(None, [1.7e308, 1.7e308, 1.0]).n_rows == 3


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_factors_whose_squares_are_lost(scale):
    with pytest.raises(EvidenceError, match=r"Factor 'a' reaches .* and spans .*: state it in other units"):
        Evidence({"a": [scale, 2 * scale, 3 * scale]})


@pytest.mark.parametrize(("n_columns", "end"), [(5, r"code 'code 4' \(2\); fill"), (6, r"\(2\) and 1 more column")])
def test_five_columns_are_listed(n_columns, end):
    with pytest.raises(EvidenceError, match=f"missing in 2 of 3 rows: .*{end}"):
        Evidence(codes=np.vstack([np.full((2, n_columns), NAN), np.ones(n_columns)]))
