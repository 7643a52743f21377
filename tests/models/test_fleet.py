"""The result of a model does not depend on other models, on interruptions, or on a model that diverges."""

import hashlib
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from unweave import FileError, InputError, OptionError, UnweaveError
from unweave.datasets import small_sprites
from unweave.models import (
    MLP,
    OBJECTIVES,
    AdaGVAE,
    AnnealedVAE,
    BetaVAE,
    Convolutional,
    FactorVAE,
    TrainingSettings,
    train,
)
from unweave.models import fleet as fleet_module
from unweave.models import training as images_module
from unweave.models.networks import Randomness, Sizes, initial_weights
from unweave.models.training import Adam, ModelSpec, State, training_images

SHORT = TrainingSettings(
    n_steps=70, batch_size=16, learning_rate=3e-3, reconstruction_weight=16.0, checkpoint_every=100
)  # random numbers are drawn for 64 steps at once
SMALL = MLP(hidden=(32,))
ROUNDING = {"rtol": 0, "atol": 2e-5}  # of float32


def weights_of(model):
    return {name: weight.detach().numpy() for name, weight in model.network.weights.items()}


def assert_same_weights(one, other, **tolerance):
    for name, weight in weights_of(one).items():
        np.testing.assert_allclose(weight, weights_of(other)[name], err_msg=name, **(tolerance or ROUNDING))


@pytest.mark.parametrize("objective", [BetaVAE(beta=4), FactorVAE(gamma=10, critic_hidden=(16,)), AdaGVAE()], ids=repr)
def test_a_model_is_the_same_alone_and_among_fifteen_others(blocks, objective):
    weight = objective.hyperparameters()[0].name
    crowd = [replace(objective, **{weight: value}) for value in (1.0, 2.0, 3.0)]
    together = train(blocks, [*crowd, objective], n_seeds=4, n_codes=4, trunk=SMALL, settings=SHORT)
    assert len(together) == 16
    [alone] = train(blocks, objective, seed=3, n_codes=4, trunk=SMALL, settings=SHORT)
    among = next(model for model in together if model.name == alone.name)
    assert_same_weights(alone, among)
    assert np.abs(weights_of(alone)["encoder.0.weight"] - weights_of(together[0])["encoder.0.weight"]).max() > 1e-3


def test_a_fleet_trains_as_a_plain_loop_of_torch(blocks):
    """A single model in plain torch (nn.Linear, autograd, Adam) with the same weights, batches and noise."""
    n_codes, beta, seed = 3, 2.0, 5
    [model] = train(blocks[0], BetaVAE(beta=beta), seed=seed, n_codes=n_codes, trunk=SMALL, settings=SHORT)
    drawn = initial_weights(SMALL.layers(Sizes((1, 12, 12), 2 * n_codes, n_codes)), [seed])
    layers = {}
    for name in ("encoder.0", "encoder.1", "decoder.0", "decoder.1"):
        weight, bias = drawn[f"{name}.weight"][0], drawn[f"{name}.bias"][0, 0]
        layers[name] = nn.Linear(*weight.shape)
        layers[name].weight.data, layers[name].bias.data = weight.T.contiguous(), bias
    encoder = nn.Sequential(layers["encoder.0"], nn.ReLU(), layers["encoder.1"])
    decoder = nn.Sequential(layers["decoder.0"], nn.ReLU(), layers["decoder.1"])
    adam = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=SHORT.learning_rate)
    random, pixels = Randomness([seed]), torch.from_numpy(blocks[0].reshape(len(blocks[0]), -1))
    for number in range(SHORT.n_steps):
        images = pixels[random.at(number).whole_numbers("rows", (16,), len(pixels))[0]]
        mean, log_variance = encoder(images).chunk(2, dim=1)
        codes = mean + log_variance.mul(0.5).exp() * random.normal("noise", (16, n_codes))[0]
        cost = nn.functional.binary_cross_entropy_with_logits(decoder(codes), images, reduction="sum") / 16
        kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / 16
        adam.zero_grad()
        (16.0 * cost + beta * kl).backward()
        adam.step()
    for name, layer in layers.items():
        np.testing.assert_allclose(weights_of(model)[f"{name}.weight"][0].T, layer.weight.detach().numpy(), **ROUNDING)


