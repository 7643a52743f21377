"""Coupling flows with affine or rational-quadratic spline couplings, and fast Jacobian columns of their decoders.

    z = R_B c_B( ... c_1(R_0 (x - m) / s))

with learned rotations R and pairs of couplings c. A coupling keeps one half of the features unchanged and transforms
the other half elementwise, with parameters that a small network computes from the first half (Dinh et al. 2016, Durkan
et al. 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from zuko.transforms import MonotonicAffineTransform, MonotonicRQSTransform

from unweave.randomness import random_seed


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
            return MonotonicAffineTransform(parameters[..., 0], parameters[..., 1])
        widths, heights, slopes = parameters.tensor_split([self.bins, 2 * self.bins], dim=-1)
        return MonotonicRQSTransform(widths, heights, slopes, bound=4.0)

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


def standard_normal_cost(latents: Tensor) -> Tensor:
    """Negative log-density of a standard normal, for every row."""
    return 0.5 * (latents.square() + math.log(2 * math.pi)).sum(dim=1)
