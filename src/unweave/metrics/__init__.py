"""The catalogue of all metrics.

The order of the imports is the order in which tables and documents list the metrics. ``CATALOGUE`` maps every name to
its metric, ``OWN_METRICS`` those of this package alone.

>>> from unweave.metrics import CATALOGUE, mcc
>>> CATALOGUE["mcc"] is mcc
True
"""
# ruff: noqa: I001 - imports are in the order of the catalogue; 'x as x' tells type checkers that x is public

from collections.abc import Mapping

from unweave.card import Card, Metric
from unweave.plugins import WithPlugins
from unweave.metrics.matching import mcc as mcc
from unweave.metrics.prediction import r2 as r2
from unweave.metrics.linear_identifiability import weak_mcc as weak_mcc
from unweave.metrics.linear_identifiability import reverse_r2 as reverse_r2
from unweave.metrics.linear_identifiability import procrustes_distance as procrustes_distance
from unweave.metrics.linear_identifiability import orthogonality_error as orthogonality_error
from unweave.metrics.dci import dci_disentanglement as dci_disentanglement
from unweave.metrics.dci import dci_completeness as dci_completeness
from unweave.metrics.dci import dci_informativeness as dci_informativeness
from unweave.metrics.dci import dci_explicitness as dci_explicitness
from unweave.metrics.dci import dci_size as dci_size
from unweave.metrics.prediction import sap as sap
from unweave.metrics.prediction import explicitness as explicitness
from unweave.metrics.mig import mig as mig
from unweave.metrics.t_mex import t_mex as t_mex
from unweave.metrics.factor_vae import beta_vae_score as beta_vae_score
from unweave.metrics.factor_vae import factor_vae_score as factor_vae_score
from unweave.metrics.factor_vae import relevance_factor_vae_score as relevance_factor_vae_score
from unweave.metrics.irs import irs as irs
from unweave.metrics.mig import mig_sup as mig_sup
from unweave.metrics.mig import dcimig as dcimig
from unweave.metrics.mig import modularity as modularity
from unweave.metrics.infomec import infomec_modularity as infomec_modularity
from unweave.metrics.infomec import infomec_explicitness as infomec_explicitness
from unweave.metrics.infomec import infomec_compactness as infomec_compactness
from unweave.metrics.minimal_sufficient import minimality as minimality
from unweave.metrics.minimal_sufficient import sufficiency as sufficiency
from unweave.metrics.minimal_sufficient import factors_invariance as factors_invariance
from unweave.metrics.minimal_sufficient import nuisances_invariance as nuisances_invariance
from unweave.metrics.minimal_sufficient import representations_invariance as representations_invariance
from unweave.metrics.minimal_sufficient import explicitness_ratio as explicitness_ratio
from unweave.metrics.leakage import oracle_impurity as oracle_impurity
from unweave.metrics.leakage import niche_impurity as niche_impurity
from unweave.metrics.leakage import interconcept_leakage as interconcept_leakage
from unweave.metrics.leakage import concept_task_leakage as concept_task_leakage
from unweave.metrics.rmig import rmig as rmig
from unweave.metrics.rmig import jemmig as jemmig
from unweave.metrics.separability import informativeness as informativeness
from unweave.metrics.separability import separability as separability
from unweave.metrics.separability import three_way_information as three_way_information
from unweave.metrics.separability import misjed as misjed
from unweave.metrics.separability import sepin_at_k as sepin_at_k
from unweave.metrics.separability import wsepin as wsepin
from unweave.metrics.separability import indin_at_k as indin_at_k
from unweave.metrics.separability import windin as windin
from unweave.metrics.decomposition import unibound as unibound
from unweave.metrics.decomposition import unique_upper_bound as unique_upper_bound
from unweave.metrics.decomposition import redundancy_lower_bound as redundancy_lower_bound
from unweave.metrics.decomposition import redundancy_upper_bound as redundancy_upper_bound
from unweave.metrics.decomposition import synergy_lower_bound as synergy_lower_bound
from unweave.metrics.decomposition import synergy_upper_bound as synergy_upper_bound
from unweave.metrics.identification import identification as identification
from unweave.metrics.geometry import total_entropy as total_entropy
from unweave.metrics.geometry import manifold_entropy as manifold_entropy
from unweave.metrics.geometry import manifold_total_correlation as manifold_total_correlation
from unweave.metrics.geometry import manifold_mutual_information as manifold_mutual_information
from unweave.metrics.geometry import manifold_cross_mutual_information as manifold_cross_mutual_information

OWN_METRICS: dict[str, Metric] = {name: entry for name, entry in list(globals().items()) if hasattr(entry, "card")}

CATALOGUE: Mapping[str, Metric] = WithPlugins(
    "unweave.metrics",
    OWN_METRICS,
    lambda _, plugin: isinstance(getattr(plugin, "card", None), Card),
    "declare it with @unweave.metric",
)

__all__ = ["CATALOGUE", *OWN_METRICS]
