"""Initial weights of flows, which depend on seeds, and what a few steps of training make of them."""

from functools import partial

import numpy as np

RELATIVE = 1e-3  # single precision, and sums whose order depends on the processor

try:
    import torch

    from unweave.neural.flows import CouplingFlow, FlowObjective, FlowSettings, FlowTraining, train
    from unweave_papers.image_flows import ImageFlowSettings, image_flow
    from unweave_papers.image_training import train_on_images
except ImportError:
    torch = None

RNG = np.random.default_rng(0)
ROWS, IMAGES, CLASSES = RNG.normal(size=(12, 5)) * [1, 2, 3, 4, 9], RNG.normal(size=(9, 1, 8, 8)), np.arange(9) % 3


def _weights(flow):
    return {name: weight.detach().numpy() for name, weight in flow.state_dict().items()}


def coupled(couplings):
    """A flow of features before and after three steps."""
    flow = CouplingFlow(5, FlowSettings(n_blocks=2, hidden=6, couplings=couplings, seed=3))
    before = _weights(flow)
    settings = FlowTraining(n_steps=3, batch_size=8, seed=2, checkpoint_every=2)
    records = train(flow, ROWS, FlowObjective(0.5, 0.25, core=(1, 2), n_columns=2), settings)
    with torch.no_grad():
        return before, records, flow.encode(torch.tensor(ROWS).float())


def pictured(**options):
    """A flow of images before and after two steps."""
    flow = image_flow(
        ImageFlowSettings(8, n_convolutional=2, n_dense=1, hidden_channels=3, hidden_features=5, seed=2, **options)
    )
    before = _weights(flow)
    settings = FlowTraining(n_steps=2, batch_size=6, seed=2, checkpoint_every=1)
    records = train_on_images(
        flow, IMAGES.astype(np.float32), CLASSES, FlowObjective(0.5, 0.25, core=(0, 3), n_columns=2), settings
    )
    with torch.no_grad():
        return before, records, flow.encode(torch.tensor(IMAGES).float(), torch.tensor(CLASSES))


CASES = {}
if torch:
    CASES = {f"{name} couplings": partial(coupled, name) for name in ("affine", "spline")} | {
        "glow": pictured,
        "conditional": partial(pictured, n_conditions=3),
        "gin": partial(pictured, couplings="gin", n_components=3),
        "wavelet": partial(pictured, kind="wavelet", n_conditions=3, downsampling="haar"),
    }
