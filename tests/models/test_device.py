"""Models, flows and Jacobians on another device.

The meta device has no numbers, but refuses every operation that mixes devices. `Elsewhere` pretends that there is a
device "cuda": tensors that are moved there stay on the CPU, and moves are counted.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import nn
from torch.overrides import TorchFunctionMode

from unweave import OptionError
from unweave.cli import main
from unweave.models import MLP, OBJECTIVES, BetaVAE, Convolutional, TrainingSettings, train
from unweave.models.fleet import FleetPlan
from unweave.models.networks import Randomness
from unweave.models.training import ModelSpec, Stack, State, training_images
from unweave.models.training_file import declared_training, read_runs
from unweave.neural import decoders
from unweave.neural.decoders import TorchDecoder
from unweave.neural.flows import CouplingFlow, FlowObjective, FlowSettings, loss_terms

SHORT = TrainingSettings(n_steps=3, batch_size=8, learning_rate=1e-3)
SMALL = MLP(hidden=(16,))


class Elsewhere(TorchFunctionMode):
    """Takes "cuda" for the CPU, and counts how many tensors are moved there."""

    n_moved = 0

    def __torch_function__(self, function, types, arguments=(), options=None):
        options = dict(options or {})
        if function is torch.Tensor.to and "cuda" in arguments[1:]:
            self.n_moved += 1
            return arguments[0].clone()
        if options.get("device") == "cuda":
            options["device"] = "cpu"
        return function(*arguments, **options)


def weights_of(model):
    return {name: weight.detach().numpy() for name, weight in model.network.weights.items()}


@pytest.mark.parametrize("kind", OBJECTIVES.values(), ids=lambda kind: kind.name)
def test_a_step_of_every_objective_stays_on_its_device(blocks, kind):
    objective = kind(critic_hidden=(8,)) if "critic_hidden" in kind.__dataclass_fields__ else kind()
    images = training_images(blocks)
    architecture = FleetPlan(images, 3, SMALL, SHORT).architecture(objective)
    specs = [ModelSpec(objective, seed) for seed in (1, 2)]
    stack = Stack(specs, [State(), State()], images, architecture, SHORT, device="meta")
    for _ in range(2):
        step = stack.step()
        losses = [stack._objective.loss(step)]
        if objective.critic is not None:
            losses.append(stack._objective.critic_loss(step))
        assert all(loss.device.type == "meta" and loss.shape == (2,) for loss in losses)
        assert stack._step().device.type == "meta"  # with gradients and a step of the optimiser
    assert {tensor.device.type for state in stack.states() for tensor in state.tensors.values()} == {"meta"}


def test_convolutions_stay_on_their_device():
    images = training_images(np.zeros((4, 8, 8)))
    architecture = FleetPlan(images, 2, Convolutional((4,), 8), SHORT).architecture(BetaVAE())
    stack = Stack([ModelSpec(BetaVAE(), 0)], [State()], images, architecture, SHORT, device="meta")
    assert stack._step().device.type == "meta"


def test_random_numbers_do_not_depend_on_the_device():
    with Elsewhere() as elsewhere:
        there = Randomness([3, 4], "cuda").at(70)
        drawn = [there.normal("noise", (2, 3)), there.orders("some", 2, 5), there.whole_numbers("rows", (4,), 9)]
    assert elsewhere.n_moved == 3
    here = Randomness([3, 4]).at(70)
    expected = [here.normal("noise", (2, 3)), here.orders("some", 2, 5), here.whole_numbers("rows", (4,), 9)]
    for one, other in zip(drawn, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_a_model_is_trained_and_used_on_the_device_that_is_named(blocks, tmp_path):
    """All weights, moments, batches and noise are moved, and the results are those of the CPU."""
    options = {"n_codes": 3, "trunk": SMALL, "settings": SHORT}
    [expected] = train(blocks, BetaVAE(), **options)
    with Elsewhere() as elsewhere:
        [model] = train(blocks, BetaVAE(), device="cuda", folder=tmp_path, **options)
        n_weights = len(model.network.weights)
        assert elsewhere.n_moved >= n_weights + 2 * SHORT.n_steps
        [read] = read_runs(tmp_path)
        before = elsewhere.n_moved
        moved = read.to("cuda")
        assert elsewhere.n_moved == before + n_weights
    for name, weight in weights_of(expected).items():
        np.testing.assert_array_equal(weights_of(model)[name], weight)
        np.testing.assert_array_equal(weights_of(moved)[name], weight)
    images = blocks[0][:20]
    np.testing.assert_array_equal(moved.encode(images).mean, expected.encode(images).mean)
    [again] = train(blocks, BetaVAE(), folder=tmp_path, **options)  # the device is no part of the description of a run
    assert again.history == model.history


def test_a_model_computes_where_its_weights_are(blocks):
    """Images and codes go to the device of the weights; meta has no numbers that could come back."""
    [model] = train(blocks, BetaVAE(), n_codes=3, trunk=SMALL, settings=SHORT)
    there = model.to("meta")
    assert there.network.device.type == "meta"
    assert model.network.device.type == "cpu"
    for use in (lambda: there.encode(blocks[0]), lambda: there.decode(np.zeros((2, 3)))):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            use()


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(blocks, device):
    with pytest.raises(OptionError, match=rf"device='{device}' cannot be used here .*: choose another"):
        train(blocks, device=device)
    [model] = train(blocks, n_codes=2, trunk=SMALL, settings=replace(SHORT, n_steps=1))
    with pytest.raises(OptionError, match="cannot be used here"):
        model.to(device)


def test_a_file_declares_the_device():
    declared = {"dataset": "small_sprites", "objectives": ["vae"]}
    assert declared_training(declared).device == "cpu"
    assert declared_training(declared | {"device": "cuda"}).device == "cuda"


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_are_computed_where_the_weights_are(mode):
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5))
    latents = np.random.default_rng(0).normal(size=(6, 3))
    expected = np.concatenate(list(TorchDecoder(module, 3, module=module, mode=mode).jacobian_blocks(latents)))
    matrices = [layer.weight.detach().numpy().astype(float) for layer in (module[0], module[2])]
    inner = latents @ matrices[0].T + module[0].bias.detach().numpy()
    by_hand = np.einsum("oh,nh,hi->noi", matrices[1], 1 - np.tanh(inner) ** 2, matrices[0])
    np.testing.assert_allclose(expected, by_hand, atol=1e-5)
    there = module.to("meta")
    block = torch.zeros(6, 3, device="meta")
    by_mode = {
        "forward": lambda: decoders._by_columns(there, block, [0, 1, 2]),
        "reverse": lambda: decoders._by_rows(there, block),
    }
    assert by_mode[mode]().device.type == "meta"
    with Elsewhere() as elsewhere:
        [found] = TorchDecoder(torch.sin, 3, device="cuda", mode=mode).jacobian_blocks(latents)
    assert elsewhere.n_moved == 2  # the question whether double precision is accepted, and the latents
    np.testing.assert_allclose(found, np.cos(latents)[:, :, None] * np.eye(3), atol=1e-12)


def test_a_flow_is_trained_where_its_weights_are():
    flow = CouplingFlow(4, FlowSettings(n_blocks=1, hidden=8)).to("meta")
    objective = FlowObjective(total_correlation=1.0, reconstruction=1.0)
    rows = torch.zeros(5, 4, device="meta")
    terms = loss_terms(flow, rows, objective, np.random.default_rng(0))
    assert [term.device.type for term in terms] == ["meta"] * 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("train vae small_sprites --device nowhere --out new", "device='nowhere' cannot be used here"),
        ("encode json:dumps small_sprites --device cuda --out new.npz", "because it is not of torch: omit --device."),
        (
            "encode torch.nn:Flatten small_sprites --device nowhere --out new.npz",
            "device='nowhere' cannot be used here",
        ),
    ],
)
def test_commands_refuse_a_device_in_one_sentence(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, arguments.split())
    assert ended.exit_code == 2, ended.output
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
