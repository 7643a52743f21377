"""`GroupedScores`: scores by setting, their spread over seeds, and letters for settings that differ significantly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unweave.estimators.dependence.multiple_testing import corrected
from unweave.evidence import EvidenceError
from unweave.trust.sampling.ties import tied_letters

if TYPE_CHECKING:
    from unweave.evaluation.results import Evaluation

RENDERER_HOME = "unweave.report.grouped_table"


@dataclass(frozen=True)
class GroupedScore:
    """Score of one setting by one metric: mean and standard deviation over its seeds, and an interval of the mean.

    Settings that share a letter do not differ significantly. With one seed, the standard deviation and the interval are
    nan, and there are no letters.
    """

    group: str
    values: tuple[float, ...]
    mean: float
    std: float
    lower: float
    upper: float
    letters: str = ""


@dataclass(frozen=True)
class GroupedScores:
    """Scores of every setting by every metric; print it for a table.

    >>> score = GroupedScore("beta 1", (0.5, 0.7), 0.6, 0.14, 0.0, 1.0)
    >>> GroupedScores({"mcc": (score,)}).ranked("mcc")
    ['beta 1']
    """

    scores: Mapping[str, tuple[GroupedScore, ...]]

    def ranked(self, label: str) -> list[str]:
        """Names of the settings, sorted by this metric: best first, settings without a score last."""
        return [score.group for score in self.scores[label]]

    def score(self, label: str, group: str) -> GroupedScore:
        """The score of one setting by one metric."""
        return next(score for score in self.scores[label] if score.group == group)

    def __str__(self) -> str:
        return str(import_module(RENDERER_HOME).text_of(self))


def grouped_scores(evaluation: Evaluation, groups: Mapping[str, str], level: float) -> GroupedScores:
    """Scores of representations by group; `Evaluation.grouped` describes the parameters."""
    missing = [name for name in evaluation.representations if name not in groups]
    if missing:
        raise EvidenceError(f"{missing[0]!r} is in no group: name the group of every representation.")
    members: dict[str, list[str]] = {}
    for name in evaluation.representations:
        members.setdefault(str(groups[name]), []).append(name)
    scores = {}
    for label in evaluation.labels:
        values = {
            group: [mean for name in names if not math.isnan(mean := evaluation.mean_and_spread(label, name)[0])]
            for group, names in members.items()
        }
        down = next(row.card.lower_is_better for row in evaluation.rows if row.label == label)
        scores[label] = _ranked(values, down, level)
    return GroupedScores(scores)


def _ranked(values: Mapping[str, Sequence[float]], down: bool, level: float) -> tuple[GroupedScore, ...]:
    known = sorted(
        (group for group, found in values.items() if found),
        key=lambda group: float(np.mean(values[group])),
        reverse=not down,
    )
    several = [group for group in known if len(values[group]) > 1]
    pairs = list(itertools.combinations(several, 2))
    p_values = np.array([welch_p_value(values[a], values[b]) for a, b in pairs])
    apart = {
        frozenset(pair)
        for pair, p_value in zip(pairs, corrected(p_values, "holm"), strict=True)
        if p_value <= 1 - level
    }
    letters = tied_letters(several, apart)
    unknown = [group for group, found in values.items() if not found]
    return tuple(_spread(group, values[group], letters.get(group, ""), level) for group in [*known, *unknown])


def _spread(group: str, values: Sequence[float], letters: str, level: float) -> GroupedScore:
    mean = float(np.mean(values)) if values else math.nan
    if len(values) < 2:
        return GroupedScore(group, tuple(values), mean, math.nan, math.nan, math.nan)
    std = float(np.std(values, ddof=1))
    reach = float(stats.t.ppf(0.5 + level / 2, len(values) - 1)) * std / math.sqrt(len(values))
    return GroupedScore(group, tuple(values), mean, std, mean - reach, mean + reach, letters)


def welch_p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """P-value of Welch's t-test of two means; for constant values, 1 if they are equal and 0 otherwise.

    >>> welch_p_value([1.0, 1.0], [1.0, 1.0]), welch_p_value([1.0, 1.0], [2.0, 2.0])
    (1.0, 0.0)
    """
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else 0.0
    return float(stats.ttest_ind(first, second, equal_var=False).pvalue)
