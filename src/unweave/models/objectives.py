"""Objectives of variational autoencoders."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from unweave.errors import InputError, OptionError
from unweave.models.networks import CriticShape, Device, EncodedBatch, Likelihood, Network, Randomness
from unweave.names import suggestion
from unweave.plugins import WithPlugins


def covariance(mean: Tensor) -> Tensor:
    """Covariance over the batch, models x codes x codes."""
    centred = mean - mean.mean(-2, keepdim=True)
    return centred.transpose(-1, -2) @ centred / mean.shape[-2]


def distance_from_identity(matrix: Tensor, off_diagonal: Tensor | float, diagonal: Tensor | float) -> Tensor:
    """off_diagonal sum_{i != j} C_ij^2 + diagonal sum_i (C_ii - 1)^2, one number per model."""
    variances = torch.diagonal(matrix, dim1=-2, dim2=-1)
    between = matrix.square().sum((-1, -2)) - variances.square().sum(1)
    return off_diagonal * between + diagonal * (variances - 1).square().sum(1)


LOG_TWO_PI = math.log(2 * math.pi)


def gaussian_kl_per_code(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) || N(0, 1)) = 1/2 (mean^2 + variance - 1 - log variance), batch mean: models x codes."""
    return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).mean(-2)


def categorical_kl(logits: Tensor) -> Tensor:
    """KL(p || uniform) = sum_k p_k log p_k + log K, mean over the batch: models x batch x K to one number per model."""
    log_probabilities = logits.log_softmax(-1)
    return (log_probabilities.exp() * log_probabilities).sum(-1).mean(-1) + math.log(logits.shape[-1])


