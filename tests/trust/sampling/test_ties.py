"""Letters of ties: two representations share a letter if and only if they do not differ significantly."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from unweave import Evidence
from unweave.score import Score
from unweave.trust.comparison import comparison_of_parts, letters_of, sets_of_ties
from unweave.trust.intervals import Parts, PartScores

SECONDS = 10.0  # an enumeration of all maximal cliques of this size would not end


def random_pairs(rng: np.random.Generator, order: list[str], share: float) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in itertools.combinations(order, 2) if rng.random() < share}


def assert_right(order, apart, ties):
    """Every tied pair is in a set, no pair that differs is in a set, and all sets are maximal."""
    sets = [set(tied) for tied in ties]
    for pair in itertools.combinations(order, 2):
        assert any(set(pair) <= tied for tied in sets) == (frozenset(pair) not in apart)
    assert all(any(name in tied for tied in sets) for name in order)
    for tied in sets:
        others = [name for name in order if name not in tied]
        assert all(any(frozenset((name, member)) in apart for member in tied) for name in others)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_two_share_a_set_exactly_where_they_are_tied(share):
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        order = [f"model {k}" for k in range(n)]
        apart = random_pairs(rng, order, share)
        assert_right(order, apart, sets_of_ties(order, apart))


def test_ties_between_neighbours_give_every_largest_set():
    """Scores are tied if they differ by less than one: maximal sets are intervals of the order, and all are needed."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        scores = np.sort(rng.uniform(0, 5, size=9))[::-1]
        order = [str(k) for k in range(9)]
        apart = {
            frozenset((order[i], order[j])) for i, j in itertools.combinations(range(9), 2) if scores[i] - scores[j] > 1
        }
        reach = [max(j for j in range(9) if scores[i] - scores[j] <= 1) for i in range(9)]
        runs = [tuple(order[i : reach[i] + 1]) for i in range(9) if i == 0 or reach[i] > reach[i - 1]]
        assert sets_of_ties(order, apart) == tuple(runs)


@pytest.mark.parametrize("kind", ["pairs", "random"])
def test_two_hundred_take_seconds(kind):
    """100 disjoint pairs that differ, which have 2**100 maximal sets; and a random half of all pairs."""
    order = [f"model {k}" for k in range(200)]
    rng = np.random.default_rng(2)
    pairs = {frozenset(order[k : k + 2]) for k in range(0, 200, 2)}
    apart = pairs if kind == "pairs" else random_pairs(rng, order, 0.5)
    start = time.process_time()
    ties = sets_of_ties(order, apart)
    assert time.process_time() - start < SECONDS
    letters = letters_of(order, ties)
    assert set(letters) == set(order)
    assert all(letters.values())
    member = np.array([[name in set(tied) for tied in ties] for name in order], dtype=float)
    alike = np.array([[frozenset((a, b)) not in apart for b in order] for a in order])
    assert np.array_equal(member @ member.T > 0, alike)


def test_a_comparison_of_two_hundred_representations_ends():
    """Dense scores: neighbours share a letter, and the best and the worst do not."""
    rng = np.random.default_rng(3)
    plan = Parts(Evidence(np.arange(40.0), np.arange(40.0)), n_units=40, n_out=20, seed=0)
    scores = {f"model {k}": 1 - k / 200 for k in range(200)}
    found = {
        name: PartScores(plan, Score(score), tuple(score + rng.normal(0, 0.05, size=24)), (), ())
        for name, score in scores.items()
    }
    start = time.process_time()
    comparison = comparison_of_parts("mcc", found, 0.95)
    assert time.process_time() - start < SECONDS
    best, second, worst = (set(comparison.letters[f"model {k}"]) for k in (0, 1, 199))
    assert best & second
    assert not best & worst
