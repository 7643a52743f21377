"""Verdicts in words, and their order from best to worst."""

from __future__ import annotations

from unweave.evaluation import Row

NOT_CHECKED = "not checked"
NOISE_LEVEL = "noise level"
LEVELS = ("trust", "caution", "no verdict", NOT_CHECKED, "do not use")
SIGNIFICANT = 0.05


def rank_of(level: str) -> int:
    """Rank of a verdict from best to worst; an unknown verdict comes before 'do not use'.

    >>> sorted(["do not use", "odd", "trust"], key=rank_of)
    ['trust', 'odd', 'do not use']
    """
    return LEVELS.index(level) if level in LEVELS else LEVELS.index("do not use") - 1


def is_at_noise_level(row: Row) -> bool:
    """Whether the score is not significantly better than that of random codes."""
    floor = row.noise_floor
    return floor is not None and floor.defined and floor.p_value > max(SIGNIFICANT, floor.resolution)


def verdict_in_words(row: Row) -> str:
    """The verdict; a trusted score that random codes reach as well is called 'noise level'.

    The word 'trust' beside the low score of random codes could be misread as praise.
    """
    if row.verdict is None:
        return NOT_CHECKED
    return NOISE_LEVEL if row.verdict.level == "trust" and is_at_noise_level(row) else row.verdict.level
