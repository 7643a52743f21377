"""The two protocols for 003's experiments: ours, and that of the released code.

    ours      all n rows, the metrics of this library with their defaults, worlds and encoders of the text
    authors   a fifth of the rows for every metric but R2, which is fitted on the other four fifths; worlds and encoders
              of the released code, with its seeds

MCC-P, MCC-S and R2 of the second protocol equal those of the released code to the last printed digit if its random
draws can be reproduced. The other metrics are ours, with the options nearest to the released code: 20 bins of equal
width for MIG, gradient boosting for DCI, and a linear test for T-MEX. In both protocols T-MEX is the share of factors
with a code of their own, so that it has the scale of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from unweave.card.choices import metric_of
from unweave.estimators.information.histogram import Histogram
from unweave.estimators.probes.probes import GradientBoosting
from unweave.evidence import Evidence
from unweave.metrics import (
    dci_completeness,
    dci_disentanglement,
    dci_informativeness,
    infomec_compactness,
    infomec_explicitness,
    infomec_modularity,
    mcc,
    mig,
    r2,
    t_mex,
)
from unweave.papers.guardians.authors.released_metrics import released_mcc, released_r2, released_split
from unweave.score import Score
from unweave.sweeps import AllRows, Measurement, Protocol, measured
from unweave.sweeps.protocol import scored

ProtocolName = Literal["ours", "authors"]
MAIN = ("DCI-D", "MCC-P", "MCC-S", "R2")
SUITE = (*MAIN, "MCC-RDC", "MIG", "InfoM", "T-MEX")
ALL = (*SUITE, "DCI-C", "DCI-I", "InfoC", "InfoE")
ENCODER_SEEDS_FROM = 1_000_000


@dataclass(frozen=True)
class ReleasedCode:
    """Protocol of the released code: its seeds for world, encoder and split, and a fifth of the rows for most metrics.

    Without ``split`` all rows are used and world and encoder share the seed, as in the fifth experiment.

    >>> from unweave.synthetic.encoders import PermutedAndScaled
    >>> from unweave.synthetic.worlds import Independent
    >>> [found] = ReleasedCode().scores(Independent(3), PermutedAndScaled(), 100, 42, {"R2": released_r2})
    >>> round(found.value, 3)
    1.0
    """

    split: bool = True

    def scores(self, world: Any, encoder: Any, n_rows: int, seed: int, metrics: Mapping[str, Any]) -> list[Measurement]:
        """Sample factors and codes, and compute these metrics."""
        factors = np.asarray(world.sample(n_rows, np.random.default_rng(seed)), dtype=np.float64)
        codes = encoder.encode(factors, np.random.default_rng(seed + (ENCODER_SEEDS_FROM if self.split else 0)))
        test = released_split(n_rows, seed)[1] if self.split else np.arange(n_rows)

        # two separate Evidence objects: an overflow in the training rows must not invalidate the held-out rows
        @cache
        def evidence(of_all: bool) -> Evidence:
            rows = slice(None) if of_all else test
            return Evidence(factors[rows], codes[rows], kinds="continuous")

        def score(entry: Any) -> Score:
            return scored(entry, evidence(metric_of(entry) is released_r2), seed)

        return [measured(label, partial(score, entry)) for label, entry in metrics.items()]


OURS: dict[str, Any] = {
    "DCI-D": dci_disentanglement,
    "MCC-P": mcc,
    "MCC-S": partial(mcc, correlation="spearman"),
    "R2": r2,
    "MCC-RDC": partial(mcc, correlation="rdc"),
    "MIG": mig,
    "InfoM": infomec_modularity,
    "T-MEX": partial(t_mex, score="alignment"),
    "DCI-C": dci_completeness,
    "DCI-I": dci_informativeness,
    "InfoC": infomec_compactness,
    "InfoE": infomec_explicitness,
}
AUTHORS: dict[str, Any] = OURS | {
    "DCI-D": partial(dci_disentanglement, probe=GradientBoosting()),
    "MCC-P": released_mcc,
    "MCC-S": partial(released_mcc, correlation="spearman"),
    "R2": released_r2,
    "MIG": partial(mig, estimator=Histogram(20, "equal_width")),
    "T-MEX": partial(t_mex, score="alignment", test="linear", correction="none"),
    "DCI-C": partial(dci_completeness, probe=GradientBoosting()),
    "DCI-I": partial(dci_informativeness, probe=GradientBoosting()),
}


def metrics_and_protocol(name: ProtocolName, run: str, labels: tuple[str, ...]) -> tuple[dict[str, Any], Protocol]:
    """Return the metrics with these labels, and the protocol with which a run of this name computes them."""
    if name == "ours":
        return {label: OURS[label] for label in labels}, AllRows()
    chosen = {label: AUTHORS[label] for label in labels}
    if "R2" in chosen and run.startswith("exp05"):
        chosen["R2"] = partial(released_r2, in_sample=True)
    if "R2" in chosen and run == "exp15":  # the oldest run did not clip values to [0, 1]
        chosen["R2"] = partial(released_r2, clip=False)
    return chosen, ReleasedCode(split=not run.startswith("exp05"))
