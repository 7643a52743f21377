"""Posteriors with a constant mean carry information only in their widths, which metrics of points do not use."""

import warnings

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave import metrics as m

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(300, 2))
WIDTHS = 0.1 + RNG.uniform(size=(300, 3))
ONE_CONSTANT = Evidence(FACTORS, Posterior(np.column_stack([FACTORS, np.zeros(300)]), WIDTHS))
WITHOUT_IT = Evidence(FACTORS, Posterior(FACTORS, WIDTHS[:, :2]))
ALL_CONSTANT = Evidence(FACTORS, Posterior(np.zeros((300, 3)), WIDTHS))
POINT_METRICS = [
    m.mig_sup,
    m.infomec_modularity,
    m.infomec_compactness,
    m.irs,
    m.factor_vae_score,
    m.relevance_factor_vae_score,
    m.beta_vae_score,
    m.dci_size,
]


@pytest.mark.parametrize("metric", POINT_METRICS, ids=lambda metric: metric.card.name)
def test_a_constant_mean_counts_as_a_dead_code(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric(ONE_CONSTANT).raw == pytest.approx(metric(WITHOUT_IT).raw, abs=0.02)


@pytest.mark.parametrize("metric", POINT_METRICS[:-1], ids=lambda metric: metric.card.name)
def test_constant_means_alone_are_undefined_or_worth_nothing(metric):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = metric(ALL_CONSTANT)
    assert np.isnan(found.raw) or found.raw == 0
    assert found.caveats
