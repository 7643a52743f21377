"""Encoders, the functions that they apply, and attacks."""

import math

import numpy as np
import pytest
from scipy.stats import ortho_group

from unweave import Evidence, InputError, Posterior, UnweaveError
from unweave.estimators import GaussianInformation
from unweave.metrics.decomposition import partial_information
from unweave.synthetic.attacks import Redundancy, Synergy, reflection
from unweave.synthetic.encoders import (
    MONOTONE,
    ONE_FACTOR,
    RELEASED,
    TWO_FACTORS,
    Copied,
    Distributed,
    Dropped,
    Elementwise,
    Kept,
    Mixed,
    Noise,
    Noisy,
    PartlyMixed,
    PermutedAndScaled,
    Reshaped,
    WithCopies,
    WithMixedExtras,
    WithNoiseCodes,
    in_turn,
    mixing_share,
)
from unweave.synthetic.released import (
    ReleasedDistributed,
    ReleasedElementwise,
    ReleasedElementwiseCopies,
    ReleasedKept,
    ReleasedMixed,
    ReleasedNoise,
)
from unweave.synthetic.worlds import Correlated, Independent

D = 5
ENCODERS = [
    PermutedAndScaled(),
    Elementwise(),
    Elementwise(alpha=0.3),
    Mixed(),
    Mixed(kappa=1.0),
    Mixed(ratio=3.0),
    Kept((0, 3)),
    Dropped((1,)),
    Copied(1.5),
    WithMixedExtras(3.0),
    Distributed(2),
    Distributed(5),
    Noise(7),
    Noise(7, "gaussian"),
    PartlyMixed(0.25),
    Noisy(PartlyMixed(0.25), share=0.2),
    Reshaped(PermutedAndScaled()),
    WithCopies(PartlyMixed(0.25), times=3),
    WithNoiseCodes(PartlyMixed(0.25), added=4),
    ReleasedElementwise(0.5),
    ReleasedMixed(5.0),
    ReleasedKept(2),
    ReleasedNoise(7),
    ReleasedElementwiseCopies(2.0),
    ReleasedDistributed(4),
]
FREE = Independent(D, marginal="truncated").sample(4000, rng=0)


@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_sizes_seeds_and_words(encoder):
    codes = encoder.encode(FREE, rng=1)
    assert codes.shape == (4000, encoder.n_codes(D))
    assert encoder.purity(D, rng=1).shape == (encoder.n_codes(D), D)
    assert np.array_equal(codes, encoder.encode(FREE, rng=1))
    assert not np.array_equal(codes, encoder.encode(FREE, rng=2))
    assert encoder.applies
    assert encoder.loses
    assert encoder.equivalence in ("permutation and scale", "elementwise", "affine", "none")
    share = mixing_share(encoder, D, rng=1)
    assert 0 <= share <= 1


@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_the_map_does_not_depend_on_the_factors(encoder):
    if isinstance(encoder, (Noise, ReleasedNoise, Noisy, WithNoiseCodes, Reshaped)):
        pytest.skip("draws for every row, or looks at the rows' scale")
    few = encoder.encode(FREE[:10], rng=1)
    assert np.allclose(few, encoder.encode(FREE, rng=1)[:10])
    correlated = Correlated(D, rho=0.9).sample(10, rng=5)
    both = encoder.encode(np.vstack([FREE[:10], correlated]), rng=1)
    assert np.allclose(both[10:], encoder.encode(correlated, rng=1))


def declared_pure():
    pure = (PermutedAndScaled, Elementwise, Kept, Dropped, Copied, Distributed, Reshaped)
    return [encoder for encoder in ENCODERS if isinstance(encoder, pure)]


@pytest.mark.parametrize("encoder", declared_pure(), ids=repr)
def test_pure_codes_follow_one_factor_only(encoder):
    purity = encoder.purity(D, rng=1)
    assert set(np.unique(purity)) <= {0.0, 1.0}
    assert mixing_share(encoder, D, rng=1) == 0.0
    sources = purity.argmax(axis=1)
    other = FREE[np.random.default_rng(0).permutation(4000)]
    for i, source in enumerate(sources):
        moved = other.copy()
        moved[:, source] = FREE[:, source]
        before, after = encoder.encode(FREE, rng=1)[:, i], encoder.encode(moved, rng=1)[:, i]
        assert np.allclose(before, after)  # only the other factors were changed