def total_correlation_of_batch(codes: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Total correlation of the codes, with the mixture of the posteriors of the batch in place of q(z).

    mean_b [ log (1/B) sum_i prod_l q(z_bl | x_i) - sum_l log (1/B) sum_i q(z_bl | x_i) ]

    Chen et al. 2018 (S5) use 1 / (N B) instead of 1 / B, with N the number of images, which adds the constant
    (L - 1) log N and changes no gradient. Because every z_b is a sample of one of the B posteriors, the value is too
    high by about (K - 1 - sum_l (K_l - 1)) / (2 B), with K = E q(z | x) / q(z) for all codes and K_l for one code. It
    cannot exceed (L - 1) log B.

    Parameters are models x batch x codes; the result is one number per model.
    """
    codes, mean, log_variance = (part.transpose(-1, -2) for part in (codes, mean, log_variance))
    # log q(z_bl | x_i), models x codes x b x i
    squares = (codes.unsqueeze(3) - mean.unsqueeze(2)).square() * (-log_variance).exp().unsqueeze(2)
    log_densities = -0.5 * (squares + (log_variance + LOG_TWO_PI).unsqueeze(2))
    log_batch = math.log(mean.shape[-1])
    joint = log_densities.sum(1).logsumexp(2) - log_batch
    marginals = (log_densities.logsumexp(3) - log_batch).sum(1)
    return (joint - marginals).mean(1)


Fetch = Callable[[str], Tensor]


class Step:
    """The quantities that a loss may use, computed on first access. The first axis of tensors is the model.

    ``number`` is the number of steps before this one, ``n_rows`` the number of images in the data set, and ``random``
    gives random numbers, with a separate stream for each model. ``terms`` has the parts of the loss that the history
    records, one number per model.
    """

    def __init__(
        self,
        network: Network,
        fetch: Fetch,
        random: Randomness,
        likelihood: Likelihood,
        *,
        number: int,
        n_rows: int,
        reconstruction_weight: float = 1.0,
    ) -> None:
        self.network, self.random = network, random
        self.number, self.n_rows = number, n_rows
        self.terms: dict[str, Tensor] = {}
        self._fetch, self._likelihood = fetch, likelihood
        self._judged: list[tuple[Tensor, Tensor]] = []
        self._reconstruction_weight = reconstruction_weight

    @cached_property
    def images(self) -> Tensor:
        """The batch of every model, models x batch x pixels."""
        return self._fetch("rows")

    @cached_property
    def other_images(self) -> Tensor:
        """A second batch of every model, independent of the first, models x batch x pixels."""
        return self._fetch("other rows")

    @cached_property
    def partners(self) -> Tensor:
        """Images that share some factors with those of the batch, for objectives with ``pairs``."""
        return self._fetch("partners")

    @cached_property
    def encoded(self) -> EncodedBatch:
        """Posteriors of the batch."""
        return self.network.encode(self.images)

    @property
    def mean(self) -> Tensor:
        """Means of the Gaussian codes, models x batch x codes."""
        return self.encoded.mean

    @property
    def log_variance(self) -> Tensor:
        """Logarithms of the variances of the Gaussian codes, models x batch x codes."""
        return self.encoded.log_variance

    @cached_property
    def codes(self) -> Tensor:
        """One sample of the Gaussian codes for every image, models x batch x codes."""
        return self.sampled(self.mean, self.log_variance)

    @cached_property
    def reconstruction(self) -> Tensor:
        """-E log p(x | z) in nats per image, from the sampled codes, times the reconstruction weight; one per model."""
        return self.reconstruction_from(self.codes)

    @cached_property
    def kl_per_code(self) -> Tensor:
        """KL from the posterior to the prior, mean over the batch, models x codes."""
        return gaussian_kl_per_code(self.mean, self.log_variance)

    @cached_property
    def kl(self) -> Tensor:
        """Sum over the codes of `kl_per_code`: one number per model."""
        return self.record("kl", self.kl_per_code.sum(1))

    def sampled(self, mean: Tensor, log_variance: Tensor, purpose: str = "noise") -> Tensor:
        """A reparametrised sample of Gaussian posteriors."""
        noise = self.random.normal(purpose, tuple(mean.shape[1:]))
        return torch.addcmul(mean, (0.5 * log_variance).exp(), noise)

    def reconstruction_from(self, codes: Tensor, images: Tensor | None = None) -> Tensor:
        """-log p(x | z) of the batch or ``images`` for these codes, times the reconstruction weight; one per model."""
        cost = self._likelihood.cost(self.network.decode(codes), self.images if images is None else images)
        return self.record("reconstruction", self._reconstruction_weight * cost)

    def judged(self, codes: Tensor) -> Tensor:
        """Two logits of the critic for every code vector, models x batch x 2; computed once for the same tensor.

        The gradient of the loss is taken with respect to encoder and decoder, and that of the critic's loss with
        respect to the critic alone, so both can share one forward pass.
        """
        for known, logits in self._judged:
            if known is codes:
                return logits
        self._judged.append((codes, self.network.critic(codes)))
        return self._judged[-1][1]

    def record(self, name: str, term: Tensor) -> Tensor:
        """Record the term in the history under this name, and return it."""
        if name in self.terms:
            raise InputError(f"Two terms of the loss are called {name!r}: give each a name of its own.")
        self.terms[name] = term.detach()
        return term


def hyperparameter(default: float, *, at_least: float = -math.inf, above: float = -math.inf) -> Any:
    """A number that may differ between the models of a stack, with its default and range."""
    return dataclasses.field(default=default, metadata={"at_least": at_least, "above": above})


@dataclass(frozen=True)
class Objective:
    """Base class of objectives. Only fields made by `hyperparameter` may differ between the models of a stack.

    ``pairs`` requests pairs of images that share factors, ``categories`` are the sizes of categorical codes, and
    ``critic`` is the shape of a second network that classifies codes and is trained by `critic_loss`.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    pairs: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for entry in self.hyperparameters():
            _check(type(self), entry, getattr(self, entry.name))

    def loss(self, step: Step) -> Tensor:
        """The loss to minimise, one number per model."""
        raise NotImplementedError

    def critic_loss(self, step: Step) -> Tensor:
        """The loss of the critic, one number per model."""
        raise NotImplementedError

    @property
    def critic(self) -> CriticShape | None:
        """Shape of the critic, if there is one."""
        return None

    @property
    def category_sizes(self) -> tuple[int, ...]:
        """Number of values of every categorical code."""
        return ()

    @classmethod
    def hyperparameters(cls) -> list[dataclasses.Field[Any]]:
        """Fields that may differ between the models of a stack."""
        return [entry for entry in dataclasses.fields(cls) if "at_least" in entry.metadata]

    def settings(self) -> dict[str, Any]:
        """All fields, as plain data."""
        return dataclasses.asdict(self)

    def structure(self) -> tuple[Any, ...]:
        """Class and fixed fields, which all models of a stack have in common."""
        varying = {entry.name for entry in self.hyperparameters()}
        fixed = [getattr(self, entry.name) for entry in dataclasses.fields(self) if entry.name not in varying]
        return (type(self), *fixed)

    @classmethod
    def stacked(cls, objectives: Sequence[Self], device: Device = "cpu") -> Self:
        """One objective whose hyperparameters are tensors with the values of all given objectives."""
        together = object.__new__(cls)
        varying = {entry.name for entry in cls.hyperparameters()}
        for entry in dataclasses.fields(cls):
            values = [getattr(one, entry.name) for one in objectives]
            stack = torch.tensor(values, dtype=torch.float32).to(device) if entry.name in varying else values[0]
            object.__setattr__(together, entry.name, stack)
        return together


@dataclass(frozen=True)
class Custom(Objective):
    """A user-defined objective: a function of the step that returns one loss per model."""

    function: Callable[[Step], Tensor]
    name: ClassVar[str] = "custom"
    reference: ClassVar[str] = "the user's own"

    def loss(self, step: Step) -> Tensor:
        """The loss that the function returns."""
        losses = self.function(step)
        n_models = len(step.random.seeds)
        if not isinstance(losses, Tensor) or losses.shape != (n_models,):
            shape = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
            raise InputError(
                f"The objective {self.label} returns {shape}: it has to return {n_models} numbers, one per model."
            )
        return losses

    def settings(self) -> dict[str, Any]:
        """Name of the function and a digest of its source, which identifies it."""
        import hashlib
        import inspect

        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            text = ""
        return {"function": self.label, "text": hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}

    @property
    def label(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))


