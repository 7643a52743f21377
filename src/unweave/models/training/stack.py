"""Many models with the same architecture and kind of objective, trained together with stacked weights in joint steps.

No operation mixes models. Products are batched, losses are summed only to take the gradient, and Adam works entry by
entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from unweave.models.networks import initial_weights
from unweave.models.networks.network import Architecture, Network
from unweave.models.objectives import Objective
from unweave.models.objectives.step import Step
from unweave.models.randomness import Randomness
from unweave.models.training.images import TrainingImages
from unweave.models.training.settings import LOG_EVERY, TrainingSettings

Record = dict[str, float]
REGISTER = 16  # number of float32 values in the widest vector register


@dataclass(frozen=True)
class Member:
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
        members: Sequence[Member],
        states: Sequence[State],
        images: TrainingImages,
        architecture: Architecture,
        settings: TrainingSettings,
    ) -> None:
        self.members, self.images, self.settings = tuple(members), images, settings
        self.n_steps = states[0].n_steps
        self.histories = [list(state.history) for state in states]
        seeds = [member.seed for member in self.members]
        self.random = Randomness(seeds)
        self._objective = type(members[0].objective).stacked([member.objective for member in members])
        bodies = _weights(architecture.layers(), states, seeds)
        critics = _weights(architecture.critic_layers(), states, seeds)
        self.network = Network(architecture, bodies, critics)
        self._optimisers = [(bodies, _adam(bodies, settings.learning_rate, settings.betas, states))]
        if architecture.critic is not None:
            shape = architecture.critic
            self._optimisers.append((critics, _adam(critics, shape.learning_rate, shape.betas, states)))
        self._sums: dict[str, Tensor] = {}
        self._n_summed = 0

    def advance(self, n_steps: int) -> list[int]:
        """Do this many steps, or fewer if models diverge; return the indices of models whose loss is not finite."""
        for _ in range(n_steps):
            losses = self._step()
            self.n_steps += 1
            if self.n_steps % LOG_EVERY == 0 or self.n_steps == self.settings.n_steps:
                self._log()
            lost = torch.flatten(torch.nonzero(~torch.isfinite(losses)))
            if len(lost):
                return lost.tolist()
        return self._broken()

    def states(self) -> list[State]:
        """The state of every model; tensors are copies."""
        together = {}
        for weights, optimiser in self._optimisers:
            for name, weight in weights.items():
                kept = optimiser.state[weight]
                together[f"weights.{name}"] = weight.detach()
                if kept:
                    together[f"first.{name}"], together[f"second.{name}"] = kept["exp_avg"], kept["exp_avg_sq"]
        return [
            State(self.n_steps, {name: tensor[m].clone() for name, tensor in together.items()}, list(history))
            for m, history in enumerate(self.histories)
        ]

    def step(self) -> Step:
        """The inputs of the objective in the next step."""
        return Step(
            self.network,
            self._fetched,
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
        found = [_gradients(losses, self._optimisers[0][0], keep=has_critic)]
        terms = {"loss": losses.detach(), **step.terms}
        if has_critic:
            of_critics = self._objective.critic_loss(step)
            found.append(_gradients(of_critics, self._optimisers[1][0]))
            terms["critic loss"] = of_critics.detach()
        for (weights, optimiser), gradients in zip(self._optimisers, found, strict=True):
            for weight, gradient in zip(weights.values(), gradients, strict=True):
                weight.grad = gradient
            optimiser.step()
        for name, term in terms.items():
            self._sums[name] = self._sums[name] + term if name in self._sums else term
        self._n_summed += 1
        return sum(terms[name] for name in ("loss", "critic loss") if name in terms)  # type: ignore[return-value]

    def _fetched(self, purpose: str) -> Tensor:
        if purpose == "partners":
            return self.images.rows(self.images.partners(self._numbers("rows"), self.random))
        return self.images.rows(self._numbers(purpose))

    def _numbers(self, purpose: str) -> Tensor:
        return self.random.whole_numbers(purpose, (self.settings.batch_size,), self.images.n_rows)

    def _log(self) -> None:
        """Append the means of the terms since the last record to the histories."""
        means = {name: (total / self._n_summed).tolist() for name, total in self._sums.items()}
        for m, history in enumerate(self.histories):
            history.append({"step": self.n_steps, **{name: values[m] for name, values in means.items()}})
        self._sums, self._n_summed = {}, 0

    def _broken(self) -> list[int]:
        """Indices of models with weights that are not finite, so that the next loss would not be finite either."""
        finite = torch.ones(len(self.members), dtype=torch.bool)
        for weights, _ in self._optimisers:
            for weight in weights.values():
                finite &= torch.isfinite(weight.detach().flatten(1)).all(1)
        return torch.flatten(torch.nonzero(~finite)).tolist()


def _weights(layers: Any, states: Sequence[State], seeds: Sequence[int]) -> dict[str, Tensor]:
    if not states[0].tensors:
        weights = initial_weights(layers, seeds)
    else:
        names = [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]
        weights = {name: torch.stack([state.tensors[f"weights.{name}"] for state in states]) for name in names}
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def _adam(
    weights: dict[str, Tensor], learning_rate: float, betas: tuple[float, float], states: Sequence[State]
) -> torch.optim.Adam:
    # The fused optimiser makes one pass over weights, gradients and moments; otherwise the update takes a third of the
    # time of a step. The fused optimiser rounds entries that do not fill a vector register differently. Layers with
    # such entries do not use it, so that the result of a model does not depend on the other models of the stack.
    even = [weight for weight in weights.values() if weight[0].numel() % REGISTER == 0]
    odd = [weight for weight in weights.values() if weight[0].numel() % REGISTER]
    groups = [{"params": even, "fused": True}, {"params": odd, "foreach": False}]
    optimiser = torch.optim.Adam([group for group in groups if group["params"]], lr=learning_rate, betas=betas)
    if states[0].n_steps:
        for name, weight in weights.items():
            optimiser.state[weight] = {
                "step": torch.tensor(float(states[0].n_steps)),
                "exp_avg": torch.stack([state.tensors[f"first.{name}"] for state in states]),
                "exp_avg_sq": torch.stack([state.tensors[f"second.{name}"] for state in states]),
            }
    return optimiser


def _gradients(losses: Tensor, weights: dict[str, Tensor], keep: bool = False) -> tuple[Tensor, ...]:
    # a model's loss does not depend on other models' weights, so the sum's gradient has the gradients of all models
    return torch.autograd.grad(losses.sum(), list(weights.values()), retain_graph=keep)
