"""Posteriors of all families, and factors that are tables of probabilities."""

import numpy as np
import pandas as pd
import pytest

from unweave import Evidence, FactorKind, InputError, MetricUndefined, Posterior
from unweave.estimators import MixtureSampling
from unweave.metrics import jemmig, mcc, mig, rmig

MEAN = np.arange(6.0).reshape(3, 2)
STD = np.full((3, 2), 0.5)


def test_means_are_the_codes():
    evidence = Evidence([1, 2, 3], Posterior(MEAN, STD))
    assert evidence.codes.tolist() == evidence.posterior.mean.tolist() == MEAN.tolist()
    assert evidence.posterior.std.tolist() == STD.tolist()


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


def test_mean_and_spread_pair_up():
    with pytest.raises(InputError, match="posterior's mean and the posterior's spread have different row indexes"):
        Posterior(pd.DataFrame(MEAN), pd.DataFrame(STD, index=[2, 1, 0]))


def test_missing_and_infinite_spread_is_named():
    with pytest.raises(InputError, match=r"missing in 1 of 3 rows: std 'code 1' \(1\)"):
        Evidence(None, Posterior(MEAN, np.where(MEAN == 3, np.nan, STD)))
    with pytest.raises(InputError, match="Std 'code 0' is infinite in 1 row:"):
        Evidence(None, Posterior(MEAN, log_variance=np.where(MEAN == 2, 1e4, 0.0)))


@pytest.mark.parametrize("far", [1e-151, 1e151])
def test_a_spread_whose_square_no_float_holds_is_named(far):
    std = np.full((4, 2), 0.5)
    std[3, 0] = far
    with pytest.raises(InputError, match=r"code 0'.* 1e-150 .*1e\+150"):
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
    with pytest.raises(InputError, match="There are 3 code names for 2 codes: give one for each"):
        Posterior.from_batches(batches, names=["u", "v", "w"])
    posterior = Posterior(MEAN, STD, categories={"shape": [[0.2, 0.8]] * 3})
    renamed = posterior.renamed(["a", "b", "c"])
    assert (renamed.names, list(renamed.categories), renamed.n_gaussian) == (("a", "b", "c"), ["c"], 2)
    with pytest.raises(InputError, match="There are 2 code names for 3 codes: give one for each"):
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
        with pytest.raises(InputError, match="not symmetric and positive definite"):
            Posterior(MEAN, covariance=covariance)


MEANS = np.random.default_rng(0).normal(size=(60, 2))
STDS = np.full_like(MEANS, 0.3)
TABLE = np.random.default_rng(1).dirichlet(np.ones(3), size=60)


def test_std_log_variance_and_covariance_say_the_same():
    by_std, by_log = (
        Posterior(MEANS, STDS),
        Posterior(MEANS, log_variance=2 * np.log(STDS)),
    )
    by_covariance = Posterior(MEANS, covariance=0.09 * np.eye(2))
    np.testing.assert_allclose(by_std.std, by_log.std)
    np.testing.assert_allclose(by_std.std, by_covariance.std)
    assert by_covariance.covariance.shape == (60, 2, 2)


def test_categorical_codes_follow_the_gaussian_ones():
    posterior = Posterior(MEANS, STDS, categories={"shape": TABLE})
    assert posterior.names == ("code 0", "code 1", "shape")
    evidence = Evidence(MEANS, posterior)
    assert evidence.code_names == posterior.names
    np.testing.assert_array_equal(evidence.codes[:, 2], TABLE.argmax(axis=1))
    assert Evidence(MEANS, Posterior(categories={"shape": TABLE})).n_codes == 1


def test_metrics_of_points_use_the_means():
    assert mcc(MEANS, Posterior(MEANS, STDS)).raw == mcc(MEANS, MEANS).raw


def test_rows_keep_all_parts():
    posterior = Posterior(MEANS, covariance=np.broadcast_to(np.eye(2), (60, 2, 2)), categories={"shape": TABLE})
    kept = Evidence(MEANS, posterior).rows(np.arange(7)).posterior
    assert (kept.mean.shape, kept.covariance.shape, kept.categories["shape"].shape) == ((7, 2), (7, 2, 2), (7, 3))


