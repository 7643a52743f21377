"""Representations of small models as the appendices of 001 look at them: pairs of codes, attributes, and runs."""

import numpy as np
import pytest

from unweave.datasets import small_sprites
from unweave.evidence import Evidence, Posterior
from unweave_papers.paper001.representations import (
    PAIRS,
    Representation,
    agreement_of_runs,
    attributes,
    misjed_matrix,
    misjed_of_pairs,
    n_informative,
    of_attributes,
)
from unweave_papers.trained import coloured_shapes


def representation(images, mean, std, information):
    posterior = Posterior(mean, std=np.broadcast_to(std, mean.shape).copy())
    evidence = Evidence(images.factors(), posterior, kinds=["ordinal"] * images.n_factors)
    return Representation(None, images, evidence, np.asarray(information))


@pytest.fixture
def two_informative_codes():
    images, rng = small_sprites(), np.random.default_rng(0)
    mean = np.column_stack([rng.normal(size=(len(images), 2)), np.zeros((len(images), 2))])
    return representation(images, mean, [0.01, 0.02, 1.0, 1.0], [3.0, 2.5, 0.0, 0.0])


def test_misjed_is_sorted_by_informativeness_and_small_for_two_informative_codes(two_informative_codes):
    found = misjed_of_pairs(two_informative_codes)
    assert list(found) == list(PAIRS)
    assert found["1, 2"] < 0.7 < 2 < found["1, -1"] < found["-1, -2"]
    turned = representation(
        two_informative_codes.images, two_informative_codes.evidence.codes[:, ::-1].copy(), [1.0, 1.0, 0.02, 0.01],
        [0.0, 0.0, 2.5, 3.0],
    )  # fmt: skip
    assert turned.order[:2] == [3, 2]
    upper = np.triu_indices(4, k=1)
    sides = [misjed_matrix(one)[:2, :2] for one in (turned, two_informative_codes)]
    np.testing.assert_allclose(sides[0], sides[1], atol=1e-9)
    assert len(upper[0]) == len(PAIRS)


def test_runs_agree_up_to_order_and_sign(two_informative_codes):
    mean = two_informative_codes.evidence.codes
    swapped = representation(two_informative_codes.images, -3 * mean[:, [2, 1, 0, 3]], 0.1, [0.0, 2.0, 3.0, 0.0])
    assert n_informative(swapped) == 2
    assert agreement_of_runs(two_informative_codes, swapped) == pytest.approx(1.0)
    other = representation(two_informative_codes.images, np.roll(mean, 7, axis=0), 0.1, [3.0, 2.0, 0.0, 0.0])
    assert agreement_of_runs(two_informative_codes, other) < 0.1
    nothing = representation(two_informative_codes.images, mean, 0.1, np.zeros(4))
    assert agreement_of_runs(two_informative_codes, nothing) == 0


def test_attributes_are_binary_and_found_by_codes_that_have_them():
    images = coloured_shapes()
    held = attributes(images)
    assert len(held) == 4 + 4 + 1 + 3 + 1
    assert all(set(np.unique(column)) == {0.0, 1.0} for column in held.values())
    assert min(column.mean() for column in held.values()) > 0.1
    codes = np.column_stack([3 * (column - 0.5) for column in held.values()])
    perfect = representation(images, codes, 0.1, np.ones(codes.shape[1]))
    scores = of_attributes(perfect)
    assert min(scores["RMIG"].values()) > 0.8
    assert max(scores["JEMMIG"].values()) < 0.5
