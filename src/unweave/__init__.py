"""unweave: measure how well a representation separates the factors behind the data, and whether to trust the scores.

`evaluate` scores one representation, and `compare` several. `diagnose` describes the data, `noise_floor` is the score
of random codes, and `audit` tests a metric. The metrics are functions in `unweave.metrics`. The estimators that can be
passed to them are in `unweave.estimators`. Names are imported when they are first used.

>>> import numpy as np
>>> import unweave
>>> factors = np.random.default_rng(0).normal(size=(200, 2))
>>> round(unweave.metrics.mcc(factors, 2 * factors).value, 3)
1.0
"""

from typing import TYPE_CHECKING

from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave import compat, datasets, estimators, integrations, metrics, models, sweeps, synthetic, trust
    from unweave.auditing import Audit, audit
    from unweave.auditing.conformance import check_metric
    from unweave.card import Assumption, Card, Metric, MetricError, MetricUndefined, metric
    from unweave.encoding import encode
    from unweave.errors import FileError, InputError, InputWarning, OptionError, UnweaveError
    from unweave.evaluation import Evaluation, compare, evaluate
    from unweave.evaluation.environments import Environments, environments
    from unweave.evaluation.probe import ProbeReport, probe
    from unweave.evaluation.recovery import Recovery, recovery
    from unweave.evaluation.similarity import Similarity, similarity
    from unweave.evaluation.unlabelled import Unlabelled, unlabelled
    from unweave.evidence import Evidence, EvidenceOptions, FactorKind, Jacobians, Posterior
    from unweave.identifiability import Ladder, ladder
    from unweave.metrics.manifolds import Spectrum, spectrum
    from unweave.score import Score
    from unweave.trust import Diagnosis, NoiseFloor, diagnose, noise_floor
else:  # type checkers would accept any name from a module with __getattr__
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            name: home
            for home, names in {
                "unweave.auditing": "Audit audit",
                "unweave.auditing.conformance": "check_metric",
                "unweave.card": "Assumption Card Metric MetricError MetricUndefined metric",
                "unweave.compat": "compat",
                "unweave.datasets": "datasets",
                "unweave.encoding": "encode",
                "unweave.errors": "FileError InputError InputWarning OptionError UnweaveError",
                "unweave.estimators": "estimators",
                "unweave.evaluation": "Evaluation compare evaluate",
                "unweave.evaluation.environments": "Environments environments",
                "unweave.evaluation.probe": "ProbeReport probe",
                "unweave.evaluation.recovery": "Recovery recovery",
                "unweave.evaluation.similarity": "Similarity similarity",
                "unweave.evaluation.unlabelled": "Unlabelled unlabelled",
                "unweave.evidence": "Evidence EvidenceOptions FactorKind Jacobians Posterior",
                "unweave.identifiability": "Ladder ladder",
                "unweave.integrations": "integrations",
                "unweave.metrics": "metrics",
                "unweave.metrics.manifolds": "Spectrum spectrum",
                "unweave.models": "models",
                "unweave.score": "Score",
                "unweave.sweeps": "sweeps",
                "unweave.synthetic": "synthetic",
                "unweave.trust": "Diagnosis NoiseFloor diagnose noise_floor trust",
            }.items()
            for name in names.split()
        },
        {
            "score": "unweave.evaluate(factors, codes)",
            "scor": "unweave.Score for the type of a score, or unweave.evaluate(factors, codes) to score codes",
            "geometry": "unweave.spectrum(decoder), or metrics such as unweave.metrics.manifold_entropy",
            "report": "unweave.evaluate(factors, codes).to_html('page.html')",
            "train": "unweave.models.train",
            "mean_corr_coef": "unweave.compat.mean_corr_coef",
            "explain": "help(unweave.metrics.mcc), or unweave explain mcc on the command line",
            "load": "unweave.Evaluation.load, or unweave.datasets.load",
            **dict.fromkeys(("mcc", "r2", "dci", "mig", "sap"), "unweave.metrics, such as unweave.metrics.mcc"),
        },
    )

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - in the order in which a newcomer needs them
    "evaluate",
    "compare",
    "Evaluation",
    "ladder",
    "Ladder",
    "Score",
    "Evidence",
    "Posterior",
    "Jacobians",
    "FactorKind",
    "EvidenceOptions",
    "UnweaveError",
    "InputError",
    "OptionError",
    "FileError",
    "InputWarning",
    "encode",
    "diagnose",
    "Diagnosis",
    "noise_floor",
    "NoiseFloor",
    "spectrum",
    "Spectrum",
    "probe",
    "ProbeReport",
    "recovery",
    "Recovery",
    "similarity",
    "Similarity",
    "environments",
    "Environments",
    "unlabelled",
    "Unlabelled",
    "metric",
    "Metric",
    "Card",
    "Assumption",
    "MetricError",
    "MetricUndefined",
    "check_metric",
    "audit",
    "Audit",
    "metrics",
    "estimators",
    "trust",
    "synthetic",
    "datasets",
    "models",
    "sweeps",
    "integrations",
    "compat",
]