def test_convolutions_are_those_of_torch():
    trunk, sizes = Convolutional((4, 6, 5), hidden=10), Sizes((1, 32, 32), n_head=6, n_codes=3)
    weights = {name: weight + 0.1 for name, weight in initial_weights(trunk.layers(sizes), [0, 1]).items()}
    images = torch.rand(2, 5, 1024, generator=torch.Generator().manual_seed(0))
    maps = images[1].view(5, 1, 32, 32)
    for k, (wide, deep) in enumerate(((1, 4), (4, 6), (6, 5))):
        layer = nn.Conv2d(wide, deep, 4, stride=2, padding=1)
        layer.weight.data = weights[f"encoder.convolution.{k}.weight"][1]
        layer.bias.data = weights[f"encoder.convolution.{k}.bias"][1]
        maps = layer(maps).relu()
    hidden = (maps.flatten(1) @ weights["encoder.dense.0.weight"][1] + weights["encoder.dense.0.bias"][1]).relu()
    head = hidden @ weights["encoder.dense.1.weight"][1] + weights["encoder.dense.1.bias"][1]
    torch.testing.assert_close(trunk.encode(weights, images, sizes)[1], head)
    codes = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(1))
    inner = (codes[1] @ weights["decoder.dense.0.weight"][1] + weights["decoder.dense.0.bias"][1]).relu()
    inner = (inner @ weights["decoder.dense.1.weight"][1] + weights["decoder.dense.1.bias"][1]).relu()
    maps = inner.view(5, 5, 4, 4)
    for k, (deep, wide) in ((2, (5, 6)), (1, (6, 4)), (0, (4, 1))):
        layer = nn.ConvTranspose2d(deep, wide, 4, stride=2, padding=1)
        layer.weight.data = weights[f"decoder.convolution.{k}.weight"][1]
        layer.bias.data = weights[f"decoder.convolution.{k}.bias"][1]
        maps = layer(maps).relu() if k else layer(maps)
    torch.testing.assert_close(trunk.decode(weights, codes, sizes)[1], maps.flatten(1))


def test_signals_keep_their_size_through_convolutions_that_are_not_trained_yet():
    """With weights within 1 / sqrt(inputs), codes vary by .001 beside noise of 1, and the decoder ignores them."""
    trunk, sizes = Convolutional(), Sizes((1, 64, 64), n_head=20, n_codes=10)
    images = torch.from_numpy(small_sprites(64).images(range(0, 4608, 97))).flatten(1)
    weights = initial_weights(trunk.layers(sizes), [0])
    codes = trunk.encode(weights, images[None], sizes)[0]
    assert 0.1 < float(codes.std(0).mean()) < 1
    assert 0.3 < float(trunk.decode(weights, torch.randn(1, 48, 10), sizes).std()) < 3


def test_convolutions_refuse_images_that_do_not_halve(blocks):
    with pytest.raises(InputError, match="halve an image of 64 x 64"):
        train(blocks[0], trunk=Convolutional())


def test_partners_share_some_factors_and_not_all(blocks):
    images = training_images(blocks)
    random = Randomness([0, 1])
    numbers = random.at(7).whole_numbers("rows", (400,), images.n_rows)
    sizes = images.n_values
    before = np.stack(np.unravel_index(numbers.numpy(), sizes), axis=-1)
    after = np.stack(np.unravel_index(images.partners(numbers, random).numpy(), sizes), axis=-1)
    n_same = (before == after).sum(axis=-1)
    assert n_same.min() >= 1  # at most three of four are drawn anew
    chance = np.array([1 / size for size in sizes])
    # 1, 2 or 3 factors are drawn again, equally often, and may have the same value by chance
    np.testing.assert_allclose((before == after).mean(axis=(0, 1)), 0.5 + 0.5 * chance, atol=0.06)


