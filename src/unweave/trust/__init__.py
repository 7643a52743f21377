"""How far a score may be trusted: diagnosis of the data, noise floors, intervals, comparisons and verdicts.

`evaluate` and `compare` compute all of this. The functions here compute one part at a time.

>>> import numpy as np
>>> from unweave import Evidence, trust
>>> from unweave.metrics import mcc
>>> z = np.random.default_rng(0).normal(size=(200, 3))
>>> trust.noise_floor(mcc, Evidence(z, z)).p_value < 0.05
True
"""

from typing import TYPE_CHECKING

from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave.trust.diagnosis.diagnosis import diagnose
    from unweave.trust.diagnosis.record import Diagnosis
    from unweave.trust.nulls.noise_floor import NoiseFloor, noise_floor
    from unweave.trust.reasons.recomputed import modelled_score, score_changes, score_elsewhere
    from unweave.trust.sampling.comparison import Comparison, compared
    from unweave.trust.sampling.intervals import Interval, interval
    from unweave.trust.sampling.planning import SamplesNeeded, samples_needed
    from unweave.trust.steps import without_codes
    from unweave.trust.verdict import Verdict, verdicts
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "Comparison": "unweave.trust.sampling.comparison",
            "Diagnosis": "unweave.trust.diagnosis.record",
            "Interval": "unweave.trust.sampling.intervals",
            "NoiseFloor": "unweave.trust.nulls.noise_floor",
            "SamplesNeeded": "unweave.trust.sampling.planning",
            "Verdict": "unweave.trust.verdict",
            "compared": "unweave.trust.sampling.comparison",
            "diagnose": "unweave.trust.diagnosis.diagnosis",
            "interval": "unweave.trust.sampling.intervals",
            "modelled_score": "unweave.trust.reasons.recomputed",
            "noise_floor": "unweave.trust.nulls.noise_floor",
            "score_changes": "unweave.trust.reasons.recomputed",
            "score_elsewhere": "unweave.trust.reasons.recomputed",
            "samples_needed": "unweave.trust.sampling.planning",
            "without_codes": "unweave.trust.steps",
            "verdicts": "unweave.trust.verdict",
        },
    )

__all__ = [
    "Comparison",
    "Diagnosis",
    "Interval",
    "NoiseFloor",
    "SamplesNeeded",
    "Verdict",
    "compared",
    "diagnose",
    "interval",
    "modelled_score",
    "noise_floor",
    "samples_needed",
    "score_changes",
    "score_elsewhere",
    "verdicts",
    "without_codes",
]
