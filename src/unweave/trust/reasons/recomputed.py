"""Functions that recompute the numbers in the reasons of a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unweave.card.choices import Choice, card_of
from unweave.evidence import Evidence, EvidenceError
from unweave.score import Score
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.effects import Change, Effects
from unweave.trust.steps import steps_of


def score_changes(metric: Choice, evidence: Evidence, *, seed: int = 0) -> Mapping[str, Change]:
    """How a score changes with each effect that applies to these data, as in the reasons of a verdict.

    Effects are "redundant factors", "dependence" (of the factors on each other), "number of codes" and "number of
    rows". Effects that do not apply to these data are missing.

    Parameters
    ----------
    metric : metric or partial of one
        The metric whose score is examined.
    evidence : Evidence
        The data.
    seed : int
        Seed of the random draws.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mig
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> found = score_changes(mig, Evidence(factors, np.hstack([factors, -factors])))
    >>> list(found), round(found["number of codes"].before, 1), round(found["number of codes"].after, 1)
    (['number of codes'], 0.0, 0.9)
    """
    return {change.effect: change for change in _effects(metric, evidence, seed)[1].changes}


def score_elsewhere(metric: Choice, evidence: Evidence, *, seed: int = 0) -> float:
    """The estimated score without the effects of `score_changes`, as far as their estimates are reliable.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mig
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2))
    >>> round(score_elsewhere(mig, Evidence(factors, np.hstack([factors, -factors]))), 1)
    0.9
    """
    score, found = _effects(metric, evidence, seed)
    return found.elsewhere(score)


def modelled_score(metric: Choice, evidence: Evidence, *, seed: int = 0) -> float:
    """The score of modelled codes for the observed factors.

    The models are reliable if it is close to the observed score. Both scores are equal if no step needs a model.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import mcc
    >>> factors = np.random.default_rng(0).normal(size=(1000, 2)) @ [[1.0, 0.9], [0.0, 0.5]]
    >>> round(modelled_score(mcc, Evidence(factors, factors)), 2)
    1.0
    """
    score, found = _effects(metric, evidence, seed)
    return score.value + found.misfit * (score.bounds[1] - score.bounds[0])


def _effects(metric: Choice, evidence: Evidence, seed: int) -> tuple[Score, Effects]:
    score = metric(evidence)
    if not math.isfinite(score.bounds[1] - score.bounds[0]):
        raise EvidenceError(
            f"{card_of(metric).name} has no finite bounds, so its changes cannot be judged: use a metric with bounds."
        )
    return score, steps_of(evidence, diagnose(evidence), seed=seed).on(metric, score)
