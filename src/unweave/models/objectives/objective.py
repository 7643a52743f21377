"""The base class of objectives: a frozen value with hyperparameters, whose `loss` is the formula of its paper.

The models of a stack share one objective, in which every hyperparameter is a tensor with one value per model. The
same formula then computes the loss of every model.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from unweave.models.errors import TrainingError
from unweave.models.networks.network import CriticShape
from unweave.models.objectives.step import Step


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
    def stacked(cls, objectives: Sequence[Self]) -> Self:
        """One objective whose hyperparameters are tensors with the values of all given objectives."""
        together = object.__new__(cls)
        varying = {entry.name for entry in cls.hyperparameters()}
        for entry in dataclasses.fields(cls):
            values = [getattr(one, entry.name) for one in objectives]
            stack = torch.tensor(values, dtype=torch.float32) if entry.name in varying else values[0]
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
        found = self.function(step)
        n_models = len(step.random.seeds)
        if not isinstance(found, Tensor) or found.shape != (n_models,):
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise TrainingError(
                f"The objective {self.label} returns {shape}: it has to return {n_models} numbers, one per model."
            )
        return found

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


def risen(number: int, over: Tensor | float) -> Tensor:
    """Value at this step of a linear rise from 0 to 1 over ``over`` steps."""
    return (number / torch.as_tensor(over)).clamp(max=1.0)


def _check(kind: type[Objective], entry: dataclasses.Field[Any], value: Any) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    least, above = entry.metadata["at_least"], entry.metadata["above"]
    if is_number and value >= least and value > above:
        return
    allowed = f"above {above:g}" if above > -math.inf else f"from {least:g}"
    raise TrainingError(f"{entry.name}={value!r} of {kind.name} is out of range: give a number {allowed}.")
