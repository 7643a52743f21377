"""Seeds grouped by setting: the spread, and which settings differ significantly."""

import numpy as np
import pytest
from scipy import stats

import unweave
from unweave.evaluation.results import ranked_settings, welch_p_value

FACTORS = np.random.default_rng(0).uniform(size=(300, 2))


def codes(noise, seed):
    return FACTORS + noise * np.random.default_rng(seed).normal(size=FACTORS.shape)


@pytest.fixture(scope="module")
def sixty():
    """Twelve settings of five seeds: pairs of settings have the same noise."""
    runs = {f"setting {k:02d} seed {s}": codes(0.05 * (1 + k // 2), 10 * k + s) for k in range(12) for s in range(5)}
    return unweave.compare(FACTORS, runs, metrics=["mcc", "r2"], quick=True)


def test_spread_and_letters(sixty):
    groups = {name: name[:10] for name in sixty.representations}
    found = sixty.grouped(groups)
    first = found.score("mcc", "setting 00")
    values = [sixty.score("mcc", f"setting 00 seed {seed}").value for seed in range(5)]
    assert first.values == pytest.approx(values)
    assert (first.mean, first.std) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    ends = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (first.lower, first.upper) == pytest.approx(ends)
    means = [found.score("mcc", group).mean for group in found.ranked("mcc")]
    assert means == sorted(means, reverse=True)
    assert set(first.letters) & set(found.score("mcc", "setting 01").letters)  # the same noise
    assert not set(first.letters) & set(found.score("mcc", "setting 10").letters)
    lines = str(found).splitlines()
    assert len([line for line in lines if line.strip().startswith("setting 0")]) == 10


def test_single_seeds_have_no_spread(sixty):
    found = sixty.grouped({name: name for name in sixty.representations})
    assert np.isnan(found.score("r2", "setting 00 seed 0").std)
    assert found.score("r2", "setting 00 seed 0").letters == ""


def test_every_representation_needs_a_group(sixty):
    with pytest.raises(unweave.InputError, match="is in no group"):
        sixty.grouped({"setting 00 seed 0": "a"})


def ranked(values, down=False, level=0.95):
    return [(score.group, score.letters) for score in ranked_settings(values, down, level)]


def test_settings_are_ranked_with_those_without_a_score_last():
    values = {"a": [0.1, 0.1], "none": [], "b": [0.5, 0.5], "alone": [0.3]}
    assert ranked(values) == [("b", "a"), ("alone", ""), ("a", "b"), ("none", "")]
    assert ranked(values, down=True) == [("a", "a"), ("alone", ""), ("b", "b"), ("none", "")]


def test_settings_differ_up_to_one_minus_the_level():
    one, two = [0.1, 0.2, 0.3], [0.3, 0.45, 0.5]
    p_value = stats.ttest_ind(one, two, equal_var=False).pvalue
    assert welch_p_value(one, two) == pytest.approx(p_value)
    assert ranked({"a": one, "b": two}, level=1 - 1.1 * p_value) == [("b", "a"), ("a", "b")]
    assert ranked({"a": one, "b": two}, level=1 - 0.9 * p_value) == [("b", "a"), ("a", "a")]


@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("values", [([1.0, 1.0], [1.0, 3.0]), ([1.0, 3.0], [1.0, 1.0])])
def test_one_constant_setting_is_tested_as_any_other(values):
    assert welch_p_value(*values) == pytest.approx(stats.ttest_ind(*values, equal_var=False).pvalue)