@pytest.mark.parametrize("as_function", [True, False])
@pytest.mark.parametrize("on_disk", [True, False])
def test_batches_give_the_same_posterior(as_function, on_disk):
    def batches():
        return ((MEANS[k : k + 7], STDS[k : k + 7]) for k in range(0, 60, 7))

    streamed = Posterior.from_batches(batches if as_function else batches(), on_disk=on_disk)
    whole = Posterior(MEANS, STDS)
    np.testing.assert_array_equal(streamed.mean, whole.mean)
    np.testing.assert_array_equal(streamed.std, whole.std)
    assert isinstance(streamed.mean, np.memmap) == on_disk
    factors = np.arange(60) % 3
    assert rmig(factors, streamed).raw == rmig(factors, whole).raw
    assert Evidence(factors, streamed).fingerprint == Evidence(factors, whole).fingerprint


def test_codes_are_dead_when_nothing_of_the_posterior_varies():
    still = np.zeros((60, 1))
    std = np.column_stack([np.ones(60), np.linspace(0.1, 1, 60)])
    evidence = Evidence(MEANS, Posterior(np.hstack([still, still]), std))
    assert evidence.dead_codes == ("code 0",)  # the std of the other code varies


SOME_ROWS = np.isin(np.arange(60), (4, 9))[:, None] & np.array([False, True])  # two rows of the second code
NOT_POSITIVE = r"std of code 'code 1' is zero or negative in 2 rows: pass logarithms.*or plain codes"


@pytest.mark.parametrize(
    ("spread", "sentence"),
    [
        ({}, "needs exactly one spread: pass std, log_variance or covariance"),
        ({"std": STDS, "log_variance": STDS}, "needs exactly one spread"),
        ({"mean": None, "std": STDS}, "a spread but no mean"),
        ({"mean": None}, "empty"),
        ({"std": STDS[:5]}, r"mean has shape \(60, 2\) but its spread \(5, 2\)"),
        ({"std": STDS[:, :1]}, r"mean has shape \(60, 2\) but its spread \(60, 1\): pass one spread for each mean"),
        ({"std": np.where(SOME_ROWS, 0.0, STDS)}, NOT_POSITIVE),
        ({"std": np.where(SOME_ROWS, -0.5, STDS)}, NOT_POSITIVE),
        ({"std": [["a", "b"]] * 60}, "The stds 'std 0', 'std 1' contain text"),
        *(
            (
                {"covariance": np.ones(shape)},
                "covariance has shape.*pass one 2 x 2 matrix for all rows, or one for each",
            )
            for shape in [(60,), (2, 2, 2), (60, 2), (60, 3, 2), (3, 3)]
        ),
        ({"covariance": -np.eye(2)}, "not symmetric and positive definite"),
        *(
            ({"covariance": np.array([np.eye(2), bad, *[np.eye(2)] * 58])}, "positive definite in every row")
            for bad in ([[1, 2], [2, 1]], [[0, 0], [0, 1]], [[1, 0.5], [0, 1]], [[1, np.nan], [np.nan, 1]])
        ),
        ({"std": STDS, "categories": {"shape": TABLE * 1.1}}, "does not sum to one"),
        ({"std": STDS, "categories": {"shape": TABLE - 0.5}}, "negative or missing"),
        ({"std": STDS, "categories": {"shape": TABLE[:9]}}, "9 rows"),
        ({"std": STDS, "categories": {"shape": TABLE[:, 0]}}, "one column per"),
        ({"std": STDS, "categories": {"code 1": TABLE}}, "Two codes"),
    ],
)
def test_bad_posteriors_are_refused_with_one_sentence(spread, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        Posterior(**{"mean": MEANS} | spread)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        ([], "no batches"),
        ([MEANS], "not a pair"),
        ([(MEANS, STDS[:3])], "both must be rows x codes"),
        (
            [(MEANS[:, 0], STDS[:, 0])],
            r"Batch 0 has a mean of shape \(60,\) .* both must be rows x codes",
        ),
        (
            [
                (MEANS, STDS),
                (MEANS, STDS, STDS),
            ],
            "Batch 1 is not a pair",
        ),
        (
            [
                (MEANS, STDS),
                (MEANS[:, :1], STDS[:, :1]),
            ],
            "one encoder",
        ),
        ([(MEANS, 0 * STDS)], "zero or negative"),
    ],
)
def test_bad_batches_are_refused_with_one_sentence(batches, sentence):
    with pytest.raises(InputError, match=sentence):
        Posterior.from_batches(batches)


RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, 300)
POSTERIOR = Posterior(np.column_stack([LABELS - 1.0, RNG.normal(size=300)]), np.full((300, 2), 0.2))
CERTAIN = np.eye(3)[LABELS]


def test_a_table_is_a_categorical_factor():
    evidence = Evidence({"shape": 0.8 * CERTAIN + 0.2 / 3, "size": LABELS * 1.0}, POSTERIOR)
    assert evidence.kinds == (FactorKind.CATEGORICAL, FactorKind.ORDINAL)
    np.testing.assert_array_equal(evidence.factors[:, 0], LABELS)
    assert evidence.rows(np.arange(5)).factor_tables["shape"].shape == (5, 3)
    order = evidence.permuted(0)
    np.testing.assert_array_equal(order.factor_tables["shape"].argmax(axis=1), order.factors[:, 0])


@pytest.mark.parametrize("metric", [rmig, jemmig])
def test_certain_tables_are_labels(metric):
    assert metric({"shape": CERTAIN}, POSTERIOR).raw == pytest.approx(
        metric({"shape": LABELS}, POSTERIOR).raw, abs=1e-9
    )


def test_doubt_costs_information_as_a_noisy_channel_does():
    """y is uniform with probability e, and otherwise the label: a noisy channel with a closed form for a clear code."""
    e = 0.4
    noisy = (1 - e) * CERTAIN + e / 3
    counts = np.bincount(LABELS) / LABELS.size
    joint = ((1 - e) * np.eye(3) + e / 3) * counts[:, None]
    of_y = joint.sum(axis=0)
    expected = (joint * np.log(joint / (counts[:, None] * of_y))).sum()
    clear = Posterior(LABELS[:, None] - 1.04, np.full((300, 1), 0.001))
    assert rmig({"shape": noisy}, clear, normalise=False).raw == pytest.approx(expected, abs=1e-6)


def test_metrics_of_labels_refuse_a_table():
    with pytest.raises(MetricUndefined, match=r"mig needs a label for every sample, and factor 'shape' is a table"):
        mig({"shape": CERTAIN}, POSTERIOR)
    with pytest.raises(MetricUndefined, match="MixtureSampling needs a label"):
        rmig({"shape": CERTAIN}, POSTERIOR, estimator=MixtureSampling(100))


def test_a_table_that_never_varies_is_a_constant_factor():
    evidence = Evidence({"shape": np.full((300, 3), 1 / 3), "size": LABELS * 1.0}, POSTERIOR)
    assert evidence.constant_factors == ("shape",)
    assert np.isnan(rmig(evidence).per_factor["shape"])


def test_rows_that_sum_to_nearly_one_are_made_to():
    """Small deviations by single precision and rounding are accepted and normalised."""
    table = np.array([[0.9, 0.1], [0.25, 0.75]] * 30)
    nearly = table * np.where(np.arange(60) % 3 == 0, 1.0009, 0.9991)[:, None]
    kept = Evidence({"shape": nearly}, np.arange(60.0)).factor_tables["shape"]
    np.testing.assert_allclose(kept, table, rtol=1e-12)
    np.testing.assert_allclose(kept.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([[0.5, 0.5], [0.2, 0.2], [0.1, 0.8]], r"does not sum to one in 2 rows \(row 1 sums to 0.4\)"),
        ([[0.5, 0.5], [0.2, 0.8], [0.9, 0.8]], r"does not sum to one in 1 rows \(row 2 sums to 1.7\)"),
        ([[1.5, -0.5], [0.0, 1.0], [-0.1, 1.1]], "is negative or missing in 2 rows"),
        ([[np.nan, 0.5], [0.0, 1.0], [0.5, 0.5]], "is negative or missing in 1 rows"),
        (np.ones((2, 1)), r"has shape \(2, 1\).*two at least"),
    ],
)
def test_bad_rows_are_counted(table, sentence):
    with pytest.raises(InputError, match=sentence):
        Evidence({"shape": table})


def test_a_single_row_of_probabilities_is_a_table_that_cannot_be_changed():
    evidence = Evidence({"shape": [[0.2, 0.8]]})
    assert evidence.factor_tables["shape"].tolist() == [[0.2, 0.8]]
    assert evidence.constant_factors == ("shape",)
    with pytest.raises(ValueError, match="read-only"):
        evidence.factor_tables["shape"][0] = 0.5
