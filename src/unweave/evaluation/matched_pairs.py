"""A few values of every factor and of its matched code, for small scatter plots of the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.evidence import Evidence
from unweave.score import Score

MOST_ROWS = 150
MOST_FACTORS = 24
SHARES = (0.01, 0.99)  # codes beyond these quantiles are drawn at the edge


def matched_pairs(evidence: Evidence, score: Score) -> list[dict[str, Any]]:
    """The code that `identification` matched to each factor, and the values of both on some rows, scaled to 0..1.

    A factor without a matched code is paired with the code that depends on it most. Constant factors are left out, and
    so are all factors after the first 24.

    >>> from unweave.metrics import identification
    >>> z = np.random.default_rng(0).normal(size=(200, 2))
    >>> evidence = Evidence(z, z[:, ::-1])
    >>> [(pair["factor"], pair["code"]) for pair in matched_pairs(evidence, identification(evidence))]
    [('factor 0', 'code 1'), ('factor 1', 'code 0')]
    """
    chosen, purity = score.parts["chosen_matrix"], score.parts["purity_matrix"]
    rows = np.unique(np.linspace(0, evidence.n_rows - 1, min(MOST_ROWS, evidence.n_rows)).astype(np.intp))
    pairs = []
    for j, name in enumerate(evidence.factor_names[:MOST_FACTORS]):
        if name in evidence.constant_factors or not np.isfinite(purity[:, j]).all():
            continue
        used = np.flatnonzero(chosen[:, j])
        i = int(used[purity[used, j].argmax()] if used.size else purity[:, j].argmax())
        pairs.append(
            {
                "factor": name,
                "code": evidence.code_names[i],
                "x": _positions(evidence.factors[:, j], rows, (0.0, 1.0)),
                "y": _positions(evidence.codes[:, i], rows, SHARES),
            }
        )
    return pairs


def _positions(column: np.ndarray, rows: np.ndarray, shares: tuple[float, float]) -> list[float]:
    """Values of these rows, scaled to 0..1 between two quantiles of the column and rounded to three digits."""
    low, high = np.quantile(column, shares)
    width = high - low if high > low else 1.0
    return np.round(np.clip((column[rows] - low) / width, 0.0, 1.0), 3).tolist()
