import dataclasses

import pytest

from unweave.auditing.properties import promise_of
from unweave.metrics import mcc, representations_invariance


def card(equivalence):
    return dataclasses.replace(mcc.card, equivalence=equivalence)


@pytest.mark.parametrize(
    ("equivalence", "promised"),
    [
        ("permutation and scale", {"E1"}),
        ("elementwise", {"E1", "E2"}),
        ("affine", {"E1", "E3"}),
        ("bijection", {"E1", "E2", "E3"}),
        ("any", {"E1", "E2", "E3", "E9"}),
    ],
)
def test_who_is_promised_full_marks(equivalence, promised):
    assert {name for name in ("E1", "E2", "E3", "E9") if promise_of(card(equivalence), name, 1.0).promised} == promised


def test_a_promise_is_broken_by_less_than_full_marks():
    assert not promise_of(card("affine"), "E3", 0.98).kept
    assert promise_of(card("affine"), "E3", 0.991).kept


def test_marks_beyond_the_promise_are_no_fault_unless_noise_gets_them():
    assert promise_of(card("permutation and scale"), "E3", 1.0).kept
    assert not promise_of(card("permutation and scale"), "E9", 1.0).kept


def test_a_card_may_say_that_noise_gets_full_marks():
    assert promise_of(representations_invariance.card, "E9", 1.0).kept
