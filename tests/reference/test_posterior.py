"""Same posterior, same settings, same number as the code of 001, wherever that is right."""

import numpy as np
import pytest
from golden_cases import GOLDEN, case, values

from unweave import Evidence, Posterior
from unweave.estimators import MixtureSampling, QuantisedPosterior
from unweave.metrics import informativeness, jemmig, misjed, rmig, separability, windin, wsepin

PEER = values("posterior.json")["c09s"]
LIMITS = (-4.0, 4.0)
SINGLE_PRECISION = 3e-6


@pytest.fixture(scope="module")
def evidence():
    factors, mean = case("c09s")
    with np.load(GOLDEN / "c09s_std.npz") as arrays:
        return Evidence(factors, Posterior(mean, arrays["std"]), kinds="categorical")


@pytest.mark.parametrize("bins", [100, 20])
def test_rmig_and_jemmig_on_a_grid(evidence, bins):
    centre, expected = QuantisedPosterior(bins, LIMITS, rule="centre"), PEER[f"quantised_{bins}"]
    gap, joint = rmig(evidence, estimator=centre), jemmig(evidence, estimator=centre)
    assert gap.raw == pytest.approx(expected["rmig"], abs=SINGLE_PRECISION)
    assert joint.raw == pytest.approx(expected["jemmig"], abs=SINGLE_PRECISION)
    np.testing.assert_allclose(list(gap.per_factor.values()), expected["rmig_per_factor"], atol=SINGLE_PRECISION)
    np.testing.assert_allclose(list(joint.per_factor.values()), expected["jemmig_per_factor"], atol=SINGLE_PRECISION)
    matrix = gap.parts["mutual_information_matrix"]
    np.testing.assert_allclose(matrix, expected["mutual_information_matrix"], atol=SINGLE_PRECISION)


def test_exact_masses_differ_little_at_100_bins_and_more_at_20(evidence):
    """A density at the centre of a bin wider than the posterior's std is not its mass."""
    for bins, least, most in [(100, 0.0005, 0.005), (20, 0.01, 0.05)]:
        exact = rmig(evidence, estimator=QuantisedPosterior(bins, LIMITS)).raw
        assert least < abs(exact - PEER[f"quantised_{bins}"]["rmig"]) < most


def test_informativeness_on_a_grid(evidence):
    score = informativeness(evidence, estimator=QuantisedPosterior(limits=LIMITS, rule="centre"), normalise=False)
    np.testing.assert_allclose(list(score.per_code.values()), PEER["informativeness_100"], atol=SINGLE_PRECISION)


def test_misjed(evidence):
    score = misjed(evidence, estimator=QuantisedPosterior(limits=LIMITS, rule="centre"), normalise=False)
    assert score.raw == pytest.approx(PEER["misjed_100"]["mean"], abs=SINGLE_PRECISION)
    order = PEER["misjed_100"]["order"]
    matrix = np.nan_to_num(score.parts["misjed_matrix"], nan=-1.0)[np.ix_(order, order)]
    np.testing.assert_allclose(matrix, PEER["misjed_100"]["matrix"], atol=SINGLE_PRECISION)


def test_sampled_informations_agree_within_the_errors_of_both(evidence):
    """Two samples of 10,000 draws differ by up to four standard errors of one.

    The last five codes are noise. The peer gives some of them a negative I(x, z_i | z_not_i), which cannot be: its
    densities are floored at 1e-8, which costs I(x, z) a few thousandths of a nat.
    """
    expected = PEER["sepin_sampled_10000"]
    weighted = wsepin(evidence, normalise=False)
    assert weighted.raw == pytest.approx(expected["WSEPIN"], abs=4 * weighted.parts["standard_error"])
    assert windin(evidence, normalise=False).raw == pytest.approx(weighted.raw, abs=1e-9)
    for score, name in [(weighted, "SEPIN_zi"), (separability(evidence, normalise=False), "SEP_zi")]:
        distance = np.abs(np.array(list(score.per_code.values())) - expected[name])
        assert (distance[:5] < 4 * score.parts["standard_error_per_code"][:5]).all()
        # .0035 on average, with a standard error of .0016 of ours and another of the peer's
        assert (distance[5:] < 0.009).all()
    assert min(weighted.per_code.values()) > 0 > min(expected["SEPIN_zi"])
    whole = informativeness(evidence, of="all", normalise=False)
    assert whole.raw == pytest.approx(expected["MI_z_x"][0], abs=4 * whole.parts["standard_error"])
    assert any("log N" in str(caveat) for caveat in whole.caveats)  # 7.2 of at most 7.6 nats


def test_sampled_rmig_and_jemmig(evidence):
    sampling, expected = MixtureSampling(4000), PEER["jemmig_sampled_10000"]
    gap = rmig(evidence, estimator=sampling)
    assert gap.raw == pytest.approx(expected["rmig"], abs=4 * gap.parts["standard_error"])
    joint = jemmig(evidence, estimator=sampling, normalise=False)
    distance = np.abs(np.array(list(joint.per_factor.values())) - expected["jemmig_per_factor"])
    assert (distance < 5 * joint.parts["standard_error_per_factor"]).all()
