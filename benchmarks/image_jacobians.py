"""Jacobians of decoders and encoders of image flows and VAEs, relative to torch.func applied to single samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds

FLOW_SAMPLES, VAE_SAMPLES = 8, 24
ROUNDING = 1e-3  # rounding error of derivatives in single precision, relative to the largest


@dataclass(frozen=True, eq=False)
class Way:
    """A decoder or encoder: our adapter, a function of a single row, rows, and suitable transforms of torch.func."""

    name: str
    adapter: Any
    single: Callable[[Any], Any]
    rows: Any
    modes: tuple[str, ...]

    def ours(self) -> list[Any]:
        """Return all blocks of Jacobians."""
        return list(self.adapter.jacobian_blocks(self.rows.numpy()))

    def loop(self, mode: str, module: Any) -> list[Any]:
        """Return the Jacobian of one row after another by torch.func, in evaluation mode."""
        import torch.func

        module.eval()
        transform = getattr(torch.func, mode)
        found = [transform(lambda row: self.single(row).flatten())(row).detach() for row in self.rows]
        module.train()
        return found


def flow_jacobians() -> Measurement:
    """Jacobians (256 x 256) of an untrained GLOW-like flow of 16 x 16 images, as decoder and as encoder."""
    import torch

    from unweave_papers.image_flows import ImageFlowSettings, image_flow
    from unweave_papers.image_training import class_decoder, encoder_jacobians

    torch.set_num_threads(1)
    torch.manual_seed(0)
    flow = image_flow(ImageFlowSettings())
    flow.fit(torch.randn(300, 1, 16, 16))
    rows = torch.randn(FLOW_SAMPLES, 256)
    ways = (
        Way("decoder", class_decoder(flow), lambda z: flow.decode(z[None])[0], rows, ("jacrev", "jacfwd")),
        Way("encoder", encoder_jacobians(flow), lambda x: flow.encode(x.reshape(1, 1, 16, 16))[0], rows, ("jacrev",)),
    )
    return _measured(f"an image flow, 256 x 256, {FLOW_SAMPLES} samples", ways, flow)


def vae_jacobians() -> Measurement:
    """Jacobians of a convolutional VAE with BatchNorm in training mode, with 10 latents and 32 x 32 pixels."""
    import torch
    from torch import nn

    from unweave.neural.decoders import TorchDecoder

    torch.set_num_threads(1)
    torch.manual_seed(0)
    vae = nn.ModuleDict(
        {
            "encoder": nn.Sequential(
                *(nn.Conv2d(1, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU()),
                *(nn.Conv2d(32, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU()),
                *(nn.Flatten(), nn.Linear(64 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 10)),
            ),
            "decoder": nn.Sequential(
                *(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 64 * 8 * 8), nn.ReLU(), nn.Unflatten(1, (64, 8, 8))),
                *(nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU()),
                *(nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Sigmoid()),
            ),
        }
    )
    images = torch.rand(200, 1, 32, 32)
    vae["decoder"](vae["encoder"](images))  # so that running means and variances are not 0 and 1
    decoder = TorchDecoder(vae["decoder"], 10, module=vae)
    encoder = TorchDecoder(lambda x: vae["encoder"](x.reshape(-1, 1, 32, 32)), 1024, module=vae)
    latents, pixels = torch.randn(VAE_SAMPLES, 10), images[:VAE_SAMPLES].flatten(1)
    ways = (
        Way("decoder", decoder, lambda z: vae["decoder"](z[None])[0], latents, ("jacfwd",)),
        Way("encoder", encoder, lambda x: vae["encoder"](x.reshape(1, 1, 32, 32))[0], pixels, ("jacrev",)),
    )
    return _measured(f"a convolutional VAE, 10 x 1024, {VAE_SAMPLES} samples", ways, vae)


def _measured(subject: str, ways: tuple[Way, ...], module: Any) -> Measurement:
    """Return the smaller of two speed-ups over the fastest loop; outside the loops the module is in training mode."""
    ratios, notes = [], []
    for way in ways:
        module.train()
        found = np.concatenate(way.ours())
        wanted = np.stack([jacobian.numpy() for jacobian in way.loop(way.modes[0], module)])
        np.testing.assert_allclose(found, wanted, atol=ROUNDING * np.abs(wanted).max())
        contestants: dict[str, Callable[[Any], object]] = {f"unweave, {way.name}": lambda _, way=way: way.ours()}
        for mode in way.modes:
            contestants[mode] = lambda _, mode=mode, way=way: way.loop(mode, module)
        times = best_cpu_seconds(contestants, repetitions=5)
        here, *loops = times.values()
        ratios.append(min(loops) / here)
        notes.append(seconds(times))
    return Measurement(
        subject=f"Jacobians of {subject}, float32 on both sides, evaluation mode",
        figure=min(ratios),
        unit="times faster than the faster of torch.func's jacrev and jacfwd on single samples (smaller of two)",
        target=Target("at least", 1),
        notes=tuple(notes),
    )


IMAGE_JACOBIANS: dict[str, Callable[[], Measurement]] = {
    "flow-jacobians": flow_jacobians,
    "vae-jacobians": vae_jacobians,
}
