"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.decomposition.redundancy_lower_bound import redundancy_lower_bound
from unweave.metrics.decomposition.redundancy_upper_bound import redundancy_upper_bound
from unweave.metrics.decomposition.synergy_lower_bound import synergy_lower_bound
from unweave.metrics.decomposition.synergy_upper_bound import synergy_upper_bound
from unweave.metrics.decomposition.unique_lower_bound import unibound
from unweave.metrics.decomposition.unique_upper_bound import unique_upper_bound
from unweave.metrics.information.information_gap import mig
from unweave.metrics.matching.mean_correlation import mcc
from unweave.metrics.posterior.independence_at_k import indin_at_k
from unweave.metrics.posterior.informativeness import informativeness
from unweave.metrics.posterior.joint_entropy_difference import misjed
from unweave.metrics.posterior.joint_entropy_gap import jemmig
from unweave.metrics.posterior.robust_information_gap import rmig
from unweave.metrics.posterior.separability import separability
from unweave.metrics.posterior.separability_at_k import sepin_at_k
from unweave.metrics.posterior.weighted_independence import windin
from unweave.metrics.posterior.weighted_separability import wsepin
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
        rmig,
        jemmig,
        informativeness,
        separability,
        misjed,
        sepin_at_k,
        wsepin,
        indin_at_k,
        windin,
        unibound,
        unique_upper_bound,
        redundancy_lower_bound,
        redundancy_upper_bound,
        synergy_lower_bound,
        synergy_upper_bound,
    )
}

__all__ = [
    "CATALOGUE",
    "dci_completeness",
    "dci_disentanglement",
    "dci_informativeness",
    "indin_at_k",
    "informativeness",
    "jemmig",
    "mcc",
    "mig",
    "misjed",
    "r2",
    "redundancy_lower_bound",
    "redundancy_upper_bound",
    "rmig",
    "separability",
    "sepin_at_k",
    "synergy_lower_bound",
    "synergy_upper_bound",
    "unibound",
    "unique_upper_bound",
    "windin",
    "wsepin",
]