@pytest.mark.parametrize("encoder", [Elementwise(), Elementwise(0.3), Reshaped(PermutedAndScaled())], ids=repr)
def test_elementwise_codes_are_strictly_monotone(encoder):
    sources = encoder.purity(D, rng=1).argmax(axis=1)
    codes = encoder.encode(FREE, rng=1)
    for i, source in enumerate(sources):
        steps = np.diff(codes[FREE[:, source].argsort(), i])
        assert (steps > 0).all() or (steps < 0).all()


def test_permuted_and_scaled_inverts():
    codes = PermutedAndScaled().encode(FREE, rng=1)
    back = np.linalg.lstsq(codes, FREE, rcond=None)[0]
    assert np.allclose(codes @ back, FREE)
    assert (np.abs(back) > 1e-9).sum() == D  # one code for each factor


@pytest.mark.parametrize("ratio", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("kappa", [1.0, 10.0, 50.0])
def test_mixings_have_full_rank_and_their_condition_number(ratio, kappa):
    encoder = Mixed(kappa=kappa, ratio=ratio)
    matrix = encoder.matrix(D, rng=3)
    singular = np.linalg.svd(matrix, compute_uv=False)
    assert singular == pytest.approx(np.linspace(1, 1 / kappa, D))
    assert np.allclose(encoder.encode(FREE, rng=3), FREE @ matrix.T)
    assert np.allclose(encoder.encode(FREE, rng=3) @ np.linalg.pinv(matrix).T, FREE)
    if kappa == 1.0:
        assert np.allclose(matrix.T @ matrix, np.eye(D))
        # a rotation mixes factors; 003 states wrongly that kappa = 1 is E1
        assert mixing_share(encoder, D, rng=3) > 0.2


def test_purity_of_linear_maps_is_measured_variance():
    for encoder in (Mixed(), PartlyMixed(0.3), Noisy(PartlyMixed(0.3), share=0.2)):
        factors = Independent(D).sample(100_000, rng=2)
        codes = encoder.encode(factors, rng=4)
        squared_correlations = np.corrcoef(codes, factors, rowvar=False)[:D, D:] ** 2
        assert squared_correlations == pytest.approx(encoder.purity(D, rng=4), abs=0.01)


def test_mixing_share_rises_from_the_permutation_to_the_rotation():
    shares = [mixing_share(PartlyMixed(t), D, rng=2) for t in np.linspace(0, 0.5, 6)]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    rotation = PartlyMixed(1.0).matrix(D, rng=2)
    assert np.allclose(rotation @ rotation.T, np.eye(D))


def test_dropped_factors_are_gone_and_the_others_stay():
    codes = Dropped((1, 3)).encode(FREE, rng=0)
    reads = np.linalg.lstsq(codes, FREE, rcond=None)[0]
    residual = (FREE - codes @ reads).var(axis=0) / FREE.var(axis=0)
    assert np.allclose(residual[[0, 2, 4]], 0)
    assert (residual[[1, 3]] > 0.99).all()


def test_extras_of_e6_are_truly_mixed():
    codes = WithMixedExtras(3.0).encode(FREE, rng=0)
    assert np.array_equal(codes[:, :D], Elementwise().encode(FREE, rng=0))
    rng = np.random.default_rng(1)
    for i in range(D, codes.shape[1]):
        movers = []
        for j in range(D):
            moved = FREE.copy()
            moved[:, j] = rng.permutation(moved[:, j])
            movers.append(not np.allclose(WithMixedExtras(3.0).encode(moved, rng=0)[:, i], codes[:, i]))
        assert sum(movers) == 2


@pytest.mark.parametrize("encoder", [Distributed(2), Distributed(5), ReleasedDistributed(4)], ids=repr)
def test_distributed_codes_give_the_factor_back_together_only(encoder):
    codes, k = encoder.encode(FREE, rng=1), encoder.k
    sources = encoder.purity(D, rng=1).argmax(axis=1)[::k]
    for place, source in enumerate(sources):
        own = codes[:, place * k : (place + 1) * k]
        back = np.arctan2(own[:, 0], own[:, 1]) if k == 2 else own.sum(axis=1)
        assert np.allclose(back, FREE[:, source])
        # no single code determines the factor
        assert all(len(np.unique(np.round(column, 9))) < 4000 or k == 2 for column in own.T)


def test_copies_and_noise_codes_leave_the_codes_within():
    inner = PartlyMixed(0.25)
    codes = inner.encode(FREE, rng=6)
    for encoder in (WithCopies(inner, times=3), WithNoiseCodes(inner, added=4)):
        assert np.array_equal(encoder.encode(FREE, rng=6)[:, :D], codes)
        assert mixing_share(encoder, D, rng=6) == pytest.approx(mixing_share(inner, D, rng=6))
    noise = WithNoiseCodes(inner, added=4).encode(FREE, rng=6)[:, D:]
    assert np.abs(np.corrcoef(noise, FREE, rowvar=False)[:4, 4:]).max() < 0.06


def test_released_variants_differ_from_the_text_as_documented():
    factors = Independent(7).sample(2000, rng=0)
    bent = ReleasedElementwise().encode(factors, rng=0)
    sources = ReleasedElementwise().purity(7, rng=0).argmax(axis=1)
    monotone = [bool((np.diff(bent[factors[:, source].argsort(), j]) >= 0).all()) for j, source in enumerate(sources)]
    assert monotone == [True] * 6 + [False]
    assert np.abs(bent[:, 1]).max() > 1e10
    dropped_first = ReleasedKept(6).encode(factors, rng=0)
    assert np.abs(np.corrcoef(dropped_first, factors[:, 0], rowvar=False)[-1, :-1]).max() < 0.1


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Elementwise(alpha=2.0), "alpha=2.0 .* from 0 to 1"),
        (lambda: Mixed(kappa=0.5), "kappa=0.5 .* numbers from 1"),
        (lambda: Copied(0.5), "fewer codes than factors"),
        (lambda: Distributed(1), "2 or more codes"),
        (lambda: PartlyMixed(1.5), "t=1.5 .* from 0 to 1"),
        (lambda: Noisy(Mixed(), share=1.0), "share=1.0 .* from 0 to less than 1"),
        (lambda: Mixed(ratio=0.5), "ratio=0.5 give no mixing: use numbers from 1"),
        (lambda: Noisy(Mixed(), share=-0.1), "share=-0.1 .* from 0 to less than 1"),
        (lambda: Dropped((7,)).encode(FREE), "different numbers from 0"),
        (lambda: Dropped((0, 7)).encode(FREE), r"\(0, 7\) are not different factors of 5: use .* from 0 to 4"),
        (
            lambda: Kept((0, -1)).encode(FREE),
            r"kept=\(0, -1\) of Kept is not allowed: use a tuple, each entry a whole number from 0",
        ),
        (lambda: Kept((5,)).encode(FREE), r"\(5,\) are not different factors of 5"),
        (lambda: Kept((1, 1)).encode(FREE), r"\(1, 1\) are not different factors of 5"),
        (lambda: WithMixedExtras().encode(FREE[:, :1]), "two factors"),
    ],
)
def test_bad_encoders_say_so(build, sentence):
    with pytest.raises(UnweaveError, match=sentence):
        build()


