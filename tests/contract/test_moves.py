"""How far changes that carry no information move a score of 200 rows is what the card says."""

import numpy as np
import pytest

from unweave import Posterior
from unweave.evidence import FactorKind
from unweave.metrics import CATALOGUE
from unweave.metrics.concepts import CONCEPT_METRICS

N_ROWS = 200
METRICS = {**CATALOGUE, **CONCEPT_METRICS}
MEASURED = [name for name, entry in METRICS.items() if entry.card.moves_at_200_rows]
EXACT = [name for name in MEASURED if not METRICS[name].card.order_tolerance]


def worlds(seed):
    """Factors and codes: identity, mixed, noise, noisy, with levels, with ties, bent, and with heavy tails."""
    rng = np.random.default_rng([11, seed])
    z = rng.normal(size=(N_ROWS, 3))
    yield z, z.copy()
    yield z, z @ rng.normal(size=(3, 3))
    yield z, rng.normal(size=(N_ROWS, 4))
    yield z, np.column_stack([z + 0.7 * rng.normal(size=z.shape), rng.normal(size=N_ROWS)])
    levels = rng.integers(0, 4, size=(N_ROWS, 3)).astype(float)
    yield levels, np.round(levels[:, :2] + 0.5 * rng.normal(size=(N_ROWS, 2)), 1)
    yield z, np.round(np.where(rng.random((N_ROWS, 3)) < 0.6, 0.0, z), 1)
    yield z, np.tanh(z) + 0.3 * z[:, [1, 2, 0]]
    heavy = rng.standard_t(2, size=(N_ROWS, 3))
    yield heavy, heavy + 0.7 * rng.normal(size=heavy.shape)


def worlds_of(name, seed):
    """The same worlds; for metrics that take classes only, each factor says whether it is high."""
    for factors, codes in worlds(seed):
        if FactorKind.CONTINUOUS in METRICS[name].card.factor_kinds:
            yield factors, codes
        else:
            yield (factors > np.quantile(factors, 0.6, axis=0)).astype(float), np.where(codes > 0, codes, 0.0)


def moves(name, seeds):
    """Changes of the score (trials x order, twice and sign)."""
    found, metric = [], METRICS[name]
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(N_ROWS)
        for factors, codes in worlds_of(name, seed):
            changed = (
                (factors[order], codes[order]),
                (np.vstack([factors, factors]), np.vstack([codes, codes])),
                (factors, -codes),
            )
            here = metric(factors, codes).value
            if not np.isnan(here):
                found.append([abs(metric(*pair).value - here) for pair in changed])
    return np.array(found)


def test_every_metric_of_factors_and_codes_says_how_far_it_moves():
    assert {name for name, entry in METRICS.items() if set(entry.card.needs) == {"factors", "codes"}} == set(MEASURED)


@pytest.mark.parametrize("name", EXACT)
def test_metrics_without_a_split_move_no_further_than_their_card_says(name):
    assert (moves(name, range(1)).max(axis=0) <= np.array(METRICS[name].card.moves_at_200_rows) + 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_scores_move_no_further_than_their_card_says(name):
    """The card has the largest of 96 changes, so that hardly one of 96 fresh ones is larger."""
    beyond = moves(name, range(100, 112)) > np.array(METRICS[name].card.moves_at_200_rows) + 1e-6
    assert (beyond.sum(axis=0) <= 2).all()


@pytest.mark.parametrize("name", EXACT)
def test_a_constant_code_changes_nothing(name):
    """Also beside mixed codes, with ties and with noise, and not only beside the factors themselves."""
    metric = METRICS[name]
    for factors, codes in worlds_of(name, 5):
        more = np.column_stack([codes, np.full(N_ROWS, 3.0)])
        np.testing.assert_allclose(metric(factors, more).raw, metric(factors, codes).raw, atol=1e-9)


@pytest.mark.parametrize("name", ["sepin_at_k", "indin_at_k"])
def test_a_collapsed_code_is_none_of_the_best(name):
    mean = np.random.default_rng(0).normal(size=(200, 2))
    alone = Posterior(mean, np.full((200, 2), 0.5))
    beside = Posterior(np.column_stack([mean, np.zeros(200)]), np.full((200, 3), [0.5, 0.5, 1.0]))
    scores = [CATALOGUE[name](None, posterior, normalise=False).raw for posterior in (alone, beside)]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)