def linear_ramp(number: int, over: Tensor | float) -> Tensor:
    """Value at this step of a linear rise from 0 to 1 over ``over`` steps."""
    return (number / torch.as_tensor(over)).clamp(max=1.0)


def _check(kind: type[Objective], entry: dataclasses.Field[Any], value: Any) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    least, above = entry.metadata["at_least"], entry.metadata["above"]
    if is_number and value >= least and value > above:
        return
    allowed = f"above {above:g}" if above > -math.inf else f"from {least:g}"
    given = " ".join(repr(value).split())
    raise OptionError(f"{entry.name}={given} of {kind.name} is out of range: give a number {allowed}.")


@dataclass(frozen=True)
class AdaGVAE(Objective):
    """The evidence lower bound of both images of a pair, with averaged posteriors of the codes that they share."""

    beta: float = hyperparameter(6.0, at_least=0.0)
    name: ClassVar[str] = "ada_gvae"
    reference: ClassVar[str] = "Locatello et al. 2020"
    pairs: ClassVar[bool] = True

    def loss(self, step: Step) -> Tensor:
        """Mean over both images of REC + beta KL, with averaged posteriors of shared codes."""
        images = torch.cat([step.images, step.partners], dim=-2)
        encoded = step.network.encode(images)
        (mean_1, mean_2), (log_variance_1, log_variance_2) = (part.chunk(2, dim=-2) for part in encoded[:2])
        shared = shared_codes(mean_1, log_variance_1, mean_2, log_variance_2).repeat(1, 2, 1)
        middle = (0.5 * (mean_1 + mean_2)).repeat(1, 2, 1)
        variance = (0.5 * (log_variance_1.exp() + log_variance_2.exp())).log().repeat(1, 2, 1)
        mean = torch.where(shared, middle, encoded.mean)
        log_variance = torch.where(shared, variance, encoded.log_variance)
        reconstruction = step.reconstruction_from(step.sampled(mean, log_variance), images)
        step.record("shared codes", shared.float().sum(2).mean(1))
        return reconstruction + self.beta * step.record("kl", gaussian_kl_per_code(mean, log_variance).sum(1))


def shared_codes(mean_1: Tensor, log_variance_1: Tensor, mean_2: Tensor, log_variance_2: Tensor) -> Tensor:
    """Which codes of every pair count as shared, models x batch x codes."""
    ratio = log_variance_1 - log_variance_2
    squares = (mean_1 - mean_2).square() * (-log_variance_2).exp()
    divergence = 0.5 * (ratio.exp() + squares - 1 - ratio)
    threshold = 0.5 * (divergence.amin(-1, keepdim=True) + divergence.amax(-1, keepdim=True))
    return divergence < threshold


@dataclass(frozen=True)
class AnnealedVAE(Objective):
    """Reconstruction, with a penalty for a KL that differs from a capacity, which rises during training."""

    gamma: float = hyperparameter(1000.0, at_least=0.0)
    capacity: float = hyperparameter(25.0, at_least=0.0)
    capacity_steps: float = hyperparameter(100_000.0, above=0.0)
    name: ClassVar[str] = "annealed_vae"
    reference: ClassVar[str] = "Burgess et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + gamma |KL - C| (Eq 8)."""
        capacity = self.capacity * linear_ramp(step.number, self.capacity_steps)
        return step.reconstruction + self.gamma * (step.kl - capacity).abs()


