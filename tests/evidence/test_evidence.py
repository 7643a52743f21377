"""Evidence: immutability, digests, splits and parts."""

import copy
import pickle

import numpy as np
import pytest

from unweave import Evidence, InputError, OptionError, Posterior, metrics
from unweave.evidence.splits import fold_of_each_row, shuffled_rows, train_and_test_rows

RNG = np.random.default_rng(0)
FACTORS, CODES = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 3))


def evidence(**options):
    return Evidence(**{"factors": FACTORS, "codes": CODES} | options)


def nudged(array):
    changed = array.copy()
    changed[3, 1] = np.nextafter(changed[3, 1], 9)
    return changed


@pytest.mark.parametrize("name", ["factors", "codes", "nuisances", "row_groups", "kept_rows"])
@pytest.mark.parametrize(
    "through",
    [lambda it: it, lambda it: it.rows(np.arange(20)), copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))],
)
def test_arrays_are_read_only(name, through):
    array = getattr(through(evidence(nuisances=CODES, row_groups=np.arange(30) % 7)), name)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_attributes_are_fixed():
    with pytest.raises(
        AttributeError, match="Evidence cannot be changed: build another Evidence instead of setting factors"
    ):
        evidence().factors = FACTORS


def test_a_score_cannot_reach_back_into_what_is_remembered():
    found = evidence()
    for parts in (metrics.mcc(found).parts, metrics.mcc(found.permuted(0)).parts):
        with pytest.raises(ValueError, match="read-only"):
            parts["correlation_matrix"][0, 0] = 2.0


def test_pickling_keeps_everything_but_the_memo():
    found = evidence(row_groups=np.arange(30) % 7)
    metrics.mcc(found)
    loaded = pickle.loads(pickle.dumps(found))
    assert loaded.fingerprint == found.fingerprint
    assert metrics.mcc(loaded) == metrics.mcc(found)
    assert not loaded.codes.flags.writeable
    assert not pickle.loads(pickle.dumps(found))._memo


CHANGES = [
    {},
    {"factors": nudged(FACTORS)},
    {"codes": nudged(CODES)},
    {"factors": FACTORS[:, ::-1]},
    {"factors": CODES, "codes": FACTORS},
    {"factors": None, "codes": np.column_stack([FACTORS, CODES])},
    {"kinds": "circular:1000"},
    {"kinds": "circular:1001"},
    {"kinds": ["ordinal", "continuous"]},
    {"factor_names": ["a", "b"]},
    {"code_names": ["a", "b", "c"]},
    {"nuisances": CODES},
    {"nuisances": {"light": CODES[:, 0]}},
    {"nuisances": {"noise": CODES[:, 0]}},
    {"row_groups": np.arange(30) % 7},
    {"row_groups": np.arange(30) % 5},
    {"code_groups": {"g": ["code 0"]}},
    {"codes": Posterior(CODES, np.ones((30, 3)))},
    {"codes": Posterior(CODES, np.full((30, 3), 2.0))},
    {"factors": {"shape": ["heart", "square"] * 15}},
    {"factors": {"shape": ["heart", "sphere"] * 15}},
]


def test_any_change_changes_the_fingerprint():
    change_of = {}
    for change in CHANGES:
        digest = evidence(**change).fingerprint
        assert digest not in change_of, f"{change} and {change_of[digest]} have one fingerprint"
        change_of[digest] = change


@pytest.mark.parametrize(
    "same",
    [np.asfortranarray(FACTORS), FACTORS.tolist(), np.repeat(FACTORS, 2, axis=0)[::2], FACTORS.astype(np.longdouble)],
    ids=["fortran order", "lists", "strides", "longdouble"],
)
def test_memory_does_not_change_the_fingerprint(same):
    assert evidence(factors=same).fingerprint == evidence().fingerprint


@pytest.mark.parametrize("name", ["mcc", "r2", "sap", "mig", "factor_vae_score", "irs", "t_mex", "explicitness"])
@pytest.mark.parametrize(
    "stored",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda codes: np.repeat(codes, 2, axis=0)[::2],
        lambda codes: codes.T.copy().T,
    ],
)
def test_scores_are_the_same_however_codes_are_stored(name, stored):
    """To the last digit, for rows or columns first and for float32, also where means are far from 0."""
    rng, metric = np.random.default_rng(0), metrics.CATALOGUE[name]
    factors = rng.normal(size=(300, 3))
    codes = (factors @ rng.normal(size=(3, 5)) + [0.0, 0.0, 1e3, 0.0, 0.0]).astype(np.float32)
    codes[:, 4] = 7.0
    kept = codes.copy()
    score = metric(factors, stored(codes))
    assert score == metric(Evidence(factors, codes.astype(np.float64)))
    assert score == metric(np.asfortranarray(factors), stored(codes).astype(np.float64))
    np.testing.assert_array_equal(codes, kept)