def test_rows_of_factors_in_any_order_make_a_grid(blocks):
    order = np.random.default_rng(0).permutation(len(blocks[0]))
    shuffled = training_images((blocks[0][order], blocks[1][order]))
    in_order = training_images(blocks)
    everything = torch.arange(in_order.n_rows)
    assert torch.equal(shuffled.rows(everything), in_order.rows(everything))


def test_one_that_diverges_leaves_the_others_alone(blocks, tmp_path):
    settings = TrainingSettings(n_steps=60, batch_size=16, learning_rate=1e-3, checkpoint_every=100)
    calm, rising = AnnealedVAE(gamma=1, capacity=2), AnnealedVAE(gamma=1e37, capacity=1000, capacity_steps=1000)
    objectives = [calm, rising, AnnealedVAE(gamma=3, capacity=2)]
    fleet = train(blocks[0], objectives, n_codes=3, trunk=SMALL, settings=settings, folder=tmp_path / "runs")
    assert [model.problem is None for model in fleet] == [True, False, True]
    [problem] = fleet.problems
    assert problem.startswith("annealed_vae-gamma=1e+37")
    assert 30 < int(re.search(r"not finite at step (\d+)", problem)[1]) < 40  # 1e37 nats a step more
    [alone] = train(blocks[0], objectives[2], n_codes=3, trunk=SMALL, settings=settings)
    assert_same_weights(alone, fleet[2])
    with pytest.raises(InputError, match="has no weights"):
        fleet[1].encode(blocks[0])
    assert json.loads((tmp_path / "runs" / fleet[1].name / "model.json").read_text())["status"] == "diverged"


class Interrupted(Exception):
    pass


def test_an_interrupted_training_goes_on_to_the_same_weights(blocks, tmp_path, monkeypatch):
    asked = {"objectives": [BetaVAE(beta=1), FactorVAE(gamma=5, critic_hidden=(8,))], "n_codes": 3, "trunk": SMALL}
    settings = TrainingSettings(n_steps=300, batch_size=16, learning_rate=1e-3, checkpoint_every=100)
    whole = train(blocks[0], settings=settings, **asked)
    advance = fleet_module.Stack.advance
    calls = []

    def interrupting(stack, n_steps):
        calls.append(1)
        if len(calls) == 4:
            advance(stack, 37)  # steps after the last checkpoint are lost
            raise Interrupted
        return advance(stack, n_steps)

    monkeypatch.setattr(fleet_module.Stack, "advance", interrupting)
    with pytest.raises(Interrupted):
        train(blocks[0], settings=settings, folder=tmp_path, **asked)
    steps = []
    monkeypatch.setattr(fleet_module.Stack, "advance", lambda stack, n: steps.append(n) or advance(stack, n))
    again = train(blocks[0], settings=settings, folder=tmp_path, **asked)
    assert sum(steps) == 2 * 300 - 3 * 100  # what came before the checkpoints is not done again
    for one, other in zip(whole, again, strict=True):
        assert_same_weights(one, other)
        assert [record["step"] for record in other.history] == [100, 200, 300]
        assert one.history[-1]["loss"] == pytest.approx(other.history[-1]["loss"], rel=1e-4)
    read = train(blocks[0], settings=settings, folder=tmp_path, **asked)
    for one, other in zip(again, read, strict=True):
        assert_same_weights(one, other, rtol=0, atol=0)


PROGRAM = """
import sys, numpy as np
from unweave.models import BetaVAE, MLP, TrainingSettings, train
images = np.load(sys.argv[1])
settings = TrainingSettings(n_steps=3000, batch_size=16, learning_rate=1e-3, checkpoint_every=100)
both, trunk = [BetaVAE(beta=1), BetaVAE(beta=4)], MLP(hidden=(16,))
train(images, both, n_codes=3, trunk=trunk, settings=settings, folder=sys.argv[2])
"""


