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
    from unweave.estimators.dependence.conditional_independence import (
        IndependenceTest,
        LinearCovariance,
        NonlinearCovariance,
    )
    from unweave.estimators.dependence.correlation import Correlation, Pearson, Spearman
    from unweave.estimators.dependence.random_dependence import RandomDependence
    from unweave.estimators.geometry.priors import GaussianMixture, IndependentPrior, Prior, StandardNormal
    from unweave.estimators.information.histogram import Histogram
    from unweave.estimators.information.information_protocols import Information, JointInformation
    from unweave.estimators.information.nearest_neighbour import NearestNeighbour
    from unweave.estimators.information.usable_information import UsableInformation
    from unweave.estimators.posteriors.code_correlations import CodeCorrelations
    from unweave.estimators.posteriors.gaussian_information import GaussianInformation
    from unweave.estimators.posteriors.mixture_sampling import MixtureSampling
    from unweave.estimators.posteriors.posterior_protocols import DecompositionInformation, PosteriorInformation
    from unweave.estimators.posteriors.quantised_posterior import QuantisedPosterior
    from unweave.estimators.probes.capacity_ladder import LinearThenTrees
    from unweave.estimators.probes.line_classifiers import LinearSvm, LineClassifier, Neighbourhood
    from unweave.estimators.probes.linear_probes import Lasso, Linear
    from unweave.estimators.probes.logistic_probe import Classifier, Logistic
    from unweave.estimators.probes.probe_protocols import Probe
    from unweave.estimators.probes.probes import BoostedTrees, GradientBoosting, RandomForest
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            name: f"unweave.estimators.{module}"
            for module, names in {
                "dependence.conditional_independence": ("IndependenceTest", "LinearCovariance", "NonlinearCovariance"),
                "dependence.correlation": ("Correlation", "Pearson", "Spearman"),
                "dependence.random_dependence": ("RandomDependence",),
                "posteriors.code_correlations": ("CodeCorrelations",),
                "posteriors.gaussian_information": ("GaussianInformation",),
                "posteriors.mixture_sampling": ("MixtureSampling",),
                "information.histogram": ("Histogram",),
                "information.nearest_neighbour": ("NearestNeighbour",),
                "posteriors.posterior_protocols": ("DecompositionInformation", "PosteriorInformation"),
                "geometry.priors": ("GaussianMixture", "IndependentPrior", "Prior", "StandardNormal"),
                "information.information_protocols": ("Information", "JointInformation"),
                "posteriors.quantised_posterior": ("QuantisedPosterior",),
                "information.usable_information": ("UsableInformation",),
                "probes.capacity_ladder": ("LinearThenTrees",),
                "probes.line_classifiers": ("LineClassifier", "LinearSvm", "Neighbourhood"),
                "probes.linear_probes": ("Lasso", "Linear"),
                "probes.logistic_probe": ("Classifier", "Logistic"),
                "probes.probes": ("BoostedTrees", "GradientBoosting", "RandomForest"),
                "probes.probe_protocols": ("Probe",),
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
