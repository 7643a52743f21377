"""Known answers and identities of the manifold metrics (000)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave.metrics.manifolds
from unweave import Evidence, InputError, Spectrum, UnweaveError, spectrum
from unweave.estimators import GaussianMixture, IndependentPrior
from unweave.estimators.geometry import (
    HALF_LOG_2PI_E,
    random_others,
    random_pair_information,
    random_total_correlation_interval,
)
from unweave.evidence import Jacobians
from unweave.metrics import (
    manifold_cross_mutual_information,
    manifold_entropy,
    manifold_mutual_information,
    manifold_total_correlation,
    total_entropy,
)
from unweave.metrics.manifolds import _usable_samples, standardised, traversals
from unweave.synthetic.known_decoders import LinearDecoder, Torus, TwoMoons

SEEDS = st.integers(0, 10_000)


def random_jacobians(seed, n=5, n_outputs=7, n_latents=5):
    return np.random.default_rng(seed).normal(size=(n, n_outputs, n_latents))


def random_partition(rng, size):
    cuts = np.sort(rng.choice(np.arange(1, size), rng.integers(1, size), replace=False))
    return [part.tolist() for part in np.split(rng.permutation(size), cuts)]


def test_pca_has_its_eigenvalues_as_entropies_and_shares_nothing():
    mixing = np.random.default_rng(0).normal(size=(6, 6))
    covariance = mixing @ mixing.T
    evidence = Evidence(decoder=LinearDecoder.principal_components(covariance))
    expected = HALF_LOG_2PI_E + 0.5 * np.log(np.linalg.eigvalsh(covariance)[::-1])
    assert list(manifold_entropy(evidence).per_code.values()) == pytest.approx(expected, abs=1e-6)
    assert total_entropy(evidence).raw == pytest.approx(expected.sum(), abs=1e-6)
    assert manifold_total_correlation(evidence).raw == pytest.approx(0.0, abs=1e-6)
    matrix = manifold_mutual_information(evidence).parts["matrix"]
    assert matrix[~np.eye(6, dtype=bool)] == pytest.approx(0.0, abs=1e-6)


def test_torus_has_the_true_spectrum_without_log_10():
    evidence = Evidence(decoder=Torus())
    score = manifold_entropy(evidence, n_samples=2000)
    deviations = Torus().deviations
    assert list(score.per_code.values()) == pytest.approx(HALF_LOG_2PI_E + np.log(deviations), abs=0.005)
    assert list(score.per_code.values()) == pytest.approx(Torus().true_entropies, abs=0.005)
    assert manifold_total_correlation(evidence, n_samples=2000).raw == pytest.approx(0.0, abs=1e-6)


def test_standard_errors_cover_the_truth():
    score = manifold_entropy(Torus(), n_samples=2000)
    distance = np.abs(np.array(list(score.per_code.values())) - Torus().true_entropies)
    assert (distance[:10] < 4 * score.parts["standard_errors"][:10]).all()
    assert (distance[10:] < 1e-12).all()


def test_two_moons_along_and_across():
    score = manifold_entropy(TwoMoons(), n_samples=20_000)
    assert list(score.per_code.values()) == pytest.approx(TwoMoons().true_entropies, abs=0.02)
    assert manifold_total_correlation(TwoMoons()).raw == pytest.approx(0.0, abs=1e-9)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_cosines_and_determinants_agree(seed):
    """B.30 equals B.28, which uses pairwise determinants."""
    jacobians = random_jacobians(seed)
    matrix = manifold_mutual_information(jacobians).parts["matrix"]
    for i, j in [(0, 1), (2, 4), (3, 1)]:
        pair = jacobians[:, :, [i, j]]
        joint = 0.5 * np.log(np.linalg.det(pair.transpose(0, 2, 1) @ pair))
        expected = (np.log(np.linalg.norm(pair, axis=1)).sum(axis=1) - joint).mean()
        assert matrix[i, j] == pytest.approx(expected, abs=1e-8)
        assert manifold_mutual_information(jacobians, sets=[i, j]).raw == pytest.approx(expected, abs=1e-8)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_entropic_decompositions(seed):
    """A.28 for random disjoint sets, A.31 for random partitions."""
    rng = np.random.default_rng(seed)
    evidence = Evidence(decoder=random_jacobians(seed))
    partition = random_partition(rng, 5)
    entropies = [manifold_entropy(evidence, dimensions=part).raw for part in partition]
    shared = manifold_total_correlation(evidence, partition=partition).raw
    assert sum(entropies) - shared == pytest.approx(total_entropy(evidence).raw, abs=1e-8)
    first, second = partition[:2]
    together = manifold_entropy(evidence, dimensions=first + second).raw
    information = manifold_mutual_information(evidence, sets=[first, second]).raw
    assert entropies[0] + entropies[1] - information == pytest.approx(together, abs=1e-8)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_what_is_shared_is_never_negative(seed):
    evidence = Evidence(decoder=random_jacobians(seed, n=2))
    partition = random_partition(np.random.default_rng(seed), 5)
    assert manifold_total_correlation(evidence).raw > 1e-6  # random columns are not orthogonal
    assert manifold_total_correlation(evidence, partition=partition).raw >= -1e-12
    assert np.nanmin(manifold_mutual_information(evidence).parts["matrix"]) >= 0


@given(SEEDS, st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=4))
@settings(max_examples=30, deadline=None)
def test_zero_for_orthogonal_columns_of_any_length(seed, lengths):
    columns = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 6, 4)))[0] * lengths
    assert manifold_total_correlation(columns).raw == pytest.approx(0.0, abs=1e-12)
    tilted = columns.copy()
    tilted[:, :, 0] += 1e-3 * lengths[0] / lengths[1] * columns[:, :, 1]
    assert manifold_total_correlation(tilted).raw == pytest.approx(0.5e-6, rel=1e-3)


def test_a_mixture_prior_is_rescaled_class_by_class():
    """E.1.3: the columns are multiplied by the deviations of the latent's class."""
    decoder = LinearDecoder(np.array([[1.0, 0.5], [0.0, 1.0], [0.0, 0.0]]))
    prior = GaussianMixture(((0.0, 0.0), (5.0, 1.0)), ((2.0, 1.0), (0.5, 3.0)), (0.25, 0.75))
    score = manifold_entropy(decoder, prior=prior, n_samples=20_000)
    shifts = 0.25 * np.log([2.0, 1.0]) + 0.75 * np.log([0.5, 3.0])
    assert list(score.per_code.values()) == pytest.approx(decoder.true_entropies + shifts, abs=0.03)
    shared = manifold_total_correlation(decoder, prior=prior).raw
    assert shared == pytest.approx(manifold_total_correlation(decoder).raw)  # scaling does not change directions


