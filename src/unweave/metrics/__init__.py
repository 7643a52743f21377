"""The catalogue of all metrics.

The order of the imports is the order in which tables and documents list the metrics. ``CATALOGUE`` maps every name to
its metric.

>>> from unweave.metrics import CATALOGUE, mcc
>>> CATALOGUE["mcc"] is mcc
True
"""
# ruff: noqa: I001 - imports are in the order of the catalogue; 'x as x' tells type checkers that x is public

from unweave.card import Metric
from unweave.metrics.matching.mcc import mcc as mcc
from unweave.metrics.prediction.r2 import r2 as r2
from unweave.metrics.prediction.dci.dci_disentanglement import dci_disentanglement as dci_disentanglement
from unweave.metrics.prediction.dci.dci_completeness import dci_completeness as dci_completeness
from unweave.metrics.prediction.dci.dci_informativeness import dci_informativeness as dci_informativeness
from unweave.metrics.prediction.dci.dci_explicitness import dci_explicitness as dci_explicitness
from unweave.metrics.prediction.dci.dci_size import dci_size as dci_size
from unweave.metrics.prediction.sap import sap as sap
from unweave.metrics.prediction.explicitness import explicitness as explicitness
from unweave.metrics.information.mig import mig as mig
from unweave.metrics.intervention.t_mex.t_mex import t_mex as t_mex
from unweave.metrics.intervention.beta_vae_score import beta_vae_score as beta_vae_score
from unweave.metrics.intervention.factor_vae_score import factor_vae_score as factor_vae_score
from unweave.metrics.intervention.relevance_factor_vae_score import (
    relevance_factor_vae_score as relevance_factor_vae_score,
)
from unweave.metrics.intervention.irs import irs as irs
from unweave.metrics.information.mig_sup import mig_sup as mig_sup
from unweave.metrics.information.dcimig import dcimig as dcimig
from unweave.metrics.information.modularity import modularity as modularity
from unweave.metrics.information.infomec.infomec_modularity import infomec_modularity as infomec_modularity
from unweave.metrics.information.infomec.infomec_explicitness import infomec_explicitness as infomec_explicitness
from unweave.metrics.information.infomec.infomec_compactness import infomec_compactness as infomec_compactness
from unweave.metrics.information.minimal_sufficient.minimality import minimality as minimality
from unweave.metrics.information.minimal_sufficient.sufficiency import sufficiency as sufficiency
from unweave.metrics.information.minimal_sufficient.factors_invariance import factors_invariance as factors_invariance
from unweave.metrics.information.minimal_sufficient.nuisances_invariance import (
    nuisances_invariance as nuisances_invariance,
)
from unweave.metrics.information.minimal_sufficient.representations_invariance import (
    representations_invariance as representations_invariance,
)
from unweave.metrics.information.minimal_sufficient.explicitness_ratio import explicitness_ratio as explicitness_ratio
from unweave.metrics.posterior.rmig import rmig as rmig
from unweave.metrics.posterior.jemmig import jemmig as jemmig
from unweave.metrics.posterior.informativeness import informativeness as informativeness
from unweave.metrics.posterior.separability import separability as separability
from unweave.metrics.posterior.three_way_information import three_way_information as three_way_information
from unweave.metrics.posterior.misjed import misjed as misjed
from unweave.metrics.posterior.sepin_at_k import sepin_at_k as sepin_at_k
from unweave.metrics.posterior.wsepin import wsepin as wsepin
from unweave.metrics.posterior.indin_at_k import indin_at_k as indin_at_k
from unweave.metrics.posterior.windin import windin as windin
from unweave.metrics.decomposition.unibound import unibound as unibound
from unweave.metrics.decomposition.unique_upper_bound import unique_upper_bound as unique_upper_bound
from unweave.metrics.decomposition.redundancy_lower_bound import redundancy_lower_bound as redundancy_lower_bound
from unweave.metrics.decomposition.redundancy_upper_bound import redundancy_upper_bound as redundancy_upper_bound
from unweave.metrics.decomposition.synergy_lower_bound import synergy_lower_bound as synergy_lower_bound
from unweave.metrics.decomposition.synergy_upper_bound import synergy_upper_bound as synergy_upper_bound
from unweave.metrics.identification.identification import identification as identification
from unweave.metrics.geometry.total_entropy import total_entropy as total_entropy
from unweave.metrics.geometry.manifold_entropy import manifold_entropy as manifold_entropy
from unweave.metrics.geometry.manifold_total_correlation import manifold_total_correlation as manifold_total_correlation
from unweave.metrics.geometry.manifold_mutual_information import (
    manifold_mutual_information as manifold_mutual_information,
)
from unweave.metrics.geometry.manifold_cross_mutual_information import (
    manifold_cross_mutual_information as manifold_cross_mutual_information,
)

CATALOGUE: dict[str, Metric] = {name: entry for name, entry in list(globals().items()) if hasattr(entry, "card")}

__all__ = ["CATALOGUE", *CATALOGUE]
