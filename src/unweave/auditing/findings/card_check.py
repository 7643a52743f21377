"""Check of the card: the best score for every encoder in the card's equivalence class, and not for random codes."""

from __future__ import annotations

from dataclasses import dataclass

from unweave.auditing.measurement.cases import Case
from unweave.card import Card
from unweave.synthetic.encoders import Elementwise, Encoder, Mixed, Noise, PermutedAndScaled
from unweave.synthetic.worlds import Independent

# the equivalence classes that contain each encoder
COVERED_BY: dict[str, tuple[str, ...]] = {
    "E1": ("permutation and scale", "elementwise", "affine", "bijection", "any"),
    "E2": ("elementwise", "bijection", "any"),
    "E3": ("affine", "bijection", "any"),
    "E9": ("any",),
}
MARGIN = 0.01
N_FACTORS, N_ROWS = 5, 2000  # the number of rows for which a card states its tolerance


@dataclass(frozen=True)
class Promise:
    """The mean score of one encoder, compared with the card.

    ``promised`` is True if the card states the best score for this encoder, and ``full_marks`` is True if the mean
    score is the best score within the tolerance. ``kept`` is False if a promised best score is not reached, or if
    random codes reach the best score and the card does not state this. Other encoders may reach the best score without
    a promise.
    """

    encoder: str
    promised: bool
    score: float
    full_marks: bool

    @property
    def kept(self) -> bool:
        """Whether the score agrees with the card."""
        return self.full_marks if self.promised else not (self.full_marks and self.encoder == "E9")


def card_cases() -> dict[str, Case]:
    """Cases with encoders of different equivalence classes, on independent factors."""
    encoders: dict[str, Encoder] = {
        "E1": PermutedAndScaled(),
        "E2": Elementwise(),
        "E3": Mixed(),
        "E9": Noise(N_FACTORS),
    }
    return {name: Case(Independent(N_FACTORS), encoder, N_ROWS) for name, encoder in encoders.items()}


def promise_of(card: Card, encoder: str, mean_score: float) -> Promise:
    """Compare a mean score with the card; it counts as the best score, 1, within the card's tolerance plus .01.

    >>> from unweave.metrics import mcc
    >>> promise_of(mcc.card, "E2", 0.91)
    Promise(encoder='E2', promised=False, score=0.91, full_marks=False)
    """
    full = mean_score >= 1 - card.identity_tolerance - MARGIN
    admitted = encoder == "E9" and card.chance == card.best  # the card states the best score for noise
    return Promise(encoder, admitted or card.equivalence in COVERED_BY[encoder], mean_score, full)
