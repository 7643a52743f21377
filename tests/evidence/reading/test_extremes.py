"""Codes whose squares overflow or underflow float64 have the same scores as in another unit."""

import functools

import numpy as np
import pytest

from unweave import Evidence, EvidenceError, evaluate
from unweave.evidence import Posterior
from unweave.evidence.columns import within_reach
from unweave.metrics import CATALOGUE

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(150, 3))
CODES = FACTORS @ RNG.normal(size=(3, 3)) + 0.2 * RNG.normal(size=(150, 3))
SCALES = {
    "vanishing": 2.0**-1000,
    "huge": 2.0**1000,
    "largest": 2.0 ** (1023 - np.frexp(np.abs(CODES).max())[1]),
    "all of these": np.ldexp(1.0, [-1000, 0, 1000]),
}
METRICS = ["mcc", "r2", "mig", "sap", "dci_disentanglement", "dci_completeness", "explicitness", "infomec_explicitness"]
METRICS += ["minimality", "factors_invariance", "beta_vae_score"]


@functools.cache
def usual_score(name):
    return CATALOGUE[name](FACTORS, CODES).raw


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", METRICS)
def test_metrics_of_each_code_alone_do_not_mind_its_unit(name, scale):
    found = CATALOGUE[name](FACTORS, CODES * SCALES[scale]).raw
    assert found == pytest.approx(usual_score(name), abs=1e-9)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-255, SCALES["huge"], SCALES["largest"]])
def test_codes_keep_their_ratios_in_a_common_unit(scale):
    """irs weights codes by their spread, so that their ratios matter."""
    codes = CODES * [0.0025, 0.25, 1.0]
    assert CATALOGUE["irs"](FACTORS, codes * scale).raw == CATALOGUE["irs"](FACTORS, codes).raw


def test_tiny_codes_far_from_zero():
    score = CATALOGUE["explicitness"]
    moved = (CODES + 1e6) * 2.0**-1000
    assert score(FACTORS, moved).raw == pytest.approx(score(FACTORS, CODES).raw, abs=1e-3)


def test_no_digit_is_lost_and_usual_codes_are_left_alone():
    held = Evidence(None, CODES * 2.0**900).codes
    assert (held * 2.0 ** (np.frexp(np.abs(CODES).max())[1] - 500) == CODES).all()
    for usual in (CODES, CODES * 1e100, CODES * 1e-70, np.zeros((150, 2))):
        assert (Evidence(None, usual).codes == usual).all()
    assert Evidence(None, np.column_stack([CODES * 1e300, np.zeros(150)])).dead_codes == ("code 3",)


def test_means_of_a_posterior_are_refused_as_their_spreads_are_in_the_same_unit():
    for scale in (1e200, 1e-200, 1e307):
        with pytest.raises(EvidenceError, match=r"code 'code 0' .* in other units"):
            Evidence(None, Posterior(CODES * scale, np.full_like(CODES, 0.1 * scale)))
    usual = CODES * 1e100
    assert (Evidence(None, Posterior(usual, np.ones_like(usual))).codes == usual).all()


def test_verdicts_of_huge_codes_are_those_of_codes_in_another_unit():
    plain, huge = (evaluate(FACTORS, CODES * scale, metrics=["mcc", "r2"]).rows for scale in (1.0, 2.0**1000))
    assert [row.verdict.level for row in huge] == [row.verdict.level for row in plain]


@pytest.mark.parametrize(
    ("codes", "held"),
    [
        ([2.0**499, 1.0], [2.0**499, 1.0]),
        ([2.0**500, 1.0], [2.0**499, 0.5]),
        ([-(2.0**500), 1.0], [-(2.0**499), 0.5]),
        ([2.0**-251], [2.0**-251]),
        ([2.0**-252], [0.5]),
        ([2.0**-252, 0.0], [0.5, 0.0]),
        ([2.0**-600, 2.0**-300], [2.0**-251, 0.5]),
        ([2.0**-600, 2.0**600], [2.0**-251, 2.0**499]),
        ([2.0**-252, 4.0], [2.0**-251, 4.0]),
    ],
)
def test_the_common_unit_is_a_power_of_two(codes, held):
    assert within_reach(np.array([codes])).tolist() == [held]
    assert within_reach(np.array([codes, np.zeros(len(codes))])).tolist() == [held, [0.0] * len(codes)]


@pytest.mark.parametrize(
    ("column", "fits"),
    [
        ([0.0, 1e150], True),
        ([0.0, 1.1e150], False),
        ([-1.1e150, 0.0], False),
        ([0.0, 1.1e-150], True),
        ([0.0, 0.9e-150], False),
        ([-0.3e-150, 0.3e-150], False),
        ([1e-151, 1e-151], True),  # it does not vary
        ([-3.0, 3.0], True),
    ],
)
def test_factors_at_the_limit(column, fits):
    if fits:
        assert Evidence({"a": column}).factors[:, 0].tolist() == column
    else:
        with pytest.raises(EvidenceError, match=r"Factor 'a' reaches .* and spans .*: state it in other units"):
            Evidence({"a": column})
