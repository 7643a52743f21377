"""One score for factors that are labelled on different rows, from the scores of groups of factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unweave.arrays import FloatArray
from unweave.card.card import Card, MetricUndefined
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.score import Score


def joined_score(card: Card, evidence: Evidence, score_of: Callable[[Evidence], Score]) -> Score:
    """The mean over all factors of their scores, each computed on the rows labelled for its group of factors.

    Factors of a group on which the metric is not defined have nan. Matrices of codes x factors are joined, and other
    parts of the scores are left out.
    """
    parts = evidence.labelled_parts
    refusals = [card.refusal(part) for part in parts]
    if all(refusals):
        raise MetricUndefined(refusals[0] or "")
    scores = [None if refused else score_of(part) for part, refused in zip(parts, refusals, strict=True)]
    per_factor: dict[str, float] = {}
    for score, part in zip(scores, parts, strict=True):
        known = score.per_factor if score else {}  # an undefined score has no numbers per factor
        per_factor |= {name: known.get(name, np.nan) for name in part.factor_names}
    ordered = {name: per_factor[name] for name in evidence.factor_names}
    defined = [number for number in ordered.values() if not np.isnan(number)]
    matrices = _joined_matrices(evidence, scores)
    shown = next(score.matrices for score in scores if score)
    return Score(
        raw=float(np.mean(defined)) if defined else float("nan"),
        per_factor=ordered,
        parts=matrices,
        matrices=tuple(matrix for matrix in shown if matrix.part in matrices),
        caveats=_caveats(evidence, scores),
    )


def _joined_matrices(evidence: Evidence, scores: Sequence[Score | None]) -> dict[str, FloatArray]:
    first = next(score for score in scores if score)
    joined = {}
    for name in (name for name in first.parts if name.endswith("_matrix")):
        whole = np.full((evidence.n_codes, evidence.n_factors), np.nan)
        for score, part in zip(scores, evidence.labelled_parts, strict=True):
            columns = [evidence.factor_names.index(factor) for factor in part.factor_names]
            matrix = score.parts.get(name) if score else None
            if matrix is not None and matrix.shape == (evidence.n_codes, len(columns)):
                whole[:, columns] = matrix
        joined[name] = whole
    return joined


def _caveats(evidence: Evidence, scores: Sequence[Score | None]) -> tuple[Finding, ...]:
    sizes = {name: part.n_rows for part in evidence.labelled_parts for name in part.factor_names}
    most = max(sizes.values())
    fewer = [name for name in evidence.factor_names if sizes[name] < most]
    said = Finding("factors_on_labelled_rows", n_rows=min(sizes.values()), of=most, factors=fewer)
    caveats = dict.fromkeys(caveat for score in scores if score for caveat in score.caveats)
    return (*caveats, said) if fewer else tuple(caveats)