def test_the_smallest_sizes_are_allowed():
    assert WithMixedExtras().encode(FREE[:9, :2]).shape == (9, 4)
    assert sorted(Copied(1.0).sources(D, np.random.default_rng(0))) == list(range(D))
    assert WithMixedExtras(1.0).n_codes(D) == D
    assert np.array_equal(Noisy(Mixed(), share=0.0).encode(FREE[:9]), Mixed().encode(FREE[:9]))


@pytest.mark.parametrize("kind", [Noisy, Reshaped, WithCopies, WithNoiseCodes])
def test_a_generator_gives_one_seed_below_two_to_the_31(kind):
    encoder, seed = kind(Mixed()), int(np.random.default_rng(5).integers(2**31))
    assert np.array_equal(encoder.encode(FREE[:9], np.random.default_rng(5)), encoder.encode(FREE[:9], seed))
    assert np.array_equal(encoder.purity(D, np.random.default_rng(5)), encoder.purity(D, seed))


def test_random_codes_are_unrelated_to_the_factors_of_any_seed():
    """At default seeds, Gaussian noise was the factors themselves."""
    largest = 0.0
    codes = [Noise(3, "gaussian").encode(np.zeros((1000, 3)), seed) for seed in range(20)]
    for seed in range(20):
        factors = Independent(3).sample(1000, seed)
        users = np.random.default_rng(seed).normal(size=(1000, 3))
        between = [np.corrcoef(np.hstack([factors, users, each]), rowvar=False)[:6, 6:] for each in codes]
        largest = max(largest, np.abs(between).max())
    assert largest < 0.17  # the largest of 7,200 correlations has mean .12, and exceeds .17 with probability .0005


