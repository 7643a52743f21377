"""Does a metric keep what its card promises: full marks for every map in its class, and not for noise?"""

from __future__ import annotations

from dataclasses import dataclass

from unweave.auditing.measurement.cases import Case
from unweave.card import Card
from unweave.synthetic.encoders import Elementwise, Encoder, Mixed, Noise, PermutedAndScaled
from unweave.synthetic.worlds import Independent

# the classes whose promise covers each encoder
COVERED_BY: dict[str, tuple[str, ...]] = {
    "E1": ("permutation and scale", "elementwise", "affine", "bijection", "any"),
    "E2": ("elementwise", "bijection", "any"),
    "E3": ("affine", "bijection", "any"),
    "E9": ("any",),
}
MARGIN = 0.01
N_FACTORS, N_ROWS = 5, 2000  # the rows that a card states its tolerance for


@dataclass(frozen=True)
class Promise:
    """One encoder: whether the card promises full marks, the mean score, and whether that is full marks.

    ``kept`` is false where promised marks are not given, and where noise gets full marks; marks beyond the promise are
    no fault.
    """

    encoder: str
    promised: bool
    score: float
    full_marks: bool

    @property
    def kept(self) -> bool:
        """Whether the score is as the card says."""
        return self.full_marks if self.promised else not (self.full_marks and self.encoder == "E9")


def card_cases() -> dict[str, Case]:
    """The encoders that tell the classes apart, on independent factors."""
    encoders: dict[str, Encoder] = {
        "E1": PermutedAndScaled(),
        "E2": Elementwise(),
        "E3": Mixed(),
        "E9": Noise(N_FACTORS),
    }
    return {name: Case(Independent(N_FACTORS), encoder, N_ROWS) for name, encoder in encoders.items()}


def promise_of(card: Card, encoder: str, mean_score: float) -> Promise:
    """Compare a mean score (1 is best) with the card: full marks lie within its tolerance of 1 and a margin of .01.

    >>> from unweave.metrics import mcc
    >>> promise_of(mcc.card, "E2", 0.91)
    Promise(encoder='E2', promised=False, score=0.91, full_marks=False)
    """
    full = mean_score >= 1 - card.identity_tolerance - MARGIN
    admitted = encoder == "E9" and card.chance == card.best  # a card that says that noise gets full marks
    return Promise(encoder, admitted or card.equivalence in COVERED_BY[encoder], mean_score, full)