def test_evidence_does_not_change_with_the_arrays_it_was_built_from():
    factors, codes = FACTORS.copy(), CODES.copy()
    found = Evidence(factors, codes)
    before = metrics.mcc(found)
    for array in (factors, codes):
        assert array.flags.writeable
        array[:] = array[::-1] ** 2
    np.testing.assert_array_equal(found.codes, CODES)
    assert metrics.mcc(found.rows(np.arange(30))) == before


def test_a_call_leaves_its_arrays_as_they_are():
    factors, codes = FACTORS.copy(), CODES.copy()
    metrics.mcc(factors, codes)
    codes[0] = 1.0  # still writeable
    assert factors.flags.writeable


def test_rows_take_an_index_a_list_or_a_mask():
    found = evidence(row_groups=["a", "b", "c"] * 10)
    mask = np.arange(30) % 3 != 1
    for index in (np.flatnonzero(mask), np.flatnonzero(mask).tolist(), mask):
        some = found.rows(index)
        assert some.n_rows == 20
        np.testing.assert_array_equal(some.factors, FACTORS[mask])
        np.testing.assert_array_equal(some.codes, CODES[mask])
        assert some.row_groups.tolist() == [0, 1] * 10


def test_keeping_fewer_of_the_rows_given():
    codes = np.where(np.arange(30) % 10 == 0, np.nan, CODES[:, 0])
    found = evidence(codes=codes, missing="drop").keeping(np.arange(0, 15))
    assert (found.n_rows, found.n_dropped) == (13, 17)
    np.testing.assert_array_equal(found.factors, FACTORS[found.kept_rows])


def test_constant_columns_are_known_by_name():
    found = Evidence({"size": [1, 2, 3], "hue": [5, 5, 5]}, [[0, 7], [0, 8], [0, 9]])
    assert (found.constant_factors, found.dead_codes) == (("hue",), ("code 0",))


def test_one_side_or_a_decoder_alone_is_evidence():
    assert Evidence(FACTORS).n_codes == 0
    assert Evidence(None, CODES).n_factors == 0
    assert Evidence(decoder=CODES).n_rows == 0
    assert repr(Evidence(FACTORS)) == "Evidence(30 rows, 2 factors, 0 codes)"


def test_a_code_group_of_one():
    assert evidence(code_groups={"g": "code 1"}).code_groups == {"g": ("code 1",)}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.7])
def test_the_share_of_a_split_is_that_of_the_test(share):
    train, test = evidence().split(share, seed=0)
    assert (train.size, test.size) == (30 - round(30 * share), round(30 * share))
    assert sorted([*train, *test]) == list(range(30))


@pytest.mark.parametrize(("share", "sizes"), [(0.01, (9, 1)), (0.5, (5, 5)), (0.99, (1, 9))])
def test_both_sides_of_a_split_have_rows(share, sizes):
    train, test = train_and_test_rows(10, None, share, seed=0)
    assert (train.size, test.size) == sizes


def test_splits_are_random_and_follow_the_seed():
    """Files are often sorted, so every second row or the last rows would not be a representative test set."""
    for split in (lambda seed: evidence().split(0.5, seed)[1], lambda seed: evidence().folds(2, seed)[0][1]):
        sides = [tuple(split(seed)) for seed in (0, 0, 1, 2)]
        assert sides[0] == sides[1]
        assert len(set(sides)) == 3
        assert all(len(set(np.diff(side))) > 1 for side in sides)  # neither consecutive rows nor every second one


def test_the_test_may_be_on_all_rows():
    for rows in train_and_test_rows(5, None, 0, seed=0):
        assert rows.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("share", [-0.1, 1, 1.5])
def test_shares_are_below_one(share):
    with pytest.raises(OptionError, match=f"test_share={share} is not a share: use a number from 0 to below 1"):
        train_and_test_rows(10, None, share, seed=0)


@pytest.mark.parametrize(("n_rows", "there"), [(0, "are 0"), (1, "is 1")])
def test_two_rows_can_be_split_and_one_cannot(n_rows, there):
    assert [rows.size for rows in train_and_test_rows(2, None, 0.5, seed=0)] == [1, 1]
    assert sorted(fold_of_each_row(2, None, 2, seed=0)) == [0, 1]
    assert sorted(shuffled_rows(2, None, np.random.default_rng(0))) == [0, 1]
    with pytest.raises(InputError, match=f"training and test rows needs at least 2 rows and there {there}: pass"):
        train_and_test_rows(n_rows, None, 0.5, seed=0)
    with pytest.raises(InputError, match=f"split into 2 parts needs at least 2 rows and there {there}: pass"):
        fold_of_each_row(n_rows, None, 2, seed=0)
