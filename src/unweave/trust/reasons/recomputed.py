"""The numbers of a verdict's reasons, computed again: one line each."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unweave.card.choices import Choice, card_of
from unweave.evidence import Evidence, EvidenceError
from unweave.score import Score
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.effects import Change, Effects, steps_of


def score_changes(metric: Choice, evidence: Evidence, *, seed: int = 0) -> Mapping[str, Change]:
    """How a score changes with each effect that these data call for: the numbers of a verdict's reasons.

    Effects are "redundant factors", "dependence" (of the factors on each other), "number of codes" and "number of
    rows"; those that cannot matter here are missing.

    Parameters
    ----------
    metric : metric or partial of one
        Which score.
    evidence : Evidence
        The data.
    seed : int
        Of the counterpart.

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
    """The score with every effect of `score_changes` removed that can be believed.

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
    """The score of models of the codes on the factors as observed: how far it is off tells how far to believe them.

    It is the score itself where no step needs a model.

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
        raise EvidenceError(f"{card_of(metric).name} has no range, so a change of it cannot be judged.")
    return score, steps_of(evidence, diagnose(evidence), seed=seed).on(metric, score)
