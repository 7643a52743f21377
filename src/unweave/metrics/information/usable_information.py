"""Usable information of all codes about every factor, on held-out rows."""

from __future__ import annotations

import numpy as np

from unweave.arrays import FloatArray, Labels, Rows
from unweave.estimators.information.information_protocols import Information, JointInformation
from unweave.estimators.protocol_defaults import own_or_default
from unweave.evidence import Evidence, FactorKind
from unweave.findings import Finding
from unweave.memo import memoised
from unweave.metrics.matrices import varying
from unweave.randomness import random_stream

DISCRETE = (FactorKind.ORDINAL, FactorKind.CATEGORICAL)


def split(evidence: Evidence, estimator: JointInformation, seed: int) -> tuple[Rows, Rows, tuple[Finding, ...]]:
    """Training and test rows for the estimator, and a caveat if it uses only a subset of all rows."""
    test_share, most_rows = own_or_default(JointInformation.row_plan, estimator)()
    if test_share:
        train, test = evidence.folds(max(2, round(1 / test_share)), seed)[0]
    else:
        train, test = np.arange(evidence.n_rows), np.arange(0)
    if most_rows is None or evidence.n_rows <= most_rows:
        return train, test, ()
    drawn = random_stream(seed, "classified rows").permutation
    n_test = round(most_rows * test_share)
    caveat = Finding("classifiers_sampled_rows", n_rows=most_rows, of=evidence.n_rows)
    return np.sort(drawn(train)[: most_rows - n_test]), np.sort(drawn(test)[:n_test]), (caveat,)


@memoised(on="both")
def held_out_shares(
    evidence: Evidence, estimator: JointInformation, labelling: Information, seed: int
) -> tuple[FloatArray, tuple[Finding, ...]]:
    """Share of every factor's entropy that all codes together explain on held-out rows; nan for constant factors."""
    train, test, caveats = split(evidence, estimator, seed)
    share = own_or_default(JointInformation.share, estimator)
    shares = np.full(evidence.n_factors, np.nan)
    for j in np.flatnonzero(varying(evidence)).tolist():
        labels = labels_from_training(evidence, j, labelling, train)
        shares[j] = share(evidence.codes, labels, train, test)
    return shares, caveats


def labels_from_training(evidence: Evidence, j: int, labelling: Information, train: Rows) -> Labels:
    """Labels of factor j: its levels if it is discrete, and otherwise bins with edges from the training rows."""
    discrete = evidence.kinds[j] in DISCRETE
    return own_or_default(Information.labels_from_training, labelling)(evidence.factors[:, j], discrete, train)
