"""Derived evidence is immutable, has the same type, and does not keep cached results of its origin."""

import pickle

import numpy as np
import pytest

from unweave import Evidence, InputError, Posterior

WAYS = {
    "permuted": lambda evidence: evidence.permuted(0),
    "recoded": lambda evidence: evidence.recoded(np.ones((6, 1))),
    "rows": lambda evidence: evidence.rows(np.arange(4)),
    "leaving_out": lambda evidence: evidence.leaving_out(np.array([1])),
    "factors_alone": lambda evidence: evidence.factors_alone(),
    "keeping": lambda evidence: evidence.keeping(np.array([0, 2, 4])),
    "pickled": lambda evidence: pickle.loads(pickle.dumps(evidence)),
}


class Special(Evidence):
    pass


@pytest.mark.parametrize("way", WAYS)
def test_derived_evidence_is_sealed_and_of_the_same_type(way):
    evidence = Special({"a": [1.0, 2.0, 4.0, 3.0, 6.0, 5.0]}, [1.0, 5.0, 2.0, 4.0, 3.0, 6.0])
    evidence._memo["kept"] = 1
    found = WAYS[way](evidence)
    assert type(found) is Special
    assert found._memo == {}
    with pytest.raises(AttributeError, match="build another Evidence instead of setting n_rows"):
        found.n_rows = 3
    for array in (found.factors, found.codes, found.kept_rows):
        assert not array.flags.writeable


@pytest.mark.parametrize("way", ["permuted", "recoded", "rows", "leaving_out", "keeping"])
def test_what_the_origin_remembered_is_found_again(way):
    evidence = Evidence([1.0, 2.0, 4.0, 3.0, 6.0, 5.0], [7.0, 5.0, 7.0, 7.0, 7.0, 7.0])
    before = evidence.fingerprint, evidence.dead_codes
    found = WAYS[way](evidence)
    assert found.fingerprint != before[0]
    assert found.dead_codes == (("code 0",) if way in ("recoded", "leaving_out", "keeping") else before[1])


@pytest.mark.parametrize(
    "options", [{"code_groups": {"g": ["code 0"]}}, {"codes": Posterior(np.eye(3), np.ones((3, 3)))}]
)
def test_codes_of_posteriors_and_groups_cannot_be_chosen(options):
    with pytest.raises(InputError, match="Codes of a posterior or in groups cannot be chosen"):
        Evidence(**{"factors": [1, 2, 3], "codes": np.eye(3)} | options).choosing_codes(np.array([0]))


def test_a_fold_that_would_be_empty_is_drawn_anew():
    whole = Evidence(np.arange(6), np.arange(6))
    fewer = whole.leaving_out(whole.folds(3, seed=0)[0][1])
    assert [(train.size, test.size) for train, test in fewer.folds(3, seed=0)].count((3, 1)) == 2
    assert all(train.size and test.size for train, test in fewer.folds(3, seed=0))


def test_a_side_of_a_split_that_would_be_empty_is_drawn_anew():
    whole = Evidence(np.arange(6), np.arange(6))
    for side in whole.split(0.5, seed=0):
        assert [rows.size for rows in whole.leaving_out(side).split(0.5, seed=0)] in ([1, 2], [2, 1])
