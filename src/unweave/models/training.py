"""Training steps of stacked models, their settings and images."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError, OptionError
from unweave.models.networks import Architecture, Bernoulli, Device, Likelihood, Network, Randomness, initial_weights
from unweave.models.objectives import Objective, Step
from unweave.options import checks_options

MOST_BYTES_IN_MEMORY = 2**29
ROWS_AT_A_TIME = 4096
Reader = Callable[[NDArray[np.int64]], Tensor]


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """Images by index, as float32 between 0 and 1.

    ``n_values`` are the numbers of values of the factors if the images are all combinations of them, the last factor
    changing fastest. Objectives with pairs of images need it.
    """

    name: str
    image_shape: tuple[int, int, int]
    n_rows: int
    fingerprint: str
    n_values: tuple[int, ...] | None
    read: Reader

    def rows(self, numbers: Tensor) -> Tensor:
        """Images with these indices, (shape of the indices) x pixels."""
        return self.read(numbers.reshape(-1).numpy()).view(*numbers.shape, -1)

    def partners(self, numbers: Tensor, random: Randomness) -> Tensor:
        """Indices of images that share some factors with these: 1 to d - 1 of the d factors are drawn again."""
        assert self.n_values is not None
        sizes = torch.tensor(self.n_values)
        n_rows, n_factors = numbers.shape[-1], len(sizes)
        n_changed = 1 + random.whole_numbers("number of changed factors", (n_rows, 1), n_factors - 1)
        changed = random.orders("changed factors", n_rows, n_factors) < n_changed
        fresh = (random.uniform("changed values", (n_rows, n_factors)) * sizes).long()
        strides = torch.tensor([math.prod(self.n_values[j + 1 :]) for j in range(n_factors)])
        places = numbers.unsqueeze(-1) // strides % sizes
        return (torch.where(changed, fresh, places) * strides).sum(-1)


def training_images(source: Any) -> TrainingImages:
    """Images of a data set (an object with ``images`` and ``len``), of an array, or of a pair (images, factors).

    An array is n x pixels, n x height x width, or n x channels x height x width, between 0 and 1.

    >>> training_images(np.zeros((5, 8, 8))).image_shape
    (1, 8, 8)
    """
    if isinstance(source, TrainingImages):
        return source
    if hasattr(source, "images") and hasattr(source, "__len__"):
        return _of_data_set(source)
    images, factors = source if isinstance(source, tuple) and len(source) == 2 else (source, None)
    return _of_array(images, factors)


def _of_data_set(data_set: Any) -> TrainingImages:
    n_rows, shape = len(data_set), tuple(data_set.image_shape)
    n_values = getattr(data_set, "n_values", None)

    def read(numbers: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(np.asarray(data_set.images(numbers), dtype=np.float32).reshape(len(numbers), -1))

    reader: Reader = read
    if 4 * n_rows * math.prod(shape) <= MOST_BYTES_IN_MEMORY:
        starts = range(0, n_rows, ROWS_AT_A_TIME)
        pixels = torch.cat([read(np.arange(at, min(at + ROWS_AT_A_TIME, n_rows))) for at in starts])
        reader = _reader(pixels)
    n_values = None if n_values is None else tuple(n_values)
    return TrainingImages(str(data_set.name), shape, n_rows, str(data_set.fingerprint), n_values, reader)


def _of_array(images: Any, factors: Any) -> TrainingImages:
    try:
        given = np.asarray(images, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError(
            f"{type(images).__name__} cannot be trained on: pass images as an array of numbers, or a data set."
        ) from None
    shape = {2: (1, 1, *given.shape[1:]), 3: (1, *given.shape[1:]), 4: given.shape[1:]}.get(given.ndim)
    if shape is None or not given.size:
        raise InputError(
            f"Images of shape {given.shape} are not understood: pass n x pixels, n x height x width, or n x channels x "
            "height x width, with at least one image."
        )
    if not np.isfinite(given).all():
        raise InputError("Some pixels are nan or infinite: replace them before training.")
    pixels = np.ascontiguousarray(given.reshape(len(given), -1))
    digest = hashlib.blake2b(repr(given.shape).encode() + pixels.tobytes(), digest_size=16).hexdigest()
    n_values = None
    if factors is not None:
        pixels, n_values = _ordered_as_a_grid(pixels, np.asarray(factors))
    return TrainingImages("array", shape, len(pixels), digest, n_values, _reader(torch.from_numpy(pixels)))


def _ordered_as_a_grid(
    pixels: NDArray[np.float32], factors: NDArray[Any]
) -> tuple[NDArray[np.float32], tuple[int, ...] | None]:
    """Images sorted by factors, and each factor's number of values; unsorted and None if combinations are missing."""
    if factors.ndim != 2 or len(factors) != len(pixels):
        raise InputError(f"Factors of shape {factors.shape} do not fit {len(pixels)} images: pass a row per image.")
    places = np.stack([np.unique(column, return_inverse=True)[1] for column in factors.T], axis=1)
    n_values = tuple(int(column.max()) + 1 for column in places.T)
    order = np.lexsort(places.T[::-1])
    complete = math.prod(n_values) == len(pixels) and len(np.unique(places, axis=0)) == len(pixels)
    return (pixels[order], n_values) if complete else (pixels, None)


