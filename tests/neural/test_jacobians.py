"""Jacobians of torch decoders are the same by every method, and functions without derivatives raise an error."""

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from unweave import Evidence, InputError  # noqa: E402
from unweave.metrics import manifold_cross_mutual_information, manifold_entropy, total_entropy  # noqa: E402
from unweave.neural.decoders import (  # noqa: E402
    FlowDecoder,
    TorchDecoder,
    _rounded_away,
    jacobian_blocks,
    torch_decoder,
)
from unweave.neural.flows import CouplingFlow, FlowSettings  # noqa: E402
from unweave.randomness import random_stream  # noqa: E402
from unweave.synthetic.known_decoders import LinearDecoder  # noqa: E402

WEIGHTS = Path(__file__).parents[3] / "shared" / "data" / "weights"


WITHOUT_ZUKO = """
import sys
sys.modules["zuko"] = None
import torch, unweave
from unweave.neural.flows import CouplingFlow
print(unweave.spectrum(torch.nn.Linear(2, 2), n_samples=5).order)
try:
    CouplingFlow(2)
except ModuleNotFoundError as error:
    print(error.name, error)
"""


def test_only_flows_need_zuko():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ZUKO], check=True, capture_output=True, text=True)
    assert "zuko Flows need zuko: install it with pip install 'unweave[torch]'." in done.stdout


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
    torch.manual_seed(0)


def network(n_latents=4, n_outputs=9):
    return nn.Sequential(nn.Linear(n_latents, 16), nn.Tanh(), nn.Linear(16, n_outputs)).double()


def exact(function, latents):
    return torch.stack([torch.autograd.functional.jacobian(lambda z: function(z[None])[0], z) for z in latents])


def whole(function, latents, **options):
    return torch.cat(list(jacobian_blocks(function, latents, **options)))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("sizes", [(4, 9), (9, 4), (5, 5)])
def test_every_mode_is_exact(mode, sizes):
    decoder, latents = network(*sizes), torch.randn(7, sizes[0]).double()
    assert torch.allclose(whole(decoder, latents, mode=mode), exact(decoder, latents))


def test_chosen_dimensions_and_small_memory():
    decoder, latents = network(), torch.randn(7, 4).double()
    found = list(jacobian_blocks(decoder, latents, dimensions=[2, 0], memory=1))
    assert len(found) == 7  # one sample a block
    assert torch.allclose(torch.cat(found), exact(decoder, latents)[:, :, [2, 0]])


def test_operations_that_cannot_be_batched_take_another_route():
    def awkward(z):
        data = torch.empty(len(z), 5, dtype=z.dtype)
        data[:, :4] = torch.sin(z)
        data[:, 4] = z.prod(dim=1)
        return data

    latents = torch.randn(3, 4).double()
    assert torch.allclose(whole(awkward, latents), exact(awkward, latents))


def test_images_are_flattened():
    decoder = nn.Sequential(nn.Linear(3, 8), nn.Unflatten(1, (2, 2, 2)), nn.ConvTranspose2d(2, 1, 4, 2, 1))
    assert whole(decoder, torch.randn(5, 3)).shape == (5, 16, 3)


def test_a_module_is_a_decoder_as_it_is():
    matrix = np.random.default_rng(0).normal(size=(6, 3))
    layer = nn.Linear(3, 6).double()
    layer.weight.data = torch.from_numpy(matrix)
    truth = LinearDecoder(matrix).true_entropies
    assert list(manifold_entropy(layer).per_code.values()) == pytest.approx(truth)


