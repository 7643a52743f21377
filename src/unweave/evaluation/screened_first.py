"""Screening of many codes: those that depend on a factor are found on half of the rows, and scored on the other half.

On the same rows, scores of the selected codes would be biased upwards. A permutation test would not correct this,
because permutations do not repeat the selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from unweave.arrays import Rows
from unweave.evidence import Evidence
from unweave.metrics.concepts.screening import ScreenedCodes, screened

MANY_CODES = 1000  # with more dense codes than this, codes are screened
FEW_CODES = 64  # with more sparse codes than this, codes are screened
MOST_SCORED = 256
RATE = 0.05
FEWEST_ROWS = 200
LARGEST_DENSE = 40_000_000  # largest dense table, in numbers: 320 MB
MOST_LISTED = 1000


def screened_first(
    evidences: Mapping[str, Evidence], wanted: bool | None, is_panel: bool
) -> tuple[Mapping[str, Evidence], dict[str, Any]]:
    """Return the evidences to score, and under 'screening' which codes were selected.

    With ``wanted=None``, only many codes are screened, and only for the panel. If any representation is screened, all
    of them are scored on the same half of the rows.
    """
    if wanted is None and not is_panel:
        return evidences, {}
    many = {name: evidence for name, evidence in evidences.items() if _may_be(evidence) and _is_to_be(evidence, wanted)}
    if not many:
        return evidences if wanted is False else {name: _dense(entry) for name, entry in evidences.items()}, {}
    scored, known = {}, {}
    for name, evidence in evidences.items():
        first, second = (np.sort(rows) for rows in evidence.split(0.5, seed=0))
        rest = evidence.rows(second)
        if name in many:
            found = screened(evidence.rows(first), RATE, fewest=evidence.n_factors)
            chosen = _chosen(found, evidence.n_factors)
            rest = rest.choosing_codes(chosen)
            known[name] = _described(found, chosen.size, first.size)
        scored[name] = _dense(rest)
    return scored, {"screening": known}


def _may_be(evidence: Evidence) -> bool:
    points = evidence.posterior is None and not evidence.code_groups and evidence.all_rows is None
    return bool(points and evidence.n_factors and evidence.n_codes > 1 and evidence.n_rows >= FEWEST_ROWS)


def _is_to_be(evidence: Evidence, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    return evidence.n_codes > (MANY_CODES if evidence.sparse_codes is None else FEW_CODES)


def _chosen(found: ScreenedCodes, n_factors: int) -> Rows:
    """Sorted indices of the codes to score: all that were found, or the strongest of each factor if there are many."""
    most = min(max(FEW_CODES, 2 * n_factors), MOST_SCORED)
    seen: Counter[str] = Counter()
    turns = []
    for factor in found.factors:
        turns.append(seen[factor])
        seen.update([factor])
    order = np.argsort(turns, kind="stable")[:most]
    return np.sort(found.codes[order])


def _described(found: ScreenedCodes, n_scored: int, n_rows: int) -> dict[str, Any]:
    significant = int((found.q_value <= found.rate).sum())
    return {
        "n_codes": found.n_codes,
        "n_found": significant,
        "n_scored": n_scored,
        "n_rows": n_rows,
        "rate": found.rate,
        "codes": found.rows()[: min(significant, MOST_LISTED)],
    }


def _dense(evidence: Evidence) -> Evidence:
    """Convert a few sparse codes to a dense table, which every metric accepts."""
    if evidence.sparse_codes is None or evidence.n_codes > MOST_SCORED:
        return evidence
    if evidence.n_rows * evidence.n_codes > LARGEST_DENSE:
        return evidence
    return evidence.choosing_codes(np.arange(evidence.n_codes))
