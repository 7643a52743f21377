"""The catalogue: every metric, listed by hand."""

from unweave.card import Metric
from unweave.metrics.decomposition.redundancy_lower_bound import redundancy_lower_bound
from unweave.metrics.decomposition.redundancy_upper_bound import redundancy_upper_bound
from unweave.metrics.decomposition.synergy_lower_bound import synergy_lower_bound
from unweave.metrics.decomposition.synergy_upper_bound import synergy_upper_bound
from unweave.metrics.decomposition.unibound import unibound
from unweave.metrics.decomposition.unique_upper_bound import unique_upper_bound
from unweave.metrics.geometry.manifold_cross_mutual_information import manifold_cross_mutual_information
from unweave.metrics.geometry.manifold_entropy import manifold_entropy
from unweave.metrics.geometry.manifold_mutual_information import manifold_mutual_information
from unweave.metrics.geometry.manifold_total_correlation import manifold_total_correlation
from unweave.metrics.geometry.total_entropy import total_entropy
from unweave.metrics.identification.identification import identification
from unweave.metrics.information.dcimig import dcimig
from unweave.metrics.information.infomec.infomec_compactness import infomec_compactness
from unweave.metrics.information.infomec.infomec_explicitness import infomec_explicitness
from unweave.metrics.information.infomec.infomec_modularity import infomec_modularity
from unweave.metrics.information.mig import mig
from unweave.metrics.information.mig_sup import mig_sup
from unweave.metrics.information.minimal_sufficient.explicitness_ratio import explicitness_ratio
from unweave.metrics.information.minimal_sufficient.factors_invariance import factors_invariance
from unweave.metrics.information.minimal_sufficient.minimality import minimality
from unweave.metrics.information.minimal_sufficient.nuisances_invariance import nuisances_invariance
from unweave.metrics.information.minimal_sufficient.representations_invariance import representations_invariance
from unweave.metrics.information.minimal_sufficient.sufficiency import sufficiency
from unweave.metrics.information.modularity import modularity
from unweave.metrics.intervention.beta_vae_score import beta_vae_score
from unweave.metrics.intervention.factor_vae_score import factor_vae_score
from unweave.metrics.intervention.irs import irs
from unweave.metrics.intervention.relevance_factor_vae_score import relevance_factor_vae_score
from unweave.metrics.intervention.t_mex.t_mex import t_mex
from unweave.metrics.matching.mcc import mcc
from unweave.metrics.posterior.indin_at_k import indin_at_k
from unweave.metrics.posterior.informativeness import informativeness
from unweave.metrics.posterior.jemmig import jemmig
from unweave.metrics.posterior.misjed import misjed
from unweave.metrics.posterior.rmig import rmig
from unweave.metrics.posterior.separability import separability
from unweave.metrics.posterior.sepin_at_k import sepin_at_k
from unweave.metrics.posterior.windin import windin
from unweave.metrics.posterior.wsepin import wsepin
from unweave.metrics.prediction.dci.dci_completeness import dci_completeness
from unweave.metrics.prediction.dci.dci_disentanglement import dci_disentanglement
from unweave.metrics.prediction.dci.dci_explicitness import dci_explicitness
from unweave.metrics.prediction.dci.dci_informativeness import dci_informativeness
from unweave.metrics.prediction.dci.dci_size import dci_size
from unweave.metrics.prediction.explicitness import explicitness
from unweave.metrics.prediction.r2 import r2
from unweave.metrics.prediction.sap import sap

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
