import numpy as np
import pytest
from scipy.stats import ortho_group

from unweave import Evidence, EvidenceError, Posterior
from unweave.estimators import GaussianInformation
from unweave.metrics.decomposition import partial_information
from unweave.synthetic.attacks import Redundancy, Synergy, reflection

RNG = np.random.default_rng(0)
POSTERIOR = Posterior(RNG.normal(size=(50, 3)), RNG.uniform(0.1, 1.0, size=(50, 3)))


@pytest.mark.parametrize("n", [2, 3, 10])
def test_reflection_is_orthonormal(n):
    """Claim 117 of the papers."""
    np.testing.assert_allclose(reflection(n) @ reflection(n).T, np.eye(n), atol=1e-12)


@pytest.mark.parametrize("kind", [Redundancy, Synergy])
def test_moments_are_those_of_the_definition(kind):
    """Vectors drawn by Eq 9 and 10 have the mean and covariance of the attacked posterior."""
    mixing = ortho_group.rvs(3, random_state=1)
    attacked = kind(1.7, tuple(map(tuple, mixing))).attack(POSTERIOR)
    z = POSTERIOR.mean[0] + POSTERIOR.std[0] * RNG.normal(size=(400_000, 3))
    noise = RNG.normal(size=z.shape)
    if kind is Redundancy:
        drawn = np.hstack([z, 1.7 * z @ mixing.T + noise])
    else:
        drawn = np.hstack([1.7 * noise @ mixing.T + z, noise])
    np.testing.assert_allclose(attacked.mean[0], drawn.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(attacked.covariance[0], np.cov(drawn, rowvar=False), atol=0.05)


@pytest.mark.parametrize("kind", [Redundancy, Synergy])
def test_attacks_keep_what_all_codes_tell(kind):
    factors, before = POSTERIOR.mean, partial_information(Evidence(POSTERIOR.mean, POSTERIOR), GaussianInformation())
    after = partial_information(Evidence(factors, kind(3.0).attack(POSTERIOR)), GaussianInformation())
    np.testing.assert_allclose(before.whole, after.whole, atol=1e-9)


def test_an_attack_can_follow_another():
    twice = Synergy(1.0).attack(Redundancy(1.0).attack(POSTERIOR))
    assert twice.mean.shape == (50, 12)
    assert len(set(twice.names)) == 12


def test_without_strength_only_noise_is_added():
    attacked = Redundancy(0.0).attack(POSTERIOR)
    np.testing.assert_allclose(attacked.covariance[0], np.diag([*np.square(POSTERIOR.std[0]), 1, 1, 1]), atol=1e-12)


def test_bad_attacks_are_refused_with_a_sentence():
    for mixing in (((1.0, 1.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), np.eye(3) / 2, np.eye(2), np.eye(2, 3)):
        with pytest.raises(EvidenceError, match="orthonormal 3 x 3"):
            Redundancy(1.0, tuple(map(tuple, mixing))).attack(POSTERIOR)
    with pytest.raises(EvidenceError, match="categorical"):
        Synergy().attack(Posterior(categories={"shape": [[0.5, 0.5]] * 5}))
