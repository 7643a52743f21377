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


@pytest.mark.parametrize("far", [1e-150, 1e150])
def test_a_spread_at_the_limit_is_kept(far):
    assert Posterior(MEAN, np.full((3, 2), far)).std[2, 1] == far


def test_names_are_as_many_as_the_codes():
    batches = [(MEAN, STD)]
    assert Posterior.from_batches(batches, names=["u", "v"]).names == ("u", "v")
    assert Posterior.from_batches(batches).names == ("code 0", "code 1")
    with pytest.raises(EvidenceError, match="There are 3 code names for 2 codes: give one for each"):
        Posterior.from_batches(batches, names=["u", "v", "w"])
    posterior = Posterior(MEAN, STD, categories={"shape": [[0.2, 0.8]] * 3})
    renamed = posterior.renamed(["a", "b", "c"])
    assert (renamed.names, list(renamed.categories), renamed.n_gaussian) == (("a", "b", "c"), ["c"], 2)
    with pytest.raises(EvidenceError, match="There are 2 code names for 3 codes: give one for each"):
        posterior.renamed(["a", "b"])


@pytest.mark.parametrize(
    ("scale", "asymmetry", "fits"),
    [
        (1.0, 5e-9, True),
        (1.0, 1e-8, True),
        (1.0, 2e-8, False),
        (1.0, -2e-8, False),
        (100.0, 5e-7, True),
        (100.0, 2e-6, False),
    ],
)
def test_a_covariance_is_symmetric_up_to_rounding(scale, asymmetry, fits):
    covariance = scale * np.eye(2) + [[0, asymmetry], [0, 0]]
    if fits:
        np.testing.assert_allclose(Posterior(MEAN, covariance=covariance).std, scale**0.5)
    else:
        with pytest.raises(EvidenceError, match="not symmetric and positive definite"):
            Posterior(MEAN, covariance=covariance)


@pytest.mark.parametrize("bad", [[[1, 2], [2, 1]], [[0, 0], [0, 1]], [[1, 0.5], [0, 1]], [[1, np.nan], [np.nan, 1]]])
def test_one_bad_covariance_is_refused(bad):
    covariance = np.array([np.eye(2), bad, np.eye(2)])
    with pytest.raises(EvidenceError, match="not symmetric and positive definite in every row"):
        Posterior(MEAN, covariance=covariance)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2), (3, 2), (3, 3, 2), (3, 3)])
def test_a_covariance_has_the_shape_of_the_codes(shape):
    with pytest.raises(EvidenceError, match=r"pass one 2 x 2 matrix for all rows, or one for each row"):
        Posterior(MEAN, covariance=np.ones(shape))