def _reader(pixels: Tensor) -> Reader:
    return lambda numbers: pixels.index_select(0, torch.from_numpy(numbers))


LOG_EVERY = 100


@checks_options
@dataclass(frozen=True)
class TrainingSettings:
    """Steps of Adam, the same for all models of a fleet.

    Batch size, learning rate and betas are those of Locatello et al. 2019, who train for 300,000 steps.

    Attributes
    ----------
    n_steps, batch_size : int
        Number of steps, and number of images in a batch, drawn with replacement.
    learning_rate, betas : float, pair of float
        Parameters of Adam for encoder and decoder.
    likelihood : Bernoulli or Gaussian
        Distribution of the pixels given the decoder's output.
    reconstruction_weight : float
        Factor of the reconstruction. With 4096 divided by the number of pixels, hyperparameters for images of 64 x 64
        pixels have the same effect on smaller images.
    checkpoint_every : int
        Steps between two checkpoints, a multiple of 100.
    """

    n_steps: int = 8000
    batch_size: int = 64
    learning_rate: float = 1e-4
    betas: tuple[float, float] = (0.9, 0.999)
    likelihood: Likelihood = Bernoulli()  # noqa: RUF009 - frozen
    reconstruction_weight: float = 1.0
    checkpoint_every: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "betas", tuple(self.betas))
        for name in ("n_steps", "batch_size", "checkpoint_every"):
            _check(
                isinstance(getattr(self, name), int) and getattr(self, name) > 0, self, name, "a whole number above 0"
            )
        for name in ("learning_rate", "reconstruction_weight"):
            value = getattr(self, name)
            _check(math.isfinite(value) and value > 0, self, name, "a number above 0")
        _check(
            len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas), self, "betas", "two numbers from 0 to 1"
        )
        multiple = self.checkpoint_every % LOG_EVERY == 0
        _check(multiple, self, "checkpoint_every", f"a multiple of {LOG_EVERY}, the interval of the history")


def _check(holds: bool, settings: TrainingSettings, name: str, wanted: str) -> None:
    if not holds:
        raise OptionError(
            f"{name}={' '.join(repr(getattr(settings, name)).split())[:100]} of the training has to be {wanted}."
        )


Record = dict[str, float]
REGISTER = 16  # number of float32 values in the widest vector register


@dataclass(frozen=True)
class ModelSpec:
    """One model of a fleet: its objective, and the seed of its weights, batches and noise."""

    objective: Objective
    seed: int


@dataclass
class State:
    """One model between two steps: steps done, its tensors (weights and moments of Adam), and its history.

    Names of tensors begin with 'weights', 'first' or 'second' (the moments), followed by the layer's name.
    """

    n_steps: int = 0
    tensors: dict[str, Tensor] = field(default_factory=dict)
    history: list[Record] = field(default_factory=list)