def test_the_mixture_can_be_fitted_to_latents():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 5000)
    latents = rng.normal(size=(5000, 2)) * np.array([[1.0, 2.0], [3.0, 0.5]])[classes]
    prior = GaussianMixture.fitted(latents, classes)
    assert np.ravel(prior.deviations) == pytest.approx([1.0, 2.0, 3.0, 0.5], rel=0.05)


def test_a_uniform_prior_has_the_entropy_of_its_width():
    decoder = LinearDecoder(np.eye(2))
    score = manifold_entropy(decoder, prior=IndependentPrior("uniform", (-2.0, 4.0)), n_samples=20_000)
    assert score.raw == pytest.approx(math.log(4.0), abs=0.02)


def test_arrays_are_rescaled_by_their_scales():
    assert manifold_entropy(Jacobians(np.eye(2), scales=[2.0, 2.0])).raw == pytest.approx(HALF_LOG_2PI_E + math.log(2))


def test_streaming_gives_what_one_block_gives(monkeypatch):
    jacobians = random_jacobians(0, n=40)
    whole = manifold_mutual_information(jacobians)
    partition = manifold_total_correlation(jacobians, partition=[[0, 1], [2, 3, 4]]).raw
    monkeypatch.setattr("unweave.evidence.decoders.BLOCK_BYTES", 8 * 7 * 5 * 3)
    monkeypatch.setattr("unweave.metrics.manifolds.KEPT_BYTES", 0)
    streamed = manifold_mutual_information(jacobians)
    for part in ("matrix", "standard_errors", "standard_error"):
        assert streamed.parts[part] == pytest.approx(whole.parts[part], nan_ok=True)
    again = manifold_total_correlation(jacobians, partition=[[0, 1], [2, 3, 4]]).raw
    assert again == pytest.approx(partition)


