"""Closed forms of what posteriors carry about the samples, and the limits of the caveats about it."""

import math

import numpy as np
import pytest

from unweave import Evidence, MetricUndefined, Posterior
from unweave.estimators import MixtureSampling
from unweave.estimators.mixture import NEAR_THE_LIMIT
from unweave.estimators.posteriors import WithinValues
from unweave.metrics import informativeness
from unweave.metrics.sampled_information import (
    _components,
    carried_beyond_limit,
    carried_information,
    factor_ratios,
    given_sample_entropies,
    limit_caveat,
    shared_given_sample,
    stratum_caveats,
)

MEAN = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 2.0], [-1.0, -2.0]])
STD = np.full((4, 2), 0.5)
CERTAIN = np.eye(2)[[0, 0, 1, 1]]
HALF = np.full((4, 2), 0.5)


def test_entropies_given_the_sample():
    found = given_sample_entropies(Posterior(MEAN, STD, categories={"a": CERTAIN, "b": HALF}))
    gaussian = 0.5 * math.log(2 * math.pi * math.e * 0.25)
    assert found.tolist() == pytest.approx([gaussian, gaussian, 0.0, math.log(2)])


def test_information_of_codes_as_if_all_samples_together_were_gaussian():
    """The variance of all samples is 1 + .25 and 4 + .25; the first table tells two groups of samples apart."""
    found = carried_information(Posterior(MEAN, STD, categories={"a": CERTAIN, "b": HALF}))
    assert found.tolist() == pytest.approx([0.5 * math.log(5), 0.5 * math.log(17), math.log(2), 0.0])
    assert carried_information(Posterior(categories={"a": CERTAIN})).tolist() == pytest.approx([math.log(2)])


@pytest.mark.parametrize(("n_rows", "beyond"), [(2, True), (3, False)])
def test_all_codes_but_the_best_may_identify_the_sample(n_rows, beyond):
    """The first code carries .80 nats, between log 2 and log 3."""
    found = carried_beyond_limit(Posterior(MEAN, STD), n_rows)
    assert found == pytest.approx(0.5 * math.log(5) if beyond else 0.0)


def test_correlation_within_the_posterior_is_shared_given_the_sample():
    covariance = np.tile([[0.25, 0.15], [0.15, 0.25]], (4, 1, 1))  # a correlation of .6
    posterior = Posterior(MEAN, covariance=covariance, categories={"a": CERTAIN})
    shared = -0.5 * math.log(1 - 0.36)
    assert shared_given_sample(posterior).tolist() == pytest.approx([shared, shared, 0.0])
    assert shared_given_sample(Posterior(MEAN, STD)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("below", "kinds"), [(1e-9, []), (0.0, ["information_near_limit"])])
@pytest.mark.parametrize("most_rows", [4, 3])
def test_information_near_its_limit_is_a_caveat(below, kinds, most_rows):
    evidence, estimator = Evidence(None, Posterior(MEAN, STD)), MixtureSampling(most_rows=most_rows)
    limit = math.log(most_rows)
    found = limit_caveat(limit - NEAR_THE_LIMIT - below, evidence, estimator)
    assert [caveat.kind for caveat in found] == kinds + (["mixtures_sampled_rows"] if most_rows == 3 else [])
    if kinds:
        assert found[0].quantities["limit"] == limit
    if most_rows == 3:
        assert (found[-1].quantities["n_rows"], found[-1].quantities["of"]) == (3, 4)


@pytest.mark.parametrize(
    ("sizes", "below", "kind", "n_rows"),
    [
        ([10, 50, 0], 1e-9, None, None),
        ([9, 51, 0], 1e-9, "rare_value", 9),
        ([10, 50, 0], 0.0, None, None),
        ([10, 50, 0], -1e-9, "stratum_near_limit", 30),
        ([9, 51, 0], -1e-9, "stratum_near_limit", 30),
    ],
)
def test_values_with_few_rows_are_a_caveat(sizes, below, kind, n_rows):
    """Two values have 30 rows on average; a value that no row has does not count."""
    told = math.log(30) - NEAR_THE_LIMIT - below
    evidence = Evidence({"shape": [0, 1, 2, 2]}, Posterior(MEAN, STD))
    found = stratum_caveats(evidence, WithinValues(np.array([told]), (np.array(sizes),)))
    assert [(caveat.kind, caveat.quantities["n_rows"], list(caveat.factors)) for caveat in found] == (
        [] if kind is None else [(kind, n_rows, ["shape"])]
    )
    assert stratum_caveats(evidence, None) == ()


def test_two_draws_for_every_value_of_a_factor_are_the_fewest():
    evidence = Evidence({"shape": [0, 1, 2, 2]}, Posterior(MEAN, STD), kinds="categorical")
    assert factor_ratios(evidence, MixtureSampling(samples=6), True)[0] is not None
    with pytest.raises(MetricUndefined, match=r"5 samples are too few for the 3 values.*MixtureSampling\(samples=60\)"):
        factor_ratios(evidence, MixtureSampling(samples=5), True)


def test_equal_codes_have_draws_of_their_own_and_the_order_of_codes_does_not_matter():
    seeds = _components(Posterior(MEAN[:, [0, 1, 0, 0]], STD[:, [0] * 4]), MixtureSampling())[1]
    assert seeds[2:] == [seeds[0] + 1, seeds[0] + 2]
    turned = _components(Posterior(MEAN[:, ::-1], STD), MixtureSampling())[1]
    assert turned == [seeds[1], seeds[0]]


def test_a_code_without_information_changes_neither_the_information_of_all_codes_nor_its_error():
    rng = np.random.default_rng(4)
    mean, std = rng.normal(size=(60, 1)), np.full((60, 1), 0.3)
    alone, beside = (
        informativeness(
            Posterior(np.hstack([mean, *extra]), np.hstack([std, *(np.ones_like(std) for _ in extra)])), of="all"
        )
        for extra in ([], [np.zeros_like(mean)])
    )
    assert beside.raw == pytest.approx(alone.raw)
    assert beside.parts["standard_error"] == pytest.approx(alone.parts["standard_error"])
    assert alone.parts["standard_error"] > 0