class Stack:
    """Models in training; `advance` does steps, and `states` returns every model separately."""

    def __init__(
        self,
        specs: Sequence[ModelSpec],
        states: Sequence[State],
        images: TrainingImages,
        architecture: Architecture,
        settings: TrainingSettings,
        device: Device = "cpu",
    ) -> None:
        self.specs, self.images, self.settings = tuple(specs), images, settings
        self.n_steps = states[0].n_steps
        self.histories = [list(state.history) for state in states]
        seeds = [spec.seed for spec in self.specs]
        self.random = Randomness(seeds, device)
        self._rows = Randomness(seeds)  # images are read on the CPU
        self._objective = type(specs[0].objective).stacked([spec.objective for spec in specs], device)
        bodies = _weights(architecture.layers(), states, seeds, device)
        critics = _weights(architecture.critic_layers(), states, seeds, device)
        self.network = Network(architecture, bodies, critics)
        self._optimisers = [(bodies, Adam(bodies, settings.learning_rate, settings.betas, states))]
        if architecture.critic is not None:
            shape = architecture.critic
            self._optimisers.append((critics, Adam(critics, shape.learning_rate, shape.betas, states)))
        self._sums: dict[str, Tensor] = {}
        self._n_summed = 0

    def advance(self, n_steps: int) -> list[int]:
        """Do this many steps, or fewer if models diverge; return the indices of models whose loss is not finite."""
        for _ in range(n_steps):
            losses = self._step()
            self.n_steps += 1
            if self.n_steps % LOG_EVERY == 0 or self.n_steps == self.settings.n_steps:
                self._log()
            if not math.isfinite(losses.sum().item()):  # also if the sum of finite losses is too large
                lost = torch.flatten(torch.nonzero(~torch.isfinite(losses))).tolist()
                if lost:
                    return lost
        return self._models_not_finite()

    def states(self) -> list[State]:
        """The state of every model; tensors are copies."""
        together: dict[str, Tensor] = {}
        for weights, optimiser in self._optimisers:
            together |= {f"weights.{name}": weight.detach() for name, weight in weights.items()}
            if self.n_steps:
                together |= {f"first.{name}": moment for name, moment in optimiser.first.items()}
                together |= {f"second.{name}": moment for name, moment in optimiser.second.items()}
        return [
            State(self.n_steps, {name: tensor[m].clone() for name, tensor in together.items()}, list(history))
            for m, history in enumerate(self.histories)
        ]

    def step(self) -> Step:
        """The inputs of the objective in the next step."""
        return Step(
            self.network,
            self._draw_rows_of,
            self.random.at(self.n_steps),
            self.settings.likelihood,
            number=self.n_steps,
            n_rows=self.images.n_rows,
            reconstruction_weight=self.settings.reconstruction_weight,
        )

    def _step(self) -> Tensor:
        step = self.step()
        losses = self._objective.loss(step)
        has_critic = len(self._optimisers) > 1
        gradients = [_gradients(losses, self._optimisers[0][0], keep=has_critic)]
        terms = {"loss": losses.detach(), **step.terms}
        if has_critic:
            of_critics = self._objective.critic_loss(step)
            gradients.append(_gradients(of_critics, self._optimisers[1][0]))
            terms["critic loss"] = of_critics.detach()
        for (_, optimiser), of_weights in zip(self._optimisers, gradients, strict=True):
            optimiser.step(of_weights)
        for name, term in terms.items():
            self._sums[name] = self._sums[name] + term if name in self._sums else term
        self._n_summed += 1
        return sum(terms[name] for name in ("loss", "critic loss") if name in terms)  # type: ignore[return-value]

    def _draw_rows_of(self, purpose: str) -> Tensor:
        random = self._rows.at(self.n_steps)
        wanted = "rows" if purpose == "partners" else purpose
        numbers = random.whole_numbers(wanted, (self.settings.batch_size,), self.images.n_rows)
        if purpose == "partners":
            numbers = self.images.partners(numbers, random)
        return self.images.rows(numbers).to(self.random.device)

    def _log(self) -> None:
        """Append the means of the terms since the last record to the histories."""
        means = {name: (total / self._n_summed).tolist() for name, total in self._sums.items()}
        for m, history in enumerate(self.histories):
            history.append({"step": self.n_steps, **{name: values[m] for name, values in means.items()}})
        self._sums, self._n_summed = {}, 0

    def _models_not_finite(self) -> list[int]:
        """Indices of models with weights that are not finite, so that the next loss would not be finite either."""
        finite = torch.ones(len(self.specs), dtype=torch.bool, device=self.random.device)
        for weights, _ in self._optimisers:
            for weight in weights.values():
                finite &= torch.isfinite(weight.detach().flatten(1)).all(1)
        return torch.flatten(torch.nonzero(~finite)).tolist()


