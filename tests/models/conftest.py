"""Small images with known factors, and training steps with given posteriors."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unweave.models import MLP, Bernoulli, Step  # noqa: E402
from unweave.models.networks import Architecture, Network, Randomness  # noqa: E402

A_POINT = -24.0  # log-variance of posteriors with almost no variance


@pytest.fixture(scope="session")
def blocks():
    """All combinations of four factors: a block's place (5 x 5), height (3) and width (3) on 12 x 12 pixels."""
    factors = np.array(list(itertools.product(range(5), range(5), range(3), range(3))))
    images = np.zeros((len(factors), 12, 12), dtype=np.float32)
    for image, (top, left, height, width) in zip(images, factors, strict=True):
        image[1 + top : 3 + top + height, 1 + left : 3 + left + width] = 1.0
    return images, factors


def passing_network(n_codes, categories=(), critic=None, critic_weights=None, n_models=1, log_variance=A_POINT):
    """A network whose encoder returns the images as means, and whose decoder returns zeros."""
    n_pixels = n_codes + sum(categories)
    architecture = Architecture(MLP(hidden=()), (1, 1, n_pixels), n_codes, categories, critic)
    head = torch.zeros(n_models, n_pixels, architecture.sizes.n_head)
    head[:, :n_codes, :n_codes] = torch.eye(n_codes)
    head[:, n_codes:, 2 * n_codes :] = torch.eye(sum(categories))
    bias = torch.zeros(n_models, 1, architecture.sizes.n_head)
    bias[..., n_codes : 2 * n_codes] = log_variance
    weights = {
        "encoder.0.weight": head,
        "encoder.0.bias": bias,
        "decoder.0.weight": torch.zeros(n_models, n_pixels, n_pixels),
        "decoder.0.bias": torch.zeros(n_models, 1, n_pixels),
    }
    return Network(architecture, weights, critic_weights or {})


def step_of(images, network=None, *, number=0, likelihood=None, partners=None, random=None):
    """A step with these images as its batch (batch x codes, or models x batch x codes)."""
    batch = torch.as_tensor(np.asarray(images), dtype=torch.float32)
    batch = batch if batch.ndim == 3 else batch[None]
    network = network or passing_network(batch.shape[-1], n_models=len(batch))
    others = batch if partners is None else torch.as_tensor(np.asarray(partners), dtype=torch.float32)
    others = others if others.ndim == 3 else others[None]
    return Step(
        network,
        lambda purpose: others if purpose == "partners" else batch,
        (random or Randomness(range(len(batch)))).at(number),
        likelihood or Bernoulli(),
        number=number,
        n_rows=batch.shape[1],
    )


@pytest.fixture(scope="session")
def make():
    """Functions that make networks and steps."""
    return SimpleNamespace(network=passing_network, step=step_of)
