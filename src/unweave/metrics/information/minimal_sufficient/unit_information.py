"""Information of every code, or group of codes, about every factor and about the data, for the metrics of 004.

A unit Z_j is a code or, if the evidence has code groups, a group (004's sub-representation); codes in no group are
units of their own. A single code is binned, so I(Z_j; X) = H(Z_j) (section 4.4). The information of a group comes from
a multivariate estimator, and X stands for all factors and nuisances together (section 3: they explain X fully).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.card import metric
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.estimators.information.usable_information import UsableInformation
from unweave.evidence import Evidence
from unweave.evidence.kinds import FactorKind, inferred_kind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.information.usable_information import split
from unweave.metrics.matrices import code_information, factor_labels, mutual_information_matrix, target_columns, varying

USABLE = UsableInformation()
FEW_LEVELS = 10
Target = tuple[Labels, FloatArray]
NO_NUISANCES = Finding("no_nuisances_given")

# fields of the card that the six metrics of 004 have in common
metric_of_004 = functools.partial(
    metric,
    min_rows=50,
    takes_code_groups=True,
    reference="Rethinking disentanglement under dependent factors of variation (004)",
    version=2,
)


def units(evidence: Evidence) -> tuple[tuple[str, Rows], ...]:
    """Name and code indices of every unit."""
    place = {name: i for i, name in enumerate(evidence.code_names)}
    groups = [(name, np.array([place[m] for m in members])) for name, members in evidence.code_groups.items()]
    grouped = {member for members in evidence.code_groups.values() for member in members}
    alone = [(name, np.array([i])) for name, i in place.items() if name not in grouped]
    return (*groups, *alone)


def unit_names(evidence: Evidence) -> tuple[str, ...]:
    """Names of the units."""
    return tuple(name for name, _ in units(evidence))


@memoised(on="both")
def unit_information_matrix(
    evidence: Evidence, estimator: Information, joint: JointInformation, seed: int
) -> FloatArray:
    """I(Z_j; Y_i) of every unit (rows) and factor (columns) in nats; columns of constant factors are nan."""
    if evidence.code_groups:
        train, test, _ = split(evidence, joint, seed)
        labels = factor_labels(evidence, estimator)
        matrix = np.zeros((len(units(evidence)), evidence.n_factors))
        for i, (_, members) in enumerate(units(evidence)):
            for j in np.flatnonzero(varying(evidence)).tolist():
                matrix[i, j] = joint.joint_information(evidence.codes[:, members], labels[j], train, test)
    else:
        matrix = mutual_information_matrix(evidence, estimator).copy()
    matrix[:, ~varying(evidence)] = np.nan
    return matrix


@memoised(on="both")
def held_information(evidence: Evidence, estimator: Information, joint: JointInformation, seed: int) -> FloatArray:
    """I(Z_j; X) of every unit in nats: H(Z_j) of a code, or a group's information about all factors and nuisances."""
    if not evidence.code_groups:
        return code_information(evidence, estimator)
    told = np.nanmax(unit_information_matrix(evidence, estimator, joint, seed), axis=1)
    train, test, _ = split(evidence, joint, seed)
    targets = [*factor_targets(evidence, estimator), *nuisance_targets(evidence, estimator)]
    nothing = np.empty((evidence.n_rows, 0))
    held = [
        chained_information(evidence.codes[:, members], nothing, targets, joint, train, test)
        for _, members in units(evidence)
    ]
    return np.maximum(held, told)  # I(Z_j; X) is at least I(Z_j; Y_i) for every i


def chained_information(
    columns: FloatArray, given: FloatArray, targets: Sequence[Target], joint: JointInformation, train: Rows, test: Rows
) -> float:
    """I(columns; targets | given) by the chain rule: sum_k I(columns, given, t_<k; t_k) - I(given, t_<k; t_k)."""
    total = 0.0
    for labels, features in targets:
        without = joint.joint_information(given, labels, train, test) if given.shape[1] else 0.0
        total += max(joint.joint_information(np.hstack([columns, given]), labels, train, test) - without, 0.0)
        given = np.hstack([given, features])
    return total


def factor_targets(evidence: Evidence, estimator: Information, without: int | None = None) -> list[Target]:
    """Labels and numeric columns of every factor that varies, except factor ``without``."""
    labels = factor_labels(evidence, estimator)
    used = [j for j in np.flatnonzero(varying(evidence)).tolist() if j != without]
    return [(labels[j], target_columns(evidence, j)) for j in used]


def nuisance_targets(evidence: Evidence, estimator: Information) -> list[Target]:
    """Labels and numeric columns of every nuisance that varies; one with few levels is encoded by their indicators."""
    targets = []
    for column in evidence.nuisances.T:
        values = np.unique(column)
        if values.size < 2:
            continue
        discrete = inferred_kind(column, is_text=False) is FactorKind.ORDINAL
        few = values.size <= FEW_LEVELS
        features = (column[:, None] == values).astype(np.float64) if few else column[:, None]
        targets.append((estimator.factor_labels(column, discrete), features))
    return targets
