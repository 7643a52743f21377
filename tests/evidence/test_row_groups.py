"""Rows of one subject or video are not separated by splits and permutations."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave import Evidence, InputError, metrics

GROUPS = st.lists(st.integers(0, 6), min_size=8, max_size=40).filter(lambda groups: len(set(groups)) >= 4)


@given(GROUPS, st.integers(2, 4), st.integers(0, 100))
def test_no_group_is_on_both_sides_of_a_fold(groups, n_folds, seed):
    labels = np.array(groups)
    folds = Evidence(np.arange(labels.size), row_groups=labels).folds(n_folds, seed)
    for train, test in folds:
        assert train.size
        assert not set(labels[train]) & set(labels[test])
        assert sorted([*train, *test]) == list(range(labels.size))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(labels.size))


@given(GROUPS, st.integers(0, 100))
def test_a_permutation_moves_groups_whole(groups, seed):
    labels = np.array(groups)
    moved = Evidence(np.arange(labels.size), row_groups=labels).permuted(seed).factors[:, 0].astype(int)
    assert sorted(moved) == list(range(labels.size))
    # sorted by group, the permuted rows consist of the original groups, each in its original order
    along = moved[np.argsort(labels, kind="stable")]
    runs = np.split(along, np.flatnonzero(np.diff(labels[along])) + 1)
    assert len(runs) == len(set(groups))
    for run in runs:
        assert run.tolist() == np.flatnonzero(labels == labels[run[0]]).tolist()


def test_groups_of_one_size_take_the_place_of_groups():
    labels = np.repeat(np.arange(5), 4)
    moved = Evidence(np.arange(20), row_groups=labels).permuted(1).factors[:, 0].astype(int)
    for label in range(5):
        assert len(set(labels[moved[labels == label]])) == 1


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "b", "a", "a"],
        [7, 7, 2**62, 2**62],
        [0.5, 0.5, 0.1, 0.1],
        [datetime.date(2020, 1, 2)] * 2 + [datetime.date(2020, 1, 1)] * 2,
        np.array(["2020-01-02", "2020-01-02", "2020-01-01", "2020-01-01"], dtype="M8[D]"),
        pd.Series(["b", "b", "a", "a"], dtype="category"),
    ],
    ids=str,
)
def test_labels_may_be_anything(labels):
    groups = Evidence([1, 2, 3, 4], row_groups=labels).row_groups
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_groups_change_the_split_of_a_metric():
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(12), 10)
    factor = rng.normal(size=12)[subject]
    codes = np.eye(12)[subject]  # the codes identify the subject, and have no information about new ones
    assert metrics.r2(factor, codes).value > 0.9
    assert metrics.r2(factor, codes, row_groups=subject).value < 0.1


def test_too_few_groups():
    evidence = Evidence(np.arange(12), np.arange(12), row_groups=np.arange(12) % 3)
    with pytest.raises(InputError, match="split into 5 parts needs at least 5 row groups and there are 3: pass more"):
        evidence.folds(5, seed=0)
    with pytest.raises(InputError, match="split into 20 parts needs at least 20 rows and there are 12"):
        Evidence(np.arange(12)).folds(20, seed=0)


@pytest.mark.parametrize("options", [{"row_groups": ["a"] * 4}, {}], ids=["one group", "one row"])
def test_one_unit_cannot_be_permuted(options):
    evidence = Evidence([1, 2, 3, 4] if options else [1], **options)
    with pytest.raises(InputError, match="Breaking the pairing needs at least 2 row"):
        evidence.permuted(0)


@pytest.mark.parametrize("n_folds", [1, 0, -2, 2.5])
def test_a_split_has_at_least_two_parts(n_folds):
    with pytest.raises(InputError, match=f"A split into {n_folds} parts leaves nothing to test on"):
        Evidence(np.arange(12)).folds(n_folds, seed=0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", None, "b"], r"missing in 1 of 3 rows: label of 'row_groups' \(1\)"),
        ([1.0, np.nan, 2.0], r"label of 'row_groups' \(1\)"),
        (np.zeros((3, 2)), r"row_groups has shape \(3, 2\): pass one value per row"),
        ("abc", r"row_groups has shape \(\)"),
    ],
    ids=str,
)
def test_labels_that_cannot_be_used(labels, message):
    with pytest.raises(InputError, match=message):
        Evidence([1, 2, 3], row_groups=labels)
