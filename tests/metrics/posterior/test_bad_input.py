from functools import partial

import numpy as np
import pytest

from unweave import Evidence, InputError, MetricUndefined, Posterior
from unweave.estimators import MixtureSampling, QuantisedPosterior
from unweave.metrics import (
    dcimig,
    informativeness,
    jemmig,
    mig,
    mig_sup,
    minimality,
    modularity,
    rmig,
    sepin_at_k,
    sufficiency,
    unibound,
    wsepin,
)

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, 20, size=(400, 2))
POSTERIOR = Posterior(RNG.normal(size=(400, 2)), np.full((400, 2), 0.3))


def test_a_range_that_misses_most_of_the_mass_is_a_caveat_with_the_share():
    far = Posterior(RNG.normal(10, 1, size=(400, 2)), np.full((400, 2), 0.3))
    fixed = QuantisedPosterior(limits=(-4.0, 4.0))
    for metric in (informativeness, rmig, jemmig, partial(wsepin, grid=fixed)):
        caveats = metric(FACTORS, far, **({} if isinstance(metric, partial) else {"estimator": fixed})).caveats
        assert any("100% of the mass of code" in said and "outside -4 to 4" in said for said in map(str, caveats))
    assert not informativeness(FACTORS, far, estimator=QuantisedPosterior(limits=(6.0, 14.0))).caveats


def test_too_few_samples_for_the_values_of_a_factor():
    with pytest.raises(MetricUndefined, match="30 samples are too few for the 20 values of factor 'factor 0'"):
        unibound(FACTORS, POSTERIOR, kinds="categorical", estimator=MixtureSampling(30))


def test_values_seen_in_a_few_rows_are_a_caveat():
    rare = np.where(np.arange(400) < 3, 7, FACTORS[:, 0] % 2)
    caveats = unibound(rare, POSTERIOR, kinds="categorical", estimator=MixtureSampling(400)).caveats
    assert any("only 3 rows" in str(caveat) for caveat in caveats)


def test_a_value_whose_rows_are_all_told_apart_is_a_caveat():
    narrow = Posterior(RNG.normal(size=(400, 4)), np.full((400, 4), 0.05))
    caveats = unibound(FACTORS, narrow, kinds="categorical", estimator=MixtureSampling(400)).caveats
    assert any("no estimate can exceed" in str(caveat) for caveat in caveats)


def test_a_factor_with_one_value_is_left_out_and_named():
    factors = np.column_stack([FACTORS[:, 0], np.ones(400)])
    for estimator in (QuantisedPosterior(), MixtureSampling(400)):
        score = rmig(factors, POSTERIOR, kinds="categorical", estimator=estimator)
        assert np.isnan(score.per_factor["factor 1"])
        assert np.isfinite(score.raw)
        assert any("factor 1" in str(caveat) for caveat in score.caveats)
    with pytest.raises(MetricUndefined, match="all are constant"):
        rmig(np.ones(400), POSTERIOR)


def test_points_are_refused():
    with pytest.raises(MetricUndefined, match="rmig needs posterior"):
        rmig(FACTORS, POSTERIOR.mean)
    with pytest.raises(MetricUndefined, match="QuantisedPosterior needs a posterior"):
        mig(FACTORS, POSTERIOR.mean, estimator=QuantisedPosterior())


def test_k_beyond_the_codes():
    assert any("the best 3 are all of them" in str(caveat) for caveat in sepin_at_k(None, POSTERIOR).caveats)
    assert sepin_at_k(None, POSTERIOR).raw == sepin_at_k(None, POSTERIOR, k=2).raw
    assert not any(each.kind == "fewer_codes_than_k" for each in sepin_at_k(None, POSTERIOR, k=2).caveats)
    with pytest.raises(InputError, match="k=0 of sepin_at_k is not allowed: use a whole number from 1"):
        sepin_at_k(None, POSTERIOR, k=0)


def test_an_unknown_choice_of_codes():
    with pytest.raises(ValueError, match="not known"):
        informativeness(None, POSTERIOR, of="some")


def test_an_estimate_near_log_n_is_a_caveat():
    narrow = Posterior(RNG.normal(size=(400, 4)), np.full((400, 4), 0.05))
    score = wsepin(None, narrow)
    assert any("log N = 5.99" in str(caveat) for caveat in score.caveats)
    assert informativeness(None, narrow, of="all", normalise=False).raw <= np.log(400)


def test_other_metrics_of_information_take_the_whole_posterior_too():
    """With `QuantisedPosterior` these metrics use the whole posterior, so that wide posteriors score less."""
    clear = Posterior(FACTORS / 10.0 - 1, np.full((400, 2), 0.02))
    blurred = Posterior(FACTORS / 10.0 - 1, np.full((400, 2), 0.5))
    for metric in (mig_sup, dcimig, sufficiency):
        options = {"kinds": "categorical", "estimator": QuantisedPosterior()}
        assert metric(FACTORS, clear, **options).raw > metric(FACTORS, blurred, **options).raw + 0.3
    assert np.isfinite(minimality(FACTORS, blurred, kinds="categorical", estimator=QuantisedPosterior()).raw)
    assert np.isfinite(modularity(FACTORS, blurred, kinds="categorical", estimator=QuantisedPosterior()).raw)


def test_mig_of_a_posterior_is_that_of_its_means_unless_asked():
    evidence = Evidence(FACTORS, POSTERIOR, kinds="categorical")
    assert mig(evidence).raw == mig(FACTORS, POSTERIOR.mean, kinds="categorical").raw
    assert mig(evidence, estimator=QuantisedPosterior()).raw == pytest.approx(rmig(evidence).raw, abs=1e-12)


def test_a_posterior_alone_is_enough_where_no_factors_are_needed():
    posterior = Posterior(np.random.default_rng(0).normal(size=(60, 2)), np.full((60, 2), 0.3))
    assert informativeness(posterior) == informativeness(codes=posterior)
    with pytest.raises(MetricUndefined, match="rmig needs factors"):
        rmig(posterior)
