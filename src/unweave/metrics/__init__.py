"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.geometry.cross_mutual_information import manifold_cross_mutual_information
from unweave.metrics.geometry.manifold_entropy import manifold_entropy
from unweave.metrics.geometry.mutual_information import manifold_mutual_information
from unweave.metrics.geometry.total_correlation import manifold_total_correlation
from unweave.metrics.geometry.total_entropy import total_entropy
from unweave.metrics.information.information_gap import mig
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
        total_entropy,
        manifold_entropy,
        manifold_total_correlation,
        manifold_mutual_information,
        manifold_cross_mutual_information,
    )
}

__all__ = [
    "CATALOGUE",
    "dci_completeness",
    "dci_disentanglement",
    "dci_informativeness",
    "manifold_cross_mutual_information",
    "manifold_entropy",
    "manifold_mutual_information",
    "manifold_total_correlation",
    "mcc",
    "mig",
    "r2",
    "total_entropy",
]
