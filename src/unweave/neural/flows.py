"""Coupling flows and their training."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unweave.errors import FileError
from unweave.progress import progress_bar
from unweave.randomness import random_seed, random_stream
from unweave.store import write_result


@dataclass(frozen=True)
class FlowSettings:
    """The shape of a `CouplingFlow`; ``couplings`` is 'affine' or 'spline', and ``bins`` is used for splines only."""

    n_blocks: int = 8
    hidden: int = 64
    couplings: Literal["affine", "spline"] = "affine"
    bins: int = 8
    seed: int = 0


class CouplingStep(NamedTuple):
    """Intermediate results of a coupling on the way from data to latents, with which tangents are mapped back."""

    moved: Tensor
    parameters: Tensor
    slopes: tuple[Tensor, ...]
    derivative: Tensor


class CouplingFlow(nn.Module):
    """An invertible map between data and standard normal latents of the same size.

    Parameters
    ----------
    size : int
        Number of features, at least 2.
    settings : FlowSettings
        Blocks (a rotation and two couplings each), width of the networks, kind of coupling, seed of the weights.

    Examples
    --------
    >>> flow = CouplingFlow(4, FlowSettings(n_blocks=2, hidden=8))
    >>> data = torch.randn(5, 4)
    >>> latents, log_determinants = flow.encode_with_volume(data)
    >>> bool(torch.allclose(flow.decode(latents), data, atol=1e-5))
    True
    """

    shift: Tensor
    scale: Tensor
    couplings: Any

    def __init__(self, size: int, settings: FlowSettings = FlowSettings()) -> None:  # noqa: B008 - a frozen value
        super().__init__()
        if size < 2:
            raise ValueError(f"A coupling flow needs at least 2 features, but size={size}: add a feature.")
        self.settings = settings
        self.size = self.latent_size = size
        generator = torch.Generator().manual_seed(random_seed(settings.seed, "weights of a flow"))
        n_rotations = settings.n_blocks + 1
        self.register_buffer("shift", torch.zeros(size))
        self.register_buffer("scale", torch.ones(()))
        self.turns = nn.Parameter(torch.randn(n_rotations, size, size, generator=generator) / 2)
        halves = torch.arange(size) % 2 == 0
        self.couplings = nn.ModuleList(
            _Coupling(fixed, settings, generator) for _ in range(settings.n_blocks) for fixed in (halves, ~halves)
        )

    def fit_scale(self, data: Tensor) -> None:
        """Set the shift to the mean of these data, and the scale to one standard deviation over all centred entries."""
        self.shift = data.mean(dim=0)
        self.scale = (data - self.shift).std()

    def rotations(self) -> Tensor:
        """One orthogonal matrix exp(A - A') per block, and a last one."""
        return torch.linalg.matrix_exp(self.turns - self.turns.mT)

    def encode(self, data: Tensor) -> Tensor:
        """Latents of data."""
        return self.encode_with_volume(data)[0]

    def encode_with_volume(self, data: Tensor) -> tuple[Tensor, Tensor]:
        """Latents, and the log-determinant of the encoder's Jacobian."""
        latents, log_volume, _, _ = self._encode(data)
        return latents, log_volume

    def decode(self, latents: Tensor) -> Tensor:
        """Data of latents."""
        rotations = self.rotations()
        state = latents @ rotations[-1]
        for block in reversed(range(self.settings.n_blocks)):
            state = self.couplings[2 * block].inverse(self.couplings[2 * block + 1].inverse(state))
            state = state @ rotations[block]
        return self.shift + self.scale * state

    def forward(self, latents: Tensor) -> Tensor:
        """The decoder."""
        return self.decode(latents)

    def negative_log_likelihood(self, data: Tensor) -> Tensor:
        """Negative log-density of every row, in nats."""
        latents, log_volume = self.encode_with_volume(data)
        return standard_normal_cost(latents) - log_volume

    def columns(self, data: Tensor, dimensions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Latents, log-determinants of the encoder's Jacobian, and columns of the decoder's Jacobian at these data.

        ``dimensions`` (k x n) selects k latent dimensions for every row; the columns are k x n x D. The results of the
        encoder's pass are reused, so only tangents have to be computed (`_Coupling.pulled_back`).
        """
        latents, log_volume, steps, rotations = self._encode(data)
        tangents = torch.nn.functional.one_hot(dimensions, self.size).to(data.dtype) @ rotations[-1]
        for block in reversed(range(self.settings.n_blocks)):
            for half in (2 * block + 1, 2 * block):
                tangents = self.couplings[half].pulled_back(tangents, steps[half])
            tangents = tangents @ rotations[block]
        return latents, log_volume, self.scale * tangents

    def _encode(self, data: Tensor) -> tuple[Tensor, Tensor, list[CouplingStep], Tensor]:
        rotations = self.rotations()
        state = (data - self.shift) / self.scale
        log_volume = -self.size * self.scale.log().expand(data.shape[0])
        steps: list[CouplingStep] = []
        for block in range(self.settings.n_blocks):
            state = state @ rotations[block].mT
            for coupling in self.couplings[2 * block : 2 * block + 2]:
                state, change, step = coupling(state)
                log_volume = log_volume + change
                steps.append(step)
        return state @ rotations[-1].mT, log_volume, steps, rotations


class _Coupling(nn.Module):
    """y_a = x_a, y_b = T(x_b; theta(x_a)) with T elementwise and increasing."""

    a: Tensor
    b: Tensor
    order: Tensor
    layers: Any

    def __init__(self, fixed: Tensor, settings: FlowSettings, generator: torch.Generator) -> None:
        super().__init__()
        _zuko_transforms()
        self.register_buffer("a", fixed.nonzero().squeeze(1))
        self.register_buffer("b", (~fixed).nonzero().squeeze(1))
        self.register_buffer("order", torch.cat([self.a, self.b]).argsort())
        self.affine = settings.couplings == "affine"
        self.bins = settings.bins
        per_feature = 2 if self.affine else 3 * settings.bins - 1
        sizes = [self.a.numel(), settings.hidden, settings.hidden, self.b.numel() * per_feature]
        self.layers = nn.ModuleList(nn.Linear(m, n) for m, n in pairwise(sizes))
        with torch.no_grad():
            for k, layer in enumerate(self.layers):
                gain = 1.0 if k < 2 else 0.1  # so that the coupling starts near the identity
                layer.weight.copy_(gain * torch.randn(layer.weight.shape, generator=generator) / sizes[k] ** 0.5)
                layer.bias.zero_()

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor, CouplingStep]:
        """The state after the coupling, the log-determinant of the Jacobian, and intermediate results of the step."""
        fixed, moved = state[:, self.a], state[:, self.b]
        parameters, slopes = self._network(fixed)
        landed, log_derivative = self._univariate(parameters).call_and_ladj(moved)
        step = CouplingStep(moved, parameters, slopes, log_derivative.exp())
        return torch.cat([fixed, landed], dim=1)[:, self.order], log_derivative.sum(dim=1), step

    def inverse(self, state: Tensor) -> Tensor:
        """The state before the coupling."""
        fixed = state[:, self.a]
        moved = self._univariate(self._network(fixed)[0]).inv(state[:, self.b])
        return torch.cat([fixed, moved], dim=1)[:, self.order]

    def pulled_back(self, tangents: Tensor, step: CouplingStep) -> Tensor:
        """Tangents (k x n x d) before the coupling: dx_a = dy_a, dx_b = (dy_b - dT/dtheta dtheta) / T'."""
        fixed = tangents[..., self.a]
        drift = self._parameter_tangent(self._network_tangent(fixed, step.slopes), step)
        moved = (tangents[..., self.b] - drift) / step.derivative
        return torch.cat([fixed, moved], dim=2)[..., self.order]

    def _network(self, fixed: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        first = torch.tanh(self.layers[0](fixed))
        second = torch.tanh(self.layers[1](first))
        parameters = self.layers[2](second).reshape(len(fixed), self.b.numel(), -1)
        return parameters, (1 - first.square(), 1 - second.square())

    def _network_tangent(self, tangents: Tensor, slopes: tuple[Tensor, ...]) -> Tensor:
        hidden = (tangents @ self.layers[0].weight.mT) * slopes[0]
        hidden = (hidden @ self.layers[1].weight.mT) * slopes[1]
        return (hidden @ self.layers[2].weight.mT).reshape(*hidden.shape[:2], self.b.numel(), -1)

    def _univariate(self, parameters: Tensor) -> Any:
        if self.affine:
            return _zuko_transforms().MonotonicAffineTransform(parameters[..., 0], parameters[..., 1])
        widths, heights, slopes = parameters.tensor_split([self.bins, 2 * self.bins], dim=-1)
        return _zuko_transforms().MonotonicRQSTransform(widths, heights, slopes, bound=4.0)

    def _parameter_tangent(self, tangents: Tensor, step: CouplingStep) -> Tensor:
        """dT/dtheta dtheta at fixed x_b."""
        if self.affine:
            limit = -math.log(1e-3)  # zuko's soft limit of the log-scale, s -> s / (1 + |s| / limit)
            damping = (1 + step.parameters[..., 1].abs() / limit) ** -2
            return tangents[..., 0] + step.moved * step.derivative * damping * tangents[..., 1]
        further = torch.is_grad_enabled()  # training needs second derivatives
        with torch.enable_grad():
            parameters = step.parameters if further else step.parameters.detach().requires_grad_(True)
            landed = self._univariate(parameters)(step.moved)
            (sensitivity,) = torch.autograd.grad(landed.sum(), parameters, create_graph=further)
        return (tangents * sensitivity).sum(dim=-1)


def _zuko_transforms() -> Any:
    """The transforms of zuko; decoders that are no flows of this file do not need the package."""
    try:
        from zuko import transforms
    except ImportError:
        message = "Flows need zuko: install it with pip install 'unweave[torch]'."
        raise ModuleNotFoundError(message, name="zuko") from None
    return transforms


def standard_normal_cost(latents: Tensor) -> Tensor:
    """Negative log-density of a standard normal, for every row."""
    return 0.5 * (latents.square() + math.log(2 * math.pi)).sum(dim=1)


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
    progress: bool = True,
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
    start = _step_of_checkpoint(path, stated, flow, optimiser, schedule, rng, records)
    recent: list[tuple[float, ...]] = []
    with progress_bar(settings.n_steps, progress, start) as bar:
        for step in range(start + 1, settings.n_steps + 1):
            terms = terms_of(rng)
            loss: Any = sum(weight * term for weight, term in zip(weights, terms, strict=True))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(flow.parameters(), settings.largest_gradient)
            if not math.isfinite(float(loss.detach())):
                problem = f"The likelihood is not finite at step {step}: lower the learning rate"
                if path and records:
                    problem += f"; {path} has step {records[-1].step}, and training continues from there"
                raise FloatingPointError(f"{problem}.")
            optimiser.step()
            schedule.step()
            recent.append(tuple(float(term.detach()) for term in terms))
            bar.advance(text=f"log-likelihood {-recent[-1][0]:7.3f} nats")
            if step % settings.checkpoint_every == 0 or step == settings.n_steps:
                records.append(Record(step, *np.mean(recent, axis=0).tolist()))
                recent = []
                _save(path, stated, flow, optimiser, schedule, rng, records)
    return records


def _save(path: Path | None, stated: dict[str, Any], flow: nn.Module, *parts: Any) -> None:
    if path is None:
        return
    optimiser, schedule, rng, records = parts
    content = {
        "stated": stated,
        "weights": flow.state_dict(),
        "optimiser": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
        "rng": rng.bit_generator.state,
        "records": [asdict(record) for record in records],
    }
    write_result(path, lambda file: torch.save(content, file))


def _step_of_checkpoint(path: Path | None, stated: dict[str, Any], flow: nn.Module, *parts: Any) -> int:
    """Restore the state from the checkpoint, and return the number of finished steps; 0 if there is no checkpoint."""
    if path is None or not path.exists():
        return 0
    optimiser, schedule, rng, records = parts
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError):
        raise FileError(f"{path} is not a complete checkpoint: delete it, or name another one.") from None
    slower = stated["settings"]["learning_rate"] / saved["stated"]["settings"]["learning_rate"]
    same_rate = {**saved["stated"]["settings"], "learning_rate": stated["settings"]["learning_rate"]}
    if {**saved["stated"], "settings": same_rate} != stated or slower > 1:
        raise FileError(f"{path} belongs to a training with other settings: delete it, or name another checkpoint.")
    flow.load_state_dict(saved["weights"])
    optimiser.load_state_dict(saved["optimiser"])
    schedule.load_state_dict(saved["schedule"])
    for group in optimiser.param_groups:
        for rate in ("lr", "initial_lr", "max_lr", "min_lr"):
            group[rate] *= slower
    rng.bit_generator.state = saved["rng"]
    records.extend(Record(**record) for record in saved["records"])
    return records[-1].step


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
    progress: bool = True,
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
        Show a bar with the likelihood, on terminals and in notebooks, after two seconds.

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
    rng = random_stream(settings.seed, "training of a flow")
    rows = None if hasattr(data, "sample") else np.asarray(data, dtype=np.float64)

    def sample(n_rows: int, rng: np.random.Generator) -> Tensor:
        if rows is None:
            return tensor_of(data.sample(n_rows, rng), flow)  # type: ignore[union-attr]
        return tensor_of(rows[random_stream(rng, "rows of a batch").integers(0, len(rows), n_rows)], flow)

    flow.fit_scale(sample(10_000, rng))
    weights = (1.0, objective.total_correlation, objective.reconstruction)
    stated = {"objective": asdict(objective), "flow": asdict(flow.settings)}

    def terms_of(rng: np.random.Generator) -> Terms:
        return loss_terms(flow, sample(settings.batch_size, rng), objective, rng)

    return descend(flow, terms_of, weights, settings, rng, stated, checkpoint, progress)


def loss_terms(
    flow: CouplingFlow, rows: Tensor, objective: FlowObjective, rng: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Negative log-likelihood, total correlation and reconstruction error of these rows; unused terms are 0."""
    shared = error = torch.zeros(())
    if objective.total_correlation:
        n_columns = min(objective.n_columns, flow.size)
        order = rng.random((flow.size, len(rows))).argsort(axis=0)[:n_columns]
        latents, log_volume, columns = flow.columns(rows, torch.from_numpy(order).to(rows.device))
        shared = (flow.size * columns.norm(dim=2).log().mean(dim=0) + log_volume).mean()  # D.2
    else:
        latents, log_volume = flow.encode_with_volume(rows)
    likelihood_cost = (standard_normal_cost(latents) - log_volume).mean()  # D.1
    if objective.reconstruction:
        kept = torch.zeros(flow.size, device=rows.device)
        kept[list(objective.core)] = 1.0
        error = 0.5 * (rows - flow.decode(latents * kept)).square().sum(dim=1).mean()  # D.3
    return likelihood_cost, shared, error


def tensor_of(rows: NDArray[np.float64], flow: CouplingFlow) -> Tensor:
    """Rows in the precision and on the device of the weights of a flow."""
    return torch.as_tensor(np.asarray(rows), dtype=flow.turns.dtype).to(flow.turns.device)


def mean_negative_log_likelihood(flow: CouplingFlow, rows: NDArray[np.float64]) -> float:
    """Mean negative log-likelihood of held-out rows, in nats."""
    with torch.no_grad():
        return float(flow.negative_log_likelihood(tensor_of(rows, flow)).mean())