@pytest.mark.slow
def test_killed_three_times_the_run_equals_an_uninterrupted_one(blocks, tmp_path):
    np.save(tmp_path / "images.npy", blocks[0])
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "images.npy")]
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    for _ in range(3):
        before = newest(tmp_path / "killed")
        process = subprocess.Popen([*command, str(tmp_path / "killed")])
        while newest(tmp_path / "killed") == before:  # wait for at least one new checkpoint
            time.sleep(0.02)
            assert process.poll() is None, "it finished before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, str(tmp_path / "killed")], check=True)
    for name in ("beta_vae-beta=1-seed=0", "beta_vae-beta=4-seed=0"):
        one, other = ((tmp_path / run / name / "weights.safetensors").read_bytes() for run in ("whole", "killed"))
        assert one == other


def newest(folder):
    return max((file.stat().st_mtime_ns for file in folder.glob("*/checkpoint.safetensors")), default=0)


def test_a_folder_of_another_run_is_refused(blocks, tmp_path):
    few = TrainingSettings(n_steps=2, batch_size=8)
    train(blocks[0], n_codes=3, trunk=SMALL, settings=few, folder=tmp_path / "runs")
    with pytest.raises(FileError, match=r"other settings \(n_steps: 2 there, 3 now\)"):
        train(
            blocks[0],
            n_codes=3,
            trunk=SMALL,
            settings=TrainingSettings(n_steps=3, batch_size=8),
            folder=tmp_path / "runs",
        )
    with pytest.raises(FileError, match=r"other data \(fingerprint"):
        train(1 - blocks[0], n_codes=3, trunk=SMALL, settings=few, folder=tmp_path / "runs")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").touch()
    with pytest.raises(FileError, match="contains files that are not runs"):
        train(blocks[0], settings=few, folder=tmp_path / "photos")
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be used as a folder"):
        train(blocks[0], settings=few, folder=tmp_path / "file")


def test_more_models_may_join_a_folder(blocks, tmp_path):
    few = TrainingSettings(n_steps=2, batch_size=8)
    [first] = train(blocks[0], "vae", n_codes=3, trunk=SMALL, settings=few, folder=tmp_path)
    second = train(blocks[0], ["vae", "beta_vae"], n_seeds=2, n_codes=3, trunk=SMALL, settings=few, folder=tmp_path)
    assert_same_weights(first, second[0], rtol=0, atol=0)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == sorted(model.name for model in second)


