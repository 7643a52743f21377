"""Images, factors and dependences of the data sets that are drawn, and measures of strokes."""

from functools import partial
from itertools import islice

import numpy as np

from unweave.datasets import (
    ColouredShapes,
    Confounder,
    CorrelatedPair,
    DependentSample,
    DeterminedFactor,
    DSprites,
    small_sprites,
)
from unweave.datasets.dependence import dependences_from_text
from unweave.datasets.digits import measured_digits
from unweave.datasets.dsprites import inside, reach
from unweave.synthetic.encoders import ONE_FACTOR, TWO_FACTORS

SHAPES = ("square", "ellipse", "heart")
GREY = np.random.default_rng(0).integers(0, 256, size=(6, 12, 9))
DATA = {
    "dsprites": lambda: DSprites(64),
    "dsprites, 16 pixels": lambda: DSprites(16),
    "small sprites": small_sprites,
    "coloured shapes": ColouredShapes,
}
DEPENDENCES = {
    "a pair": CorrelatedPair("x", "y", 0.1),
    "a confounder": Confounder("scale", 0.3),
    **{f"y is the {name} of x": DeterminedFactor("y", ("x",), name) for name in ONE_FACTOR},
    **{f"y is the {name} of x and scale": DeterminedFactor("y", ("x", "scale"), name) for name in TWO_FACTORS},
}


def shown(name):
    """What a data set says of itself, and some of its images."""
    found = DATA[name]()
    some = np.linspace(0, found.n_images - 1, 25).astype(int)
    images = np.asarray(found.images(some), float)
    batch = found.sample(20, rng=1)
    rng = np.random.default_rng(3)
    held = found.indices_with({found.factor_names[0]: float(found.values[0][1])}, 10, rng)
    return {
        "described": (found.described_factors, found.n_images, found.n_values, found.image_shape, found.kinds),
        "values": found.values,
        "images": images,
        "light": images.reshape(len(some), -1).sum(axis=1),
        "factors": found.factors(some),
        "drawn": (batch.indices, batch.factors),
        "held": held,
        "found again": found.indices_of(found.factors(some)),
        "first of batches": [len(each.indices) for each in islice(found.batches(7), 2)],
    }


def dependent(name):
    """Weights and draws of a dependence."""
    sprites = small_sprites()
    sample = DependentSample(sprites, [DEPENDENCES[name]])
    indices = sample.sample_indices(30, rng=2)
    return [DEPENDENCES[name].weights(sprites), indices, sample.weights_of(indices), sample.factors(indices)]


def outlines():
    """Where shapes are, on a grid of points."""
    u, v = np.meshgrid(np.linspace(-1.5, 1.5, 41), np.linspace(-1.5, 1.5, 41))
    return {shape: (inside(shape, u, v), reach(shape)) for shape in SHAPES}


CASES = {name: partial(shown, name) for name in DATA}
CASES |= {name: partial(dependent, name) for name in DEPENDENCES}
CASES |= {
    "outlines": outlines,
    "strokes": lambda: [measured_digits(GREY), measured_digits(GREY * (GREY > 128)), measured_digits(GREY / 255, 1.0)],
    "dependences in words": lambda: dependences_from_text("x~y:0.1"),
}