def test_noise_around_noise_is_other_noise():
    factors = Independent(2).sample(1000)
    nested = WithNoiseCodes(WithNoiseCodes(Noisy(PermutedAndScaled(), 0.5), added=2), added=2)
    between = np.corrcoef(nested.encode(factors, 0), rowvar=False)
    assert np.abs(between[np.triu_indices(6, k=1)]).max() < 0.15


POINTS = (-1.3, -0.4, 0.2, 1.7)


def signed(size, x):
    return math.copysign(size, x)


@pytest.mark.parametrize("x", POINTS)
def test_functions_of_one_factor(x):
    expected = {"cube": x * x * x, "tanh": math.tanh(2 * x * x * x - 0.1), "sign": signed(1, x), "square": x * x}
    expected |= {"absolute": abs(x), "rectified": max(x, 0.0), "sine": math.sin(x + x + x)}
    assert {name: function(np.array(x)) for name, function in ONE_FACTOR.items()} == pytest.approx(expected)


@pytest.mark.parametrize("y", POINTS)
@pytest.mark.parametrize("x", POINTS)
def test_functions_of_two_factors(x, y):
    expected = {"product": x * y, "sum": x + y, "sum_of_squares": x * x + y * y}
    expected |= {"tanh_product": math.tanh(x) * math.tanh(y), "signed_root": signed(math.sqrt(abs(x * y)), x * y)}
    assert {name: function(np.array(x), np.array(y)) for name, function in TWO_FACTORS.items()} == pytest.approx(
        expected
    )


@pytest.mark.parametrize("x", POINTS)
def test_increasing_functions(x):
    expected = {"cube": x * x * x, "signed_root": signed(math.sqrt(abs(x)), x), "exp": math.exp(x)}
    expected |= {"asinh": math.asinh(x)}
    assert {name: function(np.array(x)) for name, function in MONOTONE.items()} == pytest.approx(expected)


@pytest.mark.parametrize("x", POINTS)
def test_functions_of_the_released_code(x):
    cube = x * x * x
    expected = [math.tanh(2 * cube - 0.1), math.sinh(2 * cube + 0.1), signed(math.sqrt(abs(x)), x), cube]
    expected += [cube * x * x, math.exp(x), signed(math.log(1 + abs(3 * x + 1)), x)]
    assert in_turn(RELEASED, np.full((1, 9), x))[0].tolist() == pytest.approx(expected + expected[:2])


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
        with pytest.raises(InputError, match="orthonormal 3 x 3"):
            Redundancy(1.0, tuple(map(tuple, mixing))).attack(POSTERIOR)
    with pytest.raises(InputError, match="categorical"):
        Synergy().attack(Posterior(categories={"shape": [[0.5, 0.5]] * 5}))
