"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.information.information_gap import mig
from unweave.metrics.intervention.t_mex import t_mex
from unweave.metrics.matching.mean_correlation import mcc
from unweave.metrics.prediction.dci.completeness import dci_completeness
from unweave.metrics.prediction.dci.disentanglement import dci_disentanglement
from unweave.metrics.prediction.dci.informativeness import dci_informativeness
from unweave.metrics.prediction.explained_variance import r2

CATALOGUE: dict[str, Metric] = {
    entry.card.name: entry
    for entry in (
        mcc,
        r2,
        dci_disentanglement,
        dci_completeness,
        dci_informativeness,
        mig,
        t_mex,
    )
}

__all__ = [
    "CATALOGUE",
    "dci_completeness",
    "dci_disentanglement",
    "dci_informativeness",
    "mcc",
    "mig",
    "r2",
    "t_mex",
]
