import numpy as np
import pytest

from unweave import Evidence, EvidenceError, Posterior
from unweave.metrics import mcc, rmig

MEAN = np.random.default_rng(0).normal(size=(60, 2))
STD = np.full_like(MEAN, 0.3)
TABLE = np.random.default_rng(1).dirichlet(np.ones(3), size=60)


def test_std_log_variance_and_covariance_say_the_same():
    by_std, by_log = Posterior(MEAN, STD), Posterior(MEAN, log_variance=2 * np.log(STD))
    by_covariance = Posterior(MEAN, covariance=0.09 * np.eye(2))
    np.testing.assert_allclose(by_std.std, by_log.std)
    np.testing.assert_allclose(by_std.std, by_covariance.std)
    assert by_covariance.covariance.shape == (60, 2, 2)


def test_categorical_codes_follow_the_gaussian_ones():
    posterior = Posterior(MEAN, STD, categories={"shape": TABLE})
    assert posterior.names == ("code 0", "code 1", "shape")
    evidence = Evidence(MEAN, posterior)
    assert evidence.code_names == posterior.names
    np.testing.assert_array_equal(evidence.codes[:, 2], TABLE.argmax(axis=1))
    assert Evidence(MEAN, Posterior(categories={"shape": TABLE})).n_codes == 1


def test_metrics_of_points_use_the_means():
    assert mcc(MEAN, Posterior(MEAN, STD)).raw == mcc(MEAN, MEAN).raw


def test_rows_keep_all_parts():
    posterior = Posterior(MEAN, covariance=np.broadcast_to(np.eye(2), (60, 2, 2)), categories={"shape": TABLE})
    kept = Evidence(MEAN, posterior).rows(np.arange(7)).posterior
    assert (kept.mean.shape, kept.covariance.shape, kept.categories["shape"].shape) == ((7, 2), (7, 2, 2), (7, 3))


@pytest.mark.parametrize("as_function", [True, False])
@pytest.mark.parametrize("on_disk", [True, False])
def test_batches_give_the_same_posterior(as_function, on_disk):
    def batches():
        return ((MEAN[k : k + 7], STD[k : k + 7]) for k in range(0, 60, 7))

    streamed = Posterior.from_batches(batches if as_function else batches(), on_disk=on_disk)
    whole = Posterior(MEAN, STD)
    np.testing.assert_array_equal(streamed.mean, whole.mean)
    np.testing.assert_array_equal(streamed.std, whole.std)
    assert isinstance(streamed.mean, np.memmap) == on_disk
    factors = np.arange(60) % 3
    assert rmig(factors, streamed).raw == rmig(factors, whole).raw
    assert Evidence(factors, streamed).fingerprint == Evidence(factors, whole).fingerprint


def test_codes_are_dead_when_nothing_of_the_posterior_varies():
    still = np.zeros((60, 1))
    std = np.column_stack([np.ones(60), np.linspace(0.1, 1, 60)])
    evidence = Evidence(MEAN, Posterior(np.hstack([still, still]), std))
    assert evidence.dead_codes == ("code 0",)  # the std of the other code varies


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((MEAN, -STD), {}, "zero or negative"),
        ((MEAN, 0 * STD), {}, "zero or negative"),
        ((None, STD), {}, "a spread but no mean"),
        ((MEAN,), {}, "exactly one spread"),
        ((MEAN, STD), {"log_variance": STD}, "exactly one spread"),
        ((MEAN, STD[:5]), {}, "one spread for each mean"),
        ((MEAN, STD[:, :1]), {}, "one spread for each mean"),
        ((MEAN,), {"covariance": np.eye(3)}, "covariance has shape"),
        ((MEAN,), {"covariance": -np.eye(2)}, "positive definite"),
        ((MEAN,), {"covariance": np.array([[1.0, 0.5], [0.0, 1.0]])}, "positive definite"),
        ((MEAN, STD), {"categories": {"shape": TABLE * 1.1}}, "does not sum to one"),
        ((MEAN, STD), {"categories": {"shape": TABLE - 0.5}}, "negative or missing"),
        ((MEAN, STD), {"categories": {"shape": TABLE[:9]}}, "9 rows"),
        ((MEAN, STD), {"categories": {"shape": TABLE[:, 0]}}, "one column per"),
        ((MEAN, STD), {"categories": {"code 1": TABLE}}, "Two codes"),
        ((), {}, "empty"),
    ],
)
def test_bad_posteriors_are_refused_with_one_sentence(arguments, options, sentence):
    with pytest.raises(EvidenceError, match=sentence) as caught:
        Posterior(*arguments, **options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        ([], "no batches"),
        ([MEAN], "not a pair"),
        ([(MEAN, STD[:3])], "both must be rows x codes"),
        ([(MEAN[:, 0], STD[:, 0])], r"Batch 0 has a mean of shape \(60,\) .* both must be rows x codes"),
        ([(MEAN, STD), (MEAN, STD, STD)], "Batch 1 is not a pair"),
        ([(MEAN, STD), (MEAN[:, :1], STD[:, :1])], "one encoder"),
        ([(MEAN, 0 * STD)], "zero or negative"),
    ],
)
def test_bad_batches_are_refused_with_one_sentence(batches, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        Posterior.from_batches(batches)