def test_a_vae_is_looked_at_through_its_decoder_in_evaluation_mode():
    class Vae(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(6, 4)
            self.decoder = nn.Sequential(nn.Linear(2, 6), nn.BatchNorm1d(6), nn.Dropout(0.5))

    vae = Vae()
    assert total_entropy(vae).raw == total_entropy(vae).raw  # dropout would make them differ
    assert vae.training


def test_zuko_flows_are_taken_with_their_encoder():
    zuko = pytest.importorskip("zuko")
    flow = zuko.flows.NSF(3, transforms=2, hidden_features=(8,)).double()
    evidence = Evidence(decoder=flow, reference=flow)
    entropy = total_entropy(evidence, n_samples=200)
    latents = torch.from_numpy(random_stream(0, "prior").standard_normal((200, 3)))
    data = flow().transform.inv(latents)
    expected = -flow().log_prob(data).mean() - (0.5 * latents.square().sum(1)).mean() + 1.5  # A.19 with E|z|^2 = d
    assert entropy.raw == pytest.approx(float(expected.detach()), abs=1e-6)
    assert manifold_cross_mutual_information(evidence, n_samples=20).raw > 8  # itself, to rounding


def test_flows_in_the_style_of_nflows():
    class Halved(nn.Module):
        def forward(self, x):
            return x / 2, torch.zeros(len(x))

        def inverse(self, z):
            return 2 * z, torch.zeros(len(z))

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self._transform, self._distribution = Halved(), type("Noise", (), {"_shape": (3,)})()

    score = manifold_entropy(Flow())
    assert score.raw == pytest.approx(0.5 * (1 + np.log(2 * np.pi)) + np.log(2))
    assert torch_decoder(Flow()).encode(np.full((2, 3), 5.0)).tolist() == [[2.5] * 3] * 2


@pytest.mark.parametrize("couplings", ["affine", "spline"])
def test_the_flows_own_rules_agree_with_automatic_differentiation(couplings):
    flow = CouplingFlow(5, FlowSettings(n_blocks=3, hidden=8, couplings=couplings)).double()
    with torch.no_grad():
        for weight in flow.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    latents = np.random.default_rng(0).standard_normal((6, 5))
    by_rule = next(FlowDecoder(flow).jacobian_blocks(latents))
    assert by_rule == pytest.approx(exact(flow, torch.from_numpy(latents)).numpy(), abs=1e-9, rel=1e-7)


def test_the_training_term_is_the_metric():
    """The torch loss and the numpy metric agree on the same latents."""
    from unweave.neural.flows import FlowObjective, loss_terms

    flow = CouplingFlow(4, FlowSettings(n_blocks=2, hidden=8)).double()
    latents = torch.from_numpy(random_stream(0, "prior").standard_normal((300, 4)))
    rows = flow.decode(latents).detach()
    _, shared, _ = loss_terms(flow, rows, FlowObjective(total_correlation=1.0, n_columns=4), np.random.default_rng(0))
    from unweave.metrics import manifold_total_correlation

    assert manifold_total_correlation(flow, n_samples=300).raw == pytest.approx(float(shared.detach()), abs=1e-9)


class Rounded(nn.Module):
    latent_size = 3

    def forward(self, z):
        return torch.round(z).detach() + 1


class Broken(nn.Module):
    latent_size = 3

    def forward(self, z):
        return z / 0 * 0


@pytest.mark.parametrize(
    ("decoder", "sentence"),
    [
        (Rounded(), "not differentiable"),
        (TorchDecoder(lambda z: torch.from_numpy(z.detach().numpy()), 3), "not differentiable"),
        (TorchDecoder(lambda z: torch.from_numpy(z.numpy()), 3), "torch operations only"),
        (Broken(), "returns nan"),
        (TorchDecoder(network(), 5), "fails on latents of shape"),
        (TorchDecoder(lambda z: z.sum(), 5), "one row of data each"),
        (lambda z: z, "plain function"),
        (nn.Conv2d(1, 1, 1), "latent size of the decoder Conv2d is unknown"),
    ],
)
def test_bad_decoders_get_one_sentence(decoder, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        total_entropy(decoder, n_samples=10)
    assert str(error.value).endswith(".")


def test_the_fingerprint_follows_the_weights():
    layer = nn.Linear(2, 3)
    before = Evidence(decoder=layer).fingerprint
    assert Evidence(decoder=layer).fingerprint == before
    layer.weight.data += 1
    assert Evidence(decoder=layer).fingerprint != before


def saturating(gain):
    """A decoder with sigmoid pixels that are exactly 1 in single precision at some latents."""
    layers = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid())
    with torch.no_grad():
        layers[0].weight.mul_(gain)
        layers[0].bias.abs_().add_(gain)
    return layers


def test_single_precision_rounds_no_latent_away():
    decoder = saturating(gain=24.0)
    rough = torch.cat(list(jacobian_blocks(decoder, torch.randn(200, 3))))
    assert (rough.norm(dim=1) == 0).any()  # or this test tests nothing
    found = manifold_entropy(decoder, n_samples=200)
    assert decoder[0].weight.dtype is torch.float32
    assert found.raw == pytest.approx(manifold_entropy(copy.deepcopy(decoder).double(), n_samples=200).raw, abs=1e-3)


def test_double_precision_is_for_the_look_only():
    decoder = saturating(gain=24.0)
    before = [weight.clone() for weight in decoder.parameters()]
    owners = [id(weight) for weight in decoder.parameters()]
    manifold_entropy(decoder, n_samples=50)
    assert all(torch.equal(now, then) for now, then in zip(decoder.parameters(), before, strict=True))
    assert [id(weight) for weight in decoder.parameters()] == owners  # an optimiser still has them


def test_buffers_have_their_own_precision_again_so_that_the_next_block_fits():
    decoder = nn.Sequential(*saturating(gain=24.0), nn.BatchNorm1d(4)).eval()
    before = {name: buffer.clone() for name, buffer in decoder.named_buffers()}
    adapter = TorchDecoder(decoder, 3, module=decoder, memory=50_000)
    attributes, latents = set(vars(decoder)), np.random.default_rng(0).standard_normal((300, 3))
    blocks = list(adapter.jacobian_blocks(latents))
    assert len(blocks) > 1  # or this test tests nothing
    assert set(vars(decoder)) == attributes
    doubled = copy.deepcopy(decoder).double()
    exactly = list(TorchDecoder(doubled, 3, module=doubled).jacobian_blocks(latents))
    np.testing.assert_allclose(np.concatenate(blocks), np.concatenate(exactly), rtol=1e-2, atol=1e-4)
    assert {name: buffer.dtype for name, buffer in decoder.named_buffers()} == {k: v.dtype for k, v in before.items()}
    assert all(torch.equal(buffer, before[name]) for name, buffer in decoder.named_buffers())


def test_a_function_of_single_precision_is_taken_as_it_is():
    matrix = torch.randn(6, 3)
    score = manifold_entropy(TorchDecoder(lambda z: z @ matrix.T, latent_size=3))
    assert score.raw == pytest.approx(manifold_entropy(matrix.double().numpy()).raw, abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(not WEIGHTS.exists(), reason="the published models are not at ../shared/data/weights")
def test_a_published_decoder_has_the_entropies_of_double_precision():
    """The AnnealedVAE of dSprites (YannDubs/disentangling-vae): at 2 of 200 draws its image is blank."""
    arrays = np.load(WEIGHTS / "betaB_dsprites.npz")
    decoder = PublishedDecoder()
    decoder.load_state_dict({name[8:]: torch.tensor(arrays[name]) for name in arrays if name.startswith("decoder.")})
    score = manifold_entropy(decoder, n_samples=200)
    ordered = sorted(score.per_code.values(), reverse=True)
    assert ordered[:4] == pytest.approx([3.28, 3.18, 3.04, 1.26], abs=0.01)
    assert ordered[4:] == pytest.approx([-2.5] * 6, abs=0.2)


class PublishedDecoder(nn.Module):
    """The decoder of Burgess et al. for images of 64 x 64."""

    latent_size = 10

    def __init__(self):
        super().__init__()
        self.lin1, self.lin2, self.lin3 = nn.Linear(10, 256), nn.Linear(256, 256), nn.Linear(256, 512)
        self.convT_64, self.convT1, self.convT2 = (nn.ConvTranspose2d(32, 32, 4, 2, 1) for _ in range(3))
        self.convT3 = nn.ConvTranspose2d(32, 1, 4, 2, 1)

    def forward(self, latents):
        hidden = self.lin3(self.lin2(self.lin1(latents).relu()).relu()).relu().unflatten(1, (32, 4, 4))
        for layer in (self.convT_64, self.convT1, self.convT2):
            hidden = layer(hidden).relu()
        return self.convT3(hidden).sigmoid()


class Pair(nn.Module):
    """A layer that returns its input and a note."""

    def forward(self, z):
        return z, "a note"


@pytest.mark.parametrize(("spare", "sizes"), [(0, [3, 3, 1]), (-1, [2, 2, 2, 1])])
def test_blocks_fill_the_memory_with_the_largest_layer_and_no_more(spare, sizes):
    decoder, pair, latents = network(), Pair(), torch.randn(7, 4).double()
    memory = 3 * 8 * (4 + 1) * 4 * 16  # three rows of 8 bytes, four tangents and a value, four layers of 16
    blocks = list(jacobian_blocks(lambda z: decoder(pair(z)[0]), latents, memory=memory + spare))
    assert [len(block) for block in blocks] == sizes
    assert torch.allclose(torch.cat(blocks), exact(decoder, latents))
    assert torch.allclose(whole(decoder, latents[:1]), exact(decoder, latents[:1]))


def test_columns_are_short_below_a_thousandth_of_the_longest_of_all():
    found = np.zeros((3, 2, 2))
    found[:, 0, 0] = [600.0, 600.0, 600.0]
    found[0, 1, 0] = 800.0  # the longest has a length of 1000
    found[:, 0, 1] = [1.0, 0.999, 5.0]
    assert _rounded_away(found).tolist() == [False, True, False]


def test_images_are_decoded_and_encoded_as_rows():
    layer = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Unflatten(1, (1, 2, 2))).eval()
    decoder = TorchDecoder(layer, 4, lambda x: x.flatten(1)[:, :, None] * 2, layer)
    latents = np.random.default_rng(0).standard_normal((3, 4))
    data = decoder.decode(latents)
    np.testing.assert_allclose(data, latents @ layer[0].weight.detach().double().numpy().T, atol=1e-5)
    np.testing.assert_allclose(decoder.encode(data), 2 * data, rtol=1e-6)
    assert len(decoder.digest()) == 16
    assert not layer.training  # as it was before
    assert not hasattr(decoder, "encodes")
    assert not hasattr(TorchDecoder(layer, 4), "encode")


@pytest.mark.parametrize(("message", "dtype"), [("a Float", "float32"), ("a dtype", "float32"), ("no", "float64")])
def test_a_function_that_refuses_double_precision_gets_single(message, dtype):
    def function(z):
        if z.dtype is torch.float64:
            raise RuntimeError(message)
        return z

    assert TorchDecoder(function, 2)._tensor(np.zeros((1, 2))).dtype is getattr(torch, dtype)


def test_a_flow_is_decoded_in_blocks():
    flow = CouplingFlow(3, FlowSettings(n_blocks=3, hidden=8)).double()
    latents = np.random.default_rng(0).standard_normal((5, 3))
    blocks = list(FlowDecoder(flow, rows_per_block=2).jacobian_blocks(latents))
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert np.concatenate(blocks) == pytest.approx(exact(flow, torch.from_numpy(latents)).numpy(), abs=1e-9)


def test_what_is_no_decoder_is_left_to_others_and_half_a_flow_is_a_module():
    assert torch_decoder(3) is None
    assert torch_decoder(nn.Linear) is None
    for name in ("base", "transform", "_distribution", "_transform"):
        layer = nn.Linear(2, 3)
        setattr(layer, name, nn.Identity())
        assert torch_decoder(layer).function is layer


def test_decoders_that_do_not_use_their_latents_or_return_some_nan_are_refused():
    weight = torch.ones(3, requires_grad=True)
    with pytest.raises(InputError, match="not differentiable"):
        whole(lambda z: weight.expand(len(z), 3), torch.zeros(4, 2))
    with pytest.raises(InputError, match="returns nan"):
        whole(lambda z: z * torch.tensor([1.0, torch.nan]), torch.ones(4, 2))
    with pytest.raises(InputError, match=r"latents of shape \(2, 5\)"):
        whole(network(), torch.zeros(4, 5).double())


@pytest.mark.parametrize("missing", [("vmap",), ("vmap", "jvp"), ("vmap", "jvp", "vjp")])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_where_torch_has_no_rule_other_ways_give_the_same(monkeypatch, missing, mode):
    from unweave.neural import decoders as jacobians

    def refused(*_, **__):
        raise RuntimeError("no rule")

    decoder, latents = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 5)).double(), torch.randn(4, 3).double()
    usual = torch.cat(list(jacobian_blocks(decoder, latents, dimensions=[2, 0], mode=mode)))
    for name in missing:
        monkeypatch.setattr(jacobians, name, refused)
    other = torch.cat(list(jacobian_blocks(decoder, latents, dimensions=[2, 0], mode=mode)))
    assert torch.allclose(other, usual)
    assert torch.allclose(usual, exact(decoder, latents)[:, :, [2, 0]])