def test_cross_information_compares_at_the_same_data():
    truth = Torus()
    score = manifold_cross_mutual_information(Evidence(decoder=Torus(), reference=truth), n_samples=50)
    assert score.raw == math.inf
    assert score.parts["partner"].tolist() == list(range(20))
    same_latents = manifold_cross_mutual_information(truth, truth, match="latents", n_samples=50)
    assert np.isinf(np.diag(same_latents.parts["matrix"])).all()


def test_the_decoder_is_passed_alone_or_beside_factors_and_codes():
    factors = np.random.default_rng(0).normal(size=(9, 2))
    alone = manifold_entropy(random_jacobians(0)).per_code
    assert manifold_entropy(factors, factors, decoder=random_jacobians(0)).per_code == alone
    assert manifold_entropy(factors=factors, decoder=random_jacobians(0)).per_code == alone
    assert manifold_entropy(random_jacobians(0), decoder=None).per_code == alone


def test_the_reference_is_passed_in_second_place_or_by_name():
    mine, truth, options = LinearDecoder(np.eye(3)), LinearDecoder(2 * np.eye(3)[[1, 0, 2]]), {"match": "latents"}
    by_place = manifold_cross_mutual_information(mine, truth, **options).parts["matrix"]
    for score in (
        manifold_cross_mutual_information(mine, reference=truth, **options),
        manifold_cross_mutual_information(decoder=mine, reference=truth, **options),
    ):
        np.testing.assert_array_equal(score.parts["matrix"], by_place)
    with pytest.raises(InputError, match="manifold_cross_mutual_information has two references: pass one"):
        manifold_cross_mutual_information(mine, truth, reference=truth)


def test_latents_take_the_names_of_the_codes():
    evidence = Evidence(None, {"size": [1.0, 2.0], "angle": [0.0, 1.0]}, decoder=np.eye(2))
    assert list(manifold_entropy(evidence).per_code) == ["size", "angle"]


def said(score):
    return " ".join(map(str, score.caveats))


def test_a_dead_latent_is_minus_infinity_and_named():
    jacobians = random_jacobians(0)
    jacobians[:, :, 3] = 0
    entropy, shared = manifold_entropy(jacobians), manifold_total_correlation(jacobians)
    assert entropy.per_code["latent 3"] == -math.inf
    assert total_entropy(jacobians).raw == -math.inf
    assert math.isnan(shared.raw)
    for score in (entropy, shared, manifold_mutual_information(jacobians)):
        assert "latent 3 does not move the output in 5 of 5 samples" in said(score)


def test_a_saturated_sample_is_left_out_and_no_latent_is_blamed():
    jacobians = random_jacobians(0)
    jacobians[:2, :, 3] = 0
    for metric in (manifold_entropy, manifold_total_correlation, manifold_mutual_information, total_entropy):
        score = metric(jacobians)
        assert score.raw == pytest.approx(metric(jacobians[2:]).raw, rel=1e-12)
        assert "2 of 5 samples were left out" in said(score)


def test_a_sample_whose_columns_are_parallel_to_the_last_digit_costs_itself_alone():
    jacobians = random_jacobians(0)
    jacobians[0] = jacobians[0, :, :1]
    for metric in (manifold_total_correlation, manifold_mutual_information, total_entropy):
        assert metric(jacobians).raw == pytest.approx(metric(jacobians[1:]).raw, rel=1e-12)
        assert "1 of 5 samples were left out" in said(metric(jacobians))
    assert manifold_entropy(jacobians).raw != pytest.approx(manifold_entropy(jacobians[1:]).raw)  # lengths are defined


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_units_of_the_data_shift_entropies_and_nothing_else(scale):
    jacobians = random_jacobians(0)
    shift = manifold_entropy(scale * jacobians).raw - manifold_entropy(jacobians).raw
    assert shift == pytest.approx(math.log(scale), rel=1e-12)
    for metric in (manifold_total_correlation, manifold_mutual_information):
        assert metric(scale * jacobians).raw == pytest.approx(metric(jacobians).raw, rel=1e-9)
    assert manifold_cross_mutual_information(scale * jacobians, jacobians[:, :, ::-1]).raw == pytest.approx(
        manifold_cross_mutual_information(jacobians, jacobians[:, :, ::-1]).raw, rel=1e-9
    )


def test_equal_latents_are_named():
    jacobians = random_jacobians(0)
    jacobians[:, :, 2] = jacobians[:, :, 0]
    score = manifold_mutual_information(jacobians)
    assert score.raw == math.inf
    assert "latent 0 and latent 2 move the output in the same direction" in said(score)


