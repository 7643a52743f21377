"""Majority votes: the code with the smallest (or largest) variance predicts the factor that was fixed (or varied)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from unweave.arrays import FloatArray
from unweave.evidence import Evidence
from unweave.findings import Finding
from unweave.metrics.intervention.comparable_codes import comparable_codes, intervenes
from unweave.metrics.intervention.fixed_factors import Plan, asked, batches
from unweave.metrics.intervention.held_factors import Held, holdable
from unweave.metrics.matrices import live_points
from unweave.metrics.shown_matrices import VOTES
from unweave.score import Score

ONE_FACTOR = Finding("one_factor_to_tell")
NO_CODES = Finding("no_code_varies")


def vote_score(
    evidence: Evidence,
    held_of: Held,
    plan: Plan,
    winner: Literal["least", "most"],
    n_splits: int,
    rescale: bool,
    seed: int,
) -> Score:
    """Accuracy of the majority vote, learned on one half of the rows and tested on the other, over several splits."""
    n_splits = 1 if intervenes(evidence) else n_splits  # draws of a sampler are independent, so one split is enough
    held_of, caveats = holdable(evidence, held_of, plan, range(seed, seed + n_splits))
    if len(held_of) < 2 or not live_points(evidence).any():
        return Score(math.nan, caveats=(*caveats, ONE_FACTOR if len(held_of) < 2 else NO_CODES))
    if live_points(evidence).sum() == 1:
        caveats = (*caveats, Finding("one_code_wins"))
    tables = np.stack([_votes(evidence, held_of, plan, winner, seed + split) for split in range(n_splits)])
    right = np.mean([_majority_accuracy(*halves[::way]) for halves in tables for way in (1, -1)], axis=0)
    matrix = np.zeros((evidence.n_codes, evidence.n_factors))
    matrix[np.ix_(np.flatnonzero(live_points(evidence)), np.array(list(held_of)))] = tables.sum(axis=(0, 1))
    caveats = (*caveats, *asked(evidence, held_of.values(), plan, seed))
    return accuracy_score(evidence, held_of, right, rescale, caveats, {"vote_matrix": matrix})


def accuracy_score(
    evidence: Evidence,
    held_of: Held,
    right: FloatArray,
    rescale: bool,
    caveats: tuple[Finding, ...],
    parts: dict[str, FloatArray],
) -> Score:
    """Score from the accuracy for every factor in ``held_of``, rescaled so that guessing scores 0."""
    guessing = 1 / len(held_of)
    per_factor = np.full(evidence.n_factors, np.nan)
    per_factor[list(held_of)] = (right - guessing) / (1 - guessing) if rescale else right
    return Score(
        raw=float(np.nanmean(per_factor)),
        per_factor=dict(zip(evidence.factor_names, per_factor.tolist(), strict=True)),
        parts=parts,
        matrices=(VOTES,) if VOTES.part in parts else (),
        caveats=caveats,
    )


def _votes(evidence: Evidence, held_of: Held, plan: Plan, winner: str, seed: int) -> FloatArray:
    """How often every live code won in the batches of every factor (halves x live codes x factors)."""
    overall = comparable_codes(evidence, plan.scale).var(axis=0)
    votes = np.zeros((2, overall.size, len(held_of)))
    for column, held in enumerate(held_of.values()):
        for half, codes in batches(evidence, held, plan, seed):
            spread = codes.var(axis=1) / overall
            winners = spread.argmin(axis=1) if winner == "least" else spread.argmax(axis=1)
            votes[half, :, column] += np.bincount(winners, minlength=overall.size)
    return votes


def _majority_accuracy(learned: FloatArray, tested: FloatArray) -> FloatArray:
    """Accuracy for every factor; the vote of a code that never won in training counts as wrong."""
    answer = np.where(learned.any(axis=1), learned.argmax(axis=1), -1)
    right = tested * (answer[:, None] == np.arange(tested.shape[1]))
    return np.asarray(right.sum(axis=0) / tested.sum(axis=0))
