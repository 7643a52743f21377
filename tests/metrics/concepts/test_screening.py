"""Screening of many codes: planted codes are found, and others at most at the nominal false discovery rate."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2, fisher_exact, hypergeom, rankdata, skew

from unweave import Evidence, OptionError
from unweave.estimators import Spearman
from unweave.metrics.concepts import screened_codes
from unweave.metrics.matrices import factor_bases
from unweave.metrics.screening import (
    ScreenedCodes,
    _p_values,
    _presence,
    _rank_skewness,
    _skewed_tail,
    _skewness,
    columns_of_dense,
    screened,
    sparse_or_dense_columns,
)


def null_codes(rng, n_rows, n_codes):
    """Codes that are active on 1 to 200 samples, independently of the factors."""
    density = rng.uniform(1 / n_rows, 0.2, size=n_codes)
    return np.where(rng.random((n_rows, n_codes)) < density, rng.random((n_rows, n_codes)), 0.0)


def test_false_discoveries_keep_to_the_rate():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(20):
        concepts = (rng.random((400, 5)) < [0.01, 0.05, 0.2, 0.5, 0.3]).astype(float)
        codes = null_codes(rng, 400, 200)
        codes[:, :20] = concepts[:, rng.integers(1, 5, size=20)] * rng.random((400, 20))
        found = screened_codes(concepts, sparse.csr_array(codes), rate=0.1)
        assert set(range(20)) <= set(found.codes.tolist())
        shares.append((found.codes >= 20).mean())
    assert np.mean(shares) < 0.1


def test_many_rare_codes_keep_to_the_rate_too():
    """The sum of few ranks is skewed: without the correction, 11 false codes were kept besides 40 planted ones."""
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(2):
        concepts = (rng.random((4000, 10)) < 0.1).astype(float)
        codes = (rng.random((4000, 3000)) < 0.03) * rng.random((4000, 3000))
        codes[:, :10] = concepts * rng.random((4000, 10))
        found = screened_codes(concepts, sparse.csr_array(codes))
        assert set(range(10)) <= set(found.codes.tolist())
        shares.append((found.codes >= 10).mean())
    assert np.mean(shares) < 0.08


def test_the_skewness_of_ranks_with_ties_at_zero():
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((500, 4)) < [0.02, 0.3, 0.9, 1.0], rng.normal((3, -3, 0, 0), size=(500, 4)), 0.0)
    known = np.abs(skew(rankdata(dense, axis=0), axis=0))
    np.testing.assert_allclose(_rank_skewness(columns_of_dense(dense)), known, atol=1e-9)


def test_of_unrelated_codes_none_are_kept_but_rarely():
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(20):
        factors = np.column_stack([rng.normal(size=300), rng.random(300) < 0.03])
        kept.append(screened_codes(factors, null_codes(rng, 300, 100), rate=0.1).codes.size > 0)
    assert np.mean(kept) <= 0.2


def test_rare_codes_have_the_p_value_of_fisher():
    present = np.zeros(200)
    present[:20] = 1
    code = np.zeros((200, 1))
    code[:4] = 1.0
    evidence = Evidence(present, code)
    columns = sparse_or_dense_columns(evidence)
    present = _presence(evidence.factors[:, 0])[:, None]
    p_values, _ = _p_values(columns, factor_bases(evidence, Spearman()), present, 0.05)
    one_sided = fisher_exact([[4, 0], [16, 180]], alternative="greater").pvalue
    assert p_values[0, 0] == pytest.approx(4 * one_sided, rel=1e-9)  # two tails, two tests


def test_numbers_dense_codes_and_words():
    rng = np.random.default_rng(2)
    factors = {"size": rng.normal(size=500), "hue": rng.normal(size=500)}
    codes = rng.normal(size=(500, 40))
    codes[:, 3] += factors["hue"]
    found = screened_codes(factors, codes)
    assert (found.names[0], found.factors[0]) == ("code 3", "hue")
    assert str(found).startswith(f"{found.codes.size} of 40 codes depend on a factor (false-discovery rate 0.05)")
    assert f"{40 - found.codes.size} codes are not shown." in str(found)
    thin = screened_codes(factors, sparse.csr_array(codes))
    np.testing.assert_array_equal(found.codes, thin.codes)
    with pytest.raises(OptionError, match="rate=2 is not a false discovery rate"):
        screened_codes(factors, codes, rate=2)


@pytest.mark.parametrize(("fewest", "n_kept"), [(0, 1), (1, 1), (3, 3), (6, 6), (9, 6)])
def test_at_least_so_many_codes_are_kept(fewest, n_kept):
    """One of six codes depends on the factor; it comes first."""
    rng = np.random.default_rng(0)
    factor, codes = rng.normal(size=200), rng.normal(size=(200, 6))
    codes[:, 4] = factor
    found = screened(Evidence(factor[:, None], codes), fewest=fewest)
    assert (found.codes.size, found.codes[0], found.n_codes) == (n_kept, 4, 6)


@pytest.mark.parametrize("hits", [8, 11, 12, 20])
def test_exact_tails_are_computed_only_where_they_may_matter(hits):
    """Of 8 expected hits with a deviation of 2.5, 11 are far from significant, and 12 may be significant."""
    present, code = np.zeros((1000, 1)), np.zeros((1000, 1))
    present[:40], code[:hits], code[40 : 240 - hits] = 1.0, 1.0, 1.0
    bases = factor_bases(Evidence(present, code), Spearman())
    (p_value,), _ = _p_values(columns_of_dense(code), bases, present, level=0.05)
    assert p_value == (pytest.approx(4 * hypergeom(1000, 40, 200).sf(hits - 1)) if hits > 11 else 1.0)


@pytest.mark.parametrize(("n_kept", "n_codes"), [(12, 12), (12, 15), (3, 3), (3, 5), (10, 10)])
def test_ten_codes_are_printed_and_all_are_in_the_table(n_kept, n_codes):
    numbers = np.arange(1.0, n_kept + 1)
    names = tuple(f"code {k}" for k in range(n_kept))
    found = ScreenedCodes(
        np.arange(n_kept), names, ("hue",) * n_kept, -numbers, numbers / 1000, numbers / 100, n_codes, 0.1
    )
    said, *lines = str(found).split("\n")
    assert said == f"{n_kept} of {n_codes} codes depend on a factor (false-discovery rate 0.1)"
    n_shown = min(n_kept, 10)
    shown = [f"code {k}: hue, q = {(k + 1) / 100:.2g}" for k in range(n_shown)]
    assert lines == shown + ([f"{n_codes - n_shown} codes are not shown."] if n_codes > n_shown else [])
    assert found.n_left_out == n_codes - n_kept
    assert found.rows() == [
        {"code": f"code {k}", "factor": "hue", "correlation": -(k + 1), "p_value": (k + 1) / 1000, "q_value": q}
        for k, q in enumerate(numbers / 100)
    ]


@pytest.mark.parametrize("rate", [0, 1, 1.5])
def test_a_rate_lies_between_0_and_1(rate):
    with pytest.raises(OptionError, match="is not a false discovery rate"):
        screened_codes(np.arange(20.0), np.arange(20.0)[:, None], rate=rate)


def test_the_tail_of_skewed_ranks():
    """Without skewness it is that of chi-squared; beyond z = 2 / skewness it does not fall further; 1 is the most."""
    statistic, width = np.array([4.0, 9.0, 16.0, 100.0]), np.array([1, 2, 1, 1])
    np.testing.assert_allclose(_skewed_tail(statistic, width, np.zeros(4)), chi2.sf(statistic, width))
    z = np.array([2.0, 3.0, 4.0, 4.0])
    np.testing.assert_allclose(
        _skewed_tail(statistic, width, np.full(4, 0.5)), chi2.sf(z**2, width) * np.exp(z**3 * 0.5 / 6)
    )
    assert _skewed_tail(np.array([1.0]), np.array([5]), np.array([2.0])) == [1.0]


def test_the_skewness_of_the_functions_of_a_factor():
    rng = np.random.default_rng(0)
    factor = rng.exponential(size=(300, 2)) * [1.0, -1.0]
    centred = factor - factor.mean(axis=0)
    bases = tuple((centred / np.linalg.norm(centred, axis=0))[:, [j]] for j in range(2))
    np.testing.assert_allclose(_skewness((*bases, np.empty((300, 0)))), [*np.abs(skew(factor)), 0.0])


@pytest.mark.parametrize(("n_active", "by_ranks"), [(20, True), (19, False), (80, True), (81, False)])
def test_the_rank_test_needs_ten_expected_samples(n_active, by_ranks):
    """Half of 100 samples have the concept; otherwise Fisher's test alone decides."""
    present, code = np.zeros((100, 1)), np.zeros((100, 1))
    present[:50] = 1.0
    n_hits = min(n_active, 50) - 2
    code[:n_hits] = 1.0
    code[50 : 50 + n_active - n_hits] = 1.0
    bases = factor_bases(Evidence(present, code), Spearman())
    (p_value,), _ = _p_values(columns_of_dense(code), bases, present, level=0.05)
    exact = 4 * hypergeom(100, 50, n_active).sf(n_hits - 1)
    assert p_value < 0.9 * exact if by_ranks else p_value == pytest.approx(exact)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_rows", [500, 5_000, 50_000])
