"""Codes on a scale on which their spreads can be compared.

Variances of heavy-tailed codes are those of a few rows: a batch without these looks as if nothing moved, whatever is
held. Ranks are free of that, and of any rising or falling map of a code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.estimators.binning import FloatArray
from unweave.evidence import Evidence
from unweave.memo import memoised

Scale = Literal["ranks", "values"]


def live_codes(evidence: Evidence) -> NDArray[np.bool_]:
    """Which codes vary at all; the others would win every comparison of variances."""
    return ~np.isin(evidence.code_names, evidence.dead_codes)


@memoised(on="codes")
def comparable_codes(evidence: Evidence, scale: Scale) -> FloatArray:
    """The live codes of every row, row by row in memory: as they are, or as ranks between 0 and 1."""
    return placed(evidence, evidence.codes[:, live_codes(evidence)], scale)


def placed(evidence: Evidence, codes: FloatArray, scale: Scale) -> FloatArray:
    """Live codes on the scale of comparison; ranks are places among the codes of the evidence."""
    if scale not in ("ranks", "values"):
        raise ValueError(f"scale={scale!r} is not known: use 'ranks' or 'values'.")
    if scale == "values":
        return np.ascontiguousarray(codes)
    places = np.empty(codes.shape)
    for i, ascending in enumerate(np.sort(evidence.codes[:, live_codes(evidence)], axis=0).T):
        below, upto = (np.searchsorted(ascending, codes[:, i], side) for side in ("left", "right"))
        places[:, i] = (below + upto) / (2 * ascending.size)
    return places
