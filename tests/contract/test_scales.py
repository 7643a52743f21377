"""Huge, tiny and unequal values, single codes and absurd options: a score, nan with a reason, or one sentence."""

import math
import warnings

import numpy as np
import polars as pl
import pytest

from unweave import InputError, OptionError, Posterior, UnweaveError, evaluate
from unweave.metrics import CATALOGUE, beta_vae_score, factor_vae_score, mcc

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(80, 2))
CODES = FACTORS @ [[1.0, 0.5], [0.2, 1.0]] + 0.1 * RNG.normal(size=(80, 2))
OF_CODES = [name for name, entry in CATALOGUE.items() if set(entry.card.needs) <= {"factors", "codes", "posterior"}]


def scored(name, factors, codes):
    """The score, with every warning an error; None if the data are refused in our own words."""
    needs = CATALOGUE[name].card.needs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            if "posterior" in needs:
                codes = Posterior(codes, 0.1 * np.abs(codes).max(axis=0) * np.ones(codes.shape))
            return CATALOGUE[name](factors if "factors" in needs else None, codes)
        except UnweaveError as error:
            assert str(error).endswith((".", "?"))
            return None


@pytest.mark.parametrize("name", OF_CODES)
@pytest.mark.parametrize("scales", [(1e-300, 1e140), (1e140, 1e-160)])
def test_values_of_any_size_leak_no_warning(name, scales):
    units = np.array([[1.0, 1.0], [scales[1], 1.0], [1.0, scales[0]]])
    for of_factors, of_codes in zip(units * scales[0], units[::-1] * scales[1], strict=True):
        score = scored(name, FACTORS * np.clip(of_factors, 1e-300, 1e145), CODES * np.clip(of_codes, 1e-300, 1e145))
        assert score is None or score.caveats or math.isfinite(score.value)


@pytest.mark.parametrize("name", OF_CODES)
def test_one_code_has_a_score_or_a_reason(name):
    score = scored(name, FACTORS, CODES[:, :1])
    assert score is None or math.isfinite(score.value) or score.caveats


@pytest.mark.parametrize("metric", [beta_vae_score, factor_vae_score])
def test_more_batches_than_memory_holds_are_refused(metric):
    with pytest.raises(OptionError, match="n_batches"):
        metric(FACTORS, CODES, n_batches=10**9)


def test_a_table_of_objects_and_categories_is_shown_or_refused():
    """Columns of Python objects reached to_markdown, which then failed on a label that is no text."""
    words = np.array(["a", "b", None, 3, ("c",)], dtype=object)
    for column in (words[:2], words[[0, 3]], words[[3, 3]]):
        for table in (
            {"kind": np.resize(column, 80), "size": FACTORS[:, 0]},
            pl.DataFrame({"kind": pl.Series(np.resize(column, 80).tolist(), dtype=pl.Object), "size": FACTORS[:, 0]}),
            np.column_stack([np.resize(column, 80), FACTORS[:, 0]]).astype(object),
        ):
            try:
                found = evaluate(table, CODES, metrics=[mcc, "r2"], quick=True, progress=False)
            except InputError as error:
                assert str(error).endswith(".")
            else:
                assert "mcc" in found.to_markdown()
    rows = pl.DataFrame({"kind": pl.Series(np.resize(["a", "b"], 80), dtype=pl.Categorical), "size": FACTORS[:, 0]})
    assert "kind" in evaluate(rows, CODES, metrics=["mcc"], quick=True, progress=False).to_markdown()
