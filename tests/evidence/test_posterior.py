"""A posterior passed as codes: its means are the codes, and its spread is checked together with them."""

import numpy as np
import pandas as pd
import pytest

from unweave import Evidence, EvidenceError, Posterior

MEAN = np.arange(6.0).reshape(3, 2)
STD = np.full((3, 2), 0.5)


def test_means_are_the_codes():
    evidence = Evidence([1, 2, 3], Posterior(MEAN, STD))
    assert evidence.codes.tolist() == evidence.posterior.mean.tolist() == MEAN.tolist()
    assert evidence.posterior.std.tolist() == STD.tolist()


def test_spread_may_be_a_log_variance():
    np.testing.assert_allclose(Posterior(MEAN, log_variance=np.log(STD**2)).std, STD)


def test_names_come_from_the_mean_or_from_the_evidence():
    posterior = Posterior(pd.DataFrame(MEAN, columns=["u", "v"]), STD)
    assert Evidence(None, posterior).code_names == ("u", "v")
    renamed = Evidence(None, posterior, code_names=["a", "b"])
    assert renamed.code_names == renamed.posterior.table.names == ("a", "b")


def test_rows_of_evidence_are_rows_of_the_posterior():
    some = Evidence([1, 2, 3], Posterior(MEAN, STD + MEAN)).rows([2, 0])
    assert some.posterior.mean.tolist() == some.codes.tolist() == MEAN[[2, 0]].tolist()
    assert some.posterior.std.tolist() == (STD + MEAN)[[2, 0]].tolist()


def test_a_posterior_cannot_be_changed():
    posterior = Posterior(MEAN, STD)
    for array in (posterior.mean, posterior.std):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs exactly one spread: pass std, log_variance or covariance"),
        ({"std": STD, "log_variance": STD}, "needs exactly one spread"),
        ({"std": STD[:, :1]}, r"mean has shape \(3, 2\) but its spread \(3, 1\): pass one spread for each mean"),
        ({"std": STD[:2]}, r"mean has shape \(3, 2\) but its spread \(2, 2\)"),
        ({"std": STD * [1, 0]}, "std of code 'code 1' is zero or negative in 3 rows: pass logarithms.*or plain codes"),
        ({"std": [["a", "b"]] * 3}, "Std 'std 0' contains text"),
    ],
    ids=str,
)
def test_posteriors_that_cannot_be(arguments, message):
    with pytest.raises(EvidenceError, match=message):
        Posterior(MEAN, **arguments)


def test_mean_and_spread_pair_up():
    with pytest.raises(EvidenceError, match="posterior's mean and the posterior's spread have different row indexes"):
        Posterior(pd.DataFrame(MEAN), pd.DataFrame(STD, index=[2, 1, 0]))


def test_missing_and_infinite_spread_is_named():
    with pytest.raises(EvidenceError, match=r"missing in 1 of 3 rows: std 'code 1' \(1\)"):
        Evidence(None, Posterior(MEAN, np.where(MEAN == 3, np.nan, STD)))
    with pytest.raises(EvidenceError, match="Std 'code 0' is infinite in 1 rows"):
        Evidence(None, Posterior(MEAN, log_variance=np.where(MEAN == 2, 1e4, 0.0)))


@pytest.mark.parametrize("spread", [0.0, -0.5])
def test_a_spread_that_is_not_positive_is_counted_and_named(spread):
    std = np.full((4, 2), 0.5)
    std[1:3, 1] = spread
    with pytest.raises(EvidenceError, match=r"std of code 'code 1' is zero or negative in 2 rows"):
        Posterior(np.zeros((4, 2)), std)


@pytest.mark.parametrize("far", [1e-151, 1e151])
def test_a_spread_whose_square_no_float_holds_is_named(far):
    std = np.full((4, 2), 0.5)
    std[3, 0] = far
    with pytest.raises(EvidenceError, match=r"code 0'.* 1e-150 .*1e\+150"):
        Posterior(np.zeros((4, 2)), std)


def test_collapsed_codes_are_those_that_are_the_same_for_every_sample():
    mean = np.column_stack([np.zeros(3), np.zeros(3), [0.0, 0.0, 0.1]])
    std = np.column_stack([np.ones(3), [1.0, 1.0, 1.1], np.ones(3)])
    tables = {
        "still": np.tile([0.2, 0.3, 0.5], (3, 1)),
        "partly": np.array([[0.2, 0.3, 0.5], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5]]),
        "even": np.array([[0.5, 0.5], [0.5, 0.5], [0.4, 0.6]]),
    }
    assert Posterior(mean, std, categories=tables, names=["a", "b", "c"]).collapsed == ("a", "still")