@dataclass(frozen=True)
class BetaTCVAE(Objective):
    """The evidence lower bound with a weight on the total correlation within its KL."""

    beta: float = hyperparameter(6.0, at_least=0.0)
    name: ClassVar[str] = "beta_tcvae"
    reference: ClassVar[str] = "Chen et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + KL + (beta - 1) TC (Eq 4 with alpha = gamma = 1)."""
        shared = total_correlation_of_batch(step.codes, step.mean, step.log_variance)
        return step.reconstruction + step.kl + (self.beta - 1) * step.record("total correlation", shared)


@dataclass(frozen=True)
class BetaVAE(Objective):
    """The evidence lower bound with a weight on its KL."""

    beta: float = hyperparameter(4.0, at_least=0.0)
    name: ClassVar[str] = "beta_vae"
    reference: ClassVar[str] = "Higgins et al. 2017"

    def loss(self, step: Step) -> Tensor:
        """REC + beta KL (Eq 4)."""
        return step.reconstruction + self.beta * step.kl


@dataclass(frozen=True)
class DIPVAEI(Objective):
    """The evidence lower bound and the distance of the means' covariance from the identity."""

    off_diagonal: float = hyperparameter(10.0, at_least=0.0)
    diagonal_ratio: float = hyperparameter(10.0, at_least=0.0)
    name: ClassVar[str] = "dip_vae_i"
    reference: ClassVar[str] = "Kumar et al. 2018"

    def loss(self, step: Step) -> Tensor:
        """REC + KL + penalty of Cov[mean] (Eq 6), or of Cov[z] (Eq 7)."""
        diagonal = self.diagonal_ratio * self.off_diagonal
        penalty = distance_from_identity(self._covariance(step), self.off_diagonal, diagonal)
        return step.reconstruction + step.kl + step.record("covariance penalty", penalty)

    def _covariance(self, step: Step) -> Tensor:
        return covariance(step.mean)


@dataclass(frozen=True)
class DIPVAEII(DIPVAEI):
    """The evidence lower bound and the distance of the codes' covariance from the identity."""

    diagonal_ratio: float = hyperparameter(1.0, at_least=0.0)
    name: ClassVar[str] = "dip_vae_ii"

    def _covariance(self, step: Step) -> Tensor:
        return covariance(step.mean) + torch.diag_embed(step.log_variance.exp().mean(-2))


@dataclass(frozen=True)
class FactorVAE(Objective):
    """The evidence lower bound and the total correlation of the codes, estimated by a critic."""

    gamma: float = hyperparameter(35.0, at_least=0.0)
    critic_hidden: tuple[int, ...] = (1000,) * 6
    critic_learning_rate: float = 1e-4
    name: ClassVar[str] = "factor_vae"
    reference: ClassVar[str] = "Kim and Mnih 2018"

    @property
    def critic(self) -> CriticShape:
        """The critic of the paper, with the layer sizes and the learning rate of this objective."""
        return CriticShape(tuple(self.critic_hidden), self.critic_learning_rate, betas=(0.5, 0.9))

    def loss(self, step: Step) -> Tensor:
        """REC + KL + gamma TC, TC by the critic (Eq 2 and 3)."""
        shared = density_ratio(step.judged(step.codes))
        return step.reconstruction + step.kl + self.gamma * step.record("total correlation", shared)

    def critic_loss(self, step: Step) -> Tensor:
        """Cross-entropy of the critic, which classifies codes against shuffled codes of another batch (Algorithm 2)."""
        with torch.no_grad():
            encoded = step.network.encode(step.other_images)
            others = step.sampled(encoded.mean, encoded.log_variance, "other noise")
        return telling_apart(step.judged(step.codes), step.judged(shuffled(step, others)))


def density_ratio(logits: Tensor) -> Tensor:
    """mean(D_0 - D_1), the estimate of the total correlation from the critic's logits, one number per model."""
    return (logits[..., 0] - logits[..., 1]).mean(1)


def shuffled(step: Step, codes: Tensor) -> Tensor:
    """Codes of which every entry is shuffled over the batch independently."""
    _, n_rows, n_codes = codes.shape
    orders = step.random.orders("shuffling", n_codes, n_rows).transpose(-1, -2)
    return codes.gather(-2, orders)


