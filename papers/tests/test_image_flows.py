"""Flows of images and their training."""

import dataclasses
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("zuko")

from unweave import Evidence, InputError, UnweaveError  # noqa: E402
from unweave.estimators.geometry import GaussianMixture  # noqa: E402
from unweave.metrics import manifold_total_correlation, total_entropy  # noqa: E402
from unweave.neural.decoders import TorchDecoder  # noqa: E402
from unweave.neural.flows import FlowObjective, FlowTraining  # noqa: E402
from unweave_papers.image_flows import (  # noqa: E402
    ActNorm,
    ChannelCoupling,
    ClassMixture,
    Downsampling,
    FixedPermutation,
    FlattenedImage,
    ImageFlowSettings,
    LayerChain,
    LearnedRotation,
    WaveletPyramid,
    image_flow,
)
from unweave_papers.image_training import (  # noqa: E402
    class_decoder,
    decoder_columns,
    held_out_costs,
    image_loss_terms,
    train_on_images,
)

SMALL = ImageFlowSettings(side=8, n_convolutional=2, n_dense=2, hidden_channels=8, hidden_features=16)
KINDS = {
    "glow": SMALL,
    "spline": dataclasses.replace(SMALL, couplings="spline", bins=4),
    "gin": dataclasses.replace(SMALL, couplings="gin", n_components=3),
    "conditional": dataclasses.replace(SMALL, n_conditions=3),
    "wavelet": dataclasses.replace(SMALL, kind="wavelet", downsampling="haar"),
    "wavelet, convolutions only": dataclasses.replace(SMALL, kind="wavelet", n_dense=0, n_conditions=3),
}


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def some_images(n=12, side=8):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, 1, side, side, generator=generator) * torch.rand(1, 1, side, side, generator=generator)


