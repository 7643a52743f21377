"""Means and standard errors of log ratios at draws that are stratified by the value of a factor."""

import numpy as np
import pytest

from unweave.estimators.posteriors import Sampled, SampleInformation

RATIOS = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 4.0], [4.0, 8.0], [9.0, 3.0]])
TWO = Sampled(RATIOS, np.array([0, 0, 1, 1, 1]), np.array([0.25, 0.75]))
ONE = Sampled(RATIOS, np.zeros(5, dtype=int), np.ones(1))


def test_strata_count_with_their_shares():
    """Means 2 and 5 with variances 2 and 13 of the first column, and 0 and 5 with 0 and 7 of the second one."""
    assert TWO.mean(RATIOS) == pytest.approx([0.25 * 2 + 0.75 * 5, 0.75 * 5])
    assert TWO.mean(RATIOS[:, 0]) == pytest.approx(4.25)
    variances = np.array([0.25**2 * 2 / 2 + 0.75**2 * 13 / 3, 0.75**2 * 7 / 3])
    assert TWO.standard_error(RATIOS) == pytest.approx(np.sqrt(variances))
    assert TWO.standard_error(RATIOS[:, 0]) == pytest.approx(np.sqrt(variances[0]))
    single = Sampled(RATIOS[:1], np.zeros(1, dtype=int), np.ones(1))
    assert single.standard_error(RATIOS[:1]).tolist() == [0.0, 0.0]


def test_shares_of_codes_have_the_error_of_their_ratios():
    information = SampleInformation(ONE.mean(RATIOS), ONE)
    divisors = np.array([2.0, 5.0])
    assert information.shares(divisors) == pytest.approx(RATIOS.mean(axis=0) / divisors)
    shares = RATIOS / divisors
    both = information.standard_errors(divisors, np.array([True, True]))
    assert both["standard_error_per_code"] == pytest.approx(shares.std(axis=0, ddof=1) / np.sqrt(5))
    assert both["standard_error"] == pytest.approx(shares.mean(axis=1).std(ddof=1) / np.sqrt(5))
    first = information.standard_errors(divisors, np.array([True, False]))
    assert first["standard_error"] == pytest.approx(both["standard_error_per_code"][0])
    assert information.standard_errors(divisors, np.array([False, False]))["standard_error"] == 0.0
    exact = SampleInformation(np.array([1.0, 2.0]))
    assert exact.shares(divisors).tolist() == [0.5, 0.4]
    assert exact.standard_errors(divisors, np.array([True, True])) == {}