def telling_apart(zeros: Tensor, ones: Tensor) -> Tensor:
    """Mean of the critic's cross-entropies on codes of class 0 and on codes of class 1, one number per model."""
    first, second = (logits[..., 1] - logits[..., 0] for logits in (zeros, ones))
    return 0.5 * (functional.softplus(first).mean(1) + functional.softplus(-second).mean(1))


@dataclass(frozen=True)
class AAE(Objective):
    """Reconstruction, with a penalty for codes that a critic can distinguish from the prior."""

    weight: float = hyperparameter(10.0, at_least=0.0)
    critic_hidden: tuple[int, ...] = (1000,) * 5
    critic_learning_rate: float = 1e-4
    name: ClassVar[str] = "aae"
    reference: ClassVar[str] = "Makhzani et al. 2015"
    deterministic: ClassVar[bool] = True

    @property
    def critic(self) -> CriticShape:
        """The critic of 001, with the layer sizes and the learning rate of this objective."""
        return CriticShape(tuple(self.critic_hidden), self.critic_learning_rate, betas=(0.5, 0.99))

    def loss(self, step: Step) -> Tensor:
        """REC + lambda CE(D(z), 1)."""
        logits = step.judged(step.mean)
        fooled = functional.softplus(logits[..., 0] - logits[..., 1]).mean(1)
        return step.reconstruction_from(step.mean) + self.weight * step.record("generator loss", fooled)

    def critic_loss(self, step: Step) -> Tensor:
        """Cross-entropy of the critic, which classifies codes against draws from the prior."""
        prior = step.random.normal("prior", tuple(step.mean.shape[1:]))
        return telling_apart(step.judged(step.mean), step.judged(prior))


@dataclass(frozen=True)
class HFSVAE(Objective):
    """The evidence lower bound and the distance of pairs of codes from a factorised support."""

    gamma: float = hyperparameter(100.0, at_least=0.0)
    beta: float = hyperparameter(1.0, at_least=0.0)
    n_pairs: int = 25
    name: ClassVar[str] = "hfs_vae"
    reference: ClassVar[str] = "Roth et al. 2023"

    def loss(self, step: Step) -> Tensor:
        """REC + beta KL + gamma sum of Hausdorff distances."""
        pairs = torch.tensor(list(combinations(range(step.mean.shape[-1]), 2))).to(step.mean.device)
        order = step.random.orders("pairs", 1, len(pairs))[:, 0, : self.n_pairs]
        distance = support_distance(step.mean, pairs[order])
        return step.reconstruction + self.beta * step.kl + self.gamma * step.record("support distance", distance)


def support_distance(mean: Tensor, pairs: Tensor) -> Tensor:
    """Sum over pairs of codes (models x pairs x 2) of their distance from a factorised support; one per model."""
    n_models, n_rows, _ = mean.shape
    first, second = (mean.gather(-1, pairs[..., side].unsqueeze(1).expand(-1, n_rows, -1)) for side in (0, 1))
    first, second = first.transpose(1, 2).flatten(0, 1), second.transpose(1, 2).flatten(0, 1)  # (models pairs) x batch
    with torch.no_grad():  # only the indices of the corner and of its nearest point; the distance below has a gradient
        corner = torch.cat(
            [_emptiest_corner(*some) for some in zip(first.chunk(n_models), second.chunk(n_models), strict=True)]
        )
        row, column = corner // n_rows, corner % n_rows
        to_corner = (first - first.gather(1, row)).square() + (second - second.gather(1, column)).square()
        closest = to_corner.argmin(1, keepdim=True)
    along = (first.gather(1, row) - first.gather(1, closest)).square()
    across = (second.gather(1, column) - second.gather(1, closest)).square()
    return (along + across).view(n_models, -1).sum(1)


def _emptiest_corner(first: Tensor, second: Tensor) -> Tensor:
    """Index (row x batch + column) of the corner farthest from its nearest point, for each pair (pairs x batch)."""
    apart_first = (first.unsqueeze(2) - first.unsqueeze(1)).square()
    apart_second = (second.unsqueeze(2) - second.unsqueeze(1)).square()
    nearest = [(of_row.unsqueeze(1) + apart_second).amin(-1) for of_row in apart_first.unbind(1)]
    return torch.stack(nearest, 1).flatten(1).argmax(1, keepdim=True)


