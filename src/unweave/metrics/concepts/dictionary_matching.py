"""Matching of two dictionaries: do two decoders have the same directions?

    mean best cosine = 1/k sum_i cos(a_i, b_pi(i))

with a_i and b_j the columns of the two decoders, pi a one-to-one matching and k the smaller number of columns. With the
matching that maximises the sum this is known as PW-MCC. It compares decoders with each other or with known directions.
Unlike `mcc` it does not use factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unweave.arrays import FloatArray
from unweave.estimators.matching import best_matching
from unweave.evidence import EvidenceError

COLUMNS_IN_BLOCK = 2048


@dataclass(frozen=True)
class DictionaryMatching:
    """Pairs of columns and their cosines; ``chance`` is the largest cosine expected between random directions."""

    mean_cosine: float
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    cosines: FloatArray
    chance: float


def dictionary_matching(
    first: object, second: object, *, matching: Literal["exact", "fast"] = "exact", signed: bool = True
) -> DictionaryMatching:
    """Mean cosine of the matched columns of two decoders (dimensions x columns).

    Parameters
    ----------
    first, second : arrays, D x k and D x l
        The decoders: one column for each code.
    matching : {'exact', 'fast'}
        'exact' computes the optimal assignment. 'fast' matches greedily in rounds: every unmatched column proposes to
        its nearest unmatched partner, and each partner accepts the nearest proposal. The fast matching only holds
        blocks of the matrix of cosines in memory, and its mean cosine never exceeds the exact one.
    signed : bool
        Whether opposite directions count as different (cosine -1) or equal (cosine 1).

    Examples
    --------
    >>> directions = np.random.default_rng(0).normal(size=(64, 8))
    >>> found = dictionary_matching(directions, directions[:, ::-1] * 2)
    >>> round(found.mean_cosine, 6), found.second.tolist()
    (1.0, [7, 6, 5, 4, 3, 2, 1, 0])
    """
    a, b = (_unit_columns(given, what) for given, what in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise EvidenceError(
            f"The dictionaries have {len(a)} and {len(b)} dimensions: pass decoders of the same space, one column for "
            "each code."
        )
    if matching == "exact":
        cosines = a.T @ b if signed else np.abs(a.T @ b)
        pairs = best_matching(cosines)
        taken = cosines[pairs]
    elif matching == "fast":
        pairs, taken = _in_rounds(a, b, signed)
    else:
        raise EvidenceError(f"matching={matching!r} is not known: use 'exact' or 'fast'.")
    order = np.argsort(pairs[0])
    chance = np.sqrt(2 * np.log(max(b.shape[1], 2)) / len(a))
    return DictionaryMatching(
        float(taken.mean()), pairs[0][order], pairs[1][order], taken[order], float(min(chance, 1.0))
    )


def _unit_columns(given: object, what: str) -> FloatArray:
    array = np.array(given, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise EvidenceError(f"The {what} dictionary has shape {array.shape}: pass dimensions x columns.")
    norms = np.linalg.norm(array, axis=0)
    if not np.isfinite(norms).all() or (norms == 0).any():
        bad = int(np.flatnonzero(~np.isfinite(norms) | (norms == 0))[0])
        raise EvidenceError(f"Column {bad} of the {what} dictionary is zero or not finite: leave it out.")
    return np.asarray(array / norms)


def _in_rounds(
    a: FloatArray, b: FloatArray, signed: bool
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], FloatArray]:
    """Greedy matching in rounds, as described for ``matching='fast'``: the pairs and their cosines."""
    free_a, free_b = np.arange(a.shape[1]), np.arange(b.shape[1])
    pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    cosines: list[FloatArray] = []
    while free_a.size and free_b.size:
        best, value = np.empty(free_a.size, dtype=np.intp), np.empty(free_a.size)
        for start in range(0, free_a.size, COLUMNS_IN_BLOCK):
            block = slice(start, start + COLUMNS_IN_BLOCK)
            products = a[:, free_a[block]].T @ b[:, free_b]
            products = products if signed else np.abs(products)
            best[block] = products.argmax(axis=1)
            value[block] = products.max(axis=1)
        order = np.argsort(-value, kind="stable")
        _, winners = np.unique(best[order], return_index=True)  # the nearest proposal to every partner
        winners = order[winners]
        pairs.append((free_a[winners], free_b[best[winners]]))
        cosines.append(value[winners])
        free_b = np.delete(free_b, best[winners])
        free_a = np.delete(free_a, winners)
    found = (np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs]))
    return found, np.concatenate(cosines)
