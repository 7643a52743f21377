"""Points of small plots: which code a factor is drawn against, and where its points are."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave import Evidence
from unweave.evaluation.loop import MOST_FACTORS, ROWS_OF_PICTURE, matched_pairs
from unweave.metrics import identification


def drawn(factors, codes, chosen, purity, constant=()):
    names = [f"z{j}" for j in range(factors.shape[1])], [f"c{i}" for i in range(codes.shape[1])]
    evidence = SimpleNamespace(
        factors=factors, codes=codes, factor_names=names[0], code_names=names[1], constant_factors=constant,
        n_rows=len(factors), has_blocks=False, factor_units={name: np.array([j]) for j, name in enumerate(names[0])},
        code_units=dict.fromkeys(names[1]),
    )  # fmt: skip
    parts = {"chosen_matrix": np.array(chosen), "purity_matrix": np.array(purity, dtype=float)}
    return matched_pairs(evidence, SimpleNamespace(parts=parts))


def test_a_factor_is_drawn_against_the_purest_of_its_codes_or_of_all():
    table = np.random.default_rng(0).normal(size=(20, 5))
    chosen = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    purity = [[0.2, 0.1, 0.1, np.nan, np.nan], [0.3, 0.7, 0.2, 0.5, np.nan], [0.9, 0.4, 0.3, 0.4, np.nan]]
    pairs = drawn(table, table[:, :3], chosen, purity, constant=("z2",))
    assert [(pair.factor, pair.code) for pair in pairs] == [("z0", "c1"), ("z1", "c1")]


def test_values_are_scaled_between_the_ends_of_factors_and_between_quantiles_of_codes():
    factor, code = np.arange(101.0)[:, None] - 50, np.arange(101.0)[:, None] ** 2
    (pair,) = drawn(factor, code, [[1]], [[1.0]])
    low, high = np.quantile(code, (0.01, 0.99))
    assert pair.x == tuple(np.round(np.arange(101) / 100, 3).tolist())
    assert pair.y == tuple(np.round(np.clip((code[:, 0] - low) / (high - low), 0, 1), 3).tolist())
    assert (pair.y[0], pair.y[-1]) == (0.0, 1.0)


def test_a_constant_code_is_drawn_on_a_line():
    (pair,) = drawn(np.arange(5.0)[:, None], np.full((5, 1), 3.0), [[1]], [[1.0]])
    assert pair.y == (0.0,) * 5


@pytest.mark.parametrize("n_rows", [ROWS_OF_PICTURE, ROWS_OF_PICTURE + 1, 1000])
def test_of_many_rows_150_are_drawn_with_the_first_and_the_last(n_rows):
    factor = np.arange(float(n_rows))[:, None]
    (pair,) = drawn(factor, factor, [[1]], [[1.0]])
    assert len(pair.x) == 150
    assert (pair.x[0], pair.x[-1]) == (0.0, 1.0)


def test_of_many_factors_the_first_24_are_drawn():
    table = np.random.default_rng(0).normal(size=(20, MOST_FACTORS + 1))
    assert len(drawn(table, table, np.eye(MOST_FACTORS + 1), np.eye(MOST_FACTORS + 1))) == 24


def test_a_block_is_drawn_by_its_readout():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(300, 3))
    inside = np.column_stack([factors[:, 2], rng.normal(size=300)])
    blocks = {"b": factors[:, :2] @ rng.normal(size=(2, 2)), "a": inside}
    evidence = Evidence(factors, blocks, factor_groups={"pose": [0, 1]})
    (pair,) = matched_pairs(evidence, identification(evidence))
    assert (pair.factor, pair.code) == ("factor 2", "a")
    assert np.corrcoef(pair.x, pair.y)[0, 1] > 0.99
    blocks = {"first": rng.normal(size=(300, 3)), "second": factors[:, :2] @ [[1.0, 1.0], [1.0, -1.0]]}
    pairs = matched_pairs(Evidence(factors[:, 0], blocks), identification(factors[:, 0], blocks))
    assert [pair.code for pair in pairs] == ["second"]
    assert np.corrcoef(pairs[0].x, pairs[0].y)[0, 1] > 0.99
