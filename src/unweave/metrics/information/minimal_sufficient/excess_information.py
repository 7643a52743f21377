"""Information of a unit given its main factor Y_i: I(Z_j; other factors | Y_i) and I(Z_j; nuisances | Y_i).

A unit Z_j is a code or a group of codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.information.minimal_sufficient.unit_information import (
    Target,
    chained_information,
    factor_targets,
    held_information,
    nuisance_targets,
    unit_information_matrix,
    units,
)
from unweave.metrics.information.usable_information import split
from unweave.metrics.matrices import code_labels, target_columns
from unweave.randomness import random_stream
from unweave.score import Score


@dataclass(frozen=True)
class Beyond:
    """For every unit: its main factor, its information about other variables given that factor, and I(Z_j; X)."""

    factor: NDArray[np.intp]
    information: FloatArray
    held: FloatArray
    caveats: tuple[Finding, ...]


@memoised(on="both")
def told_beyond(
    evidence: Evidence,
    what: Literal["factors", "nuisances"],
    estimator: Information,
    joint: JointInformation,
    most_units: int,
    seed: int,
) -> Beyond:
    """Conditional information given the main factor, for all units or for a random subset of ``most_units``."""
    held = held_information(evidence, estimator, joint, seed)
    own = np.nanargmax(unit_information_matrix(evidence, estimator, joint, seed), axis=1)
    train, test, caveats = split(evidence, joint, seed)
    used = np.flatnonzero(held > 0)
    if used.size > most_units:
        used = np.sort(random_stream(seed, "chosen codes").permutation(used)[:most_units])
        caveats = (*caveats, Finding("codes_sampled", n_codes=most_units, of=held.size))
    information = np.full(held.size, np.nan)
    for i in used.tolist():
        given = target_columns(evidence, int(own[i]))
        if what == "factors":
            targets = factor_targets(evidence, estimator, without=int(own[i]))
        else:
            targets = nuisance_targets(evidence, estimator)
        if evidence.code_groups:
            columns = evidence.codes[:, units(evidence)[i][1]]
            information[i] = chained_information(columns, given, targets, joint, train, test)
        else:  # the labels of a single code are the target, so all other variables can be predictors together
            labels = code_labels(evidence, estimator)[i]
            all_columns = _widened(given, targets)
            whole = joint.joint_information(all_columns, labels, train, test) if targets else 0.0
            information[i] = max(whole - joint.joint_information(given, labels, train, test), 0.0) if targets else 0.0
    return Beyond(own, information, held, caveats)


def invariance(evidence: Evidence, beyond: Beyond) -> Score:
    """Score with 1 - I(Z_j; others | Y_i) / I(Z_j; X) of every unit, and their mean."""
    per_unit = 1 - np.divide(
        beyond.information, beyond.held, out=np.full_like(beyond.held, np.nan), where=beyond.held > 0
    )
    names = [name for name, _ in units(evidence)]
    defined = ~np.isnan(per_unit)
    return Score(
        raw=float(per_unit[defined].mean()) if defined.any() else np.nan,
        per_code=dict(zip(names, per_unit.tolist(), strict=True)),
        parts={"information_beyond": beyond.information, "own_factor": beyond.factor.astype(np.float64)},
        caveats=beyond.caveats if defined.any() else (*beyond.caveats, Finding("all_codes_empty")),
    )


def _widened(given: FloatArray, targets: list[Target]) -> FloatArray:
    return np.hstack([given, *(features for _, features in targets)])