def _weights(layers: Any, states: Sequence[State], seeds: Sequence[int], device: Device) -> dict[str, Tensor]:
    if not states[0].tensors:
        weights = initial_weights(layers, seeds)
    else:
        names = [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]
        weights = {name: torch.stack([state.tensors[f"weights.{name}"] for state in states]) for name in names}
    return {name: weight.to(device).requires_grad_() for name, weight in weights.items()}


class Adam:
    """The update of `torch.optim.Adam` to the last bit, without its work in Python, a tenth of the time of a step."""

    # The fused kernel makes one pass over weights, gradients and moments; otherwise the update takes a third of the
    # time of a step. It rounds entries that do not fill a vector register differently. Layers with such entries do not
    # use it, so that the result of a model does not depend on the other models of the stack.
    def __init__(
        self, weights: dict[str, Tensor], learning_rate: float, betas: tuple[float, float], states: Sequence[State]
    ) -> None:
        self.learning_rate, self.betas, self.n_steps = learning_rate, betas, states[0].n_steps
        self.first, self.second = ({name: torch.zeros_like(w.detach()) for name, w in weights.items()} for _ in "12")
        if self.n_steps:
            for part, moments in (("first", self.first), ("second", self.second)):
                for name in weights:
                    moments[name].copy_(torch.stack([state.tensors[f"{part}.{name}"] for state in states]))
        own = [(w.detach(), self.first[name], self.second[name]) for name, w in weights.items()]
        self.is_fused = [weight.is_cpu and weight[0].numel() % REGISTER == 0 for weight in weights.values()]
        self._fused = list(zip(*compress(own, self.is_fused), strict=True))
        self._others = list(compress(own, [not fused for fused in self.is_fused]))

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the weights."""
        self.n_steps += 1
        (beta, beta_2), eps = self.betas, 1e-8
        if self._fused:
            options: Any = {"lr": self.learning_rate, "beta1": beta, "beta2": beta_2, "eps": eps, "weight_decay": 0.0}
            step = [torch.tensor(float(self.n_steps))] * len(self._fused[0])
            weights, first, second = self._fused
            of_fused = list(compress(gradients, self.is_fused))
            torch._fused_adam_(weights, of_fused, first, second, [], step, amsgrad=False, maximize=False, **options)
        others = (gradient for gradient, fused in zip(gradients, self.is_fused, strict=True) if not fused)
        for (weight, mean, square), gradient in zip(self._others, others, strict=True):
            mean.lerp_(gradient, 1 - beta)
            square.mul_(beta_2).addcmul_(gradient, gradient, value=1 - beta_2)
            spread = (square.sqrt() / (1 - beta_2**self.n_steps) ** 0.5).add_(eps)
            weight.addcdiv_(mean, spread, value=-self.learning_rate / (1 - beta**self.n_steps))


def _gradients(losses: Tensor, weights: dict[str, Tensor], keep: bool = False) -> tuple[Tensor, ...]:
    # a model's loss does not depend on other models' weights, so the sum's gradient has the gradients of all models
    return torch.autograd.grad(losses.sum(), list(weights.values()), retain_graph=keep)
