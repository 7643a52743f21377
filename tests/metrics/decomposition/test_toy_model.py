"""The toy model of 002, section 5.1, with its closed forms corrected (claims 105 to 117)."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from unweave import Evidence, MetricUndefined, Posterior
from unweave.estimators import GaussianInformation, MixtureSampling
from unweave.metrics import (
    redundancy_lower_bound,
    redundancy_upper_bound,
    synergy_lower_bound,
    synergy_upper_bound,
    unibound,
    unique_upper_bound,
)
from unweave.metrics.decomposition import partial_information
from unweave.metrics.sampled_information import sampled_factors, stratum_caveats
from unweave.synthetic.attacks import Redundancy, Synergy
from unweave.synthetic.theory import ToyModel

BOUNDS = {
    unibound: "unibound",
    unique_upper_bound: "unique_upper_bound",
    redundancy_lower_bound: "redundancy",
    redundancy_upper_bound: "redundancy",
    synergy_lower_bound: "synergy",
    synergy_upper_bound: "synergy",
}
PAIRS = [
    (unibound, unique_upper_bound),
    (redundancy_lower_bound, redundancy_upper_bound),
    (synergy_lower_bound, synergy_upper_bound),
]
CLOSED = {"estimator": GaussianInformation(), "normalise": False}


def attacked(posterior, attack, alpha):
    return {"none": lambda p: p, "redundancy": Redundancy(alpha).attack, "synergy": Synergy(alpha).attack}[attack](
        posterior
    )


def closed_form_case(k, sigma, attack, alpha):
    model = ToyModel(k, sigma, attack, alpha)
    factors, posterior = model.sample(300)
    return model, Evidence(factors, attacked(posterior, attack, alpha))


GRID = list(itertools.product([2, 3, 5, 10], [0.1, 0.5], [0.0, 1.0, 10.0], ["none", "redundancy", "synergy"]))


def errors_of(found, j):
    """Standard errors of I(y_j, z_S), where S is each single code, all codes but one, and all codes."""
    of_factor = found.draws[j][0]
    return of_factor.standard_error(of_factor.ratios)


@pytest.mark.parametrize(("k", "sigma", "alpha", "attack"), GRID)
def test_table_1_in_closed_form(k, sigma, alpha, attack):
    model, evidence = closed_form_case(k, sigma, attack, alpha)
    found = partial_information(evidence, GaussianInformation())
    assert found.single[0, 0] == pytest.approx(model.single, abs=1e-6)
    assert found.rest[0, 0] == pytest.approx(model.rest, abs=1e-6)
    assert found.whole == pytest.approx(np.full(k, model.whole), abs=1e-6)
    if attack == "synergy":
        assert found.rest[k, 0] == pytest.approx(model.rest_without_added(own=True), abs=1e-6)
        assert found.rest[k + 1, 0] == pytest.approx(model.rest_without_added(own=False), abs=1e-6)
    ranked = np.sort(found.single, axis=0)
    gaps = ranked[-1] - ranked[-2]
    assert gaps == pytest.approx(np.full(k, model.mig_numerator), abs=1e-6)
    matrices = {bound: bound(evidence, **CLOSED).parts["bound_matrix"] for bound in BOUNDS}
    for bound, name in BOUNDS.items():
        assert matrices[bound][0, 0] == pytest.approx(getattr(model, name), abs=1e-6)
    for lower, upper in PAIRS:
        assert (matrices[lower] <= matrices[upper] + 1e-9).all()
    assert unibound(evidence, **CLOSED).raw == pytest.approx(model.unibound, abs=1e-6)
    assert (matrices[unibound].max(axis=0) <= gaps + 1e-9).all()


def test_redundancy_moves_unibound_to_zero_and_leaves_mig():
    """Claims 106, 108 and 109, K = 5, s = .1."""
    values = []
    for alpha in (0.0, 1.0, 10.0, 1000.0):
        _, evidence = closed_form_case(5, 0.1, "redundancy", alpha)
        ranked = np.sort(partial_information(evidence, GaussianInformation()).single[:, 0])
        values.append((unibound(evidence, **CLOSED).raw, ranked[-1] - ranked[-2]))
    bounds, gaps = np.array(values).T
    assert [bounds[0], gaps[0]] == pytest.approx([2.3076, 2.3076], abs=1e-4)
    assert bounds[2] == pytest.approx(0.3416, abs=1e-4)
    assert bounds[3] < 1e-4
    assert gaps[3] == pytest.approx(2.087, abs=1e-3)


def test_where_the_paper_is_wrong():
    """Claims 107, 111, 113: exact numbers, which differ from the printed formulas."""
    assert ToyModel(3, 0.1, "redundancy", 10.0).mig_numerator == pytest.approx(2.0214, abs=1e-4)  # printed: 2.2499
    assert ToyModel(2, 0.1, "redundancy", 10.0).mig_numerator == pytest.approx(0.3416, abs=1e-4)  # printed: 2.3076
    assert ToyModel(5, 0.1, "synergy", 10.0).unique_upper_bound == pytest.approx(0.005, abs=1e-4)  # printed: 2.3076
    assert ToyModel(5, 0.5, "synergy", 2.0).rest_without_added(own=False) == pytest.approx(0.60613, abs=1e-5)


def lattice(k, n_levels):
    """Every combination of the levels of K factors, which are quantiles of a Gaussian with unit variance."""
    levels = norm.ppf((np.arange(n_levels) + 0.5) / n_levels)
    return np.array(list(itertools.product(levels / levels.std(), repeat=k)))


def check_sampler(k, n_levels, sigma, samples, within):
    factors = lattice(k, n_levels)
    posterior = Posterior(factors, np.full(factors.shape, sigma))
    within_value = (k - 1) / 2 * np.log(1 + 1 / sigma**2)  # I(x, z | y)
    assert within_value < np.log(len(factors) / n_levels) - 2
    estimator = MixtureSampling(samples, most_rows=100_000)
    for attack, alpha in [
        ("none", 0.0),
        ("redundancy", 1.0),
        ("redundancy", 10.0),
        ("synergy", 1.0),
        ("synergy", 10.0),
    ]:
        model = ToyModel(k, sigma, attack, alpha)
        evidence = Evidence(factors[:, :1], attacked(posterior, attack, alpha), kinds="ordinal")  # by symmetry
        found = sampled_factors(evidence, estimator)
        cases = [
            (found.single[0, 0], errors_of(found, 0)[0], model.single),
            (found.rest[0, 0], errors_of(found, 0)[evidence.n_codes], model.rest),
            (found.whole[0], errors_of(found, 0)[-1], model.whole),
        ]
        for metric, name in BOUNDS.items():
            score = metric(evidence, estimator=estimator, normalise=False)
            if metric in (unibound, redundancy_lower_bound):  # for other bounds the maximum may be another code
                cases.append((score.raw, float(score.parts["standard_error"]), getattr(model, name)))
        for value, error, truth in cases:
            assert abs(value - truth) < 3 * error + 1e-6, (attack, alpha)
            assert abs(value - truth) < within
        assert stratum_caveats(evidence, found.within_values) == ()


def test_sampler_agrees_with_the_closed_forms():
    """K = 2, s = .5; the error is below .02."""
    check_sampler(2, 25, 0.5, 10_000, within=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "n_levels", "sigma", "samples"),
    [(2, 100, 0.1, 4000), (3, 20, 0.5, 4000), (3, 30, 0.1, 2000), (5, 6, 0.5, 2000)],
)
def test_sampler_agrees_with_more_closed_forms(k, n_levels, sigma, samples):
    """Cases with enough samples: I(x, z | y) is more than 2 nats below the logarithm of the rows per value."""
    check_sampler(k, n_levels, sigma, samples, within=0.06)


def test_sampled_bounds_are_consistent():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(600, 2))
    posterior = Posterior(factors @ rng.normal(size=(2, 3)), np.full((600, 3), 0.5))
    evidence = Evidence(factors, posterior, kinds="categorical")
    options = {"estimator": MixtureSampling(600)}
    for lower, upper in PAIRS:
        low, high = (metric(evidence, **options).parts["bound_matrix"] for metric in (lower, upper))
        assert (low >= 0).all()
        assert (low <= high + 1e-12).all()
    found = sampled_factors(evidence, MixtureSampling(600))
    ranked = np.sort(found.single, axis=0)
    bounds = unibound(evidence, normalise=False, **options).parts["bound_matrix"].max(axis=0)
    assert (bounds <= ranked[-1] - ranked[-2] + 3 * max(errors_of(found, j)[3:6].max() for j in range(2))).all()


def test_one_code_has_all_it_knows_to_itself():
    factors = np.repeat([0, 1, 2], 100)
    evidence = Evidence(factors, Posterior(factors[:, None] * 1.0, np.full((300, 1), 0.05)), kinds="categorical")
    assert unibound(evidence).raw == pytest.approx(1.0, abs=1e-6)
    assert redundancy_upper_bound(evidence).raw == pytest.approx(0.0, abs=1e-6)


def test_closed_forms_are_refused_where_they_mean_nothing():
    evidence = Evidence({"shape": ["a", "b"] * 60}, Posterior(np.arange(120.0)[:, None], np.ones((120, 1))))
    with pytest.raises(MetricUndefined, match="needs numeric factors"):
        unibound(evidence, estimator=GaussianInformation(), normalise=False)
    numbers = Evidence(np.arange(120.0), Posterior(np.arange(120.0)[:, None], np.ones((120, 1))))
    with pytest.raises(MetricUndefined, match="normalise=False"):
        unibound(numbers, estimator=GaussianInformation())


def test_sharp_codes_at_few_rows_are_said_to_name_the_sample():
    """Sharp identity codes score 0 because the other codes identify each row, and the caveat states both numbers."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(300, 2)).astype(float)
    mean = np.column_stack([factors, rng.normal(size=(300, 3))])
    carried = 0.5 * np.log1p(mean.var(axis=0) / 1e-4)  # closed form for Gaussian codes
    sharp, wide = (unibound(factors, Posterior(mean, np.full_like(mean, std))) for std in (1e-2, 0.5))
    assert sharp.raw < 0.01
    note = next(str(caveat) for caveat in sharp.caveats if caveat.kind == "unique_information_at_limit")
    assert f"carries {carried.sum() - carried.max():.1f} nats" in note
    assert f"log N = {np.log(300):.1f}" in note
    assert not any(caveat.kind == "unique_information_at_limit" for caveat in wide.caveats)
