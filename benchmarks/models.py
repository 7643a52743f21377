"""Training of many models: a fleet relative to one model at a time, and two fleets on two cores."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import torch
from torch import nn

from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.models import MLP, BetaVAE, FactorVAE, Objective, TrainingSettings
from unweave.models.networks import Architecture
from unweave.models.training import ModelSpec, Stack, State, training_images

REPETITIONS, QUIET = 3, 0.9
N_MODELS, N_STEPS, BATCH, N_CODES, PIXELS = 16, 60, 64, 10, 256


def _stack(objective: Objective = BetaVAE(), n_models: int = N_MODELS) -> Stack:  # noqa: B008 - a frozen value
    images = training_images((np.random.default_rng(0).random((4608, 16, 16)) > 0.9).astype(np.float32))
    specs = [ModelSpec(objective, seed) for seed in range(n_models)]
    architecture = Architecture(MLP(), images.image_shape, N_CODES, critic=objective.critic)
    stack = Stack(specs, [State() for _ in specs], images, architecture, TrainingSettings(learning_rate=1e-3))
    stack.advance(3)
    return stack


def _plain_loop(_: object, n_models: int = N_MODELS, fused: bool = False) -> None:
    """Train one model after another in the usual way, with torch's modules, Adam, sampling and loss."""
    pixels = (torch.rand(4608, PIXELS) > 0.9).float()
    for _model in range(n_models):
        encoder = nn.Sequential(
            nn.Linear(PIXELS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2 * N_CODES)
        )
        decoder = nn.Sequential(
            nn.Linear(N_CODES, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, PIXELS)
        )
        adam = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3, fused=fused)
        for _step in range(N_STEPS):
            images = pixels[torch.randint(len(pixels), (BATCH,))]
            mean, log_variance = encoder(images).chunk(2, dim=1)
            codes = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
            cost = nn.functional.binary_cross_entropy_with_logits(decoder(codes), images, reduction="sum") / BATCH
            kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / BATCH
            adam.zero_grad()
            (cost + 4 * kl).backward()
            adam.step()


def fleet_against_one_at_a_time() -> Measurement:
    """Speed of sixteen beta-VAEs trained as one stack, relative to a plain loop over sixteen models."""
    torch.set_num_threads(1)
    contestants = {"fleet": lambda stack: stack.advance(N_STEPS), "loop": _plain_loop}
    times = best_cpu_seconds(contestants, repetitions=3, prepare=_stack, prepared_for=["fleet"])
    each = times["fleet"] / N_STEPS / N_MODELS
    return Measurement(
        subject=f"{N_MODELS} MLP beta-VAEs (256-128-128, ten codes, batch 64), {N_STEPS} steps, one core",
        figure=times["loop"] / times["fleet"],
        unit="times as many model-steps per CPU second as a plain loop",
        target=Target("at least", 1.8),
        notes=(
            seconds(times),
            f"{1e3 * each:.2f} ms per model and step: 60 models x 8,000 steps take {each * 60 * 8000 / 60:.1f} min",
        ),
    )


def one_model() -> Measurement:
    """Time of one beta-VAE relative to the same steps of a plain loop with torch's fused Adam."""
    torch.set_num_threads(1)
    contestants = {
        "model": lambda stack: stack.advance(10 * N_STEPS),
        "loop": lambda _: [_plain_loop(None, 1, fused=True) for _ in range(10)],
    }
    times = best_cpu_seconds(contestants, repetitions=3, prepare=lambda: _stack(n_models=1), prepared_for=["model"])
    return Measurement(
        subject=f"one MLP beta-VAE (256-128-128, ten codes, batch 64), {10 * N_STEPS} steps, one core",
        figure=times["model"] / times["loop"],
        unit="times the CPU time of a plain loop with fused Adam",
        target=Target("at most", 1.05),
        notes=(seconds(times),),
    )


def factor_vae_fleet() -> Measurement:
    """Time of sixteen FactorVAEs with critics of three layers of 256, relative to the critics' matrix products.

    A critic of 10-256-256-256-2 processes 64 codes forwards and backwards for the encoder's loss and 128 for its own
    loss. These are 60 million multiplications per model and step, three times as many as for encoder and decoder. The
    products alone are also timed, so that the figure shows the overhead of everything else.
    """
    torch.set_num_threads(1)
    rows, wide = torch.randn(N_MODELS, 2 * BATCH, 256), torch.randn(N_MODELS, 256, 256)
    n_products = 6 * N_STEPS  # two layers of 256 x 256, each forwards and backwards to inputs and weights

    def products(_: object) -> None:
        for _product in range(n_products):
            torch.bmm(rows, wide)

    objective = FactorVAE(critic_hidden=(256, 256, 256))
    contestants = {"fleet": lambda stack: stack.advance(N_STEPS), "products": products}
    prepare = partial(_stack, objective)
    times = best_cpu_seconds(contestants, repetitions=3, prepare=prepare, prepared_for=["fleet"])
    each, floor = (1e3 * times[name] / N_STEPS / N_MODELS for name in ("fleet", "products"))
    return Measurement(
        subject=f"{N_MODELS} FactorVAEs (critic of 3 x 256 units), {N_STEPS} steps, one core",
        figure=each / floor,
        unit="times the critic's two large products on 128 codes",
        target=Target("at most", 4.0),
        notes=(f"{each:.2f} ms per model and step, of which these products take {floor:.2f} ms",),
    )


PROGRAM = """
import time, torch
from benchmarks.models import _stack
torch.set_num_threads(1)
stack = _stack()
start, clock = time.process_time(), time.time()
stack.advance(200)
print(time.process_time() - start, time.time() - clock)
"""


def two_fleets_on_two_cores() -> Measurement:
    """Throughput of two fleets in two processes relative to one fleet, the best of three repetitions.

    Wall time is used if every process had a core to itself. On a busy machine, two processes do not get two cores and
    wall time depends on the load. CPU time is used then, which still includes the cost of sharing memory and caches.
    """
    pairs = [(_times(1)[0], _times(2)) for _ in range(REPETITIONS)]
    by_cpu = max(2 * alone[0] / max(cpu for cpu, _ in both) for alone, both in pairs)
    by_wall = max(2 * alone[1] / max(wall for _, wall in both) for alone, both in pairs)
    share = max(min(cpu / wall for cpu, wall in (alone, *both)) for alone, both in pairs)
    quiet = share > QUIET
    return Measurement(
        subject=f"two fleets of sixteen MLPs in two processes, 200 steps each, against one; best of {REPETITIONS}",
        figure=by_wall if quiet else by_cpu,
        unit="times one fleet by wall time" if quiet else "times one fleet by CPU time, as if each had a core",
        target=Target("at least", 1.7),
        notes=(
            f"by CPU time {by_cpu:.2f}, by wall time {by_wall:.2f}; a process had at least {share:.0%} of a core",
            "wall time is used if that share is above 90 %",
        ),
    )


def _times(n_processes: int) -> list[tuple[float, float]]:
    """Return CPU and wall seconds of ``n_processes`` processes that run at the same time."""
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
    ]
    printed = [process.communicate()[0].split() for process in started]
    return [(float(cpu), float(wall)) for cpu, wall in (words[-2:] for words in printed)]


MODELS = {
    "fleet": fleet_against_one_at_a_time,
    "one-model": one_model,
    "factor-vae-fleet": factor_vae_fleet,
    "two-fleets": two_fleets_on_two_cores,
}
