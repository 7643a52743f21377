"""Training of flows by maximum likelihood, with the manifold total correlation or a reconstruction from core latents.

    L = E_x [ 1/2 |f(x)|^2 - log |df/dx| ] + a I(x) + b 1/2 |x - g(f_C(x), 0)|^2

(000, D.1-D.3 and E.1), with encoder f, decoder g and core latents f_C. The manifold total correlation is I(x) =
sum_i log |J_i| - log |J|, where J is the Jacobian of g at f(x). It is estimated from a few random columns for every
sample: d times their mean log length, minus log |J|, which the encoder computes. This estimate is unbiased.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.neural.flows import CouplingFlow, standard_normal_cost
from unweave.neural.training_loop import FlowTraining, Record, Terms, descend
from unweave.randomness import random_stream

__all__ = ["FlowObjective", "FlowTraining", "Record", "loss_terms", "mean_negative_log_likelihood", "train"]


class Source(Protocol):
    """A source of data, such as the decoders in `synthetic.decoders`."""

    def sample(self, n_rows: int, rng: int | np.random.Generator) -> NDArray[np.float64]:
        """Draw n rows."""


@dataclass(frozen=True)
class FlowObjective:
    """Weights of the terms added to the negative log-likelihood; ``core`` are the latents used for reconstruction."""

    total_correlation: float = 0.0
    reconstruction: float = 0.0
    core: tuple[int, ...] = (0,)
    n_columns: int = 4


def train(
    flow: CouplingFlow,
    data: Source | NDArray[np.floating],
    objective: FlowObjective = FlowObjective(),  # noqa: B008 - a frozen value
    settings: FlowTraining = FlowTraining(),  # noqa: B008 - a frozen value
    *,
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> list[Record]:
    """Train a flow in place.

    Parameters
    ----------
    flow : CouplingFlow
        Its shift and scale are first set from the data.
    data : array (n x D), or an object with ``sample(n, rng)``
        Rows are drawn with replacement from an array; a source draws new rows at every step.
    objective : FlowObjective
        Terms that are added to the negative log-likelihood.
    settings : FlowTraining
        Steps, batches, learning rate and seed.
    checkpoint : path, optional
        Written every ``checkpoint_every`` steps. If it exists, training continues from it, with the same result as
        without the interruption.
    progress : bool
        Show a bar with the likelihood, on a terminal only.

    Returns
    -------
    list of Record
        One for every ``checkpoint_every`` steps, and one for the last step.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flow = CouplingFlow(2)
    >>> records = train(flow, rng.normal(size=(100, 2)), settings=FlowTraining(n_steps=5, batch_size=16))
    >>> records[-1].step
    5
    """
    source = _Rows(np.asarray(data, dtype=np.float64)) if not hasattr(data, "sample") else data
    rng = random_stream(settings.seed, "training of a flow")
    flow.fit_scale(_tensor(source.sample(10_000, rng), flow))
    weights = (1.0, objective.total_correlation, objective.reconstruction)
    stated = {"objective": asdict(objective), "flow": asdict(flow.settings)}

    def terms_of(rng: np.random.Generator) -> Terms:
        return loss_terms(flow, _tensor(source.sample(settings.batch_size, rng), flow), objective, rng)

    return descend(flow, terms_of, weights, settings, rng, stated, checkpoint, progress)


def loss_terms(
    flow: CouplingFlow, rows: Tensor, objective: FlowObjective, rng: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Negative log-likelihood, total correlation and reconstruction error of these rows; unused terms are 0."""
    shared = error = torch.zeros(())
    if objective.total_correlation:
        n_columns = min(objective.n_columns, flow.size)
        order = rng.random((flow.size, len(rows))).argsort(axis=0)[:n_columns]
        latents, log_volume, columns = flow.columns(rows, torch.from_numpy(order))
        shared = (flow.size * columns.norm(dim=2).log().mean(dim=0) + log_volume).mean()  # D.2
    else:
        latents, log_volume = flow.encode_with_volume(rows)
    likelihood_cost = (standard_normal_cost(latents) - log_volume).mean()  # D.1
    if objective.reconstruction:
        kept = torch.zeros(flow.size)
        kept[list(objective.core)] = 1.0
        error = 0.5 * (rows - flow.decode(latents * kept)).square().sum(dim=1).mean()  # D.3
    return likelihood_cost, shared, error


@dataclass(frozen=True, eq=False)
class _Rows:
    values: NDArray[np.float64]

    def sample(self, n_rows: int, rng: int | np.random.Generator) -> NDArray[np.float64]:
        return self.values[random_stream(rng, "rows of a batch").integers(0, len(self.values), n_rows)]


def _tensor(rows: NDArray[np.float64], flow: CouplingFlow) -> Tensor:
    return torch.as_tensor(rows, dtype=flow.turns.dtype)


def mean_negative_log_likelihood(flow: CouplingFlow, rows: NDArray[np.float64]) -> float:
    """Mean negative log-likelihood of held-out rows, in nats."""
    with torch.no_grad():
        return float(flow.negative_log_likelihood(_tensor(rows, flow)).mean())