@pytest.mark.parametrize("prevalence", [0.01, 0.1, 0.2, 0.25, 0.4, 0.5, 0.9])
def test_a_code_that_fires_exactly_on_its_concept_is_never_lost(n_rows, prevalence):
    """Its tail probability underflows and its correction overflows, which once gave nan."""
    rng = np.random.default_rng(0)
    red = rng.random(n_rows) < prevalence
    codes = np.where(rng.random((n_rows, 8)) < 0.05, rng.random((n_rows, 8)), 0.0)
    codes[:, 3], codes[:, 5] = red * (1 + rng.random(n_rows)), ~red
    found = screened_codes({"red": red.astype(int)}, codes)
    assert {3, 5} <= set(found.codes.tolist())
    assert np.isfinite(found.p_value).all()


def test_the_tail_is_that_of_chi_squared_times_its_correction_wherever_both_can_be_computed():
    z, skewness = np.linspace(0.1, 30, 200), np.tile([0.0, 1e-3, 0.05, 0.3], 50)
    for width in (1, 2, 5):
        limited = np.minimum(z, 2 / np.maximum(skewness, 1e-12))
        direct = np.minimum(chi2.sf(limited**2, width) * np.exp(limited**3 * skewness / 6), 1.0)
        np.testing.assert_allclose(_skewed_tail(z**2, np.full(200, width), skewness), direct, rtol=1e-6)
    far = _skewed_tail(np.array([990.0, 1010.0, 1e6]), np.full(3, 4), np.full(3, 1e-9))
    assert far[0] > far[1] >= far[2] == 0  # falls through the change to the leading term


def test_codes_that_fold_a_factor_are_found_at_the_rate():
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        factors = rng.normal(size=(400, 2))
        codes = np.column_stack(
            [np.abs(factors[:, 0]), factors[:, 1], -(factors[:, 1] ** 2), rng.normal(size=(400, 97))]
        )
        found = screened_codes(factors, codes)
        assert {0, 1, 2} <= set(found.codes.tolist())
        shares.append((found.codes > 2).mean())
    assert np.mean(shares) < 0.08
