"""Training objectives, one per file, and the catalogue by the names that the command line uses."""

from __future__ import annotations

import difflib
from typing import Any

from unweave.models.errors import TrainingError
from unweave.models.objectives.aae import AAE
from unweave.models.objectives.ada_gvae import AdaGVAE
from unweave.models.objectives.annealed_vae import AnnealedVAE
from unweave.models.objectives.beta_tcvae import BetaTCVAE
from unweave.models.objectives.beta_vae import BetaVAE
from unweave.models.objectives.dip_vae_i import DIPVAEI
from unweave.models.objectives.dip_vae_ii import DIPVAEII
from unweave.models.objectives.factor_vae import FactorVAE
from unweave.models.objectives.hfs_vae import HFSVAE
from unweave.models.objectives.joint_vae import JointVAE
from unweave.models.objectives.objective import Custom, Objective
from unweave.models.objectives.vae import VAE

OBJECTIVES: dict[str, type[Objective]] = {
    kind.name: kind
    for kind in (
        VAE,
        BetaVAE,
        AnnealedVAE,
        BetaTCVAE,
        FactorVAE,
        DIPVAEI,
        DIPVAEII,
        JointVAE,
        AAE,
        AdaGVAE,
        HFSVAE,
    )
}


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
    raise TrainingError(f"{given!r} is not an objective: give a name, an objective, or a function of a step.")


def kind_of(name: str) -> type[Objective]:
    """Class of the objective with this name."""
    if name not in OBJECTIVES:
        near = difflib.get_close_matches(name, OBJECTIVES, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(OBJECTIVES)}."
        raise TrainingError(f"There is no objective {name!r}: {hint}")
    return OBJECTIVES[name]


__all__ = [
    "AAE",
    "DIPVAEI",
    "DIPVAEII",
    "HFSVAE",
    "OBJECTIVES",
    "VAE",
    "AdaGVAE",
    "AnnealedVAE",
    "BetaTCVAE",
    "BetaVAE",
    "Custom",
    "FactorVAE",
    "JointVAE",
    "Objective",
    "kind_of",
    "objective_of",
]
