"""Permuted evidence shares results that do not depend on the pairing, and has the same scores as new evidence."""

import numpy as np
import pytest

from unweave import Evidence
from unweave.estimators import Histogram, NearestNeighbour, Pearson, RandomDependence, Spearman
from unweave.memo import memoised
from unweave.metrics import matrices
from unweave.trust.floors import null_evidence

N_ROWS = 240
KINDS = {"angle": "circular", "shape": "categorical"}
ESTIMATORS = [
    (matrices.correlation_matrix, Pearson()),
    (matrices.correlation_matrix, Spearman()),
    (matrices.correlation_matrix, RandomDependence()),
    (matrices.mutual_information_matrix, Histogram(8)),
    (matrices.mutual_information_matrix, NearestNeighbour()),
]


@pytest.fixture(scope="module")
def evidence():
    rng = np.random.default_rng(0)
    factors = {
        "size": rng.normal(size=N_ROWS),
        "level": rng.integers(0, 5, N_ROWS),
        "angle": rng.uniform(-3, 3, N_ROWS),
        "shape": rng.choice(["heart", "oval", "square"], N_ROWS),
    }
    codes = np.column_stack(
        [factors["size"] ** 3, factors["level"] + rng.normal(size=N_ROWS), np.cos(factors["angle"])]
    )
    return Evidence(factors, codes, kinds=KINDS)


def afresh(permuted):
    kinds, names = [declared.text for declared in permuted.declared_kinds], permuted.factor_names
    return Evidence(permuted.factors, permuted.codes, kinds=kinds, factor_names=names)


@pytest.mark.parametrize(("matrix", "estimator"), ESTIMATORS, ids=lambda item: type(item).__name__)
def test_matrices_equal_those_of_fresh_evidence(evidence, matrix, estimator):
    matrix(evidence, estimator)  # caches results that the permuted evidence can share
    for permuted in (evidence.permuted(3), evidence.permuted(3).permuted(4)):
        np.testing.assert_allclose(matrix(permuted, estimator), matrix(afresh(permuted), estimator), atol=1e-9)
    assert not np.allclose(matrix(evidence.permuted(3), estimator), matrix(evidence, estimator), atol=1e-3)


def test_the_pairing_is_broken_and_the_columns_are_kept(evidence):
    permuted = evidence.permuted(0)
    np.testing.assert_array_equal(permuted.codes, evidence.codes)
    assert not np.array_equal(permuted.factors, evidence.factors)
    # rows of factors are permuted as a whole, so their dependence on each other is preserved
    assert sorted(map(tuple, permuted.factors)) == sorted(map(tuple, evidence.factors))
    assert permuted.fingerprint != evidence.fingerprint


def test_the_same_seed_gives_the_same_permutation(evidence):
    generator = np.random.default_rng(5)
    assert evidence.permuted(5).fingerprint == evidence.permuted(5).fingerprint
    assert evidence.permuted(generator).fingerprint != evidence.permuted(generator).fingerprint


def test_one_side_is_computed_once_for_all_permutations(evidence):
    calls = []

    @memoised(on="codes")
    def of_codes(evidence):
        calls.append("codes")
        return evidence.codes.sum(axis=0)

    @memoised(on="factors", by_row=True)
    def by_row(evidence, power):
        calls.append("factors")
        return (evidence.factors**power,)

    @memoised(on="both")
    def of_both(evidence):
        calls.append("both")
        return evidence.factors.T @ evidence.codes

    permutations = [evidence.permuted(seed) for seed in range(3)]
    for permuted in (*permutations, permutations[0].permuted(9)):
        of_codes(permuted), of_both(permuted)
        np.testing.assert_array_equal(by_row(permuted, 2)[0], permuted.factors**2)
    assert (calls.count("codes"), calls.count("factors"), calls.count("both")) == (1, 1, 4)


@pytest.mark.parametrize("undone", [False, True])
def test_no_null_draw_restores_a_pairing_that_was_shuffled(undone):
    """A control whose codes were shuffled by the user: null draw 0 paired codes and factors again."""
    factors, largest = np.random.default_rng(5).normal(size=(300, 1)), 0.0
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(300)
        evidence = Evidence(factors, factors[np.argsort(order) if undone else order])
        draws = [null_evidence(evidence, "permutation", 0, k) for k in range(3)]
        draws += [null_evidence(evidence, "permutation", seed, 0), evidence.permuted(seed), evidence.permuted(0)]
        found = [abs(np.corrcoef(draw.factors[:, 0], draw.codes[:, 0])[0, 1]) for draw in draws]
        largest = max(largest, *found)
    assert largest < 0.3  # the largest of 600 correlations exceeds .3 with probability .0001
