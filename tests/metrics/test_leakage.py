"""Leakage of concept models: pure concepts score 0, planted leakage its known size, and slow rewritings agree."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.naive_bayes import CategoricalNB

import unweave
from unweave.metrics import concept_task_leakage, interconcept_leakage, niche_impurity, oracle_impurity

ALL = (oracle_impurity, niche_impurity, interconcept_leakage)
KINDS = {"kinds": "categorical"}


def planted(seed, n=4000, d=3, error=0.1):
    """Independent binary concepts; the code of the first also has a copy of the second, with this share of errors."""
    rng = np.random.default_rng(seed)
    concepts = rng.integers(0, 2, size=(n, d))
    copy = np.where(rng.random(n) < error, 1 - concepts[:, 1], concepts[:, 1])
    codes = concepts.astype(float)
    codes[:, 0] += 2 * copy
    return concepts, codes, copy


def dependent(seed, n=2000, d=3):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 1)) + rng.normal(size=(n, d)) > 0).astype(int)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_pure_concepts_do_not_leak_even_if_they_depend_on_each_other(metric, seed):
    concepts = dependent(seed)
    assert metric(concepts, concepts * [1.0, -3.0, 5.0], **KINDS).value == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(seed)
    soft = concepts + rng.uniform(-0.4, 0.4, size=concepts.shape)  # a code may be anything within its concept
    assert metric(concepts, soft, **KINDS).value < 0.05
    target = concepts.sum(axis=1)
    assert concept_task_leakage(concepts, soft, target=target, **KINDS).value < 0.01


@pytest.mark.parametrize("error", [0.0, 0.1, 0.3])
def test_planted_leakage_has_its_known_size(error):
    concepts, codes, _ = planted(0, n=20_000, error=error)
    h = 0.0 if error == 0 else -error * np.log2(error) - (1 - error) * np.log2(1 - error)
    assert oracle_impurity(concepts, codes, **KINDS).value == pytest.approx(2 / 3 * (0.5 - error), abs=0.01)
    assert niche_impurity(concepts, codes, **KINDS).value == pytest.approx((1 - 2 * error) / 3, abs=0.03)
    outside = 1 - spearmanr(codes[:, 0], concepts[:, 1]).statistic  # thresholds with the leaking code out of the niche
    by_codes = niche_impurity(concepts, codes, niche="codes", **KINDS).value
    assert by_codes == pytest.approx((1 - 2 * error) / 3 * outside, abs=0.03)
    found = interconcept_leakage(concepts, codes, **KINDS)
    assert found.value == pytest.approx((1 - h) / 6, abs=0.015)
    assert np.unravel_index(np.nanargmax(found.parts["leakage_matrix"]), (3, 3)) == (0, 1)
    task = concept_task_leakage(concepts, codes, target=concepts[:, 1], **KINDS)
    assert task.per_factor["factor 0"] == pytest.approx(1 - h, abs=0.015)
    assert task.value == pytest.approx((1 - h) / 3, abs=0.015)  # the second concept is the target, and may say so


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_rewriting_of_the_oracle_impurity(seed):
    concepts, codes, _ = planted(seed, n=600, d=3)
    concepts[:, 2] |= concepts[:, 0]
    codes[:, 2] = concepts[:, 2]
    evidence = unweave.Evidence(concepts, codes, **KINDS)
    folds = evidence.folds(5, 0)

    def area(given, concept):
        areas = []
        for train, test in folds:
            share = {v: concept[train][given[train] == v].mean() for v in np.unique(given[train])}
            areas.append(roc_auc_score(concept[test], [share[v] for v in given[test]]))
        return np.mean(areas)

    gaps = [[area(codes[:, i], c) - area(concepts[:, i], c) for c in concepts.T] for i in range(3)]
    assert oracle_impurity(evidence).raw == pytest.approx(2 / 3 * np.linalg.norm(gaps), abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_rewriting_of_the_niche_impurity(seed):
    concepts, codes, _ = planted(seed, n=3000, d=3)
    evidence = unweave.Evidence(concepts, codes, **KINDS)
    levels = codes.astype(int)

    def area(outside, j):
        if not outside:
            return 0.5
        found = []
        for train, test in evidence.folds(5, 0):
            fitted = CategoricalNB(alpha=1e-3).fit(levels[train][:, outside], concepts[train, j])
            found.append(roc_auc_score(concepts[test, j], fitted.predict_proba(levels[test][:, outside])[:, 1]))
        return np.mean(found)

    grid = (np.arange(1000) + 0.5) / 1000
    strength = np.abs([[spearmanr(code, c).statistic for c in concepts.T] for code in codes.T])
    areas = {}
    total = []
    for j in range(3):
        for b in grid:
            outside = tuple(i for i in range(3) if i != j and strength[i, j] <= b)
            if (j, outside) not in areas:
                areas[j, outside] = area(list(outside), j)
            total.append(areas[j, outside])
    assert niche_impurity(evidence, niche="codes", oracle=False).raw == pytest.approx(2 * np.mean(total) - 1, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_rewriting_of_the_leaked_information(seed):
    concepts, codes, _ = planted(seed, n=20_000)
    target = concepts[:, 1] + 2 * concepts[:, 2]
    known = [[mutual_info_score(a, b) for b in concepts.T] for a in concepts.T]
    told = [[mutual_info_score(a, b) for b in concepts.T] for a in codes.T]
    entropies = [mutual_info_score(c, c) for c in concepts.T]
    gaps = np.subtract(told, known) / entropies
    expected = gaps[~np.eye(3, dtype=bool)].mean()
    assert interconcept_leakage(concepts, codes, **KINDS).raw == pytest.approx(expected, abs=1e-3)
    task = [
        mutual_info_score(code, target) - mutual_info_score(c, target)
        for code, c in zip(codes.T, concepts.T, strict=True)
    ]
    expected = np.mean(task) / mutual_info_score(target, target)
    assert concept_task_leakage(concepts, codes, target=target, **KINDS).raw == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("metric", ALL)
def test_embeddings_are_blocks_and_leakage_in_them_is_found(metric):
    rng = np.random.default_rng(0)
    concepts = rng.integers(0, 2, size=(1500, 3))
    embeddings = {
        f"concept {j}": np.column_stack([concepts[:, j], rng.normal(size=(1500, 2))]) @ rng.normal(size=(3, 3))
        for j in range(3)
    }
    pure = metric(concepts, embeddings, **KINDS).value
    leaking = embeddings | {"concept 0": np.column_stack([embeddings["concept 0"], concepts[:, 1]])}
    assert pure < 0.06
    assert metric(concepts, leaking, **KINDS).value > pure + 0.1
    alone = {f"code {j}": concepts[:, [j]] + 0.1 * concepts[:, [0]] for j in range(3)}
    columns = np.hstack(list(alone.values()))
    assert metric(concepts, alone, **KINDS).raw == metric(concepts, columns, **KINDS).raw
    stacked = np.stack([columns, rng.normal(size=columns.shape)], axis=2)
    assert np.isfinite(metric(concepts, stacked, **KINDS).raw)
    task = concept_task_leakage(concepts, leaking, target=concepts[:, 1], **KINDS)
    assert task.per_factor["factor 0"] > 0.9


def test_names_pair_codes_and_concepts_before_correlations_do():
    concepts = np.random.default_rng(1).integers(0, 2, size=(500, 2))
    named = {"red": concepts[:, 0], "round": concepts[:, 1]}
    swapped = {"red": 1.0 * concepts[:, 1], "round": 1.0 * concepts[:, 0]}
    assert interconcept_leakage(named, swapped, **KINDS).value == pytest.approx(1, abs=0.02)
    unnamed = np.column_stack(list(swapped.values()))
    assert interconcept_leakage(named, unnamed, **KINDS).value == pytest.approx(0, abs=1e-12)


def test_the_target_is_needed_may_be_text_and_may_be_constant():
    concepts, codes, _ = planted(2, n=500)
    with pytest.raises(unweave.MetricUndefined, match="needs target, and the evidence has none: pass target="):
        concept_task_leakage(concepts, codes, **KINDS)
    words = np.array(["no", "yes"])[concepts[:, 1]]
    number = concept_task_leakage(concepts, codes, target=concepts[:, 1], **KINDS)
    assert concept_task_leakage(concepts, codes, target=words, **KINDS).raw == pytest.approx(number.raw)
    constant = concept_task_leakage(concepts, codes, target=np.ones(500), **KINDS)
    assert np.isnan(constant.value)
    assert "undefined" in str(constant.caveats[0])
    with pytest.raises(unweave.InputError, match="The target has 2 columns"):
        concept_task_leakage(concepts, codes, target=concepts[:, :2], **KINDS)


@pytest.mark.parametrize("n", [60, 300, 2000])
def test_random_codes_do_not_leak(n):
    scores = {metric: [] for metric in (niche_impurity, interconcept_leakage)}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        concepts, codes = rng.integers(0, 2, size=(n, 3)), rng.normal(size=(n, 3))
        for metric, found in scores.items():
            found.append(metric(concepts, codes, **KINDS).raw)
    assert abs(np.mean(scores[interconcept_leakage])) < 0.02
    assert np.mean(scores[niche_impurity]) < 0.02  # below 0: shares of training and held-out rows add up to a constant


def test_leakage_beyond_that_of_random_codes_is_no_noise():
    """Random codes leak nothing and have the best score, so that leakage was called noise level or uninformative."""
    concepts, codes, _ = planted(3, n=500)
    options = {"target": concepts[:, 1], "metrics": ["concept_task_leakage", "interconcept_leakage"], **KINDS}
    leaking = unweave.evaluate(concepts, codes, budget=5, progress=False, **options)
    assert {row.level.value for row in leaking.rows} == {"trust"}
    assert all(row.noise < 0.01 < row.ends[0] for row in leaking.rows)
    pure = unweave.evaluate(concepts, 1.0 * concepts, budget=5, progress=False, **options)
    assert {row.level.value for row in pure.rows} == {"noise level"}
