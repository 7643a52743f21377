"""A few values of every factor and of the code that it is read from, for small pictures of the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.evidence import Evidence
from unweave.score import Score

MOST_ROWS = 150
MOST_FACTORS = 24
SHARES = (0.01, 0.99)  # codes beyond these quantiles are drawn at the edge


def matched_pairs(evidence: Evidence, score: Score) -> list[dict[str, Any]]:
    """Factor, code and positions from 0 to 1 of some rows, by the codes that `identification` reads factors from.

    Of a factor that no code gives back, the code that depends on it most is taken, where there is one.

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
    """Where the rows lie between the ends of the column, 0 to 1, with three digits."""
    low, high = np.quantile(column, shares)
    width = high - low if high > low else 1.0
    return np.round(np.clip((column[rows] - low) / width, 0.0, 1.0), 3).tolist()
