"""A sparse autoencoder whose dictionary, split concepts and absorbed concepts are known by construction."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from unweave.evaluation.concepts import concept_report
from unweave.metrics.concepts import dictionary_matching, single_codes, split_concepts


@dataclass(frozen=True)
class Planted:
    """Concepts, codes, the true and the learned dictionary, and which concepts are split or absorbed."""

    concepts: np.ndarray
    codes: sparse.csr_array
    dictionary: np.ndarray
    decoder: np.ndarray
    split: np.ndarray
    absorbed: np.ndarray
    random_codes: np.ndarray


def planted(n_rows, n_features, n_codes, dimension, seed=0):
    """Split 1/12 of the features over two codes, and move a fifth of the rows of 1/16 of them to another code."""
    rng = np.random.default_rng(seed)
    concepts = rng.random((n_rows, n_features)) < 0.05
    n_split, n_absorbed = n_features // 12, n_features // 16
    dictionary = rng.normal(size=(dimension, n_features))
    columns, directions = [], []
    for j in range(n_features):
        active, direction = concepts[:, j], dictionary[:, j]
        lost = rng.random(n_rows) < (0.5 if j < n_split else 0.2)
        if j < n_split + n_absorbed:
            columns += [active & ~lost, active & lost]
            directions += [direction, direction + 0.7 * rng.normal(size=dimension)]
        else:
            columns.append(active)
            directions.append(direction)
    n_random = n_codes - len(columns)
    columns += list((rng.random((n_rows, n_random)) < 0.05).T)
    directions += list(rng.normal(size=(n_random, dimension)))
    order = rng.permutation(n_codes)
    table = np.array(columns)[order].T * rng.gamma(5, 0.2, (n_rows, n_codes))
    place = np.arange(n_features)
    return Planted(
        concepts=concepts.astype(float),
        codes=sparse.csr_array(table),
        dictionary=dictionary,
        decoder=np.array(directions)[order].T * rng.uniform(0.5, 2, n_codes),
        split=place < n_split,
        absorbed=(place >= n_split) & (place < n_split + n_absorbed),
        random_codes=np.flatnonzero(order >= n_codes - n_random),
    )


@pytest.fixture(
    scope="module",
    params=[(2000, 48, 96, 64), pytest.param((20_000, 512, 1024, 256), marks=pytest.mark.slow)],
    ids=["small", "large"],
)
def model(request):
    return planted(*request.param)


def test_the_dictionary_is_found(model):
    for matching in ("exact", "fast"):
        found = dictionary_matching(model.dictionary, model.decoder, matching=matching)
        assert found.mean_cosine == pytest.approx(1.0, abs=1e-9)
    noise = np.random.default_rng(1).normal(size=model.decoder.shape)
    unrelated = dictionary_matching(model.dictionary, noise)
    assert 0 < unrelated.mean_cosine < unrelated.chance < 0.75


def test_splitting_and_absorption_are_counted_right(model):
    found = split_concepts(model.concepts, model.codes)
    np.testing.assert_array_equal(found.split, model.split)
    np.testing.assert_array_equal(found.absorbed, model.absorbed)
    assert set(found.specific[model.split | model.absorbed].tolist()) == {2}
    assert set(found.absorbing[model.absorbed].tolist()) == {1}


def test_random_codes_get_the_chance_level(model):
    found = single_codes(model.concepts, model.codes[:, model.random_codes])
    assert (found.auroc > found.auroc_of_chance).mean() < 0.05
    assert abs(found.auroc.mean() - 0.5) < abs(found.auroc_of_chance.mean() - 0.5)
    assert found.f1.mean() < 0.2  # predicting "present" for every sample gives 0.1


def test_the_report_finds_the_codes_that_were_planted(model):
    few = slice(0, None, max(model.split.size // 60, 1))
    found = concept_report(model.concepts[:, few], model.codes, budget=0)
    totals = found.totals()
    assert totals["split_concepts"] == model.split[few].sum()
    assert totals["absorbed_concepts"] == model.absorbed[few].sum()
    one_code = ~(model.split | model.absorbed)[few]
    assert found.single.auroc[one_code].min() == 1.0
    assert found.probes.auroc[0][one_code].min() > 0.999
    assert found.probes.auroc[1][model.split[few]].min() > 0.999  # two codes determine a split concept
    false = np.isin(found.screening.codes, model.random_codes).mean()
    assert false < 0.1  # the nominal rate is .05
    assert totals["codes_that_depend"] >= one_code.sum() + 2 * (~one_code).sum()
