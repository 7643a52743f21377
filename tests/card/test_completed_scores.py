"""What the decorator adds to a score: caveats of violated assumptions, and one integer seed from any rng."""

import numpy as np
import pytest

import unweave
from unweave.card import Assumption
from unweave.metrics import mcc, mig, sufficiency
from unweave.score import Score

CARD = {
    "measures": "explicitness",
    "equivalence": "any",
    "min_rows": 2,
    "chance": 0.0,
    "cost": "none",
    "fails_when": "always",
    "reference": "none",
}
NEGATIVE, FEW = "Some codes are negative.", "There are few rows."
POSITIVE = Assumption(NEGATIVE, lambda evidence: bool((evidence.codes >= 0).all()))
MANY = Assumption(FEW, lambda evidence: evidence.n_rows > 3)
NUMBERS = np.arange(10.0)


@unweave.metric(**CARD, assumes=(POSITIVE, MANY))
def assuming(evidence):
    """Score 1/2; the codes are assumed to be positive."""
    return Score(0.5, caveats=("Half.",))


@unweave.metric(**CARD)
def seeded(evidence, *, rng: int | np.random.Generator | None = 0):
    """Score 1/2, with a seed as an option."""
    assert isinstance(rng, int)
    return Score(0.5)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (NUMBERS, ()),
        (-NUMBERS, (NEGATIVE,)),
        (NUMBERS[:3], (FEW,)),
        (-NUMBERS[:3], (NEGATIVE, FEW)),
    ],
)
def test_assumptions_that_do_not_hold_are_caveats(codes, said):
    score = assuming(NUMBERS[: len(codes)], codes)
    assert tuple(map(str, score.caveats)) == ("Half.", *said)


def seed_of(rng):
    return seeded(NUMBERS, NUMBERS, rng=rng).settings["rng"]


def test_a_seed_is_itself_and_a_generator_is_drawn_from():
    assert [seed_of(rng) for rng in (0, 7, np.int64(7))] == [0, 7, 7]
    one, same, other = (np.random.default_rng(seed) for seed in (1, 1, 2))
    assert seed_of(one) == seed_of(same) != seed_of(other)
    assert seed_of(one) == seed_of(same)  # the second draw is equal as well
    assert len({seed_of(one), seed_of(one), seed_of(one)}) == 3


def test_none_is_fresh_entropy():
    assert len({seed_of(None) for _ in range(5)}) > 1


def test_metrics_of_single_codes_say_that_groups_are_not_used():
    rng = np.random.default_rng(0)
    factors, groups = rng.normal(size=(60, 2)), {"both": [0, 1]}
    codes = factors + 0.1 * rng.normal(size=(60, 2))
    for metric in (mcc, mig):
        assert "The 1 code group is not used" in " ".join(map(str, metric(factors, codes, code_groups=groups).caveats))
        assert not metric(factors, codes).caveats
    used = sufficiency(factors, codes, code_groups=groups)
    assert not any(caveat.kind == "code_groups_ignored" for caveat in used.caveats)


def test_repeated_rows_are_said_by_every_score_that_pairs_them():
    """Noise of 100 rows, each repeated five times, has a dci_informativeness of .84, which needs a caveat."""
    rng = np.random.default_rng(0)
    factors, codes = np.tile(rng.normal(size=(100, 2)), (5, 1)), np.tile(rng.normal(size=(100, 2)), (5, 1))
    for metric in (mcc, mig, sufficiency):
        assert "Only 100 of 500 rows differ" in " ".join(map(str, metric(factors, codes).caveats))
        grouped = metric(factors, codes, row_groups=np.arange(500) % 100)
        assert not any(caveat.kind == "rows_come_again" for caveat in grouped.caveats)
    levels = rng.integers(0, 3, size=(500, 2)).astype(float)
    assert not any(caveat.kind == "rows_come_again" for caveat in mig(levels, levels).caveats)  # equal by chance
