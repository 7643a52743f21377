"""Degenerate evidence, for every metric of factors and codes.

The result is a correct number, nan with a reason, or a refusal with one sentence. It is never a crash, a warning, or a
wrong number without a caveat.
"""

import math
import warnings
from functools import cache

import numpy as np
import pytest

from unweave import Evidence, InputError, InputWarning, MetricUndefined
from unweave.metrics import CATALOGUE

N_ROWS = 300
METRICS = {
    name: metric for name, metric in CATALOGUE.items() if set(metric.card.needs) <= {"factors", "codes", "nuisances"}
}
every_metric = pytest.mark.parametrize("name", METRICS)


def named(labels):
    return [f"value {label}" for label in labels]


def made():
    """Dictionary from the name of a case to the arguments of its Evidence."""
    rng = np.random.default_rng(0)
    factors, noise = rng.normal(size=(2, N_ROWS, 3))
    codes = factors[:, [2, 0, 1]] * [1.0, -2.0, 0.5] + [0.1, 0.2, 0.05] * noise
    constant = np.full((N_ROWS, 1), 3.0)
    shapes, sizes = rng.integers(0, 4, N_ROWS), rng.integers(0, 5, N_ROWS)
    angles, turns = rng.uniform(0, 2 * np.pi, size=(2, N_ROWS))
    rare = np.where(np.arange(N_ROWS) < 3, 4, shapes)
    mixing = rng.normal(size=(3, 56))
    on_circles = np.column_stack([np.cos(angles), np.sin(angles), np.cos(turns), np.sin(turns)])
    return {
        "plain": (factors, codes),
        "constant code": (factors, np.hstack([constant, codes])),
        "constant code of zeros": (factors, np.hstack([codes, 0 * constant])),
        "constant factor": (np.hstack([constant, factors]), codes),
        "only constant codes": (factors, np.hstack([constant, -constant])),
        "one code": (factors, codes[:, :1]),
        "one factor": (factors[:, :1], codes),
        "one of each": (factors[:, :1], codes[:, 1:2]),
        "duplicated code": (factors, np.hstack([codes, codes[:, :1]])),
        "rare class": (
            {"shape": named(rare), "x": factors[:, 0], "y": factors[:, 1]},
            np.column_stack([rare + 0.1 * noise[:, 0], factors[:, :2]]),
        ),
        "categorical": (
            {"shape": named(shapes), "size": named(sizes)},
            np.column_stack([shapes, sizes]) + 0.1 * noise[:, :2],
        ),
        "ordinal": (np.column_stack([shapes, sizes]), np.column_stack([shapes, sizes]) + 0.1 * noise[:, :2], "ordinal"),
        "circular": (np.column_stack([angles, turns]), on_circles, "circular"),
        "mixed": (
            {"shape": named(shapes), "size": sizes, "angle": angles, "x": factors[:, 0]},
            np.column_stack([shapes, sizes, on_circles[:, :2], factors[:, 0]]),
            {"angle": "circular", "size": "ordinal"},
        ),
        "ties": (factors, np.clip(np.round(codes), -1, 1).astype(int)),
        "more codes than rows": (factors[:52], factors[:52] @ mixing),
        "heavy tail": (factors, np.column_stack([np.sinh(2 * codes[:, 0] ** 3), codes[:, 1:]])),
    }


CASES = made()


WITHOUT_RARE_CLASS = "rare class left out"


def without_rare_class():
    """The rows of the case "rare class" that do not have this class: all but the first three."""
    factors, codes = CASES["rare class"]
    return {factor: column[3:] for factor, column in factors.items()}, codes[3:]


@cache
def evidence_of(case):
    """The Evidence of a case; all metrics share it, and with it their memoised results."""
    factors, codes, *kinds = CASES[case] if case != WITHOUT_RARE_CLASS else without_rare_class()
    noise = np.random.default_rng(1).normal(size=(len(codes), 1))
    return Evidence(factors, codes, nuisances=noise, **({"kinds": kinds[0]} if kinds else {}))


@cache
def scored(name, case):
    """Score of a metric on a case, with warnings as errors; None if the metric is undefined there."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", InputWarning)  # some cases look exchanged, and are asked about
        try:
            return METRICS[name](evidence_of(case))
        except MetricUndefined as refusal:
            assert name in str(refusal)
            return None


def takes(name, case):
    """Whether the metric's card accepts the kinds of factors of this case."""
    return set(evidence_of(case).kinds) <= METRICS[name].card.factor_kinds


def tolerance(name):
    card = METRICS[name].card
    return card.identity_tolerance + card.order_tolerance + 0.05


@every_metric
def test_a_number_within_bounds_or_a_reason(name):
    low, high = METRICS[name].card.bounds
    for case in CASES:
        score = scored(name, case)
        if score is not None and math.isnan(score.raw):
            said = [str(caveat) for caveat in score.caveats]
            assert any("ndefined" in each or "nothing" in each for each in said), (case, said)
        elif score is not None:
            assert math.isfinite(score.value), case
            assert low <= score.value <= high, case


@every_metric
def test_a_missing_value_is_refused(name):
    factors, codes = CASES["plain"]
    codes = codes.copy()
    codes[7, 1] = np.nan
    with pytest.raises(InputError, match="code 1"):
        METRICS[name](factors, codes, nuisances=factors[:, :1])


