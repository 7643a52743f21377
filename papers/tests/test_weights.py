"""Downloaded checkpoints become arrays that the experiments read."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unweave.neural.published_vaes import read_published  # noqa: E402
from unweave_papers.weights import converted  # noqa: E402


def joint_vae(rng):
    """Tensors of a JointVAE with two convolutions, three Gaussian codes and two categories."""
    shapes = {
        "img_to_features.0": (4, 1, 4, 4),
        "img_to_features.2": (8, 4, 4, 4),
        "features_to_hidden.0": (16, 8 * 8 * 8),
        "fc_mean": (3, 16),
        "fc_log_var": (3, 16),
        "fc_alphas.0": (2, 16),
        "latent_to_features.0": (16, 5),
        "latent_to_features.2": (8 * 8 * 8, 16),
        "features_to_img.0": (8, 4, 4, 4),
        "features_to_img.2": (4, 1, 4, 4),
    }
    tensors = {}
    for name, shape in shapes.items():
        tensors[f"{name}.weight"] = torch.tensor(rng.normal(size=shape), dtype=torch.float32)
        n = shape[1] if name.startswith("features_to_img") else shape[0]
        tensors[f"{name}.bias"] = torch.zeros(n)
    return tensors


def test_a_downloaded_checkpoint_is_read_as_published_weights(tmp_path):
    tensors = joint_vae(np.random.default_rng(0))
    (tmp_path / "repository" / "trained_models" / "dsprites").mkdir(parents=True)
    torch.save(tensors, tmp_path / "repository" / "trained_models" / "dsprites" / "model.pt")
    [path] = converted(tmp_path / "repository", tmp_path / "weights")
    assert path == tmp_path / "weights" / "joint_dsprites.npz"
    model = read_published("joint_dsprites", tmp_path / "weights")
    assert (model.n_codes, model.image_shape) == (3, (1, 32, 32))
    np.testing.assert_array_equal(model.mean.weight.detach(), tensors["fc_mean.weight"])
