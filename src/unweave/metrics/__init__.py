"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.information.information_gap import mig
from unweave.metrics.intervention.least_moving_code import factor_vae_score
from unweave.metrics.intervention.most_moving_code import relevance_factor_vae_score
from unweave.metrics.intervention.robustness import irs
from unweave.metrics.intervention.smallest_difference import beta_vae_score
from unweave.metrics.intervention.t_mex import t_mex
from unweave.metrics.matching.mean_correlation import mcc
from unweave.metrics.prediction.attribute_predictability import sap
from unweave.metrics.prediction.class_separation import explicitness
from unweave.metrics.prediction.dci.completeness import dci_completeness
from unweave.metrics.prediction.dci.disentanglement import dci_disentanglement
from unweave.metrics.prediction.dci.explicitness import dci_explicitness
from unweave.metrics.prediction.dci.informativeness import dci_informativeness
from unweave.metrics.prediction.dci.size import dci_size
from unweave.metrics.prediction.explained_variance import r2

CATALOGUE: dict[str, Metric] = {
    entry.card.name: entry
    for entry in (
        mcc,
        r2,
        dci_disentanglement,
        dci_completeness,
        dci_informativeness,
        dci_explicitness,
        dci_size,
        sap,
        explicitness,
        mig,
        t_mex,
        beta_vae_score,
        factor_vae_score,
        relevance_factor_vae_score,
        irs,
    )
}

__all__ = [
    "CATALOGUE",
    "beta_vae_score",
    "dci_completeness",
    "dci_disentanglement",
    "dci_explicitness",
    "dci_informativeness",
    "dci_size",
    "explicitness",
    "factor_vae_score",
    "irs",
    "mcc",
    "mig",
    "r2",
    "relevance_factor_vae_score",
    "sap",
    "t_mex",
]