def test_two_equal_latents_are_dependent_in_every_sample_and_none_is_called_saturated():
    """Rounding errors once made 19 of 50 samples count as saturated, and -inf had no caveat."""
    jacobians = np.random.default_rng(0).normal(size=(50, 5, 2))
    jacobians[:, :, 1] = jacobians[:, :, 0]
    for metric, expected in ((total_entropy, -math.inf), (manifold_total_correlation, math.inf)):
        score = metric(jacobians)
        assert score.raw == expected
        assert "linearly dependent in 50 samples" in said(score)
        assert "saturated" not in said(score)


def test_directions_that_nearly_coincide_are_still_told_apart():
    angle = 1e-5
    jacobian = np.array([[1.0, np.cos(angle)], [0.0, np.sin(angle)], [0.0, 0.0]])
    assert manifold_total_correlation(jacobian[None]).raw == pytest.approx(-math.log(math.sin(angle)), rel=1e-5)


def test_one_latent_is_no_pair():
    score = manifold_mutual_information(np.ones((3, 4, 1)))
    assert math.isnan(score.raw)
    assert "one latent" in said(score)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: total_entropy(np.where(np.eye(3) > 0, np.nan, 1.0)), "respect to latent 0 is nan or infinite at"),
        (lambda: total_entropy(np.ones((3, 2, 4))), "2 outputs, fewer than the 4 chosen dimensions"),
        (lambda: manifold_entropy(np.ones((3, 2, 4)), dimensions=[0, 1, 2]), "choose at most 2"),
        (lambda: manifold_entropy(np.eye(3), dimensions=[0, 3]), "not a set of latents"),
        (lambda: manifold_total_correlation(np.eye(3), partition=[[0, 1], [1, 2]]), "a latent in two sets"),
        (lambda: manifold_mutual_information(np.eye(3), sets=[[0, 1], [1]]), "not two disjoint sets"),
        (lambda: total_entropy(np.ones(4)), "samples x outputs x latents"),
        (lambda: total_entropy(Torus(), prior=GaussianMixture(((0.0,) * 3,), ((1.0,) * 3,))), "3 latents and"),
        (lambda: total_entropy(Torus(), n_samples=0), "n_samples=0 of total_entropy is not"),
        (lambda: total_entropy("decoder"), "cannot be differentiated here"),
        (lambda: total_entropy(Jacobians(np.eye(3), scales=[1.0, 2.0])), "one scale per latent"),
        (lambda: manifold_cross_mutual_information(TwoMoons(), TwoMoons()), "match='latents'"),
        (lambda: manifold_cross_mutual_information(np.ones((3, 4, 2)), np.ones((3, 5, 2))), "same data"),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(UnweaveError, match=sentence) as error:
        call()
    assert str(error.value).count(". ") == 0
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(("n_outputs", "partition"), [(4, None), (9, None), (9, [0, 2])])
def test_a_random_decoder_gets_what_the_score_says_it_would(n_outputs, partition):
    """``random_decoder`` is the mean over decoders of the same size with independent normal entries."""
    drawn = random_jacobians(3, n=4000, n_outputs=n_outputs, n_latents=3)
    score = manifold_total_correlation(drawn, partition=partition)
    assert score.raw == pytest.approx(score.parts["random_decoder"][0], abs=4 * score.parts["standard_error"][0])
    assert score.parts["standard_error"][0] < 0.02
    single = np.array([manifold_total_correlation(each, partition=partition).raw for each in drawn[:1000]])
    low, high = score.parts["random_decoder_interval"]
    assert ((single >= low) & (single <= high)).mean() == pytest.approx(0.95, abs=0.03)


def test_the_interval_of_random_directions_is_the_closed_form_in_three_dimensions():
    """The cosine of two random directions in three dimensions is uniform."""
    ends = -np.log(1 - np.square([0.025, 0.975])) / 2
    assert random_total_correlation_interval(3, 2) == pytest.approx(ends, abs=0.06)
    assert random_pair_information(3) == pytest.approx(-np.log(1 - 0.95**2) / 2)
    assert random_pair_information(2) == pytest.approx(-np.log(np.sin(0.05 * np.pi / 2)))  # the angle is uniform
    assert random_pair_information(1) == np.inf


