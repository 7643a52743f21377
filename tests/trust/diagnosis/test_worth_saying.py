"""The findings of a diagnosis: each problem is reported with names, and there are no findings without problems."""

import numpy as np

from unweave import Evidence
from unweave.trust.diagnosis.diagnosis import diagnose
from unweave.trust.diagnosis.worth_saying import findings_of

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(600, 3))


def said(codes, factors=Z):
    return {finding.kind: finding for finding in findings_of(diagnose(Evidence(factors, codes)))}


def test_codes_of_noise_are_named():
    found = said(np.column_stack([Z, RNG.normal(size=600)]))["codes_unexplained"]
    assert found.codes == ("code 3",)
    assert found.quantities["share"] > 0.15


def test_of_good_codes_little_is_said():
    assert set(said(2 * Z)) <= {"data_sizes", "factors_independent"}


def test_dead_copied_and_heavy_tailed_codes_are_named():
    codes = np.column_stack([Z, -Z[:, 0], np.ones(600), np.sinh(3 * Z[:, 2])])
    found = said(codes)
    assert found["codes_never_vary"].codes == ("code 4",)
    assert "code 0" in found["codes_duplicated"].quantities["groups"]
    assert found["codes_heavy_tailed"].codes == ("code 5",)
    assert "codes_and_factors_differ" in found


def test_factors_that_never_vary_or_follow_from_others_are_named():
    found = said(Z, np.column_stack([Z[:, :2], Z[:, 0] ** 2, np.ones(600)]))
    assert found["factors_never_vary"].factors == ("factor 3",)
    assert "factor 2" in found["factor_function_of_one"].factors