@pytest.mark.parametrize("kind", OBJECTIVES.values(), ids=lambda kind: kind.name)
def test_every_objective_trains_encodes_and_decodes(kind, blocks):
    small_critic = {"critic_hidden": (8,)} if kind.name in ("factor_vae", "aae") else {}
    settings = TrainingSettings(n_steps=101, batch_size=16, learning_rate=5e-3)
    [model] = train(blocks, kind(**small_critic), n_codes=3, trunk=SMALL, settings=settings)
    # the mean over a hundred steps, and the last step
    assert model.history[-1]["reconstruction"] < 0.8 * model.history[0]["reconstruction"]
    encoded = model.encode(blocks[0][:7])
    n_codes = 3 + len(model.spec.objective.category_sizes)
    assert (encoded.shape if model.is_deterministic else (len(encoded.mean), len(encoded.names))) == (7, n_codes)
    assert model.is_deterministic or encoded.trained_with.startswith(kind.name)
    images = model.decode(model.codes_of(blocks[0][:7]))
    assert images.shape == (7, 1, 12, 12)
    assert images.min() >= 0
    assert images.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"data": np.zeros((3, 2, 2, 2, 2))}, "Images of shape"),
        ({"data": np.full((5, 4, 4), 255.0)}, "scale the images"),
        ({"data": np.linspace(0, 1.5, 80).reshape(5, 4, 4)}, "Pixels range from 0 to 1.5"),
        ({"data": np.linspace(-0.5, 1, 80).reshape(5, 4, 4)}, "Pixels range from -0.5 to 1"),
        ({"data": np.zeros((0, 4, 4))}, "with at least one image"),
        ({"data": np.full((5, 4, 4), np.nan)}, "nan or infinite"),
        ({"data": np.diag([np.inf, 0, 0, 0])}, "nan or infinite"),
        ({"data": "dsprites"}, "cannot be trained on"),
        ({"data": (np.zeros((5, 4, 4)), np.zeros((4, 2)))}, "do not fit 5 images"),
        ({"objectives": []}, "no objective"),
        ({"objectives": 3}, "3 is not an objective"),
        ({"objectives": "ada_gvae"}, "needs pairs of images"),
        ({"data": (np.zeros((4, 2)), np.arange(4)[:, None]), "objectives": "ada_gvae"}, "needs pairs of images"),
        ({"objectives": lambda step: step.reconstruction.sum()}, "has to return 1 numbers, one per model"),
        ({"objectives": ["vae", "vae"]}, "occurs twice"),
        ({"n_seeds": 0}, "n_seeds=0 is not allowed: use a whole number from 1"),
        ({"n_seeds": [0, 1]}, "use a whole number"),
        ({"seed": -1}, "whole number from 0"),
        ({"seed": 1.5}, "use a whole number"),
        ({"seeds": 2}, "train has no option 'seeds': write n_seeds=5 for five seeds, or seed=5 for seed number 5"),
        ({"n_codes": 0}, "n_codes=0"),
        ({"n_codes": True}, "n_codes=True"),
        ({"n_codes": 2.0}, "n_codes=2.0"),
    ],
    ids=lambda part: part if isinstance(part, str) else " and ".join(part),
)
def test_bad_input_gets_one_sentence(arguments, sentence):
    given = {"data": np.zeros((5, 4, 4)), "settings": TrainingSettings(n_steps=1, batch_size=2), **arguments}
    with pytest.raises(UnweaveError, match=sentence):
        train(**given)


ONE_STEP = TrainingSettings(n_steps=1, batch_size=2)


def test_one_code_two_factors_and_one_thread_are_enough():
    grid = np.array(list(itertools.product(range(2), range(3))))
    threads = []

    def counted(step):
        threads.append(torch.get_num_threads())
        return step.reconstruction + step.kl

    for objective in ("ada_gvae", counted):
        [model] = train((np.eye(6), grid), objective, n_codes=1, trunk=SMALL, settings=ONE_STEP)
        assert model.problem is None
    assert threads == [1]


@pytest.mark.parametrize("shape", [(2, 5), (2, 4, 5), (2, 3, 4, 5)])
def test_arrays_are_pixels_or_images_with_and_without_channels(shape):
    values = np.random.default_rng(0).uniform(size=shape).astype(np.float32)
    found = training_images(values)
    assert found.image_shape == ((1, 1, 5), (1, 4, 5), (3, 4, 5))[len(shape) - 2]
    assert (found.n_rows, found.n_values) == (2, None)
    torch.testing.assert_close(found.rows(torch.tensor([[1], [0]])), torch.tensor(values[::-1].copy()).view(2, 1, -1))
    content = repr(values.shape).encode() + values.tobytes()
    assert found.fingerprint == hashlib.blake2b(content, digest_size=16).hexdigest()


@pytest.mark.parametrize(
    "factors", [[[0, 0], [0, 0], [1, 1], [0, 1]], [[0, 0], [0, 1], [1, 0]]], ids=["twice", "missing"]
)
def test_factors_that_are_not_all_combinations_make_no_grid(factors):
    pixels = np.arange(2.0 * len(factors)).reshape(-1, 2)
    found = training_images((pixels, factors))
    assert found.n_values is None
    torch.testing.assert_close(found.rows(torch.arange(len(factors))), torch.tensor(pixels).float())


class Pictures:
    """A data set of 1,200 images of two pixels that notes which rows are read."""

    name, fingerprint, image_shape, n_values = "pictures", "abc", (1, 1, 2), (40, 30)

    def __init__(self):
        self.read = []

    def __len__(self):
        return 1200

    def images(self, numbers):
        self.read.append(np.array(numbers))
        return np.stack([numbers / 1200, 1 - numbers / 1200], axis=1).reshape(-1, 1, 1, 2)