def test_random_pairs_are_a_yardstick_of_the_mutual_information():
    drawn = random_jacobians(5, n=4000, n_outputs=6, n_latents=2)
    score = manifold_mutual_information(drawn)
    mean, exceeded = score.parts["random_pair"]
    assert score.raw == pytest.approx(mean, abs=4 * score.parts["standard_error"][0])
    above = [manifold_mutual_information(each).raw > exceeded for each in drawn[:1000]]
    assert np.mean(above) == pytest.approx(0.05, abs=0.025)


def test_the_total_correlation_has_that_of_rotated_latents_beside_it():
    drawn = random_jacobians(7, n=20, n_outputs=6, n_latents=4)
    score = manifold_total_correlation(drawn)
    assert score.parts["rotated_latents"][0] == spectrum(drawn).rotated_total_correlation
    low, high = score.parts["rotated_latents_interval"]
    assert 0 <= low < score.parts["rotated_latents"][0] < high
    assert "rotated_latents" not in manifold_total_correlation(drawn, partition=[[0, 1], 2]).parts


class InBlocks:
    """A decoder that yields its Jacobians in blocks of a given size."""

    def __init__(self, decoder, rows):
        self.decoder, self.rows, self.latent_size = decoder, rows, decoder.latent_size

    def jacobian_blocks(self, latents):
        for start in range(0, len(latents), self.rows):
            yield from self.decoder.jacobian_blocks(latents[start : start + self.rows])


@pytest.mark.parametrize(("ours", "theirs"), [(7, 20), (20, 7), (50, 3)])
def test_blocks_of_two_decoders_need_not_have_one_size(ours, theirs):
    decoder, reference = TwoMoons(), LinearDecoder(np.array([[1.0, 0.5], [0.0, 2.0]]))
    whole = manifold_cross_mutual_information(decoder, reference, match="latents", n_samples=50)
    cut = manifold_cross_mutual_information(
        InBlocks(decoder, ours), InBlocks(reference, theirs), match="latents", n_samples=50
    )
    assert cut.raw == pytest.approx(whole.raw, rel=1e-12)


def test_the_information_of_a_latent_is_its_mean_over_the_others():
    """Columns at a cosine of .6 share -log .8 nats, and orthogonal ones nothing."""
    shared = -math.log(0.8)
    two = manifold_mutual_information([[1.0, 0.6], [0.0, 0.8]])
    assert list(two.per_code.values()) == pytest.approx([shared, shared])
    four = manifold_mutual_information(np.pad([[1.0, 0.6], [0.0, 0.8]], (0, 2)) + np.diag([0, 0, 1, 1]))
    assert list(four.per_code.values()) == pytest.approx([shared / 3, shared / 3, 0, 0])
    assert four.raw == pytest.approx(shared / 6)


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4])
def test_fewer_outputs_than_latents_are_a_caveat_of_the_shared_information(n_outputs):
    """With one output all directions coincide, and the information is infinite whatever the decoders are."""
    ours, theirs = np.random.default_rng(0).normal(size=(2, 20, n_outputs, 3))
    score = manifold_cross_mutual_information(ours, theirs)
    assert np.isinf(score.raw) == (n_outputs == 1)
    assert any(caveat.kind == "fewer_outputs_than_latents" for caveat in score.caveats) == (n_outputs < 3)


def test_the_torus_is_sorted_as_it_was_made():
    found = spectrum(Torus(), n_samples=500)
    assert found.order == list(range(20))
    assert found.largest_drop[0] == 10  # the angles have larger entropies than the radii
    assert found.total_correlation == pytest.approx(0.0, abs=1e-9)
    assert 1 < found.effective_dimension < 10


@pytest.mark.parametrize("kept", [2**28, 0])
def test_cumulative_entropy_is_the_joint_entropy_of_the_leading_sets(monkeypatch, kept):
    monkeypatch.setattr(unweave.metrics.manifolds, "KEPT_BYTES", kept)
    jacobians = np.random.default_rng(0).normal(size=(20, 6, 4))
    found = spectrum(jacobians)
    for k in range(1, 5):
        expected = manifold_entropy(jacobians, dimensions=found.order[:k]).raw
        assert found.cumulative[k - 1] == pytest.approx(expected)
    assert found.cumulative[-1] == pytest.approx(total_entropy(jacobians).raw)


