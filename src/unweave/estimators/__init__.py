"""Estimators compute numbers from arrays; they are frozen dataclasses that metrics take as arguments.

``mig(factors, codes, estimator=NearestNeighbour(k=5))`` and ``mcc(factors, codes, correlation=Spearman())`` choose
how a quantity is estimated. Every kind of estimator is a protocol, so that your own class works in the same places.

=========================== =========================================================================================
protocol                    estimators in unweave, and the metrics that take them
=========================== =========================================================================================
`Correlation`               `Pearson`, `Spearman`, `RandomDependence`: `mcc`
`Information`               `Histogram`, `NearestNeighbour`, `QuantisedPosterior`: `mig`, `mig_sup`, `dcimig`,
                            `modularity`, InfoMEC, `minimality`, `sufficiency` and the properties behind them
`JointInformation`          `UsableInformation`, `NearestNeighbour`: groups of codes, `explicitness_ratio`,
                            `infomec_explicitness`, the invariances
`PosteriorInformation`      `QuantisedPosterior`, `MixtureSampling`: `rmig`, `jemmig`, `informativeness`
`DecompositionInformation`  `MixtureSampling`, `GaussianInformation`: `unibound` and the other bounds of 002
`Probe`                     `Linear`, `Lasso`, `BoostedTrees`, `GradientBoosting`, `RandomForest`: `r2`, DCI
`Classifier`                `Logistic`: `explicitness`, `beta_vae_score`
`LineClassifier`            `Neighbourhood`, `LinearSvm`: `sap`
`IndependenceTest`          `LinearCovariance`, `NonlinearCovariance`: `t_mex`
`Prior`                     `StandardNormal`, `GaussianMixture`, `IndependentPrior`: the metrics of geometry
=========================== =========================================================================================

`CodeCorrelations` contains the correlation matrices of a posterior's means and draws. `LinearThenTrees` is the sequence
of probes of increasing capacity that `dci_explicitness` and `dci_size` use. Names are imported when first used.

>>> from unweave.estimators import Histogram
>>> Histogram(bins=10)
Histogram(bins=10, binning='equal_mass', bias_correction=None)
"""

from typing import TYPE_CHECKING

from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave.estimators.correlation import Correlation, Pearson, RandomDependence, Spearman
    from unweave.estimators.geometry import GaussianMixture, IndependentPrior, Prior, StandardNormal
    from unweave.estimators.independence import IndependenceTest, LinearCovariance, NonlinearCovariance
    from unweave.estimators.information import Histogram, Information, JointInformation
    from unweave.estimators.linear_probes import (
        Lasso,
        Linear,
        LinearSvm,
        LinearThenTrees,
        LineClassifier,
        Neighbourhood,
    )
    from unweave.estimators.logistic import Classifier, Logistic
    from unweave.estimators.mixture import MixtureSampling
    from unweave.estimators.nearest_neighbour import NearestNeighbour, UsableInformation
    from unweave.estimators.posteriors import (
        CodeCorrelations,
        DecompositionInformation,
        GaussianInformation,
        PosteriorInformation,
    )
    from unweave.estimators.probes import BoostedTrees, GradientBoosting, Probe, RandomForest
    from unweave.estimators.quantised_posterior import QuantisedPosterior
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            name: f"unweave.estimators.{module}"
            for module, names in {
                "correlation": ("Correlation", "Pearson", "RandomDependence", "Spearman"),
                "geometry": ("GaussianMixture", "IndependentPrior", "Prior", "StandardNormal"),
                "independence": ("IndependenceTest", "LinearCovariance", "NonlinearCovariance"),
                "information": ("Histogram", "Information", "JointInformation"),
                "linear_probes": ("Lasso", "Linear", "LinearSvm", "LinearThenTrees", "LineClassifier", "Neighbourhood"),
                "logistic": ("Classifier", "Logistic"),
                "mixture": ("MixtureSampling",),
                "nearest_neighbour": ("NearestNeighbour", "UsableInformation"),
                "posteriors": (
                    "CodeCorrelations",
                    "DecompositionInformation",
                    "GaussianInformation",
                    "PosteriorInformation",
                ),
                "probes": ("BoostedTrees", "GradientBoosting", "Probe", "RandomForest"),
                "quantised_posterior": ("QuantisedPosterior",),
            }.items()
            for name in names
        },
    )

__all__ = [
    "BoostedTrees",
    "Classifier",
    "CodeCorrelations",
    "Correlation",
    "DecompositionInformation",
    "GaussianInformation",
    "GaussianMixture",
    "GradientBoosting",
    "Histogram",
    "IndependenceTest",
    "IndependentPrior",
    "Information",
    "JointInformation",
    "Lasso",
    "LineClassifier",
    "Linear",
    "LinearCovariance",
    "LinearSvm",
    "LinearThenTrees",
    "Logistic",
    "MixtureSampling",
    "NearestNeighbour",
    "Neighbourhood",
    "NonlinearCovariance",
    "Pearson",
    "PosteriorInformation",
    "Prior",
    "Probe",
    "QuantisedPosterior",
    "RandomDependence",
    "RandomForest",
    "Spearman",
    "StandardNormal",
    "UsableInformation",
]
