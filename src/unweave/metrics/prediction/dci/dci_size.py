"""DCI-ES size: how many codes are used for how many factors?

    S = d / m

with d the number of factors that vary and m the number of codes that vary (Eastwood et al. 2023).
"""

from __future__ import annotations

from unweave.card import metric
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.matrices import live_points, varying
from unweave.score import Score


def _as_many(n_rows: int, n_codes: int, n_factors: int) -> float:
    return min(n_factors / n_codes, 1.0)


@metric(
    measures="size",
    equivalence="any",
    min_rows=2,
    chance=_as_many,
    cost="none",
    fails_when="it is read alone: it only counts columns, so random codes of the right number score 1",
    reference="Eastwood et al. (2023), 'DCI-ES: an extended disentanglement framework'",
    raw_range="above 1 if there are fewer codes than factors",
)
def dci_size(evidence: Evidence) -> Score:
    """Number of factors per code, counting only those that vary.

    1 means that there are as many codes as factors, or fewer. With fewer codes ``raw`` is above 1, and information must
    be lost unless the factors depend on each other. One half means that there are twice as many codes as factors. The
    score does not depend on the values of the codes: random codes score d / m as well.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(0).normal(size=(100, 2))
    >>> float(dci_size(factors, np.column_stack([factors, factors])))
    0.5
    """
    n_factors, n_codes = int(varying(evidence).sum()), int(live_points(evidence).sum())
    if not n_codes:
        return Score(float("nan"), caveats=(Finding("no_code_varies"),))
    fewer = Finding("fewer_codes_than_factors", n_codes=n_codes, n_factors=n_factors)
    return Score(raw=n_factors / n_codes, caveats=(fewer,) if n_codes < n_factors else ())
