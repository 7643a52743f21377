"""Codes as detectors of concepts, compared with scikit-learn and with planted structure."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from unweave.evidence import EvidenceError
from unweave.metrics.concepts import (
    code_usage,
    concept_report,
    dictionary_matching,
    k_sparse_probing,
    single_codes,
    split_concepts,
)

RNG = np.random.default_rng(0)
CONCEPTS = (RNG.random((300, 3)) < 0.25).astype(int)
CODES = np.where(RNG.random((300, 8)) < 0.3, RNG.normal(size=(300, 8)).round(1), 0.0)
CODES[:, 0] += CONCEPTS[:, 0] * RNG.random(300).round(1)
CODES[:, 5] = RNG.normal(size=300)


def test_best_codes_agree_with_scikit_learn():
    found = single_codes(CONCEPTS, sparse.csr_array(CODES))
    for j in range(3):
        labels = CONCEPTS[:, j]
        areas = [roc_auc_score(labels, CODES[:, i]) for i in range(8)]
        precisions = [average_precision_score(labels, CODES[:, i]) for i in range(8)]
        curves = [precision_recall_curve(labels, CODES[:, i]) for i in range(8)]
        f1 = [np.max(2 * p[:-1] * r[:-1] / np.maximum(p[:-1] + r[:-1], 1e-12)) for p, r, _ in curves]
        assert found.auroc[j] == pytest.approx(max(areas), abs=1e-12)
        assert found.average_precision[j] == pytest.approx(max(precisions), abs=1e-12)
        assert found.f1[j] == pytest.approx(max(f1), abs=1e-12)
        assert found.auroc_code[j] == np.argmax(areas)


def test_sparse_equals_dense():
    dense, thin = single_codes(CONCEPTS, CODES), single_codes(CONCEPTS, sparse.coo_array(CODES))
    for name in ("auroc", "average_precision", "f1", "auroc_code"):
        np.testing.assert_array_equal(getattr(dense, name), getattr(thin, name))


def test_random_codes_get_the_chance_level():
    rng = np.random.default_rng(3)
    concepts = (rng.random((2000, 20)) < 0.3).astype(int)
    codes = sparse.csr_array(np.where(rng.random((2000, 200)) < 0.5, rng.random((2000, 200)), 0.0))
    found = single_codes(concepts, codes)
    assert (found.auroc < found.auroc_of_chance + 0.01).all()
    assert found.auroc.mean() > 0.52
    probes = k_sparse_probing(concepts, codes, k=(1, 5))
    assert abs(probes.auroc.mean() - 0.5) < 0.02


def test_usage():
    codes = CODES.copy()
    codes[:, 2] = 0.0
    found = code_usage(sparse.csr_array(codes))
    assert found.dead.tolist() == [2]
    assert found.always_on.tolist() == [5]
    assert found.active_per_row == pytest.approx((codes != 0).sum() / 300)
    np.testing.assert_allclose(found.density, (codes != 0).mean(axis=0))


def test_two_codes_probe_what_one_cannot():
    rng = np.random.default_rng(1)
    left, right = rng.random((2, 2000)) < 0.3
    concepts = {"either": (left | right).astype(int)}
    codes = sparse.csr_array(np.column_stack([left, right, rng.random((2000, 6)) < 0.3]).astype(float))
    found = k_sparse_probing(concepts, codes, k=(1, 2))
    assert found.auroc[1, 0] > 0.999 > 0.95 > found.auroc[0, 0]
    assert set(found.codes[0, :2]) == {0, 1}


def planted(n_rows, n_features, n_codes, dimension, seed=0):
    """Activations of known features, their dictionary, and a shuffled and rescaled dictionary with extra columns."""
    rng = np.random.default_rng(seed)
    active = rng.random((n_rows, n_features)) < 0.05
    dictionary = rng.normal(size=(dimension, n_features))
    order = rng.permutation(n_codes)
    other = np.concatenate([dictionary, rng.normal(size=(dimension, n_codes - n_features))], axis=1)[:, order]
    return active, dictionary, other * rng.uniform(0.5, 2.0, size=n_codes), np.argsort(order)[:n_features]


@pytest.mark.parametrize(
    ("n_features", "n_codes", "dimension"), [(40, 80, 64), pytest.param(512, 1024, 256, marks=pytest.mark.slow)]
)
def test_a_planted_dictionary_is_found(n_features, n_codes, dimension):
    _, dictionary, other, places = planted(10, n_features, n_codes, dimension)
    for matching in ("exact", "fast"):
        found = dictionary_matching(dictionary, other, matching=matching)
        assert found.mean_cosine == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_array_equal(found.second, places)
    noise = dictionary_matching(dictionary, np.random.default_rng(9).normal(size=(dimension, n_codes)))
    assert noise.mean_cosine < noise.chance


def test_fast_matching_never_exceeds_the_exact_one():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 8, 30))
    exact, fast = (dictionary_matching(first, second, matching=how) for how in ("exact", "fast"))
    assert fast.mean_cosine <= exact.mean_cosine + 1e-12
    assert np.unique(fast.second).size == 30


@pytest.mark.parametrize("n_rows", [3000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_planted_splits_and_absorptions_are_counted(n_rows):
    """Concepts 0 to 4 have one code, 5 to 9 are split over three codes, and 10 to 14 are absorbed by another code."""
    rng = np.random.default_rng(4)
    active = rng.random((n_rows, 15)) < 0.1
    third = rng.integers(3, size=(n_rows, 15))
    codes = [active[:, :5]]
    codes += [active[:, 5:10] & (third[:, 5:10] == part) for part in range(3)]
    hole = rng.integers(6, size=(n_rows, 5)) == 0
    codes += [active[:, 10:] & ~hole, active[:, 10:] & hole, rng.random((n_rows, 10)) < 0.05]
    found = split_concepts(active.astype(int), sparse.csr_array(np.column_stack(codes).astype(float)))
    assert found.specific.tolist() == [1] * 5 + [3] * 5 + [2] * 5
    assert np.flatnonzero(found.split).tolist() == [5, 6, 7, 8, 9]
    assert np.flatnonzero(found.absorbed).tolist() == [10, 11, 12, 13, 14]
    assert (found.n_split, found.n_absorbed) == (5, 5)


def test_bad_input_says_what_to_do():
    with pytest.raises(EvidenceError, match="'factor 0' has 3 values: a concept has two"):
        single_codes(np.arange(300)[:, None] % 3, CODES)
    with pytest.raises(EvidenceError, match="8 and 9 dimensions"):
        dictionary_matching(np.ones((8, 2)), np.ones((9, 2)))
    with pytest.raises(EvidenceError, match="Column 1 of the second dictionary is zero"):
        dictionary_matching(np.eye(3), np.eye(3) * [1, 0, 1])
    with pytest.raises(EvidenceError, match="Column 2 of the first dictionary is zero or not finite"):
        dictionary_matching(np.eye(3) * [1, 1, np.nan], np.eye(3))
    with pytest.raises(EvidenceError, match="matching='best' is not known"):
        dictionary_matching(np.eye(3), np.eye(3), matching="best")


@pytest.mark.parametrize("n_present", [10, 25, 50])
def test_the_f1_of_chance_is_that_of_a_code_that_is_always_on(n_present):
    present = np.arange(100) < n_present
    always = concept_report({"red": present.astype(int)}, np.ones((100, 1))).rows()[0]
    assert always["f1_of_chance"] == pytest.approx(2 * n_present / (n_present + 100))
    assert always["f1"] == pytest.approx(always["f1_of_chance"])


def test_probes_use_as_many_codes_as_there_are():
    rng = np.random.default_rng(5)
    found = k_sparse_probing({"red": rng.integers(0, 2, 200)}, rng.normal(size=(200, 3)), k=(1, 2, 5))
    assert found.codes.shape == (1, 3)
    assert k_sparse_probing({"red": rng.integers(0, 2, 200)}, rng.normal(size=(200, 3)), k=(1, 2)).codes.shape == (1, 2)