@dataclass(frozen=True)
class JointVAE(Objective):
    """Gaussian and categorical codes, each kind with its own capacity."""

    gamma: float = hyperparameter(150.0, at_least=0.0)
    capacity: float = hyperparameter(40.0, at_least=0.0)
    categorical_capacity: float = hyperparameter(1.1, at_least=0.0)
    capacity_steps: float = hyperparameter(300_000.0, above=0.0)
    temperature: float = hyperparameter(0.67, above=0.0)
    categories: tuple[int, ...] = (3,)
    name: ClassVar[str] = "joint_vae"
    reference: ClassVar[str] = "Dupont 2018"

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(self.categories) if isinstance(self.categories, Sequence) else ()
        if not sizes or not all(isinstance(size, int) and size > 1 for size in sizes):
            raise OptionError(
                f"categories={reprlib.repr(self.categories)} of joint_vae: give whole numbers from 2, one per code."
            )
        object.__setattr__(self, "categories", sizes)

    @property
    def category_sizes(self) -> tuple[int, ...]:
        """Number of values of every categorical code."""
        return self.categories

    def loss(self, step: Step) -> Tensor:
        """REC + gamma |KL_z - C_z| + gamma |KL_c - C_c| (Eq 7)."""
        chosen = [
            gumbel_softmax(logits, step.random.uniform(f"category {k}", tuple(logits.shape[1:])), self.temperature)
            for k, logits in enumerate(step.encoded.logits)
        ]
        reconstruction = step.reconstruction_from(torch.cat([step.codes, *chosen], dim=-1))
        discrete = torch.stack([categorical_kl(logits) for logits in step.encoded.logits]).sum(0)
        share = linear_ramp(step.number, self.capacity_steps)
        most = sum(math.log(size) for size in self.categories)
        gaussian_gap = (step.kl - self.capacity * share).abs()
        discrete_gap = (
            step.record("categorical kl", discrete) - (self.categorical_capacity * share).clamp(max=most)
        ).abs()
        return reconstruction + self.gamma * (gaussian_gap + discrete_gap)


def gumbel_softmax(logits: Tensor, uniform: Tensor, temperature: Tensor | float) -> Tensor:
    """softmax((logits + G) / tau) with G = -log(-log u): a relaxed sample of a categorical distribution."""
    tiny = torch.finfo(uniform.dtype).tiny
    gumbel = -(-uniform.clamp(min=tiny).log()).clamp(min=tiny).log()
    tau = torch.as_tensor(temperature)
    return ((logits + gumbel) / tau.reshape(-1, *[1] * (logits.dim() - 1))).softmax(-1)


@dataclass(frozen=True)
class VAE(Objective):
    """The negative evidence lower bound."""

    name: ClassVar[str] = "vae"
    reference: ClassVar[str] = "Kingma and Welling 2014"

    def loss(self, step: Step) -> Tensor:
        """REC + KL."""
        return step.reconstruction + step.kl


KINDS = (VAE, BetaVAE, AnnealedVAE, BetaTCVAE, FactorVAE, DIPVAEI, DIPVAEII, JointVAE, AAE, AdaGVAE, HFSVAE)
OBJECTIVES: Mapping[str, type[Objective]] = WithPlugins(
    "unweave.objectives",
    {kind.name: kind for kind in KINDS},
    lambda name, kind: isinstance(kind, type) and issubclass(kind, Objective) and kind.name == name,
    "derive it from unweave.models.Objective, with {name!r} as its name",
)


def objective_of(given: Any) -> Objective:
    """The objective of a name (with default hyperparameters) or of a function; an objective is returned unchanged.

    >>> objective_of("beta_vae")
    BetaVAE(beta=4.0)
    """
    if isinstance(given, Objective):
        return given
    if isinstance(given, str):
        return kind_of(given)()
    if callable(given) and not isinstance(given, type):
        return Custom(given)
    raise InputError(f"{given!r} is not an objective: give a name, an objective, or a function of a step.")


def kind_of(name: str) -> type[Objective]:
    """Class of the objective with this name."""
    if name not in OBJECTIVES:
        raise OptionError(f"There is no objective {name!r}: {suggestion(name, OBJECTIVES)}")
    return OBJECTIVES[name]


def setting_name(objective: Objective) -> str:
    """Name of a setting, without the seed.

    >>> setting_name(BetaVAE(beta=16))
    'beta_vae-beta=16'
    """
    if isinstance(objective, Custom):
        return f"custom-{''.join(c if c.isalnum() or c in '._' else '_' for c in objective.label)}"
    stated, usual = objective.settings(), type(objective)().settings()
    shown = [key for place, key in enumerate(stated) if place == 0 or stated[key] != usual[key]]
    return "-".join([objective.name, *(f"{key}={_short(stated[key])}" for key in shown)])


def _short(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "x".join(map(_short, value))
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
