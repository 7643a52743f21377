"""Verdicts as a reader sees them: in words, the best first, whatever further levels there may be."""

from __future__ import annotations

from unweave.evaluation import Row

NOT_CHECKED = "not checked"
NOISE_LEVEL = "noise level"
LEVELS = ("trust", "caution", "no verdict", NOT_CHECKED, "do not use")
SIGNIFICANT = 0.05


def rank_of(level: str) -> int:
    """Place of a verdict from best to worst; one that is not known here comes before 'do not use'.

    >>> sorted(["do not use", "odd", "trust"], key=rank_of)
    ['trust', 'odd', 'do not use']
    """
    return LEVELS.index(level) if level in LEVELS else LEVELS.index("do not use") - 1


def is_at_noise_level(row: Row) -> bool:
    """Whether random codes score as well."""
    floor = row.noise_floor
    return floor is not None and floor.defined and floor.p_value > max(SIGNIFICANT, floor.resolution)


def verdict_in_words(row: Row) -> str:
    """The verdict; a trusted score that random codes reach as well is said to be at noise level.

    Without this, the low score of codes of noise would read as praise.
    """
    if row.verdict is None:
        return NOT_CHECKED
    return NOISE_LEVEL if row.verdict.level == "trust" and is_at_noise_level(row) else row.verdict.level
