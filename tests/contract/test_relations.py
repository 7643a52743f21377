"""Metamorphic relations: changes of the input that must not change the score, for fast metrics without randomness."""

import numpy as np
import pytest

from unweave.metrics import CATALOGUE

RNG = np.random.default_rng(5)
FACTORS = np.column_stack([RNG.integers(0, 4, 240), RNG.integers(0, 3, 240), RNG.normal(size=240)]).astype(float)
CODES = FACTORS @ RNG.normal(size=(3, 4)) + 0.3 * RNG.normal(size=(240, 4))
KINDS = ["ordinal", "ordinal", "continuous"]
EXACT = [
    name
    for name, metric in CATALOGUE.items()
    if metric.card.needs == ("factors", "codes") and metric.card.order_tolerance == 0
]
# irs weights codes by their range, as published
SCALED = [name for name in EXACT if name != "irs" and CATALOGUE[name].card.equivalence != "orthogonal"]


def raw(name, factors, codes, kinds=KINDS, **options):
    return CATALOGUE[name](factors, codes, kinds=kinds, **options).raw


def test_the_relations_are_tried_on_several_metrics():
    assert {"mcc", "mig", "dcimig", "modularity", "sufficiency", "minimality"} <= set(EXACT)


@pytest.mark.parametrize("name", EXACT)
def test_order_of_rows_codes_and_factors(name):
    rows, codes = RNG.permutation(240), RNG.permutation(4)
    plain = raw(name, FACTORS, CODES)
    assert raw(name, FACTORS[rows], CODES[rows]) == pytest.approx(plain, abs=1e-9)
    assert raw(name, FACTORS, CODES[:, codes]) == pytest.approx(plain, abs=1e-9)
    assert raw(name, FACTORS[:, ::-1], CODES, KINDS[::-1]) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_names_decide_nothing(name):
    renamed = raw(name, FACTORS, CODES, factor_names=["<b>", "größe", "x" * 500], code_names=["9", "", "\t", "a,b"])
    assert renamed == raw(name, FACTORS, CODES)


@pytest.mark.parametrize("name", SCALED)
def test_scale_and_origin_of_every_code(name):
    moved = CODES * [2.0, -0.5, 1024.0, 0.125] + [0.0, 8.0, -512.0, 1.0]  # powers of two avoid rounding errors
    assert raw(name, FACTORS, moved) == pytest.approx(raw(name, FACTORS, CODES), abs=1e-6)


@pytest.mark.parametrize("name", ["mcc", "mig_sup", "mig", "modularity", "minimality"])
def test_every_row_twice_is_the_same_distribution(name):
    assert raw(name, np.repeat(FACTORS, 2, axis=0), np.repeat(CODES, 2, axis=0)) == pytest.approx(
        raw(name, FACTORS, CODES), abs=1e-9
    )


@pytest.mark.parametrize(
    "name", ["r2", "dci_informativeness", "infomec_explicitness", "explicitness", "factor_vae_score"]
)
def test_raw_scores_outside_the_bounds_are_announced_by_the_card(name):
    noise = np.random.default_rng(0).integers(0, 2, size=(2, 150, 3))
    card, score = CATALOGUE[name].card, CATALOGUE[name](*noise)
    assert card.bounds[0] <= score.value <= card.bounds[1]
    assert "below 0" in card.raw_range or "down to -1" in card.raw_range
    if name in ("r2", "dci_informativeness"):
        assert score.raw < 0
