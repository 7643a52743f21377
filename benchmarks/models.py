"""Training of many models: a fleet against one model at a time, and two fleets on two cores."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import torch
from torch import nn

from benchmarks.measurement import Measurement, Target, seconds
from benchmarks.timing import best_cpu_seconds
from unweave.models import MLP, BetaVAE, TrainingSettings
from unweave.models.networks.network import Architecture
from unweave.models.training.images import training_images
from unweave.models.training.stack import Member, Stack, State

N_MODELS, N_STEPS, BATCH, N_CODES, PIXELS = 16, 60, 64, 10, 256


def _stack() -> Stack:
    images = training_images((np.random.default_rng(0).random((4608, 16, 16)) > 0.9).astype(np.float32))
    members = [Member(BetaVAE(), seed) for seed in range(N_MODELS)]
    architecture = Architecture(MLP(), images.image_shape, N_CODES)
    stack = Stack(members, [State() for _ in members], images, architecture, TrainingSettings(learning_rate=1e-3))
    stack.advance(3)
    return stack


def _plain_loop(_: object) -> None:
    """One model after another, as it is usually written: modules, Adam, sampling and loss of torch."""
    pixels = (torch.rand(4608, PIXELS) > 0.9).float()
    for _model in range(N_MODELS):
        encoder = nn.Sequential(
            nn.Linear(PIXELS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2 * N_CODES)
        )
        decoder = nn.Sequential(
            nn.Linear(N_CODES, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, PIXELS)
        )
        adam = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
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
    """Sixteen beta-VAEs as one stack, against a plain loop over sixteen."""
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
            f"{1e3 * each:.2f} ms for a model and step: 60 models x 8,000 steps take {each * 60 * 8000 / 60:.1f} min",
        ),
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
    """CPU time of a fleet alone and beside another: what two processes lose by sharing memory and caches.

    CPU time, because on a machine that does other work two processes get no two cores for themselves.
    """
    [(alone, wall_alone)] = _times(1)
    pair = _times(2)
    together, wall_together = (max(times) for times in zip(*pair, strict=True))
    return Measurement(
        subject="two fleets of sixteen MLPs in two processes, 200 steps each, against one",
        figure=2 * alone / together,
        unit="times one fleet by CPU time, as if each had a core; not wall time",
        target=Target("at least", 1.7),
        notes=(
            f"CPU: alone {alone:.1f} s, beside another {together:.1f} s",
            f"wall: alone {wall_alone:.1f} s, beside another {wall_together:.1f} s",
        ),
    )


def _times(n_processes: int) -> list[tuple[float, float]]:
    """CPU and wall seconds of so many processes at once."""
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
    ]
    printed = [process.communicate()[0].split() for process in started]
    return [(float(cpu), float(wall)) for cpu, wall in (words[-2:] for words in printed)]


MODELS = {"fleet": fleet_against_one_at_a_time, "two-fleets": two_fleets_on_two_cores}
