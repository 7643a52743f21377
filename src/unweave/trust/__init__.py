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
    from unweave.trust.comparison import Comparison, compared
    from unweave.trust.diagnosis import Diagnosis, diagnose
    from unweave.trust.effects import without_codes
    from unweave.trust.floors import NoiseFloor, noise_floor
    from unweave.trust.intervals import Interval, interval
    from unweave.trust.planning import SamplesNeeded, samples_needed
    from unweave.trust.reasons import modelled_score, score_changes, score_elsewhere
    from unweave.trust.verdict import verdicts
    from unweave.trust.verdict_record import Verdict
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "Comparison": "unweave.trust.comparison",
            "Diagnosis": "unweave.trust.diagnosis",
            "Interval": "unweave.trust.intervals",
            "NoiseFloor": "unweave.trust.floors",
            "SamplesNeeded": "unweave.trust.planning",
            "Verdict": "unweave.trust.verdict_record",
            "compared": "unweave.trust.comparison",
            "diagnose": "unweave.trust.diagnosis",
            "interval": "unweave.trust.intervals",
            "modelled_score": "unweave.trust.reasons",
            "noise_floor": "unweave.trust.floors",
            "score_changes": "unweave.trust.reasons",
            "score_elsewhere": "unweave.trust.reasons",
            "samples_needed": "unweave.trust.planning",
            "without_codes": "unweave.trust.effects",
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