def test_dependent_columns_still_have_a_spectrum():
    jacobians = np.random.default_rng(0).normal(size=(5, 4, 3))
    jacobians[:, :, 2] = jacobians[:, :, 0]
    assert np.isneginf(spectrum(jacobians).cumulative[-1])


@pytest.mark.parametrize("seed", [5, 62, 65])
def test_nearly_dependent_columns_have_the_joint_entropy_of_total_entropy(seed):
    """Whether rounding errors make the columns dependent varies with their order."""
    rng = np.random.default_rng(seed)
    jacobians = rng.normal(size=(3, 12, int(rng.integers(3, 9))))
    jacobians[:, :, -1] = jacobians[:, :, 0] * rng.uniform(0.2, 3)
    jacobians[:, :, -1] += 10 ** rng.uniform(-6.9, -6.0) * rng.normal(size=(3, 12))
    jacobians[:, :, -1] += jacobians[:, :, 1]
    found = spectrum(jacobians)
    assert found.cumulative[-1] == total_entropy(jacobians).raw
    assert np.isfinite(found.cumulative[:-1]).all()


def test_fewer_outputs_than_latents_end_the_sum_early():
    assert len(spectrum(np.random.default_rng(0).normal(size=(5, 2, 4))).cumulative) == 2


def test_mean_tangents_of_a_linear_decoder_are_its_columns():
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    assert spectrum(LinearDecoder(matrix)).tangents == pytest.approx(matrix)


def test_traversals_need_a_decoder():
    with pytest.raises(InputError, match="pass the decoder itself"):
        traversals(np.eye(3), [0])


def test_limits_of_a_known_spectrum():
    """Sorted entropies of 3, 2.5 and 1 nats fall most after the second."""
    entropies, cumulative = np.array([3.0, 1.0, 2.5]), np.array([3.0, 5.0, 4.5])
    found = Spectrum(("a", "b", "c"), entropies, np.zeros(3), cumulative, 0.0, np.eye(3))
    assert (found.order, found.sorted_entropies.tolist()) == ([0, 2, 1], [3.0, 2.5, 1.0])
    assert found.largest_drop == found.knee == (2, 1.5)
    assert [found.n_for(nats) for nats in (3.0, 3.1, 5.0)] == [1, 2, 2]
    assert [found.n_above(nats) for nats in (3.0, 2.5, 2.4, 0.0)] == [0, 1, 2, 3]
    with pytest.raises(InputError, match=r"keeps 5\.1 nats: the first 2 latents keep the most, 5 nats"):
        found.n_for(5.1)
    shares = np.exp(2 * entropies) / np.exp(2 * entropies).sum()
    assert found.effective_dimension == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))


def test_one_latent_has_no_knee():
    assert spectrum(np.eye(3)[:, :1]).knee is None
    n_latents, fall = spectrum(np.eye(3)[:, :1]).largest_drop
    assert n_latents == 1
    assert np.isnan(fall)


def test_a_loss_at_most_samples_is_a_property_of_the_decoder():
    """The last column tells where all directions together are dependent, and the others where a latent is still."""
    half = np.array([[False, True], [False, False]])
    used, resolved = _usable_samples(half)
    assert (used.tolist(), resolved.tolist()) == ([True, True], [False, True])
    used, resolved = _usable_samples(np.vstack([half, [False, True]]))
    assert (used.tolist(), resolved.tolist()) == ([True] * 3, [True, False, True])
    still = np.array([[True, False, True], [False, False, False], [False, False, False]])
    assert _usable_samples(still)[0].tolist() == [False, True, True]
    dead = np.array([[True, False, True], [True, True, True]])
    assert _usable_samples(dead)[0].tolist() == [True, False]
    nowhere = np.array([[True, False, True], [False, True, True]])
    assert _usable_samples(nowhere)[0].tolist() == [True, True]


def test_rotated_latents_are_a_yardstick_of_the_total_correlation():
    """Two orthogonal columns of lengths a and b: 2 log((a + b) / 2) - log(a b) on average over all rotations."""
    stretched = spectrum(np.diag([1.0, 4.0]))
    assert stretched.total_correlation == 0
    assert stretched.rotated_total_correlation == pytest.approx(2 * np.log(2.5) - np.log(4), abs=0.1)
    assert spectrum(np.diag([1e200, 4e200])).rotated_total_correlation == pytest.approx(
        stretched.rotated_total_correlation
    )
    assert spectrum(3 * np.eye(3)).rotated_total_correlation == pytest.approx(0, abs=1e-12)
    angle = 0.7
    turned = np.diag([1.0, 4.0]) @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    assert spectrum(turned).rotated_total_correlation == pytest.approx(2 * np.log(2.5) - np.log(4), abs=0.15)