@every_metric
def test_a_constant_code_is_named_and_changes_nothing(name):
    without = scored(name, "plain")
    fitted = name in ("explicitness", "dci_informativeness", "dci_disentanglement")
    for case in ("constant code", "constant code of zeros"):
        with_it = scored(name, case)
        assert any(caveat.kind == "dead_codes" for caveat in with_it.caveats), case
        assert with_it.raw == pytest.approx(without.raw, abs=tolerance(name) if fitted else 1e-6), case


@every_metric
def test_a_constant_factor_is_named_and_changes_nothing(name):
    with_it, without = scored(name, "constant factor"), scored(name, "plain")
    assert any(caveat.kind == "constant_factors" for caveat in with_it.caveats)
    assert with_it.raw == pytest.approx(without.raw, abs=1e-6)


@every_metric
def test_one_code_and_one_factor(name):
    undefined = METRICS[name].card.undefined_with
    for case in ("one code", "one factor", "one of each"):
        expected = case in undefined or (case == "one of each" and bool(undefined))
        assert math.isnan(scored(name, case).raw) == expected, case


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *((name, "one code") for name in ("mig", "sap", "dci_disentanglement", "mcc", "t_mex", "dci_size")),
        *((name, "one code") for name in ("factor_vae_score", "relevance_factor_vae_score")),
        *((name, "one factor") for name in ("mig_sup", "dcimig", "factors_invariance")),
    ],
)
def test_a_number_that_one_column_decides_says_so(name, case):
    assert scored(name, case).caveats


NOTHING_KNOWN = {
    "mcc": 0,
    "r2": 0,
    "sap": 0,
    "explicitness": 0,
    "mig": 0,
    "dcimig": 0,
    "t_mex": 3,
    "dci_informativeness": 0,
    "dci_explicitness": 0,
    "infomec_explicitness": 0,
    "sufficiency": 0,
    "explicitness_ratio": 0,
    "representations_invariance": 1,
    "identification": 0,
}


# these are means over codes that vary, and are therefore undefined if no code varies
OF_LIVING_CODES = {
    "beta_vae_score",
    "dci_completeness",
    "dci_disentanglement",
    "dci_size",
    "factor_vae_score",
    "factors_invariance",
    "infomec_compactness",
    "infomec_modularity",
    "irs",
    "mig_sup",
    "minimality",
    "modularity",
    "nuisances_invariance",
    "relevance_factor_vae_score",
}


@every_metric
def test_only_constant_codes_are_noise_or_undefined(name):
    raw, card = scored(name, "only constant codes").raw, METRICS[name].card
    if name in NOTHING_KNOWN:
        assert raw == pytest.approx(NOTHING_KNOWN[name], abs=0.01)
    elif name not in OF_LIVING_CODES and not math.isnan(raw):
        assert raw == pytest.approx(card.bounds[1 if card.lower_is_better else 0], abs=0.01)
    else:
        assert math.isnan(raw)


COUNTS_COPIES = {"sap", "mig", "dci_completeness", "infomec_compactness", "dci_size"}


@every_metric
def test_a_duplicated_code_costs_only_where_a_factor_should_sit_in_one(name):
    with_it, without = scored(name, "duplicated code").raw, scored(name, "plain").raw
    if name == "t_mex":
        assert with_it == without + 1
    elif name == "orthogonality_error":
        assert abs(with_it - without) > 0.1  # one factor has twice the variance that it had
    elif name in COUNTS_COPIES:
        assert with_it < without - 0.1
    else:
        assert with_it == pytest.approx(without, abs=tolerance(name))


@every_metric
def test_a_heavy_tail_changes_little_where_any_map_of_a_code_is_allowed(name):
    if METRICS[name].card.equivalence == "elementwise":
        allowed = tolerance(name) + (0.1 if name == "irs" else 0)  # it uses distances, which the tail changes
        assert scored(name, "heavy tail").raw == pytest.approx(scored(name, "plain").raw, abs=allowed)


CLEAN = 0.7  # lowest score for codes that are the class number, with a little noise or without
FINER_THAN_FACTORS = {"minimality"}  # its bins of equal width also resolve the noise of the codes
LINEAR_IN_ONE_CODE = {"r2", "dci_explicitness"}  # the indicator of a middle class is not linear in the class number


@every_metric
@pytest.mark.parametrize("case", ["rare class", "categorical", "ordinal"])
def test_clean_codes_of_classes_get_good_marks(name, case):
    score = scored(name, case)
    if not takes(name, case):
        assert score is None
    elif name == "t_mex":
        assert score.raw <= 1
    elif METRICS[name].card.lower_is_better:
        assert score.raw < 1 - CLEAN
    elif name in FINER_THAN_FACTORS:
        assert score.raw > 0.5
    elif name in LINEAR_IN_ONE_CODE and case == "categorical":
        assert score.raw > 0.2
    else:
        assert score.raw > CLEAN


@every_metric
def test_a_rare_class_is_no_more_than_a_rare_class(name):
    """Three of 300 rows have the rare class; leaving them out hardly changes the score."""
    if not takes(name, "rare class"):
        pytest.skip(f"{name} takes no categorical factors")
    without = scored(name, WITHOUT_RARE_CLASS)
    allowed = tolerance(name) + (0.1 if name in {"sap", "r2"} else 0)  # all classes have equal weight
    assert scored(name, "rare class").raw == pytest.approx(without.raw, abs=allowed if name != "t_mex" else 1)
