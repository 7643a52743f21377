"""Every metric of the catalogue passes the contract checks, and the checks detect metrics that are broken."""

import dataclasses
import math

import numpy as np
import pytest

import unweave
from unweave import check_metric
from unweave.auditing.conformance import checks_of, noise_is_chance
from unweave.card.card import PROPERTIES
from unweave.metrics import CATALOGUE
from unweave.metrics.concepts import CONCEPT_METRICS
from unweave.score import Score

CARD = {
    "measures": "nothing",
    "equivalence": "any",
    "min_rows": 10,
    "chance": 0.0,
    "cost": "none",
    "fails_when": "always",
    "reference": "none",
}


CONTRACT = [(name, check) for name, entry in CATALOGUE.items() for check in checks_of(entry)]


@pytest.mark.parametrize(("name", "check"), CONTRACT, ids=lambda entry: getattr(entry, "__name__", entry))
def test_contract(name, check):
    check(CATALOGUE[name])


@unweave.metric(**CARD)
def always_one(evidence):
    """Score 1 for all codes."""
    return Score(1.0)


@unweave.metric(**CARD)
def by_first_row(evidence):
    """Score that depends on the order of the rows."""
    return Score(float(evidence.codes[0, 0]))


_calls = iter(range(10_000))


@unweave.metric(**CARD)
def never_the_same(evidence):
    """Score that differs with every call."""
    return Score(next(_calls) / 10_000)


@unweave.metric(**CARD)
def undefined_alone(evidence):
    """Score that is undefined with one factor, which its card does not state."""
    return Score(float("nan") if evidence.n_factors == 1 else 0.0)


@unweave.metric(**CARD | {"undefined_with": ("one factor", "one code")})
def defined_alone(evidence):
    """Score that is defined with one code, although its card states that it is not."""
    return Score(float("nan") if evidence.n_factors == 1 else 0.0)


@unweave.metric(**CARD)
def counting_codes(evidence):
    """Score that counts constant codes."""
    return Score(evidence.n_codes / 10)


@unweave.metric(**CARD)
def counting_factors(evidence):
    """Score that counts constant factors."""
    return Score(evidence.n_factors / 10)


@unweave.metric(**CARD)
def never_defined(evidence):
    """Score that is always undefined."""
    return Score(float("nan"))


@unweave.metric(**CARD | {"needs": ("decoder",), "min_rows": 0, "chance": "no pairing"})
def by_first_derivative(evidence):
    """Score of a decoder that depends on the order of samples and latents, and on rotations of the data."""
    block = next(iter(evidence.decoder.jacobian_blocks(np.empty((0, evidence.decoder.latent_size)))))
    return Score(float(abs(block[0, 0, 0])))


SCORED = []


@unweave.metric(**CARD | {"chance": "by permutation"})
def widely_varying(evidence):
    """Score with a standard deviation of .2 for random codes, so that three draws do not determine its mean."""
    SCORED.append(evidence)
    strength = abs(np.corrcoef(evidence.factors[:, 0], evidence.codes[:, 0])[0, 1])
    return Score(min(1.0, 0.4 + 0.33 * strength * np.sqrt(evidence.n_rows)))


def test_chance_is_measured_with_more_draws_where_scores_vary_widely():
    noise_is_chance(widely_varying)
    assert len(SCORED) > 2 * 3


@pytest.mark.parametrize(
    ("metric", "broken"),
    [
        (always_one, "noise_is_chance"),
        (by_first_row, "order_does_not_matter"),
        (by_first_row, "identity_is_best"),
        (never_the_same, "same_seed_same_number"),
        (undefined_alone, r"with one factor the score is nan, and the card lacks"),
        (defined_alone, r"with one code the score is 0, and the card has"),
        (counting_codes, r"constant_columns_are_survived: a constant code changes the score by 0\.1"),
        (counting_factors, r"constant_columns_are_survived: a constant factor changes the score to 0\.5"),
        (never_defined, r"bounds_hold: the score nan is outside the bounds 0\.0 to 1\.0"),
        (by_first_derivative, r"orthogonal_is_best: orthogonal columns score 0\.\d+, and the best score is 1"),
        (by_first_derivative, r"decoder_order_does_not_matter: reordering changes the score"),
    ],
)
def test_a_broken_metric_is_caught(metric, broken):
    with pytest.raises(AssertionError, match=broken):
        check_metric(metric)


def test_every_public_metric_is_in_the_catalogue():
    declared = {name for name in unweave.metrics.__all__ if name != "CATALOGUE"}
    assert declared == set(CATALOGUE)
    for name, entry in CATALOGUE.items():
        assert name == entry.card.name == entry.__name__


def test_every_declared_metric_is_in_the_catalogue():
    """Fails if a metric was declared but not added to the catalogue or to the measures of concepts."""
    import importlib
    import pkgutil

    for module in pkgutil.walk_packages(unweave.metrics.__path__, "unweave.metrics."):
        for name, entry in vars(importlib.import_module(module.name)).items():
            if hasattr(entry, "card") and hasattr(entry, "options"):
                assert {**CATALOGUE, **CONCEPT_METRICS}[name] is entry


@pytest.mark.parametrize("name", CATALOGUE)
def test_cards_are_complete(name):
    card = CATALOGUE[name].card
    for entry in dataclasses.fields(card):
        if entry.name != "raw_range":  # empty if raw scores lie within the bounds
            assert getattr(card, entry.name) not in ("", None), entry.name
    assert card.summary.endswith(".")
    assert card.measures in PROPERTIES
    assert card.best in card.bounds or math.isnan(card.best)


def test_an_unknown_option_is_refused_with_the_known_ones():
    z = np.zeros((20, 2))
    with pytest.raises(TypeError, match="correlation"):
        unweave.metrics.mcc(z, z, corelation="pearson")
