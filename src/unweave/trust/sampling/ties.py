"""Compact letter display: two representations share a letter if and only if they do not differ significantly.

Each letter stands for a maximal clique of the graph in which tied representations are connected. There can be
exponentially many maximal cliques, but cliques that cover every tied pair are enough. A greedy algorithm finds such a
cover in polynomial time: each clique starts at an uncovered pair and grows by the representation that covers the most
uncovered pairs. If all representations between two tied ones are tied with both, each maximal clique is the only one
that contains both of its ends, so all maximal cliques are found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import Rows

Truths = NDArray[np.bool_]


def sets_of_ties(order: list[str], told_apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Maximal sets of representations that do not differ significantly; together they contain every tied pair.

    The sets, and the representations in each set, are in the given order.

    >>> sets_of_ties(["a", "b", "c", "d"], {frozenset("ac"), frozenset("ad")})
    (('a', 'b'), ('b', 'c', 'd'))
    """
    place = {name: k for k, name in enumerate(order)}
    alike = np.ones((len(order), len(order)), dtype=np.bool_)
    for first, second in map(tuple, told_apart):
        alike[place[first], place[second]] = alike[place[second], place[first]] = False
    return tuple(tuple(order[k] for k in tied) for tied in sorted(_needed(_cover(alike), alike)))


def tied_letters(order: list[str], told_apart: set[frozenset[str]]) -> dict[str, str]:
    """Letters from best to worst; representations that share a letter do not differ significantly.

    >>> tied_letters(["a", "b", "c"], {frozenset("ac")})
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    return letters_of(order, sets_of_ties(order, told_apart))


def letters_of(order: list[str], ties: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """The letters of the sets that contain each representation.

    >>> letters_of(["a", "b"], (("a",), ("b",)))
    {'a': 'a', 'b': 'b'}
    """
    held: dict[str, list[str]] = {name: [] for name in order}
    for k, tied in enumerate(ties):
        for name in tied:
            held[name].append(_letter(k))
    return {name: "".join(letters) for name, letters in held.items()}


def _cover(alike: Truths) -> list[list[int]]:
    """Maximal cliques that cover every tied pair; a representation without ties is a clique of its own."""
    missing = alike.copy()  # the diagonal ensures that representations without ties are covered
    found = []
    for start in range(len(alike)):
        while missing[start].any():
            first = int(np.flatnonzero(missing[start])[0])
            clique = _grown(sorted({start, first}), alike, missing)
            missing[np.ix_(clique, clique)] = False
            found.append(clique)
    return found


def _grown(clique: list[int], alike: Truths, missing: Truths) -> list[int]:
    """The clique extended until it is maximal, first by the members that cover the most uncovered pairs."""
    candidates = np.logical_and.reduce(alike[clique])
    candidates[clique] = False
    brought = missing[clique].sum(axis=0)
    while candidates.any():
        best = int(np.argmax(np.where(candidates, brought, -1)))
        clique = [*clique, best]
        candidates &= alike[best]
        candidates[best] = False
        brought = brought + missing[best]
    return sorted(clique)


def _needed(cliques: list[list[int]], alike: Truths) -> list[list[int]]:
    """The cliques without those whose pairs are all covered by other cliques."""
    times: Rows = np.zeros(alike.shape, dtype=np.intp)
    for clique in cliques:
        times[np.ix_(clique, clique)] += 1
    kept = []
    for clique in cliques:
        block = np.ix_(clique, clique)
        if (times[block] > 1).all():
            times[block] -= 1
        else:
            kept.append(clique)
    return kept


def _letter(k: int) -> str:
    """Letter number k: a to z, then a1, b1 and so on."""
    return chr(ord("a") + k % 26) + (str(k // 26) if k >= 26 else "")