@pytest.mark.parametrize("spare", [0, -1])
def test_small_data_sets_are_read_once_and_large_ones_in_batches(spare, monkeypatch):
    monkeypatch.setattr(images_module, "MOST_BYTES_IN_MEMORY", 4 * 1200 * 2 + spare)
    monkeypatch.setattr(images_module, "ROWS_AT_A_TIME", 500)
    data = Pictures()
    found = training_images(data)
    assert (found.name, found.fingerprint, found.n_rows, found.n_values) == ("pictures", "abc", 1200, (40, 30))
    before = [(part[0], part[-1]) for part in data.read]
    assert before == ([(0, 499), (500, 999), (1000, 1199)] if spare == 0 else [])
    numbers = torch.tensor([[3, 1199], [600, 0]])
    expected = torch.stack([numbers / 1200, 1 - numbers / 1200], dim=-1)
    torch.testing.assert_close(found.rows(numbers), expected.float())
    data.read.clear()
    train(data, n_codes=1, trunk=SMALL, settings=ONE_STEP)
    if spare < 0:
        np.testing.assert_array_equal(data.read[0], np.arange(1000))  # whose pixels are checked


def test_a_weight_that_is_not_finite_breaks_its_model_alone(blocks):
    plan = fleet_module.FleetPlan(training_images(blocks[0]), 2, SMALL, SHORT)
    stack = fleet_module._stack(plan, [(ModelSpec(BetaVAE(), seed), State()) for seed in range(3)])
    assert stack.advance(1) == []
    stack.network.weights["decoder.1.bias"].data[1, 0, 5] = math.inf
    assert stack.advance(0) == [1]
    fused = stack._optimisers[0][1].is_fused
    assert (sum(fused), len(fused)) == (7, 8)  # of the four numbers that an encoder returns, the bias fills no register


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.9)])
def test_the_update_is_that_of_torch_to_the_last_bit(betas):
    torch.manual_seed(0)
    weights = {"even": torch.randn(2, 8, 16), "odd": torch.randn(2, 1, 5), "wide": torch.randn(2, 33, 32)}
    copies = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
    groups = [
        {"params": [copies["even"], copies["wide"]], "fused": True},
        {"params": [copies["odd"]], "foreach": False},
    ]
    torchs = torch.optim.Adam(groups, lr=1e-3, betas=betas)
    ours = Adam(weights, 1e-3, betas, [State()])
    for _ in range(20):
        gradients = [torch.randn_like(weight) for weight in weights.values()]
        ours.step(gradients)
        for copy, gradient in zip(copies.values(), gradients, strict=True):
            copy.grad = gradient
        torchs.step()
        assert all(torch.equal(weights[name], copies[name].detach()) for name in weights)


def test_progress_counts_the_steps_of_all_models(blocks, monkeypatch):
    asked, done = [], []

    @contextmanager
    def bar(*given):
        asked.append(given)
        yield SimpleNamespace(advance=done.append)

    monkeypatch.setattr(fleet_module, "progress_bar", bar)
    objectives = [AnnealedVAE(gamma=1), AnnealedVAE(gamma=1e38, capacity=1000, capacity_steps=1)]
    settings = replace(ONE_STEP, n_steps=5)
    train(blocks[0], objectives, n_seeds=2, n_codes=2, trunk=SMALL, settings=settings, progress=True)
    assert asked == [(20, True, 0, "training")]
    assert sum(done) == 20  # those that a diverged model does not take count too


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_steps": 0},
        {"batch_size": 1.5},
        {"learning_rate": -1.0},
        {"learning_rate": float("nan")},
        {"betas": (0.9, 1.0)},
        {"reconstruction_weight": 0.0},
        {"checkpoint_every": 150},
    ],
    ids=str,
)
def test_settings_have_ranges(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        TrainingSettings(**wrong)