def shaken(module, size=0.3):
    """Set random weights, so that the flow is far from its initial state near the identity."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(size * torch.randn(weight.shape, generator=generator) / max(weight[0].numel(), 1) ** 0.5)
    return module


def log_determinants(function, rows):
    jacobians = [torch.autograd.functional.jacobian(lambda x: function(x[None])[0].flatten(), row) for row in rows]
    return torch.stack([torch.linalg.slogdet(jacobian.reshape(rows[0].numel(), -1))[1] for jacobian in jacobians])


def as_prior(mixture):
    """The prior of a flow for the metrics of geometry."""
    means, deviations = mixture.means.detach().numpy(), mixture.log_deviations.detach().exp().numpy()
    tables = (table.astype(np.float64).tolist() for table in (means, deviations))
    return GaussianMixture(*(tuple(map(tuple, table)) for table in tables))


def fitted(settings):
    flow, images, classes = image_flow(settings), some_images(), torch.arange(12) % 3
    flow.fit(images, classes)
    return shaken(flow), images, classes


@pytest.mark.parametrize("name", KINDS)
def test_flows_invert_in_single_precision(name):
    flow, images, classes = fitted(KINDS[name])
    with torch.no_grad():
        latents = flow.encode(images, classes)
        assert latents.shape == (12, 64)
        assert (latents - images.flatten(1)).abs().max() > 0.1  # not the identity
        assert (flow.decode(latents, classes) - images).abs().max() < 1e-4


@pytest.mark.parametrize("name", KINDS)
def test_the_likelihood_agrees_with_the_determinant_of_a_full_jacobian(name):
    flow, images, classes = fitted(KINDS[name])
    flow, images = flow.double(), images[:2].double()
    with torch.no_grad():
        found = flow.negative_log_likelihood(images, classes[:2])
        latents = flow.encode(images, classes[:2])
    volumes = torch.cat(
        [log_determinants(lambda x, k=k: flow.encode(x, classes[k : k + 1]), images[k : k + 1]) for k in range(2)]
    )
    if flow.prior is None:
        deviations, means = torch.ones(2, 64), torch.zeros(2, 64)
    else:
        deviations, means = flow.prior.log_deviations[classes[:2]].exp(), flow.prior.means[classes[:2]]
    expected = -torch.distributions.Normal(means, deviations).log_prob(latents).sum(dim=1) - volumes
    torch.testing.assert_close(found, expected.detach(), atol=1e-8, rtol=0)


def test_gin_keeps_volumes():
    flow, images, classes = fitted(KINDS["gin"])
    volumes = log_determinants(lambda x: flow.double().encode(x, classes[:1]), images[:3].double())
    assert volumes.abs().max() < 1e-5
    assert flow.float().encode_with_volume(images, classes)[1].abs().max() < 1e-5


def test_an_affine_coupling_does_not_keep_volumes():
    layer = shaken(ChannelCoupling((4, 2, 2), 8, "affine"))
    rows = some_images(3, 4).reshape(3, 4, 2, 2)
    assert layer.encode(rows, None)[1].abs().min() > 1e-3


def test_a_linear_flow_reaches_the_entropy_of_a_gaussian():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(4, 4))
    rows = torch.as_tensor(rng.normal(size=(4000, 4)) @ matrix.T, dtype=torch.float32)
    # two rotations with scales between them can represent any linear map
    flow = LayerChain([LearnedRotation(4, 0), ActNorm(4), LearnedRotation(4, 1), ActNorm(4)])
    optimiser = torch.optim.Adam(flow.parameters(), lr=0.03)
    for _ in range(400):
        latents, log_volume = flow.encode(rows, None)
        cost = (0.5 * latents.square().sum(dim=1) - log_volume).mean() + 2 * math.log(2 * math.pi)
        optimiser.zero_grad()
        cost.backward()
        optimiser.step()
    covariance = np.cov(rows.numpy().astype(float).T, bias=True)
    entropy = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance)[1]
    assert cost.item() == pytest.approx(entropy, abs=0.01)


def test_a_spline_coupling_follows_the_formula_of_durkan():
    layer = shaken(ChannelCoupling((2,), 8, "spline", bins=4)).double()
    rows = torch.linspace(-5, 5, 41, dtype=torch.float64)[:, None].expand(-1, 2)
    with torch.no_grad():
        landed = layer.encode(rows, None)[0][:, 1].numpy()
        parameters = layer.subnet(rows[:, :1], None).numpy()
    expected = [
        rational_quadratic(x, p[:4], p[4:8], p[8:]) for x, p in zip(rows[:, 1].numpy(), parameters, strict=True)
    ]
    np.testing.assert_allclose(landed, expected, atol=1e-8)


def rational_quadratic(x, widths, heights, slopes, bound=4.0, smallest=1e-3):
    """Durkan et al. (2019), equation 4; widths, heights and slopes are limited softly as in zuko."""

    def knots(raw):
        limited = raw / (1 + np.abs(2 * raw / np.log(smallest)))
        shares = np.exp(limited) / np.exp(limited).sum()
        return bound * (2 * np.concatenate([[0.0], shares.cumsum()]) - 1)

    if abs(x) >= bound:
        return x
    xs, ys = knots(widths), knots(heights)
    derivatives = np.concatenate([[1.0], np.exp(slopes / (1 + np.abs(slopes / np.log(smallest)))), [1.0]])
    k = int(np.searchsorted(xs, x)) - 1
    s = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
    t = (x - xs[k]) / (xs[k + 1] - xs[k])
    above = (ys[k + 1] - ys[k]) * (s * t**2 + derivatives[k] * t * (1 - t))
    return ys[k] + above / (s + (derivatives[k + 1] + derivatives[k] - 2 * s) * t * (1 - t))


@pytest.mark.parametrize("kind", ["haar", "checkerboard"])
def test_downsampling_is_orthogonal_and_the_coarse_haar_image_is_the_mean(kind):
    images = some_images().double()
    layer = Downsampling(kind).double()
    small = layer.encode(images, None)[0]
    torch.testing.assert_close(small.square().sum(), images.square().sum())
    torch.testing.assert_close(layer.decode(small, None), images)
    means = torch.nn.functional.avg_pool2d(images, 2)
    assert torch.allclose(small[:, :1], 2 * means) is (kind == "haar")


def test_an_affine_coupling_follows_its_formula_and_keeps_the_larger_half():
    layer = shaken(ChannelCoupling((5,), 8, "affine"), size=2.0)
    assert (layer.n_kept, ChannelCoupling((4, 2, 2), 8).n_kept) == (3, 2)
    rows = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    raw, shift = layer.subnet(rows[:, :3], None).chunk(2, dim=1)
    expected = rows[:, 3:] * (2 * torch.tanh(raw / 2)).exp() + shift
    torch.testing.assert_close(layer.encode(rows, None)[0], torch.cat([rows[:, :3], expected], dim=1))


def test_images_may_lack_the_axis_of_channels_and_be_alone():
    flow, images, _ = fitted(SMALL)
    torch.testing.assert_close(flow.encode(images[:, 0]), flow.encode(images))
    torch.testing.assert_close(flow.encode(images[:1]), flow.encode(images)[:1], atol=1e-5, rtol=1e-4)


def test_downsampling_of_several_channels_keeps_coarse_channels_first():
    images = torch.randn(2, 3, 4, 4)
    small = Downsampling("haar").encode(images, None)[0]
    torch.testing.assert_close(small[:, :3], 2 * torch.nn.functional.avg_pool2d(images, 2))
    torch.testing.assert_close(Downsampling("haar").decode(small, None), images)


def test_actnorm_makes_the_first_data_standard():
    layer, images = ActNorm(1), 3 + 5 * some_images(200)
    state = layer.fit(images, None)
    assert float(state.mean()) == pytest.approx(0, abs=1e-4)
    assert float(state.std()) == pytest.approx(1, abs=1e-4)


def test_every_subnet_is_given_the_class():
    flow, _, _ = fitted(KINDS["conditional"])
    layers = [layer for layer in flow.modules() if isinstance(layer, ChannelCoupling)]
    assert len(layers) == 6
    for layer in layers:
        shape = (layer.n_kept, 2, 2) if hasattr(layer.subnet.first, "kernel_size") else (layer.n_kept,)
        one, other = (layer.subnet(torch.zeros(1, *shape), torch.eye(3)[k : k + 1]) for k in (0, 1))
        assert (one - other).abs().max() > 1e-4


def test_details_of_a_wavelet_flow_follow_the_coarse_image_and_not_the_other_way():
    flow, images, _ = fitted(KINDS["wavelet"])
    latents = flow.encode(images)
    assert flow.layer.sizes == [4, 12, 48]
    finer = latents.clone()
    finer[:, 16:] += 1.0
    coarse = [torch.nn.functional.avg_pool2d(flow.decode(z), 2) for z in (latents, finer)]
    torch.testing.assert_close(*coarse, atol=1e-4, rtol=0)
    moved = latents.clone()
    moved[:, 0] += 1.0
    assert (flow.encode(flow.decode(moved))[:, 16:] - latents[:, 16:]).abs().max() < 1e-3


def test_the_mixture_is_the_density_of_its_classes():
    prior, latents = ClassMixture(2, 3), torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    classes = torch.arange(40) % 2
    prior.fit(latents, classes)
    group = latents[classes == 1]
    expected = -torch.distributions.Normal(group.mean(dim=0), group.std(dim=0, correction=0)).log_prob(group).sum(dim=1)
    torch.testing.assert_close(prior.cost(latents, classes)[classes == 1].detach(), expected)
    drawn = as_prior(prior).sample(4000, 3, 0)
    assert drawn.values.std(axis=0) == pytest.approx(latents.std(dim=0).numpy(), rel=0.1)


def test_the_same_seed_gives_the_same_weights():
    one, same, other = (image_flow(dataclasses.replace(SMALL, seed=seed)) for seed in (0, 0, 1))
    weights = [torch.cat([weight.ravel() for weight in flow.parameters()]) for flow in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_flow_that_is_not_invertible_at_an_image_says_where():
    flow, images, _ = fitted(SMALL)
    flow.refuse_if_not_invertible(images)
    images[3] = 1e9
    with pytest.raises(InputError, match="not invertible at image 3"):
        flow.refuse_if_not_invertible(images)


def test_layers_of_features_and_images_mix_the_second_axis():
    for layer, state in ((FixedPermutation(4, 0), torch.randn(2, 4)), (LearnedRotation(4, 0), torch.randn(2, 4, 3, 3))):
        torch.testing.assert_close(layer.decode(layer.encode(state, None)[0], None), state)
    pyramid = WaveletPyramid("haar", [], FlattenedImage((1, 4, 4)), (1, 4, 4))
    assert pyramid.sizes == [16]


SMALL_IMAGE_TRAINING = ImageFlowSettings(side=8, n_convolutional=1, n_dense=1, hidden_channels=4, hidden_features=16)
SHORT = FlowTraining(n_steps=6, batch_size=32, learning_rate=1e-3, checkpoint_every=2)


def pictures(n=200):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, 1, 8, 8)) * np.linspace(0.1, 2, 64).reshape(1, 1, 8, 8)).astype(np.float32)


def shaken_image_training(flow):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in flow.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=generator))
    return flow


def test_training_comes_near_the_entropy_of_independent_pixels():
    flow = image_flow(SMALL_IMAGE_TRAINING)
    records = train_on_images(flow, pictures(2000), settings=dataclasses.replace(SHORT, n_steps=60, learning_rate=5e-3))
    entropy = 32 * (1 + np.log(2 * np.pi)) + np.log(np.linspace(0.1, 2, 64)).sum()
    assert entropy - 2 < records[-1].negative_log_likelihood < entropy + 8
    assert records[0].negative_log_likelihood > records[-1].negative_log_likelihood


def test_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    whole, parted = image_flow(SMALL_IMAGE_TRAINING), image_flow(SMALL_IMAGE_TRAINING)
    train_on_images(whole, pictures(), settings=SHORT)

    class Stopped(Exception):
        pass

    calls = []
    plain = parted.encode_with_volume

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 5:
            raise Stopped
        return plain(*given)

    parted.encode_with_volume = interrupted
    with pytest.raises(Stopped):
        train_on_images(parted, pictures(), settings=SHORT, checkpoint=tmp_path / "flow.pt")
    again = image_flow(dataclasses.replace(SMALL_IMAGE_TRAINING))
    train_on_images(again, pictures(), settings=SHORT, checkpoint=tmp_path / "flow.pt")
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_after_a_loss_of_nan_the_run_is_kept_and_goes_on_with_a_lower_rate(tmp_path):
    flow, path = image_flow(SMALL_IMAGE_TRAINING), tmp_path / "flow.pt"
    plain, calls = flow.prior_cost, []

    def spoilt(*given):
        calls.append(1)
        return plain(*given) * (float("nan") if len(calls) == 5 else 1.0)

    flow.prior_cost = spoilt
    with pytest.raises(FloatingPointError, match=r"not finite at step 5: lower the learning rate; .* has step 4"):
        train_on_images(flow, pictures(), settings=SHORT, checkpoint=path)
    assert all(torch.isfinite(weight).all() for weight in flow.parameters())
    slower = dataclasses.replace(SHORT, learning_rate=5e-4)
    assert train_on_images(image_flow(SMALL_IMAGE_TRAINING), pictures(), settings=slower, checkpoint=path)[-1].step == 6
    with pytest.raises(UnweaveError, match="other settings"):
        train_on_images(image_flow(SMALL_IMAGE_TRAINING), pictures(), settings=SHORT, checkpoint=path)


def test_the_total_correlation_of_all_columns_is_that_of_the_metric():
    flow = shaken_image_training(image_flow(SMALL_IMAGE_TRAINING)).double()
    images = torch.as_tensor(pictures(3), dtype=torch.float64)
    rng = np.random.default_rng(0)
    objective = FlowObjective(total_correlation=1.0, n_columns=64)
    shared = image_loss_terms(flow, images, None, objective, rng)[1].item()
    latents = flow.encode(images).detach().numpy()
    jacobians = np.concatenate(list(class_decoder(flow).jacobian_blocks(latents)))
    assert shared == pytest.approx(manifold_total_correlation(jacobians).raw, abs=1e-6)


def test_columns_are_those_of_the_jacobian_and_can_be_trained():
    flow = shaken_image_training(image_flow(SMALL_IMAGE_TRAINING)).double()
    latents = torch.randn(2, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    columns = decoder_columns(flow, latents, None, torch.tensor([[3, 3], [7, 9]]))
    jacobians = next(class_decoder(flow).jacobian_blocks(latents.numpy()))
    np.testing.assert_allclose(columns[1, 1].detach(), jacobians[1][:, 9], atol=1e-10)
    columns.norm(dim=2).log().mean().backward()
    assert max(float(w.grad.abs().max()) for w in flow.parameters() if w.grad is not None) > 0


def test_the_reconstruction_is_from_the_core_alone():
    flow = shaken_image_training(image_flow(SMALL_IMAGE_TRAINING))
    images = torch.as_tensor(pictures(4))
    every = FlowObjective(reconstruction=1.0, core=tuple(range(64)))
    assert image_loss_terms(flow, images, None, every, np.random.default_rng(0))[2].item() < 1e-6
    core = FlowObjective(reconstruction=1.0, core=(0, 5))
    latents = flow.encode(images)
    kept = torch.zeros_like(latents)
    kept[:, [0, 5]] = latents[:, [0, 5]]
    expected = 0.5 * (images - flow.decode(kept)).square().sum() / 4
    found = image_loss_terms(flow, images, None, core, np.random.default_rng(0))[2]
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_jacobians_of_both_directions_are_inverse_and_in_evaluation_mode():
    flow = shaken_image_training(image_flow(dataclasses.replace(SMALL_IMAGE_TRAINING, n_conditions=2))).double().train()
    latents = np.random.default_rng(0).normal(size=(2, 64))
    decoder = class_decoder(flow, 1)
    outward = next(decoder.jacobian_blocks(latents))
    encoder = TorchDecoder(lambda images: flow.encode(images, torch.tensor([1])), 64, module=flow, mode="reverse")
    inward = next(encoder.jacobian_blocks(decoder.decode(latents)))
    np.testing.assert_allclose(outward @ inward, np.broadcast_to(np.eye(64), (2, 64, 64)), atol=1e-8)
    assert flow.training  # as it was before


def test_total_entropy_of_gin_is_that_of_its_prior():
    settings = dataclasses.replace(SMALL_IMAGE_TRAINING, couplings="gin", n_components=2)
    flow = shaken_image_training(image_flow(settings)).double()
    prior = as_prior(flow.prior)
    expected = 32 * (1 + np.log(2 * np.pi)) + np.log(prior.deviations).sum(axis=1).mean()
    found = total_entropy(Evidence(decoder=class_decoder(flow)), prior=prior, n_samples=200)
    assert found.raw == pytest.approx(expected, abs=4 * found.parts["standard_error"][0] + 1e-9)


def test_held_out_costs_are_the_negative_log_likelihoods():
    flow, images = (
        shaken_image_training(image_flow(dataclasses.replace(SMALL_IMAGE_TRAINING, n_conditions=2))),
        torch.as_tensor(pictures(6)),
    )
    classes = np.arange(6) % 2
    costs, latents = held_out_costs(flow, images.numpy(), classes)
    with torch.no_grad():
        np.testing.assert_allclose(costs, flow.negative_log_likelihood(images, torch.tensor(classes)), rtol=1e-6)
        np.testing.assert_allclose(latents, flow.encode(images, torch.tensor(classes)), rtol=1e-6)


def test_a_core_that_is_not_used_may_be_any():
    objective = FlowObjective(core=(64,))
    assert train_on_images(image_flow(SMALL_IMAGE_TRAINING), pictures(50), None, objective, SHORT)[-1].step == 6


def test_flows_without_classes_do_not_read_them():
    assert train_on_images(image_flow(SMALL_IMAGE_TRAINING), pictures(50), np.full(50, 7), settings=SHORT)
