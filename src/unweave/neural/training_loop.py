"""Steps of Adam on the terms of a loss, with checkpoints from which training continues with the same result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unweave.evidence import EvidenceError
from unweave.progress import progress_bar
from unweave.whole_files import write_whole

Terms = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class FlowTraining:
    """Steps of Adam with a one-cycle learning rate; the same seed gives the same flow on one machine."""

    n_steps: int = 2000
    batch_size: int = 256
    learning_rate: float = 3e-3
    seed: int = 0
    largest_gradient: float = 10.0
    checkpoint_every: int = 250


@dataclass(frozen=True)
class Record:
    """Means of the terms of the loss over the steps since the last record; the first two are in nats."""

    step: int
    negative_log_likelihood: float
    total_correlation: float
    reconstruction: float


def descend(
    flow: nn.Module,
    terms_of: Callable[[np.random.Generator], Terms],
    weights: Sequence[float],
    settings: FlowTraining,
    rng: np.random.Generator,
    stated: dict[str, Any],
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> list[Record]:
    """Train in place: ``terms_of`` draws a batch and returns the terms, whose weighted sum is minimised.

    ``stated`` describes the training besides its settings. If the description or the settings of a checkpoint differ,
    it is refused, with one exception: training may continue with a lower learning rate.
    """
    optimiser = torch.optim.Adam(flow.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.learning_rate, total_steps=settings.n_steps, pct_start=0.1
    )
    records: list[Record] = []
    path = None if checkpoint is None else Path(checkpoint)
    stated = {**stated, "settings": asdict(settings)}
    start = _resumed(path, stated, flow, optimiser, schedule, rng, records)
    recent: list[tuple[float, ...]] = []
    with progress_bar(settings.n_steps, progress, start) as bar:
        for step in range(start + 1, settings.n_steps + 1):
            terms = terms_of(rng)
            loss: Any = sum(weight * term for weight, term in zip(weights, terms, strict=True))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(flow.parameters(), settings.largest_gradient)
            _refuse_nan(loss, step, path, records)
            optimiser.step()
            schedule.step()
            recent.append(tuple(float(term.detach()) for term in terms))
            bar.advance(text=f"log-likelihood {-recent[-1][0]:7.3f} nats")
            if step % settings.checkpoint_every == 0 or step == settings.n_steps:
                records.append(Record(step, *np.mean(recent, axis=0).tolist()))
                recent = []
                _save(path, stated, flow, optimiser, schedule, rng, records)
    return records


def _refuse_nan(loss: Tensor, step: int, path: Path | None, records: list[Record]) -> None:
    if math.isfinite(float(loss.detach())):
        return
    kept = f"; {path} has step {records[-1].step}, and training continues from there" if path and records else ""
    raise FloatingPointError(f"The likelihood is not finite at step {step}: lower the learning rate{kept}.")


def _save(path: Path | None, stated: dict[str, Any], flow: nn.Module, *parts: Any) -> None:
    if path is None:
        return
    optimiser, schedule, rng, records = parts
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "stated": stated,
        "weights": flow.state_dict(),
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
        "rng": rng.bit_generator.state,
        "records": [asdict(record) for record in records],
    }
    write_whole(path, lambda file: torch.save(content, file))


def _resumed(path: Path | None, stated: dict[str, Any], flow: nn.Module, *parts: Any) -> int:
    """Restore the state from the checkpoint, and return the number of finished steps; 0 if there is no checkpoint."""
    if path is None or not path.exists():
        return 0
    optimiser, schedule, rng, records = parts
    found = torch.load(path, weights_only=True)
    slower = stated["settings"]["learning_rate"] / found["stated"]["settings"]["learning_rate"]
    same_rate = {**found["stated"]["settings"], "learning_rate": stated["settings"]["learning_rate"]}
    if {**found["stated"], "settings": same_rate} != stated or slower > 1:
        raise EvidenceError(f"{path} belongs to a training with other settings: delete it, or name another checkpoint.")
    flow.load_state_dict(found["weights"])
    optimiser.load_state_dict(found["optimiser"])
    schedule.load_state_dict(found["schedule"])
    for group in optimiser.param_groups:
        for rate in ("lr", "initial_lr", "max_lr", "min_lr"):
            group[rate] *= slower
    rng.bit_generator.state = found["rng"]
    records.extend(Record(**record) for record in found["records"])
    return records[-1].step
