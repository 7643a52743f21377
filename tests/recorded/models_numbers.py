"""A few steps of training with every objective, trunk and likelihood, and what the models then give."""

from functools import partial

import numpy as np

RELATIVE = 1e-3  # single precision, and sums whose order depends on the processor

try:
    from unweave.datasets import small_sprites
    from unweave.models import MLP, OBJECTIVES, Bernoulli, Convolutional, Gaussian, TrainingSettings, train
except ImportError:
    OBJECTIVES = None

IMAGES = np.random.default_rng(0).uniform(size=(24, 1, 16, 16)).astype(np.float32)


def trained(objective, data=None, trunk=None, likelihood=None, **settings):
    """History, codes, images and costs after three steps."""
    asked = TrainingSettings(
        n_steps=3, batch_size=6, learning_rate=1e-2, likelihood=likelihood or Bernoulli(), **settings
    )
    given = IMAGES if data is None else data
    [model] = train(given, objective, seed=5, n_codes=3, trunk=trunk or MLP(hidden=(7, 5)), settings=asked)
    codes = model.encode(IMAGES)
    some = model.codes_of(IMAGES[:4])
    return {
        "history": model.history,
        "codes": codes if isinstance(codes, np.ndarray) else (codes.mean, codes.std),
        "decoded": model.decode(some),
        "used": some,
        "costs": (model.kl_per_code(IMAGES), model.reconstruction_cost(IMAGES), model.n_active_codes(IMAGES)),
        "weights": {name: float(weight.abs().sum()) for name, weight in model.network.weights.items()},
    }


CASES = {}
if OBJECTIVES:
    CASES = {f"objective {name}": partial(trained, name, small_sprites()) for name in OBJECTIVES}
    CASES |= {
        "convolutional": partial(trained, "vae", trunk=Convolutional(channels=(4, 6))),
        "a gaussian": partial(trained, "beta_vae", likelihood=Gaussian(variance=0.3)),
        "weighted": partial(trained, "vae", reconstruction_weight=4.0, betas=(0.5, 0.9)),
        "deterministic": partial(trained, "aae"),
    }
