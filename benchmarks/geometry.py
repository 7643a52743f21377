"""Jacobians of decoders and mutual information of all pairs of latents, relative to the loops that they replace."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.image_jacobians import IMAGE_JACOBIANS
from benchmarks.measurement import HEADING, Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds, peak_gigabytes

CONV_DECODER = """
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(0)
decoder = nn.Sequential(
    nn.Linear(10, 256), nn.ReLU(), nn.Linear(256, 64 * 4 * 4), nn.ReLU(), nn.Unflatten(1, (64, 4, 4)),
    nn.ConvTranspose2d(64, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(),
    nn.ConvTranspose2d(32, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Sigmoid(),
).eval()
"""
JACOBIANS = (
    CONV_DECODER
    + """
import benchmarks
from unweave.metrics import total_entropy
total_entropy(decoder, n_samples=1000)
"""
)
ALL_PAIRS = """
import benchmarks
import numpy as np
from unweave.metrics import manifold_mutual_information

class Drawn:
    latent_size = 784
    def jacobian_blocks(self, latents):
        rng = np.random.default_rng(0)
        for start in range(0, len(latents), 10):
            yield rng.standard_normal((len(latents[start:start + 10]), 784, 784))

manifold_mutual_information(Drawn(), n_samples=1000)
"""
SLICE_SAMPLES, SLICE_OUTPUTS, SLICE_COLUMNS = 100, 64, 6


def conv_jacobians() -> Measurement:
    """Jacobians of an image decoder (10 latents to 64 x 64): forward mode against a reverse-mode loop over outputs."""
    import torch

    from unweave.neural.decoders import jacobian_blocks

    place: dict[str, Any] = {}
    exec(CONV_DECODER, place)
    decoder = place["decoder"]
    latents = torch.randn(SLICE_SAMPLES, 10)

    def listing(n_outputs: int) -> Any:
        """`Jacobian_reverse` of listing C.1, for the first outputs."""
        z = latents.clone().requires_grad_(True)
        x = decoder(z).flatten(1)
        rows = torch.zeros(len(z), 10, n_outputs)
        for k in range(n_outputs):
            rows[:, :, k] = torch.autograd.grad(x[:, k].sum(), z, create_graph=True)[0].detach()
        return rows

    found = torch.cat(list(jacobian_blocks(decoder, latents))).numpy()
    np.testing.assert_allclose(found[:, :4].transpose(0, 2, 1), listing(4).numpy(), atol=1e-5)
    times = best_cpu_seconds(
        {
            "unweave": lambda _: list(jacobian_blocks(decoder, latents)),
            f"listing, {SLICE_OUTPUTS} of 4096 outputs": lambda _: listing(SLICE_OUTPUTS),
        },
        repetitions=3,
    )
    ours, slice_time = times.values()
    return Measurement(
        subject=f"Jacobians of a convolutional decoder, 10 -> 4096, {SLICE_SAMPLES} samples, float32 on both sides",
        figure=slice_time * 4096 / SLICE_OUTPUTS / ours,
        unit="times faster than the reverse-mode loop of the paper's listing C.1",
        target=Target("at least", 50),
        notes=(seconds(times), f"the loop is timed on {SLICE_OUTPUTS} outputs and scaled to 4096"),
    )


def conv_memory() -> Measurement:
    """Peak memory of a metric on the same decoder with 1,000 samples."""
    return Measurement(
        subject="total_entropy of the convolutional decoder, 1,000 samples, including interpreter and torch",
        figure=peak_gigabytes(JACOBIANS),
        unit="GB peak of a fresh process",
        target=Target("at most", 2),
    )


def all_pairs() -> Measurement:
    """Manifold mutual information of all 306,936 pairs at D = 784, in double precision."""
    from unweave.metrics import manifold_mutual_information

    rng = np.random.default_rng(0)
    jacobians = rng.standard_normal((20, 784, 784))
    some_columns = rng.standard_normal(
        (1000, SLICE_COLUMNS, 784)
    )  # latents first, as the compared implementation stores them
    some_columns[:20] = jacobians[:, :, :SLICE_COLUMNS].transpose(0, 2, 1)
    pairs = [(i, j) for i in range(SLICE_COLUMNS) for j in range(i)]

    def determinants(n_samples: int) -> list[float]:
        """Mutual information of one pair of columns after another, vectorised over samples."""
        found = []
        for i, j in pairs:
            columns = some_columns[:n_samples, [i, j]]
            joint = 0.5 * np.linalg.slogdet(columns @ columns.transpose(0, 2, 1))[1]
            lengths = 0.5 * np.log(np.square(columns).sum(axis=2)).sum(axis=1)
            found.append(float((lengths - joint).mean()))
        return found

    matrix = manifold_mutual_information(jacobians).parts["matrix"]
    np.testing.assert_allclose([matrix[pair] for pair in pairs], determinants(20), atol=1e-10)
    times = best_cpu_seconds(
        {
            "unweave, 20 samples": lambda _: manifold_mutual_information(jacobians),
            f"determinants, 1000 samples, {len(pairs)} pairs": lambda _: determinants(1000),
        },
        repetitions=3,
    )
    ours, slice_time = times.values()
    return Measurement(
        subject="manifold_mutual_information, D = d = 784, all 306,936 pairs, float64 on both sides",
        figure=slice_time * (784 * 783 / 2) / len(pairs) / (50 * ours),
        unit="times faster than pairwise determinants",
        target=Target("at least", 20),
        notes=(
            seconds(times),
            f"scaled to 1,000 samples, all pairs: {ours * 50:.0f} s and {slice_time * 306_936 / len(pairs):.0f} s here",
        ),
    )


def all_pairs_memory() -> Measurement:
    """Peak memory with 1,000 samples in blocks; all Jacobians would take 4.9 GB, and all cosines as much again."""
    return Measurement(
        subject="manifold_mutual_information, D = d = 784, 1,000 samples in blocks, including interpreter and inputs",
        figure=peak_gigabytes(ALL_PAIRS),
        unit="GB peak of a fresh process",
        target=Target("at most", 2),
    )


GEOMETRY: dict[str, Callable[[], Measurement]] = {
    "conv-jacobians": conv_jacobians,
    "conv-memory": conv_memory,
    "all-pairs": all_pairs,
    "all-pairs-memory": all_pairs_memory,
    **IMAGE_JACOBIANS,
}


if __name__ == "__main__":
    print(HEADING)
    measured = {name: run() for name, run in GEOMETRY.items() if name in sys.argv[1:] or len(sys.argv) == 1}
    for name, measurement in measured.items():
        print(*measurement.lines(name), sep="\n")
    sys.exit(any(measurement.met is False for measurement in measured.values()))