def test_outputs_of_unit_variance():
    matrix = np.array([[100.0, 20.0], [0.0, 3.0], [0.0, 0.05]])
    scaled = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    expected = list(manifold_entropy(scaled).per_code.values())
    assert list(manifold_entropy(standardised(matrix)).per_code.values()) == pytest.approx(expected)
    drawn = standardised(LinearDecoder(matrix, shift=1e6))  # measured by draws; the mean does not matter
    assert drawn.deviations == pytest.approx(np.linalg.norm(matrix, axis=1), rel=0.03)
    assert list(manifold_entropy(drawn).per_code.values()) == pytest.approx(expected, abs=0.03)
    assert drawn.encode(drawn.decode(np.eye(2))) == pytest.approx(np.eye(2), abs=1e-6)
    assert drawn.decode(np.eye(2)) == pytest.approx((matrix.T + 1e6) / drawn.deviations)


def test_deviations_follow_the_prior_and_constant_outputs_stay():
    decoder = LinearDecoder(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    mixture = GaussianMixture(((0.0, 0.0), (3.0, 0.0)), ((1.0, 2.0), (1.0, 2.0)))
    found = standardised(decoder, prior=mixture).deviations
    assert found == pytest.approx([np.sqrt(1 + 1.5**2), 2.0, 1.0], rel=0.03)
    assert next(standardised(decoder, prior=mixture).jacobian_blocks(np.zeros((1, 2))))[0, 2].tolist() == [0.0, 0.0]


def test_deviations_that_cannot_be_known_are_asked_for():
    varying = np.random.default_rng(0).normal(size=(5, 3, 2))
    with pytest.raises(InputError, match=r"pass deviations=data.std"):
        standardised(varying)
    given = standardised(varying, [1.0, 2.0, 4.0])
    assert next(given.jacobian_blocks(None)) == pytest.approx(varying / [[1.0], [2.0], [4.0]])
    with pytest.raises(InputError, match="one number from 0 for each output"):
        standardised(varying, [[1.0]])
    with pytest.raises(InputError, match="2 deviations for 3 outputs"):
        manifold_entropy(standardised(varying, [1.0, 2.0]))


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_what_a_latent_shares_with_all_others_is_that_of_the_two_sets(seed):
    jacobians = random_jacobians(seed)
    together = manifold_mutual_information(jacobians).parts["all_others"]
    for i in range(5):
        rest = [k for k in range(5) if k != i]
        assert together[i] == pytest.approx(manifold_mutual_information(jacobians, sets=[i, rest]).raw)


def test_all_others_of_a_linear_decoder_follow_from_least_squares():
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    rest = matrix[:, 1:]
    residual = matrix[:, 0] - rest @ np.linalg.lstsq(rest, matrix[:, 0], rcond=None)[0]
    expected = -np.log(np.linalg.norm(residual) / np.linalg.norm(matrix[:, 0]))  # -1/2 log(1 - R^2)
    assert manifold_mutual_information(matrix).parts["all_others"][0] == pytest.approx(expected)
    assert np.isnan(manifold_mutual_information(np.ones((3, 2))).parts["all_others"]).all()
    assert np.isnan(manifold_mutual_information(np.eye(2, 3)).parts["all_others"]).all()  # more latents than outputs


def test_random_directions_share_with_all_others_what_they_span():
    draws = np.random.default_rng(0).normal(size=(2000, 6, 4))
    draws = np.array([manifold_mutual_information(each).parts["all_others"][0] for each in draws])
    mean, exceeded = random_others(6, 3)
    assert draws.mean() == pytest.approx(mean, rel=0.05)
    assert (draws > exceeded).mean() == pytest.approx(0.05, abs=0.015)
    assert random_others(3, 3).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize(("drop", "is_knee"), [(0.9, False), (1.01, True)])
def test_a_knee_is_a_drop_of_one_nat(drop, is_knee):
    found = spectrum(np.diag(np.exp([drop, 0.0])))
    assert found.largest_drop == (1, pytest.approx(drop))
    assert found.knee == (found.largest_drop if is_knee else None)
