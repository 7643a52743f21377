"""Training of image flows lowers the loss, continues after interruptions, and computes the terms by their formulas."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("zuko")

from unweave import Evidence, EvidenceError  # noqa: E402
from unweave.metrics import manifold_total_correlation, total_entropy  # noqa: E402
from unweave.neural.flows import FlowObjective, FlowTraining  # noqa: E402
from unweave_papers.image_flows import ImageFlowSettings, image_flow  # noqa: E402
from unweave_papers.image_training import (  # noqa: E402
    class_decoder,
    decoder_columns,
    encoder_jacobians,
    held_out_costs,
    image_loss_terms,
    train_on_images,
)

SMALL = ImageFlowSettings(side=8, n_convolutional=1, n_dense=1, hidden_channels=4, hidden_features=16)
SHORT = FlowTraining(n_steps=6, batch_size=32, learning_rate=1e-3, checkpoint_every=2)


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def pictures(n=200):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, 1, 8, 8)) * np.linspace(0.1, 2, 64).reshape(1, 1, 8, 8)).astype(np.float32)


def shaken(flow):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in flow.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=generator))
    return flow


def test_training_comes_near_the_entropy_of_independent_pixels():
    flow = image_flow(SMALL)
    records = train_on_images(flow, pictures(2000), settings=dataclasses.replace(SHORT, n_steps=60, learning_rate=5e-3))
    entropy = 32 * (1 + np.log(2 * np.pi)) + np.log(np.linspace(0.1, 2, 64)).sum()
    assert entropy - 2 < records[-1].negative_log_likelihood < entropy + 8
    assert records[0].negative_log_likelihood > records[-1].negative_log_likelihood


def test_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    whole, parted = image_flow(SMALL), image_flow(SMALL)
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
    again = image_flow(dataclasses.replace(SMALL))
    train_on_images(again, pictures(), settings=SHORT, checkpoint=tmp_path / "flow.pt")
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_after_a_loss_of_nan_the_run_is_kept_and_goes_on_with_a_lower_rate(tmp_path):
    flow, path = image_flow(SMALL), tmp_path / "flow.pt"
    plain, calls = flow.prior_cost, []

    def spoilt(*given):
        calls.append(1)
        return plain(*given) * (float("nan") if len(calls) == 5 else 1.0)

    flow.prior_cost = spoilt
    with pytest.raises(FloatingPointError, match=r"not finite at step 5: lower the learning rate; .* has step 4"):
        train_on_images(flow, pictures(), settings=SHORT, checkpoint=path)
    assert all(torch.isfinite(weight).all() for weight in flow.parameters())
    slower = dataclasses.replace(SHORT, learning_rate=5e-4)
    assert train_on_images(image_flow(SMALL), pictures(), settings=slower, checkpoint=path)[-1].step == 6
    with pytest.raises(EvidenceError, match="other settings"):
        train_on_images(image_flow(SMALL), pictures(), settings=SHORT, checkpoint=path)


def test_the_total_correlation_of_all_columns_is_that_of_the_metric():
    flow = shaken(image_flow(SMALL)).double()
    images = torch.as_tensor(pictures(3), dtype=torch.float64)
    rng = np.random.default_rng(0)
    objective = FlowObjective(total_correlation=1.0, n_columns=64)
    shared = image_loss_terms(flow, images, None, objective, rng)[1].item()
    latents = flow.encode(images).detach().numpy()
    jacobians = np.concatenate(list(class_decoder(flow).jacobian_blocks(latents)))
    assert shared == pytest.approx(manifold_total_correlation(jacobians).raw, abs=1e-6)


def test_columns_are_those_of_the_jacobian_and_can_be_trained():
    flow = shaken(image_flow(SMALL)).double()
    latents = torch.randn(2, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    columns = decoder_columns(flow, latents, None, torch.tensor([[3, 3], [7, 9]]))
    jacobians = next(class_decoder(flow).jacobian_blocks(latents.numpy()))
    np.testing.assert_allclose(columns[1, 1].detach(), jacobians[1][:, 9], atol=1e-10)
    columns.norm(dim=2).log().mean().backward()
    assert max(float(w.grad.abs().max()) for w in flow.parameters() if w.grad is not None) > 0


def test_the_reconstruction_is_from_the_core_alone():
    flow = shaken(image_flow(SMALL))
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
    flow = shaken(image_flow(dataclasses.replace(SMALL, n_conditions=2))).double().train()
    latents = np.random.default_rng(0).normal(size=(2, 64))
    decoder = class_decoder(flow, 1)
    outward = next(decoder.jacobian_blocks(latents))
    inward = next(encoder_jacobians(flow, 1).jacobian_blocks(decoder.decode(latents)))
    np.testing.assert_allclose(outward @ inward, np.broadcast_to(np.eye(64), (2, 64, 64)), atol=1e-8)
    assert flow.training  # as it was before


def test_total_entropy_of_gin_is_that_of_its_prior():
    settings = dataclasses.replace(SMALL, couplings="gin", n_components=2)
    flow = shaken(image_flow(settings)).double()
    prior = flow.prior.as_prior()
    expected = 32 * (1 + np.log(2 * np.pi)) + np.log(prior.deviations).sum(axis=1).mean()
    found = total_entropy(Evidence(decoder=class_decoder(flow)), prior=prior, n_samples=200)
    assert found.raw == pytest.approx(expected, abs=4 * found.parts["standard_error"][0] + 1e-9)


@pytest.mark.parametrize(
    ("images", "classes", "objective", "sentence"),
    [
        (np.zeros((5, 1, 16, 16), np.float32), None, FlowObjective(), "do not fit this flow"),
        (np.full((5, 1, 8, 8), np.nan, np.float32), None, FlowObjective(), "pixels are nan or infinite"),
        (
            np.where(np.arange(5)[:, None, None, None] == 2, np.nan, pictures(5)),
            None,
            FlowObjective(),
            "nan or infinite",
        ),
        (pictures(5)[:, 0], None, FlowObjective(), "do not fit this flow"),
        (pictures(5), np.zeros(4, int), FlowObjective(), "4 classes for 5 images"),
        (pictures(5), None, FlowObjective(reconstruction=1.0, core=(0, 64)), "latents that do not exist"),
        (pictures(5), None, FlowObjective(reconstruction=1.0, core=(64,)), "latents that do not exist"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(images, classes, objective, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        train_on_images(image_flow(SMALL), images, classes, objective, SHORT)


@pytest.mark.parametrize("classes_of", [{"couplings": "gin", "n_components": 3}, {"n_conditions": 3}])
@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (np.arange(50) % 2, "Class 2 has no samples"),
        (np.arange(50) % 4, "Class 3 is not a class of this flow, whose classes are 0 to 2"),
        (np.arange(50) % 3 - 1, "Class -1 is not a class of this flow"),
    ],
)
def test_classes_that_are_not_those_of_the_flow_are_named_before_training(classes_of, classes, sentence):
    flow = image_flow(dataclasses.replace(SMALL, **classes_of))
    with pytest.raises(EvidenceError, match=sentence):
        train_on_images(flow, pictures(50), classes, settings=SHORT)


def test_held_out_costs_are_the_negative_log_likelihoods():
    flow, images = shaken(image_flow(dataclasses.replace(SMALL, n_conditions=2))), torch.as_tensor(pictures(6))
    classes = np.arange(6) % 2
    costs, latents = held_out_costs(flow, images.numpy(), classes)
    with torch.no_grad():
        np.testing.assert_allclose(costs, flow.negative_log_likelihood(images, torch.tensor(classes)), rtol=1e-6)
        np.testing.assert_allclose(latents, flow.encode(images, torch.tensor(classes)), rtol=1e-6)


def test_a_core_that_is_not_used_may_be_any():
    objective = FlowObjective(core=(64,))
    assert train_on_images(image_flow(SMALL), pictures(50), None, objective, SHORT)[-1].step == 6


def test_flows_without_classes_do_not_read_them():
    assert train_on_images(image_flow(SMALL), pictures(50), np.full(50, 7), settings=SHORT)
