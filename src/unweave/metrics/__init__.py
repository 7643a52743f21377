"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.decomposition.redundancy_lower_bound import redundancy_lower_bound
from unweave.metrics.decomposition.redundancy_upper_bound import redundancy_upper_bound
from unweave.metrics.decomposition.synergy_lower_bound import synergy_lower_bound
from unweave.metrics.decomposition.synergy_upper_bound import synergy_upper_bound
from unweave.metrics.decomposition.unique_lower_bound import unibound
from unweave.metrics.decomposition.unique_upper_bound import unique_upper_bound
from unweave.metrics.geometry.cross_mutual_information import manifold_cross_mutual_information
from unweave.metrics.geometry.manifold_entropy import manifold_entropy
from unweave.metrics.geometry.mutual_information import manifold_mutual_information
from unweave.metrics.geometry.total_correlation import manifold_total_correlation
from unweave.metrics.geometry.total_entropy import total_entropy
from unweave.metrics.identification.identification import identification
from unweave.metrics.information.infomec.compactness import infomec_compactness
from unweave.metrics.information.infomec.explicitness import infomec_explicitness
from unweave.metrics.information.infomec.modularity import infomec_modularity
from unweave.metrics.information.information_gap import mig
from unweave.metrics.information.information_gap_by_code import mig_sup
from unweave.metrics.information.matched_information_gap import dcimig
from unweave.metrics.information.minimal_sufficient.explicitness_ratio import explicitness_ratio
from unweave.metrics.information.minimal_sufficient.factors_invariance import factors_invariance
from unweave.metrics.information.minimal_sufficient.minimality import minimality
from unweave.metrics.information.minimal_sufficient.nuisances_invariance import nuisances_invariance
from unweave.metrics.information.minimal_sufficient.representations_invariance import representations_invariance
from unweave.metrics.information.minimal_sufficient.sufficiency import sufficiency
from unweave.metrics.information.modularity import modularity
from unweave.metrics.intervention.least_moving_code import factor_vae_score
from unweave.metrics.intervention.most_moving_code import relevance_factor_vae_score
from unweave.metrics.intervention.robustness import irs
from unweave.metrics.intervention.smallest_difference import beta_vae_score
from unweave.metrics.intervention.t_mex import t_mex
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
        mig_sup,
        dcimig,
        modularity,
        infomec_modularity,
        infomec_explicitness,
        infomec_compactness,
        minimality,
        sufficiency,
        factors_invariance,
        nuisances_invariance,
        representations_invariance,
        explicitness_ratio,
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
        identification,
        total_entropy,
        manifold_entropy,
        manifold_total_correlation,
        manifold_mutual_information,
        manifold_cross_mutual_information,
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
    "dcimig",
    "explicitness",
    "explicitness_ratio",
    "factor_vae_score",
    "factors_invariance",
    "identification",
    "indin_at_k",
    "infomec_compactness",
    "infomec_explicitness",
    "infomec_modularity",
    "informativeness",
    "irs",
    "jemmig",
    "manifold_cross_mutual_information",
    "manifold_entropy",
    "manifold_mutual_information",
    "manifold_total_correlation",
    "mcc",
    "mig",
    "mig_sup",
    "minimality",
    "misjed",
    "modularity",
    "nuisances_invariance",
    "r2",
    "redundancy_lower_bound",
    "redundancy_upper_bound",
    "relevance_factor_vae_score",
    "representations_invariance",
    "rmig",
    "sap",
    "separability",
    "sepin_at_k",
    "sufficiency",
    "synergy_lower_bound",
    "synergy_upper_bound",
    "t_mex",
    "total_entropy",
    "unibound",
    "unique_upper_bound",
    "windin",
    "wsepin",
]
