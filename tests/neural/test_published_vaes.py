"""Published models have the losses that their authors logged, and damaged weights raise errors."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unweave import FileError, InputError, OptionError  # noqa: E402
from unweave.datasets import DSprites  # noqa: E402
from unweave.neural.published_vaes import PublishedVAE, read_published  # noqa: E402

WEIGHTS = Path(__file__).parents[3] / "shared" / "data" / "weights"
needs_weights = pytest.mark.skipif(not WEIGHTS.exists(), reason="published weights are not at ../shared/data/weights")
N_BATCHES = 738  # the log divides the losses of one batch of 1,000 images by the number of batches
OTHERS = ("VAE", "betaH", "betaB", "btcvae_dsprites_a-5", "btcvae_dsprites_a0", "btcvae_dsprites_a5")
LOGGED = [
    "btcvae_dsprites",
    *(pytest.param(n if "_" in n else f"{n}_dsprites", marks=pytest.mark.slow) for n in OTHERS),
]


def reconstruction_and_kl(model, images):
    """Mean over images of the binary cross-entropy summed over pixels, from the means, and of KL(q(z | x) || N(0, I)).

    The divergence does not include categorical codes.
    """
    with torch.no_grad():
        batch = torch.from_numpy(images)
        mean, log_variance = model.encode(batch)[:2]
        cost = torch.nn.functional.binary_cross_entropy(model(batch), batch, reduction="sum") / len(images)
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / len(images)
    return float(cost), float(divergence)


def burgess_arrays(n_codes=3, channels=1, convolutions=3, seed=0):
    """Random weights with the published names and shapes, for small images."""
    rng = np.random.default_rng(seed)
    shapes = {"encoder.conv1": (4, channels), "encoder.conv2": (4, 4), "encoder.conv3": (4, 4)}
    shapes |= {"decoder.convT1": (4, 4), "decoder.convT2": (4, 4), "decoder.convT3": (4, channels)}
    arrays = {f"{name}.weight": rng.normal(size=(*shape, 4, 4)) / 4 for name, shape in shapes.items()}
    sizes = {"encoder.lin1": (6, 16), "encoder.lin2": (6, 6), "encoder.mu_logvar_gen": (2 * n_codes, 6)}
    sizes |= {"decoder.lin1": (6, n_codes), "decoder.lin2": (6, 6), "decoder.lin3": (16, 6)}
    arrays |= {f"{name}.weight": rng.normal(size=shape) / 2 for name, shape in sizes.items()}
    for name, weight in list(arrays.items()):
        n_out = weight.shape[1] if "convT" in name else weight.shape[0]
        arrays[name.replace("weight", "bias")] = rng.normal(size=n_out)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


@needs_weights
@pytest.mark.parametrize("name", LOGGED)
def test_first_thousand_images_give_the_logged_losses(name):
    logged = json.loads((WEIGHTS / "index.json").read_text())[name]["logged_test_losses"]
    found = reconstruction_and_kl(read_published(name, WEIGHTS), DSprites().images(np.arange(1000)))
    expected = (N_BATCHES * logged["recon_loss"], N_BATCHES * logged["kl_loss"])
    assert found == pytest.approx(expected, rel=2e-5)


@needs_weights
@pytest.mark.slow
def test_the_log_of_factor_vae_is_of_half_a_batch():
    logged = json.loads((WEIGHTS / "index.json").read_text())["factor_dsprites"]["logged_test_losses"]
    found = reconstruction_and_kl(read_published("factor_dsprites", WEIGHTS), DSprites().images(np.arange(1000)))
    half = reconstruction_and_kl(read_published("factor_dsprites", WEIGHTS), DSprites().images(np.arange(500)))
    expected = (N_BATCHES * logged["recon_loss"], N_BATCHES * logged["kl_loss"])
    assert found == pytest.approx((20.3127, 20.4060), abs=1e-4)
    assert half == pytest.approx(expected, rel=2e-3)


@needs_weights
@pytest.mark.parametrize("name", ["joint_dsprites", "VAE_mnist", "joint_mnist", "VAE_celeba"])
def test_shapes_of_other_models(name):
    model = read_published(name, WEIGHTS)
    images = np.zeros((2, *model.image_shape), dtype=np.float32)
    with torch.no_grad():
        mean, log_variance, *tables = model.encode(torch.from_numpy(images))
        assert model(torch.from_numpy(images)).shape == images.shape
    assert mean.shape == log_variance.shape == (2, model.n_codes)
    assert len(tables) == name.startswith("joint")
    if tables:
        assert tables[0][0].sum(dim=1).tolist() == pytest.approx([1, 1], abs=1e-5)


@needs_weights
def test_joint_vae_reconstructs_what_it_was_trained_on():
    images = DSprites().sample(200, rng=0).images
    cost, divergence = reconstruction_and_kl(read_published("joint_dsprites", WEIGHTS), images)
    assert cost < 60  # an image of the mean brightness costs 700
    assert 10 < divergence < 45


def test_layers_compute_what_their_arrays_say():
    """The first linear layer and the heads, computed with numpy from the outputs of the convolutions."""
    arrays = burgess_arrays()
    model = PublishedVAE(arrays)
    images = torch.rand(5, *model.image_shape)
    assert model.image_shape == (1, 16, 16)
    with torch.no_grad():
        hidden = model.features(images).flatten(1).relu().numpy()
        for name in ("lin1", "lin2"):
            hidden = np.maximum(hidden @ arrays[f"encoder.{name}.weight"].T + arrays[f"encoder.{name}.bias"], 0)
        both = hidden @ arrays["encoder.mu_logvar_gen.weight"].T + arrays["encoder.mu_logvar_gen.bias"]
        mean, log_variance = model.encode(images)
    assert mean.numpy() == pytest.approx(both.reshape(5, 3, 2)[:, :, 0], abs=1e-5)
    assert log_variance.numpy() == pytest.approx(both.reshape(5, 3, 2)[:, :, 1], abs=1e-5)


def joint_arrays():
    """Random weights of a JointVAE for images of 16 x 16: two Gaussian codes, and categories of 2 and 3 values."""
    rng = np.random.default_rng(1)
    shapes = {f"img_to_features.{2 * k}": (n, m, 4, 4) for k, (m, n) in enumerate(((1, 3), (3, 5)))}
    shapes |= {"features_to_hidden.0": (6, 80), "fc_mean": (2, 6), "fc_log_var": (2, 6)}
    shapes |= {"fc_alphas.0": (2, 6), "fc_alphas.1": (3, 6)}
    shapes |= {"latent_to_features.0": (6, 7), "latent_to_features.2": (80, 6)}
    shapes |= {f"features_to_img.{2 * k}": (m, n, 4, 4) for k, (m, n) in enumerate(((5, 3), (3, 1)))}
    arrays = {f"{name}.weight": rng.normal(size=shape) / 3 for name, shape in shapes.items()}
    arrays |= {f"{n}.bias": rng.normal(size=s[1] if "to_img" in n else s[0]) for n, s in shapes.items()}
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def test_a_joint_vae_computes_what_its_arrays_say():
    arrays = {name: torch.from_numpy(array) for name, array in joint_arrays().items()}
    model = PublishedVAE(joint_arrays())
    assert (model.image_shape, model.n_codes) == ((1, 16, 16), 2)
    images = torch.rand(70, 1, 16, 16, generator=torch.Generator().manual_seed(0))  # more than one batch

    def layer(name, kind, inputs, **options):
        return kind(inputs, arrays[f"{name}.weight"], arrays[f"{name}.bias"], **options)

    from torch.nn import functional

    halving = {"stride": 2, "padding": 1}
    maps = layer("img_to_features.0", functional.conv2d, images, **halving).relu()
    maps = layer("img_to_features.2", functional.conv2d, maps, **halving).relu()
    hidden = layer("features_to_hidden.0", functional.linear, maps.flatten(1)).relu()
    mean, log_variance = (layer(name, functional.linear, hidden) for name in ("fc_mean", "fc_log_var"))
    tables = [layer(f"fc_alphas.{k}", functional.linear, hidden).softmax(dim=1) for k in (0, 1)]
    inner = layer("latent_to_features.0", functional.linear, torch.cat([mean, *tables], dim=1)).relu()
    inner = layer("latent_to_features.2", functional.linear, inner).relu().view(70, 5, 4, 4)
    maps = layer("features_to_img.0", functional.conv_transpose2d, inner, **halving).relu()
    expected = layer("features_to_img.2", functional.conv_transpose2d, maps, **halving).sigmoid()
    with torch.no_grad():
        torch.testing.assert_close(model(images), expected, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(model.encode(images)[2], tuple(tables), atol=1e-5, rtol=1e-4)
    cost = -(images * expected.log() + (1 - images) * (1 - expected).log()).sum() / 70
    divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / 70
    found = reconstruction_and_kl(model, images.numpy())
    assert found == pytest.approx((float(cost), float(divergence)), rel=1e-4)


def test_bad_weights(tmp_path):
    arrays = burgess_arrays()
    np.savez(tmp_path / "good.npz", **arrays)
    assert read_published("good", tmp_path).name == "good"
    assert read_published(tmp_path / "good.npz").name == "good"
    assert read_published(tmp_path / "good.npz", tmp_path / "nowhere").name == "good"
    np.savez(tmp_path / "code.npz", weight=np.array([{}], dtype=object))
    with pytest.raises(FileError, match="contains Python objects, which are not read"):
        read_published("code", tmp_path)
    with pytest.raises(OptionError, match="did you mean 'good'"):
        read_published("goood", tmp_path)
    with pytest.raises(FileError, match="no folder"):
        read_published("good", tmp_path / "nowhere")
    with pytest.raises(FileError, match="--weights"):
        read_published("good")
    np.savez(tmp_path / "odd.npz", weight=np.zeros(3))
    with pytest.raises(InputError, match="not those of a published VAE"):
        read_published("odd", tmp_path)
    np.savez(tmp_path / "short.npz", **{name: array for name, array in arrays.items() if "lin2" not in name})
    with pytest.raises(InputError, match=r"lack 'encoder\.lin2"):
        read_published("short", tmp_path)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "good.npz").read_bytes()[:500])
    with pytest.raises(FileError, match="not a complete"):
        read_published("cut", tmp_path)
    index = {"good": {"shapes": {"encoder.conv1.weight": [32, 1, 4, 4]}}}
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(FileError, match=r"index\.json says \(32, 1, 4, 4\)"):
        read_published("good", tmp_path)
