"""Names of models: the objective, the hyperparameters that differ from their defaults, and the seed."""

from __future__ import annotations

from collections.abc import Iterable

from unweave.models.errors import TrainingError
from unweave.models.objectives import Custom, Objective
from unweave.models.training.stack import Member


def setting_name(objective: Objective) -> str:
    """Name of a setting, without the seed.

    >>> from unweave.models.objectives import BetaVAE
    >>> setting_name(BetaVAE(beta=16))
    'beta_vae-beta=16'
    """
    if isinstance(objective, Custom):
        return f"custom-{''.join(c if c.isalnum() or c in '._' else '_' for c in objective.label)}"
    stated, usual = objective.settings(), type(objective)().settings()
    shown = [key for place, key in enumerate(stated) if place == 0 or stated[key] != usual[key]]
    return "-".join([objective.name, *(f"{key}={_short(stated[key])}" for key in shown)])


def model_name(member: Member) -> str:
    """Name of a model, which is also that of its folder."""
    return f"{setting_name(member.objective)}-seed={member.seed}"


def distinct_names(members: Iterable[Member]) -> list[str]:
    """Names of all models; raises an error if two are equal."""
    names = [model_name(member) for member in members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TrainingError(f"{twice} occurs twice: give every model its own setting or seed.")
    return names


def _short(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "x".join(map(_short, value))
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
